//! Tests of `import` blocks: what is imported to which address, how it is planned, and what an apply keeps of it.

use std::fmt::Write as _;

use addr::parse_resource_instance;
use db::Diagnostic;
use expect_test::{Expect, expect};
use state::{Importing, Plan, PlanMode};

use crate::{
    moves,
    targets::targets,
    world::{World, summaries, world},
};

/// The planned actions with what is imported, and the problems with the lines that they point to.
pub(crate) fn shown(world: &World, plan: &Plan, diagnostics: &[Diagnostic]) -> String {
    let mut text = String::new();
    for change in &plan.resource_changes {
        let from = match change.change.importing.as_deref() {
            None => String::new(),
            Some(Importing::Id(id)) => format!(" from {id:?}"),
            Some(Importing::Identity(identity)) => format!(" from {identity:?}"),
        };
        let _ = writeln!(text, "{} {:?}{from}", change.object(), change.change.action);
    }
    for it in diagnostics {
        let config = world.text();
        let at = it.location.as_ref().filter(|it| &*it.path == "main.tf");
        let at = at.map(|it| config[it.range.start as usize..it.range.end as usize].trim());
        let _ = writeln!(text, "{}: {}", it.summary, at.unwrap_or("-"));
        let _ = writeln!(text, "  {}", it.detail.lines().collect::<Vec<_>>().join(" "));
    }
    text
}

/// Plans a configuration, and compares the plan and the calls of the provider.
#[track_caller]
pub(crate) fn check(config: &str, expected: Expect) -> World {
    let mut world = world(&format!("//- /main.tf\n{config}"));
    let outcome = world.plan();
    let plan = shown(&world, &outcome.plan, &outcome.diagnostics);
    let calls: String = world.calls().iter().map(|it| format!("{it}\n")).collect();
    expected.assert_eq(&format!("{plan}{calls}"));
    world
}

#[test]
fn imported_object_is_read_and_planned() {
    check(
        r#"
resource "test_thing" "same" { name = "same" }
resource "test_thing" "updated" { name = "new" }
resource "test_thing" "replaced" {
  name = "moves"
  zone = "b"
}
import {
  to = test_thing.same
  id = "same"
}
import {
  to = test_thing.updated
  id = "old"
}
import {
  to = test_thing.replaced
  id = "moves/a"
}
"#,
        expect![[r#"
            test_thing.replaced DeleteThenCreate from "moves/a"
            test_thing.same NoOp from "same"
            test_thing.updated Update from "old"
            #1 configure token=null region=null
            #1 import moves/a
            #1 read moves
            #1 plan moves
            #1 plan moves
            #1 import same
            #1 read same
            #1 plan same
            #1 import old
            #1 read old
            #1 plan new
            #1 end
        "#]],
    );
}

#[test]
fn apply_takes_imported_objects_into_the_state() {
    let mut world = world(
        r#"
resource "test_thing" "a" { name = "a" }
resource "test_thing" "b" { name = "b" }
output "id" { value = test_thing.a.id }
import {
  to = test_thing.a
  id = "a"
}
import {
  to = test_thing.b
  id = "c"
}
"#,
    );
    world.journals = true;
    assert_eq!(summaries(&world.apply()), "");
    expect![[r#"
        test_thing.a: Preparing import... [id=a]
        test_thing.a: Refreshing state...
        test_thing.b: Preparing import... [id=c]
        test_thing.b: Refreshing state...
        Plan: 2 imported, 0 added, 1 changed, 0 destroyed
        test_thing.a: Importing...
        test_thing.a: Import complete
        test_thing.b: Importing...
        test_thing.b: Import complete
        test_thing.b: Modifying...
        test_thing.b: Modifying complete [id=id-of-c]
        Apply: 2 imported, 0 added, 1 changed, 0 destroyed
    "#]]
    .assert_eq(&world.log());
    let calls: String = world.calls().iter().map(|it| format!("{it}\n")).collect();
    expect![[r#"
        #1 configure token=null region=null
        #1 import a
        #1 read a
        #1 plan a
        #1 import c
        #1 read c
        #1 plan b
        #1 end
        journal: test_thing.a is Ready
        journal: test_thing.b is Ready
        journal: durable
        #2 configure token=null region=null
        #2 plan b
        journal: intent 1 Update test_thing.b id=id-of-c
        journal: durable
        #2 update b
        journal: test_thing.b is Ready answers 1
        journal: durable
        #2 end
    "#]]
    .assert_eq(&calls);
    assert_eq!(moves::stored(&world), ["test_thing.a", "test_thing.b"]);
    // The blocks have no effect any more.
    let planned = world.plan();
    assert!(!planned.plan.is_applyable);
    let calls: Vec<String> = world.calls().into_iter().filter(|it| it.contains("import")).collect();
    assert!(calls.is_empty(), "{calls:?}");
}

#[test]
fn plan_with_only_an_import_is_applyable() {
    let mut world = world(
        "resource \"test_thing\" \"a\" { name = \"a\" }\nimport {\n  to = test_thing.a\n  id = \"a\"\n}\n",
    );
    let planned = world.plan();
    assert!(planned.plan.is_applyable);
    let address = parse_resource_instance("test_thing.a").expect("an address");
    assert!(planned.refreshed.current(&address).is_some());
}

#[test]
fn imports_may_be_repeated_and_go_to_modules() {
    let mut world = world(
        r#"
//- /main.tf
variable "region" { default = "eu" }
locals { ids = { x = "x-id", y = "y-id" } }
resource "test_thing" "each" {
  for_each = local.ids
  name     = each.value
}
resource "test_thing" "counted" {
  count = 2
  name  = "c${count.index}"
}
module "m" {
  source   = "./m"
  for_each = toset(["a", "b"])
}
import {
  for_each = local.ids
  to       = test_thing.each[each.key]
  id       = each.value
}
import {
  for_each = ["c0", "c1"]
  to       = test_thing.counted[each.key]
  id       = each.value
}
import {
  for_each = toset(["a", "b"])
  to       = module.m[each.value].test_thing.in[0]
  id       = "${var.region}-${each.key}"
}
//- /m/main.tf
resource "test_thing" "in" {
  count = 1
  name  = "in"
}
"#,
    );
    let outcome = world.plan();
    expect![[r#"
        test_thing.counted[0] NoOp from "c0"
        test_thing.counted[1] NoOp from "c1"
        test_thing.each["x"] NoOp from "x-id"
        test_thing.each["y"] NoOp from "y-id"
        module.m["a"].test_thing.in[0] Update from "eu-a"
        module.m["b"].test_thing.in[0] Update from "eu-b"
    "#]]
    .assert_eq(&shown(&world, &outcome.plan, &outcome.diagnostics));
}

#[test]
fn id_may_come_from_data_sources_and_known_attributes() {
    check(
        r#"
data "test_lookup" "l" { name = "n" }
resource "test_thing" "first" { name = "first" }
resource "test_thing" "a" { name = "found-n" }
resource "test_thing" "b" { name = "first" }
import {
  to = test_thing.a
  id = data.test_lookup.l.result
}
import {
  to = test_thing.b
  id = test_thing.first.name
}
"#,
        expect![[r#"
            test_thing.a NoOp from "found-n"
            test_thing.b NoOp from "first"
            test_thing.first Create
            #1 configure token=null region=null
            #1 lookup n
            #1 plan first
            #1 import found-n
            #1 read found-n
            #1 plan found-n
            #1 import first
            #1 read first
            #1 plan first
            #1 end
        "#]],
    );
}

#[test]
fn import_by_identity_asks_the_provider_with_it() {
    check(
        r#"
resource "test_thing" "a" { name = "a" }
import {
  to       = test_thing.a
  identity = { id = "a" }
}
"#,
        expect![[r#"
            test_thing.a NoOp from {"id" = "a"}
            #1 configure token=null region=null
            #1 import-identity a
            #1 read a
            #1 plan a
            #1 end
        "#]],
    );
    check(
        r#"
resource "terraform_data" "a" {}
import {
  to       = terraform_data.a
  identity = { id = "a" }
}
"#,
        expect![[r#"
            Unable to determine identity schema for import identity: { id = "a" }
              The provider has no identity for the resource type "terraform_data", so terraform_data.a cannot be imported by its identity. Use the argument "id".
        "#]],
    );
    check(
        r#"
resource "test_thing" "a" { name = "a" }
import {
  to       = test_thing.a
  identity = { other = 1 }
}
"#,
        expect![[r#"
            Invalid import identity argument: { other = 1 }
              The import identity is unsuitable: attribute "id" is required.
        "#]],
    );
}

#[test]
fn object_in_the_state_is_not_imported() {
    let mut world = world("resource \"test_thing\" \"a\" { name = \"a\" }\n");
    assert_eq!(summaries(&world.apply()), "");
    world.calls();
    world.edit(
        "main.tf",
        "resource \"test_thing\" \"b\" { name = \"a\" }\nmoved {\n  from = test_thing.a\n  to = \
         test_thing.b\n}\nimport {\n  to = test_thing.b\n  id = \"other\"\n}\n",
    );
    let outcome = world.plan();
    expect![[r#"
        test_thing.b NoOp
    "#]]
    .assert_eq(&shown(&world, &outcome.plan, &outcome.diagnostics));
    assert!(!world.calls().iter().any(|it| it.contains("import")));
}

#[test]
fn removed_object_may_be_imported_to_another_address() {
    let mut world = world("resource \"test_thing\" \"a\" { name = \"a\" }\n");
    assert_eq!(summaries(&world.apply()), "");
    world.edit(
        "main.tf",
        "resource \"test_thing\" \"b\" { name = \"a\" }\nremoved {\n  from = test_thing.a\n  lifecycle { \
         destroy = false }\n}\nimport {\n  to = test_thing.b\n  id = \"a\"\n}\n",
    );
    let outcome = world.plan();
    expect![[r#"
        test_thing.a Forget
        test_thing.b NoOp from "a"
        Resource will be removed from the state: -
          After this plan is applied, the resource test_thing.a will not be managed anymore by Mayfly.  In case you want to manage the resource again, you will have to import it.
    "#]].assert_eq(&shown(&world, &outcome.plan, &outcome.diagnostics));
    assert_eq!(summaries(&world.apply()), "");
    assert_eq!(moves::stored(&world), ["test_thing.b"]);
}

pub(crate) const ONE: &str = r#"
resource "test_thing" "a" { name = "a" }
import {
  to = test_thing.a
  id = "strange"
}
"#;

#[test]
fn destroy_plan_and_plan_without_refresh() {
    let mut world = world(ONE);
    world.mode = PlanMode::Destroy;
    let outcome = world.plan();
    assert_eq!(shown(&world, &outcome.plan, &outcome.diagnostics), "");
    assert_eq!(world.calls(), Vec::<String>::new());
    world.mode = PlanMode::Normal;
    world.refresh = false;
    world.plan();
    let calls: String = world.calls().iter().map(|it| format!("{it}\n")).collect();
    // An imported object is read in any case.
    expect![[r#"
        #1 configure token=null region=null
        #1 import strange
        #1 read strange
        #1 plan a
        #1 end
    "#]]
    .assert_eq(&calls);
}

#[test]
fn conditions_and_checks_see_the_imported_object() {
    check(
        r#"
resource "test_thing" "a" {
  name = "a"
  lifecycle {
    precondition {
      condition     = test_thing.b.id == "id-of-b"
      error_message = "Not imported."
    }
    postcondition {
      condition     = self.id != "id-of-a"
      error_message = "Imported."
    }
  }
}
resource "test_thing" "b" { name = "b" }
check "c" {
  assert {
    condition     = test_thing.b.id != "id-of-b"
    error_message = "Imported, too."
  }
}
import {
  to = test_thing.a
  id = "a"
}
import {
  to = test_thing.b
  id = "b"
}
"#,
        expect![[r#"
            test_thing.a NoOp from "a"
            test_thing.b NoOp from "b"
            Check block assertion failed: test_thing.b.id != "id-of-b"
              Imported, too.
            Resource postcondition failed: self.id != "id-of-a"
              Imported.
            #1 configure token=null region=null
            #1 import b
            #1 read b
            #1 plan b
            #1 import a
            #1 read a
            #1 plan a
            #1 end
        "#]],
    );
}

#[test]
fn sensitive_configuration_does_not_change_an_imported_object() {
    check(
        r#"
variable "secret" {
  default   = "hunter2"
  sensitive = true
}
resource "test_thing" "a" { name = var.secret }
import {
  to = test_thing.a
  id = "hunter2"
}
"#,
        expect![[r#"
            test_thing.a NoOp from "hunter2"
            #1 configure token=null region=null
            #1 import hunter2
            #1 read hunter2
            #1 plan hunter2
            #1 end
        "#]],
    );
}

#[test]
fn imported_object_depends_on_the_sources_of_its_id() {
    let mut world = world(
        r#"
//- /main.tf
resource "test_thing" "first" { name = "first" }
resource "test_thing" "a" { name = "first" }
module "m" { source = "./m" }
import {
  to = test_thing.a
  id = test_thing.first.name
}
import {
  to = module.m.test_thing.in
  id = test_thing.first.name
}
//- /m/main.tf
resource "test_thing" "in" { name = "first" }
"#,
    );
    assert_eq!(summaries(&world.apply()), "");
    for address in ["test_thing.a", "module.m.test_thing.in"] {
        let address = parse_resource_instance(address).expect("an address");
        let object = world.state.current(&address).expect("imported");
        let dependencies: Vec<String> =
            object.dependencies.iter().map(ToString::to_string).collect();
        assert_eq!(dependencies, ["test_thing.first"]);
    }
}

#[test]
fn watch_imports_again_only_if_the_import_changes() {
    let config = |name: &str, id: &str, more: &str| {
        format!(
            "locals {{ id = \"{id}\" }}\nresource \"test_thing\" \"a\" {{ name = \"{name}\" }}\nimport {{\n  \
             to = test_thing.a\n  id = local.id\n}}\n{more}"
        )
    };
    let mut world = world(&config("a", "a", "")).watch();
    let mut log = String::new();
    let other = "resource \"test_thing\" \"b\" { name = \"b\" }\n";
    let steps = [
        ("start", config("a", "a", "")),
        ("same", config("a", "a", "# a comment\n")),
        ("another resource", config("a", "a", other)),
        ("another argument", config("b", "a", other)),
        ("another id", config("b", "c", other)),
        ("no import", "resource \"test_thing\" \"a\" { name = \"b\" }\n".to_owned()),
        ("import", config("b", "c", "")),
    ];
    for (step, text) in steps {
        world.edit("main.tf", &text);
        let outcome = world.plan();
        let _ = writeln!(log, "{step}:\n{}", shown(&world, &outcome.plan, &outcome.diagnostics));
        for call in world.calls() {
            let _ = writeln!(log, "  {call}");
        }
    }
    expect![[r#"
        start:
        test_thing.a NoOp from "a"

          #1 configure token=null region=null
          #1 import a
          #1 read a
          #1 plan a
        same:
        test_thing.a NoOp from "a"

        another resource:
        test_thing.a NoOp from "a"
        test_thing.b Create

          #1 plan b
        another argument:
        test_thing.a Update from "a"
        test_thing.b Create

          #1 plan b
        another id:
        test_thing.a Update from "c"
        test_thing.b Create

          #1 import c
          #1 read c
          #1 plan b
        no import:
        test_thing.a Create

          #1 plan b
        import:
        test_thing.a Update from "c"

          #1 import c
          #1 read c
          #1 plan b
    "#]]
    .assert_eq(&log);
}

#[test]
fn import_resolves_a_creation_with_an_unknown_result() {
    let mut world = world(ONE);
    world.with_shared(|shared| shared.silent.push("create a"));
    world.journals = true;
    let address = parse_resource_instance("test_thing.a").expect("an address");
    world.uncertain = vec![state::journal::Intent {
        number: 7,
        object: address.into(),
        action: state::journal::IntentAction::Create,
        provider: addr::ProviderConfigRef::default_in(
            addr::ModulePath::root(),
            addr::ProviderSource::default_for("test"),
        ),
        named: None,
        time: "then".into(),
    }];
    assert_eq!(summaries(&world.apply()), "");
    let calls = world.calls();
    let calls: Vec<&String> = calls.iter().filter(|it| it.contains("answers")).collect();
    expect![[r#"["journal: test_thing.a is Ready answers 7", "journal: test_thing.a is Ready answers 1"]"#]].assert_eq(&format!("{calls:?}"));
}

#[test]
fn configuration_of_an_imported_object_is_generated() {
    let mut world = world(
        r#"
provider "test" {
  alias  = "other"
  region = "eu"
}
import {
  to = test_thing.a
  id = "a/z"
}
import {
  to       = test_thing.secret
  id       = "secret"
  provider = test.other
}
"#,
    );
    world.generates = true;
    let outcome = world.plan();
    let plan = shown(&world, &outcome.plan, &outcome.diagnostics);
    let generated = outcome.plan.resource_changes.iter().map(|it| &*it.change.generated_config);
    let generated: Vec<&str> = generated.collect();
    let calls: String = world.calls().iter().map(|it| format!("{it}\n")).collect();
    expect![[r#"
        test_thing.a NoOp from "a/z"
        test_thing.secret Update from "secret"
        resource "test_thing" "a" {
          name              = "a"
          password          = null # sensitive
          secret_wo         = null # write-only
          secret_wo_version = null
          size              = 1
          tags              = null
          zone              = "z"
        }

        resource "test_thing" "secret" {
          provider          = test.other
          name              = "secret"
          password          = null # sensitive
          secret_wo         = null # write-only
          secret_wo_version = null
          size              = 1
          tags              = null
          zone              = null
        }
        #1 configure token=null region=null
        #1 import a/z
        #1 read a
        #1 plan a
        #2 configure token=null region=eu
        #2 import secret
        #2 read secret
        #2 plan secret
        #2 end
        #1 end
    "#]]
    .assert_eq(&format!("{plan}{}\n{calls}", generated.join("\n\n")));
    // With the generated configuration, there is nothing to do but the import.
    let with_config = format!("{}{}\n", world.text(), generated[0]);
    world.edit("main.tf", &with_config);
    let outcome = world.plan();
    let first = &outcome.plan.resource_changes[0];
    assert_eq!(first.change.action, state::Action::NoOp);
    assert!(first.change.importing.is_some() && first.change.generated_config.is_empty());
}

#[test]
fn targeted_plan_imports_the_dependencies_of_its_targets() {
    let config = r#"
resource "test_thing" "a" { name = "a" }
resource "test_thing" "b" {
  name = "b"
  zone = test_thing.a.name
}
resource "test_thing" "alone" { name = "alone" }
import {
  to = test_thing.a
  id = "a"
}
import {
  to = test_thing.alone
  id = test_thing.b.id
}
"#;
    let mut shown = String::new();
    for target in ["test_thing.a", "test_thing.b", "test_thing.alone"] {
        for excludes in [false, true] {
            let mut world = world(config);
            match excludes {
                true => world.excludes = targets(&[target]),
                false => world.targets = targets(&[target]),
            }
            let outcome = world.plan();
            let how = if excludes { "without" } else { "only" };
            shown += &format!("{how} {target}\n");
            for it in outcome.plan.changes() {
                let imported = if it.change.importing.is_some() { " imported" } else { "" };
                shown += &format!("  {} {:?}{imported}\n", it.addr, it.change.action);
            }
            shown += &summaries(&outcome.diagnostics);
        }
    }
    expect![[r#"
        only test_thing.a
          test_thing.a NoOp imported
        warning: Resource targeting is in effect
        without test_thing.a
        warning: Resource targeting is in effect
        only test_thing.b
          test_thing.a NoOp imported
          test_thing.b Create
        warning: Resource targeting is in effect
        without test_thing.b
          test_thing.a NoOp imported
        warning: Resource targeting is in effect
        only test_thing.alone
          test_thing.a NoOp imported
          test_thing.b Create
        warning: Resource targeting is in effect
        error: Invalid import id argument
        without test_thing.alone
          test_thing.a NoOp imported
          test_thing.b Create
        warning: Resource targeting is in effect
    "#]]
    .assert_eq(&shown);
}
