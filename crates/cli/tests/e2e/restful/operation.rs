//! `restful_operation`.

use serde_json::json;

use super::with_each_program;

const OPERATION: &str = "restful_operation.call";

fn call(path: &str, more: &str) -> String {
    format!(
        "resource \"restful_operation\" \"call\" {{\n  path   = {path:?}\n  method = \"POST\"\n{more}}}\n"
    )
}

#[test]
fn operation_is_made_again_when_it_changes() {
    with_each_program(|it| {
        it.apply(&call("posts", "  body = { foo = \"foo\" }\n"));
        assert_eq!(it.attribute(OPERATION, "output"), json!({ "foo": "foo", "id": 1 }));
        assert_eq!(it.attribute(OPERATION, "id"), "posts");
        it.apply(&call("posts", "  body = { foo = \"bar\" }\n"));
        assert_eq!(it.attribute(OPERATION, "output")["id"], 2);
        it.destroy();
        assert_eq!(it.api.get("/posts").map(|it| it.as_array().map(Vec::len)), Some(Some(2)));
    });
}

#[test]
fn destruction_can_call_the_api() {
    with_each_program(|it| {
        let post = "resource \"restful_resource\" \"post\" {\n  path = \"posts\"\n  read_path = \
                    \"$(path)/$(body.id)\"\n  body = {}\n}\n";
        let operation = "resource \"restful_operation\" \"call\" {\n  path = restful_resource.post.id\n  method = \
                         \"PUT\"\n  body = { enabled = true }\n  output_attrs = [\"enabled\"]\n  delete_method = \
                         \"PUT\"\n  delete_body = { enabled = false }\n}\n";
        it.write(&format!("{post}{operation}"));
        it.initialize();
        it.run(&["apply", "-auto-approve"]).succeeds();
        assert_eq!(it.attribute(OPERATION, "output"), json!({ "enabled": true }));
        assert_eq!(it.api.get("/posts/1").expect("exists")["enabled"], true);
        it.write(post);
        it.run(&["apply", "-auto-approve"]).succeeds();
        assert_eq!(it.api.get("/posts/1").expect("exists")["enabled"], false);
    });
}

#[test]
fn operation_is_polled_and_prechecked() {
    with_each_program(|it| {
        let text = r##"  body = { foo = "foo" }
  poll = {
    status_locator = "body.#(id == $(body.id)).foo"
    status         = { success = "foo" }
    default_delay_sec = 0
  }
  delete_method = "DELETE"
  delete_path   = "$(path)/$(body.id)"
  precheck_delete = [{
    api = {
      status_locator = "body.#(id == $(body.id)).foo"
      status         = { success = "foo" }
    }
  }]
"##;
        it.apply(&call("posts", text));
        it.destroy();
        assert_eq!(it.api.get("/posts"), Some(json!([])));
    });
}

#[test]
fn ephemeral_part_of_an_operation_is_not_stored() {
    with_each_program(|it| {
        let text = "  body = { foo = \"foo\" }\n  ephemeral_body = var.v == null ? null : { secret = var.v }\n";
        let variable =
            "variable \"v\" {\n  type = string\n  default = null\n  ephemeral = true\n}\n";
        it.write(&format!("{variable}{}", call("posts", text)));
        let values = [Some("canary-one"), Some("canary-two"), None, Some("canary-one")];
        for (index, value) in values.into_iter().enumerate() {
            let variable = value.map(|it| format!("v={it}"));
            let variables: Vec<&str> = variable.iter().map(String::as_str).collect();
            it.apply_written(&variables);
            let id = index + 1;
            assert_eq!(it.attribute(OPERATION, "output"), json!({ "foo": "foo", "id": id }));
            let remote = it.api.get(&format!("/posts/{id}")).expect("exists");
            assert_eq!(remote["secret"].as_str(), value);
            it.assert_unwritten("canary");
        }
    });
}

#[test]
fn operation_can_have_an_empty_answer_a_form_and_a_sensitive_output() {
    with_each_program(|it| {
        it.apply(&call("/empty", ""));
        assert_eq!(it.attribute(OPERATION, "output"), json!(null));
        it.apply(&call(
            "/form",
            "  header = { Content-Type = \"application/x-www-form-urlencoded\" }\n  body = { a = \"b c\" }\n",
        ));
        assert_eq!(it.attribute(OPERATION, "output"), json!({ "a": ["b c"] }));
        it.apply(&call("posts", "  body = { foo = 1 }\n  use_sensitive_output = true\n"));
        assert_eq!(it.attribute(OPERATION, "sensitive_output"), json!({ "foo": 1, "id": 1 }));
    });
}

#[test]
fn id_is_built_from_the_answer_and_polled() {
    with_each_program(|it| {
        let text = r#"  id_builder = "bar/$(body.id)"
  poll = {
    status_locator    = "body.status"
    status            = { success = "OK" }
    default_delay_sec = 0
  }
"#;
        it.apply(&call("/build-id", text));
        assert_eq!(it.attribute(OPERATION, "id"), "bar/1");
        assert_eq!(it.api.count("GET /bar/1"), 1);
    });
}

#[test]
fn operations_have_their_own_headers_and_queries() {
    with_each_program(|it| {
        for delete in ["delete", "$(body.delete)"] {
            let text = format!(
                "  body = {{ delete = \"delete\" }}\n  operation_header = {{ type = \"operation\" }}\n  \
                 operation_query = {{ type = [\"operation\"] }}\n  delete_method = \"DELETE\"\n  \
                 delete_path = \"/demand/delete\"\n  delete_header = {{ type = {delete:?} }}\n  \
                 delete_query = {{ type = [{delete:?}] }}\n"
            );
            it.apply(&call("/demand/operation", &text));
            it.destroy();
        }
        assert_eq!(it.api.count("DELETE /demand/delete"), 2);
    });
}

#[test]
fn invalid_operations_are_errors() {
    with_each_program(|it| {
        for (text, expected) in [
            ("  delete_path = \"/x\"\n", "so delete_method must be set too"),
            ("  body = {}\n  id_builder = \"$nope(body.x)\"\n", "unknown function"),
            ("  ephemeral_body = { a = 1 }\n", "failed to check disjoint"),
            (
                "  precheck = [{ api = { status_locator = \"code\", status = { success = \"200\" } } }]\n",
                "path",
            ),
        ] {
            it.apply_fails(&call("posts", text)).shows(&[expected]);
        }
        assert_eq!(it.api.count("POST /posts"), 0);
    });
}

#[test]
fn changed_operation_can_have_another_id() {
    with_each_program(|it| {
        for (value, id) in [("a", "posts/1"), ("b", "posts/2")] {
            let text =
                format!("  id_builder = \"posts/$(body.id)\"\n  body = {{ v = {value:?} }}\n");
            it.apply(&call("posts", &text));
            assert_eq!(it.attribute(OPERATION, "id"), id);
        }
    });
}

#[test]
fn operation_with_an_unusable_answer_is_undone() {
    with_each_program(|it| {
        for (path, more, expected) in [
            ("/text", "", "Answer Cannot Be Stored"),
            ("posts", "  output_attrs = [\"#.a\"]\n", "Invalid `output_attrs`"),
            ("posts", "  id_builder = \"$(body.none)\"\n", "Invalid `id_builder`"),
        ] {
            let undo = "  delete_method = \"POST\"\n  delete_path = \"/empty\"\n  body = {}\n";
            it.apply_fails(&call(path, &format!("{more}{undo}"))).shows(&[expected]);
            let state = it.bench.state(".");
            assert_eq!(state["resources"][0]["instances"][0]["status"], "tainted");
            it.destroy();
        }
        assert_eq!(it.api.count("POST /empty"), 3);
    });
}

#[test]
fn unused_body_of_a_destruction_is_accepted() {
    with_each_program(|it| {
        it.apply(&call("posts", "  body = {}\n  delete_body = { a = 1 }\n"));
        it.destroy();
    });
}
