//! Finds the ends of heredocs.

use rustc_hash::FxHashMap;

use super::{Frame, Lexer, is_block_header};
use crate::syntax_kind::SyntaxKind::{HEREDOC_CLOSE, HEREDOC_OPEN};

/// The start of the last occurrence of each line that could end a heredoc.
///
/// One pass over the text answers for every heredoc in it, so a text full of heredocs without end is not slower
/// than others.
pub(super) struct HeredocEnds<'t> {
    last: FxHashMap<&'t str, usize>,
}

impl<'t> HeredocEnds<'t> {
    /// Reads the lines from `from` on.
    fn read(text: &'t str, from: usize) -> Self {
        let mut last = FxHashMap::default();
        let mut at = from;
        for line in text[from..].split_inclusive('\n') {
            let trimmed = line.trim();
            if line.ends_with('\n') && !trimmed.is_empty() && trimmed.bytes().all(may_be_marker) {
                last.insert(trimmed, at);
            }
            at += line.len();
        }
        Self { last }
    }
}

fn may_be_marker(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-') || byte >= 0x80
}

impl<'t> Lexer<'t> {
    pub(super) fn open_heredoc(&mut self, len: usize) {
        let text = self.text;
        let intro = text[self.pos..self.pos + len].trim_end_matches(['\r', '\n']);
        let marker = intro.trim_start_matches('<').trim_start_matches('-');
        self.emit(HEREDOC_OPEN, len);
        let from = self.pos;
        let ends = self.ends.get_or_insert_with(|| HeredocEnds::read(text, from));
        let terminated = ends.last.get(marker).is_some_and(|last| *last >= from);
        self.frames.push(Frame::Heredoc { marker, terminated });
    }

    /// Lexes until the heredoc ends or a sequence opens.
    pub(super) fn heredoc_mode(&mut self, marker: &'t str, terminated: bool) {
        let depth = self.frames.len();
        while self.frames.len() == depth && self.pos < self.text.len() {
            if self.at_line_start() {
                let rest = &self.text[self.pos..];
                if let Some(len) = end_line(rest, marker) {
                    self.emit(HEREDOC_CLOSE, len);
                    self.frames.pop();
                    return;
                }
                if !terminated && self.rescue && is_block_header(rest) {
                    self.frames.clear();
                    return;
                }
            }
            self.template_line();
        }
    }

    /// Returns true if a newline *of the heredoc* comes right before. The newline inside a `${⏎}` does not count.
    fn at_line_start(&self) -> bool {
        let before = &self.text.as_bytes()[..self.pos];
        before.last() == Some(&b'\n')
    }
}

/// Returns the length, without the line ending, of the first line of `rest` if it ends the heredoc: only the
/// marker with blanks around it, and a newline.
fn end_line(rest: &str, marker: &str) -> Option<usize> {
    // The first character decides for most lines.
    let body = rest.trim_start_matches([' ', '\t']);
    let first = body.chars().next()?;
    if !body.starts_with(marker) && !first.is_whitespace() {
        return None;
    }
    let end = rest.find('\n')?;
    let line = &rest[..end];
    (line.trim() == marker).then(|| line.strip_suffix('\r').unwrap_or(line).len())
}
