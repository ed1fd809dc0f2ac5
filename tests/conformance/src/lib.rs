//! A directory, a state and the playground: what one person's runs happen in, from text to state, in this process.
//!
//! Start reading at [`World`]. The tests of this package judge the whole: [`World::validate`] is what `validate` says,
//! [`World::plan`] what the engine does with the very same program.
//!
//! **Invariant:** nothing here decides what is right; expectations stand in `tests/`.
//! **Absent on purpose:** processes, terminals, the command line.

#![expect(
    clippy::disallowed_methods,
    reason = "tests make directories for the playground's store and read specifications"
)]

mod environment;
mod events;
mod served;
mod written;

use std::{
    collections::BTreeMap,
    path::PathBuf,
    sync::{Arc, Mutex},
};

use addr::{ProviderSource, ResourceInstance};
use db::{Diagnostic, MemorySystem, System, fixture::split_fixture};
use engine::{
    ApplyOptions, ApplyOutcome, Console, Event, ImportOptions, PlanOptions, PlanOutcome,
    ValueSource, VariableValues, apply, import, plan,
};
use hir::{Program, Ref};
use project::Project;
use provider::ProviderSchemas;
use providers::playground::{
    self,
    store::{Entry, Record, Secret, Store},
};
use state::{PlanMode, State};
use tempfile::TempDir;
use values::Value;

pub use environment::block_on;
pub use events::log_of;
pub use served::Served;
pub use written::{MADE_BY, finds, plan_file, state_file};

/// The word in fixtures that stands for the directory of the playground's store.
pub const STORE: &str = "$STORE";

/// Everything that one configuration is run with.
pub struct World {
    project: Project,
    files: Vec<(String, String)>,
    system: Arc<MemorySystem>,
    store: Arc<TempDir>,
    /// The state that the next run starts from.
    pub state: State,
    /// Values of root variables.
    pub variables: VariableValues,
    /// What is planned.
    pub mode: PlanMode,
    /// What commands of provisioners were run.
    pub commands: Arc<Mutex<Vec<String>>>,
    events: Arc<Mutex<Vec<Event>>>,
}

impl World {
    /// A fixture of several files, with a provider block that keeps the playground's store in a directory of its own.
    pub fn new(fixture: &str) -> World {
        World::bare(&format!(
            "{fixture}\n//- /playground.tf\nprovider \"playground\" {{\n  store = \"{STORE}\"\n}}\n"
        ))
    }

    /// A fixture of several files; its provider blocks say `store = "$STORE"`.
    ///
    /// # Panics
    /// If the fixture has no root module, or the playground has no schemas.
    pub fn bare(fixture: &str) -> World {
        let store = TempDir::new().expect("a temporary directory can be made");
        World::with(fixture, ".", Arc::new(store))
    }

    /// Another configuration, with a state of its own, that uses the same remote system. Its root module is in `root`.
    ///
    /// # Panics
    /// See [`World::bare`].
    pub fn beside(&self, fixture: &str, root: &str) -> World {
        World::with(fixture, root, Arc::clone(&self.store))
    }

    fn with(fixture: &str, root: &str, store: Arc<TempDir>) -> World {
        let system = Arc::new(MemorySystem::new());
        let mut files = split_fixture(fixture);
        for (path, text) in &mut files {
            *text = text.replace(STORE, &store.path().display().to_string());
            system.write(path, text.as_str());
        }
        let loaded = Project::load(
            Arc::clone(&system) as Arc<dyn System>,
            PathBuf::from(root),
            BTreeMap::new(),
        );
        let mut project = loaded.expect("a fixture has a root module");
        for (source, schemas) in environment::schemas() {
            project.set_schemas(source, schemas);
        }
        World {
            project,
            files,
            system,
            store,
            state: State::default(),
            variables: VariableValues::new(),
            mode: PlanMode::Normal,
            commands: Arc::default(),
            events: Arc::default(),
        }
    }

    /// The files of the fixture by their paths.
    pub fn files(&self) -> &[(String, String)] {
        &self.files
    }

    /// Gives a root variable a value, as `-var` does.
    pub fn set(&mut self, name: &str, value: &str) -> &mut World {
        self.set_value(name, Value::string(value))
    }

    /// Gives a root variable a value that is no text.
    pub fn set_value(&mut self, name: &str, value: Value) -> &mut World {
        self.variables.set(name, value, ValueSource::CommandLine);
        self
    }

    /// Changes a file as an editor does.
    ///
    /// # Panics
    /// If the file is no part of the configuration.
    pub fn edit(&mut self, path: &str, text: &str) {
        let text = text.replace(STORE, &self.store.path().display().to_string());
        assert!(self.project.set_text(path, &text), "{path} is part of the configuration");
    }

    /// The configuration.
    pub fn project(&self) -> &Project {
        &self.project
    }

    /// The same, to be edited.
    pub fn project_mut(&mut self) -> &mut Project {
        &mut self.project
    }

    /// The program as the engine gets it.
    pub fn program(&self) -> Arc<Program> {
        Arc::new(self.project.program())
    }

    /// What static analysis says, hints included.
    pub fn analysis(&self) -> Vec<Diagnostic> {
        self.project.diagnostics()
    }

    /// The value of a local of the root module, as the console would show it: nothing runs.
    ///
    /// # Panics
    /// If there is no such local.
    pub fn local(&self, name: &str) -> Value {
        let value = self.reference(&Ref::Local(name.into()));
        value.unwrap_or_else(|| panic!("local.{name} can be evaluated"))
    }

    /// What a reference of the root module means, as the console would show it: nothing runs. `None` where it cannot be
    /// evaluated.
    pub fn reference(&self, reference: &Ref) -> Option<Value> {
        let console = Console::new(
            &self.program(),
            &self.state,
            self.variables.clone(),
            &self.environment(),
            "default".into(),
        );
        let value = block_on(console.evaluate(|scope| scope.reference(reference)));
        block_on(console.end());
        value.ok()?.ok()
    }

    /// What `validate` says: static analysis, and the providers' own words where that found no error.
    pub fn validate(&self) -> Vec<Diagnostic> {
        let mut diagnostics = self.analysis();
        if !diagnostics.iter().any(Diagnostic::is_error) {
            let surroundings = self.environment();
            let workspace = "default".into();
            diagnostics.extend(block_on(engine::validate(
                &self.program(),
                &surroundings,
                &workspace,
                &environment::NothingKept,
            )));
        }
        diagnostics
    }

    /// Plans, whatever analysis says; the state stays as it was.
    pub fn plan(&mut self) -> PlanOutcome {
        self.plan_of(false)
    }

    /// Plans and applies, as `apply -auto-approve` does; gives all that was said.
    pub fn apply(&mut self) -> Vec<Diagnostic> {
        let planned = self.plan_of(true);
        if planned.has_errors() {
            return planned.diagnostics;
        }
        let mut said = planned.diagnostics;
        said.extend(self.apply_plan(&planned.plan, planned.refreshed));
        said
    }

    /// Applies a plan.
    pub fn apply_plan(&mut self, plan: &state::Plan, refreshed: State) -> Vec<Diagnostic> {
        let (program, surroundings) = (self.program(), self.environment());
        let options = ApplyOptions { parallelism: 10, workspace: "default".into() };
        let variables = self.variables.clone();
        let outcome = block_on(apply(&program, plan, refreshed, variables, &surroundings, options));
        self.state = outcome.state;
        outcome.diagnostics
    }

    /// Asks for the object with an id, as that of an address; the state stays as it was.
    pub fn import(&mut self, address: ResourceInstance, id: &str) -> ApplyOutcome {
        let (program, environment) = (self.program(), self.environment());
        let options = ImportOptions {
            address,
            id: id.into(),
            answers: None,
            parallelism: 10,
            workspace: "default".into(),
            temp: engine::TempRoot::without_plan(),
        };
        block_on(import(
            &program,
            self.state.clone(),
            self.variables.clone(),
            &environment,
            options,
        ))
    }

    fn plan_of(&mut self, applying: bool) -> PlanOutcome {
        let (program, environment) = (self.program(), self.environment());
        let options = PlanOptions {
            is_saved: false,
            mode: self.mode,
            refresh: true,
            parallelism: 10,
            applying,
            workspace: "default".into(),
            replace: Vec::new(),
            uncertain: Vec::new(),
            timestamp: "2025-01-01T00:00:00Z".into(),
            temp: engine::TempRoot::without_plan(),
        };
        let (state, variables) = (self.state.clone(), self.variables.clone());
        block_on(plan(&program, state, variables, &environment, options))
    }

    /// The events since the last time, as the lines that people see.
    ///
    /// # Panics
    /// If a test that shares the events panicked.
    pub fn log(&self) -> String {
        log_of(&self.take_events())
    }

    /// The events since the last time.
    ///
    /// # Panics
    /// If a test that shares the events panicked.
    pub fn take_events(&self) -> Vec<Event> {
        std::mem::take(&mut *self.events.lock().expect("not poisoned"))
    }

    /// Puts a secret into the playground's store, as somebody else would have; `value` is its ARN too.
    ///
    /// # Panics
    /// If the store cannot be written.
    pub fn remote_secret(&self, name: &str, value: &str) {
        let mut record = Record::new("secret", name, value);
        record.set_secret("value", Secret::new(value));
        self.open_store().create(&record).expect("the store can be written");
    }

    /// What the provider was asked and what it did.
    ///
    /// # Panics
    /// If the ledger cannot be read.
    pub fn ledger(&self) -> Vec<Entry> {
        self.open_store().ledger().entries().expect("the ledger can be read")
    }

    /// Whether the provider received `secret` in an operation that left this event in the ledger.
    pub fn received(&self, event: &str, secret: &str) -> bool {
        let fingerprint = self.open_store().fingerprint(&Secret::new(secret));
        self.ledger()
            .iter()
            .any(|it| it.event == event && it.received.values().any(|it| *it == fingerprint))
    }

    fn open_store(&self) -> Store {
        Store::open(self.store.path()).expect("the store can be opened")
    }

    fn environment(&self) -> engine::Environment {
        environment::environment(&self.system, &self.events, &self.commands)
    }
}

/// The schemas of a provider that fixtures may use.
pub fn schemas_of(source: &ProviderSource) -> Option<Arc<ProviderSchemas>> {
    let mut known = environment::schemas().into_iter();
    known.find(|(it, _)| it == source).map(|(_, schemas)| schemas)
}

/// The sources under which fixtures find the playground: the name alone, and the full one.
pub(crate) fn playground_sources() -> [ProviderSource; 2] {
    [
        ProviderSource::implied_for("playground"),
        ProviderSource::parse(playground::SOURCE).expect("the constant is a source address"),
    ]
}

/// Every Markdown file below a directory of the repository, sorted, with its text.
///
/// # Panics
/// If something cannot be read.
pub fn markdown_files(directory: &str) -> Vec<(String, String)> {
    let with_text = |path: String| {
        let text = read_file(&path);
        (path, text)
    };
    files_below(directory, "md").into_iter().map(with_text).collect()
}

/// The paths of the files below a directory whose names have this ending, sorted.
///
/// # Panics
/// If something cannot be read.
pub fn files_below(directory: &str, extension: &str) -> Vec<String> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(directory).unwrap_or_else(|error| panic!("{directory}: {error}"))
    {
        let path = entry.expect("an entry can be read").path();
        let shown = path.display().to_string();
        if path.is_dir() {
            found.extend(files_below(&shown, extension));
        } else if path.extension().is_some_and(|it| it == extension) {
            found.push(shown);
        }
    }
    found.sort();
    found
}

/// Whether there is a file of the repository.
pub fn is_file(path: &str) -> bool {
    std::path::Path::new(path).is_file()
}

/// The text of a file of the repository.
///
/// # Panics
/// If it cannot be read.
pub fn read_file(path: &str) -> String {
    std::fs::read_to_string(path).unwrap_or_else(|error| panic!("{path}: {error}"))
}
