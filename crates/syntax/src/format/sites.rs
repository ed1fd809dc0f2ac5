//! Where something may be written another way: values of attributes and headers of blocks.

use std::ops::Range;

use crate::lexer::Tokens;
use crate::parser::Event;
use crate::syntax_kind::SyntaxKind::*;

/// Tokens that may be written another way. Sites do not overlap.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Site {
    /// All of its tokens, trivia between them included.
    pub(super) tokens: Range<usize>,
    pub(super) kind: SiteKind,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum SiteKind {
    /// The value of an attribute, `"${…}"` by its first tokens.
    Template {
        /// The token of the attribute's name.
        name: usize,
    },
    /// The value of `type` in a `variable` block.
    Type,
    /// From behind a block's type to its last label.
    Labels,
}

/// The sites of a correct text, in order, and where its top-level items are.
#[derive(Default, Debug)]
pub(super) struct Sites {
    pub(super) all: Vec<Site>,
    /// The tokens of each top-level item.
    pub(super) items: Vec<Range<usize>>,
}

/// Finds the sites from the events of parsing a text without errors.
pub(super) fn find(tokens: Tokens<'_>, events: &[Event]) -> Sites {
    let mut walk = Walk { tokens, next: 0, last: 0, open: Vec::new(), sites: Sites::default() };
    for event in events {
        match event {
            // Attributes and blocks never get a parent afterwards, and within an expression the order of starts is of no interest.
            Event::Start { kind, .. } => walk.start(*kind),
            Event::Token(_) => walk.token(),
            Event::Finish => walk.finish(),
        }
    }
    walk.sites
}

struct Walk<'a> {
    tokens: Tokens<'a>,
    /// The first token that has not been passed.
    next: usize,
    /// The last token that was passed and is no trivia.
    last: usize,
    open: Vec<Open>,
    sites: Sites,
}

/// A node that is open.
#[derive(Clone, Copy)]
struct Open {
    kind: crate::SyntaxKind,
    /// The first token of an attribute or a block.
    first: usize,
}

impl Walk<'_> {
    fn start(&mut self, kind: crate::SyntaxKind) {
        // Nobody asks where anything else begins.
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

    /// Whether the innermost body is that of a `variable` block of the file.
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

    /// The last token of a header before the brace that was passed last.
    fn before_brace(&self) -> usize {
        let header = &self.tokens.kinds[..self.last];
        header.iter().rposition(|kind| !kind.is_trivia()).unwrap_or(0)
    }
}
