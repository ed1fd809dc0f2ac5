//! Tests of `removed` blocks and of `lifecycle { destroy = false }`: objects that are forgotten instead of destroyed.

use addr::parse_resource_instance;
use expect_test::{Expect, expect};

use crate::{
    moves,
    world::{World, summaries, world},
};

const CONFIG: &str = r#"
resource "test_thing" "a" { name = "a" }
resource "test_thing" "b" {
  count = 2
  name  = "b"
}
module "m" { source = "./m" }
//- /m/main.tf
resource "test_thing" "in" { name = "in" }
"#;

fn applied(config: &str) -> World {
    let mut world = world(&format!("//- /main.tf{config}"));
    assert_eq!(summaries(&world.apply()), "");
    world.calls();
    world.log();
    world
}

/// Plans and applies a configuration. Compares the plan, the destroying calls of providers, and the objects that
/// stay.
#[track_caller]
fn check(mut world: World, main: &str, expected: Expect) -> World {
    world.edit("main.tf", main);
    let plan = moves::plan(&mut world);
    world.calls();
    let problems: String =
        summaries(&world.apply()).lines().filter(|it| it.starts_with("error")).collect();
    let calls = world.calls();
    let calls = calls.iter().filter(|it| it.contains("destroy "));
    let calls: String = calls.map(|it| format!("{it}\n")).collect();
    expected.assert_eq(&format!(
        "{plan}{problems}calls:\n{calls}stay: {}\n",
        moves::stored(&world).join(" ")
    ));
    world
}

#[test]
fn removed_block_forgets_objects_and_calls_no_provider() {
    let after = r#"
removed {
  from = test_thing.a
  lifecycle { destroy = false }
}
removed { from = test_thing.b }
removed {
  from = module.m
  lifecycle { destroy = false }
}
"#;
    check(
        applied(CONFIG),
        after,
        expect![[r#"
        test_thing.a Forget (delete_because_no_resource_config)
        test_thing.b[0] Forget (delete_because_no_resource_config)
        test_thing.b[1] Forget (delete_because_no_resource_config)
        module.m.test_thing.in Forget (delete_because_no_resource_config)
        warning: Resource will be removed from the state
        warning: Resource will be removed from the state
        warning: Resource will be removed from the state
        warning: Resource will be removed from the state
        calls:
        stay: 
    "#]],
    );
}

#[test]
fn removed_block_destroys_if_it_says_so() {
    let after = r#"
removed {
  from = test_thing.a
  lifecycle { destroy = true }
}
removed {
  from = module.m
  lifecycle { destroy = false }
}
removed {
  from = module.m.test_thing.in
  lifecycle { destroy = true }
}
"#;
    check(
        applied(CONFIG),
        after,
        expect![[r#"
            test_thing.a Delete (delete_because_no_resource_config)
            test_thing.b[0] Delete (delete_because_no_resource_config)
            test_thing.b[1] Delete (delete_because_no_resource_config)
            module.m.test_thing.in Delete (delete_because_no_resource_config)
            calls:
            #4 plan-destroy a
            #4 plan-destroy b
            #4 plan-destroy b
            #4 plan-destroy in
            #5 destroy a
            #5 destroy b
            #5 destroy b
            #5 destroy in
            stay: 
        "#]],
    );
}

#[test]
fn destroy_provisioner_of_a_removed_block_runs() {
    let mut world = applied("\nresource \"test_thing\" \"a\" { name = \"a\" }\n");
    let after = r#"
removed {
  from = test_thing.a
  lifecycle { destroy = true }
  provisioner "local-exec" {
    when    = destroy
    command = "echo bye ${self.name}"
  }
}
"#;
    world.edit("main.tf", after);
    assert_eq!(summaries(&world.apply()), "");
    let log = world.log();
    assert!(log.contains("bye a"), "{log}");
    assert!(world.state.is_empty());
}

#[test]
fn removed_block_about_a_declared_resource_of_a_module_is_an_error() {
    let mut world = applied(CONFIG);
    let after = r#"
module "m" { source = "./m" }
removed {
  from = module.m.test_thing.in
  lifecycle { destroy = false }
}
"#;
    world.edit("main.tf", after);
    let problems = summaries(&world.plan().diagnostics);
    assert_eq!(problems, "error: Removed resource block still exists\n");
}

const KEPT: &str = r#"
resource "test_thing" "k" {
  count  = 2
  name   = "k"
  tags   = { zone = "one" }
  lifecycle { destroy = false }
}
"#;

#[test]
fn replacement_forgets_the_kept_object() {
    let mut world = applied(KEPT);
    world.replace = vec![parse_resource_instance("test_thing.k[0]").expect("an address")];
    let after = KEPT.replace("count  = 2", "count  = 1");
    check(
        world,
        &after,
        expect![[r#"
            test_thing.k[0] ForgetThenCreate (replace_by_request)
            test_thing.k[1] Forget (forgot_because_lifecycle_destroy_in_config)
            warning: Resource will be removed from the state
            calls:
            stay: test_thing.k[0]
        "#]],
    );
}

#[test]
fn kept_object_stays_in_the_state_until_its_replacement_begins() {
    let config = r#"
resource "test_thing" "first" { name = "1" }
resource "test_thing" "k" {
  name       = "k"
  depends_on = [test_thing.first]
  lifecycle { destroy = false }
}
"#;
    let mut world = applied(config);
    world.replace = vec![parse_resource_instance("test_thing.k").expect("an address")];
    world.fault("apply");
    check(
        world,
        &config.replace("\"1\"", "\"2\""),
        expect![[r#"
        test_thing.first Update
        test_thing.k ForgetThenCreate (replace_by_request)
        calls:
        stay: test_thing.first test_thing.k
    "#]],
    );
}

#[test]
fn state_remembers_that_an_object_is_not_to_be_destroyed() {
    let world = check(
        applied(KEPT),
        "",
        expect![[r#"
        test_thing.k[0] Forget (forgot_because_lifecycle_destroy_in_state)
        test_thing.k[1] Forget (forgot_because_lifecycle_destroy_in_state)
        warning: Resource will be removed from the state
        warning: Resource will be removed from the state
        calls:
        stay: 
    "#]],
    );
    assert!(world.state.is_empty());
}

#[test]
fn object_is_destroyed_after_its_block_allows_it() {
    let mut world = applied(KEPT);
    world.edit("main.tf", &KEPT.replace("destroy = false", "destroy = true"));
    assert_eq!(summaries(&world.apply()), "");
    check(
        world,
        "",
        expect![[r#"
            test_thing.k[0] Delete (delete_because_no_resource_config)
            test_thing.k[1] Delete (delete_because_no_resource_config)
            calls:
            #5 plan-destroy k
            #5 plan-destroy k
            #6 destroy k
            #6 destroy k
            stay: 
        "#]],
    );
}

#[test]
fn destroying_everything_fails_if_objects_are_forgotten() {
    let mut world = applied(KEPT);
    world.mode = state::PlanMode::Destroy;
    let problems = summaries(&world.apply());
    assert_eq!(problems, "error: Destroy was successful but left behind forgotten instances\n");
    assert!(world.state.is_empty());
    assert!(!world.calls().iter().any(|it| it.contains("destroy ")));
}

#[test]
fn destroying_everything_forgets_undeclared_kept_instances() {
    let mut world = applied(KEPT);
    let after =
        KEPT.replace("count = 2", "count = 1").replace("  lifecycle { destroy = false }\n", "");
    world.edit("main.tf", &after);
    world.mode = state::PlanMode::Destroy;
    let plan = moves::plan(&mut world);
    assert!(plan.contains("test_thing.k[1] Forget"), "{plan}");
}

#[test]
fn destroying_everything_destroys_released_objects() {
    let single =
        "\nresource \"test_thing\" \"k\" {\n  name = \"k\"\n  lifecycle { destroy = false }\n}\n";
    let mut world = applied(single);
    world.edit("main.tf", &single.replace("destroy = false", "destroy = true"));
    world.mode = state::PlanMode::Destroy;
    assert_eq!(moves::plan(&mut world), "test_thing.k Delete\n");
}

#[test]
fn missing_block_is_the_reason_in_a_gone_module_instance() {
    let module = "//- /m/main.tf\nresource \"test_thing\" \"in\" { name = \"in\" }\n";
    let call =
        |count: u32| format!("\nmodule \"m\" {{\n  source = \"./m\"\n  count  = {count}\n}}\n");
    let mut world = applied(&format!("{}{module}", call(2)));
    world.edit("main.tf", &call(1));
    world.edit("m/main.tf", "");
    let reason = "Delete (delete_because_no_resource_config)";
    let expected =
        format!("module.m[0].test_thing.in {reason}\nmodule.m[1].test_thing.in {reason}\n");
    assert_eq!(moves::plan(&mut world), expected);
}

#[test]
fn provisioner_of_a_removed_block_shows_no_secret() {
    let config = r#"
variable "secret" {
  default   = "hunter2-secret"
  sensitive = true
}
resource "test_thing" "a" {
  name     = "a"
  password = var.secret
}
"#;
    let mut world = applied(config);
    let after = r#"
removed {
  from = test_thing.a
  lifecycle { destroy = true }
  provisioner "local-exec" {
    when    = destroy
    command = "echo bye ${self.password}"
  }
}
"#;
    world.edit("main.tf", after);
    world.fails = true;
    let diagnostics = world.apply();
    assert_eq!(summaries(&diagnostics), "error: local-exec provisioner error\n");
    let log = world.log();
    assert!(log.contains("suppressed"), "{log}");
    let told = format!("{log}{diagnostics:?}");
    assert!(!told.contains("hunter2-secret"), "{told}");
    assert_eq!(moves::stored(&world), ["test_thing.a"], "the failed provisioner keeps the object");
}
