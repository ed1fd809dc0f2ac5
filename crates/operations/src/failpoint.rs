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

/// Kills the process here if this failpoint is selected.
#[inline]
pub fn reach(name: &str) {
    #[cfg(debug_assertions)]
    armed::reach(name);
    #[cfg(not(debug_assertions))]
    let _ = name;
}

/// Returns true if a test wants the state to be written after every change.
#[inline]
pub fn folds_always() -> bool {
    #[cfg(debug_assertions)]
    return armed::folds_always();
    #[cfg(not(debug_assertions))]
    return false;
}

/// Returns true if a test uses named pipes in place of files to delay reads (`MAYFLY_FAILPOINT_PIPES`).
#[inline]
pub fn reads_pipes() -> bool {
    #[cfg(debug_assertions)]
    return armed::reads_pipes();
    #[cfg(not(debug_assertions))]
    return false;
}

#[cfg(debug_assertions)]
mod armed {
    use std::sync::{
        OnceLock,
        atomic::{AtomicUsize, Ordering},
    };

    /// The selected failpoint, and the number of executions that are left until it triggers.
    struct Armed {
        name: String,
        left: AtomicUsize,
    }

    static ARMED: OnceLock<Option<Armed>> = OnceLock::new();

    fn armed() -> Option<Armed> {
        let text = std::env::var("MAYFLY_FAILPOINT").ok()?;
        let (name, nth) = text.split_once(':').unwrap_or((&text, "1"));
        let left = AtomicUsize::new(nth.parse().unwrap_or(1));
        Some(Armed { name: name.to_owned(), left })
    }

    /// Kills the process, panics or allocates if `name` is the selected failpoint and its count is reached.
    pub(super) fn reach(name: &str) {
        let Some(armed) = ARMED.get_or_init(armed).as_ref().filter(|it| it.name == name) else {
            return;
        };
        if armed.left.fetch_sub(1, Ordering::SeqCst) != 1 {
            return;
        }
        // The panic message stands for a secret value that a careless message might quote.
        if let Ok(message) = std::env::var("MAYFLY_FAILPOINT_PANIC") {
            panic!("{message}");
        }
        if let Some(bytes) =
            std::env::var("MAYFLY_FAILPOINT_MEMORY").ok().and_then(|it| it.parse().ok())
        {
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

    /// Returns true if `MAYFLY_FAILPOINT_PIPES` is set.
    pub(super) fn reads_pipes() -> bool {
        static PIPES: OnceLock<bool> = OnceLock::new();
        *PIPES.get_or_init(|| std::env::var_os("MAYFLY_FAILPOINT_PIPES").is_some())
    }

    /// Returns true if `MAYFLY_FOLD_ALWAYS` is set.
    pub(super) fn folds_always() -> bool {
        static ALWAYS: OnceLock<bool> = OnceLock::new();
        *ALWAYS.get_or_init(|| std::env::var_os("MAYFLY_FOLD_ALWAYS").is_some())
    }
}
