//! Changes of a state in one process: the files after a request that fails, changes nothing, or is repeated at once.
//! The end-to-end tests show one command per process.

use std::{
    fs,
    path::{Path, PathBuf},
    sync::Arc,
};

use db::{Diagnostic, OsSystem, Sources};
use engine::{CancelToken, LogLevel, Redactor};
use plugin::Processes;
use sorted::TreeMap;
use state::StateFile;
use tempfile::TempDir;

use super::{
    Execution, moves,
    push::{self, Succession},
    remove,
    replace_provider::{self, Replacement},
    taint::{self, Mark},
};
use crate::{
    root_system::{RootSystem, Variables},
    runtime::Runtime,
    session::{Failure, Session, SessionOptions},
    store::StateOptions,
    view::{Notice, Question, Run, RunView, Unanswered, View},
    workspaces::{self, Deleted, Selected},
};

/// A view that shows nothing.
struct Unseen;

impl View for Unseen {
    fn diagnostics(&self, _: &[Diagnostic], _: &Sources) {}

    fn diagnostics_aside(&self, _: &[Diagnostic]) {}

    fn notice(&self, _: &Notice<'_>) {}

    fn is_interactive(&self) -> bool {
        false
    }

    fn ask(&self, _: &Question<'_>) -> Result<String, Unanswered> {
        Err(Unanswered::NoInput)
    }

    fn log(&self, _: LogLevel, _: &str, _: &str) {}

    fn run(&self, _: Run, _: &Sources, _: &Redactor) -> Arc<dyn RunView> {
        unreachable!("no operation of this module runs the engine")
    }
}

/// A state with two resources, one of them with two instances.
const STATE: &str = r#"{
  "version": 4, "terraform_version": "1.12.6", "serial": 7, "lineage": "b8f1e2a0-0000-4000-8000-000000000000",
  "outputs": {},
  "resources": [
    {
      "mode": "managed", "type": "terraform_data", "name": "one",
      "provider": "provider[\"terraform.io/builtin/terraform\"]",
      "instances": [{"schema_version": 0, "attributes": {"id": "1"}}]
    },
    {
      "mode": "managed", "type": "terraform_data", "name": "many",
      "provider": "provider[\"terraform.io/builtin/terraform\"]",
      "instances": [
        {"index_key": 0, "schema_version": 0, "attributes": {"id": "2"}},
        {"index_key": 1, "schema_version": 0, "attributes": {"id": "3"}}
      ]
    }
  ],
  "check_results": null
}"#;

struct Root {
    session: Session,
    directory: TempDir,
}

impl Root {
    fn new() -> Root {
        let directory = TempDir::new().expect("can be made");
        let path = directory.path().to_owned();
        fs::write(path.join("terraform.tfstate"), STATE).expect("can be written");
        let runtime = Runtime::with_workers(1);
        let system = RootSystem::new(OsSystem::at(path.clone()), path.clone());
        let session = Session::new(SessionOptions {
            view: Arc::new(Unseen),
            system: system.with_variables(Variables::Fixed(Arc::new(TreeMap::new()))),
            directory: Some(path),
            runtime: runtime.expect("can be made"),
            strict_secrets: false,
            cancel: CancelToken::new(),
            processes: Processes::default(),
            executable: Ok(PathBuf::from("/no/such/executable")),
            arguments: |_| None,
        });
        Root { session, directory }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.directory.path().join(name)
    }

    fn text(&self) -> String {
        fs::read_to_string(self.path("terraform.tfstate")).expect("can be read")
    }

    fn state(&self) -> StateFile {
        StateFile::read(self.text().as_bytes()).expect("is a state")
    }

    fn addresses(&self) -> Vec<String> {
        self.state().state.instances().map(|it| it.address.to_string()).collect()
    }

    /// The names of all files but the state.
    fn other_files(&self) -> Vec<String> {
        let names = fs::read_dir(self.directory.path()).expect("can be listed").flatten();
        let names = names.filter_map(|it| it.file_name().into_string().ok());
        let mut names: Vec<String> = names.filter(|it| it != "terraform.tfstate").collect();
        names.sort();
        names
    }

    fn mark(&self, address: &str, mark: Mark) -> Result<bool, Failure> {
        let address = taint::address(address)?;
        taint::mark(&self.session, &options(), &address, mark)
    }

    fn remove(&self, address: &str, execution: Execution) -> Result<usize, Failure> {
        let addresses = [address.to_owned()];
        remove::remove(&self.session, &options(), &addresses, execution).map(|it| it.len())
    }

    fn move_objects(&self, from: &str, to: &str, execution: Execution) -> Result<usize, Failure> {
        let request = moves::Request { from, to, state_out: None, backup_out: None, execution };
        moves::move_objects(&self.session, &options(), &request).map(|it| it.len())
    }
}

fn options() -> StateOptions {
    StateOptions {
        lock: true,
        lock_timeout: "0s".to_owned(),
        state: None,
        state_out: None,
        backup: None,
    }
}

fn summaries<T>(result: Result<T, Failure>) -> Vec<String> {
    match result {
        Ok(_) => Vec::new(),
        Err(Failure::Diagnostics(found, _)) => {
            found.iter().map(|it| it.summary.to_string()).collect()
        }
    }
}

#[test]
fn failed_request_leaves_no_lock_no_backup_and_the_same_bytes() {
    let root = Root::new();
    let failures = [
        summaries(root.move_objects(
            "terraform_data.one",
            "terraform_data.many[0]",
            Execution::Real,
        )),
        summaries(root.move_objects("terraform_data.none", "terraform_data.two", Execution::Real)),
        summaries(root.remove("terraform_data.none", Execution::Real)),
        summaries(push::push(
            &root.session,
            &options(),
            StateFile::new("another lineage".to_owned()),
            Succession::Checked,
        )),
        summaries(workspaces::delete(&root.session, "default", &options(), true)),
    ];
    for failure in &failures {
        assert!(!failure.is_empty(), "{failures:?}");
    }
    assert_eq!(root.text(), STATE);
    assert_eq!(root.other_files(), [""; 0]);
    // Each request took the lock. The next one gets it without waiting.
    assert_eq!(root.mark("terraform_data.one", Mark::Taint).ok(), Some(true));
}

#[test]
fn request_that_changes_nothing_is_not_written() {
    let root = Root::new();
    assert_eq!(root.mark("terraform_data.none", Mark::Taint).ok(), Some(false));
    assert_eq!(root.text(), STATE);
    assert_eq!(root.mark("terraform_data.one", Mark::Taint).ok(), Some(true));
    let tainted = root.text();
    assert_eq!(root.state().serial, 8);
    assert_eq!(root.mark("terraform_data.one", Mark::Taint).ok(), Some(true));
    assert_eq!(root.text(), tainted);
    let replacement = Replacement::parse("acme/none", "acme/other").ok().expect("is valid");
    let begun = replace_provider::begin(&root.session, &options(), replacement);
    assert!(begun.ok().expect("succeeds").is_none());
    assert_eq!(root.text(), tainted);
}

#[test]
fn dry_run_writes_neither_state_nor_backup() {
    let root = Root::new();
    assert_eq!(root.remove("terraform_data.many", Execution::Dry).ok(), Some(2));
    let moved = root.move_objects("terraform_data.many", "terraform_data.more", Execution::Dry);
    assert_eq!(moved.ok(), Some(1));
    assert_eq!(root.text(), STATE);
    assert_eq!(root.other_files(), [""; 0]);
}

#[test]
fn backups_of_the_same_second_are_all_kept() {
    let root = Root::new();
    assert_eq!(root.remove("terraform_data.many[0]", Execution::Real).ok(), Some(1));
    assert_eq!(root.remove("terraform_data.many[1]", Execution::Real).ok(), Some(1));
    let moved =
        root.move_objects("terraform_data.one", "module.m.terraform_data.one", Execution::Real);
    assert_eq!(moved.ok(), Some(1));
    assert_eq!(root.addresses(), ["module.m.terraform_data.one"]);
    let backups = root.other_files();
    assert_eq!(backups.len(), 3, "{backups:?}");
    let serials = backups.iter().map(|name| {
        let bytes = fs::read(root.path(name)).expect("can be read");
        StateFile::read(&bytes).expect("is a state").serial
    });
    assert_eq!(serials.collect::<Vec<_>>(), [7, 8, 9]);
}

#[test]
fn cancelled_replacement_of_a_provider_releases_the_state() {
    let root = Root::new();
    let begin = || {
        let (from, to) = ("terraform.io/builtin/terraform", "acme/other");
        let replacement = Replacement::parse(from, to).ok().expect("is valid");
        let begun = replace_provider::begin(&root.session, &options(), replacement);
        begun.ok().expect("succeeds").expect("finds resources")
    };
    let pending = begin();
    assert_eq!(pending.resources().len(), 2);
    assert!(pending.cancel(&root.session).is_ok());
    assert_eq!(root.text(), STATE);
    assert!(begin().finish(&root.session).is_ok());
    assert!(root.text().contains("acme/other"));
}

#[test]
fn workspace_is_deleted_only_without_objects_or_by_force() {
    let root = Root::new();
    let first = StateOptions { state: Some(root.path("terraform.tfstate")), ..options() };
    assert!(workspaces::create(&root.session, "copy", &first).is_ok());
    assert_eq!(workspaces::list(&root.session).ok().expect("succeeds").names, ["default", "copy"]);
    let selected = workspaces::select(&root.session, "default", false);
    assert_eq!(selected.ok(), Some(Selected::Changed));
    let refused = workspaces::delete(&root.session, "copy", &options(), false);
    assert_eq!(summaries(refused), ["Workspace is not empty"]);
    // The refusal released the lock.
    let deleted = workspaces::delete(&root.session, "copy", &options(), true);
    assert_eq!(deleted.ok(), Some(Deleted::WithObjects));
    assert!(!Path::new(&root.path("terraform.tfstate.d/copy")).exists());
    assert_eq!(root.text(), STATE);
}

#[test]
fn workspace_with_an_unreadable_first_state_is_not_created() {
    let root = Root::new();
    fs::write(root.path("broken.tfstate"), "{").expect("can be written");
    let first = StateOptions { state: Some(root.path("broken.tfstate")), ..options() };
    assert!(workspaces::create(&root.session, "new", &first).is_err());
    assert_eq!(workspaces::list(&root.session).ok().expect("succeeds").names, ["default"]);
    assert_eq!(workspaces::selected(&root.session).ok().as_deref(), Some("default"));
}
