//! The operation `apply`: of a plan that was made now, or of a saved plan.
//!
//! ```text
//!   store::open ─► plan::plan, or saved ─► (the caller decides) ─► apply ─► (the caller shows it) ─► Applied::close
//! ```

use std::{fmt::Display, path::Path, sync::Arc};

use db::{Diagnostic, Rule, Summary};
use durability::{Keeper, recovery};
use engine::ApplyOptions;
use hir::{Entry, Expr, Program, Ref};
use state::{Action, Plan, PlanFile, State, journal::Intent};

use crate::{
    PROGRAM,
    modules::writes::ModuleDirectories,
    plan::{Planned, end_temp},
    planned as planned_configuration,
    prepare::{Prepared, Purpose, StateUse, environment, ready},
    private_file::{self, Durable},
    session::{Failure, Session},
    store::{self, OpenState},
    temp::TempFiles,
    variables::flag::VarFlag,
    view::{Run, RunView},
};

/// A plan that is approved for apply.
pub struct Approved {
    /// The checked configuration.
    pub prepared: Prepared,
    /// The plan.
    pub plan: Plan,
    /// The state that the plan was made for.
    pub refreshed: State,
    /// The temporary files of the plan.
    pub files: Arc<TempFiles>,
}

impl Approved {
    /// Approves a plan that was made now.
    pub fn of(planned: Planned, files: &Arc<TempFiles>) -> Approved {
        let engine::PlanOutcome { plan, refreshed, .. } = planned.outcome;
        Approved { prepared: planned.prepared, plan, refreshed, files: Arc::clone(files) }
    }
}

/// Returns true for the warning of an assertion in a `check` block.
pub fn is_of_check(diagnostic: &Diagnostic) -> bool {
    // In a refresh-only plan, other conditions warn, too.
    diagnostic.summary == Summary::CHECK_ASSERTION || diagnostic.id() == Rule::CheckUnknown
}

/// Checks that a saved plan can be applied to the opened state, and loads its configuration.
pub fn saved(
    session: &Session,
    flags: &[VarFlag],
    open: &OpenState,
    mut file: PlanFile,
) -> Result<Approved, Failure> {
    check_fresh(&file, open, session)?;
    engine::check_plan_is_complete(&file.plan).map_err(|it| *it)?;
    let loaded = planned_configuration::load(session, &mut file, flags)?;
    let warnings = planned_configuration::differences(session, &file);
    let state = StateUse { state: &file.prior_state.state, purpose: Purpose::Saved };
    let mut prepared = ready(session, loaded, flags, state, warnings)?;
    prepared.values =
        engine::variables_for_saved_plan(&prepared.program, &file.plan, &prepared.values).map_err(
            |diagnostics| Failure::Diagnostics(diagnostics, prepared.program.sources.clone()),
        )?;
    engine::check_planned_files(&file.plan, &*session.system).map_err(|it| *it)?;
    let is_used = !file.temp.is_empty() || uses_temp(&prepared.program);
    let files = TempFiles::of_plan(session, &file.plan, is_used)?;
    files.restore(&file.temp).inspect_err(|_| end_temp(session, &files, true))?;
    let refreshed = file.prior_state.state;
    Ok(Approved { prepared, plan: file.plan, refreshed, files })
}

/// Returns true if an expression of the configuration uses `path.temp`.
fn uses_temp(program: &Program) -> bool {
    let has_temp = |entry: &Entry| {
        entry.item.exprs.iter().any(|(_, expr)| matches!(expr, Expr::Ref(Ref::PathTemp)))
    };
    program.modules.iter().flat_map(|module| module.entries()).any(has_temp)
}

/// Reads a saved plan.
pub fn read_plan(session: &Session, path: &Path) -> Result<PlanFile, Failure> {
    session.refuse_encryption()?;
    let unreadable = |reason: &dyn Display| {
        let summary = Summary::plan_read(format!("{:?}", path.display().to_string()));
        Diagnostic::new(summary, format!("{}: {reason}.", path.display()))
    };
    let bytes = session.system.read_file(path).map_err(|error| unreadable(&error))?;
    PlanFile::read(&bytes, PROGRAM).map_err(|error| unreadable(&error).into())
}

/// Refuses a saved plan that was made for another workspace or another version of the state.
fn check_fresh(file: &PlanFile, open: &OpenState, session: &Session) -> Result<(), Failure> {
    let workspace = session.workspace();
    if file.plan.backend.workspace != *workspace {
        let detail = format!(
            "The plan was made in the workspace {:?}, but {workspace:?} is selected now. Select \
             that workspace, or make a new plan in this one.",
            file.plan.backend.workspace
        );
        return Err(Diagnostic::new(Summary::PLAN_OF_WORKSPACE, detail).into());
    }
    let current = open.exists().then_some(&open.file);
    engine::check_plan_is_current(&file.plan.prior_state, current)
        .map_err(|diagnostic| (*diagnostic).into())
}

/// The result of an apply. The lock of the state is held until [`Applied::close`].
#[must_use = "the journal ends and the lock is released only when it is closed"]
pub struct Applied {
    /// The checked configuration.
    pub prepared: Prepared,
    /// The plan that was carried out.
    pub plan: Plan,
    /// The state after the apply.
    pub state: State,
    /// All diagnostics, including [`Applied::found`].
    pub diagnostics: Vec<Diagnostic>,
    /// The diagnostics that do not come from the run of the engine, whose events report the others.
    pub found: Vec<Diagnostic>,
    /// The view of the run, which shows its change counts.
    pub view: Arc<dyn RunView>,
    keeper: Arc<Keeper>,
}

impl Applied {
    /// Returns true if there is an error.
    pub fn has_errors(&self) -> bool {
        self.diagnostics.iter().any(Diagnostic::is_error)
    }

    /// Ends the journal and releases the lock.
    pub fn close(&self, session: &Session) -> Result<(), Failure> {
        store::close(session, &self.keeper)
    }
}

/// The settings of an apply.
#[derive(Clone, Copy, Debug)]
pub struct Settings {
    /// The maximum number of concurrent provider operations (`-parallelism`).
    pub parallelism: usize,
    /// True if a destruction that forgets objects succeeds (`-suppress-forget-errors`).
    pub suppress_forget_errors: bool,
}

/// Applies an approved plan, and writes the state.
///
/// # Errors
/// The reason why nothing was applied. The state is closed then.
pub fn apply(
    session: &Session,
    settings: Settings,
    purpose: store::Purpose,
    approved: Approved,
    open: OpenState,
) -> Result<Applied, Failure> {
    let Approved { mut prepared, plan, refreshed, files } = approved;
    let (stored, before) = (open.file.state.clone(), open.uncertain.clone());
    let named = open.named.clone();
    let keeper = Arc::new(open.keeper(session, purpose));
    if let Err(problem) = session.runtime.block_on(keeper.begin(&stored, &refreshed)) {
        store::close(session, &keeper)?;
        return Err((*problem).into());
    }
    drop(stored);
    let (environment, view) = environment(session, Run::Apply, &prepared, keeper.clone(), &files);
    view.expects(Some(plan.changes().map(|it| steps(it.change.action)).sum()));
    // Move the values out, so that no copy of them stays in memory during and after the apply.
    let values = std::mem::take(&mut prepared.values);
    std::mem::take(&mut prepared.ephemeral_inputs).teach(&session.redactor);
    let options = ApplyOptions {
        parallelism: settings.parallelism,
        workspace: session.workspace(),
        suppress_forget_errors: settings.suppress_forget_errors,
        uncertain: before.clone(),
    };
    let directories = ModuleDirectories::of(session, &prepared.program);
    let apply = engine::apply(&prepared.program, &plan, refreshed, values, &environment, options);
    let outcome = session.runtime.block_on(apply);
    view.end_log();
    session.redactor.forget();
    let (mut diagnostics, state) = (outcome.diagnostics, outcome.state);
    let mut found = Vec::new();
    found.extend(write(session, &keeper, &state));
    found.extend(news(&keeper.uncertain(), &before, named.as_deref()));
    found.extend(directories.changes(&prepared.program));
    diagnostics.extend(found.iter().cloned());
    Ok(Applied { prepared, plan, state, diagnostics, found, view, keeper })
}

/// The number of operations of an action that an apply reports.
fn steps(action: Action) -> usize {
    match action {
        Action::NoOp | Action::Forget => 0,
        Action::Create
        | Action::Read
        | Action::Update
        | Action::Delete
        | Action::ForgetThenCreate => 1,
        Action::DeleteThenCreate | Action::CreateThenDelete => 2,
    }
}

/// Writes the state that a refresh-only plan found, without a run of the engine.
///
/// # Errors
/// The reason why nothing was written. The state is closed then.
pub fn refresh(
    session: &Session,
    purpose: store::Purpose,
    approved: Approved,
    open: OpenState,
) -> Result<Applied, Failure> {
    let Approved { prepared, plan, refreshed, files } = approved;
    let stored = open.file.state.clone();
    let keeper = Arc::new(open.keeper(session, purpose));
    if let Err(problem) = session.runtime.block_on(keeper.begin(&stored, &refreshed)) {
        store::close(session, &keeper)?;
        return Err((*problem).into());
    }
    let (_, view) = environment(session, Run::Quiet, &prepared, keeper.clone(), &files);
    let found: Vec<Diagnostic> = write(session, &keeper, &refreshed).into_iter().collect();
    let diagnostics = found.clone();
    Ok(Applied { prepared, plan, state: refreshed, diagnostics, found, view, keeper })
}

/// A warning about creations with unknown outcome in this run. Those of earlier runs were reported at the start.
fn news(uncertain: &[Intent], before: &[Intent], state: Option<&str>) -> Option<Diagnostic> {
    let news: Vec<Intent> = uncertain.iter().filter(|it| !before.contains(it)).cloned().collect();
    recovery::uncertain(&news, state)
}

/// Writes the final state. Returns the error if that fails.
pub(crate) fn write(session: &Session, keeper: &Keeper, state: &State) -> Option<Diagnostic> {
    session.runtime.block_on(async {
        let problem = keeper.write(state).await.err()?;
        Some(rescued(session, keeper, state, *problem).await)
    })
}

/// Adds to an error about writing the state where the changes are saved: in the journal, or else in a rescue file.
async fn rescued(
    session: &Session,
    keeper: &Keeper,
    state: &State,
    problem: Diagnostic,
) -> Diagnostic {
    let and = |what: String| Diagnostic {
        detail: format!("{}\n\n{what}", problem.detail),
        ..problem.clone()
    };
    if let Some(place) = keeper.safe_in().await {
        return and(format!(
            "Nothing is lost: {place} records all changes of this run. When the problem is \
             resolved, the next command writes them to the state. Do not remove that file."
        ));
    }
    let Some(bytes) = keeper.encoded(state).await else { return problem };
    match private_file::write(&session.at("errored.tfstate"), &bytes, Durable::Yes) {
        Ok(()) => {
            and("The state was written to errored.tfstate instead. Keep this file: it records the \
                 objects that exist. When the problem is resolved, replace the state with it."
                .to_owned())
        }
        Err(error) => {
            and(format!("The state could not be written to errored.tfstate either: {error}."))
        }
    }
}
