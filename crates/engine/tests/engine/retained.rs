//! Tests of the values that an apply evaluates again, and of the order through resources and modules without
//! changes.

use std::time::Duration;

use crate::world::{summaries, world};

/// The plan evaluated these values while an identifier was unknown. In the apply, they would fail.
#[test]
fn apply_does_not_evaluate_unreferenced_values() {
    let mut world = world(
        r#"
//- /main.tf
resource "terraform_data" "a" {}
resource "terraform_data" "each" { for_each = toset(["x"]) }
locals {
  text = terraform_data.a.id == "" ? "" : "text: ${terraform_data.each["x"].output}"
}
module "m" {
  source = "./m"
  in     = terraform_data.a.id == "" ? "" : "text: ${terraform_data.each["x"].output}"
}
//- /m/main.tf
variable "in" {}
output "out" { value = "${var.in}!" }
"#,
    );
    assert_eq!(summaries(&world.apply()), "");
}

#[test]
fn root_output_does_not_wait_for_unchanged_resources() {
    let mut world = world(
        r#"
resource "test_thing" "a" { name = "a" }
resource "test_thing" "idle" {
  for_each = {}
  name     = test_thing.a.id
}
output "out" {
  value      = "x"
  depends_on = [test_thing.idle]
}
"#,
    );
    world.fault("create a");
    assert!(summaries(&world.apply()).contains("error"));
    assert!(world.state.outputs.contains_key("out"));
}

#[test]
fn resource_waits_for_conditions_of_unchanged_dependencies() {
    let mut world = world(
        r#"
resource "test_thing" "a" { name = "a" }
resource "test_thing" "idle" {
  count = 0
  name  = "idle"
  lifecycle {
    precondition {
      condition     = test_thing.a.id != ""
      error_message = "no"
    }
  }
}
resource "test_thing" "c" { name = "c${length(test_thing.idle)}" }
"#,
    );
    world.with_shared(|it| it.slow = Some(("create a", Duration::from_secs(5))));
    assert_eq!(summaries(&world.apply()), "");
    world.assert_logged_before("test_thing.a: Creating complete", "test_thing.c: Creating...");
}

#[test]
fn reader_of_a_call_without_instances_waits_for_its_inputs() {
    let mut world = world(
        r#"
//- /main.tf
resource "test_thing" "a" { name = "a" }
module "none" {
  source = "./m"
  count  = 0
  in     = test_thing.a.id
}
resource "test_thing" "c" { name = try(module.none[0].out, "c") }
//- /m/main.tf
variable "in" {}
locals { in = var.in }
output "out" { value = local.in }
"#,
    );
    world.with_shared(|it| it.slow = Some(("create a", Duration::from_secs(5))));
    assert_eq!(summaries(&world.apply()), "");
    world.assert_logged_before("test_thing.a: Creating complete", "test_thing.c: Creating...");
}

/// Nothing in a module is evaluated before the dependencies of its call are complete.
#[test]
fn module_call_with_a_failed_dependency_checks_nothing() {
    let mut world = world(
        r#"
//- /main.tf
resource "test_thing" "a" { name = "a" }
module "m" {
  source     = "./m"
  in         = 1
  depends_on = [test_thing.a]
}
//- /m/main.tf
variable "in" {
  validation {
    condition     = var.in > 0
    error_message = "no"
  }
}
check "c" {
  assert {
    condition     = var.in > 0
    error_message = "no"
  }
}
"#,
    );
    world.fault("create a");
    assert!(summaries(&world.apply()).contains("error"));
    let known = world.state.checks.iter().filter(|it| it.status != state::CheckStatus::Unknown);
    assert_eq!(known.count(), 0);
    world.mend();
    assert_eq!(summaries(&world.apply()), "");
    assert!(world.state.checks.iter().all(|it| it.status == state::CheckStatus::Pass));
}

/// A second apply changes nothing and does not need the output, so the result of its precondition is unknown.
#[test]
fn conditions_of_unneeded_outputs_are_unknown() {
    let mut world = world(
        r#"
//- /main.tf
module "m" { source = "./m" }
resource "test_thing" "a" {
  name       = "a"
  depends_on = [module.m]
}
//- /m/main.tf
resource "test_thing" "b" { name = "b" }
output "out" {
  value = 1
  precondition {
    condition     = test_thing.b.id != ""
    error_message = "no"
  }
}
"#,
    );
    assert_eq!(summaries(&world.apply()), "");
    assert_eq!(world.state.checks[0].status, state::CheckStatus::Pass);
    assert_eq!(summaries(&world.apply()), "");
    assert_eq!(world.state.checks[0].status, state::CheckStatus::Unknown);
}

/// The resource that the output gives a count has no instances, so that no change needs the output.
#[test]
fn apply_does_not_evaluate_count_of_unchanged_resources() {
    let mut world = world(
        r#"
//- /main.tf
module "m" { source = "./m" }
resource "test_thing" "none" {
  count = module.m.out
  name  = "none"
}
//- /m/main.tf
resource "test_thing" "b" { name = "b" }
output "out" {
  value = 0
  precondition {
    condition     = test_thing.b.id != ""
    error_message = "no"
  }
}
"#,
    );
    assert_eq!(summaries(&world.apply()), "");
    assert_eq!(world.state.checks[0].status, state::CheckStatus::Unknown);
}
