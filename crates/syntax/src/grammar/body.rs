//! Parses bodies: attributes, blocks and their headers.

use super::expr;
use super::template::MULTI_LINE;
use crate::parser::{Parser, TokenSet};
use crate::syntax_kind::SyntaxKind::{self, *};

/// The context of an item.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Place {
    File,
    Block,
    /// A block on one line that has had an error: its closing brace may follow an item.
    BrokenLine,
}

/// Parses items up to the end of the file.
pub(super) fn items(p: &mut Parser<'_>) {
    let outer = p.open_names();
    items_alone(p, Place::File);
    p.close_names(outer);
}

/// Parses items up to the end of the file or, in a block, up to its closing brace. Leaves the names of the body as
/// they are.
fn items_alone(p: &mut Parser<'_>, place: Place) {
    loop {
        match p.current() {
            NEWLINE => {
                p.eat(NEWLINE);
            }
            EOF => break,
            // The end of a sequence without an open sequence is a brace whose string lacks its end.
            R_BRACE | SEQ_END if place != Place::File => break,
            kind if kind.is_name() => item(p, place),
            _ => not_an_item(p),
        }
    }
}

const ITEM_REQUIRED: &str = "Argument or block definition required";
const ITEM_REQUIRED_HERE: &str = "An argument or block definition is required here.";
const ITEM_EQUALS_HINT: &str = "An argument or block definition is required here. To set an \
                                argument, use the equals sign \"=\" to introduce the argument value.";

fn not_an_item(p: &mut Parser<'_>) {
    if p.at(OPEN_QUOTE) {
        p.error("Invalid argument name", "Argument names must not be quoted.");
    } else {
        p.error(ITEM_REQUIRED, ITEM_REQUIRED_HERE);
    }
    // A stray closing bracket stops every skip, so it is taken alone.
    if matches!(p.current(), R_BRACE | R_BRACK | R_PAREN | SEQ_END) {
        p.skip_one();
    } else {
        p.skip_to(TokenSet::EMPTY);
    }
}

/// Returns the token after the current one, or `NEWLINE` if a newline comes before it.
fn second_token(p: &Parser<'_>) -> SyntaxKind {
    if p.newline_before_nth(1) { NEWLINE } else { p.nth(1) }
}

fn item(p: &mut Parser<'_>, place: Place) {
    match second_token(p) {
        EQ => attribute(p, place),
        OPEN_QUOTE | L_BRACE => block(p, place),
        kind if kind.is_name() => block(p, place),
        _ => {
            p.error_at(p.nth_range(0), ITEM_REQUIRED, ITEM_EQUALS_HINT);
            p.skip_to(TokenSet::EMPTY);
        }
    }
}

/// Parses `name = expr` and the end of its line.
fn attribute(p: &mut Parser<'_>, place: Place) {
    let failures = p.failures();
    attribute_alone(p);
    end_of_item(p, place, failures, |p| {
        if p.at(COMMA) {
            p.error(
                "Unexpected comma after argument",
                "Argument definitions must be separated by newlines, not commas. An argument \
                 definition must end with a newline.",
            );
        } else {
            p.error(
                "Missing newline after argument",
                "An argument definition must end with a newline.",
            );
        }
    });
}

fn attribute_alone(p: &mut Parser<'_>) {
    let attribute = p.start();
    p.note_name();
    p.bump();
    p.bump();
    expr::expr(p);
    attribute.complete(p, ATTRIBUTE);
}

/// Parses the end of an item, which must end its line. Calls `complain` otherwise, unless the item itself had an
/// error.
fn end_of_item(
    p: &mut Parser<'_>,
    place: Place,
    failures: usize,
    complain: impl FnOnce(&mut Parser<'_>),
) {
    match p.current() {
        NEWLINE | EOF => return,
        R_BRACE if place == Place::BrokenLine => return,
        _ => {}
    }
    if p.failures() == failures {
        complain(p);
    }
    // In `a = 1, b = 2` and `a {} b {}`, the second item is read as if it had a line of its own.
    if p.at(COMMA) {
        p.skip_one();
    }
    if !(p.at_name() && matches!(p.nth(1), EQ | L_BRACE | OPEN_QUOTE)) {
        p.skip_to(TokenSet::EMPTY);
    }
}

/// Parses `type label… { body }` and the end of its line.
fn block(p: &mut Parser<'_>, place: Place) {
    let failures = p.failures();
    let block = p.start();
    p.bump();
    let has_body = header(p) && braces(p);
    block.complete(p, BLOCK);
    if has_body {
        end_of_item(p, place, failures, |p| {
            p.error(
                "Missing newline after block definition",
                "A block definition must end with a newline.",
            );
        });
    } else {
        p.skip_to(TokenSet::EMPTY);
    }
}

const INVALID_BLOCK: &str = "Invalid block definition";

/// Parses labels up to the opening brace. Returns true if the brace is there.
fn header(p: &mut Parser<'_>) -> bool {
    loop {
        match p.current() {
            L_BRACE => return true,
            OPEN_QUOTE => quoted_label(p),
            kind if kind.is_name() => {
                let label = p.start();
                p.bump();
                label.complete(p, LABEL);
            }
            NEWLINE => {
                p.error(
                    INVALID_BLOCK,
                    "A block definition must have block content delimited by \"{\" and \"}\", \
                     starting on the same line as the block header.",
                );
                // A brace on the next line still belongs to this block.
                return p.nth(0) == L_BRACE && p.eat(NEWLINE);
            }
            EQ => {
                p.error(
                    INVALID_BLOCK,
                    "The equals sign \"=\" indicates an argument definition, and must not be used \
                     when defining a block.",
                );
                p.skip_one();
                expr::expr(p);
                return false;
            }
            _ => {
                p.error(
                    INVALID_BLOCK,
                    "Either a quoted string block label or an opening brace \
                                        (\"{\") is expected here.",
                );
                p.skip_to(TokenSet::new(&[L_BRACE]));
                return p.at(L_BRACE);
            }
        }
    }
}

fn quoted_label(p: &mut Parser<'_>) {
    let label = p.start();
    p.bump();
    loop {
        match p.current() {
            QUOTED_LIT => p.bump(),
            CLOSE_QUOTE => {
                p.bump();
                break;
            }
            INTERP_OPEN | DIRECTIVE_OPEN => {
                template_in_label(p);
                let sequence = p.start();
                p.bump();
                p.with_newlines(false, |p| p.skip_to(TokenSet::new(&[CLOSE_QUOTE])));
                if p.at(SEQ_END) {
                    p.bump();
                }
                sequence.complete(p, ERROR);
            }
            EOF => {
                p.error(
                    "Unterminated string literal",
                    "Unable to find the closing quote mark before the end of the file.",
                );
                break;
            }
            // The lexer ends a string at the end of its line.
            _ => {
                p.error_at(p.newline_run(), "Invalid multi-line string", MULTI_LINE);
                break;
            }
        }
    }
    label.complete(p, LABEL);
}

fn template_in_label(p: &mut Parser<'_>) {
    let sign = if p.at(INTERP_OPEN) { "$" } else { "%" };
    let detail = format!(
        "Template sequences are not allowed in this string. To include a literal \"{sign}\", \
         double it (as \"{sign}{sign}\") to escape it."
    );
    p.error("Invalid string literal", detail);
}

/// Parses `{ body }`.
fn braces(p: &mut Parser<'_>) -> bool {
    let open = p.range();
    p.bump();
    if p.is_deep() {
        too_deep(p);
        return true;
    }
    let body = p.start();
    let doubtful = p.replace_doubt(false);
    let outer = p.open_names();
    // A newline, the end of the file or the closing brace begins an ordinary body. Any other token begins the form
    // on one line.
    let mut place = Place::Block;
    if !matches!(p.current(), NEWLINE | EOF | R_BRACE) {
        let failures = p.failures();
        single_line_item(p);
        if p.failures() > failures {
            place = Place::BrokenLine;
        }
    }
    items_alone(p, place);
    p.close_names(outer);
    body.complete(p, BODY);
    if matches!(p.current(), R_BRACE | SEQ_END) {
        // Without an earlier error, the token is a stray `~}`.
        if p.at(SEQ_END) && p.failures() == 0 {
            p.error(ITEM_REQUIRED, ITEM_REQUIRED_HERE);
        }
        p.bump_as(R_BRACE);
        p.replace_doubt(doubtful);
    } else if !p.replace_doubt(true) {
        // An error inside the brackets is the more likely cause, so it suppresses this one. Of nested unclosed
        // blocks, only the innermost is reported.
        p.error_at(
            open,
            "Unclosed configuration block",
            "There is no closing brace for this block before the end of the file. This may be \
             caused by incorrect brace nesting elsewhere in this file.",
        );
    }
    true
}

fn too_deep(p: &mut Parser<'_>) {
    p.nesting_error();
    p.with_newlines(false, |p| p.skip_to(TokenSet::EMPTY));
    p.eat(R_BRACE);
}

const INVALID_SINGLE: &str = "Invalid single-argument block definition";

/// Parses the first item of `{ name = expr }`, which must be the only one. Further content is parsed as items.
fn single_line_item(p: &mut Parser<'_>) {
    let failures = p.failures();
    if !p.at_name() {
        p.error(ITEM_REQUIRED, ITEM_REQUIRED_HERE);
        return p.skip_to(TokenSet::EMPTY);
    }
    match second_token(p) {
        EQ => attribute_alone(p),
        kind if matches!(kind, OPEN_QUOTE | L_BRACE) || kind.is_name() => {
            let detail = format!(
                "A single-line block definition can contain only a single argument. If you meant \
                 to define argument \"{name}\", use an equals sign to assign it a value. To define \
                 a nested block, place it on a line of its own within its parent block.",
                name = p.text()
            );
            p.error_at(
                p.nth_range(0).cover(p.nth_range(1)),
                "Argument definition required",
                detail,
            );
            return block(p, Place::BrokenLine);
        }
        _ => return item(p, Place::BrokenLine),
    }
    if p.failures() == failures {
        single_line_end(p);
    }
    if p.at(COMMA) {
        p.skip_one();
    } else if p.failures() > failures && !p.at_name() {
        p.skip_to(TokenSet::EMPTY);
    }
}

fn single_line_end(p: &mut Parser<'_>) {
    match p.current() {
        R_BRACE => {}
        COMMA => p.error(
            INVALID_SINGLE,
            "Single-line block syntax can include only one argument definition. To define multiple \
             arguments, use the multi-line block syntax with one argument definition per line.",
        ),
        NEWLINE => p.error(
            INVALID_SINGLE,
            "An argument definition on the same line as its containing block creates a single-line \
             block definition, which must also be closed on the same line. Place the block's \
             closing brace immediately after the argument definition.",
        ),
        _ => p.error(
            INVALID_SINGLE,
            "A single-line block definition must end with a closing brace immediately after its \
             single argument definition.",
        ),
    }
}
