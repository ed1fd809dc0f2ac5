//! The RFC's sections "Variables", "Locals", `tofu.applying` and `ephemeralasnull`.

use conformance::{World, finds, plan_file, state_file};
use expect_test::expect;

use super::summaries;

#[test]
fn local_is_ephemeral_if_any_part_is() {
    let mut world = World::new(
        r#"
variable "var1" {
  type = string
}

variable "var2" {
  type = string
}

variable "var3" {
  type      = string
  ephemeral = true
}

locals {
  eg1 = var.var1 == "" ? var.var2 : var.var1 // not ephemeral
  eg2 = var.var2 // not ephemeral
  eg3 = var.var3 == "" ? var.var2 : var.var1 // ephemeral because of var3 conditional
  eg4 = var.var1 == "" ? var.var2 : var.var3 // ephemeral because of var3 usage
  eg5 = "${var.var3}-${var.var1}" // ephemeral because of var3 usage
  eg6 = local.eg4 // ephemeral because of eg4 is ephemeral
}

output "all" {
  value = [for eg in [local.eg1, local.eg2, local.eg3, local.eg4, local.eg5, local.eg6] : ephemeralasnull(eg)]
}
"#,
    );
    world.set("var1", "one").set("var2", "two").set("var3", "canary-three");
    assert_eq!(summaries(&world.apply()), "");
    expect![[r#"
        all = [
          "one",
          "two",
          tostring(null),
          tostring(null),
          tostring(null),
          tostring(null),
        ]
    "#]]
    .assert_eq(&render::outputs(&world.state, false));
}

#[test]
fn a_local_of_two_variables_is_ephemeral_if_one_is() {
    let mut world = World::new(
        r#"
variable "a" {
  type = string
  default = "a value"
}

variable "b" {
  type = string
  default = "b value"
  ephemeral = true
}

locals {
  a_and_b = "${var.a}_${var.b}"
}

resource "playground_secret" "kept" {
  name             = "kept"
  value_wo         = local.a_and_b
  value_wo_version = 1
}
"#,
    );
    assert_eq!(summaries(&world.validate()), "Warning: Secret written in the configuration\n");
    assert_eq!(summaries(&world.apply()), "");
    assert!(world.received("created", "a value_b value"));
    assert!(!finds(&state_file(&world.state), "b value"));
}

#[test]
fn ephemeralasnull_keeps_non_ephemeral_parts() {
    let mut world = World::new(
        r#"
variable "secret" {
  type = string
  default = "test"
  ephemeral = true
}

locals {
  config = {
    "non-ephemeral": "non-ephemeral-value"
    "ephemeral": var.secret
  }
}

output "test" {
  value = ephemeralasnull(local.config)
}
"#,
    );
    assert_eq!(summaries(&world.apply()), "");
    expect![[r#"
        test = {
          "ephemeral" = tostring(null)
          "non-ephemeral" = "non-ephemeral-value"
        }
    "#]]
    .assert_eq(&render::outputs(&world.state, false));
}

#[test]
fn ephemeralasnull_accepts_a_non_ephemeral_value() {
    let mut world =
        World::new("output \"test\" {\n  value = ephemeralasnull({ a = [1, null, \"x\"] })\n}\n");
    assert_eq!(summaries(&world.apply()), "");
    expect![[r#"
        test = {
          "a" = [
            1,
            null,
            "x",
          ]
        }
    "#]]
    .assert_eq(&render::outputs(&world.state, false));
}

/// The value is true during the whole apply command, including its plan phase and destroys, and false during
/// `plan`.
#[test]
fn tofu_applying_is_true_during_the_whole_apply() {
    for root in ["tofu", "terraform"] {
        let mut world = World::new(&format!(
            r#"
resource "playground_secret" "a" {{
  name = "a"
  lifecycle {{
    precondition {{
      condition     = {root}.applying
      error_message = "not applying"
    }}
  }}
}}
"#
        ));
        assert_eq!(summaries(&world.plan().diagnostics), "Error: Resource precondition failed\n");
        assert_eq!(summaries(&world.apply()), "", "{root}");
        world.mode = state::PlanMode::Destroy;
        assert_eq!(summaries(&world.apply()), "", "{root}");
        assert!(world.state.resources().len() == 0 && world.state.outputs.is_empty());
    }
}

#[test]
fn ephemeral_module_variable_accepts_any_value() {
    let mut world = World::new(
        r#"
//- /main.tf
variable "plain" {
  type = string
}
module "m" {
  source = "./m"
  secret = var.plain
}
//- /m/main.tf
variable "secret" {
  type      = string
  ephemeral = true
}
resource "playground_secret" "a" {
  name             = "a"
  value_wo         = var.secret
  value_wo_version = 1
}
"#,
    );
    world.set("plain", "canary-plain");
    assert_eq!(summaries(&world.apply()), "");
    assert!(world.received("created", "canary-plain"));
    assert!(!finds(&state_file(&world.state), "canary-plain"));
}

/// A plan file must not contain the values of ephemeral variables.
#[test]
fn plan_file_names_ephemerals_without_their_values() {
    let mut world = World::new(
        r#"
variable "secret" {
  type      = string
  ephemeral = true
}
ephemeral "playground_secret" "remote" {
  name = "remote"
}
resource "playground_secret" "a" {
  name             = "a"
  value_wo         = "${var.secret}${ephemeral.playground_secret.remote.value}"
  value_wo_version = 1
}
"#,
    );
    world.remote_secret("remote", "canary-remote");
    world.set("secret", "canary-variable");
    let planned = world.plan();
    assert_eq!(summaries(&planned.diagnostics), "");
    let bytes = plan_file(&planned).expect("the plan can be saved");
    assert!(!finds(&bytes, "canary-variable") && !finds(&bytes, "canary-remote"));
    assert_eq!(
        planned.plan.ephemeral_variables.iter().map(|it| &**it).collect::<Vec<_>>(),
        ["secret"]
    );
    let opened: Vec<String> =
        planned.plan.ephemerals.iter().map(|it| it.addr.to_string()).collect();
    assert_eq!(opened, ["ephemeral.playground_secret.remote"]);
    assert_eq!(planned.plan.resource_changes.len(), 1, "an ephemeral resource is no change");
}
