//! Pauses that end when the core asks to stop.

use std::time::Duration;

use tokio::time::sleep;

use mayfly_sdk::Stop;

/// The core asked to stop during a wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the operation was stopped while it waited")]
pub struct Stopped;

/// Waits for a time.
///
/// # Errors
/// Returns [`Stopped`] as soon as the core asks to stop.
pub async fn pause(time: Duration, stop: &mut Stop) -> Result<(), Stopped> {
    unless_stopped(stop, sleep(time)).await
}

/// Waits for a future, and drops it if the core asks to stop.
///
/// # Errors
/// Returns [`Stopped`] as soon as the core asks to stop.
pub async fn unless_stopped<T>(
    stop: &mut Stop,
    future: impl Future<Output = T>,
) -> Result<T, Stopped> {
    tokio::select! {
        biased;
        () = stop.requested() => Err(Stopped),
        output = future => Ok(output),
    }
}
