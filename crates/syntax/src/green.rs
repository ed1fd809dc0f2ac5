//! Builds green trees. It does what rowan's builder does, with caches of fixed size: the text of most tokens is one of a few, and
//! what is not found is simply made, so that no table grows with the file.

use std::{cell::Cell, hash::Hasher as _, mem};

use rowan::{GreenNode, GreenToken, NodeOrToken, TextSize};
use rustc_hash::FxHasher;

use crate::lexer::Tokens;
use crate::syntax_kind::SyntaxKind::{self, *};

type GreenElement = NodeOrToken<GreenNode, GreenToken>;

/// Nodes with more children are hardly ever equal.
const MOST_CHILDREN: usize = 3;
/// Neither are longer ones; and what outlives the text that it was made for should be small.
const LONGEST: usize = 64;
/// The places in a cache that serves one chunk after another.
const SHARED_SLOTS: usize = 1024;

/// Tokens and small nodes made before. Equal ones share their memory while they stay in the cache.
pub(crate) struct GreenCache {
    /// The last token of each kind that has one text only, or hardly another.
    last: Vec<Option<GreenToken>>,
    tokens: Vec<Option<GreenToken>>,
    nodes: Vec<Option<GreenNode>>,
    /// The stacks of the last builder, empty: the next one need not grow its own.
    parents: Vec<(SyntaxKind, usize)>,
    children: Vec<GreenElement>,
}

thread_local! {
    static SHARED: Cell<Option<Box<GreenCache>>> = const { Cell::new(None) };
}

impl GreenCache {
    /// Does something with this thread's cache. Chunks are small, and one says much of what the one before it said. What was
    /// read stays in it, so no secret may be read with it.
    pub(crate) fn with_shared<T>(work: impl FnOnce(&mut GreenCache) -> T) -> T {
        let shared = SHARED.take();
        let mut cache = shared.unwrap_or_else(|| Box::new(GreenCache::with_slots(SHARED_SLOTS)));
        let result = work(&mut cache);
        SHARED.set(Some(cache));
        result
    }

    /// A cache for a text of so many bytes.
    pub(crate) fn for_text(len: usize) -> Self {
        Self::with_slots((len / 32).next_power_of_two().clamp(16, 2048))
    }

    fn with_slots(slots: usize) -> Self {
        Self {
            last: vec![None; SyntaxKind::ALL.len()],
            tokens: vec![None; slots],
            nodes: vec![None; slots],
            parents: Vec::new(),
            children: Vec::new(),
        }
    }

    /// A token of a run. Its text is looked at as bytes, and cut out as text only where there is no such token yet.
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
        if children.len() > MOST_CHILDREN || is_long(children.as_slice()) {
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

/// Whether tokens of this kind are all written the same, but for a `~` or a `\r`: those of one length are.
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

fn is_long(children: &[GreenElement]) -> bool {
    let lens = children.iter().map(|child| match child {
        NodeOrToken::Node(node) => node.text_len(),
        NodeOrToken::Token(token) => token.text_len(),
    });
    usize::from(lens.sum::<TextSize>()) > LONGEST
}

fn slot<'a, T>(table: &'a mut [Option<T>], hasher: &FxHasher) -> &'a mut Option<T> {
    // The table's size is a power of two, and the low bits of a finished hash are the good ones.
    let index = hasher.finish() as usize & (table.len() - 1);
    &mut table[index]
}

/// Where an element lies: elements that come from the cache are equal if they lie in one place.
fn address(element: &GreenElement) -> usize {
    match element {
        NodeOrToken::Node(node) => std::ptr::from_ref(&**node).addr(),
        NodeOrToken::Token(token) => std::ptr::from_ref(&**token).addr(),
    }
}

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
    /// The open nodes, each with the place where its children begin.
    parents: Vec<(SyntaxKind, usize)>,
    children: Vec<GreenElement>,
}

impl<'c> GreenBuilder<'c> {
    pub(crate) fn new(cache: &'c mut GreenCache) -> Self {
        let (parents, children) = (mem::take(&mut cache.parents), mem::take(&mut cache.children));
        Self { cache, parents, children }
    }

    /// Takes a token of a run as one of that kind.
    pub(crate) fn token(&mut self, kind: SyntaxKind, tokens: Tokens<'_>, at: usize) {
        self.children.push(NodeOrToken::Token(self.cache.token(kind, tokens, at)));
    }

    pub(crate) fn start_node(&mut self, kind: SyntaxKind) {
        self.parents.push((kind, self.children.len()));
    }

    pub(crate) fn finish_node(&mut self) {
        if let Some((kind, first)) = self.parents.pop() {
            let node = self.cache.node(kind, self.children.drain(first..));
            self.children.push(NodeOrToken::Node(node));
        }
    }

    /// The root.
    ///
    /// # Panics
    ///
    /// Where nodes are not balanced, which the grammar rules out.
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
