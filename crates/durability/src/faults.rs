//! The errors of states and journals, each with a way out.

use std::{io::ErrorKind, path::Path};

use backend::{StoreError, existing_directory};
use db::{Diagnostic, Summary};

use crate::writer::Fault;

/// The advice for an I/O error of a state file, which is unrelated to locking. `None` for other errors.
pub fn file_fault(error: &StoreError) -> Option<String> {
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
pub fn forbidden(path: &Path, kind: ErrorKind) -> String {
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
pub fn in_full(directory: &Path) -> String {
    let named = if directory.as_os_str().is_empty() { Path::new(".") } else { directory };
    std::path::absolute(named).unwrap_or_else(|_| named.to_owned()).display().to_string()
}

/// The error for a state that could not be written.
pub fn state_unwritable(error: &StoreError) -> Diagnostic {
    let cause = match error {
        StoreError::Conflict => "Another program wrote the state during this run.".to_owned(),
        _ => file_fault(error).unwrap_or_else(|| format!("{error}.")),
    };
    let detail = format!(
        "{cause} The changed objects exist nevertheless. Resolve the problem, then run the command \
         again."
    );
    Diagnostic::new(Summary::STATE_WRITE, detail)
}

/// The error for a journal that could not be written.
pub fn journal_unwritable(error: &StoreError) -> Diagnostic {
    let cause = file_fault(error).unwrap_or_else(|| format!("{error}."));
    let detail = format!(
        "{cause} Without a journal, the changes of this run could not be recovered after a crash, \
         so no further operations are started. Operations that had already started are finished, \
         and the state is written as far as possible."
    );
    Diagnostic::new(Summary::JOURNAL_WRITE, detail)
}

/// The error for a caller that waited for the journal.
pub(crate) fn journal_fault(fault: &Fault) -> Box<Diagnostic> {
    let fault: &StoreError = fault;
    Box::new(journal_unwritable(fault))
}
