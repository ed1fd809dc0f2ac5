//! Which bracket closes which, in a text where some may be missing.

use crate::syntax_kind::SyntaxKind::{self, *};

/// The brackets that are open at some place.
///
/// **Invariant:** what a closing bracket closes depends only on the brackets opened after the innermost brace that stays open, never on what is
/// below. So a run of items is paired the same whether it stands alone or in a block that lacks its end.
#[derive(Default, Debug)]
pub(crate) struct BracketStack {
    open: Vec<(SyntaxKind, usize)>,
}

impl BracketStack {
    /// Takes the next token; answers the place of the bracket that it closes.
    pub(crate) fn take(&mut self, kind: SyntaxKind, at: usize) -> Option<usize> {
        match kind {
            L_BRACE | L_BRACK | L_PAREN | INTERP_OPEN | DIRECTIVE_OPEN | HEREDOC_OPEN => {
                self.open.push((kind, at));
                None
            }
            R_PAREN => self.close(|open| open == L_PAREN, is_outer),
            R_BRACK => self.close(|open| open == L_BRACK, is_outer),
            HEREDOC_CLOSE => self.close(|open| open == HEREDOC_OPEN, |_| false),
            // The lexer gives a plain brace inside a sequence only where one was opened there, so a sequence in the way is stale.
            R_BRACE => self.close_or_clear(|open| open == L_BRACE),
            // And a sequence's end without a sequence is the brace it looks like.
            SEQ_END if self.open.iter().any(|(open, _)| is_sequence(*open)) => {
                self.close_or_clear(is_sequence)
            }
            SEQ_END => self.close_or_clear(|open| open == L_BRACE),
            _ => None,
        }
    }

    pub(crate) fn depth(&self) -> usize {
        self.open.len()
    }

    /// The place of the innermost open bracket.
    pub(crate) fn innermost(&self) -> Option<usize> {
        self.open.last().map(|(_, at)| *at)
    }

    pub(crate) fn clear(&mut self) {
        self.open.clear();
    }

    fn close(
        &mut self,
        is_match: impl Fn(SyntaxKind) -> bool,
        is_wall: impl Fn(SyntaxKind) -> bool,
    ) -> Option<usize> {
        for index in (0..self.open.len()).rev() {
            let (kind, at) = self.open[index];
            if is_match(kind) {
                self.open.truncate(index);
                return Some(at);
            }
            if is_wall(kind) {
                return None;
            }
        }
        None
    }

    fn close_or_clear(&mut self, is_match: impl Fn(SyntaxKind) -> bool) -> Option<usize> {
        let closed = self.close(is_match, |_| false);
        if closed.is_none() {
            self.open.clear();
        }
        closed
    }
}

fn is_sequence(kind: SyntaxKind) -> bool {
    matches!(kind, INTERP_OPEN | DIRECTIVE_OPEN)
}

fn is_outer(kind: SyntaxKind) -> bool {
    matches!(kind, L_BRACE | HEREDOC_OPEN) || is_sequence(kind)
}

/// For each token that opens a bracket, the place of the one that closes it; `0` for none, since no closing bracket comes first.
pub(crate) fn pair(kinds: impl Iterator<Item = SyntaxKind>) -> Vec<u32> {
    let mut stack = BracketStack::default();
    let mut pairs = Vec::new();
    for (at, kind) in kinds.enumerate() {
        pairs.push(0);
        if let Some(opener) = stack.take(kind, at) {
            pairs[opener] = u32::try_from(at).unwrap_or(0);
        }
    }
    pairs
}
