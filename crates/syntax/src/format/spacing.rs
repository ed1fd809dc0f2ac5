//! Decides on the blank between two tokens of a line.

use crate::syntax_kind::SyntaxKind::{self, *};

/// The token to the left of a possible blank.
#[derive(Clone, Copy, Debug)]
pub(super) struct LeftToken {
    pub(super) kind: SyntaxKind,
    /// True if it is the word `in`, as a keyword or as a name.
    pub(super) is_in: bool,
    /// The token before it in its cell.
    pub(super) before: Option<SyntaxKind>,
}

/// Returns the change in the number of open brackets that a token causes.
pub(super) fn bracket_change(kind: SyntaxKind) -> i64 {
    match kind {
        L_BRACE | L_BRACK | L_PAREN | INTERP_OPEN | DIRECTIVE_OPEN => 1,
        R_BRACE | R_BRACK | R_PAREN | SEQ_END => -1,
        _ => 0,
    }
}

/// Returns true if a blank separates two adjacent tokens. The first rule that applies decides.
pub(super) fn has_blank(left: LeftToken, right: SyntaxKind) -> bool {
    if let Some(blank) = by_punctuation(left.kind, right) {
        return blank;
    }
    if is_in_template(left.kind, right) {
        return false;
    }
    match (left.kind, right) {
        // After a name, `in` counts as the keyword, so the tuple after it is not taken for an index.
        _ if left.is_in && left.before == Some(IDENT) => true,
        (IDENT | NUMBER, L_BRACK) => false,
        (kind, L_BRACK) if bracket_change(kind) < 0 => false,
        (BANG, _) => false,
        (MINUS, _) => left.before.is_some_and(ends_operand),
        (L_BRACE, R_BRACE) => false,
        (L_BRACE, _) | (_, R_BRACE) => true,
        // An object that fills an interpolation: `${ {…} }`.
        (INTERP_OPEN | DIRECTIVE_OPEN, L_BRACE) | (R_BRACE, SEQ_END) => true,
        (SEQ_END, INTERP_OPEN | DIRECTIVE_OPEN) => false,
        (left, right) => bracket_change(left) <= 0 && bracket_change(right) >= 0,
    }
}

/// Handles punctuation that determines the blank alone. `None` if neither token does.
fn by_punctuation(left: SyntaxKind, right: SyntaxKind) -> Option<bool> {
    match (left, right) {
        (_, NEWLINE)
        | (IDENT, L_PAREN)
        | (IDENT, COLON2)
        | (COLON2, IDENT)
        | (DOT, _)
        | (_, DOT | COMMA | DOT3) => Some(false),
        (COMMA, _) => Some(true),
        _ => None,
    }
}

/// Returns true inside template text, where a blank would become part of the text.
fn is_in_template(left: SyntaxKind, right: SyntaxKind) -> bool {
    matches!(left, QUOTED_LIT | STRING_LIT | OPEN_QUOTE | HEREDOC_OPEN)
        || matches!(right, QUOTED_LIT | STRING_LIT | CLOSE_QUOTE | HEREDOC_CLOSE)
}

/// Returns true if a minus after the token subtracts. Kinds that are in neither list, such as `=>` and `if`, count
/// as the end of an operand too.
fn ends_operand(kind: SyntaxKind) -> bool {
    let is_before_operand = matches!(
        kind,
        L_PAREN
            | L_BRACE
            | L_BRACK
            | EQ
            | COLON
            | COMMA
            | QUESTION
            | PLUS
            | STAR
            | SLASH
            | PERCENT
            | MINUS
            | EQ2
            | NEQ
            | GT
            | GTEQ
            | LT
            | LTEQ
            | AMP2
            | PIPE2
            | BANG
    );
    !is_before_operand
}
