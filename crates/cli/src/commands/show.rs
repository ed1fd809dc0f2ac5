//! The `show` command.

use std::{io, path::Path, sync::Arc};

use backend::LocalPaths;
use db::{Diagnostic, Summary};
use state::StateFile;

use operations::{
    apply, modules, planned,
    session::{Failure, broken},
    store,
};

use crate::{
    args::ShowArgs, commands::state::written_by, exit::Exit, operation::write_saved,
    session::CommandSession,
};

/// Runs `show`: prints the current state, a state file, or a saved plan.
pub(crate) fn run(session: &CommandSession, args: &ShowArgs) -> Result<Exit, Failure> {
    if args.html.is_some() && (args.config || args.state || args.json.json) {
        let detail = "-html writes a saved plan as a page, so the path of a saved plan must be given, \
                      and -json, -config and -state cannot be.";
        return Err(Diagnostic::new(Summary::CONTRADICTING_OPTIONS, detail).into());
    }
    if args.config {
        return show_configuration(session, args);
    }
    if let Some(directory) = &args.module {
        return show_module(session, args, directory);
    }
    if args.path.is_some() && (args.state || args.plan.is_some()) {
        let detail = "-state and -plan=FILE name what is shown, so a path cannot be given too.";
        return Err(Diagnostic::new(Summary::CONTRADICTING_OPTIONS, detail).into());
    }
    if let Some(path) = &args.plan {
        return show_plan(session, args, path);
    }
    match &args.path {
        Some(path) if args.html.is_some() => show_plan(session, args, path),
        None if args.html.is_some() => {
            let detail = "-html writes a saved plan as a page. Give the path of a file that \"plan \
                          -out\" wrote.";
            Err(Diagnostic::new(Summary::CONTRADICTING_OPTIONS, detail).into())
        }
        None => {
            let mut open = store::open_unlocked(session, None)?;
            show_state(session, args, &mut open.file)
        }
        Some(path) => match is_zip(session, path)? {
            true => show_plan(session, args, path),
            false => show_state(session, args, &mut read_state(session, path)?),
        },
    }
}

/// Prints the configuration in the working directory as JSON.
fn show_configuration(session: &CommandSession, args: &ShowArgs) -> Result<Exit, Failure> {
    if !args.json.json {
        let detail = "The -config option requires -json to be specified.";
        return Err(Diagnostic::new(Summary::JSON_REQUIRED, detail).into());
    }
    if args.path.is_some() {
        let detail = "-config shows the configuration in the working directory, so a path cannot be \
                      given too.";
        return Err(Diagnostic::new(Summary::CONTRADICTING_OPTIONS, detail).into());
    }
    let loaded = session.load(None)?;
    if let Some(failure) = broken(&loaded.project) {
        return Err(failure);
    }
    let schemas = |source: &addr::ProviderSource| loaded.executables.schemas(session, source).ok();
    let program = loaded.project.program();
    session.ui.document(&args.json, || render::configuration_json(&program, &schemas));
    Ok(Exit::Success)
}

/// Prints the declarations of one module as JSON.
fn show_module(
    session: &CommandSession,
    args: &ShowArgs,
    directory: &Path,
) -> Result<Exit, Failure> {
    if !args.json.json {
        let detail = "The -module=DIR option requires -json to be specified.";
        return Err(Diagnostic::new(Summary::JSON_REQUIRED, detail).into());
    }
    if args.path.is_some() {
        let detail = "-module=DIR names what is shown, so a path cannot be given too.";
        return Err(Diagnostic::new(Summary::CONTRADICTING_OPTIONS, detail).into());
    }
    let module = modules::single(session, directory)?;
    session.ui.document(&args.json, || render::module_json(&module.program, &module.calls));
    Ok(Exit::Success)
}

fn is_zip(session: &CommandSession, path: &Path) -> Result<bool, Failure> {
    let bytes = session.system.read_file(path).map_err(|error| unreadable(path, &error))?;
    Ok(bytes.starts_with(b"PK"))
}

fn unreadable(path: &Path, error: &io::Error) -> Diagnostic {
    Diagnostic::new(Summary::UNREADABLE_STATE_OR_PLAN, format!("{}: {error}.", path.display()))
}

fn read_state(session: &CommandSession, path: &Path) -> Result<StateFile, Failure> {
    let bytes = session.system.read_file(path).map_err(|error| unreadable(path, &error))?;
    StateFile::read(&bytes).map_err(|error| {
        let backup = LocalPaths::at(path).backup;
        let damaged = store::damaged(session, &error, path, backup.as_deref());
        let detail = match bytes.trim_ascii_start().starts_with(b"{") {
            true => damaged.detail,
            false => format!("{} is neither a plan file nor a state file.", path.display()),
        };
        Diagnostic::new(Summary::UNREADABLE_STATE_OR_PLAN, detail).into()
    })
}

fn show_state(
    session: &CommandSession,
    args: &ShowArgs,
    file: &mut StateFile,
) -> Result<Exit, Failure> {
    if file.state.is_empty() {
        // An empty state needs no schemas, so no provider has to be installed.
        session.ui.document(&args.json, || state_json(file, &|_| None));
        if !args.json.json {
            session.ui.line("The state file is empty. No resources are represented.");
        }
        return Ok(Exit::Success);
    }
    let loaded = session.load(Some(&mut file.state))?;
    let schemas = |source: &addr::ProviderSource| loaded.executables.schemas(session, source).ok();
    session.ui.document(&args.json, || state_json(file, &schemas));
    if !args.json.json {
        let text = render::state(&file.state, &schemas, args.show_sensitive, &session.ui.out);
        session.ui.print(&text);
    }
    Ok(Exit::Success)
}

fn state_json(file: &StateFile, schemas: render::Schemas<'_>) -> String {
    let written_by = written_by(file);
    let state = (!file.state.is_empty()).then_some(&file.state);
    render::state_json(&render::StateJson { state, written_by: &written_by, schemas })
}

fn show_plan(session: &CommandSession, args: &ShowArgs, path: &Path) -> Result<Exit, Failure> {
    let mut file = apply::read_plan(session, path)?;
    // The plan file contains everything; the configuration in the working directory is not used.
    planned::take(session, &file.plan)?;
    let (project, locks) = (planned::project(session, &file)?, planned::locks(&file)?);
    let executables = session.providers_at_hand(&project, &mut file.prior_state.state, &locks);
    let schemas = |source: &addr::ProviderSource| executables.schemas(session, source).ok();
    let view = render::PlanView {
        plan: &file.plan,
        schemas: &schemas,
        show_sensitive: args.show_sensitive,
    };
    session.ui.document(&args.json, || {
        let (program, prior_state) = (project.program(), Some(&file.prior_state.state));
        render::plan_json(&render::PlanJson { view, prior_state, program: Some(&program) })
    });
    if let Some(path) = &args.html {
        write_saved(session, path, &file, view, &Arc::new(project.program()))?;
        return Ok(Exit::Success);
    }
    if !args.json.json {
        session.ui.print(&render::plan(&view, &session.ui.out));
    }
    Ok(Exit::Success)
}
