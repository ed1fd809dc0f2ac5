//! Builds one request: its URL, query, headers and body.

use std::collections::BTreeMap;
use std::fmt;

use bytes::Bytes;
use http_client::header::{
    ACCEPT, CONNECTION, CONTENT_LENGTH, CONTENT_TYPE, COOKIE, HeaderName, HeaderValue, TE, TRAILER,
    TRANSFER_ENCODING, UPGRADE,
};
use http_client::{HeaderMap, Method, Request, Url};
use percent_encoding::{AsciiSet, CONTROLS, percent_decode_str, utf8_percent_encode};

use super::settings::{ApiKey, BaseUrl, Headers, KeyPlace, Query};
use crate::restful::expression::functions::query_escape;

/// The largest accepted body of an answer, in bytes.
pub const MAX_ANSWER_BYTES: u64 = 64 << 20;

/// A call of the API, before the settings of the provider are added. `Debug` shows the method only, because paths,
/// headers and bodies can contain secrets.
#[derive(Clone)]
pub struct Call {
    /// The method.
    pub method: Method,
    /// The path below the base URL, or an absolute URL. It can contain a query.
    pub path: String,
    /// Further parameters of the query: the result of [`innermost`].
    pub query: Query,
    /// The headers: the result of [`innermost`].
    pub headers: Headers,
    /// The body. It is not sent with `GET`, `HEAD` and `OPTIONS`.
    pub body: Option<Bytes>,
    /// The rule for the header `Content-Type`.
    pub content_type: DefaultContentType,
}

/// The calls that have `Content-Type: application/json` if their headers name no other type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DefaultContentType {
    /// All: creations, updates and operations.
    Always,
    /// Calls with a body: deletions and reads by `POST`.
    WithBody,
    /// None: reads.
    Never,
}

impl Call {
    /// Creates a read without query and headers.
    pub fn get(path: impl Into<String>) -> Call {
        Call {
            method: Method::GET,
            path: path.into(),
            query: Query::new(),
            headers: Headers::new(),
            body: None,
            content_type: DefaultContentType::Never,
        }
    }
}

impl fmt::Debug for Call {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Call({})", self.method)
    }
}

/// An error in the parts of a request. It quotes no value.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BuildError {
    /// The path and the base URL make no URL.
    #[error("the path of the request makes no valid URL: {0}")]
    Url(String),
    /// A header has an invalid name or value.
    #[error("the header {0:?} has an invalid name or value")]
    Header(String),
    /// The connection sets this header.
    #[error("the header {0:?} cannot be set, because it belongs to the connection")]
    ReservedHeader(String),
    /// The credentials contain characters that a header cannot contain.
    #[error("the credentials contain characters that a header cannot contain")]
    Credentials,
    /// The request would carry credentials without encryption.
    #[error("the path of the request leads to {0}, which is not encrypted, unlike `base_url`")]
    Unencrypted(String),
    /// The body cannot be sent as a form.
    #[error("the body of a form must be an object of strings")]
    Form,
}

/// Returns the innermost map that is not empty: a map replaces those of outer levels as a whole. The levels are those
/// of the provider, the resource and the operation, in this order.
pub fn innermost<V: Clone>(levels: &[Option<&BTreeMap<String, V>>]) -> BTreeMap<String, V> {
    let found = levels.iter().rev().flatten().find(|it| !it.is_empty());
    found.map(|it| (*it).clone()).unwrap_or_default()
}

/// Builds the request of a call, with the keys of the API.
///
/// # Errors
/// Returns a [`BuildError`] if a part of the call is invalid.
pub fn build(call: &Call, base: &BaseUrl, keys: &[ApiKey]) -> Result<Request, BuildError> {
    let url = url(call, base, keys)?;
    if base.url.is_https() && !url.is_https() {
        return Err(BuildError::Unencrypted(url.to_string()));
    }
    let mut request = Request::get(url, MAX_ANSWER_BYTES);
    request.method = call.method.clone();
    request.headers = headers(&call.headers)?;
    let has_no_body = [Method::GET, Method::HEAD, Method::OPTIONS].contains(&call.method);
    request.body = call.body.clone().filter(|_| !has_no_body).unwrap_or_default();
    add_types(&mut request, call.content_type);
    add_keys(&mut request.headers, keys)?;
    Ok(request)
}

/// Characters that servers and clients refuse in a path. `%` stays, because the path can be encoded already.
const IN_PATH: &AsciiSet = &CONTROLS.add(b' ').add(b'"').add(b'<').add(b'>').add(b'`').add(b'{');
const IN_URL: &AsciiSet = &IN_PATH.add(b'}').add(b'|').add(b'\\').add(b'^');

fn url(call: &Call, base: &BaseUrl, keys: &[ApiKey]) -> Result<Url, BuildError> {
    let whole = call.path.split('#').next().unwrap_or_default();
    let (path, own_query) = whole.split_once('?').unwrap_or((whole, ""));
    let prefix = if is_absolute(path) { "" } else { &base.prefix };
    let slash =
        if prefix.is_empty() || path.is_empty() || path.starts_with('/') { "" } else { "/" };
    let mut text = format!("{prefix}{slash}{}", utf8_percent_encode(path, IN_URL));
    let is_named = |name: &str| call.query.contains_key(name) || has_parameter(own_query, name);
    let mut query = call.query.clone();
    for key in keys.iter().filter(|it| it.place == KeyPlace::Query && !is_named(&it.name)) {
        query.entry(key.name.clone()).or_default().push(key.value.reveal().to_owned());
    }
    let own_query = utf8_percent_encode(own_query, IN_URL).to_string();
    let parts = [own_query, encode_form(&query)];
    let parts: Vec<&str> = parts.iter().map(String::as_str).filter(|it| !it.is_empty()).collect();
    if !parts.is_empty() {
        text = format!("{text}?{}", parts.join("&"));
    }
    Url::parse(&text).map_err(|error| BuildError::Url(error.to_string()))
}

/// Returns true if a path begins with a scheme.
fn is_absolute(path: &str) -> bool {
    path.split_once("://").is_some_and(|(scheme, _)| {
        !scheme.is_empty()
            && scheme.bytes().all(|it| it.is_ascii_alphanumeric() || b"+-.".contains(&it))
    })
}

fn has_parameter(query: &str, name: &str) -> bool {
    decode_form(query).contains_key(name)
}

/// Decodes the query of a URL.
pub fn decode_form(query: &str) -> Query {
    let mut decoded = Query::new();
    for pair in query.split('&').filter(|it| !it.is_empty()) {
        let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
        let text = |it: &str| {
            let spaces = it.replace('+', " ");
            percent_decode_str(&spaces).decode_utf8_lossy().into_owned()
        };
        decoded.entry(text(name)).or_default().push(text(value));
    }
    decoded
}

/// Encodes parameters as a form or a query, sorted by name.
pub fn encode_form(query: &Query) -> String {
    let pairs = query.iter().flat_map(|(name, values)| values.iter().map(move |it| (name, it)));
    let pairs =
        pairs.map(|(name, value)| format!("{}={}", query_escape(name), query_escape(value)));
    pairs.collect::<Vec<_>>().join("&")
}

/// The type of bodies that are sent as forms.
pub const FORM: &str = "application/x-www-form-urlencoded";

/// Encodes the body of an operation: as a form if the headers name exactly that type, else unchanged.
///
/// # Errors
/// Returns [`BuildError::Form`] if the body of a form is not a JSON object of strings.
pub fn operation_body(headers: &Headers, json: Bytes) -> Result<Bytes, BuildError> {
    let is_form = |(name, value): (&String, &String)| {
        name.eq_ignore_ascii_case(CONTENT_TYPE.as_str()) && value == FORM
    };
    if json.is_empty() || !headers.iter().any(is_form) {
        return Ok(json);
    }
    let fields: BTreeMap<String, String> =
        serde_json::from_slice(&json).map_err(|_| BuildError::Form)?;
    let fields = fields.into_iter().map(|(name, value)| (name, vec![value])).collect();
    Ok(encode_form(&fields).into())
}

fn headers(configured: &Headers) -> Result<HeaderMap, BuildError> {
    let mut headers = HeaderMap::new();
    for (name, value) in configured {
        let invalid = || BuildError::Header(name.clone());
        let key = HeaderName::from_bytes(name.as_bytes()).map_err(|_| invalid())?;
        if [CONNECTION, CONTENT_LENGTH, TE, TRAILER, TRANSFER_ENCODING, UPGRADE].contains(&key) {
            return Err(BuildError::ReservedHeader(name.clone()));
        }
        let mut value = HeaderValue::from_bytes(value.as_bytes()).map_err(|_| invalid())?;
        // Any header can contain a key.
        value.set_sensitive(true);
        headers.insert(key, value);
    }
    Ok(headers)
}

fn add_types(request: &mut Request, rule: DefaultContentType) {
    let headers = &mut request.headers;
    let has_default = match rule {
        DefaultContentType::Always => true,
        DefaultContentType::WithBody => !request.body.is_empty(),
        DefaultContentType::Never => false,
    };
    if has_default && !headers.contains_key(CONTENT_TYPE) {
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    }
    if let Some(of_body) = headers.get(CONTENT_TYPE).cloned()
        && is_structured(&of_body)
    {
        headers.entry(ACCEPT).or_insert(of_body);
    }
}

/// Returns true for the types of JSON and XML.
fn is_structured(of_body: &HeaderValue) -> bool {
    let text = String::from_utf8_lossy(of_body.as_bytes()).to_ascii_lowercase();
    let (class, subtype) =
        text.split(';').next().unwrap_or_default().split_once('/').unwrap_or_default();
    ["application", "text"].contains(&class.trim())
        && (subtype.contains("json") || subtype.contains("xml"))
}

/// Adds the keys in headers and cookies, unless the call has a header or cookie of the same name.
fn add_keys(headers: &mut HeaderMap, keys: &[ApiKey]) -> Result<(), BuildError> {
    for key in keys {
        let (name, value) = (key.name.as_str(), key.value.reveal());
        let invalid = || BuildError::Header(name.to_owned());
        let (header, text) = match key.place {
            KeyPlace::Query => continue,
            KeyPlace::Header => {
                (HeaderName::from_bytes(name.as_bytes()).map_err(|_| invalid())?, value.to_owned())
            }
            // A semicolon would begin another cookie.
            KeyPlace::Cookie if name.contains([';', '=']) || value.contains(';') => {
                return Err(invalid());
            }
            KeyPlace::Cookie => match with_cookie(headers.get(COOKIE), name, value) {
                Some(cookies) => (COOKIE, cookies),
                None => continue,
            },
        };
        let is_named = key.place == KeyPlace::Header && headers.contains_key(&header);
        let mut value = HeaderValue::from_bytes(text.as_bytes()).map_err(|_| invalid())?;
        value.set_sensitive(true);
        if !is_named {
            headers.insert(header, value);
        }
    }
    Ok(())
}

/// Adds a cookie to a `Cookie` header. `None` if the header has a cookie of that name.
fn with_cookie(header: Option<&HeaderValue>, name: &str, value: &str) -> Option<String> {
    let present = header.map(|it| String::from_utf8_lossy(it.as_bytes()).into_owned());
    let Some(present) = present else { return Some(format!("{name}={value}")) };
    let mut names = present.split(';').map(|it| it.split('=').next().unwrap_or_default().trim());
    match names.any(|it| it == name) {
        true => None,
        false => Some(format!("{present}; {name}={value}")),
    }
}

#[cfg(test)]
mod tests;
