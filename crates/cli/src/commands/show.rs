//! `show`.

use std::{
    path::{Path, PathBuf},
    sync::Arc,
};

use backend::LocalPaths;
use db::{Diagnostic, MemorySystem, System};
use project::Project;
use state::{PlanFile, StateFile};

use crate::{
    args::ShowArgs,
    exit::Exit,
    operation,
    session::{Failure, Session, called_elsewhere},
    store,
};

pub(crate) fn run(session: &Session, args: &ShowArgs) -> Result<Exit, Failure> {
    match &args.path {
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

fn is_zip(session: &Session, path: &Path) -> Result<bool, Failure> {
    let bytes = session.system.read_file(path).map_err(|error| {
        Diagnostic::error(
            "unreadable-state-or-plan",
            "Failed to read the given file as a state or plan file",
            format!("{}: {error}.", path.display()),
        )
    })?;
    Ok(bytes.starts_with(b"PK"))
}

fn read_state(session: &Session, path: &Path) -> Result<StateFile, Failure> {
    let bytes = session.system.read_file(path).unwrap_or_default();
    StateFile::read(&bytes).map_err(|error| {
        let backup = LocalPaths::at(path).backup;
        let damaged = store::damaged(session, &error, path, backup.as_deref());
        let detail = match bytes.trim_ascii_start().starts_with(b"{") {
            true => damaged.detail,
            false => format!("{} is neither a plan file nor a state file.", path.display()),
        };
        Diagnostic::error(
            "unreadable-state-or-plan",
            "Failed to read the given file as a state or plan file",
            detail,
        )
        .into()
    })
}

fn show_state(session: &Session, args: &ShowArgs, file: &mut StateFile) -> Result<Exit, Failure> {
    if file.state.is_empty() && !args.json {
        session.ui.line("The state file is empty. No resources are represented.");
        return Ok(Exit::Success);
    }
    let loaded = session.load(Some(&mut file.state))?;
    let schemas = |source: &addr::ProviderSource| loaded.executables.schemas(session, source).ok();
    match args.json {
        true => {
            let written_by = file
                .written_by
                .as_ref()
                .map_or_else(|| state::WRITTEN_VERSION.to_owned(), ToString::to_string);
            let state = (!file.state.is_empty()).then_some(&file.state);
            session.ui.line(&render::state_json(&render::StateJson {
                state,
                written_by: &written_by,
                schemas: &schemas,
            }));
        }
        false => session.ui.print(&render::state(
            &file.state,
            &schemas,
            args.show_sensitive,
            &session.ui.out,
        )),
    }
    Ok(Exit::Success)
}

fn show_plan(session: &Session, args: &ShowArgs, path: &Path) -> Result<Exit, Failure> {
    let mut file = operation::read_plan(session, path)?;
    // What is in the working directory has nothing to do with it.
    let project = planned_project(session, &file)?;
    let executables = session.providers_at_hand(&project, &mut file.prior_state.state);
    let schemas = |source: &addr::ProviderSource| executables.schemas(session, source).ok();
    let view = render::PlanView {
        plan: &file.plan,
        schemas: &schemas,
        show_sensitive: args.show_sensitive,
    };
    match args.json {
        true => {
            let program = project.program();
            let prior_state = Some(&file.prior_state.state);
            session.ui.line(&render::plan_json(&render::PlanJson {
                view,
                prior_state,
                program: Some(&program),
            }));
        }
        false => session.ui.print(&render::plan(&view, &session.ui.out)),
    }
    Ok(Exit::Success)
}

/// How deep the root module lies where a plan's configuration is read: modules may be beside and above it.
const DEPTH: usize = 64;

/// The configuration that a plan was made from, as the plan file has it.
fn planned_project(session: &Session, file: &PlanFile) -> Result<Project, Failure> {
    let config = &file.config;
    let system = MemorySystem::new();
    let root = PathBuf::from("/plan".repeat(DEPTH));
    for module in config.modules.values() {
        for (name, content) in &module.files {
            system.write(root.join(&module.dir).join(name), content.as_slice());
        }
    }
    let modules = config.modules.iter();
    let modules = modules.map(|(key, it)| (&**key, (&*it.source, &*it.dir, None))).collect();
    let loaded = Project::load_once(Arc::new(system), root, called_elsewhere(&modules));
    let mut project = loaded.map_err(|error| {
        let detail = format!("The configuration in the plan file cannot be read: {error}.");
        Diagnostic::error("plan-read", "Failed to load plan file", detail)
    })?;
    session.take_planned(operation::planned_values(&file.plan));
    session.give(&mut project);
    Ok(project)
}
