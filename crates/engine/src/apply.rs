//! Applying: carries out the changes of a plan.

use std::{rc::Rc, sync::Arc};

use addr::{ConfigResource, ResourceInstance, ResourceMode};
use db::{Diagnostic, Summary};
use futures::future::LocalBoxFuture;
use hir::Program;
use rustc_hash::FxHashSet;
use state::{CheckStatus, Importing, Plan, PlanMode, State, journal::Intent};

use crate::{
    event::{Event, Operation},
    graph::template::Template,
    imports::import_id,
    journal::Number,
    memo::Memo,
    place::{RunPhase, enter_phase},
    request::{ApplyOptions, ApplyOutcome, Environment},
    runs::{
        apply::ApplyRun, applying::Applying, destroy::DestroyRun, planned_actions::PlannedActions,
    },
    targeting::{self, Targeting},
    temp::TempRoot,
    variables::VariableValues,
    walk::{
        checks::Checks,
        context::{Settings, Walk, WalkInput},
        purpose,
        state_index::StateIndex,
    },
};

/// Applies a plan. `refreshed` is the state that came with the plan.
///
/// For a plan that was read from a file, the caller first prepares the variables with
/// [`variables_for_saved_plan`](crate::variables_for_saved_plan).
///
/// The future is not `Send`: all changing state has one owner, and provider calls run beside it.
pub fn apply<'r>(
    program: &'r Arc<Program>,
    plan: &'r Plan,
    refreshed: State,
    variables: VariableValues,
    environment: &'r Environment,
    options: ApplyOptions,
) -> LocalBoxFuture<'r, ApplyOutcome> {
    Box::pin(apply_plan(program, plan, refreshed, variables, environment, options))
}

async fn apply_plan(
    program: &Arc<Program>,
    plan: &Plan,
    refreshed: State,
    variables: VariableValues,
    environment: &Environment,
    options: ApplyOptions,
) -> ApplyOutcome {
    enter_phase(RunPhase::Applying);
    if let Err(problem) = check_plan_is_complete(plan) {
        return ApplyOutcome { state: refreshed, diagnostics: vec![*problem], assertions: 0 };
    }
    let settings = Settings {
        parallelism: options.parallelism,
        applying: true,
        workspace: options.workspace,
        temp: TempRoot::new(plan.data_dir.as_str(), plan.id.as_str()),
        plan_time: plan.timestamp.as_str().into(),
        is_refresh_only: plan.mode == PlanMode::RefreshOnly,
    };
    let planned_actions = PlannedActions::new(plan);
    let mut memo = Memo::for_one_run();
    let previous = Arc::new(refreshed);
    let input = WalkInput {
        settings,
        variables,
        acts: true,
        observed: None,
        kept: None,
        templates: Template::all(program),
        state_index: Rc::new(StateIndex::new(&previous)),
        previous,
    };
    let walk = Walk::new(program, environment, &mut memo, input);
    walk.checks.restore(Checks::expected(&plan.checks));
    let applying = Applying::new(walk, &planned_actions);
    let targeting = applying.planned.targeting();
    match plan.mode {
        PlanMode::Destroy => {
            let run = DestroyRun::new(applying);
            purpose::run(&run).await;
            if !options.suppress_forget_errors {
                refuse_left_behind(&run);
            }
            finish(&run, |state| clear(state, targeting))
        }
        PlanMode::Normal | PlanMode::RefreshOnly => {
            let run = ApplyRun::new(applying);
            take_imports(&run, plan, &options.uncertain).await;
            purpose::run(&run).await;
            let declared = &program.root().outputs;
            finish(&run, |state| {
                state.outputs.retain(|name, _| targeting.is_some() || declared.contains_key(name));
                if plan.mode == PlanMode::RefreshOnly {
                    state.checks = plan.checks.clone();
                }
            })
        }
    }
}

/// Reports the objects that the plan imported, and records them in the journal. `refreshed` has them already.
async fn take_imports(applying: &Applying<'_>, plan: &Plan, uncertain: &[Intent]) {
    let imports = plan.changes().filter_map(|it| Some((&it.addr, it.change.importing.as_deref()?)));
    let imports: Vec<(&ResourceInstance, &Importing)> = imports.collect();
    for (address, importing) in &imports {
        let id = import_id(importing);
        applying.emit(Event::ImportApplyStart { address: (*address).clone(), id: id.clone() });
        let answers = uncertain.iter().rfind(|it| it.object.instance == **address);
        if applying.record(address, answers.map(|it| Number(it.number))).is_err() {
            return;
        }
        applying.emit(Event::ImportApplyComplete { address: (*address).clone(), id });
        applying.report.count(|counts| counts.import += 1);
    }
    if !imports.is_empty() {
        // A failure is reported, and ends the run before it begins.
        let _ = applying.durable().await;
    }
}

/// Refuses a plan that ended with errors.
///
/// # Errors
/// If the plan is incomplete.
pub fn check_plan_is_complete(plan: &Plan) -> Result<(), Box<Diagnostic>> {
    if !plan.has_errors {
        return Ok(());
    }
    let detail = "The plan ended with errors, so it can be shown, but not applied. Correct the \
                  errors, then make a new plan.";
    Err(Box::new(Diagnostic::new(Summary::ERRORED_PLAN, detail)))
}

/// Reports a destruction that succeeded and forgot objects: scripts rely on its exit code.
fn refuse_left_behind(applying: &Applying<'_>) {
    if applying.report.has_errors() || applying.report.counts().forget == 0 {
        return;
    }
    let detail = "As requested, Mayfly has not deleted some remote objects that are no longer managed by this \
                  configuration. Those objects continue to exist in their remote system and so may \
                  continue to incur charges. Refer to the original plan for more information.\n\nTo \
                  suppress this error for future destroy runs, add the flag \"-suppress-forget-errors\".";
    applying.report(Diagnostic::new(Summary::LEFT_BEHIND, detail));
}

/// Ends an apply. `clear` removes what the state must not keep.
fn finish(applying: &Applying<'_>, clear: impl FnOnce(&mut State)) -> ApplyOutcome {
    if applying.planned.targeting().is_some() {
        applying.report(targeting::may_be_incomplete());
    }
    let diagnostics = applying.report.take();
    let failed = diagnostics.iter().any(Diagnostic::is_error);
    let mut state = applying.state.take();
    state.checks = applying.checks.results(applying.config.program, |_| CheckStatus::Unknown);
    clear(&mut state);
    let counts = applying.report.counts();
    if !failed {
        applying.emit(Event::Summary { operation: Operation::Apply, counts });
    }
    let assertions = applying.report.assertions();
    ApplyOutcome { state, diagnostics, assertions }
}

/// Removes all outputs from the state after a destruction, and the data sources that no remaining object depends
/// on. With targets, outputs stay, and so do data sources that are not addressed.
fn clear(state: &mut State, targeting: Option<&Targeting>) {
    if targeting.is_none() {
        state.outputs.clear();
    }
    let remaining =
        state.instances().filter(|it| it.address.resource.mode == ResourceMode::Managed);
    let objects =
        remaining.flat_map(|it| it.instance.current.iter().chain(it.instance.deposed.values()));
    let needed: FxHashSet<&ConfigResource> =
        objects.flat_map(|it| it.dependencies.iter()).collect();
    let data: Vec<ResourceInstance> = state
        .instances()
        .map(|it| it.address)
        .filter(|address| address.resource.mode == ResourceMode::Data)
        .filter(|address| !needed.contains(&address.containing_resource().config()))
        .filter(|address| targeting.is_none_or(|it| it.selects(address)))
        .collect();
    for address in data {
        state.remove_current(&address);
    }
}
