//! Progress events for calls that take long.

use std::{pin::pin, time::Duration};

use tokio::time::Instant;

/// The time between progress events.
const INTERVAL: Duration = Duration::from_secs(10);

/// Waits for a call, and calls `tick` every ten seconds with the time since `begun`.
pub(crate) async fn with_progress<T>(
    call: impl Future<Output = T>,
    begun: Instant,
    tick: impl Fn(Duration),
) -> T {
    let mut call = pin!(call);
    // Calls within this process complete immediately and need no timer.
    if let Some(answer) = futures::FutureExt::now_or_never(&mut call) {
        return answer;
    }
    loop {
        match tokio::time::timeout(INTERVAL, &mut call).await {
            Ok(answer) => return answer,
            Err(_) => tick(begun.elapsed()),
        }
    }
}
