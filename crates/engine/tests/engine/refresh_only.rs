//! Tests of refresh-only plans: they read objects and plan nothing for them.

use expect_test::{Expect, expect};
use state::PlanMode;

use crate::{
    targets::{outputs, targets},
    world::{World, actions, summaries, world},
};

const CONFIG: &str = r#"
variable "name" { default = "a" }
resource "test_thing" "a" {
  name = var.name
  zone = "z"
}
resource "test_thing" "b" {
  count = 2
  name  = "b-${count.index}"
}
data "test_lookup" "d" { name = test_thing.a.zone }
output "zone" { value = test_thing.a.zone }
output "b" { value = test_thing.b[*].name }
output "d" { value = data.test_lookup.d.name }
"#;

fn applied() -> World {
    let mut world = world(CONFIG);
    assert_eq!(summaries(&world.apply()), "");
    world.log();
    world.calls();
    world.mode = PlanMode::RefreshOnly;
    world
}

/// Plans, and compares the changes, the drift and the diagnostics.
#[track_caller]
fn check(world: &mut World, expected: Expect) -> bool {
    let outcome = world.plan();
    let drift: String = outcome
        .plan
        .drift()
        .map(|it| format!("drift {} {:?}\n", it.addr, it.change.action))
        .collect();
    let problems = summaries(&outcome.diagnostics);
    expected.assert_eq(&format!("{}{drift}{problems}", actions(&outcome.plan)));
    outcome.plan.is_applyable
}

#[test]
fn refresh_only_plan_ignores_changes_of_the_configuration() {
    let mut world = applied();
    world.set("name", "other");
    let is_applyable = check(
        &mut world,
        expect![[r#"
        output b NoOp
        output d NoOp
        output zone NoOp
    "#]],
    );
    assert!(!is_applyable);
    assert!(world.calls().iter().all(|it| !it.starts_with("plan")), "no provider plans");
}

#[test]
fn changes_from_outside_are_written_with_the_outputs_that_they_change() {
    let mut world = applied();
    world.with_shared(|it| it.lies = vec![("read", "zone", "outside")]);
    let is_applyable = check(
        &mut world,
        expect![[r#"
        output b NoOp
        output d Update
        output zone Update
        drift test_thing.a Update
        drift test_thing.b[0] Update
        drift test_thing.b[1] Update
    "#]],
    );
    assert!(is_applyable);
    world.calls();
    assert_eq!(summaries(&world.apply()), "");
    assert!(!world.calls().iter().any(|it| it.starts_with("apply")), "no provider applies");
    expect![[r#"
        b = ["b-0","b-1"]
        d = "outside"
        zone = "outside"
    "#]]
    .assert_eq(&outputs(&world));
    assert!(!world.plan().plan.is_applyable);
}

#[test]
fn deleted_object_is_removed_and_its_values_are_unknown() {
    let mut world = applied();
    world.with_shared(|it| it.gone = vec!["b-0".to_owned(), "a".to_owned()]);
    check(
        &mut world,
        expect![[r#"
        output b Update
        output d Update
        output zone Update
        drift test_thing.a Delete
        drift test_thing.b[0] Delete
    "#]],
    );
    assert_eq!(summaries(&world.apply()), "");
    expect![[r#"
        b = [null,"b-1"]
        d = null
        zone = null
    "#]]
    .assert_eq(&outputs(&world));
    let left: Vec<String> = world.state.instances().map(|it| it.address.to_string()).collect();
    expect!["test_thing.b[1]"].assert_eq(&left.join("\n"));
}

#[test]
fn object_without_a_block_stays_and_is_read() {
    let mut world = applied();
    let text = world.text();
    world.edit("main.tf", &text.replace("count = 2", "count = 1"));
    world.with_shared(|it| it.lies = vec![("read", "zone", "outside")]);
    check(
        &mut world,
        expect![[r#"
        output b NoOp
        output d Update
        output zone Update
        drift test_thing.a Update
        drift test_thing.b[0] Update
        drift test_thing.b[1] Update
    "#]],
    );
    assert_eq!(summaries(&world.apply()), "");
    assert_eq!(world.state.instances().count(), 4);
}

#[test]
fn refresh_only_plan_reads_only_targets_and_their_dependencies() {
    let mut world = applied();
    world.targets = targets(&["test_thing.b[1]"]);
    world.plan();
    let log = world.log();
    let read: Vec<&str> = log.lines().filter(|it| it.contains("Refreshing")).collect();
    assert_eq!(read, ["test_thing.b[1]: Refreshing state..."]);
}

#[test]
fn failed_conditions_only_warn() {
    let config = r#"
        resource "test_thing" "a" {
          name = "a"
          zone = "z"
          lifecycle {
            precondition {
              condition     = var.ok
              error_message = "Before."
            }
            postcondition {
              condition     = self.zone == "z"
              error_message = "After."
            }
          }
        }
        variable "ok" {
          type    = string
          default = "true"
        }
        output "o" {
          value = test_thing.a.name
          precondition {
            condition     = var.ok
            error_message = "Output."
          }
        }
    "#;
    let mut world = world(config);
    assert_eq!(summaries(&world.apply()), "");
    world.mode = PlanMode::RefreshOnly;
    world.set("ok", "false");
    world.with_shared(|it| it.lies = vec![("read", "zone", "outside")]);
    check(
        &mut world,
        expect![[r#"
        output o NoOp
        drift test_thing.a Update
        warning: Resource precondition failed
        warning: Resource postcondition failed
        warning: Module output value precondition failed
    "#]],
    );
    let problems = world.apply();
    assert!(problems.iter().all(|it| !it.is_error()), "{}", summaries(&problems));
}

#[test]
fn output_of_an_absent_object_keeps_its_type() {
    let mut world = world(
        "resource \"test_thing\" \"a\" { name = \"a\" }\noutput \"id\" { value = test_thing.a.id }",
    );
    world.mode = PlanMode::RefreshOnly;
    assert_eq!(summaries(&world.apply()), "");
    let value = &world.state.outputs.values().next().expect("an output").value;
    assert_eq!((value.is_null(), value.ty()), (true, values::Type::String));
}

#[test]
fn import_block_changes_no_dependencies() {
    let config = r#"
        resource "test_thing" "a" { name = "a" }
        resource "test_thing" "b" { name = "b" }
        resource "test_thing" "c" {
          name       = "c"
          depends_on = [test_thing.b]
        }
    "#;
    let mut world = world(config);
    assert_eq!(summaries(&world.apply()), "");
    world.mode = PlanMode::RefreshOnly;
    let import = "import {\n  to = test_thing.b\n  id = test_thing.a.id\n}\n";
    world.edit("main.tf", &format!("{config}{import}"));
    assert!(!check(&mut world, expect![[""]]));
}
