//! Tests of `path.temp`: its value in each module instance, the creation of the directory, and its effect on
//! diffs.

use std::sync::atomic::Ordering;

use expect_test::expect;
use state::Action;

use crate::world::{World, actions, summaries, world};

const MODULES: &str = r#"
//- /main.tf
module "m" {
  for_each = { one = "x", two = "y" }
  source   = "./mod"
}
resource "test_thing" "a" { name = "${path.temp}/a.txt" }
output "a" { value = test_thing.a.name }
output "all" { value = [for m in module.m : m.path] }
//- /mod/main.tf
locals { path = "${path.temp}/b.txt" }
resource "test_thing" "b" { name = local.path }
output "path" { value = local.path }
"#;

fn made(world: &World) -> Vec<String> {
    std::mem::take(&mut *world.temp.made.lock().expect("not poisoned"))
}

#[test]
fn temporary_directories_differ_by_instance_and_persist_in_apply() {
    let mut world = world(MODULES);
    let outcome = world.plan();
    assert_eq!(summaries(&outcome.diagnostics), "");
    let mut at_plan = made(&world);
    at_plan.sort();
    assert_eq!(at_plan.len(), 3, "{at_plan:?}");
    assert!(at_plan.iter().all(|it| it.starts_with(".terraform/tmp/1111/")), "{at_plan:?}");
    at_plan.dedup();
    assert_eq!(at_plan.len(), 3, "no two instances share one: {at_plan:?}");
    assert_eq!((&*outcome.plan.id, &*outcome.plan.data_dir), ("1111", ".terraform"));
    assert_eq!(summaries(&world.apply_plan(outcome.plan, outcome.refreshed)), "");
    let mut in_state = vec![directory_of(&world.state.outputs["a"].value)];
    let all = world.state.outputs["all"].value.clone();
    in_state.extend(all.elements().map(|(_, path)| directory_of(path)));
    in_state.sort();
    assert_eq!(in_state, at_plan);
}

fn directory_of(path: &values::Value) -> String {
    let path = path.as_str().expect("is a path");
    path.rsplit_once('/').expect("has a directory").0.to_owned()
}

#[test]
fn unused_temporary_directory_is_not_created() {
    let mut world = world(
        r#"
//- /main.tf
resource "test_thing" "a" { name = "a" }
resource "test_thing" "none" {
  count = 0
  name  = "${path.temp}/a"
}
"#,
    );
    assert_eq!(summaries(&world.plan().diagnostics), "");
    assert!(made(&world).is_empty());
}

#[test]
fn temporary_directory_failure_is_reported_at_its_reference() {
    let mut world =
        world("//- /main.tf\nlocals { p = path.temp }\noutput \"p\" { value = local.p }");
    world.temp.refuses.store(true, Ordering::Relaxed);
    let outcome = world.plan();
    expect![[r#"
        error: Failed to create a temporary directory
    "#]]
    .assert_eq(&summaries(&outcome.diagnostics));
    assert!(outcome.diagnostics[0].location.is_some());
}

#[test]
fn output_that_differs_only_by_temporary_directory_is_unchanged() {
    let mut world = world(
        "//- /main.tf\noutput \"p\" { value = [path.temp, \"x\", \"--out=${path.cwd}/${path.temp}/y\"] }",
    );
    assert_eq!(summaries(&world.apply()), "");
    world.plan_id = "2222";
    let outcome = world.plan();
    assert_eq!(outcome.plan.output_changes["p"].action, Action::NoOp);
    assert!(!outcome.plan.is_applyable, "{}", actions(&outcome.plan));
    world.edit("main.tf", "output \"p\" { value = [path.temp, \"y\"] }");
    let outcome = world.plan();
    assert_eq!(outcome.plan.output_changes["p"].action, Action::Update);
}

const KEPT: &str = r#"
resource "test_thing" "a" {
  name = "a"
  tags = { file = "${path.temp}/a.zip", option = "--out=${path.temp}/b", other = "1" }
}
output "name" { value = test_thing.a.name }
"#;

#[test]
fn object_that_differs_only_by_temporary_directory_is_unchanged() {
    let mut world = world(&format!("//- /main.tf{KEPT}"));
    assert_eq!(summaries(&world.apply()), "");
    world.plan_id = "2222";
    let outcome = world.plan();
    assert_eq!(summaries(&outcome.diagnostics), "");
    assert!(!outcome.plan.is_applyable, "{}", actions(&outcome.plan));
    // Another attribute changes too, so the planned object contains the path of this plan.
    world.edit("main.tf", &KEPT.replace("\"1\"", "\"2\""));
    let outcome = world.plan();
    let [change] = &outcome.plan.resource_changes[..] else { panic!("there is one") };
    assert_eq!(change.change.action, Action::Update);
    let after = format!("{:?}", change.change.after);
    assert!(after.contains("/2222/") && !after.contains("/1111/"), "{after}");
}

#[test]
fn referenced_output_with_a_temporary_path_is_replanned() {
    let is_applyable = |text: &str| {
        let resource = "resource \"terraform_data\" \"a\" { input = \"${path.temp}/a\" }";
        let mut world = world(&format!("//- /main.tf\n{resource}\n{text}\n"));
        assert_eq!(summaries(&world.apply()), "");
        world.plan_id = "2222";
        world.plan().plan.is_applyable
    };
    assert!(is_applyable("locals { f = terraform_data.a.output }"));
    assert!(!is_applyable("locals { f = terraform_data.a.id }"));
}

#[test]
fn temporary_file_of_a_provisioner_is_written_again() {
    let mut world = world(
        r#"
//- /main.tf
resource "terraform_data" "tool" {
  triggers_replace = path.temp
  provisioner "local-exec" {
    command = "tool --out=${path.temp}/meta.json"
  }
}
"#,
    );
    assert_eq!(summaries(&world.apply()), "");
    world.plan_id = "2222";
    let outcome = world.plan();
    let [change] = &outcome.plan.resource_changes[..] else { panic!("there is one") };
    assert!(change.change.action.is_replace(), "{}", actions(&outcome.plan));
}

#[test]
fn referenced_attribute_with_a_temporary_path_is_replanned() {
    let reads = |text: &str| {
        let mut world = world(&format!("//- /main.tf{KEPT}{text}"));
        assert_eq!(summaries(&world.apply()), "");
        world.plan_id = "2222";
        world.plan().plan.is_applyable
    };
    assert!(reads("locals { f = test_thing.a.tags.file }\n"));
    assert!(reads(
        "resource \"test_thing\" \"b\" {\n name = \"b\"\n tags = test_thing.a.tags\n}\n"
    ));
    assert!(reads("locals { all = [test_thing.a] }\n"));
    assert!(!reads("locals { name = test_thing.a.name }\n"));
}
