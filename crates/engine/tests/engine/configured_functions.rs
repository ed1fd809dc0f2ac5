//! Tests of functions that only a configured provider answers: those that its schema lacks, and calls with an alias.

use db::Diagnostic;
use expect_test::{Expect, expect};

use crate::{
    targets::targets,
    world::{World, summaries, world},
};

const REQUIRED: &str = r#"
terraform {
  required_providers {
    test = { source = "hashicorp/test" }
  }
}
"#;

/// Compares the calls of an apply, including its plan, the outputs, and the diagnostics.
#[track_caller]
fn check(fixture: &str, expected: Expect) -> World {
    let mut world = world(&format!("//- /main.tf\n{REQUIRED}{fixture}"));
    let diagnostics = world.apply();
    let text = story(&world, &diagnostics);
    expected.assert_eq(&text);
    world
}

fn story(world: &World, diagnostics: &[Diagnostic]) -> String {
    let mut text: String = world.calls().iter().map(|it| format!("{it}\n")).collect();
    for (name, output) in &world.state.outputs {
        text.push_str(&format!("{name} = {:?}\n", output.value));
    }
    for it in diagnostics {
        text.push_str(&format!("{}: {} [{}]\n", it.summary, it.detail, it.values.join("; ")));
    }
    text
}

#[test]
fn function_outside_of_the_schema_is_asked_of_the_default_configuration() {
    check(
        r#"
        provider "test" { region = "r" }
        output "o" { value = provider::test::regional("a") }
        output "again" { value = provider::test::regional("a") }
        "#,
        expect![[r##"
            #1 configure token=null region=r
            #1 regional a
            #1 end
            #2 configure token=null region=r
            #2 regional a
            #2 end
            again = "r:a"
            o = "r:a"
        "##]],
    );
}

#[test]
fn call_with_an_alias_is_asked_of_that_configuration() {
    check(
        r#"
        provider "test" { region = "none" }
        provider "test" {
          alias  = "west"
          region = "w"
        }
        provider "test" {
          alias  = "east"
          region = "e"
        }
        output "east" { value = provider::test::east::regional("a") }
        output "west" { value = provider::test::west::regional("a") }
        output "schema" { value = provider::test::west::joined("a", "b") }
        "#,
        expect![[r##"
            #1 configure token=null region=e
            #2 configure token=null region=w
            #2 joined a b
            #1 regional a
            #2 regional a
            #1 end
            #2 end
            #3 configure token=null region=e
            #4 configure token=null region=w
            #4 joined a b
            #3 regional a
            #4 regional a
            #3 end
            #4 end
            east = "e:a"
            schema = "a+b"
            west = "w:a"
        "##]],
    );
}

#[test]
fn call_waits_for_the_resources_of_the_configuration() {
    let world = check(
        r#"
        resource "test_thing" "first" { name = "first" }
        provider "test" {
          alias  = "late"
          region = test_thing.first.id
        }
        resource "test_thing" "second" { name = provider::test::late::regional("b") }
        output "schema" { value = provider::test::late::joined("c") }
        "#,
        expect![[r##"
            #1 configure token=null region=null
            #1 plan first
            #1 plan ?
            #1 end
            #2 configure token=null region=null
            #2 plan first
            #2 create first
            #3 configure token=null region=id1
            #3 regional b
            #2 plan id1:b
            #2 create id1:b
            #3 joined c
            #3 end
            #2 end
            schema = "c"
        "##]],
    );
    let objects = world.state.instances().filter_map(|it| it.instance.current.as_ref());
    let dependencies: Vec<String> =
        objects.flat_map(|it| it.dependencies.iter().map(ToString::to_string)).collect();
    assert_eq!(dependencies, ["test_thing.first"]);
}

#[test]
fn function_that_the_configured_provider_lacks_is_an_error() {
    check(
        r#"
        provider "test" { region = "r" }
        output "o" { value = provider::test::regionel("a") }
        "#,
        expect![[r##"
            #1 configure token=null region=r
            #1 end
            Function not found in provider: Function "provider::test::regionel" was not registered by provider. Did you mean "regional"? []
        "##]],
    );
}

#[test]
fn provider_without_an_answer_about_its_functions_is_reported_once() {
    let mut world = world(&format!(
        r#"{REQUIRED}
        provider "test" {{ region = "r" }}
        output "a" {{ value = provider::test::regional("a") }}
        output "b" {{ value = provider::test::regional("b") }}
        "#
    ));
    world.shared.lock().expect("not poisoned").faults.push("functions");
    let diagnostics = world.apply();
    expect![[r#"
        #1 configure token=null region=r
        #1 end
        functions failed: as told []
    "#]]
    .assert_eq(&story(&world, &diagnostics));
}

#[test]
fn modules_call_functions_of_the_configurations_that_they_get() {
    check(
        r#"
        provider "test" {
          alias  = "west"
          region = "w"
        }
        module "m" {
          source    = "./m"
          providers = { test = test.west }
          argument  = provider::test::west::regional("argument")
        }
        output "o" { value = module.m.all }
//- /m/main.tf
        terraform {
          required_providers {
            test = { source = "hashicorp/test" }
          }
        }
        variable "argument" {}
        output "all" { value = [provider::test::regional("inside"), var.argument] }
        "#,
        expect![[r##"
            #1 configure token=null region=w
            #1 regional argument
            #1 regional inside
            #1 end
            #2 configure token=null region=w
            #2 regional argument
            #2 regional inside
            #2 end
            o = ["w:inside", "w:argument"]
        "##]],
    );
}

#[test]
fn instances_follow_from_a_function_of_a_configuration() {
    check(
        r#"
        provider "test" { region = "r" }
        resource "test_thing" "a" {
          for_each = toset([provider::test::regional("key")])
          name     = each.key
        }
        "#,
        expect![[r#"
            #1 configure token=null region=r
            #1 regional key
            #1 plan r:key
            #1 end
            #2 configure token=null region=r
            #2 regional key
            #2 plan r:key
            #2 create r:key
            #2 end
        "#]],
    );
}

#[test]
fn configuration_with_instances_answers_in_a_module_that_gets_one() {
    check(
        r#"
        provider "test" {
          alias    = "all"
          for_each = toset(["x"])
          region   = each.key
        }
        module "m" {
          source    = "./m"
          providers = { test = test.all["x"] }
        }
        output "m" { value = module.m.o }
//- /m/main.tf
        terraform {
          required_providers {
            test = { source = "hashicorp/test" }
          }
        }
        output "o" { value = provider::test::regional("inside") }
        "#,
        expect![[r##"
            #1 configure token=null region=x
            #1 regional inside
            #1 end
            #2 configure token=null region=x
            #2 regional inside
            #2 end
            m = "x:inside"
        "##]],
    );
}

#[test]
fn secret_arguments_keep_their_marks_and_stay_out_of_errors() {
    let world = check(
        r#"
        variable "s" {
          default   = "hush"
          sensitive = true
        }
        variable "e" {
          default   = "bad canary"
          ephemeral = true
        }
        provider "test" { region = "r" }
        output "plain" { value = provider::test::regional(var.s) }
        output "marked" {
          value     = provider::test::regional(var.s)
          sensitive = true
        }
        check "c" {
          assert {
            condition     = provider::test::regional(var.e) == ""
            error_message = "no"
          }
        }
        "#,
        expect![[r##"
            #1 configure token=null region=r
            #1 regional hush
            #1 regional bad canary
            #1 end
            Output refers to sensitive values: To reduce the risk of accidentally exporting sensitive data that was intended to be only internal, Mayfly requires that any root module output containing sensitive data be explicitly marked as sensitive, to confirm your intent.

            If you do intend to export this data, annotate the output value as sensitive by adding the following argument:
                sensitive = true []
            Invalid function argument: Call to function "provider::test::regional" failed. The function's error message is not shown, because some of its arguments are secret. [while calling provider::test::regional(first, rest...); var.e has an ephemeral value]
        "##]],
    );
    let log = world.log();
    assert!(!log.contains("hush") && !log.contains("canary"), "{log}");
    assert!(!world.redactor.redact("say bad canary").contains("canary"));
}

#[test]
fn ephemeral_argument_makes_the_result_of_a_configuration_ephemeral() {
    let mut world = world(&format!(
        r#"{REQUIRED}
        ephemeral "test_secret" "s" {{ name = "s" }}
        provider "test" {{
          alias  = "west"
          region = "w"
        }}
        resource "test_thing" "a" {{
          name              = "a"
          secret_wo         = provider::test::west::regional(ephemeral.test_secret.s.value)
          secret_wo_version = 1
        }}
        "#
    ));
    assert_eq!(summaries(&world.apply()), "");
    let calls = world.calls();
    assert!(calls.iter().any(|it| it.ends_with("got secret=w:canary-of-s")), "{calls:?}");
    assert!(!world.log().contains("canary"));
}

#[test]
fn watch_asks_a_changed_configuration_again() {
    let text = |region: &str| {
        format!(
            r#"{REQUIRED}
            provider "test" {{
              alias  = "west"
              region = "{region}"
            }}
            resource "test_thing" "a" {{ name = provider::test::west::regional("a") }}
            "#
        )
    };
    let mut world = world(&text("w")).watch();
    assert_eq!(summaries(&world.plan().diagnostics), "");
    world.calls();
    world.edit("main.tf", &text("v"));
    assert_eq!(summaries(&world.plan().diagnostics), "");
    expect![[r#"
        #3 configure token=null region=v
        #3 regional a
        #2 plan v:a
        #1 end"#]]
    .assert_eq(&world.calls().join("\n"));
}

#[test]
fn configuration_with_instances_cannot_be_chosen_by_a_call() {
    check(
        r#"
        provider "test" {
          alias    = "all"
          for_each = toset(["x"])
          region   = each.key
        }
        output "o" { value = provider::test::all::regional("outside") }
        "#,
        expect![[r#"
            Uninitialized function provider: The provider configuration provider["registry.opentofu.org/hashicorp/test"].all has for_each, and a call of a function cannot choose one of its instances. Pass one instance to a module in its "providers" argument, and call the function "regional" there. []
        "#]],
    );
}

#[test]
fn destroy_time_provisioner_calls_no_function_of_a_configuration() {
    let text = |when: &str, function: &str| {
        format!(
            r#"{REQUIRED}
            provider "test" {{ region = "r" }}
            provider "test" {{
              alias  = "west"
              region = "w"
            }}
            resource "test_thing" "a" {{
              name = "a"
              provisioner "local-exec" {{
                when    = {when}
                command = {function}("x")
              }}
            }}
            "#
        )
    };
    // A creation-time provisioner may call any function.
    let mut world = world(&text("create", "provider::test::west::regional"));
    assert_eq!(summaries(&world.apply()), "");
    world.mode = state::PlanMode::Destroy;
    world.calls();
    for function in ["provider::test::west::regional", "provider::test::regional"] {
        world.edit("main.tf", &text("destroy", function));
        let expected = "error: Invalid reference from destroy provisioner\n";
        assert_eq!(summaries(&world.apply()), expected);
        world.calls();
    }
    // A function of the schema needs no configuration.
    world.edit("main.tf", &text("destroy", "provider::test::joined"));
    let diagnostics = world.apply();
    expect![[r#"
        #6 configure token=null region=r
        #6 read a
        #6 plan-destroy a
        #6 end
        #7 configure token=null region=r
        #8 joined x
        #7 destroy a
        #7 end
        #8 end
    "#]]
    .assert_eq(&story(&world, &diagnostics));
}

#[test]
fn targeted_run_includes_the_configuration_that_a_call_needs() {
    let mut world = world(&format!(
        r#"{REQUIRED}
        resource "test_thing" "first" {{ name = "first" }}
        resource "test_thing" "other" {{ name = "other" }}
        provider "test" {{
          alias  = "late"
          region = test_thing.first.id
        }}
        resource "test_thing" "second" {{ name = provider::test::late::regional("b") }}
        "#
    ));
    world.targets = targets(&["test_thing.second"]);
    let diagnostics = world.apply();
    expect![[r#"
        #1 configure token=null region=null
        #1 plan first
        #1 plan ?
        #1 end
        #2 configure token=null region=null
        #2 plan first
        #2 create first
        #3 configure token=null region=id1
        #3 regional b
        #2 plan id1:b
        #2 create id1:b
        #3 end
        #2 end
        Applied changes may be incomplete: The plan was created with the -target or the -exclude option in effect, so some changes requested in the configuration may have been ignored and the output values may not be fully updated. Run the following command to verify that no other changes are pending:
            mayfly plan

        Note that the -target and -exclude options are not suitable for routine use, and are provided only for exceptional situations such as recovering from errors or mistakes, or when Mayfly specifically suggests to use it as part of an error message. []
    "#]].assert_eq(&story(&world, &diagnostics));
}

#[test]
fn configuration_that_needs_its_own_function_in_a_module_is_a_cycle() {
    let check = |root: &str, expected: Expect| {
        check(
            &format!(
                r#"{root}
//- /m/main.tf
{REQUIRED}
variable "v" {{ default = "a" }}
output "o" {{ value = provider::test::regional(var.v) }}
"#
            ),
            expected,
        );
    };
    check(
        r#"
provider "test" { region = module.m.o }
module "m" { source = "./m" }
"#,
        expect![[r#"
            Cycle: provider.test, module.m.output.o: These parts of the configuration wait for each other, so none of them can be evaluated. Remove one of the references between them. []
        "#]],
    );
    check(
        r#"
provider "test" {
  alias  = "west"
  region = module.m["a"].o
}
module "m" {
  source    = "./m"
  for_each  = toset(["a"])
  providers = { test = test.west }
}
"#,
        expect![[r#"
            Cycle: provider.test.west, module.m["a"].output.o: These parts of the configuration wait for each other, so none of them can be evaluated. Remove one of the references between them. []
        "#]],
    );
    check(
        r#"
provider "test" {
  alias  = "west"
  region = module.m.o
}
module "m" {
  source    = "./m"
  v         = provider::test::west::regional("a")
}
"#,
        expect![[r#"
            Cycle: provider.test.west, module.m.var.v, module.m.output.o: These parts of the configuration wait for each other, so none of them can be evaluated. Remove one of the references between them. []
        "#]],
    );
}
