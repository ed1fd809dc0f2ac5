//! Builds a green tree from events and tokens.
//!
//! Trivia stay outside inner nodes: a node begins and ends with a significant token, so its range is suitable for
//! diagnostics. Only the root has trivia at its ends.

use rowan::GreenNode;
use smallvec::SmallVec;

use crate::green::{GreenBuilder, GreenCache};
use crate::lexer::Tokens;
use crate::parser::Event;
use crate::syntax_kind::SyntaxKind::{self, *};

/// Builds the tree that `events` describe over all of `tokens`.
pub(crate) fn build(
    tokens: Tokens<'_>,
    mut events: Vec<Event>,
    cache: &mut GreenCache,
) -> GreenNode {
    let mut sink = Sink { tokens, at: 0, builder: GreenBuilder::new(cache) };
    let mut parents = StartedNodes::new();
    let last = events.len().saturating_sub(1);
    for index in 0..events.len() {
        match events[index] {
            Event::Start { kind: TOMBSTONE, .. } => {}
            Event::Start { kind, parent: 0 } => sink.start(kind, index == 0),
            Event::Start { .. } => {
                start_with_parents(&mut events, index, &mut parents);
                while let Some(kind) = parents.pop() {
                    sink.start(kind, index == 0);
                }
            }
            Event::Finish => sink.finish(index == last),
            Event::Token(kind) => sink.token(kind),
        }
    }
    sink.builder.finish()
}

/// The kinds of nodes that start together, the innermost first.
pub(crate) type StartedNodes = SmallVec<[SyntaxKind; 8]>;

/// Collects the kinds of a start event and of the starts linked to it, and removes these events from the list.
pub(crate) fn start_with_parents(
    events: &mut [Event],
    mut index: usize,
    parents: &mut StartedNodes,
) {
    while let Event::Start { kind, parent } = events[index] {
        parents.push(kind);
        events[index] = Event::Start { kind: TOMBSTONE, parent: 0 };
        if parent == 0 {
            break;
        }
        index += parent as usize;
    }
}

struct Sink<'a, 'c> {
    tokens: Tokens<'a>,
    at: usize,
    builder: GreenBuilder<'c>,
}

impl Sink<'_, '_> {
    #[inline]
    fn start(&mut self, kind: SyntaxKind, is_root: bool) {
        if !is_root {
            self.trivia();
        }
        self.builder.start_node(kind);
    }

    #[inline]
    fn finish(&mut self, is_root: bool) {
        if is_root {
            self.trivia();
        }
        self.builder.finish_node();
    }

    #[inline]
    fn token(&mut self, kind: SyntaxKind) {
        self.trivia();
        self.take(kind);
    }

    #[inline]
    fn trivia(&mut self) {
        while let Some(kind) =
            self.tokens.kinds.get(self.at).copied().filter(|kind| kind.is_trivia())
        {
            self.take(kind);
        }
    }

    #[inline]
    fn take(&mut self, kind: SyntaxKind) {
        self.builder.token(kind, self.tokens, self.at);
        self.at += 1;
    }
}
