//! The formatter: the one layout that a correct text has, equal to the reference's byte for byte.
//!
//! ```text
//! tokens ──sites──► what is rewritten ──pieces──► tokens that are written ──layout──► blanks before each ──► text, or edits
//! ```
//!
//! Start reading at [`format`], then `sites` (attributes and labels), `rewrite` (what is written another way), `layout` (lines,
//! indentation, columns) and `spacing` (the blank between two tokens). The rules are in `reference`: hcl 5; where ours differ from
//! them on purpose is in `docs/fmt.md`, and each case is in `format/tests.rs`.
//!
//! **Invariant:** a text with errors is not formatted.
//! **Invariant:** apart from the rewrites, only blanks between tokens change. No line is broken or joined, no comment is changed.
//! **Invariant:** what is written parses, and means what was read.
//! **Invariant:** time and memory are linear in the text; the blanks of columns have a bound of their own (`layout::MOST_PADDING`).
//! **Absent on purpose:** files, settings, lengths of lines: there is nothing to choose.

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

/// A part of a text and what stands for it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct FormatEdit {
    /// What is replaced, in bytes of the text that was formatted.
    pub range: TextRange,
    /// What comes in its place.
    pub replacement: String,
}

/// The text of a file as it should be.
///
/// # Errors
/// What is wrong with the text, as [`parse_file`] says it.
pub fn format(text: &str) -> Result<String, Vec<SyntaxError>> {
    Ok(laid_out(text)?.to_text())
}

/// The edits that [`format()`] amounts to, in order and as small as they can be, in the part of the text that `range` touches: whole
/// top-level items, and whole lines. What an edited item becomes is what it is in the formatted file.
///
/// # Errors
/// What is wrong with the text; no part of such a text is formatted.
pub fn format_range(text: &str, range: TextRange) -> Result<Vec<FormatEdit>, Vec<SyntaxError>> {
    let pieces = laid_out(text)?;
    // The first line may be the last one of an item, which is then formatted as a whole.
    let lines = whole_lines(text, range);
    let part = whole_lines(text, pieces.whole_items(lines));
    let mut edits = pieces.edits();
    edits.retain(|edit| part.contains_range(edit.range));
    Ok(edits)
}

/// The pieces of a correct text with the blanks before them.
fn laid_out(text: &str) -> Result<Pieces<'_>, Vec<SyntaxError>> {
    let lexed = lexer::lex(text, Mode::File);
    let tokens = lexed.as_tokens(text);
    let Some(events) = events_of_correct(tokens) else { return Err(errors(text)) };
    let sites = sites::find(tokens, &events);
    let mut pieces = pieces::of(text, tokens, sites);
    layout::lay_out(&mut pieces);
    Ok(pieces)
}

/// The events of parsing, if nothing is wrong. Building the tree would take most of the time, and nothing here asks for it.
fn events_of_correct(tokens: Tokens<'_>) -> Option<Vec<Event>> {
    let input = Input::new(tokens);
    let mut parser = Parser::new(&input, true);
    grammar::source_file(&mut parser);
    let (events, found) = parser.finish();
    (found.is_empty() && lexical::errors(tokens).is_empty()).then_some(events)
}

/// Whether nothing is wrong with a text.
fn is_correct(text: &str) -> bool {
    let lexed = lexer::lex(text, Mode::File);
    events_of_correct(lexed.as_tokens(text)).is_some()
}

fn errors(text: &str) -> Vec<SyntaxError> {
    let errors = parse_file(text).errors().to_vec();
    if !errors.is_empty() {
        return errors;
    }
    // Cut into chunks it has none: those that it has as a whole, then.
    crate::parse_chunk(text).errors().to_vec()
}

/// The lines that a range touches, with the ending of the last.
fn whole_lines(text: &str, range: TextRange) -> TextRange {
    let bytes = text.as_bytes();
    let offset = |at: TextSize| usize::from(at).min(text.len());
    let (start, end) = (offset(range.start()), offset(range.end()));
    let is_newline = |byte: &u8| *byte == b'\n';
    let start = bytes[..start].iter().rposition(is_newline).map_or(0, |at| at + 1);
    // A range that ends with a line does not touch the next.
    let from = if end > start { end - 1 } else { end };
    let end = bytes[from..].iter().position(is_newline).map_or(bytes.len(), |at| from + at + 1);
    TextRange::new(size(start), size(end))
}

fn size(at: usize) -> TextSize {
    TextSize::new(u32::try_from(at).unwrap_or(u32::MAX))
}

#[cfg(test)]
mod tests;
