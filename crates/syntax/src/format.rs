//! The formatter. It gives each correct text one layout, which equals that of `tofu fmt` byte for byte.
//!
//! ```text
//! tokens ──sites──► rewrites ──pieces──► written tokens ──layout──► blanks before each ──► text, or edits
//! ```
//!
//! Start reading at [`format`], then `sites` (attributes and labels), `rewrite` (parts that get another spelling),
//! `layout` (lines, indentation, columns) and `spacing` (the blank between two tokens). `docs/fmt.md` lists the
//! intended differences from `tofu fmt`, and `format/tests.rs` has each case.
//!
//! **Invariant:** a text with errors is not formatted.
//! **Invariant:** apart from the rewrites, only blanks between tokens change. No line is split or joined, no
//! comment changes.
//! **Invariant:** the formatted text parses and has the same meaning.
//! **Invariant:** time and memory are linear in the text; the blanks for alignment have a bound of their own
//! (`layout::MAX_PADDING`).
//! **Absent on purpose:** files, settings and line lengths; there are no options.

mod layout;
mod pieces;
mod rewrite;
mod sites;
mod spacing;
mod width;

use rowan::{TextRange, TextSize};

use self::pieces::Pieces;
use crate::error::SyntaxError;
use crate::lexer::{self, Mode, Tokens};
use crate::parser::{Event, Input, Parser};
use crate::{grammar, lexical, parse_file};

/// A range of a text and its replacement.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct FormatEdit {
    /// The range to replace, in bytes of the unformatted text.
    pub range: TextRange,
    /// The text to insert in its place.
    pub replacement: String,
}

/// Returns the formatted text of a file.
///
/// # Errors
/// Returns the errors of the text, as [`parse_file`] reports them.
pub fn format(text: &str) -> Result<String, Vec<SyntaxError>> {
    Ok(laid_out(text)?.to_text())
}

/// Returns the edits that format the part of the text that `range` touches: whole top-level items, and whole
/// lines. The edits are in order and as small as possible. They turn an item into the same text as [`format()`]
/// does.
///
/// # Errors
/// Returns the errors of the text. No part of a text with errors is formatted.
pub fn format_range(text: &str, range: TextRange) -> Result<Vec<FormatEdit>, Vec<SyntaxError>> {
    let pieces = laid_out(text)?;
    // The first line may be the last line of an item, which is then formatted as a whole.
    let lines = whole_lines(text, range);
    let part = whole_lines(text, pieces.whole_items(lines));
    let mut edits = pieces.edits();
    edits.retain(|edit| part.contains_range(edit.range));
    Ok(edits)
}

/// Returns the pieces of a correct text with the blanks before each piece.
fn laid_out(text: &str) -> Result<Pieces<'_>, Vec<SyntaxError>> {
    let lexed = lexer::lex(text, Mode::File);
    let tokens = lexed.as_tokens(text);
    let Some(events) = events_of_correct(tokens) else { return Err(errors(text)) };
    let sites = sites::find(tokens, &events);
    let mut pieces = pieces::of(text, tokens, sites);
    layout::lay_out(&mut pieces);
    Ok(pieces)
}

/// Returns the parse events of a text without errors, or `None` if it has errors. The formatter needs no tree, and
/// building one would take most of the time.
fn events_of_correct(tokens: Tokens<'_>) -> Option<Vec<Event>> {
    let input = Input::new(tokens);
    let mut parser = Parser::new(&input, true);
    grammar::source_file(&mut parser);
    let (events, found) = parser.finish();
    (found.is_empty() && lexical::errors(tokens).is_empty()).then_some(events)
}

/// Returns true if a text has no errors.
fn is_correct(text: &str) -> bool {
    let lexed = lexer::lex(text, Mode::File);
    events_of_correct(lexed.as_tokens(text)).is_some()
}

fn errors(text: &str) -> Vec<SyntaxError> {
    let errors = parse_file(text).errors().to_vec();
    if !errors.is_empty() {
        return errors;
    }
    // The text has no errors chunk by chunk, so return the errors of the text parsed as a whole.
    crate::parse_chunk(text).errors().to_vec()
}

/// Returns the lines that a range touches, with the line ending of the last one.
fn whole_lines(text: &str, range: TextRange) -> TextRange {
    let bytes = text.as_bytes();
    let offset = |at: TextSize| usize::from(at).min(text.len());
    let (start, end) = (offset(range.start()), offset(range.end()));
    let is_newline = |byte: &u8| *byte == b'\n';
    let start = bytes[..start].iter().rposition(is_newline).map_or(0, |at| at + 1);
    // A range that ends with a line's newline does not touch the next line.
    let from = if end > start { end - 1 } else { end };
    let end = bytes[from..].iter().position(is_newline).map_or(bytes.len(), |at| from + at + 1);
    TextRange::new(size(start), size(end))
}

fn size(at: usize) -> TextSize {
    TextSize::new(u32::try_from(at).unwrap_or(u32::MAX))
}

#[cfg(test)]
mod tests;
