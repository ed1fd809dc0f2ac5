//! Proxies, as the environment names them.

use std::fmt;
use std::net::IpAddr;

use hyper::Uri;
use hyper_util::client::proxy::matcher::{Intercept, Matcher};

use crate::url::host_of;

/// The proxies for requests. `Debug` shows no credentials.
pub struct Proxies {
    matcher: Matcher,
    /// The invalid settings. They are errors of the requests that need them, and of no others.
    http_error: Option<ProxyError>,
    https_error: Option<ProxyError>,
}

/// A setting that does not name a proxy. The text does not contain the value, which can contain a password.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the environment variable {name} does not contain the URL of an HTTP proxy")]
pub struct ProxyError {
    /// The variable.
    pub name: &'static str,
}

/// Stands for an invalid proxy, so that the exceptions from it are still known.
const INVALID: &str = "http://invalid";

impl Proxies {
    /// Uses no proxy.
    pub fn none() -> Proxies {
        Proxies { matcher: Matcher::builder().build(), http_error: None, https_error: None }
    }

    /// Reads `HTTPS_PROXY`, `HTTP_PROXY` and `NO_PROXY`, or the same names in lower case.
    pub fn from_environment(variable: &dyn Fn(&str) -> Option<String>) -> Proxies {
        let read = |names: [&'static str; 2]| {
            let mut found = names.into_iter().filter_map(|it| Some((it, variable(it)?)));
            found.find(|(_, value)| !value.is_empty())
        };
        let checked = |names| match read(names) {
            Some((name, value)) if !is_proxy(&value) => {
                (INVALID.to_owned(), Some(ProxyError { name }))
            }
            found => (found.map(|(_, value)| value).unwrap_or_default(), None),
        };
        // A web server passes the header `Proxy` of a request to CGI programs as HTTP_PROXY.
        let (http, http_error) = match variable("REQUEST_METHOD") {
            Some(_) => (String::new(), None),
            None => checked(["HTTP_PROXY", "http_proxy"]),
        };
        let (https, https_error) = checked(["HTTPS_PROXY", "https_proxy"]);
        let no = read(["NO_PROXY", "no_proxy"]).map(|(_, value)| value).unwrap_or_default();
        let matcher = Matcher::builder().http(http).https(https).no(no).build();
        Proxies { matcher, http_error, https_error }
    }

    /// Returns the proxy for a destination. `None` if the connection is direct, as for every loopback address.
    ///
    /// # Errors
    /// Returns a [`ProxyError`] for a proxy that the client cannot use.
    pub(crate) fn proxy_for(&self, destination: &Uri) -> Result<Option<Intercept>, ProxyError> {
        let host = host_of(destination);
        let is_loopback = match host.parse::<IpAddr>() {
            Ok(address) => address.is_loopback(),
            Err(_) => host.eq_ignore_ascii_case("localhost"),
        };
        let proxy = if is_loopback { None } else { self.matcher.intercept(destination) };
        let error = match destination.scheme_str() {
            Some("https") => &self.https_error,
            _ => &self.http_error,
        };
        match error {
            Some(error) if proxy.is_some() => Err(error.clone()),
            _ => Ok(proxy),
        }
    }
}

fn is_proxy(value: &str) -> bool {
    let sample = Uri::from_static("https://example.com/");
    let proxy = Matcher::builder().https(value).build().intercept(&sample);
    proxy.is_some_and(|it| {
        let has_host = !host_of(it.uri()).is_empty();
        has_host && matches!(it.uri().scheme_str(), Some("http" | "https"))
    })
}

impl fmt::Debug for Proxies {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.matcher.fmt(f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn proxies(variables: &[(&str, &str)]) -> Proxies {
        Proxies::from_environment(&|name| {
            let found = variables.iter().find(|(it, _)| *it == name);
            found.map(|(_, value)| (*value).to_owned())
        })
    }

    fn proxy(proxies: &Proxies, url: &'static str) -> Option<String> {
        let found = proxies.proxy_for(&Uri::from_static(url)).expect("valid settings");
        found.map(|it| it.uri().to_string())
    }

    #[test]
    fn proxies_and_exceptions_come_from_the_environment() {
        let proxies = proxies(&[
            ("HTTPS_PROXY", "http://u:p@proxy.example:3128"),
            ("http_proxy", "other.example"),
            ("NO_PROXY", "internal.example, 10.0.0.0/8"),
        ]);
        let shown = format!("{proxies:?}");
        assert!(!shown.contains("u:p"), "{shown}");
        for (url, expected) in [
            ("https://example.com/", Some("http://proxy.example:3128/")),
            ("http://example.com/", Some("http://other.example/")),
            ("https://a.internal.example/", None),
            ("https://10.1.2.3/", None),
            ("https://localhost:1/", None),
            ("https://127.0.0.1/", None),
            ("https://[::1]/", None),
        ] {
            assert_eq!(proxy(&proxies, url).as_deref(), expected, "{url}");
        }
    }

    #[test]
    fn invalid_proxy_setting_is_an_error_on_use() {
        for value in ["socks5://u:p@h", "ftp://h", "http://u:p@:x", "a b"] {
            let proxies = proxies(&[("https_proxy", value), ("no_proxy", "h.example")]);
            let error = proxies.proxy_for(&Uri::from_static("https://example.com/"));
            let error = error.expect_err(value);
            assert_eq!(error.name, "https_proxy");
            assert!(!error.to_string().contains("u:p"));
            for url in ["http://example.com/", "https://h.example/", "https://localhost/"] {
                assert_eq!(proxy(&proxies, url), None);
            }
        }
        assert_eq!(proxy(&proxies(&[("https_proxy", "")]), "https://example.com/"), None);
    }

    #[test]
    fn a_cgi_program_ignores_http_proxy() {
        let proxies = proxies(&[("HTTP_PROXY", "http://h"), ("REQUEST_METHOD", "GET")]);
        assert_eq!(proxy(&proxies, "http://example.com/"), None);
    }
}
