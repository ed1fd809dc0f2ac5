//! The JSON syntax: values with the places that they stand at.
//!
//! Start at [`parse_json`]. What a property means (an argument, a block, a label) depends on where it stands, which is the
//! business of whoever lowers it; here is only what the text says.
//!
//! **Invariant:** properties stay in their order, and one that is there twice is there twice.
//! **Invariant:** no value is deeper than [`crate::MAX_DEPTH`], so that whoever walks one may recurse.
//! **Invariant:** reading ends at the first fault, with the words of the reference; what was read before is kept.
//! **Absent on purpose:** schemas, templates, conversion of values.

mod parse;
mod scan;

use rowan::{TextRange, TextSize};

pub use self::parse::{Json, parse_json};

/// A value and where it stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JsonValue {
    /// All of its text.
    pub range: TextRange,
    /// What it is.
    pub kind: JsonKind,
}

/// What a value is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum JsonKind {
    /// `null`
    Null,
    /// `true` or `false`
    Bool(bool),
    /// A number, as it is written: it may be longer than any float.
    Number(String),
    /// A text.
    String(JsonString),
    /// The elements in order.
    Array(Vec<JsonValue>),
    /// The properties in order.
    Object(Vec<JsonProperty>),
}

/// A property of an object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JsonProperty {
    /// Its name.
    pub name: JsonString,
    /// Its value.
    pub value: JsonValue,
}

/// A text between quotes, decoded, and where each part of it stands.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct JsonString {
    /// With the quotes.
    pub range: TextRange,
    /// Without quotes and escapes.
    pub text: String,
    /// In the order of the text.
    escapes: Vec<Escape>,
}

/// What stands for something else.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Escape {
    /// In the decoded text.
    decoded: TextRange,
    /// In the source.
    source: TextRange,
}

impl JsonString {
    /// Where a part of the decoded text stands in the source. A part of what an escape stands for is the whole escape.
    pub fn place(&self, part: TextRange) -> TextRange {
        let start = self.offset(part.start(), false);
        TextRange::new(start, self.offset(part.end(), !part.is_empty()).max(start))
    }

    /// Where the text at an offset begins in the source, or where the text before it ends.
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
