//! The commands `plan`, `apply` and `destroy`: what a person or a script sees of them.
//!
//! ```text
//!   open the state ─► plan ─► show ─► ask ─► apply ─► show ─► close the state
//! ```

mod apply;
mod page;

use std::sync::Arc;

use db::{Diagnostic, Summary};
use engine::{ChangeSink, LogLevel, PlanOutcome};
use operations::{
    apply::is_of_check,
    causes,
    plan::{self, PlanOptions, Planned, end_temp},
    prepare::Prepared,
    session::Failure,
    since::BasePlan,
    store::{self, OpenState},
    temp::TempFiles,
    variables::flag::VarFlag,
};
use render::{ObjectsAhead, PlanDifference};
use state::Plan;

use crate::{
    args::{OperationArgs, PlanArgs},
    exit::Exit,
    session::CommandSession,
    signals,
};

pub(crate) use self::{
    apply::{apply_command, carry_out},
    page::write_saved,
};

/// Runs `plan`.
pub(crate) fn plan_command(
    session: &CommandSession,
    args: &PlanArgs,
    flags: Vec<VarFlag>,
) -> Result<Exit, Failure> {
    let goal = args.operation.goal(session, false)?;
    refuse_mode_with_since(args)?;
    signals::listen(session);
    session.ui.log(LogLevel::Info, "backend/local", "starting Plan operation");
    let open = store::open(session, &args.state.options(), store::Purpose::Plan)?;
    let files = TempFiles::new(session);
    let ahead = match args.since {
        Some(_) => None,
        None => objects_ahead(session, &args.operation, &files),
    };
    let options = PlanOptions {
        generate_config_out: args.generate_config_out.clone(),
        since: args.since.clone(),
        changes: ahead.clone().map(|it| it as Arc<dyn ChangeSink>),
        ..args.operation.plan(goal, false, args.out.is_some())
    };
    let planned = plan::plan(session, &options, flags, &open, &files);
    let exit = planned.and_then(|mut planned| {
        let difference = planned.base.as_ref().map(|base| {
            let BasePlan { revision, commit, plan } = base;
            PlanDifference::new(revision, commit, plan, &planned.outcome.plan)
        });
        let shown = match &difference {
            Some(difference) => Shown::Difference(difference),
            None => Shown::Plan(ahead.as_deref()),
        };
        let mut exit = finish_plan(session, args, &mut planned, shown, &open);
        if let Some(path) = &args.html {
            let page = page::write_planned(session, path, &planned, difference.as_ref(), &open);
            exit = exit.and_then(|exit| page.map(|()| exit));
        }
        // Leak the plan on purpose: the process ends now, and freeing a large one takes long.
        std::mem::forget(planned.outcome);
        exit
    });
    end_temp(session, &files, !matches!(exit, Ok(Exit::Success | Exit::Changes)));
    open.close(session)?;
    session.ui.log(LogLevel::Info, "backend/local", "plan operation completed");
    exit
}

/// The part of a plan that is shown.
#[derive(Clone, Copy)]
enum Shown<'a> {
    /// The whole plan, of which some objects may be rendered already.
    Plan(Option<&'a ObjectsAhead>),
    /// The changes since a revision of the configuration.
    Difference(&'a PlanDifference),
}

impl<'a> Shown<'a> {
    fn difference(self) -> Option<&'a PlanDifference> {
        match self {
            Shown::Plan(_) => None,
            Shown::Difference(difference) => Some(difference),
        }
    }
}

/// Renders the objects of a plan while it is being made. `None` if it is not printed as text.
fn objects_ahead(
    session: &CommandSession,
    args: &OperationArgs,
    files: &TempFiles,
) -> Option<Arc<ObjectsAhead>> {
    let new = || {
        let root = files.root();
        Arc::new(ObjectsAhead::new(session.ui.out, args.show_sensitive, root.data_dir()))
    };
    session.ui.prints_text().then(new)
}

/// Refuses `-since` for a plan that does not depend on the configuration.
fn refuse_mode_with_since(args: &PlanArgs) -> Result<(), Failure> {
    match args.since.is_some() && (args.operation.destroy || args.operation.refresh_only) {
        false => Ok(()),
        true => {
            let detail = "-since cannot be combined with -destroy or -refresh-only: such a plan is the same \
                          for every configuration.";
            Err(Diagnostic::new(Summary::CONTRADICTING_OPTIONS, detail).into())
        }
    }
}

fn finish_plan(
    session: &CommandSession,
    args: &PlanArgs,
    planned: &mut Planned,
    shown: Shown<'_>,
    open: &OpenState,
) -> Result<Exit, Failure> {
    let difference = shown.difference();
    show_found(session, planned, false);
    plan::identify(session, planned, open, args.state.state.is_none())?;
    show_plan(session, &args.operation, planned, shown);
    let Planned { prepared, outcome, .. } = &*planned;
    show_diagnostics(session, &outcome.diagnostics, prepared);
    if !outcome.has_errors() {
        record_causes(session, planned, open);
    }
    if outcome.has_errors() {
        // Save the incomplete plan so that it can be inspected. `apply` refuses it, because it is marked as
        // errored.
        if let Some(out) = args.out.as_ref().filter(|_| outcome.has_begun) {
            plan::save(session, out, planned, &open.file)?;
        }
        return Ok(Exit::Failure);
    }
    let is_applyable = outcome.plan.is_applyable;
    let saved_as = args.out.as_ref().map(|it| it.display().to_string());
    let generated = planned.generated.as_ref().map(|it| it.display().to_string());
    if let Some(out) = &args.out {
        plan::save(session, out, planned, &open.file)?;
    }
    // An automation has its own words for what comes next.
    if session.ui.prints_text() && is_applyable && !session.ui.is_automation {
        let notes =
            render::PlanNotes { saved_as: saved_as.as_deref(), generated: generated.as_deref() };
        session.ui.print(&render::plan_footer(&notes, &session.ui.out));
        if difference.is_some() {
            session.ui.line(match args.out {
                Some(_) => {
                    "\nThe saved plan is the whole plan: an apply makes the pending changes too."
                }
                None => "\nAn apply makes the pending changes too.",
            });
        }
    }
    let has_changes = difference.map_or(is_applyable, PlanDifference::causes_changes);
    Ok(match args.detailed_exitcode && has_changes {
        true => Exit::Changes,
        false => Exit::Success,
    })
}

/// Leaves the causes of the plan for editors.
pub(crate) fn record_causes(session: &CommandSession, planned: &Planned, open: &OpenState) {
    let inputs = causes::of_planned(session, planned, &open.file.state);
    let sources = &planned.prepared.program.sources;
    ::causes::analyze(&inputs, |analysis| causes::record::write(session, analysis, sources));
}

/// Prints, in JSON, the diagnostics that no event of the run has printed.
fn show_found(session: &CommandSession, planned: &Planned, applying: bool) {
    let sources = &planned.prepared.program.sources;
    session.ui.json_diagnostics(&planned.found, sources);
    let of_engine = planned.of_engine();
    if applying && of_engine.iter().any(Diagnostic::is_error) {
        show_checks(session, planned);
    }
}

/// Prints, in JSON, the warnings of checks, which a plan before an apply leaves out.
fn show_checks(session: &CommandSession, planned: &Planned) {
    let of_checks = planned.of_engine().iter().filter(|it| is_of_check(it));
    let of_checks: Vec<Diagnostic> = of_checks.cloned().collect();
    session.ui.json_diagnostics(&of_checks, &planned.prepared.program.sources);
}

fn show_plan(session: &CommandSession, args: &OperationArgs, planned: &Planned, shown: Shown<'_>) {
    let Planned { prepared, outcome, .. } = planned;
    let schemas =
        |source: &addr::ProviderSource| prepared.executables.schemas(session, source).ok();
    let view = render::PlanView {
        plan: &outcome.plan,
        schemas: &schemas,
        show_sensitive: args.show_sensitive,
    };
    // An error may occur before anything is planned.
    if session.ui.has_json_lines() && (has_content(outcome) || !outcome.has_errors()) {
        plan_lines(session, &outcome.plan);
        if let Some(difference) = shown.difference() {
            session.ui.json_line(&render::plan_difference_json(difference, &session.now()));
        }
    }
    if session.ui.prints_text()
        && !(outcome.has_errors() && outcome.plan.resource_changes.is_empty())
    {
        let style = &session.ui.out;
        let pieces = match shown {
            Shown::Difference(it) => vec![render::plan_difference(&view, it, style)],
            Shown::Plan(Some(ahead)) => ahead.plan(&view),
            Shown::Plan(None) => vec![render::plan(&view, style)],
        };
        session.ui.print_pieces(&pieces);
        // Most pieces come from the threads of the pool: memory is freed faster by the thread that allocated it.
        parallel::spawn(|| drop(pieces));
    }
}

fn has_content(outcome: &PlanOutcome) -> bool {
    !outcome.plan.resource_changes.is_empty() || !outcome.plan.output_changes.is_empty()
}

/// Prints a plan as JSON, one object per line.
fn plan_lines(session: &CommandSession, plan: &Plan) {
    let now = session.now();
    let mut lines = render::resource_drift_json(plan, &now);
    lines.extend(render::planned_changes_json(plan, &now));
    lines.push(render::change_summary_json(plan, &now));
    lines.extend(render::output_changes_json(plan, None, &now));
    for line in lines {
        session.ui.json_line(&line);
    }
}

/// Prints, as text, the diagnostics of a run. In JSON, they were already printed as events.
fn show_diagnostics(session: &CommandSession, diagnostics: &[Diagnostic], prepared: &Prepared) {
    let is_news = |it: &&Diagnostic| it.is_error() || !prepared.was_shown(it);
    let news: Vec<Diagnostic> = diagnostics.iter().filter(is_news).cloned().collect();
    session.ui.text_diagnostics(&news, &prepared.program.sources);
}
