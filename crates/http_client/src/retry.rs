//! Retries of requests.

use std::time::{Duration, SystemTime};

use hyper::StatusCode;
use hyper::header::{DATE, HeaderMap, HeaderName, RETRY_AFTER};

/// The policy for retries.
#[derive(Clone, Copy, Debug)]
pub struct Retries {
    /// The number of retries after the first attempt.
    pub most: u32,
    /// The pause before the first retry. Each further pause is twice as long.
    pub first_pause: Duration,
    /// The longest pause. A server that asks for a longer one gets no retry.
    pub longest_pause: Duration,
}

impl Retries {
    /// Returns the pause before a retry. `None` if there is no further one.
    ///
    /// `made` counts the retries before. Without a wish of the server, a pause is longer by a random part, so that
    /// many clients do not return at once.
    pub(crate) fn pause(&self, made: u32, retry_after: Option<Duration>) -> Option<Duration> {
        if made >= self.most {
            return None;
        }
        if let Some(wish) = retry_after {
            return Some(wish).filter(|it| *it <= self.longest_pause);
        }
        let factor = 2_u32.saturating_pow(made);
        let pause = self.first_pause.saturating_mul(factor).min(self.longest_pause);
        Some(pause + pause.mul_f64(fastrand::f64() / 4.0))
    }
}

/// Returns true for answers that can change when the request is repeated.
pub(crate) fn is_transient(status: StatusCode) -> bool {
    matches!(status.as_u16(), 408 | 425 | 429 | 500 | 502 | 503 | 504)
}

/// Reads `Retry-After`: seconds, which some servers give with a fraction, or a date, which counts from the server's
/// own `Date`. `None` if there is no such header, or if it is malformed.
pub fn retry_after(headers: &HeaderMap) -> Option<Duration> {
    let text = headers.get(RETRY_AFTER)?.to_str().ok()?.trim();
    // The parser of numbers also accepts signs, exponents and `infinity`.
    if text.bytes().all(|it| it.is_ascii_digit() || it == b'.')
        && let Ok(seconds) = text.parse()
    {
        return Duration::try_from_secs_f64(seconds).ok();
    }
    let date = |name: HeaderName| -> Option<SystemTime> {
        httpdate::parse_http_date(headers.get(name)?.to_str().ok()?.trim()).ok()
    };
    Some(date(RETRY_AFTER)?.duration_since(date(DATE)?).unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    const RETRIES: Retries = Retries {
        most: 3,
        first_pause: Duration::from_secs(1),
        longest_pause: Duration::from_secs(3),
    };

    #[test]
    fn retry_pauses_double_up_to_the_maximum() {
        for (made, least) in [(0, 1.0), (1, 2.0), (2, 3.0)] {
            let pause = RETRIES.pause(made, None).expect("a retry").as_secs_f64();
            assert!((least..least * 1.25).contains(&pause), "{pause}");
        }
        assert_eq!(RETRIES.pause(3, None), None);
    }

    #[test]
    fn server_chooses_the_retry_pause_up_to_the_maximum() {
        let wish = |seconds| RETRIES.pause(0, Some(Duration::from_secs(seconds)));
        assert_eq!(wish(2), Some(Duration::from_secs(2)));
        assert_eq!(wish(4), None);
    }

    #[test]
    fn retry_after_is_a_number_or_a_date() {
        let wish = |text: &'static str| {
            let date = ("date", "Wed, 21 Oct 2015 07:28:00 GMT");
            let pairs = [("retry-after", text), date].map(|(name, value)| {
                (HeaderName::from_static(name), value.parse().expect("a header value"))
            });
            retry_after(&HeaderMap::from_iter(pairs)).map(|it| it.as_secs())
        };
        assert_eq!(wish(" 7"), Some(7));
        assert_eq!(wish("7.9"), Some(7));
        assert_eq!(wish("Wed, 21 Oct 2015 07:28:30 GMT"), Some(30));
        assert_eq!(wish("Wed, 21 Oct 2015 07:27:00 GMT"), Some(0));
        for text in ["-1", "soon", "", ".", "1.2.3", "1e3", "99999999999999999999999"] {
            assert_eq!(wish(text), None, "{text}");
        }
    }
}
