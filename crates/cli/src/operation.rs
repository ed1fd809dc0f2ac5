//! Plan and apply: the steps that `plan`, `apply`, `destroy` and the apply of a saved plan have in common.
//!
//! ```text
//!   open the state ─► load ─► check ─► values ─► engine::plan ─► show ─► ask ─► engine::apply ─► write the state
//! ```

use std::{collections::HashSet, fmt::Display, path::Path, sync::Arc};

use addr::ResourceInstance;
use db::{Diagnostic, Location, Severity, Sources, System};
use engine::{
    ApplyOptions, CancelLevel, Environment, EventSink, Journal, LogLevel, NoJournal,
    NoTempDirectories, PlanOptions, PlanOutcome, TempDirectories, VariableValues,
};
use hir::{Entry, Explanations, Expr, Program, Ref, statics::LocalBackend, unsupported};
use project::Project;
use state::{
    Action, Plan, PlanFile, PlanMode, State, StateFile, StateIdentity, TempEntry, journal::Intent,
};

use crate::{
    args::{ApplyArgs, OperationArgs, PlanArgs},
    events::{Format, Show},
    exit::Exit,
    local_exec::Processes,
    located::{Factory, ProviderExecutables},
    modules::{self, ModuleDirectories, Of},
    place, planned,
    private_file::{self, Durable},
    session::{Failure, Loaded, Session},
    signals,
    store::{self, Keeper, OpenState},
    temp::{self, TempFiles},
    variables::{self, Typed, VarFlag},
    verdicts::VerdictCache,
};

/// The program version in plan files. A plan of another version is refused.
pub(crate) const PROGRAM: &str = concat!("mayfly ", env!("CARGO_PKG_VERSION"));

/// Everything that an operation needs.
pub(crate) struct Prepared {
    pub(crate) executables: Arc<ProviderExecutables>,
    /// The texts given for ephemeral variables outside of files.
    pub(crate) typed: Typed,
    pub(crate) program: Arc<Program>,
    pub(crate) values: VariableValues,
    /// The diagnostics of the configuration that are already printed.
    pub(crate) shown: Vec<Diagnostic>,
    /// Files that decide the sources of modules or the arguments of the backend.
    pub(crate) source_files: Vec<String>,
}

impl Prepared {
    /// Returns true if the same problem was already printed for the same location. It may lack the instance
    /// address.
    fn was_shown(&self, found: &Diagnostic) -> bool {
        let is_same = |it: &Diagnostic| {
            (it.id, &it.summary, &it.detail, &it.location)
                == (found.id, &found.summary, &found.detail, &found.location)
        };
        found.location.is_some() && self.shown.iter().any(is_same)
    }
}

/// The purpose for which a configuration is checked.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Purpose {
    Plan,
    PlanDestroy,
    /// One object is imported into the state.
    Import,
    /// A saved plan is applied.
    Saved,
}

/// Runs `plan`.
pub(crate) fn plan_command(
    session: &Session,
    args: &PlanArgs,
    flags: Vec<VarFlag>,
) -> Result<Exit, Failure> {
    introduce(session, &args.operation);
    signals::listen(session);
    session.ui.log(LogLevel::Info, "backend/local", "starting Plan operation");
    let open = store::open(session, &args.state, store::Purpose::Plan)?;
    let files = TempFiles::new(session);
    let exit = plan_and_save(session, args, flags, &open, &files);
    end_temp(session, &files, !matches!(exit, Ok(Exit::Success | Exit::Changes)));
    open.close(session)?;
    session.ui.log(LogLevel::Info, "backend/local", "plan operation completed");
    exit
}

/// Removes the temporary files of a run. If the run failed, keeps them and prints their location.
fn end_temp(session: &Session, files: &TempFiles, has_failed: bool) {
    let left = files.end(has_failed);
    session.ui.diagnostics(left.as_slice(), &Sources::default());
}

fn plan_and_save(
    session: &Session,
    args: &PlanArgs,
    flags: Vec<VarFlag>,
    open: &OpenState,
    files: &Arc<TempFiles>,
) -> Result<Exit, Failure> {
    let identity = if open.exists() { open.identity() } else { StateIdentity::default() };
    let mut kept = Ok(Vec::new());
    let keep = |outcome: &PlanOutcome| {
        if args.out.is_some() && !outcome.has_errors() {
            kept = captured(session, files, outcome);
        }
    };
    let way = Planning { applying: false, is_saved: args.out.is_some(), files, at_end: keep };
    let (prepared, mut outcome) = planned(session, &args.operation, flags, open, way)?;
    outcome.plan.prior_state = identity;
    outcome.plan.made_by = PROGRAM.to_owned();
    let place = match args.state.state {
        // The plan does not record the place: the apply needs the same `-state` flag.
        Some(_) => LocalBackend::default(),
        None => session.place()?,
    };
    outcome.plan.backend = planned::backend_record(&place, &session.workspace());
    finish_plan(session, args, &prepared, &outcome, open, kept)
}

/// The temporary files for the plan file. Fails if one contains a secret.
fn captured(
    session: &Session,
    files: &TempFiles,
    outcome: &PlanOutcome,
) -> Result<Vec<TempEntry>, Failure> {
    let entries = files.capture(session)?;
    temp::refuse_secrets(files, &entries, outcome, &session.redactor)?;
    Ok(entries)
}

fn finish_plan(
    session: &Session,
    args: &PlanArgs,
    prepared: &Prepared,
    outcome: &PlanOutcome,
    open: &OpenState,
    temp: Result<Vec<TempEntry>, Failure>,
) -> Result<Exit, Failure> {
    show_plan(session, &args.operation, prepared, outcome);
    show_diagnostics(session, &args.operation, &outcome.diagnostics, prepared);
    if outcome.has_errors() {
        // Save the incomplete plan so that it can be inspected. `apply` refuses it, because it is marked as
        // errored.
        if let Some(out) = args.out.as_ref().filter(|_| outcome.has_begun) {
            save_plan(session, out, prepared, outcome, &open.file, Vec::new())?;
        }
        return Ok(Exit::Failure);
    }
    if let Some(out) = &args.out {
        save_plan(session, out, prepared, outcome, &open.file, temp?)?;
        if !args.operation.json {
            let path = out.display().to_string();
            session.ui.print(&render::plan_footer(Some(&path), &session.ui.out));
        }
    } else if !args.operation.json && outcome.plan.is_applyable {
        session.ui.print(&render::plan_footer(None, &session.ui.out));
    }
    Ok(match args.detailed_exitcode && outcome.plan.is_applyable {
        true => Exit::Changes,
        false => Exit::Success,
    })
}

/// The options of one planning run.
struct Planning<'t, F> {
    /// True if the plan is part of an apply.
    applying: bool,
    is_saved: bool,
    files: &'t Arc<TempFiles>,
    /// Called while the redactor still knows the secrets.
    at_end: F,
}

/// Loads and checks the configuration, and plans.
fn planned(
    session: &Session,
    args: &OperationArgs,
    flags: Vec<VarFlag>,
    open: &OpenState,
    way: Planning<'_, impl FnOnce(&PlanOutcome)>,
) -> Result<(Prepared, PlanOutcome), Failure> {
    let mut prior = open.file.state.clone();
    let purpose = if args.destroy { Purpose::PlanDestroy } else { Purpose::Plan };
    let mut prepared = prepare(session, flags, &mut prior, purpose)?;
    if args.input && !args.json && session.may_ask() {
        let Prepared { typed, program, values, .. } = &mut prepared;
        variables::ask(session, program.root(), values, typed)?;
    }
    let options = PlanOptions {
        mode: if args.destroy { PlanMode::Destroy } else { PlanMode::Normal },
        refresh: args.refresh,
        parallelism: args.parallelism.get(),
        applying: way.applying,
        workspace: session.workspace(),
        replace: replaced(&args.replace)?,
        uncertain: if args.retry_uncertain { Vec::new() } else { open.uncertain.clone() },
        timestamp: session.timestamp().into(),
        temp: way.files.root(),
        is_saved: way.is_saved,
    };
    let journal = open.openings(session);
    let format = match (args.json, way.applying) {
        (true, true) => Format::JsonBeforeApply,
        (true, false) => Format::Json,
        (false, _) => Format::Human,
    };
    let (environment, show) = environment(session, format, &prepared, journal, way.files);
    let directories = ModuleDirectories::of(session, &prepared.program);
    let mode = options.mode;
    let plan =
        engine::plan(&prepared.program, prior, prepared.values.clone(), &environment, options);
    let mut outcome = session.runtime.block_on(plan);
    // A plan with errors has not evaluated all blocks, so it reports only its own errors.
    let mut found = match mode {
        PlanMode::Normal if !outcome.has_errors() => {
            validate_unplanned(session, &prepared, &environment, &outcome)
        }
        _ => Vec::new(),
    };
    if mode == PlanMode::Normal {
        found.extend(unplanned_conditions(session, &prepared, &outcome));
    }
    // No process that knows a secret runs anymore. An apply learns its secrets again.
    show.end_log();
    (way.at_end)(&outcome);
    session.redactor.forget();
    found.extend(directories.changes(&prepared.program));
    if args.json {
        // The diagnostics of the run were printed as events. These ones do not belong to a node of the graph.
        session.ui.diagnostics(&found, &prepared.program.sources);
        if way.applying && outcome.has_errors() {
            let of_checks = outcome.diagnostics.iter().filter(|it| is_of_check(it));
            let of_checks: Vec<Diagnostic> = of_checks.cloned().collect();
            session.ui.diagnostics(&of_checks, &prepared.program.sources);
        }
    }
    outcome.diagnostics.extend(found);
    outcome.plan.has_errors = outcome.has_errors();
    outcome.plan.is_applyable &= !outcome.plan.has_errors;
    Ok((prepared, outcome))
}

/// Loads and checks the configuration.
pub(crate) fn prepare(
    session: &Session,
    flags: Vec<VarFlag>,
    state: &mut State,
    purpose: Purpose,
) -> Result<Prepared, Failure> {
    let verified = modules::verify(session, &session.locks()?, Of::Directory)?;
    let loaded = session.load_with_values(Some(&mut *state), &flags)?;
    ready(session, loaded, &flags, (state, purpose), verified)
}

/// Checks a loaded configuration and prints the warnings, starting with `warnings`.
fn ready(
    session: &Session,
    loaded: Loaded,
    flags: &[VarFlag],
    (state, purpose): (&State, Purpose),
    mut warnings: Vec<Diagnostic>,
) -> Result<Prepared, Failure> {
    let found = with_known_conditions(session, &loaded, loaded.project.checked());
    let mut checked = check(session, &loaded.project, found, flags, state, purpose)?;
    warnings.append(&mut checked.warnings);
    session.ui.diagnostics(&warnings, &checked.program.sources);
    let Loaded { executables, typed, project } = loaded;
    let given = project.workspace().given(project.db());
    let source_files = given.files.keys().map(ToString::to_string).collect();
    let Checked { program, values, .. } = checked;
    Ok(Prepared { executables, typed, program, values, shown: warnings, source_files })
}

/// A configuration without errors.
pub(crate) struct Checked {
    pub(crate) program: Arc<Program>,
    pub(crate) values: VariableValues,
    pub(crate) warnings: Vec<Diagnostic>,
}

/// Decides whether a configuration can be planned, and determines the values of its variables. `found` is the
/// result of [`Project::checked`].
pub(crate) fn check(
    session: &Session,
    project: &Project,
    found: (Vec<Diagnostic>, Program),
    flags: &[VarFlag],
    state: &State,
    purpose: Purpose,
) -> Result<Checked, Failure> {
    if project.is_empty() && purpose == Purpose::Plan && state.is_empty() {
        let detail = "Plan requires configuration to be present. Planning without a configuration \
                      would mark everything for destruction, which is normally not what is \
                      desired. If you would like to destroy everything, run plan with the -destroy \
                      option. Otherwise, create a Mayfly configuration file (.tf file) and try again.";
        return Err(Diagnostic::error("no-configuration", "No configuration files", detail).into());
    }
    let (diagnostics, mut program) = found;
    program.explanations = Arc::new(explanations(&diagnostics));
    let mut warnings: Vec<Diagnostic> = diagnostics
        .into_iter()
        .filter(|it| it.severity != Severity::Hint)
        // Drop warnings about possibly ephemeral values: from here on actual values decide.
        .filter(|it| it.id != db::diagnostic::POSSIBLY_EPHEMERAL)
        .map(|it| match purpose {
            Purpose::Saved | Purpose::Import => it,
            _ => settled(it, state),
        })
        .collect();
    if warnings.iter().any(Diagnostic::is_error) {
        return Err(Failure::Diagnostics(warnings, program.sources.clone()));
    }
    let (values, of_values) = variables::collect_all(session, &program, flags)?;
    warnings.extend(of_values);
    // Values are checked later. An error in one is shown at the place where the value is given.
    let files = program.sources.files.iter().cloned();
    program.sources.files = files.chain(variables::file_sources(session, flags)).collect();
    Ok(Checked { program: Arc::new(program), values, warnings })
}

/// The findings about values that may be ephemeral, by location. They explain an error of the run at the same
/// location.
fn explanations(found: &[Diagnostic]) -> Explanations {
    let mut explanations = Explanations::new();
    let is_undecided = |it: &Diagnostic| {
        it.severity == Severity::Hint || it.id == db::diagnostic::POSSIBLY_EPHEMERAL
    };
    for hint in found.iter().filter(|it| is_undecided(it) && !it.related.is_empty()) {
        if let Some(location) = &hint.location {
            explanations.entry(location.clone()).or_default().push(hint.clone());
        }
    }
    explanations
}

/// Turns a warning that depends on the state into an error if the state has objects.
fn settled(found: Diagnostic, state: &State) -> Diagnostic {
    let holds_objects = state.resources().len() > 0;
    match (found.id, found.severity) {
        (unsupported::ID, Severity::Warning) if holds_objects => {
            Diagnostic { severity: Severity::Error, ..found }
        }
        _ => found,
    }
}

/// The environment for the engine, and the sink that prints its events.
pub(crate) fn environment(
    session: &Session,
    format: Format,
    prepared: &Prepared,
    journal: Arc<dyn Journal>,
    files: &Arc<TempFiles>,
) -> (Environment, Arc<Show>) {
    let events = Arc::new(Show::new(session, format, prepared.program.sources.clone()));
    let acting = acting(session, &prepared.executables, events.clone(), files.clone());
    (Environment { journal, ..acting }, events)
}

/// The environment for an engine run that changes nothing, hence without a journal.
pub(crate) fn acting(
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
        commands: Arc::new(Processes { environment: Arc::clone(&session.child_environment) }),
        events,
        journal: Arc::new(NoJournal),
        redactor: session.redactor.clone(),
        cancel: session.cancel.clone(),
    }
}

/// Validates all blocks with the providers, for `validate`.
pub(crate) fn validate_with_providers(
    session: &Session,
    loaded: &Loaded,
    program: &Arc<Program>,
) -> Vec<Diagnostic> {
    let events = Arc::new(Show::new(session, Format::Quiet, program.sources.clone()));
    let environment = acting(session, &loaded.executables, events, Arc::new(NoTempDirectories));
    let verdicts = VerdictCache::new(session, loaded.executables.clone());
    session.runtime.block_on(engine::validate(
        program,
        &environment,
        &session.workspace(),
        &verdicts,
    ))
}

/// Adds conditions that fail regardless of any run to the errors of the analysis. After such errors there is no
/// run that would find them.
pub(crate) fn with_known_conditions(
    session: &Session,
    loaded: &Loaded,
    (mut diagnostics, program): (Vec<Diagnostic>, Program),
) -> (Vec<Diagnostic>, Program) {
    const CYCLES: [&str; 2] = ["dependency-cycle", "module-cycle"];
    let mut errors = diagnostics.iter().filter(|it| it.is_error()).peekable();
    if errors.peek().is_none() || errors.any(|it| CYCLES.contains(&it.id)) {
        return (diagnostics, program);
    }
    let program = Arc::new(program);
    diagnostics.extend(known_conditions(session, &loaded.executables, &program));
    (diagnostics, Arc::unwrap_or_clone(program))
}

fn known_conditions(
    session: &Session,
    executables: &Arc<ProviderExecutables>,
    program: &Arc<Program>,
) -> Vec<Diagnostic> {
    let events = Arc::new(Show::new(session, Format::Quiet, program.sources.clone()));
    let environment = acting(session, executables, events, Arc::new(NoTempDirectories));
    engine::known_conditions(program, &environment, &session.workspace())
}

/// Conditions that fail regardless of any run and that the plan did not report. A plan does not reach modules
/// without instances, nor dependents of a failed node.
fn unplanned_conditions(
    session: &Session,
    prepared: &Prepared,
    outcome: &PlanOutcome,
) -> Vec<Diagnostic> {
    let mut known = known_conditions(session, &prepared.executables, &prepared.program);
    fn sign(it: &Diagnostic) -> (Option<&Location>, &str) {
        (it.location.as_ref(), &it.summary)
    }
    let told: HashSet<_> = outcome.diagnostics.iter().map(sign).collect();
    known.retain(|it| !told.contains(&sign(it)));
    known
}

/// Validates the resource blocks without instances in the plan with their providers.
fn validate_unplanned(
    session: &Session,
    prepared: &Prepared,
    environment: &Environment,
    outcome: &PlanOutcome,
) -> Vec<Diagnostic> {
    let verdicts = VerdictCache::new(session, prepared.executables.clone());
    let (program, workspace) = (&prepared.program, session.workspace());
    let found = engine::validate_unplanned(program, environment, &workspace, &verdicts, outcome);
    session.runtime.block_on(found)
}

/// Errors for values that a plan would refuse to compute because of their size.
pub(crate) fn too_large(
    session: &Session,
    loaded: &Loaded,
    program: &Arc<Program>,
) -> Vec<Diagnostic> {
    let events = Arc::new(Show::new(session, Format::Quiet, program.sources.clone()));
    let environment = acting(session, &loaded.executables, events, Arc::new(NoTempDirectories));
    engine::too_large(program, &environment, &session.workspace())
}

/// Parses the addresses of `-replace`.
///
/// # Errors
/// A diagnostic for an invalid address, or one that is not a managed resource.
pub(crate) fn replaced(addresses: &[String]) -> Result<Vec<ResourceInstance>, Failure> {
    let parse = |text: &String| {
        let summary = format!("Invalid force-replace address {text:?}");
        let address = addr::parse_resource_instance(text).map_err(|error| {
            Diagnostic::error("invalid-address", summary.clone(), error.to_string())
        })?;
        match address.resource.mode {
            addr::ResourceMode::Managed => Ok(address),
            _ => {
                let detail = "Only managed resources can be used with the -replace=... option.";
                Err(Diagnostic::error("invalid-address", summary, detail).into())
            }
        }
    };
    addresses.iter().map(parse).collect()
}

fn show_plan(session: &Session, args: &OperationArgs, prepared: &Prepared, outcome: &PlanOutcome) {
    let schemas =
        |source: &addr::ProviderSource| prepared.executables.schemas(session, source).ok();
    let view = render::PlanView {
        plan: &outcome.plan,
        schemas: &schemas,
        show_sensitive: args.show_sensitive,
    };
    let has_content =
        !outcome.plan.resource_changes.is_empty() || !outcome.plan.output_changes.is_empty();
    if args.json {
        // An error may occur before anything is planned.
        if has_content || !outcome.has_errors() {
            plan_lines(session, &outcome.plan);
        }
    } else if !(outcome.has_errors() && outcome.plan.resource_changes.is_empty()) {
        session.ui.print(&render::plan(&view, &session.ui.out));
    }
}

/// Prints a plan as JSON, one object per line.
fn plan_lines(session: &Session, plan: &Plan) {
    let now = session.now();
    let mut lines = render::resource_drift_json(plan, &now);
    lines.extend(render::planned_changes_json(plan, &now));
    lines.push(render::change_summary_json(plan, &now));
    lines.extend(render::output_changes_json(plan, None, &now));
    for line in lines {
        session.ui.line(&line);
    }
}

/// Prints the first line of the JSON output, which names the program and its version.
pub(crate) fn introduce(session: &Session, args: &OperationArgs) {
    if args.json {
        session.ui.line(&render::version_json(&session.now()));
    }
}

fn show_diagnostics(
    session: &Session,
    args: &OperationArgs,
    diagnostics: &[Diagnostic],
    prepared: &Prepared,
) {
    // In JSON, the diagnostics were already printed as events.
    if args.json {
        return;
    }
    let is_news = |it: &&Diagnostic| it.is_error() || !prepared.was_shown(it);
    let news: Vec<Diagnostic> = diagnostics.iter().filter(is_news).cloned().collect();
    session.ui.diagnostics(&news, &prepared.program.sources);
}

fn save_plan(
    session: &Session,
    out: &Path,
    prepared: &Prepared,
    outcome: &PlanOutcome,
    previous: &StateFile,
    temp: Vec<TempEntry>,
) -> Result<(), Failure> {
    let mut plan = outcome.plan.clone();
    for path in &prepared.source_files {
        let file = engine::planned_file(&plan.files, &*session.system, path);
        plan.files.read.insert(path.clone(), file);
    }
    let file = PlanFile {
        plan,
        prior_state: StateFile { state: outcome.refreshed.clone(), ..previous.clone() },
        previous_state: previous.clone(),
        locks: session.lock_file()?,
        config: planned::snapshot(session, &prepared.program)?,
        temp,
    };
    let write_error =
        |detail: String| Diagnostic::error("plan-write", "Failed to write plan file", detail);
    let bytes =
        file.write().map_err(|error| write_error(format!("The plan cannot be saved: {error}.")))?;
    private_file::write(out, &bytes, Durable::Yes).map_err(|error| {
        write_error(format!(
            "{} cannot be written: {error}. Nothing was saved: check the path and its permissions.",
            out.display()
        ))
    })?;
    Ok(())
}

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
        let place = planned::take(session, &file.plan)?;
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
    let loaded = planned::load(session, &mut file, &flags)?;
    let warnings = planned::differences(session, &file);
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
            "Nothing is lost: {place} has everything that was done, and the next command takes it \
             over into the state when the cause is mended. Do not remove that file."
        ));
    }
    let Some(bytes) = keeper.encoded(state) else { return problem };
    match private_file::write(Path::new("errored.tfstate"), &bytes, Durable::Yes) {
        Ok(()) => and(
            "The state was written to errored.tfstate instead. Do not lose this file: it knows \
             what exists. When the cause is mended, put it in the place of the state."
                .to_owned(),
        ),
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
