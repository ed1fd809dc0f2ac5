//! The errors of states, locks and journals, each with a way out.

use std::{io::ErrorKind, path::Path};

use backend::{StoreError, existing_directory};
use db::Diagnostic;

use super::Purpose;
use crate::session::Session;

/// The advice for an I/O error of a state file, which is unrelated to locking. `None` for other errors.
pub(super) fn file_fault(error: &StoreError) -> Option<String> {
    let StoreError::Io { path, source, .. } = error else { return None };
    let name = path.display();
    Some(match source.kind() {
        ErrorKind::PermissionDenied | ErrorKind::ReadOnlyFilesystem => {
            forbidden(path, source.kind())
        }
        ErrorKind::StorageFull | ErrorKind::QuotaExceeded => format!(
            "{name} cannot be written, because the disk is full: make room on it ({source})."
        ),
        _ => format!("{error}. Check the path and the disk that it is on."),
    })
}

/// The reason why a path is not writable, and the advice for it.
pub(super) fn forbidden(path: &Path, kind: ErrorKind) -> String {
    let path = match path.strip_prefix(".") {
        Ok(rest) if !rest.as_os_str().is_empty() => rest,
        _ => path,
    };
    let what = match (path.is_dir(), path.exists()) {
        (true, _) => format!("Nothing can be written in the directory {}", in_full(path)),
        (_, true) => format!("{} cannot be written", path.display()),
        _ => {
            let directory = in_full(existing_directory(path));
            format!("{} cannot be made in the directory {directory}", path.display())
        }
    };
    match kind {
        ErrorKind::ReadOnlyFilesystem => format!("{what}: the disk that it is on is read-only."),
        _ => format!(
            "{what}: permission denied. Change the permissions, or run the command as the user who owns it."
        ),
    }
}

/// The absolute path of a directory, for messages.
pub(super) fn in_full(directory: &Path) -> String {
    let named = if directory.as_os_str().is_empty() { Path::new(".") } else { directory };
    std::path::absolute(named).unwrap_or_else(|_| named.to_owned()).display().to_string()
}

/// The error for a state that could not be written.
pub(super) fn state_unwritable(error: &StoreError) -> Diagnostic {
    let cause = match error {
        StoreError::Conflict => "Another program wrote the state during this run.".to_owned(),
        _ => file_fault(error).unwrap_or_else(|| format!("{error}.")),
    };
    let detail = format!(
        "{cause} The changed objects exist nevertheless. Resolve the problem, then run the command \
         again."
    );
    Diagnostic::error("state-write", "Failed to save state", detail)
}

/// The error for a journal that could not be written.
pub(super) fn journal_unwritable(error: &StoreError) -> Diagnostic {
    let cause = file_fault(error).unwrap_or_else(|| format!("{error}."));
    let detail = format!(
        "{cause} Without a journal, the changes of this run could not be recovered after a crash, \
         so no further operations are started. Operations that had already started are finished, \
         and the state is written as far as possible."
    );
    Diagnostic::error("journal-write", "Failed to write the journal", detail)
}

pub(super) fn lock_error(error: &StoreError, purpose: Purpose) -> Diagnostic {
    if let Some(fault) = file_fault(error) {
        let detail = format!("{fault} {}", without_writing(error, purpose));
        return Diagnostic::error(
            "state-unwritable",
            "Error opening the state for writing",
            detail,
        );
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
    Diagnostic::error("state-lock", "Error acquiring the state lock", detail)
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
        _ => "Nothing was done: created or changed objects could not be recorded.",
    }
}

pub(super) fn who(session: &Session) -> String {
    let variable = |name: &str| session.system.variable(name).filter(|it| !it.is_empty());
    let user = variable("USER")
        .or_else(|| variable("LOGNAME"))
        .unwrap_or_else(|| format!("uid-{}", rustix::process::getuid().as_raw()));
    let host = rustix::system::uname().nodename().to_string_lossy().into_owned();
    format!("{user}@{host}")
}
