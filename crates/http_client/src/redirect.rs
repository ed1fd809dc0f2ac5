//! Redirects: the places that the client follows to, and the parts of a request that it takes along.

use bytes::Bytes;
use hyper::header::{
    CONTENT_ENCODING, CONTENT_LANGUAGE, CONTENT_LOCATION, CONTENT_TYPE, HeaderMap, HeaderValue,
    LOCATION,
};
use hyper::{Method, StatusCode};

use crate::client::Request;
use crate::error::ErrorKind;

/// The longest chain of redirects.
pub(crate) const MOST: usize = 10;

/// Returns the request that follows an answer. `None` if the answer is not a redirect.
///
/// # Errors
/// Returns an error if the client does not follow to the place.
pub(crate) fn next(
    request: &Request,
    status: StatusCode,
    headers: &HeaderMap<HeaderValue>,
) -> Result<Option<Request>, ErrorKind> {
    if !matches!(status.as_u16(), 301 | 302 | 303 | 307 | 308) {
        return Ok(None);
    }
    let refused = |why: &str| ErrorKind::Redirect(why.to_owned());
    let location = headers.get(LOCATION).ok_or_else(|| refused("it does not say where to"))?;
    let location = location.to_str().map_err(|_| refused("it is not a valid URL"))?;
    let url = request.url.join(location).map_err(|error| refused(&error.to_string()))?;
    if request.url.is_https() && !url.is_https() {
        return Err(refused(&format!("it leads to {url}, which is not encrypted")));
    }
    let mut next = Request { url, ..request.clone() };
    let becomes_get = match status.as_u16() {
        303 => request.method != Method::HEAD,
        301 | 302 => request.method == Method::POST,
        _ => false,
    };
    if becomes_get {
        (next.method, next.body) = (Method::GET, Bytes::new());
        for about_body in [CONTENT_TYPE, CONTENT_ENCODING, CONTENT_LANGUAGE, CONTENT_LOCATION] {
            next.headers.remove(about_body);
        }
    }
    if !next.url.has_origin_of(&request.url) {
        if !next.body.is_empty() {
            return Err(refused(&format!(
                "it would send the content of the request to {}",
                next.url
            )));
        }
        // Any header can hold a key.
        (next.credentials, next.headers) = (None, HeaderMap::new());
    }
    Ok(Some(next))
}
