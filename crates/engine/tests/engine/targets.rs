//! Tests of `-target` and `-exclude`: a plan keeps a target with all that it depends on, and leaves out an excluded
//! object with all that depends on it.

use std::fmt::Write;

use addr::{Target, parse_target};
use expect_test::{Expect, expect};
use state::PlanMode;

use crate::world::{World, actions, summaries, world};

const CONFIG: &str = r#"
//- /main.tf
resource "test_thing" "base" { name = "base" }
resource "test_thing" "many" {
  count = 3
  name  = "many-${count.index}"
  zone  = test_thing.base.id
}
resource "test_thing" "user" {
  name = "user"
  zone = test_thing.many[0].id
}
resource "test_thing" "alone" { name = "alone" }
data "test_lookup" "read" { name = test_thing.base.name }
module "m" {
  source = "./m"
  count  = 2
  zone   = test_thing.base.id
}
output "base" { value = test_thing.base.name }
output "many" { value = test_thing.many[*].name }
output "user" { value = "${test_thing.user.name} ${test_thing.alone.name}" }
output "constant" { value = "c" }
output "m" { value = module.m[*].last }
//- /m/main.tf
variable "zone" {}
resource "test_thing" "first" {
  name = "first"
  zone = var.zone
}
resource "test_thing" "last" {
  name = "last"
  zone = test_thing.first.id
}
output "last" { value = test_thing.last.name }
"#;

pub(crate) fn targets(addresses: &[&str]) -> Vec<Target> {
    addresses.iter().map(|it| parse_target(it).expect("an address")).collect()
}

/// The outputs in the state, as JSON.
pub(crate) fn outputs(world: &World) -> String {
    let lines = world.state.outputs.iter().map(|(name, it)| {
        let value = values::json::encode(&it.value.without_all_marks(), &it.value.ty());
        format!("{name} = {}\n", value.expect("is known"))
    });
    lines.collect()
}

/// Plans with the flags `-target` and `-exclude`, which are written as they are on the command line.
fn plan(world: &mut World, flags: &str) -> String {
    let of = |flag: &str| {
        let given: Vec<&str> = flags.split(' ').filter_map(|it| it.strip_prefix(flag)).collect();
        targets(&given)
    };
    (world.targets, world.excludes) = (of("-target="), of("-exclude="));
    let outcome = world.plan();
    let problems = summaries(&outcome.diagnostics);
    let problems = problems.replace("warning: Resource targeting is in effect\n", "");
    format!("{flags}:\n{}{problems}\n", actions(&outcome.plan))
}

#[track_caller]
fn check(world: &mut World, flags: &[&str], expected: Expect) {
    let text: String = flags.iter().map(|it| plan(world, it)).collect();
    expected.assert_eq(&text);
}

fn applied(config: &str) -> World {
    let mut world = world(config);
    assert_eq!(summaries(&world.apply()), "");
    world.log();
    world.calls();
    world
}

#[test]
fn target_is_planned_with_its_dependencies_and_their_outputs() {
    check(
        &mut world(CONFIG),
        &[
            "-target=test_thing.base",
            "-target=test_thing.many[1]",
            "-target=test_thing.user",
            "-target=module.m[0]",
            "-target=module.m",
            "-target=module.m[1].test_thing.first",
            "-target=data.test_lookup.read",
        ],
        expect![[r#"
            -target=test_thing.base:
            test_thing.base Create
            output base Create

            -target=test_thing.many[1]:
            test_thing.base Create
            test_thing.many[1] Create
            output base Create
            output many Create

            -target=test_thing.user:
            test_thing.base Create
            test_thing.many[0] Create
            test_thing.many[1] Create
            test_thing.many[2] Create
            test_thing.user Create
            output base Create
            output many Create

            -target=module.m[0]:
            test_thing.base Create
            module.m[0].test_thing.first Create
            module.m[0].test_thing.last Create
            output base Create
            output m Create

            -target=module.m:
            test_thing.base Create
            module.m[0].test_thing.first Create
            module.m[0].test_thing.last Create
            module.m[1].test_thing.first Create
            module.m[1].test_thing.last Create
            output base Create
            output m Create

            -target=module.m[1].test_thing.first:
            test_thing.base Create
            module.m[1].test_thing.first Create
            output base Create

            -target=data.test_lookup.read:
            data.test_lookup.read Read (read_because_dependency_pending)
            test_thing.base Create
            output base Create

        "#]],
    );
}

#[test]
fn target_that_matches_nothing_plans_nothing() {
    check(
        &mut world(CONFIG),
        &["-target=test_thing.none", "-target=module.none", "-target=module.m.test_thing.first"],
        expect![[r#"
            -target=test_thing.none:

            -target=module.none:

            -target=module.m.test_thing.first:
            test_thing.base Create
            output base Create

        "#]],
    );
}

#[test]
fn excluded_object_is_left_out_with_its_dependents() {
    check(
        &mut world(CONFIG),
        &[
            "-exclude=test_thing.base",
            "-exclude=test_thing.many[1]",
            "-exclude=test_thing.user",
            "-exclude=module.m[0]",
            "-exclude=test_thing.none",
        ],
        expect![[r#"
            -exclude=test_thing.base:
            test_thing.alone Create

            -exclude=test_thing.many[1]:
            data.test_lookup.read Read (read_because_dependency_pending)
            test_thing.alone Create
            test_thing.base Create
            test_thing.many[0] Create
            test_thing.many[2] Create
            module.m[0].test_thing.first Create
            module.m[0].test_thing.last Create
            module.m[1].test_thing.first Create
            module.m[1].test_thing.last Create
            output base Create
            output m Create
            output many Create

            -exclude=test_thing.user:
            data.test_lookup.read Read (read_because_dependency_pending)
            test_thing.alone Create
            test_thing.base Create
            test_thing.many[0] Create
            test_thing.many[1] Create
            test_thing.many[2] Create
            module.m[0].test_thing.first Create
            module.m[0].test_thing.last Create
            module.m[1].test_thing.first Create
            module.m[1].test_thing.last Create
            output base Create
            output m Create
            output many Create

            -exclude=module.m[0]:
            data.test_lookup.read Read (read_because_dependency_pending)
            test_thing.alone Create
            test_thing.base Create
            test_thing.many[0] Create
            test_thing.many[1] Create
            test_thing.many[2] Create
            test_thing.user Create
            module.m[1].test_thing.first Create
            output base Create
            output many Create
            output user Create

            -exclude=test_thing.none:
            data.test_lookup.read Read (read_because_dependency_pending)
            test_thing.alone Create
            test_thing.base Create
            test_thing.many[0] Create
            test_thing.many[1] Create
            test_thing.many[2] Create
            test_thing.user Create
            module.m[0].test_thing.first Create
            module.m[0].test_thing.last Create
            module.m[1].test_thing.first Create
            module.m[1].test_thing.last Create
            output base Create
            output m Create
            output many Create
            output user Create

        "#]],
    );
}

#[test]
fn reference_sees_instances_that_the_plan_leaves_out() {
    let mut world = world(CONFIG);
    world.targets = targets(&["test_thing.many[1]"]);
    assert_eq!(summaries(&world.apply()), "warning: Applied changes may be incomplete\n");
    expect![[r#"
        base = "base"
        many = [null,"many-1"]
    "#]]
    .assert_eq(&outputs(&world));
    world.targets.clear();
    world.excludes = targets(&["test_thing.many[0]", "module.m"]);
    assert_eq!(summaries(&world.apply()), "warning: Applied changes may be incomplete\n");
    expect![[r#"
        base = "base"
        many = [null,"many-1","many-2"]
    "#]]
    .assert_eq(&outputs(&world));
    world.excludes.clear();
    assert_eq!(summaries(&world.apply()), "");
    assert!(!world.plan().plan.is_applyable);
}

#[test]
fn objects_without_a_block_are_deleted_only_if_they_are_addressed() {
    let mut world = applied(CONFIG);
    let text = world.text();
    let text = text.replace("count = 3", "count = 1").replace("count  = 2", "count  = 1");
    let text = text.replace("resource \"test_thing\" \"alone\" { name = \"alone\" }\n", "");
    world.edit("main.tf", &text.replace(" ${test_thing.alone.name}", ""));
    check(
        &mut world,
        &[
            "-target=test_thing.alone",
            "-target=test_thing.many",
            "-target=test_thing.many[2]",
            "-target=test_thing.user",
            "-target=module.m[1]",
            "-exclude=test_thing.alone",
            "-exclude=test_thing.many[2]",
            "-exclude=module.m",
        ],
        expect![[r#"
            -target=test_thing.alone:
            test_thing.alone Delete (delete_because_no_resource_config)

            -target=test_thing.many:
            test_thing.base NoOp
            test_thing.many[0] NoOp
            test_thing.many[1] Delete (delete_because_count_index)
            test_thing.many[2] Delete (delete_because_count_index)
            output base NoOp
            output many Update

            -target=test_thing.many[2]:
            test_thing.base NoOp
            test_thing.many[2] Delete (delete_because_count_index)
            output base NoOp
            output many Update

            -target=test_thing.user:
            test_thing.base NoOp
            test_thing.many[0] NoOp
            test_thing.many[1] Delete (delete_because_count_index)
            test_thing.many[2] Delete (delete_because_count_index)
            test_thing.user NoOp
            output base NoOp
            output many Update
            output user Update

            -target=module.m[1]:
            test_thing.base NoOp
            module.m[1].test_thing.first Delete (delete_because_no_module)
            module.m[1].test_thing.last Delete (delete_because_no_module)
            output base NoOp
            output m Update

            -exclude=test_thing.alone:
            test_thing.base NoOp
            test_thing.many[0] NoOp
            test_thing.many[1] Delete (delete_because_count_index)
            test_thing.many[2] Delete (delete_because_count_index)
            test_thing.user NoOp
            module.m[0].test_thing.first NoOp
            module.m[0].test_thing.last NoOp
            module.m[1].test_thing.first Delete (delete_because_no_module)
            module.m[1].test_thing.last Delete (delete_because_no_module)
            output base NoOp
            output m Update
            output many Update
            output user Update

            -exclude=test_thing.many[2]:
            test_thing.alone Delete (delete_because_no_resource_config)
            test_thing.base NoOp
            test_thing.many[0] NoOp
            test_thing.many[1] Delete (delete_because_count_index)
            module.m[0].test_thing.first NoOp
            module.m[0].test_thing.last NoOp
            module.m[1].test_thing.first Delete (delete_because_no_module)
            module.m[1].test_thing.last Delete (delete_because_no_module)
            output base NoOp
            output m Update
            output many Update

            -exclude=module.m:
            test_thing.alone Delete (delete_because_no_resource_config)
            test_thing.base NoOp
            test_thing.many[0] NoOp
            test_thing.many[1] Delete (delete_because_count_index)
            test_thing.many[2] Delete (delete_because_count_index)
            test_thing.user NoOp
            output base NoOp
            output many Update
            output user Update

        "#]],
    );
}

#[test]
fn destruction_of_a_target_includes_its_dependents() {
    let mut world = applied(CONFIG);
    world.mode = PlanMode::Destroy;
    check(
        &mut world,
        &[
            "-target=test_thing.many[1]",
            "-target=module.m[0].test_thing.first",
            "-target=test_thing.none",
            "-exclude=test_thing.user",
            "-exclude=module.m[0]",
        ],
        expect![[r#"
            -target=test_thing.many[1]:
            test_thing.many[1] Delete
            test_thing.user Delete

            -target=module.m[0].test_thing.first:
            module.m[0].test_thing.first Delete
            module.m[0].test_thing.last Delete

            -target=test_thing.none:

            -exclude=test_thing.user:
            test_thing.alone Delete
            module.m[0].test_thing.first Delete
            module.m[0].test_thing.last Delete
            module.m[1].test_thing.first Delete
            module.m[1].test_thing.last Delete

            -exclude=module.m[0]:
            test_thing.alone Delete
            test_thing.many[0] Delete
            test_thing.many[1] Delete
            test_thing.many[2] Delete
            test_thing.user Delete
            module.m[1].test_thing.first Delete
            module.m[1].test_thing.last Delete

        "#]],
    );
    world.log();
    plan(&mut world, "-target=test_thing.many[1]");
    let log = world.log();
    let mut read: Vec<&str> = log.lines().filter(|it| it.contains("Refreshing")).collect();
    read.sort_unstable();
    expect![[r#"
        test_thing.base: Refreshing state...
        test_thing.many[1]: Refreshing state..."#]]
    .assert_eq(&read.join("\n"));
    assert_eq!(summaries(&world.apply()), "warning: Applied changes may be incomplete\n");
    let left: Vec<String> = world.state.instances().map(|it| it.address.to_string()).collect();
    expect![[r#"
        data.test_lookup.read
        test_thing.alone
        test_thing.base
        test_thing.many[0]
        test_thing.many[2]
        module.m[0].test_thing.first
        module.m[0].test_thing.last
        module.m[1].test_thing.first
        module.m[1].test_thing.last"#]]
    .assert_eq(&left.join("\n"));
    assert_eq!(world.state.outputs.len(), 5, "outputs stay");
}

#[test]
fn moved_object_must_be_covered_by_targets() {
    let mut world = applied("resource \"test_thing\" \"a\" { name = \"a\" }\n");
    world.edit("main.tf", "resource \"test_thing\" \"a\" {\n  count = 1\n  name = \"a\"\n}\n");
    check(
        &mut world,
        &["-target=test_thing.a", "-target=test_thing.b", "-exclude=test_thing.a[0]"],
        expect![[r#"
            -target=test_thing.a:
            test_thing.a[0] NoOp

            -target=test_thing.b:
            error: Moved resource instances excluded by targeting

            -exclude=test_thing.a[0]:
            error: Moved resource instances excluded by targeting

        "#]],
    );
    world.targets = targets(&["test_thing.b"]);
    world.excludes.clear();
    let problems = world.plan().diagnostics;
    assert!(problems[1].detail.contains("target options:\n  -target=\"test_thing.a\""));
}

#[test]
fn targeted_plan_evaluates_no_condition_or_value_outside_of_its_targets() {
    let config = r#"
        variable "v" {
          default = "bad"
          validation {
            condition     = var.v == "good"
            error_message = "Not good."
          }
        }
        locals { fails = tonumber(var.v) }
        resource "test_thing" "a" { name = "a" }
        resource "test_thing" "b" {
          count = local.fails
          name  = "b"
        }
        output "o" {
          value = test_thing.b
          precondition {
            condition     = var.v == "good"
            error_message = "Not good."
          }
        }
        check "c" {
          assert {
            condition     = test_thing.a.name == "b"
            error_message = "Not b."
          }
        }
    "#;
    let mut world = world(config);
    check(
        &mut world,
        &["-target=test_thing.a", "-exclude=test_thing.b"],
        expect![[r#"
        -target=test_thing.a:
        test_thing.a Create

        -exclude=test_thing.b:
        test_thing.a Create

    "#]],
    );
    let checks = world.plan().plan.checks;
    let checks: Vec<String> = checks
        .iter()
        .map(|it| format!("{} {:?} {}", it.config_addr, it.status, it.objects.len()))
        .collect();
    expect![[r#"
        output.o Unknown 0
        check.c Unknown 0
        var.v Unknown 0"#]]
    .assert_eq(&checks.join("\n"));
    assert_eq!(summaries(&world.apply()), "warning: Applied changes may be incomplete\n");
}

#[test]
fn targeted_plan_opens_only_the_ephemeral_resources_that_it_needs() {
    let config = r#"
        provider "test" { token = ephemeral.test_secret.s.value }
        provider "test" { alias = "plain" }
        ephemeral "test_secret" "s" {
          provider = test.plain
          name     = "s"
        }
        ephemeral "test_secret" "unused" { name = "unused" }
        resource "terraform_data" "a" { input = "a" }
        resource "test_thing" "b" { name = "b" }
    "#;
    let mut world = world(config);
    plan(&mut world, "-target=terraform_data.a");
    assert_eq!(world.calls(), Vec::<String>::new());
    world.log();
    plan(&mut world, "-target=test_thing.b");
    let log = world.log();
    assert!(log.contains("ephemeral.test_secret.s: Opening..."), "{log}");
    assert!(!log.contains("unused"), "{log}");
}

#[test]
fn planner_makes_the_plan_of_its_targets() {
    let mut world = world(CONFIG).watch();
    world.targets = targets(&["test_thing.many[0]"]);
    let first = actions(&world.plan().plan);
    let text = world.text().replace("name = \"base\"", "name = \"basis\"");
    world.edit("main.tf", &text);
    assert_eq!(actions(&world.plan().plan), first);
    world.targets.clear();
    assert!(actions(&world.plan().plan).contains("test_thing.alone Create"));
    world.excludes = targets(&["test_thing.alone"]);
    assert!(!actions(&world.plan().plan).contains("test_thing.alone"));
}

#[test]
fn number_of_addresses_does_not_multiply_the_time() {
    let mut config = String::new();
    for i in 0..2000 {
        let _ = writeln!(config, "resource \"terraform_data\" \"r{i}\" {{ input = {i} }}");
    }
    let mut world = world(&config);
    let all: Vec<String> = (0..2000).map(|it| format!("terraform_data.r{it}")).collect();
    world.targets = targets(&all.iter().map(String::as_str).collect::<Vec<_>>());
    assert_eq!(world.plan().plan.resource_changes.len(), 2000);
}

#[test]
fn import_to_an_absent_instance_of_a_dependency_is_refused() {
    let mut world = world(
        r#"
resource "test_thing" "many" {
  count = 0
  name  = "many"
}
resource "test_thing" "user" {
  name = "user-${length(test_thing.many)}"
}
import {
  to = test_thing.many[0]
  id = "many"
}
"#,
    );
    check(
        &mut world,
        &["-target=test_thing.user", "-exclude=test_thing.user", "-exclude=test_thing.many"],
        expect![[r#"
            -target=test_thing.user:
            test_thing.user Create
            error: Configuration for import target does not exist

            -exclude=test_thing.user:
            error: Configuration for import target does not exist

            -exclude=test_thing.many:

        "#]],
    );
}

#[test]
fn target_is_planned_with_all_that_it_waits_for() {
    check(
        &mut world(
            r#"
//- /main.tf
resource "test_thing" "read" { name = "read" }
resource "test_thing" "waited" { name = "waited" }
resource "test_thing" "user" {
  name = "user"
  provisioner "local-exec" { command = "echo ${test_thing.read.id}" }
}
module "m" {
  source     = "./m"
  count      = 0
  depends_on = [test_thing.waited]
}
//- /m/main.tf
resource "test_thing" "in" { name = "in" }
"#,
        ),
        &["-target=test_thing.user", "-target=module.m"],
        expect![[r#"
            -target=test_thing.user:
            test_thing.read Create
            test_thing.user Create

            -target=module.m:
            test_thing.waited Create

        "#]],
    );
}

#[test]
fn left_out_instance_has_an_unknown_result_of_its_checks() {
    let mut world = world(
        r#"
resource "test_thing" "many" {
  for_each = toset(["a", "b"])
  name     = each.key
  lifecycle {
    precondition {
      condition     = each.key != ""
      error_message = "Bad."
    }
  }
}
"#,
    );
    world.excludes = targets(&["test_thing.many[\"a\"]"]);
    let checks = world.plan().plan.checks;
    let objects = checks[0].objects.iter().map(|it| format!("{} {:?}\n", it.addr, it.status));
    expect![[r#"
        test_thing.many["a"] Unknown
        test_thing.many["b"] Pass
    "#]]
    .assert_eq(&objects.collect::<String>());
}
