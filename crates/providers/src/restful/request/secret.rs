//! Texts that are never shown.

use std::fmt;

use values::json::write_string;

use crate::restful::document::tree::Tree;

/// A password, token or key. `Debug` does not show it, and there is no `Display`.
#[derive(Clone, PartialEq, Eq, Default)]
pub struct Secret(String);

impl Secret {
    /// Wraps a text.
    pub fn new(text: impl Into<String>) -> Secret {
        Secret(text.into())
    }

    /// The text, for a request.
    pub fn expose(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret")
    }
}

/// Texts that an error message must not repeat from an answer. It has no `Debug`.
#[derive(Clone, Default)]
pub struct Hidden(Vec<String>);

impl Hidden {
    /// The shortest text that is hidden, in bytes. A shorter one would hide common parts of other words.
    const SHORTEST: usize = 4;

    /// Adds a text, also in the form that a JSON document has for it.
    pub fn add(&mut self, text: &str) {
        if text.len() < Hidden::SHORTEST {
            return;
        }
        let mut quoted = String::new();
        write_string(text, &mut quoted);
        let content = |it: &str| it[1..it.len() - 1].to_owned();
        // Only Go escapes the characters of HTML.
        let without_html = content(&serde_json::Value::from(text).to_string());
        self.0.extend([text.to_owned(), content(&quoted), without_html]);
        // A text that contains another one is replaced as a whole.
        self.0.sort_by_key(|it| std::cmp::Reverse(it.len()));
        self.0.dedup();
    }

    /// Adds every string and number of a document. The depth of a document bounds the recursion.
    pub fn add_leaves(&mut self, tree: &Tree) {
        match tree {
            Tree::Null | Tree::Bool(_) => {}
            Tree::Number(text) | Tree::String(text) => self.add(text),
            Tree::Array(items) => items.iter().for_each(|it| self.add_leaves(it)),
            Tree::Object(members) => members.values().for_each(|it| self.add_leaves(it)),
        }
    }

    /// Replaces every text that must not be shown.
    #[must_use]
    pub fn hide(&self, text: &str) -> String {
        self.0.iter().fold(text.to_owned(), |shown, it| shown.replace(it, "(hidden)"))
    }
}
