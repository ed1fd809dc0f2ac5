//! Provider configurations with `for_each`: one process for each instance, and the instance that each object keeps.

use expect_test::expect;
use values::{Str, Value, ValueMap};

use crate::{
    provisioner_plugins::Remembered,
    world::{World, actions, block_on, summaries, world},
};

const CONFIG: &str = r#"
variable "regions" { default = { east = "e", west = "w" } }
variable "things" { default = ["east", "west"] }
provider "test" {
  alias    = "by_region"
  for_each = var.regions
  region   = "${each.key}-${each.value}"
}
resource "test_thing" "a" {
  for_each = toset(var.things)
  provider = test.by_region[each.key]
  name     = each.key
}
"#;

fn configured(world: &World) -> String {
    let calls = world.calls();
    let mut lines: Vec<&str> = calls.iter().map(String::as_str).collect();
    lines.sort_by_key(|it| it.split_once(' ').map(|(process, _)| process.to_owned()));
    lines.join("\n")
}

/// The provider of each object in the state.
fn providers(world: &World) -> String {
    let mut text = String::new();
    for (address, resource) in world.state.resources() {
        for key in resource.instances.keys() {
            let instance = address.instance(key.clone());
            let provider = world.state.provider_of(&instance).expect("is there");
            text += &format!("{instance}: {provider}\n");
        }
    }
    text
}

fn strings(pairs: &[(&str, &str)]) -> Value {
    let entries = pairs.iter().map(|(key, it)| ((*key).into(), Value::string(*it)));
    Value::object(entries.collect::<ValueMap>())
}

fn applied(config: &str) -> World {
    let mut world = world(config);
    assert_eq!(summaries(&world.apply()), "");
    world.calls();
    world
}

#[test]
fn each_instance_has_a_process_with_its_configuration() {
    let mut world = world(CONFIG);
    assert_eq!(summaries(&world.apply()), "");
    expect![[r#"
        #1 configure token=null region=east-e
        #1 plan east
        #1 end
        #2 configure token=null region=west-w
        #2 plan west
        #2 end
        #3 configure token=null region=east-e
        #3 plan east
        #3 create east
        #3 end
        #4 configure token=null region=west-w
        #4 plan west
        #4 create west
        #4 end"#]]
    .assert_eq(&configured(&world));
    expect![[r#"
        test_thing.a["east"]: provider["registry.opentofu.org/hashicorp/test"].by_region["east"]
        test_thing.a["west"]: provider["registry.opentofu.org/hashicorp/test"].by_region["west"]
    "#]]
    .assert_eq(&providers(&world));
}

#[test]
fn instance_that_no_object_needs_is_not_started() {
    let mut world = world(&CONFIG.replace("[\"east\", \"west\"]", "[\"west\"]"));
    assert_eq!(summaries(&world.plan().diagnostics), "");
    expect![[r#"
        #1 configure token=null region=west-w
        #1 plan west
        #1 end"#]]
    .assert_eq(&configured(&world));
}

#[test]
fn removed_object_is_destroyed_by_its_instance() {
    let mut world = applied(CONFIG);
    world.edit("main.tf", &CONFIG.replace("[\"east\", \"west\"]", "[\"west\"]"));
    assert_eq!(summaries(&world.apply()), "");
    expect![[r#"
        #5 configure token=null region=west-w
        #5 read west
        #5 plan west
        #5 end
        #6 configure token=null region=east-e
        #6 read east
        #6 plan-destroy east
        #6 end
        #7 configure token=null region=east-e
        #7 destroy east
        #7 end"#]]
    .assert_eq(&configured(&world));
    expect![[r#"
        test_thing.a["west"]: provider["registry.opentofu.org/hashicorp/test"].by_region["west"]
    "#]]
    .assert_eq(&providers(&world));
}

#[test]
fn removed_resource_is_destroyed_by_its_instances() {
    let mut world = applied(CONFIG);
    world.edit("main.tf", &CONFIG[..CONFIG.find("resource").expect("is there")]);
    assert_eq!(summaries(&world.apply()), "");
    expect![[r#"
        #5 configure token=null region=east-e
        #5 read east
        #5 plan-destroy east
        #5 end
        #6 configure token=null region=west-w
        #6 read west
        #6 plan-destroy west
        #6 end
        #7 configure token=null region=east-e
        #7 destroy east
        #7 end
        #8 configure token=null region=west-w
        #8 destroy west
        #8 end"#]]
    .assert_eq(&configured(&world));
    assert!(world.state.is_empty());
}

#[test]
fn everything_is_destroyed_by_its_instance() {
    let mut world = applied(CONFIG);
    world.mode = state::PlanMode::Destroy;
    assert_eq!(summaries(&world.apply()), "");
    expect![[r#"
        #5 configure token=null region=east-e
        #5 read east
        #5 plan-destroy east
        #5 end
        #6 configure token=null region=west-w
        #6 read west
        #6 plan-destroy west
        #6 end
        #7 configure token=null region=east-e
        #7 destroy east
        #7 end
        #8 configure token=null region=west-w
        #8 destroy west
        #8 end"#]]
    .assert_eq(&configured(&world));
    assert!(world.state.is_empty());
}

#[test]
fn object_without_its_instance_is_an_error() {
    let mut world = applied(CONFIG);
    let smaller = CONFIG.replace("east = \"e\", ", "").replace("\"east\", ", "");
    world.edit("main.tf", &smaller);
    let planned = world.plan();
    expect![[r#"
        error: Provider instance not present
    "#]]
    .assert_eq(&summaries(&planned.diagnostics));
    expect![[r#"
        test_thing.a["east"] needs the provider instance provider["registry.opentofu.org/hashicorp/test"].by_region["east"], and the for_each of the provider configuration does not have this key. If the configuration chooses the key, correct it. If the element was removed, add it again until the object is destroyed, and remove it afterwards.

        This happens if a resource, or the module around it, and its provider use the same collection in for_each: an element must leave the collection of the resource first, and the one of the provider only after the next apply."#]].assert_eq(&planned.diagnostics[0].detail);
    assert!(actions(&planned.plan).contains("west"));
}

#[test]
fn object_of_a_configuration_before_for_each_is_an_error() {
    let before = CONFIG
        .replace("for_each = var.regions", "")
        .replace("\"${each.key}-${each.value}\"", "\"r\"")
        .replace("[each.key]\n  name", "\n  name");
    let mut world = applied(&before);
    world.edit("main.tf", &CONFIG.replace("[\"east\", \"west\"]", "[\"west\"]"));
    let planned = world.plan();
    expect![[r#"
        error: Provider instance not present
    "#]]
    .assert_eq(&summaries(&planned.diagnostics));
    expect![[r#"The provider configuration provider["registry.opentofu.org/hashicorp/test"].by_region managed test_thing.a["east"] when it had no for_each. Now it has instances, and the configuration chooses none of them for this object. Remove the for_each again until the object is destroyed or forgotten, or declare the object with a key of the provider."#]].assert_eq(&planned.diagnostics[0].detail);
}

#[test]
fn object_of_another_configuration_is_an_error_once_it_is_removed() {
    let mut world = applied(CONFIG);
    let other = CONFIG.replace("by_region", "other").replace("[\"east\", \"west\"]", "[\"west\"]");
    world.edit("main.tf", &other);
    expect![[r#"
        error: Unable to use fallback provider from state
    "#]]
    .assert_eq(&summaries(&world.plan().diagnostics));
}

const MODULES: &str = r#"
variable "regions" { default = { east = "e", west = "w" } }
provider "test" {
  alias    = "by_region"
  for_each = var.regions
  region   = each.key
}
module "m" {
  for_each  = var.regions
  source    = "./m"
  providers = { test = test.by_region[each.key], test.second = test.by_region["west"] }
}
//- /m/main.tf
terraform {
  required_providers {
    test = { source = "hashicorp/test", configuration_aliases = [test.second] }
  }
}
resource "test_thing" "a" { name = "a" }
data "test_lookup" "b" {
  provider = test.second
  name     = "b"
}
module "inner" {
  source    = "./inner"
  providers = { test = test }
}
module "inherits" { source = "./inner" }
//- /m/inner/main.tf
resource "test_thing" "c" { name = "c" }
"#;

#[test]
fn module_call_passes_the_chosen_instance_on() {
    let mut world = world(MODULES);
    let found = world.apply();
    assert_eq!(summaries(&found), "", "{found:#?}");
    expect![[r#"
        module.m["east"].data.test_lookup.b: provider["registry.opentofu.org/hashicorp/test"].by_region["west"]
        module.m["east"].test_thing.a: provider["registry.opentofu.org/hashicorp/test"].by_region["east"]
        module.m["west"].data.test_lookup.b: provider["registry.opentofu.org/hashicorp/test"].by_region["west"]
        module.m["west"].test_thing.a: provider["registry.opentofu.org/hashicorp/test"].by_region["west"]
        module.m["east"].module.inherits.test_thing.c: provider["registry.opentofu.org/hashicorp/test"].by_region["east"]
        module.m["east"].module.inner.test_thing.c: provider["registry.opentofu.org/hashicorp/test"].by_region["east"]
        module.m["west"].module.inherits.test_thing.c: provider["registry.opentofu.org/hashicorp/test"].by_region["west"]
        module.m["west"].module.inner.test_thing.c: provider["registry.opentofu.org/hashicorp/test"].by_region["west"]
    "#]].assert_eq(&providers(&world));
    world.calls();
    world.mode = state::PlanMode::Destroy;
    assert_eq!(summaries(&world.apply()), "");
    assert!(world.state.is_empty());
}

#[test]
fn data_and_ephemeral_resources_choose_instances() {
    let config = CONFIG.replace(
        "resource \"test_thing\" \"a\" {",
        r#"
data "test_lookup" "d" {
  provider = test.by_region["west"]
  name     = "d"
}
ephemeral "test_secret" "s" {
  provider = test.by_region["east"]
  name     = "s"
}
provider "test" { token = ephemeral.test_secret.s.value }
resource "test_thing" "uses" { name = data.test_lookup.d.result }
resource "test_thing" "a" {"#,
    );
    let mut world = world(&config);
    assert_eq!(summaries(&world.apply()), "");
    expect![[r#"
        #1 configure token=null region=west-w
        #1 lookup d
        #1 plan west
        #1 end
        #2 configure token=null region=east-e
        #2 plan east
        #2 validate s
        #2 open s
        #2 close s
        #2 end
        #3 configure token=canary-of-s region=null
        #3 plan found-d
        #3 end
        #4 configure token=null region=east-e
        #4 plan east
        #4 create east
        #4 validate s
        #4 open s
        #4 close s
        #4 end
        #5 configure token=null region=west-w
        #5 plan west
        #5 create west
        #5 end
        #6 configure token=canary-of-s region=null
        #6 plan found-d
        #6 create found-d
        #6 end"#]]
    .assert_eq(&configured(&world));
    expect![[r#"
        data.test_lookup.d: provider["registry.opentofu.org/hashicorp/test"].by_region["west"]
        test_thing.a["east"]: provider["registry.opentofu.org/hashicorp/test"].by_region["east"]
        test_thing.a["west"]: provider["registry.opentofu.org/hashicorp/test"].by_region["west"]
        test_thing.uses: provider["registry.opentofu.org/hashicorp/test"]
    "#]]
    .assert_eq(&providers(&world));
}

#[test]
fn unusable_keys_are_refused() {
    let mut shown = String::new();
    for key in ["sensitive(each.key)", "test_thing.other.id", "null", "[1]", "\"north\"", "1 == 1"]
    {
        let config = CONFIG.replace("[each.key]\n", &format!("[{key}]\n"))
            + "resource \"test_thing\" \"other\" {\n  provider = test.by_region[\"west\"]\n  name = \"o\"\n}\n";
        let planned = world(&config).plan();
        shown += &format!("{key}\n{}", summaries(&planned.diagnostics));
        shown += &format!("{}\n", planned.diagnostics[0].detail);
    }
    expect![[r#"
        sensitive(each.key)
        error: Invalid provider instance key
        A provider instance key must not be derived from a sensitive value.
        test_thing.other.id
        error: Invalid provider instance key
        The provider instance key depends on values that are known only after apply, so no provider can plan the object. Use values that are known before, such as each.key or variables.
        null
        error: Invalid provider instance key
        A provider instance key must not be null.
        [1]
        error: Invalid provider instance key
        The given instance key is unsuitable: string required.
        "north"
        error: Provider instance not present
        error: Provider instance not present
        test_thing.a["east"] needs the provider instance provider["registry.opentofu.org/hashicorp/test"].by_region["north"], and the for_each of the provider configuration does not have this key. If the configuration chooses the key, correct it. If the element was removed, add it again until the object is destroyed, and remove it afterwards.

        This happens if a resource, or the module around it, and its provider use the same collection in for_each: an element must leave the collection of the resource first, and the one of the provider only after the next apply.
        1 == 1
        error: Provider instance not present
        error: Provider instance not present
        test_thing.a["east"] needs the provider instance provider["registry.opentofu.org/hashicorp/test"].by_region["true"], and the for_each of the provider configuration does not have this key. If the configuration chooses the key, correct it. If the element was removed, add it again until the object is destroyed, and remove it afterwards.

        This happens if a resource, or the module around it, and its provider use the same collection in for_each: an element must leave the collection of the resource first, and the one of the provider only after the next apply.
    "#]].assert_eq(&shown);
}

#[test]
fn unusable_for_each_is_refused() {
    let mut shown = String::new();
    for value in ["sensitive({ a = 1 })", "test_thing.other.id", "null", "[\"a\"]"] {
        let config = CONFIG.replace("var.regions", value).replace("${each.value}", "")
            + "resource \"test_thing\" \"other\" { name = \"o\" }\n";
        shown += &format!("{value}\n{}", summaries(&world(&config).plan().diagnostics));
    }
    expect![[r#"
        sensitive({ a = 1 })
        error: Invalid for_each argument
        test_thing.other.id
        error: Invalid for_each argument
        null
        error: Invalid for_each argument
        ["a"]
        error: Invalid for_each argument
    "#]]
    .assert_eq(&shown);
}

#[test]
fn ephemeral_configuration_of_an_instance_is_in_its_process_only() {
    let config = r#"
variable "token" { ephemeral = true }
provider "test" {
  alias    = "by"
  for_each = toset(["a", "b"])
  token    = each.key == "a" ? var.token : "plain"
}
resource "test_thing" "x" {
  for_each = toset(["a", "b"])
  provider = test.by[each.key]
  name     = each.key
}
"#;
    let mut world = world(config).watch();
    world.set("token", "canary-token");
    assert_eq!(summaries(&world.plan().diagnostics), "");
    expect![[r#"
        #1 configure token=canary-token region=null
        #1 plan a
        #2 configure token=plain region=null
        #2 plan b"#]]
    .assert_eq(&configured(&world));
    // Both processes are kept, because the configuration is the same.
    world.edit("main.tf", &config.replace("= each.key\n}\n", "= \"${each.key}!\"\n}\n"));
    assert_eq!(summaries(&world.plan().diagnostics), "");
    expect![[r#"
        #1 plan a!
        #2 plan b!"#]]
    .assert_eq(&configured(&world));
    world.close();
}

#[test]
fn planner_notices_another_key_and_another_instance() {
    let config = CONFIG.replace("[each.key]\n", "[local.key]\n") + "locals { key = \"east\" }\n";
    let mut world = world(&config).watch();
    assert_eq!(summaries(&world.plan().diagnostics), "");
    expect![[r#"
        #1 configure token=null region=east-e
        #1 plan east
        #1 plan west"#]]
    .assert_eq(&configured(&world));
    world.edit("main.tf", &config.replace("key = \"east\"", "key = \"west\""));
    let planned = world.plan();
    assert_eq!(summaries(&planned.diagnostics), "");
    expect![[r#"
        #2 configure token=null region=west-w
        #2 plan east
        #2 plan west"#]]
    .assert_eq(&configured(&world));
    let mut named = planned.plan.changes().map(|it| it.provider.to_string());
    assert!(named.all(|it| it.ends_with("[\"west\"]")));
    world.variables.set("regions", strings(&[("east", "e")]), engine::ValueSource::CommandLine);
    expect![[r#"
        error: Provider instance not present
        error: Provider instance not present
    "#]]
    .assert_eq(&summaries(&world.plan().diagnostics));
    world.close();
}

#[test]
fn planner_notices_another_key_of_a_module_call() {
    let config = MODULES
        .replace("[each.key]", "[local.key]")
        .replace("variable \"regions\"", "locals { key = \"east\" }\nvariable \"regions\"");
    let mut world = world(&config).watch();
    assert_eq!(summaries(&world.plan().diagnostics), "");
    let text = world.text();
    world.edit("main.tf", &text.replace("key = \"east\"", "key = \"west\""));
    let planned = world.plan();
    assert_eq!(summaries(&planned.diagnostics), "");
    let mut named = planned.plan.changes().map(|it| it.provider.to_string());
    assert!(named.all(|it| it.ends_with("[\"west\"]")));
    world.close();
}

#[test]
fn imported_object_gets_the_chosen_instance() {
    let config = CONFIG.to_owned()
        + r#"
import {
  to = test_thing.a["east"]
  id = "east"
}
"#;
    let mut world = world(&config);
    assert_eq!(summaries(&world.apply()), "");
    expect![[r#"
        #1 configure token=null region=east-e
        #1 import east
        #1 read east
        #1 plan east
        #1 end
        #2 configure token=null region=west-w
        #2 plan west
        #2 end
        #3 configure token=null region=west-w
        #3 plan west
        #3 create west
        #3 end"#]]
    .assert_eq(&configured(&world));
    expect![[r#"
        test_thing.a["east"]: provider["registry.opentofu.org/hashicorp/test"].by_region["east"]
        test_thing.a["west"]: provider["registry.opentofu.org/hashicorp/test"].by_region["west"]
    "#]]
    .assert_eq(&providers(&world));
}

#[test]
fn moved_object_keeps_its_instance_until_the_configuration_chooses_another() {
    let mut world = applied(CONFIG);
    let moved = CONFIG.replace("\"test_thing\" \"a\"", "\"test_thing\" \"b\"")
        + "moved {\n  from = test_thing.a\n  to = test_thing.b\n}\n";
    world.edit("main.tf", &moved);
    assert_eq!(summaries(&world.apply()), "");
    expect![[r#"
        #5 configure token=null region=east-e
        #5 read east
        #5 plan east
        #5 end
        #6 configure token=null region=west-w
        #6 read west
        #6 plan west
        #6 end"#]]
    .assert_eq(&configured(&world));
    expect![[r#"
        test_thing.b["east"]: provider["registry.opentofu.org/hashicorp/test"].by_region["east"]
        test_thing.b["west"]: provider["registry.opentofu.org/hashicorp/test"].by_region["west"]
    "#]]
    .assert_eq(&providers(&world));
}

#[test]
fn validation_checks_each_known_instance() {
    let config = r#"
variable "regions" {
  default = { east = "e", north = "nowhere-n", south = "nowhere-s" }
}
provider "test" {
  alias    = "by_region"
  for_each = var.regions
  region   = each.value
}
provider "test" {
  alias    = "by_name"
  for_each = toset(["nowhere", "here"])
  region   = each.key
  token    = each.value == "here" ? file("missing") : null
}
provider "test" {
  alias    = "none"
  for_each = {}
  region   = "nowhere"
}
"#;
    let world = world(config);
    let (program, environment) = (world.program(), world.environment());
    let (workspace, instances) = (Str::from("default"), world.project.provider_instances());
    let verdicts = Remembered::default();
    let found = engine::validate(&program, &environment, &workspace, &verdicts, &instances);
    let line = |it: &db::Diagnostic| {
        let at = it.location.as_ref().map(|it| program.sources.place(it)).unwrap_or_default();
        format!("{}: {} at {at}", it.address.as_deref().unwrap_or_default(), it.summary)
    };
    let found: Vec<String> = block_on(found).iter().map(line).collect();
    expect![[r#"
        provider["registry.opentofu.org/hashicorp/test"].by_name["here"]: Invalid function argument at main.tf:14
        provider["registry.opentofu.org/hashicorp/test"].by_name["nowhere"]: Invalid region at main.tf:13
        provider["registry.opentofu.org/hashicorp/test"].by_region["north"]: Invalid region at main.tf:8
        provider["registry.opentofu.org/hashicorp/test"].by_region["south"]: Invalid region at main.tf:8"#]].assert_eq(&found.join("\n"));
}
