//! Selection ranges.

use db::ByteRange;
use syntax::{SyntaxKind, SyntaxNode, SyntaxToken, TextRange, TextSize};

use crate::Document;

/// Returns the ranges around an offset, from the smallest one to the whole file. Each range contains the previous
/// one and is larger.
pub fn selection_ranges(document: Document<'_>, offset: u32) -> Vec<ByteRange> {
    let whole = ByteRange { start: 0, end: document.length() };
    let Some(tree) = document.cursor(offset) else { return vec![whole] };
    let inside = tree.offset;
    let mut growing = GrowingRanges { ranges: Vec::new() };
    if let Some(token) = tree.token() {
        if !matches!(token.kind(), SyntaxKind::WHITESPACE | SyntaxKind::NEWLINE) {
            growing.add(word(&token, inside));
            growing.add(token.text_range());
        }
        for node in token.parent_ancestors().filter(|it| it.kind() != SyntaxKind::SOURCE_FILE) {
            around(&node, inside, &mut growing);
        }
    }
    let mut ranges: Vec<_> = growing.ranges.into_iter().map(|range| tree.in_file(range)).collect();
    if ranges.last() != Some(&whole) {
        ranges.push(whole);
    }
    ranges
}

struct GrowingRanges {
    ranges: Vec<TextRange>,
}

impl GrowingRanges {
    /// Adds a range if it contains the last one and is larger.
    fn add(&mut self, range: TextRange) {
        let is_larger = |last: &TextRange| range.contains_range(*last) && range.len() > last.len();
        if !range.is_empty() && self.ranges.last().is_none_or(is_larger) {
            self.ranges.push(range);
        }
    }
}

/// The word of a string or comment at an offset. Any other token is one word.
fn word(token: &SyntaxToken, at: TextSize) -> TextRange {
    let range = token.text_range();
    if !token.kind().is_template_literal() && token.kind() != SyntaxKind::COMMENT {
        return range;
    }
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    let inside = usize::from(at - range.start());
    let (Some(before), Some(after)) = (token.text().get(..inside), token.text().get(inside..))
    else {
        return range;
    };
    let start = before.trim_end_matches(is_word).len();
    let end = token.text().len() - after.trim_start_matches(is_word).len();
    let place = |at: usize| range.start() + TextSize::from(at as u32);
    TextRange::new(place(start), place(end))
}

/// Adds the ranges of a node: the text between its brackets or quotes, the steps of a traversal one by one, and
/// the node itself.
fn around(node: &SyntaxNode, at: TextSize, growing: &mut GrowingRanges) {
    match node.kind() {
        SyntaxKind::TRAVERSAL => {
            let start = node.text_range().start();
            for step in node.children() {
                growing.add(TextRange::new(start, step.text_range().end()));
            }
        }
        // The range of a step includes everything before it.
        SyntaxKind::ATTR_STEP => return,
        SyntaxKind::BODY => {
            return growing.add(trimmed(node.text_range(), &node.text().to_string()));
        }
        _ => {
            if let Some(inner) = inner(node)
                && inner.contains_inclusive(at)
            {
                growing.add(inner);
            }
        }
    }
    growing.add(node.text_range());
}

/// The range between the brackets or quotes of a node; between brackets without the blanks at both ends.
fn inner(node: &SyntaxNode) -> Option<TextRange> {
    let first = node.first_child_or_token()?;
    let last = node.last_child_or_token()?;
    let is_pair = matches!(
        (first.kind(), last.kind()),
        (SyntaxKind::OPEN_QUOTE, SyntaxKind::CLOSE_QUOTE)
            | (SyntaxKind::L_BRACE, SyntaxKind::R_BRACE)
            | (SyntaxKind::L_BRACK, SyntaxKind::R_BRACK)
            | (SyntaxKind::L_PAREN, SyntaxKind::R_PAREN)
            | (SyntaxKind::INTERP_OPEN | SyntaxKind::DIRECTIVE_OPEN, SyntaxKind::SEQ_END)
            | (SyntaxKind::HEREDOC_OPEN, SyntaxKind::HEREDOC_CLOSE)
    );
    if !is_pair {
        return None;
    }
    let range = TextRange::new(first.text_range().end(), last.text_range().start());
    if first.kind() == SyntaxKind::OPEN_QUOTE {
        return Some(range);
    }
    let text = node.text().slice(range - node.text_range().start()).to_string();
    Some(trimmed(range, &text))
}

fn trimmed(range: TextRange, text: &str) -> TextRange {
    let start = range.start() + TextSize::of(text) - TextSize::of(text.trim_start());
    TextRange::at(start, TextSize::of(text.trim()))
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};

    use super::selection_ranges;
    use crate::fixture;

    /// Shows the ranges, one per line, without the whole file.
    #[track_caller]
    fn check(text: &str, expect: Expect) {
        let fixture = fixture::load(text);
        let text = fixture.document().text();
        let ranges = selection_ranges(fixture.document(), fixture.offset());
        let (whole, inner) = ranges.split_last().expect("there is the file");
        assert_eq!(fixture::slice(&text, *whole), text);
        assert!(ranges.is_sorted_by(|a, b| b.start <= a.start && a.end <= b.end && a != b));
        let shown = inner.iter().map(|range| fixture::slice(&text, *range).replace('\n', "⏎"));
        expect.assert_eq(&shown.map(|line| line + "\n").collect::<String>());
    }

    #[test]
    fn selection_expands_from_a_name_to_the_block() {
        check(
            "# about\nresource \"test_thing\" \"a\" {\n  value = upper(var.x.y$0[0])\n  size  = 1\n}\nlocals {}\n",
            expect![[r#"
                y
                var.x.y
                var.x.y[0]
                (var.x.y[0])
                upper(var.x.y[0])
                value = upper(var.x.y[0])
                value = upper(var.x.y[0])⏎  size  = 1
                resource "test_thing" "a" {⏎  value = upper(var.x.y[0])⏎  size  = 1⏎}
            "#]],
        );
    }

    #[test]
    fn selection_expands_inside_strings() {
        check(
            "locals {\n  a = \"one two$0 ${local.b}\"\n}\n",
            expect![[r#"
            two
            one two 
            one two ${local.b}
            "one two ${local.b}"
            a = "one two ${local.b}"
            locals {⏎  a = "one two ${local.b}"⏎}
        "#]],
        );
        check(
            "locals {\n  a = \"one ${ local.b$0 } two\"\n}\n",
            expect![[r#"
            b
            local.b
            ${ local.b }
            one ${ local.b } two
            "one ${ local.b } two"
            a = "one ${ local.b } two"
            locals {⏎  a = "one ${ local.b } two"⏎}
        "#]],
        );
        check(
            "locals {\n  a = <<EOT\none t$0wo\nthree\nEOT\n}\n",
            expect![[r#"
            two
            one two⏎
            one two⏎three
            <<EOT⏎one two⏎three⏎EOT
            a = <<EOT⏎one two⏎three⏎EOT
            locals {⏎  a = <<EOT⏎one two⏎three⏎EOT⏎}
        "#]],
        );
    }

    #[test]
    fn selection_between_blocks_is_small_or_empty() {
        check("$0", expect![[""]]);
        check("locals {}\n$0\nlocals {}\n", expect![""]);
        check(
            "# one t$0wo\nlocals {}\n",
            expect![[r#"
            two
            # one two
        "#]],
        );
        check(
            "locals {\n  a = [1,$0 2]\n}\n",
            expect![[r#"
            ,
            1, 2
            [1, 2]
            a = [1, 2]
            locals {⏎  a = [1, 2]⏎}
        "#]],
        );
    }
}
