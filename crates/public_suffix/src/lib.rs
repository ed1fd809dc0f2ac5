//! Tells the domains below which strangers register theirs, such as `co.uk`: no server may set cookies for them.
//!
//! The list is code of the library `psl`, ten thousand small functions that the compiler generates in the crate that
//! calls them. They are in this one so that it alone is compiled without optimization (the workspace's `Cargo.toml`).
//!
//! **Invariant:** every domain has an answer, without a network and in a time that its length limits.

/// Returns true if `domain`, in lower case and without a dot at its beginning, is a public suffix: by the list of
/// publicsuffix.org, or as a single label.
pub fn is_public_suffix(domain: &str) -> bool {
    psl::suffix_str(domain).is_some_and(|it| it == domain)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn suffixes_of_registries_and_of_companies_are_public() {
        for domain in ["com", "co.uk", "github.io", "localhost", "xn--p1ai"] {
            assert!(is_public_suffix(domain), "{domain}");
        }
        for domain in ["example.com", "example.co.uk", "a.github.io", "", ".com"] {
            assert!(!is_public_suffix(domain), "{domain}");
        }
    }
}
