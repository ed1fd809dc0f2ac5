//! The tokens of the output without blanks: those of the source, and those that rewrites insert.

use std::borrow::Cow;
use std::ops::Range;

use rowan::TextRange;

use super::sites::{SiteKind, Sites};
use super::{FormatEdit, rewrite, size, width};
use crate::lexer::Tokens;
use crate::syntax_kind::SyntaxKind::{self, *};

/// A token of the output.
#[derive(Clone, Copy, Debug)]
pub(super) struct Piece {
    pub(super) kind: SyntaxKind,
    /// True for a newline, and for a comment that includes the newline after it.
    pub(super) ends_line: bool,
    /// The start of the source bytes that the piece replaces. The range is empty for an inserted token.
    pub(super) start: u32,
    pub(super) end: u32,
    /// One more than the index of its text in the `new` list of [`Pieces`]; 0 if the text is the source's.
    new: u32,
    /// The number of blanks before the piece.
    pub(super) blanks: u32,
}

/// All output tokens, in order.
pub(super) struct Pieces<'t> {
    source: &'t str,
    pub(super) all: Vec<Piece>,
    new: Vec<Cow<'static, str>>,
    /// The number of pieces that end a line.
    pub(super) newlines: usize,
    /// The number of bytes of blanks after the last token. The output keeps as many blanks.
    tail: usize,
    /// The top-level items, in bytes of the source.
    items: Vec<TextRange>,
}

/// Returns the pieces of a correct text after the rewrites and before the layout.
pub(super) fn of<'t>(source: &'t str, tokens: Tokens<'_>, sites: Sites) -> Pieces<'t> {
    let range = |item: &Range<usize>| {
        TextRange::new(size(tokens.start(item.start)), size(tokens.start(item.end)))
    };
    let mut pieces = Pieces {
        source,
        all: Vec::with_capacity(tokens.len()),
        new: Vec::new(),
        newlines: 0,
        tail: tail(tokens),
        items: sites.items.iter().map(range).collect(),
    };
    let mut at = 0;
    for site in sites.all {
        pieces.take(tokens, at..site.tokens.start);
        at = site.tokens.end;
        match site.kind {
            SiteKind::Template { name } => {
                rewrite::template(&mut pieces, tokens, site.tokens, name)
            }
            SiteKind::Type => rewrite::type_constraint(&mut pieces, tokens, site.tokens),
            SiteKind::Labels => rewrite::labels(&mut pieces, tokens, site.tokens),
        }
    }
    pieces.take(tokens, at..tokens.len());
    pieces
}

/// Returns the number of bytes after the last token that is written.
fn tail(tokens: Tokens<'_>) -> usize {
    let blanks = tokens.kinds.iter().rev().take_while(|kind| matches!(kind, WHITESPACE | BOM));
    tokens.text.len() - tokens.start(tokens.len() - blanks.count())
}

impl Pieces<'_> {
    /// Copies tokens unchanged. A line comment includes its newline.
    pub(super) fn take(&mut self, tokens: Tokens<'_>, range: Range<usize>) {
        let mut at = range.start;
        while at < range.end {
            let kind = tokens.kinds[at];
            let first = at;
            at += 1;
            if matches!(kind, WHITESPACE | BOM) {
                continue;
            }
            let is_comment = kind == COMMENT && !tokens.bytes_of(first).starts_with(b"/*");
            let has_newline = is_comment && tokens.kinds.get(at) == Some(&NEWLINE);
            at += usize::from(has_newline);
            let ends_line = kind == NEWLINE || has_newline;
            self.newlines += usize::from(ends_line);
            let (start, end) = (offset(tokens.start(first)), offset(tokens.start(at)));
            self.all.push(Piece { kind, ends_line, start, end, new: 0, blanks: 0 });
        }
    }

    /// Adds a token with a new text, which replaces the given bytes of the source.
    pub(super) fn put(
        &mut self,
        kind: SyntaxKind,
        source: Range<usize>,
        text: impl Into<Cow<'static, str>>,
    ) {
        let piece = self.piece(kind, source, text);
        self.all.push(piece);
    }

    /// Creates a token with a new text without adding it to the output.
    pub(super) fn piece(
        &mut self,
        kind: SyntaxKind,
        source: Range<usize>,
        text: impl Into<Cow<'static, str>>,
    ) -> Piece {
        self.new.push(text.into());
        let new = offset(self.new.len());
        let (start, end) = (offset(source.start), offset(source.end));
        Piece { kind, ends_line: false, start, end, new, blanks: 0 }
    }

    pub(super) fn text(&self, piece: &Piece) -> &str {
        match piece.new.checked_sub(1) {
            Some(new) => &self.new[new as usize],
            None => &self.source[piece.start as usize..piece.end as usize],
        }
    }

    /// Returns the number of columns of a run of pieces, including blanks.
    pub(super) fn columns(&self, range: Range<usize>) -> usize {
        let columns = |it: &Piece| it.blanks as usize + width::columns(it.kind, self.text(it));
        self.all[range].iter().map(columns).sum()
    }

    /// Returns the formatted text.
    pub(super) fn to_text(&self) -> String {
        let source = self.source.as_bytes();
        let mut out = Vec::with_capacity(source.len() + source.len() / 8);
        for piece in &self.all {
            push_blanks(&mut out, piece.blanks as usize);
            out.extend_from_slice(match piece.new {
                0 => &source[piece.start as usize..piece.end as usize],
                _ => self.text(piece).as_bytes(),
            });
        }
        push_blanks(&mut out, self.tail);
        // Cheaper than checking the character boundaries of each token.
        String::from_utf8(out).expect("tokens begin and end at characters")
    }

    /// Returns the differences between the source and the output.
    pub(super) fn edits(&self) -> Vec<FormatEdit> {
        let mut edits = Edits { source: self.source, all: Vec::new() };
        let mut end = 0;
        for piece in &self.all {
            let (start, next) = (piece.start as usize, piece.end as usize);
            edits.replace(end..start, &" ".repeat(piece.blanks as usize));
            if piece.new > 0 {
                edits.replace(start..next, self.text(piece));
            }
            end = next;
        }
        edits.replace(end..self.source.len(), &" ".repeat(self.tail));
        edits.all
    }

    /// Returns the range extended to all top-level items that it touches.
    pub(super) fn whole_items(&self, range: TextRange) -> TextRange {
        let touches = |item: &&TextRange| item.start() < range.end() && range.start() < item.end();
        self.items.iter().filter(touches).fold(range, |all, item| all.cover(*item))
    }
}

fn push_blanks(out: &mut Vec<u8>, count: usize) {
    out.resize(out.len() + count, b' ');
}

fn offset(at: usize) -> u32 {
    u32::try_from(at).unwrap_or(u32::MAX)
}

/// A list of edits under construction.
struct Edits<'t> {
    source: &'t str,
    all: Vec<FormatEdit>,
}

impl Edits<'_> {
    /// Adds a replacement if it changes the text. A replacement that begins at the end of the previous one extends
    /// it.
    fn replace(&mut self, range: Range<usize>, text: &str) {
        if self.source[range.clone()] == *text {
            return;
        }
        let range = TextRange::new(size(range.start), size(range.end));
        match self.all.last_mut().filter(|last| last.range.end() == range.start()) {
            Some(last) => {
                last.range = last.range.cover(range);
                last.replacement.push_str(text);
            }
            None => self.all.push(FormatEdit { range, replacement: text.to_owned() }),
        }
    }
}
