//! The RFC's section "Write-only attributes": they are never read back and never stored, and a version argument
//! triggers updates.

use conformance::{World, finds, state_file};
use expect_test::expect;
use values::Value;

use super::summaries;

fn database(password: &str, version: u32) -> String {
    format!(
        r#"
resource "playground_database" "example" {{
  identifier          = "example"
  // ...
  password_wo         = "{password}"
  password_wo_version = {version}
  // ...
}}
"#
    )
}

#[test]
fn new_password_is_sent_only_with_a_raised_version() {
    let mut world = World::new(&database("your-initial-password", 1));
    assert_eq!(summaries(&world.validate()), "Warning: Secret written in the configuration\n");
    assert_eq!(summaries(&world.apply()), "");
    assert!(world.received("created", "your-initial-password"));
    assert!(!finds(&state_file(&world.state), "your-initial-password"));

    world.edit("main.tf", &database("new-password", 1));
    let planned = world.plan();
    assert!(!planned.plan.is_applyable, "only the write-only value changed");
    assert_eq!(summaries(&world.apply()), "");
    assert!(!world.received("updated", "new-password"));

    world.log();
    world.edit("main.tf", &database("new-password", 2));
    assert_eq!(summaries(&world.apply()), "");
    assert!(world.received("updated", "new-password"));
    expect![[r#"
        Plan: 0 to add, 1 to change, 0 to destroy
        playground_database.example: Modifying...
        playground_database.example: Modifications complete
        Apply: 0 to add, 1 to change, 0 to destroy
    "#]]
    .assert_eq(&world.log());
    assert!(!finds(&state_file(&world.state), "new-password"));
}

const EVERYWHERE: &str = r#"
variable "secret" {
  type      = string
  ephemeral = true
}
resource "playground_vault" "v" {
  name            = "v"
  secrets_version = 1
  secret_wo       = "${var.secret}-secret"
  codes_wo        = ["${var.secret}-code"]
  any_wo          = { inside = "${var.secret}-any" }
  login           = { user = "u", password_wo = "${var.secret}-login" }
  logins          = [{ user = "a", password_wo = "${var.secret}-logins" }, { user = "b" }]
  logins_by_role  = { admin = { user = "u", password_wo = "${var.secret}-role" } }
  primary {
    name     = "p"
    token_wo = "${var.secret}-primary"
  }
  replica {
    name = "r0"
  }
  replica {
    name     = "r1"
    token_wo = "${var.secret}-replica"
  }
  region "eu" {
    name     = "e"
    token_wo = "${var.secret}-region"
  }
  fallback {
    token_wo = "${var.secret}-fallback"
  }
}
output "read_back" {
  value     = [playground_vault.v.secret_wo, playground_vault.v.login.password_wo, playground_vault.v.primary.token_wo]
  sensitive = true
}
"#;

#[test]
fn write_only_attributes_at_every_place_reach_the_provider_and_read_as_null() {
    let mut world = World::new(EVERYWHERE);
    world.set("secret", "canary");
    assert_eq!(summaries(&world.validate()), "");
    assert_eq!(summaries(&world.apply()), "");
    for place in ["secret", "login", "logins", "role", "primary", "replica", "region", "fallback"] {
        assert!(world.received("created", &format!("canary-{place}")), "{place}");
    }
    assert!(!finds(&state_file(&world.state), "canary"));
    let output = &world.state.outputs["read_back"].value;
    assert!(output.elements().all(|(_, it)| it.is_null()), "{output:?}");
    // A second plan has no changes, even with another secret.
    world.set("secret", "another-canary");
    assert!(!world.plan().plan.is_applyable);
}

#[test]
fn version_of_a_replacing_write_only_attribute_replaces_the_object() {
    let config = |version: u32| {
        format!(
            "resource \"playground_vault\" \"v\" {{\n  name = \"v\"\n  key_wo = \"k\"\n  key_version = {version}\n}}\n"
        )
    };
    let mut world = World::new(&config(1));
    assert_eq!(summaries(&world.apply()), "");
    world.edit("main.tf", &config(2));
    let planned = world.plan();
    let change = &planned.plan.resource_changes[0].change;
    assert_eq!(change.action, state::Action::DeleteThenCreate);
    assert_eq!(change.after.get_attr("key_wo"), Some(Value::null(values::Type::String)));
}

#[test]
fn a_root_output_of_a_write_only_attribute_must_be_sensitive() {
    let mut world = World::new(&EVERYWHERE.replace("  sensitive = true\n", ""));
    world.set("secret", "canary");
    assert_eq!(summaries(&world.validate()), "Error: Output refers to a write-only attribute\n");
}
