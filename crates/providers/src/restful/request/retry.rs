//! Repeated requests: the policy of `client.retry`.

use std::collections::BTreeSet;
use std::time::Duration;

use http_client::{HeaderMap, StatusCode, retry_after};

/// The policy for retries. Without one, no request is repeated.
///
/// It applies to requests of every method, because the user asks for it: to errors of the connection, and to answers
/// with the named statuses. Errors that another attempt cannot change, such as an untrusted certificate, end the
/// request at once.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RetryPolicy {
    /// The statuses that are repeated.
    pub status_codes: BTreeSet<u16>,
    /// The number of retries after the first attempt.
    pub count: u32,
    /// The shortest pause.
    pub wait: Duration,
    /// The longest pause. It wins over `wait`.
    pub max_wait: Duration,
}

impl RetryPolicy {
    /// Returns the pause before the next attempt after an answer. `None` if the answer is final.
    ///
    /// `made` counts the retries before.
    pub fn after_answer(
        &self,
        made: u32,
        status: StatusCode,
        headers: &HeaderMap,
    ) -> Option<Duration> {
        if made >= self.count || !self.status_codes.contains(&status.as_u16()) {
            return None;
        }
        match retry_after(headers) {
            Some(wish) => Some(self.bounded(wish)),
            None => Some(self.backoff(made)),
        }
    }

    /// Returns the pause before the next attempt after an error. `None` if the error is final.
    pub fn after_error(&self, made: u32, error: &http_client::Error) -> Option<Duration> {
        (made < self.count && error.kind.is_transient()).then(|| self.backoff(made))
    }

    /// The doubled pause of each further retry, less a random part of up to a half, so that many clients do not
    /// return at once.
    fn backoff(&self, made: u32) -> Duration {
        let longest = self.wait.saturating_mul(2_u32.saturating_pow(made)).min(self.max_wait);
        self.bounded(longest.mul_f64(0.5 + fastrand::f64() / 2.0))
    }

    fn bounded(&self, pause: Duration) -> Duration {
        pause.max(self.wait).min(self.max_wait)
    }
}

#[cfg(test)]
mod tests {
    use http_client::header::{HeaderValue, RETRY_AFTER};

    use super::*;

    fn policy() -> RetryPolicy {
        let (wait, max_wait) = (Duration::from_secs(2), Duration::from_secs(10));
        RetryPolicy { status_codes: [503].into(), count: 5, wait, max_wait }
    }

    fn after(made: u32, status: StatusCode, retry_after: Option<&'static str>) -> Option<f64> {
        let value = retry_after.map(HeaderValue::from_static);
        let headers = HeaderMap::from_iter(value.map(|it| (RETRY_AFTER, it)));
        policy().after_answer(made, status, &headers).map(|it| it.as_secs_f64())
    }

    #[test]
    fn server_chooses_the_pause_within_the_bounds() {
        let busy = StatusCode::SERVICE_UNAVAILABLE;
        for (wish, expected) in [("3", 3.0), ("2.5", 2.5), ("0", 2.0), ("3600", 10.0)] {
            assert_eq!(after(0, busy, Some(wish)), Some(expected), "{wish}");
        }
    }

    #[test]
    fn pauses_grow_from_the_shortest_to_the_longest() {
        // The first ones must not be as long as the longest.
        for (made, least, most) in [(0, 2.0, 2.0), (1, 2.0, 4.0), (2, 4.0, 8.0), (4, 5.0, 10.0)] {
            for wish in [None, Some("soon"), Some("-1")] {
                let pause = after(made, StatusCode::SERVICE_UNAVAILABLE, wish).expect("a retry");
                assert!((least..=most).contains(&pause), "{made}: {pause}");
            }
        }
    }

    #[test]
    fn other_statuses_and_the_last_retry_are_final() {
        assert_eq!(after(0, StatusCode::BAD_GATEWAY, Some("1")), None);
        assert_eq!(after(5, StatusCode::SERVICE_UNAVAILABLE, Some("1")), None);
        assert!(after(4, StatusCode::SERVICE_UNAVAILABLE, Some("1")).is_some());
    }

    #[test]
    fn longest_pause_below_the_shortest_wins() {
        let policy = RetryPolicy { max_wait: Duration::from_secs(1), ..policy() };
        let pause = policy.after_answer(60, StatusCode::SERVICE_UNAVAILABLE, &HeaderMap::new());
        assert_eq!(pause, None);
        let pause = policy.after_answer(3, StatusCode::SERVICE_UNAVAILABLE, &HeaderMap::new());
        assert_eq!(pause, Some(Duration::from_secs(1)));
    }
}
