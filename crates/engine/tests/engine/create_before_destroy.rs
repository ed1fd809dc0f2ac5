//! Tests of `create_before_destroy`: the new object exists before the old one is destroyed.

use expect_test::{Expect, expect};
use state::PlanMode;

use crate::{
    moves,
    targets::targets,
    world::{World, summaries, world},
};

/// An applied configuration whose placeholder `ZONE` is `1`.
fn applied(config: &str) -> World {
    let mut world = world(&format!("//- /main.tf\n{}", zone(config, "1")));
    assert_eq!(summaries(&world.apply()), "");
    world.calls();
    world.log();
    world
}

fn zone(config: &str, zone: &str) -> String {
    config.replace("ZONE", zone)
}

/// The changing calls of the last apply.
fn calls(world: &World) -> String {
    let calls = world.calls();
    let changing = |it: &&String| {
        ["create ", "update ", "plan-destroy ", "destroy "]
            .iter()
            .any(|call| it.split_once(' ').is_some_and(|(_, it)| it.starts_with(call)))
    };
    calls.iter().filter(changing).map(|it| format!("{it}\n")).collect()
}

/// The objects of the state: the status of the current one, the number of deposed ones, and whether the state says
/// `create_before_destroy`.
fn stored(world: &World) -> String {
    let lines = world.state.instances().map(|it| {
        let current = it.instance.current.as_ref();
        let status = current.map_or("-".to_owned(), |it| format!("{:?}", it.status));
        let first = current.is_some_and(|it| it.create_before_destroy);
        let deposed = it.instance.deposed.len();
        format!("{} {status} deposed={deposed} first={first}\n", it.address)
    });
    lines.collect()
}

/// Plans and applies a configuration; compares the plan, the changing calls and the objects afterwards.
#[track_caller]
fn check(world: &mut World, main: &str, expected: Expect) {
    world.edit("main.tf", main);
    let plan = moves::plan(world);
    calls(world);
    let problems = summaries(&world.apply());
    let calls = calls(world);
    expected.assert_eq(&format!("{plan}{problems}calls:\n{calls}objects:\n{}", stored(world)));
}

const PAIR: &str = r#"
resource "test_thing" "a" {
  name = "a-ZONE"
  zone = "ZONE"
  lifecycle { create_before_destroy = true }
}
resource "test_thing" "b" { name = "b-${test_thing.a.id}" }
"#;

#[test]
fn old_object_is_destroyed_after_the_new_one_and_after_its_dependents_are_updated() {
    let mut world = applied(PAIR);
    check(
        &mut world,
        &zone(PAIR, "2"),
        expect![[r#"
        test_thing.a CreateThenDelete (replace_because_cannot_update)
        test_thing.b Update
        calls:
        #5 create a-2
        #5 update b-id3
        #5 plan-destroy a-1
        #5 destroy a-1
        objects:
        test_thing.a Ready deposed=0 first=true
        test_thing.b Ready deposed=0 first=false
    "#]],
    );
}

#[test]
fn events_name_the_deposed_object() {
    let mut world = applied(PAIR);
    world.edit("main.tf", &zone(PAIR, "2"));
    assert_eq!(summaries(&world.apply()), "");
    let log = world.log();
    let begin = log.find("(deposed object ").expect("is deposed") + "(deposed object ".len();
    let key = log[begin..begin + 8].to_owned();
    expect![[r#"
        test_thing.a: Refreshing state...
        test_thing.b: Refreshing state...
        Plan: 1 added, 1 changed, 1 destroyed
        test_thing.a: Creating...
        test_thing.a: Creating complete [id=id3]
        test_thing.b: Modifying...
        test_thing.b: Modifying complete [id=id2]
        test_thing.a (deposed object KEY): Destroying...
        test_thing.a (deposed object KEY): Destroying complete
        Apply: 1 added, 1 changed, 1 destroyed
    "#]]
    .assert_eq(&log.replace(&key, "KEY"));
}

const CHAIN: &str = r#"
variable "zone" { default = "ZONE" }
resource "test_thing" "base" {
  name = "base-${var.zone}"
  zone = var.zone
}
locals { base = test_thing.base.id }
module "m" {
  source = "./m"
  base   = local.base
  zone   = var.zone
}
resource "test_thing" "top" {
  name = "top-${module.m.id}"
  zone = var.zone
  lifecycle { create_before_destroy = true }
}
resource "test_thing" "aside" {
  name = "aside"
  zone = var.zone
}
//- /m/main.tf
variable "base" {}
variable "zone" {}
resource "test_thing" "in" {
  count = 2
  name  = "in-${var.base}"
  zone  = var.zone
}
output "id" { value = test_thing.in[0].id }
"#;

#[test]
fn setting_spreads_to_everything_that_the_resource_depends_on() {
    let mut world = applied(CHAIN);
    let main = CHAIN.split("//- /m/main.tf").next().expect("has two files");
    check(
        &mut world,
        &zone(main, "2"),
        expect![[r#"
        test_thing.aside DeleteThenCreate (replace_because_cannot_update)
        test_thing.base CreateThenDelete (replace_because_cannot_update)
        test_thing.top CreateThenDelete (replace_because_cannot_update)
        module.m.test_thing.in[0] CreateThenDelete (replace_because_cannot_update)
        module.m.test_thing.in[1] CreateThenDelete (replace_because_cannot_update)
        calls:
        #5 create base-2
        #5 destroy aside
        #5 create in-id6
        #5 create in-id6
        #5 create aside
        #5 create top-id7
        #5 plan-destroy top-id3
        #5 destroy top-id3
        #5 plan-destroy in-id2
        #5 destroy in-id2
        #5 plan-destroy in-id2
        #5 destroy in-id2
        #5 plan-destroy base-1
        #5 destroy base-1
        objects:
        test_thing.aside Ready deposed=0 first=false
        test_thing.base Ready deposed=0 first=true
        test_thing.top Ready deposed=0 first=true
        module.m.test_thing.in[0] Ready deposed=0 first=true
        module.m.test_thing.in[1] Ready deposed=0 first=true
    "#]],
    );
}

#[test]
fn failed_creation_keeps_the_old_object_as_the_current_one() {
    let mut world = applied(PAIR);
    world.fault("create a-2");
    check(
        &mut world,
        &zone(PAIR, "2"),
        expect![[r#"
        test_thing.a CreateThenDelete (replace_because_cannot_update)
        test_thing.b Update
        error: create a-2 failed
        calls:
        #5 create a-2
        objects:
        test_thing.a Ready deposed=0 first=true
        test_thing.b Ready deposed=0 first=false
    "#]],
    );
}

#[test]
fn failed_update_of_a_dependent_keeps_the_old_object_until_the_next_apply() {
    let mut world = applied(PAIR);
    world.fault("update b-id3");
    check(
        &mut world,
        &zone(PAIR, "2"),
        expect![[r#"
        test_thing.a CreateThenDelete (replace_because_cannot_update)
        test_thing.b Update
        error: update b-id3 failed
        calls:
        #5 create a-2
        #5 update b-id3
        objects:
        test_thing.a Ready deposed=1 first=true
        test_thing.b Ready deposed=0 first=false
    "#]],
    );
    world.with_shared(|shared| shared.faults.clear());
    check(
        &mut world,
        &zone(PAIR, "2"),
        expect![[r#"
        test_thing.a NoOp
        test_thing.a Delete
        test_thing.b NoOp
        calls:
        #7 plan-destroy a-1
        #8 destroy a-1
        objects:
        test_thing.a Ready deposed=0 first=true
        test_thing.b Ready deposed=0 first=false
    "#]],
    );
}

#[test]
fn failed_destruction_is_tried_again() {
    let mut world = applied(PAIR);
    world.fault("destroy a-1");
    check(
        &mut world,
        &zone(PAIR, "2"),
        expect![[r#"
        test_thing.a CreateThenDelete (replace_because_cannot_update)
        test_thing.b Update
        error: destroy a-1 failed
        calls:
        #5 create a-2
        #5 update b-id3
        #5 plan-destroy a-1
        #5 destroy a-1
        objects:
        test_thing.a Ready deposed=1 first=true
        test_thing.b Ready deposed=0 first=false
    "#]],
    );
    check(
        &mut world,
        &zone(PAIR, "3"),
        expect![[r#"
        test_thing.a CreateThenDelete (replace_because_cannot_update)
        test_thing.a Delete
        test_thing.b Update
        error: destroy a-1 failed
        calls:
        #7 plan-destroy a-1
        #8 create a-3
        #8 update b-id4
        #8 plan-destroy a-2
        #8 destroy a-2
        #8 destroy a-1
        objects:
        test_thing.a Ready deposed=1 first=true
        test_thing.b Ready deposed=0 first=false
    "#]],
    );
    world.with_shared(|shared| shared.faults.clear());
    check(
        &mut world,
        &zone(PAIR, "3"),
        expect![[r#"
        test_thing.a NoOp
        test_thing.a Delete
        test_thing.b NoOp
        calls:
        #10 plan-destroy a-1
        #11 destroy a-1
        objects:
        test_thing.a Ready deposed=0 first=true
        test_thing.b Ready deposed=0 first=false
    "#]],
    );
}

#[test]
fn failed_postcondition_keeps_the_old_object() {
    let config = r#"
resource "test_thing" "a" {
  name = "a-ZONE"
  zone = "ZONE"
  lifecycle {
    create_before_destroy = true
    postcondition {
      condition     = self.zone == "1"
      error_message = "Wrong zone."
    }
  }
}
"#;
    let mut world = applied(config);
    let computed = config.replace("self.zone == \"1\"", "self.id == \"id1\"");
    check(
        &mut world,
        &zone(&computed, "2"),
        expect![[r#"
        test_thing.a CreateThenDelete (replace_because_cannot_update)
        error: Resource postcondition failed
        calls:
        #5 create a-2
        objects:
        test_thing.a Ready deposed=1 first=true
    "#]],
    );
}

#[test]
fn tainted_object_is_replaced_in_the_same_order() {
    let config = r#"
resource "test_thing" "a" {
  name = "a-ZONE"
  lifecycle { create_before_destroy = true }
  provisioner "local-exec" { command = "true" }
}
"#;
    let mut world = world(&format!("//- /main.tf\n{config}"));
    world.fails = true;
    world.apply();
    world.fails = false;
    check(
        &mut world,
        config,
        expect![[r#"
        test_thing.a CreateThenDelete (replace_because_tainted)
        calls:
        #5 create a-ZONE
        #5 plan-destroy a-ZONE
        #5 destroy a-ZONE
        objects:
        test_thing.a Ready deposed=0 first=true
    "#]],
    );
}

#[test]
fn removed_instances_are_destroyed_after_their_dependents_are_updated() {
    let config = r#"
resource "test_thing" "a" {
  count = COUNT
  name  = "a-${count.index}"
  lifecycle { create_before_destroy = true }
}
resource "test_thing" "b" { name = "b-${length(test_thing.a)}" }
"#;
    let mut world = applied(&config.replace("COUNT", "2"));
    check(
        &mut world,
        &config.replace("COUNT", "1"),
        expect![[r#"
        test_thing.a[0] NoOp
        test_thing.a[1] Delete (delete_because_count_index)
        test_thing.b Update
        calls:
        #4 plan-destroy a-1
        #5 update b-1
        #5 destroy a-1
        objects:
        test_thing.a[0] Ready deposed=0 first=true
        test_thing.b Ready deposed=0 first=false
    "#]],
    );
}

#[test]
fn removed_dependency_is_destroyed_after_the_replaced_object() {
    // Nothing said before that `y` is destroyed late; it follows from the object that depends on it.
    let before = r#"
resource "test_thing" "y" { name = "y" }
resource "test_thing" "c" {
  name = "c-${test_thing.y.name}"
  zone = "1"
}
resource "test_thing" "x" { name = "x-${test_thing.y.name}" }
"#;
    let after = r#"
resource "test_thing" "c" {
  name = "c"
  zone = "2"
  lifecycle { create_before_destroy = true }
}
resource "test_thing" "x" { name = "x" }
"#;
    let mut world = applied(before);
    check(
        &mut world,
        after,
        expect![[r#"
        test_thing.c CreateThenDelete (replace_because_cannot_update)
        test_thing.x Update
        test_thing.y Delete (delete_because_no_resource_config)
        calls:
        #4 plan-destroy y
        #5 create c
        #5 update x
        #5 plan-destroy c-y
        #5 destroy c-y
        #5 destroy y
        objects:
        test_thing.c Ready deposed=0 first=true
        test_thing.x Ready deposed=0 first=false
    "#]],
    );
}

#[test]
fn replaced_former_dependency_closes_no_cycle() {
    let before = r#"
resource "test_thing" "y" {
  name = "y"
  zone = "1"
}
resource "test_thing" "c" {
  name = "c-${test_thing.y.name}"
  zone = "1"
}
resource "test_thing" "b" { name = "b-${test_thing.c.name}" }
"#;
    let after = r#"
resource "test_thing" "y" {
  name = "y"
  zone = "2"
}
resource "test_thing" "c" {
  name = "c"
  zone = "2"
  lifecycle { create_before_destroy = true }
}
resource "test_thing" "b" { name = "b-${test_thing.c.name}-${test_thing.y.id}" }
"#;
    let mut world = applied(before);
    check(
        &mut world,
        after,
        expect![[r#"
        test_thing.b Update
        test_thing.c CreateThenDelete (replace_because_cannot_update)
        test_thing.y DeleteThenCreate (replace_because_cannot_update)
        calls:
        #5 destroy y
        #5 create y
        #5 create c
        #5 update b-c-id4
        #5 plan-destroy c-y
        #5 destroy c-y
        objects:
        test_thing.b Ready deposed=0 first=false
        test_thing.c Ready deposed=0 first=true
        test_thing.y Ready deposed=0 first=false
    "#]],
    );
}

#[test]
fn whole_destruction_destroys_dependents_first() {
    let mut world = applied(PAIR);
    world.mode = PlanMode::Destroy;
    check(
        &mut world,
        &zone(PAIR, "1"),
        expect![[r#"
        test_thing.a Delete
        test_thing.b Delete
        calls:
        #4 plan-destroy a-1
        #4 plan-destroy b-id1
        #5 destroy b-id1
        #5 destroy a-1
        objects:
    "#]],
    );
}

#[test]
fn interrupted_replacement_is_finished_by_the_next_apply() {
    let mut world = applied(PAIR);
    world.stop_after = Some("test_thing.b");
    check(
        &mut world,
        &zone(PAIR, "2"),
        expect![[r#"
        test_thing.a CreateThenDelete (replace_because_cannot_update)
        test_thing.b Update
        error: execution halted
        calls:
        #5 create a-2
        #5 update b-id3
        objects:
        test_thing.a Ready deposed=1 first=true
        test_thing.b Ready deposed=0 first=false
    "#]],
    );
    world.stop_after = None;
    world.cancel = engine::CancelToken::new();
    check(
        &mut world,
        &zone(PAIR, "2"),
        expect![[r#"
        test_thing.a NoOp
        test_thing.a Delete
        test_thing.b NoOp
        calls:
        #7 plan-destroy a-1
        #8 destroy a-1
        objects:
        test_thing.a Ready deposed=0 first=true
        test_thing.b Ready deposed=0 first=false
    "#]],
    );
}

#[test]
fn lost_answer_of_the_creation_leaves_the_old_object_deposed() {
    let mut world = applied(PAIR);
    world.with_shared(|shared| shared.silent.push("create a-2"));
    world.journals = true;
    world.edit("main.tf", &zone(PAIR, "2"));
    expect![[r#"
        error: The connection broke
    "#]]
    .assert_eq(&summaries(&world.apply()));
    let calls = world.calls();
    let journal: Vec<&String> = calls.iter().filter(|it| it.contains("journal: ")).collect();
    expect![[r#"
        [
            "journal: test_thing.a is gone",
            "journal: intent 1 Create test_thing.a name=a-2",
            "journal: durable",
        ]
    "#]]
    .assert_debug_eq(&journal);
    expect![[r#"
        test_thing.a - deposed=1 first=false
        test_thing.b Ready deposed=0 first=false
    "#]]
    .assert_eq(&stored(&world));
}

#[test]
fn edited_setting_changes_the_plan_of_dependencies() {
    let config = r#"
resource "test_thing" "a" {
  name = "a"
  zone = "ZONE"
}
resource "test_thing" "b" {
  name = "b-${test_thing.a.name}"
  lifecycle { create_before_destroy = FIRST }
}
"#;
    let config = |zone: &str, first: &str| config.replace("ZONE", zone).replace("FIRST", first);
    let mut world = applied(&config("1", "false")).watch();
    let mut planned = |main: String| {
        world.edit("main.tf", &main);
        moves::plan(&mut world)
    };
    assert_eq!(
        planned(config("2", "false")),
        "test_thing.a DeleteThenCreate (replace_because_cannot_update)\ntest_thing.b NoOp\n"
    );
    assert_eq!(
        planned(config("2", "true")),
        "test_thing.a CreateThenDelete (replace_because_cannot_update)\ntest_thing.b NoOp\n"
    );
    assert_eq!(
        planned(config("2", "false")),
        "test_thing.a DeleteThenCreate (replace_because_cannot_update)\ntest_thing.b NoOp\n"
    );
}

#[test]
fn resource_that_a_plan_leaves_out_does_not_spread_the_setting() {
    let config = r#"
resource "test_thing" "a" { name = "a-ZONE" }
resource "test_thing" "b" {
  name = test_thing.a.name
  lifecycle { create_before_destroy = true }
}
"#;
    let mut world = world(config);
    world.excludes = targets(&["test_thing.b"]);
    world.apply();
    assert_eq!(stored(&world), "test_thing.a Ready deposed=0 first=false\n");
    // The object without a change is a part of this run.
    world.excludes.clear();
    assert_eq!(summaries(&world.apply()), "");
    let expected =
        "test_thing.a Ready deposed=0 first=true\ntest_thing.b Ready deposed=0 first=true\n";
    assert_eq!(stored(&world), expected);
}

#[test]
fn old_object_stays_if_a_new_dependent_fails() {
    let config = r#"
resource "test_thing" "a" {
  name = "a"
  zone = "ZONE"
  lifecycle { create_before_destroy = true }
}
"#;
    let mut world = applied(config);
    let dependent = r#"
resource "test_thing" "b" {
  name = test_thing.a.id
  lifecycle {
    postcondition {
      condition     = self.id == ""
      error_message = "Never."
    }
  }
}
"#;
    let main = zone(&format!("{config}{dependent}"), "2");
    check(
        &mut world,
        &main,
        expect![[r#"
            test_thing.a CreateThenDelete (replace_because_cannot_update)
            test_thing.b Create
            error: Resource postcondition failed
            calls:
            #5 create a
            #5 create id2
            objects:
            test_thing.a Ready deposed=1 first=true
            test_thing.b Ready deposed=0 first=false
        "#]],
    );
}
