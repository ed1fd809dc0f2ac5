//! Selection of a part of a document by a path, in the language of the Go library gjson.
//!
//! Start reading at [`Document::select`]. [`component`] splits a path, [`query`] evaluates `#(…)`.
//!
//! A path is a list of components between dots: keys (with `*`, `?` and escapes `\`), indices of arrays, `#` for the
//! length of an array, `#.x` for `x` of each element, `#(q)` for the first and `#(q)#` for all elements that match a
//! query. Behind `|`, the path continues on the whole result. The modifier `@this` is the document itself.
//!
//! **Absent on purpose:** the other modifiers, multipaths, literals and JSON lines. A path with one of them is an
//! error and not an absent value, since an absent value may mean that a resource is gone. For the same reason a query
//! without its closing bracket is an error.

mod component;
mod pattern;
mod query;

use std::{borrow::Cow, ops::Range};

use component::{Element, Member, Rest};
use values::{
    CodecError,
    json::{Json, parse},
};

use super::{
    number,
    span::{Children, Node},
};

/// The reason why a selection fails. It quotes nothing of the document, and of the path only the faulty part.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum SelectError {
    /// The document is not JSON.
    #[error("failed to unmarshal the JSON document: {0}")]
    Json(#[from] CodecError),
    /// A part of the path that belongs to gjson's language but is not supported.
    #[error("the path contains {0:?}, which is not supported")]
    Unsupported(String),
    /// A query without its closing bracket.
    #[error("the path contains a query without its closing bracket: {0:?}")]
    Query(String),
}

/// A document to select from.
pub struct Document<'a> {
    text: &'a str,
    root: Node<'a>,
}

/// A selected part of a document. It has no `Debug`, because it may be secret.
pub struct Selection<'t> {
    raw: Cow<'t, str>,
}

impl<'a> Document<'a> {
    /// Reads a document.
    ///
    /// # Errors
    /// Returns an error if the bytes are not JSON, or nest deeper than any value.
    pub fn parse(bytes: &'a [u8]) -> Result<Document<'a>, SelectError> {
        // The parser reports bytes that are not UTF-8 with its own sentence.
        let text = std::str::from_utf8(bytes).unwrap_or("\u{0}");
        Ok(Document { text, root: Node::parse(text)? })
    }

    /// Returns the part at a path. `None` if there is none; below a scalar there is never one.
    ///
    /// # Errors
    /// Returns an error if the path contains something that is not supported.
    pub fn select(&self, path: &str) -> Result<Option<Selection<'_>>, SelectError> {
        let found = get(&self.root, path)?;
        Ok(found.map(|found| Selection {
            raw: match found {
                Found::Node(node) => Cow::Borrowed(node.raw),
                Found::Made(text) => Cow::Owned(text),
            },
        }))
    }

    /// Returns the place of the part at a path in the source text. `None` if there is no such part.
    ///
    /// # Errors
    /// Returns an error if the path contains something that is not supported, or if its result is computed and so has
    /// no place.
    pub(super) fn place(&self, path: &str) -> Result<Option<Range<usize>>, SelectError> {
        match get(&self.root, path)? {
            None => Ok(None),
            Some(Found::Made(_)) => Err(SelectError::Unsupported(path.to_owned())),
            Some(Found::Node(node)) => {
                // Every raw text is a slice of the document's text.
                let start = node.raw.as_ptr().addr() - self.text.as_ptr().addr();
                Ok(Some(start..start + node.raw.len()))
            }
        }
    }
}

impl Selection<'_> {
    /// Returns the JSON text of the part, as it was written. A string has its quotes, so the text is a document.
    #[must_use]
    pub fn raw(&self) -> &str {
        &self.raw
    }

    /// Returns the text that an expression or a locator inserts: the content of a string, a number in plain notation,
    /// nothing for null, and the JSON text of an array or object.
    #[must_use]
    pub fn text(&self) -> Cow<'_, str> {
        match Content::of(&self.raw) {
            Content::Null => Cow::Borrowed(""),
            Content::Bool(value) => Cow::Borrowed(if value { "true" } else { "false" }),
            Content::Number(text) => Cow::Owned(number::plain_text(text)),
            Content::String(text) => text,
            Content::Container => Cow::Borrowed(&self.raw),
        }
    }
}

/// The content of a part.
enum Content<'a> {
    Null,
    Bool(bool),
    /// The source text of a number.
    Number(&'a str),
    String(Cow<'a, str>),
    /// An array or object.
    Container,
}

impl<'a> Content<'a> {
    /// Reads the JSON text of a part.
    fn of(raw: &'a str) -> Content<'a> {
        if raw.starts_with(['[', '{']) {
            return Content::Container;
        }
        match parse(raw.as_bytes()) {
            Ok(Json::Bool(value)) => Content::Bool(value),
            Ok(Json::Number(text)) => Content::Number(text),
            Ok(Json::String(text)) => Content::String(text),
            _ => Content::Null,
        }
    }
}

/// The result of a path.
enum Found<'t> {
    /// A part of the document.
    Node(&'t Node<'t>),
    /// JSON that is no part of the document, such as the results for each element.
    Made(String),
}

impl Found<'_> {
    fn raw(&self) -> &str {
        match self {
            Found::Node(node) => node.raw,
            Found::Made(text) => text,
        }
    }
}

/// The result of a path up to a pipe.
struct Walked<'t, 'p> {
    found: Found<'t>,
    /// The path behind the pipe.
    pipe: Option<&'p str>,
}

type Walk<'t, 'p> = Result<Option<Walked<'t, 'p>>, SelectError>;

/// Evaluates a path on a part. The recursion is bounded by the depth of the document: a query and `#.x` evaluate
/// their paths on elements only, and pipes are a loop.
fn get<'t>(node: &'t Node<'t>, path: &str) -> Result<Option<Found<'t>>, SelectError> {
    let (mut node, mut path) = (node, path);
    loop {
        let Some(walked) = walk(node, path)? else { return Ok(None) };
        let Some(pipe) = walked.pipe else { return Ok(Some(walked.found)) };
        path = pipe;
        match walked.found {
            Found::Node(next) => node = next,
            Found::Made(text) => return Ok(get_in_made(text, path)?.map(Found::Made)),
        }
    }
}

/// Evaluates a path on computed JSON.
fn get_in_made(mut text: String, mut path: &str) -> Result<Option<String>, SelectError> {
    loop {
        let root = Node::parse(&text)?;
        let Some(walked) = walk(&root, path)? else { return Ok(None) };
        let result = walked.found.raw().to_owned();
        let Some(pipe) = walked.pipe else { return Ok(Some(result)) };
        (text, path) = (result, pipe);
    }
}

/// Evaluates a path up to its first pipe.
fn walk<'t, 'p>(node: &'t Node<'t>, path: &'p str) -> Walk<'t, 'p> {
    match component::this(path)? {
        Some(pipe) => Ok(Some(Walked { found: Found::Node(node), pipe })),
        None => descend(node, path),
    }
}

fn descend<'t, 'p>(node: &'t Node<'t>, path: &'p str) -> Walk<'t, 'p> {
    match &node.children {
        Children::None => Ok(None),
        Children::Members(members) => {
            let Member { pattern, rest } = Member::parse(path);
            for (key, value) in members {
                if pattern.matches(key)
                    && let Some(walked) = follow(value, &rest)?
                {
                    return Ok(Some(walked));
                }
            }
            Ok(None)
        }
        Children::Items(items) => descend_into_items(items, path),
    }
}

fn descend_into_items<'t, 'p>(items: &'t [Node<'t>], path: &'p str) -> Walk<'t, 'p> {
    match Element::parse(path)? {
        Element::None => Ok(None),
        Element::Index { index, rest } => {
            items.get(index).map_or(Ok(None), |item| follow(item, &rest))
        }
        Element::Count { pipe } => {
            Ok(Some(Walked { found: Found::Made(items.len().to_string()), pipe }))
        }
        Element::Each { path, pipe } => each(items.iter(), Some(path), pipe),
        Element::Matching { query, is_all: true, path, pipe } => {
            let mut matching = Vec::new();
            for item in items {
                if query.matches(item)? {
                    matching.push(item);
                }
            }
            each(matching.into_iter(), path, pipe)
        }
        Element::Matching { query, is_all: false, path, pipe } => {
            for item in items {
                if query.matches(item)? {
                    let found = path.map_or(Ok(Some(Found::Node(item))), |path| get(item, path))?;
                    return Ok(found.map(|found| Walked { found, pipe }));
                }
            }
            Ok(None)
        }
    }
}

fn follow<'t, 'p>(node: &'t Node<'t>, rest: &Rest<'p>) -> Walk<'t, 'p> {
    let pipe = match *rest {
        Rest::More(path) => return descend(node, path),
        Rest::Pipe(path) => Some(path),
        Rest::End => None,
    };
    Ok(Some(Walked { found: Found::Node(node), pipe }))
}

/// Returns the array of the results of a path for each element; without a path, the array of the elements.
fn each<'t, 'p>(
    items: impl Iterator<Item = &'t Node<'t>>,
    path: Option<&'p str>,
    pipe: Option<&'p str>,
) -> Walk<'t, 'p> {
    let mut out = String::from("[");
    for item in items {
        let found = path.map_or(Ok(Some(Found::Node(item))), |path| get(item, path))?;
        let Some(found) = found else { continue };
        if out.len() > 1 {
            out.push(',');
        }
        out.push_str(found.raw());
    }
    out.push(']');
    Ok(Some(Walked { found: Found::Made(out), pipe }))
}

#[cfg(test)]
mod tests;
