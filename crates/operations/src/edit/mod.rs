//! Changes of the state that need no provider: taints, moves, removals, other providers, and whole states.
//!
//! ```text
//!   store::open (lock, recovery) ─► check the request ─► a new state in memory ─► keeper (backup, write) ─► unlock
//! ```
//!
//! **Invariant:** a request that fails changes nothing, and a state that would stay as it is is not written.

pub mod moves;
pub mod push;
pub mod remove;
pub mod replace_provider;
pub mod select;
pub mod taint;
#[cfg(test)]
mod tests;

use std::path::PathBuf;

use db::{Diagnostic, Summary};
use state::State;

use crate::{
    session::{Failure, Session},
    store::{self, OpenState, Purpose, ReadLock, StateOptions},
};

/// A state that is opened for a change.
struct Editing {
    open: OpenState,
    /// The lock, if the state is opened for reading. A state that is opened for writing has its own.
    held: Option<ReadLock>,
    purpose: Purpose,
}

/// The treatment of a request.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Execution {
    /// The change is made.
    Real,
    /// The change is only checked and listed.
    Dry,
}

impl Editing {
    /// Opens a state: for writing, or for reading if nothing is to be written.
    fn begin(
        session: &Session,
        options: &StateOptions,
        purpose: Purpose,
        execution: Execution,
    ) -> Result<Editing, Failure> {
        let (open, held) = match execution {
            Execution::Real => (store::open(session, options, purpose)?, None),
            Execution::Dry => store::open_to_read(session, options, purpose)?,
        };
        Ok(Editing { open, held, purpose })
    }

    fn state(&self) -> &State {
        &self.open.file.state
    }

    /// Returns true if there is a state.
    ///
    /// A journal may have changes for a state that was never written.
    fn has_state(&self) -> bool {
        self.open.exists() || !self.state().is_empty()
    }

    /// Writes the changed state and closes it.
    fn save(self, session: &Session, state: &State) -> Result<(), Failure> {
        if *state == self.open.file.state {
            return self.leave(session);
        }
        let keeper = self.open.keeper(session, self.purpose);
        let written = session.runtime.block_on(keeper.write(state));
        store::close(session, &keeper)?;
        written.map_err(|problem| {
            let detail = format!("{}\n\nThe stored state is unchanged.", problem.detail);
            Diagnostic { detail, ..*problem }.into()
        })
    }

    /// Closes the state without a change.
    fn leave(self, session: &Session) -> Result<(), Failure> {
        self.open.close(session)?;
        store::release(session, self.held)
    }

    /// Closes the state because the request failed.
    fn fail<T>(self, session: &Session, failure: impl Into<Failure>) -> Result<T, Failure> {
        self.leave(session)?;
        Err(failure.into())
    }
}

/// Writes the first state of a workspace.
pub(crate) fn write_first(
    session: &Session,
    options: &StateOptions,
    state: &State,
) -> Result<(), Failure> {
    let editing = Editing::begin(session, options, Purpose::NewWorkspace, Execution::Real)?;
    editing.save(session, state)
}

/// The error of a command that needs a state.
pub fn no_state() -> Diagnostic {
    let detail = "State management commands require a state file. Run this command in a directory \
                  where Mayfly has been run or use the -state flag to point the command to a \
                  specific state location.";
    Diagnostic::new(Summary::NO_STATE, detail)
}

/// The options with a backup that no other command writes: `terraform.tfstate.TIME.backup`, with the Unix time. A
/// backup that exists is never overwritten. These commands always write a backup, as in OpenTofu, so `-backup=-`
/// means the same as no flag.
fn with_own_backup(session: &Session, options: &StateOptions) -> Result<StateOptions, Failure> {
    if options.backup.as_deref().is_some_and(|it| !matches!(it, "-" | "")) {
        return Ok(options.clone());
    }
    let state = store::state_path(session, options)?;
    let seconds = session.system.now().duration_since(std::time::UNIX_EPOCH);
    let mut seconds = seconds.unwrap_or_default().as_secs();
    let path = loop {
        let mut path = state.clone().into_os_string();
        path.push(format!(".{seconds}.backup"));
        if !PathBuf::from(&path).exists() {
            break path;
        }
        seconds += 1;
    };
    let backup = Some(path.to_string_lossy().into_owned());
    Ok(StateOptions { backup, ..options.clone() })
}
