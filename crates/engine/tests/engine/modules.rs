//! Tests of modules and provider configurations, and of their instances.

use expect_test::{Expect, expect};

use crate::{
    targets::outputs,
    world::{World, actions, summaries, world},
};

#[track_caller]
fn check(fixture: &str, expected: Expect) -> World {
    let mut world = world(fixture);
    let outcome = world.plan();
    expected.assert_eq(&format!("{}{}", actions(&outcome.plan), summaries(&outcome.diagnostics)));
    world
}

const MODULE: &str = r#"
//- /main.tf
module "m" {
  for_each = { one = "x", two = "y" }
  source   = "./mod"
  zone     = each.value
}
module "n" {
  count  = 2
  source = "./mod"
  zone   = "n${count.index}"
}
output "ids" { value = [for m in module.m : m.name] }
output "one" { value = module.m["one"].name }
output "n" { value = module.n[1].name }
//- /mod/main.tf
variable "zone" {}
resource "test_thing" "a" {
  count = 2
  name  = "${var.zone}-${count.index}"
}
output "name" { value = test_thing.a[1].name }
"#;

#[test]
fn modules_and_resources_expand_by_count_and_for_each() {
    let mut world = check(
        MODULE,
        expect![[r#"
        module.m["one"].test_thing.a[0] Create
        module.m["one"].test_thing.a[1] Create
        module.m["two"].test_thing.a[0] Create
        module.m["two"].test_thing.a[1] Create
        module.n[0].test_thing.a[0] Create
        module.n[0].test_thing.a[1] Create
        module.n[1].test_thing.a[0] Create
        module.n[1].test_thing.a[1] Create
        output ids Create
        output n Create
        output one Create
    "#]],
    );
    assert_eq!(summaries(&world.apply()), "");
    let outputs: Vec<String> =
        world.state.outputs.iter().map(|(name, it)| format!("{name} = {:?}", it.value)).collect();
    expect![[r#"
        ids = ["x-1", "y-1"]
        n = "n1-1"
        one = "x-1""#]]
    .assert_eq(&outputs.join("\n"));
    world.log();
    world.edit(
        "main.tf",
        r#"
module "m" {
  for_each = { two = "y" }
  source   = "./mod"
  zone     = each.value
}
"#,
    );
    world.edit(
        "mod/main.tf",
        r#"
variable "zone" {}
resource "test_thing" "a" {
  count = 1
  name  = "${var.zone}-${count.index}"
}
output "name" { value = test_thing.a[0].name }
"#,
    );
    expect![[r#"
        module.m["one"].test_thing.a[0] Delete (delete_because_no_module)
        module.m["one"].test_thing.a[1] Delete (delete_because_no_module)
        module.m["two"].test_thing.a[0] NoOp
        module.m["two"].test_thing.a[1] Delete (delete_because_count_index)
        module.n[0].test_thing.a[0] Delete (delete_because_no_resource_config)
        module.n[0].test_thing.a[1] Delete (delete_because_no_resource_config)
        module.n[1].test_thing.a[0] Delete (delete_because_no_resource_config)
        module.n[1].test_thing.a[1] Delete (delete_because_no_resource_config)
        output ids Delete
        output n Delete
        output one Delete
    "#]]
    .assert_eq(&actions(&world.plan().plan));
    assert_eq!(summaries(&world.apply()), "");
    assert_eq!(world.state.instances().count(), 1);
}

#[test]
fn providers_are_passed_inherited_and_shared_by_equal_configuration_only() {
    let mut world = world(
        r#"
//- /main.tf
provider "test" { region = "default" }
provider "test" {
  alias  = "west"
  region = "west"
}
provider "test" {
  alias  = "other"
  region = "default"
}
module "m" {
  source    = "./mod"
  providers = { test.local = test.west }
}
resource "test_thing" "default" { name = "default" }
resource "test_thing" "other" {
  provider = test.other
  name     = "other"
}
//- /mod/main.tf
terraform {
  required_providers {
    test = {
      source                = "hashicorp/test"
      configuration_aliases = [test.local]
    }
  }
}
resource "test_thing" "passed" {
  provider = test.local
  name     = "passed"
}
resource "test_thing" "inherited" { name = "inherited" }
"#,
    );
    let outcome = world.plan();
    assert_eq!(summaries(&outcome.diagnostics), "");
    let mut calls = world.calls();
    calls.sort();
    expect![[r#"
        #1 configure token=null region=default
        #1 end
        #1 plan default
        #1 plan inherited
        #1 plan other
        #2 configure token=null region=west
        #2 end
        #2 plan passed"#]]
    .assert_eq(&calls.join("\n"));
    let providers: Vec<String> = outcome
        .plan
        .resource_changes
        .iter()
        .map(|it| format!("{} {}", it.addr, it.provider))
        .collect();
    expect![[r#"
        test_thing.default provider["registry.opentofu.org/hashicorp/test"]
        test_thing.other provider["registry.opentofu.org/hashicorp/test"].other
        module.m.test_thing.inherited provider["registry.opentofu.org/hashicorp/test"]
        module.m.test_thing.passed provider["registry.opentofu.org/hashicorp/test"].west"#]]
    .assert_eq(&providers.join("\n"));
}

#[test]
fn depends_on_waits_for_whole_modules() {
    let mut world = world(
        r#"
//- /main.tf
module "first" { source = "./mod" }
module "second" {
  source     = "./mod"
  depends_on = [module.first]
}
resource "test_thing" "last" {
  name       = "last"
  depends_on = [module.second]
}
//- /mod/main.tf
resource "test_thing" "a" { name = "a" }
resource "test_thing" "b" { name = test_thing.a.id }
"#,
    );
    assert_eq!(summaries(&world.apply()), "");
    expect![[r#"
        Plan: 5 added, 0 changed, 0 destroyed
        module.first.test_thing.a: Creating...
        module.first.test_thing.a: Creating complete [id=id1]
        module.first.test_thing.b: Creating...
        module.first.test_thing.b: Creating complete [id=id2]
        module.second.test_thing.a: Creating...
        module.second.test_thing.a: Creating complete [id=id3]
        module.second.test_thing.b: Creating...
        module.second.test_thing.b: Creating complete [id=id4]
        test_thing.last: Creating...
        test_thing.last: Creating complete [id=id5]
        Apply: 5 added, 0 changed, 0 destroyed
    "#]]
    .assert_eq(&world.log());
    world.mode = state::PlanMode::Destroy;
    world.log();
    assert_eq!(summaries(&world.apply()), "");
    let log = world.log();
    let destroyed: Vec<&str> = log.lines().filter(|it| it.ends_with("Destroying...")).collect();
    expect![[r#"
        test_thing.last: Destroying...
        module.second.test_thing.b: Destroying...
        module.second.test_thing.a: Destroying...
        module.first.test_thing.b: Destroying...
        module.first.test_thing.a: Destroying..."#]]
    .assert_eq(&destroyed.join("\n"));
}

#[test]
fn an_ephemeral_output_reaches_a_write_only_attribute_of_another_module() {
    let mut world = world(
        r#"
//- /main.tf
module "secrets" { source = "./secrets" }
module "user" {
  source = "./user"
  secret = module.secrets.value
}
//- /secrets/main.tf
ephemeral "test_secret" "s" { name = "s" }
output "value" {
  value     = ephemeral.test_secret.s.value
  ephemeral = true
}
//- /user/main.tf
variable "secret" { ephemeral = true }
resource "test_thing" "a" {
  name      = "a"
  secret_wo = var.secret
}
"#,
    );
    assert_eq!(summaries(&world.apply()), "");
    expect![[r#"
        module.secrets.ephemeral.test_secret.s: Opening...
        module.secrets.ephemeral.test_secret.s: Opening complete
        module.secrets.ephemeral.test_secret.s: Closing...
        module.secrets.ephemeral.test_secret.s: Closing complete
        Plan: 1 added, 0 changed, 0 destroyed
        module.secrets.ephemeral.test_secret.s: Opening...
        module.secrets.ephemeral.test_secret.s: Opening complete
        module.user.test_thing.a: Creating...
        module.user.test_thing.a: Creating complete [id=id1]
        module.secrets.ephemeral.test_secret.s: Closing...
        module.secrets.ephemeral.test_secret.s: Closing complete
        Apply: 1 added, 0 changed, 0 destroyed
    "#]]
    .assert_eq(&world.log());
}

#[test]
fn invalid_count_and_for_each_are_errors() {
    for (argument, expected) in [
        ("count = -1", "error: Invalid count argument\n"),
        ("count = null", "error: Invalid count argument\n"),
        ("count = var.e", "error: Invalid count argument\n"),
        ("count = length(test_thing.b.id)", "error: Invalid count argument\n"),
        ("for_each = toset([var.e])", "error: Invalid for_each argument\n"),
        ("for_each = [\"a\"]", "error: Invalid for_each argument\n"),
        ("for_each = toset([test_thing.b.id])", "error: Invalid for_each argument\n"),
        ("for_each = { a = var.e }", ""),
        ("count = 2", ""),
    ] {
        let fixture = format!(
            "variable \"e\" {{ ephemeral = true }}\nresource \"test_thing\" \"b\" {{ name = \"b\" \
             }}\nresource \"test_thing\" \"a\" {{\n{argument}\nname = \"a\"\n}}"
        );
        let mut world = world(&fixture);
        world.set("e", "1");
        assert_eq!(summaries(&world.plan().diagnostics), expected, "{argument}");
    }
}

#[test]
fn excessive_module_count_is_refused() {
    check(
        r#"
//- /main.tf
module "m" {
  count  = 3000000000
  source = "./mod"
}
resource "test_thing" "a" { count = 1000001 }
//- /mod/main.tf
resource "test_thing" "a" {}
"#,
        expect![[r#"
            error: Invalid count argument
            error: Invalid count argument
        "#]],
    );
}

const OPTIONAL: &str = r#"
//- /main.tf
module "opt" {
  source = "./m"
  count  = var.n
}
module "single" { source = "./m" }
module "each" {
  source   = "./m"
  for_each = { k = 1 }
}
variable "n" { default = 0 }
variable "key" { default = "k" }
variable "secret" {
  default   = "k"
  sensitive = true
}
output "tried" { value = try(module.opt[0].a, "default") }
output "can" { value = can(module.opt[0].b) }
output "wrong" { value = try(module.single[0].a, "no instances") }
output "keyed" { value = module.each[var.key].a }
output "secret" {
  value     = module.each[var.secret].b
  sensitive = true
}
output "all" { value = [for m in module.opt : m.a] }
//- /m/main.tf
output "a" { value = 1 }
output "b" { value = 2 }
"#;

#[test]
fn try_falls_back_for_a_missing_module_instance() {
    let mut world = world(OPTIONAL);
    assert_eq!(summaries(&world.apply()), "");
    let shown = |world: &World| -> String {
        let outputs = world.state.outputs.iter();
        outputs.map(|(name, it)| format!("{name} = {:?}\n", it.value)).collect()
    };
    expect![[r#"
        all = []
        can = false
        keyed = 1
        secret = (sensitive value)
        tried = "default"
        wrong = "no instances"
    "#]]
    .assert_eq(&shown(&world));
    world.set("n", "1");
    assert_eq!(summaries(&world.apply()), "");
    world.set("n", "0");
    assert_eq!(summaries(&world.apply()), "");
    expect![[r#"
        all = []
        can = false
        keyed = 1
        secret = (sensitive value)
        tried = "default"
        wrong = "no instances"
    "#]]
    .assert_eq(&shown(&world));
    world.set("key", "wrong");
    assert_eq!(summaries(&world.plan().diagnostics), "error: Invalid index\n");
}

#[test]
fn failed_output_precondition_skips_dependents_of_the_module() {
    let mut world = world(
        r#"
//- /main.tf
module "m" { source = "./m" }
resource "test_thing" "after" {
  name       = "after"
  depends_on = [module.m]
}
//- /m/main.tf
resource "test_thing" "a" { name = "a" }
output "o" {
  value = 1
  precondition {
    condition     = test_thing.a.id == "other"
    error_message = "Never."
  }
}
"#,
    );
    assert_eq!(summaries(&world.apply()), "error: Module output value precondition failed\n");
    assert_eq!(world.state.instances().count(), 1, "only the object of the module is made");
}

#[test]
fn dependents_of_a_module_without_instances_wait_for_its_arguments() {
    let mut world = world(
        r#"
//- /main.tf
resource "test_thing" "argument" { name = "argument" }
module "m" {
  source = "./m"
  count  = 0
  in     = test_thing.argument.id
}
resource "test_thing" "after" {
  name       = "after"
  depends_on = [module.m]
}
//- /m/main.tf
variable "in" {}
"#,
    );
    assert_eq!(summaries(&world.apply()), "");
    world.assert_logged_before(
        "test_thing.argument: Creating complete",
        "test_thing.after: Creating...",
    );
}

#[test]
fn reference_to_an_absent_output_fails_where_try_can_handle_it() {
    let mut world = world(
        r#"
//- /main.tf
resource "test_thing" "a" { name = "a" }
module "one" { source = "./m" }
module "many" {
  source = "./m"
  count  = test_thing.a.name == "a" ? 2 : 0
}
output "one" { value = try(module.one.absent, "x") }
output "many" { value = try(module.many[0].absent, module.many[1].there) }
//- /m/main.tf
output "there" { value = "y" }
"#,
    );
    assert_eq!(summaries(&world.apply()), "");
    assert_eq!(outputs(&world), "many = \"y\"\none = \"x\"\n");
}
