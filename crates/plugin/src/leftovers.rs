//! Finds and kills the descendants that a plugin or a command leaves behind.
//!
//! A plugin stays in the process group of this process, so it has no group of its own that could be killed.
//! Instead, its descendants inherit an environment variable with the mark of the plugin, which identifies them
//! even after they were re-parented. A plugin that exits successfully may leave a daemon on purpose; its
//! descendants are searched only if one of them still holds a stream of the plugin.
//!
//! Without `/proc`, no descendant is found.

use std::{
    fs,
    sync::{
        LazyLock,
        atomic::{AtomicU64, Ordering},
    },
    time::SystemTime,
};

use rustix::process::{Pid, Signal, kill_process};

/// The environment variable with the mark, which a process passes on to its descendants.
pub(crate) const KEY: &str = "MAYFLY_PROCESS";

/// The number of searches. Descendants may start more processes in the meantime.
const ROUNDS: usize = 5;

/// The prefix of all marks of this process.
static OURS: LazyLock<String> = LazyLock::new(|| {
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    format!("{}.{}", std::process::id(), since.as_nanos())
});

/// The mark of one process and its descendants.
pub(crate) struct Mark {
    /// The value of the environment variable.
    pub(crate) value: String,
}

impl Mark {
    pub(crate) fn new() -> Self {
        static COUNT: AtomicU64 = AtomicU64::new(0);
        Self { value: format!("{}.{}.", &*OURS, COUNT.fetch_add(1, Ordering::Relaxed)) }
    }

    /// Kills all processes with this mark.
    pub(crate) fn kill(&self) {
        kill_marked(&[&self.value]);
    }
}

/// Returns true if a text has the form of a mark: three numbers, each followed by a dot.
pub(crate) fn is_mark(text: &str) -> bool {
    let is_number = |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
    text.strip_suffix('.')
        .is_some_and(|it| it.split('.').count() == 3 && it.split('.').all(is_number))
}

/// Kills all processes with one of these marks. Returns true if there was one.
pub(crate) fn kill_marked(marks: &[&str]) -> bool {
    let mut found = false;
    for _ in 0..ROUNDS {
        let marked = marked(marks);
        if marked.is_empty() {
            break;
        }
        found = true;
        for process in marked {
            // An error means that the process has already ended.
            let _ended = kill_process(process, Signal::KILL);
        }
    }
    found
}

/// Returns true if a process has the mark; `None` if its environment cannot be read.
pub(crate) fn bears(id: i32, mark: &str) -> Option<bool> {
    let environment = fs::read(format!("/proc/{id}/environ")).ok()?;
    has_mark(&environment, mark)
}

/// Returns true if an environment has the mark. `None` if it is empty: the system shows an empty one until a
/// program that has just been started is loaded.
fn has_mark(environment: &[u8], mark: &str) -> Option<bool> {
    let found = mark_in(environment).is_some_and(|it| it == mark.as_bytes());
    (!environment.is_empty()).then_some(found)
}

/// The processes with one of these marks. A zombie has no environment and is not found.
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
    fn environment_of_a_loading_program_is_unknown() {
        let environment = b"HOME=/\0MAYFLY_PROCESS=1.2.3.\0";
        assert_eq!(has_mark(environment, "1.2.3."), Some(true));
        assert_eq!(has_mark(environment, "1.2.4."), Some(false));
        assert_eq!(has_mark(b"", "1.2.3."), None);
    }

    #[test]
    fn process_mark_is_three_numbers() {
        assert!(is_mark(&Mark::new().value));
        for text in ["", ".", "1.2.", "1.2.3", "1.2.3.4.", "1..3.", "a.2.3.", "1.2.3.\n"] {
            assert!(!is_mark(text), "{text:?}");
        }
    }
}
