//! Finds the parts of a text that may be rewritten: attribute values and block headers.

use std::ops::Range;

use crate::lexer::Tokens;
use crate::parser::Event;
use crate::syntax_kind::SyntaxKind::*;

/// A run of tokens that may be rewritten. Sites do not overlap.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Site {
    /// All tokens of the site, including trivia between them.
    pub(super) tokens: Range<usize>,
    pub(super) kind: SiteKind,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum SiteKind {
    /// The value of an attribute that begins with `"${`.
    Template {
        /// The token of the attribute's name.
        name: usize,
    },
    /// The value of `type` in a `variable` block.
    Type,
    /// The tokens from after a block's type to its last label.
    Labels,
}

/// The sites of a correct text, in order, and its top-level items.
#[derive(Default, Debug)]
pub(super) struct Sites {
    pub(super) all: Vec<Site>,
    /// The tokens of each top-level item.
    pub(super) items: Vec<Range<usize>>,
}

/// Finds the sites in the parse events of a text without errors.
pub(super) fn find(tokens: Tokens<'_>, events: &[Event]) -> Sites {
    let mut walk = Walk { tokens, next: 0, last: 0, open: Vec::new(), sites: Sites::default() };
    for event in events {
        match event {
            // Attributes and blocks never get a parent later, and the order of starts within an expression does
            // not matter here.
            Event::Start { kind, .. } => walk.start(*kind),
            Event::Token(_) => walk.token(),
            Event::Finish => walk.finish(),
        }
    }
    walk.sites
}

struct Walk<'a> {
    tokens: Tokens<'a>,
    /// The first token that the walk has not passed.
    next: usize,
    /// The last token that the walk has passed and that is not trivia.
    last: usize,
    open: Vec<Open>,
    sites: Sites,
}

/// An open node.
#[derive(Clone, Copy)]
struct Open {
    kind: crate::SyntaxKind,
    /// The first token of an attribute or a block.
    first: usize,
}

impl Walk<'_> {
    fn start(&mut self, kind: crate::SyntaxKind) {
        // Only attributes and blocks need their first token.
        let first = if matches!(kind, ATTRIBUTE | BLOCK) { self.next_significant() } else { 0 };
        if kind == BODY
            && let Some(block) = self.open.last()
        {
            let labels = block.first + 1..self.before_brace() + 1;
            if !labels.is_empty() {
                self.sites.all.push(Site { tokens: labels, kind: SiteKind::Labels });
            }
        }
        self.open.push(Open { kind, first });
    }

    fn token(&mut self) {
        self.last = self.next_significant();
        self.next = self.last + 1;
    }

    fn finish(&mut self) {
        let Some(node) = self.open.pop() else { return };
        if node.kind == ATTRIBUTE {
            self.attribute(node.first);
        }
        if self.open.len() == 1 && matches!(node.kind, ATTRIBUTE | BLOCK) {
            self.sites.items.push(node.first..self.last + 1);
        }
    }

    fn attribute(&mut self, name: usize) {
        let equals = self.significant_from(name + 1);
        let value = self.significant_from(equals + 1);
        let second = self.tokens.kinds.get(value + 1);
        let is_type = self.tokens.text_of(name) == "type" && self.is_in_variable();
        let kind = match self.tokens.kinds.get(value) {
            Some(IDENT | OPEN_QUOTE) if is_type => SiteKind::Type,
            Some(OPEN_QUOTE) if !is_type && second == Some(&INTERP_OPEN) => {
                SiteKind::Template { name }
            }
            _ => return,
        };
        self.sites.all.push(Site { tokens: value..self.last + 1, kind });
    }

    /// Returns true if the innermost body is that of a top-level `variable` block.
    fn is_in_variable(&self) -> bool {
        matches!(self.open[..], [_, block, _] if self.tokens.text_of(block.first) == "variable")
    }

    fn next_significant(&self) -> usize {
        self.significant_from(self.next)
    }

    fn significant_from(&self, at: usize) -> usize {
        let trivia = self.tokens.kinds[at..].iter().take_while(|kind| kind.is_trivia());
        at + trivia.count()
    }

    /// Returns the last header token before the brace that was just passed.
    fn before_brace(&self) -> usize {
        let header = &self.tokens.kinds[..self.last];
        header.iter().rposition(|kind| !kind.is_trivia()).unwrap_or(0)
    }
}
