//! The OAuth 2.0 flows of the service `login.v1`: the authorization code with a proof key (RFC 6749, RFC 7636), and
//! the password of the user.

use std::ops::RangeInclusive;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use bytes::Bytes;
use futures::future::BoxFuture;
use http_client::header::{ACCEPT, CONTENT_TYPE, HeaderValue};
use http_client::{Client, Method, Request, Url};
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, percent_decode_str, utf8_percent_encode};
use serde_json::{Map, Value};
use sha2::{Digest, Sha256};
use sorted::TreeMap;

use crate::cli_config::Token;
use crate::hosts::{ServiceError, Services};

const SERVICE: &str = "login.v1";

/// The largest accepted answer of a token endpoint, in bytes.
const MAX_BYTES: u64 = 1 << 20;

/// The longest text of an error that a host describes, in characters.
const MAX_SHOWN: usize = 300;

/// The registration of this program at a host.
#[derive(Clone, Debug)]
pub struct OAuthClient {
    id: String,
    authorization: Option<Url>,
    token: Option<Url>,
    /// The ports to which the host may send the browser.
    pub ports: RangeInclusive<u16>,
    grants: Vec<String>,
    scopes: Vec<String>,
}

/// A pending request for an authorization code.
#[derive(Clone)]
pub struct Authorization {
    /// The page on which the user logs in.
    pub url: String,
    redirect: String,
    /// The value by which an answer to this request is recognized.
    state: String,
    /// The proof that the request for the token comes from the program that made this request.
    verifier: String,
}

/// The answer that a browser brings back.
#[derive(Clone, PartialEq, Eq)]
pub enum Callback {
    /// An authorization code.
    Code(String),
    /// The host refused. The text is a sentence fragment.
    Refused(String),
    /// It does not answer the pending request.
    Unrelated,
}

impl OAuthClient {
    /// Reads the registration from the description of the service.
    ///
    /// # Errors
    /// Returns a [`ServiceError`] if the host lacks the service, or if its description is not understood.
    pub fn of(services: &Services) -> Result<OAuthClient, ServiceError> {
        let object = services.object(SERVICE)?;
        let invalid = |cause: &str| {
            ServiceError::Invalid(format!(
                "the service {SERVICE} has an invalid description: {cause}"
            ))
        };
        let id = object.get("client").and_then(Value::as_str);
        let id = id.ok_or_else(|| invalid("it lacks the property \"client\""))?.to_owned();
        let grants = match object.get("grant_types") {
            None => vec!["authz_code".to_owned()],
            // Other elements may come with a later version of the protocol.
            Some(Value::Array(all)) => {
                all.iter().filter_map(Value::as_str).map(str::to_owned).collect()
            }
            Some(_) => return Err(invalid("\"grant_types\" must be a list of strings")),
        };
        let endpoint = |name: &str| match object.get(name).and_then(Value::as_str) {
            None => Ok(None),
            Some(text) => {
                let url =
                    services.absolute(text).map_err(|it| invalid(&format!("{name:?}: {it}")))?;
                match url.is_https() || url.is_loopback() {
                    true => Ok(Some(url)),
                    false => Err(invalid(&format!("{name:?} must be an https: URL"))),
                }
            }
        };
        let client = OAuthClient {
            authorization: endpoint("authz")?,
            token: endpoint("token")?,
            ports: ports(object).map_err(|it| invalid(&it))?,
            scopes: scopes(object).map_err(|it| invalid(&it))?,
            id,
            grants,
        };
        if client.has_code_grant() && client.authorization.is_none() {
            return Err(invalid("it lacks the property \"authz\""));
        }
        if (client.has_code_grant() || client.has_password_grant()) && client.token.is_none() {
            return Err(invalid("it lacks the property \"token\""));
        }
        Ok(client)
    }

    /// Returns true if the host issues authorization codes.
    pub fn has_code_grant(&self) -> bool {
        self.grants.iter().any(|it| it == "authz_code")
    }

    /// Returns true if the host accepts the password of the user.
    pub fn has_password_grant(&self) -> bool {
        self.grants.iter().any(|it| it == "password")
    }

    /// Begins a request for an authorization code, whose answer a server on this port of the machine receives.
    ///
    /// # Errors
    /// Returns a sentence fragment if the host issues no codes, or if there are no random numbers.
    pub fn authorize(&self, port: u16) -> Result<Authorization, String> {
        let page = self.authorization.as_ref().ok_or("the host issues no codes")?.expose();
        let redirect = format!("http://localhost:{port}/login");
        let (state, verifier) = (random()?, random()?);
        let challenge = URL_SAFE_NO_PAD.encode(Sha256::digest(&verifier));
        let scopes = self.scopes.join(" ");
        let mut values = vec![
            ("client_id", self.id.as_str()),
            ("code_challenge", &challenge),
            ("code_challenge_method", "S256"),
            ("redirect_uri", &redirect),
            ("response_type", "code"),
        ];
        if !scopes.is_empty() {
            values.push(("scope", &scopes));
        }
        values.push(("state", &state));
        let separator = if page.contains('?') { '&' } else { '?' };
        let url = format!("{page}{separator}{}", encoded(&values));
        Ok(Authorization { url, redirect, state, verifier })
    }
}

fn ports(object: &Map<String, Value>) -> Result<RangeInclusive<u16>, String> {
    let Some(Value::Array(ports)) = object.get("ports") else { return Ok(1024..=65535) };
    let port = |it: &Value| {
        let number =
            it.as_f64().filter(|it| it.fract() == 0.0 && (1024.0..=65535.0).contains(it))?;
        format!("{number}").parse::<u16>().ok()
    };
    match ports.as_slice() {
        [first, last] => match (port(first), port(last)) {
            (Some(first), Some(last)) if first <= last => Ok(first..=last),
            (Some(_), Some(_)) => Err("\"ports\" must begin with the lower port".to_owned()),
            _ => Err("\"ports\" must be whole numbers from 1024 to 65535".to_owned()),
        },
        _ => Err("\"ports\" must have two elements".to_owned()),
    }
}

fn scopes(object: &Map<String, Value>) -> Result<Vec<String>, String> {
    let Some(Value::Array(scopes)) = object.get("scopes") else { return Ok(Vec::new()) };
    let texts: Option<Vec<String>> =
        scopes.iter().map(|it| it.as_str().map(str::to_owned)).collect();
    texts.ok_or_else(|| "\"scopes\" must be strings".to_owned())
}

impl Authorization {
    /// Reads the path and the query of a request of the browser.
    pub fn callback(&self, target: &str) -> Callback {
        let query = target.split_once('?').map_or("", |(_, query)| query);
        let value = |name: &str| {
            let pairs = query.split('&').map(|it| it.split_once('=').unwrap_or((it, "")));
            let mut found = pairs.filter(|it| it.0 == name).map(|it| decoded(it.1));
            found.next().filter(|it| !it.is_empty())
        };
        if value("state").as_ref() != Some(&self.state) {
            return Callback::Unrelated;
        }
        match (value("code"), value("error")) {
            (Some(code), _) => Callback::Code(code),
            (None, Some(error)) => {
                let cause = described(&error, value("error_description").as_deref());
                Callback::Refused(format!("the host refused the login: {cause}"))
            }
            (None, None) => Callback::Unrelated,
        }
    }

    /// Exchanges an authorization code for a token.
    ///
    /// # Errors
    /// Returns a sentence fragment without the code.
    pub fn request_token<'r>(
        &'r self,
        client: &'r Client,
        registration: &'r OAuthClient,
        code: &'r str,
    ) -> BoxFuture<'r, Result<Token, String>> {
        Box::pin(async move {
            let values = [
                ("client_id", registration.id.as_str()),
                ("code", code),
                ("code_verifier", &self.verifier),
                ("grant_type", "authorization_code"),
                ("redirect_uri", &self.redirect),
            ];
            request_token(client, registration, &values, &[code, &self.verifier]).await
        })
    }
}

/// Exchanges the name and the password of a user for a token.
///
/// # Errors
/// Returns a sentence fragment without the password.
pub fn request_token_by_password<'r>(
    client: &'r Client,
    registration: &'r OAuthClient,
    user: &'r str,
    password: &'r str,
) -> BoxFuture<'r, Result<Token, String>> {
    Box::pin(async move {
        let scopes = registration.scopes.join(" ");
        let mut values = vec![
            ("client_id", registration.id.as_str()),
            ("grant_type", "password"),
            ("password", password),
        ];
        if !scopes.is_empty() {
            values.push(("scope", &scopes));
        }
        values.push(("username", user));
        request_token(client, registration, &values, &[password]).await
    })
}

/// Sends a request to the token endpoint. A host may quote the secrets in its errors, from which they are removed.
async fn request_token(
    client: &Client,
    registration: &OAuthClient,
    values: &[(&str, &str)],
    secrets: &[&str],
) -> Result<Token, String> {
    let Some(url) = registration.token.clone() else {
        return Err("the host has no endpoint for tokens".to_owned());
    };
    let mut request = Request::get(url, MAX_BYTES);
    request.method = Method::POST;
    request.body = Bytes::from(encoded(values));
    let form = HeaderValue::from_static("application/x-www-form-urlencoded");
    request.headers.insert(CONTENT_TYPE, form);
    request.headers.insert(ACCEPT, HeaderValue::from_static("application/json"));
    let response = client.send(&request).await.map_err(|it| it.to_string())?;
    let (status, content_type) = (response.status, response.headers.get(CONTENT_TYPE).cloned());
    let body = response.body.bytes().await.map_err(|it| it.to_string())?;
    let answer = Answer::read(content_type.as_ref(), &body);
    let told = |name: &str| answer.0.get(name).filter(|it| !it.is_empty());
    if let Some(error) = told("error").filter(|_| !status.is_success()) {
        let mut text = described(error, told("error_description").map(String::as_str));
        for secret in secrets.iter().filter(|it| !it.is_empty()) {
            text = text.replace(secret, "(secret)");
        }
        return Err(format!("the server answered with the status {status}: {text}"));
    }
    match told("access_token") {
        _ if !status.is_success() => Err(format!("the server answered with the status {status}")),
        Some(token) => Ok(Token::new(token)),
        None => Err("the answer of the server has no access_token".to_owned()),
    }
}

/// The texts in the answer of a token endpoint.
struct Answer(TreeMap<String, String>);

impl Answer {
    /// Reads a form or a JSON object. Empty for anything else.
    fn read(content_type: Option<&HeaderValue>, body: &[u8]) -> Answer {
        let content_type = content_type.and_then(|it| it.to_str().ok()).unwrap_or_default();
        let media_type = content_type.split(';').next().unwrap_or_default().trim();
        if matches!(media_type, "application/x-www-form-urlencoded" | "text/plain") {
            let text = String::from_utf8_lossy(body);
            let pairs = text.split('&').filter_map(|it| it.split_once('='));
            return Answer(pairs.map(|(name, it)| (decoded(name), decoded(it))).collect());
        }
        let all: Map<String, Value> = serde_json::from_slice(body).unwrap_or_default();
        let texts = all.into_iter().filter_map(|(name, it)| match it {
            Value::String(text) => Some((name, text)),
            _ => None,
        });
        Answer(texts.collect())
    }
}

/// The code of an error and its description, without control characters.
fn described(error: &str, description: Option<&str>) -> String {
    let text = match description {
        Some(description) => format!("{error}: {description}"),
        None => error.to_owned(),
    };
    text.chars().filter(|it| !it.is_control()).take(MAX_SHOWN).collect()
}

/// 256 random bits as text, of the characters that RFC 7636 allows in a proof key.
fn random() -> Result<String, String> {
    let mut bytes = [0; 32];
    getrandom::fill(&mut bytes)
        .map_err(|it| format!("this machine has no random numbers: {it}"))?;
    Ok(URL_SAFE_NO_PAD.encode(bytes))
}

/// The characters that a form encodes, beside the space.
const FORM: &AsciiSet =
    &NON_ALPHANUMERIC.remove(b'-').remove(b'_').remove(b'.').remove(b'~').remove(b' ');

/// Encodes names and values as a form (`application/x-www-form-urlencoded`).
fn encoded(values: &[(&str, &str)]) -> String {
    let value = |it| utf8_percent_encode(it, FORM).to_string().replace(' ', "+");
    let pairs = values.iter().map(|(name, it)| format!("{name}={}", value(it)));
    pairs.collect::<Vec<_>>().join("&")
}

fn decoded(value: &str) -> String {
    let value = value.replace('+', " ");
    percent_decode_str(&value).decode_utf8_lossy().into_owned()
}
