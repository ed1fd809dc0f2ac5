//! Credentials of a request.

use std::fmt;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use hyper::header::HeaderValue;
use percent_encoding::percent_decode_str;

/// The `Authorization` header of a request. `Debug` does not show it.
#[derive(Clone)]
pub struct Credentials(HeaderValue);

impl Credentials {
    /// Creates credentials from a bearer token. `None` if a header cannot contain the token.
    pub fn bearer(token: &str) -> Option<Credentials> {
        Credentials::with_scheme("Bearer", token)
    }

    /// Creates credentials from a token of another scheme. `None` if a header cannot contain them.
    pub fn with_scheme(scheme: &str, token: &str) -> Option<Credentials> {
        Credentials::new(format!("{scheme} {token}"))
    }

    /// Creates credentials from a user and a password.
    pub fn basic(user: &[u8], password: &[u8]) -> Option<Credentials> {
        let pair = [user, b":", password].concat();
        Credentials::new(format!("Basic {}", STANDARD.encode(pair)))
    }

    /// Splits the user information from a URL: `https://user:password@host/`.
    pub fn split_from(url: &str) -> (String, Option<Credentials>) {
        let Some((scheme, rest)) = url.split_once("://") else { return (url.to_owned(), None) };
        let end = rest.find(['/', '?', '#']).unwrap_or(rest.len());
        let Some((user, host)) = rest[..end].rsplit_once('@') else {
            return (url.to_owned(), None);
        };
        let (user, password) = user.split_once(':').unwrap_or((user, ""));
        let decoded = |it| percent_decode_str(it).collect::<Vec<u8>>();
        let credentials = Credentials::basic(&decoded(user), &decoded(password));
        (format!("{scheme}://{host}{}", &rest[end..]), credentials)
    }

    /// The part behind the scheme, such as a token, for a search in texts that must not show it.
    pub fn parameter(&self) -> &str {
        let text = self.0.to_str().unwrap_or_default();
        text.split_once(' ').map_or(text, |(_, parameter)| parameter)
    }

    pub(crate) fn header(&self) -> HeaderValue {
        self.0.clone()
    }

    fn new(text: String) -> Option<Credentials> {
        let mut value = HeaderValue::try_from(text).ok()?;
        value.set_sensitive(true);
        Some(Credentials(value))
    }
}

impl fmt::Debug for Credentials {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Credentials")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn url_user_information_becomes_an_authorization_header() {
        let (url, credentials) = Credentials::split_from("https://us%40er:p%3Aw@h:1/a@b?c=@d");
        assert_eq!(url, "https://h:1/a@b?c=@d");
        let header = credentials.expect("credentials").header();
        assert_eq!(header, format!("Basic {}", STANDARD.encode("us@er:p:w")));
        assert!(header.is_sensitive());
        assert!(Credentials::split_from("https://h/a@b").1.is_none());
    }

    #[test]
    fn debug_output_shows_no_secret() {
        let credentials = Credentials::bearer("t0ken").expect("a token");
        assert_eq!(format!("{credentials:?}"), "Credentials");
        assert!(Credentials::bearer("a\nb").is_none());
    }
}
