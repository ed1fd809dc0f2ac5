//! Tests of the examples and of the providers for files under `terraform`, if it is installed.

use std::{
    ffi::OsStr,
    fs,
    io::Write,
    path::{Path, PathBuf},
    process::{Command, Output},
};

use providers::playground::store::{Entry, Ledger};
use tempfile::TempDir;

const SECRETS: [&str; 2] = ["AK-canary-7f31", "SK-canary-c09d"];

/// Copies of the examples, and a `terraform` that uses the providers from the build.
struct Bench {
    directory: TempDir,
}

impl Bench {
    /// Returns `None` if `terraform` is not installed.
    fn new() -> Option<Bench> {
        if Command::new("terraform").arg("version").output().is_err() {
            // Not `eprintln!`: the test harness captures its output, and the user must see this line.
            let _ = writeln!(std::io::stderr(), "skipped: terraform is not on PATH");
            return None;
        }
        let directory = tempfile::tempdir().expect("a directory can be made");
        let examples = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples");
        for example in ["secrets", "lease", "tunnel"] {
            copy(&examples.join(example), &directory.path().join(example));
        }
        let plugin = Path::new(env!("CARGO_BIN_EXE_terraform-provider-playground"));
        let folder = plugin.parent().expect("is in a folder").display();
        let bundled = providers::bundled().into_iter();
        let lines: String =
            bundled.map(|it| format!("    \"{}\" = \"{folder}\"\n", it.source)).collect();
        let overrides = format!("provider_installation {{\n  dev_overrides {{\n{lines}  }}\n}}\n");
        fs::write(directory.path().join("terraformrc"), overrides).expect("can be written");
        Some(Bench { directory })
    }

    fn path(&self, name: &str) -> PathBuf {
        self.directory.path().join(name)
    }

    #[track_caller]
    fn run<S: AsRef<OsStr>>(&self, folder: &str, arguments: impl IntoIterator<Item = S>) -> String {
        let Output { status, stdout, stderr } = Command::new("terraform")
            .args(arguments)
            .current_dir(self.path(folder))
            .env("TF_CLI_CONFIG_FILE", self.path("terraformrc"))
            .env("TF_IN_AUTOMATION", "1")
            .env("TF_CLI_ARGS", "-no-color")
            .env("CHECKPOINT_DISABLE", "1")
            .env_remove("TF_LOG")
            .output()
            .expect("starts");
        let (stdout, stderr) = (String::from_utf8_lossy(&stdout), String::from_utf8_lossy(&stderr));
        assert!(status.success(), "{folder}:\n{stdout}\n{stderr}");
        assert!(
            SECRETS.iter().all(|it| !stdout.contains(it) && !stderr.contains(it)),
            "a secret is shown"
        );
        stdout.into_owned()
    }

    /// Applies, checks that a plan afterwards is empty, and returns the output of the apply.
    #[track_caller]
    fn apply(&self, folder: &str, variables: &[String]) -> String {
        self.run(folder, ["get"]);
        let with = |arguments: &[&str]| {
            let all = arguments.iter().map(ToString::to_string).chain(variables.iter().cloned());
            self.run(folder, all)
        };
        let printed = with(&["apply", "-auto-approve"]);
        assert!(with(&["plan"]).contains("No changes."), "{folder}: the second plan is empty");
        printed
    }

    #[track_caller]
    fn destroy(&self, folder: &str, variables: &[String]) {
        let arguments = ["destroy", "-auto-approve"].map(str::to_owned).into_iter();
        self.run(folder, arguments.chain(variables.iter().cloned()));
    }

    fn ledger(&self, folder: &str) -> Vec<Entry> {
        Ledger::read(&self.path(folder).join("ledger.jsonl")).expect("reads")
    }

    /// Searches all files below the directory for the secrets.
    fn assert_nothing_is_written(&self) {
        let mut folders = vec![self.directory.path().to_owned()];
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(folder).expect("can be listed") {
                let path = entry.expect("can be listed").path();
                if path.is_dir() {
                    folders.push(path);
                } else if let Ok(bytes) = fs::read(&path) {
                    let holds =
                        |it: &&str| bytes.windows(it.len()).any(|window| window == it.as_bytes());
                    assert!(!SECRETS.iter().any(holds), "{} holds a secret", path.display());
                }
            }
        }
    }
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).expect("can be made");
    for entry in fs::read_dir(from).expect("can be listed") {
        let path = entry.expect("can be listed").path();
        let target = to.join(path.file_name().expect("has a name"));
        if path.is_dir() {
            let name = path.file_name().and_then(OsStr::to_str).unwrap_or_default();
            if !name.starts_with('.') {
                copy(&path, &target);
            }
        } else if path.extension().is_some_and(|it| it == "tf") {
            fs::copy(&path, &target).expect("can be copied");
        }
    }
}

fn count(entries: &[Entry], event: &str, type_name: &str) -> usize {
    entries.iter().filter(|it| it.event == event && it.type_name == type_name).count()
}

#[track_caller]
fn assert_has(printed: &str, lines: &[&str]) {
    for line in lines {
        assert!(printed.contains(line), "{line:?} is missing in:\n{printed}");
    }
}

#[test]
fn terraform_carries_a_secret_from_one_run_to_another() {
    let Some(bench) = Bench::new() else { return };
    let keys =
        [format!("-var=access_key={}", SECRETS[0]), format!("-var=secret_key={}", SECRETS[1])];
    let printed = bench.apply("secrets/store", &keys);
    let retrieval = "ephemeral.playground_secret_version.secret_retrieval[0]";
    assert_has(
        &printed,
        &[
            &format!("{retrieval}: Configuration unknown, deferring..."),
            "+ secret_string_wo         = (write-only attribute)",
            &format!("{retrieval}: Opening complete after"),
            &format!("{retrieval}: Closing complete after"),
            "Apply complete! Resources: 2 added, 0 changed, 0 destroyed.",
        ],
    );
    let arn = bench.run("secrets/store", ["output", "-raw", "secret_manager_arn"]);
    let arn = [format!("-var=secret_manager_arn={}", arn.trim())];
    let printed = bench.apply("secrets/read", &arn);
    assert_has(
        &printed,
        &[
            "non-ephemeral value: arn:playground:ssm:",
            "(output suppressed due to ephemeral value in config)",
            "Apply complete! Resources: 1 added, 0 changed, 0 destroyed.",
        ],
    );
    bench.assert_nothing_is_written();
    bench.destroy("secrets/read", &arn);
    bench.destroy("secrets/store", &keys);
    let ledger = bench.ledger("secrets/.playground");
    for kind in ["playground_secret", "playground_secret_version", "playground_parameter"] {
        assert_eq!(
            (count(&ledger, "created", kind), count(&ledger, "deleted", kind)),
            (1, 1),
            "{kind}"
        );
    }
    let opened = count(&ledger, "opened", "playground_secret_version");
    assert_eq!(opened, count(&ledger, "closed", "playground_secret_version"));
    assert!(opened > 0);
    bench.assert_nothing_is_written();
}

#[test]
fn terraform_works_through_a_tunnel() {
    let Some(bench) = Bench::new() else { return };
    let printed = bench.apply("tunnel", &[]);
    assert_has(&printed, &["ephemeral.playground_tunnel.example: Closing complete after"]);
    bench.destroy("tunnel", &[]);
    let ledger = bench.ledger("tunnel/.playground");
    let opened = count(&ledger, "opened", "playground_tunnel");
    assert_eq!(opened, count(&ledger, "closed", "playground_tunnel"));
    assert_eq!(count(&ledger, "deleted", "playground_parameter"), 1);
}

#[test]
fn terraform_renews_a_lease() {
    let Some(bench) = Bench::new() else { return };
    let printed = bench.run("lease", ["apply", "-auto-approve"]);
    assert_has(&printed, &["ephemeral.playground_lease.example: Renewing..."]);
    let ledger = bench.ledger("lease/.playground");
    assert!(count(&ledger, "renewed", "playground_lease") > 0);
    assert_eq!(
        count(&ledger, "opened", "playground_lease"),
        count(&ledger, "closed", "playground_lease")
    );
    assert_eq!(count(&ledger, "expired", "playground_lease"), 0);
}

#[test]
fn terraform_passes_on_write_only_values_and_stores_none() {
    let Some(bench) = Bench::new() else { return };
    fs::create_dir(bench.path("vault")).expect("can be made");
    fs::write(bench.path("vault/main.tf"), include_str!("vault.tf")).expect("can be written");
    let secret = |text: &str| format!("-var=secret={text}");
    bench.apply("vault", &[secret(SECRETS[0])]);
    let plan = bench.run("vault", ["plan".to_owned(), secret(SECRETS[1])]);
    assert!(plan.contains("No changes."), "another value alone is no change");
    let raised = ["-var=secrets_version=2".to_owned(), secret(SECRETS[1])];
    assert_has(&bench.apply("vault", &raised), &["Resources: 0 added, 2 changed, 0 destroyed."]);
    bench.assert_nothing_is_written();
    bench.destroy("vault", &raised);
    let ledger = bench.ledger("vault/.playground");
    let received = |event: &str, kind: &str| {
        let entry = ledger.iter().find(|it| it.event == event && it.type_name == kind);
        entry.expect("is written down").received.clone()
    };
    let created = received("created", "playground_vault");
    assert_eq!(created.len(), 10);
    let updated = received("updated", "playground_database");
    assert_ne!(created["secret_wo"], updated["password_wo"], "the new value was received");
    assert_eq!(created["secret_wo"], received("created", "playground_database")["password_wo"]);
}

#[test]
fn terraform_writes_files_and_packs_them() {
    let Some(bench) = Bench::new() else { return };
    fs::create_dir(bench.path("files")).expect("can be made");
    fs::write(bench.path("files/main.tf"), include_str!("files.tf")).expect("can be written");
    let variables =
        |text: &str| [format!("-var=text={text}"), format!("-var=secret={}", SECRETS[0])];
    let printed = bench.apply("files", &variables("one"));
    assert_has(&printed, &["Apply complete! Resources: 3 added, 0 changed, 0 destroyed."]);
    let hashes = bench.run("files", ["output", "-json", "hashes"]);
    let hashes: Vec<String> = serde_json::from_str(&hashes).expect("is a list");
    assert!(hashes.len() == 2 && hashes[0] == hashes[1], "the hash is that of the file");

    let printed = bench.run(
        "files",
        [&["apply", "-auto-approve"].map(str::to_owned)[..], &variables("two")].concat(),
    );
    assert_has(&printed, &["local_file.note must be replaced", "1 added, 0 changed, 1 destroyed."]);
    // The archive of the directory follows the changed note only in the next run.
    let printed = bench.apply("files", &variables("two"));
    assert_has(
        &printed,
        &["archive_file.all will be updated in-place", "0 added, 1 changed, 0 destroyed."],
    );

    fs::remove_file(bench.path("files/files/all.tar.gz")).expect("is there");
    fs::remove_file(bench.path("files/files/note.txt")).expect("is there");
    let printed = bench.apply("files", &variables("two"));
    assert_has(&printed, &["Apply complete! Resources: 2 added, 0 changed, 0 destroyed."]);
    bench.destroy("files", &variables("two"));
    assert!(
        !bench.path("files/files/key").exists() && !bench.path("files/files/note.txt").exists()
    );
    assert!(bench.path("files/files/all.tar.gz").exists(), "an archive is left");
}
