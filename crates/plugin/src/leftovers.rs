//! Processes that a plugin or a command leaves behind: its children, and theirs.
//!
//! A plugin stays in our process group, so there is no group of its own to end. What it starts inherits a variable that
//! says which plugin it belongs to; by that it is found, wherever it was re-parented to. A plugin that ends in good order
//! and leaves a process that holds none of its streams wanted to leave it: that one is not looked for.
//!
//! Where there is no `/proc`, nothing is found.

use std::{
    fs,
    sync::{
        LazyLock,
        atomic::{AtomicU64, Ordering},
    },
    time::SystemTime,
};

use rustix::process::{Pid, Signal, kill_process};

/// The variable that a process and everything that it starts have.
pub(crate) const KEY: &str = "MAYFLY_PROCESS";

/// How often it is looked whether more were started in the meantime.
const ROUNDS: usize = 5;

/// Tells the processes of this run from those of all others.
static OURS: LazyLock<String> = LazyLock::new(|| {
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    format!("{}.{}", std::process::id(), since.as_nanos())
});

/// The name of this run, which no other run has.
pub(crate) fn ours() -> &'static str {
    &OURS
}

/// What one process and everything that it starts are known by.
pub(crate) struct Mark {
    /// The variable's value.
    pub(crate) value: String,
}

impl Mark {
    pub(crate) fn new() -> Self {
        static COUNT: AtomicU64 = AtomicU64::new(0);
        Self { value: format!("{}.{}.", &*OURS, COUNT.fetch_add(1, Ordering::Relaxed)) }
    }

    /// Kills everything that bears the mark.
    pub(crate) fn kill(&self) {
        kill_marked(&[&self.value]);
    }
}

/// Whether a text has the form of a mark: three numbers, each with a dot behind it.
pub(crate) fn is_mark(text: &str) -> bool {
    let is_number = |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
    text.strip_suffix('.')
        .is_some_and(|it| it.split('.').count() == 3 && it.split('.').all(is_number))
}

/// Kills everything that bears one of these marks. Returns whether there was something.
pub(crate) fn kill_marked(marks: &[&str]) -> bool {
    let mut found = false;
    for _ in 0..ROUNDS {
        let marked = marked(marks);
        if marked.is_empty() {
            break;
        }
        found = true;
        for process in marked {
            // An error means that it has ended already.
            let _ended = kill_process(process, Signal::KILL);
        }
    }
    found
}

/// Whether a process bears a mark; `None` if its environment cannot be read.
pub(crate) fn bears(id: i32, mark: &str) -> Option<bool> {
    let environment = fs::read(format!("/proc/{id}/environ")).ok()?;
    Some(mark_in(&environment).is_some_and(|it| it == mark.as_bytes()))
}

/// The processes with one of these marks. One that is dead and not reaped yet has no environment.
fn marked(marks: &[&str]) -> Vec<Pid> {
    let Ok(processes) = fs::read_dir("/proc") else { return Vec::new() };
    let bears = |process: fs::DirEntry| {
        let id = process.file_name().to_str()?.parse().ok()?;
        let environment = fs::read(process.path().join("environ")).ok()?;
        let mark = mark_in(&environment)?;
        let is_one = marks.iter().any(|it| it.as_bytes() == mark);
        is_one.then(|| Pid::from_raw(id)).flatten()
    };
    processes.flatten().filter_map(bears).collect()
}

fn mark_in(environment: &[u8]) -> Option<&[u8]> {
    let mut variables = environment.split(|byte| *byte == 0);
    variables.find_map(|it| it.strip_prefix(KEY.as_bytes())?.strip_prefix(b"="))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mark_is_three_numbers() {
        assert!(is_mark(&Mark::new().value));
        for text in ["", ".", "1.2.", "1.2.3", "1.2.3.4.", "1..3.", "a.2.3.", "1.2.3.\n"] {
            assert!(!is_mark(text), "{text:?}");
        }
    }
}
