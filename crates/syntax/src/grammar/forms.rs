//! Parses expressions in brackets: parentheses, calls, tuples, objects and `for`.

use rowan::TextRange;

use super::expr::expr;
use crate::parser::{CompletedMarker, Parser, TokenSet};
use crate::syntax_kind::SyntaxKind::*;

/// Parses `(expr)`.
pub(super) fn paren(p: &mut Parser<'_>) -> CompletedMarker {
    let paren = p.start();
    p.bump();
    p.in_brackets_without_newlines(|p| {
        let failures = p.failures();
        if p.at_body_item_line() {
            p.error_at(p.nth_range(1), UNBALANCED.0, UNBALANCED.1);
        } else {
            expr(p);
        }
        if p.failures() == failures && !p.at(R_PAREN) {
            p.error(UNBALANCED.0, UNBALANCED.1);
        }
        if p.failures() > failures {
            p.skip_to(TokenSet::EMPTY);
        }
        p.eat(R_PAREN);
    });
    paren.complete(p, PAREN)
}

const UNBALANCED: (&str, &str) =
    ("Unbalanced parentheses", "Expected a closing parenthesis to terminate the expression.");

/// Parses `name(args)` and `scope::name(args)`.
pub(super) fn call(p: &mut Parser<'_>) -> CompletedMarker {
    let call = p.start();
    let start = p.range();
    let name = p.start();
    p.bump();
    while p.at(COLON2) {
        p.bump();
        if !p.at_name() {
            p.error(
                "Missing function name",
                "Function scope resolution symbol :: must be followed by a function name in this scope.",
            );
            break;
        }
        p.bump();
    }
    name.complete(p, FUNC_NAME);
    if p.at(L_PAREN) {
        arg_list(p, start);
    } else {
        p.error(
            "Missing open parenthesis",
            "Function selector must be followed by an open parenthesis to begin the function call.",
        );
    }
    call.complete(p, CALL)
}

fn arg_list(p: &mut Parser<'_>, name: TextRange) {
    let list = p.start();
    let open = name.cover(p.range());
    p.bump();
    p.in_brackets_without_newlines(|p| {
        while !p.at(R_PAREN) {
            let failures = p.failures();
            if p.at_body_item_line() {
                p.error_at(p.nth_range(1), NO_ARGUMENT_SEPARATOR.0, NO_ARGUMENT_SEPARATOR.1);
                break;
            }
            expr(p);
            match p.current() {
                COMMA => p.bump(),
                R_PAREN => {}
                DOT3 => {
                    expanded_end(p);
                    break;
                }
                kind => {
                    if p.failures() == failures {
                        if kind == EOF {
                            unterminated_call(p, open);
                        } else {
                            p.error(NO_ARGUMENT_SEPARATOR.0, NO_ARGUMENT_SEPARATOR.1);
                        }
                    }
                    if !next_element(p) {
                        break;
                    }
                }
            }
        }
        p.eat(R_PAREN);
    });
    list.complete(p, ARG_LIST);
}

const NO_ARGUMENT_SEPARATOR: (&str, &str) = (
    "Missing argument separator",
    "A comma is required to separate each function argument from the next.",
);

fn unterminated_call(p: &mut Parser<'_>, open: TextRange) {
    p.error_at(
        open,
        "Unterminated function call",
        "There is no closing parenthesis for this function call before the end of the file. This \
         may be caused by incorrect parenthesis nesting elsewhere in this file.",
    );
}

/// Parses `...` and the closing parenthesis that must follow it.
fn expanded_end(p: &mut Parser<'_>) {
    let dots = p.range();
    p.bump();
    if !p.at(R_PAREN) {
        p.error_at(
            dots,
            "Missing closing parenthesis",
            "An expanded function argument (with ...) must be immediately followed by closing parentheses.",
        );
        p.skip_to(TokenSet::EMPTY);
    }
}

/// After an error inside brackets, advances to the next element. Returns false if there is none. A token that
/// begins an expression is taken as the next element at once, since only the separator is missing.
fn next_element(p: &mut Parser<'_>) -> bool {
    if p.at_body_item_line() {
        return false;
    }
    if !STARTS.contains(p.current()) {
        p.skip_to(TokenSet::new(&[COMMA]));
        return p.eat(COMMA);
    }
    true
}

/// The tokens that begin an expression and never continue one.
const STARTS: TokenSet =
    TokenSet::new(&[NUMBER, IDENT, TRUE_KW, FALSE_KW, NULL_KW, OPEN_QUOTE, HEREDOC_OPEN, BANG]);

/// Parses `[a, b]` or a `for` that makes a tuple.
pub(super) fn tuple(p: &mut Parser<'_>) -> CompletedMarker {
    let tuple = p.start();
    let open = p.range();
    p.bump();
    let kind = p.in_brackets_without_newlines(|p| {
        if p.at(FOR_KW) {
            for_expr(p, false);
            return FOR_TUPLE;
        }
        elements(p, open);
        p.eat(R_BRACK);
        TUPLE
    });
    tuple.complete(p, kind)
}

fn elements(p: &mut Parser<'_>, open: TextRange) {
    while !p.at(R_BRACK) {
        let failures = p.failures();
        if p.at_body_item_line() {
            p.error_at(p.nth_range(1), NO_ITEM_SEPARATOR.0, NO_ITEM_SEPARATOR.1);
            break;
        }
        expr(p);
        match p.current() {
            COMMA => p.bump(),
            R_BRACK => {}
            kind => {
                if p.failures() == failures {
                    if kind == EOF {
                        unterminated_tuple(p, open);
                    } else {
                        p.error(NO_ITEM_SEPARATOR.0, NO_ITEM_SEPARATOR.1);
                    }
                }
                if !next_element(p) {
                    break;
                }
            }
        }
    }
}

const NO_ITEM_SEPARATOR: (&str, &str) =
    ("Missing item separator", "Expected a comma to mark the beginning of the next item.");

fn unterminated_tuple(p: &mut Parser<'_>, open: TextRange) {
    p.error_at(
        open,
        "Unterminated tuple constructor expression",
        "There is no corresponding closing bracket before the end of the file. This may be caused \
         by incorrect bracket nesting elsewhere in this file.",
    );
}

/// Parses `{ a = 1 }` or a `for` that makes an object.
pub(super) fn object(p: &mut Parser<'_>) -> CompletedMarker {
    let object = p.start();
    let open = p.range();
    p.bump();
    // `for` may follow newlines; in an object itself, newlines separate items.
    let kind = if p.nth(0) == FOR_KW {
        p.in_brackets_without_newlines(|p| for_expr(p, true));
        FOR_OBJECT
    } else {
        p.in_brackets(|p| {
            p.with_newlines(true, |p| {
                object_items(p, open);
                p.eat(R_BRACE);
            });
        });
        OBJECT
    };
    object.complete(p, kind)
}

fn object_items(p: &mut Parser<'_>, open: TextRange) {
    loop {
        if p.eat(NEWLINE) {
            continue;
        }
        if p.at(R_BRACE) || (p.at(EOF) && p.failures() > 0) {
            return;
        }
        let failures = p.failures();
        let item = p.start();
        object_item(p, open);
        item.complete(p, OBJECT_ITEM);
        match p.current() {
            COMMA => p.bump(),
            NEWLINE | R_BRACE => {}
            EOF => {
                if p.failures() == failures {
                    unterminated_object(p, open);
                }
                return;
            }
            _ => {
                if p.failures() == failures {
                    p.error(
                        "Missing attribute separator",
                        "Expected a newline or comma to mark the beginning of the next attribute.",
                    );
                }
                if !(p.at_name() && matches!(p.nth(1), EQ | COLON)) {
                    p.skip_to(TokenSet::new(&[COMMA]));
                    if !matches!(p.current(), COMMA | NEWLINE | R_BRACE) {
                        return;
                    }
                    p.eat(COMMA);
                }
            }
        }
    }
}

fn unterminated_object(p: &mut Parser<'_>, open: TextRange) {
    p.error_at(
        open,
        "Unterminated object constructor expression",
        "There is no corresponding closing brace before the end of the file. This may be caused by \
         incorrect brace nesting elsewhere in this file.",
    );
}

fn object_item(p: &mut Parser<'_>, open: TextRange) {
    let failures = p.failures();
    let key = p.start();
    if p.at_name() && is_bare_key(p) {
        p.bump();
    } else {
        expr(p);
    }
    key.complete(p, OBJECT_KEY);
    if matches!(p.current(), EQ | COLON) {
        p.bump();
        expr(p);
        return;
    }
    if p.failures() == failures {
        missing_value(p, open);
    }
    // `{ a "x" }`: the token that would begin the value is parsed as one.
    if STARTS.contains(p.current()) && p.nth(1) != EQ {
        expr(p);
    }
}

/// Returns true if the key is a bare name: no token follows that would make the name part of an expression.
fn is_bare_key(p: &Parser<'_>) -> bool {
    p.newline_before_nth(1)
        || !matches!(
            p.nth(1),
            DOT | L_BRACK
                | L_PAREN
                | COLON2
                | QUESTION
                | PIPE2
                | AMP2
                | EQ2
                | NEQ
                | LT
                | GT
                | LTEQ
                | GTEQ
                | PLUS
                | MINUS
                | STAR
                | SLASH
                | PERCENT
        )
}

fn missing_value(p: &mut Parser<'_>, open: TextRange) {
    const SEPARATOR: &str = "Missing key/value separator";
    match p.current() {
        NEWLINE | COMMA => p.error("Missing attribute value", "Expected an attribute value, \
                                                               introduced by an equals sign (\"=\")."),
        EOF => unterminated_object(p, open),
        kind if kind.is_name() => p.error(
            SEPARATOR,
            "Expected an equals sign (\"=\") to mark the beginning of the attribute value. If you \
             intended to given an attribute name containing periods or spaces, write the name in \
             quotes to create a string literal.",
        ),
        _ => p.error(SEPARATOR, "Expected an equals sign (\"=\") to mark the beginning of the attribute value."),
    }
}

const FOR: &str = "Invalid 'for' expression";

/// Parses the rest of `[for …]` or `{for …}` after its opening bracket.
fn for_expr(p: &mut Parser<'_>, makes_object: bool) {
    let closer = if makes_object { R_BRACE } else { R_BRACK };
    let failures = p.failures();
    let intro = p.start();
    let sound = for_intro(p);
    intro.complete(p, FOR_INTRO);
    if sound {
        for_results(p, makes_object);
        if p.at(IF_KW) {
            let cond = p.start();
            p.bump_as(IF_KW);
            expr(p);
            cond.complete(p, FOR_COND);
        }
    }
    if !p.at(closer) {
        if p.failures() == failures {
            p.error(FOR, "Extra characters after the end of the 'for' expression.");
        }
        p.skip_to(TokenSet::EMPTY);
    }
    p.eat(closer);
}

/// Parses `for k, v in collection :`. Returns true if the results can follow.
fn for_intro(p: &mut Parser<'_>) -> bool {
    p.bump_as(FOR_KW);
    let failures = p.failures();
    if !for_names(
        p,
        FOR,
        "For expression requires variable name after 'for'.",
        "For expression requires value variable name after comma.",
    ) {
        return false;
    }
    if !p.at(IN_KW) {
        p.error(FOR, "For expression requires the 'in' keyword after its name declarations.");
        return false;
    }
    p.bump_as(IN_KW);
    expr(p);
    if p.eat(COLON) {
        return true;
    }
    if p.failures() == failures {
        p.error(FOR, "For expression requires a colon after the collection expression.");
    }
    false
}

/// Parses `v` or `k, v`. Returns true if the names are present.
pub(super) fn for_names(
    p: &mut Parser<'_>,
    summary: &'static str,
    no_name: &'static str,
    no_value: &'static str,
) -> bool {
    if !p.at_name() {
        p.error(summary, no_name);
        return false;
    }
    p.bump();
    if p.eat(COMMA) {
        if !p.at_name() {
            p.error(summary, no_value);
            return false;
        }
        p.bump();
    }
    true
}

/// Parses `value`, or `key => value...`.
fn for_results(p: &mut Parser<'_>, makes_object: bool) {
    let failures = p.failures();
    let first = spanned_expr(p);
    let mut key = None;
    let mut value = first;
    if p.at(FAT_ARROW) {
        p.bump();
        key = Some(first);
        value = spanned_expr(p);
    }
    let mut group = None;
    if p.at(DOT3) {
        group = Some(p.range());
        p.bump();
    }
    // The token after the results is checked first: for an unexpected one, OpenTofu reports that error and nothing
    // more.
    if p.failures() > failures || !matches!(p.current(), IF_KW | R_BRACK | R_BRACE) {
        return;
    }
    match (makes_object, key, group) {
        (false, Some(key), _) => {
            p.error_at(key, FOR, "Key expression is not valid when building a tuple.")
        }
        (true, None, _) => {
            p.error_at(value, FOR, "Key expression is required when building an object.")
        }
        (false, None, Some(dots)) => {
            p.error_at(dots, FOR, "Grouping ellipsis (...) cannot be used when building a tuple.");
        }
        _ => {}
    }
}

/// Parses an expression and returns the range from its first token to its last.
fn spanned_expr(p: &mut Parser<'_>) -> TextRange {
    let start = p.nth_range(0);
    let pos = p.pos();
    expr(p);
    if p.pos() > pos { start.cover(p.previous_range()) } else { start }
}
