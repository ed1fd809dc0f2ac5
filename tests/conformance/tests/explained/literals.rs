//! String literals in the sources of the crates that look like ids.

use conformance::read_file;

const CRATES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../crates");

/// Crates without user-facing ids: they are for developers, or speak for a provider.
const SILENT: &[&str] = &["xtask", "providers", "provider", "values", "plugin", "addr", "syntax"];

/// A literal and its place.
pub(crate) struct Literal {
    /// The text of the literal.
    pub(crate) text: String,
    /// The place, such as `crates/hir/src/eval/call.rs:12`.
    pub(crate) place: String,
}

/// The literals of all crates, without those in tests.
pub(crate) fn literals() -> Vec<Literal> {
    let mut found = Vec::new();
    for (path, text) in sources(CRATES) {
        let shown = path.split_once("../../").map_or(path.as_str(), |(_, it)| it).to_owned();
        let mut parts = shown.split('/').skip(1);
        let (name, folder) = (parts.next().unwrap_or_default(), parts.next());
        let is_test = shown.contains("/tests/") || shown.ends_with("/tests.rs");
        if folder != Some("src") || SILENT.contains(&name) || is_test {
            continue;
        }
        let code = text.split("#[cfg(test)]\nmod ").next().unwrap_or_default();
        for (index, line) in code.lines().enumerate() {
            let place = format!("{shown}:{}", index + 1);
            let literal = |text: &str| Literal { text: text.to_owned(), place: place.clone() };
            found.extend(line.split('"').filter(|it| is_id(it)).map(literal));
        }
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
