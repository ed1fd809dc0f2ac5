//! The managed `restful_resource`.

use serde_json::json;

use super::{Acceptance, specification, with_each_program};

const POST: &str = "restful_resource.post";

/// A post with further arguments.
fn post(body: &str, more: &str) -> String {
    format!(
        "resource \"restful_resource\" \"post\" {{\n  path      = \"posts\"\n  read_path = \
         \"$(path)/$(body.id)\"\n  body      = {body}\n{more}}}\n"
    )
}

#[test]
fn post_is_created_updated_imported_and_deleted() {
    with_each_program(|it| {
        let spec = specification("posts/1", "posts", json!({ "foo": null }));
        for value in ["foo", "bar"] {
            it.apply(&post(&format!("{{ foo = {value:?} }}"), ""));
            assert_eq!(it.attribute(POST, "output"), json!({ "foo": value, "id": 1 }));
            assert_eq!(it.attribute(POST, "id"), "posts/1");
            it.import(POST, &spec, &["id", "path", "body", "output"]);
        }
        let whole = it.import(POST, &json!({ "id": "posts/1", "path": "posts" }), &["output"]);
        let body = super::attribute_in(&whole, POST, "body");
        assert_eq!(body, json!({ "foo": "bar", "id": 1 }));
        assert_eq!(it.api.count("POST /posts"), 1);
        it.destroy();
        assert_eq!(it.api.get("/posts/1"), None);
    });
}

#[test]
fn update_by_patch_sends_the_difference() {
    with_each_program(|it| {
        let patch = "  update_method = \"PATCH\"\n";
        it.apply(&post("{ foo = \"foo\", old = 1 }", patch));
        it.apply(&post("{ foo = \"bar\" }", patch));
        // This server stores the null of a patch.
        let expected = json!({ "foo": "bar", "old": null, "id": 1 });
        assert_eq!(it.api.get("/posts/1"), Some(expected));
        it.apply(&post(
            "{ foo = \"baz\" }",
            "  update_method = \"PATCH\"\n  merge_patch_disabled = true\n",
        ));
        assert_eq!(it.api.count("PATCH /posts/1"), 2);
        it.destroy();
    });
}

#[test]
fn paths_of_update_and_deletion_are_expanded() {
    with_each_program(|it| {
        let paths =
            "  update_path = \"$(path)/$(body.id)\"\n  delete_path = \"$(path)/$(body.id)\"\n";
        it.apply(&post("{ foo = \"foo\" }", paths));
        it.apply(&post("{ foo = \"bar\" }", paths));
        assert_eq!(it.api.count("PUT /posts/1"), 1);
        it.destroy();
        assert_eq!(it.api.count("DELETE /posts/1"), 1);
    });
}

#[test]
fn output_has_only_the_named_attributes() {
    with_each_program(|it| {
        let more = "  output_attrs = [\"foo\", \"obj.a\"]\n";
        it.apply(&post("{ foo = \"bar\", obj = { a = 1, b = 2 } }", more));
        assert_eq!(it.attribute(POST, "output"), json!({ "foo": "bar", "obj": { "a": 1 } }));
    });
}

/// A post that is found in the collection by its ID.
fn selected(value: &str, more: &str) -> String {
    format!(
        r##"
resource "restful_resource" "post" {{
  path          = "posts"
  read_selector = "#(id == $(body.id))"
  update_path   = "$(path)/$(body.id)"
  delete_path   = "$(path)/$(body.id)"
  body          = {{ foo = {value:?} }}
{more}}}
"##
    )
}

#[test]
fn object_is_selected_from_its_collection() {
    with_each_program(|it| {
        it.apply(&post("{ foo = \"other\" }", "").replace("\"post\"", "\"other\""));
        for value in ["foo", "bar"] {
            it.apply(
                &(post("{ foo = \"other\" }", "").replace("\"post\"", "\"other\"")
                    + &selected(value, "")),
            );
            assert_eq!(it.attribute(POST, "output"), json!({ "foo": value, "id": 2 }));
        }
        assert_eq!(it.attribute(POST, "id"), "posts");
        let spec = json!({
            "id": "posts", "path": "posts", "body": { "foo": null },
            "read_selector": "#(id == 2)",
        });
        it.import(POST, &spec, &["id", "body", "output"]);
        it.destroy();
        assert_eq!(it.api.get("/posts"), Some(json!([])));
    });
}

#[test]
fn statuses_are_polled_with_located_values() {
    with_each_program(|it| {
        let waits = |value: &str| {
            let status = format!(
                "status_locator = \"body.#(id == $(body.id)).foo\"\n    status = {{ success = {value:?} }}\n    \
                 default_delay_sec = 0\n"
            );
            let poll = |name: &str| {
                format!("  {name} = {{\n    url_locator = \"exact.posts\"\n    {status}  }}\n")
            };
            let check = |name: &str, value: &str| {
                let status = status.replace(&format!("success = {value:?}"), "success = \"foo\"");
                format!("  {name} = [{{ api = {{\n    path = \"posts\"\n    {status}  }} }}]\n")
            };
            poll("poll_create") + &poll("poll_update") + &check("precheck_update", value)
        };
        let delete = |value: &str| {
            format!(
                "  precheck_delete = [{{ mutex = \"posts\" }}, {{ api = {{\n    path = \"posts\"\n    status_locator = \
                 \"body.#(id == $(body.id)).foo\"\n    status = {{ success = {value:?}, pending = [\"x\"] }}\n  \
                 }} }}]\n"
            )
        };
        it.apply(&selected("foo", &(waits("foo") + &delete("foo"))));
        it.apply(&selected("bar", &(waits("bar") + &delete("bar"))));
        assert_eq!(it.attribute(POST, "output"), json!({ "foo": "bar", "id": 1 }));
        it.destroy();
        assert_eq!(it.api.get("/posts"), Some(json!([])));
    });
}

#[test]
fn unexpected_status_keeps_a_tainted_object() {
    with_each_program(|it| {
        let poll = "  poll_create = {\n    url_locator = \"exact.posts/1\"\n    status_locator = \"body.foo\"\n    \
                    status = { success = \"done\", pending = [\"busy\"] }\n    default_delay_sec = 0\n  }\n";
        let ended = it.apply_fails(&post("{ foo = \"failed\" }", poll));
        ended.shows(&["`poll_create` failed", "Unexpected status \"failed\"."]);
        let state = it.bench.state(".");
        assert_eq!(state["resources"][0]["instances"][0]["status"], "tainted");
        assert_eq!(it.attribute(POST, "id"), "posts/1");
        it.destroy();
        assert_eq!(it.api.get("/posts"), Some(json!([])));
    });
}

#[test]
fn update_patches_change_the_body() {
    with_each_program(|it| {
        it.apply(&post("{ foo = \"foo\" }", ""));
        let ignoring = "  lifecycle {\n    ignore_changes = [body.foo]\n  }\n";
        let patches = r#"  update_body_patches = [
    { path = "addon", raw_json = jsonencode({ a = "hmm", b = "$(body.id)" }) },
    { path = "foo", removed = true },
  ]
"#;
        it.write(&post("{ foo = \"foo\" }", &format!("{patches}{ignoring}")));
        it.run(&["apply", "-auto-approve"]).succeeds();
        let expected = json!({ "addon": { "a": "hmm", "b": "1" }, "id": 1 });
        assert_eq!(it.attribute(POST, "output"), expected);
        let whole = r#"  update_body_patches = [{ path = "", raw_json = jsonencode({ foo = "baz" }) }]
"#;
        it.write(&post("{ foo = \"foo\" }", &format!("{whole}{ignoring}")));
        it.run(&["apply", "-auto-approve"]).succeeds();
        assert_eq!(it.attribute(POST, "output"), json!({ "foo": "baz", "id": 1 }));
        it.destroy();
    });
}

#[test]
fn sensitive_output_replaces_output() {
    with_each_program(|it| {
        for value in ["foo", "bar"] {
            it.apply(&post(&format!("{{ foo = {value:?} }}"), "  use_sensitive_output = true\n"));
            let expected = json!({ "foo": value, "id": 1 });
            assert_eq!(it.attribute(POST, "sensitive_output"), expected);
            assert_eq!(it.attribute(POST, "output"), json!(null));
        }
        it.destroy();
    });
}

#[test]
fn body_can_be_an_array_of_objects() {
    with_each_program(|it| {
        let config = |value: &str| {
            format!(
                "resource \"restful_resource\" \"post\" {{\n  path = \"/store/array\"\n  create_method = \"PUT\"\n  \
                 body = [{{ foo = {value:?} }}]\n}}\n"
            )
        };
        it.apply(&config("foo"));
        it.apply(&config("bar"));
        assert_eq!(it.attribute(POST, "output"), json!([{ "foo": "bar" }]));
        let spec = specification("/store/array", "/store/array", json!([{ "foo": null }]));
        it.import(POST, &spec, &["id", "body", "output"]);
        it.destroy();
        assert_eq!(it.api.get("/store/array"), None);
    });
}

#[test]
fn answer_can_be_a_string_with_the_name() {
    with_each_program(|it| {
        it.apply(
            "resource \"restful_resource\" \"post\" {\n  path = \"/ret-string\"\n  create_method = \"PUT\"\n  \
             read_path = \"$(path)/$(body)\"\n  body = {}\n}\n",
        );
        assert_eq!(it.attribute(POST, "id"), "/ret-string/foo");
        let spec = specification("/ret-string/foo", "/ret-string", json!({}));
        it.import(POST, &spec, &["id", "body", "output"]);
        it.destroy();
    });
}

#[test]
fn answer_can_be_the_url_of_the_object() {
    with_each_program(|it| {
        it.apply(
            "resource \"restful_resource\" \"post\" {\n  path = \"/ret-url\"\n  \
             read_path = \"$url_path(body.self)\"\n  body = { foo = 1 }\n}\n",
        );
        assert_eq!(it.attribute(POST, "id"), "/store/1");
        it.destroy();
        assert_eq!(it.api.get("/store/1"), None);
    });
}

/// An object whose four requests demand their own headers and queries.
fn demanding(value: &str, own: &dyn Fn(&str) -> String) -> String {
    let operations = ["create", "read", "update", "delete"].map(|name| {
        let value = own(name);
        format!("  {name}_header = {{ type = \"{value}\" }}\n  {name}_query = {{ type = [\"{value}\"] }}\n")
    });
    format!(
        r#"
resource "restful_resource" "post" {{
  path        = "/demand/create"
  read_path   = "/demand/read"
  update_path = "/demand/update"
  delete_path = "/demand/delete"
  header      = {{ type = "hidden by the others" }}
  body        = {{
    foo = {value:?}
    read = "read"
    update = "update"
    delete = "delete"
  }}
{}}}
"#,
        operations.concat()
    )
}

#[test]
fn operations_have_their_own_headers_and_queries() {
    with_each_program(|it| {
        let from_body = |name: &str| match name {
            "create" => "create".to_owned(),
            name => format!("$(body.{name})"),
        };
        for own in [&str::to_owned as &dyn Fn(&str) -> String, &from_body] {
            it.apply(&demanding("foo", own));
            it.apply(&demanding("bar", own));
            it.destroy();
        }
        assert_eq!(it.api.count("PUT /demand/update"), 2);
        assert_eq!(it.api.count("DELETE /demand/delete"), 2);
    });
}

#[test]
fn answer_of_a_read_is_put_into_a_template() {
    with_each_program(|it| {
        it.apply(
            r#"resource "restful_resource" "post" {
  path                   = "/template/a"
  create_method          = "PUT"
  read_response_template = "{\"properties\": $(body)}"
  body                   = { properties = [{ a = 1 }] }
}
"#,
        );
        assert_eq!(it.attribute(POST, "output"), json!({ "properties": [{ "a": 1 }] }));
        let spec = json!({
            "id": "/template/a", "path": "/template/a", "body": { "properties": null },
            "read_response_template": "{\"properties\": $(body)}",
        });
        it.import(POST, &spec, &["id", "body", "output", "read_response_template"]);
        it.destroy();
    });
}

#[test]
fn deletion_can_have_a_method_and_a_body() {
    with_each_program(|it| {
        let config = |delete: &str| {
            format!(
                "resource \"restful_resource\" \"post\" {{\n  path = \"/store/kept\"\n  create_method = \"PUT\"\n  \
                 delete_method = \"PATCH\"\n  {delete}\n  body = {{ id = 123, properties = [1] }}\n}}\n"
            )
        };
        it.apply(&config("delete_body = { properties = [] }"));
        it.destroy();
        assert_eq!(it.api.get("/store/kept"), Some(json!({ "id": 123, "properties": [] })));
        it.apply(&config("delete_body_raw = \"{\\\"was\\\": $(body.id)}\""));
        it.destroy();
        let expected = json!({ "id": 123, "properties": [1], "was": 123 });
        assert_eq!(it.api.get("/store/kept"), Some(expected));
    });
}

#[test]
fn long_operations_are_polled_at_their_urls() {
    with_each_program(|it| {
        it.apply(
            r#"resource "restful_resource" "post" {
  path          = "/lro/a"
  create_method = "PUT"
  body          = { a = 1 }
  poll_create = {
    url_locator    = "header.Azure-AsyncOperation"
    status_locator = "body.status"
    status         = { success = "succeeded", pending = ["inprogress"] }
  }
  poll_delete = {
    status_locator = "code"
    status         = { success = "404", pending = ["202", "200"] }
  }
}
"#,
        );
        assert_eq!(it.api.count("GET /lro-status/a"), 3);
        it.destroy();
        assert_eq!(it.api.get("/lro/a"), None);
    });
}

#[test]
fn read_after_the_creation_gives_the_path() {
    with_each_program(|it| {
        it.apply(
            r#"resource "restful_resource" "post" {
  path      = "/ret-url"
  read_path = "$url_path(body.self)"
  body      = { self = "store/1" }
  post_create_read = {
    path     = "$url_path(body.self)"
    selector = "@this"
  }
}
"#,
        );
        assert_eq!(it.attribute(POST, "id"), "store/1");
        it.destroy();
    });
}

#[test]
fn existing_object_is_not_created_again() {
    with_each_program(|it| {
        let config = |name: &str| {
            format!(
                "resource \"restful_resource\" {name:?} {{\n  path = \"/store/one\"\n  create_method = \"PUT\"\n  \
                 check_existance = true\n  body = {{ by = {name:?} }}\n}}\n"
            )
        };
        it.apply(&config("post"));
        let both = config("post") + &config("second");
        it.apply_fails(&both).shows(&["Resource already exists"]);
        assert_eq!(it.api.get("/store/one"), Some(json!({ "by": "post" })));
    });
}

#[test]
fn named_changes_force_a_replacement() {
    with_each_program(|it| {
        let more = "  force_new_attrs = [\"kind\"]\n";
        it.apply(&post("{ kind = \"a\", foo = 1 }", more));
        it.apply(&post("{ kind = \"a\", foo = 2 }", more));
        assert_eq!(it.attribute(POST, "id"), "posts/1");
        it.apply(&post("{ kind = \"b\", foo = 2 }", more)).shows(&["must be replaced"]);
        assert_eq!(it.attribute(POST, "id"), "posts/2");
        assert_eq!(it.api.get("/posts"), Some(json!([{ "kind": "b", "foo": 2, "id": 2 }])));
    });
}

#[test]
fn unreturned_attributes_are_kept() {
    with_each_program(|it| {
        let config = "resource \"restful_resource\" \"post\" {\n  path = \"/template/w\"\n  create_method = \"PUT\"\n  \
                      read_response_template = \"{\\\"properties\\\": $(body)}\"\n  \
                      write_only_attrs = [\"secret.key\"]\n  \
                      body = { properties = [1], secret = { key = \"k\" } }\n}\n";
        it.apply(config);
        assert_eq!(it.attribute(POST, "output"), json!({ "properties": [1] }));
        it.run(&["refresh"]).succeeds();
        let body = json!({ "properties": [1], "secret": { "key": "k" } });
        assert_eq!(it.attribute(POST, "body"), body);
        assert_eq!(it.attribute(POST, "output"), json!({ "properties": [1] }));
        it.write(&config.replace("secret.key", "secret.none"));
        it.run(&["plan"]).fails().shows(&["Invalid path in \"write_only_attrs\"", "secret.none"]);
    });
}

#[test]
fn object_deleted_elsewhere_is_created_again() {
    with_each_program(|it| {
        let config = post("{ foo = 1 }", "");
        it.apply(&config);
        assert_eq!(delete(it, "/posts/1"), 200);
        it.run(&["plan", "-detailed-exitcode"]).end().exits(2);
        it.apply(&config);
        assert_eq!(it.attribute(POST, "id"), "posts/2");
    });
}

/// Deletes an object behind the back of the provider.
fn delete(it: &Acceptance, path: &str) -> u16 {
    use std::io::{Read as _, Write as _};
    let host = it.api.server.url.trim_start_matches("http://");
    let mut stream = std::net::TcpStream::connect(host).expect("the server listens");
    let request = format!("DELETE {path} HTTP/1.1\r\nhost: {host}\r\nconnection: close\r\n\r\n");
    stream.write_all(request.as_bytes()).expect("is read");
    let mut answer = String::new();
    stream.read_to_string(&mut answer).expect("is UTF-8");
    answer.split(' ').nth(1).and_then(|it| it.parse().ok()).expect("a status")
}

#[test]
fn invalid_configurations_are_errors_with_their_places() {
    with_each_program(|it| {
        for (text, expected) in [
            ("  read_path = \"$nope(body.id)\"\n", "unknown function: \"nope\""),
            (
                "  poll_create = {\n    status_locator = \"nope\"\n    status = { success = \"x\" }\n  }\n",
                "locator doesn't contain \".\"",
            ),
            ("  update_method = \"GET\"\n", "update_method must be one of"),
            ("  delete_body = {}\n  delete_body_raw = \"{}\"\n", "Only one of"),
            ("  precheck_create = [{}]\n", "Exactly one of mutex, api must be set"),
            ("  output_attrs = [\"a..b\"]\n", "a step is empty"),
        ] {
            let text = format!(
                "resource \"restful_resource\" \"post\" {{\n  path = \"posts\"\n  body = {{}}\n{text}}}\n"
            );
            let ended = it.apply_fails(&text);
            ended.shows(&["main.tf line "]);
            ended.shows(&[expected]);
        }
        assert_eq!(it.api.count("POST /posts"), 0);
    });
}

#[test]
fn refusal_of_the_api_is_quoted_without_secrets() {
    with_each_program(|it| {
        it.write_with(
            "  security = {\n    http = { token = { token = \"t0ken-canary\" } }\n  }\n",
            "variable \"v\" {\n  ephemeral = true\n}\nresource \"restful_resource\" \"post\" {\n  path = \
             \"/refuse\"\n  body = {}\n  ephemeral_body = { secret = var.v }\n}\n",
        );
        it.initialize();
        let ended = it.run(&["apply", "-auto-approve", "-var=v=canary\"7f31"]).fails();
        ended.shows(&["Create API returns 422", "(hidden)"]);
        ended.lacks(&["t0ken-canary", "canary\"7f31", "canary\\\"7f31"]);
    });
}

#[test]
fn deep_answer_is_an_error_and_keeps_a_tainted_object() {
    with_each_program(|it| {
        let config = "resource \"restful_resource\" \"post\" {\n  path = \"/deep/a\"\n  create_method = \"PUT\"\n  \
                      body = {}\n}\n";
        let ended = it.apply_fails(config);
        ended.shows(&["Answer Cannot Be Stored", "nests deeper"]);
        assert_eq!(it.attribute(POST, "id"), "/deep/a");
    });
}

#[test]
fn empty_answer_has_nothing_to_select() {
    with_each_program(|it| {
        let ended = it.apply_fails(
            "resource \"restful_resource\" \"post\" {\n  path = \"/empty\"\n  body = {}\n  \
             read_selector = \"x\"\n}\n",
        );
        ended.shows(&["Missing Resource State After Change"]);
        it.destroy();
        assert_eq!(it.api.count("DELETE /empty"), 0, "the object is gone");
    });
}

#[test]
fn body_of_a_resource_is_never_a_form() {
    with_each_program(|it| {
        it.apply(
            "resource \"restful_resource\" \"post\" {\n  path = \"/store/form\"\n  create_method = \"PUT\"\n  \
             create_header = { Content-Type = \"application/x-www-form-urlencoded\" }\n  body = { a = 1 }\n}\n",
        );
        assert_eq!(it.api.get("/store/form"), Some(json!({ "a": 1 })));
    });
}

#[test]
fn wrong_output_attributes_can_be_corrected() {
    with_each_program(|it| {
        let ended = it.apply_fails(&post("{ foo = 1 }", "  output_attrs = [\"#.a\"]\n"));
        ended.shows(&["Invalid `output_attrs`"]);
        it.write(&post("{ foo = 1 }", ""));
        it.run(&["apply", "-auto-approve"]).succeeds();
        assert_eq!(it.attribute(POST, "output"), json!({ "foo": 1, "id": 2 }));
        it.destroy();
        assert_eq!(it.api.get("/posts"), Some(json!([])));
    });
}

#[test]
fn interrupted_creation_is_completed() {
    with_each_program(|it| {
        it.write(
            "resource \"restful_resource\" \"post\" {\n  path = \"/sleep/1500\"\n  body = {}\n  \
             read_path = \"/empty\"\n}\n",
        );
        it.initialize();
        let started = it.run(&["apply", "-auto-approve"]).start();
        started.wait_until("the request is sent", || it.api.count("POST /sleep/1500") == 1);
        started.signal_group(rustix::process::Signal::INT);
        started.end();
        let state = it.bench.state(".");
        let instance = &state["resources"][0]["instances"][0];
        assert_eq!(instance["attributes"]["id"], "/empty");
        assert_eq!(instance["status"], json!(null), "it is not tainted");
    });
}

#[test]
fn broken_answer_warns_of_an_object_that_may_exist() {
    with_each_program(|it| {
        let ended = it.apply_fails(
            "resource \"restful_resource\" \"post\" {\n  path = \"/cut/a\"\n  \
             create_method = \"PUT\"\n  body = {}\n}\n",
        );
        ended.shows(&["Create API gave no complete answer", "may have taken effect"]);
        assert_eq!(it.api.get("/cut/a"), Some(json!({})));
    });
}

#[test]
fn number_with_more_digits_than_a_document_is_no_change() {
    with_each_program(|it| {
        it.apply(&post("{ third = 1/3, big = 12345678901234567890 }", ""));
        it.run(&["plan", "-refresh-only", "-detailed-exitcode"]).end().exits(0);
    });
}
