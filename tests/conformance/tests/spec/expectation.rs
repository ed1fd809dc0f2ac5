//! What comments of a block expect.

use db::Severity;

/// One expectation, of one line.
pub(crate) enum Expectation {
    /// A diagnostic begins on the line.
    Said(Said),
    /// The line defines a local that has this value.
    Is { local: String, value: String },
}

/// A diagnostic that is expected.
#[derive(Debug)]
pub(crate) struct Said {
    /// How bad.
    pub(crate) severity: Severity,
    /// Its name.
    pub(crate) id: String,
    /// Its summary.
    pub(crate) summary: String,
    /// What its detail contains, if that was said.
    pub(crate) detail: String,
    /// The text that it is about, with `␤` for a line feed, if that was said.
    pub(crate) at: Option<String>,
}

const SEVERITIES: &[(&str, Severity)] =
    &[("error:", Severity::Error), ("warning:", Severity::Warning), ("hint:", Severity::Hint)];

/// The expectations of a file, each with the index of the line that it is about.
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

/// Whether there is nothing but a comment.
pub(crate) fn is_comment(line: &str) -> bool {
    line.trim_start().starts_with('#')
}

/// The texts behind each `#` that begins an expectation.
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

/// A quoted text, with `\"` for a quote, and what comes after it.
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
