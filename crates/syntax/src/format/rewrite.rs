//! Rewrites parts to their current spelling: `"${name}"` to `name`, old type syntax to the current one, and labels
//! to quoted labels.
//!
//! `tofu fmt` loses a part of some labels, and removes the quotes from some templates that need them. Those parts
//! stay unchanged here.

use std::borrow::Cow;
use std::fmt::Write as _;
use std::ops::Range;

use unicode_normalization::{IsNormalized, UnicodeNormalization as _, is_nfc_quick};

use super::is_correct;
use super::pieces::{Piece, Pieces};
use super::width::literal_tokens;
use crate::lexer::Tokens;
use crate::literal::unescape_quoted;
use crate::syntax_kind::SyntaxKind::*;

/// Rewrites the value of an attribute if it is a single interpolation. `name` is the token of the attribute's
/// name.
pub(super) fn template(
    pieces: &mut Pieces<'_>,
    tokens: Tokens<'_>,
    value: Range<usize>,
    name: usize,
) {
    let from = pieces.all.len();
    let site = AttributeTokens { name, end: value.end };
    pieces.take(tokens, value);
    let Some(inside) = inside(&pieces.all[from..]) else { return };
    let inside = from + inside.start..from + inside.end;
    let parens = needs_parens(&pieces.all[inside.clone()]);
    if !stays_correct(pieces, tokens, inside.clone(), parens, site) {
        return;
    }
    pieces.all.truncate(inside.end);
    pieces.all.drain(from..inside.start);
    if parens {
        let (start, end) =
            (pieces.all[from].start as usize, pieces.all[pieces.all.len() - 1].end as usize);
        let open = pieces.piece(L_PAREN, start..start, "(");
        pieces.all.insert(from, open);
        pieces.put(R_PAREN, end..end, ")");
    }
}

/// An attribute, by its tokens.
#[derive(Clone, Copy)]
struct AttributeTokens {
    name: usize,
    /// The token after the value.
    end: usize,
}

/// Returns the pieces between `"${` and `}"` without the newlines at both ends. `None` if the template has a
/// second interpolation or other text.
fn inside(value: &[Piece]) -> Option<Range<usize>> {
    let [open, sequence, inner @ .., sequence_end, close] = value else { return None };
    let frame = [open.kind, sequence.kind, sequence_end.kind, close.kind];
    if inner.is_empty() || frame != [OPEN_QUOTE, INTERP_OPEN, SEQ_END, CLOSE_QUOTE] {
        return None;
    }
    let mut quotes = 0_i64;
    for piece in inner {
        match piece.kind {
            OPEN_QUOTE => quotes += 1,
            CLOSE_QUOTE => quotes -= 1,
            INTERP_OPEN | SEQ_END | QUOTED_LIT if quotes == 0 => return None,
            _ => {}
        }
    }
    let first = inner.iter().position(|it| it.kind != NEWLINE)?;
    let last = inner.iter().rposition(|it| it.kind != NEWLINE)?;
    Some(first + 2..last + 3)
}

/// Returns true if the value spans several lines and so needs parentheses. A value that begins and ends with a
/// parenthesis needs none, even if the two are not a pair.
fn needs_parens(value: &[Piece]) -> bool {
    let has_parens =
        matches!(value, [first, .., last] if first.kind == L_PAREN && last.kind == R_PAREN);
    value.iter().any(|it| it.kind == NEWLINE) && !has_parens
}

/// Returns true if the attribute's line still parses with the unwrapped value. Two kinds of values fail. The value
/// in
///
/// ```tf
/// a = "${(x) ?
///   (y) : (z)}"
/// ```
///
/// would end after the `?`. A value that ends with a heredoc or a comment would absorb the text after it.
fn stays_correct(
    pieces: &Pieces<'_>,
    tokens: Tokens<'_>,
    value: Range<usize>,
    parens: bool,
    site: AttributeTokens,
) -> bool {
    let value = &pieces.all[value];
    let [.., last] = value else { return false };
    let is_plain = parens || !value.iter().any(|it| it.ends_line);
    if is_plain && last.kind != HEREDOC_CLOSE {
        return true;
    }
    let block = if is_in_line_of_block(tokens, site.name) { "b { " } else { "" };
    let text = &tokens.text[value[0].start as usize..last.end as usize];
    let (open, close) = if parens { ("(", ")") } else { ("", "") };
    let behind = rest_of_line(tokens, site.end);
    let blank = if behind.starts_with(['\r', '\n']) { "" } else { " " };
    is_correct(&format!("{block}a = {open}{text}{close}{blank}{behind}"))
}

/// Returns the rest of the line from a token on, without leading blanks and with the newline.
fn rest_of_line(tokens: Tokens<'_>, from: usize) -> &str {
    let rest = &tokens.kinds[from..];
    let newline = rest.iter().position(|kind| *kind == NEWLINE);
    let end = newline.map_or(tokens.len(), |at| from + at + 1);
    tokens.text[tokens.start(from)..tokens.start(end)].trim_start_matches([' ', '\t'])
}

/// Returns true if the attribute is the only item of a block on one line.
fn is_in_line_of_block(tokens: Tokens<'_>, name: usize) -> bool {
    let before = tokens.kinds[..name].iter().rev();
    before.copied().find(|kind| !matches!(kind, WHITESPACE | COMMENT)) == Some(L_BRACE)
}

/// Rewrites the type of a variable in old syntax: a type in quotes, or a collection without an element type.
pub(super) fn type_constraint(pieces: &mut Pieces<'_>, tokens: Tokens<'_>, value: Range<usize>) {
    let from = pieces.all.len();
    pieces.take(tokens, value);
    let text = |it: &Piece| &tokens.text[it.start as usize..it.end as usize];
    let (name, element) = match pieces.all[from..] {
        [name] if name.kind == IDENT => match text(&name) {
            "list" | "map" | "set" => (name, Some("any")),
            _ => return,
        },
        [open, name, close]
            if [open.kind, name.kind, close.kind] == [OPEN_QUOTE, QUOTED_LIT, CLOSE_QUOTE] =>
        {
            match text(&name) {
                "string" => (name, None),
                "list" | "map" => (name, Some("string")),
                _ => return,
            }
        }
        _ => return,
    };
    pieces.all.truncate(from);
    let mut name = name;
    name.kind = IDENT;
    pieces.all.push(name);
    if let Some(element) = element {
        let end = name.end as usize;
        pieces.put(L_PAREN, end..end, "(");
        pieces.put(IDENT, end..end, element);
        pieces.put(R_PAREN, end..end, ")");
    }
}

/// Rewrites a block header from after the type to the last label: all labels are quoted, with nothing between
/// them.
///
/// `tofu fmt` drops a label that its lexer splits into several tokens, so a header with such a label stays
/// unchanged.
pub(super) fn labels(pieces: &mut Pieces<'_>, tokens: Tokens<'_>, header: Range<usize>) {
    let is_whole = |at: usize| {
        tokens.kinds[at] != QUOTED_LIT || literal_tokens(tokens.text_of(at)).nth(1).is_none()
    };
    if !header.clone().all(is_whole) {
        return pieces.take(tokens, header);
    }
    for at in header {
        let source = tokens.start(at)..tokens.start(at + 1);
        match tokens.kinds[at] {
            IDENT => {
                pieces.put(OPEN_QUOTE, source.start..source.start, "\"");
                label(pieces, tokens, at, tokens.text_of(at));
                pieces.put(CLOSE_QUOTE, source.end..source.end, "\"");
            }
            QUOTED_LIT if is_plain(tokens.bytes_of(at)) => pieces.take(tokens, at..at + 1),
            QUOTED_LIT => label(pieces, tokens, at, &unescape_quoted(tokens.text_of(at))),
            OPEN_QUOTE | CLOSE_QUOTE => pieces.take(tokens, at..at + 1),
            _ => {}
        }
    }
}

/// Returns true if a label needs no escaping, as most labels.
fn is_plain(label: &[u8]) -> bool {
    label.iter().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.'))
}

/// Writes the text of a label. `meaning` is the decoded text of the token at `at`.
fn label(pieces: &mut Pieces<'_>, tokens: Tokens<'_>, at: usize, meaning: &str) {
    let written = quotable(&normalized(meaning));
    pieces.put(QUOTED_LIT, tokens.start(at)..tokens.start(at + 1), written);
}

fn normalized(text: &str) -> Cow<'_, str> {
    match is_nfc_quick(text.chars()) {
        IsNormalized::Yes => Cow::Borrowed(text),
        _ => Cow::Owned(text.nfc().collect()),
    }
}

/// Escapes a text for use between quotes.
fn quotable(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for (at, it) in text.char_indices() {
        match it {
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            '"' | '\\' => out.extend(['\\', it]),
            '$' | '%' if text[at + 1..].starts_with('{') => out.extend([it, it]),
            _ if is_printable(it) => out.push(it),
            _ => push_code(&mut out, u32::from(it)),
        }
    }
    out
}

fn push_code(out: &mut String, code: u32) {
    let written = match code {
        0..=0xffff => write!(out, "\\u{code:04x}"),
        _ => write!(out, "\\U{code:08x}"),
    };
    written.expect("writing to a String cannot fail");
}

/// Returns true if a character is a letter, a mark, a number, punctuation, a symbol or the plain blank.
///
/// The standard library offers this only through `escape_debug`, which also escapes a combining mark at the start
/// of a text; hence the letter in front.
fn is_printable(it: char) -> bool {
    if it.is_ascii() {
        return !it.is_ascii_control();
    }
    ['a', it].iter().collect::<String>().escape_debug().count() == 2
}
