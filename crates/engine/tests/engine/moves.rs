//! Tests of implied moves: objects of blocks that gain or lose `count` or `enabled` are kept under another
//! address.

use expect_test::{Expect, expect};

use crate::world::{World, summaries, world};

/// Returns the planned actions with the previous addresses, and the diagnostics.
pub(crate) fn plan(world: &mut World) -> String {
    let outcome = world.plan();
    let changes = outcome.plan.resource_changes.iter();
    let lines = changes.map(|it| {
        let reason = it.reason.map(|it| format!(" ({})", it.as_str())).unwrap_or_default();
        let from = it.previous_addr.as_ref().map(|it| format!(" from {it}")).unwrap_or_default();
        format!("{} {:?}{reason}{from}\n", it.addr, it.change.action)
    });
    let lines: String = lines.collect();
    format!("{lines}{}", summaries(&outcome.diagnostics))
}

pub(crate) fn stored(world: &World) -> Vec<String> {
    world.state.instances().map(|it| it.address.to_string()).collect()
}

const BEFORE: &str = r#"
resource "test_thing" "to_count" { name = "a" }
resource "test_thing" "from_count" {
  count = 2
  name  = "b"
}
resource "test_thing" "to_enabled" {
  count = 1
  name  = "c"
}
resource "test_thing" "updated" { name = "d" }
resource "test_thing" "to_none" { name = "e" }
resource "test_thing" "to_for_each" { name = "f" }
data "test_lookup" "read" { name = "g" }
module "to_count" { source = "./m" }
module "from_count" {
  source = "./m"
  count  = 2
}
"#;

const AFTER: &str = r#"
resource "test_thing" "to_count" {
  count = 2
  name  = "a"
}
resource "test_thing" "from_count" { name = "b" }
resource "test_thing" "to_enabled" {
  name = "c"
  lifecycle { enabled = true }
}
resource "test_thing" "updated" {
  count = 1
  name  = "d"
  tags  = { t = "2" }
}
resource "test_thing" "to_none" {
  count = 0
  name  = "e"
}
resource "test_thing" "to_for_each" {
  for_each = toset(["0"])
  name     = "f"
}
data "test_lookup" "read" {
  count = 1
  name  = "g"
}
module "to_count" {
  source = "./m"
  count  = 1
}
module "from_count" { source = "./m" }
"#;

const MODULE: &str = r#"
//- /m/main.tf
resource "test_thing" "in" { name = "in" }
module "inner" { source = "../inner" }
//- /inner/main.tf
resource "test_thing" "deep" { name = "deep" }
"#;

fn moved() -> World {
    let mut world = world(&format!("//- /main.tf{BEFORE}{MODULE}"));
    assert_eq!(summaries(&world.apply()), "");
    world.edit("main.tf", AFTER);
    world.log();
    world
}

#[track_caller]
fn check(world: &mut World, expected: Expect) {
    expected.assert_eq(&plan(world));
}

#[test]
fn adding_or_removing_count_moves_the_first_instance() {
    let mut world = moved();
    check(
        &mut world,
        expect![[r#"
            test_thing.from_count NoOp from test_thing.from_count[0]
            test_thing.from_count[1] Delete (delete_because_wrong_repetition)
            test_thing.to_count[0] NoOp from test_thing.to_count
            test_thing.to_count[1] Create
            test_thing.to_enabled NoOp from test_thing.to_enabled[0]
            test_thing.to_for_each Delete (delete_because_wrong_repetition)
            test_thing.to_for_each["0"] Create
            test_thing.to_none[0] Delete (delete_because_count_index) from test_thing.to_none
            test_thing.updated[0] Update from test_thing.updated
            module.from_count.test_thing.in NoOp from module.from_count[0].test_thing.in
            module.from_count[1].test_thing.in Delete (delete_because_no_module)
            module.to_count[0].test_thing.in NoOp from module.to_count.test_thing.in
            module.from_count.module.inner.test_thing.deep NoOp from module.from_count[0].module.inner.test_thing.deep
            module.from_count[1].module.inner.test_thing.deep Delete (delete_because_no_module)
            module.to_count[0].module.inner.test_thing.deep NoOp from module.to_count.module.inner.test_thing.deep
        "#]],
    );
    assert_eq!(summaries(&world.apply()), "");
    assert_eq!(
        stored(&world),
        [
            "data.test_lookup.read[0]",
            "test_thing.from_count",
            "test_thing.to_count[0]",
            "test_thing.to_count[1]",
            "test_thing.to_enabled",
            "test_thing.to_for_each[\"0\"]",
            "test_thing.updated[0]",
            "module.from_count.test_thing.in",
            "module.to_count[0].test_thing.in",
            "module.from_count.module.inner.test_thing.deep",
            "module.to_count[0].module.inner.test_thing.deep",
        ]
    );
    let again = world.plan();
    assert!(!again.plan.is_applyable, "everything is in its place");
    assert!(again.plan.resource_changes.iter().all(|it| it.previous_addr.is_none()));
}

#[test]
fn plan_with_only_a_move_is_applyable() {
    let mut world = world("resource \"test_thing\" \"a\" { name = \"a\" }\n");
    assert_eq!(summaries(&world.apply()), "");
    world.edit("main.tf", "resource \"test_thing\" \"a\" {\n  count = 1\n  name  = \"a\"\n}\n");
    let planned = world.plan();
    assert!(planned.plan.is_applyable);
    world.calls();
    assert_eq!(summaries(&world.apply_plan(planned.plan, planned.refreshed)), "");
    assert_eq!(stored(&world), ["test_thing.a[0]"]);
    let calls = world.calls();
    assert!(!calls.iter().any(|it| it.contains("apply")), "{calls:?}");
}

#[test]
fn move_to_an_occupied_address_does_not_happen() {
    let mut world = world(
        "//- /main.tf\nresource \"test_thing\" \"a\" {\n  count = 1\n  name  = \"a\"\n}\nmodule \
         \"m\" {\n  source = \"./m\"\n  count  = 1\n}\n//- /m/main.tf\nresource \"test_thing\" \
         \"in\" { name = \"in\" }\n",
    );
    assert_eq!(summaries(&world.apply()), "");
    // Add the same objects at their addresses without `count`.
    let counted = world.state.clone();
    for state::InstanceEntry { address, resource, instance } in counted.instances() {
        let to = address.to_string().replace("[0]", "");
        let to = addr::parse_resource_instance(&to).expect("is an address");
        world.state.set_instance(&to, Some(&resource.provider), instance.clone());
    }
    check(
        &mut world,
        expect![[r#"
            test_thing.a Delete (delete_because_wrong_repetition)
            test_thing.a[0] NoOp
            module.m.test_thing.in Delete (delete_because_no_module)
            module.m[0].test_thing.in NoOp
            warning: Unresolved resource instance address changes
        "#]],
    );
    let outcome = world.plan();
    let detail = &outcome.diagnostics[0].detail;
    for line in [
        "- module.m could not move to module.m[0]",
        "- test_thing.a could not move to test_thing.a[0]",
    ] {
        assert!(detail.contains(line), "{detail}");
    }
}

#[test]
fn resource_moves_inside_a_moved_module() {
    let mut world = world(
        "//- /main.tf\nmodule \"m\" { source = \"./m\" }\n//- /m/main.tf\nresource \"test_thing\" \
         \"in\" { name = \"in\" }\n",
    );
    assert_eq!(summaries(&world.apply()), "");
    world.edit("main.tf", "module \"m\" {\n  source = \"./m\"\n  count  = 1\n}\n");
    world.edit("m/main.tf", "resource \"test_thing\" \"in\" {\n  count = 1\n  name  = \"in\"\n}\n");
    check(
        &mut world,
        expect![[r#"
            module.m[0].test_thing.in[0] NoOp from module.m.test_thing.in
        "#]],
    );
}

#[test]
fn destroy_shows_moved_objects_at_their_new_address() {
    let mut world = moved();
    world.mode = state::PlanMode::Destroy;
    let told = plan(&mut world);
    assert!(told.contains("test_thing.to_count[0] Delete\n") && !told.contains(" from "), "{told}");
    assert_eq!(summaries(&world.apply()), "");
    assert!(world.state.is_empty());
}

#[test]
fn watch_forgets_moves_after_apply() {
    let mut world = moved().watch();
    assert!(plan(&mut world).contains("test_thing.to_count[0] NoOp from test_thing.to_count\n"));
    assert!(plan(&mut world).contains("test_thing.to_count[0] NoOp from test_thing.to_count\n"));
    assert_eq!(summaries(&world.apply()), "");
    let told = plan(&mut world);
    assert!(told.contains("test_thing.to_count[0] NoOp\n") && !told.contains(" from "), "{told}");
}
