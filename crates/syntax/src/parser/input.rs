//! The tokens as the grammar sees them: no trivia, possible keywords with kinds of their own, newlines as a bit.

use rowan::{TextRange, TextSize};

use crate::lexer::Tokens;
use crate::syntax_kind::SyntaxKind::{self, *};

/// A list of tokens without trivia.
pub(crate) struct Input<'t> {
    tokens: Tokens<'t>,
    kinds: Vec<SyntaxKind>,
    /// The index of each token among all tokens. The top bit is set if a newline comes before the token.
    places: Vec<u32>,
}

const NEWLINE_BIT: u32 = 1 << 31;

impl<'t> Input<'t> {
    pub(crate) fn new(tokens: Tokens<'t>) -> Self {
        Self::new_in(tokens, Vec::new(), Vec::new())
    }

    /// Creates the list and reuses the memory of `kinds` and `places`.
    pub(super) fn new_in(
        tokens: Tokens<'t>,
        mut kinds: Vec<SyntaxKind>,
        mut places: Vec<u32>,
    ) -> Self {
        let capacity = tokens.len() * 2 / 3 + 2;
        kinds.clear();
        kinds.reserve(capacity);
        places.clear();
        places.reserve(capacity);
        let mut newline = 0;
        for (at, &kind) in (0..).zip(tokens.kinds) {
            match kind {
                NEWLINE => newline = NEWLINE_BIT,
                kind if kind.is_trivia() => {}
                kind => {
                    kinds.push(if kind == IDENT {
                        word_kind(tokens.text_of(at as usize))
                    } else {
                        kind
                    });
                    places.push(at | newline);
                    newline = 0;
                }
            }
        }
        kinds.push(EOF);
        places.push(u32::try_from(tokens.len()).unwrap_or(NEWLINE_BIT - 1) | newline);
        Self { tokens, kinds, places }
    }

    /// Returns the buffers, for [`Input::new_in`].
    pub(super) fn into_lists(self) -> (Vec<SyntaxKind>, Vec<u32>) {
        (self.kinds, self.places)
    }

    pub(crate) fn len(&self) -> usize {
        self.kinds.len()
    }

    pub(crate) fn kinds(&self) -> impl Iterator<Item = SyntaxKind> + '_ {
        self.kinds.iter().copied()
    }

    #[inline]
    pub(crate) fn kind(&self, pos: usize) -> SyntaxKind {
        self.kinds.get(pos).copied().unwrap_or(EOF)
    }

    #[inline]
    pub(crate) fn newline_before(&self, pos: usize) -> bool {
        self.places.get(pos).is_some_and(|place| place & NEWLINE_BIT != 0)
    }

    #[inline]
    fn place(&self, pos: usize) -> usize {
        let place = self.places.get(pos).or(self.places.last()).copied().unwrap_or(0);
        (place & !NEWLINE_BIT) as usize
    }

    #[inline]
    pub(crate) fn touches_previous(&self, pos: usize) -> bool {
        pos > 0 && self.place(pos) == self.place(pos - 1) + 1
    }

    #[inline]
    pub(crate) fn text(&self, pos: usize) -> &'t str {
        if self.kind(pos) == EOF { "" } else { self.tokens.text_of(self.place(pos)) }
    }

    #[inline]
    pub(crate) fn range(&self, pos: usize) -> TextRange {
        let place = self.place(pos);
        let end = (place + 1).min(self.tokens.len());
        self.tokens_range(place, end)
    }

    /// Returns the range of the first newline before the token, including the comment that it ends, because HCL
    /// reads the two as one token.
    pub(crate) fn newline_range(&self, pos: usize) -> TextRange {
        let end = self.place(pos);
        let mut at = if pos == 0 { 0 } else { self.place(pos - 1) + 1 };
        while at < end && self.tokens.kinds[at] != NEWLINE {
            at += 1;
        }
        let is_line_comment = |at: usize| {
            self.tokens.kinds[at] == COMMENT && !self.tokens.text_of(at).starts_with("/*")
        };
        let start = if at > 0 && is_line_comment(at - 1) { at - 1 } else { at };
        self.tokens_range(start, (at + 1).min(self.tokens.len()))
    }

    /// Returns the range of the first run of adjacent newlines before the token, which HCL reports as one inside a
    /// string.
    pub(crate) fn newline_run(&self, pos: usize) -> TextRange {
        let from = if pos == 0 { 0 } else { self.place(pos - 1) + 1 };
        let between = &self.tokens.kinds[from..self.place(pos)];
        let skipped = between.iter().take_while(|it| **it != NEWLINE).count();
        let newlines = between[skipped..].iter().take_while(|it| **it == NEWLINE).count();
        self.tokens_range(from + skipped, from + skipped + newlines)
    }

    #[inline]
    fn tokens_range(&self, start: usize, end: usize) -> TextRange {
        let at = |token: usize| TextSize::new(self.tokens.starts[token] - self.tokens.base);
        TextRange::new(at(start), at(end))
    }
}

/// Returns the kind of a word. Some words are keywords in some contexts; all of them can also be names.
#[inline]
fn word_kind(text: &str) -> SyntaxKind {
    match text.len() {
        2..=6 => match text {
            "in" => IN_KW,
            "if" => IF_KW,
            "for" => FOR_KW,
            "true" => TRUE_KW,
            "null" => NULL_KW,
            "else" => ELSE_KW,
            "false" => FALSE_KW,
            "endif" => ENDIF_KW,
            "endfor" => ENDFOR_KW,
            _ => IDENT,
        },
        _ => IDENT,
    }
}
