//! Tests of the lifecycle of ephemeral resources.

use std::time::Duration;

use expect_test::{Expect, expect};

use crate::world::{World, summaries, world};

#[track_caller]
fn check(fixture: &str, expected: Expect) -> World {
    let mut world = world(fixture);
    let diagnostics = world.apply();
    expected.assert_eq(&format!("{}---\n{}", world.log(), summaries(&diagnostics)));
    check_pairs(&world);
    world
}

/// Checks that no ephemeral resource is open.
#[track_caller]
fn check_pairs(world: &World) {
    assert_eq!(world.shared.lock().expect("not poisoned").open, 0, "each open has one close");
}

const USED: &str = r#"
ephemeral "test_secret" "s" { name = "s" }
resource "test_thing" "a" {
  name      = "a"
  secret_wo = ephemeral.test_secret.s.value
}
resource "test_thing" "z" { name = test_thing.a.id }
"#;

#[test]
fn ephemeral_resource_opens_before_and_closes_after_its_dependent() {
    let world = check(
        USED,
        expect![[r#"
        ephemeral.test_secret.s: Opening...
        ephemeral.test_secret.s: Opening complete
        ephemeral.test_secret.s: Closing...
        ephemeral.test_secret.s: Closing complete
        Plan: 2 added, 0 changed, 0 destroyed
        ephemeral.test_secret.s: Opening...
        ephemeral.test_secret.s: Opening complete
        test_thing.a: Creating...
        test_thing.a: Creating complete [id=id1]
        ephemeral.test_secret.s: Closing...
        ephemeral.test_secret.s: Closing complete
        test_thing.z: Creating...
        test_thing.z: Creating complete [id=id2]
        Apply: 2 added, 0 changed, 0 destroyed
        ---
    "#]],
    );
    expect![[r#"
        #1 configure token=null region=null
        #1 validate s
        #1 open s
        #1 plan a
        #1 close s
        #1 plan ?
        #1 end
        #2 configure token=null region=null
        #2 validate s
        #2 open s
        #2 plan a
        #2 create a
        #2 got secret=canary-of-s
        #2 close s
        #2 plan id1
        #2 create id1
        #2 end"#]]
    .assert_eq(&world.calls().join("\n"));
}

#[test]
fn unused_ephemeral_resource_is_not_opened() {
    check(
        r#"
ephemeral "test_secret" "unused" { name = "u" }
locals { also_unused = ephemeral.test_secret.unused.value }
ephemeral "test_secret" "none" { name = "n" }
resource "test_thing" "none" {
  count     = 0
  name      = "a"
  secret_wo = ephemeral.test_secret.none.value
}
ephemeral "test_secret" "provider" { name = "p" }
provider "test" {
  alias = "unused"
  token = ephemeral.test_secret.provider.value
}
"#,
        expect![[r#"
    Plan: 0 added, 0 changed, 0 destroyed
    Apply: 0 added, 0 changed, 0 destroyed
    ---
"#]],
    );
}

#[test]
fn unknown_ephemeral_configuration_is_deferred_to_apply() {
    check(
        r#"
resource "test_thing" "a" { name = "a" }
ephemeral "test_secret" "s" { name = test_thing.a.id }
resource "test_thing" "b" {
  name      = "b"
  secret_wo = ephemeral.test_secret.s.value
}
"#,
        expect![[r#"
    ephemeral.test_secret.s: Configuration unknown, deferring...
    Plan: 2 added, 0 changed, 0 destroyed
    test_thing.a: Creating...
    test_thing.a: Creating complete [id=id1]
    ephemeral.test_secret.s: Opening...
    ephemeral.test_secret.s: Opening complete
    test_thing.b: Creating...
    test_thing.b: Creating complete [id=id2]
    ephemeral.test_secret.s: Closing...
    ephemeral.test_secret.s: Closing complete
    Apply: 2 added, 0 changed, 0 destroyed
    ---
"#]],
    );
}

#[test]
fn pending_depends_on_defers_an_ephemeral_resource() {
    check(
        r#"
resource "test_thing" "a" { name = "a" }
ephemeral "test_secret" "s" {
  name       = "s"
  depends_on = [test_thing.a]
}
resource "test_thing" "b" {
  name      = "b"
  secret_wo = ephemeral.test_secret.s.value
}
"#,
        expect![[r#"
    ephemeral.test_secret.s: Configuration unknown, deferring...
    Plan: 2 added, 0 changed, 0 destroyed
    test_thing.a: Creating...
    test_thing.a: Creating complete [id=id1]
    ephemeral.test_secret.s: Opening...
    ephemeral.test_secret.s: Opening complete
    test_thing.b: Creating...
    test_thing.b: Creating complete [id=id2]
    ephemeral.test_secret.s: Closing...
    ephemeral.test_secret.s: Closing complete
    Apply: 2 added, 0 changed, 0 destroyed
    ---
"#]],
    );
}

#[test]
fn chained_ephemerals_close_in_reverse_order() {
    let world = check(
        r#"
ephemeral "test_secret" "outer" { name = "outer" }
provider "test" {
  alias = "inner"
  token = ephemeral.test_secret.outer.value
}
ephemeral "test_secret" "inner" {
  provider = test.inner
  name     = "inner"
}
resource "test_thing" "a" {
  name      = "a"
  secret_wo = ephemeral.test_secret.inner.value
}
"#,
        expect![[r#"
    ephemeral.test_secret.outer: Opening...
    ephemeral.test_secret.outer: Opening complete
    ephemeral.test_secret.inner: Opening...
    ephemeral.test_secret.inner: Opening complete
    ephemeral.test_secret.inner: Closing...
    ephemeral.test_secret.inner: Closing complete
    ephemeral.test_secret.outer: Closing...
    ephemeral.test_secret.outer: Closing complete
    Plan: 1 added, 0 changed, 0 destroyed
    ephemeral.test_secret.outer: Opening...
    ephemeral.test_secret.outer: Opening complete
    ephemeral.test_secret.inner: Opening...
    ephemeral.test_secret.inner: Opening complete
    test_thing.a: Creating...
    test_thing.a: Creating complete [id=id1]
    ephemeral.test_secret.inner: Closing...
    ephemeral.test_secret.inner: Closing complete
    ephemeral.test_secret.outer: Closing...
    ephemeral.test_secret.outer: Closing complete
    Apply: 1 added, 0 changed, 0 destroyed
    ---
"#]],
    );
    expect![[r#"
        #1 configure token=null region=null
        #1 validate outer
        #1 open outer
        #2 configure token=canary-of-outer region=null
        #2 validate inner
        #2 open inner
        #1 plan a
        #2 close inner
        #2 end
        #1 close outer
        #1 end
        #3 configure token=null region=null
        #3 validate outer
        #3 open outer
        #4 configure token=canary-of-outer region=null
        #4 validate inner
        #4 open inner
        #3 plan a
        #3 create a
        #3 got secret=canary-of-inner
        #4 close inner
        #4 end
        #3 close outer
        #3 end"#]]
    .assert_eq(&world.calls().join("\n"));
}

#[test]
fn ephemeral_resource_closes_after_its_dependent_failed() {
    let mut world = world(USED);
    world.fault("create a");
    let diagnostics = world.apply();
    expect![[r#"
        ephemeral.test_secret.s: Opening...
        ephemeral.test_secret.s: Opening complete
        ephemeral.test_secret.s: Closing...
        ephemeral.test_secret.s: Closing complete
        Plan: 2 added, 0 changed, 0 destroyed
        ephemeral.test_secret.s: Opening...
        ephemeral.test_secret.s: Opening complete
        test_thing.a: Creating...
        Error: create a failed
        test_thing.a: Creating errored
        ephemeral.test_secret.s: Closing...
        ephemeral.test_secret.s: Closing complete
        ---
        error: create a failed
    "#]]
    .assert_eq(&format!("{}---\n{}", world.log(), summaries(&diagnostics)));
    check_pairs(&world);
}

#[test]
fn invalid_open_result_is_an_error_and_closes() {
    for (name, expected) in [
        ("liar", "Provider produced invalid ephemeral resource instance"),
        ("unknown", "Provider produced invalid object"),
    ] {
        let mut world = world(&USED.replace("name = \"s\"", &format!("name = \"{name}\"")));
        let found = summaries(&world.plan().diagnostics);
        assert_eq!(found, format!("error: {expected}\n"));
        check_pairs(&world);
        assert!(world.log().contains("Closing complete"), "the close is printed");
    }
}

#[test]
fn hanging_close_times_out() {
    let mut world = world(USED);
    world.with_shared(|it| it.hangs.push("close s"));
    let diagnostics = world.plan().diagnostics;
    assert_eq!(summaries(&diagnostics), "error: Closing ephemeral resource timed out\n");
    expect![[r#"
        ephemeral.test_secret.s: Opening...
        ephemeral.test_secret.s: Opening complete
        ephemeral.test_secret.s: Closing...
        Error: Closing ephemeral resource timed out
        ephemeral.test_secret.s: Closing errored
    "#]]
    .assert_eq(&world.log());
}

#[test]
fn aborted_run_closes_open_ephemerals() {
    let mut world = world(USED);
    world.with_shared(|it| it.hangs.push("create a"));
    let cancel = world.cancel.clone();
    let planned = world.plan();
    world.log();
    // Interrupt twice while the creation hangs.
    std::thread::scope(|scope| {
        let events = std::sync::Arc::clone(&world.events);
        scope.spawn(move || {
            while !events
                .lock()
                .expect("not poisoned")
                .iter()
                .any(|it| matches!(it, engine::Event::ApplyStart { .. }))
            {
                std::thread::yield_now();
            }
            cancel.cancel();
            cancel.cancel();
        });
        let diagnostics = world.apply_plan(planned.plan, planned.refreshed);
        assert_eq!(summaries(&diagnostics), "error: execution halted\n");
    });
    check_pairs(&world);
}

#[test]
fn ephemeral_resource_is_renewed_while_in_use() {
    let mut world = world(USED);
    world.with_shared(|it| {
        it.renew_after = Some(3);
        it.hangs.push("create a");
    });
    let planned = world.plan();
    world.log();
    let cancel = world.cancel.clone();
    let events = std::sync::Arc::clone(&world.events);
    std::thread::scope(|scope| {
        scope.spawn(move || {
            let renewed = |it: &engine::Event| {
                matches!(
                    it,
                    engine::Event::EphemeralComplete { action: engine::EphemeralAction::Renew, .. }
                )
            };
            while events.lock().expect("not poisoned").iter().filter(|it| renewed(it)).count() < 3 {
                std::thread::yield_now();
            }
            cancel.cancel();
            cancel.cancel();
        });
        world.apply_plan(planned.plan, planned.refreshed);
    });
    check_pairs(&world);
}

/// The creation of `a` takes the given time, during which a renewal becomes due and hangs.
#[track_caller]
fn check_hanging_renewal(creation: Duration, expected: Expect) {
    let mut world = world(USED);
    world.with_shared(|it| {
        it.renew_after = Some(3);
        it.hangs.push("renew s");
        it.slow = Some(("create a", creation));
    });
    let planned = world.plan();
    world.log();
    let diagnostics = world.apply_plan(planned.plan, planned.refreshed);
    let calls = world.calls();
    assert_eq!(calls.iter().filter(|it| it.ends_with("renew s")).count(), 1, "{calls:?}");
    check_pairs(&world);
    expected.assert_eq(&format!("{}---\n{}", world.log(), summaries(&diagnostics)));
}

#[test]
fn hanging_renewal_is_abandoned_for_the_close() {
    check_hanging_renewal(
        Duration::from_secs(5),
        expect![[r#"
        ephemeral.test_secret.s: Opening...
        ephemeral.test_secret.s: Opening complete
        test_thing.a: Creating...
        ephemeral.test_secret.s: Renewing...
        test_thing.a: Creating complete [id=id1]
        test_thing.z: Creating...
        test_thing.z: Creating complete [id=id2]
        Error: Renewing ephemeral resource timed out
        ephemeral.test_secret.s: Renewing errored
        ephemeral.test_secret.s: Closing...
        ephemeral.test_secret.s: Closing complete
        ---
        error: Renewing ephemeral resource timed out
    "#]],
    );
}

#[test]
fn hanging_renewal_fails_after_its_timeout() {
    check_hanging_renewal(
        Duration::from_secs(60),
        expect![[r#"
        ephemeral.test_secret.s: Opening...
        ephemeral.test_secret.s: Opening complete
        test_thing.a: Creating...
        ephemeral.test_secret.s: Renewing...
        test_thing.a: Still creating... [10s]
        ephemeral.test_secret.s: Still renewing... [10s]
        Error: Renewing ephemeral resource timed out
        ephemeral.test_secret.s: Renewing errored
        test_thing.a: Still creating... [20s]
        test_thing.a: Still creating... [30s]
        test_thing.a: Still creating... [40s]
        test_thing.a: Still creating... [50s]
        test_thing.a: Creating complete [id=id1]
        ephemeral.test_secret.s: Closing...
        ephemeral.test_secret.s: Closing complete
        test_thing.z: Creating...
        test_thing.z: Creating complete [id=id2]
        ---
        error: Renewing ephemeral resource timed out
    "#]],
    );
}

#[test]
fn abort_during_a_hanging_renewal_closes_the_ephemeral() {
    let mut world = world(USED);
    world.with_shared(|it| {
        it.renew_after = Some(3);
        it.hangs.push("renew s");
        it.slow = Some(("create a", Duration::from_secs(4)));
    });
    let planned = world.plan();
    world.log();
    // The second object is created while the close waits.
    world.stop_after = Some("test_thing.z");
    world.aborts = true;
    let diagnostics = world.apply_plan(planned.plan, planned.refreshed);
    assert_eq!(summaries(&diagnostics), "error: execution halted\n");
    check_pairs(&world);
}

#[test]
fn renewal_time_in_the_past_does_not_cause_a_busy_loop() {
    let mut world = world(USED);
    world.with_shared(|it| {
        it.renew_after = Some(-60);
        it.hangs.push("close s");
    });
    world.plan();
    let renewals = world.calls().iter().filter(|it| it.contains("renew")).count();
    assert!(renewals <= 2, "{renewals} renewals");
}

#[test]
fn uses_after_a_failed_renewal_fail() {
    let mut world = world(
        r#"
ephemeral "test_secret" "s" { name = "s" }
resource "test_thing" "slow" {
  name = "slow"
  secret_wo = ephemeral.test_secret.s.value
}
resource "test_thing" "late" {
  name      = "late"
  secret_wo = ephemeral.test_secret.s.value
  depends_on = [data.test_lookup.wait]
}
data "test_lookup" "wait" { name = "wait" }
"#,
    );
    world.with_shared(|it| it.renew_after = Some(-1));
    world.parallelism = 1;
    world.fault("renew s");
    let diagnostics = world.apply();
    let text = summaries(&diagnostics);
    check_pairs(&world);
    assert!(text.is_empty() || text.contains("renew s failed"), "{text}");
}

#[test]
fn ephemeral_conditions_are_checked_and_recorded() {
    let mut world = world(
        r#"
ephemeral "test_secret" "s" {
  name = "s"
  lifecycle {
    precondition {
      condition     = path.module != ""
      error_message = "your message here"
    }
    postcondition {
      condition     = self.value != ""
      error_message = "empty"
    }
  }
}
"#,
    );
    assert_eq!(summaries(&world.apply()), "");
    expect![[r#"
        [
            CheckResult {
                kind: Resource,
                config_addr: "ephemeral.test_secret.s",
                status: Pass,
                objects: [
                    CheckObject {
                        addr: "ephemeral.test_secret.s",
                        status: Pass,
                        failure_messages: [],
                    },
                ],
            },
        ]
    "#]]
    .assert_debug_eq(&world.state.checks);
    check_pairs(&world);
}

#[test]
fn failed_postcondition_closes_the_ephemeral() {
    let mut world = world(
        r#"
ephemeral "test_secret" "s" {
  name = "s"
  lifecycle {
    postcondition {
      condition     = self.value == ""
      error_message = "not empty"
    }
  }
}
"#,
    );
    let outcome = world.plan();
    expect![[r#"
        ephemeral.test_secret.s: Opening...
        ephemeral.test_secret.s: Opening complete
        Error: Resource postcondition failed
        ephemeral.test_secret.s: Closing...
        ephemeral.test_secret.s: Closing complete
        ---
        error: Resource postcondition failed
    "#]]
    .assert_eq(&format!("{}---\n{}", world.log(), summaries(&outcome.diagnostics)));
    check_pairs(&world);
}

#[test]
fn destroy_opens_only_ephemerals_that_providers_need() {
    let mut world = world(
        r#"
ephemeral "test_secret" "token" { name = "token" }
provider "test" {
  alias = "p"
  token = ephemeral.test_secret.token.value
}
ephemeral "test_secret" "s" { name = "s" }
resource "test_thing" "a" {
  provider  = test.p
  name      = "a"
  secret_wo = ephemeral.test_secret.s.value
}
"#,
    );
    assert_eq!(summaries(&world.apply()), "");
    world.log();
    world.mode = state::PlanMode::Destroy;
    assert_eq!(summaries(&world.apply()), "");
    expect![[r#"
        ephemeral.test_secret.token: Opening...
        ephemeral.test_secret.token: Opening complete
        test_thing.a: Refreshing state...
        ephemeral.test_secret.token: Closing...
        ephemeral.test_secret.token: Closing complete
        Plan: 0 added, 0 changed, 1 destroyed
        ephemeral.test_secret.token: Opening...
        ephemeral.test_secret.token: Opening complete
        test_thing.a: Destroying...
        test_thing.a: Destroying complete
        ephemeral.test_secret.token: Closing...
        ephemeral.test_secret.token: Closing complete
        Apply: 0 added, 0 changed, 1 destroyed
    "#]]
    .assert_eq(&world.log());
    check_pairs(&world);
    assert!(world.state.is_empty());
}

#[test]
fn plan_refuses_an_ephemeral_value_in_a_stored_attribute() {
    let mut world = world(
        r#"
variable "e" { ephemeral = true }
resource "test_thing" "a" { name = var.e }
"#,
    );
    world.set("e", "secret-value");
    let outcome = world.plan();
    assert_eq!(summaries(&outcome.diagnostics), "error: Invalid use of an ephemeral value\n");
    expect![[r#""name" cannot accept an ephemeral value because it is not a write-only attribute, meaning it will be written to the state."#]].assert_eq(&outcome.diagnostics[0].detail);
}

#[test]
fn tofu_applying_is_constant_during_a_command() {
    let fixture = r#"
provider "test" { region = tofu.applying ? "writes" : "reads" }
resource "test_thing" "a" { name = "a" }
"#;
    let mut world = world(fixture);
    world.plan();
    assert!(world.calls().iter().any(|it| it.contains("region=reads")));
    world.apply();
    let calls = world.calls();
    assert!(
        calls.iter().filter(|it| it.contains("configure")).all(|it| it.contains("region=writes")),
        "{calls:?}"
    );
}

#[test]
fn provider_with_unknown_configuration_defers_its_ephemerals() {
    check(
        r#"
resource "test_thing" "a" { name = "a" }
provider "test" {
  alias = "p"
  token = test_thing.a.id
}
ephemeral "test_secret" "s" {
  provider = test.p
  name     = "s"
}
resource "test_thing" "b" {
  name      = "b"
  secret_wo = ephemeral.test_secret.s.value
}
"#,
        expect![[r#"
            ephemeral.test_secret.s: Configuration unknown, deferring...
            Plan: 2 added, 0 changed, 0 destroyed
            test_thing.a: Creating...
            test_thing.a: Creating complete [id=id1]
            ephemeral.test_secret.s: Opening...
            ephemeral.test_secret.s: Opening complete
            test_thing.b: Creating...
            test_thing.b: Creating complete [id=id2]
            ephemeral.test_secret.s: Closing...
            ephemeral.test_secret.s: Closing complete
            Apply: 2 added, 0 changed, 0 destroyed
            ---
        "#]],
    );
}

#[test]
fn ephemeral_resource_without_its_provider_is_an_error() {
    let mut world = world(
        r#"
ephemeral "test_secret" "s" {
  provider = test.nowhere
  name     = "s"
}
resource "test_thing" "a" {
  name      = "a"
  secret_wo = ephemeral.test_secret.s.value
}
"#,
    );
    let diagnostics = world.plan().diagnostics;
    assert_eq!(summaries(&diagnostics), "error: Provider configuration not present\n");
    let detail = &diagnostics[0].detail;
    assert!(
        detail.contains("ephemeral.test_secret.s needs the provider configuration test.nowhere"),
        "{detail}"
    );
}
