//! The errors of locks, each with a way out.

use std::path::Path;

use backend::StoreError;
use db::{Diagnostic, Summary};
use durability::file_fault;

use super::Purpose;
use crate::session::Session;

pub(super) fn lock_error(error: &StoreError, purpose: Purpose) -> Diagnostic {
    if let Some(fault) = file_fault(error) {
        let detail = format!("{fault} {}", without_writing(error, purpose));
        return Diagnostic::new(Summary::STATE_UNWRITABLE, detail);
    }
    let (holder, id) = match error {
        StoreError::Locked { holder: Some(holder), .. } => (format!("\n{holder}"), &*holder.id),
        _ => (String::new(), "LOCK_ID"),
    };
    let detail = format!(
        "Error message: {error}{holder}\n\nMayfly acquires a state lock to protect the state from \
         being written by multiple users at the same time. Please resolve the issue above and try \
         again. If the command that held the lock has crashed, \"mayfly force-unlock {id}\" \
         releases it. For most commands, you can disable locking with the \"-lock=false\" flag, \
         but this is not recommended."
    );
    Diagnostic::new(Summary::STATE_LOCK, detail)
}

/// The consequence of a state that is not writable, and what still works.
pub(super) fn without_writing(error: &StoreError, purpose: Purpose) -> &'static str {
    let StoreError::Io { path, .. } = error else { return "" };
    let can_be_read = |it: &Path| rustix::fs::access(it, rustix::fs::Access::READ_OK).is_ok();
    match purpose {
        Purpose::Plan if !path.exists() || can_be_read(path) => {
            "Nothing was planned.\n\nA plan writes only a lock there, so that the state cannot \
             change in the meantime. To plan without a lock, use -lock=false."
        }
        Purpose::Plan => "Nothing was planned.",
        Purpose::Console => {
            "The console writes only a lock there, so that the state cannot change in the \
             meantime. To continue without a lock, use -lock=false."
        }
        edit if edit.edits() => "Nothing was done.",
        _ => "Nothing was done: created or changed objects could not be recorded.",
    }
}

/// The user and the host that a lock names as its holder.
pub(super) fn lock_holder(session: &Session) -> String {
    let variable = |name: &str| session.system.variable(name).filter(|it| !it.is_empty());
    let user = variable("USER")
        .or_else(|| variable("LOGNAME"))
        .unwrap_or_else(|| format!("uid-{}", rustix::process::getuid().as_raw()));
    let host = rustix::system::uname().nodename().to_string_lossy().into_owned();
    format!("{user}@{host}")
}
