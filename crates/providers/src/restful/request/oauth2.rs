//! Tokens of an OAuth 2.0 server (RFC 6749): the grants of a password, of the client's own registration and of a
//! refresh token.

use std::collections::BTreeMap;
use std::time::Duration;

use bytes::Bytes;
use http_client::header::{ACCEPT, CONTENT_TYPE, HeaderValue};
use http_client::{Credentials, Method, Request, StatusCode};
use serde_json::Value;
use tokio::sync::Mutex;
use tokio::time::Instant;

use super::build::{FORM, decode_form, encode_form};
use super::client::{Answer, RequestError, Sender};
use super::pause::unless_stopped;
use super::settings::{Grant, OAuth2, Query, RegistrationPlace};
use crate::restful::expression::functions::query_escape;
use mayfly_sdk::{Secret, Stop};

/// The largest accepted answer of a token endpoint, in bytes.
const MAX_BYTES: u64 = 1 << 20;

/// The longest text of an error that a server describes, in characters.
const MAX_SHOWN: usize = 300;

/// The time before its end at which a token counts as expired, so that it does not expire on its way.
const MARGIN: Duration = Duration::from_secs(10);

/// The server gave no token. The texts contain no secret of the request.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TokenError {
    /// The server refused.
    #[error("the token server answered with the status {status}{}", described(.description))]
    Refused { status: StatusCode, description: Option<String> },
    /// The answer is no token.
    #[error("the answer of the token server is invalid: {0}")]
    Invalid(&'static str),
    /// A parameter of `endpoint_params` has the name of another parameter of the request.
    #[error("`endpoint_params` must not contain {0:?}, which the request has already")]
    Parameter(String),
}

fn described(description: &Option<String>) -> String {
    description.as_ref().map_or_else(String::new, |it| format!(": {it}"))
}

/// The tokens of one configured provider. Concurrent requests wait for one token, and share it until it expires.
pub struct TokenSource {
    settings: OAuth2,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    token: Option<Token>,
    /// The refresh token of the last answer, which replaces earlier ones.
    refresh_token: Option<Secret>,
    /// The place of the registration that the server accepted.
    place: Option<RegistrationPlace>,
}

struct Token {
    credentials: Credentials,
    /// `None` for a token that does not expire.
    expires: Option<Instant>,
}

impl TokenSource {
    /// Creates a source that has fetched no token.
    pub fn new(settings: OAuth2) -> TokenSource {
        TokenSource { settings, state: Mutex::default() }
    }

    /// Returns true if a token must be fetched before the first request, so that a wrong password is an error at once.
    pub fn is_eager(&self) -> bool {
        matches!(self.settings.grant, Grant::Password { .. })
    }

    /// Returns the credentials of a token that is valid now, and fetches one if needed.
    ///
    /// # Errors
    /// Returns a [`RequestError`] if there is no token. The next call tries again.
    pub async fn credentials(
        &self,
        sender: &Sender,
        stop: &mut Stop,
    ) -> Result<Credentials, RequestError> {
        let mut state = unless_stopped(stop, self.state.lock()).await?;
        let now = Instant::now();
        let valid = state.token.as_ref().filter(|it| it.expires.is_none_or(|end| now < end));
        if let Some(token) = valid {
            return Ok(token.credentials.clone());
        }
        let fetching = Fetching { settings: &self.settings, sender };
        let token = fetching.fetch(&mut state, stop).await?;
        let credentials = token.credentials.clone();
        state.token = Some(token);
        Ok(credentials)
    }
}

struct Fetching<'f> {
    settings: &'f OAuth2,
    sender: &'f Sender,
}

impl Fetching<'_> {
    /// Fetches a token with the refresh token of the last answer, or else with the grant.
    async fn fetch(&self, state: &mut State, stop: &mut Stop) -> Result<Token, RequestError> {
        if let Some(refresh) = state.refresh_token.clone() {
            match self.request(self.refresh_form(&refresh), state, stop).await {
                Err(RequestError::Token(_)) if self.has_lasting_grant() => {
                    // The refresh token can have expired too.
                    state.refresh_token = None;
                }
                outcome => return outcome,
            }
        }
        let form = self.grant_form()?;
        self.request(form, state, stop).await
    }

    /// Returns true if the grant can be used again after a refresh token is refused.
    fn has_lasting_grant(&self) -> bool {
        !matches!(self.settings.grant, Grant::RefreshToken { .. })
    }

    fn form(&self, grant_type: &str) -> Query {
        let mut form = Query::from([("grant_type".to_owned(), vec![grant_type.to_owned()])]);
        if !self.settings.scopes.is_empty() {
            form.insert("scope".to_owned(), vec![self.settings.scopes.join(" ")]);
        }
        form
    }

    fn refresh_form(&self, refresh_token: &Secret) -> Query {
        let mut form = self.form("refresh_token");
        form.insert("refresh_token".to_owned(), vec![refresh_token.reveal().to_owned()]);
        form
    }

    fn grant_form(&self) -> Result<Query, TokenError> {
        match &self.settings.grant {
            Grant::RefreshToken { refresh_token, .. } => Ok(self.refresh_form(refresh_token)),
            Grant::Password { username, password } => {
                let mut form = self.form("password");
                form.insert("username".to_owned(), vec![username.clone()]);
                form.insert("password".to_owned(), vec![password.reveal().to_owned()]);
                Ok(form)
            }
            Grant::ClientCredentials { endpoint_params } => {
                let mut form = self.form("client_credentials");
                for (name, values) in endpoint_params {
                    if name != "grant_type" && form.contains_key(name) {
                        return Err(TokenError::Parameter(name.clone()));
                    }
                    form.insert(name.clone(), values.clone());
                }
                Ok(form)
            }
        }
    }

    /// Requests a token. If the place of the registration is not known, it tries the header first, and then the
    /// parameters.
    async fn request(
        &self,
        form: Query,
        state: &mut State,
        stop: &mut Stop,
    ) -> Result<Token, RequestError> {
        let configured = self.settings.registration.as_ref().and_then(|it| it.place);
        let known = configured.or(state.place);
        let first = known.unwrap_or(RegistrationPlace::Header);
        let mut place = first;
        let mut answer = self.send(form.clone(), place, stop).await?;
        if known.is_none() && self.settings.registration.is_some() && !answer.status.is_success() {
            place = RegistrationPlace::Params;
            answer = self.send(form.clone(), place, stop).await?;
        }
        let token = self.read(&answer, &form, state)?;
        state.place = Some(place);
        Ok(token)
    }

    async fn send(
        &self,
        mut form: Query,
        place: RegistrationPlace,
        stop: &mut Stop,
    ) -> Result<Answer, RequestError> {
        let mut request = Request::get(self.settings.token_url.clone(), MAX_BYTES);
        request.method = Method::POST;
        if let Some(registration) = &self.settings.registration {
            let (id, secret) = (registration.id.as_str(), registration.secret.reveal());
            match place {
                RegistrationPlace::Header => {
                    // Encoded as a form first (RFC 6749, section 2.3.1).
                    let (id, secret) = (query_escape(id), query_escape(secret));
                    request.credentials = Credentials::basic(id.as_bytes(), secret.as_bytes());
                }
                RegistrationPlace::Params => {
                    form.insert("client_id".to_owned(), vec![id.to_owned()]);
                    if !secret.is_empty() {
                        form.insert("client_secret".to_owned(), vec![secret.to_owned()]);
                    }
                }
            }
        }
        request.headers.insert(CONTENT_TYPE, HeaderValue::from_static(FORM));
        request.headers.insert(ACCEPT, HeaderValue::from_static("application/json"));
        request.body = Bytes::from(encode_form(&form));
        // Unlike other requests by `POST`, this one changes nothing that a stop could leave in doubt.
        let mut inner = stop.clone();
        unless_stopped(stop, self.sender.send(&request, &mut inner)).await?
    }

    fn read(&self, answer: &Answer, form: &Query, state: &mut State) -> Result<Token, TokenError> {
        let parsed = fields(answer);
        let text = |name: &str| {
            let value = parsed.as_ref().and_then(|it| it.get(name));
            value.and_then(Value::as_str).filter(|it| !it.is_empty())
        };
        // Some servers report errors with a success.
        if !answer.status.is_success() || text("error").is_some() {
            let description = [text("error"), text("error_description")];
            let description =
                self.shown(&description.into_iter().flatten().collect::<Vec<_>>(), form);
            return Err(TokenError::Refused { status: answer.status, description });
        }
        if parsed.is_none() {
            return Err(TokenError::Invalid("it is neither a JSON object nor a form"));
        }
        let access = text("access_token").ok_or(TokenError::Invalid("it has no `access_token`"))?;
        let scheme = self.scheme(text("token_type"));
        let credentials = Credentials::with_scheme(&scheme, access)
            .ok_or(TokenError::Invalid("a header cannot contain its token"))?;
        if let Some(refresh) = text("refresh_token") {
            state.refresh_token = Some(Secret::new(refresh));
        }
        let lifetime = parsed.as_ref().and_then(|it| lifetime(it.get("expires_in")?));
        let expires = lifetime.and_then(|it| Instant::now().checked_add(it.saturating_sub(MARGIN)));
        Ok(Token { credentials, expires })
    }

    /// The scheme of the `Authorization` header: the answered type, else the configured one, else `Bearer`.
    fn scheme(&self, answered: Option<&str>) -> String {
        let configured = match &self.settings.grant {
            Grant::RefreshToken { token_type, .. } => token_type.as_deref(),
            Grant::Password { .. } | Grant::ClientCredentials { .. } => None,
        };
        let scheme = answered.or(configured).unwrap_or("Bearer");
        // Servers compare the scheme with the usual spelling.
        let usual =
            ["Bearer", "MAC", "Basic"].into_iter().find(|it| it.eq_ignore_ascii_case(scheme));
        usual.unwrap_or(scheme).to_owned()
    }

    /// Joins the texts of an error of the server. `None` if they repeat a secret of the request.
    fn shown(&self, texts: &[&str], form: &Query) -> Option<String> {
        let text = texts.join(": ");
        let registered = self.settings.registration.as_ref().map(|it| it.secret.reveal());
        let sent =
            form.iter().filter(|(name, _)| !["grant_type", "scope"].contains(&name.as_str()));
        let mut secrets = sent.flat_map(|(_, values)| values.iter().map(String::as_str));
        let repeats = |it: &str| !it.is_empty() && text.contains(it);
        if text.is_empty() || secrets.any(repeats) || registered.is_some_and(repeats) {
            return None;
        }
        Some(text.chars().filter(|it| !it.is_control()).take(MAX_SHOWN).collect())
    }
}

/// Reads the fields of an answer: a JSON object, or a form, which servers from before the final RFC send, some of them
/// as plain text. `None` if it is neither.
fn fields(answer: &Answer) -> Option<BTreeMap<String, Value>> {
    if let Ok(object) = serde_json::from_slice(&answer.body) {
        return Some(object);
    }
    let named = answer.headers.get(CONTENT_TYPE)?.to_str().ok()?;
    let named = named.split(';').next().unwrap_or_default().trim();
    if ![FORM, "text/plain"].iter().any(|it| it.eq_ignore_ascii_case(named)) {
        return None;
    }
    let form = decode_form(std::str::from_utf8(&answer.body).ok()?.trim());
    let first = |(name, values): (String, Vec<String>)| {
        Some((name, Value::String(values.into_iter().next()?)))
    };
    Some(form.into_iter().filter_map(first).collect())
}

/// Reads `expires_in`: seconds, which some servers give as a text. `None` for a token that does not expire.
fn lifetime(value: &Value) -> Option<Duration> {
    let seconds = match value {
        Value::Number(number) => number.as_f64()?,
        Value::String(text) => text.trim().parse().ok()?,
        Value::Null | Value::Bool(_) | Value::Array(_) | Value::Object(_) => return None,
    };
    Duration::try_from_secs_f64(seconds).ok().filter(|it| !it.is_zero())
}
