//! `ephemeral_body`: it is in requests, and in no state, plan or log.

use serde_json::json;

use super::{Acceptance, with_each_program};
use crate::tofu::Program;

const POST: &str = "restful_resource.post";
const SECRET: &str = "canary-7f31-c09d";

fn post(body: &str, ephemeral: &str, more: &str) -> String {
    format!(
        "variable \"v\" {{\n  type      = string\n  default   = null\n  ephemeral = true\n}}\nresource \
         \"restful_resource\" \"post\" {{\n  path           = \"posts\"\n  read_path      = \
         \"$(path)/$(body.id)\"\n  body           = {body}\n  ephemeral_body = {ephemeral}\n{more}}}\n"
    )
}

fn secret_of(it: &Acceptance) -> serde_json::Value {
    it.api.get("/posts/1").expect("exists")["secret"].clone()
}

#[test]
fn overlapping_bodies_are_an_error_without_a_server() {
    with_each_program(|it| {
        for (kind, more) in
            [("restful_resource", ""), ("restful_operation", "  method = \"POST\"\n")]
        {
            for ephemeral in ["{ foo = \"x\" }", "[1]", "{ foo = { a = 1 } }"] {
                let text = format!(
                    "resource {kind:?} \"post\" {{\n  path = \"posts\"\n{more}  body = {{ foo = \"foo\" }}\n  \
                     ephemeral_body = {ephemeral}\n}}\n"
                );
                let ended = it.apply_fails(&text);
                ended.shows(&[
                    "the body and the ephemeral body are not disjointed",
                    "main.tf line ",
                ]);
            }
        }
        assert_eq!(it.api.count("POST /posts"), 0);
    });
}

#[test]
fn changed_secret_is_sent_and_never_stored() {
    for method in ["PUT", "PATCH"] {
        with_each_program(|it| {
            let method = format!("  update_method = {method:?}\n");
            it.write(&post(
                "{ foo = \"foo\" }",
                "var.v == null ? null : { secret = var.v }",
                &method,
            ));
            for value in [Some(SECRET), Some("canary-second"), None, Some(SECRET)] {
                let variable = value.map(|it| format!("v={it}"));
                let variables: Vec<&str> = variable.iter().map(String::as_str).collect();
                it.apply_written(&variables);
                let remote = secret_of(it);
                assert_eq!(remote.as_str(), value, "{method}");
                let output = it.attribute(POST, "output");
                let output = output.as_object().expect("an object");
                // This server stores the null of a patch.
                let of_null = usize::from(value.is_none() && method.contains("PATCH"));
                assert_eq!(output.len(), 2 + of_null, "{output:?}");
                assert_eq!(it.attribute(POST, "ephemeral_body"), json!(null));
                for canary in [SECRET, "canary-second"] {
                    it.assert_unwritten(canary);
                }
            }
            it.destroy();
        });
    }
}

#[test]
fn changed_body_keeps_the_secret() {
    for method in ["PUT", "PATCH"] {
        with_each_program(|it| {
            let method = format!("  update_method = {method:?}\n");
            let variable = format!("v={SECRET}");
            for value in ["foo", "bar"] {
                it.write(&post(&format!("{{ foo = {value:?} }}"), "{ secret = var.v }", &method));
                it.apply_written(&[&variable]);
                assert_eq!(secret_of(it), SECRET);
                assert_eq!(it.attribute(POST, "output"), json!({ "foo": value, "id": 1 }));
            }
            it.assert_unwritten(SECRET);
        });
    }
}

#[test]
fn nested_parts_lists_and_nulls_are_merged_and_hidden() {
    with_each_program(|it| {
        let ephemeral = "{ m = { key = var.v, list = [var.v] }, none = null, deep = { only = { here = var.v } } }";
        it.write(&post("{ m = { name = \"n\" } }", ephemeral, ""));
        it.apply_written(&[&format!("v={SECRET}")]);
        let expected = json!({
            "id": 1,
            "m": { "name": "n", "key": SECRET, "list": [SECRET] },
            "deep": { "only": { "here": SECRET } },
        });
        assert_eq!(it.api.get("/posts/1"), Some(expected));
        assert_eq!(it.attribute(POST, "output"), json!({ "id": 1, "m": { "name": "n" } }));
        it.run(&["refresh", &format!("-var=v={SECRET}")]).succeeds();
        it.assert_unwritten(SECRET);
    });
}

#[test]
fn import_shows_the_secret_until_the_next_apply() {
    with_each_program(|it| {
        it.write(&post("{ foo = \"foo\" }", "{ secret = var.v }", ""));
        let variable = format!("-var=v={SECRET}");
        it.apply_written(&[&format!("v={SECRET}")]);
        it.run(&["state", "rm", POST]).succeeds();
        let id = r#"{"id":"posts/1","path":"posts","body":{"foo":null}}"#;
        it.run(&["import", &variable, POST, id]).succeeds();
        assert_eq!(it.attribute(POST, "output")["secret"], SECRET);
        it.apply_written(&[&format!("v={SECRET}")]);
        assert_eq!(it.attribute(POST, "output"), json!({ "foo": "foo", "id": 1 }));
    });
}

#[test]
fn failed_update_is_made_again() {
    with_each_program(|it| {
        let poll = |success: &str| {
            format!(
                "  poll_update = {{\n    status_locator = \"body.foo\"\n    status = {{ success = {success:?} }}\n    \
                 default_delay_sec = 0\n  }}\n"
            )
        };
        it.write(&post("{ foo = \"foo\" }", "{ secret = var.v }", &poll("foo")));
        it.apply_written(&["v=first-canary"]);
        it.write(&post("{ foo = \"foo\" }", "{ secret = var.v }", &poll("never")));
        let ended = it.run(&["apply", "-auto-approve", &format!("-var=v={SECRET}")]).fails();
        ended.shows(&["`poll_update` failed"]);
        it.assert_unwritten(SECRET);
        it.write(&post("{ foo = \"foo\" }", "{ secret = var.v }", &poll("foo")));
        it.run(&["plan", "-detailed-exitcode", &format!("-var=v={SECRET}")]).end().exits(2);
        it.apply_written(&[&format!("v={SECRET}")]);
        assert_eq!(secret_of(it), SECRET);
        it.assert_unwritten(SECRET);
    });
}

#[test]
fn unknown_value_of_the_plan_is_sent() {
    with_each_program(|it| {
        let config = format!(
            "resource \"terraform_data\" \"name\" {{\n  input = \"x\"\n}}\n\
             ephemeral \"restful_resource\" \"lease\" {{\n  \
             path   = \"/lease?of=${{terraform_data.name.output}}\"\n  method = \"POST\"\n  body   = {{}}\n}}\n{}",
            post(
                "{ foo = \"foo\" }",
                "{ secret = ephemeral.restful_resource.lease.output.foo }",
                ""
            )
        );
        it.apply(&config);
        assert_eq!(secret_of(it), "bar");
        assert_eq!(it.attribute(POST, "output"), json!({ "foo": "foo", "id": 1 }));
    });
}

#[test]
fn errors_of_refresh_and_destruction_quote_no_secret() {
    with_each_program(|it| {
        it.write(
            r#"
variable "v" {
  ephemeral = true
}
resource "restful_resource" "post" {
  path           = "/quoting/a"
  create_method  = "PUT"
  body           = {}
  ephemeral_body = { secret = var.v }
}
"#,
        );
        it.initialize();
        it.run(&["apply", "-auto-approve", "-var=v=first-canary"]).succeeds();
        // The API has another secret than the configuration.
        for (arguments, expected) in [
            (&["plan"][..], "Read API returns 500"),
            (&["destroy", "-auto-approve", "-refresh=false"], "Delete API returns 500"),
        ] {
            let ended = it.run(arguments).arg("-var=v=other-canary").fails();
            ended.shows(&[expected, "\"secret\":\"(hidden)\""]);
            ended.lacks(&["first-canary"]);
        }
    });
}

#[test]
fn damaged_private_state_is_an_error_without_a_leak() {
    let it = Acceptance::new(Program::Mayfly);
    it.write(&post("{ foo = \"foo\" }", "{ secret = var.v }", ""));
    it.apply_written(&[&format!("v={SECRET}")]);
    let mut state = it.bench.state(".");
    // Base64 of `garbage` and of `{"ephemeral_body":"@@@"}`.
    for private in ["Z2FyYmFnZQ==", "eyJlcGhlbWVyYWxfYm9keSI6IkBAQCJ9"] {
        state["resources"][0]["instances"][0]["private"] = json!(private);
        it.bench.write("terraform.tfstate", &state.to_string());
        let ended =
            it.run(&["apply", "-auto-approve", "-refresh-only"]).arg(format!("-var=v={SECRET}"));
        ended.fails().shows(&["he private state of \"ephemeral_body\" is damaged"]);
        it.assert_unwritten(SECRET);
    }
}

/// An object whose API returns it a second time under another name.
fn echoed(more: &str) -> String {
    format!(
        r#"
variable "v" {{
  type      = string
  ephemeral = true
}}
resource "restful_resource" "post" {{
  path           = "/echoing/a"
  create_method  = "PUT"
  body           = {{ foo = "foo" }}
  ephemeral_body = {{ secret = var.v }}
}}
{more}"#
    )
}

#[test]
fn secret_under_another_name_is_withheld() {
    let it = Acceptance::new(Program::Mayfly);
    let run =
        |arguments: &[&str], secret: &str| it.run(arguments).arg(format!("-var=v={secret}")).end();
    it.write(&echoed(""));
    it.initialize();
    let ended = run(&["apply", "-auto-approve"], SECRET).exits(0);
    ended.shows(&[
        "Provider repeated a write-only value",
        "attribute .output of restful_resource.post",
    ]);
    let withheld = "(withheld: the provider repeated a write-only value here)";
    let output = json!({ "foo": "foo", "copy": { "foo": "foo", "secret": withheld } });
    assert_eq!(it.attribute(POST, "output"), output);
    run(&["plan", "-detailed-exitcode"], SECRET).exits(0).lacks(&["Warning: Provider repeated"]);
    // The API still has the first secret when the plan has the second one.
    run(&["apply", "-auto-approve"], "canary-second")
        .exits(0)
        .lacks(&["Warning: Provider repeated"]);
    assert_eq!(it.attribute(POST, "output"), output);
    for canary in [SECRET, "canary-second"] {
        it.assert_unwritten(canary);
    }
    it.write(&echoed("output \"o\" {\n  value = restful_resource.post.output.copy.secret\n}\n"));
    let ended = run(&["plan"], "canary-second").exits(1);
    ended.shows(&[
        "Error: Withheld value",
        "main.tf line ",
        "restful_resource.post.output.copy.secret",
    ]);
    it.write(&echoed(""));
    run(&["destroy", "-auto-approve"], "canary-second").exits(0);

    let ended = run(&["apply", "-auto-approve", "-strict-secrets"], SECRET).exits(1);
    ended.shows(&["Error: Provider returned a secret"]);
    it.bench.write("strict.rc", "strict_secrets = true\n");
    let strict = it.run(&["plan", &format!("-var=v={SECRET}")]);
    let strict = strict.env("TF_CLI_CONFIG_FILE", it.bench.path("strict.rc"));
    strict.fails().shows(&["Error: Provider returned a secret"]);
    it.assert_unwritten(SECRET);
}

#[test]
fn imported_object_is_stored_without_its_secret() {
    let it = Acceptance::new(Program::Mayfly);
    it.write(&echoed(""));
    it.initialize();
    let run = |arguments: &[&str]| it.run(arguments).arg(format!("-var=v={SECRET}")).end();
    run(&["apply", "-auto-approve"]).exits(0);
    it.run(&["state", "rm", POST]).succeeds();
    let id = r#"{"id":"/echoing/a","path":"/echoing/a","body":{"foo":null}}"#;
    it.write(&echoed(&format!("import {{\n  to = {POST}\n  id = {id:?}\n}}\n")));
    run(&["apply", "-auto-approve"]).exits(0).shows(&["1 imported"]);
    it.assert_unwritten(SECRET);
    run(&["plan", "-detailed-exitcode"]).exits(0);
}
