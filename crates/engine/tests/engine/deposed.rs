//! Tests of deposed objects in the state: left over from a replacement that created the new object and did not
//! destroy the old one.

use std::sync::Arc;

use addr::ResourceInstance;
use expect_test::{Expect, expect};
use state::{Attributes, DeposedKey, Object, PlanMode};

use crate::{
    targets::targets,
    world::{World, actions, summaries, world},
};

const CONFIG: &str = r#"
resource "test_thing" "a" { name = "a" }
resource "test_thing" "b" {
  for_each = toset(["k"])
  name     = "b-${test_thing.a.name}"
}
"#;

fn address(text: &str) -> ResourceInstance {
    addr::parse_resource_instance(text).expect("an address")
}

fn key() -> DeposedKey {
    DeposedKey::parse("0123abcd").expect("a key")
}

/// Adds a deposed object to an instance. It is a copy of the current object of `like` with another name.
fn depose(world: &mut World, like: &str, at: &str, name: &str) {
    let current = world.state.current(&address(like)).expect("is applied");
    let Attributes::Json(json) = &current.attributes else { panic!("written by this version") };
    let mut attributes: serde_json::Value = serde_json::from_str(json).expect("is JSON");
    attributes["name"] = name.into();
    let attributes = Attributes::Json(attributes.to_string().into());
    let object = Arc::new(Object { attributes, ..Object::clone(current) });
    let provider = world.state.provider_of(&address(like)).expect("has one").clone();
    world.state.set_deposed(&address(at), key(), &provider, object);
}

/// A world with an applied configuration, a deposed object of each instance, and one of a resource without a block.
fn left_over(config: &str) -> World {
    let mut world = world(config);
    assert_eq!(summaries(&world.apply()), "");
    depose(&mut world, "test_thing.a", "test_thing.a", "old-a");
    depose(&mut world, "test_thing.b[\"k\"]", "test_thing.b[\"k\"]", "old-b");
    depose(&mut world, "test_thing.a", "test_thing.gone", "old-gone");
    world.calls();
    world.log();
    world.journals = true;
    world
}

#[track_caller]
fn planned(world: &mut World, expected: Expect) -> state::Plan {
    let outcome = world.plan();
    expected.assert_eq(&format!("{}{}", actions(&outcome.plan), summaries(&outcome.diagnostics)));
    outcome.plan
}

#[track_caller]
fn calls(world: &World, expected: Expect) {
    expected.assert_eq(&world.calls().join("\n"));
}

/// The objects of the state.
fn stored(world: &World) -> String {
    let instances = world.state.instances();
    let lines = instances.map(|state::InstanceEntry { address: at, instance: it, .. }| {
        let current = it.current.as_ref().map_or("-", |_| "current");
        let deposed: String = it.deposed.keys().map(|key| format!(" {key}")).collect();
        format!("{at}: {current}{deposed}\n")
    });
    lines.collect()
}

#[test]
fn every_plan_destroys_deposed_objects_and_changes_nothing_else() {
    let mut world = left_over(CONFIG);
    planned(
        &mut world,
        expect![[r#"
        test_thing.a NoOp
        test_thing.a (deposed object 0123abcd) Delete
        test_thing.b["k"] NoOp
        test_thing.b["k"] (deposed object 0123abcd) Delete
        test_thing.gone (deposed object 0123abcd) Delete
    "#]],
    );
    world.calls();
    world.log();
    assert_eq!(summaries(&world.apply()), "");
    calls(
        &world,
        expect![[r##"
        #4 configure token=null region=null
        #4 read a
        #4 plan a
        #4 read old-a
        #4 plan-destroy old-a
        #4 read old-gone
        #4 plan-destroy old-gone
        #4 read b-a
        #4 plan b-a
        #4 read old-b
        #4 plan-destroy old-b
        #4 end
        #5 configure token=null region=null
        journal: intent 1 Delete test_thing.b["k"] (deposed object 0123abcd) id=id2
        journal: intent 2 Delete test_thing.gone (deposed object 0123abcd) id=id1
        journal: durable
        #5 destroy old-gone
        journal: test_thing.gone is gone answers 2
        journal: durable
        #5 destroy old-b
        journal: test_thing.b["k"] is Ready answers 1
        journal: durable
        journal: durable
        journal: intent 3 Delete test_thing.a (deposed object 0123abcd) id=id1
        journal: durable
        #5 destroy old-a
        journal: test_thing.a is Ready answers 3
        journal: durable
        #5 end"##]],
    );
    expect![[r#"
        test_thing.a: Refreshing state...
        test_thing.a (deposed object 0123abcd): Refreshing state...
        test_thing.gone (deposed object 0123abcd): Refreshing state...
        test_thing.b["k"]: Refreshing state...
        test_thing.b["k"] (deposed object 0123abcd): Refreshing state...
        Plan: 0 added, 0 changed, 3 destroyed
        test_thing.b["k"] (deposed object 0123abcd): Destroying...
        test_thing.gone (deposed object 0123abcd): Destroying...
        test_thing.b["k"] (deposed object 0123abcd): Destroying complete
        test_thing.gone (deposed object 0123abcd): Destroying complete
        test_thing.a (deposed object 0123abcd): Destroying...
        test_thing.a (deposed object 0123abcd): Destroying complete
        Apply: 0 added, 0 changed, 3 destroyed
    "#]]
    .assert_eq(&world.log());
    expect![[r#"
        test_thing.a: current
        test_thing.b["k"]: current
    "#]]
    .assert_eq(&stored(&world));
}

#[test]
fn a_destroy_plan_destroys_current_and_deposed_objects_after_their_dependents() {
    let mut world = left_over(CONFIG);
    world.mode = PlanMode::Destroy;
    world.parallelism = 1;
    planned(
        &mut world,
        expect![[r#"
        test_thing.a Delete
        test_thing.a (deposed object 0123abcd) Delete
        test_thing.b["k"] Delete
        test_thing.b["k"] (deposed object 0123abcd) Delete
        test_thing.gone (deposed object 0123abcd) Delete
    "#]],
    );
    world.calls();
    assert_eq!(summaries(&world.apply()), "");
    calls(
        &world,
        expect![[r##"
        #4 configure token=null region=null
        #4 read a
        #4 plan-destroy a
        #4 read old-a
        #4 plan-destroy old-a
        #4 read b-a
        #4 plan-destroy b-a
        #4 read old-b
        #4 plan-destroy old-b
        #4 read old-gone
        #4 plan-destroy old-gone
        #4 end
        #5 configure token=null region=null
        journal: intent 1 Delete test_thing.b["k"] id=id2
        journal: durable
        #5 destroy b-a
        journal: test_thing.b["k"] is gone answers 1
        journal: durable
        journal: intent 2 Delete test_thing.b["k"] (deposed object 0123abcd) id=id2
        journal: durable
        #5 destroy old-b
        journal: test_thing.b["k"] is gone answers 2
        journal: durable
        journal: intent 3 Delete test_thing.gone (deposed object 0123abcd) id=id1
        journal: durable
        #5 destroy old-gone
        journal: test_thing.gone is gone answers 3
        journal: durable
        journal: intent 4 Delete test_thing.a id=id1
        journal: durable
        #5 destroy a
        journal: test_thing.a is gone answers 4
        journal: durable
        journal: intent 5 Delete test_thing.a (deposed object 0123abcd) id=id1
        journal: durable
        #5 destroy old-a
        journal: test_thing.a is gone answers 5
        journal: durable
        #5 end"##]],
    );
    assert_eq!(stored(&world), "");
}

#[test]
fn deposed_object_deleted_outside_is_forgotten() {
    let mut world = left_over(CONFIG);
    world.with_shared(|shared| {
        shared.gone.extend(["old-a".to_owned(), "old-b".to_owned(), "old-gone".to_owned()]);
    });
    let plan = planned(
        &mut world,
        expect![[r#"
        test_thing.a NoOp
        test_thing.a (deposed object 0123abcd) NoOp
        test_thing.b["k"] NoOp
        test_thing.b["k"] (deposed object 0123abcd) NoOp
        test_thing.gone (deposed object 0123abcd) NoOp
    "#]],
    );
    assert!(!plan.is_applyable && plan.resource_drift.is_empty());
    world.calls();
    assert_eq!(summaries(&world.apply()), "");
    expect![[r#"
        test_thing.a: current
        test_thing.b["k"]: current
    "#]]
    .assert_eq(&stored(&world));
    let mut world = left_over(CONFIG);
    world.with_shared(|shared| shared.gone.push("old-a".to_owned()));
    world.mode = PlanMode::Destroy;
    planned(
        &mut world,
        expect![[r#"
        test_thing.a Delete
        test_thing.b["k"] Delete
        test_thing.b["k"] (deposed object 0123abcd) Delete
        test_thing.gone (deposed object 0123abcd) Delete
    "#]],
    );
}

#[test]
fn without_a_refresh_a_deposed_object_is_destroyed_unread() {
    let mut world = left_over(CONFIG);
    world.refresh = false;
    assert_eq!(summaries(&world.apply()), "");
    let calls = world.calls();
    assert!(!calls.iter().any(|it| it.contains("read")), "{calls:?}");
    assert!(calls.iter().any(|it| it.contains("destroy old-gone")), "{calls:?}");
}

#[test]
fn neither_prevent_destroy_nor_provisioners_count_for_a_deposed_object() {
    let guarded = r#"{
  name = "a"
  lifecycle { prevent_destroy = true }
  provisioner "local-exec" {
    when    = destroy
    command = "farewell ${self.name}"
  }
}"#;
    let mut world = left_over(&CONFIG.replace("{ name = \"a\" }", guarded));
    assert_eq!(summaries(&world.apply()), "");
    assert_eq!(*world.commands.lock().expect("not poisoned"), Vec::<String>::new());
    expect![[r#"
        test_thing.a: current
        test_thing.b["k"]: current
    "#]]
    .assert_eq(&stored(&world));
}

#[test]
fn a_deposed_object_that_cannot_be_destroyed_stays_and_others_go_on() {
    let mut world = left_over(CONFIG);
    world.fault("destroy old-a");
    world.edit("main.tf", &CONFIG.replace("\"a\" }", "\"a\"\n  size = 2\n}"));
    expect![[r#"
        error: destroy old-a failed
    "#]]
    .assert_eq(&summaries(&world.apply()));
    expect![[r#"
        test_thing.a: current 0123abcd
        test_thing.b["k"]: current
    "#]]
    .assert_eq(&stored(&world));
}

#[test]
fn a_deposed_object_stays_if_the_new_object_cannot_be_created() {
    let mut world = left_over(CONFIG);
    world.replace = vec![address("test_thing.a")];
    world.fault("create a");
    expect![[r#"
        error: create a failed
    "#]]
    .assert_eq(&summaries(&world.apply()));
    expect![[r#"
        test_thing.a: - 0123abcd
        test_thing.b["k"]: current
    "#]]
    .assert_eq(&stored(&world));
}

#[test]
fn a_deposed_object_outlives_its_declaration() {
    // Without the instance `k`, its current object is destroyed too. Without instances, the provider is still there.
    let mut world = left_over(CONFIG);
    world.edit("main.tf", &CONFIG.replace("[\"k\"]", "[]"));
    planned(
        &mut world,
        expect![[r#"
        test_thing.a NoOp
        test_thing.a (deposed object 0123abcd) Delete
        test_thing.b["k"] Delete (delete_because_each_key)
        test_thing.b["k"] (deposed object 0123abcd) Delete
        test_thing.gone (deposed object 0123abcd) Delete
    "#]],
    );
    world.edit("main.tf", "");
    planned(
        &mut world,
        expect![[r#"
        test_thing.a Delete (delete_because_no_resource_config)
        test_thing.a (deposed object 0123abcd) Delete
        test_thing.b["k"] Delete (delete_because_no_resource_config)
        test_thing.b["k"] (deposed object 0123abcd) Delete
        test_thing.gone (deposed object 0123abcd) Delete
    "#]],
    );
}

#[test]
fn a_planner_asks_once_about_a_deposed_object() {
    let mut world = left_over(CONFIG).watch();
    let first = world.plan();
    world.calls();
    world.log();
    let second = world.plan();
    calls(&world, expect![[""]]);
    assert_eq!(actions(&first.plan), actions(&second.plan));
    assert_eq!(first.refreshed, second.refreshed);
    // An edit of the block plans the current object again, and only this one.
    world.edit("main.tf", &CONFIG.replace("\"a\" }", "\"a\"\n  size = 2\n}"));
    let third = world.plan();
    calls(&world, expect!["#3 plan a"]);
    expect![[r#"
        test_thing.a Update
        test_thing.a (deposed object 0123abcd) Delete
        test_thing.b["k"] NoOp
        test_thing.b["k"] (deposed object 0123abcd) Delete
        test_thing.gone (deposed object 0123abcd) Delete
    "#]]
    .assert_eq(&actions(&third.plan));
    // The deposed object equals the current one, and is still another object.
    let mut world = left_over(
        "resource \"test_thing\" \"a\" { name = \"a\" }\nresource \"test_thing\" \"b\" {\n  \
         for_each = toset([\"k\"])\n  name = \"b\"\n}\n",
    );
    depose(&mut world, "test_thing.a", "test_thing.a", "a");
    let mut world = world.watch();
    planned(
        &mut world,
        expect![[r#"
        test_thing.a NoOp
        test_thing.a (deposed object 0123abcd) Delete
        test_thing.b["k"] NoOp
        test_thing.b["k"] (deposed object 0123abcd) Delete
        test_thing.gone (deposed object 0123abcd) Delete
    "#]],
    );
    planned(
        &mut world,
        expect![[r#"
        test_thing.a NoOp
        test_thing.a (deposed object 0123abcd) Delete
        test_thing.b["k"] NoOp
        test_thing.b["k"] (deposed object 0123abcd) Delete
        test_thing.gone (deposed object 0123abcd) Delete
    "#]],
    );
}

#[test]
fn deposed_object_with_skip_destroy_is_forgotten() {
    let mut world = left_over(CONFIG);
    let at = address("test_thing.a");
    let object = world.state.remove_deposed(&at, key()).expect("is there");
    let object = Arc::new(Object { skip_destroy: true, ..Object::clone(&object) });
    let provider = world.state.provider_of(&at).expect("has one").clone();
    world.state.set_deposed(&at, key(), &provider, object);
    world.calls();
    let planned = summaries(&world.plan().diagnostics);
    assert_eq!(planned, "warning: Resource will be removed from the state\n");
    assert_eq!(summaries(&world.apply()), "");
    let calls = world.calls();
    assert!(calls.iter().any(|it| it.ends_with("destroy old-b")), "{calls:?}");
    assert!(!calls.iter().any(|it| it.ends_with("destroy old-a")), "the object stays: {calls:?}");
    assert!(world.state.instance(&at).is_some_and(|it| it.deposed.is_empty()));
}

#[test]
fn targeted_plan_destroys_the_deposed_objects_of_its_targets() {
    let mut shown = String::new();
    let options: [(&str, &[&str], &[&str]); 6] = [
        ("target a", &["test_thing.a"], &[]),
        ("target b", &["test_thing.b"], &[]),
        ("target gone", &["test_thing.gone"], &[]),
        ("exclude a", &[], &["test_thing.a"]),
        ("exclude b", &[], &["test_thing.b[\"k\"]"]),
        ("exclude gone", &[], &["test_thing.gone"]),
    ];
    for (name, wanted, unwanted) in options {
        for mode in [PlanMode::Normal, PlanMode::Destroy] {
            let mut world = left_over(CONFIG);
            (world.targets, world.excludes) = (targets(wanted), targets(unwanted));
            world.mode = mode;
            let outcome = world.plan();
            shown += &format!("{name} {mode:?}\n{}", actions(&outcome.plan));
        }
    }
    expect![[r#"
        target a Normal
        test_thing.a NoOp
        test_thing.a (deposed object 0123abcd) Delete
        target a Destroy
        test_thing.a Delete
        test_thing.a (deposed object 0123abcd) Delete
        test_thing.b["k"] Delete
        target b Normal
        test_thing.a NoOp
        test_thing.b["k"] NoOp
        test_thing.b["k"] (deposed object 0123abcd) Delete
        target b Destroy
        test_thing.b["k"] Delete
        test_thing.b["k"] (deposed object 0123abcd) Delete
        target gone Normal
        test_thing.gone (deposed object 0123abcd) Delete
        target gone Destroy
        test_thing.gone (deposed object 0123abcd) Delete
        exclude a Normal
        test_thing.gone (deposed object 0123abcd) Delete
        exclude a Destroy
        test_thing.b["k"] Delete
        test_thing.b["k"] (deposed object 0123abcd) Delete
        test_thing.gone (deposed object 0123abcd) Delete
        exclude b Normal
        test_thing.a NoOp
        test_thing.a (deposed object 0123abcd) Delete
        test_thing.gone (deposed object 0123abcd) Delete
        exclude b Destroy
        test_thing.a (deposed object 0123abcd) Delete
        test_thing.gone (deposed object 0123abcd) Delete
        exclude gone Normal
        test_thing.a NoOp
        test_thing.a (deposed object 0123abcd) Delete
        test_thing.b["k"] NoOp
        test_thing.b["k"] (deposed object 0123abcd) Delete
        exclude gone Destroy
        test_thing.a Delete
        test_thing.a (deposed object 0123abcd) Delete
        test_thing.b["k"] Delete
        test_thing.b["k"] (deposed object 0123abcd) Delete
    "#]]
    .assert_eq(&shown);
}
