//! Patterns of provider addresses, such as `hashicorp/*` and `registry.example.com/*/*`.

use std::fmt;

use addr::{DEFAULT_HOST, ProviderSource};
use sorted::TreeSet;

/// A provider address in which each part may be `*`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProviderPattern {
    host: Option<String>,
    namespace: Option<String>,
    type_name: Option<String>,
}

impl ProviderPattern {
    /// Parses a pattern. Without a host, it matches the default registry.
    ///
    /// # Errors
    /// Returns a sentence fragment in OpenTofu's wording.
    pub fn parse(text: &str) -> Result<Self, String> {
        let invalid = |cause: &str| format!("invalid provider matching pattern {text:?}: {cause}");
        let (host, namespace, type_name) = match text.split('/').collect::<Vec<_>>()[..] {
            [namespace, type_name] => (DEFAULT_HOST, namespace, type_name),
            [host, namespace, type_name] => (host, namespace, type_name),
            _ => return Err(invalid("must have either two or three slash-separated segments")),
        };
        // Every part without a wildcard must be valid in an address, so let the address parser check it.
        let or =
            |part: &str, stand_in: &str| (if part == "*" { stand_in } else { part }).to_owned();
        let probe =
            format!("{}/{}/{}", or(host, "example.com"), or(namespace, "a"), or(type_name, "b"));
        let source =
            ProviderSource::parse(&probe).map_err(|it| invalid(it.detail.trim_end_matches('.')))?;
        let part = |written: &str, parsed: &str| (written != "*").then(|| parsed.to_owned());
        Ok(Self {
            host: part(host, &source.host),
            namespace: part(namespace, &source.namespace),
            type_name: part(type_name, &source.type_name),
        })
    }

    /// Returns the pattern that matches exactly one provider.
    pub(crate) fn exactly(source: &ProviderSource) -> Self {
        Self {
            host: Some(source.host.to_string()),
            namespace: Some(source.namespace.to_string()),
            type_name: Some(source.type_name.to_string()),
        }
    }

    /// Returns for the host, the namespace and the type whether the patterns allow exactly one.
    pub(crate) fn fixed_parts(patterns: &[ProviderPattern]) -> [bool; 3] {
        let is_fixed = |part: &dyn Fn(&ProviderPattern) -> Option<String>| {
            let parts: TreeSet<Option<String>> = patterns.iter().map(part).collect();
            parts.len() == 1 && !parts.contains(&None)
        };
        [
            is_fixed(&|it| it.host.clone()),
            is_fixed(&|it| it.namespace.clone()),
            is_fixed(&|it| it.type_name.clone()),
        ]
    }

    /// Returns true if an address matches.
    pub fn matches(&self, source: &ProviderSource) -> bool {
        let fits =
            |pattern: &Option<String>, part: &str| pattern.as_deref().is_none_or(|it| it == part);
        fits(&self.host, &source.host)
            && fits(&self.namespace, &source.namespace)
            && fits(&self.type_name, &source.type_name)
    }
}

impl fmt::Display for ProviderPattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let part = |it: &Option<String>| it.clone().unwrap_or_else(|| "*".to_owned());
        write!(f, "{}/{}/{}", part(&self.host), part(&self.namespace), part(&self.type_name))
    }
}
