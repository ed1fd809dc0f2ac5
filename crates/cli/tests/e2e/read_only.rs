//! Directories and files that are not writable. Root may write everywhere, so if the tests run as root, the
//! commands run as an unprivileged user.

use std::{
    collections::BTreeSet,
    fs::{self, Permissions},
    os::unix::fs::{PermissionsExt, chown},
    path::{Path, PathBuf},
};

use expect_test::{Expect, expect};
use rustix::process::Signal;

use crate::bench::{Bench, Ended, NOBODY, Run};

const THING: &str = r#"
terraform {
  required_providers {
    playground = { source = "registry.opentofu.org/mayfly/playground" }
  }
}
resource "playground_secret" "a" {
  name = "a"
}
"#;

/// A bench whose commands run as an unprivileged user.
pub(crate) struct Guarded {
    pub(crate) bench: Bench,
    program: PathBuf,
}

/// A path whose mode is changed temporarily.
struct Closed {
    path: PathBuf,
    before: Permissions,
}

impl Drop for Closed {
    fn drop(&mut self) {
        let _ = fs::set_permissions(&self.path, self.before.clone());
    }
}

impl Guarded {
    pub(crate) fn with_main(text: &str) -> Guarded {
        let bench = Bench::with_main(text);
        // The store of the playground is in the working directory, and stays writable.
        fs::create_dir(bench.path(".playground")).expect("can be made");
        // The build directory may not be readable for other users.
        let program = bench.root().join("mayfly");
        let built = env!("CARGO_BIN_EXE_mayfly");
        if fs::hard_link(built, &program).is_err() {
            fs::copy(built, &program).expect("can be copied");
        }
        fs::set_permissions(bench.root(), Permissions::from_mode(0o755)).expect("is ours");
        let guarded = Guarded { bench, program };
        for name in ["home", "tmp", "work"] {
            guarded.hand_over(&guarded.bench.root().join(name));
        }
        guarded
    }

    /// Makes the user that runs the commands the owner of files.
    pub(crate) fn hand_over(&self, path: &Path) {
        if !rustix::process::geteuid().is_root() {
            return;
        }
        chown(path, Some(NOBODY), Some(NOBODY)).expect("root may do that");
        for entry in fs::read_dir(path).into_iter().flatten().flatten() {
            self.hand_over(&entry.path());
        }
    }

    pub(crate) fn mayfly<'a>(&self, arguments: impl IntoIterator<Item = &'a str>) -> Run {
        let program = self.program.to_str().expect("is text");
        self.bench.program(program, ".", arguments).by_nobody()
    }

    fn write(&self, name: &str, text: &str) {
        self.bench.write(name, text);
        self.hand_over(&self.bench.path(name));
    }

    fn close(&self, name: &str, mode: u32) -> Closed {
        let path = self.bench.path(name);
        let before = fs::metadata(&path).expect("is there").permissions();
        fs::set_permissions(&path, Permissions::from_mode(mode)).expect("is ours");
        Closed { path, before }
    }

    /// The number of provider calls.
    fn calls(&self) -> usize {
        let ledger = self.bench.path(".playground/ledger.jsonl");
        if ledger.exists() { self.bench.ledger(".").0.len() } else { 0 }
    }

    /// Checks that all of these commands fail with the same message and without a provider call.
    #[track_caller]
    fn refuse(&self, commands: &[&str], expected: Expect) {
        let before = self.calls();
        let said = commands.iter().map(|command| self.fails(command));
        let said: BTreeSet<String> = said.collect();
        expected.assert_eq(&said.into_iter().collect::<String>());
        assert_eq!(self.calls(), before, "no provider was asked");
    }

    #[track_caller]
    fn fails(&self, command: &str) -> String {
        self.settled(&self.mayfly(command.split(' ')).fails())
    }

    /// The error message, without the parts that differ between runs.
    fn settled(&self, ended: &Ended) -> String {
        ended.err.replace(&self.bench.root().join("work").display().to_string(), "WORK")
    }
}

#[test]
fn readonly_directory_stops_changes_before_they_begin() {
    let guarded = Guarded::with_main(THING);
    let _closed = guarded.close(".", 0o555);
    guarded.refuse(&["plan"], expect![[r#"

        Error: Error opening the state for writing

        terraform.tfstate cannot be made in the directory WORK: permission denied. Change the permissions, or run the command as the user who owns it. Nothing was planned.

        A plan writes only a lock there, so that the state cannot change in the meantime. To plan without a lock, use -lock=false.
    "#]]);
    let changes = [
        "apply -auto-approve",
        "destroy -auto-approve",
        "import playground_secret.a a",
        "state adopt -gone playground_secret.a",
    ];
    guarded.refuse(&changes, expect![[r#"

        Error: Error opening the state for writing

        terraform.tfstate cannot be made in the directory WORK: permission denied. Change the permissions, or run the command as the user who owns it. Nothing was done: created or changed objects could not be recorded.
    "#]]);
    let unlocked = ["apply -auto-approve -lock=false", "destroy -auto-approve -lock=false"];
    guarded.refuse(&unlocked, expect![[r#"

        Error: Error opening the state for writing

        Nothing can be written in the directory WORK: permission denied. Change the permissions, or run the command as the user who owns it. Nothing was done: created or changed objects could not be recorded.
    "#]]);
    // Commands that only read need no write access.
    let planned = guarded.mayfly(["plan", "-lock=false"]).succeeds();
    planned.shows(&["1 to add"]);
    planned.lacks(&["Warning"]);
    guarded.mayfly(["validate"]).succeeds();
    guarded.mayfly(["state", "list"]).fails().shows(&["No state file was found"]);
    guarded.mayfly(["output"]).succeeds();
    expect![[r#"

        Error: Failed to write plan file

        p cannot be written: permission denied. Nothing was saved: check the path and its permissions.
    "#]].assert_eq(&guarded.fails("plan -lock=false -out=p"));
}

#[test]
fn watch_runs_in_a_readonly_directory() {
    let secret = "ephemeral \"playground_random\" \"r\" {}\n";
    let given = "\"a\"\n  value_wo_version = 1\n  value_wo = ephemeral.playground_random.r.result";
    let text = THING.replace("\"a\"\n}", &format!("{given}\n}}"));
    let guarded = Guarded::with_main(&format!("{text}{secret}"));
    let _closed = guarded.close(".", 0o555);
    let watcher = guarded.mayfly(["watch", "-json"]).start();
    watcher.wait_for("\"ok\":true,\"plan\":1,");
    watcher.signal(Signal::INT);
    watcher.end().exits(0).shows(&["\"add\":1,"]);
    assert_eq!(guarded.bench.ledger(".").count("opened", "playground_random"), 1);
}

#[test]
fn readonly_state_stops_changes_before_they_begin() {
    let guarded = Guarded::with_main(THING);
    guarded.mayfly(["apply", "-auto-approve"]).succeeds();
    let before = guarded.bench.read("terraform.tfstate");
    guarded.write("main.tf", &THING.replace("\"a\"\n}", "\"a\"\n  description = \"b\"\n}"));
    let closed = guarded.close("terraform.tfstate", 0o444);
    guarded.refuse(&["plan"], expect![[r#"

        Error: Error opening the state for writing

        terraform.tfstate cannot be written: permission denied. Change the permissions, or run the command as the user who owns it. Nothing was planned.

        A plan writes only a lock there, so that the state cannot change in the meantime. To plan without a lock, use -lock=false.
    "#]]);
    let changes = ["apply -auto-approve", "apply -auto-approve -lock=false"];
    guarded.refuse(&changes, expect![[r#"

        Error: Error opening the state for writing

        terraform.tfstate cannot be written: permission denied. Change the permissions, or run the command as the user who owns it. Nothing was done: created or changed objects could not be recorded.
    "#]]);
    guarded.mayfly(["plan", "-lock=false"]).succeeds().shows(&["1 to change"]);
    guarded.mayfly(["state", "list"]).succeeds().shows(&["playground_secret.a"]);
    drop(closed);
    let closed = guarded.close("terraform.tfstate", 0o000);
    guarded.refuse(&["plan"], expect![[r#"

        Error: Error opening the state for writing

        terraform.tfstate cannot be written: permission denied. Change the permissions, or run the command as the user who owns it. Nothing was planned.
    "#]]);
    guarded.refuse(&["plan -lock=false", "state list", "output"], expect![[r#"

        Error: Error loading state

        The state cannot be read: failed to read terraform.tfstate: Permission denied (os error 13). Nothing was done. Correct its permissions, or run the command as the user who owns it.
    "#]]);
    drop(closed);
    assert_eq!(guarded.bench.read("terraform.tfstate"), before);
    guarded.mayfly(["apply", "-auto-approve"]).succeeds().shows(&["1 changed"]);
}

#[test]
fn unwritable_backup_stops_changes_before_they_begin() {
    let guarded = Guarded::with_main(THING);
    guarded.mayfly(["apply", "-auto-approve"]).succeeds();
    guarded.write("kept/before", "");
    let _closed = guarded.close("kept", 0o555);
    guarded.refuse(&["apply -auto-approve -backup=kept/state"], expect![[r#"

        Error: Error opening the state for writing

        Nothing can be written in the directory WORK/kept: permission denied. Change the permissions, or run the command as the user who owns it. Nothing was done: created or changed objects could not be recorded.
    "#]]);
    guarded.refuse(&["apply -auto-approve -state-out=kept/state"], expect![[r#"

        Error: Error opening the state for writing

        kept/state cannot be made in the directory WORK/kept: permission denied. Change the permissions, or run the command as the user who owns it. Nothing was done: created or changed objects could not be recorded.
    "#]]);
    guarded.mayfly(["apply", "-auto-approve", "-backup=-"]).succeeds();
}

#[test]
fn directory_made_readonly_during_apply_loses_nothing() {
    let closing = "playground_secret.a]\n  provisioner \"local-exec\" {\n    command = \"chmod 555 .\"\n  }\n}\n";
    let guarded = Guarded::with_main(&format!(
        "{THING}resource \"terraform_data\" \"closes\" {{\n  depends_on = [{closing}"
    ));
    let said = guarded.fails("apply -auto-approve");
    fs::set_permissions(guarded.bench.path("."), Permissions::from_mode(0o755)).expect("is ours");
    expect![[r#"

        Error: Failed to save state

        Nothing can be written in the directory WORK: permission denied. Change the permissions, or run the command as the user who owns it. The changed objects exist nevertheless. Resolve the problem, then run the command again.

        Nothing is lost: terraform.tfstate.journal records all changes of this run. When the problem is resolved, the next command writes them to the state. Do not remove that file.

        Error: Error releasing the state lock

        ./.terraform.tfstate.lock.info, which records the holder of the lock, could not be removed (Permission denied (os error 13)). The lock itself was released, so the next command is not blocked.
    "#]].assert_eq(&said);
    guarded
        .mayfly(["plan", "-detailed-exitcode"])
        .succeeds()
        .shows(&["The last run was cut off", "No changes."]);
}

#[test]
fn init_names_the_unwritable_file() {
    let guarded = Guarded::with_main(&format!("{THING}module \"m\" {{\n  source = \"./m\"\n}}\n"));
    guarded.write("m/main.tf", "");
    let closed = guarded.close(".", 0o555);
    expect![[r#"

        Error: Failed to write module manifest

        .terraform/modules/modules.json cannot be written: Permission denied (os error 13). Check its permissions, or let TF_DATA_DIR name another directory for what "mayfly init" keeps.
    "#]].assert_eq(&guarded.fails("init"));
    let elsewhere = guarded.bench.root().join("tmp/data");
    guarded.mayfly(["init"]).env("TF_DATA_DIR", &elsewhere).succeeds();
    drop(closed);
    guarded.mayfly(["init"]).succeeds();
}
