//! The place where a client keeps cookies.

use std::fmt::Debug;

use hyper::header::{COOKIE, HeaderMap, HeaderValue};

use crate::url::Url;

/// A store of cookies. The client asks it at each step of a redirect, so that each server gets only its own cookies.
pub trait CookieStore: Debug + Send + Sync {
    /// Returns the `Cookie` header of a request to a URL. `None` if there is no cookie for it.
    fn cookies(&self, url: &Url) -> Option<HeaderValue>;

    /// Takes the cookies that the headers of an answer set.
    fn receive(&self, url: &Url, headers: &HeaderMap);
}

/// Adds the cookies of the store to those that a request names itself.
pub(crate) fn add(headers: &mut HeaderMap, stored: HeaderValue) {
    let joined = match headers.get(COOKIE) {
        Some(own) => [own.as_bytes(), b"; ", stored.as_bytes()].concat(),
        None => stored.as_bytes().to_vec(),
    };
    if let Ok(mut value) = HeaderValue::from_bytes(&joined) {
        value.set_sensitive(true);
        headers.insert(COOKIE, value);
    }
}
