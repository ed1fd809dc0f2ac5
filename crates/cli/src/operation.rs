//! Plan and apply: the steps that `plan`, `apply`, `destroy` and the apply of a saved plan have in common.
//!
//! ```text
//!   open the state ─► load ─► check ─► values ─► engine::plan ─► show ─► ask ─► engine::apply ─► write the state
//! ```

mod apply;
mod offline;
mod prepare;

use std::{path::Path, sync::Arc};

use addr::ResourceInstance;
use db::{Diagnostic, Sources};
use engine::{LogLevel, PlanOptions, PlanOutcome};
use hir::statics::LocalBackend;
use state::{Plan, PlanFile, PlanMode, StateFile, StateIdentity, TempEntry};

use crate::{
    args::{OperationArgs, PlanArgs},
    events::Format,
    exit::Exit,
    modules::ModuleDirectories,
    planned,
    private_file::{self, Durable},
    session::{Failure, Session},
    signals,
    store::{self, OpenState},
    temp::{self, TempFiles},
    variables::{self, VarFlag},
};

use self::offline::{unplanned_conditions, validate_unplanned};
pub(crate) use self::{
    apply::{Approved, apply_command, carry_out, is_of_check, read_plan, rescued},
    offline::{too_large, validate_with_providers, with_known_conditions},
    prepare::{Checked, Prepared, Purpose, acting, check, environment, prepare},
};

/// The program version in plan files. A plan of another version is refused.
pub(crate) const PROGRAM: &str = concat!("mayfly ", env!("CARGO_PKG_VERSION"));

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
