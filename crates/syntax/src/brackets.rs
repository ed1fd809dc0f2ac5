//! Which bracket closes which, in a text where some may be missing.

use crate::syntax_kind::SyntaxKind::{self, *};

/// The kinds of brackets, as places in a table.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Bracket {
    Paren,
    Square,
    Brace,
    Sequence,
    Heredoc,
}

/// The brackets that are open at some place. Every token costs constant time, over the whole text.
///
/// **Invariant:** what a closing bracket closes depends only on the brackets opened after the innermost brace that stays open, never on what is
/// below. So a run of items is paired the same whether it stands alone or in a block that lacks its end.
#[derive(Default, Debug)]
pub(crate) struct BracketStack {
    open: Vec<Open>,
    /// For each kind of bracket, one more than the index of the innermost one that is open.
    innermost: [usize; 5],
}

#[derive(Debug)]
struct Open {
    bracket: Bracket,
    token: usize,
    /// What `innermost` held for the kind before.
    outer: usize,
}

impl BracketStack {
    /// Takes the next token; answers the place of the bracket that it closes.
    pub(crate) fn take(&mut self, kind: SyntaxKind, token: usize) -> Option<usize> {
        match kind {
            L_PAREN => self.push(Bracket::Paren, token),
            L_BRACK => self.push(Bracket::Square, token),
            L_BRACE => self.push(Bracket::Brace, token),
            INTERP_OPEN | DIRECTIVE_OPEN => self.push(Bracket::Sequence, token),
            HEREDOC_OPEN => self.push(Bracket::Heredoc, token),
            R_PAREN if self.is_near(Bracket::Paren) => self.close(Bracket::Paren),
            R_BRACK if self.is_near(Bracket::Square) => self.close(Bracket::Square),
            HEREDOC_CLOSE if self.innermost[Bracket::Heredoc as usize] > 0 => {
                self.close(Bracket::Heredoc)
            }
            // The lexer gives a plain brace inside a sequence only where one was opened there, so a sequence in the way is stale.
            R_BRACE => self.close(Bracket::Brace),
            // And a sequence's end without a sequence is the brace it looks like.
            SEQ_END if self.innermost[Bracket::Sequence as usize] > 0 => {
                self.close(Bracket::Sequence)
            }
            SEQ_END => self.close(Bracket::Brace),
            _ => None,
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.open.is_empty()
    }

    /// The place of the innermost open bracket.
    pub(crate) fn innermost(&self) -> Option<usize> {
        self.open.last().map(|open| open.token)
    }

    pub(crate) fn clear(&mut self) {
        self.open.clear();
        self.innermost = [0; 5];
    }

    fn push(&mut self, bracket: Bracket, token: usize) -> Option<usize> {
        let outer = std::mem::replace(&mut self.innermost[bracket as usize], self.open.len() + 1);
        self.open.push(Open { bracket, token, outer });
        None
    }

    /// Whether one is open inside the innermost brace, sequence and heredoc.
    fn is_near(&self, bracket: Bracket) -> bool {
        let walls = [Bracket::Brace, Bracket::Sequence, Bracket::Heredoc];
        let wall = walls.map(|wall| self.innermost[wall as usize]).into_iter().max();
        Some(self.innermost[bracket as usize]) > wall
    }

    /// Closes the innermost of a kind with everything in it; everything, if there is none.
    fn close(&mut self, bracket: Bracket) -> Option<usize> {
        let target = self.innermost[bracket as usize].saturating_sub(1);
        let mut closed = None;
        while self.open.len() > target {
            let open = self.open.pop()?;
            self.innermost[open.bracket as usize] = open.outer;
            closed = (open.bracket == bracket && self.open.len() == target).then_some(open.token);
        }
        closed
    }
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
