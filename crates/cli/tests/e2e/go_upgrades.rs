//! Upgrades of states that older versions of the provider `random` wrote, beside `tofu`. The provider is a real one,
//! from the mirror that `TF_CLI_CONFIG_FILE` names; without it or `MAYFLY_TOFU` the test prints a note.

use std::io::Write as _;

use serde_json::{Value as Json, json};

use crate::{
    bench::Bench,
    tofu::{Program, programs},
};

const MAIN: &str = r#"
terraform {
  required_providers {
    random = { source = "hashicorp/random" }
  }
}
resource "random_password" "v0" {
  length = 8
}
resource "random_password" "v1" {
  length  = 8
  special = false
}
resource "random_password" "v2" {
  length = 8
}
resource "random_string" "v1" {
  length = 8
}
"#;

/// A bcrypt hash of the stored password.
const HASH: &str = "$2a$04$qKTX1F.ZOzMqTBeEQ7UMLORIhWQ0Q47xgrZVjT61m7zlPlAPrfksS";

/// The state of an older version: a password of each version of its schema, and a string.
fn state() -> Json {
    let mut passwords: Vec<Json> =
        (0..3).map(|version| password(version, &format!("v{version}"))).collect();
    let mut string = stored(1);
    string["attributes"]["id"] = json!("abcdEF1!");
    passwords.push(resource("random_string", "v1", &string));
    json!({
        "version": 4, "terraform_version": "1.1.0", "serial": 3, "lineage": "l", "outputs": {},
        "resources": passwords, "check_results": null
    })
}

fn password(version: u64, name: &str) -> Json {
    let mut object = stored(version);
    let attributes = &mut object["attributes"];
    attributes["special"] = json!(version != 1);
    if version > 0 {
        attributes["bcrypt_hash"] = json!(HASH);
    }
    if version > 1 {
        attributes["numeric"] = json!(true);
    }
    resource("random_password", name, &object)
}

fn stored(version: u64) -> Json {
    json!({
        "schema_version": version,
        "attributes": {
            "id": "none", "keepers": null, "length": 8, "lower": true, "min_lower": null,
            "min_numeric": 0, "min_special": 0, "min_upper": 0, "number": true,
            "override_special": null, "result": "abcdEF1!", "special": true, "upper": true
        },
        "sensitive_attributes": []
    })
}

fn resource(type_name: &str, name: &str, object: &Json) -> Json {
    json!({
        "mode": "managed", "type": type_name, "name": name, "instances": [object],
        "provider": "provider[\"registry.opentofu.org/hashicorp/random\"]"
    })
}

/// The objects of a state, without the hash that an upgrade makes up.
fn objects(bench: &Bench) -> Json {
    let mut resources = bench.state(".")["resources"].take();
    for resource in resources.as_array_mut().expect("is a list") {
        let is_oldest = resource["name"] == "v0";
        for instance in resource["instances"].as_array_mut().expect("is a list") {
            let version = instance["schema_version"].as_u64();
            let hash = &mut instance["attributes"]["bcrypt_hash"];
            if is_oldest && hash.is_string() {
                *hash = json!("a hash");
            }
            assert!(version > Some(1), "{instance}");
        }
    }
    resources
}

#[test]
fn older_states_of_a_go_provider_are_upgraded_as_by_tofu() {
    let programs = programs();
    let config = std::env::var_os("TF_CLI_CONFIG_FILE").filter(|_| programs.len() > 1);
    let Some(config) = config else {
        let _ = writeln!(
            std::io::stderr(),
            "skipped: older_states_of_a_go_provider_are_upgraded_as_by_tofu needs TF_CLI_CONFIG_FILE and MAYFLY_TOFU"
        );
        return;
    };
    let mut upgraded = Vec::new();
    for program in &programs {
        let bench = Bench::with_main(MAIN);
        bench.write("terraform.tfstate", &state().to_string());
        let run = |arguments: &[&str]| {
            program.run(&bench, ".", arguments).env("TF_CLI_CONFIG_FILE", &config)
        };
        run(&["init"]).succeeds();
        let plan = run(&["plan", "-out=p"]).end().exits(0);
        plan.shows(&["No changes"]);
        run(&["apply", "p"]).succeeds();
        run(&["apply", "-refresh-only", "-auto-approve"]).succeeds();
        upgraded.push((program.name(), objects(&bench)));
        if matches!(program, Program::Mayfly) {
            bench.assert_no_orphans(".");
        }
    }
    assert_eq!(upgraded[0].1, upgraded[1].1, "{} and {}", upgraded[0].0, upgraded[1].0);
}
