//! What a plan decides.

use expect_test::{Expect, expect};
use state::PlanMode;

use crate::world::{actions, summaries, world};

#[track_caller]
fn check(fixture: &str, expected: Expect) {
    let mut world = world(fixture);
    let outcome = world.plan();
    expected.assert_eq(&format!("{}{}", actions(&outcome.plan), summaries(&outcome.diagnostics)));
}

#[test]
fn new_objects_are_created() {
    check(
        r#"
resource "terraform_data" "a" { input = "hello" }
resource "test_thing" "b" { name = terraform_data.a.output }
output "o" { value = test_thing.b.name }
"#,
        expect![[r#"
            terraform_data.a Create
            test_thing.b Create
            output o Create
        "#]],
    );
}

#[test]
fn what_is_not_run_is_said() {
    let config =
        |block: &str| format!("resource \"test_thing\" \"a\" {{ name = \"a\" }}\n{block}\n");
    let moved = "moved {\n  from = test_thing.b\n  to   = test_thing.a\n}";
    let mut world = world(&config(moved));
    assert_eq!(summaries(&world.apply()), "", "there is nothing to move");
    assert_eq!(summaries(&world.plan().diagnostics), "error: Not supported yet\n");
    world.edit("main.tf", &config("import {\n  to = test_thing.a\n  id = \"x\"\n}"));
    assert_eq!(summaries(&world.plan().diagnostics), "error: Not supported yet\n");
}

/// What a module says that is called twice is one text.
#[test]
fn what_is_not_run_is_said_once() {
    let call = |name: &str| format!("module \"{name}\" {{\n  source = \"./m\"\n}}\n");
    let called = "resource \"test_thing\" \"a\" {\n  name = \"a\"\n  lifecycle {\n    create_before_destroy = true\n  }\n}\n";
    let mut world =
        world(&format!("//- /main.tf\n{}{}//- /m/main.tf\n{called}", call("x"), call("y")));
    assert_eq!(summaries(&world.plan().diagnostics), "error: Not supported yet\n");
}

#[test]
fn variables_are_checked_even_if_nothing_refers_to_them() {
    let mut world = world(
        r#"
variable "missing" {}
variable "secret" { ephemeral = true }
variable "number" {
  type      = number
  ephemeral = true
}
variable "short" {
  default = "abc"
  validation {
    condition     = length(var.short) > 3
    error_message = "Too short."
  }
}
"#,
    );
    world.set("number", "one");
    for mode in [PlanMode::Normal, PlanMode::Destroy] {
        world.mode = mode;
        let mut found: Vec<String> =
            summaries(&world.plan().diagnostics).lines().map(str::to_owned).collect();
        found.sort();
        assert_eq!(
            found,
            [
                "error: Invalid value for input variable",
                "error: No value for required variable",
                "error: No value for required variable",
            ],
            "{mode:?}"
        );
    }
    for (name, value) in [("missing", "m"), ("secret", "s"), ("number", "1")] {
        world.set(name, value);
    }
    for mode in [PlanMode::Normal, PlanMode::Destroy] {
        world.mode = mode;
        assert_eq!(summaries(&world.plan().diagnostics), "error: Invalid value for variable\n");
    }
    for (name, value) in [("missing", "m"), ("secret", "s"), ("number", "1"), ("short", "long")] {
        world.set(name, value);
    }
    for mode in [PlanMode::Normal, PlanMode::Destroy] {
        world.mode = mode;
        assert_eq!(summaries(&world.apply()), "", "{mode:?}");
    }
}
