//! Polling: asking an API again until an operation has ended.

use std::time::Duration;

use futures::future::BoxFuture;
use http_client::retry_after;

use super::build::decode_form;
use super::client::{Answer, RequestError};
use super::pause::pause;
use super::settings::Query;
use mayfly_sdk::Stop;

/// The rules of a poll loop.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PollRules {
    /// The status of an operation that has succeeded.
    pub success: String,
    /// The statuses of an operation that has not ended.
    pub pending: Vec<String>,
    /// The pause before each request, unless the answer before names one in `Retry-After`.
    pub default_delay: Duration,
    /// True if the status is the code of the answer. Codes other than success are then no errors.
    pub is_status_code: bool,
}

/// The first pause of a poll loop.
#[derive(Clone, Copy, Debug)]
pub enum FirstPause<'a> {
    /// None: prechecks ask at once.
    None,
    /// The one that the answer to the triggering request names, else the default.
    After(&'a Answer),
}

/// A poll loop that did not reach success. The texts contain no body; [`Answer::excerpt`] has the beginning of it.
#[derive(Clone, Debug, thiserror::Error)]
pub enum PollError {
    /// A request failed, or the core asked to stop.
    #[error(transparent)]
    Request(#[from] RequestError),
    /// The answer is an error.
    #[error("polling returns {}", .0.status.as_u16())]
    Refused(Box<Answer>),
    /// The answer has no status. The text is the reason.
    #[error("failed to read the status: {reason}")]
    NoStatus { reason: String, answer: Box<Answer> },
    /// The operation has ended without success.
    #[error("unexpected status {status:?}")]
    Unexpected { status: String, answer: Box<Answer> },
}

impl PollError {
    /// The answer that ended the loop. `None` if there was none.
    pub fn answer(&self) -> Option<&Answer> {
        match self {
            PollError::Request(_) => None,
            PollError::Refused(answer)
            | PollError::NoStatus { answer, .. }
            | PollError::Unexpected { answer, .. } => Some(answer),
        }
    }
}

/// Repeats a request until its status is that of success, and returns that answer. Statuses are compared without
/// regard to case. There is no limit to the number of requests: the loop ends when the core asks to stop.
///
/// # Errors
/// Returns a [`PollError`] for every other end.
pub async fn poll<'a>(
    rules: &PollRules,
    first: FirstPause<'_>,
    stop: &mut Stop,
    mut request: impl FnMut(Stop) -> BoxFuture<'a, Result<Answer, RequestError>>,
    status: impl Fn(&Answer) -> Result<String, String>,
) -> Result<Answer, PollError> {
    if let FirstPause::After(answer) = first {
        pause(rules.delay(answer), stop).await.map_err(RequestError::from)?;
    }
    loop {
        let answer = request(stop.clone()).await?;
        match rules.judge(&answer, &status)? {
            Progress::Done => return Ok(answer),
            Progress::Pending => {
                pause(rules.delay(&answer), stop).await.map_err(RequestError::from)?;
            }
        }
    }
}

enum Progress {
    Done,
    Pending,
}

impl PollRules {
    fn delay(&self, answer: &Answer) -> Duration {
        retry_after(&answer.headers).unwrap_or(self.default_delay)
    }

    fn judge(
        &self,
        answer: &Answer,
        status: &impl Fn(&Answer) -> Result<String, String>,
    ) -> Result<Progress, PollError> {
        let boxed = || Box::new(answer.clone());
        if !self.is_status_code && !answer.status.is_success() {
            return Err(PollError::Refused(boxed()));
        }
        let status =
            status(answer).map_err(|reason| PollError::NoStatus { reason, answer: boxed() })?;
        let equals = |other: &String| other.to_lowercase() == status.to_lowercase();
        match () {
            () if equals(&self.success) => Ok(Progress::Done),
            () if self.pending.iter().any(equals) => Ok(Progress::Pending),
            () => Err(PollError::Unexpected { status, answer: boxed() }),
        }
    }
}

/// The place that a poll loop asks. It has no `Debug`, because its query can contain a key.
#[derive(Clone, PartialEq, Eq)]
pub struct PollTarget {
    /// The path or URL without its query.
    pub path: String,
    /// The query.
    pub query: Query,
}

impl PollTarget {
    /// Uses a located URL with its own query.
    pub fn located(url: &str) -> PollTarget {
        let SplitUrl { path, query } = split(url);
        PollTarget { path, query: decode_form(&query) }
    }

    /// Uses the URL of the original request with the query of that request. The query in the URL is dropped.
    pub fn original(url: &str, query: Query) -> PollTarget {
        PollTarget { path: split(url).path, query }
    }
}

fn split(url: &str) -> SplitUrl {
    let url = url.split('#').next().unwrap_or_default();
    let (path, query) = url.split_once('?').unwrap_or((url, ""));
    SplitUrl { path: path.to_owned(), query: query.to_owned() }
}

struct SplitUrl {
    path: String,
    query: String,
}
