//! The request of a user to stop a run.

use std::sync::{
    Arc,
    atomic::{AtomicBool, AtomicU8, Ordering},
};

use tokio::sync::Notify;

/// A cancellation token. The first request asks the operation to finish running calls, the second one to abort.
/// Clones share the state.
#[derive(Clone, Default)]
pub struct CancelToken {
    shared: Arc<CancelShared>,
}

#[derive(Default)]
struct CancelShared {
    requests: AtomicU8,
    /// True if the operation has seen the request to abort.
    is_heard: AtomicBool,
    notify: Notify,
}

/// The state of a [`CancelToken`].
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum CancelLevel {
    /// The operation continues.
    Running,
    /// The operation finishes running calls and starts no new ones.
    Stopping,
    /// The operation ends immediately.
    Aborting,
}

impl CancelToken {
    /// Creates a token without requests.
    pub fn new() -> CancelToken {
        CancelToken::default()
    }

    /// Adds a request.
    pub fn cancel(&self) {
        let _ = self
            .shared
            .requests
            .fetch_update(Ordering::SeqCst, Ordering::SeqCst, |n| Some(n.saturating_add(1)));
        self.shared.notify.notify_waiters();
    }

    /// Returns the state of the token.
    pub fn level(&self) -> CancelLevel {
        match self.shared.requests.load(Ordering::SeqCst) {
            0 => CancelLevel::Running,
            1 => CancelLevel::Stopping,
            _ => {
                self.shared.is_heard.store(true, Ordering::SeqCst);
                CancelLevel::Aborting
            }
        }
    }

    /// Returns true if there was a request, for threads beside the operation: it does not count as a check by the
    /// operation.
    pub(crate) fn is_requested(&self) -> bool {
        self.shared.requests.load(Ordering::SeqCst) > 0
    }

    /// Returns true if the operation has checked the token since it was asked to abort. If it has not, it is in a
    /// call that cannot be interrupted from within.
    pub fn is_heard(&self) -> bool {
        self.shared.is_heard.load(Ordering::SeqCst)
    }

    /// Waits until the token reaches at least `level`.
    pub async fn reached(&self, level: CancelLevel) {
        loop {
            let notified = self.shared.notify.notified();
            if self.level() >= level {
                return;
            }
            notified.await;
        }
    }
}
