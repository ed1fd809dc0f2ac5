//! The operations on workspaces: list, create, select and delete.
//!
//! The selected workspace is recorded in the file `environment` of the data directory. `TF_WORKSPACE` overrides it.

use std::path::Path;

use backend::{DEFAULT_WORKSPACE, WorkspaceError, is_valid_workspace_name};
use db::{Diagnostic, Summary};
use state::{InstanceEntry, State, StateFile};

use crate::{
    edit, place,
    private_file::{self, Durable},
    session::{Failure, Session},
    store::{self, OpenState, Purpose, StateOptions},
};

/// The workspaces of a directory.
pub struct Workspaces {
    /// All workspaces: the default one, then the others by name.
    pub names: Vec<String>,
    /// The selected workspace. It need not exist.
    pub selected: String,
    /// True if `TF_WORKSPACE` selects it.
    pub is_overridden: bool,
}

/// The result of [`select`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Selected {
    /// The workspace was selected before.
    Unchanged,
    /// Another workspace was selected before.
    Changed,
    /// The workspace is new.
    Created,
}

/// The result of [`delete`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Deleted {
    /// The workspace had no objects.
    Empty,
    /// Objects that the workspace managed are not managed any more.
    WithObjects,
}

/// Lists the workspaces.
pub fn list(session: &Session) -> Result<Workspaces, Failure> {
    let selected = selected(session)?;
    let place = session.place()?;
    let names = place::workspaces(session, &place).list().map_err(|error| fault(&error))?;
    Ok(Workspaces { names, selected, is_overridden: is_overridden(session) })
}

/// The name of the selected workspace. It need not exist.
pub fn selected(session: &Session) -> Result<String, Failure> {
    let name = session.selected_workspace()?;
    match is_valid_workspace_name(&name) {
        true => Ok(name.to_string()),
        false => Err(invalid(&name).into()),
    }
}

/// Creates a workspace and selects it. `state` is a file with its first state.
pub fn create(session: &Session, name: &str, options: &StateOptions) -> Result<(), Failure> {
    check_name(name)?;
    if is_overridden(session) && *session.selected_workspace()? != *name {
        let detail = "To create a new workspace, either unset this environment variable or update \
                      it to match the workspace name you are trying to create, and then run this \
                      command again.";
        return Err(Diagnostic::new(Summary::OVERRIDDEN_NEW_WORKSPACE, detail).into());
    }
    // Read the given state first, so that nothing is created if it is unreadable.
    let first = options.state.as_deref().map(|path| read_state(session, path)).transpose()?;
    let place = session.place()?;
    let workspaces = place::workspaces(session, &place);
    if name == DEFAULT_WORKSPACE {
        return Err(exists(name).into());
    }
    workspaces.create(name).map_err(|error| match error {
        WorkspaceError::Exists(_) => exists(name),
        error => fault(&error),
    })?;
    record(session, name)?;
    let Some(first) = first else { return Ok(()) };
    let options = StateOptions { state: None, ..options.clone() };
    edit::write_first(session, &options, &first.state)
}

/// Selects a workspace. Creates it first if `or_create` is true.
pub fn select(session: &Session, name: &str, or_create: bool) -> Result<Selected, Failure> {
    if is_overridden(session) {
        let detail = "To select a new workspace, either update this environment variable or unset \
                      it and then run this command again.";
        return Err(Diagnostic::new(Summary::OVERRIDDEN_WORKSPACE, detail).into());
    }
    check_name(name)?;
    let place = session.place()?;
    if *session.selected_workspace()? == *name {
        return Ok(Selected::Unchanged);
    }
    let workspaces = place::workspaces(session, &place);
    let is_there = workspaces.contains(name).map_err(|error| fault(&error))?;
    if !is_there && !or_create {
        return Err(missing(name).into());
    }
    if !is_there {
        workspaces.create(name).map_err(|error| fault(&error))?;
    }
    record(session, name)?;
    Ok(if is_there { Selected::Changed } else { Selected::Created })
}

/// Deletes a workspace with its state. `is_forced` allows that objects are not managed any more.
pub fn delete(
    session: &Session,
    name: &str,
    options: &StateOptions,
    is_forced: bool,
) -> Result<Deleted, Failure> {
    let place = session.place()?;
    let workspaces = place::workspaces(session, &place);
    let names = workspaces.list().map_err(|error| fault(&error))?;
    if !names.iter().any(|it| it == name) {
        return Err(missing(name).into());
    }
    if *session.selected_workspace()? == *name {
        let detail = "You cannot delete the currently active workspace. Please switch to another \
                      workspace and try again.";
        return Err(Diagnostic::new(Summary::active_workspace(format!("{name:?}")), detail).into());
    }
    let paths = workspaces.paths(name).map_err(|error| fault(&error))?;
    let options = StateOptions { state: Some(paths.read), ..options.clone() };
    let (open, held) = store::open_to_read(session, &options, Purpose::DeleteWorkspace)?;
    let deleted = match is_empty(&open) {
        true => Deleted::Empty,
        false if is_forced => Deleted::WithObjects,
        false => {
            let refused = not_empty(name, &open);
            store::release(session, held)?;
            return Err(refused.into());
        }
    };
    match workspaces.delete(name) {
        // The info file of the lock is deleted, too, so only the lock itself is left to release.
        Ok(()) => drop(held),
        Err(error) => {
            store::release(session, held)?;
            let detail = format!("Failed to delete the given workspace: {error}.");
            return Err(Diagnostic::new(Summary::WORKSPACE_DELETION, detail).into());
        }
    }
    Ok(deleted)
}

fn is_overridden(session: &Session) -> bool {
    session.system.variable("TF_WORKSPACE").is_some_and(|it| !it.is_empty())
}

fn check_name(name: &str) -> Result<(), Failure> {
    if is_valid_workspace_name(name) { Ok(()) } else { Err(invalid(name).into()) }
}

fn invalid(name: &str) -> Diagnostic {
    let detail = WorkspaceError::InvalidName(name.to_owned()).to_string();
    Diagnostic::new(Summary::INVALID_WORKSPACE_NAME, detail)
}

fn exists(name: &str) -> Diagnostic {
    let detail = format!(
        "A workspace having the given name already exists. Use \"mayfly workspace select {name}\" to \
         switch to it."
    );
    Diagnostic::new(Summary::workspace_exists(format!("{name:?}")), detail)
}

fn missing(name: &str) -> Diagnostic {
    let detail = "You can create this workspace with the \"new\" subcommand or include the \
                  \"-or-create\" flag with the \"select\" subcommand.";
    Diagnostic::new(Summary::missing_workspace(format!("{name:?}")), detail)
}

fn fault(error: &WorkspaceError) -> Diagnostic {
    Diagnostic::new(Summary::WORKSPACE_FAULT, format!("{error}."))
}

/// Returns true if a workspace manages no objects, and no creation of one is unconfirmed.
fn is_empty(open: &OpenState) -> bool {
    let is_managed =
        |it: &InstanceEntry<'_>| it.address.resource.mode == addr::ResourceMode::Managed;
    !open.file.state.instances().any(|it| is_managed(&it)) && open.uncertain.is_empty()
}

fn not_empty(name: &str, open: &OpenState) -> Diagnostic {
    let listed: String = objects(&open.file.state).map(|it| format!("\n  - {it}")).collect();
    let uncertain = open.uncertain.iter().map(|it| {
        format!("\n  - {} (whether it was created is not confirmed)", it.object.instance)
    });
    let detail = format!(
        "Workspace {name:?} is currently tracking the following resource instances:{listed}{}\n\n\
         Deleting this workspace would cause Mayfly to lose track of any associated remote objects, \
         which would then require you to delete them manually outside of Mayfly. You should destroy \
         these objects with Mayfly before deleting the workspace.\n\nIf you want to delete this \
         workspace anyway, and have Mayfly forget about these managed objects, use the -force \
         option to disable this safety check.",
        uncertain.collect::<String>()
    );
    Diagnostic::new(Summary::WORKSPACE_NOT_EMPTY, detail)
}

fn objects(state: &State) -> impl Iterator<Item = String> {
    state.instances().flat_map(|InstanceEntry { address, instance, .. }| {
        let current = instance.current.iter().map(|_| address.to_string());
        let deposed =
            instance.deposed.keys().map(|key| format!("{address} (deposed object {key})"));
        current.chain(deposed).collect::<Vec<_>>()
    })
}

fn read_state(session: &Session, path: &Path) -> Result<StateFile, Failure> {
    let bytes = session.system.read_file(path).map_err(|error| {
        let detail = format!("{}: {error}.", path.display());
        Diagnostic::new(Summary::UNOPENED_PUSHED_STATE, detail)
    })?;
    edit::push::parse(&path.to_string_lossy(), &bytes)
}

/// Records the selected workspace.
fn record(session: &Session, name: &str) -> Result<(), Failure> {
    let path = session.data_dir().join("environment");
    let written = std::fs::create_dir_all(session.data_dir())
        .and_then(|()| private_file::write(&path, name.as_bytes(), Durable::No));
    written.map_err(|error| {
        let detail = format!("{} cannot be written: {error}.", path.display());
        Diagnostic::new(Summary::WORKSPACE_FAULT, detail).into()
    })
}
