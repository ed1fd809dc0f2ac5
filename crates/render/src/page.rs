//! Documentation pages for a terminal.
//!
//! Pages are plain Markdown: headings, paragraphs, lists, fenced blocks and `code`. Without a width, the lines are
//! those of the source.

use std::fmt::Write as _;

use db::Rule;

use crate::style::{Paint, Style};

/// The maximal line width of prose, for readability.
const WIDEST: usize = 92;

/// The indentation of an example.
const INDENT: &str = "    ";

/// Renders a page of Markdown.
pub fn page(markdown: &str, style: &Style) -> String {
    let mut text = String::from("\n");
    let mut lines = markdown.lines().peekable();
    while let Some(line) = lines.next() {
        if line.starts_with("```") {
            let code = lines.by_ref().take_while(|it| !it.starts_with("```"));
            code.for_each(|it| push_code(it, style, &mut text));
        } else if let Some(heading) = line.strip_prefix('#') {
            let _ = writeln!(
                text,
                "{}",
                style.paint(Paint::Bold, heading.trim_start_matches(['#', ' ']))
            );
        } else if line.is_empty() {
            text.push('\n');
        } else {
            let mut paragraph = vec![line];
            while let Some(next) = lines.next_if(|it| continues(it)) {
                paragraph.push(next);
            }
            push_paragraph(&paragraph, style, &mut text);
        }
    }
    text + "\n"
}

/// The codes of rules, each with its first summary.
pub fn rule_list(rules: &[Rule], style: &Style) -> String {
    let widest = rules.iter().map(|it| it.code().len()).max().unwrap_or(0);
    let line = |rule: &Rule| {
        let summary = rule.page_lines().swap_remove(0);
        let gap = " ".repeat(widest - rule.code().len() + 2);
        format!("{}{gap}{summary}\n", style.paint(Paint::Bold, rule.code()))
    };
    rules.iter().map(line).collect()
}

/// Returns true if a line continues the paragraph of the previous line.
fn continues(line: &str) -> bool {
    let begins = ["#", "```", "- "].iter().any(|it| line.starts_with(it));
    !line.is_empty() && !begins && !is_summary(line)
}

/// Returns true if a line is a summary, which is always on its own line.
fn is_summary(line: &str) -> bool {
    severity(line).is_some()
}

fn severity(line: &str) -> Option<(Paint, &str)> {
    let paints =
        [("Error: ", Paint::BoldRed), ("Warning: ", Paint::BoldYellow), ("Hint: ", Paint::Bold)];
    paints.into_iter().find(|(word, _)| line.starts_with(word)).map(|(word, paint)| (paint, word))
}

/// Writes a line of an example. The comment with the expected diagnostic is dimmed.
fn push_code(line: &str, style: &Style, text: &mut String) {
    let comment =
        ["# error: ", "# warning: ", "# hint: "].iter().filter_map(|it| line.find(it)).min();
    let (code, comment) = line.split_at(comment.unwrap_or(line.len()));
    match line {
        "" => text.push('\n'),
        _ => drop(writeln!(text, "{INDENT}{code}{}", style.paint(Paint::Dim, comment))),
    }
}

fn push_paragraph(lines: &[&str], style: &Style, text: &mut String) {
    if let Some((paint, word)) = severity(lines[0]) {
        let summary = style.paint(Paint::Bold, &lines[0][word.len()..]);
        let _ = writeln!(text, "{}{summary}", style.paint(paint, word));
        return;
    }
    let hang = if lines[0].starts_with("- ") { "  " } else { "" };
    let paragraph = match style.width {
        None => lines.join("\n"),
        Some(width) => {
            let trimmed: Vec<&str> = lines.iter().map(|it| it.trim()).collect();
            let narrow = Style { width: Some(width.min(WIDEST)), ..*style };
            narrow.wrap(&trimmed.join(" "), 1 + hang.len()).replace('\n', &format!("\n{hang}"))
        }
    };
    let _ = writeln!(text, "{}", with_code(&paragraph, style));
}

/// Colours `code` if colours are enabled.
fn with_code(text: &str, style: &Style) -> String {
    if !style.color {
        return text.to_owned();
    }
    let parts = text.split('`').enumerate().map(|(i, part)| match i % 2 {
        0 => part.to_owned(),
        // An ANSI sequence over several lines would also colour the text that a pager inserts between them.
        _ => part.split('\n').map(|it| style.paint(Paint::Cyan, it)).collect::<Vec<_>>().join("\n"),
    });
    parts.collect()
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};

    use super::*;

    const PAGE: &str = "# an-id\n\nError: One\nWarning: Two `x`\n\nA paragraph of `code words` \
                        that is\nlonger than a line.\n\n- An item that is longer\n  than a line \
                        too.\n- Another.\n\n```hcl\na = 1 # error: [an-id] \"One\"\n\nb = 2\n```\n\nThe end.\n";

    #[track_caller]
    fn check(style: &Style, expected: Expect) {
        expected.assert_eq(&page(PAGE, style));
    }

    #[test]
    fn page_wraps_prose_but_not_code_on_a_terminal() {
        check(
            &Style { width: Some(24), ..Style::PLAIN },
            expect![[r#"

            an-id

            Error: One
            Warning: Two `x`

            A paragraph of `code
            words` that is longer
            than a line.

            - An item that is
              longer than a line
              too.
            - Another.

                a = 1 # error: [an-id] "One"

                b = 2

            The end.

        "#]],
        );
    }

    #[test]
    fn plain_page_keeps_the_source_lines() {
        check(
            &Style::PLAIN,
            expect![[r#"

            an-id

            Error: One
            Warning: Two `x`

            A paragraph of `code words` that is
            longer than a line.

            - An item that is longer
              than a line too.
            - Another.

                a = 1 # error: [an-id] "One"

                b = 2

            The end.

        "#]],
        );
    }

    #[test]
    fn coloured_page_replaces_backticks() {
        let style = Style { color: true, width: Some(24), ..Style::PLAIN };
        let shown = page(PAGE, &style);
        assert!(shown.contains("\u{1b}[36mcode\u{1b}[0m\n\u{1b}[36mwords\u{1b}[0m"), "{shown}");
        assert!(shown.contains("\u{1b}[1;31mError: \u{1b}[0m\u{1b}[1mOne\u{1b}[0m\n"), "{shown}");
        assert!(shown.contains("a = 1 \u{1b}[90m# error: [an-id] \"One\"\u{1b}[0m\n"), "{shown}");
    }

    #[test]
    fn rule_list_has_a_line_per_rule() {
        let list = rule_list(&[Rule::InvalidName, Rule::CyclicMoves], &Style::PLAIN);
        assert_eq!(
            list,
            "invalid-name  Error: Invalid KIND name\ncyclic-moves  Error: Cyclic dependency in move statements\n"
        );
    }
}
