//! Splits a file into chunks: top-level items that are parsed one by one.
//!
//! ```text
//! # comment          ┐
//! resource "a" "b" { │ a chunk: an item with the trivia before it,
//! }                  ┘ and with any garbage after it
//! x = 1              ─ another
//! # the end          ─ trivia at the end of a file are a chunk of their own
//! ```
//!
//! A chunk ends with a newline outside all brackets if the next line begins with a name. A block that is never
//! closed does not absorb the rest of the file: it ends before a line without indentation that looks like the
//! header of a block. In a block that *is* closed, such a line is an ordinary nested block, so files without
//! indentation are read correctly.
//!
//! **Invariant:** the end of a chunk depends only on the text from its start on and, unless something in it is
//! unclosed, only on the text up to the next chunk's first token. [`Chunks::after_edit`] relies on this.
//! **Invariant:** a brace that is not closed before the next header stays unclosed if the text from that header on
//! closes only its own brackets. So while a user types a block from top to bottom, the rest of the file is not
//! scanned again at each keystroke.

mod plain;

use std::ops::Range;

use rowan::{TextRange, TextSize};
use rustc_hash::FxHashSet;

use crate::brackets::BracketStack;
use crate::lexer::{self, Mode, Tokens};
use crate::syntax_kind::SyntaxKind::*;

/// Splits `text` into chunks that cover it exactly.
pub fn split(text: &str) -> Vec<TextRange> {
    Chunks::of(text).ranges
}

/// The chunks of a text, with the flags that are needed to update them after an edit.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Chunks {
    ranges: Vec<TextRange>,
    /// True for a chunk in which something is unclosed. Text far below it may move its end.
    unclosed: Vec<bool>,
    /// True for a chunk with a closing bracket whose partner is not in the chunk. The bracket closes one that is
    /// open above, or would close it if there were one.
    stray: Vec<bool>,
}

impl Chunks {
    /// Splits `text` into chunks that cover it exactly.
    pub fn of(text: &str) -> Self {
        match plain::cut(text) {
            Some(ranges) => {
                let nothing = vec![false; ranges.len()];
                Self { ranges, unclosed: nothing.clone(), stray: nothing }
            }
            None => Self::of_tokens(text),
        }
    }

    /// Splits any text by its tokens, without the fast path for plain texts.
    pub(crate) fn of_tokens(text: &str) -> Self {
        let cut = cut_text(text);
        Self { ranges: cut.ranges(text.len(), 0), unclosed: cut.unclosed, stray: cut.stray }
    }

    /// Returns `text` as a single chunk, whatever it contains.
    pub fn whole(text: &str) -> Self {
        let range = TextRange::up_to(size(text.len()));
        Self { ranges: vec![range], unclosed: vec![false], stray: vec![false] }
    }

    /// Returns the ranges, in order. Each starts where the previous one ends.
    pub fn ranges(&self) -> &[TextRange] {
        &self.ranges
    }

    /// Returns the chunks of `new`, if `self` are the chunks of `old`. The result equals `Chunks::of(new)`, but
    /// only the chunks that the edit can have moved are scanned again.
    pub fn after_edit(&self, old: &str, new: &str) -> Self {
        let (replaced, _) = difference(old, new);
        self.after_replacing(old.len(), replaced, new)
    }

    /// Returns the chunks of `new` after `replaced` was replaced in the old text, which was `old` bytes long. The
    /// time is proportional to the blocks around the edit, plus the number of chunks after it, whose ranges move.
    pub fn after_replacing(&self, old: usize, replaced: Range<usize>, new: &str) -> Self {
        let (prefix, suffix) = (replaced.start, old - replaced.end);
        let touched = self.ranges.partition_point(|range| usize::from(range.end()) < prefix);
        // The end of a chunk depends on the text after it, so the chunk before the edit is scanned again.
        let unclosed = self.unclosed.iter().position(|unclosed| *unclosed).unwrap_or(usize::MAX);
        let first = touched.saturating_sub(1).min(unclosed).min(self.ranges.len());
        let from = self.ranges.get(first).map_or(old, |range| usize::from(range.start()));
        // Never resume at chunk 0: only the first chunk can begin with garbage, which would now belong to the
        // chunk before it.
        let resume = self.ranges.partition_point(|range| usize::from(range.start()) < old - suffix);
        let mut resume = resume.max(1);
        let mut step = 1;
        while resume < self.ranges.len() {
            let at = usize::from(self.ranges[resume].start()) + new.len() - old;
            let window = &new[from.min(at)..at];
            let cut = cut_text(window);
            if cut.is_closed()
                || cut.is_closed_before(&self.unclosed[resume..], &self.stray[resume..])
            {
                return self.spliced(first..resume, cut, window.len(), from);
            }
            resume += step;
            step *= 2;
        }
        let window = &new[from..];
        self.spliced(first..self.ranges.len(), cut_text(window), window.len(), from)
    }

    /// Replaces the chunks `old` by those of `cut`, which covers `len` bytes from `from` on. The ranges after them
    /// move.
    fn spliced(&self, old: Range<usize>, cut: ChunkBoundaries, len: usize, from: usize) -> Self {
        let tail = &self.ranges[old.end..];
        let base = tail.first().map_or(TextSize::new(0), |range| range.start());
        let mut ranges = Vec::with_capacity(old.start + cut.starts.len() + tail.len());
        ranges.extend_from_slice(&self.ranges[..old.start]);
        ranges.extend(cut.ranges(len, from));
        ranges.extend(tail.iter().map(|range| *range - base + size(from + len)));
        let around =
            |all: &[bool], new: &[bool]| [&all[..old.start], new, &all[old.end..]].concat();
        let unclosed = around(&self.unclosed, &cut.unclosed);
        let stray = around(&self.stray, &cut.stray);
        Self { ranges, unclosed, stray }
    }
}

fn cut_text(text: &str) -> ChunkBoundaries {
    cut(lexer::lex(text, Mode::File).as_tokens(text))
}

/// Returns the part of `old` that an edit replaced, and the part of `new` that replaces it: both texts without
/// their common beginning and end. Both ranges lie on character boundaries.
pub fn difference(old: &str, new: &str) -> (Range<usize>, Range<usize>) {
    let (a, b) = (old.as_bytes(), new.as_bytes());
    let mut start = a.iter().zip(b).take_while(|(a, b)| a == b).count();
    while !old.is_char_boundary(start) || !new.is_char_boundary(start) {
        start -= 1;
    }
    let rest = a.len().min(b.len()) - start;
    let ends = a.iter().rev().zip(b.iter().rev()).take(rest);
    let mut end = ends.take_while(|(a, b)| a == b).count();
    while !old.is_char_boundary(a.len() - end) || !new.is_char_boundary(b.len() - end) {
        end -= 1;
    }
    (start..a.len() - end, start..b.len() - end)
}

fn size(at: usize) -> TextSize {
    TextSize::new(u32::try_from(at).unwrap_or(u32::MAX))
}

/// The positions at which chunks begin.
pub(crate) struct ChunkBoundaries {
    /// The index of the first token of each chunk.
    pub(crate) tokens: Vec<usize>,
    /// The offset of each chunk.
    pub(crate) starts: Vec<u32>,
    /// True for a chunk in which something is unclosed. Lexed alone, such a chunk may have other tokens, because
    /// the tokens of a heredoc depend on its end.
    pub(crate) unclosed: Vec<bool>,
    /// True for a chunk with a closing bracket whose partner is not in the chunk.
    stray: Vec<bool>,
    /// True if a template or a comment is unclosed, so that appended text may get other tokens.
    is_open_text: bool,
    /// True if the last chunk holds an item and ends with the item's newline.
    ends_with_item: bool,
}

impl ChunkBoundaries {
    /// Returns the ranges of the chunks in a text of `len` bytes that begins at `base`.
    fn ranges(&self, len: usize, base: usize) -> Vec<TextRange> {
        let ends =
            self.starts.iter().skip(1).copied().chain([u32::try_from(len).unwrap_or(u32::MAX)]);
        let base = size(base);
        self.starts
            .iter()
            .zip(ends)
            .map(|(start, end)| TextRange::new((*start).into(), end.into()) + base)
            .collect()
    }

    /// Returns true if appending a line that begins with a name cannot change these chunks.
    fn is_closed(&self) -> bool {
        self.ends_with_item && !self.unclosed.contains(&true)
    }

    /// Returns true if appending chunks with these flags cannot change these chunks. A construct that is unclosed
    /// here has ended before a header, so only an appended closing bracket without a partner can reach it.
    fn is_closed_before(&self, unclosed: &[bool], stray: &[bool]) -> bool {
        let is_complete = !unclosed.contains(&true) && !stray.contains(&true);
        self.ends_with_item && !self.is_open_text && is_complete
    }
}

/// Finds the chunks of a run of tokens in linear time: one pass pairs the brackets, another walks over the items.
pub(crate) fn cut(tokens: Tokens<'_>) -> ChunkBoundaries {
    let mut walk = Walk { tokens, outline: Outline::of(tokens), at: 0 };
    let mut cut = ChunkBoundaries {
        tokens: Vec::new(),
        starts: Vec::new(),
        unclosed: Vec::new(),
        stray: Vec::new(),
        is_open_text: walk.is_any_text_open(),
        ends_with_item: false,
    };
    while walk.at < tokens.len() {
        cut.tokens.push(walk.at);
        cut.starts.push(tokens.starts[walk.at]);
        let start = walk.at;
        let end = walk.chunk();
        cut.ends_with_item = end == End::Item;
        cut.unclosed.push(end == End::Unclosed || walk.has_open_comment(start..walk.at));
        cut.stray.push(walk.outline.has_stray(start..walk.at));
    }
    cut
}

/// The way in which a chunk ends.
#[derive(Clone, Copy, PartialEq, Eq)]
enum End {
    /// With the newline of its item.
    Item,
    /// With the end of the text, or with trivia only.
    Text,
    /// Something in the chunk is unclosed.
    Unclosed,
}

/// The bracket structure of a text.
struct Outline {
    /// For each opening bracket, the token that closes it; 0 if nothing closes it.
    partners: Vec<u32>,
    /// Tokens without indentation that begin the header of a block while a bracket is open.
    headers: Vec<usize>,
    /// The closing brackets, each with the opening bracket that it closes.
    closers: Vec<(usize, Option<usize>)>,
}

impl Outline {
    fn of(tokens: Tokens<'_>) -> Self {
        let mut outline =
            Self { partners: vec![0; tokens.len()], headers: Vec::new(), closers: Vec::new() };
        let mut stack = BracketStack::default();
        // The open braces that hold a body. All other braces belong to expressions.
        let mut bodies = FxHashSet::default();
        let mut line_start = Some(0);
        for (at, &kind) in tokens.kinds.iter().enumerate() {
            if let (IDENT, Some(first)) = (kind, line_start) {
                let mut in_body = stack.innermost().is_none_or(|open| bodies.contains(&open));
                if first == at && !stack.is_empty() && outline.note_header(tokens, at, in_body) {
                    stack.clear();
                    in_body = true;
                }
                if in_body && let Some(brace) = header_brace(tokens, at) {
                    bodies.insert(brace);
                }
            }
            match kind {
                NEWLINE | STRING_LIT | HEREDOC_OPEN => line_start = Some(at + 1),
                kind if kind.is_trivia() => {}
                _ => line_start = None,
            }
            let opener = stack.take(kind, at);
            if let Some(opener) = opener {
                outline.partners[opener] = u32::try_from(at).unwrap_or(0);
                bodies.remove(&opener);
            }
            if matches!(kind, R_PAREN | R_BRACK | R_BRACE | SEQ_END | HEREDOC_CLOSE) {
                outline.closers.push((at, opener));
            }
        }
        outline
    }

    /// Records a block header without indentation. Returns true if the header ends all open brackets. In a body it
    /// may begin a nested block, so it ends nothing. In an expression it can be nothing else (and the lexer has
    /// left any template there).
    fn note_header(&mut self, tokens: Tokens<'_>, at: usize, in_body: bool) -> bool {
        let is_header = match in_body {
            true => header_brace(tokens, at).is_some(),
            false => lexer::is_block_header(&tokens.text[tokens.start(at)..]),
        };
        if is_header {
            self.headers.push(at);
        }
        is_header && !in_body
    }

    fn partner(&self, at: usize) -> Option<usize> {
        Some(self.partners[at] as usize).filter(|partner| *partner > at)
    }

    /// Returns true if a closing bracket among `tokens` closes a bracket before them, or none.
    fn has_stray(&self, tokens: Range<usize>) -> bool {
        let first = self.closers.partition_point(|(at, _)| *at < tokens.start);
        let here = self.closers[first..].iter().take_while(|(at, _)| *at < tokens.end);
        here.into_iter().any(|(_, opener)| *opener < Some(tokens.start))
    }

    /// Returns the first header after `at`.
    fn header_after(&self, at: usize) -> Option<usize> {
        let index = self.headers.partition_point(|header| *header <= at);
        self.headers.get(index).copied()
    }
}

/// Returns the brace that ends the header of a block: a name, then names and strings, then `{`.
fn header_brace(tokens: Tokens<'_>, mut at: usize) -> Option<usize> {
    loop {
        at += 1;
        match tokens.kinds.get(at)? {
            L_BRACE => return Some(at),
            // A newline follows a line comment, so a line comment still ends the search.
            WHITESPACE | COMMENT | IDENT | OPEN_QUOTE | QUOTED_LIT | CLOSE_QUOTE => {}
            _ => return None,
        }
    }
}

/// The state of a walk from item to item.
struct Walk<'a> {
    tokens: Tokens<'a>,
    outline: Outline,
    at: usize,
}

impl Walk<'_> {
    /// Advances to the end of the chunk.
    fn chunk(&mut self) -> End {
        let mut has_item = false;
        while let Some(&kind) = self.tokens.kinds.get(self.at) {
            match kind {
                NEWLINE if has_item => {
                    self.at += 1;
                    let next = self.next_significant();
                    if matches!(self.tokens.kinds.get(next), None | Some(IDENT)) {
                        return End::Item;
                    }
                    // Garbage belongs to the item before it.
                    self.at = next;
                }
                L_BRACE | L_BRACK | L_PAREN | INTERP_OPEN | DIRECTIVE_OPEN | HEREDOC_OPEN => {
                    has_item = true;
                    let Some(partner) = self.outline.partner(self.at) else {
                        self.end_unclosed();
                        return End::Unclosed;
                    };
                    self.at = partner + 1;
                }
                kind => {
                    has_item |= !kind.is_trivia();
                    self.at += 1;
                }
            }
        }
        End::Text
    }

    fn is_any_text_open(&self) -> bool {
        self.tokens.kinds.iter().enumerate().any(|(at, kind)| match kind {
            INTERP_OPEN | DIRECTIVE_OPEN | HEREDOC_OPEN => self.outline.partner(at).is_none(),
            COMMENT => lexer::is_open_comment(self.tokens.text_of(at)),
            _ => false,
        })
    }

    /// Returns true if one of these tokens is a comment that is never closed.
    fn has_open_comment(&self, tokens: Range<usize>) -> bool {
        let kinds = self.tokens.kinds[tokens.clone()].iter().zip(tokens);
        let mut comments = kinds.filter(|(kind, _)| **kind == COMMENT);
        comments.any(|(_, at)| lexer::is_open_comment(self.tokens.text_of(at)))
    }

    fn next_significant(&self) -> usize {
        let trivia = self.tokens.kinds[self.at..].iter().take_while(|kind| kind.is_trivia());
        self.at + trivia.count()
    }

    /// Ends the chunk at a bracket that nothing closes: before the next header, or at the end of the file.
    fn end_unclosed(&mut self) {
        let Some(header) = self.outline.header_after(self.at) else {
            self.at = self.tokens.len();
            return;
        };
        let before = &self.tokens.kinds[self.at..header];
        let comments = before.iter().rev().take_while(|kind| kind.is_trivia()).count();
        let trivia = header - comments..header;
        // The lines of trivia right above the header belong to the header's chunk.
        let newline = trivia.into_iter().find(|at| self.tokens.kinds[*at] == NEWLINE);
        self.at = newline.map_or(header, |at| at + 1);
    }
}

#[cfg(test)]
mod tests;
