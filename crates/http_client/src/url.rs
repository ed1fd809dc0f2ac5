//! URLs of `http` and `https`.

use std::fmt;

use hyper::Uri;

/// An absolute `http` or `https` URL. It has no user information, which becomes
/// [`Credentials`](crate::Credentials), and no fragment.
///
/// `Display` and `Debug` show no query, because a query can contain a token.
#[derive(Clone, PartialEq, Eq)]
pub struct Url(Uri);

/// The reason why a text is not a URL that the client can use, as a sentence fragment. It does not quote the text.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct UrlError(&'static str);

/// The longest accepted URL.
const MAX_BYTES: usize = 8 << 10;

impl Url {
    /// Parses an absolute URL. A fragment is dropped.
    ///
    /// # Errors
    /// Returns a [`UrlError`] for other schemes, for user information, and if the text is not a URL.
    pub fn parse(text: &str) -> Result<Url, UrlError> {
        let text = text.split('#').next().unwrap_or_default();
        if text.len() > MAX_BYTES {
            return Err(UrlError("the URL is too long"));
        }
        let uri: Uri = text.parse().map_err(|_| UrlError("it is not a valid URL"))?;
        let authority = uri.authority().ok_or(UrlError("the URL is not absolute"))?;
        if authority.as_str().contains('@') {
            return Err(UrlError("the URL contains user information"));
        }
        if uri.host().is_none_or(str::is_empty) {
            return Err(UrlError("the URL has no host"));
        }
        match uri.scheme_str() {
            Some("http" | "https") => Ok(Url(uri)),
            _ => Err(UrlError("the scheme of the URL is neither https nor http")),
        }
    }

    /// Resolves a reference, such as the target of a redirect, against this URL. User information is dropped.
    ///
    /// # Errors
    /// Returns the same errors as [`Url::parse`].
    pub fn join(&self, reference: &str) -> Result<Url, UrlError> {
        let reference = reference.split('#').next().unwrap_or_default();
        if has_scheme(reference) {
            return Url::parse(&without_user(reference));
        }
        if reference.starts_with("//") {
            return Url::parse(&without_user(&format!("{}:{reference}", self.scheme())));
        }
        let (path, query) = match reference.split_once('?') {
            Some((path, query)) => (path, Some(query)),
            None => (reference, None),
        };
        let base = self.0.path();
        let joined = match path {
            "" => base.to_owned(),
            _ if path.starts_with('/') => normal_path(path),
            _ => normal_path(&format!("{}{path}", &base[..base.rfind('/').map_or(0, |at| at + 1)])),
        };
        let query = query.or(self.0.query().filter(|_| reference.is_empty()));
        let query = query.map_or_else(String::new, |it| format!("?{it}"));
        Url::parse(&format!("{}://{}{joined}{query}", self.scheme(), self.authority()))
    }

    /// Returns true if the connection to the server is encrypted.
    pub fn is_https(&self) -> bool {
        self.scheme() == "https"
    }

    /// The host, without the brackets of an IPv6 address.
    pub fn host(&self) -> &str {
        host_of(&self.0)
    }

    /// The host in lower case, with its port unless that is the default port of the scheme.
    pub fn host_and_port(&self) -> String {
        let host = self.0.host().unwrap_or_default().to_ascii_lowercase();
        let default = if self.is_https() { 443 } else { 80 };
        match self.port() {
            port if port == default => host,
            port => format!("{host}:{port}"),
        }
    }

    /// The path, which begins with `/`.
    pub fn path(&self) -> &str {
        self.0.path()
    }

    /// The query without its `?`, which can contain a token.
    pub fn query(&self) -> Option<&str> {
        self.0.query()
    }

    /// Returns true if the host is this machine.
    pub fn is_loopback(&self) -> bool {
        let host = self.host();
        host.eq_ignore_ascii_case("localhost")
            || host.parse::<std::net::IpAddr>().is_ok_and(|it| it.is_loopback())
    }

    /// The whole URL with its query, which can contain a token.
    pub fn expose(&self) -> String {
        self.0.to_string()
    }

    /// Returns true if both URLs have the same scheme, host and port.
    pub fn has_origin_of(&self, other: &Url) -> bool {
        self.scheme() == other.scheme()
            && self.host().eq_ignore_ascii_case(other.host())
            && self.port() == other.port()
    }

    pub(crate) fn uri(&self) -> &Uri {
        &self.0
    }

    fn scheme(&self) -> &str {
        self.0.scheme_str().unwrap_or_default()
    }

    fn authority(&self) -> &str {
        self.0.authority().map_or("", |it| it.as_str())
    }

    fn port(&self) -> u16 {
        port_of(&self.0)
    }
}

/// The host of a URI, without the brackets of an IPv6 address.
pub(crate) fn host_of(uri: &Uri) -> &str {
    let host = uri.host().unwrap_or_default();
    host.strip_prefix('[').and_then(|it| it.strip_suffix(']')).unwrap_or(host)
}

/// The port of a URI, or the default port of its scheme.
pub(crate) fn port_of(uri: &Uri) -> u16 {
    uri.port_u16().unwrap_or(if uri.scheme_str() == Some("https") { 443 } else { 80 })
}

/// Returns true if a reference begins with a scheme and a colon.
fn has_scheme(reference: &str) -> bool {
    let is_scheme = |it: &str| {
        it.starts_with(|it: char| it.is_ascii_alphabetic())
            && it.bytes().all(|it| it.is_ascii_alphanumeric() || b"+-.".contains(&it))
    };
    reference.split_once(':').is_some_and(|(scheme, _)| is_scheme(scheme))
}

fn without_user(url: &str) -> String {
    let Some((scheme, rest)) = url.split_once("://") else { return url.to_owned() };
    let end = rest.find(['/', '?']).unwrap_or(rest.len());
    let host = rest[..end].rsplit('@').next().unwrap_or_default();
    format!("{scheme}://{host}{}", &rest[end..])
}

/// Removes `.` and `..` from an absolute path.
fn normal_path(path: &str) -> String {
    let mut parts: Vec<&str> = Vec::new();
    let mut is_directory = false;
    for part in path.split('/').skip(1) {
        is_directory = matches!(part, "." | "..");
        match part {
            "." => {}
            ".." => drop(parts.pop()),
            _ => parts.push(part),
        }
    }
    let end = if is_directory && !parts.is_empty() { "/" } else { "" };
    format!("/{}{end}", parts.join("/"))
}

impl fmt::Display for Url {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}://{}{}", self.scheme(), self.authority(), self.0.path())
    }
}

impl fmt::Debug for Url {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Url({self})")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn url(text: &str) -> Url {
        Url::parse(text).expect("a URL")
    }

    #[test]
    fn displayed_url_has_no_query() {
        assert_eq!(
            url("https://h.example:8443/a?token=x#y").to_string(),
            "https://h.example:8443/a"
        );
        assert_eq!(format!("{:?}", url("https://h.example?token=x")), "Url(https://h.example/)");
    }

    #[test]
    fn invalid_urls_are_refused() {
        for text in ["", "/a", "ftp://h/a", "https://u:p@h/a", "https:///a", "https://h/a b", "h:1"]
        {
            let error = Url::parse(text).expect_err(text).to_string();
            assert!(!error.contains("u:p"), "{error}");
        }
    }

    #[test]
    fn url_references_are_resolved() {
        let base = url("https://h:1/a/b?q=1");
        for (reference, expected) in [
            ("c", "https://h:1/a/c"),
            ("/c?d=/../e", "https://h:1/c?d=/../e"),
            ("../c/./d/..", "https://h:1/c/"),
            ("../../..", "https://h:1/"),
            ("?r=2", "https://h:1/a/b?r=2"),
            ("", "https://h:1/a/b?q=1"),
            ("//u:p@g/c", "https://g/c"),
            ("http://u@g:2/c#d", "http://g:2/c"),
        ] {
            assert_eq!(base.join(reference).expect(reference).0.to_string(), expected);
        }
        for reference in ["file:///etc/passwd", "javascript:x", "//", "https://"] {
            assert!(base.join(reference).is_err(), "{reference}");
        }
    }

    #[test]
    fn host_has_the_port_unless_it_is_the_default() {
        for (text, expected) in [
            ("https://H.example:443/a", "h.example"),
            ("https://h.example:8443", "h.example:8443"),
            ("http://h.example:80/", "h.example"),
            ("https://[::1]:99/", "[::1]:99"),
        ] {
            assert_eq!(url(text).host_and_port(), expected);
        }
        for (text, expected) in [
            ("http://LOCALHOST:1/", true),
            ("http://127.0.0.2/", true),
            ("http://[::1]:9/", true),
            ("http://localhost.example/", false),
        ] {
            assert_eq!(url(text).is_loopback(), expected, "{text}");
        }
    }

    #[test]
    fn an_origin_is_scheme_host_and_port() {
        let base = url("https://h/a");
        assert!(base.has_origin_of(&url("https://H:443/b")));
        for other in ["http://h:443/a", "https://h:444/a", "https://h.example/a"] {
            assert!(!base.has_origin_of(&url(other)), "{other}");
        }
    }
}
