//! The JSON syntax: values with their positions.
//!
//! Start reading at [`parse_json`]. The meaning of a property (an argument, a block, a label) depends on its
//! context, so the code that lowers the values decides on it. This module represents only the text.
//!
//! **Invariant:** properties keep their order, and duplicate properties are kept.
//! **Invariant:** no value is nested deeper than [`crate::MAX_DEPTH`], so code that walks a value may recurse.
//! **Invariant:** parsing ends at the first error, which has OpenTofu's summary. The values parsed before it are
//! kept.
//! **Absent on purpose:** schemas, templates, conversion of values.

mod parse;
mod scan;

use rowan::{TextRange, TextSize};

pub use self::parse::{Json, parse_json};

/// A value and its position.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JsonValue {
    /// The range of its whole text.
    pub range: TextRange,
    /// The kind of value, with its content.
    pub kind: JsonKind,
}

/// The kinds of values.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum JsonKind {
    /// `null`
    Null,
    /// `true` or `false`
    Bool(bool),
    /// A number, as written, because it may have more digits than any float.
    Number(String),
    /// A string.
    String(JsonString),
    /// An array, with its elements in order.
    Array(Vec<JsonValue>),
    /// An object, with its properties in order.
    Object(Vec<JsonProperty>),
}

/// A property of an object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JsonProperty {
    /// The name of the property.
    pub name: JsonString,
    /// The value of the property.
    pub value: JsonValue,
}

/// A decoded string, with the positions of its escapes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct JsonString {
    /// The range, including the quotes.
    pub range: TextRange,
    /// The text without quotes, with escapes decoded.
    pub text: String,
    /// The escapes, in source order.
    escapes: Vec<Escape>,
}

/// An escape sequence.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Escape {
    /// The range in the decoded text.
    decoded: TextRange,
    /// The range in the source.
    source: TextRange,
}

impl JsonString {
    /// Returns the source range of a part of the decoded text. A part of a decoded escape maps to the whole
    /// escape.
    pub fn place(&self, part: TextRange) -> TextRange {
        let start = self.offset(part.start(), false);
        TextRange::new(start, self.offset(part.end(), !part.is_empty()).max(start))
    }

    /// Returns the source offset at which the decoded text at an offset begins or, with `is_end`, at which the
    /// text before it ends.
    fn offset(&self, at: TextSize, is_end: bool) -> TextSize {
        let before = self.escapes.partition_point(|it| match is_end {
            true => it.decoded.start() < at,
            false => it.decoded.end() <= at,
        });
        if let (false, Some(escape)) = (is_end, self.escapes.get(before))
            && escape.decoded.start() <= at
        {
            return escape.source.start();
        }
        match before.checked_sub(1).and_then(|it| self.escapes.get(it)) {
            Some(escape) if escape.decoded.end() > at => escape.source.end(),
            Some(escape) => escape.source.end() + (at - escape.decoded.end()),
            None => self.range.start() + TextSize::from(1) + at,
        }
    }
}

#[cfg(test)]
mod tests;
