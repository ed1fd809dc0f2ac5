//! Formatting: the changes that `fmt` makes.

use db::ByteRange;
use syntax::{FormatEdit, SyntaxError, TextRange, TextSize};

/// A replacement in the text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LayoutChange {
    /// The range to replace; empty for an insertion.
    pub range: ByteRange,
    /// The new text.
    pub text: String,
}

/// Returns the changes that `fmt` makes to a text, small and in order. `None` if the text has syntax errors.
pub fn formatting(text: &str) -> Option<Vec<LayoutChange>> {
    let end = u32::try_from(text.len()).ok()?;
    formatting_in(text, ByteRange { start: 0, end })
}

/// Returns the changes for the top-level blocks and lines that a range touches. These get the same layout as in a
/// fully formatted text.
pub fn formatting_in(text: &str, range: ByteRange) -> Option<Vec<LayoutChange>> {
    let range = TextRange::new(TextSize::new(range.start), TextSize::new(range.end));
    let edits: Result<Vec<FormatEdit>, Vec<SyntaxError>> = syntax::format_range(text, range);
    let change = |it: FormatEdit| LayoutChange { range: it.range.into(), text: it.replacement };
    Some(edits.ok()?.into_iter().map(change).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Formats a text between its two `$0`, or all of it, and compares the result.
    #[track_caller]
    fn check(text: &str, expected: Option<&str>) {
        let pieces: Vec<&str> = text.split("$0").collect();
        let mut text = pieces.concat();
        let changes = match pieces[..] {
            [before, inside, _] => {
                let start = before.len() as u32;
                formatting_in(&text, ByteRange { start, end: start + inside.len() as u32 })
            }
            _ => formatting(&text),
        };
        let formatted = changes.map(|changes| {
            for change in changes.into_iter().rev() {
                let range = change.range.start as usize..change.range.end as usize;
                text.replace_range(range, &change.text);
            }
            text
        });
        assert_eq!(formatted.as_deref(), expected);
    }

    #[test]
    fn formatting_equals_mayfly_fmt() {
        check("a {\nb=1\ncc=\"${x}\"\n}\n", Some("a {\n  b  = 1\n  cc = x\n}\n"));
        check("a = 1\n", Some("a = 1\n"));
        check("a=(\n", None);
    }

    #[test]
    fn range_formatting_covers_whole_blocks() {
        check("a=1\nb {\n$0c=1\n$0d=2\n}\ne=3\n", Some("a=1\nb {\n  c = 1\n  d = 2\n}\ne=3\n"));
        check("a=$01$0\nbb=1\n", Some("a  = 1\nbb=1\n"));
        check("a=1\n$0$0\nb=1\n", Some("a=1\n\nb=1\n"));
    }
}
