//! Logging in to a registry: by user and password, or by a token of its token service.

use http_client::header::{CONTENT_TYPE, HeaderValue};
use http_client::{Credentials, Method, Request, Response, Url};
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use serde::Deserialize;

use super::Repository;
use super::challenge::Challenge;
use crate::cli_config::OciSecret;
use crate::json_answer::{MAX_DOCUMENT, json};

/// The name of this program for token services.
const CLIENT: &str = "mayfly";

const FORM: HeaderValue = HeaderValue::from_static("application/x-www-form-urlencoded");

#[derive(Deserialize)]
struct TokenAnswer {
    #[serde(default)]
    token: String,
    #[serde(default)]
    access_token: String,
}

impl Repository<'_> {
    /// Answers the challenge of a registry.
    pub(super) async fn log_in(&self, refusal: &Response) -> Result<Credentials, String> {
        let secret = self.access.credentials.secret(&self.host, &self.name).await;
        let secret = secret.map_err(|it| self.failed(&it))?;
        let denied =
            || self.failed(&"the registry requires credentials, and there are none for it");
        if let Some(OciSecret::AccessToken(token)) = &secret {
            return Credentials::bearer(token).ok_or_else(denied);
        }
        match Challenge::of(&refusal.headers) {
            None => Err(self.failed(&"the registry asks for credentials in an unknown way")),
            Some(Challenge::Basic) => match secret {
                Some(OciSecret::Password { user, password }) => {
                    Credentials::basic(user.as_bytes(), password.as_bytes()).ok_or_else(denied)
                }
                _ => Err(denied()),
            },
            Some(Challenge::Bearer { realm, service, scope }) => {
                let scope = scope.unwrap_or_else(|| format!("repository:{}:pull", self.name));
                let token = Token { realm, service, scope, secret };
                self.token(token).await
            }
        }
    }

    /// Requests a token.
    async fn token(&self, wanted: Token) -> Result<Credentials, String> {
        let realm = encrypted_url(&wanted.realm).map_err(|it| self.failed(&it))?;
        let request = wanted.request(&realm).map_err(|it| self.failed(&it))?;
        let sent = self.access.client.send(&request).await;
        let failed = |error: &dyn std::fmt::Display| {
            self.failed(&format!("its token service {realm} fails: {error}"))
        };
        let response = sent.and_then(Response::success).map_err(|it| failed(&it))?;
        let answer: TokenAnswer = json(response).await.map_err(|it| failed(&it))?;
        let token = match answer.token.is_empty() {
            true => answer.access_token,
            false => answer.token,
        };
        match Credentials::bearer(&token).filter(|_| !token.is_empty()) {
            Some(credentials) => Ok(credentials),
            None => Err(failed(&"its answer has no token")),
        }
    }
}

/// A token that is wanted of a service.
struct Token {
    realm: String,
    service: Option<String>,
    scope: String,
    secret: Option<OciSecret>,
}

impl Token {
    /// The request for it. A password is sent in a header, and a refresh token in a form.
    fn request(&self, realm: &Url) -> Result<Request, String> {
        let encoded = |text: &str| utf8_percent_encode(text, NON_ALPHANUMERIC).to_string();
        let service = self.service.iter().map(|it| format!("&service={}", encoded(it)));
        let mut query = format!("scope={}", encoded(&self.scope));
        query.extend(service);
        if let Some(OciSecret::RefreshToken(token)) = &self.secret {
            let mut request = Request::get(realm.clone(), MAX_DOCUMENT);
            request.method = Method::POST;
            request.headers.insert(CONTENT_TYPE, FORM);
            let token = encoded(token);
            let form = format!(
                "grant_type=refresh_token&refresh_token={token}&client_id={CLIENT}&{query}"
            );
            request.body = form.into_bytes().into();
            return Ok(request);
        }
        let base = realm.expose();
        let mark = if base.contains('?') { '&' } else { '?' };
        let url = Url::parse(&format!("{base}{mark}{query}")).map_err(|it| it.to_string())?;
        let mut request = Request::get(url, MAX_DOCUMENT);
        if let Some(OciSecret::Password { user, password }) = &self.secret {
            request.credentials = Credentials::basic(user.as_bytes(), password.as_bytes());
        }
        Ok(request)
    }
}

/// Parses the URL of a token service, which must be encrypted.
fn encrypted_url(realm: &str) -> Result<Url, String> {
    let url = Url::parse(realm).map_err(|it| format!("the URL of its token service: {it}"))?;
    match url.is_https() {
        true => Ok(url),
        false => Err(format!("its token service {url} is not encrypted")),
    }
}
