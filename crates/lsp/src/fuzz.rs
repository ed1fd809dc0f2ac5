//! Properties of all edits that a client can send. The fuzz targets (`fuzz/`) and `tests/hostile` run the same
//! function.

use tower_lsp_server::ls_types::{Position, Range, TextDocumentContentChangeEvent};

use crate::{
    documents::edited,
    position::{Encoding, Lines},
};

/// The separator between the text and its edits in the input; this byte never occurs in UTF-8.
const BETWEEN: u8 = 0xff;
/// The byte that stands for the largest line or column.
const FAR: u8 = 0xfe;

/// Checks edits of a text. The input is a text and edits; each edit begins with four bytes for two lines and
/// columns. Every edit must equal the same edit of a plain string whose lines are counted character by character,
/// and each place of the text must have one position that converts back to it.
///
/// # Panics
///
/// If a property does not hold.
pub fn check_edits(bytes: &[u8]) {
    let mut parts = bytes.split(|it| *it == BETWEEN);
    let text = String::from_utf8_lossy(parts.next().unwrap_or_default()).into_owned();
    for encoding in [Encoding::Utf8, Encoding::Utf16, Encoding::Utf32] {
        let mut text = text.clone();
        check_positions(&text, encoding);
        for edit in parts.clone() {
            let Some((&[a, b, c, d], with)) = edit.split_first_chunk() else { break };
            let with = String::from_utf8_lossy(with).into_owned();
            let range = Range::new(position(a, b), position(c, d));
            let expected = model_edited(&text, range, &with, encoding);
            let change = TextDocumentContentChangeEvent {
                range: Some(range),
                range_length: None,
                text: with,
            };
            text = edited(&text, &change, encoding);
            assert_eq!(text, expected, "after {range:?} in {encoding:?}");
            check_positions(&text, encoding);
        }
    }
}

fn position(line: u8, column: u8) -> Position {
    let number = |byte| if byte == FAR { u32::MAX } else { u32::from(byte) };
    Position::new(number(line), number(column))
}

fn check_positions(text: &str, encoding: Encoding) {
    let lines = Lines::of_text(text.to_owned(), encoding);
    let mut last = Position::default();
    for (at, _) in text.char_indices() {
        let position = lines.position(at as u32);
        assert!(position >= last, "{text:?} at {at}");
        last = position;
        assert_eq!(lines.offset(position) as usize, encoding.offset(text, position), "{text:?}");
        // No position denotes the place inside of a CRLF pair; its position converts to the place before the pair.
        if !(text[..at].ends_with('\r') && text[at..].starts_with('\n')) {
            assert_eq!(lines.offset(position) as usize, at, "{text:?} at {position:?}");
            assert_eq!(model_offset(text, position, encoding), at, "{text:?} at {position:?}");
        }
    }
}

fn model_edited(text: &str, range: Range, with: &str, encoding: Encoding) -> String {
    let start = model_offset(text, range.start, encoding);
    let end = model_offset(text, range.end, encoding).max(start);
    format!("{}{with}{}", &text[..start], &text[end..])
}

fn model_offset(text: &str, wanted: Position, encoding: Encoding) -> usize {
    let (mut line, mut column) = (0, 0);
    let mut letters = text.char_indices().peekable();
    while let Some((at, letter)) = letters.next() {
        let is_break = matches!(letter, '\r' | '\n');
        let width = match encoding {
            Encoding::Utf8 => letter.len_utf8(),
            Encoding::Utf16 => letter.len_utf16(),
            Encoding::Utf32 => 1,
        };
        if line == wanted.line && (is_break || column + width as u32 > wanted.character) {
            return at;
        }
        if is_break {
            letters.next_if(|(_, next)| letter == '\r' && *next == '\n');
            (line, column) = (line + 1, 0);
        } else {
            column += width as u32;
        }
    }
    text.len()
}
