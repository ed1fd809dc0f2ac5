//! The queries `#(path op value)`.

use std::{borrow::Cow, cmp::Ordering};

use values::json::{Json, parse};

use super::{Content, Found, SelectError, get, pattern::Pattern};
use crate::restful::document::{
    number,
    span::{Children, Node},
};

/// A query for elements of an array.
pub(super) struct Query<'p> {
    /// The path into an element; empty for the element itself.
    path: &'p str,
    op: Op,
    /// The right side, without its quotes.
    value: Cow<'p, str>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Op {
    /// The part at the path exists.
    Exists,
    Equal,
    NotEqual,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
    Like,
    NotLike,
    /// An operator that does not exist. It matches nothing.
    Invalid,
}

/// All operators. One that begins like another is before it.
const OPS: [(&str, Op); 10] = [
    ("==", Op::Equal),
    ("!=", Op::NotEqual),
    ("!%", Op::NotLike),
    ("<=", Op::LessOrEqual),
    (">=", Op::GreaterOrEqual),
    ("=", Op::Equal),
    ("<", Op::Less),
    (">", Op::Greater),
    ("%", Op::Like),
    ("!", Op::Invalid),
];

impl<'p> Query<'p> {
    /// Reads the query at the beginning of a path, which begins with `#(` or `#[`. Returns it with the path behind its
    /// closing bracket. `None` if there is no such bracket.
    pub(super) fn parse(path: &'p str) -> Option<(Query<'p>, &'p str)> {
        let bounds = Bounds::find(path.as_bytes())?;
        let behind = &path[bounds.end + 1..];
        let Some(op_at) = bounds.op else {
            let path = trim(&path[2..bounds.end]);
            return Some((Query { path, op: Op::Exists, value: Cow::Borrowed("") }, behind));
        };
        let right = trim(&path[op_at..bounds.end]);
        let (sign, op) = *OPS.iter().find(|(sign, _)| right.starts_with(sign))?;
        let value = unquoted(trim(&right[sign.len()..]));
        Some((Query { path: trim(&path[2..op_at]), op, value }, behind))
    }

    /// Returns true if an element matches.
    ///
    /// # Errors
    /// Returns an error if the query's path contains something that is not supported.
    pub(super) fn matches(&self, item: &Node<'_>) -> Result<bool, SelectError> {
        let found = match item.children {
            Children::None if !self.path.is_empty() => return Ok(false),
            Children::None => Some(Found::Node(item)),
            Children::Items(_) | Children::Members(_) => get(item, self.path)?,
        };
        let content = found.as_ref().map(|found| Content::of(found.raw()));
        Ok(self.test(content.as_ref()))
    }

    /// Tests the part at the query's path; `None` if there is none.
    fn test(&self, content: Option<&Content<'_>>) -> bool {
        if let Some(kind) = self.value.strip_prefix('~') {
            let is_kind = match kind {
                "*" => content.is_some(),
                "null" => matches!(content, None | Some(Content::Null)),
                "true" => truth(content) == Some(true),
                "false" => truth(content) == Some(false),
                _ => return false,
            };
            return self.op.holds(is_kind.cmp(&true));
        }
        let Some(content) = content else { return false };
        match (self.op, content) {
            (Op::Exists, _) => true,
            (Op::Like, Content::String(text)) => self.is_like(text),
            (Op::NotLike, Content::String(text)) => !self.is_like(text),
            (op, Content::String(text)) => op.holds(text.as_ref().cmp(self.value.as_ref())),
            (op, Content::Number(text)) => {
                let pair = number::read(text).zip(number::read(&self.value));
                op.holds_for(pair.map(|(left, right)| left.compare(&right)))
            }
            (op, Content::Bool(value)) => {
                op.holds_for(self.value.parse().ok().map(|right| value.cmp(&right)))
            }
            (_, Content::Null | Content::Container) => false,
        }
    }

    fn is_like(&self, text: &str) -> bool {
        Pattern::parse(&self.value, &[]).pattern.matches(text)
    }
}

impl Op {
    fn holds(self, order: Ordering) -> bool {
        match self {
            Op::Equal => order.is_eq(),
            Op::NotEqual => order.is_ne(),
            Op::Less => order.is_lt(),
            Op::LessOrEqual => order.is_le(),
            Op::Greater => order.is_gt(),
            Op::GreaterOrEqual => order.is_ge(),
            Op::Exists | Op::Like | Op::NotLike | Op::Invalid => false,
        }
    }

    /// Like [`Op::holds`]; `None` if the right side is of another kind than the part, so that both are only unequal.
    fn holds_for(self, order: Option<Ordering>) -> bool {
        order.map_or(self == Op::NotEqual, |order| self.holds(order))
    }
}

/// Returns the truth of a part for `~true` and `~false`. `None` if the part is neither.
fn truth(content: Option<&Content<'_>>) -> Option<bool> {
    match content {
        None | Some(Content::Null) => Some(false),
        Some(Content::Bool(value)) => Some(*value),
        Some(Content::Number(text)) => number::read(text).map(|it| it.signum() != 0),
        Some(Content::String(text)) => match text.to_ascii_lowercase().as_str() {
            "1" | "t" | "true" => Some(true),
            "0" | "f" | "false" => Some(false),
            _ => None,
        },
        Some(Content::Container) => None,
    }
}

/// The offsets of a query's parts.
struct Bounds {
    /// The operator.
    op: Option<usize>,
    /// The closing bracket.
    end: usize,
}

impl Bounds {
    fn find(path: &[u8]) -> Option<Bounds> {
        let (mut at, mut depth, mut op) = (2, 1_usize, None);
        while let Some(byte) = path.get(at) {
            match byte {
                b'!' | b'=' | b'<' | b'>' | b'%' if depth == 1 && op.is_none() => op = Some(at),
                b'\\' => at += 1,
                b'[' | b'(' => depth += 1,
                b']' | b')' => depth -= 1,
                b'"' => at = end_of_string(path, at),
                _ => {}
            }
            if depth == 0 {
                return Some(Bounds { op, end: at });
            }
            at += 1;
        }
        None
    }
}

/// Returns the offset of the quote that ends a string, or the end of the path.
fn end_of_string(path: &[u8], start: usize) -> usize {
    let mut at = start + 1;
    while let Some(byte) = path.get(at) {
        match byte {
            b'"' => break,
            b'\\' => at += 2,
            _ => at += 1,
        }
    }
    at
}

/// Removes blanks and control characters at both ends.
fn trim(text: &str) -> &str {
    text.trim_matches(|c| c <= ' ')
}

fn unquoted(value: &str) -> Cow<'_, str> {
    let inner = value.strip_prefix('"').and_then(|it| it.strip_suffix('"'));
    let Some(inner) = inner else { return Cow::Borrowed(value) };
    match parse(value.as_bytes()) {
        Ok(Json::String(text)) => text,
        _ => Cow::Borrowed(inner),
    }
}
