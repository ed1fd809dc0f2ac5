//! The request to end running calls early.

use tokio::sync::watch;

/// Given to each call; tells when the user has asked to stop since the call began.
#[derive(Clone)]
pub struct Stop(watch::Receiver<u64>);

impl Stop {
    /// Waits until a stop is requested. A call that cannot end early does not wait for it.
    pub async fn requested(&mut self) {
        if self.0.changed().await.is_err() {
            // The server is gone, and with it everyone who could ask.
            std::future::pending::<()>().await;
        }
    }
}

/// Makes a [`Stop`] for each call and fires all of them.
#[derive(Default)]
pub struct Stopper(watch::Sender<u64>);

impl Stopper {
    /// One that has not fired.
    #[must_use]
    pub fn new() -> Stopper {
        Stopper::default()
    }

    /// For a call that begins.
    #[must_use]
    pub fn stop(&self) -> Stop {
        Stop(self.0.subscribe())
    }

    /// Asks all running calls to end early; calls that begin later are not affected.
    pub fn fire(&self) {
        self.0.send_modify(|count| *count = count.wrapping_add(1));
    }
}
