//! The parser on which the grammar is built: a cursor over tokens and a list of events.
//!
//! ```text
//! Start(ATTRIBUTE) Token Token Start(LITERAL) Token Finish Finish
//! ```
//!
//! A node can be put around a completed one ([`CompletedMarker::precede`]): its start is appended, and the inner
//! start gets a link to it (`parent`), which [`crate::sink`] follows.

mod input;

use std::borrow::Cow;
use std::mem;

use rowan::{TextRange, TextSize};
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

pub(crate) use self::input::Input;
use crate::MAX_DEPTH;
use crate::brackets;
use crate::error::SyntaxError;
use crate::lexer::Tokens;
use crate::syntax_kind::SyntaxKind::{self, *};

/// The maximum number of nodes that the grammar opens between two checks of the depth.
const SLACK: usize = 16;

/// One step in building a tree.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Event {
    /// Opens a node. `parent`, if not 0, is the distance in events to the start of its parent.
    Start { kind: SyntaxKind, parent: u32 },
    /// Closes the innermost open node.
    Finish,
    /// Takes the next token that is not trivia.
    Token(SyntaxKind),
}

/// An error with the parse position at which it was found. A missing brace, for example, is found at the end of
/// the file.
#[derive(Debug)]
pub(crate) struct LocatedError {
    pub(crate) at: TextSize,
    pub(crate) error: SyntaxError,
}

/// A set of token kinds.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TokenSet(u128);

impl TokenSet {
    /// The empty set: with it, a skip stops only at the tokens that stop every skip.
    pub(crate) const EMPTY: Self = Self::new(&[]);

    pub(crate) const fn new(kinds: &[SyntaxKind]) -> Self {
        let mut bits = 0;
        let mut at = 0;
        while at < kinds.len() {
            bits |= 1 << (kinds[at] as u8);
            at += 1;
        }
        Self(bits)
    }

    #[inline]
    pub(crate) const fn contains(self, kind: SyntaxKind) -> bool {
        self.0 >> (kind as u8) & 1 == 1
    }
}

/// A cursor over the significant tokens, and the result so far.
pub(crate) struct Parser<'t> {
    input: &'t Input<'t>,
    pos: usize,
    /// True if a newline is a token of its own at this position. See [`Parser::with_newlines`].
    newlines: bool,
    /// True if the newline before the current token has been taken.
    newline_taken: bool,
    events: Vec<Event>,
    errors: Vec<LocatedError>,
    /// The number of errors, reported or not.
    failures: usize,
    /// True if something in brackets had an error, which may be the cause of a missing brace.
    doubtful: bool,
    /// For each open node, the height of its tallest child.
    heights: Vec<u32>,
    /// The names of the attributes of all open bodies, those of the innermost body last.
    names: SmallVec<[(&'t str, TextRange); 8]>,
    /// The index at which the names of the innermost body begin.
    names_from: usize,
    /// True if excessive nesting has been reported.
    too_deep: bool,
    /// For each opening bracket, its closing one; computed at the first error that needs it.
    pairs: Option<Vec<u32>>,
}

/// The buffers of a finished parse, for reuse by the next one. They hold no text.
#[derive(Default)]
pub(crate) struct SpareBuffers {
    kinds: Vec<SyntaxKind>,
    places: Vec<u32>,
    pub(crate) events: Vec<Event>,
    heights: Vec<u32>,
}

/// An open node.
#[must_use]
pub(crate) struct Marker {
    event: usize,
}

/// A completed node.
#[derive(Clone, Copy)]
pub(crate) struct CompletedMarker {
    event: usize,
    height: u32,
}

impl<'t> Parser<'t> {
    pub(crate) fn new(input: &'t Input<'t>, newlines: bool) -> Self {
        Self::new_in(input, newlines, Vec::new(), Vec::new())
    }

    /// Creates a parser that reuses the memory of `events` and `heights`.
    fn new_in(
        input: &'t Input<'t>,
        newlines: bool,
        mut events: Vec<Event>,
        mut heights: Vec<u32>,
    ) -> Self {
        events.clear();
        events.reserve(input.len() * 3);
        heights.clear();
        Self {
            input,
            pos: 0,
            newlines,
            newline_taken: false,
            events,
            errors: Vec::new(),
            failures: 0,
            doubtful: false,
            heights,
            names: SmallVec::new(),
            names_from: 0,
            too_deep: false,
            pairs: None,
        }
    }

    pub(crate) fn finish(self) -> (Vec<Event>, Vec<LocatedError>) {
        debug_assert!(self.heights.is_empty(), "every node that was opened is closed");
        (self.events, self.errors)
    }

    /// Runs the grammar over tokens. Returns the events that build the tree, and the errors. Takes its buffers
    /// from `spare` and returns them to it.
    pub(crate) fn run(
        tokens: Tokens<'_>,
        newlines: bool,
        root: fn(&mut Parser<'_>),
        spare: &mut SpareBuffers,
    ) -> (Vec<Event>, Vec<LocatedError>) {
        let input =
            Input::new_in(tokens, mem::take(&mut spare.kinds), mem::take(&mut spare.places));
        let (events, heights) = (mem::take(&mut spare.events), mem::take(&mut spare.heights));
        let mut parser = Parser::new_in(&input, newlines, events, heights);
        root(&mut parser);
        spare.heights = mem::take(&mut parser.heights);
        let result = parser.finish();
        (spare.kinds, spare.places) = input.into_lists();
        result
    }

    // --- looking ---

    /// Returns the current token. Where newlines matter, a newline before it comes first.
    #[inline]
    pub(crate) fn current(&self) -> SyntaxKind {
        if self.newlines && !self.newline_taken && self.input.newline_before(self.pos) {
            NEWLINE
        } else {
            self.input.kind(self.pos)
        }
    }

    #[inline]
    pub(crate) fn at(&self, kind: SyntaxKind) -> bool {
        self.current() == kind
    }

    /// Returns true if the current token can be a name.
    #[inline]
    pub(crate) fn at_name(&self) -> bool {
        self.current().is_name()
    }

    /// Returns the token `n` after the current one, not counting newlines.
    #[inline]
    pub(crate) fn nth(&self, n: usize) -> SyntaxKind {
        self.input.kind(self.pos + n)
    }

    /// Returns true if a newline comes before the token `n` after the current one.
    pub(crate) fn newline_before_nth(&self, n: usize) -> bool {
        self.input.newline_before(self.pos + n)
    }

    /// Returns true if nothing separates the current token from the previous one.
    pub(crate) fn touches_previous(&self) -> bool {
        self.input.touches_previous(self.pos)
    }

    pub(crate) fn text(&self) -> &'t str {
        self.input.text(self.pos)
    }

    pub(crate) fn range(&self) -> TextRange {
        if self.at(NEWLINE) {
            self.input.newline_range(self.pos)
        } else {
            self.input.range(self.pos)
        }
    }

    /// Returns the range of the newlines before the current token, where they end a string.
    pub(crate) fn newline_run(&self) -> TextRange {
        self.input.newline_run(self.pos)
    }

    /// Returns true if a newline is a token of its own at this position.
    pub(crate) fn newlines_matter(&self) -> bool {
        self.newlines
    }

    pub(crate) fn nth_range(&self, n: usize) -> TextRange {
        self.input.range(self.pos + n)
    }

    pub(crate) fn previous_range(&self) -> TextRange {
        self.input.range(self.pos.saturating_sub(1))
    }

    pub(crate) fn pos(&self) -> usize {
        self.pos
    }

    /// Returns true if a newline comes between the token at `start` and the last token that was taken.
    pub(crate) fn has_newline_since(&self, start: usize) -> bool {
        (start + 1..self.pos).any(|at| self.input.newline_before(at))
    }

    /// Returns true if the current line can only be an item of a body: `name =`, or the header of a block. No
    /// expression continues in this way except inside an object, where newlines matter and this is not called.
    pub(crate) fn at_body_item_line(&self) -> bool {
        if self.newline_taken || !self.input.newline_before(self.pos) || !self.nth(0).is_name() {
            return false;
        }
        if self.nth(1) == EQ {
            return !self.newline_before_nth(1);
        }
        let mut n = 0;
        loop {
            match self.nth(n) {
                FOR_KW | IN_KW | IF_KW => return false,
                kind if kind.is_name() || matches!(kind, OPEN_QUOTE | QUOTED_LIT | CLOSE_QUOTE) => {
                    n += 1
                }
                kind => return kind == L_BRACE && n > 0,
            }
            if self.newline_before_nth(n) {
                return false;
            }
        }
    }

    // --- taking ---

    /// Takes the current token as `kind`.
    #[inline]
    pub(crate) fn bump_as(&mut self, kind: SyntaxKind) {
        if self.input.kind(self.pos) != EOF {
            self.events.push(Event::Token(kind));
            self.pos += 1;
            self.newline_taken = false;
        }
    }

    /// Takes the current token. A word that could be a keyword is taken as a name.
    #[inline]
    pub(crate) fn bump(&mut self) {
        let kind = self.input.kind(self.pos);
        self.bump_as(if kind.is_name() { IDENT } else { kind });
    }

    /// Takes the current token if it has that kind. Taking a newline only hides it from the grammar and adds no
    /// event.
    #[inline]
    pub(crate) fn eat(&mut self, kind: SyntaxKind) -> bool {
        if !self.at(kind) {
            return false;
        }
        if kind == NEWLINE {
            self.newline_taken = true;
        } else {
            self.bump_as(kind);
        }
        true
    }

    /// Runs `parse` with newlines significant or not.
    pub(crate) fn with_newlines<T>(
        &mut self,
        newlines: bool,
        parse: impl FnOnce(&mut Self) -> T,
    ) -> T {
        let outer = mem::replace(&mut self.newlines, newlines);
        let result = parse(self);
        self.newlines = outer;
        result
    }

    // --- building ---

    #[inline]
    pub(crate) fn start(&mut self) -> Marker {
        let event = self.events.len();
        self.events.push(Event::Start { kind: TOMBSTONE, parent: 0 });
        self.heights.push(0);
        Marker { event }
    }

    /// Returns true if another level of nesting would make the tree too deep.
    pub(crate) fn is_deep(&self) -> bool {
        self.heights.len() + SLACK >= MAX_DEPTH
    }

    /// Returns true if a node around `inner` would make the tree too deep.
    pub(crate) fn is_tall(&self, inner: CompletedMarker) -> bool {
        self.heights.len() + inner.height as usize + SLACK >= MAX_DEPTH
    }

    // --- errors ---

    /// Returns the number of errors so far. A caller compares it to find out whether a part had an error.
    pub(crate) fn failures(&self) -> usize {
        self.failures
    }

    /// Parses something in brackets and records whether it had an error.
    pub(crate) fn in_brackets<T>(&mut self, read: impl FnOnce(&mut Self) -> T) -> T {
        let failures = self.failures;
        let result = read(self);
        self.doubtful |= self.failures > failures;
        result
    }

    /// Parses something in brackets in which newlines have no meaning.
    pub(crate) fn in_brackets_without_newlines<T>(
        &mut self,
        read: impl FnOnce(&mut Self) -> T,
    ) -> T {
        self.in_brackets(|p| p.with_newlines(false, read))
    }

    /// Sets the flag that brackets are in doubt, and returns its previous value.
    pub(crate) fn replace_doubt(&mut self, doubtful: bool) -> bool {
        mem::replace(&mut self.doubtful, doubtful)
    }

    /// Reports an error at the current token.
    pub(crate) fn error(
        &mut self,
        summary: impl Into<Cow<'static, str>>,
        detail: impl Into<Cow<'static, str>>,
    ) {
        self.failures += 1;
        // An invalid token already has its own error.
        if self.nth(0) != INVALID || self.at(NEWLINE) {
            self.report(summary, detail, self.range());
        }
    }

    /// Reports an error at the given range.
    pub(crate) fn error_at(
        &mut self,
        range: TextRange,
        summary: impl Into<Cow<'static, str>>,
        detail: impl Into<Cow<'static, str>>,
    ) {
        self.failures += 1;
        self.report(summary, detail, range);
    }

    /// Adds an error unless the previous one begins at the same position: the first one is the cause.
    fn report(
        &mut self,
        summary: impl Into<Cow<'static, str>>,
        detail: impl Into<Cow<'static, str>>,
        range: TextRange,
    ) {
        if self.errors.last().is_none_or(|last| last.error.range.start() != range.start()) {
            let at = self.range().start().max(range.start());
            self.errors.push(LocatedError { at, error: SyntaxError::new(summary, detail, range) });
        }
    }

    /// Reports excessive nesting, but only once per text.
    pub(crate) fn nesting_error(&mut self) {
        if mem::replace(&mut self.too_deep, true) {
            self.failures += 1;
            return;
        }
        self.error(
            "Nesting too deep",
            "This is nested deeper than anything that can be read here. Move a part of it into a \
             local value or a block of its own.",
        );
    }

    /// Reports an error that names a second position.
    pub(crate) fn error_with_place(&mut self, error: SyntaxError) {
        self.failures += 1;
        self.errors.push(LocatedError { at: error.range.start(), error });
    }

    // --- names in a body ---

    /// Begins a body. The result must be passed to [`Parser::close_names`].
    pub(crate) fn open_names(&mut self) -> usize {
        mem::replace(&mut self.names_from, self.names.len())
    }

    /// Records the current token as the name of an attribute.
    pub(crate) fn note_name(&mut self) {
        self.names.push((self.text(), self.range()));
    }

    /// Ends a body and reports attributes that are set twice; the first one counts.
    pub(crate) fn close_names(&mut self, outer: usize) {
        let mut first_of = FxHashMap::default();
        if self.names.len() - self.names_from > 1 {
            for (name, range) in &self.names[self.names_from..] {
                let first = *first_of.entry(*name).or_insert(*range);
                if first != *range {
                    let error = SyntaxError::attribute_redefined(name, *range, first);
                    self.errors.push(LocatedError { at: range.start(), error });
                }
            }
        }
        self.names.truncate(self.names_from);
        self.names_from = outer;
    }

    /// Takes tokens into an error node. Stops at a token in `set`, at a closing bracket whose opening bracket was
    /// not skipped, at the end of the line if newlines matter, and at a line that can only be an item of a body.
    /// Brackets that are closed are skipped as a whole.
    pub(crate) fn skip_to(&mut self, set: TokenSet) {
        let mut marker = None;
        loop {
            let kind = self.current();
            if matches!(kind, EOF | NEWLINE)
                || set.contains(kind)
                || CLOSERS.contains(kind)
                || self.at_body_item_line()
            {
                break;
            }
            marker.get_or_insert_with(|| self.start());
            let last =
                if OPENERS.contains(kind) { self.partner().unwrap_or(self.pos) } else { self.pos };
            while self.pos <= last {
                self.bump();
            }
        }
        if let Some(marker) = marker {
            marker.complete(self, ERROR);
        }
    }

    /// Returns the position of the bracket that closes the current one.
    fn partner(&mut self) -> Option<usize> {
        let input = self.input;
        let pairs = self.pairs.get_or_insert_with(|| brackets::pair(input.kinds()));
        pairs.get(self.pos).map(|at| *at as usize).filter(|at| *at > self.pos)
    }

    /// Takes one token into an error node.
    pub(crate) fn skip_one(&mut self) {
        let marker = self.start();
        self.bump();
        marker.complete(self, ERROR);
    }
}

const OPENERS: TokenSet =
    TokenSet::new(&[L_BRACE, L_BRACK, L_PAREN, INTERP_OPEN, DIRECTIVE_OPEN, HEREDOC_OPEN]);
const CLOSERS: TokenSet = TokenSet::new(&[R_BRACE, R_BRACK, R_PAREN, SEQ_END]);

impl Marker {
    /// Removes a node in which no token was taken.
    pub(crate) fn abandon(self, p: &mut Parser<'_>) {
        let height = p.heights.pop().unwrap_or(0);
        if let Some(outer) = p.heights.last_mut() {
            *outer = height.max(*outer);
        }
        debug_assert_eq!(self.event + 1, p.events.len(), "only an empty node is given up");
        p.events.truncate(self.event);
    }

    /// Closes the node.
    #[inline]
    pub(crate) fn complete(self, p: &mut Parser<'_>, kind: SyntaxKind) -> CompletedMarker {
        if let Event::Start { kind: slot, .. } = &mut p.events[self.event] {
            *slot = kind;
        }
        p.events.push(Event::Finish);
        let height = p.heights.pop().unwrap_or(0) + 1;
        if let Some(outer) = p.heights.last_mut() {
            *outer = height.max(*outer);
        }
        CompletedMarker { event: self.event, height }
    }
}

impl CompletedMarker {
    /// Opens a node around this one.
    pub(crate) fn precede(self, p: &mut Parser<'_>) -> Marker {
        let outer = p.start();
        if let Event::Start { parent, .. } = &mut p.events[self.event] {
            *parent = u32::try_from(outer.event - self.event).unwrap_or(0);
        }
        if let Some(height) = p.heights.last_mut() {
            *height = self.height;
        }
        outer
    }
}
