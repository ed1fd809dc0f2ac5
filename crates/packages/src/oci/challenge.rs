//! The challenge with which a registry asks for credentials: `WWW-Authenticate`.

use http_client::header::{HeaderMap, WWW_AUTHENTICATE};
use sorted::TreeMap;

/// A way to log in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Challenge {
    /// User and password with each request.
    Basic,
    /// A token of the service at `realm`.
    Bearer { realm: String, service: Option<String>, scope: Option<String> },
}

impl Challenge {
    /// Returns the challenge that is understood, of several one for a token. `None` if there is none.
    pub(super) fn of(headers: &HeaderMap) -> Option<Challenge> {
        let texts = headers.get_all(WWW_AUTHENTICATE).iter().filter_map(|it| it.to_str().ok());
        let found: Vec<Challenge> = texts.filter_map(parse).collect();
        found.iter().find(|it| **it != Challenge::Basic).or(found.first()).cloned()
    }
}

fn parse(text: &str) -> Option<Challenge> {
    // One header may have several challenges.
    if let Some(at) = text.to_ascii_lowercase().find(", bearer ") {
        return parse(&text[at + 2..]);
    }
    let (scheme, rest) = text.trim().split_once(' ').unwrap_or((text.trim(), ""));
    if scheme.eq_ignore_ascii_case("basic") {
        return Some(Challenge::Basic);
    }
    if !scheme.eq_ignore_ascii_case("bearer") {
        return None;
    }
    let mut parameters = parameters(rest);
    let realm = parameters.remove("realm")?;
    let (service, scope) = (parameters.remove("service"), parameters.remove("scope"));
    Some(Challenge::Bearer { realm, service, scope })
}

/// The parameters `name="value"`, with commas between them that may also stand in values.
fn parameters(text: &str) -> TreeMap<String, String> {
    let mut found = TreeMap::new();
    let mut rest = text;
    while let Some((name, after)) = rest.split_once('=') {
        let name = name.trim_matches([' ', ',', '\t']).to_ascii_lowercase();
        let (value, behind) = match after.strip_prefix('"') {
            Some(quoted) => quoted.split_once('"').unwrap_or((quoted, "")),
            None => after.split_once(',').unwrap_or((after, "")),
        };
        found.insert(name, value.trim().to_owned());
        rest = behind;
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn challenge_has_a_realm_or_is_basic() {
        let bearer = |realm: &str, service: Option<&str>, scope: Option<&str>| {
            let (service, scope) = (service.map(str::to_owned), scope.map(str::to_owned));
            Some(Challenge::Bearer { realm: realm.to_owned(), service, scope })
        };
        for (text, expected) in [
            ("Basic realm=\"x\"", Some(Challenge::Basic)),
            (
                "Bearer realm=\"https://a/token\",service=\"r\",scope=\"repository:a/b:pull,push\"",
                bearer("https://a/token", Some("r"), Some("repository:a/b:pull,push")),
            ),
            ("bearer service=r, realm=https://a/t", bearer("https://a/t", Some("r"), None)),
            ("Bearer realm=\"https://a", bearer("https://a", None, None)),
            ("Basic realm=\"x\", Bearer realm=\"https://a/t\"", bearer("https://a/t", None, None)),
            ("Bearer scope=\"x\"", None),
            ("Negotiate", None),
            ("", None),
        ] {
            assert_eq!(parse(text), expected, "{text}");
        }
    }
}
