//! `init` records where the state is, and copies states to a new place.

use std::{io, path::Path};

use backend::LocalPaths;
use db::{Diagnostic, Summary};
use hir::statics::LocalBackend;

use super::{Place, Recorded, fingerprint, is_same, record, recorded, shown, workspaces};
use crate::{
    backend_config::BackendConfig,
    private_file::{self, Durable},
    session::{Failure, Session},
    store::{self, StateOptions},
    view::Notice,
};

/// The treatment of states in the recorded place if the configuration names another place.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum OnChange {
    /// The change is an error.
    Refuse,
    /// The states stay where they are.
    Leave,
    /// The states are copied to the new place.
    Copy,
}

/// The treatment of a changed place.
pub(crate) struct Changes {
    /// The treatment of the states in the recorded place.
    pub(crate) on_change: OnChange,
    /// The locking of a state while it is copied.
    pub(crate) lock: StateOptions,
}

/// Records the place of the state, and migrates the states if requested.
///
/// # Errors
/// A diagnostic if the recorded place has states, and no flag decides what happens to them.
pub(crate) fn initialize(
    session: &Session,
    configured: &LocalBackend,
    arguments: Option<&BackendConfig>,
    changes: &Changes,
) -> Result<(), Failure> {
    let on_change = changes.on_change;
    let (before, is_local) = match recorded(session)? {
        Recorded::Local(before) => (before, true),
        Recorded::Other(_) if on_change == OnChange::Leave => (Place::default(), false),
        Recorded::Other(kind) => return Err(unsupported_backend(&kind).into()),
    };
    let place = &match arguments {
        Some(arguments) => arguments.over(configured),
        // The arguments of an earlier `init` stay valid.
        None if before.is_made_of(configured) && on_change != OnChange::Leave => {
            before.backend.clone()
        }
        None => configured.clone(),
    };
    let hash = if is_same(place, configured) { 0 } else { fingerprint(configured) };
    let Place { backend: before, hash: hash_before } = before;
    if is_local && is_same(&before, place) && [0, hash_before].contains(&hash) {
        return Ok(());
    }
    let left = match on_change == OnChange::Leave || is_same(&before, place) {
        true => Vec::new(),
        false => states(session, &before)?,
    };
    match (left.as_slice(), on_change) {
        ([], _) => {}
        (names, OnChange::Copy) => migrate(session, [&before, place], names, &changes.lock)?,
        (_, OnChange::Refuse | OnChange::Leave) => return Err(changed(&before, place).into()),
    }
    record(session, place, hash)
}

fn unsupported_backend(kind: &str) -> Diagnostic {
    let detail = format!(
        "This directory was initialized with the backend \"{kind}\", from which this version of \
         Mayfly cannot migrate the state. Migrate it with the tool that initialized the directory, \
         or use -reconfigure to start without it."
    );
    Diagnostic::new(Summary::BACKEND_CHANGED, detail)
}

fn changed(before: &LocalBackend, place: &LocalBackend) -> Diagnostic {
    let detail = format!(
        "A change in the backend configuration has been detected, which may require migrating \
         existing state: it is in {}, and is to be in {} now.\n\n\
         If you wish to attempt automatic migration of the state, use \"mayfly init \
         -migrate-state\".\nIf you wish to store the current configuration with no changes to the \
         state, use \"mayfly init -reconfigure\".",
        shown(before),
        shown(place)
    );
    Diagnostic::new(Summary::BACKEND_CHANGED, detail)
}

/// The names of the workspaces that have a state at a place.
fn states(session: &Session, place: &LocalBackend) -> Result<Vec<String>, Failure> {
    let all = workspaces(session, place).list().map_err(|error| failed(&error.to_string()))?;
    let has_state = |name: &String| paths(session, place, name).is_ok_and(|it| it.read.exists());
    Ok(all.into_iter().filter(has_state).collect())
}

fn paths(session: &Session, place: &LocalBackend, workspace: &str) -> Result<LocalPaths, Failure> {
    let paths = workspaces(session, place).paths(workspace);
    paths.map_err(|error| failed(&error.to_string()).into())
}

fn failed(why: &str) -> Diagnostic {
    let detail = format!("{why}. The existing states were not changed.");
    Diagnostic::new(Summary::STATE_MIGRATION, detail)
}

/// Copies states from one place to another. The originals stay. Copies nothing if one of the states cannot be
/// copied.
fn migrate(
    session: &Session,
    [before, place]: [&LocalBackend; 2],
    names: &[String],
    lock: &StateOptions,
) -> Result<(), Failure> {
    let mut copies = Vec::new();
    for name in names {
        let (from, to) = (paths(session, before, name)?, paths(session, place, name)?);
        if is_unfinished(&from.write) {
            let why = format!(
                "A run on the state of the workspace {name:?} did not finish, and its changes are \
                 in a journal next to {}: run a plan with the old backend configuration first",
                from.write.display()
            );
            return Err(failed(&why).into());
        }
        if to.write.exists() {
            let why = format!(
                "There is a state of the workspace {name:?} in {} already, which would be overwritten",
                to.write.display()
            );
            return Err(failed(&why).into());
        }
        copies.push((name, from, to));
    }
    for (name, from, to) in copies {
        // Lock the state, because another process may be writing it.
        let held = match lock.lock {
            true => Some(store::lock_to_copy(session, &from, lock)?),
            false => None,
        };
        let copied = copy(&from.read, &to.write);
        store::release(session, held)?;
        copied.map_err(|error| failed(&format!("{}: {error}", to.write.display())))?;
        session.view.notice(&Notice::StateCopied {
            workspace: name,
            from: &from.read.display(),
            to: &to.write.display(),
        });
    }
    Ok(())
}

fn is_unfinished(state: &Path) -> bool {
    let mut journal = state.as_os_str().to_owned();
    journal.push(".journal");
    Path::new(&journal).exists()
}

fn copy(from: &Path, to: &Path) -> io::Result<()> {
    let bytes = std::fs::read(from)?;
    if let Some(directory) = to.parent().filter(|it| !it.as_os_str().is_empty()) {
        std::fs::create_dir_all(directory)?;
    }
    private_file::write(to, &bytes, Durable::Yes)
}
