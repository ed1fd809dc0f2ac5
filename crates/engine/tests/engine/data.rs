//! Tests of the time at which data sources are read: in the plan, in the apply because of a pending change, or in
//! both for a check.

use expect_test::{Expect, expect};
use state::CheckStatus;

use crate::world::{World, actions, summaries, world};

/// Takes the calls that read data sources.
fn lookups(world: &World) -> String {
    let calls = world.calls();
    let reads = calls.iter().filter_map(|it| it.split_once(" lookup "));
    reads.map(|(_, name)| format!("{name}\n")).collect()
}

/// Applies a configuration, then plans it with another value of `v` and compares the actions.
#[track_caller]
fn check(fixture: &str, expected: Expect) {
    let mut world = world(fixture);
    world.set("v", "1");
    assert_eq!(summaries(&world.apply()), "");
    world.set("v", "2");
    let outcome = world.plan();
    let acts = actions(&outcome.plan);
    let acts: String =
        acts.lines().filter(|it| !it.ends_with("NoOp")).map(|it| format!("{it}\n")).collect();
    expected.assert_eq(&format!("{acts}{}", summaries(&outcome.diagnostics)));
}

const PENDING: &str = r#"
//- /main.tf
variable "v" {}
resource "test_thing" "a" {
  name = "a"
  tags = { t = var.v }
}
resource "test_thing" "after_a" { name = "b-${test_thing.a.name}" }
resource "test_thing" "still" { name = "still" }
resource "test_thing" "counted" {
  count = var.v == "1" ? 2 : 1
  name  = "c"
}
locals { through = test_thing.a.name }

data "test_lookup" "of_argument" { name = test_thing.a.name }
data "test_lookup" "of_local" { name = local.through }
data "test_lookup" "of_unchanged" { name = test_thing.after_a.name }
data "test_lookup" "of_deleted_instance" { name = test_thing.counted[0].name }
data "test_lookup" "of_data" { name = data.test_lookup.of_argument.name }
data "test_lookup" "of_count" {
  count = test_thing.a.name == "a" ? 1 : 0
  name  = "n"
}
data "test_lookup" "after" {
  name       = "n"
  depends_on = [test_thing.a]
}
data "test_lookup" "after_unchanged" {
  name       = "n"
  depends_on = [test_thing.after_a]
}
data "test_lookup" "after_data" {
  name       = "n"
  depends_on = [data.test_lookup.after]
}
data "test_lookup" "after_module" {
  name       = "n"
  depends_on = [module.holds]
}
data "test_lookup" "with_condition" {
  name = local.through
  lifecycle {
    postcondition {
      condition     = self.result != ""
      error_message = "no"
    }
  }
}
module "holds" {
  source = "./holds"
  x      = test_thing.a.name
}
module "gated" {
  source     = "./reads"
  depends_on = [test_thing.after_a]
}
module "gated_by_unchanged" {
  source     = "./reads"
  depends_on = [test_thing.still]
}
//- /holds/main.tf
variable "x" {}
resource "test_thing" "in" { name = "in" }
resource "test_thing" "of_x" { name = "x-${var.x}" }
data "test_lookup" "alone" { name = "n" }
//- /reads/main.tf
data "test_lookup" "in" { name = "n" }
"#;

#[test]
fn data_source_waits_for_pending_changes_of_its_dependencies() {
    check(
        PENDING,
        expect![[r#"
            data.test_lookup.after Read (read_because_dependency_pending)
            data.test_lookup.after_module Read (read_because_dependency_pending)
            data.test_lookup.of_argument Read (read_because_dependency_pending)
            data.test_lookup.of_count[0] Read (read_because_dependency_pending)
            data.test_lookup.of_deleted_instance Read (read_because_dependency_pending)
            data.test_lookup.with_condition Read (read_because_dependency_pending)
            test_thing.a Update
            test_thing.counted[1] Delete (delete_because_count_index)
            module.gated.data.test_lookup.in Read (read_because_dependency_pending)
        "#]],
    );
}

#[test]
fn deferred_data_source_is_read_after_its_dependency_is_applied() {
    let mut world = world(
        "variable \"v\" {}\nresource \"test_thing\" \"a\" {\n  name = \"a\"\n  tags = { t = var.v \
         }\n}\ndata \"test_lookup\" \"d\" {\n  name = test_thing.a.name\n}\n",
    );
    world.set("v", "1");
    assert_eq!(summaries(&world.apply()), "");
    world.set("v", "2");
    world.calls();
    let planned = world.plan();
    assert_eq!(lookups(&world), "", "plan would read what is about to change");
    assert_eq!(summaries(&world.apply_plan(planned.plan, planned.refreshed)), "");
    let calls = world.calls();
    let place = |what: &str| calls.iter().position(|it| it.ends_with(what));
    assert!(place("update a").is_some() && place("update a") < place("lookup a"), "{calls:?}");
}

#[test]
fn deferred_data_source_is_validated_by_the_plan() {
    let mut world = world(
        "resource \"test_thing\" \"a\" {\n  name = \"a\"\n}\ndata \"test_lookup\" \"d\" {\n  name = \
         test_thing.a.id\n}\n",
    );
    world.fault("validate data ?");
    let planned = world.plan();
    assert_eq!(lookups(&world), "", "its name is unknown");
    assert_eq!(summaries(&planned.diagnostics), "error: validate data ? failed\n");
}

#[test]
fn watch_reads_a_data_source_again_once_nothing_is_pending() {
    let text = |v: &str, tag: &str| {
        format!(
            "# {v}\nresource \"test_thing\" \"a\" {{\n  name = \"a\"\n  tags = {{ t = \"{tag}\" \
             }}\n}}\ndata \"test_lookup\" \"d\" {{\n  name       = \"d\"\n  depends_on = [test_thing.a]\n}}\n"
        )
    };
    let mut world = world(&text("", "1"));
    assert_eq!(summaries(&world.apply()), "");
    let mut world = world.watch();
    world.calls();
    let is_read = |world: &World| lookups(world) == "d\n";
    world.plan();
    assert!(is_read(&world));
    world.edit("main.tf", &text("", "2"));
    let deferred = world.plan();
    assert!(actions(&deferred.plan).contains("data.test_lookup.d Read"));
    world.edit("main.tf", &text("", "1"));
    let back = world.plan();
    assert!(!actions(&back.plan).contains("data.test_lookup.d"), "{}", actions(&back.plan));
}

#[test]
fn ephemeral_resource_waits_for_pending_changes_of_its_dependencies() {
    let mut world = world(
        r#"
variable "v" {}
resource "test_thing" "a" {
  name = "a"
  tags = { t = var.v }
}
resource "test_thing" "after_a" { name = "b-${test_thing.a.name}" }
ephemeral "test_secret" "of_argument" { name = test_thing.a.name }
ephemeral "test_secret" "after_unchanged" {
  name       = "n"
  depends_on = [test_thing.after_a]
}
resource "test_thing" "uses" {
  name      = "u"
  secret_wo = "${ephemeral.test_secret.of_argument.value}${ephemeral.test_secret.after_unchanged.value}"
}
"#,
    );
    world.set("v", "1");
    assert_eq!(summaries(&world.apply()), "");
    world.set("v", "2");
    world.log();
    assert_eq!(summaries(&world.plan().diagnostics), "");
    let log = world.log();
    let told: String =
        log.lines().filter(|it| it.starts_with("ephemeral")).map(|it| format!("{it}\n")).collect();
    expect![[r#"
        ephemeral.test_secret.of_argument: Configuration unknown, deferring...
        ephemeral.test_secret.after_unchanged: Opening...
        ephemeral.test_secret.after_unchanged: Opening complete
        ephemeral.test_secret.after_unchanged: Closing...
        ephemeral.test_secret.after_unchanged: Closing complete
    "#]]
    .assert_eq(&told);
}

const CHECKS: &str = r#"
resource "test_thing" "a" { name = "a" }
check "good" {
  data "test_lookup" "good" { name = "good" }
  assert {
    condition     = data.test_lookup.good.result == "found-good"
    error_message = "no"
  }
}
check "bad" {
  data "test_lookup" "bad" { name = "bad" }
  assert {
    condition     = data.test_lookup.bad.result == "found-bad"
    error_message = "no"
  }
}
check "unrelated" {
  data "test_lookup" "unrelated" { name = "bad" }
  assert {
    condition     = test_thing.a.name == "another"
    error_message = "is not looked at"
  }
}
"#;

fn check_results(results: &[state::CheckResult]) -> String {
    let objects = results.iter().flat_map(|it| &it.objects);
    objects.map(|it| format!("{} {:?} {:?}\n", it.addr, it.status, it.failure_messages)).collect()
}

#[test]
fn check_data_source_is_read_in_plan_and_in_apply() {
    let mut world = world(CHECKS);
    let planned = world.plan();
    expect![[r#"
        data.test_lookup.bad Read (read_because_check_nested)
        data.test_lookup.good Read (read_because_check_nested)
        data.test_lookup.unrelated Read (read_because_check_nested)
        test_thing.a Create
    "#]]
    .assert_eq(&actions(&planned.plan));
    assert!(
        planned
            .plan
            .resource_changes
            .iter()
            .filter(|it| it.reason.is_some())
            .all(|it| it.change.after.is_wholly_known())
    );
    world.calls();
    assert_eq!(
        summaries(&world.apply_plan(planned.plan, planned.refreshed)),
        "warning: Check block assertion failed\n"
    );
    let calls = world.calls();
    let place = |what: &str| calls.iter().position(|it| it.ends_with(what));
    assert!(place("create a").is_some() && place("create a") < place("lookup good"), "{calls:?}");
    // No change remains, but the check must still be verified.
    let again = world.plan();
    assert!(again.plan.is_applyable);
    assert!(
        actions(&again.plan).contains("data.test_lookup.good Read (read_because_check_nested)\n")
    );
}

#[test]
fn failing_check_data_source_is_a_warning() {
    let mut world = world(CHECKS);
    world.fault("lookup bad");
    let planned = world.plan();
    assert_eq!(
        summaries(&planned.diagnostics),
        "warning: lookup bad failed\nwarning: lookup bad failed\n"
    );
    assert!(planned.plan.is_applyable && !planned.has_errors());
    expect![[r#"
        data.test_lookup.bad Read (read_because_check_nested)
        data.test_lookup.good Read (read_because_check_nested)
        data.test_lookup.unrelated Read (read_because_check_nested)
        test_thing.a Create
        check.bad Fail ["lookup bad failed: as told"]
        check.good Pass []
        check.unrelated Fail ["lookup bad failed: as told"]
    "#]]
    .assert_eq(&format!("{}{}", actions(&planned.plan), check_results(&planned.plan.checks)));
    let diagnostics = world.apply_plan(planned.plan, planned.refreshed);
    assert_eq!(summaries(&diagnostics), "warning: lookup bad failed\nwarning: lookup bad failed\n");
    let diagnostic = &diagnostics[0];
    assert_eq!(diagnostic.detail, "as told");
    assert_eq!(diagnostic.address.as_deref(), Some("data.test_lookup.bad"));
    expect![[r#"
        check.bad Fail ["lookup bad failed: as told"]
        check.good Pass []
        check.unrelated Fail ["lookup bad failed: as told"]
    "#]]
    .assert_eq(&check_results(&world.state.checks));
    let stored: Vec<String> = world.state.instances().map(|it| it.address.to_string()).collect();
    assert_eq!(stored, ["data.test_lookup.good", "test_thing.a"]);
    world.mend();
    assert_eq!(summaries(&world.apply()), "warning: Check block assertion failed\n");
    assert!(world.state.checks.iter().any(|it| it.status == CheckStatus::Pass));
}

#[test]
fn failing_data_source_outside_a_check_fails_the_plan() {
    let mut world = world("data \"test_lookup\" \"bad\" { name = \"bad\" }\n");
    world.fault("lookup bad");
    assert_eq!(summaries(&world.plan().diagnostics), "error: lookup bad failed\n");
}

#[test]
fn invalid_configuration_of_a_check_data_source_is_an_error() {
    let mut world = world(
        "variable \"v\" {}\ncheck \"c\" {\n  data \"test_lookup\" \"d\" { name = element([], \
         var.v) }\n  assert {\n    condition     = data.test_lookup.d.result == \"\"\n    \
         error_message = \"no\"\n  }\n}\n",
    );
    world.set("v", "0");
    let outcome = world.plan();
    assert_eq!(outcome.diagnostics.len(), 1);
    assert!(outcome.has_errors());
}

#[test]
fn check_in_a_module_runs_after_all_changes() {
    let mut world = world(
        r#"
//- /main.tf
module "m" { source = "./m" }
resource "test_thing" "last" {
  name       = "last"
  depends_on = [module.m]
}
module "n" {
  source = "./n"
  name   = test_thing.last.id
}
//- /m/main.tf
resource "test_thing" "in" { name = "in" }
check "c" {
  data "test_lookup" "nested" { name = "nested" }
  assert {
    condition     = data.test_lookup.nested.result == "found-nested"
    error_message = "no"
  }
}
//- /n/main.tf
variable "name" {}
resource "test_thing" "in" { name = "n-${var.name}" }
"#,
    );
    let planned = world.plan();
    world.calls();
    assert_eq!(summaries(&world.apply_plan(planned.plan, planned.refreshed)), "");
    let calls = world.calls();
    let mut end = calls.iter().filter(|it| it.contains(" create ") || it.contains(" lookup "));
    assert_eq!(end.next_back().map(String::as_str), Some("#2 lookup nested"), "{calls:?}");
}

#[test]
fn failed_destroy_keeps_data_sources_of_remaining_objects() {
    let mut world = world(
        r#"
data "test_lookup" "needed" { name = "n" }
data "test_lookup" "apart" { name = "m" }
resource "test_thing" "a" {
  name = data.test_lookup.needed.name
  provisioner "local-exec" {
    when    = destroy
    command = "exit 1"
  }
}
resource "test_thing" "b" { name = "b" }
output "o" { value = "o" }
"#,
    );
    assert_eq!(summaries(&world.apply()), "");
    assert_eq!(world.state.outputs.len(), 1);
    world.mode = state::PlanMode::Destroy;
    world.fails = true;
    assert_eq!(summaries(&world.apply()), "error: local-exec provisioner error\n");
    let left: Vec<String> = world.state.instances().map(|it| it.address.to_string()).collect();
    assert_eq!(left, ["data.test_lookup.needed", "test_thing.a"]);
    assert!(world.state.outputs.is_empty());
}
