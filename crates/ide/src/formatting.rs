//! The layout of a file: what `fmt` would change.

use db::ByteRange;
use syntax::{FormatEdit, SyntaxError, TextRange, TextSize};

/// A stretch of the text and what should stand there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LayoutChange {
    /// What is replaced; empty where something is put in.
    pub range: ByteRange,
    /// What stands there then.
    pub text: String,
}

/// What `fmt` changes in a text, as small changes in order. A text with syntax errors has no layout.
pub fn formatting(text: &str) -> Option<Vec<LayoutChange>> {
    let end = u32::try_from(text.len()).ok()?;
    formatting_in(text, ByteRange { start: 0, end })
}

/// The same for the top-level blocks and lines that a range touches. They become what they are when all is formatted.
pub fn formatting_in(text: &str, range: ByteRange) -> Option<Vec<LayoutChange>> {
    let range = TextRange::new(TextSize::new(range.start), TextSize::new(range.end));
    let edits: Result<Vec<FormatEdit>, Vec<SyntaxError>> = syntax::format_range(text, range);
    let change = |it: FormatEdit| LayoutChange { range: it.range.into(), text: it.replacement };
    Some(edits.ok()?.into_iter().map(change).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A text after what is changed between its two `$0`, or in all of it.
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
    fn a_file_is_formatted_as_by_the_command() {
        check("a {\nb=1\ncc=\"${x}\"\n}\n", Some("a {\n  b  = 1\n  cc = x\n}\n"));
        check("a = 1\n", Some("a = 1\n"));
        check("a=(\n", None);
    }

    #[test]
    fn of_a_range_whole_blocks_are_formatted() {
        check("a=1\nb {\n$0c=1\n$0d=2\n}\ne=3\n", Some("a=1\nb {\n  c = 1\n  d = 2\n}\ne=3\n"));
        check("a=$01$0\nbb=1\n", Some("a  = 1\nbb=1\n"));
        check("a=1\n$0$0\nb=1\n", Some("a=1\n\nb=1\n"));
    }
}
