//! Planning: computes the changes that make the real objects match a configuration.

use std::{any::Any, rc::Rc, sync::Arc};

use addr::{AbsResource, ConfigResource, ResourceInstance, ResourceMode, Target};
use db::{Diagnostic, Summary, System};
use futures::future::LocalBoxFuture;
use hir::Program;
use rustc_hash::FxHashMap;
use state::{
    Action, BackendRecord, CheckStatus, Plan, PlanMode, PlannedFiles, Reason, ResourceChange,
    State, StateIdentity,
};
use values::{MarkKind, Type, Value};

use crate::{
    event::{ChangeCounts, Event, Operation},
    files::Observed,
    graph::template::{Renewed, Template, Touched},
    memo::Memo,
    moves::{self, Moves},
    place::{RunPhase, enter_phase},
    pool::Kept,
    relevance::relevant_attributes,
    request::{Environment, PlanOptions, PlanOutcome},
    runs::{
        decisions::DecisionParts,
        destroy_plan::DestroyPlanRun,
        plan::PlanRun,
        planning::{Planning, PlanningOptions},
        retained_run::{FinishedPlan, Part, RetainedRun},
    },
    targeting::{self, Targeting, uncovered_moves},
    variables::{VariableValues, given_deprecated},
    walk::{
        checks::Checks,
        context::{Settings, Walk, WalkInput},
        purpose,
        state_index::StateIndex,
    },
};

/// Plans the changes that make the real objects match a configuration or, with [`PlanMode::Destroy`], the
/// destruction of everything in the state.
///
/// The caller fills in the plan's fields about its storage (`made_by`, `backend`, `prior_state`, `root_dir`)
/// before saving it. A [`Planner`](crate::Planner) plans a configuration repeatedly.
///
/// The future is not `Send`: all changing state has one owner, and provider calls run beside it.
pub fn plan<'r>(
    program: &'r Arc<Program>,
    prior: State,
    variables: VariableValues,
    environment: &'r Environment,
    options: PlanOptions,
) -> LocalBoxFuture<'r, PlanOutcome> {
    Box::pin(plan_once(program, prior, variables, environment, options))
}

async fn plan_once(
    program: &Arc<Program>,
    prior: State,
    variables: VariableValues,
    environment: &Environment,
    options: PlanOptions,
) -> PlanOutcome {
    let new = || Arc::new(Observed::new(Arc::clone(&environment.system)));
    let observed = options.writes.is_saved.then(new);
    let system = match &observed {
        Some(observed) => Arc::clone(observed) as Arc<dyn System>,
        None => Arc::clone(&environment.system),
    };
    let environment = &Environment { system, ..environment.clone() };
    let request = Request { program, prior, variables, environment, options, observed };
    plan_with(request, &mut Memo::for_one_run(), &mut Leftovers::default()).await
}

/// The data that a plan leaves for the next plan of the same session.
#[derive(Default)]
pub(crate) struct Leftovers {
    /// Provider processes and open ephemeral resources that live on; `None` if none may outlive the run.
    pub(crate) kept: Option<Kept>,
    pub(crate) templates: Vec<Rc<Template>>,
    /// The last run, from which the next one resumes; `None` if the next one must run everything.
    pub(crate) retained_run: Option<RetainedRun>,
    pub(crate) index: Option<(Arc<State>, Rc<StateIndex>)>,
    /// The number of turns that nodes had in the last run.
    pub(crate) turns: usize,
    /// Data of the run that is no longer needed. Dropping it takes time, so it is dropped after the plan is
    /// returned.
    pub(crate) remains: Vec<Box<dyn Any>>,
}

impl Leftovers {
    fn index_of(&mut self, state: &Arc<State>) -> Rc<StateIndex> {
        if let Some((known, index)) = &self.index
            && known.has_same_resources(state)
        {
            return Rc::clone(index);
        }
        let index = Rc::new(StateIndex::new(state));
        self.index = Some((Arc::clone(state), Rc::clone(&index)));
        index
    }
}

/// The inputs of a plan.
pub(crate) struct Request<'a> {
    pub(crate) program: &'a Arc<Program>,
    pub(crate) prior: State,
    pub(crate) variables: VariableValues,
    pub(crate) environment: &'a Environment,
    pub(crate) options: PlanOptions,
    /// Records the files that functions read, as the environment's system; `None` if the plan does not have to
    /// list the files that the apply reads again.
    pub(crate) observed: Option<Arc<Observed>>,
}

/// Plans with the memo and the leftovers of earlier plans.
pub(crate) async fn plan_with(
    request: Request<'_>,
    memo: &mut Memo,
    leftovers: &mut Leftovers,
) -> PlanOutcome {
    enter_phase(RunPhase::Planning);
    let Request { program, prior, variables, environment, options, observed } = request;
    let settings = Settings {
        parallelism: options.parallelism,
        applying: options.applying,
        workspace: options.workspace.clone(),
        temp: options.temp.clone(),
        plan_time: options.timestamp.clone(),
        is_refresh_only: options.mode == PlanMode::RefreshOnly,
    };
    begin_memo(memo, &options);
    let mut plan = empty_plan(&options);
    plan.variables = given_plain(program, &variables);
    plan.ephemeral_variables = given_ephemeral(program, &variables);
    let deprecated = given_deprecated(program, &variables);
    let mut prior = prior;
    let targeting = Targeting::of(&options.targets, &options.excludes);
    let moves = moves::execute(program, &mut prior, options.mode == PlanMode::Destroy);
    if let Some(error) = targeting.as_ref().and_then(|it| uncovered_moves(it, &moves.moved)) {
        return refused(environment, prior, plan, vec![targeting::in_effect(), error]);
    }
    let is_limited = targeting.is_some();
    let planning_options = PlanningOptions {
        refresh: options.refresh,
        replace: options.replace.iter().cloned().collect(),
        replace_unkeyed: unkeyed(&options.replace),
        uncertain: options.uncertain.iter().map(|it| (it.object.clone(), it.clone())).collect(),
        destroys: options.mode == PlanMode::Destroy,
        refresh_only: options.mode == PlanMode::RefreshOnly,
        targeting,
        moved: moves.moved.declared(),
        relocated: moves.moved.previous.keys().cloned().collect(),
    };
    let previous = Arc::new(prior);
    let Renewed { templates, touched } =
        Template::all_from(program, std::mem::take(&mut leftovers.templates));
    let input = WalkInput {
        settings,
        variables,
        acts: false,
        observed,
        previous: Arc::clone(&previous),
        kept: leftovers.kept.take(),
        templates,
        state_index: leftovers.index_of(&previous),
    };
    let planning = Planning::new(program, environment, memo, input, planning_options);
    deprecated.into_iter().for_each(|it| planning.report(it));
    if is_limited {
        planning.report(targeting::in_effect());
    }
    let imports = options.mode != PlanMode::Normal
        || planning.refuse_undeclared(options.writes.generates_configuration);
    let is_possible = planning.has_all_values() & imports;
    let ending = Ending { plan, options: &options, moves, is_possible };
    match options.mode {
        PlanMode::Destroy => {
            let planning = match is_possible {
                true => {
                    let run = DestroyPlanRun::new(planning);
                    purpose::run(&run).await;
                    run.into_planning()
                }
                false => planning,
            };
            planning.plan_output_removal(|_| !is_limited);
            // A destroy plan checks nothing. Results of checks in its refresh are dropped.
            let checks = Checks::of_destruction(program.root());
            planning.checks.restore(if is_limited { Checks::default() } else { checks });
            ending.finish(planning, None, leftovers)
        }
        PlanMode::Normal | PlanMode::RefreshOnly => {
            let run = PlanRun(planning);
            let mut part = None;
            // A plan that is certain to fail calls no provider.
            if is_possible {
                // The blocks in `others` have no nodes whose edits could be found.
                let is_resumable = !has_others(program) && !is_limited;
                let retained = leftovers.retained_run.take().filter(|_| is_resumable);
                part = begin(&run, retained, touched);
                purpose::run(&run).await;
            }
            let declared = &program.root().outputs;
            run.plan_output_removal(|name| !is_limited && !declared.contains_key(name));
            ending.finish(run.0, part.as_ref(), leftovers)
        }
    }
}

/// Returns true if the configuration has `moved`, `removed` or `import` blocks.
fn has_others(program: &Program) -> bool {
    program.modules.iter().any(|it| !it.others.is_empty())
}

/// Prepares the graph: everything, or only the part of the last run that an edit can affect. Returns that part,
/// and `None` if everything runs.
fn begin(
    run: &PlanRun<'_>,
    retained_run: Option<RetainedRun>,
    touched: Option<Touched>,
) -> Option<Part> {
    if let Some((mut retained_run, touched)) = retained_run.zip(touched) {
        retained_run.rewire(run, &touched);
        if let Some(part) = retained_run.part(run, &touched) {
            run.resume(retained_run, &part);
            return Some(part);
        }
    }
    run.add_root(run);
    None
}

/// The data that the end of a plan needs besides the run.
struct Ending<'o> {
    plan: Plan,
    options: &'o PlanOptions,
    moves: Moves<'o>,
    /// False if the plan was certain to fail and nothing ran.
    is_possible: bool,
}

impl Ending<'_> {
    /// Makes the outcome of a plan, and leaves what the next plan can use.
    fn finish(
        self,
        planning: Planning<'_>,
        part: Option<&Part>,
        leftovers: &mut Leftovers,
    ) -> PlanOutcome {
        let has_begun = self.is_possible;
        let is_resumable = !has_others(planning.config.program) && planning.selection.is_none();
        let outcome =
            PlanOutcome { has_begun, ..finish(&planning, self.plan, self.options, &self.moves) };
        leftovers.turns = planning.reuse.turns();
        if planning.pool.keeps() {
            leftovers.kept = Some(planning.pool.take_kept());
            let FinishedPlan { templates, retained_run, remains } =
                planning.into_parts(&outcome, part);
            let retained_run = retained_run.filter(|_| is_resumable);
            (leftovers.templates, leftovers.retained_run, leftovers.remains) =
                (templates, retained_run, remains);
        }
        outcome
    }
}

fn finish(
    walk: &Planning<'_>,
    mut plan: Plan,
    options: &PlanOptions,
    moves: &Moves<'_>,
) -> PlanOutcome {
    let mode = options.mode;
    walk.validate_imports();
    match mode {
        // As in OpenTofu, a destruction without a refresh compares no instances.
        PlanMode::Destroy if options.refresh && !walk.state.previous().is_empty() => {
            let targeting = walk.selection.as_ref().map(|it| it.targeting());
            let selects = |it: &ResourceInstance| walk.selects(it);
            let selects_modules = targeting.is_none_or(Targeting::is_exclusion);
            let limits = moves::Limits { selects_modules, selects: &selects };
            moves::validate_destruction(walk, moves, limits);
        }
        _ => moves::validate(walk, moves),
    }
    walk.config.removals.validate(walk);
    let has_failed = walk.report.has_errors();
    // A destroy plan and a plan with errors do not expand everything. In any other plan, a declaration without
    // objects has no instances.
    let is_expanded = mode != PlanMode::Destroy && !has_failed;
    let kept = walk.selection.as_ref().map(|it| it.kept_addresses(&walk.config.tree));
    plan.checks = walk.checks.results(walk.config.program, |address| {
        match is_expanded && kept.as_ref().is_none_or(|it| it.contains(address)) {
            true => CheckStatus::Pass,
            false => CheckStatus::Unknown,
        }
    });
    let mut refreshed = walk.state.take();
    refreshed.checks = plan.checks.clone();
    let DecisionParts { changes, drift, mut ephemerals, outputs } = walk.decisions.take();
    plan.resource_changes = sorted(changes);
    plan.resource_drift = drift.into_values().collect();
    // A destroy plan that refreshes takes the moves as already made.
    if mode != PlanMode::Destroy || !options.refresh {
        note_previous_addresses(&mut plan, moves);
    }
    // A destroy plan that refreshes takes the objects as the refresh found them.
    if mode == PlanMode::Destroy && options.refresh {
        plan.resource_drift.clear();
    }
    plan.resource_drift.retain(|it| it.change.action != Action::NoOp || it.previous_addr.is_some());
    sorted::sort(&mut ephemerals);
    ephemerals.dedup();
    plan.ephemerals = ephemerals;
    plan.output_changes = outputs;
    // Nothing else than a saved plan and changes from outside need them.
    if options.writes.is_saved || !plan.resource_drift.is_empty() {
        let outputs = walk.called_outputs();
        let removed = removed_data(&plan, &refreshed);
        plan.relevant_attributes =
            relevant_attributes(walk.config.program, &plan, outputs, removed);
    }
    refuse_ephemeral(walk, &plan);
    if !walk.report.has_errors()
        && let Some(warning) = moves.moved.warning()
    {
        walk.report(warning);
    }
    let diagnostics = walk.report.take();
    plan.has_errors = diagnostics.iter().any(Diagnostic::is_error);
    if plan.has_errors {
        // All outputs stay as they were, because it is arbitrary which ones were evaluated before the error.
        refreshed.outputs = walk.state.previous().outputs.clone();
    }
    plan.is_applyable = !plan.has_errors && has_changes(&plan, walk.state.previous(), &refreshed);
    if let Some(observed) = &walk.calls.observed {
        plan.files = observed.read_again(&plan, &walk.settings.temp.path());
    }
    if !plan.has_errors {
        walk.emit(Event::Summary {
            operation: Operation::Plan,
            counts: ChangeCounts::of_plan(&plan),
        });
    }
    let assertions = walk.report.assertions();
    PlanOutcome { plan, refreshed, diagnostics, has_begun: true, assertions }
}

/// The instances to replace whose addresses have no instance key, by their resource.
fn unkeyed(replace: &[ResourceInstance]) -> FxHashMap<ConfigResource, Vec<ResourceInstance>> {
    let mut unkeyed: FxHashMap<_, Vec<_>> = FxHashMap::default();
    for instance in replace.iter().filter(|it| it.key.is_none()) {
        unkeyed.entry(instance.config()).or_default().push(instance.clone());
    }
    unkeyed
}

/// Sets the previous addresses of the objects in a plan. A memoized change may have the previous address of an
/// earlier plan.
fn note_previous_addresses(plan: &mut Plan, moves: &Moves<'_>) {
    for change in plan.resource_changes.iter_mut().chain(&mut plan.resource_drift) {
        let previous = moves.moved.previous.get(&change.addr).map(|it| &it.address);
        let reason = match change.reason {
            Some(Reason::DeleteBecauseNoResourceConfig | Reason::DeleteBecauseNoMoveTarget) => {
                Some(match previous {
                    Some(_) => Reason::DeleteBecauseNoMoveTarget,
                    None => Reason::DeleteBecauseNoResourceConfig,
                })
            }
            reason => reason,
        };
        if change.previous_addr.as_deref() != previous || change.reason != reason {
            let change = Arc::make_mut(change);
            change.previous_addr = previous.cloned().map(Box::new);
            change.reason = reason;
        }
    }
}

fn has_changes(plan: &Plan, previous: &State, refreshed: &State) -> bool {
    let acts = |action: Action| action != Action::NoOp;
    let is_listed =
        |it: &ResourceChange| it.previous_addr.is_some() || it.change.importing.is_some();
    plan.changes().any(|it| acts(it.change.action) || is_listed(it))
        || plan.output_changes.values().any(|it| acts(it.action))
        // A refresh-only plan writes what it read.
        || (plan.mode == PlanMode::RefreshOnly
            && (!plan.resource_drift.is_empty() || !previous.has_same_managed(refreshed)))
        // A destroy plan still clears a state that has nothing but data sources.
        || (plan.mode == PlanMode::Destroy && !previous.is_empty() && clears_data(plan, refreshed))
}

/// Returns true if a destroy plan leaves data sources in the state, which its apply removes.
fn clears_data(plan: &Plan, refreshed: &State) -> bool {
    match plan.targets.is_empty() && plan.excludes.is_empty() {
        true => refreshed.resources().len() > 0,
        false => !removed_data(plan, refreshed).is_empty(),
    }
}

/// The data sources that the apply of a destroy plan removes.
fn removed_data(plan: &Plan, refreshed: &State) -> Vec<AbsResource> {
    if plan.mode != PlanMode::Destroy {
        return Vec::new();
    }
    let targeting = Targeting::of(&plan.targets, &plan.excludes);
    let data = refreshed.instances().map(|it| it.address).filter(|address| {
        address.resource.mode == ResourceMode::Data
            && targeting.as_ref().is_none_or(|it| it.selects(address))
    });
    data.map(|it| it.containing_resource()).collect()
}

fn sorted(mut changes: Vec<Arc<ResourceChange>>) -> Vec<Arc<ResourceChange>> {
    sorted::sort_by(&mut changes, |a, b| a.compare_addresses(b));
    changes
}

/// Reports an ephemeral value in the plan as an error. This is the last safeguard: such a value is a defect of
/// Mayfly.
fn refuse_ephemeral(walk: &Walk<'_>, plan: &Plan) {
    let holds = |value: &Value| value.has_deep(MarkKind::Ephemeral);
    let change = |it: &ResourceChange| holds(&it.change.before) || holds(&it.change.after);
    let leaks = plan.changes().chain(plan.drift()).find(|it| change(it));
    if let Some(leak) = leaks {
        let detail = format!(
            "The planned change of {} holds an ephemeral value. This is a defect of Mayfly; please report it.",
            leak.addr
        );
        walk.report_about(&leak.addr.to_string(), Summary::EPHEMERAL_IN_PLAN, detail);
    }
    if let Some((name, _)) =
        plan.output_changes.iter().find(|(_, it)| holds(&it.before) || holds(&it.after))
    {
        let detail = format!(
            "The planned change of output {name} holds an ephemeral value. This is a defect of \
             Mayfly; please report it."
        );
        walk.report_about(&format!("output.{name}"), Summary::EPHEMERAL_IN_PLAN, detail);
    }
}

/// Clears the memo if it was made under other settings.
fn begin_memo(memo: &mut Memo, options: &PlanOptions) {
    let replace: Vec<String> = options.replace.iter().map(ToString::to_string).collect();
    let uncertain: Vec<String> = options.uncertain.iter().map(|it| it.object.to_string()).collect();
    let text =
        |list: &[Target]| list.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n");
    memo.begin(&[
        options.workspace.as_bytes(),
        &[
            u8::from(options.applying),
            u8::from(options.refresh),
            u8::from(options.mode == PlanMode::Destroy),
            u8::from(options.mode == PlanMode::RefreshOnly),
            u8::from(options.writes.generates_configuration),
        ],
        replace.join("\n").as_bytes(),
        uncertain.join("\n").as_bytes(),
        text(&options.targets).as_bytes(),
        text(&options.excludes).as_bytes(),
        options.temp.path().as_bytes(),
    ]);
}

fn given_plain(
    program: &Program,
    variables: &VariableValues,
) -> sorted::TreeMap<values::Str, Value> {
    let declared = program.root().variables.iter().filter(|(_, it)| !it.variable().ephemeral);
    let given = declared.filter_map(|(name, _)| {
        // The value as it was given: apply converts it to the variable's type, as plan does.
        Some((name.clone(), variables.get(name)?.value.without_all_marks()))
    });
    given.collect()
}

fn given_ephemeral(program: &Program, variables: &VariableValues) -> sorted::TreeSet<values::Str> {
    let declared = program.root().variables.iter().filter(|(_, it)| it.variable().ephemeral);
    declared.map(|(name, _)| name.clone()).filter(|name| variables.contains(name)).collect()
}

fn empty_plan(options: &PlanOptions) -> Plan {
    Plan {
        id: options.temp.plan_id().to_owned(),
        timestamp: options.timestamp.to_string(),
        made_by: String::new(),
        mode: options.mode,
        is_applyable: false,
        has_errors: false,
        variables: Default::default(),
        ephemeral_variables: Default::default(),
        resource_changes: Vec::new(),
        resource_drift: Vec::new(),
        ephemerals: Vec::new(),
        output_changes: Default::default(),
        checks: Vec::new(),
        relevant_attributes: Vec::new(),
        targets: options.targets.clone(),
        excludes: options.excludes.clone(),
        force_replace: options.replace.clone(),
        backend: BackendRecord {
            type_name: String::new(),
            config: Value::null(Type::Dynamic),
            workspace: options.workspace.to_string(),
        },
        prior_state: StateIdentity::default(),
        root_dir: String::new(),
        data_dir: options.temp.data_dir().to_owned(),
        files: PlannedFiles::default(),
    }
}

/// The outcome of a plan that is refused before anything runs.
fn refused(
    environment: &Environment,
    prior: State,
    plan: Plan,
    diagnostics: Vec<Diagnostic>,
) -> PlanOutcome {
    for it in &diagnostics {
        environment.events.event(Event::Diagnostic(it.clone()));
    }
    let plan = Plan { has_errors: true, ..plan };
    PlanOutcome { plan, refreshed: prior, diagnostics, has_begun: false, assertions: 0 }
}
