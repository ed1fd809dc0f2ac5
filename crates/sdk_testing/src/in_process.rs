//! The engine in this process as a core.

use std::{
    collections::BTreeMap,
    path::PathBuf,
    sync::{Arc, Mutex},
};

use addr::ProviderSource;
use db::{Diagnostic, MemorySystem, System};
use engine::{
    ApplyOptions, CancelToken, Command, CommandRunner, CommandStatus, Environment, Event,
    ImportOptions, NoMachines, PlanOptions, PlanWrites, PluginName, ProviderFactory, Question,
    Redactor, VariableValues, Verdicts,
};
use hir::Program;
use project::{Configure as _, Project};
use provider::{BoxFuture, Provider, ProviderSchemas};
use state::{ConfigSnapshot, Plan, PlanFile, PlanMode, State, StateFile};

use crate::{
    core::{Core, File},
    outcome::{Action, Outcome},
};

const LINEAGE: &str = "11111111-2222-3333-4444-555555555555";
const WORKSPACE: &str = "default";

/// Creates the provider under test for each start of it.
pub(crate) type MakeProvider = Arc<dyn Fn() -> Arc<dyn Provider> + Send + Sync>;

/// The engine with one provider.
pub(crate) struct InProcess {
    source: ProviderSource,
    make: MakeProvider,
    schemas: Arc<ProviderSchemas>,
    state: State,
}

impl InProcess {
    /// Asks the provider for its schemas.
    ///
    /// # Errors
    /// If the provider refuses, such as for an invalid schema.
    pub(crate) fn new(source: &str, make: MakeProvider) -> Result<InProcess, String> {
        let invalid = |_| format!("{source:?} is no source address, such as example/notes");
        let source = ProviderSource::parse(source).map_err(invalid)?;
        let schemas = block_on(async { make().schemas().await }).map_err(|errors| {
            let texts: Vec<_> =
                errors.iter().map(|it| format!("{}: {}", it.summary, it.detail)).collect();
            format!("the provider has no schemas: {}", texts.join("; "))
        })?;
        Ok(InProcess { source, make, schemas, state: State::default() })
    }

    fn load(&self, files: &[File], system: &Arc<MemorySystem>) -> std::io::Result<Project> {
        for file in files {
            system.write(&file.path, file.text.as_str());
        }
        let system = Arc::clone(system) as Arc<dyn System>;
        let mut project = Project::load(system, PathBuf::from("."), Default::default())?;
        let builtin = (engine::builtin::source(), engine::builtin::schemas());
        for (source, schemas) in [(self.source.clone(), Arc::clone(&self.schemas)), builtin] {
            project.set_schemas(source, schemas);
        }
        Ok(project.finish())
    }

    /// Loads and validates a configuration. `None` after an error, which is in the outcome.
    fn begin(&self, files: &[File], outcome: &mut Outcome) -> Option<Run> {
        let system = Arc::new(MemorySystem::new());
        let project = match self.load(files, &system) {
            Ok(project) => project,
            Err(error) => {
                outcome.errors.push(format!("The configuration cannot be loaded: {error}"));
                return None;
            }
        };
        let (run, mut said) = (self.run(&project, &system), project.diagnostics());
        if !said.iter().any(Diagnostic::is_error) {
            said.extend(run.validate(&project));
        }
        let has_errors = said.iter().any(Diagnostic::is_error);
        outcome.add(&said);
        (!has_errors).then_some(run)
    }

    fn run(&self, project: &Project, system: &Arc<MemorySystem>) -> Run {
        let events = Arc::new(Mutex::new(Vec::new()));
        let kept = Arc::clone(&events);
        let environment = Environment {
            providers: Arc::new(OneProvider { make: Arc::clone(&self.make) }),
            system: Arc::clone(system) as Arc<dyn System>,
            temp: Arc::new(engine::NoTempDirectories),
            commands: Arc::new(NoCommands),
            machines: Arc::new(NoMachines),
            journal: Arc::new(engine::NoJournal),
            events: Arc::new(move |event: Event| {
                kept.lock().unwrap_or_else(std::sync::PoisonError::into_inner).push(event);
            }),
            changes: None,
            redactor: Redactor::new(),
            strict_secrets: false,
            cancel: CancelToken::new(),
        };
        Run { program: Arc::new(project.program()), environment, events }
    }

    /// Plans, and applies the plan if `applying`.
    fn change(&mut self, files: &[File], mode: PlanMode, applying: bool) -> Outcome {
        let mut outcome = Outcome::default();
        let Some(run) = self.begin(files, &mut outcome) else { return outcome };
        let planned = run.plan(self.state.clone(), mode, applying);
        outcome.add(&planned.diagnostics);
        outcome.actions = actions(&planned.plan);
        outcome.drifted = planned.plan.drift().map(|it| it.addr.to_string()).collect();
        match plan_file(&planned.plan, &planned.refreshed).write() {
            Ok(bytes) => outcome.written.push(bytes),
            Err(_) if planned.has_errors() => {}
            Err(error) => outcome.errors.push(format!("The plan cannot be written: {error}")),
        }
        if applying && !planned.has_errors() {
            let applied = run.apply(&planned.plan, planned.refreshed);
            outcome.add(&applied.diagnostics);
            self.state = applied.state;
        }
        outcome.show(&self.state);
        outcome.written.extend(run.texts());
        outcome
    }
}

impl Core for InProcess {
    fn name(&self) -> String {
        "the engine in this process".to_owned()
    }

    fn plan(&mut self, files: &[File]) -> Outcome {
        self.change(files, PlanMode::Normal, false)
    }

    fn apply(&mut self, files: &[File]) -> Outcome {
        self.change(files, PlanMode::Normal, true)
    }

    fn import(&mut self, files: &[File], address: &str, id: &str) -> Outcome {
        let mut outcome = Outcome::default();
        let Ok(instance) = addr::parse_resource_instance(address) else {
            outcome.errors.push(format!("{address} is no address of a resource"));
            return outcome;
        };
        let Some(run) = self.begin(files, &mut outcome) else { return outcome };
        let imported = run.import(instance, id);
        outcome.add(&imported.diagnostics);
        outcome.show(&imported.state);
        outcome.written.extend(run.texts());
        outcome
    }

    fn destroy(&mut self, files: &[File]) -> Outcome {
        self.change(files, PlanMode::Destroy, true)
    }
}

/// A loaded configuration with its surroundings.
struct Run {
    program: Arc<Program>,
    environment: Environment,
    events: Arc<Mutex<Vec<Event>>>,
}

impl Run {
    fn validate(&self, project: &Project) -> Vec<Diagnostic> {
        let instances = project.provider_instances();
        let workspace = WORKSPACE.into();
        let known = NothingKnown;
        block_on(engine::validate(&self.program, &self.environment, &workspace, &known, &instances))
    }

    fn plan(&self, state: State, mode: PlanMode, applying: bool) -> engine::PlanOutcome {
        let options = PlanOptions {
            writes: PlanWrites { is_saved: false, generates_configuration: false },
            mode,
            refresh: true,
            parallelism: 10,
            applying,
            workspace: WORKSPACE.into(),
            targets: Vec::new(),
            excludes: Vec::new(),
            replace: Vec::new(),
            uncertain: Vec::new(),
            timestamp: "2025-01-01T00:00:00Z".into(),
            temp: engine::TempRoot::without_plan(),
        };
        let variables = VariableValues::new();
        block_on(engine::plan(&self.program, state, variables, &self.environment, options))
    }

    fn apply(&self, plan: &Plan, refreshed: State) -> engine::ApplyOutcome {
        let options = ApplyOptions {
            parallelism: 10,
            workspace: WORKSPACE.into(),
            suppress_forget_errors: false,
            uncertain: Vec::new(),
        };
        let variables = VariableValues::new();
        block_on(engine::apply(
            &self.program,
            plan,
            refreshed,
            variables,
            &self.environment,
            options,
        ))
    }

    fn import(&self, address: addr::ResourceInstance, id: &str) -> engine::ApplyOutcome {
        let options = ImportOptions {
            address,
            id: id.into(),
            answers: None,
            parallelism: 10,
            workspace: WORKSPACE.into(),
            temp: engine::TempRoot::without_plan(),
        };
        let (state, variables) = (State::default(), VariableValues::new());
        block_on(engine::import(&self.program, state, variables, &self.environment, options))
    }

    /// The texts of the events.
    fn texts(&self) -> Vec<Vec<u8>> {
        let events = self.events.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        events.iter().map(|it| format!("{it:?}").into_bytes()).collect()
    }
}

impl Outcome {
    fn add(&mut self, said: &[Diagnostic]) {
        for diagnostic in said {
            let text = format!("{}: {}", diagnostic.summary, diagnostic.detail);
            self.written.push(text.clone().into_bytes());
            let place = if diagnostic.is_error() { &mut self.errors } else { &mut self.warnings };
            place.push(text);
        }
    }

    /// Adds the content of a state, as it would be written.
    fn show(&mut self, state: &State) {
        let file = StateFile { state: state.clone(), ..StateFile::new(LINEAGE.to_owned()) };
        let read = file.write().map_err(|error| error.to_string()).and_then(|bytes| {
            let read = self.read_state(&bytes);
            self.written.push(bytes);
            read
        });
        if let Err(error) = read {
            self.errors.push(format!("The state cannot be written: {error}"));
        }
    }
}

fn actions(plan: &Plan) -> BTreeMap<String, Action> {
    let action = |it: &state::ResourceChange| {
        let action = match it.change.action {
            state::Action::NoOp => Action::NoOp,
            state::Action::Create => Action::Create,
            state::Action::Read => Action::Read,
            state::Action::Update => Action::Update,
            state::Action::Delete => Action::Delete,
            state::Action::DeleteThenCreate
            | state::Action::CreateThenDelete
            | state::Action::ForgetThenCreate => Action::Replace,
            state::Action::Forget => Action::Forget,
        };
        (it.addr.to_string(), action)
    };
    plan.changes().map(action).collect()
}

fn plan_file(plan: &Plan, refreshed: &State) -> PlanFile {
    PlanFile {
        plan: Plan { made_by: "mayfly-sdk-testing".to_owned(), ..plan.clone() },
        prior_state: StateFile { state: refreshed.clone(), ..StateFile::new(LINEAGE.to_owned()) },
        previous_state: StateFile::new(LINEAGE.to_owned()),
        locks: Vec::new(),
        config: ConfigSnapshot::default(),
        temp: Vec::new(),
    }
}

/// Runs a future to its end on a runtime of this thread: the futures of the engine stay on one.
fn block_on<T>(future: impl Future<Output = T>) -> T {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .expect("a runtime can be made");
    runtime.block_on(future)
}

/// Starts the provider under test.
struct OneProvider {
    make: MakeProvider,
}

impl ProviderFactory for OneProvider {
    fn start(
        &self,
        source: &ProviderSource,
    ) -> BoxFuture<'_, Result<Arc<dyn Provider>, Box<Diagnostic>>> {
        let provider = engine::builtin_provider(source).unwrap_or_else(|| (self.make)());
        Box::pin(async move { Ok(provider) })
    }
}

/// A shell for provisioners that refuses every command.
struct NoCommands;

impl CommandRunner for NoCommands {
    fn run<'a>(
        &'a self,
        _: Command,
        _: &'a (dyn Fn(&str) + Send + Sync),
        _: &'a CancelToken,
    ) -> BoxFuture<'a, Result<CommandStatus, String>> {
        Box::pin(async { Err("a test of a provider runs no commands".to_owned()) })
    }
}

/// A store of validation verdicts that remembers none.
struct NothingKnown;

impl Verdicts for NothingKnown {
    fn has_passed(&self, _: &PluginName, _: &Question<'_>) -> bool {
        false
    }

    fn passed(&self, _: &PluginName, _: &Question<'_>) {}
}
