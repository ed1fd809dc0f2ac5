//! A file as a list of chunks: top-level items that are parsed one by one.
//!
//! ```text
//! # comment          ┐
//! resource "a" "b" { │ a chunk: an item with the trivia before it,
//! }                  ┘ and with any garbage after it
//! x = 1              ─ another
//! # the end          ─ trivia at the end of a file are a chunk of their own
//! ```
//!
//! A chunk ends with a newline outside all brackets, where the next line begins with a name. A block that is never closed does not take the rest of
//! the file with it: it ends where a line at the very left looks like the header of a block. In a block that *is* closed such a line is an ordinary nested
//! block, so a file without indentation is read right.
//!
//! **Invariant:** where a chunk ends depends only on the text from its start on, and, unless something in it is unclosed, only on the text up to the
//! next chunk's first token. [`Chunks::after_edit`] rests on it.
//! **Invariant:** a brace that is not closed before the next header stays so, if what follows closes nothing but its own brackets. So while a block is
//! typed from top to bottom, the rest of the file is not read at each key.

mod plain;

use std::ops::Range;

use rowan::{TextRange, TextSize};
use rustc_hash::FxHashSet;

use crate::brackets::BracketStack;
use crate::lexer::{self, Mode, Tokens};
use crate::syntax_kind::SyntaxKind::*;

/// Cuts `text` into chunks that cover it exactly.
pub fn split(text: &str) -> Vec<TextRange> {
    Chunks::of(text).ranges
}

/// The chunks of a text, with what is needed to follow an edit.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Chunks {
    ranges: Vec<TextRange>,
    /// Whether something in the chunk is unclosed, so that text far below may move its end.
    unclosed: Vec<bool>,
    /// Whether a bracket in the chunk closes nothing in it, so that it closes what is left open above, or would.
    stray: Vec<bool>,
}

impl Chunks {
    /// Cuts `text` into chunks that cover it exactly.
    pub fn of(text: &str) -> Self {
        match plain::cut(text) {
            Some(ranges) => {
                let nothing = vec![false; ranges.len()];
                Self { ranges, unclosed: nothing.clone(), stray: nothing }
            }
            None => Self::of_tokens(text),
        }
    }

    /// The same by the tokens, whatever the text is.
    pub(crate) fn of_tokens(text: &str) -> Self {
        let cut = cut_text(text);
        Self { ranges: cut.ranges(text.len(), 0), unclosed: cut.unclosed, stray: cut.stray }
    }

    /// A text that is one chunk, whatever is in it.
    pub fn whole(text: &str) -> Self {
        let range = TextRange::up_to(size(text.len()));
        Self { ranges: vec![range], unclosed: vec![false], stray: vec![false] }
    }

    /// The ranges, in order; each starts where the one before ends.
    pub fn ranges(&self) -> &[TextRange] {
        &self.ranges
    }

    /// The chunks of `new`, where `self` are those of `old`. Equal to `Chunks::of(new)`, but only what an edit can have moved is read again.
    pub fn after_edit(&self, old: &str, new: &str) -> Self {
        let (replaced, _) = difference(old, new);
        self.after_replacing(old.len(), replaced, new)
    }

    /// The same where it is known which bytes of the old text, of `old` bytes in all, were replaced. Time goes with the blocks around the edit, and with
    /// the number of chunks for moving those behind it.
    pub fn after_replacing(&self, old: usize, replaced: Range<usize>, new: &str) -> Self {
        let (prefix, suffix) = (replaced.start, old - replaced.end);
        let touched = self.ranges.partition_point(|range| usize::from(range.end()) < prefix);
        // What comes after a chunk decides whether it ends there, so the one before is looked at again.
        let unclosed = self.unclosed.iter().position(|unclosed| *unclosed).unwrap_or(usize::MAX);
        let first = touched.saturating_sub(1).min(unclosed).min(self.ranges.len());
        let from = self.ranges.get(first).map_or(old, |range| usize::from(range.start()));
        // Only the first chunk can begin with garbage, which would belong to what is now before it.
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

    /// Replaces the chunks `old` by those of `cut`, which covers `len` bytes at `from`; the rest moves.
    fn spliced(&self, old: Range<usize>, cut: Cut, len: usize, from: usize) -> Self {
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

fn cut_text(text: &str) -> Cut {
    cut(lexer::lex(text, Mode::File).as_tokens(text))
}

/// What an edit replaced in the old text, and what stands for it in the new one: all but what both begin and end with. Both
/// begin and end at characters.
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

/// Where chunks begin.
pub(crate) struct Cut {
    /// The first token of each chunk.
    pub(crate) tokens: Vec<usize>,
    /// The offset of each chunk.
    pub(crate) starts: Vec<u32>,
    /// Whether something in the chunk is unclosed. Alone, such a chunk may have other tokens: those of a heredoc depend on its end.
    pub(crate) unclosed: Vec<bool>,
    /// Whether a bracket in the chunk closes nothing in it.
    stray: Vec<bool>,
    /// A template or a comment is unclosed: what follows may have other tokens.
    is_open_text: bool,
    /// The last chunk holds an item and ends with its newline.
    ends_with_item: bool,
}

impl Cut {
    /// The ranges of the chunks in a text of `len` bytes that begins at `base`.
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

    /// Whether the chunks stay what they are when a line that begins with a name is appended.
    fn is_closed(&self) -> bool {
        self.ends_with_item && !self.unclosed.contains(&true)
    }

    /// Whether the chunks stay what they are when chunks are appended of which it is known whether something in them is unclosed, or closes nothing. What
    /// is unclosed here has ended before a header, so only a bracket that is left over can reach it.
    fn is_closed_before(&self, unclosed: &[bool], stray: &[bool]) -> bool {
        let is_complete = !unclosed.contains(&true) && !stray.contains(&true);
        self.ends_with_item && !self.is_open_text && is_complete
    }
}

/// Finds the chunks of a run of tokens. Linear: one pass pairs the brackets, another walks over the items.
pub(crate) fn cut(tokens: Tokens<'_>) -> Cut {
    let mut walk = Walk { tokens, outline: Outline::of(tokens), at: 0 };
    let mut cut = Cut {
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

/// How a chunk ends.
#[derive(Clone, Copy, PartialEq, Eq)]
enum End {
    /// With the newline of its item.
    Item,
    /// With the text, or with trivia only.
    Text,
    /// Something in it is unclosed.
    Unclosed,
}

/// What the brackets of a text say.
struct Outline {
    /// For each opening bracket, the token that closes it; 0 for none.
    partners: Vec<u32>,
    /// Tokens at the very left that begin the header of a block although something is open.
    headers: Vec<usize>,
    /// Closing brackets, each with what it closes.
    closers: Vec<(usize, Option<usize>)>,
}

impl Outline {
    fn of(tokens: Tokens<'_>) -> Self {
        let mut outline =
            Self { partners: vec![0; tokens.len()], headers: Vec::new(), closers: Vec::new() };
        let mut stack = BracketStack::default();
        // Which open braces hold a body; the rest are in expressions.
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

    /// Notes a header at the very left of its line. Answers whether it ends everything that is open: in a body it may be a nested block, in an
    /// expression it cannot be anything (and the lexer has left any template there).
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

    /// Whether some of the tokens closes something before them, or nothing.
    fn has_stray(&self, tokens: Range<usize>) -> bool {
        let first = self.closers.partition_point(|(at, _)| *at < tokens.start);
        let here = self.closers[first..].iter().take_while(|(at, _)| *at < tokens.end);
        here.into_iter().any(|(_, opener)| *opener < Some(tokens.start))
    }

    /// The first header after `at`.
    fn header_after(&self, at: usize) -> Option<usize> {
        let index = self.headers.partition_point(|header| *header <= at);
        self.headers.get(index).copied()
    }
}

/// The brace that ends the header of a block: a name, names and strings, `{`.
fn header_brace(tokens: Tokens<'_>, mut at: usize) -> Option<usize> {
    loop {
        at += 1;
        match tokens.kinds.get(at)? {
            L_BRACE => return Some(at),
            // A comment to the end of the line has a newline behind it.
            WHITESPACE | COMMENT | IDENT | OPEN_QUOTE | QUOTED_LIT | CLOSE_QUOTE => {}
            _ => return None,
        }
    }
}

/// A walk from item to item.
struct Walk<'a> {
    tokens: Tokens<'a>,
    outline: Outline,
    at: usize,
}

impl Walk<'_> {
    /// Goes to the end of the chunk.
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

    /// Whether a comment has no end that begins at one of these tokens.
    fn has_open_comment(&self, tokens: Range<usize>) -> bool {
        let kinds = self.tokens.kinds[tokens.clone()].iter().zip(tokens);
        let mut comments = kinds.filter(|(kind, _)| **kind == COMMENT);
        comments.any(|(_, at)| lexer::is_open_comment(self.tokens.text_of(at)))
    }

    fn next_significant(&self) -> usize {
        let trivia = self.tokens.kinds[self.at..].iter().take_while(|kind| kind.is_trivia());
        self.at + trivia.count()
    }

    /// At a bracket that nothing closes: the chunk ends before the next header, or with the file.
    fn end_unclosed(&mut self) {
        let Some(header) = self.outline.header_after(self.at) else {
            self.at = self.tokens.len();
            return;
        };
        let before = &self.tokens.kinds[self.at..header];
        let comments = before.iter().rev().take_while(|kind| kind.is_trivia()).count();
        let trivia = header - comments..header;
        // The lines right above the header go with it.
        let newline = trivia.into_iter().find(|at| self.tokens.kinds[*at] == NEWLINE);
        self.at = newline.map_or(header, |at| at + 1);
    }
}

#[cfg(test)]
mod tests;
