//! Tests of provider functions: the time and the number of their calls, and the use of their results.

use db::Diagnostic;
use engine::Event;
use expect_test::{Expect, expect};

use crate::world::{World, summaries, world};

const REQUIRED: &str = r#"
terraform {
  required_providers {
    test = { source = "hashicorp/test" }
  }
}
"#;

/// Compares the calls of an apply, including its plan, and the diagnostics.
#[track_caller]
fn check(fixture: &str, expected: Expect) -> World {
    let mut world = world(&format!("{REQUIRED}{fixture}"));
    let diagnostics = world.apply();
    let calls: String = world.calls().iter().map(|it| format!("{it}\n")).collect();
    let said =
        |it: &Diagnostic| format!("{}: {} [{}]\n", it.summary, it.detail, it.values.join("; "));
    let said: String = diagnostics.iter().map(said).collect();
    expected.assert_eq(&format!("{calls}---\n{said}"));
    world
}

fn output(world: &World, name: &str) -> String {
    world.state.outputs.get(name).map_or_else(|| "none".to_owned(), |it| format!("{:?}", it.value))
}

#[test]
fn equal_function_calls_are_made_once_by_an_unconfigured_provider() {
    let world = check(
        r#"
        provider "test" { region = provider::test::joined("r") }
        locals { all = [for it in ["a", "b", "a"] : provider::test::joined(it, "x")] }
        output "all" { value = local.all }
        output "again" { value = provider::test::joined("a", "x") }
        "#,
        expect![[r#"
            #1 joined a x
            #1 joined b x
            #1 end
            #2 joined a x
            #2 joined b x
            #2 end
            ---
        "#]],
    );
    assert_eq!(output(&world, "all"), r#"["a+x", "b+x", "a+x"]"#);
}

#[test]
fn nested_function_calls_run_inner_first() {
    let world = check(
        r#"output "o" { value = provider::test::joined(provider::test::joined("a", "b"), "c") }"#,
        expect![[r#"
            #1 joined a b
            #1 joined a+b c
            #1 end
            #2 joined a b
            #2 joined a+b c
            #2 end
            ---
        "#]],
    );
    assert_eq!(output(&world, "o"), r#""a+b+c""#);
}

#[test]
fn provider_functions_can_be_called_in_every_expression() {
    check(
        r#"
        variable "v" {
          default = "v"
          validation {
            condition     = provider::test::joined(var.v) == "v"
            error_message = "no ${provider::test::joined("message")}"
          }
        }
        provider "test" { region = provider::test::joined("region") }
        ephemeral "test_secret" "s" { name = provider::test::joined("secret") }
        data "test_lookup" "d" { name = provider::test::joined("data") }
        resource "test_thing" "a" {
          for_each  = toset([provider::test::joined("key")])
          name      = provider::test::joined("thing", each.key)
          secret_wo = ephemeral.test_secret.s.value
          lifecycle {
            prevent_destroy = provider::test::joined("x") != "x"
            precondition {
              condition     = provider::test::joined("before") == "before"
              error_message = "before"
            }
            postcondition {
              condition     = provider::test::joined(self.id) != ""
              error_message = "after"
            }
          }
          provisioner "local-exec" { command = provider::test::joined("echo") }
        }
        check "c" {
          assert {
            condition     = provider::test::joined("check") == "no"
            error_message = "is ${provider::test::joined("check")}"
          }
        }
        output "o" {
          value = data.test_lookup.d.result
          precondition {
            condition     = provider::test::joined("output") == "output"
            error_message = "output"
          }
        }
        "#,
        expect![[r#"
            #1 joined v
            #1 joined key
            #1 joined check
            #1 joined region
            #1 joined secret
            #2 configure token=null region=region
            #2 validate secret
            #2 open secret
            #1 joined data
            #2 lookup data
            #1 joined before
            #1 joined thing key
            #2 plan thing+key
            #1 joined x
            #1 joined output
            #2 close secret
            #2 end
            #1 end
            #3 joined v
            #3 joined key
            #3 joined check
            #3 joined output
            #3 joined region
            #3 joined secret
            #4 configure token=null region=region
            #4 validate secret
            #4 open secret
            #3 joined before
            #3 joined thing key
            #4 plan thing+key
            #4 create thing+key
            #4 got secret=canary-of-secret
            #3 joined echo
            #3 joined id1
            #4 close secret
            #4 end
            #3 end
            ---
            Check block assertion failed: is check []
        "#]],
    );
}

#[test]
fn function_call_with_unknown_argument_waits_for_apply() {
    check(
        r#"
        resource "test_thing" "a" { name = "a" }
        output "o" { value = provider::test::joined(test_thing.a.id) }
        "#,
        expect![[r#"
            #1 configure token=null region=null
            #1 plan a
            #1 end
            #2 configure token=null region=null
            #2 plan a
            #2 create a
            #3 joined id1
            #2 end
            #3 end
            ---
        "#]],
    );
}

#[test]
fn provider_function_errors_name_their_argument() {
    check(
        r#"
        output "at" { value = provider::test::joined("a", "bad") }
        output "call" { value = provider::test::failing("bad") }
        output "tried" { value = try(provider::test::joined("bad"), "else") }
        "#,
        expect![[r##"
            #1 joined a bad
            #1 failing bad
            #1 joined bad
            #1 end
            ---
            Invalid function argument: Invalid value for "rest" parameter: bad is of no use. [while calling provider::test::joined(first, rest...)]
            Error in function call: Call to function "provider::test::failing" failed: bad is of no use. [while calling provider::test::failing(first, rest...)]
        "##]],
    );
}

#[test]
fn provider_function_errors_about_secrets_are_hidden() {
    let world = check(
        r#"
        variable "s" {
          default   = "bad hush"
          sensitive = true
        }
        output "o" {
          value     = provider::test::joined(var.s)
          sensitive = true
        }
        output "e" {
          value     = provider::test::joined("a", upper(var.s), lower(var.s))
          sensitive = true
        }
        "#,
        expect![[r##"
            #1 joined a BAD HUSH bad hush
            #1 joined bad hush
            #1 end
            ---
            Invalid function argument: Call to function "provider::test::joined" failed. The function's error message is not shown, because some of its arguments are secret. [while calling provider::test::joined(first, rest...); var.s has a sensitive value]
            Invalid function argument: Call to function "provider::test::joined" failed. The function's error message is not shown, because some of its arguments are secret. [while calling provider::test::joined(first, rest...); var.s has a sensitive value]
        "##]],
    );
    assert!(!world.log().contains("hush"));
}

#[test]
fn function_result_has_the_marks_of_its_arguments() {
    let world = check(
        r#"
        variable "s" {
          default   = "hush"
          sensitive = true
        }
        output "o" { value = provider::test::joined(var.s) }
        "#,
        expect![[r#"
            #1 joined hush
            #1 end
            ---
            Output refers to sensitive values: To reduce the risk of accidentally exporting sensitive data that was intended to be only internal, Mayfly requires that any root module output containing sensitive data be explicitly marked as sensitive, to confirm your intent.

            If you do intend to export this data, annotate the output value as sensitive by adding the following argument:
                sensitive = true []
        "#]],
    );
    assert_eq!(output(&world, "o"), "none");
}

#[test]
fn conditions_that_call_functions_are_recorded_once() {
    let mut world = world(&format!(
        r#"{REQUIRED}
        check "c" {{
          assert {{
            condition     = false
            error_message = "first"
          }}
          assert {{
            condition     = provider::test::joined("a") == "b"
            error_message = "second"
          }}
        }}
        "#
    ));
    let plan = world.plan();
    let messages: Vec<String> = plan
        .plan
        .checks
        .iter()
        .flat_map(|it| &it.objects)
        .flat_map(|it| it.failure_messages.clone())
        .collect();
    assert_eq!(messages, ["first", "second"]);
    let events = world.events.lock().expect("not poisoned");
    let told = events.iter().filter(|it| matches!(it, Event::Diagnostic(_))).count();
    assert_eq!(told, 2, "each is told of once");
}

#[test]
fn redactor_learns_secret_arguments_before_the_function_call() {
    let world = check(
        r#"
        variable "e" {
          default   = "bad hushed"
          ephemeral = true
        }
        check "never" {
          assert {
            condition     = provider::test::joined(replace(var.e, "h", "j")) == ""
            error_message = "no"
          }
        }
        "#,
        expect![[r##"
            #1 joined bad jusjed
            #1 end
            ---
            Invalid function argument: Call to function "provider::test::joined" failed. The function's error message is not shown, because some of its arguments are secret. [while calling provider::test::joined(first, rest...); var.e has an ephemeral value]
        "##]],
    );
    assert!(!world.redactor.redact("say bad jusjed").contains("jusjed"));
}

#[test]
fn watch_calls_only_functions_with_changed_arguments() {
    let text = |name: &str| {
        format!(
            r#"{REQUIRED}
            locals {{
              a = provider::test::joined("a")
              b = provider::test::joined("{name}")
            }}
            resource "test_thing" "a" {{ name = local.a }}
            resource "test_thing" "b" {{ name = local.b }}
            "#
        )
    };
    let mut world = world(&text("b")).watch();
    assert_eq!(summaries(&world.plan().diagnostics), "");
    world.calls();
    world.edit("main.tf", &text("c"));
    assert_eq!(summaries(&world.plan().diagnostics), "");
    expect![[r#"
        #1 joined c
        #2 plan c"#]]
    .assert_eq(&world.calls().join("\n"));
}
