//! String literals of the crates' sources that have the form of an id.

use conformance::read_file;

const CRATES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../crates");

/// Crates that say nothing to a user by an id: they are for developers, or speak as a provider does.
const SILENT: &[&str] = &["xtask", "providers", "provider", "values", "plugin", "addr", "syntax"];

/// A literal and where it stands.
pub(crate) struct Literal {
    /// Its text.
    pub(crate) text: String,
    /// `crates/hir/src/eval/call.rs:12`.
    pub(crate) place: String,
}

/// The literals of all crates, tests left out.
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

/// Words of lower-case letters and digits, at least two, joined with dashes.
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
