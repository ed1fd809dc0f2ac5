//! Rules for prose in Markdown files: no heading, paragraph, list item, table cell or sentence begins with a word that
//! hides its subject, and every agent has a name.
//!
//! Code and questions are exempt. [`crate::prose`] has the rules for comments and names of tests, which are stricter.

use crate::prose::{has_word, starts_with_word};

/// First words of a sentence that stand for the thing instead of naming it.
const HIDDEN_SUBJECTS: &[&str] = &[
    "The same for",
    "Those",
    "What",
    "Whatever",
    "Which",
    "Whichever",
    "Who",
    "Whoever",
    "Whom",
    "Whose",
];

/// First words of a block that refer to something before the block.
const BACKWARD_REFERENCES: &[&str] = &["That"];

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
    "whoever",
];

/// Returns the rules that the prose of a Markdown file breaks, each with its line.
pub(crate) fn breaches(text: &str) -> Vec<(usize, &'static str)> {
    blocks(text).iter().flat_map(Block::breaches).collect()
}

/// The text of a heading, a paragraph, a list item or a table cell, without its code.
#[derive(Default)]
struct Block {
    text: String,
    /// The offset in `text` at which each line begins, with the number of the line.
    lines: Vec<(usize, usize)>,
}

impl Block {
    fn of_line(number: usize, line: &str) -> Block {
        let mut block = Block::default();
        block.push(number, line);
        block
    }

    fn push(&mut self, number: usize, line: &str) {
        if !self.text.is_empty() {
            self.text.push(' ');
        }
        self.lines.push((self.text.len(), number));
        self.text.push_str(&without_code(line.trim()));
    }

    fn breaches(&self) -> Vec<(usize, &'static str)> {
        let mut found = Vec::new();
        for (at, sentence) in sentences(&self.text) {
            let begins_with =
                |words: &[&str]| words.iter().any(|it| starts_with_word(sentence, it));
            let is_hidden =
                begins_with(HIDDEN_SUBJECTS) || at == 0 && begins_with(BACKWARD_REFERENCES);
            if is_hidden && !sentence.ends_with('?') {
                found
                    .push((self.line_at(at), "the text begins with a word that hides its subject"));
            }
            if HIDDEN_AGENTS.iter().any(|it| has_word(sentence, it)) {
                found.push((self.line_at(at), "the text names no agent"));
            }
        }
        found
    }

    fn line_at(&self, at: usize) -> usize {
        let before = self.lines.iter().take_while(|(offset, _)| *offset <= at);
        before.last().map_or(0, |(_, number)| *number)
    }
}

/// Returns the sentences of a text, each with its offset.
fn sentences(text: &str) -> Vec<(usize, &str)> {
    let ends = text.match_indices(['.', '?', '!', ':']).map(|(at, _)| at + 1);
    let ends = ends.filter(|at| text[*at..].starts_with(' ')).chain([text.len()]);
    let mut start = 0;
    let mut found = Vec::new();
    for end in ends {
        found.push((start, text[start..end].trim()));
        start = (end + 1).min(text.len());
    }
    found
}

/// Returns the blocks of a Markdown text. Fenced and indented code is left out.
fn blocks(text: &str) -> Vec<Block> {
    let mut blocks = Vec::new();
    let mut open = Block::default();
    let mut fence: Option<&str> = None;
    let mut is_after_blank = true;
    for (number, line) in (1..).zip(text.lines()) {
        let trimmed = line.trim();
        if let Some(end) = fence {
            fence = fence.filter(|_| !trimmed.starts_with(end));
            continue;
        }
        fence = fence_of(trimmed);
        let is_code = fence.is_some() || is_after_blank && line.starts_with("    ");
        is_after_blank = trimmed.is_empty();
        if is_code || is_after_blank || trimmed.starts_with("<!--") {
            blocks.push(std::mem::take(&mut open));
        } else if let Some(row) = trimmed.strip_prefix('|') {
            blocks.extend(
                row.split(" | ").map(|cell| Block::of_line(number, cell.trim_matches('|'))),
            );
        } else if trimmed.starts_with('#') {
            blocks.push(Block::of_line(number, trimmed.trim_start_matches('#')));
        } else if let Some(item) = list_item(trimmed) {
            blocks.push(std::mem::replace(&mut open, Block::of_line(number, item)));
        } else {
            open.push(number, trimmed);
        }
    }
    blocks.push(open);
    blocks
}

/// Returns the marker that ends the fenced code that a line begins.
fn fence_of(line: &str) -> Option<&str> {
    let length = line.len() - line.trim_start_matches('`').len();
    (length >= 3).then(|| &line[..length])
}

/// Returns the text of a list item after its marker.
fn list_item(line: &str) -> Option<&str> {
    let number = line.trim_start_matches(|it: char| it.is_ascii_digit());
    let numbered = number.strip_prefix(". ").filter(|_| number.len() < line.len());
    line.strip_prefix("- ").or_else(|| line.strip_prefix("* ")).or(numbered)
}

/// Replaces inline code by an empty pair of backticks.
fn without_code(line: &str) -> String {
    line.split('`').step_by(2).collect::<Vec<_>>().join("``")
}

#[cfg(test)]
mod tests {
    use super::breaches;

    #[track_caller]
    fn check(text: &str, expected: &[usize]) {
        let lines: Vec<usize> = breaches(text).into_iter().map(|(line, _)| line).collect();
        assert_eq!(lines, expected, "{text}");
    }

    #[test]
    fn hidden_subjects_in_markdown_are_reported() {
        check("# What it does\n", &[1]);
        check("A plan.\n\nWhat changed is shown.\n", &[3]);
        check("A plan is made. What changed\nis shown. Those of a module too.\n", &[1, 2]);
        check("- A list.\n- Who reads it.\n  The same for\n  others.\n", &[2, 3]);
        check("1. That comes first.\n", &[1]);
        check("| name | text |\n|---|---|\n| a | What is kept |\n", &[3]);
        check("It is told of\nlater, and nobody reads it.\n", &[1]);
    }

    #[test]
    fn code_questions_and_nouns_in_markdown_are_accepted() {
        check("# What is a plan?\n\nWhich\nfile is it?\n", &[]);
        check("```\nWhat\n```\n````hcl\n```\nWho\n````\nText `nobody`.\n", &[]);
        check("Run:\n\n    What\n\nThe end.\n", &[]);
        check(
            "`What` is code. A line says that. That table has the rest, for users who read it.\n",
            &[],
        );
        check("Whatsoever. The same rule holds.\n", &[]);
        check("A `a` | b\n<!-- What -->\n", &[]);
    }
}
