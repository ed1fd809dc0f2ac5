//! The commands `apply` and `destroy`: of a plan that is made now, or of a saved plan.

use std::{fmt::Display, path::Path, sync::Arc};

use db::{Diagnostic, System};
use engine::{ApplyOptions, CancelLevel, LogLevel, PlanOutcome};
use hir::{Entry, Expr, Program, Ref};
use state::{Action, Plan, PlanFile, State, journal::Intent};

use super::{
    PROGRAM, Planning, Prepared, Purpose, end_temp, environment, introduce, planned,
    prepare::ready, show_diagnostics, show_plan,
};
use crate::{
    args::{ApplyArgs, OperationArgs},
    events::Format,
    exit::Exit,
    modules::ModuleDirectories,
    place, planned as planned_configuration,
    private_file::{self, Durable},
    session::{Failure, Session},
    signals,
    store::{self, Keeper, OpenState},
    temp::TempFiles,
    variables::VarFlag,
};

/// Runs `apply`, `destroy`, and the apply of a saved plan.
pub(crate) fn apply_command(
    session: &Session,
    args: &ApplyArgs,
    flags: Vec<VarFlag>,
) -> Result<Exit, Failure> {
    introduce(session, &args.operation);
    if args.operation.json && !args.auto_approve && args.plan_file.is_none() {
        let detail = "Mayfly cannot ask for interactive approval when -json is set. You can either \
                      apply a saved plan file, or enable the -auto-approve option.";
        return Err(Diagnostic::error(
            "json-approval",
            "Plan file or auto-approve required",
            detail,
        )
        .into());
    }
    signals::listen(session);
    if let Some(path) = args.plan_file.as_ref().filter(|path| path.is_dir()) {
        let detail = format!(
            "{} is a directory. To apply the configuration in another directory, use the global \
             option -chdir: mayfly -chdir={} apply",
            path.display(),
            path.display()
        );
        return Err(Diagnostic::error(
            "plan-is-directory",
            "Too many command line arguments",
            detail,
        )
        .into());
    }
    let planned = match &args.plan_file {
        Some(path) if args.is_destroy => return Err(destroy_of_plan(path).into()),
        Some(path) => Some(read_plan(session, path)?),
        None => None,
    };
    if let Some(file) = &planned {
        let place = planned_configuration::take(session, &file.plan)?;
        if args.state.state.is_none() {
            place::check_planned(session, &place)?;
        }
    }
    session.ui.log(LogLevel::Info, "backend/local", "starting Apply operation");
    let open = store::open(session, &args.state, purpose_of(args))?;
    let result = match planned {
        Some(file) => apply_saved(session, flags, &open, file, args.operation.json),
        None => {
            let files = TempFiles::new(session);
            let decision = apply_planned(session, args, flags, &open, &files);
            if !matches!(decision, Ok(Decision::Apply(_))) {
                end_temp(session, &files, !matches!(decision, Ok(Decision::Cancelled)));
            }
            decision
        }
    };
    match result {
        Ok(Decision::Apply(approved)) => {
            let files = Arc::clone(&approved.files);
            let exit = carry_out(session, args, *approved, open);
            end_temp(session, &files, !matches!(exit, Ok(Exit::Success)));
            exit
        }
        Ok(Decision::Cancelled | Decision::Failed) => {
            open.close(session)?;
            Ok(Exit::Failure)
        }
        Err(failure) => {
            open.close(session)?;
            Err(failure)
        }
    }
}

fn purpose_of(args: &ApplyArgs) -> store::Purpose {
    match args.operation.destroy {
        true => store::Purpose::Destroy,
        false => store::Purpose::Apply,
    }
}

/// The decision after planning.
enum Decision {
    Apply(Box<Approved>),
    /// The user declined.
    Cancelled,
    /// There is no plan to apply. The reason was printed.
    Failed,
}

/// A plan that is approved for apply.
pub(crate) struct Approved {
    pub(crate) prepared: Prepared,
    pub(crate) plan: Plan,
    pub(crate) refreshed: State,
    pub(crate) files: Arc<TempFiles>,
}

fn apply_planned(
    session: &Session,
    args: &ApplyArgs,
    flags: Vec<VarFlag>,
    open: &OpenState,
    files: &Arc<TempFiles>,
) -> Result<Decision, Failure> {
    let at_end = |_: &PlanOutcome| {};
    let way = Planning { applying: true, is_saved: false, files, at_end };
    let (prepared, mut outcome) = planned(session, &args.operation, flags, open, way)?;
    show_plan(session, &args.operation, &prepared, &outcome);
    if args.auto_approve && !outcome.has_errors() {
        // The apply evaluates checks again, so their results in the plan are not shown.
        outcome.diagnostics.retain(|it| !is_of_check(it));
    }
    show_diagnostics(session, &args.operation, &outcome.diagnostics, &prepared);
    if outcome.has_errors() {
        return Ok(Decision::Failed);
    }
    if outcome.plan.is_applyable && !args.auto_approve && !approved(session, &args.operation)? {
        let what = if args.operation.destroy { "Destroy" } else { "Apply" };
        session.ui.line(&format!("\n{what} cancelled."));
        return Ok(Decision::Cancelled);
    }
    if session.cancel.level() > CancelLevel::Running {
        return Ok(Decision::Cancelled);
    }
    let PlanOutcome { plan, refreshed, .. } = outcome;
    let files = Arc::clone(files);
    Ok(Decision::Apply(Box::new(Approved { prepared, plan, refreshed, files })))
}

/// Returns true for the warning of an assertion in a `check` block.
pub(crate) fn is_of_check(diagnostic: &Diagnostic) -> bool {
    !diagnostic.is_error() && matches!(diagnostic.id, "condition-failed" | "check-unknown")
}

fn approved(session: &Session, args: &OperationArgs) -> Result<bool, Failure> {
    if !args.input {
        let detail = "Mayfly cannot ask for interactive approval when input is disabled. Use \
                      -auto-approve, or save a plan and apply that.";
        return Err(Diagnostic::error("no-input", "Approval required", detail).into());
    }
    let workspace = session.workspace();
    let within = match &*workspace {
        backend::DEFAULT_WORKSPACE => String::new(),
        name => format!(" in workspace {name:?}"),
    };
    let prompt = match args.destroy {
        true => format!(
            "\nDo you really want to destroy all resources{within}?\n  OpenTofu will destroy all \
             your managed infrastructure, as shown above.\n  There is no undo. Only 'yes' will be \
             accepted to confirm.\n\n  Enter a value: "
        ),
        false => format!(
            "\nDo you want to perform these actions{within}?\n  OpenTofu will perform the actions \
             described above.\n  Only 'yes' will be accepted to approve.\n\n  Enter a value: "
        ),
    };
    match session.ui.ask(&prompt, false) {
        Ok(answer) => {
            session.ui.line("");
            Ok(answer == "yes")
        }
        Err(_) => Err(Diagnostic::error(
            "no-input",
            "Error asking for approval",
            "The answer could not be read. Use -auto-approve to run without questions.",
        )
        .into()),
    }
}

fn destroy_of_plan(path: &Path) -> Diagnostic {
    let path = path.display().to_string();
    let detail = format!(
        "If this plan was created using plan -destroy, apply it using:\n  mayfly apply {path:?}"
    );
    Diagnostic::error("destroy-plan-file", "Destroy can't be called with a plan file", detail)
}

fn apply_saved(
    session: &Session,
    flags: Vec<VarFlag>,
    open: &OpenState,
    mut file: PlanFile,
    json: bool,
) -> Result<Decision, Failure> {
    check_fresh(&file, open, session)?;
    engine::check_plan_is_complete(&file.plan).map_err(|it| *it)?;
    let loaded = planned_configuration::load(session, &mut file, &flags)?;
    let warnings = planned_configuration::differences(session, &file);
    let state = &file.prior_state.state;
    let mut prepared = ready(session, loaded, &flags, (state, Purpose::Saved), warnings)?;
    prepared.values =
        engine::variables_for_saved_plan(&prepared.program, &file.plan, &prepared.values).map_err(
            |diagnostics| Failure::Diagnostics(diagnostics, prepared.program.sources.clone()),
        )?;
    engine::check_planned_files(&file.plan, &*session.system).map_err(|it| *it)?;
    let is_used = !file.temp.is_empty() || uses_temp(&prepared.program);
    let files = TempFiles::of_plan(session, &file.plan, is_used)?;
    files.restore(&file.temp).inspect_err(|_| end_temp(session, &files, true))?;
    let refreshed = file.prior_state.state;
    if json {
        let now = session.now();
        let changes = file.plan.resource_changes.iter();
        for change in changes.filter(|it| it.change.action != Action::NoOp) {
            session.ui.line(&render::planned_change_json(change, &now));
        }
    }
    let approved = Approved { prepared, plan: file.plan, refreshed, files };
    Ok(Decision::Apply(Box::new(approved)))
}

/// Returns true if an expression of the configuration uses `path.temp`.
fn uses_temp(program: &Program) -> bool {
    let has_temp = |entry: &Entry| {
        entry.item.exprs.iter().any(|(_, expr)| matches!(expr, Expr::Ref(Ref::PathTemp)))
    };
    program.modules.iter().flat_map(|module| module.entries()).any(has_temp)
}

/// Reads a saved plan.
pub(crate) fn read_plan(session: &Session, path: &Path) -> Result<PlanFile, Failure> {
    session.refuse_encryption()?;
    let unreadable = |reason: &dyn Display| {
        let summary = format!("Failed to load {:?} as a plan file", path.display().to_string());
        Diagnostic::error("plan-read", summary, format!("{}: {reason}.", path.display()))
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
        return Err(
            Diagnostic::error("stale-plan", "Saved plan is for another workspace", detail).into()
        );
    }
    let current = open.exists().then_some(&open.file);
    engine::check_plan_is_current(&file.plan.prior_state, current)
        .map_err(|diagnostic| (*diagnostic).into())
}

/// Applies an approved plan, prints the result, and writes the state.
pub(crate) fn carry_out(
    session: &Session,
    args: &ApplyArgs,
    approved: Approved,
    open: OpenState,
) -> Result<Exit, Failure> {
    let Approved { mut prepared, plan, refreshed, files } = approved;
    let (stored, before) = (open.file.state.clone(), open.uncertain.clone());
    let keeper = Arc::new(open.keeper(session, purpose_of(args)));
    if let Err(problem) = keeper.begin(&stored, &refreshed) {
        keeper.close(session)?;
        return Err((*problem).into());
    }
    drop(stored);
    let format = if args.operation.json { Format::Json } else { Format::Human };
    let (environment, show) = environment(session, format, &prepared, keeper.clone(), &files);
    // Move the values out, so that no copy of them stays in memory during and after the apply.
    let values = std::mem::take(&mut prepared.values);
    std::mem::take(&mut prepared.typed).teach(&session.redactor);
    let options = ApplyOptions {
        parallelism: args.operation.parallelism.get(),
        workspace: session.workspace(),
    };
    let directories = ModuleDirectories::of(session, &prepared.program);
    let apply = engine::apply(&prepared.program, &plan, refreshed, values, &environment, options);
    let outcome = session.runtime.block_on(apply);
    show.end_log();
    session.redactor.forget();
    let mut diagnostics = outcome.diagnostics;
    let mut own = Vec::new();
    if let Err(problem) = keeper.write(&outcome.state) {
        own.push(rescued(&keeper, &outcome.state, *problem));
    }
    own.extend(news(&keeper.uncertain(), &before));
    own.extend(directories.changes(&prepared.program));
    if args.operation.json {
        // The diagnostics of the engine were printed as events. The engine does not know these ones.
        session.ui.diagnostics(&own, &prepared.program.sources);
    }
    diagnostics.extend(own);
    show_diagnostics(session, &args.operation, &diagnostics, &prepared);
    let failed = diagnostics.iter().any(Diagnostic::is_error);
    if !failed {
        show.finish(args.operation_done());
        show_outputs(session, args, &plan, &outcome.state);
    }
    keeper.close(session)?;
    session.ui.log(LogLevel::Info, "backend/local", "apply operation completed");
    Ok(if failed { Exit::Failure } else { Exit::Success })
}

/// A warning about creations with unknown outcome in this run. Those of earlier runs were reported at the start.
fn news(uncertain: &[Intent], before: &[Intent]) -> Option<Diagnostic> {
    let news: Vec<Intent> = uncertain.iter().filter(|it| !before.contains(it)).cloned().collect();
    store::uncertain(&news)
}

/// Adds to an error about writing the state where the changes are saved: in the journal, or else in a rescue file.
pub(crate) fn rescued(keeper: &Keeper, state: &State, problem: Diagnostic) -> Diagnostic {
    let and = |what: String| Diagnostic {
        detail: format!("{}\n\n{what}", problem.detail),
        ..problem.clone()
    };
    if let Some(place) = keeper.safe_in() {
        return and(format!(
            "Nothing is lost: {place} records all changes of this run. When the problem is \
             resolved, the next command writes them to the state. Do not remove that file."
        ));
    }
    let Some(bytes) = keeper.encoded(state) else { return problem };
    match private_file::write(Path::new("errored.tfstate"), &bytes, Durable::Yes) {
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

fn show_outputs(session: &Session, args: &ApplyArgs, plan: &Plan, state: &State) {
    if args.is_destroy {
        return;
    }
    if args.operation.json {
        if let Some(line) = render::output_changes_json(plan, Some(state), &session.now()) {
            session.ui.line(&line);
        }
    } else if !state.outputs.is_empty() {
        session.ui.print("\nOutputs:\n\n");
        session.ui.print(&render::outputs(state, args.operation.show_sensitive));
    }
}
