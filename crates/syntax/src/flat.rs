//! A syntax tree as one flat list, for passes that read a text once. It costs a fraction of the lossless tree.
//!
//! ```text
//! a = 1     ATTRIBUTE(4) IDENT EQ LITERAL(1) NUMBER          each entry, its length, its range; no trivia
//! ```
//!
//! Start reading at [`FlatParse`]. The typed view ([`ast`]), the ranges and the errors are the same as for the
//! lossless tree.
//!
//! **Invariant:** without its trivia, the lossless tree of a text has the same nodes and tokens with the same
//! ranges.

use std::cell::Cell;
use std::{fmt, mem};

use rowan::{NodeOrToken, TextRange, TextSize};
use smallvec::SmallVec;

use crate::error::SyntaxError;
use crate::lexer::{self, Lexed, Mode, Tokens};
use crate::parse::parse_events;
use crate::parser::{self, Event, Parser};
use crate::sink::{StartedNodes, start_with_parents};
use crate::syntax_kind::SyntaxKind::{self, *};
use crate::tree::{TreeNode, TreeToken};
use crate::{AstNode as _, Parse, SyntaxNode, grammar};

/// The typed view of a flat tree.
pub mod ast {
    pub use crate::ast::{BinaryOp, HasItems, LabelKind, LiteralKind, UnaryOp};

    macro_rules! views {
        ($($name:ident),* $(,)?) => {
            $(
                #[doc = concat!("See [`", stringify!($name), "`](crate::ast::", stringify!($name), ").")]
                pub type $name<'t> = crate::ast::$name<super::FlatNode<'t>>;
            )*
        };
    }

    views! {
        SourceFile, BodyItem, Attribute, Block, Body, Label, ExprFile, TemplateFile, Expr, Literal, Reference,
        Traversal, Call, Unary, Binary, Conditional, Paren, Tuple, Object, ObjectItem, ObjectKey, ForTuple, ForObject,
        ForIntro, ForCond,
        QuotedTemplate, Heredoc, Step, AttrStep, IndexStep, LegacyIndexStep, SplatStep, AttrSplatStep, Interpolation,
        TemplateIf, TemplateFor, StaticTraversal,
    }
}

/// Templates of a flat tree.
pub mod template {
    pub use crate::template::{bare, heredoc, quoted, with_plain_text};

    /// See [`Part`](crate::template::Part).
    pub type Part<'t> = crate::template::Part<super::FlatNode<'t>>;
    /// See [`For`](crate::template::For).
    pub type For<'t> = crate::template::For<super::FlatNode<'t>>;
    /// See [`Template`](crate::template::Template).
    pub type Template<'t> = crate::template::Template<super::FlatNode<'t>>;
}

/// A node or a token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Entry {
    /// The start of its first token, in bytes.
    start: u32,
    end: u32,
    /// The index of the entry after this one and all its descendants.
    next: u32,
    kind: SyntaxKind,
    is_token: bool,
}

/// The largest capacity of a list that is kept for the next parse. Larger lists, left by longer texts, are
/// dropped.
const MAX_SPARE: usize = 1 << 14;

/// The buffers that a parse leaves to the next parse on the same thread, since most chunks have a similar length.
/// They hold no text.
#[derive(Default)]
struct SpareBuffers {
    lexed: Lexed,
    parser: parser::SpareBuffers,
    /// The list of the last tree that was dropped.
    entries: Vec<Entry>,
}

thread_local! {
    static SPARE: Cell<Option<Box<SpareBuffers>>> = const { Cell::new(None) };
}

/// A flat tree and the errors of its text.
#[derive(Clone)]
pub struct FlatParse<'t> {
    text: &'t str,
    /// The entries in source order, parents before children.
    entries: Vec<Entry>,
    errors: Vec<SyntaxError>,
}

impl Drop for FlatParse<'_> {
    fn drop(&mut self) {
        let mut entries = mem::take(&mut self.entries);
        if entries.capacity() <= MAX_SPARE {
            entries.clear();
            let mut spare = SPARE.take().unwrap_or_default();
            spare.entries = entries;
            SPARE.set(Some(spare));
        }
    }
}

impl fmt::Debug for FlatParse<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FlatParse").field("entries", &self.entries.len()).finish_non_exhaustive()
    }
}

impl<'t> FlatParse<'t> {
    /// Parses a chunk that [`crate::split`] returned, or any text as one chunk.
    pub fn chunk(text: &'t str) -> Self {
        Self::parse(text, Mode::File, true, grammar::source_file)
    }

    /// Parses one expression, which may span several lines.
    pub fn expression(text: &'t str) -> Self {
        Self::parse(text, Mode::Expression, false, grammar::expression_file)
    }

    /// Parses a template without quotes.
    pub fn template(text: &'t str) -> Self {
        Self::parse(text, Mode::Template, false, grammar::template_file)
    }

    fn parse(text: &'t str, mode: Mode, newlines: bool, root: fn(&mut Parser<'_>)) -> Self {
        let mut spare = SPARE.take().unwrap_or_default();
        let lexed = lexer::lex_into(text, mode, mem::take(&mut spare.lexed));
        let tokens = lexed.as_tokens(text);
        let (mut events, errors) = parse_events(tokens, newlines, root, &mut spare.parser);
        let entries = entries(tokens, &mut events, mem::take(&mut spare.entries));
        (spare.lexed, spare.parser.events) = (lexed, events);
        if spare.lexed.kinds.capacity() <= MAX_SPARE {
            SPARE.set(Some(spare));
        }
        Self { text, entries, errors }
    }

    /// Converts the tree of `parse`, whose text is `text`.
    pub fn of<T>(parse: &Parse<T>, text: &'t str) -> Self {
        let mut entries = Vec::new();
        push_tree(&mut entries, &parse.syntax());
        Self { text, entries, errors: parse.errors().to_vec() }
    }

    /// Returns the errors, in the order in which reading the text finds them.
    pub fn errors(&self) -> &[SyntaxError] {
        &self.errors
    }

    /// Returns the typed root of a chunk.
    pub fn file(&self) -> Option<ast::SourceFile<'_>> {
        ast::SourceFile::cast(self.root())
    }

    /// Returns the typed root of a single expression.
    pub fn expression_file(&self) -> Option<ast::ExprFile<'_>> {
        ast::ExprFile::cast(self.root())
    }

    /// Returns the typed root of a template.
    pub fn template_file(&self) -> Option<ast::TemplateFile<'_>> {
        ast::TemplateFile::cast(self.root())
    }

    /// Returns the nodes and tokens in the order of the text.
    pub(crate) fn entries(&self) -> &[Entry] {
        &self.entries
    }

    fn root(&self) -> FlatNode<'_> {
        FlatNode {
            text: self.text,
            entries: &self.entries,
            index: 0,
            limit: self.entries.len() as u32,
        }
    }
}

fn push_tree(entries: &mut Vec<Entry>, node: &SyntaxNode) {
    let index = entries.len();
    entries.push(entry(node.kind(), node.text_range(), false));
    for child in node.children_with_tokens() {
        match child {
            NodeOrToken::Node(child) => push_tree(entries, &child),
            NodeOrToken::Token(token) if token.kind().is_trivia() => {}
            NodeOrToken::Token(token) => {
                let next = entries.len() as u32 + 1;
                entries.push(Entry { next, ..entry(token.kind(), token.text_range(), true) });
            }
        }
    }
    entries[index].next = entries.len() as u32;
}

fn entry(kind: SyntaxKind, range: TextRange, is_token: bool) -> Entry {
    Entry { start: range.start().into(), end: range.end().into(), next: 0, kind, is_token }
}

/// Builds the list that `events` describe over all of `tokens`, in the memory of an empty list.
fn entries(tokens: Tokens<'_>, events: &mut [Event], mut entries: Vec<Entry>) -> Vec<Entry> {
    // Each node has two events and one entry. Each token has one event and one entry.
    let capacity = (events.len() + tokens.len()) / 2 + 1;
    entries.reserve(capacity);
    let mut list = FlatSink { tokens, at: 0, open: SmallVec::new(), entries };
    let mut parents = StartedNodes::new();
    for index in 0..events.len() {
        match events[index] {
            Event::Start { kind: TOMBSTONE, .. } => {}
            Event::Start { kind, parent: 0 } => list.start(kind),
            Event::Start { .. } => {
                start_with_parents(events, index, &mut parents);
                while let Some(kind) = parents.pop() {
                    list.start(kind);
                }
            }
            Event::Finish => list.finish(),
            Event::Token(kind) => list.token(kind),
        }
    }
    list.entries
}

struct FlatSink<'a> {
    tokens: Tokens<'a>,
    /// The next token.
    at: usize,
    /// The open nodes, as indices into `entries`.
    open: SmallVec<[u32; 16]>,
    entries: Vec<Entry>,
}

impl FlatSink<'_> {
    #[inline]
    fn start(&mut self, kind: SyntaxKind) {
        self.pass_trivia();
        let is_root = self.entries.is_empty();
        let start = if is_root { 0 } else { self.place(self.at) };
        self.open.push(self.entries.len() as u32);
        self.entries.push(Entry { start, end: start, next: 0, kind, is_token: false });
    }

    #[inline]
    fn token(&mut self, kind: SyntaxKind) {
        self.pass_trivia();
        let (start, end) = (self.place(self.at), self.place(self.at + 1));
        let next = self.entries.len() as u32 + 1;
        self.entries.push(Entry { start, end, next, kind, is_token: true });
        self.at += 1;
    }

    #[inline]
    fn finish(&mut self) {
        let Some(index) = self.open.pop() else { return };
        let next = self.entries.len() as u32;
        let is_root = self.open.is_empty();
        // The entry that was added last also ends last; a node without entries stays empty at its start.
        let last = if is_root { self.place(self.tokens.len()) } else { self.end_of_last() };
        let node = &mut self.entries[index as usize];
        node.next = next;
        node.end = node.end.max(last);
    }

    #[inline]
    fn end_of_last(&self) -> u32 {
        self.entries.last().map_or(0, |last| last.end)
    }

    #[inline]
    fn pass_trivia(&mut self) {
        while self.tokens.kinds.get(self.at).is_some_and(|kind| kind.is_trivia()) {
            self.at += 1;
        }
    }

    /// Returns the offset at which a token begins.
    #[inline]
    fn place(&self, token: usize) -> u32 {
        self.tokens.starts[token] - self.tokens.base
    }
}

/// A node of a flat tree.
#[derive(Clone, Copy)]
pub struct FlatNode<'t> {
    text: &'t str,
    entries: &'t [Entry],
    index: u32,
    /// The index at which the parent's entries end.
    limit: u32,
}

/// A token of a flat tree.
#[derive(Clone, Copy)]
pub struct FlatToken<'t> {
    text: &'t str,
    entry: Entry,
}

impl<'t> FlatNode<'t> {
    /// Returns the kind of the node.
    #[inline]
    pub fn kind(&self) -> SyntaxKind {
        self.entry().kind
    }

    /// Returns the range from the node's first to its last token.
    #[inline]
    pub fn text_range(&self) -> TextRange {
        self.entry().range()
    }

    #[inline]
    fn entry(&self) -> &'t Entry {
        &self.entries[self.index as usize]
    }

    /// Returns the first entry from `index` on that is on the same level and satisfies `fits`.
    fn find(&self, mut index: u32, limit: u32, fits: impl Fn(&Entry) -> bool) -> Option<u32> {
        while index < limit {
            let entry = &self.entries[index as usize];
            if fits(entry) {
                return Some(index);
            }
            index = entry.next;
        }
        None
    }

    fn token(&self, index: u32) -> FlatToken<'t> {
        FlatToken { text: self.text, entry: self.entries[index as usize] }
    }
}

impl<'t> TreeNode for FlatNode<'t> {
    type Token = FlatToken<'t>;

    #[inline]
    fn kind(&self) -> SyntaxKind {
        self.kind()
    }

    #[inline]
    fn text_range(&self) -> TextRange {
        self.text_range()
    }

    #[inline]
    fn first_child_by_kind(&self, is_it: &impl Fn(SyntaxKind) -> bool) -> Option<Self> {
        let limit = self.entry().next;
        let index = self.find(self.index + 1, limit, |it| !it.is_token && is_it(it.kind))?;
        Some(Self { index, limit, ..*self })
    }

    fn next_sibling_by_kind(&self, is_it: &impl Fn(SyntaxKind) -> bool) -> Option<Self> {
        let index =
            self.find(self.entry().next, self.limit, |it| !it.is_token && is_it(it.kind))?;
        Some(Self { index, ..*self })
    }

    #[inline]
    fn first_token_by_kind(&self, is_it: &impl Fn(SyntaxKind) -> bool) -> Option<FlatToken<'t>> {
        let index =
            self.find(self.index + 1, self.entry().next, |it| it.is_token && is_it(it.kind))?;
        Some(self.token(index))
    }

    fn elements(&self) -> impl Iterator<Item = NodeOrToken<Self, FlatToken<'t>>> + use<'t> {
        let (parent, limit) = (*self, self.entry().next);
        let mut index = self.index + 1;
        std::iter::from_fn(move || {
            let entry = parent.entries.get(index as usize).filter(|_| index < limit)?;
            let element = match entry.is_token {
                true => NodeOrToken::Token(parent.token(index)),
                false => NodeOrToken::Node(FlatNode { index, limit, ..parent }),
            };
            index = entry.next;
            Some(element)
        })
    }
}

impl Entry {
    #[inline]
    fn range(&self) -> TextRange {
        TextRange::new(TextSize::new(self.start), TextSize::new(self.end))
    }
}

impl<'t> FlatToken<'t> {
    /// Returns the kind of the token.
    #[inline]
    pub fn kind(&self) -> SyntaxKind {
        self.entry.kind
    }

    /// Returns the text of the token.
    #[inline]
    pub fn text(&self) -> &'t str {
        &self.text[self.entry.start as usize..self.entry.end as usize]
    }

    /// Returns the range of the token.
    #[inline]
    pub fn text_range(&self) -> TextRange {
        self.entry.range()
    }
}

impl TreeToken for FlatToken<'_> {
    #[inline]
    fn kind(&self) -> SyntaxKind {
        self.kind()
    }

    #[inline]
    fn text(&self) -> &str {
        self.text()
    }

    #[inline]
    fn text_range(&self) -> TextRange {
        self.text_range()
    }
}

impl PartialEq for FlatNode<'_> {
    fn eq(&self, other: &Self) -> bool {
        std::ptr::eq(self.entries, other.entries) && self.index == other.index
    }
}

impl Eq for FlatNode<'_> {}

impl PartialEq for FlatToken<'_> {
    fn eq(&self, other: &Self) -> bool {
        std::ptr::eq(self.text, other.text) && self.text_range() == other.text_range()
    }
}

impl Eq for FlatToken<'_> {}

impl fmt::Debug for FlatNode<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}@{:?}", self.kind(), self.text_range())
    }
}

impl fmt::Debug for FlatToken<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}@{:?} {:?}", self.kind(), self.text_range(), self.text())
    }
}

#[cfg(test)]
mod tests;
