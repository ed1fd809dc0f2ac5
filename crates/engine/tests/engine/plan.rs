//! Tests of the decisions of a plan.

use expect_test::{Expect, expect};
use state::PlanMode;

use crate::world::{World, actions, summaries, world};

#[track_caller]
fn check(fixture: &str, expected: Expect) {
    let mut world = world(fixture);
    let outcome = world.plan();
    expected.assert_eq(&format!("{}{}", actions(&outcome.plan), summaries(&outcome.diagnostics)));
}

#[test]
fn new_objects_are_created() {
    check(
        r#"
resource "terraform_data" "a" { input = "hello" }
resource "test_thing" "b" { name = terraform_data.a.output }
output "o" { value = test_thing.b.name }
"#,
        expect![[r#"
            terraform_data.a Create
            test_thing.b Create
            output o Create
        "#]],
    );
}

/// A diagnostic in a module that is called twice is reported once.
#[test]
fn unsupported_feature_in_a_module_called_twice_is_reported_once() {
    let call = |name: &str| format!("module \"{name}\" {{\n  source = \"./m\"\n}}\n");
    let called = "resource \"test_thing\" \"a\" {\n  name = \"a\"\n  \
                  provisioner \"chef\" {}\n}\n";
    let mut world =
        world(&format!("//- /main.tf\n{}{}//- /m/main.tf\n{called}", call("x"), call("y")));
    assert_eq!(summaries(&world.plan().diagnostics), "error: Not supported yet\n");
}

#[test]
fn variables_are_checked_even_if_nothing_refers_to_them() {
    let mut world = world(
        r#"
variable "missing" {}
variable "secret" { ephemeral = true }
variable "number" {
  type      = number
  ephemeral = true
}
variable "short" {
  default = "abc"
  validation {
    condition     = length(var.short) > 3
    error_message = "Too short."
  }
}
"#,
    );
    world.set("number", "one");
    let mut found: Vec<String> =
        summaries(&world.plan().diagnostics).lines().map(str::to_owned).collect();
    found.sort();
    assert_eq!(
        found,
        [
            "error: Invalid value for input variable",
            "error: No value for required variable",
            "error: No value for required variable",
        ]
    );
    for (name, value) in [("missing", "m"), ("secret", "s"), ("number", "1")] {
        world.set(name, value);
    }
    assert_eq!(summaries(&world.plan().diagnostics), "error: Invalid value for variable\n");
    for (name, value) in [("missing", "m"), ("secret", "s"), ("number", "1"), ("short", "long")] {
        world.set(name, value);
    }
    for mode in [PlanMode::Normal, PlanMode::Destroy] {
        world.mode = mode;
        assert_eq!(summaries(&world.apply()), "", "{mode:?}");
    }
}

#[test]
fn destroy_checks_variables_only_if_it_refreshes() {
    let mut world = world(
        r#"
variable "short" {
  default = "abc"
  validation {
    condition     = length(var.short) < 4
    error_message = "Too long."
  }
}
resource "test_thing" "a" { name = var.short }
"#,
    );
    let destroy = |world: &mut World| {
        world.set("short", "too long").mode = PlanMode::Destroy;
        summaries(&world.apply())
    };
    assert_eq!(destroy(&mut world), "", "there is nothing to refresh");
    world.set("short", "s").mode = PlanMode::Normal;
    assert_eq!(summaries(&world.apply()), "");
    assert_eq!(destroy(&mut world), "error: Invalid value for variable\n");
    world.refresh = false;
    assert_eq!(destroy(&mut world), "");
    assert!(world.state.is_empty());
}

#[test]
fn preconditions_are_checked_before_arguments() {
    check(
        r#"
resource "test_thing" "a" {
  name = tostring([])[0]
  lifecycle {
    precondition {
      condition     = 1 > 2
      error_message = "Never."
    }
  }
}
"#,
        expect![[r#"
            error: Resource precondition failed
        "#]],
    );
}

#[test]
fn plan_shows_the_change_that_prevent_destroy_refuses() {
    let config = |path: &str| {
        let protected = "lifecycle {\n    prevent_destroy = true\n  }";
        format!("resource \"test_thing\" \"a\" {{\n  name = \"{path}\"\n  {protected}\n}}\n")
    };
    let mut world = world(&config("a"));
    assert_eq!(summaries(&world.apply()), "");
    world.replace = vec![addr::parse_resource_instance("test_thing.a").expect("an address")];
    let refused = "error: Resource instance cannot be destroyed\n";
    let outcome = world.plan();
    assert_eq!(summaries(&outcome.diagnostics), refused);
    assert_eq!(actions(&outcome.plan), "test_thing.a DeleteThenCreate (replace_by_request)\n");
    (world.replace, world.mode) = (Vec::new(), PlanMode::Destroy);
    let outcome = world.plan();
    assert_eq!(summaries(&outcome.diagnostics), refused);
    assert_eq!(actions(&outcome.plan), "test_thing.a Delete\n");
}

#[test]
fn prevent_destroy_protects_removed_module_instances() {
    let call = |keys: &str| {
        format!(
            "module \"m\" {{\n  source = \"./m\"\n  for_each = toset({keys})\n  protect = true\n}}\n"
        )
    };
    let called = |value: &str| {
        let protected = format!("lifecycle {{\n    prevent_destroy = {value}\n  }}");
        format!(
            "variable \"protect\" {{}}\nresource \"test_thing\" \"a\" {{\n  name = \"a\"\n  {protected}\n}}\n"
        )
    };
    let both = call("[\"a\", \"b\"]");
    let mut world = world(&format!("//- /main.tf\n{both}//- /m/main.tf\n{}", called("true")));
    assert_eq!(summaries(&world.apply()), "");
    world.edit("main.tf", &call("[\"a\"]"));
    let refused = summaries(&world.plan().diagnostics);
    assert_eq!(refused, "error: Resource instance cannot be destroyed\n");
    world.edit("m/main.tf", &called("var.protect"));
    let refused = summaries(&world.plan().diagnostics);
    assert_eq!(refused, "error: Invalid value for prevent_destroy\n", "nobody knows the value");
    world.edit("m/main.tf", &called("false"));
    assert_eq!(summaries(&world.apply()), "");
    assert_eq!(world.state.instances().count(), 1);
}

#[test]
fn apply_does_not_evaluate_unreferenced_module_outputs() {
    let called = r#"
resource "test_thing" "a" { name = "a" }
output "o" {
  value = 1
  precondition {
    condition     = test_thing.a.id == "other"
    error_message = "Never."
  }
}
"#;
    let mut alone = world(&format!(
        "//- /main.tf\nmodule \"m\" {{ source = \"./m\" }}\n//- /m/main.tf\n{called}"
    ));
    assert_eq!(summaries(&alone.apply()), "", "nothing refers to it");
    let read = "output \"o\" { value = module.m.o }\n";
    let mut read = world(&format!(
        "//- /main.tf\nmodule \"m\" {{ source = \"./m\" }}\n{read}//- /m/main.tf\n{called}"
    ));
    assert_eq!(summaries(&read.apply()), "error: Module output value precondition failed\n");
    let named = "output \"o\" {\n  value = 1\n  depends_on = [module.m]\n}\n";
    let mut named = world(&format!(
        "//- /main.tf\nmodule \"m\" {{ source = \"./m\" }}\n{named}//- /m/main.tf\n{called}"
    ));
    assert_eq!(summaries(&named.apply()), "error: Module output value precondition failed\n");
}

#[test]
fn failed_destroy_removes_root_outputs() {
    let mut world = world(
        r#"
resource "test_thing" "a" { name = "a" }
output "o" { value = test_thing.a.name }
"#,
    );
    assert_eq!(summaries(&world.apply()), "");
    assert_eq!(world.state.outputs.len(), 1);
    world.mode = PlanMode::Destroy;
    world.fault("destroy a");
    assert_eq!(summaries(&world.apply()), "error: destroy a failed\n");
    assert_eq!((world.state.outputs.len(), world.state.resources().len()), (0, 1));
}

#[test]
fn membership_of_unknown_values_is_unknown() {
    let mut world = world(
        r#"
resource "test_thing" "a" { name = "a" }
output "o" { value = contains([], test_thing.a.id) }
output "p" { value = try(test_thing.a["missing"], "otherwise") }
output "q" { value = toset([null, test_thing.a.id]) }
"#,
    );
    let outcome = world.plan();
    assert_eq!(summaries(&outcome.diagnostics), "");
    let known = outcome.plan.output_changes.iter().filter(|(_, it)| it.after.is_wholly_known());
    assert_eq!(known.map(|(name, _)| &**name).collect::<Vec<_>>(), ["p"]);
}

#[test]
fn output_that_becomes_null_or_unknown_is_updated() {
    let mut world = world("output \"o\" { value = 1 }\noutput \"p\" { value = 1 }\n");
    assert_eq!(summaries(&world.apply()), "");
    let thing = "resource \"test_thing\" \"a\" { name = \"a\" }\n";
    let outputs = "output \"o\" { value = null }\noutput \"p\" { value = test_thing.a.id }\n";
    world.edit("main.tf", &format!("{thing}{outputs}"));
    let outcome = world.plan();
    assert_eq!(actions(&outcome.plan), "test_thing.a Create\noutput o Update\noutput p Update\n");
    let kept: Vec<&str> = outcome.refreshed.outputs.keys().map(|it| &**it).collect();
    assert_eq!(kept, ["p"], "what is not known yet keeps its value until apply");
}

#[test]
fn destroy_checks_no_conditions() {
    let mut world = world(
        r#"
variable "v" {
  default = 1
  validation {
    condition     = var.v == 1
    error_message = "Not one."
  }
}
resource "test_thing" "a" { name = "a" }
output "o" {
  value = 1
  precondition {
    condition     = test_thing.a.id == "id1"
    error_message = "Another."
  }
}
"#,
    );
    assert_eq!(summaries(&world.apply()), "");
    world.mode = PlanMode::Destroy;
    let outcome = world.plan();
    let results = outcome.plan.checks.iter();
    let results =
        results.map(|it| format!("{} {:?} {}", it.config_addr, it.status, it.objects.len()));
    assert_eq!(results.collect::<Vec<_>>(), ["output.o Unknown 1", "var.v Unknown 0"]);
}

#[test]
fn unknown_element_of_for_each_is_reported_before_a_null_one() {
    check(
        r#"
resource "test_thing" "a" { name = "a" }
resource "test_thing" "b" {
  for_each = toset([test_thing.a.id, null])
  name     = each.key
}
"#,
        expect![[r#"
            test_thing.a Create
            error: Invalid for_each argument
        "#]],
    );
}

#[test]
fn template_is_known_if_it_reads_no_unknown_variable() {
    let mut world = world(
        r#"
//- /main.tf
resource "test_thing" "a" { name = "a" }
locals {
  quiet = { loud = false, id = test_thing.a.id, name = "x" }
}
output "file" { value = templatefile("login.tpl", local.quiet) }
output "string" {
  value = templatestring(local.text, local.quiet)
}
output "loud" { value = templatefile("login.tpl", merge(local.quiet, { loud = true })) }
locals { text = "%%{ if loud }$${id}%%{ endif }$${name}" }
//- /login.tpl
%{ if loud }${id}%{ endif }${name}
"#,
    );
    let planned = world.plan();
    let after = |name: &str| format!("{:?}", planned.plan.output_changes[name].after);
    assert_eq!(after("file"), "\"x\\n\"");
    assert_eq!(after("string"), "\"x\"");
    assert_eq!(after("loud"), "(known after apply)");
}

#[test]
fn given_value_of_a_deprecated_variable_is_a_warning() {
    let mut world = world(
        r#"
variable "old" {
  default    = "o"
  deprecated = "Use var.new."
}
variable "new" { default = "n" }
"#,
    );
    assert_eq!(summaries(&world.set("new", "x").plan().diagnostics), "");
    let found = world.set("old", "x").plan().diagnostics;
    assert_eq!(summaries(&found), "warning: Deprecated variable used from the root module\n");
    let detail = "The root variable \"old\" is deprecated with the following message: Use var.new.";
    assert_eq!(found[0].detail, detail);
}
