//! The client, its requests and responses.

use std::error::Error as StdError;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use futures::future::BoxFuture;
use http_body_util::Full;
use hyper::body::Incoming;
use hyper::header::{
    ACCEPT_ENCODING, AUTHORIZATION, HeaderMap, HeaderValue, IF_RANGE, PROXY_AUTHORIZATION, RANGE,
    USER_AGENT,
};
use hyper::{Method, StatusCode};
use hyper_util::client::legacy;
use hyper_util::rt::{TokioExecutor, TokioTimer};
use tokio::time::{sleep, timeout};

use crate::body::Body;
use crate::connect::{Connector, Dial, tcp};
use crate::cookies::{self, CookieStore};
use crate::credentials::Credentials;
use crate::error::{Error, ErrorKind, cause};
use crate::proxy::Proxies;
use crate::redirect;
use crate::retry::{Retries, is_transient, retry_after};
use crate::tls::TlsSettings;
use crate::trust::Trust;
use crate::url::Url;

/// The settings of a client.
#[derive(Debug)]
pub struct ClientConfig {
    /// The value of `User-Agent`, unless a request has its own: the name and version of the program.
    pub user_agent: HeaderValue,
    /// The proxies.
    pub proxies: Proxies,
    /// The trusted certificates.
    pub trust: Trust,
    /// Other TLS settings.
    pub tls: TlsSettings,
    /// The cookies. `None` ignores all cookies of servers.
    pub cookies: Option<Arc<dyn CookieStore>>,
    /// The longest waits.
    pub timeouts: Timeouts,
    /// The policy for retries.
    pub retries: Retries,
}

/// The longest waits for a server.
#[derive(Clone, Copy, Debug)]
pub struct Timeouts {
    /// For a connection, including the handshakes with a proxy and of TLS.
    pub connect: Duration,
    /// For the head of an answer, including the connection.
    pub answer: Duration,
    /// For the next bytes of a body.
    pub idle: Duration,
    /// The lowest speed in bytes per second, on average over the body after the first `idle`.
    pub slowest: u64,
}

impl ClientConfig {
    /// Creates the usual settings with the proxies and certificates that the environment names.
    pub fn from_environment(
        user_agent: HeaderValue,
        variable: &dyn Fn(&str) -> Option<String>,
    ) -> ClientConfig {
        let seconds = Duration::from_secs;
        ClientConfig {
            user_agent,
            proxies: Proxies::from_environment(variable),
            trust: Trust::from_environment(variable),
            tls: TlsSettings::default(),
            cookies: None,
            timeouts: Timeouts {
                connect: seconds(15),
                answer: seconds(60),
                idle: seconds(30),
                slowest: 512,
            },
            retries: Retries { most: 3, first_pause: seconds(1), longest_pause: seconds(60) },
        }
    }
}

/// A request. `Debug` shows neither headers nor the query of the URL.
#[derive(Clone)]
pub struct Request {
    /// The method. The client repeats only idempotent requests.
    pub method: Method,
    /// The URL.
    pub url: Url,
    /// Additional headers. A redirect to another origin drops them.
    pub headers: HeaderMap,
    /// The credentials for the origin of the URL. A redirect to another origin drops them.
    pub credentials: Option<Credentials>,
    /// The body, empty for none.
    pub body: Bytes,
    /// The largest accepted body of the answer, in bytes.
    pub max_bytes: u64,
    /// The number of retries after the first attempt. `None` for that of the client.
    pub retries: Option<u32>,
    /// The longest wait for the head of an answer. `None` for that of the client.
    pub answer_timeout: Option<Duration>,
    /// The part of the resource that a download still lacks.
    pub(crate) rest: Option<RangeRequest>,
}

/// The rest of a resource from an offset, if a validator still matches.
#[derive(Clone)]
pub(crate) struct RangeRequest {
    pub(crate) offset: u64,
    pub(crate) validator: HeaderValue,
}

impl Request {
    /// Creates a `GET` request without headers and credentials.
    pub fn get(url: Url, max_bytes: u64) -> Request {
        Request {
            method: Method::GET,
            url,
            headers: HeaderMap::new(),
            credentials: None,
            body: Bytes::new(),
            max_bytes,
            retries: None,
            answer_timeout: None,
            rest: None,
        }
    }
}

impl std::fmt::Debug for Request {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Request({} {})", self.method, self.url)
    }
}

/// The answer to a request.
pub struct Response {
    /// The URL that answered, after all redirects.
    pub url: Url,
    /// The status. It is never a redirect.
    pub status: StatusCode,
    /// The headers.
    pub headers: HeaderMap,
    /// The body.
    pub body: Body,
}

impl Response {
    /// Returns the response if its status is a success.
    ///
    /// # Errors
    /// Returns [`ErrorKind::Status`] otherwise.
    pub fn success(self) -> Result<Response, Error> {
        match self.status.is_success() {
            true => Ok(self),
            false => Err(self.status_error()),
        }
    }

    pub(crate) fn status_error(&self) -> Error {
        let retry_after = retry_after(&self.headers);
        ErrorKind::Status { status: self.status, retry_after }.at(&self.url)
    }
}

/// The size from which the head of an answer is refused. The client buffers at most twice as much.
const MAX_HEAD_BYTES: usize = 64 << 10;

/// The time for which an unused connection stays open.
const UNUSED: Duration = Duration::from_secs(30);

/// The client. Clones share connections.
#[derive(Clone)]
pub struct Client {
    pool: legacy::Client<Connector, Full<Bytes>>,
    connector: Connector,
    settings: Arc<Settings>,
}

struct Settings {
    user_agent: HeaderValue,
    cookies: Option<Arc<dyn CookieStore>>,
    timeouts: Timeouts,
    retries: Retries,
}

impl Client {
    /// Creates a client. It opens no connection and loads no certificate before its first request.
    pub fn new(config: ClientConfig) -> Client {
        Client::with_dial(config, tcp())
    }

    pub(crate) fn with_dial(config: ClientConfig, dial: Dial) -> Client {
        let ClientConfig { user_agent, proxies, trust, tls, cookies, timeouts, retries } = config;
        let connector = Connector::new(dial, proxies, trust, tls, timeouts.connect);
        let pool = legacy::Client::builder(TokioExecutor::new())
            .http1_max_buf_size(MAX_HEAD_BYTES)
            .pool_timer(TokioTimer::new())
            .pool_idle_timeout(UNUSED)
            .build(connector.clone());
        let settings = Settings { user_agent, cookies, timeouts, retries };
        Client { pool, connector, settings: Arc::new(settings) }
    }

    /// Sends a request, follows redirects, and repeats the request after temporary errors if it is idempotent.
    ///
    /// # Errors
    /// Returns an [`Error`] if there is no answer. A status other than success is no error here.
    pub fn send<'r>(&'r self, request: &'r Request) -> BoxFuture<'r, Result<Response, Error>> {
        Box::pin(self.send_with_retries(request))
    }

    async fn send_with_retries(&self, request: &Request) -> Result<Response, Error> {
        let mut retries = 0;
        loop {
            let outcome = self.follow(request).await;
            let wish = match &outcome {
                Ok(response) if is_transient(response.status) => retry_after(&response.headers),
                Err(error) if error.kind.is_transient() => None,
                _ => return outcome,
            };
            let pause = self.retries(request).pause(retries, wish);
            let Some(pause) = pause.filter(|_| request.method.is_idempotent()) else {
                return outcome;
            };
            drop(outcome);
            sleep(pause).await;
            retries += 1;
        }
    }

    /// The policy for retries of a request.
    pub(crate) fn retries(&self, request: &Request) -> Retries {
        let usual = self.settings.retries;
        Retries { most: request.retries.unwrap_or(usual.most), ..usual }
    }

    /// Sends a request once, and follows redirects.
    pub(crate) async fn follow(&self, request: &Request) -> Result<Response, Error> {
        let mut current = request.clone();
        for _ in 0..=redirect::MOST {
            let answer = self.exchange(&current).await.map_err(|kind| kind.at(&current.url))?;
            if let Some(cookies) = &self.settings.cookies {
                cookies.receive(&current.url, answer.headers());
            }
            let next = redirect::next(&current, answer.status(), answer.headers());
            match next.map_err(|kind| kind.at(&current.url))? {
                Some(next) => current = next,
                None => return Ok(self.response(&current, answer)),
            }
        }
        let why = format!("it leads through more than {} places", redirect::MOST);
        Err(ErrorKind::Redirect(why).at(&current.url))
    }

    fn response(&self, request: &Request, answer: hyper::Response<Incoming>) -> Response {
        let (head, incoming) = answer.into_parts();
        let (url, timeouts) = (request.url.clone(), self.settings.timeouts);
        let body = Body::new(incoming, url.clone(), request.max_bytes, timeouts);
        Response { url, status: head.status, headers: head.headers, body }
    }

    /// Sends one request to one server.
    async fn exchange(&self, request: &Request) -> Result<hyper::Response<Incoming>, ErrorKind> {
        let mut message = hyper::Request::new(Full::new(request.body.clone()));
        *message.method_mut() = request.method.clone();
        *message.uri_mut() = request.url.uri().clone();
        *message.headers_mut() = self.headers(request);
        let limit = request.answer_timeout.unwrap_or(self.settings.timeouts.answer);
        match timeout(limit, self.pool.request(message)).await {
            Ok(Ok(answer)) => Ok(answer),
            Ok(Err(error)) => Err(error_kind(&error)),
            Err(_) => Err(ErrorKind::Timeout(limit)),
        }
    }

    fn headers(&self, request: &Request) -> HeaderMap {
        let mut headers = request.headers.clone();
        headers.entry(USER_AGENT).or_insert_with(|| self.settings.user_agent.clone());
        // A compressed answer would need a bound on its unpacked size.
        headers.insert(ACCEPT_ENCODING, HeaderValue::from_static("identity"));
        if let Some(credentials) = &request.credentials {
            headers.insert(AUTHORIZATION, credentials.header());
        }
        if let Some(RangeRequest { offset, validator }) = &request.rest
            && let Ok(range) = HeaderValue::try_from(format!("bytes={offset}-"))
        {
            headers.insert(RANGE, range);
            headers.insert(IF_RANGE, validator.clone());
        }
        if let Some(stored) = self.settings.cookies.as_ref().and_then(|it| it.cookies(&request.url))
        {
            cookies::add(&mut headers, stored);
        }
        let proxy = self.connector.plain_proxy(request.url.uri());
        if let Some(header) = proxy.as_ref().and_then(|it| it.basic_auth()) {
            headers.insert(PROXY_AUTHORIZATION, header.clone());
        }
        headers
    }
}

/// Converts an error of the pool. Errors of the connector are among its causes.
fn error_kind(error: &legacy::Error) -> ErrorKind {
    let mut next = error.source();
    while let Some(source) = next {
        if let Some(kind) = source.downcast_ref::<ErrorKind>() {
            return kind.clone();
        }
        if let Some(error) = source.downcast_ref::<hyper::Error>() {
            return match error.is_parse() {
                true => ErrorKind::Protocol(cause(error)),
                false => ErrorKind::Connection(cause(error)),
            };
        }
        next = source.source();
    }
    ErrorKind::Connection(cause(error))
}
