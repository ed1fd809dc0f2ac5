//! Parses expressions: operators by binding power, terms, and the steps after a term.

use super::{forms, template};
use crate::literal::is_number;
use crate::parser::{CompletedMarker, Parser, TokenSet};
use crate::syntax_kind::SyntaxKind::{self, *};

/// Parses an expression. Returns true if it produced a node; otherwise an error reports the unexpected token.
pub(super) fn expr(p: &mut Parser<'_>) -> bool {
    if p.is_deep() {
        p.nesting_error();
        p.skip_to(TokenSet::new(&[COMMA]));
        return false;
    }
    let Some(condition) = binary(p, 0) else { return false };
    if p.at(QUESTION) {
        conditional(p, condition);
    }
    true
}

fn conditional(p: &mut Parser<'_>, condition: CompletedMarker) {
    let conditional = condition.precede(p);
    p.bump();
    let failures = p.failures();
    expr(p);
    if p.eat(COLON) {
        expr(p);
    } else if p.failures() == failures {
        p.error(
            "Missing false expression in conditional",
            "The conditional operator (...?...:...) requires a false expression, delimited by a colon.",
        );
    }
    conditional.complete(p, CONDITIONAL);
}

/// Returns the binding power of an operator, or 0 for any other token. All operators associate to the left.
fn binding_power(kind: SyntaxKind) -> u8 {
    match kind {
        PIPE2 => 1,
        AMP2 => 2,
        EQ2 | NEQ => 3,
        LT | GT | LTEQ | GTEQ => 4,
        PLUS | MINUS => 5,
        STAR | SLASH | PERCENT => 6,
        _ => 0,
    }
}

fn binary(p: &mut Parser<'_>, floor: u8) -> Option<CompletedMarker> {
    let mut lhs = postfix(p)?;
    loop {
        let power = binding_power(p.current());
        if power <= floor {
            return Some(lhs);
        }
        if p.is_tall(lhs) {
            p.nesting_error();
            p.skip_to(TokenSet::new(&[COMMA, CLOSE_QUOTE]));
            return Some(lhs);
        }
        let binary = lhs.precede(p);
        let operator = p.current();
        p.bump();
        if operator == STAR && p.at(STAR) && p.touches_previous() {
            p.error(
                "Unsupported operator",
                "There is no operator \"**\". Use the function pow(base, exponent) instead.",
            );
            p.skip_one();
        }
        self::binary(p, power);
        lhs = binary.complete(p, BINARY);
    }
}

/// Parses a term with its steps.
fn postfix(p: &mut Parser<'_>) -> Option<CompletedMarker> {
    let base = term(p)?;
    if !matches!(p.current(), DOT | L_BRACK) {
        return Some(base);
    }
    let traversal = base.precede(p);
    steps(p);
    Some(traversal.complete(p, TRAVERSAL))
}

/// Parses a name with steps, as in a string of the JSON syntax.
pub(super) fn absolute_traversal(p: &mut Parser<'_>) {
    if !p.at_name() {
        p.error("Variable name required", "Must begin with a variable name.");
        return;
    }
    let reference = p.start();
    p.bump();
    let reference = reference.complete(p, REFERENCE);
    if matches!(p.current(), DOT | L_BRACK) {
        let traversal = reference.precede(p);
        steps(p);
        traversal.complete(p, TRAVERSAL);
    }
}

fn term(p: &mut Parser<'_>) -> Option<CompletedMarker> {
    Some(match p.current() {
        NUMBER => {
            if !is_number(p.text()) {
                p.error(
                    "Invalid number literal",
                    "Failed to recognize the value of this number literal.",
                );
            }
            literal(p, NUMBER)
        }
        kind if kind.is_name() => return Some(name(p, kind)),
        OPEN_QUOTE => template::quoted(p),
        HEREDOC_OPEN => template::heredoc(p),
        L_PAREN => forms::paren(p),
        L_BRACK => forms::tuple(p),
        L_BRACE => forms::object(p),
        MINUS | BANG => unary(p)?,
        _ => {
            missing_expression(p);
            return None;
        }
    })
}

/// The detail for a missing expression at the end of the parsed text. The text ends with the file or, for an item
/// that is never closed, where the next item begins.
const NOTHING_MORE: &str = "Expected the start of an expression, but there is nothing more: the \
                            text ends here, or another block begins.";

fn missing_expression(p: &mut Parser<'_>) {
    match p.current() {
        EOF => {
            p.error("Missing expression", NOTHING_MORE);
            p.replace_doubt(true);
        }
        LT if p.nth(1) == LT => p.error(
            "Invalid expression",
            "Expected the start of an expression, but found an invalid expression token. A heredoc \
             begins with \"<<\" and its marker, with nothing between them and nothing but a newline after the marker.",
        ),
        _ => p.error("Invalid expression", "Expected the start of an expression, but found an \
                                            invalid expression token."),
    }
}

fn literal(p: &mut Parser<'_>, kind: SyntaxKind) -> CompletedMarker {
    let literal = p.start();
    p.bump_as(kind);
    literal.complete(p, LITERAL)
}

/// Parses a word: a call, a literal or a reference, in that order.
fn name(p: &mut Parser<'_>, kind: SyntaxKind) -> CompletedMarker {
    match p.nth(1) {
        L_PAREN | COLON2 if !(p.newlines_matter() && p.newline_before_nth(1)) => {
            return forms::call(p);
        }
        _ => {}
    }
    if matches!(kind, TRUE_KW | FALSE_KW | NULL_KW) {
        return literal(p, kind);
    }
    let reference = p.start();
    p.bump();
    reference.complete(p, REFERENCE)
}

/// Parses a unary operator. It binds tighter than any binary operator and looser than a step: `-a.b`.
fn unary(p: &mut Parser<'_>) -> Option<CompletedMarker> {
    if p.is_deep() {
        p.nesting_error();
        p.skip_to(TokenSet::new(&[COMMA]));
        return None;
    }
    let unary = p.start();
    p.bump();
    postfix(p);
    Some(unary.complete(p, UNARY))
}

fn steps(p: &mut Parser<'_>) {
    // `.*` repeats only the plain steps after it, so these must not contain a second `.*`.
    let mut in_attr_splat = false;
    loop {
        let step = p.start();
        let done = match p.current() {
            DOT => dot_step(p, &mut in_attr_splat),
            L_BRACK => {
                in_attr_splat = false;
                bracket_step(p)
            }
            _ => {
                step.abandon(p);
                return;
            }
        };
        match done {
            Some(kind) => step.complete(p, kind),
            None => {
                step.complete(p, ERROR);
                return;
            }
        };
    }
}

/// Parses `.name`, `.0` or `.*`.
fn dot_step(p: &mut Parser<'_>, in_attr_splat: &mut bool) -> Option<SyntaxKind> {
    p.bump();
    match p.current() {
        kind if kind.is_name() => {
            // `a.⏎b = 1`: even where newlines have no meaning, the name of the next line's attribute is not a
            // step.
            if p.at_body_item_line() {
                missing_name(p);
                return None;
            }
            p.bump();
            Some(ATTR_STEP)
        }
        NUMBER => legacy_index(p),
        STAR if *in_attr_splat => {
            p.error(
                "Nested splat expression not allowed",
                "A splat expression (*) cannot be used inside another attribute-only splat expression.",
            );
            p.bump();
            Some(ATTR_SPLAT_STEP)
        }
        STAR => {
            *in_attr_splat = true;
            p.bump();
            Some(ATTR_SPLAT_STEP)
        }
        _ => {
            missing_name(p);
            None
        }
    }
}

fn missing_name(p: &mut Parser<'_>) {
    p.error("Invalid attribute name", "An attribute name is required after a dot.");
}

/// Parses a legacy index. The lexer reads `0.1` of `x.0.1` as one number, which HCL refuses instead of splitting
/// it.
fn legacy_index(p: &mut Parser<'_>) -> Option<SyntaxKind> {
    if let Some((first, second)) = p.text().split_once('.') {
        let detail = format!(
            "When using the legacy index syntax, chaining two indexes together is not permitted. \
             Use the proper index syntax instead, like [{first}][{second}]."
        );
        p.error("Invalid legacy index syntax", detail);
    }
    p.bump();
    Some(LEGACY_INDEX_STEP)
}

/// Parses `[expr]` or `[*]`.
fn bracket_step(p: &mut Parser<'_>) -> Option<SyntaxKind> {
    p.bump();
    // The star is checked before newlines lose their meaning.
    if p.at(STAR) {
        p.bump();
        return close_index(
            p,
            SPLAT_STEP,
            "Missing close bracket on splat index",
            "The star for a full splat operator must be immediately followed by a closing bracket (\"]\").",
        );
    }
    p.with_newlines(false, |p| {
        let failures = p.failures();
        expr(p);
        if p.failures() > failures {
            p.skip_to(TokenSet::EMPTY);
            return p.eat(R_BRACK).then_some(INDEX_STEP);
        }
        close_index(
            p,
            INDEX_STEP,
            "Missing close bracket on index",
            "The index operator must end with a closing bracket (\"]\").",
        )
    })
}

fn close_index(
    p: &mut Parser<'_>,
    kind: SyntaxKind,
    summary: &'static str,
    detail: &'static str,
) -> Option<SyntaxKind> {
    if !p.at(R_BRACK) {
        p.error(summary, detail);
        p.skip_to(TokenSet::EMPTY);
    }
    p.eat(R_BRACK).then_some(kind)
}
