//! States of `magodo/restful` and of older versions.

use std::{io::Write as _, path::PathBuf};

use serde_json::{Value as Json, json};

use super::{Acceptance, SOURCE};
use crate::tofu::Program;

const POST: &str = "restful_resource.post";
const CONFIG: &str = r#"
variable "v" {
  type      = string
  ephemeral = true
}
resource "restful_resource" "post" {
  path           = "posts"
  read_path      = "$(path)/$(body.id)"
  body           = { foo = "foo", list = [1, { a = null }] }
  ephemeral_body = { secret = var.v }
  header         = { x = "<&>" }
}
resource "restful_operation" "call" {
  path   = "posts"
  method = "POST"
  body   = { b = 1.5 }
}
"#;

/// Plans of this provider with states that the older schema versions have.
#[test]
fn states_of_older_versions_are_upgraded() {
    let it = Acceptance::new(Program::Mayfly);
    let config = "resource \"restful_resource\" \"post\" {\n  path = \"posts\"\n  read_path = \
                  \"$(path)/$(body.id)\"\n  body = { foo = \"foo\" }\n}\n";
    it.apply(config);
    let current = it.bench.state(".");
    for version in [0, 1] {
        let mut state = current.clone();
        let instance = &mut state["resources"][0]["instances"][0];
        instance["schema_version"] = json!(version);
        let attributes = instance["attributes"].as_object_mut().expect("an object");
        attributes.insert("retry_create".to_owned(), json!({ "count": 3 }));
        if version == 0 {
            for name in ["body", "output"] {
                let text = attributes[name]["value"].to_string();
                attributes.insert(name.to_owned(), Json::from(text));
            }
        }
        it.bench.write("terraform.tfstate", &state.to_string());
        it.run(&["plan", "-detailed-exitcode"]).end().exits(0);
        assert_eq!(it.api.count("PUT /posts/1"), 0);
    }
    let mut state = current.clone();
    state["resources"][0]["instances"][0]["schema_version"] = json!(3);
    it.bench.write("terraform.tfstate", &state.to_string());
    it.run(&["plan"]).fails().shows(&["newer"]);
}

/// The executable of `magodo/restful`. `None`, with a message on stderr, if `MAYFLY_RESTFUL` is not set.
fn upstream() -> Option<PathBuf> {
    let named = std::env::var_os("MAYFLY_RESTFUL").filter(|it| !it.is_empty());
    if named.is_none() {
        let _ = writeln!(std::io::stderr(), "skipped in part: MAYFLY_RESTFUL is not set");
    }
    named.map(PathBuf::from)
}

/// Lets one provider continue the state of the other, in both directions.
#[test]
fn states_are_exchanged_with_the_upstream_provider() {
    let Some(executable) = upstream() else { return };
    let folder = executable.parent().expect("is in a folder");
    let overrides = format!(
        "provider_installation {{\n  dev_overrides {{\n    \"{SOURCE}\" = {folder:?}\n  }}\n  direct {{}}\n}}\n"
    );
    for begins_upstream in [true, false] {
        let it = Acceptance::new(Program::Mayfly);
        it.bench.write("upstream.rc", &overrides);
        it.write(CONFIG);
        it.run(&["init"]).succeeds();
        let run = |is_upstream: bool, arguments: &[&str]| {
            let run = it.run(arguments).arg("-var=v=canary-7f31");
            match is_upstream {
                true => run.env("TF_CLI_CONFIG_FILE", it.bench.path("upstream.rc")),
                false => run,
            }
        };
        run(begins_upstream, &["apply", "-auto-approve"]).succeeds();
        let first = it.bench.state(".");
        let continued = !begins_upstream;
        run(continued, &["plan", "-detailed-exitcode"]).end().exits(0);
        run(continued, &["apply", "-auto-approve", "-refresh-only"]).succeeds();
        let second = it.bench.state(".");
        for index in [0, 1] {
            let [one, other] =
                [&first, &second].map(|state| &state["resources"][index]["instances"][0]);
            for part in ["attributes", "private", "schema_version", "identity"] {
                assert_eq!(one[part], other[part], "{part}");
            }
        }
        assert_eq!(it.attribute(POST, "output")["secret"], json!(null));
        it.assert_unwritten("canary-7f31");
        let id = it.attribute(POST, "id");
        run(continued, &["destroy", "-auto-approve"]).succeeds();
        assert_eq!(it.api.get(&format!("/{}", id.as_str().expect("a text"))), None);
    }
}
