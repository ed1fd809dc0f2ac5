//! Finds the lines of a file that a range touches, and where in them it lies.

use db::{Location, Sources};
use unicode_segmentation::UnicodeSegmentation;

/// Lines of a file around a range.
pub(super) struct Excerpt {
    /// Number of the first line, from 1.
    pub(super) start_line: usize,
    /// The lines that the range touches, without the end of the last.
    pub(super) code: String,
    /// Where the range begins in `code`, in bytes.
    pub(super) start: usize,
    /// Where it ends in `code`; after `start` wherever there is text to point at.
    pub(super) end: usize,
}

/// A position of a file, counted as people do.
#[derive(Clone, Copy)]
pub(super) struct Position {
    pub(super) line: usize,
    /// Grapheme clusters, from 1.
    pub(super) column: usize,
    pub(super) byte: usize,
}

/// The excerpt for a location, where its file is known.
pub(super) fn excerpt(location: &Location, sources: &Sources) -> Option<Excerpt> {
    Some(excerpt_of(&sources.text(&location.path)?, location))
}

fn excerpt_of(text: &str, location: &Location) -> Excerpt {
    let start = floor(text, location.range.start as usize);
    let end = floor(text, location.range.end as usize).max(start);
    let first = text[..start].rfind('\n').map_or(0, |at| at + 1);
    // A range that ends with a line's end does not touch the next line.
    let touched = text[start..end].strip_suffix('\n').map_or(end, |it| start + it.len());
    let last = text[touched..].find('\n').map_or(text.len(), |at| touched + at);
    let code = text[first..last].trim_end_matches('\r');
    let (start_in, mut end_in) = (start - first, touched - first);
    if start_in == end_in {
        // An empty range still has to be seen.
        end_in +=
            code.get(start_in..).and_then(|rest| rest.chars().next()).map_or(0, char::len_utf8);
    }
    Excerpt {
        start_line: text[..start].matches('\n').count() + 1,
        start: start_in.min(code.len()),
        end: end_in.min(code.len()),
        code: code.to_owned(),
    }
}

/// Start and end of a location; line 1 where the file is not known.
pub(super) fn positions(location: &Location, sources: &Sources) -> (Position, Position) {
    let text = sources.text(&location.path).unwrap_or_default();
    let end = location.range.end.max(location.range.start);
    (position(&text, location.range.start as usize), position(&text, end as usize))
}

fn position(text: &str, byte: usize) -> Position {
    let at = floor(text, byte);
    let line_start = text[..at].rfind('\n').map_or(0, |it| it + 1);
    Position {
        line: text[..at].matches('\n').count() + 1,
        column: text[line_start..at].graphemes(true).count() + 1,
        byte,
    }
}

/// The line of a location.
pub(super) fn line(location: &Location, sources: &Sources) -> usize {
    positions(location, sources).0.line
}

fn floor(text: &str, byte: usize) -> usize {
    let mut byte = byte.min(text.len());
    while !text.is_char_boundary(byte) {
        byte -= 1;
    }
    byte
}
