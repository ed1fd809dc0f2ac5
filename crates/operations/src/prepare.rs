//! Loads and checks a configuration, and makes the environment in which the engine runs it.

use std::sync::Arc;

use db::{Diagnostic, Rule, Severity, Summary, System};
use engine::{Environment, EventSink, Journal, NoJournal, TempDirectories, VariableValues};
use hir::{Explanations, Program, unsupported};
use project::Project;
use remote::Ssh;
use state::State;

use crate::{
    local_exec::Commands,
    located::{Factory, ProviderExecutables},
    modules::verify::verify,
    offline::{Analysis, validate_provisioners, with_known_conditions},
    session::{Failure, LockSource, LockedVersions, Session, loading::Loaded},
    temp::TempFiles,
    variables::{self, EphemeralInputs, flag::VarFlag},
    view::{Run, RunView},
};

/// Everything that an operation needs.
pub struct Prepared {
    pub executables: Arc<ProviderExecutables>,
    /// The texts given for ephemeral variables outside of files.
    pub ephemeral_inputs: EphemeralInputs,
    pub program: Arc<Program>,
    pub values: VariableValues,
    /// The diagnostics of the configuration that are already printed.
    pub shown: Vec<Diagnostic>,
    /// Files that decide the sources of modules or the arguments of the backend.
    pub source_files: Vec<String>,
}

impl Prepared {
    /// Returns true if the same problem was already printed for the same location. It may lack the instance
    /// address.
    pub fn was_shown(&self, found: &Diagnostic) -> bool {
        let is_same = |it: &Diagnostic| {
            (it.id(), &*it.summary, &it.detail, &it.location)
                == (found.id(), &*found.summary, &found.detail, &found.location)
        };
        found.location.is_some() && self.shown.iter().any(is_same)
    }
}

/// The purpose for which a configuration is checked.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Purpose {
    Plan,
    PlanDestroy,
    /// One object is imported into the state.
    Import,
    /// A saved plan is applied.
    Saved,
}

/// The state for which a configuration is checked.
#[derive(Clone, Copy)]
pub(crate) struct StateUse<'a> {
    pub(crate) state: &'a State,
    pub(crate) purpose: Purpose,
}

/// Loads and checks the configuration.
pub fn prepare(
    session: &Session,
    flags: Vec<VarFlag>,
    state: &mut State,
    purpose: Purpose,
) -> Result<Prepared, Failure> {
    let locks = session.locks()?;
    let locks = LockedVersions { locks: &locks, source: LockSource::Directory };
    let verified = verify(session, locks)?;
    let loaded = session.load_with_values(Some(&mut *state), &flags)?;
    ready(session, loaded, &flags, StateUse { state, purpose }, verified)
}

/// Checks a loaded configuration and prints the warnings, starting with `warnings`.
pub(crate) fn ready(
    session: &Session,
    loaded: Loaded,
    flags: &[VarFlag],
    StateUse { state, purpose }: StateUse<'_>,
    mut warnings: Vec<Diagnostic>,
) -> Result<Prepared, Failure> {
    let (diagnostics, program) = loaded.project.checked();
    let analysis = Analysis { diagnostics, program };
    let found = with_known_conditions(session, &loaded, analysis);
    let mut checked = check(&*session.system, &loaded.project, found, flags, state, purpose)?;
    warnings.append(&mut checked.warnings);
    warnings.extend(check_provisioners(session, &loaded.executables, &checked.program, purpose));
    if warnings.iter().any(Diagnostic::is_error) {
        return Err(Failure::Diagnostics(warnings, checked.program.sources.clone()));
    }
    session.view.diagnostics(&warnings, &checked.program.sources);
    let Loaded { executables, ephemeral_inputs, project } = loaded;
    let static_inputs = project.workspace().static_inputs(project.db());
    let source_files = static_inputs.files.keys().map(ToString::to_string).collect();
    let Checked { program, values, .. } = checked;
    Ok(Prepared { executables, ephemeral_inputs, program, values, shown: warnings, source_files })
}

/// Lets provisioner plugins validate their blocks, before anything is planned or applied. A destruction needs only the
/// provisioners that run at a destruction, and an import none.
pub fn check_provisioners(
    session: &Session,
    executables: &Arc<ProviderExecutables>,
    program: &Arc<Program>,
    purpose: Purpose,
) -> Vec<Diagnostic> {
    match purpose {
        Purpose::Import => Vec::new(),
        Purpose::PlanDestroy => {
            validate_provisioners(session, executables, program, |it| it.at_destroy)
        }
        Purpose::Plan | Purpose::Saved => {
            validate_provisioners(session, executables, program, |_| true)
        }
    }
}

/// A configuration without errors.
pub struct Checked {
    pub program: Arc<Program>,
    pub values: VariableValues,
    pub warnings: Vec<Diagnostic>,
}

/// Decides whether a configuration can be planned, and determines the values of its variables. `analysis` is the
/// result of [`Project::checked`]. `system` has the variables files.
pub fn check(
    system: &dyn System,
    project: &Project,
    analysis: Analysis,
    flags: &[VarFlag],
    state: &State,
    purpose: Purpose,
) -> Result<Checked, Failure> {
    if project.is_empty() && purpose == Purpose::Plan && state.is_empty() {
        let detail = "Plan requires configuration to be present. Planning without a configuration \
                      would mark everything for destruction, which is normally not what is \
                      desired. If you would like to destroy everything, run plan with the -destroy \
                      option. Otherwise, create a Mayfly configuration file (.tf file) and try again.";
        return Err(Diagnostic::new(Summary::NO_CONFIGURATION, detail).into());
    }
    let Analysis { diagnostics, mut program } = analysis;
    program.explanations = Arc::new(explanations(&diagnostics));
    let mut warnings: Vec<Diagnostic> = diagnostics
        .into_iter()
        .filter(|it| it.severity() != Severity::Hint)
        // Drop warnings about possibly ephemeral values: from here on actual values decide.
        .filter(|it| it.id() != Rule::PossiblyEphemeral)
        .map(|it| match purpose {
            Purpose::Saved | Purpose::Import => it,
            _ => settled(it),
        })
        .collect();
    if warnings.iter().any(Diagnostic::is_error) {
        return Err(Failure::Diagnostics(warnings, program.sources.clone()));
    }
    let (values, of_values) = variables::collect_all(system, &program, flags)?;
    warnings.extend(of_values);
    // Values are checked later. An error in one is shown at the place where the value is given.
    let files = program.sources.files.iter().cloned();
    program.sources.files = files.chain(variables::file_sources(system, flags)).collect();
    Ok(Checked { program: Arc::new(program), values, warnings })
}

/// The findings about values that may be ephemeral, by location. They explain an error of the run at the same
/// location.
fn explanations(found: &[Diagnostic]) -> Explanations {
    let mut explanations = Explanations::new();
    let is_undecided =
        |it: &Diagnostic| it.severity() == Severity::Hint || it.id() == Rule::PossiblyEphemeral;
    for hint in found.iter().filter(|it| is_undecided(it) && !it.related.is_empty()) {
        if let Some(location) = &hint.location {
            explanations.entry(location.clone()).or_default().push(hint.clone());
        }
    }
    explanations
}

/// Turns a warning of `validate` about what no plan carries out into an error.
fn settled(found: Diagnostic) -> Diagnostic {
    match (found.id(), found.severity()) {
        (unsupported::ID, Severity::Warning) => {
            Diagnostic { summary: Summary::NOT_SUPPORTED_YET, ..found }
        }
        _ => found,
    }
}

/// The environment for the engine, and the sink that prints its events.
pub fn environment(
    session: &Session,
    run: Run,
    prepared: &Prepared,
    journal: Arc<dyn Journal>,
    files: &Arc<TempFiles>,
) -> (Environment, Arc<dyn RunView>) {
    let events = session.view.run(run, &prepared.program.sources, &session.redactor);
    let acting = acting(session, &prepared.executables, events.clone(), files.clone());
    (Environment { journal, ..acting }, events)
}

/// The environment for an engine run that changes nothing, hence without a journal.
pub fn acting(
    session: &Session,
    executables: &Arc<ProviderExecutables>,
    events: Arc<dyn EventSink>,
    temp: Arc<dyn TempDirectories>,
) -> Environment {
    let factory = Factory::new(executables.clone(), session.redactor.clone(), events.clone());
    Environment {
        providers: Arc::new(factory),
        system: session.system.clone(),
        temp,
        commands: Arc::new(Commands {
            environment: Arc::clone(&session.child_environment),
            processes: session.processes.clone(),
        }),
        machines: Arc::new(Ssh),
        events,
        changes: None,
        journal: Arc::new(NoJournal),
        redactor: session.redactor.clone(),
        strict_secrets: session.is_strict_about_secrets(),
        cancel: session.cancel.clone(),
    }
}
