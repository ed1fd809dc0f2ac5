//! Signs of life while a call takes long.

use std::{pin::pin, time::Duration};

use tokio::time::Instant;

/// How often.
const INTERVAL: Duration = Duration::from_secs(10);

/// Waits for a call; `tick` gets the time since `begun` every ten seconds.
pub(crate) async fn with_progress<T>(
    call: impl Future<Output = T>,
    begun: Instant,
    tick: impl Fn(Duration),
) -> T {
    let mut call = pin!(call);
    // Calls into the same process end at once: no timer is made for them.
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
