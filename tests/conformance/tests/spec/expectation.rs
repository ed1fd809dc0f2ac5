//! The expectations in the comments of a block.

use db::Severity;

/// An expectation about one line.
pub(crate) enum Expectation {
    /// A diagnostic begins on the line.
    Said(Said),
    /// The line defines a local with this value.
    Is { local: String, value: String },
}

/// An expected diagnostic.
#[derive(Debug)]
pub(crate) struct Said {
    /// The severity.
    pub(crate) severity: Severity,
    /// The id.
    pub(crate) id: String,
    /// The summary.
    pub(crate) summary: String,
    /// A part of the detail; empty if the expectation does not name one.
    pub(crate) detail: String,
    /// The text at the place of the diagnostic, with `␤` for a line feed. `None` if the expectation does not name
    /// one.
    pub(crate) at: Option<String>,
}

const SEVERITIES: &[(&str, Severity)] =
    &[("error:", Severity::Error), ("warning:", Severity::Warning), ("hint:", Severity::Hint)];

/// The expectations of a file, each with the index of its line.
pub(crate) fn expectations(text: &str) -> Vec<(usize, Expectation)> {
    let mut found = Vec::new();
    let mut about = 0;
    for (index, line) in text.lines().enumerate() {
        let comments = comments(line);
        if comments.is_empty() || !is_comment(line) {
            about = index;
        }
        found.extend(
            comments.into_iter().filter_map(|comment| Some((about, expectation(line, comment)?))),
        );
    }
    found
}

/// Returns true if the line contains only a comment.
pub(crate) fn is_comment(line: &str) -> bool {
    line.trim_start().starts_with('#')
}

/// The texts after each `#` that begins an expectation.
fn comments(line: &str) -> Vec<&str> {
    let is_one = |text: &str| {
        text.starts_with("is:") || SEVERITIES.iter().any(|(word, _)| text.starts_with(word))
    };
    let starts: Vec<usize> =
        line.match_indices("# ").map(|(at, _)| at).filter(|at| is_one(&line[at + 2..])).collect();
    let ends = starts.iter().skip(1).copied().chain([line.len()]);
    starts.iter().zip(ends).map(|(start, end)| line[start + 2..end].trim()).collect()
}

fn expectation(line: &str, comment: &str) -> Option<Expectation> {
    if let Some(value) = comment.strip_prefix("is:") {
        let (local, _) = line.split_once('=')?;
        return Some(Expectation::Is {
            local: local.trim().to_owned(),
            value: value.trim().to_owned(),
        });
    }
    let (word, severity) = SEVERITIES.iter().find(|(word, _)| comment.starts_with(word))?;
    let (id, rest) = comment[word.len()..].trim().strip_prefix('[')?.split_once(']')?;
    let (summary, rest) = quoted(rest)?;
    let (detail, rest) = quoted(rest).unwrap_or((String::new(), rest));
    let at = rest.trim().strip_prefix('`').and_then(|it| it.strip_suffix('`')).map(str::to_owned);
    Some(Expectation::Said(Said { severity: *severity, id: id.to_owned(), summary, detail, at }))
}

/// A quoted text, with `\"` for a quote, and the text after it.
fn quoted(text: &str) -> Option<(String, &str)> {
    let inner = text.trim_start().strip_prefix('"')?;
    let mut unquoted = String::new();
    let mut characters = inner.char_indices();
    while let Some((at, character)) = characters.next() {
        match character {
            '"' => return Some((unquoted, &inner[at + 1..])),
            '\\' => unquoted.push(characters.next()?.1),
            character => unquoted.push(character),
        }
    }
    None
}
