//! The operation `plan`: loads and checks the configuration, plans, and saves the plan.
//!
//! ```text
//!   store::open ─► plan ─► (the caller shows it) ─► save ─► OpenState::close
//! ```

use std::{
    path::{Path, PathBuf},
    sync::Arc,
};

use addr::ResourceMode;
use db::{Diagnostic, Sources, Summary};
use engine::{ChangeSink, Environment, PlanOutcome, Planner};
use hir::statics::LocalBackend;
use state::{ConfigSnapshot, PlanFile, PlanMode, State, StateFile, StateIdentity, TempEntry};

use crate::{
    PROGRAM, generated_config,
    goal::Goal,
    modules::writes::ModuleDirectories,
    offline::{unplanned_conditions, validate_unplanned},
    planned,
    prepare::{Prepared, Purpose, environment, prepare},
    private_file::{self, Durable},
    session::{Failure, Session},
    since::{Base, BasePlan},
    store::OpenState,
    temp::{self, TempFiles},
    variables::{self, flag::VarFlag},
    view::Run,
};

/// The options of a plan.
#[derive(Clone)]
pub struct PlanOptions {
    /// The maximum number of concurrent calls of providers.
    pub parallelism: usize,
    /// True if objects are read from their providers first.
    pub refresh: bool,
    /// The goal of the plan.
    pub goal: Goal,
    /// True if objects are created again whose creation was never confirmed.
    pub retry_uncertain: bool,
    /// True if the user is asked for missing values of variables.
    pub input: bool,
    /// True if the plan is the first half of an apply.
    pub applying: bool,
    /// True if the plan will be saved.
    pub is_saved: bool,
    /// True if the progress is not shown, because the plan is not the result of the command.
    pub is_quiet: bool,
    /// The file for the configuration of imported objects that have none. Without it, such imports are errors.
    pub generate_config_out: Option<PathBuf>,
    /// The git revision whose configuration is planned too, to tell which changes were pending anyway.
    pub since: Option<String>,
    /// Receives the changes while the plan is made. `None` if nothing needs them before its outcome.
    pub changes: Option<Arc<dyn ChangeSink>>,
}

/// A plan with everything that is needed to show, save or apply it.
pub struct Planned {
    /// The checked configuration.
    pub prepared: Prepared,
    /// The plan. Its diagnostics include [`Planned::found`].
    pub outcome: PlanOutcome,
    /// The diagnostics that do not come from the run of the engine.
    pub found: Vec<Diagnostic>,
    /// The file that the plan wrote with generated configuration; `None` if it wrote none.
    pub generated: Option<PathBuf>,
    /// The plan for the configuration at the revision of [`PlanOptions::since`]. `None` without one, and if the plan
    /// has errors.
    pub base: Option<BasePlan>,
    /// The temporary files, if the plan can be saved.
    temp: Result<Vec<TempEntry>, Failure>,
}

impl Planned {
    /// The diagnostics that come from the run of the engine. Its events have reported them, too.
    pub fn of_engine(&self) -> &[Diagnostic] {
        let own = self.outcome.diagnostics.len() - self.found.len();
        &self.outcome.diagnostics[..own]
    }
}

/// Loads and checks the configuration, and plans.
///
/// # Errors
/// The reason why nothing was planned.
pub fn plan(
    session: &Session,
    options: &PlanOptions,
    flags: Vec<VarFlag>,
    open: &OpenState,
    files: &Arc<TempFiles>,
) -> Result<Planned, Failure> {
    if let Some(out) = &options.generate_config_out {
        generated_config::check(session, out, options.goal.mode)?;
    }
    let mut prior = open.file.state.clone();
    let purpose = match options.goal.mode {
        PlanMode::Destroy => Purpose::PlanDestroy,
        PlanMode::Normal | PlanMode::RefreshOnly => Purpose::Plan,
    };
    let flags_at_revision = flags.clone();
    let mut prepared = prepare(session, flags, &mut prior, purpose)?;
    if options.input && session.may_ask() {
        let Prepared { ephemeral_inputs, program, values, .. } = &mut prepared;
        variables::ask(session, program.root(), values, ephemeral_inputs)?;
    }
    let base = options
        .since
        .as_deref()
        .map(|revision| Base::load(session, revision, &flags_at_revision, &prepared, &prior));
    let base = base.transpose()?;
    let request = request(session, options, open, files);
    let mode = request.mode;
    let run = match options.applying {
        _ if options.is_quiet => Run::Quiet,
        true => Run::PlanBeforeApply,
        false => Run::Plan,
    };
    let (environment, show) = environment(session, run, &prepared, open.openings(session), files);
    let environment = Environment { changes: options.changes.clone(), ..environment };
    show.expects(refreshes(&prior, options));
    let directories = ModuleDirectories::of(session, &prepared.program);
    let PlannedBoth { mut outcome, base, problems } =
        plan_both(session, &prepared, &environment, base, PlanInput { prior, request, files });
    // A plan with errors has not evaluated all blocks, so it reports only its own errors.
    let mut found = match mode {
        PlanMode::Normal if !outcome.has_errors() => {
            validate_unplanned(session, &prepared, &environment, &outcome)
        }
        _ => Vec::new(),
    };
    // A destruction must not depend on the configuration more than it has to.
    if mode != PlanMode::Destroy {
        found.extend(unplanned_conditions(session, &prepared, &outcome));
    }
    // No process that knows a secret runs anymore. An apply learns its secrets again.
    show.end_log();
    let temp = match options.is_saved && !outcome.has_errors() {
        true => captured(session, files, &outcome),
        false => Ok(Vec::new()),
    };
    session.redactor.forget();
    let base = base.transpose()?;
    found.extend(problems);
    found.extend(directories.changes(&prepared.program));
    let generated = write_generated(session, options, &outcome, &mut found);
    outcome.diagnostics.extend(found.iter().cloned());
    outcome.plan.has_errors = outcome.has_errors();
    outcome.plan.is_applyable &= !outcome.plan.has_errors;
    Ok(Planned { prepared, outcome, found, generated, base, temp })
}

/// The input of the engine, apart from the configuration.
struct PlanInput<'a> {
    prior: State,
    request: engine::PlanOptions,
    files: &'a Arc<TempFiles>,
}

/// The results of one or two runs of the engine.
struct PlannedBoth {
    outcome: PlanOutcome,
    base: Option<Result<BasePlan, Failure>>,
    /// The problems of providers and ephemeral resources that ended after both runs.
    problems: Vec<Diagnostic>,
}

/// Plans a configuration, and that of a revision if there is one. Both use the same answers of providers.
fn plan_both(
    session: &Session,
    prepared: &Prepared,
    environment: &Environment,
    base: Option<Base>,
    input: PlanInput<'_>,
) -> PlannedBoth {
    let PlanInput { prior, request, files } = input;
    let (program, values) = (&prepared.program, prepared.values.clone());
    let Some(base) = base else {
        let plan = engine::plan(program, prior, values, environment, request);
        let outcome = session.runtime.block_on(plan);
        return PlannedBoth { outcome, base: None, problems: Vec::new() };
    };
    let mut planner = Planner::of_one_command();
    let plan = planner.plan(program, prior.clone(), values, environment, request.clone());
    let outcome = session.runtime.block_on(plan);
    let base =
        (!outcome.has_errors()).then(|| base.plan(session, &mut planner, prior, request, files));
    let problems = session.runtime.block_on(planner.close(environment));
    PlannedBoth { outcome, base, problems }
}

/// The number of objects that a plan refreshes. `None` if only the dependencies tell.
fn refreshes(prior: &State, options: &PlanOptions) -> Option<usize> {
    if !options.refresh {
        return Some(0);
    }
    let selects = !options.goal.targets.is_empty() || !options.goal.excludes.is_empty();
    let managed = prior.resources().filter(|(it, _)| it.resource.mode == ResourceMode::Managed);
    let instances = managed.flat_map(|(_, resource)| resource.instances.values());
    let objects = instances.map(|it| usize::from(it.current.is_some()) + it.deposed.len());
    (!selects).then(|| objects.sum())
}

/// Writes the generated configuration of a plan. Returns the file, if there is one.
fn write_generated(
    session: &Session,
    options: &PlanOptions,
    outcome: &PlanOutcome,
    found: &mut Vec<Diagnostic>,
) -> Option<PathBuf> {
    let out = options.generate_config_out.as_ref()?;
    match generated_config::write(session, out, &outcome.plan) {
        Ok(None) => None,
        Ok(Some(warning)) => {
            found.push(warning);
            Some(out.clone())
        }
        Err(error) => {
            found.push(*error);
            None
        }
    }
}

/// The request to the engine.
fn request(
    session: &Session,
    options: &PlanOptions,
    open: &OpenState,
    files: &TempFiles,
) -> engine::PlanOptions {
    engine::PlanOptions {
        mode: options.goal.mode,
        refresh: options.refresh,
        parallelism: options.parallelism,
        applying: options.applying,
        workspace: session.workspace(),
        replace: options.goal.replace.clone(),
        targets: options.goal.targets.clone(),
        excludes: options.goal.excludes.clone(),
        uncertain: if options.retry_uncertain { Vec::new() } else { open.uncertain.clone() },
        timestamp: session.timestamp().into(),
        temp: files.root(),
        writes: engine::PlanWrites {
            is_saved: options.is_saved,
            generates_configuration: options.generate_config_out.is_some(),
        },
    }
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

/// Records in a plan which state and which place it was made for. Without `has_place`, the plan does not record
/// the place, because the caller named a state file.
pub fn identify(
    session: &Session,
    planned: &mut Planned,
    open: &OpenState,
    has_place: bool,
) -> Result<(), Failure> {
    let plan = &mut planned.outcome.plan;
    plan.prior_state = if open.exists() { open.identity() } else { StateIdentity::default() };
    plan.made_by = PROGRAM.to_owned();
    let place = if has_place { session.place()? } else { LocalBackend::default() };
    plan.backend = planned::backend_record(&place, &session.workspace());
    Ok(())
}

/// Saves a plan in a file. A plan with errors is saved for inspection: it is marked as errored, and without its
/// temporary files.
pub fn save(
    session: &Session,
    out: &Path,
    planned: &mut Planned,
    previous: &StateFile,
) -> Result<(), Failure> {
    let Planned { prepared, outcome, generated, temp, .. } = planned;
    let temp = match outcome.has_errors() {
        true => Vec::new(),
        false => std::mem::replace(temp, Ok(Vec::new()))?,
    };
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
        config: with_generated(planned::snapshot(session, &prepared.program)?, outcome, generated),
        temp,
    };
    let write_error = |detail: String| Diagnostic::new(Summary::PLAN_WRITE, detail);
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

/// Writes a plan as an HTML page to a file that only its owner can read, because the page has values of attributes.
///
/// # Errors
/// A diagnostic if the file cannot be written. An old file is then unchanged.
pub fn write_page(path: &Path, page: &str) -> Result<(), Failure> {
    private_file::write(path, page.as_bytes(), Durable::No).map_err(|error| {
        let detail = format!(
            "{} cannot be written: {error}. Check the path and its permissions.",
            path.display()
        );
        Diagnostic::new(Summary::PLAN_PAGE_WRITE, detail).into()
    })
}

/// Adds the generated configuration to the configuration of a plan file, so that an apply of the plan has it.
fn with_generated(
    config: ConfigSnapshot,
    outcome: &PlanOutcome,
    file: &Option<PathBuf>,
) -> ConfigSnapshot {
    let mut config = config;
    let Some((file, text)) = file.as_ref().zip(generated_config::text(&outcome.plan)) else {
        return config;
    };
    let name = file.file_name().map(|it| it.to_string_lossy().into_owned()).unwrap_or_default();
    let name = if name.ends_with(".tf") { name } else { format!("{name}.tf") };
    if let Some(root) = config.modules.get_mut("") {
        // A file of another directory may have the same name.
        let mut free = name.clone();
        while root.files.contains_key(&free) {
            free = format!("generated_{free}");
        }
        root.files.insert(free, text.into_bytes());
    }
    config
}

/// Removes the temporary files of a run. If the run failed, keeps them and shows their location.
pub fn end_temp(session: &Session, files: &TempFiles, has_failed: bool) {
    let left = files.end(has_failed);
    session.view.diagnostics(left.as_slice(), &Sources::default());
}
