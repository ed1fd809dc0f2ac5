//! Errors of requests. Their texts are sentence fragments.

use std::error::Error as StdError;
use std::time::Duration;

use hyper::StatusCode;

use crate::proxy::ProxyError;
use crate::url::Url;

/// An error of a request.
#[derive(Clone, Debug, thiserror::Error)]
#[error("{kind}")]
pub struct Error {
    /// The URL that was requested last, which differs from that of the request after a redirect.
    pub url: Box<Url>,
    /// The error.
    pub kind: ErrorKind,
}

/// The kinds of errors of a request.
#[derive(Clone, Debug, thiserror::Error)]
pub enum ErrorKind {
    /// The server could not be reached.
    #[error("failed to connect to {host}: {cause}")]
    Connect { host: String, cause: String },
    /// The server could not prove its identity.
    #[error("the certificate of {host} is not trusted: {cause}")]
    Certificate { host: String, cause: String },
    /// The certificates of trusted authorities could not be loaded.
    #[error("failed to load the trusted certificates: {0}")]
    Trust(String),
    /// The proxy refused to connect.
    #[error("the proxy {proxy} failed: {cause}")]
    Proxy { proxy: String, cause: String },
    /// The environment does not name a usable proxy.
    #[error("{0}")]
    ProxySetting(ProxyError),
    /// The server did not answer in time.
    #[error("the server did not answer within {} seconds", .0.as_secs())]
    Timeout(Duration),
    /// The server sends the body more slowly than the client waits for.
    #[error("the server sends too slowly; the transfer stopped after {received} bytes")]
    Slow { received: u64 },
    /// The server answered with a status other than success.
    #[error("the server answered with the status {status}{}", advice(.retry_after))]
    Status { status: StatusCode, retry_after: Option<Duration> },
    /// The body is larger than the request allows.
    #[error("the answer is larger than {most} bytes")]
    TooLarge { most: u64 },
    /// The connection ended before the body did.
    #[error("the connection was closed after {received} bytes of the answer: {cause}")]
    Truncated { received: u64, cause: String },
    /// The server redirects to a place where the client does not follow.
    #[error("the redirect of the server is refused: {0}")]
    Redirect(String),
    /// The server does not follow HTTP.
    #[error("the server violates HTTP: {0}")]
    Protocol(String),
    /// The connection failed after it was made.
    #[error("the connection failed: {0}")]
    Connection(String),
    /// The downloaded file could not be written.
    #[error("failed to write the downloaded file: {0}")]
    Write(String),
}

fn advice(retry_after: &Option<Duration>) -> String {
    match retry_after {
        Some(pause) => format!(" and asks to wait {} seconds", pause.as_secs()),
        None => String::new(),
    }
}

impl ErrorKind {
    /// Returns true if the same request can succeed later.
    pub fn is_transient(&self) -> bool {
        match self {
            ErrorKind::Connect { cause, .. } => !is_unknown_host(cause),
            ErrorKind::Timeout(_)
            | ErrorKind::Slow { .. }
            | ErrorKind::Truncated { .. }
            | ErrorKind::Connection(_) => true,
            ErrorKind::Status { status, .. } => crate::retry::is_transient(*status),
            ErrorKind::Certificate { .. }
            | ErrorKind::Trust(_)
            | ErrorKind::Proxy { .. }
            | ErrorKind::ProxySetting(_)
            | ErrorKind::TooLarge { .. }
            | ErrorKind::Redirect(_)
            | ErrorKind::Protocol(_)
            | ErrorKind::Write(_) => false,
        }
    }

    pub(crate) fn at(self, url: &Url) -> Error {
        Error { url: Box::new(url.clone()), kind: self }
    }
}

/// Returns true if the resolver says that a host does not exist. The standard library tells it by the text of glibc,
/// musl or macOS alone.
fn is_unknown_host(cause: &str) -> bool {
    let texts = ["Name or service not known", "Name does not resolve", "nodename nor servname"];
    texts.iter().any(|it| cause.contains(it))
}

/// The longest text of a cause. Parts of it come from the server, for example names in its certificate.
const MAX_CHARACTERS: usize = 300;

/// Joins the texts of an error and its causes. Removes control characters.
pub(crate) fn cause(error: &(dyn StdError + 'static)) -> String {
    let mut text = error.to_string();
    let mut next = error.source();
    while let Some(source) = next {
        let inner = source.to_string();
        if !text.contains(&inner) {
            text = format!("{text}: {inner}");
        }
        next = source.source();
    }
    text.chars().filter(|it| !it.is_control()).take(MAX_CHARACTERS).collect()
}
