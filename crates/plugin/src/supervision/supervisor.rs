//! The supervisor process: it outlives its parent for a short time and kills the processes that the parent left.

use std::{
    collections::BTreeMap,
    io::{self, BufRead},
    process::ExitCode,
    time::Duration,
};

use nix::sys::signal::SigSet;

use super::entry::{self, Entry};

/// The pauses between the attempts to kill. A process between fork and exec still has the environment of its
/// parent, so it is found only later.
const PAUSES: [Duration; 5] = [
    Duration::ZERO,
    Duration::from_millis(20),
    Duration::from_millis(100),
    Duration::from_millis(400),
    Duration::from_millis(1500),
];

/// Reads the list from the parent until the pipe is closed. Then the parent has ended, and every process on the
/// list is killed.
pub(super) fn run() -> ExitCode {
    // Signals for the terminal's foreground job or for a service are meant for the parent. This process must end
    // after it.
    let _own_session = rustix::process::setsid();
    let _blocked = SigSet::all().thread_block();
    let running: Vec<Entry> = read_list().into_values().collect();
    if running.is_empty() {
        return ExitCode::SUCCESS;
    }
    for pause in PAUSES {
        std::thread::sleep(pause);
        entry::kill(&running);
    }
    running.iter().for_each(entry::remove_files_of);
    ExitCode::SUCCESS
}

fn read_list() -> BTreeMap<String, Entry> {
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
