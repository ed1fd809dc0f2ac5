//! Folding ranges.

use db::ByteRange;
use syntax::{NodeOrToken, SyntaxKind, SyntaxNode, SyntaxToken, TextRange, TextSize};

use crate::{Cursor, Document};

/// A foldable range; it covers at least two lines.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fold {
    /// The range, including the braces, quotes or markers at its ends.
    pub range: ByteRange,
    /// The kind of the range.
    pub kind: FoldKind,
}

/// The kind of a folding range.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FoldKind {
    /// The body of a block.
    Block,
    /// An object, a tuple, an argument list or parentheses.
    Value,
    /// A heredoc.
    Heredoc,
    /// A comment over several lines, or a run of comment lines.
    Comment,
}

/// Returns the folding ranges of a file, ordered by their starts.
pub fn folding_ranges(document: Document<'_>) -> Vec<Fold> {
    let mut folds = Vec::new();
    for tree in document.trees() {
        of_block(&tree, &mut folds);
    }
    sorted::sort_by_key(&mut folds, |fold| (fold.range.start, std::cmp::Reverse(fold.range.end)));
    folds
}

fn of_block(tree: &Cursor<'_>, folds: &mut Vec<Fold>) {
    let text = tree.root.text().to_string();
    let lines = Lines::new(&text);
    let mut comments = Vec::new();
    for element in tree.root.descendants_with_tokens() {
        match &element {
            NodeOrToken::Node(node) => {
                let found = of_node(node).filter(|(range, _)| lines.is_cut_by(*range));
                folds.extend(found.map(|(range, kind)| Fold { range: tree.in_file(range), kind }));
            }
            NodeOrToken::Token(token) if token.kind() == SyntaxKind::COMMENT => {
                comments.push(without_newline(token));
            }
            NodeOrToken::Token(_) => {}
        }
    }
    let runs = comment_runs(&text, &comments).filter(|range| lines.is_cut_by(*range));
    folds.extend(runs.map(|range| Fold { range: tree.in_file(range), kind: FoldKind::Comment }));
}

/// The offsets of the line ends of a text.
struct Lines {
    ends: Vec<u32>,
}

impl Lines {
    fn new(text: &str) -> Lines {
        Lines { ends: text.match_indices('\n').map(|(at, _)| at as u32).collect() }
    }

    fn is_cut_by(&self, range: TextRange) -> bool {
        let first = self.ends.partition_point(|end| *end < u32::from(range.start()));
        self.ends.get(first).is_some_and(|end| *end < u32::from(range.end()))
    }
}

fn of_node(node: &SyntaxNode) -> Option<(TextRange, FoldKind)> {
    match node.kind() {
        SyntaxKind::BLOCK => Some((braces(node)?, FoldKind::Block)),
        SyntaxKind::OBJECT
        | SyntaxKind::TUPLE
        | SyntaxKind::FOR_OBJECT
        | SyntaxKind::FOR_TUPLE
        | SyntaxKind::ARG_LIST
        | SyntaxKind::PAREN => Some((node.text_range(), FoldKind::Value)),
        SyntaxKind::HEREDOC => Some((node.text_range(), FoldKind::Heredoc)),
        _ => None,
    }
}

/// The range from the opening brace of a block to the block's end. The closing brace may be missing.
fn braces(block: &SyntaxNode) -> Option<TextRange> {
    let open = block.children_with_tokens().find(|it| it.kind() == SyntaxKind::L_BRACE)?;
    Some(TextRange::new(open.text_range().start(), block.text_range().end()))
}

/// The range of a comment without the newline, which is part of the token of a line comment.
fn without_newline(comment: &SyntaxToken) -> TextRange {
    let length = TextSize::of(comment.text().trim_end_matches(['\n', '\r']));
    TextRange::at(comment.text_range().start(), length)
}

/// The ranges of comments; comments that are alone on consecutive lines are joined.
fn comment_runs(text: &str, comments: &[TextRange]) -> impl Iterator<Item = TextRange> {
    let stands_alone = |range: TextRange| {
        let before = &text[..range.start().into()];
        let line = before.rsplit_once('\n').map_or(before, |(_, line)| line);
        line.trim().is_empty()
    };
    let follows = |last: TextRange, range: TextRange| {
        let between = &text[TextRange::new(last.end(), range.start())];
        between.trim().is_empty() && between.matches('\n').count() == 1
    };
    let mut runs: Vec<TextRange> = Vec::new();
    for &range in comments {
        match runs.last_mut() {
            Some(last) if follows(*last, range) && stands_alone(*last) => *last = last.cover(range),
            _ => runs.push(range),
        }
    }
    runs.into_iter()
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};

    use super::folding_ranges;
    use crate::fixture;

    /// Shows the first and the last line of each range.
    #[track_caller]
    fn check(text: &str, expect: Expect) {
        let fixture = fixture::load(text);
        let text = fixture.document().text();
        let mut shown = String::new();
        for fold in folding_ranges(fixture.document()) {
            let lines: Vec<&str> = fixture::slice(&text, fold.range).lines().collect();
            let [first, .., last] = lines.as_slice() else { panic!("{fold:?} is one line") };
            shown.push_str(&format!("{:?} {first} … {}\n", fold.kind, last.trim()));
        }
        expect.assert_eq(&shown);
    }

    #[test]
    fn folding_covers_multiline_blocks_and_values() {
        check(
            "locals {\n  a = [\n    1, { b = 2 },\n  ]\n  c = { d = 1 }\n  e = max(\n    1,\n    \
             (\n      2\n    ),\n  )\n}\nresource \"a\" \"b\" {}\noutput \"o\" {\n  value = {\n    \
             for k in [1] :\n    k => k\n  }\n}\n",
            expect![[r#"
                Block { … }
                Value [ … ]
                Value ( … )
                Value ( … )
                Block { … }
                Value { … }
            "#]],
        );
    }

    #[test]
    fn folding_covers_heredocs_and_templates() {
        check(
            "locals {\n  a = <<-EOT\n    one\n    two\n  EOT\n}\n",
            expect![[r#"
            Block { … }
            Heredoc <<-EOT … EOT
        "#]],
        );
    }

    #[test]
    fn folding_joins_adjacent_comments() {
        check(
            "# one\n# two\n\n# alone\n\n// three\n# four\nlocals {\n  a = 1 # five\n  # six\n  # \
             seven\n  b = 2 # eight\n  # nine\n  /* ten\n  eleven */\n}\n# twelve\n# thirteen",
            expect![[r#"
                Comment # one … # two
                Comment // three … # four
                Block { … }
                Comment # six … # seven
                Comment # nine … eleven */
                Comment # twelve … # thirteen
            "#]],
        );
    }

    #[test]
    fn folding_of_an_unclosed_block_ends_at_the_file_end() {
        check(
            "locals {\n  a = {\n    b = 1\n",
            expect![[r#"
            Block { … b = 1
            Value { … b = 1
        "#]],
        );
        check(
            "locals {\r\n  a = 1\r\n}\r\n# a\r\n# b\r\n",
            expect![[r#"
            Block { … }
            Comment # a … # b
        "#]],
        );
    }
}
