//! Two root modules in one process, at the same time: each has its own directory, environment and state.
#![expect(
    clippy::disallowed_methods,
    reason = "the test makes directories and reads what was written there"
)]

use std::{
    ffi::OsString,
    fs,
    path::{Path, PathBuf},
    sync::{Arc, Mutex},
};

use db::{Diagnostic, OsSystem, Sources};
use engine::{CancelToken, Event, EventSink, LogLevel, Operation, Redactor};
use operations::{
    apply::{self, Approved},
    goal::Goal,
    plan::{self, PlanOptions},
    root_system::{RootSystem, Variables},
    runtime::Runtime,
    session::{Failure, Session, SessionOptions},
    store::{self, Purpose, StateOptions},
    temp::TempFiles,
    view::{Notice, Question, Run, RunView, Unanswered, View},
};
use plugin::Processes;
use sorted::TreeMap;
use state::StateFile;
use tempfile::TempDir;

/// Keeps what it sees of its root: the environment, the directory, a file. The command waits for that of the other
/// root, so both must run at once.
const MAIN: &str = r#"
variable "name" {
  type = string
}

resource "terraform_data" "it" {
  input = "${var.name} in ${basename(abspath("."))} with ${file("own.txt")}"

  provisioner "local-exec" {
    command = "printf '%s %s %s' \"$WHO\" \"$TF_VAR_name\" \"$(basename \"$PWD\")\" > seen; ${file("meet.txt")}"
  }
}

output "text" {
  value = terraform_data.it.output
}
"#;

#[derive(Default)]
struct Recorder {
    diagnostics: Mutex<Vec<Diagnostic>>,
    events: Arc<Mutex<Vec<String>>>,
}

impl View for Recorder {
    fn diagnostics(&self, diagnostics: &[Diagnostic], _: &Sources) {
        self.diagnostics.lock().expect("not poisoned").extend_from_slice(diagnostics);
    }

    fn diagnostics_aside(&self, diagnostics: &[Diagnostic]) {
        self.diagnostics(diagnostics, &Sources::default());
    }

    fn notice(&self, _: &Notice<'_>) {}

    fn is_interactive(&self) -> bool {
        false
    }

    fn ask(&self, _: &Question<'_>) -> Result<String, Unanswered> {
        Err(Unanswered::NoInput)
    }

    fn log(&self, _: LogLevel, _: &str, _: &str) {}

    fn run(&self, _: Run, _: &Sources, _: &Redactor) -> Arc<dyn RunView> {
        Arc::new(Events(Arc::clone(&self.events)))
    }
}

/// Records which instances were applied.
struct Events(Arc<Mutex<Vec<String>>>);

impl EventSink for Events {
    fn event(&self, event: Event) {
        if let Event::ApplyComplete { address, .. } = event {
            self.0.lock().expect("not poisoned").push(address.to_string());
        }
    }
}

impl RunView for Events {
    fn expects(&self, _: Option<usize>) {}

    fn end_log(&self) {}

    fn finish(&self, _: Operation) {}
}

struct Root {
    session: Session,
    view: Arc<Recorder>,
    directory: PathBuf,
}

impl Root {
    /// A root module below `parent`. `meet` is the end of its command.
    fn new(parent: &Path, name: &str, meet: &str, runtime: &Runtime) -> Root {
        let directory = parent.join(name);
        fs::create_dir(&directory).expect("can be made");
        let write = |file: &str, text: &str| {
            fs::write(directory.join(file), text).expect("can be written");
        };
        write("main.tf", MAIN);
        write("own.txt", &format!("the file of {name}"));
        write("meet.txt", meet);
        let variable = |name: &str, value: &str| (OsString::from(name), OsString::from(value));
        let given = TreeMap::from([
            variable("PATH", &std::env::var("PATH").expect("is set")),
            variable("HOME", &parent.join("home").display().to_string()),
            variable("TF_VAR_name", &format!("root-{name}")),
            variable("TF_DATA_DIR", &format!(".data-{name}")),
            variable("WHO", name),
        ]);
        let system = RootSystem::new(OsSystem::at(directory.clone()), directory.clone());
        let view = Arc::<Recorder>::default();
        let session = Session::new(SessionOptions {
            view: Arc::clone(&view) as Arc<dyn View>,
            system: system.with_variables(Variables::Fixed(Arc::new(given))),
            directory: Some(directory.clone()),
            runtime: runtime.clone(),
            strict_secrets: false,
            cancel: CancelToken::new(),
            processes: Processes::default(),
            // The built-in provider needs no process.
            executable: Ok(PathBuf::from("/no/such/executable")),
            arguments: |_| None,
        });
        Root { session, view, directory }
    }

    /// Plans and applies. Returns the errors.
    fn apply(&self) -> Vec<Diagnostic> {
        match self.try_apply() {
            Ok(diagnostics) => diagnostics,
            Err(Failure::Diagnostics(diagnostics, _)) => diagnostics,
        }
    }

    fn try_apply(&self) -> Result<Vec<Diagnostic>, Failure> {
        let session = &self.session;
        let state = StateOptions {
            lock: true,
            lock_timeout: "0s".to_owned(),
            state: None,
            state_out: None,
            backup: None,
        };
        let options = PlanOptions {
            parallelism: 10,
            refresh: true,
            goal: Goal::default(),
            retry_uncertain: false,
            input: false,
            applying: true,
            is_saved: false,
            is_quiet: false,
            generate_config_out: None,
            since: None,
            changes: None,
        };
        let open = store::open(session, &state, Purpose::Apply)?;
        let files = TempFiles::new(session);
        let planned = plan::plan(session, &options, Vec::new(), &open, &files)?;
        if planned.outcome.has_errors() {
            open.close(session)?;
            return Ok(planned.outcome.diagnostics);
        }
        let approved = Approved::of(planned, &files);
        let settings = apply::Settings { parallelism: 10, suppress_forget_errors: false };
        let applied = apply::apply(session, settings, Purpose::Apply, approved, open)?;
        let diagnostics = applied.diagnostics.clone();
        applied.close(session)?;
        plan::end_temp(session, &files, false);
        Ok(diagnostics)
    }

    fn read(&self, file: &str) -> String {
        let path = self.directory.join(file);
        fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
    }
}

fn shown(diagnostics: &[Diagnostic]) -> Vec<String> {
    diagnostics.iter().map(|it| format!("{}: {}", it.summary, it.detail)).collect()
}

/// Creates the pipe through which one command tells the other one that it runs.
fn pipe(path: &Path) {
    let made = std::process::Command::new("mkfifo").arg(path).status().expect("starts");
    assert!(made.success());
}

#[test]
fn two_roots_apply_concurrently_without_sharing() {
    let parent = TempDir::new().expect("can be made");
    let parent = fs::canonicalize(parent.path()).expect("is there");
    pipe(&parent.join("to-one"));
    pipe(&parent.join("to-two"));
    let runtime = Runtime::with_workers(2).expect("can be made");
    let before = std::env::current_dir().expect("is known");
    let one = Root::new(&parent, "one", "echo > ../to-two; read x < ../to-one", &runtime);
    let two = Root::new(&parent, "two", "read x < ../to-two; echo > ../to-one", &runtime);
    std::thread::scope(|scope| {
        let applied = [&one, &two].map(|root| scope.spawn(|| root.apply()));
        for thread in applied {
            let diagnostics = thread.join().expect("does not panic");
            assert_eq!(shown(&diagnostics), [""; 0]);
        }
    });
    for (root, name) in [(&one, "one"), (&two, "two")] {
        assert_eq!(shown(&root.view.diagnostics.lock().expect("not poisoned")), [""; 0]);
        assert_eq!(*root.view.events.lock().expect("not poisoned"), ["terraform_data.it"]);
        assert_eq!(root.read("seen"), format!("{name} root-{name} {name}"));
        let file = StateFile::read(root.read("terraform.tfstate").as_bytes()).expect("a state");
        let text = file.state.outputs["text"].value.as_str().map(str::to_owned);
        let expected = format!("root-{name} in {name} with the file of {name}");
        assert_eq!(text.as_deref(), Some(expected.as_str()));
        assert!(
            !root.directory.join("terraform.tfstate.journal").exists(),
            "the journal has ended"
        );
        assert!(!root.directory.join(".terraform").exists());
    }
    let lineages = [&one, &two].map(|root| {
        StateFile::read(root.read("terraform.tfstate").as_bytes()).expect("a state").lineage
    });
    assert_ne!(lineages[0], lineages[1]);
    assert_eq!(std::env::current_dir().expect("is known"), before);
    // A second apply finds the state of the first one.
    fs::write(one.directory.join("meet.txt"), "true").expect("can be written");
    assert_eq!(shown(&one.apply()), [""; 0]);
    assert_eq!(one.view.events.lock().expect("not poisoned").len(), 1, "nothing is left to do");
}

/// Applies two roots whose commands run at the same time, ends one of them with `end`, and then lets the other one go
/// on. Returns the errors of both.
fn end_one_of_two(end: impl FnOnce(&Root)) -> [Vec<String>; 2] {
    let parent = TempDir::new().expect("can be made");
    let parent = fs::canonicalize(parent.path()).expect("is there");
    for name in ["one-runs", "two-runs", "never", "go"] {
        pipe(&parent.join(name));
    }
    let runtime = Runtime::with_workers(2).expect("can be made");
    let one = Root::new(&parent, "one", "echo > ../one-runs; read x < ../never", &runtime);
    let two = Root::new(&parent, "two", "echo > ../two-runs; read x < ../go", &runtime);
    let errors = std::thread::scope(|scope| {
        let [first, second] = [&one, &two].map(|root| scope.spawn(|| root.apply()));
        fs::read(parent.join("one-runs")).expect("the command of one runs");
        fs::read(parent.join("two-runs")).expect("the command of two runs");
        end(&one);
        let first = first.join().expect("does not panic");
        assert!(!second.is_finished(), "the command of two still waits");
        fs::write(parent.join("go"), "\n").expect("the command of two reads");
        [first, second.join().expect("does not panic")]
    });
    assert_eq!(*two.view.events.lock().expect("not poisoned"), ["terraform_data.it"]);
    errors.map(|it| it.into_iter().map(|it| it.summary.to_string()).collect())
}

#[test]
fn an_aborted_root_leaves_the_other_one_alone() {
    let [one, two] = end_one_of_two(|one| {
        one.session.cancel.cancel();
        one.session.cancel.cancel();
    });
    // The command may report that it was killed before the run is given up.
    assert_eq!(one.last().map(String::as_str), Some("execution halted"));
    assert_eq!(two, [""; 0]);
}

#[test]
fn killing_the_processes_of_one_root_leaves_those_of_the_other_one_alone() {
    let [one, two] = end_one_of_two(|one| one.session.processes.kill_all());
    assert_eq!(one, ["local-exec provisioner error"]);
    assert_eq!(two, [""; 0]);
}
