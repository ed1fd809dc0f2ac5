//! Proxies, as the environment names them.

use std::fmt;
use std::net::IpAddr;

use hyper::Uri;
use hyper_util::client::proxy::matcher::{Intercept, Matcher};

use crate::url::host_of;

/// The proxies for requests. `Debug` shows no credentials.
pub struct Proxies(Matcher);

/// A setting that does not name a proxy. The text does not contain the value, which can contain a password.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the environment variable {name} does not contain the URL of an HTTP proxy")]
pub struct ProxyError {
    /// The variable.
    pub name: &'static str,
}

impl Proxies {
    /// Uses no proxy.
    pub fn none() -> Proxies {
        Proxies(Matcher::builder().build())
    }

    /// Reads `HTTPS_PROXY`, `HTTP_PROXY` and `NO_PROXY`, or the same names in lower case.
    ///
    /// # Errors
    /// Returns a [`ProxyError`] for a proxy that the client cannot use.
    pub fn from_environment(
        variable: &dyn Fn(&str) -> Option<String>,
    ) -> Result<Proxies, ProxyError> {
        let read = |names: [&'static str; 2]| {
            let mut found = names.into_iter().filter_map(|it| Some((it, variable(it)?)));
            found.find(|(_, value)| !value.is_empty())
        };
        let checked = |names| match read(names) {
            Some((name, value)) if !is_proxy(&value) => Err(ProxyError { name }),
            found => Ok(found.map(|(_, value)| value).unwrap_or_default()),
        };
        // A web server passes the header `Proxy` of a request to CGI programs as HTTP_PROXY.
        let http = match variable("REQUEST_METHOD") {
            Some(_) => String::new(),
            None => checked(["HTTP_PROXY", "http_proxy"])?,
        };
        let https = checked(["HTTPS_PROXY", "https_proxy"])?;
        let no = read(["NO_PROXY", "no_proxy"]).map(|(_, value)| value).unwrap_or_default();
        Ok(Proxies(Matcher::builder().http(http).https(https).no(no).build()))
    }

    /// Returns the proxy for a destination. `None` if the connection is direct, as for every loopback address.
    pub(crate) fn proxy_for(&self, destination: &Uri) -> Option<Intercept> {
        let host = host_of(destination);
        let is_loopback = match host.parse::<IpAddr>() {
            Ok(address) => address.is_loopback(),
            Err(_) => host.eq_ignore_ascii_case("localhost"),
        };
        if is_loopback { None } else { self.0.intercept(destination) }
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
        self.0.fmt(f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn proxies(variables: &[(&str, &str)]) -> Result<Proxies, ProxyError> {
        Proxies::from_environment(&|name| {
            let found = variables.iter().find(|(it, _)| *it == name);
            found.map(|(_, value)| (*value).to_owned())
        })
    }

    #[test]
    fn the_environment_names_proxies_and_exceptions() {
        let proxies = proxies(&[
            ("HTTPS_PROXY", "http://u:p@proxy.example:3128"),
            ("http_proxy", "other.example"),
            ("NO_PROXY", "internal.example, 10.0.0.0/8"),
        ]);
        let proxies = proxies.expect("proxies");
        let shown = format!("{proxies:?}");
        assert!(!shown.contains("u:p"), "{shown}");
        let proxy = |url| {
            let found = proxies.proxy_for(&Uri::from_static(url));
            found.map(|it| it.uri().to_string())
        };
        for (url, expected) in [
            ("https://example.com/", Some("http://proxy.example:3128/")),
            ("http://example.com/", Some("http://other.example/")),
            ("https://a.internal.example/", None),
            ("https://10.1.2.3/", None),
            ("https://localhost:1/", None),
            ("https://127.0.0.1/", None),
            ("https://[::1]/", None),
        ] {
            assert_eq!(proxy(url).as_deref(), expected, "{url}");
        }
    }

    #[test]
    fn a_setting_that_names_no_proxy_is_refused_without_its_value() {
        for value in ["socks5://u:p@h", "ftp://h", "http://u:p@:x", "a b"] {
            let error = proxies(&[("https_proxy", value)]).expect_err(value);
            assert_eq!(error.name, "https_proxy");
            assert!(!error.to_string().contains("u:p"));
        }
        assert!(proxies(&[("https_proxy", "")]).is_ok());
    }

    #[test]
    fn a_cgi_program_ignores_http_proxy() {
        let proxies = proxies(&[("HTTP_PROXY", "http://h"), ("REQUEST_METHOD", "GET")]);
        let found =
            proxies.expect("no proxies").proxy_for(&Uri::from_static("http://example.com/"));
        assert!(found.is_none());
    }
}
