//! Tests of runs from configuration text to state, with their event logs.

use expect_test::{Expect, expect};

use crate::world::{World, summaries, world};

/// Applies a configuration and compares the events and diagnostics.
#[track_caller]
fn check(fixture: &str, expected: Expect) -> World {
    let mut world = world(fixture);
    let diagnostics = world.apply();
    expected.assert_eq(&format!("{}---\n{}", world.log(), summaries(&diagnostics)));
    world
}

fn resources(world: &World) -> String {
    let lines =
        world.state.instances().map(|state::InstanceEntry { address, instance, .. }| {
            let object = instance.current.as_ref().expect("has an object");
            let dependencies: Vec<String> =
                object.dependencies.iter().map(ToString::to_string).collect();
            format!("{address} {:?} [{}]\n", object.status, dependencies.join(", "))
        });
    lines.collect()
}

const CHAIN: &str = r#"
resource "test_thing" "a" { name = "a" }
locals { b = "b-${test_thing.a.id}" }
resource "test_thing" "b" { name = local.b }
output "o" { value = test_thing.b.name }
"#;

#[test]
fn a_chain_is_created_in_order_and_then_unchanged() {
    let mut world = check(
        CHAIN,
        expect![[r#"
        Plan: 2 added, 0 changed, 0 destroyed
        test_thing.a: Creating...
        test_thing.a: Creating complete [id=id1]
        test_thing.b: Creating...
        test_thing.b: Creating complete [id=id2]
        Apply: 2 added, 0 changed, 0 destroyed
        ---
    "#]],
    );
    expect![[r#"
        test_thing.a Ready []
        test_thing.b Ready [test_thing.a]
    "#]]
    .assert_eq(&resources(&world));
    world.calls();
    let plan = world.plan();
    assert!(!plan.plan.is_applyable, "nothing changed");
    expect![[r#"
        test_thing.a: Refreshing state...
        test_thing.b: Refreshing state...
        Plan: 0 added, 0 changed, 0 destroyed
    "#]]
    .assert_eq(&world.log());
    expect![[r#"
        #3 configure token=null region=null
        #3 read a
        #3 plan a
        #3 read b-id1
        #3 plan b-id1
        #3 end"#]]
    .assert_eq(&world.calls().join("\n"));
}

#[test]
fn destroy_runs_in_reverse_dependency_order() {
    let mut world = check(
        CHAIN,
        expect![[r#"
        Plan: 2 added, 0 changed, 0 destroyed
        test_thing.a: Creating...
        test_thing.a: Creating complete [id=id1]
        test_thing.b: Creating...
        test_thing.b: Creating complete [id=id2]
        Apply: 2 added, 0 changed, 0 destroyed
        ---
    "#]],
    );
    world.mode = state::PlanMode::Destroy;
    let diagnostics = world.apply();
    expect![[r#"
        test_thing.a: Refreshing state...
        test_thing.b: Refreshing state...
        Plan: 0 added, 0 changed, 2 destroyed
        test_thing.b: Destroying...
        test_thing.b: Destroying complete
        test_thing.a: Destroying...
        test_thing.a: Destroying complete
        Apply: 0 added, 0 changed, 2 destroyed
        ---
    "#]]
    .assert_eq(&format!("{}---\n{}", world.log(), summaries(&diagnostics)));
    assert!(world.state.is_empty());
}

#[test]
fn zone_change_replaces_and_tag_change_updates() {
    let mut world = world(
        r#"
resource "test_thing" "a" {
  name = "a"
  zone = "x"
  tags = { t = "1" }
}
resource "test_thing" "b" { name = test_thing.a.id }
"#,
    );
    assert_eq!(summaries(&world.apply()), "");
    world.log();
    world.edit(
        "main.tf",
        r#"
resource "test_thing" "a" {
  name = "a"
  zone = "x"
  tags = { t = "2" }
}
resource "test_thing" "b" { name = test_thing.a.id }
"#,
    );
    assert_eq!(summaries(&world.apply()), "");
    expect![[r#"
        test_thing.a: Refreshing state...
        test_thing.b: Refreshing state...
        Plan: 0 added, 1 changed, 0 destroyed
        test_thing.a: Modifying...
        test_thing.a: Modifying complete [id=id1]
        Apply: 0 added, 1 changed, 0 destroyed
    "#]]
    .assert_eq(&world.log());
    world.edit(
        "main.tf",
        r#"
resource "test_thing" "a" {
  name = "a"
  zone = "y"
  tags = { t = "2" }
}
resource "test_thing" "b" { name = test_thing.a.id }
"#,
    );
    assert_eq!(summaries(&world.apply()), "");
    expect![[r#"
        test_thing.a: Refreshing state...
        test_thing.b: Refreshing state...
        Plan: 1 added, 1 changed, 1 destroyed
        test_thing.a: Destroying...
        test_thing.a: Destroying complete
        test_thing.a: Creating...
        test_thing.a: Creating complete [id=id3]
        test_thing.b: Modifying...
        test_thing.b: Modifying complete [id=id2]
        Apply: 1 added, 1 changed, 1 destroyed
    "#]]
    .assert_eq(&world.log());
}

#[test]
fn unconfigured_resources_and_outputs_are_deleted() {
    let mut world = world(CHAIN);
    assert_eq!(summaries(&world.apply()), "");
    world.log();
    world.edit("main.tf", "");
    let plan = world.plan();
    expect![[r#"
        test_thing.a Delete (delete_because_no_resource_config)
        test_thing.b Delete (delete_because_no_resource_config)
        output o Delete
    "#]]
    .assert_eq(&crate::world::actions(&plan.plan));
    assert_eq!(summaries(&world.apply()), "");
    expect![[r#"
        test_thing.a: Refreshing state...
        test_thing.b: Refreshing state...
        Plan: 0 added, 0 changed, 2 destroyed
        test_thing.a: Refreshing state...
        test_thing.b: Refreshing state...
        Plan: 0 added, 0 changed, 2 destroyed
        test_thing.b: Destroying...
        test_thing.b: Destroying complete
        test_thing.a: Destroying...
        test_thing.a: Destroying complete
        Apply: 0 added, 0 changed, 2 destroyed
    "#]]
    .assert_eq(&world.log());
    assert!(world.state.is_empty());
}

#[test]
fn failed_creation_skips_dependents_only() {
    let mut world = world(
        r#"
resource "test_thing" "a" { name = "a" }
resource "test_thing" "b" { name = test_thing.a.name }
resource "test_thing" "c" { name = "c" }
"#,
    );
    world.fault("create a");
    let diagnostics = world.apply();
    expect![[r#"
        Plan: 3 added, 0 changed, 0 destroyed
        test_thing.a: Creating...
        Error: create a failed
        test_thing.a: Creating errored
        test_thing.c: Creating...
        test_thing.c: Creating complete [id=id2]
        ---
        error: create a failed
    "#]]
    .assert_eq(&format!("{}---\n{}", world.log(), summaries(&diagnostics)));
    expect![[r#"
        test_thing.c Ready []
    "#]]
    .assert_eq(&resources(&world));
    world.mend();
    assert_eq!(summaries(&world.apply()), "");
    expect![[r#"
        test_thing.c: Refreshing state...
        Plan: 2 added, 0 changed, 0 destroyed
        test_thing.a: Creating...
        test_thing.a: Creating complete [id=id3]
        test_thing.b: Creating...
        test_thing.b: Creating complete [id=id4]
        Apply: 2 added, 0 changed, 0 destroyed
    "#]]
    .assert_eq(&world.log());
}

#[test]
fn a_failed_deletion_keeps_the_object() {
    let mut world = world(r#"resource "test_thing" "a" { name = "a" }"#);
    assert_eq!(summaries(&world.apply()), "");
    world.edit("main.tf", "");
    world.fault("destroy a");
    assert_eq!(summaries(&world.apply()), "error: destroy a failed\n");
    expect![[r#"
        test_thing.a Ready []
    "#]]
    .assert_eq(&resources(&world));
}

#[test]
fn failed_deletion_does_not_stop_the_other_instances() {
    let config = |zone: &str, tag: &str| {
        format!(
            r#"
resource "test_thing" "x" {{
  for_each = {{ a = "{zone}", b = "z" }}
  name     = each.key
  zone     = each.value
  tags     = {{ t = "{tag}" }}
}}
resource "test_thing" "after" {{ name = test_thing.x["b"].tags.t }}
"#
        )
    };
    let mut world = world(&config("z", "1"));
    assert_eq!(summaries(&world.apply()), "");
    world.log();
    world.edit("main.tf", &config("other", "2"));
    world.fault("destroy a");
    assert_eq!(summaries(&world.apply()), "error: destroy a failed\n");
    let log = world.log();
    assert!(log.contains("test_thing.x[\"b\"]: Modifying complete"), "{log}");
    assert!(!log.contains("test_thing.x[\"a\"]: Creating"), "{log}");
}

#[test]
fn object_deleted_outside_is_planned_for_creation() {
    let mut world = world(r#"resource "test_thing" "a" { name = "a" }"#);
    assert_eq!(summaries(&world.apply()), "");
    world.with_shared(|it| it.gone.push("a".to_owned()));
    let plan = world.plan();
    expect![[r#"
        test_thing.a Create
    "#]]
    .assert_eq(&crate::world::actions(&plan.plan));
    assert_eq!(plan.plan.resource_drift.len(), 1);
    world.refresh = false;
    assert!(!world.plan().plan.is_applyable, "nobody looked");
}

#[test]
fn state_is_persisted_after_every_operation() {
    let mut world = world(CHAIN);
    assert_eq!(summaries(&world.apply()), "");
    let persisted = world.persisted.lock().expect("not poisoned").join(" ");
    assert_eq!(persisted, "test_thing.a test_thing.b");
}

#[test]
fn interrupt_finishes_running_operations_and_starts_no_other() {
    let mut world = world(CHAIN);
    world.stop_after = Some("test_thing.a");
    let diagnostics = world.apply();
    expect![[r#"
        Plan: 2 added, 0 changed, 0 destroyed
        test_thing.a: Creating...
        test_thing.a: Creating complete [id=id1]
        Stopping
        Error: execution halted
        ---
        error: execution halted
    "#]]
    .assert_eq(&format!("{}---\n{}", world.log(), summaries(&diagnostics)));
    expect![[r#"
        test_thing.a Ready []
    "#]]
    .assert_eq(&resources(&world));
}

#[test]
fn data_source_with_unknown_or_pending_dependencies_is_read_in_apply() {
    check(
        r#"
data "test_lookup" "known" { name = "k" }
resource "test_thing" "a" { name = data.test_lookup.known.result }
data "test_lookup" "unknown" { name = test_thing.a.id }
data "test_lookup" "after" {
  name       = "z"
  depends_on = [test_thing.a]
}
output "u" { value = data.test_lookup.unknown.result }
output "z" { value = data.test_lookup.after.result }
"#,
        expect![[r#"
            data.test_lookup.known: Reading...
            data.test_lookup.known: Reading complete [name=k]
            Plan: 1 added, 0 changed, 0 destroyed
            test_thing.a: Creating...
            test_thing.a: Creating complete [id=id1]
            data.test_lookup.after: Reading...
            data.test_lookup.after: Reading complete [name=z]
            data.test_lookup.unknown: Reading...
            data.test_lookup.unknown: Reading complete [name=id1]
            Apply: 1 added, 0 changed, 0 destroyed
            ---
        "#]],
    );
}

#[test]
fn state_records_sensitivity_of_write_only_values() {
    let mut world = world(
        r#"
variable "plain" { ephemeral = true }
variable "hidden" {
  ephemeral = true
  sensitive = true
}
resource "test_thing" "a" {
  name      = "a"
  secret_wo = var.plain
}
resource "test_thing" "b" {
  name      = "b"
  secret_wo = var.hidden
}
"#,
    );
    world.set("plain", "plain-secret").set("hidden", "hidden-secret");
    assert_eq!(summaries(&world.apply()), "");
    let sensitive =
        world.state.instances().map(|state::InstanceEntry { address, instance, .. }| {
            let object = instance.current.as_ref().expect("is there");
            let paths: Vec<_> = object.sensitive_paths.iter().map(ToString::to_string).collect();
            format!("{address}: {}", paths.join(" "))
        });
    let sensitive: Vec<_> = sensitive.collect();
    assert_eq!(sensitive, ["test_thing.a: .password", "test_thing.b: .password .secret_wo"]);
    assert!(!world.plan().plan.is_applyable, "nothing has changed");
}

#[test]
fn write_only_value_reaches_only_the_provider() {
    let mut world = world(
        r#"
variable "s" { ephemeral = true }
resource "test_thing" "a" {
  name              = "a"
  secret_wo         = var.s
  secret_wo_version = 1
}
"#,
    );
    world.set("s", "first-secret");
    assert_eq!(summaries(&world.apply()), "");
    expect![[r#"
        #1 configure token=null region=null
        #1 plan a
        #1 end
        #2 configure token=null region=null
        #2 plan a
        #2 create a
        #2 got secret=first-secret
        #2 end"#]]
    .assert_eq(&world.calls().join("\n"));
    world.set("s", "second-secret");
    assert!(!world.plan().plan.is_applyable, "the version is the same");
    world.calls();
    world.edit(
        "main.tf",
        r#"
variable "s" { ephemeral = true }
resource "test_thing" "a" {
  name              = "a"
  secret_wo         = var.s
  secret_wo_version = 2
}
"#,
    );
    assert_eq!(summaries(&world.apply()), "");
    expect![[r#"
        #4 configure token=null region=null
        #4 read a
        #4 plan a
        #4 end
        #5 configure token=null region=null
        #5 plan a
        #5 update a
        #5 got secret=second-secret
        #5 end"#]]
    .assert_eq(&world.calls().join("\n"));
}

#[test]
fn apply_keeps_outputs_that_the_plan_knows() {
    let mut world = world(
        r#"
resource "test_thing" "a" { name = "a" }
output "known" { value = test_thing.a.name }
output "unknown" { value = test_thing.a.id }
"#,
    );
    let mut planned = world.plan();
    // A provider with the legacy SDK may return another value than it planned.
    planned.plan.output_changes.get_mut("known").expect("is planned").after = "planned".into();
    let diagnostics = world.apply_plan(planned.plan, planned.refreshed);
    assert_eq!(summaries(&diagnostics), "");
    let output = |name: &str| world.state.outputs[name].value.clone();
    assert_eq!(output("known"), "planned".into());
    assert!(output("unknown").is_known());
}
