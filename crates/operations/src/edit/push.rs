//! The operations `state pull` and `state push`: read and replace the whole stored state.

use db::{Diagnostic, Summary};
use state::{StateError, StateFile};

use super::{Editing, Execution};
use crate::{
    session::{Failure, Session},
    store::{self, Purpose, StateOptions},
};

/// The stored state as one line of JSON, in the current format, with an empty line at its end. `None` if there is none.
pub fn pull(session: &Session) -> Result<Option<String>, Failure> {
    let open = store::open_unlocked(session, None)?;
    if !open.exists() && open.file.state.is_empty() {
        return Ok(None);
    }
    let written = open.file.write().map_err(|error| {
        let detail = format!("The state cannot be written: {error}.");
        Diagnostic::new(Summary::UNWRITABLE_STATE, detail)
    })?;
    Ok(Some(format!("{}\n\n", values::json::compact(&String::from_utf8_lossy(&written)))))
}

/// The relation of a pushed state to the stored one that must hold.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Succession {
    /// The pushed state is a successor: it has the lineage of the stored one and no lower serial.
    Checked,
    /// Any state replaces any other (`-force`).
    Any,
}

/// Parses a state to push. `name` is its name in errors.
///
/// # Errors
/// A diagnostic with the reason, which names no value of the state.
pub fn parse(name: &str, bytes: &[u8]) -> Result<StateFile, Failure> {
    let fault = |detail: String| {
        Failure::from(Diagnostic::new(
            Summary::unreadable_pushed_state(format!("{name:?}")),
            detail,
        ))
    };
    if bytes.trim_ascii().is_empty() {
        return Err(fault("The file is empty: it has no state.".to_owned()));
    }
    StateFile::read(bytes).map_err(|error: StateError| fault(error.detail()))
}

/// Replaces the stored state, with the serial and the lineage of the pushed one.
///
/// # Errors
/// A diagnostic if the pushed state is no successor of the stored one.
pub fn push(
    session: &Session,
    options: &StateOptions,
    pushed: StateFile,
    succession: Succession,
) -> Result<(), Failure> {
    let mut editing = Editing::begin(session, options, Purpose::Push, Execution::Real)?;
    let stored = &editing.open.file;
    if succession == Succession::Checked
        && let Some(detail) = refusal(stored, &pushed)
    {
        return editing.fail(session, Diagnostic::new(Summary::PUSHED_STATE, detail));
    }
    if editing.open.exists() && is_same(stored, &pushed) {
        return editing.leave(session);
    }
    match editing.open.replace(session, pushed) {
        Ok(()) => editing.leave(session),
        Err(failure) => editing.fail(session, failure),
    }
}

/// The reason why a state is no successor of the stored one. `None` if it is one.
fn refusal(stored: &StateFile, pushed: &StateFile) -> Option<String> {
    // An empty state has nothing to lose, and states without a lineage cannot be compared.
    if stored.state.is_empty() || stored.lineage.is_empty() || pushed.lineage.is_empty() {
        return None;
    }
    let (serial, stored_serial) = (pushed.serial, stored.serial);
    let reason = if pushed.lineage != stored.lineage {
        format!(
            "cannot import state with lineage {:?} over unrelated state with lineage {:?}",
            pushed.lineage, stored.lineage
        )
    } else if serial < stored_serial {
        format!(
            "cannot import state with serial {serial} over newer state with serial {stored_serial}"
        )
    } else if serial == stored_serial && !is_same(stored, pushed) {
        format!(
            "cannot overwrite existing state with serial {serial} with a different state that has \
             the same serial"
        )
    } else {
        return None;
    };
    Some(format!("{reason}. The stored state is unchanged. To replace it anyway, use -force."))
}

fn is_same(one: &StateFile, other: &StateFile) -> bool {
    one.serial == other.serial
        && one.lineage == other.lineage
        && matches!((one.write(), other.write()), (Ok(one), Ok(other)) if one == other)
}
