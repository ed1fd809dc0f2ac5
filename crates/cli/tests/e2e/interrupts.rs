//! Ctrl-C: after the first, running operations are finished; after the second, the command ends.

use std::time::{Duration, Instant};

use crate::bench::{Bench, Started};

const MAIN: &str = r#"
terraform {
  required_providers {
    playground = { source = "registry.opentofu.org/mayfly/playground" }
  }
}
ephemeral "playground_random" "value" {}
resource "playground_secret" "first" {
  name             = "first"
  value_wo         = ephemeral.playground_random.value.result
  value_wo_version = 1
  provisioner "local-exec" {
    command = "touch started; while ! test -e go; do sleep 0.05; done; touch finished"
  }
}
resource "playground_secret" "second" {
  name       = "second"
  depends_on = [playground_secret.first]
}
"#;

fn started(bench: &Bench) -> Started {
    let run = bench.mayfly(".", ["apply", "-auto-approve"]).start();
    let marker = bench.path("started");
    run.wait_until("the provisioner runs", || marker.exists());
    run
}

fn names(bench: &Bench) -> Vec<(String, bool)> {
    let state = bench.state(".");
    let resources = state["resources"].as_array().expect("a list").iter();
    let entry = |it: &serde_json::Value| {
        let tainted = it["instances"][0]["status"] == "tainted";
        (it["name"].as_str().expect("a name").to_owned(), tainted)
    };
    resources.map(entry).collect()
}

#[test]
fn first_interrupt_finishes_running_operations_saves_and_closes() {
    let bench = Bench::with_main(MAIN);
    let run = started(&bench);
    run.interrupt();
    run.wait_for("Gracefully shutting down...");
    bench.write("go", "");
    let ended = run.end().exits(1);
    ended.shows(&[
        "Interrupt received.\nPlease wait for Mayfly to exit or data loss may occur.\nGracefully shutting down...\n",
        "playground_secret.first: Creation complete",
    ]);
    ended.shows(&["ephemeral.playground_random.value: Closing complete"]);
    ended.shows(&["Error: execution halted"]);
    ended.lacks(&["playground_secret.second: Creating...", "Apply complete!"]);
    assert!(bench.path("finished").exists(), "the command was not disturbed");
    assert_eq!(names(&bench), [("first".to_owned(), false)]);
    let ledger = bench.ledger(".");
    assert_eq!(
        ledger.count("opened", "playground_random"),
        ledger.count("closed", "playground_random")
    );
    bench.assert_no_orphans(".");
    // The next run continues.
    bench
        .mayfly(".", ["apply", "-auto-approve"])
        .succeeds()
        .shows(&["Resources: 1 added, 0 changed, 0 destroyed."]);
}

#[test]
fn second_interrupt_ends_but_saves_and_closes() {
    let bench = Bench::with_main(MAIN);
    let run = started(&bench);
    run.interrupt();
    run.wait_for("Gracefully shutting down...");
    let second = Instant::now();
    run.interrupt();
    let ended = run.end();
    assert!(second.elapsed() < Duration::from_secs(8), "{:?}", second.elapsed());
    assert_eq!(ended.code, 1, "{}", ended.printed());
    ended.shows(&["Two interrupts received. Exiting immediately."]);
    ended.shows(&["ephemeral.playground_random.value: Closing"]);
    assert!(!bench.path("finished").exists(), "the command was ended");
    assert_eq!(
        names(&bench),
        [("first".to_owned(), true)],
        "what exists is in the state, as tainted"
    );
    assert!(!bench.path(".terraform.tfstate.lock.info").exists(), "the lock was given back");
    bench.assert_no_orphans(".");
}

const SLOW: &str = r#"
resource "playground_parameter" "slow" {
  name  = "slow"
  type  = "String"
  value = "v"
  fault = { on = "plan", kind = "slow", ms = 1500 }
}
resource "playground_parameter" "third" {
  name  = "third"
  type  = "String"
  value = playground_parameter.slow.type
}
"#;

#[test]
fn an_interrupt_while_planning_ends_the_plan() {
    let bench = Bench::with_main(&format!("{MAIN}{SLOW}"));
    let run = bench.mayfly(".", ["plan"]).start();
    let hangs = || {
        bench.path(".playground/ledger.jsonl").exists()
            && bench.ledger(".").0.iter().any(|it| it.event == "faulted")
    };
    run.wait_until("the plan is slow", hangs);
    run.interrupt();
    let ended = run.end().exits(1);
    ended.shows(&[
        "Interrupt received.",
        "but then encountered a problem:",
        "Error: execution halted",
    ]);
    ended.lacks(&["playground_parameter.third will be created"]);
    assert!(!bench.path("terraform.tfstate").exists());
    bench.assert_no_orphans(".");
}

#[test]
fn interrupt_at_a_prompt_ends_at_once() {
    let bench = Bench::with_main(MAIN);
    let mut run = bench.mayfly(".", ["apply"]).start();
    run.wait_for("Enter a value: ");
    let _stdin = run.hold_stdin();
    let asked = Instant::now();
    run.interrupt();
    let ended = run.end();
    assert!(asked.elapsed() < Duration::from_secs(5), "{:?}", asked.elapsed());
    assert_eq!(ended.code, 1, "{}", ended.printed());
    assert!(!bench.path("terraform.tfstate").exists(), "nothing was applied");
    bench.mayfly(".", ["plan"]).succeeds();
}

#[test]
fn first_interrupt_ends_a_slow_function() {
    let bench = Bench::with_main(
        r#"
resource "terraform_data" "first" {
  input = 1
  provisioner "local-exec" {
    command = "touch started"
  }
}
resource "terraform_data" "slow" {
  input      = bcrypt("a", 31)
  depends_on = [terraform_data.first]
}
"#,
    );
    let run = started(&bench);
    std::thread::sleep(Duration::from_secs(1));
    let asked = Instant::now();
    run.interrupt();
    let ended = run.end();
    assert!(asked.elapsed() < Duration::from_secs(20), "it ends soon");
    ended.shows(&["Error: execution halted"]);
    ended.lacks(&["Error in function call"]);
    assert_eq!(names(&bench), [("first".to_owned(), false)], "what was done is saved");
}
