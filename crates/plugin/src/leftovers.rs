//! Processes that a plugin leaves behind: its children, and theirs.
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

/// The variable that a plugin and everything that it starts have.
pub(crate) const KEY: &str = "MAYFLY_PLUGIN_PROCESS";

/// How often it is looked whether more were started in the meantime.
const ROUNDS: usize = 5;

/// Tells the plugins of this process from those of all others.
static OURS: LazyLock<String> = LazyLock::new(|| {
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    format!("{}.{}", std::process::id(), since.as_nanos())
});

/// What one plugin and everything that it starts are known by.
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
        kill_marked(&self.value);
    }
}

/// Kills everything that a plugin of this process started.
pub(crate) fn kill_all() {
    kill_marked(&format!("{}.", &*OURS));
}

fn kill_marked(value: &str) {
    let mark = format!("{KEY}={value}");
    for _ in 0..ROUNDS {
        let marked = marked(mark.as_bytes());
        if marked.is_empty() {
            return;
        }
        for process in marked {
            // An error means that it has ended already.
            let _ended = kill_process(process, Signal::KILL);
        }
    }
}

/// The processes in whose environment a variable begins so. One that is dead and not reaped yet has none.
fn marked(mark: &[u8]) -> Vec<Pid> {
    let Ok(processes) = fs::read_dir("/proc") else { return Vec::new() };
    let bears = |process: fs::DirEntry| {
        let id = process.file_name().to_str()?.parse().ok()?;
        let environment = fs::read(process.path().join("environ")).ok()?;
        let is_marked = environment.split(|byte| *byte == 0).any(|it| it.starts_with(mark));
        is_marked.then(|| Pid::from_raw(id)).flatten()
    };
    processes.flatten().filter_map(bears).collect()
}
