//! The process that outlives its parent for a moment: it kills what the parent started and could not end.

use std::{
    collections::BTreeMap,
    io::{self, BufRead},
    process::ExitCode,
    time::Duration,
};

use nix::sys::signal::SigSet;

use super::entry::{self, Entry};

/// Pauses between two looks. A process may be between fork and exec, where its environment is still that of its parent.
const PAUSES: [Duration; 5] = [
    Duration::ZERO,
    Duration::from_millis(20),
    Duration::from_millis(100),
    Duration::from_millis(400),
    Duration::from_millis(1500),
];

/// Reads what the parent tells until the pipe is closed; then the parent has ended, and nothing on the list may outlive it.
pub(super) fn run() -> ExitCode {
    // What ends the terminal's foreground job, or a service, is for the parent: this process ends after it.
    let _own_session = rustix::process::setsid();
    let _blocked = SigSet::all().thread_block();
    let running: Vec<Entry> = told().into_values().collect();
    if running.is_empty() {
        return ExitCode::SUCCESS;
    }
    for pause in PAUSES {
        std::thread::sleep(pause);
        entry::kill(&running);
    }
    running.iter().for_each(entry::remove_socket_of);
    ExitCode::SUCCESS
}

fn told() -> BTreeMap<String, Entry> {
    let mut running = BTreeMap::new();
    let mut lines = io::stdin().lock();
    let mut line = String::new();
    loop {
        line.clear();
        match lines.read_line(&mut line) {
            Ok(0) | Err(_) => return running,
            Ok(_) => entry::read_line(&mut running, &line),
        }
    }
}
