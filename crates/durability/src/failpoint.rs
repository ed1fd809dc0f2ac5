//! Failpoints: places where a test makes this program die as if it was killed. `MAYFLY_FAILPOINT=name` selects
//! one, `name:3` its third execution. With `MAYFLY_FAILPOINT_PANIC=message` the program panics there instead; with
//! `MAYFLY_FAILPOINT_MEMORY=bytes` it allocates that much memory.
//!
//! Failpoints exist only in builds with debug assertions.
//!
//! ```text
//!   intent ─► journal.write ─► journal.written ─► durable ─► (the provider's call) ─► answer ─► answered ─►
//!   journal.write ─► … ─► fold ─► fold.announced ─► fold.written ─► end ─► ended
//!   opening ─► …        closed ─► …
//!   recovery ─► recovery.announced ─► recovery.written ─► recovery.ended
//! ```

#[cfg(debug_assertions)]
use std::sync::Arc;

use db::System;

/// The failpoints of one root. Clones count executions together.
#[derive(Clone, Default)]
pub struct Failpoints {
    #[cfg(debug_assertions)]
    armed: Option<Arc<armed::Armed>>,
}

impl Failpoints {
    /// The failpoints that environment variables select. None in builds without debug assertions.
    pub fn of(system: &dyn System) -> Failpoints {
        #[cfg(debug_assertions)]
        return Failpoints { armed: armed::Armed::of(system).map(Arc::new) };
        #[cfg(not(debug_assertions))]
        {
            let _ = system;
            Failpoints::default()
        }
    }

    /// Kills the process here if this failpoint is selected.
    #[inline]
    pub fn reach(&self, name: &str) {
        #[cfg(debug_assertions)]
        if let Some(armed) = &self.armed {
            armed.reach(name);
        }
        #[cfg(not(debug_assertions))]
        let _ = name;
    }

    /// Returns true if a test wants the state to be written after every change (`MAYFLY_FOLD_ALWAYS`).
    #[inline]
    pub fn folds_always(&self) -> bool {
        #[cfg(debug_assertions)]
        return self.armed.as_ref().is_some_and(|it| it.folds_always);
        #[cfg(not(debug_assertions))]
        return false;
    }

    /// Returns true if a test uses named pipes in place of files to delay reads (`MAYFLY_FAILPOINT_PIPES`).
    #[inline]
    pub fn reads_pipes(&self) -> bool {
        #[cfg(debug_assertions)]
        return self.armed.as_ref().is_some_and(|it| it.reads_pipes);
        #[cfg(not(debug_assertions))]
        return false;
    }
}

#[cfg(debug_assertions)]
mod armed {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use db::System;

    /// The selected failpoint, and the number of executions that are left until it triggers.
    pub(super) struct Armed {
        name: Option<String>,
        left: AtomicUsize,
        /// The message of a panic in place of a kill.
        panic: Option<String>,
        /// The size of an allocation in place of a kill.
        memory: Option<usize>,
        pub(super) folds_always: bool,
        pub(super) reads_pipes: bool,
    }

    impl Armed {
        /// Reads the environment variables. `None` if none of them is set.
        pub(super) fn of(system: &dyn System) -> Option<Armed> {
            let selected = system.variable("MAYFLY_FAILPOINT");
            let (name, nth) = match selected.as_deref().map(|text| text.split_once(':')) {
                Some(Some((name, nth))) => (Some(name.to_owned()), nth.parse().unwrap_or(1)),
                _ => (selected.clone(), 1),
            };
            let is_set = |name: &str| system.variable(name).is_some();
            let armed = Armed {
                name,
                left: AtomicUsize::new(nth),
                panic: system.variable("MAYFLY_FAILPOINT_PANIC"),
                memory: system.variable("MAYFLY_FAILPOINT_MEMORY").and_then(|it| it.parse().ok()),
                folds_always: is_set("MAYFLY_FOLD_ALWAYS"),
                reads_pipes: is_set("MAYFLY_FAILPOINT_PIPES"),
            };
            let is_any = armed.name.is_some() || armed.folds_always || armed.reads_pipes;
            is_any.then_some(armed)
        }

        /// Kills the process, panics or allocates if `name` is the selected failpoint and its count is reached.
        pub(super) fn reach(&self, name: &str) {
            if self.name.as_deref() != Some(name) || self.left.fetch_sub(1, Ordering::SeqCst) != 1 {
                return;
            }
            // The panic message stands for a secret value that a careless message might quote.
            if let Some(message) = &self.panic {
                panic!("{message}");
            }
            if let Some(bytes) = self.memory {
                drop(std::hint::black_box(Vec::<u8>::with_capacity(bytes)));
                return;
            }
            // Do not use `abort`: no code may run on the way out, and no core may be dumped.
            let pid = rustix::process::getpid();
            let _killed = rustix::process::kill_process(pid, rustix::process::Signal::KILL);
            loop {
                std::thread::park();
            }
        }
    }
}
