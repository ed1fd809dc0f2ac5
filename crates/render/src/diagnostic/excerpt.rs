//! Excerpts of source code: the lines of a file that a range touches, and the place of the range in them.

use std::{cell::RefCell, rc::Rc, sync::Arc};

use db::{Diagnostic, Location, Rule, Sources};
use sorted::TreeMap;
use unicode_segmentation::UnicodeSegmentation;

/// A cache of the texts of files, for diagnostics that point into the same file.
pub(super) struct Files<'a> {
    sources: &'a Sources,
    known: RefCell<TreeMap<Arc<str>, Option<Rc<Text>>>>,
}

struct Text {
    text: String,
    /// The offset of each line.
    starts: Vec<usize>,
}

/// The replacement for lines of a file that may contain secrets.
const NOT_SHOWN: &str = "(not shown: this file may hold secrets)";

/// The replacement for a secret in an excerpt.
const LEFT_OUT: &str = "(not shown)";

/// The lines of a file around a range.
pub(super) struct Excerpt {
    /// The number of the first line, from 1.
    pub(super) start_line: usize,
    /// The lines that the range touches, without the end of the last line.
    pub(super) code: String,
    /// The start of the range in `code`, in bytes.
    pub(super) start: usize,
    /// The end of the range in `code`; greater than `start` unless the line has no text there.
    pub(super) end: usize,
}

/// The treatment of a range that ends with the end of a line.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Lines {
    /// The excerpt ends with that line.
    ForPeople,
    /// The excerpt includes the next line, as OpenTofu's JSON does.
    AsInTheReference,
}

/// The length, in bytes, above which a line is cut to the text around the range.
const LONGEST_LINE: usize = 400;

/// The number of bytes before the range that a cut line keeps.
const BEFORE: usize = 80;

impl Excerpt {
    /// The excerpt with its highlighted range replaced by a placeholder.
    fn without_what_it_is_about(self) -> Excerpt {
        let before = self.code.get(..self.start).unwrap_or_default();
        let after = self.code.get(self.end..).unwrap_or_default();
        let end = before.len() + LEFT_OUT.len();
        Excerpt { code: format!("{before}{LEFT_OUT}{after}"), end, ..self }
    }

    /// The excerpt with a very long line cut around the range.
    pub(super) fn cut(self) -> Excerpt {
        if self.code.len() <= LONGEST_LINE || self.code.contains('\n') {
            return self;
        }
        let from = floor(&self.code, self.start.saturating_sub(BEFORE));
        let to = floor(&self.code, from + LONGEST_LINE);
        let before = if from > 0 { "…" } else { "" };
        let after = if to < self.code.len() { "…" } else { "" };
        let moved = |at: usize| at.clamp(from, to) - from + before.len();
        let (start, end) = (moved(self.start), moved(self.end));
        Excerpt { code: format!("{before}{}{after}", &self.code[from..to]), start, end, ..self }
    }
}

/// A position in a file.
#[derive(Clone, Copy)]
pub(super) struct Position {
    pub(super) line: usize,
    /// The column in grapheme clusters, from 1.
    pub(super) column: usize,
    pub(super) byte: usize,
}

impl Files<'_> {
    pub(super) fn new(sources: &Sources) -> Files<'_> {
        Files { sources, known: RefCell::default() }
    }

    /// The excerpt for the place of a diagnostic. `None` if it has no place or the file is unknown.
    pub(super) fn excerpt(&self, diagnostic: &Diagnostic, lines: Lines) -> Option<Excerpt> {
        let location = diagnostic.location.as_ref()?;
        let excerpt = self.text(&location.path)?.excerpt(location, lines);
        if self.sources.may_hold_secrets(&location.path) {
            return Some(Excerpt { code: NOT_SHOWN.to_owned(), start: 0, end: 0, ..excerpt });
        }
        // A warning about a literal secret must not print the secret to a terminal or a CI log.
        match diagnostic.id() == Rule::LiteralSecret {
            true => Some(excerpt.without_what_it_is_about()),
            false => Some(excerpt),
        }
    }

    /// The start and the end of a location; line 1 if the file is unknown. An empty range ends one column later,
    /// as in OpenTofu.
    pub(super) fn positions(&self, location: &Location) -> (Position, Position) {
        let (start, end) = (location.range.start, location.range.end.max(location.range.start));
        let text = self.text(&location.path);
        let position = |byte: u32| match &text {
            Some(text) => text.position(byte as usize),
            None => Position { line: 1, column: 1, byte: byte as usize },
        };
        let (start, mut end) = (position(start), position(end));
        if start.byte == end.byte {
            end = Position { byte: end.byte + 1, column: end.column + 1, ..end };
        }
        (start, end)
    }

    /// The line number of a location.
    pub(super) fn line(&self, location: &Location) -> usize {
        self.positions(location).0.line
    }

    fn text(&self, path: &Arc<str>) -> Option<Rc<Text>> {
        let mut known = self.known.borrow_mut();
        let text = known.entry(Arc::clone(path)).or_insert_with(|| {
            let text = self.sources.text(path)?;
            let ends = text.match_indices('\n').map(|(at, _)| at + 1);
            let starts = [0].into_iter().chain(ends).collect();
            Some(Rc::new(Text { text, starts }))
        });
        text.clone()
    }
}

impl Text {
    fn excerpt(&self, location: &Location, lines: Lines) -> Excerpt {
        let text = self.text.as_str();
        let start = self.floor(location.range.start as usize);
        let end = self.floor(location.range.end as usize).max(start);
        let mut line = self.line(start);
        // There is nothing to show after the end of the last line, so the previous line is shown.
        if start == text.len() && self.starts[line] == start && line > 0 {
            line -= 1;
        }
        let first = self.starts[line];
        let touched = match lines {
            Lines::ForPeople => {
                text[start..end].strip_suffix('\n').map_or(end, |it| start + it.len())
            }
            Lines::AsInTheReference => end,
        };
        let last = text[touched..].find('\n').map_or(text.len(), |at| touched + at);
        let code = text[first..last].trim_end_matches(['\r', '\n']);
        let (start, mut end) = (start - first, touched - first);
        if start == end {
            // An empty range highlights one character, so that it is visible.
            end += code.get(start..).and_then(|it| it.chars().next()).map_or(0, char::len_utf8);
        }
        let (start, end) = (start.min(code.len()), end.min(code.len()));
        Excerpt { start_line: line + 1, start, end, code: code.to_owned() }
    }

    fn position(&self, byte: usize) -> Position {
        let at = self.floor(byte);
        let line = self.line(at);
        let column = self.text[self.starts[line]..at].graphemes(true).count() + 1;
        Position { line: line + 1, column, byte }
    }

    /// The index of the line that contains a byte.
    fn line(&self, at: usize) -> usize {
        self.starts.partition_point(|start| *start <= at).saturating_sub(1)
    }

    fn floor(&self, byte: usize) -> usize {
        floor(&self.text, byte)
    }
}

/// The nearest character boundary at or before an offset.
fn floor(text: &str, mut byte: usize) -> usize {
    byte = byte.min(text.len());
    while !text.is_char_boundary(byte) {
        byte -= 1;
    }
    byte
}
