//! The cookies of one configured provider (RFC 6265).

use std::fmt;
use std::net::IpAddr;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, SystemTime};

use cookie::Cookie;
use http_client::header::{HeaderMap, HeaderValue, SET_COOKIE};
use http_client::{CookieStore, Url};
use public_suffix::is_public_suffix;

/// The largest accepted cookie, in bytes.
const MAX_BYTES: usize = 4096;

/// The largest number of cookies that a jar keeps. Further ones replace the oldest.
const MAX_COOKIES: usize = 300;

/// The cookies that servers have set. `Debug` does not show them.
#[derive(Default)]
pub struct CookieJar(Mutex<Vec<StoredCookie>>);

impl fmt::Debug for CookieJar {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("CookieJar")
    }
}

struct StoredCookie {
    name: String,
    value: String,
    domain: String,
    /// True if subdomains get the cookie too.
    has_subdomains: bool,
    path: String,
    is_secure: bool,
    /// `None` for a cookie that lasts as long as the jar.
    expires: Option<SystemTime>,
}

impl CookieStore for CookieJar {
    fn cookies(&self, url: &Url) -> Option<HeaderValue> {
        let mut stored = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let now = SystemTime::now();
        stored.retain(|it| it.expires.is_none_or(|end| now < end));
        let host = url.host().to_ascii_lowercase();
        let mut matching: Vec<_> = stored.iter().filter(|it| it.is_for(&host, url)).collect();
        // Cookies of longer paths come first.
        sorted::sort_by_key(&mut matching, |it| std::cmp::Reverse(it.path.len()));
        let pairs: Vec<String> =
            matching.iter().map(|it| format!("{}={}", it.name, it.value)).collect();
        if pairs.is_empty() {
            return None;
        }
        HeaderValue::from_str(&pairs.join("; ")).ok()
    }

    fn receive(&self, url: &Url, headers: &HeaderMap) {
        let mut stored = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let now = SystemTime::now();
        for header in headers.get_all(SET_COOKIE) {
            let Some(new) = header.to_str().ok().and_then(|it| StoredCookie::read(it, url, now))
            else {
                continue;
            };
            stored.retain(|it| !it.is_replaced_by(&new));
            if new.expires.is_none_or(|end| now < end) {
                stored.push(new);
            }
            if stored.len() > MAX_COOKIES {
                stored.remove(0);
            }
        }
    }
}

impl StoredCookie {
    /// Reads a `Set-Cookie` header. `None` if the cookie is malformed, or if the server must not set it.
    fn read(header: &str, url: &Url, now: SystemTime) -> Option<StoredCookie> {
        if header.len() > MAX_BYTES {
            return None;
        }
        let parsed = Cookie::parse(header).ok()?;
        let host = url.host().to_ascii_lowercase();
        let domain = parsed.domain().map(|it| it.trim_start_matches('.').to_ascii_lowercase());
        let domain = domain.filter(|it| !it.is_empty());
        let has_subdomains = match &domain {
            None => false,
            // A host that is itself a public suffix may have cookies of its own.
            Some(domain) if *domain == host => !is_public_suffix(domain) && !is_address(domain),
            Some(domain) if is_public_suffix(domain) || !is_below(&host, domain) => return None,
            Some(_) => true,
        };
        let is_secure = parsed.secure() == Some(true);
        if is_secure && !url.is_https() && !url.is_loopback() {
            return None;
        }
        let path = parsed.path().filter(|it| it.starts_with('/'));
        Some(StoredCookie {
            name: parsed.name().to_owned(),
            value: parsed.value().to_owned(),
            domain: if has_subdomains { domain? } else { host },
            has_subdomains,
            path: path.unwrap_or_else(|| default_path(url.path())).to_owned(),
            is_secure,
            expires: expiry(&parsed, now),
        })
    }

    fn is_for(&self, host: &str, url: &Url) -> bool {
        let is_host = self.domain == host || self.has_subdomains && is_below(host, &self.domain);
        let path = url.path();
        let is_path = path.strip_prefix(&*self.path).is_some_and(|rest| {
            rest.is_empty() || self.path.ends_with('/') || rest.starts_with('/')
        });
        let is_safe = !self.is_secure || url.is_https() || url.is_loopback();
        is_host && is_path && is_safe
    }

    fn is_replaced_by(&self, new: &StoredCookie) -> bool {
        self.name == new.name && self.domain == new.domain && self.path == new.path
    }
}

/// Returns the end of a cookie. `Max-Age` wins over `Expires`. `None` for a cookie that does not expire.
fn expiry(cookie: &Cookie<'_>, now: SystemTime) -> Option<SystemTime> {
    if let Some(age) = cookie.max_age() {
        let seconds = u64::try_from(age.whole_seconds()).unwrap_or(0);
        return now.checked_add(Duration::from_secs(seconds));
    }
    let seconds = cookie.expires_datetime()?.unix_timestamp();
    let seconds = u64::try_from(seconds).unwrap_or(0);
    SystemTime::UNIX_EPOCH.checked_add(Duration::from_secs(seconds))
}

fn is_address(host: &str) -> bool {
    host.parse::<IpAddr>().is_ok()
}

/// Returns true if a host is a subdomain of a domain. Addresses have no subdomains.
fn is_below(host: &str, domain: &str) -> bool {
    let is_below = host.strip_suffix(domain).is_some_and(|it| it.ends_with('.'));
    is_below && !is_address(host)
}

/// The folder of the path of a URL.
fn default_path(path: &str) -> &str {
    match path.rfind('/') {
        None | Some(0) => "/",
        Some(end) => &path[..end],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn url(text: &str) -> Url {
        Url::parse(text).expect("a URL")
    }

    /// Sets cookies from one URL, and returns those for another.
    fn sent(from: &str, cookies: &[&str], to: &str) -> String {
        let jar = CookieJar::default();
        let values = cookies.iter().map(|it| HeaderValue::from_str(it).expect("a value"));
        let headers = HeaderMap::from_iter(values.map(|it| (SET_COOKIE, it)));
        jar.receive(&url(from), &headers);
        let header = jar.cookies(&url(to));
        header.map(|it| it.to_str().expect("text").to_owned()).unwrap_or_default()
    }

    #[test]
    fn cookie_returns_to_its_host_and_path() {
        let from = "https://a.example.com/v1/login";
        for (cookie, to, expected) in [
            ("s=1", "https://a.example.com/v1/x", "s=1"),
            ("s=1", "https://A.example.com/v1", "s=1"),
            ("s=1", "https://a.example.com/v10", ""),
            ("s=1", "https://b.a.example.com/v1/x", ""),
            ("s=1; Path=/", "https://a.example.com/", "s=1"),
            ("s=1; Domain=example.com; Path=/", "https://b.example.com/", "s=1"),
            ("s=1; Domain=example.com; Path=/", "https://badexample.com/", ""),
            ("s=1; Path=/", "http://a.example.com/", "s=1"),
            ("s=1; Path=/; Secure", "http://a.example.com/", ""),
        ] {
            assert_eq!(sent(from, &[cookie], to), expected, "{cookie} to {to}");
        }
    }

    #[test]
    fn cookie_of_a_foreign_or_public_domain_is_refused() {
        for domain in ["other.com", "com", "co.uk", "b.a.example.co.uk", "github.io"] {
            let cookie = format!("s=1; Domain={domain}; Path=/");
            for from in ["https://a.example.co.uk/", "https://a.github.io/", "https://127.0.0.1/"] {
                assert_eq!(sent(from, &[&cookie], from), "", "{domain}");
            }
        }
    }

    #[test]
    fn later_cookie_replaces_or_removes_an_earlier_one() {
        let host = "https://a.example.com/";
        assert_eq!(sent(host, &["s=1", "s=2", "t=3"], host), "s=2; t=3");
        for end in ["Max-Age=0", "Expires=Wed, 21-Oct-2015 07:28:00 GMT", "Max-Age=-1"] {
            assert_eq!(sent(host, &["s=1", &format!("s=2; {end}")], host), "", "{end}");
        }
        let both = "s=1; Max-Age=60; Expires=Wed, 21 Oct 2015 07:28:00 GMT";
        assert_eq!(sent(host, &[both], host), "s=1");
    }

    #[test]
    fn hostile_cookies_are_ignored_and_counted() {
        let host = "https://a.example.com/";
        let long = format!("s={}", "x".repeat(MAX_BYTES));
        assert_eq!(sent(host, &[&long, "", "=", ";;;", "s"], host), "");
        let many: Vec<String> = (0..MAX_COOKIES + 5).map(|it| format!("c{it}=1")).collect();
        let many: Vec<&str> = many.iter().map(String::as_str).collect();
        let kept = sent(host, &many, host);
        assert_eq!(kept.split("; ").count(), MAX_COOKIES);
        assert!(!kept.contains("c4=1") && kept.contains("c5=1"));
    }
}
