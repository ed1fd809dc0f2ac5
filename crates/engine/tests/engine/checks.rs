//! Tests of what plan and state record besides objects: results of conditions, and reasons for destruction.

use expect_test::expect;
use state::CheckStatus;

use crate::{
    targets::targets,
    world::{World, summaries, world},
};

/// Returns the results in the state: address and status of each block, followed by those of its objects.
fn checks(world: &World) -> String {
    let lines = world.state.checks.iter().map(|result| {
        let objects = result.objects.iter().map(|it| format!(" {}={:?}", it.addr, it.status));
        format!("{} {:?}:{}\n", result.config_addr, result.status, objects.collect::<String>())
    });
    lines.collect()
}

const FAILING: &str = r#"
resource "test_thing" "a" {
  name = "a"
  lifecycle {
    postcondition {
      condition     = self.id == ""
      error_message = "It has an id."
    }
  }
}
check "later" {
  assert {
    condition     = test_thing.a.id != ""
    error_message = "It has none."
  }
}
module "none" {
  count  = 0
  source = "./m"
}
//- /m/main.tf
variable "v" {
  default = "x"
  validation {
    condition     = var.v != ""
    error_message = "Empty."
  }
}
"#;

#[test]
fn conditions_not_reached_by_apply_are_unknown() {
    let mut world = world(FAILING);
    let summaries = summaries(&world.apply());
    assert!(summaries.contains("Resource postcondition failed"), "{summaries}");
    let expected = "\
test_thing.a Fail: test_thing.a=Fail
check.later Unknown: check.later=Unknown
module.none.var.v Pass:
";
    assert_eq!(checks(&world), expected);
}

#[test]
fn unknown_condition_of_another_type_than_bool_is_an_error_of_the_plan() {
    let mut world = world(
        r#"
resource "terraform_data" "number" { input = 1 }
resource "test_thing" "a" {
  name = "a"
  lifecycle {
    precondition {
      condition     = terraform_data.number.output
      error_message = "Never."
    }
  }
}
"#,
    );
    let found = summaries(&world.apply());
    assert_eq!(found, "error: Invalid condition result\n");
    assert!(world.state.is_empty(), "nothing is made before the error");
}

#[test]
fn destroy_leaves_conditions_unknown() {
    let mut world = world(
        r#"
resource "test_thing" "a" {
  name = "a"
  lifecycle {
    precondition {
      condition     = path.module != ""
      error_message = "No module."
    }
  }
}
"#,
    );
    world.apply();
    assert_eq!(world.state.checks[0].status, CheckStatus::Pass);
    world.mode = state::PlanMode::Destroy;
    world.apply();
    assert_eq!(checks(&world), "test_thing.a Unknown:\n");
}

#[test]
fn unknown_check_assertion_warns_in_plan() {
    let mut world = world(
        r#"
resource "test_thing" "a" { name = "a" }
check "c" {
  assert {
    condition     = test_thing.a.id != ""
    error_message = "No id."
  }
}
"#,
    );
    let planned = world.plan();
    let summaries = summaries(&planned.diagnostics);
    assert!(summaries.contains("Check block assertion known after apply"), "{summaries}");
    assert!(!planned.has_errors(), "it is a warning");
}

#[test]
fn count_accepts_a_sensitive_number() {
    let mut world = world(
        r#"
variable "n" {
  default   = 2
  sensitive = true
}
resource "test_thing" "a" {
  count = var.n
  name  = "a${count.index}"
}
module "m" {
  count  = var.n
  source = "./m"
}
//- /m/main.tf
resource "test_thing" "b" { name = "b" }
"#,
    );
    assert_eq!(summaries(&world.apply()), "");
    assert_eq!(world.state.instances().count(), 4);
}

#[test]
fn change_of_sensitivity_alone_updates_the_object() {
    let config = |sensitive: bool| {
        format!(
            "variable \"v\" {{\n  default = \"x\"\n  sensitive = {sensitive}\n}}\nresource \
             \"test_thing\" \"a\" {{ name = var.v }}\n"
        )
    };
    let mut world = world(&config(false));
    world.apply();
    world.log();
    world.edit("main.tf", &config(true));
    world.apply();
    let log = world.log();
    assert!(log.contains("test_thing.a: Modifying...\n"), "{log}");
    assert!(log.ends_with("Apply: 0 added, 1 changed, 0 destroyed\n"), "{log}");
}

#[test]
fn objects_of_a_removed_module_call_have_no_configuration() {
    let module = "//- /m/main.tf\nresource \"test_thing\" \"a\" { name = \"a\" }\n";
    let mut world =
        world(&format!("module \"m\" {{\n  count = 2\n  source = \"./m\"\n}}\n{module}"));
    world.apply();
    let reasons = |world: &mut World| -> Vec<_> {
        let changes = world.plan().plan.resource_changes;
        let gone = changes.iter().filter(|it| it.change.action == state::Action::Delete);
        gone.map(|it| it.reason).collect()
    };
    world.edit("main.tf", "module \"m\" {\n  count = 1\n  source = \"./m\"\n}\n");
    assert_eq!(reasons(&mut world), [Some(state::Reason::DeleteBecauseNoModule)]);
    world.edit("main.tf", "");
    let none = Some(state::Reason::DeleteBecauseNoResourceConfig);
    assert_eq!(reasons(&mut world), [none, none]);
}

#[test]
fn failed_condition_shows_the_values_that_it_read_but_no_secret() {
    let mut world = world(
        r#"
variable "plain" { default = "seen" }
variable "secret" {
  default   = "canary"
  sensitive = true
}
check "sides" {
  assert {
    condition     = var.plain == "other"
    error_message = "Another."
  }
  assert {
    condition     = var.plain == var.secret
    error_message = "Secret side."
  }
  assert {
    condition     = [var.plain, var.secret] == ["a", "b"]
    error_message = "Secret inside."
  }
}
"#,
    );
    let found = world.plan().diagnostics;
    let shown = found.iter().map(|it| {
        let sides = it.difference.as_ref().map(|it| format!("{} and {}", it.left, it.right));
        format!("{}: {:?}, {}", it.detail, it.values, sides.as_deref().unwrap_or("no difference"))
    });
    let shown: Vec<String> = shown.collect();
    let expected = [
        "Another.: [\"var.plain is \\\"seen\\\"\"], \"seen\" and \"other\"",
        "Secret side.: [\"var.plain is \\\"seen\\\"\"], no difference",
        "Secret inside.: [\"var.plain is \\\"seen\\\"\"], no difference",
    ];
    assert_eq!(shown, expected);
}

#[test]
fn run_with_targets_validates_the_variables_that_depend_on_them_alone() {
    let mut world = world(
        r#"
//- /main.tf
resource "test_thing" "a" { name = "a" }
resource "test_thing" "b" { name = "b" }
module "of_a" {
  source = "./m"
  name   = test_thing.a.id
}
module "of_both" {
  source = "./m"
  name   = "${test_thing.a.id}-${test_thing.b.id}"
}
module "of_none" {
  source = "./m"
  name   = "none"
}
//- /m/main.tf
variable "name" {
  validation {
    condition     = var.name != "bad"
    error_message = "Bad."
  }
}
"#,
    );
    world.targets = targets(&["test_thing.a"]);
    assert_eq!(summaries(&world.apply()), "warning: Applied changes may be incomplete\n");
    expect![[r#"
        module.of_a.var.name Pass: module.of_a.var.name=Pass
        module.of_both.var.name Unknown:
        module.of_none.var.name Unknown:
    "#]]
    .assert_eq(&checks(&world));
}
