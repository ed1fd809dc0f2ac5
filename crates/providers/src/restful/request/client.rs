//! The client of one configured provider: its connections, cookies and credentials.

use std::fmt;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http_client::header::HeaderValue;
use http_client::{
    Authorities, Client, ClientConfig, CookieStore, ErrorKind, HeaderMap, Identity, Request,
    StatusCode, Timeouts, TlsError, TlsSettings, Url, Verification,
};
use tokio::sync::OnceCell;
use tokio::time::Instant;

use super::build::{BuildError, Call, build, decode_form};
use super::cookies::CookieJar;
use super::oauth2::TokenError;
use super::pause::{Stopped, pause, unless_stopped};
use super::retry::RetryPolicy;
use super::secret::Hidden;
use super::security::Authentication;
use super::settings::{ClientSettings, PemSource, Settings};
use crate::restful::expression::functions::query_escape;
use mayfly_sdk::Stop;

/// Receives a line for each request, without secrets, for the log of the level debug.
pub type DebugLog = Arc<dyn Fn(&str) + Send + Sync>;

/// Reads a variable of the environment, which names proxies and certificates.
pub type Variable<'v> = &'v (dyn Fn(&str) -> Option<String> + Sync);

/// A request without an answer. The text contains no credentials, no body and no query.
#[derive(Clone, Debug, thiserror::Error)]
pub enum RequestError {
    /// A part of the request is invalid.
    #[error(transparent)]
    Build(#[from] BuildError),
    /// The server gave no complete answer.
    #[error("failed to request {}: {}", .0.url, .0)]
    Http(#[from] http_client::Error),
    /// The token server gave no token.
    #[error(transparent)]
    Token(#[from] TokenError),
    /// The core asked to stop.
    #[error(transparent)]
    Stopped(#[from] Stopped),
}

impl RequestError {
    /// Returns true if the server may have received the whole request.
    pub fn may_have_taken_effect(&self) -> bool {
        let RequestError::Http(error) = self else { return false };
        !matches!(
            error.kind,
            ErrorKind::Connect { .. }
                | ErrorKind::Certificate { .. }
                | ErrorKind::Trust(_)
                | ErrorKind::Proxy { .. }
                | ErrorKind::ProxySetting(_)
        )
    }
}

/// A client that could not be made from its settings.
#[derive(Clone, Debug, thiserror::Error)]
pub enum InitError {
    /// A certificate or key is invalid.
    #[error("failed to load `client.{attribute}`: {error}")]
    Certificate { attribute: &'static str, error: TlsError },
    /// The file of a certificate or key cannot be read.
    #[error("failed to read the file {path} of `client.{attribute}`: {cause}")]
    File { attribute: &'static str, path: String, cause: String },
    /// The credentials are invalid, or the first token could not be fetched.
    #[error(transparent)]
    Request(#[from] RequestError),
}

/// The answer to a request. `Debug` shows neither headers nor the body.
#[derive(Clone)]
pub struct Answer {
    /// The URL that answered, after all redirects.
    pub url: Url,
    /// The status.
    pub status: StatusCode,
    /// The headers.
    pub headers: HeaderMap,
    /// The body.
    pub body: Bytes,
    /// The credentials of the request, which the body can repeat.
    pub(super) sent: Hidden,
}

impl Answer {
    /// The beginning of the body for an error message: at most 4096 characters, without control characters and with
    /// replacement characters for bytes that are not UTF-8. The credentials of the request and the `hidden` parts
    /// are replaced. `None` if a hidden part could be in it.
    pub fn excerpt(&self, hidden: &Hidden) -> Option<String> {
        const MOST: usize = 4096;
        let text = hidden.with(&self.sent).hide_in_answer(&self.body)?;
        let is_shown = |it: &char| !it.is_control() || matches!(it, '\n' | '\t');
        Some(text.chars().filter(is_shown).take(MOST).collect())
    }
}

impl fmt::Debug for Answer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Answer({} {})", self.status.as_u16(), self.url)
    }
}

/// Makes the client of a configured provider at its first use, once. An error is kept and reported at each use.
pub struct ClientCell {
    settings: Settings,
    log: DebugLog,
    client: OnceCell<Result<RestClient, InitError>>,
}

impl ClientCell {
    /// Creates the cell of a configured provider.
    pub fn new(settings: Settings, log: DebugLog) -> ClientCell {
        ClientCell { settings, log, client: OnceCell::new() }
    }

    /// The settings of the provider.
    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    /// Returns the client. With the grant of a password, the first use fetches the token.
    ///
    /// # Errors
    /// Returns the same [`InitError`] each time, except that a stopped initialization begins again.
    pub async fn client(
        &self,
        variable: Variable<'_>,
        stop: &mut Stop,
    ) -> Result<&RestClient, InitError> {
        let init = async {
            match RestClient::new(&self.settings, self.log.clone(), variable, stop).await {
                Err(InitError::Request(RequestError::Stopped(stopped))) => Err(stopped),
                outcome => Ok(outcome),
            }
        };
        let outcome = self.client.get_or_try_init(|| init).await.map_err(RequestError::from)?;
        outcome.as_ref().map_err(Clone::clone)
    }
}

/// The client of one configured provider.
pub struct RestClient {
    settings: Settings,
    authentication: Authentication,
    sender: Sender,
}

impl RestClient {
    async fn new(
        settings: &Settings,
        log: DebugLog,
        variable: Variable<'_>,
        stop: &mut Stop,
    ) -> Result<RestClient, InitError> {
        let agent = HeaderValue::from_static(concat!("Mayfly-restful/", env!("CARGO_PKG_VERSION")));
        let mut config = ClientConfig::from_environment(agent, &|name| variable(name));
        config.tls = tls(&settings.client).await?;
        config.timeouts = TIMEOUTS;
        // The policy of the user repeats requests, in `Sender`.
        config.retries.most = 0;
        if settings.client.has_cookies {
            config.cookies = Some(Arc::new(CookieJar::default()) as Arc<dyn CookieStore>);
        }
        let retry = settings.client.retry.clone();
        let sender = Sender { http: Client::new(config), retry, log };
        let authentication = Authentication::new(settings).map_err(RequestError::from)?;
        if let Some(source) = authentication.token_source().filter(|it| it.is_eager()) {
            source.credentials(&sender, stop).await?;
        }
        Ok(RestClient { settings: settings.clone(), authentication, sender })
    }

    /// Sends a call with the credentials of the provider, and repeats it as its policy says. Every status is an
    /// answer here.
    ///
    /// # Errors
    /// Returns a [`RequestError`] if there is no answer.
    pub async fn send(&self, call: &Call, stop: &mut Stop) -> Result<Answer, RequestError> {
        let keys = self.authentication.keys();
        let mut request = build(call, &self.settings.base_url, keys)?;
        self.authentication.authorize(&mut request, &self.sender, stop).await?;
        let mut answer = self.sender.send(&request, stop).await?;
        keys.iter().for_each(|it| answer.sent.add(it.value.reveal()));
        call.headers.iter().for_each(|(name, value)| answer.sent.add_header(name, value));
        if let Some(credentials) = &request.credentials {
            answer.sent.add(credentials.parameter());
        }
        self.settings.security.secrets().for_each(|it| answer.sent.add(it.reveal()));
        Ok(answer)
    }
}

/// Longer than those of other clients of Mayfly: an API can create the object before it answers.
const TIMEOUTS: Timeouts = Timeouts {
    connect: Duration::from_secs(30),
    answer: Duration::from_secs(3600),
    idle: Duration::from_secs(300),
    slowest: 64,
};

async fn tls(settings: &ClientSettings) -> Result<TlsSettings, InitError> {
    let mut identities = Vec::new();
    for source in &settings.certificates {
        let chain = read("certificates", &source.certificate).await?;
        let key = read("certificates", &source.key).await?;
        let attribute = "certificates";
        let identity = Identity::from_pem(&chain, &key);
        identities.push(identity.map_err(|error| InitError::Certificate { attribute, error })?);
    }
    let attribute = "root_ca_certificates";
    let mut roots = Vec::new();
    for source in &settings.root_authorities {
        roots.push(read(attribute, source).await?);
    }
    let verification = match roots.is_empty() {
        _ if settings.is_insecure => Verification::Off,
        true => Verification::Machine,
        false => {
            let authorities = Authorities::from_pem(&roots);
            let certificate = |error| InitError::Certificate { attribute, error };
            Verification::Only(authorities.map_err(certificate)?)
        }
    };
    Ok(TlsSettings { verification, identities })
}

/// The largest accepted file of certificates or keys, in bytes.
const MAX_PEM_BYTES: u64 = 16 << 20;

async fn read(attribute: &'static str, source: &PemSource) -> Result<Vec<u8>, InitError> {
    let path = match source {
        PemSource::Text(text) => return Ok(text.reveal().as_bytes().to_vec()),
        PemSource::File(path) => path.clone(),
    };
    let unread = |path: &Path, cause: String| {
        let path = path.display().to_string();
        InitError::File { attribute, path, cause }
    };
    let of_file = path.clone();
    let bytes = tokio::task::spawn_blocking(move || {
        // A pipe or a device could block for ever.
        let size = std::fs::metadata(&of_file)?;
        match size.is_file() && size.len() <= MAX_PEM_BYTES {
            true => std::fs::read(&of_file),
            false => Err(std::io::Error::other("it is no regular file of at most 16 MiB")),
        }
    });
    let bytes = bytes.await.map_err(|error| unread(&path, error.to_string()))?;
    bytes.map_err(|error| unread(&path, error.to_string()))
}

/// Sends requests, repeats them and logs them. It adds no credentials.
pub struct Sender {
    http: Client,
    retry: Option<RetryPolicy>,
    log: DebugLog,
}

impl Sender {
    /// Sends a request. If the core asks to stop, pauses and reads end at once, but a request that can change
    /// something is awaited, because the outcome would be unknown otherwise.
    ///
    /// # Errors
    /// Returns a [`RequestError`] if the last attempt gave no answer.
    pub(super) async fn send(
        &self,
        request: &Request,
        stop: &mut Stop,
    ) -> Result<Answer, RequestError> {
        let mut made = 0;
        loop {
            let begin = Instant::now();
            let attempt = attempt(&self.http, request);
            let outcome = match request.method.is_safe() {
                true => unless_stopped(stop, attempt).await?,
                false => attempt.await,
            };
            self.record(request, &outcome, begin.elapsed());
            let policy = self.retry.as_ref();
            let wait = policy.and_then(|policy| match &outcome {
                Ok(answer) => policy.after_answer(made, answer.status, &answer.headers),
                Err(error) => policy.after_error(made, error),
            });
            match wait {
                Some(wait) => pause(wait, stop).await?,
                None => return Ok(outcome?),
            }
            made += 1;
        }
    }

    fn record(
        &self,
        request: &Request,
        outcome: &Result<Answer, http_client::Error>,
        time: Duration,
    ) {
        let outcome = match outcome {
            Ok(answer) => answer.status.as_u16().to_string(),
            Err(error) => error.to_string(),
        };
        let (method, url) = (&request.method, shown(&request.url));
        (self.log)(&format!("{method} {url}: {outcome} ({} ms)", time.as_millis()));
    }
}

async fn attempt(http: &Client, request: &Request) -> Result<Answer, http_client::Error> {
    let response = http.send(request).await?;
    let (url, status, headers) = (response.url, response.status, response.headers);
    let body = response.body.bytes().await?;
    Ok(Answer { url, status, headers, body, sent: Hidden::default() })
}

/// The URL with the names of its parameters but without their values.
fn shown(url: &Url) -> String {
    let names = decode_form(url.query().unwrap_or_default());
    let names: Vec<String> = names.keys().map(|it| format!("{}=…", query_escape(it))).collect();
    match names.is_empty() {
        true => url.to_string(),
        false => format!("{url}?{}", names.join("&")),
    }
}
