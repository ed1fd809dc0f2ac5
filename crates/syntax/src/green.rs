//! Builds green trees. It does the work of rowan's builder, but with caches of a fixed size: most tokens have one
//! of a few texts, and an element that is not in the cache is simply created, so no table grows with the file.

use std::{hash::Hasher as _, mem};

use rowan::{GreenNode, GreenToken, NodeOrToken, TextSize};
use rustc_hash::FxHasher;

use crate::lexer::Tokens;
use crate::syntax_kind::SyntaxKind::{self, *};

type GreenElement = NodeOrToken<GreenNode, GreenToken>;

/// The largest number of children of a cached node. Larger nodes are rarely equal.
const MAX_CHILDREN: usize = 3;
/// The largest length of a cached token in bytes. Longer tokens are rarely equal.
const LONGEST: usize = 64;

/// A cache of tokens and small nodes. Equal ones share their memory while they are in the cache.
pub(crate) struct GreenCache {
    /// The last token of each kind whose tokens have (almost) always the same text.
    last: Vec<Option<GreenToken>>,
    tokens: Vec<Option<GreenToken>>,
    nodes: Vec<Option<GreenNode>>,
    /// The empty stacks of the last builder, kept so that the next builder need not allocate its own.
    parents: Vec<(SyntaxKind, usize)>,
    children: Vec<GreenElement>,
}

impl GreenCache {
    /// Creates a cache for a text of `len` bytes.
    pub(crate) fn for_text(len: usize) -> Self {
        let slots = (len / 32).next_power_of_two().clamp(16, 2048);
        Self {
            last: vec![None; SyntaxKind::ALL.len()],
            tokens: vec![None; slots],
            nodes: vec![None; slots],
            parents: Vec::new(),
            children: Vec::new(),
        }
    }

    /// Returns a token of a run. Its text is compared as bytes, and only sliced as `str` if the cache has no such
    /// token.
    #[inline]
    fn token(&mut self, kind: SyntaxKind, tokens: Tokens<'_>, at: usize) -> GreenToken {
        let new = || GreenToken::new(kind.into(), tokens.text_of(at));
        if has_one_text(kind) {
            let last = &mut self.last[kind as usize];
            return match last {
                Some(token) if usize::from(token.text_len()) == tokens.len_of(at) => token.clone(),
                _ => last.insert(new()).clone(),
            };
        }
        let bytes = tokens.bytes_of(at);
        if bytes.len() > LONGEST {
            return new();
        }
        let mut hasher = FxHasher::default();
        hasher.write_u8(kind as u8);
        hasher.write(bytes);
        match slot(&mut self.tokens, &hasher) {
            Some(token) if token.kind() == kind.into() && token.text().as_bytes() == bytes => {
                token.clone()
            }
            slot => slot.insert(new()).clone(),
        }
    }

    fn node(&mut self, kind: SyntaxKind, children: std::vec::Drain<'_, GreenElement>) -> GreenNode {
        if children.len() > MAX_CHILDREN || is_long(children.as_slice()) {
            return GreenNode::new(kind.into(), children);
        }
        let mut hasher = FxHasher::default();
        hasher.write_u8(kind as u8);
        children.as_slice().iter().for_each(|child| hasher.write_usize(address(child)));
        let slot = slot(&mut self.nodes, &hasher);
        match slot {
            Some(node) if node.kind() == kind.into() && has_children(node, children.as_slice()) => {
                node.clone()
            }
            _ => slot.insert(GreenNode::new(kind.into(), children)).clone(),
        }
    }
}

/// Returns true if all tokens of this kind with the same length have the same text. Only a `~` or a `\r` varies
/// the length.
#[inline]
fn has_one_text(kind: SyntaxKind) -> bool {
    !matches!(
        kind,
        WHITESPACE
            | COMMENT
            | IDENT
            | NUMBER
            | QUOTED_LIT
            | STRING_LIT
            | HEREDOC_OPEN
            | HEREDOC_CLOSE
            | INVALID
    )
}

#[inline]
fn is_long(children: &[GreenElement]) -> bool {
    let lens = children.iter().map(|child| match child {
        NodeOrToken::Node(node) => node.text_len(),
        NodeOrToken::Token(token) => token.text_len(),
    });
    usize::from(lens.sum::<TextSize>()) > LONGEST
}

#[inline]
fn slot<'a, T>(table: &'a mut [Option<T>], hasher: &FxHasher) -> &'a mut Option<T> {
    // The size of the table is a power of two, and the low bits of a finished hash are well distributed.
    let index = hasher.finish() as usize & (table.len() - 1);
    &mut table[index]
}

/// Returns the address of an element. Elements from the cache are equal if their addresses are.
#[inline]
fn address(element: &GreenElement) -> usize {
    match element {
        NodeOrToken::Node(node) => std::ptr::from_ref(&**node).addr(),
        NodeOrToken::Token(token) => std::ptr::from_ref(&**token).addr(),
    }
}

#[inline]
fn has_children(node: &GreenNode, children: &[GreenElement]) -> bool {
    let mut own = node.children();
    let same = children.iter().all(|child| {
        let place = own.next().map(|own| match own {
            NodeOrToken::Node(node) => std::ptr::from_ref(node).addr(),
            NodeOrToken::Token(token) => std::ptr::from_ref(token).addr(),
        });
        place == Some(address(child))
    });
    same && own.next().is_none()
}

/// A tree under construction.
pub(crate) struct GreenBuilder<'c> {
    cache: &'c mut GreenCache,
    /// The open nodes, each with the index at which its children begin.
    parents: Vec<(SyntaxKind, usize)>,
    children: Vec<GreenElement>,
}

impl<'c> GreenBuilder<'c> {
    pub(crate) fn new(cache: &'c mut GreenCache) -> Self {
        let (parents, children) = (mem::take(&mut cache.parents), mem::take(&mut cache.children));
        Self { cache, parents, children }
    }

    /// Adds a token of a run with the given kind.
    pub(crate) fn token(&mut self, kind: SyntaxKind, tokens: Tokens<'_>, at: usize) {
        self.children.push(NodeOrToken::Token(self.cache.token(kind, tokens, at)));
    }

    #[inline]
    pub(crate) fn start_node(&mut self, kind: SyntaxKind) {
        self.parents.push((kind, self.children.len()));
    }

    #[inline]
    pub(crate) fn finish_node(&mut self) {
        if let Some((kind, first)) = self.parents.pop() {
            let node = self.cache.node(kind, self.children.drain(first..));
            self.children.push(NodeOrToken::Node(node));
        }
    }

    /// Returns the root.
    ///
    /// # Panics
    ///
    /// Panics if the starts and finishes of nodes do not match, which the grammar rules out.
    pub(crate) fn finish(mut self) -> GreenNode {
        let root = self.children.pop();
        assert!(self.children.is_empty(), "the events of a parse describe one root");
        (self.cache.parents, self.cache.children) = (self.parents, self.children);
        match root {
            Some(NodeOrToken::Node(root)) => root,
            _ => panic!("the events of a parse describe one root"),
        }
    }
}
