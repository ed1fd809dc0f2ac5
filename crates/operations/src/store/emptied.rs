//! Detects a state file of 0 bytes that had content before.
//!
//! No program writes such a state. A copy was interrupted, the disk was full, or the shell truncated the file.
//! Treating it as an empty state would create every object a second time. A file of 0 bytes without a backup
//! counts as no state, as in OpenTofu: locking a state that does not exist yet creates such a file, which stays if
//! the process is killed.

use std::path::Path;

use backend::LocalPaths;
use db::{Diagnostic, Summary};
use state::StateFile;

use crate::session::{Failure, Session};

/// Refuses a state of 0 bytes with a non-empty backup, unless the file exists for a lock only (`is_of_lock`).
pub(super) fn refuse(
    session: &Session,
    paths: &LocalPaths,
    is_of_lock: bool,
) -> Result<(), Failure> {
    if is_of_lock || !paths.is_empty() {
        return Ok(());
    }
    let usual = LocalPaths::at(paths.read.clone()).backup;
    let backups = paths.backup.iter().chain(usual.iter());
    let found = backups.filter_map(|path| {
        let bytes = session.system.read_file(path).ok().filter(|it| !it.is_empty())?;
        Some((path, StateFile::read(&bytes).ok()))
    });
    match found.into_iter().next() {
        Some((backup, state)) => Err(emptied(&paths.read, backup, state.as_ref()).into()),
        None => Ok(()),
    }
}

fn emptied(path: &Path, backup: &Path, state: Option<&StateFile>) -> Diagnostic {
    let (path, backup) = (path.display(), backup.display());
    let way_out = match state {
        Some(file) => {
            let count = file.state.instances().count();
            let instances = if count == 1 { "instance" } else { "instances" };
            format!(
                "The state from before the last run is in {backup} (serial {}, {count} resource \
                 {instances}). To restore it:\n\n  cp {backup} {path}\n\nThen run \"mayfly plan\" \
                 to see the changes of the last run, which this state lacks.",
                file.serial
            )
        }
        None => format!(
            "The state from before the last run was in {backup}, which cannot be read either. \
             Restore the state from a copy of your own."
        ),
    };
    let detail = format!(
        "{path} has 0 bytes: its content was lost, because no program writes an empty state. \
         Continuing would create existing objects a second time, so nothing was \
         done.\n\n{way_out}\n\nTo start without a state, remove {path}."
    );
    Diagnostic::new(Summary::EMPTY_STATE_FILE, detail)
}
