//! The signal to end running calls early.

use tokio::sync::watch;

/// The stop signal of one call. It fires if the user asks to stop after the call has begun.
#[derive(Clone)]
pub struct Stop(watch::Receiver<u64>);

impl Stop {
    /// The signal for what must be done in spite of the requests so far: it fires for a further one.
    #[must_use]
    pub fn further(&self) -> Stop {
        let mut further = self.0.clone();
        further.mark_unchanged();
        Stop(further)
    }

    /// Waits until a stop is requested. Calls that cannot end early need not use it.
    pub async fn requested(&mut self) {
        if self.0.changed().await.is_err() {
            // The server is gone, so no stop can be requested any more.
            std::future::pending::<()>().await;
        }
    }
}

/// Creates a [`Stop`] for each call and fires all of them.
#[derive(Default)]
pub struct Stopper(watch::Sender<u64>);

impl Stopper {
    /// Creates a stopper that has not fired.
    #[must_use]
    pub fn new() -> Stopper {
        Stopper::default()
    }

    /// Returns the signal for a call that begins.
    #[must_use]
    pub fn stop(&self) -> Stop {
        Stop(self.0.subscribe())
    }

    /// Asks all running calls to end early. Later calls are not affected.
    pub fn fire(&self) {
        self.0.send_modify(|count| *count = count.wrapping_add(1));
    }
}
