//! Uses of rules in the sources of the crates.

use std::collections::{BTreeMap, BTreeSet};

use conformance::read_file;
use db::Rule;

const CRATES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../crates");

/// Crates without diagnostics of their own: they are for developers, or speak for a provider.
const SILENT: &[&str] =
    &["xtask", "providers", "provider", "sdk", "values", "plugin", "addr", "syntax"];

/// Crates that read a text and explain its faults in words of their own. They cannot see the table.
const READERS: &[&str] = &["packages", "state", "backend"];

/// Literals that are equal to a code or a summary and mean something else.
const OTHER_WORDS: &[&str] = &["force-unlock", "local-exec"];

/// A use of a rule.
pub(crate) struct Use {
    /// The rule.
    pub(crate) rule: Rule,
    /// The entry in the row of the rule.
    pub(crate) entry: &'static str,
    /// The place, such as `crates/hir/src/eval/call.rs:12`.
    pub(crate) place: String,
}

/// The uses of the table's entries in all crates, without those in tests and in the table itself.
pub(crate) fn uses() -> Vec<Use> {
    let entry = |rule: Rule| rule.lines().iter().map(move |line| (line.name, rule));
    let by_name: BTreeMap<&'static str, Rule> =
        Rule::ALL.iter().flat_map(|it| entry(*it)).collect();
    let mut found = Vec::new();
    for (place, line) in lines() {
        for part in line.split("Summary::").skip(1) {
            let name = part.split(|it: char| !is_word(it)).next().unwrap_or_default();
            let Some((entry, rule)) = by_name.get_key_value(name) else { continue };
            found.push(Use { rule: *rule, entry, place: place.clone() });
        }
    }
    found
}

fn is_word(letter: char) -> bool {
    letter.is_alphanumeric() || letter == '_'
}

/// The places of string literals that are the code of a rule or the text of a summary.
pub(crate) fn literals() -> Vec<String> {
    let lines_of_rules = || Rule::ALL.iter().flat_map(|it| it.lines());
    let own = lines_of_rules().filter(|it| it.examples.is_empty() && !it.text.contains('{'));
    let texts: BTreeSet<String> = own.map(|it| it.text.replace('"', "\\\"")).collect();
    let mut found = Vec::new();
    for (place, line) in lines() {
        let is_reader = READERS.iter().any(|it| place.starts_with(&format!("crates/{it}/")));
        let is_ours = |it: &&str| {
            let is_text = !is_reader && texts.contains(*it);
            (is_text || Rule::with_code(it).is_some()) && !OTHER_WORDS.contains(it)
        };
        found.extend(quoted(&line).into_iter().filter(is_ours).map(|it| format!("{place}: {it}")));
    }
    found
}

/// The places where a literal is passed to an entry whose text others write.
pub(crate) fn passed_words() -> Vec<String> {
    let foreign = Rule::ALL.iter().flat_map(|it| it.lines()).filter(|it| !it.examples.is_empty());
    let calls: Vec<String> = foreign.map(|it| format!("Summary::{}(", it.name)).collect();
    let is_passed = |line: &str| {
        let mut arguments = calls.iter().filter_map(|call| line.split_once(call.as_str()));
        arguments.any(|(_, it)| {
            it.starts_with(['"', '&']) && it.trim_start_matches('&').starts_with('"')
        })
    };
    lines().into_iter().filter(|(_, it)| is_passed(it)).map(|(place, _)| place).collect()
}

/// The string literals of a line, without their quotes and with their escapes.
fn quoted(line: &str) -> Vec<&str> {
    let (mut found, mut start) = (Vec::new(), None);
    let mut is_escaped = false;
    for (at, letter) in line.char_indices() {
        match letter {
            _ if is_escaped => is_escaped = false,
            '\\' => is_escaped = start.is_some(),
            '"' => match start.take() {
                None => start = Some(at + 1),
                Some(from) => found.extend(line.get(from..at)),
            },
            _ => {}
        }
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
