//! Names and URLs of buckets and objects.

use http_client::{Error, ErrorKind, Url};
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};

use crate::error::StorageError;

/// The characters that neither a path nor a query may contain as they are (RFC 3986, section 2.3).
const RESERVED: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');

/// The characters that the path of an object may not contain as they are.
const RESERVED_IN_PATH: &AsciiSet = &RESERVED.remove(b'/');

/// Returns true for an answer that denies access.
pub(crate) fn is_denied(error: &Error) -> bool {
    matches!(&error.kind, ErrorKind::Status { status, .. } if matches!(status.as_u16(), 401 | 403))
}

/// Joins a base without a slash at its end, and parts of a path and a query that are encoded already.
pub(crate) fn url(base: &str, path: &str, query: &str) -> Result<Url, StorageError> {
    let query = if query.is_empty() { String::new() } else { format!("?{query}") };
    let url = Url::parse(&format!("{base}{path}{query}"));
    url.map_err(|error| StorageError::Refused(format!("it cannot be requested: {error}")))
}

/// The URL without the slash at its end.
pub(crate) fn base(url: &Url) -> String {
    url.expose().split('?').next().unwrap_or_default().trim_end_matches('/').to_owned()
}

/// Encodes the value of a parameter, or one part of a path.
pub(crate) fn encoded(text: &str) -> String {
    utf8_percent_encode(text, RESERVED).to_string()
}

/// Encodes the name of an object as a path.
pub(crate) fn encoded_path(text: &str) -> String {
    utf8_percent_encode(text, RESERVED_IN_PATH).to_string()
}

/// Returns true if a text can be the name of a bucket. Early ones have capitals and underscores.
pub(crate) fn is_bucket(text: &str) -> bool {
    let is_plain = |it: u8| it.is_ascii_alphanumeric() || b"-_.".contains(&it);
    (3..=255).contains(&text.len()) && text.bytes().all(is_plain) && !text.starts_with('.')
}
