//! A test environment for whole runs in this process, from a configuration to a state: a project, a state, and the
//! playground provider.
//!
//! Start reading at [`World`]. The tests of this package check the whole: [`World::validate`] returns the
//! diagnostics of `validate`, and [`World::plan`] runs the engine with the same program.
//!
//! **Invariant:** nothing here decides what is right; expectations are in `tests/`.
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
    path::PathBuf,
    sync::{Arc, Mutex},
};

use addr::{ProviderSource, ResourceInstance, Target};
use db::{Diagnostic, MemorySystem, System, fixture::split_fixture};
use engine::{
    ApplyOptions, ApplyOutcome, Console, Event, ImportOptions, PlanOptions, PlanOutcome,
    ValueSource, VariableValues, apply, import, plan,
};
use hir::{Program, Ref};
use project::{Configure as _, EditableProject, Project};
use provider::ProviderSchemas;
use providers::playground::{
    self,
    store::{Entry, Record, Secret, Store},
};
use sorted::TreeMap;
use state::{PlanMode, State};
use tempfile::TempDir;
use values::Value;

pub use environment::block_on;
pub use events::log_of;
pub use served::Served;
pub use written::{MADE_BY, finds, plan_file, state_file};

/// The placeholder in fixtures for the directory of the playground's store.
pub const STORE: &str = "$STORE";

/// A configuration with everything that a run of it needs.
pub struct World {
    project: EditableProject,
    files: Vec<(String, String)>,
    system: Arc<MemorySystem>,
    store: Arc<TempDir>,
    /// The state from which the next run starts.
    pub state: State,
    /// The values of root variables.
    pub variables: VariableValues,
    /// The mode of the next plan.
    pub mode: PlanMode,
    /// The instances that the next plan replaces (`-replace`).
    pub replace: Vec<ResourceInstance>,
    /// The addresses that limit the next plan (`-target`).
    pub targets: Vec<Target>,
    /// The addresses that the next plan leaves out (`-exclude`).
    pub excludes: Vec<Target>,
    /// The commands that provisioners ran.
    pub commands: Arc<Mutex<Vec<String>>>,
    events: Arc<Mutex<Vec<Event>>>,
}

impl World {
    /// Creates a world from a fixture of several files. Adds a provider block that gives the playground a store in
    /// a directory of its own.
    pub fn new(fixture: &str) -> World {
        World::bare(&format!(
            "{fixture}\n//- /playground.tf\nprovider \"playground\" {{\n  store = \"{STORE}\"\n}}\n"
        ))
    }

    /// Creates a world from a fixture of several files whose provider blocks set `store = "$STORE"`.
    ///
    /// # Panics
    /// If the fixture has no root module, or the playground has no schemas.
    pub fn bare(fixture: &str) -> World {
        let store = TempDir::new().expect("a temporary directory can be made");
        World::with(fixture, ".", Arc::new(store))
    }

    /// Creates a world with another configuration and its own state that shares the remote system of this one. Its
    /// root module is in `root`.
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
        let loaded = EditableProject::load(
            Arc::clone(&system) as Arc<dyn System>,
            PathBuf::from(root),
            TreeMap::new(),
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
            replace: Vec::new(),
            targets: Vec::new(),
            excludes: Vec::new(),
            commands: Arc::default(),
            events: Arc::default(),
        }
    }

    /// The files of the fixture with their paths.
    pub fn files(&self) -> &[(String, String)] {
        &self.files
    }

    /// Sets a root variable to a string, as `-var` does.
    pub fn set(&mut self, name: &str, value: &str) -> &mut World {
        self.set_value(name, Value::string(value))
    }

    /// Sets a root variable to any value.
    pub fn set_value(&mut self, name: &str, value: Value) -> &mut World {
        self.variables.set(name, value, ValueSource::CommandLine);
        self
    }

    /// Replaces the text of a file, as an editor does.
    ///
    /// # Panics
    /// If the file is not part of the configuration.
    pub fn edit(&mut self, path: &str, text: &str) {
        let text = text.replace(STORE, &self.store.path().display().to_string());
        assert!(self.project.set_text(path, &text), "{path} is part of the configuration");
    }

    /// The configuration.
    pub fn project(&self) -> &EditableProject {
        &self.project
    }

    /// The configuration, for edits.
    pub fn project_mut(&mut self) -> &mut EditableProject {
        &mut self.project
    }

    /// The files that functions read.
    pub fn system(&self) -> Arc<dyn System> {
        Arc::clone(&self.system) as Arc<dyn System>
    }

    /// The program that the engine runs.
    pub fn program(&self) -> Arc<Program> {
        Arc::new(self.project.program())
    }

    /// Loads these texts, by path, into a frozen database, as a command does.
    ///
    /// # Panics
    /// If the texts have no root module, or the playground has no schemas.
    pub fn frozen(texts: &TreeMap<String, String>) -> Project {
        let system = MemorySystem::new();
        texts.iter().for_each(|(path, text)| system.write(path, text.as_str()));
        let loaded = Project::load(Arc::new(system), PathBuf::from("."), TreeMap::new());
        let mut project = loaded.expect("the texts have a root module");
        for (source, schemas) in environment::schemas() {
            project.set_schemas(source, schemas);
        }
        project.finish()
    }

    /// The diagnostics of static analysis, including hints.
    pub fn analysis(&self) -> Vec<Diagnostic> {
        self.project.diagnostics()
    }

    /// The value of a local of the root module, as the console evaluates it; nothing is planned or applied.
    ///
    /// # Panics
    /// If the local does not exist or cannot be evaluated.
    pub fn local(&self, name: &str) -> Value {
        let value = self.reference(&Ref::Local(name.into()));
        value.unwrap_or_else(|| panic!("local.{name} can be evaluated"))
    }

    /// The value of a reference in the root module, as the console evaluates it; nothing is planned or applied.
    /// `None` if it cannot be evaluated.
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

    /// The diagnostics of `validate`: those of static analysis and, if they contain no error, those of the
    /// providers.
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
                &self.project.provider_instances(),
            )));
        }
        diagnostics
    }

    /// Plans, even if analysis reports errors. The state stays unchanged.
    pub fn plan(&mut self) -> PlanOutcome {
        self.plan_of(false)
    }

    /// Plans and applies, as `apply -auto-approve` does. Returns all diagnostics.
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
        let options = ApplyOptions {
            parallelism: 10,
            workspace: "default".into(),
            suppress_forget_errors: false,
            uncertain: Vec::new(),
        };
        let variables = self.variables.clone();
        let outcome = block_on(apply(&program, plan, refreshed, variables, &surroundings, options));
        self.state = outcome.state;
        outcome.diagnostics
    }

    /// Imports the object with an id to an address. The state stays unchanged.
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
            writes: engine::PlanWrites { is_saved: false, generates_configuration: false },
            mode: self.mode,
            refresh: true,
            parallelism: 10,
            applying,
            workspace: "default".into(),
            targets: self.targets.clone(),
            excludes: self.excludes.clone(),
            replace: self.replace.clone(),
            uncertain: Vec::new(),
            timestamp: "2025-01-01T00:00:00Z".into(),
            temp: engine::TempRoot::without_plan(),
        };
        let (state, variables) = (self.state.clone(), self.variables.clone());
        block_on(plan(&program, state, variables, &environment, options))
    }

    /// The events since the last call, as the lines that a user sees.
    ///
    /// # Panics
    /// If a test that shares the events panicked.
    pub fn log(&self) -> String {
        log_of(&self.take_events())
    }

    /// The events since the last call.
    ///
    /// # Panics
    /// If a test that shares the events panicked.
    pub fn take_events(&self) -> Vec<Event> {
        std::mem::take(&mut *self.events.lock().expect("not poisoned"))
    }

    /// Creates a secret in the playground's store, as another client of the remote system would. `value` is also
    /// its ARN.
    ///
    /// # Panics
    /// If the store cannot be written.
    pub fn remote_secret(&self, name: &str, value: &str) {
        let mut record = Record::new("secret", name, value);
        record.set_secret("value", Secret::new(value));
        self.open_store().create(&record).expect("the store can be written");
    }

    /// The ledger of the playground: the requests to the provider and their effects.
    ///
    /// # Panics
    /// If the ledger cannot be read.
    pub fn ledger(&self) -> Vec<Entry> {
        self.open_store().ledger().entries().expect("the ledger can be read")
    }

    /// Returns true if the provider received `secret` in an operation that the ledger records under `event`.
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

/// The source addresses of the playground: the implied one for its name, and its own.
pub(crate) fn playground_sources() -> [ProviderSource; 2] {
    [
        ProviderSource::implied_for("playground"),
        ProviderSource::parse(playground::SOURCE).expect("the constant is a source address"),
    ]
}

/// The Markdown files below a directory of the repository with their texts, sorted by path.
///
/// # Panics
/// If a file or directory cannot be read.
pub fn markdown_files(directory: &str) -> Vec<(String, String)> {
    let with_text = |path: String| {
        let text = read_file(&path);
        (path, text)
    };
    files_below(directory, "md").into_iter().map(with_text).collect()
}

/// The paths of the files below a directory that have an extension, sorted.
///
/// # Panics
/// If a directory cannot be read.
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

/// Returns true if the repository contains the file.
pub fn is_file(path: &str) -> bool {
    std::path::Path::new(path).is_file()
}

/// The text of a file of the repository.
///
/// # Panics
/// If the file cannot be read.
pub fn read_file(path: &str) -> String {
    std::fs::read_to_string(path).unwrap_or_else(|error| panic!("{path}: {error}"))
}
