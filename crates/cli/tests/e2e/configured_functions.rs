//! Functions that a provider offers once it is configured, with a plugin as a real process: in every command that
//! evaluates expressions, and beside `tofu`.

use std::path::PathBuf;

use crate::{
    bench::Bench,
    tofu::{Program, both_streams, programs},
};

/// The executable of `examples/terraform-provider-phrases.rs`, which cargo builds with the tests.
pub(crate) fn plugin() -> PathBuf {
    let mut path = std::env::current_exe().expect("a test has an executable");
    path.pop();
    if path.ends_with("deps") {
        path.pop();
    }
    path.join("examples/terraform-provider-phrases")
}

const REQUIRED: &str = r#"
terraform {
  required_providers {
    phrases = { source = "mayfly/phrases" }
  }
}
"#;

const MAIN: &str = r#"
provider "phrases" {
  phrases = { hello = "Hello" }
}
provider "phrases" {
  alias   = "night"
  phrases = { hello = "Good night", sleep = "Sleep well" }
}
resource "terraform_data" "late" {
  input = "Later"
}
provider "phrases" {
  alias   = "late"
  phrases = { hello = terraform_data.late.output }
}
module "m" {
  source    = "./m"
  providers = { phrases = phrases.night }
  name      = provider::phrases::night::sleep("argument")
}
resource "terraform_data" "user" {
  input = provider::phrases::late::hello("resource")
}
output "default" {
  value = provider::phrases::hello("a")
}
output "alias" {
  value = provider::phrases::night::hello("a")
}
output "schema" {
  value = [provider::phrases::shout("a"), provider::phrases::night::shout("b")]
}
output "module" {
  value = module.m.all
}
output "late" {
  value = terraform_data.user.output
}
"#;

const CHILD: &str = r#"
terraform {
  required_providers {
    phrases = { source = "mayfly/phrases" }
  }
}
variable "name" {}
output "all" {
  value = [provider::phrases::sleep("child"), var.name]
}
"#;

/// A bench with the plugin in a directory of plugins, initialized for a program.
fn bench(program: &Program, main: &str) -> Bench {
    let bench = Bench::with_main(&format!("{REQUIRED}{main}"));
    bench.write("m/main.tf", CHILD);
    let platform = packages::Platform::current();
    let folder = format!("plugins/registry.opentofu.org/mayfly/phrases/1.0.0/{platform}");
    let folder = bench.path(&folder);
    std::fs::create_dir_all(&folder).expect("can be made");
    let link = folder.join("terraform-provider-phrases_v1.0.0");
    std::os::unix::fs::symlink(plugin(), link).expect("can be made");
    program.run(&bench, ".", ["init", "-plugin-dir=plugins"]).succeeds();
    bench
}

#[test]
fn functions_of_configurations_give_the_results_of_tofu() {
    let mut said = Vec::new();
    for program in programs() {
        let bench = bench(&program, MAIN);
        let run = |arguments: &[&str]| program.run(&bench, ".", arguments).succeeds();
        run(&["validate"]);
        // Before this, the configuration `late` is unknown, and `tofu` finds no functions in it.
        run(&["apply", "-auto-approve", "-target=terraform_data.late"]).shows(&["1 added"]);
        run(&["apply", "-auto-approve"]).shows(&["1 added"]);
        said.push((program.name(), both_streams(&run(&["output", "-json"]))));
        run(&["plan", "-detailed-exitcode"]);
        run(&["destroy", "-auto-approve"]);
        bench.assert_no_orphans(".");
    }
    for pair in said.windows(2) {
        assert_eq!(pair[0].1, pair[1].1, "{} and {}", pair[0].0, pair[1].0);
    }
    let outputs = &said[0].1.0;
    for part in ["Hello, a", "Good night, a", "\"A\"", "\"B\"", "Sleep well, child", "Later, res"] {
        assert!(outputs.contains(part), "{part}: {outputs}");
    }
}

#[test]
fn unknown_configuration_gives_an_unknown_result_until_the_apply() {
    let bench = bench(&Program::Mayfly, MAIN);
    bench.mayfly(".", ["plan"]).succeeds().shows(&["Plan: 2 to add", "(known after apply)"]);
    bench.mayfly(".", ["apply", "-auto-approve"]).succeeds().shows(&["late = \"Later, resource\""]);
}

#[test]
fn function_that_the_configuration_lacks_is_reported_as_in_tofu() {
    let main = r#"
provider "phrases" {
  phrases = { hello = "Hello" }
}
output "o" {
  value = provider::phrases::helo("a")
}
"#;
    for program in programs() {
        let bench = bench(&program, main);
        program.run(&bench, ".", ["validate"]).succeeds();
        program.run(&bench, ".", ["plan"]).fails().shows(&[
            "Error: Function not found in provider",
            "on main.tf line 12",
            "Function \"provider::phrases::helo\" was not registered by provider",
        ]);
    }
}

#[test]
fn console_computes_only_functions_of_the_schema() {
    let bench = bench(&Program::Mayfly, MAIN);
    let ask = |text: &str| bench.mayfly(".", ["console"]).input(text).succeeds().out;
    assert_eq!(ask("provider::phrases::hello(\"a\")\n"), "(known after apply)\n");
    assert_eq!(ask("provider::phrases::night::hello(\"a\")\n"), "(known after apply)\n");
    assert_eq!(ask("provider::phrases::shout(\"a\")\n"), "\"A\"\n");
    assert_eq!(ask("provider::phrases::night::shout(\"a\")\n"), "\"A\"\n");
}

#[test]
fn validate_calls_functions_of_the_schema_as_tofu_does() {
    let main = r#"
provider "phrases" {
  alias   = "night"
  phrases = { hello = "Good night" }
}
output "alias" {
  value = provider::phrases::night::shout("bad alias")
}
output "configured" {
  value = provider::phrases::night::hello("bad, but nothing is configured yet")
}
"#;
    for program in programs() {
        let bench = bench(&program, main);
        let ended = program.run(&bench, ".", ["validate"]).fails();
        ended.shows(&["on main.tf line 13", "bad alias is no text"]);
        ended.lacks(&["nothing is configured yet"]);
    }
}

#[test]
fn tests_call_functions_of_the_configurations_of_their_runs() {
    let bench = bench(&Program::Mayfly, MAIN);
    bench.write(
        "tests/a.tftest.hcl",
        r#"run "r" {
  assert {
    condition     = output.late == "Later, resource"
    error_message = "late: ${output.late}"
  }
  assert {
    condition     = provider::phrases::night::sleep(output.default) == "Sleep well, Hello, a"
    error_message = "no sleep"
  }
}
"#,
    );
    bench.mayfly(".", ["test"]).succeeds().shows(&["1 passed, 0 failed"]);
}

#[test]
fn secret_arguments_of_a_configuration_are_not_shown() {
    let main = r#"
variable "s" {
  sensitive = true
}
provider "phrases" {
  phrases = { hello = "Hello" }
}
resource "terraform_data" "a" {
  input = provider::phrases::hello(var.s)
}
"#;
    let bench = bench(&Program::Mayfly, main);
    let run = |secret: &str| {
        let log = bench.path("log");
        let run = bench.mayfly(".", ["apply", "-auto-approve"]).env("TF_VAR_s", secret);
        let ended = run.env("TF_LOG", "TRACE").env("TF_LOG_PATH", &log).end();
        let log = std::fs::read_to_string(log).expect("it was written");
        // The log of a provider is redacted for ephemeral values only.
        let of_engine = log.lines().filter(|it| !it.contains("provider.mayfly/phrases: "));
        let log: Vec<&str> = of_engine.collect();
        let all = format!("{}{}{}", ended.out, ended.err, log.join("\n"));
        assert!(!all.contains(secret), "{all}");
        ended
    };
    run("canary-4711").exits(0).shows(&["(sensitive value)"]);
    run("bad-canary-4712").exits(1).shows(&["Error: Invalid function argument"]);
}
