//! The command `test`: runs, assertions, expected failures, variables, modules, and the clean-up.

use serde_json::{Value as Json, json};

use crate::{
    bench::Bench,
    tofu::{Program, programs},
};

const MAIN: &str = r#"
variable "x" {
  type    = string
  default = "default"
  validation {
    condition     = length(var.x) > 2
    error_message = "x is too short"
  }
}
resource "terraform_data" "a" {
  input = var.x
  lifecycle {
    precondition {
      condition     = var.x != "pre"
      error_message = "no pre"
    }
  }
}
check "c" {
  assert {
    condition     = var.x != "checked"
    error_message = "check failed"
  }
}
output "o" { value = terraform_data.a.output }
"#;

fn bench(test: &str) -> Bench {
    let bench = Bench::with_main(MAIN);
    bench.write("main.tftest.hcl", test);
    bench.mayfly(".", ["init", "-input=false"]).succeeds();
    bench
}

#[test]
fn runs_share_a_state_and_are_cleaned_up() {
    let bench = bench(
        r#"
        run "first" {
          assert {
            condition     = output.o == "default" && terraform_data.a.input == var.x
            error_message = "not the default"
          }
        }
        run "second" {
          command = plan
          variables { x = "other" }
          assert {
            condition     = terraform_data.a.id == run.first.o || terraform_data.a.id != null
            error_message = "not the object of the first run"
          }
        }
        "#,
    );
    let ended = bench.mayfly(".", ["test"]).succeeds();
    assert_eq!(
        ended.out,
        "main.tftest.hcl... pass\n  run \"first\"... pass\n  run \"second\"... pass\n\n\
         Success! 2 passed, 0 failed.\n"
    );
    assert!(!bench.path("terraform.tfstate").exists());
    assert!(!bench.path("errored_test.tfstate").exists());
}

#[test]
fn failed_assertion_fails_and_an_error_skips_the_rest() {
    let bench = bench(
        r#"
        run "failing" {
          assert {
            condition     = output.o == "else"
            error_message = "o is ${output.o}"
          }
        }
        run "erroneous" {
          variables { x = "q" }
        }
        run "skipped" {}
        "#,
    );
    let ended = bench.mayfly(".", ["test"]).fails();
    assert_eq!(
        ended.out,
        "main.tftest.hcl... fail\n  run \"failing\"... fail\n  run \"erroneous\"... fail\n  \
         run \"skipped\"... skip\n\nFailure! 0 passed, 2 failed, 1 skipped.\n"
    );
    for part in ["Test assertion failed", "o is default", "in run \"failing\"", "x is too short"] {
        assert!(ended.err.contains(part), "{part}: {}", ended.err);
    }
}

#[test]
fn expected_failures_pass_and_missing_ones_fail() {
    let bench = bench(
        r#"
        run "variable" {
          command = plan
          variables { x = "q" }
          expect_failures = [var.x]
        }
        run "resource" {
          command = plan
          variables { x = "pre" }
          expect_failures = [terraform_data.a]
        }
        run "check" {
          variables { x = "checked" }
          expect_failures = [check.c]
        }
        run "missing" {
          command = plan
          expect_failures = [output.o]
        }
        "#,
    );
    let ended = bench.mayfly(".", ["test"]).fails();
    ended.shows(&[
        "run \"variable\"... pass",
        "run \"resource\"... pass",
        "run \"check\"... pass",
        "run \"missing\"... fail",
        "The checkable object, output.o, was expected to report an error but did not.",
    ]);
}

#[test]
fn failed_check_and_unevaluated_assertion_fail_a_run() {
    let bench = bench(
        r#"
        run "check" {
          variables { x = "checked" }
        }
        "#,
    );
    bench.mayfly(".", ["test"]).fails().shows(&["Error: Check block assertion failed"]);
    bench.write(
        "main.tftest.hcl",
        r#"
        run "unknown" {
          command = plan
          variables { x = "pre" }
          expect_failures = [terraform_data.a]
          assert {
            condition     = terraform_data.a.input == "pre"
            error_message = "never evaluated"
          }
        }
        run "undeclared" {
          assert {
            condition     = terraform_data.nothing.id == var.nowhere
            error_message = "no such object"
          }
        }
        "#,
    );
    let ended = bench.mayfly(".", ["test"]).fails();
    ended.shows(&["run \"undeclared\"... skip", "Unknown condition run"]);
}

#[test]
fn undeclared_references_of_assertions_are_errors() {
    let bench = bench(
        r#"
        run "undeclared" {
          assert {
            condition     = terraform_data.nothing.id == var.nowhere && output.none == local.none
            error_message = "no such object"
          }
        }
        "#,
    );
    let ended = bench.mayfly(".", ["test"]).fails();
    ended.shows(&["0 passed, 1 failed", "terraform_data.nothing has", "\"nowhere\"", "\"none\""]);
}

#[test]
fn variables_of_run_file_flag_and_directory_have_precedence() {
    let bench = Bench::with_main(
        "variable \"a\" {}\nvariable \"b\" {}\nvariable \"c\" {}\nvariable \"d\" {}\n\
         output \"all\" { value = \"${var.a} ${var.b} ${var.c} ${var.d}\" }\n",
    );
    bench.write("terraform.tfvars", "a = \"root\"\nb = \"root\"\nc = \"root\"\nd = \"root\"\n");
    bench.write("tests/terraform.tfvars", "b = \"tests\"\nc = \"tests\"\nd = \"tests\"\n");
    bench.write(
        "tests/a.tftest.hcl",
        r#"
        variables {
          d     = "file ${var.a}"
          extra = "only here"
        }
        run "values" {
          command = plan
          variables { d = "run" }
          assert {
            condition     = output.all == "root tests flag run" && var.extra == "only here"
            error_message = output.all
          }
        }
        run "file" {
          command = plan
          assert {
            condition     = var.d == "file root"
            error_message = var.d
          }
        }
        "#,
    );
    bench.mayfly(".", ["test", "-var=c=flag"]).succeeds().shows(&["2 passed, 0 failed"]);
}

#[test]
fn module_of_a_run_has_its_own_state_and_outputs() {
    let bench = bench(
        r#"
        run "setup" {
          module { source = "./setup" }
        }
        run "main" {
          variables { x = run.setup.name }
          assert {
            condition     = output.o == "from-setup"
            error_message = output.o
          }
        }
        "#,
    );
    bench.write(
        "setup/main.tf",
        "output \"name\" { value = \"from-setup\" }\nresource \"terraform_data\" \"s\" {}\n",
    );
    let ended = bench.mayfly(".", ["test", "-verbose"]).succeeds();
    ended.shows(&["# terraform_data.s:", "# terraform_data.a:", "2 passed, 0 failed"]);
}

#[test]
fn json_lines_report_files_runs_and_the_summary() {
    let bench = bench(
        r#"
        run "failing" {
          assert {
            condition     = output.o == "else"
            error_message = "wrong"
          }
        }
        "#,
    );
    let lines = bench.mayfly(".", ["test", "-json"]).fails().json_lines();
    let of = |kind: &str| -> Vec<Json> {
        lines.iter().filter(|it| it["type"] == kind).map(|it| it[kind].clone()).collect()
    };
    assert_eq!(of("test_abstract"), [json!({"main.tftest.hcl": ["failing"]})]);
    assert_eq!(of("test_file"), [json!({"path": "main.tftest.hcl", "status": "fail"})]);
    let run = json!({"path": "main.tftest.hcl", "run": "failing", "status": "fail"});
    assert_eq!(of("test_run"), [run]);
    let summary = json!({"status": "fail", "passed": 0, "failed": 1, "errored": 0, "skipped": 0});
    assert_eq!(of("test_summary"), [summary]);
    let diagnostic = lines.iter().find(|it| it["type"] == "diagnostic").expect("a diagnostic");
    assert_eq!(diagnostic["@testrun"], "failing");
    assert_eq!(diagnostic["diagnostic"]["summary"], "Test assertion failed");
}

#[test]
fn filter_selects_files_and_warns_of_unknown_ones() {
    let bench = bench("run \"here\" {}\n");
    bench.write("tests/other.tftest.hcl", "run \"there\" {}\n");
    bench
        .mayfly(".", ["test", "-filter=tests/other.tftest.hcl"])
        .succeeds()
        .lacks(&["run \"here\""]);
    bench.mayfly(".", ["test", "-filter=nothing.tftest.hcl"]).succeeds().shows(&[
        "Unknown test file",
        "No tests were found",
        "0 passed, 0 failed",
    ]);
}

#[test]
fn junit_report_has_a_case_for_each_run() {
    let bench = bench(
        r#"
        run "good" {}
        run "failing" {
          assert {
            condition     = output.o == "else"
            error_message = "wrong <value>"
          }
        }
        run "erroneous" {
          variables { x = "q" }
        }
        run "skipped" {}
        "#,
    );
    bench.mayfly(".", ["test", "-junit-xml=report.xml"]).fails();
    let report = String::from_utf8(bench.read("report.xml")).expect("is text");
    for part in [
        "<testsuite name=\"main.tftest.hcl\" tests=\"4\" skipped=\"1\" failures=\"1\" errors=\"1\">",
        "<testcase name=\"good\" classname=\"main.tftest.hcl\" time=\"",
        "<failure message=\"1 of 1 assertions failed: wrong &lt;value&gt;\"><![CDATA[",
        "<error message=\"Encountered an error\"><![CDATA[",
        "Previous testcase \"erroneous\" ended in error",
    ] {
        assert!(report.contains(part), "{part}: {report}");
    }
}

#[test]
fn syntax_error_and_unknown_block_end_the_test_at_once() {
    let bench = bench("run \"a\" {\n  command = destroy\n}\nruns {}\n");
    let ended = bench.mayfly(".", ["test"]).fails();
    ended.shows(&[
        "Invalid \"command\" keyword",
        "Unsupported block type",
        "Did you mean \"run\"?",
    ]);
    ended.lacks(&["run \"a\"...", "Failure!"]);
}

#[test]
fn json_syntax_and_tofu_files_are_read() {
    let bench = bench("run \"hidden\" {}\n");
    bench.write("main.tofutest.hcl", "run \"shown\" {}\n");
    bench.write(
        "tests/j.tftest.json",
        r#"{
          "variables": {"x": "json"},
          "run": {"in_json": {
            "command": "plan",
            "assert": [{"condition": "${var.x == \"json\"}", "error_message": "${var.x}"}]
          }}
        }"#,
    );
    let ended = bench.mayfly(".", ["test"]).succeeds();
    ended.shows(&["main.tofutest.hcl... pass", "tests/j.tftest.json... pass", "run \"in_json\""]);
    ended.lacks(&["hidden"]);
}

#[test]
fn first_interrupt_finishes_the_run_and_cleans_up() {
    let bench = Bench::with_main(
        r#"
        resource "terraform_data" "a" {
          provisioner "local-exec" {
            command = "touch begun; while [ ! -e go ]; do sleep 0.05; done"
          }
        }
        "#,
    );
    bench.write("main.tftest.hcl", "run \"first\" {}\nrun \"second\" {}\n");
    bench.mayfly(".", ["init", "-input=false"]).succeeds();
    let started = bench.mayfly(".", ["test"]).start();
    started.wait_until("the provisioner runs", || bench.path("begun").exists());
    started.interrupt();
    started.wait_for("Gracefully shutting down");
    bench.write("go", "");
    let ended = started.end();
    ended.shows(&[
        "run \"first\"... pass",
        "run \"second\"... skip",
        "1 passed, 0 failed, 1 skipped",
    ]);
    assert!(!bench.path("errored_test.tfstate").exists());
}

/// Creates a secret, then waits for a file. Ephemeral values are in its arguments and in the command.
const KILLED: &str = r#"
terraform {
  required_providers {
    playground = { source = "mayfly/playground" }
  }
}
variable "password" {
  type      = string
  ephemeral = true
}
resource "playground_secret" "made" {
  name             = "made"
  value_wo         = "for ${var.password}"
  value_wo_version = 1
}
resource "terraform_data" "waits" {
  input = playground_secret.made.id
  provisioner "local-exec" {
    command     = "touch begun; while [ ! -e go ]; do sleep 0.05; done"
    environment = { PASSWORD = var.password }
  }
}
"#;

const PASSWORD: &str = "canary-of-a-killed-test";

/// Checks that a directory has files, and none of them the password.
#[track_caller]
fn assert_hidden(directory: &std::path::Path) {
    let files = std::fs::read_dir(directory).expect("is there").flatten();
    let texts = files.filter_map(|it| std::fs::read(it.path()).ok());
    let texts: Vec<String> = texts.map(|it| String::from_utf8_lossy(&it).into_owned()).collect();
    assert!(texts.iter().any(|it| it.contains("playground_secret.made")), "{texts:?}");
    assert!(!texts.iter().any(|it| it.contains(PASSWORD)), "{texts:?}");
}

#[test]
fn objects_of_a_killed_test_are_saved_by_the_next_one() {
    let bench = Bench::with_main(KILLED);
    let values = format!("variables {{\n  password = \"{PASSWORD}\"\n}}\n");
    bench.write("main.tftest.hcl", &format!("{values}run \"a\" {{}}\n"));
    bench.mayfly(".", ["init", "-input=false"]).succeeds();
    let started = bench.mayfly(".", ["test"]).start();
    started.wait_until("the provisioner runs", || bench.path("begun").exists());
    assert_hidden(&bench.path(".terraform/tests"));
    // The record of a test that is running belongs to it.
    bench.write("plan.tftest.hcl", &format!("{values}run \"b\" {{\n  command = plan\n}}\n"));
    let other = bench.mayfly(".", ["test", "-filter=plan.tftest.hcl"]).succeeds();
    assert!(!other.out.contains("killed"), "{}", other.out);
    started.signal(rustix::process::Signal::KILL);
    started.end();
    let ended = bench.mayfly(".", ["test", "-filter=plan.tftest.hcl"]).succeeds();
    ended.shows(&[
        "Warning: Objects of a killed test are left",
        "  - playground_secret.made\n  - terraform_data.waits\n",
        "mayfly destroy -state=errored_test.tfstate",
    ]);
    let records = std::fs::read_dir(bench.path(".terraform/tests")).expect("is there");
    assert_eq!(records.count(), 0, "a record is taken once");
    let left = String::from_utf8(bench.read("errored_test.tfstate")).expect("is UTF-8");
    assert!(left.contains("\"made\"") && !left.contains(PASSWORD), "{left}");
    let destroy = ["destroy", "-auto-approve", "-state=errored_test.tfstate", "-var=password=x"];
    bench.mayfly(".", destroy).succeeds().shows(&["Resources: 2 destroyed."]);
    assert_eq!(bench.ledger(".").count("deleted", "playground_secret"), 1);
}

#[test]
fn test_without_a_place_for_its_record_warns() {
    let bench = Bench::with_main("resource \"terraform_data\" \"a\" {}\n");
    bench.write("main.tftest.hcl", "run \"a\" {}\n");
    bench.mayfly(".", ["init", "-input=false"]).succeeds();
    bench.write(".terraform/tests", "a file");
    let ended = bench.mayfly(".", ["test"]).succeeds();
    ended.shows(&["run \"a\"... pass", "Warning: Test without a record"]);
}

#[test]
fn objects_that_cannot_be_destroyed_are_listed_and_saved() {
    let bench = Bench::with_main(
        r#"
        resource "terraform_data" "left" {
          provisioner "local-exec" {
            when    = destroy
            command = "exit 3"
          }
        }
        resource "terraform_data" "gone" {}
        "#,
    );
    bench.write("main.tftest.hcl", "run \"a\" {}\n");
    bench.mayfly(".", ["init", "-input=false"]).succeeds();
    let ended = bench.mayfly(".", ["test"]).succeeds();
    ended.shows(&["run \"a\"... pass"]);
    for part in ["  - terraform_data.left\n", "Writing state to file: errored_test.tfstate"] {
        assert!(ended.err.contains(part), "{part}: {}", ended.err);
    }
    let state: Json =
        serde_json::from_slice(&bench.read("errored_test.tfstate")).expect("is a state");
    let names: Vec<&Json> =
        state["resources"].as_array().expect("a list").iter().map(|it| &it["name"]).collect();
    assert_eq!(names, ["left"]);
    bench.mayfly(".", ["test", "-json"]).succeeds();
    assert!(bench.path("errored_test.2.tfstate").exists(), "the first file is kept");
}

#[test]
fn command_of_a_run_decides_applying_and_ephemeral_values_stay_hidden() {
    let bench = Bench::with_main(
        r#"
        variable "token" {
          type      = string
          ephemeral = true
        }
        variable "password" {
          type      = string
          sensitive = true
        }
        resource "terraform_data" "a" { triggers_replace = var.password }
        output "password" {
          value     = var.password
          sensitive = true
        }
        "#,
    );
    bench.write(
        "main.tftest.hcl",
        r#"
        variables {
          token    = "hunter2-token"
          password = "hunter2-password"
        }
        run "applying" {
          assert {
            condition     = terraform.applying && var.token != ""
            error_message = "not applying"
          }
        }
        run "planning" {
          command = plan
          variables { password = run.applying.password }
          assert {
            condition     = !tofu.applying
            error_message = "applying"
          }
        }
        run "secret" {
          command = plan
          assert {
            condition     = var.token == "x" || output.password == "y"
            error_message = "${var.token} ${var.password}"
          }
        }
        "#,
    );
    bench.mayfly(".", ["init", "-input=false"]).succeeds();
    let ended = bench.mayfly(".", ["test", "-verbose"]).fails();
    ended.shows(&[
        "run \"applying\"... pass",
        "run \"planning\"... pass",
        "run \"secret\"... fail",
    ]);
    let printed = ended.printed();
    let source = printed.matches("hunter2").count();
    assert_eq!(source, 0, "{printed}");
}

#[test]
fn runs_plan_as_their_options_say() {
    let bench = Bench::with_main(
        r#"
        variable "x" { default = "one" }
        resource "terraform_data" "a" { input = var.x }
        resource "terraform_data" "b" { input = var.x }
        output "a" { value = terraform_data.a.output }
        output "b" { value = terraform_data.b.output }
        "#,
    );
    bench.write(
        "main.tftest.hcl",
        r#"
        run "everything" {}
        run "target" {
          variables { x = "two" }
          plan_options { target = [terraform_data.a] }
          assert {
            condition     = output.a == "two" && output.b == "one"
            error_message = "a is ${output.a}, b is ${output.b}"
          }
        }
        run "refresh" {
          variables { x = "three" }
          plan_options { mode = refresh-only }
          assert {
            condition     = output.a == "two" && output.b == "one"
            error_message = "a is ${output.a}, b is ${output.b}"
          }
        }
        "#,
    );
    bench.mayfly(".", ["init", "-input=false"]).succeeds();
    let ended = bench.mayfly(".", ["test"]).succeeds();
    ended.shows(&["run \"target\"... pass", "run \"refresh\"... pass"]);
    bench.write("main.tftest.hcl", "run \"a\" {\n  plan_options { target = [\"a b\"] }\n}\n");
    let ended = bench.mayfly(".", ["test"]).fails();
    assert!(ended.err.contains("on main.tftest.hcl line 2"), "{}", ended.err);
}

#[test]
fn clean_up_of_a_test_counts_as_an_apply() {
    let main = r#"
terraform {
  required_providers {
    playground = { source = "mayfly/playground" }
  }
}
provider "playground" {
  require_keys = true
  access_key   = tofu.applying ? "a" : null
  secret_key   = tofu.applying ? "s" : null
}
resource "playground_parameter" "a" {
  name  = "a"
  type  = "String"
  value = "b"
}
"#;
    let bench = Bench::with_main(main);
    bench.write("main.tftest.hcl", "run \"applied\" {\n}\n");
    bench.mayfly(".", ["init", "-input=false"]).succeeds();
    // Without its keys, the provider could destroy nothing.
    bench.mayfly(".", ["test"]).succeeds().shows(&["Success! 1 passed, 0 failed."]);
    assert!(!bench.path("errored_test.tfstate").exists());
    bench.mayfly(".", ["plan"]).fails().shows(&["Missing key"]);
}

#[test]
fn module_of_a_run_may_come_from_a_package() {
    for program in programs() {
        let bench = Bench::with_main(MAIN);
        let inner = "module \"inner\" {\n  source = \"./inner\"\n}\noutput \"o\" {\n  value = module.inner.o\n}\n";
        bench.write("../package/setup/main.tf", inner);
        bench.write("../package/setup/inner/main.tf", "output \"o\" {\n  value = \"inner\"\n}\n");
        let package = bench.root().join("package").display().to_string();
        let test = format!(
            "run \"setup\" {{\n  module {{\n    source = \"{package}//setup\"\n  }}\n  assert {{\n    condition     = \
             output.o == \"inner\"\n    error_message = \"wrong\"\n  }}\n}}\nrun \"main\" {{\n  variables {{\n    x = \
             run.setup.o\n  }}\n  assert {{\n    condition     = output.o == \"inner\"\n    error_message = \
             \"wrong\"\n  }}\n}}\n"
        );
        bench.write("tests/main.tftest.hcl", &test);
        program
            .run(&bench, ".", ["init", "-input=false"])
            .succeeds()
            .shows(&["test.tests.main.setup in"]);
        let ended = program.run(&bench, ".", ["test"]).succeeds();
        ended.shows(&["Success! 2 passed, 0 failed."]);
        let manifest =
            String::from_utf8(bench.read(".terraform/modules/modules.json")).expect("is text");
        for key in ["\"test.tests.main.setup\"", "\"test.tests.main.setup.inner\""] {
            assert!(manifest.contains(key), "{}: {manifest}", program.name());
        }
        if matches!(program, Program::Mayfly) {
            bench.write("../package/setup/main.tf", "output \"o\" {\n  value = \"changed\"\n}\n");
            // The lock file pins the package, so its installed copy stays.
            bench.mayfly(".", ["get"]).succeeds();
            bench.mayfly(".", ["test"]).succeeds();
        }
    }
}

#[test]
fn package_of_a_run_must_be_installed() {
    let bench = bench("");
    bench.write(
        "main.tftest.hcl",
        "run \"setup\" {\n  module {\n    source = \"/nowhere/package\"\n  }\n}\n",
    );
    bench.mayfly(".", ["test"]).fails().shows(&["Module not installed", "mayfly init"]);
    bench.mayfly(".", ["init"]).fails().shows(&["run \"setup\" of main.tftest.hcl"]);
}
