//! Kills the real executable at every step between an intent and the state with its result, and then continues
//! with further runs.
//!
//! After every step: no object is created twice, each one is in the state once or reported as uncertain, the state
//! is valid, and the lock is free.

use std::{collections::BTreeMap, fs, path::Path};

use crate::{
    bench::{Bench, Ended},
    watch,
};

const BEFORE: &str = r#"
resource "playground_secret" "kept" {
  name        = "kept"
  description = "one"
}
resource "playground_secret" "dropped" {
  name = "dropped"
}
"#;

const AFTER: &str = r#"
ephemeral "playground_random" "value" {}
resource "playground_secret" "kept" {
  name        = "kept"
  description = "two"
}
resource "playground_secret" "first" {
  name             = "first"
  value_wo         = ephemeral.playground_random.value.result
  value_wo_version = 1
}
resource "playground_secret" "second" {
  name        = "second"
  description = playground_secret.first.id
  depends_on  = [playground_secret.kept]
}
resource "terraform_data" "alone" {
  input = playground_secret.second.id
}
"#;

const HEAD: &str = r#"
terraform {
  required_providers {
    playground = { source = "registry.opentofu.org/mayfly/playground" }
  }
}
"#;

/// The failpoints of an apply, each with the minimum number of times that it is reached.
const STEPS: &[(&str, usize)] = &[
    ("opening", 2),
    ("closed", 2),
    ("intent", 4),
    ("journal.write", 6),
    ("journal.written", 6),
    ("durable", 6),
    ("answer", 4),
    ("answered", 4),
    ("fold", 1),
    ("fold.announced", 1),
    ("fold.written", 1),
    ("end", 1),
    ("ended", 1),
];

const RECOVERY: &[&str] = &["recovery", "recovery.announced", "recovery.written", "recovery.ended"];

/// The directory before the apply. It is created only once.
fn origin() -> Bench {
    let bench = Bench::with_main(&format!("{HEAD}{BEFORE}"));
    bench.mayfly(".", ["apply", "-auto-approve"]).succeeds();
    bench
}

fn copy(origin: &Path) -> Bench {
    let bench = Bench::new();
    copy_folder(origin, &bench.path("."));
    bench.write("main.tf", &format!("{HEAD}{AFTER}"));
    bench
}

fn copy_folder(from: &Path, to: &Path) {
    fs::create_dir_all(to).expect("can be made");
    for entry in fs::read_dir(from).expect("lists") {
        let path = entry.expect("lists").path();
        let target = to.join(path.file_name().expect("has a name"));
        match path.is_dir() {
            true => copy_folder(&path, &target),
            false => drop(fs::copy(&path, &target).expect("can be copied")),
        }
    }
}

fn apply(bench: &Bench, point: Option<&str>, folds: bool) -> Ended {
    let mut run = bench.mayfly(".", ["apply", "-auto-approve"]);
    if let Some(point) = point {
        run = run.env("MAYFLY_FAILPOINT", point);
    }
    if folds {
        run = run.env("MAYFLY_FOLD_ALWAYS", "1");
    }
    run.end()
}

/// The number of times that each object was created.
fn made(bench: &Bench) -> BTreeMap<String, usize> {
    let mut made = BTreeMap::new();
    for entry in bench.ledger(".").0.iter().filter(|it| it.event == "created") {
        *made.entry(entry.name.clone()).or_default() += 1;
    }
    made
}

/// Resolves each uncertain object with the knowledge of the remote system. Returns their number.
fn resolve(bench: &Bench, what: &str, ended: &Ended) -> usize {
    let mut count = 0;
    for name in ["first", "second"] {
        let adopt = format!("mayfly state adopt playground_secret.{name} ID");
        if !ended.err.contains(&adopt) {
            continue;
        }
        count += 1;
        let address = format!("playground_secret.{name}");
        let resolved = match made(bench).contains_key(name) {
            true => bench.mayfly(".", ["state", "adopt", &address, name]).end(),
            false => bench.mayfly(".", ["state", "adopt", "-gone", &address]).end(),
        };
        assert_eq!(resolved.code, 0, "{what}:\n{}", resolved.printed());
    }
    count
}

/// Continues after a kill, until the objects match the configuration.
fn go_on(bench: &Bench, what: &str) {
    let mut ended = apply(bench, None, false);
    if ended.code != 0 {
        assert!(resolve(bench, what, &ended) > 0, "{what}:\n{}", ended.printed());
        ended = apply(bench, None, false);
    }
    assert_eq!(ended.code, 0, "{what}:\n{}", ended.printed());
    let once = ["dropped", "first", "kept", "second"].map(|name| (name.to_owned(), 1));
    assert_eq!(made(bench), BTreeMap::from(once), "{what}: each object is made once");
    let list = bench.mayfly(".", ["state", "list"]).succeeds().out;
    let all = "playground_secret.first\nplayground_secret.kept\nplayground_secret.second\nterraform_data.alone\n";
    assert_eq!(list, all, "{what}");
    let left = bench.path("terraform.tfstate.journal").exists();
    assert!(!left, "{what}: a journal is left");
}

/// Runs cases on a few threads, because they mostly wait for disks and processes.
fn each<T: Sync>(cases: &[T], run: impl Fn(&T) + Sync) {
    parallel::map_on(4, cases, run);
}

#[test]
fn kill_at_any_failpoint_of_apply_loses_nothing() {
    let before = origin();
    let origin = before.path(".");
    let mut cases: Vec<(String, bool)> = Vec::new();
    for (step, times) in STEPS {
        cases.extend((1..=*times).map(|nth| (format!("{step}:{nth}"), false)));
    }
    // Cases in which the state is written after each change.
    for step in ["fold", "fold.announced", "fold.written"] {
        cases.extend([1, 3].map(|nth| (format!("{step}:{nth}"), true)));
    }
    each(&cases, |(point, folds)| {
        let bench = copy(&origin);
        let what = format!("{point}{}", if *folds { " with folds" } else { "" });
        let killed = apply(&bench, Some(point), *folds);
        assert_eq!(killed.code, -9, "{what} was not reached:\n{}", killed.printed());
        let state = bench.state(".");
        assert_eq!(state["version"], 4, "{what}");
        go_on(&bench, &what);
    });
}

#[test]
fn kill_during_recovery_loses_nothing() {
    let before = origin();
    let origin = before.path(".");
    each(RECOVERY, |step| {
        let bench = copy(&origin);
        let what = format!("{step} after answered:3");
        assert_eq!(apply(&bench, Some("answered:3"), false).code, -9, "{what}");
        let killed = apply(&bench, Some(step), false);
        assert_eq!(killed.code, -9, "{what} was not reached:\n{}", killed.printed());
        go_on(&bench, &what);
    });
}

#[test]
fn kill_during_an_apply_of_watch_loses_nothing() {
    let before = origin();
    let origin = before.path(".");
    let points = ["intent:2", "durable:3", "answer:3", "answered:3", "fold.announced", "end"];
    each(&points, |point| {
        let bench = copy(&origin);
        let Some(run) = watch::terminal(&bench, "watch -no-color") else { return };
        let mut run = run.env("MAYFLY_FAILPOINT", point).start();
        run.wait_for("Plan: 3 to add, 1 to change, 1 to destroy.");
        run.presses("a");
        run.wait_for("Only 'yes' will be accepted");
        run.presses("yes\r");
        // Keep stdin open, because its end would quit `watch`.
        let _somebody = run.hold_stdin();
        // Shells report a killed process this way.
        let killed = run.end();
        assert_eq!(killed.code, 128 + 9, "{point} was not reached:\n{}", killed.printed());
        go_on(&bench, &format!("{point} in watch"));
    });
}
