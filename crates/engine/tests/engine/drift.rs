//! Tests of drift: changes from outside that a plan finds, and the attributes that its own changes are derived from.

use std::sync::Arc;

use addr::parse_resource_instance;
use expect_test::{Expect, expect};
use state::{Identity, Object, PlanMode};

use crate::world::{World, summaries, world};

fn applied(config: &str) -> World {
    let mut world = world(config);
    assert_eq!(summaries(&world.apply()), "");
    world.log();
    world.is_saved = true;
    world
}

#[track_caller]
fn check(world: &mut World, expected: Expect) {
    let outcome = world.plan();
    let drift = outcome.plan.drift().map(|it| {
        let from = it.previous_addr.as_ref().map(|it| format!(" from {it}")).unwrap_or_default();
        format!("drift {} {:?}{from}\n", it.addr, it.change.action)
    });
    let relevant = outcome.plan.relevant_attributes.iter();
    let relevant = relevant.map(|it| format!("relevant {}{}\n", it.resource, it.attribute));
    let text: String = drift.chain(relevant).collect();
    expected.assert_eq(&format!("{text}{}", summaries(&outcome.diagnostics)));
}

const CONFIG: &str = r#"
//- /main.tf
resource "test_thing" "a" {
  name = "a"
  zone = "z"
}
resource "test_thing" "many" {
  count = 2
  name  = "many-${count.index}"
}
resource "test_thing" "user" {
  name = local.zone
  tags = { n = test_thing.many[1].name }
  lifecycle {
    precondition {
      condition     = test_thing.many[0].id != ""
      error_message = "x"
    }
  }
}
locals { zone = "${test_thing.a.zone}-${local.number}" }
locals { number = 1 }
module "m" {
  source = "./m"
  zone   = test_thing.a.zone
}
output "m" { value = module.m.name }
output "splat" { value = test_thing.many[*].id }
output "computed" { value = test_thing.many[local.number - 1].size }
//- /m/main.tf
variable "zone" {}
resource "test_thing" "in" {
  for_each = toset([var.zone])
  name     = each.key
}
output "name" { value = values(test_thing.in)[0].name }
"#;

#[test]
fn drift_is_the_difference_between_the_state_and_the_refresh() {
    let mut world = applied(CONFIG);
    world.is_saved = false;
    check(&mut world, expect![[""]]);
    world.with_shared(|it| it.gone = vec!["many-0".to_owned()]);
    check(
        &mut world,
        expect![[r#"
        drift test_thing.many[0] Delete
        relevant module.m.test_thing.in
        relevant test_thing.a.zone
        relevant test_thing.many
    "#]],
    );
    world.refresh = false;
    check(&mut world, expect![[""]]);
}

#[test]
fn relevant_attributes_lead_through_values_and_modules() {
    let mut world = world(CONFIG);
    world.is_saved = true;
    check(
        &mut world,
        expect![[r#"
        relevant module.m.test_thing.in
        relevant test_thing.a.zone
        relevant test_thing.many
        relevant test_thing.many[1].name
    "#]],
    );
}

#[test]
fn plan_without_changes_has_only_the_attributes_of_called_outputs() {
    check(
        &mut applied(CONFIG),
        expect![[r#"
        relevant module.m.test_thing.in
        relevant test_thing.a.zone
    "#]],
    );
}

#[test]
fn moved_object_is_drift_only_in_a_refresh_only_plan() {
    let mut world = applied("resource \"test_thing\" \"a\" { name = \"a\" }\n");
    world.edit("main.tf", "resource \"test_thing\" \"a\" {\n  count = 1\n  name = \"a\"\n}\n");
    check(&mut world, expect![[""]]);
    world.mode = PlanMode::RefreshOnly;
    check(
        &mut world,
        expect![[r#"
        drift test_thing.a[0] NoOp from test_thing.a
    "#]],
    );
    world.mode = PlanMode::Destroy;
    world.with_shared(|it| it.lies = vec![("read", "zone", "outside")]);
    check(&mut world, expect![[""]]);
}

#[test]
fn replacement_request_without_a_key_warns_about_the_instances() {
    let details = |count: &str| {
        let mut world = world(&format!(
            "resource \"test_thing\" \"a\" {{\n  count = {count}\n  name = \"a\"\n}}\n"
        ));
        world.replace = vec![parse_resource_instance("test_thing.a").expect("an address")];
        let found = world.plan().diagnostics;
        found.iter().map(|it| format!("{}\n", it.detail)).collect::<String>()
    };
    expect![[r#"
        Your force-replace request for test_thing.a doesn't match any resource instances because this resource doesn't have any instances.
        Your force-replace request for test_thing.a doesn't match any resource instances because it lacks an instance key.

        To force replacement of the single declared instance, use the following option instead:
          -replace="test_thing.a[0]"
        Your force-replace request for test_thing.a doesn't match any resource instances because it lacks an instance key.

        To force replacement of particular instances, use one or more of the following options instead:
          -replace="test_thing.a[0]"
          -replace="test_thing.a[1]"
    "#]].assert_eq(&format!("{}{}{}", details("0"), details("1"), details("2")));
}

/// A stored object whose identity has a version of its schema; the current one is 1.
fn identified(version: u64) -> World {
    let mut world = applied("resource \"test_thing\" \"a\" {\n  name = \"a\"\n}\n");
    let address = parse_resource_instance("test_thing.a").expect("an address");
    let stored = world.state.current(&address).expect("exists").clone();
    let provider = world.state.provider_of(&address).expect("has one").clone();
    let identity = Some(Identity { schema_version: version, json: r#"{"id":"old"}"#.into() });
    let object = Arc::new(Object { identity, ..(*stored).clone() });
    world.state.set_current(&address, &provider, object);
    world
}

#[test]
fn identity_of_an_older_schema_is_upgraded() {
    for (version, expected) in [(0, r#"{"id":"new"}"#), (1, r#"{"id":"old"}"#)] {
        let mut world = identified(version);
        let outcome = world.plan();
        assert_eq!(summaries(&outcome.diagnostics), "");
        let asked = world.calls().iter().any(|it| it.ends_with(r#"identity 0 {"id":"old"}"#));
        assert_eq!(asked, version == 0);
        let address = parse_resource_instance("test_thing.a").expect("an address");
        let object = outcome.refreshed.current(&address).expect("exists");
        let identity = object.identity.as_ref().expect("has one");
        assert_eq!((identity.schema_version, &*identity.json), (1, expected));
    }
}

#[test]
fn identity_of_a_newer_schema_is_an_error() {
    let mut world = identified(2);
    let outcome = world.plan();
    let expected = "error: Resource identity managed by newer provider version\n";
    assert_eq!(summaries(&outcome.diagnostics), expected);
}
