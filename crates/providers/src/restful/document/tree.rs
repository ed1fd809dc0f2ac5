//! A JSON document that can be changed and compared.
//!
//! `serde_json::Value` would not do: it keeps the order of keys and the notation of numbers, so equal documents would
//! have different texts, and its `Debug` shows secrets.

use sorted::TreeMap;
use values::{
    CodecError,
    json::{Json, JsonText, parse},
};

use super::number;

/// The most steps of a path into a document. No document that can be read is deeper.
pub const MAX_STEPS: usize = 256;

/// A JSON document. Objects have sorted keys, of which the last of several equal ones wins; numbers are in the
/// notation of a written document. It has no `Debug`, because it may be secret.
#[derive(Clone, PartialEq, Eq)]
pub enum Tree {
    /// `null`.
    Null,
    /// `true` or `false`.
    Bool(bool),
    /// A number, by the text that a document has for it.
    Number(String),
    /// A string, without its quotes and escapes.
    String(String),
    /// The elements in order.
    Array(Vec<Tree>),
    /// The members by key.
    Object(TreeMap<String, Tree>),
}

/// The reason why bytes are no document. It quotes nothing of them.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum JsonError {
    /// The bytes are not JSON, or nest too deep.
    #[error("failed to unmarshal the JSON document: {0}")]
    Syntax(#[from] CodecError),
    /// A number that no 64-bit float holds.
    #[error(
        "failed to unmarshal the JSON document: a number is out of the range of a 64-bit float"
    )]
    Number,
}

impl Tree {
    /// Reads a document.
    ///
    /// # Errors
    /// Returns an error if the bytes are not JSON (also if there are none), nest deeper than any value, or contain a
    /// number beyond 64-bit floats.
    pub fn parse(bytes: &[u8]) -> Result<Tree, JsonError> {
        Tree::of(parse(bytes)?)
    }

    fn of(json: Json<'_>) -> Result<Tree, JsonError> {
        Ok(match json {
            Json::Null => Tree::Null,
            Json::Bool(value) => Tree::Bool(value),
            Json::Number(text) => {
                let number = number::read(text).ok_or(JsonError::Number)?;
                Tree::Number(number::json_text(&number).ok_or(JsonError::Number)?)
            }
            Json::String(text) => Tree::String(text.into_owned()),
            Json::Array(items) => {
                Tree::Array(items.into_iter().map(Tree::of).collect::<Result<_, _>>()?)
            }
            Json::Object(entries) => {
                let entry = |(key, value): (std::borrow::Cow<'_, str>, _)| {
                    Ok((key.into_owned(), Tree::of(value)?))
                };
                Tree::Object(entries.into_iter().map(entry).collect::<Result<_, JsonError>>()?)
            }
        })
    }

    /// Returns the compact JSON text with sorted keys and Go's escapes.
    #[must_use]
    pub fn text(&self) -> String {
        let mut out = JsonText::compact();
        self.write(&mut out);
        out.into_text()
    }

    fn write(&self, out: &mut JsonText) {
        match self {
            Tree::Null => out.token("null"),
            Tree::Bool(value) => out.token(value),
            Tree::Number(text) => out.token(text),
            Tree::String(text) => out.string(text),
            Tree::Array(items) => {
                out.open('[');
                for item in items {
                    out.item();
                    item.write(out);
                }
                out.close(']');
            }
            Tree::Object(members) => {
                out.open('{');
                for (key, value) in members {
                    out.key(key);
                    value.write(out);
                }
                out.close('}');
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tree_is_written_in_one_canonical_form() {
        for (source, text) in [
            ("{ \"b\" : 1.0, \"a\": [ 1e3, null ] }", "{\"a\":[1000,null],\"b\":1}"),
            ("{\"a\":1,\"a\":2}", "{\"a\":2}"),
            ("\"<a>&\\u2028\\/\"", "\"\\u003ca\\u003e\\u0026\\u2028/\""),
            ("\"\\ud800\"", "\"\u{fffd}\""),
            ("[[],{},\"\",true,false,-0]", "[[],{},\"\",true,false,-0]"),
        ] {
            let tree = Tree::parse(source.as_bytes()).unwrap_or_else(|it| panic!("{source}: {it}"));
            assert_eq!(tree.text(), text);
            assert!(Tree::parse(text.as_bytes()).is_ok_and(|again| again == tree));
        }
    }

    #[test]
    fn hostile_bytes_are_no_tree() {
        let deep = "[".repeat(1_000_000);
        for bytes in
            [b"".as_slice(), b"{", b"\xff", b"nul", b"1 2", b"1e999", b"01", deep.as_bytes()]
        {
            let error = Tree::parse(bytes).err().map(|it| it.to_string());
            assert!(error.is_some_and(|it| it.starts_with("failed to unmarshal")), "{bytes:.9?}");
        }
    }
}
