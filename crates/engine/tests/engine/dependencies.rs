//! Tests of the dependencies in the state, and of the order of destruction that follows from them.

use expect_test::{Expect, expect};

use crate::world::{World, summaries, world};

/// Returns the objects in the state that have dependencies.
fn dependencies(world: &World) -> String {
    let lines =
        world.state.instances().filter_map(|state::InstanceEntry { address, instance, .. }| {
            let object = instance.current.as_ref()?;
            let names: Vec<String> = object.dependencies.iter().map(ToString::to_string).collect();
            (!names.is_empty()).then(|| format!("{address}: {}\n", names.join(", ")))
        });
    lines.collect()
}

/// Returns the addresses of changed objects, in the order of the changes.
fn order(world: &World) -> String {
    let log = world.log();
    let done = log.lines().filter(|it| {
        ["Destroying...", "Creating...", "Modifying..."].iter().any(|verb| it.ends_with(verb))
    });
    done.map(|it| format!("{it}\n")).collect()
}

#[track_caller]
fn check(fixture: &str, expected: Expect) -> World {
    let mut world = world(fixture);
    assert_eq!(summaries(&world.apply()), "");
    expected.assert_eq(&dependencies(&world));
    world.log();
    world
}

const REPETITION: &str = r#"
resource "terraform_data" "bucket" { input = "b" }
resource "terraform_data" "number" { input = 1 }
resource "terraform_data" "switch" { input = true }
resource "terraform_data" "host" { input = "h" }
resource "terraform_data" "argument" { input = "a" }
resource "terraform_data" "before" { input = "b" }
resource "terraform_data" "after" { input = "b" }
locals {
  keys    = toset([terraform_data.bucket.input])
  through = { for key in local.keys : key => key }
}
resource "terraform_data" "each" {
  for_each = local.through
  input    = each.key
}
resource "terraform_data" "counted" { count = terraform_data.number.input }
resource "terraform_data" "enabled" {
  lifecycle {
    enabled = terraform_data.switch.input
    precondition {
      condition     = terraform_data.before.input == "b"
      error_message = "no"
    }
    postcondition {
      condition     = terraform_data.after.input == "b"
      error_message = "no"
    }
  }
}
resource "terraform_data" "provisioned" {
  connection { host = terraform_data.host.input }
  provisioner "local-exec" { command = "true ${terraform_data.argument.input}" }
}
"#;

#[test]
fn references_in_count_conditions_and_provisioners_are_dependencies() {
    check(
        REPETITION,
        expect![[r#"
            terraform_data.counted[0]: terraform_data.number
            terraform_data.each["b"]: terraform_data.bucket
            terraform_data.enabled: terraform_data.after, terraform_data.before, terraform_data.switch
            terraform_data.provisioned: terraform_data.argument, terraform_data.host
        "#]],
    );
}

const MODULES: &str = r#"
//- /main.tf
resource "terraform_data" "bucket" { input = "b" }
resource "terraform_data" "number" { input = 1 }
resource "terraform_data" "first" { input = "f" }
resource "terraform_data" "other" { input = "o" }
module "m" {
  source     = "./m"
  count      = terraform_data.number.input
  depends_on = [terraform_data.first]
  x          = terraform_data.bucket.input
  y          = terraform_data.other.input
}
module "none" {
  source = "./m"
  count  = 0
  x      = terraform_data.bucket.input
  y      = "none"
}
resource "terraform_data" "of_output" { input = module.m[0].out }
resource "terraform_data" "of_inner" { input = module.m[0].inner }
resource "terraform_data" "of_whole" { input = length(module.m) }
resource "terraform_data" "of_none" { input = length(module.none[*].out) }
resource "terraform_data" "after" { depends_on = [module.m] }
//- /m/main.tf
variable "x" {}
variable "y" {
  validation {
    condition     = var.y != terraform_data.rule.output
    error_message = "no"
  }
}
resource "terraform_data" "rule" {}
resource "terraform_data" "alone" {}
resource "terraform_data" "of_x" { input = var.x }
resource "terraform_data" "of_y" { input = var.y }
module "inner" {
  source   = "../inner"
  for_each = terraform_data.alone.input == null ? toset(["k"]) : toset([])
}
output "out" { value = terraform_data.of_x.id }
output "inner" { value = module.inner["k"].id }
//- /inner/main.tf
resource "terraform_data" "deep" {}
output "id" { value = terraform_data.deep.id }
"#;

#[test]
fn repetition_of_a_module_call_is_a_dependency_of_its_resources() {
    check(
        MODULES,
        expect![[r#"
            terraform_data.after: module.m.module.inner.terraform_data.deep, module.m.terraform_data.alone, module.m.terraform_data.of_x, module.m.terraform_data.of_y, module.m.terraform_data.rule, terraform_data.bucket, terraform_data.first, terraform_data.number, terraform_data.other
            terraform_data.of_inner: module.m.module.inner.terraform_data.deep, module.m.terraform_data.alone, terraform_data.first, terraform_data.number
            terraform_data.of_none: module.none.module.inner.terraform_data.deep, module.none.terraform_data.alone, module.none.terraform_data.of_x, module.none.terraform_data.of_y, module.none.terraform_data.rule, terraform_data.bucket
            terraform_data.of_output: module.m.terraform_data.of_x, terraform_data.bucket, terraform_data.first, terraform_data.number
            terraform_data.of_whole: module.m.module.inner.terraform_data.deep, module.m.terraform_data.alone, module.m.terraform_data.of_x, module.m.terraform_data.of_y, module.m.terraform_data.rule, terraform_data.bucket, terraform_data.first, terraform_data.number, terraform_data.other
            module.m[0].terraform_data.alone: terraform_data.first, terraform_data.number
            module.m[0].terraform_data.of_x: terraform_data.bucket, terraform_data.first, terraform_data.number
            module.m[0].terraform_data.of_y: module.m.terraform_data.rule, terraform_data.first, terraform_data.number, terraform_data.other
            module.m[0].terraform_data.rule: terraform_data.first, terraform_data.number
            module.m[0].module.inner["k"].terraform_data.deep: module.m.terraform_data.alone, terraform_data.first, terraform_data.number
        "#]],
    );
}

#[test]
fn dependencies_pass_through_data_ephemerals_and_providers() {
    check(
        r#"
//- /main.tf
resource "terraform_data" "zone" { input = "z" }
resource "terraform_data" "region" { input = "r" }
data "test_lookup" "d" { name = terraform_data.zone.input }
ephemeral "test_secret" "s" { name = "s" }
provider "test" {
  alias  = "there"
  region = terraform_data.region.output
}
resource "test_thing" "a" {
  name      = data.test_lookup.d.result
  secret_wo = ephemeral.test_secret.s.value
}
module "m" {
  source    = "./m"
  providers = { test = test.there }
}
//- /m/main.tf
resource "test_thing" "in" { name = "in" }
"#,
        expect![[r#"
            test_thing.a: data.test_lookup.d, ephemeral.test_secret.s, terraform_data.zone
            module.m.test_thing.in: terraform_data.region
        "#]],
    );
}

const OBJECTS: &str = r#"
resource "test_thing" "bucket" { name = "a" }
resource "test_thing" "object" {
  for_each = toset([test_thing.bucket.name])
  name     = "z-${each.key}"
}
module "m" {
  source = "./m"
  count  = test_thing.bucket.name == "a" ? 1 : 0
}
"#;

fn objects() -> World {
    let mut world = world(&format!(
        "//- /main.tf\n{OBJECTS}//- /m/main.tf\nresource \"test_thing\" \"in\" {{ name = \"in\" }}\n"
    ));
    assert_eq!(summaries(&world.apply()), "");
    world.log();
    // One operation at a time, so that no order is accidental.
    world.parallelism = 1;
    world
}

const DESTROYED_LAST: &str = "test_thing.bucket: Destroying...\n";

#[test]
fn repetition_dependencies_are_destroyed_after_the_instances() {
    let mut world = objects();
    world.mode = state::PlanMode::Destroy;
    assert_eq!(summaries(&world.apply()), "");
    let order = order(&world);
    assert!(order.ends_with(DESTROYED_LAST) && order.lines().count() == 3, "{order}");
}

#[test]
fn destroy_order_of_removed_blocks_comes_from_the_state() {
    for mode in [state::PlanMode::Normal, state::PlanMode::Destroy] {
        let mut world = objects();
        world.edit("main.tf", "\n");
        world.mode = mode;
        assert_eq!(summaries(&world.apply()), "");
        let order = order(&world);
        assert!(order.ends_with(DESTROYED_LAST) && order.lines().count() == 3, "{order}");
    }
}

#[test]
fn new_reference_decides_the_destroy_order() {
    let mut world = world(
        "resource \"test_thing\" \"a\" { name = \"a\" }\nresource \"test_thing\" \"b\" { name = \"b\" }\n",
    );
    assert_eq!(summaries(&world.apply()), "");
    world.edit(
        "main.tf",
        "resource \"test_thing\" \"a\" { name = \"a\" }\nresource \"test_thing\" \
                           \"b\" {\n  name = \"b\"\n  depends_on = [test_thing.a]\n}\n",
    );
    world.parallelism = 1;
    world.mode = state::PlanMode::Destroy;
    world.log();
    assert_eq!(summaries(&world.apply()), "");
    assert_eq!(order(&world), "test_thing.b: Destroying...\ntest_thing.a: Destroying...\n");
}

#[test]
fn replaced_object_is_destroyed_before_its_former_dependency() {
    let mut world = world(
        "resource \"test_thing\" \"a\" { name = \"a\" }\nresource \"test_thing\" \"b\" {\n  name = \
         test_thing.a.name\n  zone = \"x\"\n}\n",
    );
    assert_eq!(summaries(&world.apply()), "");
    world.log();
    world.parallelism = 1;
    world.edit("main.tf", "resource \"test_thing\" \"b\" {\n  name = \"b\"\n  zone = \"y\"\n}\n");
    assert_eq!(summaries(&world.apply()), "");
    expect![[r#"
        test_thing.b: Destroying...
        test_thing.a: Destroying...
        test_thing.b: Creating...
    "#]]
    .assert_eq(&order(&world));
    assert_eq!(dependencies(&world), "");
}

/// `b` lies between `a` and `c`, and has no instances or none that changes.
#[test]
fn dependency_order_passes_through_unchanged_resources() {
    let config = |zone: &str, count: u32| {
        format!(
            r#"
resource "test_thing" "a" {{
  name = "a"
  zone = "{zone}"
}}
resource "test_thing" "b" {{
  count      = {count}
  name       = "b"
  depends_on = [test_thing.a]
}}
resource "test_thing" "c" {{
  name = "c${{length(test_thing.b)}}"
  zone = "{zone}"
}}
"#
        )
    };
    for count in [0, 1] {
        let mut world = world(&config("x", count));
        world.with_shared(|it| it.slow = Some(("create a", std::time::Duration::from_secs(5))));
        assert_eq!(summaries(&world.apply()), "");
        world.assert_logged_before("test_thing.a: Creating complete", "test_thing.c: Creating...");
        world.edit("main.tf", &config("y", count));
        assert_eq!(summaries(&world.apply()), "");
        let log = world.log();
        let at = |text: &str| log.rfind(text).unwrap_or_else(|| panic!("{text} in {log}"));
        assert!(at("test_thing.a: Creating complete") < at("test_thing.c: Creating..."), "{log}");
    }
}

#[test]
fn update_waits_for_the_destruction_of_former_dependents() {
    let mut world = world(
        "resource \"test_thing\" \"a\" {\n  name = \"a\"\n  tags = { t = \"1\" }\n}\nresource \
         \"test_thing\" \"b\" { name = test_thing.a.name }\n",
    );
    assert_eq!(summaries(&world.apply()), "");
    world.log();
    world.parallelism = 1;
    world.edit(
        "main.tf",
        "resource \"test_thing\" \"a\" {\n  name = \"a\"\n  tags = { t = \"2\" }\n}\n",
    );
    assert_eq!(summaries(&world.apply()), "");
    assert_eq!(order(&world), "test_thing.b: Destroying...\ntest_thing.a: Modifying...\n");
}

#[test]
fn update_waits_for_the_destruction_of_former_dependencies() {
    let mut world = world(
        "resource \"test_thing\" \"a\" { name = \"a\" }\nresource \"test_thing\" \"b\" {\n  name = \
         \"b\"\n  tags = { t = test_thing.a.name }\n}\n",
    );
    assert_eq!(summaries(&world.apply()), "");
    world.log();
    world.parallelism = 1;
    world.edit(
        "main.tf",
        "resource \"test_thing\" \"b\" {\n  name = \"b\"\n  tags = { t = \"2\" }\n}\n",
    );
    assert_eq!(summaries(&world.apply()), "");
    assert_eq!(order(&world), "test_thing.a: Destroying...\ntest_thing.b: Modifying...\n");
}

#[test]
fn objects_with_reversed_references_are_destroyed() {
    let mut world = world(
        "resource \"test_thing\" \"a\" { name = \"a\" }\nresource \"test_thing\" \"b\" { name = test_thing.a.name }\n",
    );
    assert_eq!(summaries(&world.apply()), "");
    world.edit(
        "main.tf",
        "resource \"test_thing\" \"a\" { name = test_thing.b.name }\nresource \"test_thing\" \"b\" { name = \"b\" }\n",
    );
    world.mode = state::PlanMode::Destroy;
    assert_eq!(summaries(&world.apply()), "");
    assert!(world.state.is_empty());
}

#[test]
fn update_of_marks_alone_takes_the_dependencies_of_the_configuration() {
    let a = "resource \"test_thing\" \"a\" { name = \"a\" }\n";
    let mut world = world(&format!(
        "{a}resource \"test_thing\" \"b\" {{\n  name = test_thing.a.name\n  tags = {{ t = \"1\" }}\n}}\n"
    ));
    assert_eq!(summaries(&world.apply()), "");
    assert_eq!(dependencies(&world), "test_thing.b: test_thing.a\n");
    world.log();
    world.edit(
        "main.tf",
        &format!(
            "{a}variable \"name\" {{\n  sensitive = true\n  default   = \"a\"\n}}\nresource \"test_thing\" \"b\" {{\n  \
             name = var.name\n  tags = {{ t = \"1\" }}\n  lifecycle {{\n    create_before_destroy = true\n  }}\n}}\n"
        ),
    );
    assert_eq!(summaries(&world.apply()), "");
    assert_eq!(order(&world), "test_thing.b: Modifying...\n");
    assert_eq!(dependencies(&world), "");
    let is_first = |it: &state::InstanceEntry<'_>| {
        it.instance.current.as_ref().is_some_and(|object| object.create_before_destroy)
    };
    assert_eq!(world.state.instances().filter(is_first).count(), 1);
}

#[test]
fn marks_of_ignored_arguments_do_not_change() {
    let declared = |is_sensitive: bool, tag: &str| {
        format!(
            r#"
variable "name" {{
  sensitive = {is_sensitive}
  default   = "a"
}}
resource "test_thing" "a" {{
  name = var.name
  tags = {{ t = "{tag}" }}
  lifecycle {{
    ignore_changes = [name]
  }}
}}
"#
        )
    };
    let sensitive = |world: &World| -> Vec<String> {
        let paths = world.state.instances().filter_map(|it| {
            Some(it.instance.current.as_ref()?.sensitive_paths.iter().map(ToString::to_string))
        });
        paths.flatten().collect()
    };
    let mut world = world(&declared(false, "1"));
    assert_eq!(summaries(&world.apply()), "");
    let before = sensitive(&world);
    world.log();
    world.edit("main.tf", &declared(true, "1"));
    assert_eq!(summaries(&world.apply()), "");
    assert_eq!(order(&world), "");
    world.edit("main.tf", &declared(true, "2"));
    assert_eq!(summaries(&world.apply()), "");
    assert_eq!(order(&world), "test_thing.a: Modifying...\n");
    assert_eq!(sensitive(&world), before);
}
