//! Pairs opening and closing brackets in a text in which some of them may be missing.

use crate::syntax_kind::SyntaxKind::{self, *};

/// The kinds of brackets, used as indices into a table.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Bracket {
    Paren,
    Square,
    Brace,
    Sequence,
    Heredoc,
}

/// The brackets that are open at a position. Amortized over the whole text, each token takes constant time.
///
/// **Invariant:** the partner of a closing bracket depends only on the brackets opened after the innermost brace
/// that stays open, never on the brackets below it. So a run of items is paired in the same way alone and inside a
/// block without an end.
#[derive(Default, Debug)]
pub(crate) struct BracketStack {
    open: Vec<Open>,
    /// For each kind of bracket, one more than the index in `open` of the innermost open one; 0 if none is open.
    innermost: [usize; 5],
}

#[derive(Debug)]
struct Open {
    bracket: Bracket,
    token: usize,
    /// The entry of `innermost` for this kind before the bracket was opened.
    outer: usize,
}

impl BracketStack {
    /// Processes the next token. Returns the token index of the opening bracket that it closes.
    #[inline]
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
            // The lexer emits a plain brace inside a sequence only if a brace was opened there, so a sequence
            // above that brace is stale.
            R_BRACE => self.close(Bracket::Brace),
            // Without an open sequence, the end of a sequence is an ordinary closing brace.
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

    /// Returns the token index of the innermost open bracket.
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

    /// Returns true if a bracket of this kind is open inside the innermost brace, sequence and heredoc.
    fn is_near(&self, bracket: Bracket) -> bool {
        let walls = [Bracket::Brace, Bracket::Sequence, Bracket::Heredoc];
        let wall = walls.map(|wall| self.innermost[wall as usize]).into_iter().max();
        Some(self.innermost[bracket as usize]) > wall
    }

    /// Closes the innermost bracket of a kind and all brackets inside it. If none of this kind is open, closes all
    /// brackets.
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

/// Returns, for each token that opens a bracket, the index of the token that closes it. 0 means that nothing
/// closes it, since the first token cannot be a partner.
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
