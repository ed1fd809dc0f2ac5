//! Uses of rules in the sources of the crates.

use std::collections::BTreeMap;

use conformance::read_file;
use db::Rule;

const CRATES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../crates");

/// Crates without diagnostics of their own: they are for developers, or speak for a provider.
const SILENT: &[&str] = &["xtask", "providers", "provider", "values", "plugin", "addr", "syntax"];

/// Literals that are equal to a code and mean something else.
const OTHER_WORDS: &[&str] = &["force-unlock", "local-exec"];

/// A use of a rule.
pub(crate) struct Use {
    /// The rule.
    pub(crate) rule: Rule,
    /// The place, such as `crates/hir/src/eval/call.rs:12`.
    pub(crate) place: String,
}

/// The uses of rules in all crates, without those in tests and in the table itself.
pub(crate) fn uses() -> Vec<Use> {
    let by_name: BTreeMap<String, Rule> =
        Rule::ALL.iter().map(|it| (format!("{it:?}"), *it)).collect();
    let mut found = Vec::new();
    for (place, line) in lines() {
        for part in line.split("Rule::").skip(1) {
            let name = part.split(|it: char| !it.is_alphanumeric()).next().unwrap_or_default();
            let rule = by_name.get(name);
            found.extend(rule.map(|rule| Use { rule: *rule, place: place.clone() }));
        }
    }
    found
}

/// The places of string literals that are the code of a rule.
pub(crate) fn literals() -> Vec<String> {
    let mut found = Vec::new();
    for (place, line) in lines() {
        let codes = line.split('"').filter(|it| Rule::with_code(it).is_some());
        found.extend(
            codes.filter(|it| !OTHER_WORDS.contains(it)).map(|code| format!("{place}: {code}")),
        );
    }
    found
}

/// The lines of the crates' sources with their places, without tests and without the table of rules.
fn lines() -> Vec<(String, String)> {
    let mut found = Vec::new();
    for (path, text) in sources(CRATES) {
        let shown = path.split_once("../../").map_or(path.as_str(), |(_, it)| it).to_owned();
        let mut parts = shown.split('/').skip(1);
        let (name, folder) = (parts.next().unwrap_or_default(), parts.next());
        let is_test = shown.contains("/tests/") || shown.ends_with("/tests.rs");
        let is_table = shown.contains("/db/src/rules/") || shown.contains("/generated/");
        if folder != Some("src") || SILENT.contains(&name) || is_test || is_table {
            continue;
        }
        let code = text.split("#[cfg(test)]\nmod tests {").next().unwrap_or_default();
        let lines = code.lines().enumerate();
        found.extend(lines.map(|(at, line)| (format!("{shown}:{}", at + 1), line.to_owned())));
    }
    found
}

/// Returns true for at least two words of lower-case letters and digits that are joined with dashes.
pub(crate) fn is_id(text: &str) -> bool {
    let is_word = |word: &str| {
        !word.is_empty() && word.bytes().all(|it| it.is_ascii_lowercase() || it.is_ascii_digit())
    };
    text.contains('-')
        && text.starts_with(|it: char| it.is_ascii_lowercase())
        && text.split('-').all(is_word)
}

fn sources(directory: &str) -> Vec<(String, String)> {
    conformance::files_below(directory, "rs")
        .into_iter()
        .map(|path| {
            let text = read_file(&path);
            (path, text)
        })
        .collect()
}
