//! Supervision of the child processes of a command, and cleanup of processes that an earlier run in this directory
//! left.

use db::{Diagnostic, Summary};
use plugin::Supervision;
use sorted::TreeSet;

use crate::session::CommandSession;

/// The directory below the data directory for the records of running processes.
const RECORDS: &str = "processes";

/// Ends processes that earlier runs left, and supervises those that this run starts.
pub(crate) fn begin(session: &CommandSession) {
    let records = session.data_dir().join(RECORDS);
    let left = plugin::end_left_processes(&records);
    if !left.is_empty() {
        session.ui.diagnostics_aside(&[warning(&left)]);
    }
    // Without the path of this executable, the supervisor cannot be started.
    if let Ok(executable) = std::env::current_exe() {
        session.processes.supervise(Supervision { executable, records });
    }
}

fn warning(left: &[String]) -> Diagnostic {
    let names: TreeSet<&str> = left.iter().map(String::as_str).collect();
    let names: Vec<&str> = names.into_iter().collect();
    let detail = format!(
        "An earlier run in this directory was killed together with its supervisor and left \
         processes behind ({} of {}). They were ended now. Any changes that they made in the \
         meantime are unknown: make a new plan to see them.",
        left.len(),
        names.join(", ")
    );
    Diagnostic::new(Summary::LEFT_PROCESSES, detail)
}
