//! The ephemeral `restful_resource`.

use std::path::Path;

use serde_json::json;

use super::with_each_program;

#[test]
fn secret_of_an_ephemeral_resource_goes_into_a_resource() {
    with_each_program(|it| {
        it.apply(
            r#"
ephemeral "restful_resource" "lease" {
  path   = "/lease"
  method = "POST"
  body   = {}
}
resource "restful_resource" "post" {
  path           = "posts"
  read_path      = "$(path)/$(body.id)"
  body           = { foo = 1 }
  ephemeral_body = { secret = "canary-${ephemeral.restful_resource.lease.output.foo}" }
}
"#,
        );
        assert_eq!(it.api.get("/posts/1").expect("exists")["secret"], "canary-bar");
        assert_eq!(it.attribute("restful_resource.post", "output"), json!({ "foo": 1, "id": 1 }));
        it.assert_unwritten("canary-bar");
    });
}

#[test]
fn example_stores_its_password_nowhere() {
    const PASSWORD: &str = "correct-horse-battery";
    with_each_program(|it| {
        let example = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/restful/main.tf");
        it.bench.write("main.tf", &std::fs::read_to_string(example).expect("can be read"));
        it.initialize();
        let run = |arguments: &[&str]| {
            let log = it.bench.path("log.txt");
            let run = it.run(arguments).arg(format!("-var=api={}", it.api.server.url));
            let ended = run.env("TF_LOG", "TRACE").env("TF_LOG_PATH", log).succeeds();
            ended.lacks(&[PASSWORD]);
            ended
        };
        run(&["plan", "-out=saved.plan"]);
        run(&["apply", "-auto-approve"]).shows(&["\"name\" = \"orders\""]);
        run(&["plan", "-detailed-exitcode"]).shows(&["No changes."]);
        assert_eq!(it.api.get("/posts/1").expect("exists")["owner"]["password"], PASSWORD);
        it.assert_unwritten(PASSWORD);
        run(&["destroy", "-auto-approve"]);
        assert_eq!(it.api.count("POST /credentials"), it.api.count("DELETE /credentials"));
        it.assert_unwritten(PASSWORD);
    });
}

#[test]
fn lease_is_renewed_and_closed() {
    with_each_program(|it| {
        it.apply(
            r#"
ephemeral "restful_resource" "lease" {
  path   = "/lease"
  method = "POST"
  body   = {}

  renew_method   = "POST"
  renew_path     = "/updateLease?of=$(body.foo)"
  renew_body     = { by = "test" }
  expiry_type    = "duration"
  expiry_locator = "header.expiry"
  expiry_unit    = "s"
  expiry_ahead   = "0.6s"

  close_method = "POST"
  close_path   = "/unlease"
}
provider "restful" {
  alias    = "leased"
  base_url = "SERVER"
  header   = { lease = ephemeral.restful_resource.lease.output.foo }
}
resource "restful_operation" "slow" {
  provider = restful.leased
  path     = "/sleep/2300"
  method   = "GET"
}
"#,
        );
        let [opened, renewed, closed] = ["POST /lease", "POST /updateLease", "POST /unlease"]
            .map(|request| it.api.count(request));
        assert!(opened > 0 && opened == closed, "{opened} opened, {closed} closed");
        assert!(renewed >= 2, "{renewed} renewed");
    });
}

#[test]
fn renewal_and_close_use_the_answer_of_the_opening() {
    with_each_program(|it| {
        it.apply(
            r#"
ephemeral "restful_resource" "it" {
  path         = "/demand/open"
  method       = "POST"
  open_header  = { type = "open" }
  open_query   = { type = ["open"] }
  body         = { close = "close", id = 7 }
  close_method = "POST"
  close_path   = "/demand/$(body.close)"
  close_header = { type = "$(body.close)" }
  close_query  = { type = ["$(body.close)"] }
  close_body_raw = "{\"closed\": $(body.id)}"
}
resource "restful_resource" "post" {
  path           = "posts"
  read_path      = "$(path)/$(body.id)"
  body           = {}
  ephemeral_body = { id_of_lease = ephemeral.restful_resource.it.output.id }
}
"#,
        );
        assert!(it.api.count("POST /demand/close") > 0);
        assert_eq!(it.api.count("POST /demand/open"), it.api.count("POST /demand/close"));
    });
}

#[test]
fn opening_that_cannot_be_used_is_closed_again() {
    with_each_program(|it| {
        let config = |expiry: &str| {
            format!(
                r#"
ephemeral "restful_resource" "it" {{
  path           = "/lease"
  method         = "POST"
  renew_method   = "POST"
  renew_path     = "/updateLease"
  expiry_type    = "time"
  expiry_locator = "{expiry}"
  close_method   = "POST"
  close_path     = "/unlease"
}}
resource "restful_resource" "post" {{
  path           = "posts"
  read_path      = "$(path)/$(body.id)"
  body           = {{}}
  ephemeral_body = {{ secret = ephemeral.restful_resource.it.output.foo }}
}}
"#
            )
        };
        for (locator, expected) in [
            ("header.none", "Invalid `expiry_locator`"),
            ("header.expiry", "Invalid `expiry_type`"),
        ] {
            let ended = it.apply_fails(&config(locator));
            ended.shows(&[expected]);
            ended.lacks(&["\"bar\""]);
        }
        assert_eq!(it.api.count("POST /lease"), it.api.count("POST /unlease"));
        let ended = it.apply_fails(&config("code"));
        ended.shows(&["the locator \"code\" cannot locate an expiry"]);
    });
}

#[test]
fn incomplete_calls_are_errors() {
    with_each_program(|it| {
        for (text, expected) in [
            ("renew_path = \"/x\"", "renew_method must be set too"),
            ("close_body = {}", "close_method must be set too"),
            ("expiry_type = \"duration\"", "expiry_locator must be set too"),
            ("expiry_ahead = \"soon\"", "must be a duration"),
            ("expiry_type = \"date\"", "must be duration, time, or time."),
        ] {
            let text = format!(
                "ephemeral \"restful_resource\" \"it\" {{\n  path = \"/lease\"\n  method = \"POST\"\n  {text}\n}}\n"
            );
            it.apply_fails(&text).shows(&[expected]);
        }
        assert_eq!(it.api.count("POST /lease"), 0);
    });
}
