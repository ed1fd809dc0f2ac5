//! Rules for comments and names of tests: a reader that is new to the code must understand each sentence and each name
//! at the first reading.
//!
//! A rule bans a form that hides the subject of a sentence, such as a comment that begins with a pronoun. The rules
//! find the form, not the meaning: a comment without a banned form can still be a riddle.

/// First words of a comment that stand for the thing instead of naming it.
const HIDDEN_SUBJECTS: &[&str] = &[
    "How",
    "That",
    "The same",
    "Those",
    "What",
    "Whatever",
    "Where",
    "Whether",
    "Which",
    "Whichever",
    "Who",
    "Whoever",
    "Whom",
    "Whose",
];

/// Words for an agent without a name, and phrases that leave the agent out.
const HIDDEN_AGENTS: &[&str] = &[
    "anybody",
    "are said",
    "everybody",
    "is said",
    "nobody",
    "somebody",
    "someone",
    "tells of",
    "told of",
    "who",
    "whoever",
    "whom",
];

/// Words of a test's name that stand for the subject or the agent instead of naming it.
const HIDDEN_IN_NAMES: &[&str] = &[
    "anybody",
    "everybody",
    "nobody",
    "said",
    "somebody",
    "someone",
    "told",
    "what",
    "whatever",
    "who",
    "whoever",
    "whom",
];

/// First words of a test's name that stand for its subject instead of naming it.
const HIDDEN_SUBJECTS_OF_NAMES: &[&str] = &["it", "that", "those", "where"];

/// The names of documents that a clone does not have, each followed by a section number.
const ABSENT_DOCUMENTS: &[&str] = &["DESIGN", "hcl", "surface", "style", "lsp"];

/// The widest line, in characters.
pub(crate) const WIDEST: usize = 120;

/// Returns the rules that the comments of a Rust file break, each with its line.
pub(crate) fn breaches(text: &str) -> Vec<(usize, &'static str)> {
    let mut found = Vec::new();
    let mut previous = None;
    for (index, line) in text.lines().enumerate() {
        let comment = comment(line);
        if let Some((kind, body)) = comment {
            let is_first = previous != Some(kind);
            if is_first && HIDDEN_SUBJECTS.iter().any(|it| starts_with_word(body, it)) {
                found.push((index + 1, "the comment begins with a word that hides its subject"));
            }
            if HIDDEN_AGENTS.iter().any(|it| has_word(body, it)) && !body.contains("http") {
                found.push((index + 1, "the comment names no agent"));
            }
            if ABSENT_DOCUMENTS.iter().any(|it| names_section(body, it)) {
                found.push((index + 1, "the comment refers to a document that a clone lacks"));
            }
        }
        previous = comment.map(|(kind, _)| kind);
    }
    found
}

/// Returns the lines of a Rust file with a test whose name hides its subject or its agent.
pub(crate) fn unclear_names_of_tests(text: &str) -> Vec<usize> {
    let mut found = Vec::new();
    let mut is_test = false;
    for (index, line) in text.lines().enumerate() {
        let line = line.trim_start();
        is_test |= line.starts_with("#[test]") || line.starts_with("#[tokio::test");
        let Some(name) = line.trim_start_matches("async ").strip_prefix("fn ") else { continue };
        let name = &name[..name.find('(').unwrap_or(name.len())];
        if is_test && is_unclear_name(name) {
            found.push(index + 1);
        }
        is_test = false;
    }
    found
}

fn is_unclear_name(name: &str) -> bool {
    let mut words = name.split('_');
    name.contains("_that_is_")
        || name.contains("_that_are_")
        || words.clone().next().is_some_and(|it| HIDDEN_SUBJECTS_OF_NAMES.contains(&it))
        || words.any(|it| HIDDEN_IN_NAMES.contains(&it))
}

/// Returns the lines of a Rust file that are wider than [`WIDEST`]. Lines inside of raw strings are verbatim, and
/// a line with an address cannot be broken.
pub(crate) fn wide_lines(text: &str) -> Vec<usize> {
    let mut wide = Vec::new();
    let mut end_of_raw: Option<String> = None;
    for (index, line) in text.lines().enumerate() {
        let is_raw = end_of_raw.is_some();
        end_of_raw = raw_string_after(line, end_of_raw);
        let is_verbatim = is_raw || end_of_raw.is_some() || line.contains("r#\"");
        if line.chars().count() > WIDEST && !is_verbatim && !line.contains("http") {
            wide.push(index + 1);
        }
    }
    wide
}

/// The end of the raw string that is open after a line; `None` if none is. `open` is that before the line.
fn raw_string_after(line: &str, mut open: Option<String>) -> Option<String> {
    let mut rest = line;
    loop {
        let Some(end) = &open else {
            let start = rest.find("r#")?;
            rest = &rest[start + 1..];
            let hashes = rest.len() - rest.trim_start_matches('#').len();
            rest = &rest[hashes..];
            if let Some(inside) = rest.strip_prefix('"') {
                rest = inside;
                open = Some(format!("\"{}", "#".repeat(hashes)));
            }
            continue;
        };
        let Some(at) = rest.find(end.as_str()) else { return open };
        rest = &rest[at + end.len()..];
        open = None;
    }
}

/// The marker and the text of a line that is a comment as a whole.
fn comment(line: &str) -> Option<(&str, &str)> {
    let line = line.trim_start();
    let kind = ["//!", "///", "//"].into_iter().find(|it| line.starts_with(*it))?;
    Some((&line[..kind.len()], line[kind.len()..].trim_start()))
}

pub(crate) fn starts_with_word(text: &str, word: &str) -> bool {
    text.strip_prefix(word).is_some_and(|rest| !rest.starts_with(is_in_word))
}

pub(crate) fn has_word(text: &str, word: &str) -> bool {
    let lower = text.to_lowercase();
    lower.match_indices(word).any(|(at, _)| {
        !lower[..at].ends_with(is_in_word) && !lower[at + word.len()..].starts_with(is_in_word)
    })
}

fn names_section(text: &str, document: &str) -> bool {
    text.match_indices(document).any(|(at, _)| {
        let rest = text[at + document.len()..].strip_prefix(' ');
        !text[..at].ends_with(is_in_word)
            && rest.is_some_and(|it| it.starts_with(|it: char| it.is_ascii_digit()))
    })
}

fn is_in_word(character: char) -> bool {
    character.is_alphanumeric() || character == '_'
}

#[cfg(test)]
mod tests {
    use super::{breaches, unclear_names_of_tests, wide_lines};

    #[test]
    fn comments_without_a_subject_are_reported() {
        let check = |text: &str, expected: &[usize]| {
            let lines: Vec<usize> = breaches(text).into_iter().map(|(line, _)| line).collect();
            assert_eq!(lines, expected, "{text}");
        };
        check("/// What it is.\nstruct A;\n", &[1]);
        check("/// The thing.\n/// What follows is not its first word.\n", &[]);
        check("    // The same for others.\n", &[1]);
        check("/// Whatsoever.\n", &[]);
        check("// It stays as long as nobody reads it.\n", &[1]);
        check("// A whole number.\n", &[]);
        check("/// Returns the order (DESIGN 3).\n", &[1]);
        check("/// Versions of protocol 5.\n", &[]);
        check("let text = \"// What\";\n", &[]);
    }

    #[test]
    fn unclear_names_of_tests_are_reported() {
        let check = |name: &str, expected: &[usize]| {
            let test = format!("#[test]\n#[ignore]\nfn {name}() {{}}\nfn what() {{}}\n");
            assert_eq!(unclear_names_of_tests(&test), expected, "{name}");
            let asynchronous = format!("    #[tokio::test]\n    async fn {name}() {{}}\n");
            assert_eq!(unclear_names_of_tests(&asynchronous).len(), expected.len(), "{name}");
        };
        check("what_is_gone_stays_gone", &[3]);
        check("a_cycle_is_told", &[3]);
        check("nobody_reads_it", &[3]);
        check("values_that_are_kept", &[3]);
        check("it_is_closed", &[3]);
        check("plan_refuses_unknown_for_each", &[]);
        check("whole_values_and_units_of_it", &[]);
    }

    #[test]
    fn wide_lines_outside_raw_strings_are_reported() {
        let wide = "x".repeat(121);
        assert_eq!(wide_lines(&format!("{wide}\n")), [1]);
        assert_eq!(wide_lines(&format!("let a = r#\"\n{wide}\n\"#;\n{wide}\n")), [4]);
        assert_eq!(wide_lines(&format!("let a = r##\"\n\"#{wide}\n\"##;\n")), [0; 0]);
        assert_eq!(wide_lines(&format!("// https://{wide}\n")), [0; 0]);
    }
}
