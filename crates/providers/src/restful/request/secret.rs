//! The parts of answers that error messages must not repeat.

use std::collections::BTreeSet;

use values::json::write_string;

use crate::restful::document::tree::Tree;

/// The parts of an answer that an error message must not repeat: texts, and the values under keys. It has no `Debug`.
#[derive(Clone, Default)]
pub struct Hidden {
    /// The texts, the longest first: a text that contains another one is replaced as a whole.
    texts: Vec<String>,
    /// The keys of JSON objects whose values are secret.
    keys: BTreeSet<String>,
    /// True if there is a secret whose text is unknown or too short to be searched for.
    is_incomplete: bool,
}

/// The text in place of a hidden part.
const HIDDEN: &str = "(hidden)";

/// The headers that tell nothing secret.
const PLAIN_HEADERS: [&str; 4] = ["accept", "content-type", "if-match", "user-agent"];

impl Hidden {
    /// The shortest text that is searched for, in bytes. A shorter one would hide common parts of other words.
    const SHORTEST: usize = 4;
    /// The most bytes of an answer that are searched.
    const MOST: usize = 1 << 20;

    /// Adds a text, also in the forms that JSON documents have for it.
    pub fn add(&mut self, text: &str) {
        if text.len() < Hidden::SHORTEST {
            return;
        }
        let mut quoted = String::new();
        write_string(text, &mut quoted);
        let content = |it: &str| it[1..it.len() - 1].to_owned();
        // Go escapes the characters of HTML, Python all that are not ASCII, PHP the slash.
        let plain = content(&serde_json::Value::from(text).to_string());
        let slashed = plain.replace('/', "\\/");
        let ascii = [&plain, &slashed].map(|it| ascii_only(it));
        self.texts.extend([text.to_owned(), content(&quoted), plain, slashed]);
        self.texts.extend(ascii);
        self.sort();
    }

    /// Adds the value of a header of the request, and the part behind its scheme.
    pub fn add_header(&mut self, name: &str, value: &str) {
        if PLAIN_HEADERS.contains(&name.to_ascii_lowercase().as_str()) {
            return;
        }
        self.add(value);
        if let Some((_, parameter)) = value.split_once(' ') {
            self.add(parameter);
        }
    }

    /// Adds the keys and texts of an `ephemeral_body`.
    pub fn add_body(&mut self, tree: &Tree) {
        self.add_keys(tree);
        self.add_leaves(tree);
    }

    /// Adds the shape of an `ephemeral_body` whose texts are unknown.
    pub fn add_shape(&mut self, shape: &Tree) {
        self.add_keys(shape);
        self.is_incomplete = true;
    }

    /// Hides whatever an answer has: its texts are unknown secrets.
    pub fn add_everything(&mut self) {
        self.keys.clear();
        self.is_incomplete = true;
    }

    /// Adds the texts and numbers. The depth of a document bounds the recursion.
    fn add_leaves(&mut self, tree: &Tree) {
        match tree {
            Tree::Null | Tree::Bool(_) => {}
            Tree::Number(text) | Tree::String(text) => {
                self.is_incomplete |= !text.is_empty() && text.len() < Hidden::SHORTEST;
                self.add(text);
            }
            Tree::Array(items) => items.iter().for_each(|it| self.add_leaves(it)),
            Tree::Object(members) => members.values().for_each(|it| self.add_leaves(it)),
        }
    }

    /// Adds the keys whose values are leaves.
    fn add_keys(&mut self, shape: &Tree) {
        let Tree::Object(members) = shape else { return };
        for (key, value) in members {
            match value {
                Tree::Object(_) => self.add_keys(value),
                _ => drop(self.keys.insert(key.clone())),
            }
        }
    }

    /// Returns the parts of both.
    #[must_use]
    pub fn with(&self, other: &Hidden) -> Hidden {
        let mut all = self.clone();
        all.texts.extend(other.texts.iter().cloned());
        all.keys.extend(other.keys.iter().cloned());
        all.is_incomplete |= other.is_incomplete;
        all.sort();
        all
    }

    fn sort(&mut self) {
        sorted::sort_by(&mut self.texts, |one, other| {
            other.len().cmp(&one.len()).then_with(|| one.cmp(other))
        });
        self.texts.dedup();
    }

    /// Replaces every text that must not be shown.
    #[must_use]
    pub fn hide(&self, text: &str) -> String {
        self.texts.iter().fold(text.to_owned(), |shown, it| shown.replace(it, HIDDEN))
    }

    /// Returns the text of an answer with its secret parts replaced. `None` if that is not possible: there is a secret
    /// of which only the key is known, and the answer is no JSON with keys.
    pub(super) fn hide_in_answer(&self, answer: &[u8]) -> Option<String> {
        let text = String::from_utf8_lossy(&answer[..answer.len().min(Hidden::MOST)]);
        let is_empty = answer.is_empty();
        match Tree::parse(answer) {
            _ if self.is_incomplete && self.keys.is_empty() && !is_empty => None,
            Ok(tree) if !self.keys.is_empty() => match tree {
                Tree::Object(_) | Tree::Array(_) => Some(self.hide(&self.masked(tree).text())),
                _ if self.is_incomplete => None,
                _ => Some(self.hide(&text)),
            },
            Err(_) if self.is_incomplete && !is_empty => None,
            _ => Some(self.hide(&text)),
        }
    }

    fn masked(&self, tree: Tree) -> Tree {
        match tree {
            Tree::Object(members) => {
                let member = |(key, value)| match self.keys.contains(&key) {
                    true => (key, Tree::String(HIDDEN.to_owned())),
                    false => (key, self.masked(value)),
                };
                Tree::Object(members.into_iter().map(member).collect())
            }
            Tree::Array(items) => {
                Tree::Array(items.into_iter().map(|it| self.masked(it)).collect())
            }
            leaf => leaf,
        }
    }
}

/// Writes the characters that are not ASCII as JSON escapes.
fn ascii_only(text: &str) -> String {
    let mut out = String::new();
    for c in text.chars() {
        match c.is_ascii() {
            true => out.push(c),
            false => {
                let mut units = [0; 2];
                for unit in c.encode_utf16(&mut units) {
                    out.push_str(&format!("\\u{unit:04x}"));
                }
            }
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hidden(body: &str) -> Hidden {
        let mut hidden = Hidden::default();
        hidden.add_body(&Tree::parse(body.as_bytes()).unwrap_or_else(|it| panic!("{it}")));
        hidden
    }

    #[test]
    fn secrets_are_hidden_in_every_notation_of_an_answer() {
        let hidden = hidden(r#"{"pw":"p\u00e4ss/<w>rd"}"#);
        for answer in [
            "not JSON: päss/<w>rd",
            r#"{"error":"päss/<w>rd"}"#,
            r#"{"error":"p\u00e4ss\/<w>rd"}"#,
            r#"{"error":"p\u00e4ss/\u003cw\u003erd"}"#,
            r#"not JSON: "p\u00e4ss\/<w>rd""#,
            r#"{"error":{"pw":123}}"#,
            r#"[{"pw":["short"]}]"#,
        ] {
            let shown = hidden.hide_in_answer(answer.as_bytes()).expect("can be shown");
            for part in ["ss", "rd", "123", "short"] {
                assert!(!shown.contains(part), "{answer}: {shown}");
            }
        }
        let shown = hidden.hide_in_answer(br#"{"error":{"pw":"x"},"a":"b"}"#);
        assert_eq!(shown.as_deref(), Some(r#"{"a":"b","error":{"pw":"(hidden)"}}"#));
    }

    #[test]
    fn longest_secret_is_replaced_first() {
        let mut one = Hidden::default();
        one.add("abcd");
        let mut other = Hidden::default();
        other.add("abcd-very-secret-tail");
        assert_eq!(one.with(&other).hide("<abcd-very-secret-tail>"), "<(hidden)>");
    }

    #[test]
    fn answer_without_structure_is_not_shown_if_a_secret_cannot_be_searched_for() {
        let short = hidden(r#"{"pin":"1234567","no":12}"#);
        let mut unknown = Hidden::default();
        unknown.add_shape(&Tree::Object([("no".to_owned(), Tree::Null)].into()));
        for hidden in [short, unknown] {
            assert_eq!(hidden.hide_in_answer(b"the number 12"), None);
            assert_eq!(hidden.hide_in_answer(b"12"), None);
            assert_eq!(hidden.hide_in_answer(b""), Some(String::new()));
            let shown = hidden.hide_in_answer(br#"{"no":12,"a":[{"no":[3]}]}"#);
            let expected = r#"{"a":[{"no":"(hidden)"}],"no":"(hidden)"}"#;
            assert_eq!(shown.as_deref(), Some(expected));
        }
        let mut all = Hidden::default();
        all.add_everything();
        assert_eq!(all.hide_in_answer(br#"{"token":"x"}"#), None);
        assert_eq!(
            Hidden::default().hide_in_answer(b"{\"a\" : 1}").as_deref(),
            Some("{\"a\" : 1}")
        );
    }

    #[test]
    fn headers_are_hidden_with_and_without_their_scheme() {
        let mut hidden = Hidden::default();
        hidden.add_header("Authorization", "Bearer abcdef");
        hidden.add_header("Content-Type", "application/json");
        let shown = hidden.hide("Bearer abcdef, abcdef, application/json");
        assert_eq!(shown, "(hidden), (hidden), application/json");
    }
}
