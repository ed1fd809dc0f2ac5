//! URLs as they are shown.

/// Removes user, password and query from a URL, because they may be secret.
pub(crate) fn without_secrets(url: &str) -> String {
    let url = url.split(['?', '#']).next().unwrap_or_default();
    let (scheme, rest) = url.split_once("://").map_or(("", url), |(scheme, rest)| (scheme, rest));
    let (authority, path) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
    let host = authority.rsplit_once('@').map_or(authority, |(_, host)| host);
    let scheme = if scheme.is_empty() { String::new() } else { format!("{scheme}://") };
    format!("{scheme}{host}{path}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn urls_are_shown_without_user_and_query() {
        for (url, shown) in [
            ("https://u:p@ss@m.example.com/v1/?token=x#y", "https://m.example.com/v1/"),
            ("https://m.example.com?token=x", "https://m.example.com"),
            ("https://m.example.com/a@b/", "https://m.example.com/a@b/"),
            ("u:p@m.example.com/${namespace}", "m.example.com/${namespace}"),
        ] {
            assert_eq!(without_secrets(url), shown);
        }
    }
}
