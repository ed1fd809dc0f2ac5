//! Killed runs, and recovery from their journals.

use std::{fs, os::unix::fs::PermissionsExt};

use rustix::process::Signal;

use crate::{
    bench::{Bench, Deeds, Ended, Started},
    search::Canaries,
};

const HEAD: &str = r#"
terraform {
  required_providers {
    playground = { source = "registry.opentofu.org/mayfly/playground" }
  }
}
"#;

const TWO: &str = r#"
ephemeral "playground_random" "value" {}
resource "playground_secret" "quick" {
  name             = "quick"
  value_wo         = ephemeral.playground_random.value.result
  value_wo_version = 1
}
resource "playground_secret" "slow" {
  name             = "slow"
  description      = playground_secret.quick.id
  value_wo         = ephemeral.playground_random.value.result
  value_wo_version = 1
  fault = FAULT
}
output "id" { value = playground_secret.quick.id }
"#;

/// A creation whose object is made at once, and whose answer takes longer than any test.
const LATE: &str = r#"{ on = "create", kind = "slow", late = true, ms = 3600000 }"#;

fn bench(fault: &str) -> Bench {
    Bench::with_main(&format!("{HEAD}{}", TWO.replace("FAULT", fault)))
}

fn apply(bench: &Bench) -> Started {
    bench.mayfly(".", ["apply", "-auto-approve"]).start()
}

/// Kills an apply after the first object was created and the second one was requested.
fn killed(bench: &Bench) {
    kill_when_made(bench, apply(bench));
}

fn kill_when_made(bench: &Bench, run: Started) {
    kill_when(bench, run, |deeds| deeds.count("created", "playground_secret") == 2);
}

/// Kills an apply after the second object was requested, which the remote system does not create.
fn killed_in_vain(bench: &Bench) {
    let is_asked = |deeds: &Deeds| deeds.0.iter().any(|it| it.event == "faulted");
    kill_when(bench, apply(bench), is_asked);
}

fn kill_when(bench: &Bench, run: Started, is_time: impl Fn(&Deeds) -> bool) {
    run.wait_until("the remote system has done so much", || {
        bench.path(".playground/ledger.jsonl").exists() && is_time(&bench.ledger("."))
    });
    run.signal(Signal::KILL);
    assert_eq!(run.end().code, -9);
}

fn list(bench: &Bench) -> String {
    bench.mayfly(".", ["state", "list"]).succeeds().out
}

fn journal(bench: &Bench) -> Option<String> {
    let bytes = fs::read(bench.path("terraform.tfstate.journal")).ok()?;
    Some(String::from_utf8_lossy(&bytes).into_owned())
}

/// Removes the fault, so that the remote system answers from now on.
fn mend(bench: &Bench) {
    bench.write("main.tf", &format!("{HEAD}{}", TWO.replace("  fault = FAULT\n", "")));
}

#[test]
fn killed_apply_loses_no_response_and_repeats_no_creation() {
    let bench = bench(LATE);
    killed(&bench);
    assert!(
        !bench.path("terraform.tfstate").exists() || bench.read("terraform.tfstate").is_empty()
    );
    let text = journal(&bench).expect("is left");
    assert!(
        text.contains("\"address\":\"playground_secret.slow\",\"action\":\"create\""),
        "{text}"
    );
    let mode = fs::metadata(bench.path("terraform.tfstate.journal")).expect("is there");
    assert_eq!(mode.permissions().mode() & 0o777, 0o600);
    // Commands that only read replay the journal in memory and change nothing.
    assert_eq!(list(&bench), "playground_secret.quick\n");
    bench.mayfly(".", ["state", "show", "playground_secret.quick"]).succeeds();
    assert_eq!(journal(&bench).as_ref(), Some(&text));

    mend(&bench);
    let ended = bench.mayfly(".", ["plan"]).fails();
    ended.shows(&[
        "Warning: The last run was cut off",
        "\"mayfly apply\" in the workspace \"default\"",
        "1 resource instance",
        "Warning: Ephemeral resources were left open",
        "ephemeral.playground_random.value, opened at ",
        "Warning: Objects may exist that the state does not know",
        "playground_secret.slow (name=slow), a playground_secret of mayfly/playground, asked for at ",
        "mayfly state adopt playground_secret.slow ID",
    ]);
    assert!(ended.err.contains("Error: Object may exist already"), "{}", ended.err);
    assert_eq!(bench.state(".")["serial"], 1);
    fs::copy(bench.path("terraform.tfstate"), bench.path("other.tfstate")).expect("can be copied");
    fs::copy(bench.path("terraform.tfstate.journal"), bench.path("other.tfstate.journal"))
        .expect("can be copied");
    let elsewhere = bench.mayfly(".", ["plan", "-state=other.tfstate"]).fails();
    elsewhere.shows(&["mayfly state adopt -state=other.tfstate playground_secret.slow ID"]);
    // The warning is shown only once.
    let again = bench.mayfly(".", ["plan"]).fails();
    again.shows(&["Objects may exist that the state does not know"]);
    again.lacks(&["was cut off", "left open"]);
    bench.mayfly(".", ["apply", "-auto-approve"]).fails().shows(&["Object may exist already"]);
    assert_eq!(bench.ledger(".").count("created", "playground_secret"), 2, "nothing is made twice");
    assert_eq!(list(&bench), "playground_secret.quick\n");
}

#[test]
fn journal_of_a_killed_run_contains_no_secret() {
    let mut canaries = Canaries::new();
    let token = canaries.add("variable");
    let text = TWO.replace("FAULT", LATE).replace(
        "ephemeral.playground_random.value.result",
        "\"${var.token}${ephemeral.playground_random.value.result}\"",
    );
    let variable = "variable \"token\" {\n  type      = string\n  ephemeral = true\n}\n";
    let bench = Bench::with_main(&format!("{HEAD}{variable}{text}"));
    let run = bench.mayfly(".", ["apply", "-auto-approve"]).env("TF_VAR_token", token).start();
    kill_when_made(&bench, run);
    assert!(journal(&bench).expect("is left").contains("playground_secret.slow"));
    canaries.assert_not_written(&bench);
}

#[test]
fn retry_uncertain_creates_an_uncertain_object() {
    let bench = bench(&LATE.replace("late = true", "late = false"));
    killed_in_vain(&bench);
    mend(&bench);
    bench.mayfly(".", ["plan", "-out=p", "-retry-uncertain"]).succeeds();
    bench.mayfly(".", ["apply", "p"]).succeeds().shows(&["Resources: 1 added"]);
    assert_eq!(journal(&bench), None, "nothing is uncertain any more");
    assert_eq!(list(&bench), "playground_secret.quick\nplayground_secret.slow\n");
    bench.mayfly(".", ["plan", "-detailed-exitcode"]).succeeds().lacks(&["Warning"]);
}

#[test]
fn saved_plan_is_stale_after_a_killed_apply() {
    let bench = bench(LATE);
    bench.mayfly(".", ["plan", "-out=p"]).succeeds();
    let run = bench.mayfly(".", ["apply", "p"]).start();
    kill_when_made(&bench, run);
    bench.mayfly(".", ["apply", "p"]).fails().shows(&["Saved plan is stale"]);
    assert_eq!(bench.ledger(".").count("created", "playground_secret"), 2);
}

#[test]
fn dead_provider_leaves_an_uncertain_object() {
    let bench = bench(r#"{ on = "create", kind = "die", late = true }"#);
    let ended = apply(&bench).end().exits(1);
    ended.shows(&["Objects may exist that the state does not know", "playground_secret.slow"]);
    ended.lacks(&["was cut off"]);
    assert_eq!(list(&bench), "playground_secret.quick\n");
    mend(&bench);
    bench.mayfly(".", ["plan"]).fails().shows(&["Object may exist already"]);
    // The provider reports that the object exists. That does not confirm the first attempt.
    bench
        .mayfly(".", ["apply", "-auto-approve", "-retry-uncertain"])
        .fails()
        .shows(&["playground_secret.slow: Creating..."]);
    bench.mayfly(".", ["plan"]).fails().shows(&["Object may exist already"]);
}

#[test]
fn completed_run_leaves_no_journal() {
    let bench = bench("null");
    apply(&bench).end().exits(0).lacks(&["Warning"]);
    assert_eq!(journal(&bench), None);
    bench.mayfly(".", ["plan"]).succeeds();
    assert_eq!(journal(&bench), None);
    bench.mayfly(".", ["destroy", "-auto-approve"]).succeeds();
    assert_eq!(journal(&bench), None);
    let left: Vec<String> = fs::read_dir(bench.path("."))
        .expect("lists")
        .map(|it| it.expect("lists").file_name().to_string_lossy().into_owned())
        .filter(|it| it.contains("journal"))
        .collect();
    assert_eq!(left, Vec::<String>::new());
}

/// Checks that a journal that cannot be used is refused, and that neither the journal nor the state changes.
#[track_caller]
fn refused(bench: &Bench, parts: &[&str]) -> Ended {
    let before = fs::read(bench.path("terraform.tfstate.journal")).expect("is there");
    let state = fs::read(bench.path("terraform.tfstate")).unwrap_or_default();
    let ended = bench.mayfly(".", ["apply", "-auto-approve"]).fails();
    ended.shows(parts);
    assert_eq!(fs::read(bench.path("terraform.tfstate.journal")).expect("is there"), before);
    assert_eq!(fs::read(bench.path("terraform.tfstate")).unwrap_or_default(), state);
    assert!(!bench.path(".terraform.tfstate.lock.info").exists(), "the lock is given back");
    bench.mayfly(".", ["state", "list"]).fails().shows(&parts[..1]);
    ended
}

#[test]
fn damaged_or_foreign_journal_is_an_error() {
    let bench = bench(LATE);
    killed(&bench);
    let path = bench.path("terraform.tfstate.journal");
    let whole = fs::read(&path).expect("is there");

    let mut damaged = whole.clone();
    damaged[40] ^= 1;
    fs::write(&path, &damaged).expect("is ours");
    refused(&bench, &["Error: Damaged journal", "terraform.tfstate.journal is damaged at byte 0"]);

    // An incomplete entry at the end is not damage.
    fs::write(&path, [&whole[..], b"MFJ\x01\x07"].concat()).expect("is ours");
    assert_eq!(list(&bench), "playground_secret.quick\n");

    fs::write(&path, &whole).expect("is ours");
    let other = r#"{"version": 4, "terraform_version": "1.12.6", "serial": 7, "lineage": "another", "outputs": {}, "resources": []}"#;
    bench.write("terraform.tfstate", other);
    refused(
        &bench,
        &[
            "Error: Journal of another state",
            "has the lineage \"another\": it is another state",
            "playground_secret.quick: was created or changed",
            "playground_secret.slow: may exist",
        ],
    );
    fs::remove_file(bench.path("terraform.tfstate")).expect("is ours");
    assert_eq!(list(&bench), "playground_secret.quick\n");
    mend(&bench);
    bench.mayfly(".", ["plan"]).fails().shows(&["The last run was cut off"]);
}

#[test]
fn recovery_does_not_overwrite_a_state_written_since() {
    let bench = bench("null");
    apply(&bench).end().exits(0);
    // The change of an attribute is confirmed, then the next creation hangs.
    let text = format!("{HEAD}{}", TWO.replace("FAULT", "null"))
        .replace("\"quick\"\n  value_wo  ", "\"quick\"\n  description = \"d\"\n  value_wo  ")
        + "resource \"playground_secret\" \"third\" {\n  name = \"third\"\n  depends_on = \
           [playground_secret.quick]\n  fault = { on = \"create\", kind = \"slow\", late = true, ms = 3600000 }\n}\n";
    bench.write("main.tf", &text);
    let run = apply(&bench);
    run.wait_until("the third object is made", || {
        bench.ledger(".").count("created", "playground_secret") == 3
    });
    run.signal(Signal::KILL);
    assert_eq!(run.end().code, -9);
    let state = String::from_utf8(bench.read("terraform.tfstate")).expect("is text");
    bench.write("terraform.tfstate", &state.replace("\"serial\": 1,", "\"serial\": 2,"));
    refused(
        &bench,
        &[
            "Journal of another state",
            "another program has written it since",
            "playground_secret.quick: was created or changed",
        ],
    );
    bench.write("terraform.tfstate", &state);
    bench.mayfly(".", ["plan"]).fails().shows(&["1 resource instance", "playground_secret.third"]);
}

#[test]
fn state_adopt_adopts_an_uncertain_object() {
    let bench = bench(LATE);
    killed(&bench);
    mend(&bench);
    let certain = bench.mayfly(".", ["state", "adopt", "playground_secret.quick", "quick"]).fails();
    certain.shows(&["The last run was cut off", "Nothing is uncertain there", "mayfly import"]);
    bench
        .mayfly(".", ["state", "adopt", "playground_secret.slow", "nobody"])
        .fails()
        .shows(&["playground_secret.slow: Importing from ID \"nobody\"...", "Error: "]);
    bench.mayfly(".", ["plan"]).fails().shows(&["Object may exist already"]);
    bench.mayfly(".", ["state", "adopt", "playground_secret.slow", "slow"]).succeeds().shows(&[
        "playground_secret.slow: Importing from ID \"slow\"...",
        "playground_secret.slow: Import prepared!\n  Prepared playground_secret for import",
        "playground_secret.slow: Refreshing state... [id=",
        "Import successful!",
    ]);
    assert_eq!(journal(&bench), None);
    assert_eq!(list(&bench), "playground_secret.quick\nplayground_secret.slow\n");
    bench
        .mayfly(".", ["apply", "-auto-approve"])
        .succeeds()
        .shows(&["Resources: 0 added, 1 changed, 0 destroyed."]);
    assert_eq!(bench.ledger(".").count("created", "playground_secret"), 2, "nothing is made twice");
}

#[test]
fn state_adopt_gone_allows_creation_again() {
    let bench = bench(&LATE.replace("late = true", "late = false"));
    killed_in_vain(&bench);
    mend(&bench);
    bench
        .mayfly(".", ["state", "adopt", "-gone", "playground_secret.slow"])
        .succeeds()
        .shows(&["playground_secret.slow is recorded as not created."]);
    assert_eq!(journal(&bench), None);
    bench
        .mayfly(".", ["apply", "-auto-approve"])
        .succeeds()
        .shows(&["Resources: 1 added, 0 changed, 0 destroyed."]);
}

const IMPORTED: &str = r#"
resource "playground_secret" "made" {
  name        = "made"
  description = "elsewhere"
}
module "m" {
  source   = "./m"
  for_each = toset(["k"])
}
"#;

#[test]
fn import_adds_existing_objects_to_the_state() {
    let bench = bench("null");
    apply(&bench).end().exits(0);
    bench.write(
        "main.tf",
        &format!("{HEAD}{}", IMPORTED.replace("made\"\n  desc", "quick\"\n  desc")),
    );
    bench.write(
        "m/main.tf",
        &format!("{HEAD}resource \"playground_secret\" \"in\" {{\n  name = \"slow\"\n}}\n"),
    );
    let import = |address: &str, id: &str| bench.mayfly(".", ["import", address, id]).end();
    import("playground_secret.none", "quick").exits(1).shows(&[
        "Error: resource address \"playground_secret.none\" does not exist in the configuration.",
        "please create its configuration in the root module",
    ]);
    import("data.playground_secret.x", "quick")
        .exits(1)
        .shows(&["A managed resource address is required"]);
    import("module.m[\"other\"].playground_secret.in", "slow")
        .exits(1)
        .shows(&["No such module instance"]);
    import("playground_secret.made", "nobody").exits(1).shows(&["Error: "]);
    import("playground_secret.made", "quick").exits(0).shows(&["Import successful!"]);
    import("playground_secret.made", "quick").exits(1).shows(&[
        "Error: Resource already managed by OpenTofu",
        "already managing a remote object for playground_secret.made",
    ]);
    import("module.m[\"k\"].playground_secret.in", "slow").exits(0);
    assert!(list(&bench).contains("module.m[\"k\"].playground_secret.in\n"), "{}", list(&bench));
    assert_eq!(journal(&bench), None);
}

const SPOILT: &str = r#"
resource "playground_secret" "a" {
  name = "a"
  provisioner "local-exec" {
    command = "rm -f terraform.tfstate && mkdir terraform.tfstate"
  }
}
"#;

#[test]
fn unwritable_state_is_kept_in_the_journal() {
    let bench = Bench::with_main(&format!("{HEAD}{SPOILT}"));
    bench.mayfly(".", ["apply", "-auto-approve"]).fails().shows(&[
        "Error: Failed to save state",
        "Another program wrote the state during this run.",
        "Nothing is lost: terraform.tfstate.journal records all changes of this run",
    ]);
    assert!(!bench.path("errored.tfstate").exists());
    fs::remove_dir(bench.path("terraform.tfstate")).expect("is ours");
    bench.mayfly(".", ["plan", "-detailed-exitcode"]).succeeds().shows(&[
        "The last run was cut off",
        "1 resource instance",
        "No changes.",
    ]);
    assert_eq!(journal(&bench), None);
    assert_eq!(list(&bench), "playground_secret.a\n");
}

#[test]
fn unwritable_journal_prevents_every_operation() {
    let bench = Bench::with_main(&format!(
        "{HEAD}resource \"playground_secret\" \"a\" {{\n  name = \"a\"\n}}\n"
    ));
    let mut run = bench.mayfly(".", ["apply"]).start();
    run.wait_for("Enter a value: ");
    // A directory that is not empty cannot be replaced by a file.
    bench.write("terraform.tfstate.journal/in", "the way");
    run.types("yes");
    let ended = run.end().exits(1);
    ended.shows(&["Error: Failed to write the journal", "terraform.tfstate.journal"]);
    ended.lacks(&["Creating..."]);
    assert_eq!(bench.ledger(".").calls("create", "playground_secret"), 0);
    bench.mayfly(".", ["plan"]).fails().shows(&["Error: Failed to read the journal"]);
}

#[test]
fn full_disk_keeps_the_previous_state() {
    let text = |length: usize| {
        format!("resource \"terraform_data\" \"a\" {{\n  input = \"{}\"\n}}\n", "x".repeat(length))
    };
    let bench = Bench::with_main(&text(1));
    bench.mayfly(".", ["apply", "-auto-approve"]).succeeds();
    let before = bench.read("terraform.tfstate");
    bench.write("main.tf", &text(60_000));
    // The test cannot fill a disk, so it limits the file size to 20 KB.
    let script = format!(
        "trap '' XFSZ; ulimit -f 40; exec {} apply -auto-approve",
        env!("CARGO_BIN_EXE_mayfly")
    );
    bench.program("sh", ".", ["-c", &script]).fails().shows(&[
        "Error: Failed to save state",
        "terraform.tfstate: File too large",
        "errored.tfstate either",
    ]);
    assert_eq!(bench.read("terraform.tfstate"), before);
    assert!(!bench.path(".terraform.tfstate.lock.info").exists(), "the lock is given back");
    bench.mayfly(".", ["apply", "-auto-approve"]).succeeds().shows(&["1 changed"]);
}

#[test]
fn unreadable_state_version_is_an_error_and_unchanged() {
    let bench = Bench::with_main("output \"o\" {\n  value = 1\n}\n");
    bench.mayfly(".", ["apply", "-auto-approve"]).succeeds();
    let whole = String::from_utf8(bench.read("terraform.tfstate")).expect("is text");
    for (text, shown) in [
        (
            whole.replacen("\"version\": 4", "\"version\": 9", 1),
            "uses format version 9, which this version of Mayfly does not read",
        ),
        (whole[..whole.len() / 2].to_owned(), "was edited or truncated"),
        ("\0".repeat(whole.len()), "was edited or truncated"),
    ] {
        bench.write("terraform.tfstate", &text);
        for command in [&["plan"][..], &["apply", "-auto-approve"], &["output"]] {
            bench
                .mayfly(".", command)
                .fails()
                .shows(&["Error: Unsupported state file format", shown]);
        }
        assert_eq!(bench.read("terraform.tfstate"), text.as_bytes(), "it is as it was");
    }
}

#[test]
fn ephemerals_left_open_by_a_killed_plan_are_reported_once() {
    let bench = bench("{ on = \"plan\", kind = \"slow\", ms = 3600000 }");
    let run = bench.mayfly(".", ["plan"]).start();
    run.wait_until("something is open and the plan is slow", || {
        bench.path(".playground/ledger.jsonl").exists()
            && bench.ledger(".").count("opened", "playground_random") == 1
            && bench.ledger(".").0.iter().any(|it| it.event == "faulted")
    });
    run.signal(Signal::KILL);
    assert_eq!(run.end().code, -9);
    mend(&bench);
    let named = "ephemeral.playground_random.value, opened at ";
    bench.mayfly(".", ["plan"]).succeeds().shows(&["Ephemeral resources were left open", named]);
    let again = bench.mayfly(".", ["plan"]).succeeds();
    again.lacks(&["left open", "cut off"]);
    assert_eq!(journal(&bench), None);
}
