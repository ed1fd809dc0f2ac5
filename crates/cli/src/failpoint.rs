//! Places at which a test lets this program die, as by a kill: `MAYFLY_FAILPOINT=name` or `name:3` for the third time. With
//! `MAYFLY_FAILPOINT_PANIC=message` it panics there instead; with `MAYFLY_FAILPOINT_MEMORY=bytes` it asks for so much memory.
//!
//! They are in builds with debug assertions only; in a release nothing of them is left.
//!
//! ```text
//!   intent ─► journal.write ─► journal.written ─► durable ─► (the provider's call) ─► answer ─► answered ─► journal.write ─► …
//!   ─► fold ─► fold.announced ─► fold.written ─► end ─► ended        opening ─► …        closed ─► …
//!   recovery ─► recovery.announced ─► recovery.written ─► recovery.ended
//! ```

/// Dies here, if a test wants that.
#[inline]
pub(crate) fn reach(name: &str) {
    #[cfg(debug_assertions)]
    armed::reach(name);
    #[cfg(not(debug_assertions))]
    let _ = name;
}

/// Whether a test wants the state to be written after every change.
#[inline]
pub(crate) fn folds_always() -> bool {
    #[cfg(debug_assertions)]
    return armed::folds_always();
    #[cfg(not(debug_assertions))]
    return false;
}

/// Returns true if a test holds up the reading of files with named pipes in their place (`MAYFLY_FAILPOINT_PIPES`).
#[inline]
pub(crate) fn reads_pipes() -> bool {
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

    /// A point, and at which time it strikes.
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

    pub(super) fn reach(name: &str) {
        let Some(armed) = ARMED.get_or_init(armed).as_ref().filter(|it| it.name == name) else {
            return;
        };
        if armed.left.fetch_sub(1, Ordering::SeqCst) != 1 {
            return;
        }
        // For what a crash shows: the message is what a careless one would be, a value.
        if let Ok(message) = std::env::var("MAYFLY_FAILPOINT_PANIC") {
            panic!("{message}");
        }
        if let Some(bytes) =
            std::env::var("MAYFLY_FAILPOINT_MEMORY").ok().and_then(|it| it.parse().ok())
        {
            drop(std::hint::black_box(Vec::<u8>::with_capacity(bytes)));
            return;
        }
        // Not `abort`: nothing may run on the way out, and no core may be dumped.
        let pid = rustix::process::getpid();
        let _killed = rustix::process::kill_process(pid, rustix::process::Signal::KILL);
        loop {
            std::thread::park();
        }
    }

    pub(super) fn reads_pipes() -> bool {
        static PIPES: OnceLock<bool> = OnceLock::new();
        *PIPES.get_or_init(|| std::env::var_os("MAYFLY_FAILPOINT_PIPES").is_some())
    }

    pub(super) fn folds_always() -> bool {
        static ALWAYS: OnceLock<bool> = OnceLock::new();
        *ALWAYS.get_or_init(|| std::env::var_os("MAYFLY_FOLD_ALWAYS").is_some())
    }
}
