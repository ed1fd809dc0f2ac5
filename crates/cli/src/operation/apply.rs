//! The commands `apply` and `destroy`: of a plan that is made now, or of a saved plan.

use std::{path::Path, sync::Arc};

use addr::ResourceMode;
use db::{Diagnostic, Summary};
use engine::{CancelLevel, ChangeSink, LogLevel};
use operations::{
    apply::{self, Applied, Approved, Settings, is_of_check},
    goal::Goal,
    plan::{self, PlanOptions, end_temp},
    planned as planned_configuration,
    session::Failure,
    store::{self, OpenState},
    temp::TempFiles,
    variables::flag::VarFlag,
};
use state::{Action, InstanceEntry, PlanFile, PlanMode, State};

use super::{Shown, objects_ahead, show_checks, show_diagnostics, show_found, show_plan};
use crate::{
    args::{ApplyArgs, OperationArgs},
    exit::Exit,
    session::CommandSession,
    signals,
};

/// Runs `apply`, `destroy`, and the apply of a saved plan.
pub(crate) fn apply_command(
    session: &CommandSession,
    args: &ApplyArgs,
    flags: Vec<VarFlag>,
) -> Result<Exit, Failure> {
    let goal = goal_of(session, args)?;
    if args.operation.json.json && !args.auto_approve && args.plan_file.is_none() {
        let detail = "Mayfly cannot ask for interactive approval when -json is set. You can either \
                      apply a saved plan file, or enable the -auto-approve option.";
        return Err(Diagnostic::new(Summary::JSON_APPROVAL, detail).into());
    }
    signals::listen(session);
    if let Some(path) = args.plan_file.as_ref().filter(|path| path.is_dir()) {
        let detail = format!(
            "{} is a directory. To apply the configuration in another directory, use the global \
             option -chdir: mayfly -chdir={} apply",
            path.display(),
            path.display()
        );
        return Err(Diagnostic::new(Summary::PLAN_IS_DIRECTORY, detail).into());
    }
    let planned = match &args.plan_file {
        Some(path) if args.is_destroy => return Err(destroy_of_plan(path).into()),
        Some(path) => Some(apply::read_plan(session, path)?),
        None => None,
    };
    if let Some(file) = &planned {
        let place = planned_configuration::take(session, &file.plan)?;
        if args.state.state.is_none() {
            planned_configuration::check_place(session, &place)?;
        }
    }
    session.ui.log(LogLevel::Info, "backend/local", "starting Apply operation");
    let open = store::open(session, &args.state.options(), purpose_of(args))?;
    let result = match planned {
        Some(file) => apply_saved(session, &flags, &open, file),
        None => {
            let files = TempFiles::new(session);
            let planning = Planning { goal, flags, files: &files };
            let decision = apply_planned(session, args, planning, &open);
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

/// The goal of the command. `destroy` has only one mode.
fn goal_of(session: &CommandSession, args: &ApplyArgs) -> Result<Goal, Failure> {
    let refuse = |detail: &str| Err(Diagnostic::new(Summary::DESTROY_MODE, detail).into());
    let flags = &args.operation;
    if args.is_destroy && flags.refresh_only {
        return refuse("The -refresh-only option is not valid for \"mayfly destroy\".");
    }
    if args.is_destroy && flags.destroy {
        return refuse(
            "The -destroy option is not valid for \"mayfly destroy\", because this command always runs in destroy \
             mode.",
        );
    }
    let destroy = flags.destroy || args.is_destroy;
    OperationArgs { destroy, ..flags.clone() }.goal(session, args.plan_file.is_some())
}

fn purpose_of(args: &ApplyArgs) -> store::Purpose {
    match args.operation.destroy || args.is_destroy {
        true => store::Purpose::Destroy,
        false if args.is_refresh => store::Purpose::Refresh,
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

/// The warning of a refresh without objects.
fn nothing_to_refresh(state: &State) -> Option<Diagnostic> {
    let is_managed = |it: InstanceEntry<'_>| it.address.resource.mode == ResourceMode::Managed;
    let detail = "There are currently no remote objects tracked in the state, so there is nothing to refresh.";
    let warning = || Diagnostic::new(Summary::NOTHING_TO_REFRESH, detail);
    (!state.instances().any(is_managed)).then(warning)
}

/// The inputs of a plan that is made now.
struct Planning<'f> {
    goal: Goal,
    flags: Vec<VarFlag>,
    files: &'f Arc<TempFiles>,
}

fn apply_planned(
    session: &CommandSession,
    args: &ApplyArgs,
    planning: Planning<'_>,
    open: &OpenState,
) -> Result<Decision, Failure> {
    let Planning { goal, flags, files } = planning;
    let mode = goal.mode;
    let ahead = match args.is_refresh {
        true => None,
        false => objects_ahead(session, &args.operation, files),
    };
    let changes = ahead.clone().map(|it| it as Arc<dyn ChangeSink>);
    let options = PlanOptions { changes, ..args.operation.plan(goal, true, false) };
    let mut planned = plan::plan(session, &options, flags, open, files)?;
    if args.is_refresh {
        let warning = nothing_to_refresh(&open.file.state);
        planned.found.extend(warning.clone());
        planned.outcome.diagnostics.extend(warning);
    }
    show_found(session, &planned, !args.is_refresh);
    if args.is_refresh {
        show_checks(session, &planned);
    }
    if !args.is_refresh {
        show_plan(session, &args.operation, &planned, Shown::Plan(ahead.as_deref()));
    }
    let outcome = &mut planned.outcome;
    let has_errors = outcome.has_errors();
    if args.auto_approve && !args.is_refresh && !has_errors {
        // The apply evaluates checks again, so their results in the plan are not shown.
        outcome.diagnostics.retain(|it| !is_of_check(it));
    }
    show_diagnostics(session, &outcome.diagnostics, &planned.prepared);
    if has_errors {
        return Ok(Decision::Failed);
    }
    if !args.auto_approve {
        super::record_causes(session, &planned, open);
    }
    let outcome = &mut planned.outcome;
    if outcome.plan.is_applyable && !args.auto_approve && !approved(session, &args.operation, mode)?
    {
        let what = if mode == PlanMode::Destroy { "Destroy" } else { "Apply" };
        session.ui.line(&format!("\n{what} cancelled."));
        return Ok(Decision::Cancelled);
    }
    if session.cancel.level() > CancelLevel::Running {
        return Ok(Decision::Cancelled);
    }
    Ok(Decision::Apply(Box::new(Approved::of(planned, files))))
}

fn approved(
    session: &CommandSession,
    args: &OperationArgs,
    mode: PlanMode,
) -> Result<bool, Failure> {
    if !args.input {
        let detail = "Mayfly cannot ask for interactive approval when input is disabled. Use \
                      -auto-approve, or save a plan and apply that.";
        return Err(Diagnostic::new(Summary::NO_INPUT, detail).into());
    }
    let workspace = session.workspace();
    match session.ui.ask(&question(mode, &workspace), false) {
        Ok(answer) => {
            session.ui.line("");
            Ok(answer == "yes")
        }
        Err(_) => Err(Diagnostic::new(
            Summary::NO_APPROVAL,
            "The answer could not be read. Use -auto-approve to run without questions.",
        )
        .into()),
    }
}

/// The question before an apply.
fn question(mode: PlanMode, workspace: &str) -> String {
    let within = |name: &str| match workspace {
        backend::DEFAULT_WORKSPACE => String::new(),
        workspace => format!("{name} {workspace:?}"),
    };
    match mode {
        PlanMode::Destroy => format!(
            "\nDo you really want to destroy all resources{}?\n  OpenTofu will destroy all \
             your managed infrastructure, as shown above.\n  There is no undo. Only 'yes' will be \
             accepted to confirm.\n\n  Enter a value: ",
            within(" in workspace")
        ),
        PlanMode::RefreshOnly => format!(
            "\nWould you like to update the OpenTofu state{} to reflect these detected changes?\n  OpenTofu will write \
             these changes to the state without modifying any real infrastructure.\n  There is no undo. Only 'yes' \
             will be accepted to confirm.\n\n  Enter a value: ",
            within(" for")
        ),
        PlanMode::Normal => format!(
            "\nDo you want to perform these actions{}?\n  OpenTofu will perform the actions \
             described above.\n  Only 'yes' will be accepted to approve.\n\n  Enter a value: ",
            within(" in workspace")
        ),
    }
}

fn destroy_of_plan(path: &Path) -> Diagnostic {
    let path = path.display().to_string();
    let detail = format!(
        "If this plan was created using plan -destroy, apply it using:\n  mayfly apply {path:?}"
    );
    Diagnostic::new(Summary::DESTROY_PLAN_FILE, detail)
}

fn apply_saved(
    session: &CommandSession,
    flags: &[VarFlag],
    open: &OpenState,
    file: PlanFile,
) -> Result<Decision, Failure> {
    let approved = apply::saved(session, flags, open, file)?;
    if session.ui.has_json_lines() {
        let now = session.now();
        let changes = approved.plan.changes();
        for change in changes.filter(|it| it.change.action != Action::NoOp) {
            session.ui.json_line(&render::planned_change_json(change, &now));
        }
    }
    Ok(Decision::Apply(Box::new(approved)))
}

/// Applies an approved plan, prints the result, and writes the state.
pub(crate) fn carry_out(
    session: &CommandSession,
    args: &ApplyArgs,
    approved: Approved,
    open: OpenState,
) -> Result<Exit, Failure> {
    let settings = Settings {
        parallelism: args.operation.parallelism.get(),
        suppress_forget_errors: args.suppress_forget_errors,
    };
    let purpose = purpose_of(args);
    operations::causes::record::remove(session);
    let applied = match args.is_refresh {
        true => apply::refresh(session, purpose, approved, open)?,
        false => apply::apply(session, settings, purpose, approved, open)?,
    };
    // The diagnostics of the engine were printed as events. The engine does not know these ones.
    session.ui.json_diagnostics(&applied.found, &applied.prepared.program.sources);
    show_diagnostics(session, &applied.diagnostics, &applied.prepared);
    if !applied.has_errors() {
        if !args.is_refresh {
            applied.view.finish(args.operation_done());
        }
        show_outputs(session, args, &applied);
    }
    applied.close(session)?;
    session.ui.log(LogLevel::Info, "backend/local", "apply operation completed");
    Ok(if applied.has_errors() { Exit::Failure } else { Exit::Success })
}

fn show_outputs(session: &CommandSession, args: &ApplyArgs, applied: &Applied) {
    let Applied { plan, state, .. } = applied;
    if args.is_destroy {
        return;
    }
    if let Some(line) = render::output_changes_json(plan, Some(state), &session.now()) {
        session.ui.json_line(&line);
    }
    if session.ui.prints_text() && !state.outputs.is_empty() {
        session.ui.print("\nOutputs:\n\n");
        session.ui.print(&render::outputs(state, args.operation.show_sensitive));
    }
}
