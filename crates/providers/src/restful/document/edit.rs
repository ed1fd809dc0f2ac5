//! Changes of a document by paths, as in the Go library sjson, for `update_body_patches` and `write_only_attrs`.
//!
//! A path is a list of steps between dots. A step is a key or an index; `-1` is the end of an array, a colon before a
//! step makes it a key, and `\` makes the next character literal. Missing parents are created, and a scalar on the
//! way is replaced. The empty path is the whole document. A path with wildcards, queries, pipes or modifiers, see
//! [`super::select`], can only replace a part that exists.

use sorted::TreeMap;
use values::Value;

use super::{
    convert::{ConvertError, to_json},
    select::{Document, SelectError},
    tree::{JsonError, MAX_STEPS, Tree},
};

/// The most elements that an index may add before itself.
const MAX_PADDING: usize = 1000;

/// The reason why a change fails. It quotes only steps of paths.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum EditError {
    /// The document or the new part is not JSON.
    #[error(transparent)]
    Json(#[from] JsonError),
    /// The new value cannot be written.
    #[error(transparent)]
    Convert(#[from] ConvertError),
    /// The selection of the part to replace fails.
    #[error(transparent)]
    Select(#[from] SelectError),
    /// A key for an array.
    #[error("cannot set array element for non-numeric key '{0}'")]
    Key(String),
    /// An index far behind the end of an array.
    #[error("the index {0} is more than {MAX_PADDING} elements behind the end of the array")]
    Index(String),
    /// More steps than any document has levels.
    #[error("the path has more than {MAX_STEPS} steps")]
    TooLong,
    /// A path with wildcards or queries.
    #[error("cannot delete value from a complex path")]
    Complex,
}

/// Sets a part of a document to a value; a value that is null or unknown becomes `null`. No bytes are an empty
/// document, which the path makes an object or array.
///
/// # Errors
/// Returns an error if the document is not JSON, or if the path does not fit it.
pub fn set(document: &[u8], path: &str, value: &Value) -> Result<String, EditError> {
    let raw = to_json(value)?;
    set_raw(document, path, raw.as_deref().unwrap_or("null").as_bytes())
}

/// Sets a part of a document to JSON text, like [`set`].
///
/// # Errors
/// Returns an error also if the text is not JSON.
pub fn set_raw(document: &[u8], path: &str, raw: &[u8]) -> Result<String, EditError> {
    let new = Tree::parse(raw)?;
    if path.is_empty() {
        return Ok(new.text());
    }
    let Some(steps) = steps(path)? else { return replace(document, path, &new) };
    let mut root = if document.is_empty() { Tree::Null } else { Tree::parse(document)? };
    let mut at = &mut root;
    for step in &steps {
        at = step.enter(at)?;
    }
    *at = new;
    Ok(root.text())
}

/// Replaces the part that a path selects. Returns the document unchanged if there is none.
fn replace(document: &[u8], path: &str, new: &Tree) -> Result<String, EditError> {
    let selectable = Document::parse(document)?;
    let Some(place) = selectable.place(path)? else { return Ok(Tree::parse(document)?.text()) };
    let text = [&document[..place.start], new.text().as_bytes(), &document[place.end..]].concat();
    Ok(Tree::parse(&text)?.text())
}

/// Deletes a part of a document; the empty path leaves `{}`. A part that does not exist is no error.
///
/// # Errors
/// Returns an error if the document is not JSON, or if the path has wildcards or queries.
pub fn delete(document: &[u8], path: &str) -> Result<String, EditError> {
    if path.is_empty() {
        return Ok("{}".to_owned());
    }
    let steps = steps(path)?.ok_or(EditError::Complex)?;
    let mut root = Tree::parse(document)?;
    if let Some((last, parents)) = steps.split_last() {
        let parent = parents.iter().try_fold(&mut root, |at, step| step.existing(at));
        if let Some(parent) = parent {
            last.remove_from(parent);
        }
    }
    Ok(root.text())
}

/// A step of a path.
struct Step {
    name: String,
    /// True if the step is a key even for an array.
    is_key: bool,
}

/// Splits a path. `None` if it selects in other ways than by keys and indices.
fn steps(path: &str) -> Result<Option<Vec<Step>>, EditError> {
    let mut steps = Vec::new();
    let mut step = Step::begin();
    let mut chars = path.chars();
    let mut is_start = true;
    while let Some(c) = chars.next() {
        match c {
            ':' if is_start => step.is_key = true,
            '.' => {
                steps.push(std::mem::replace(&mut step, Step::begin()));
                if steps.len() >= MAX_STEPS {
                    return Err(EditError::TooLong);
                }
            }
            '|' | '#' | '@' | '*' | '?' => return Ok(None),
            '\\' => step.name.extend(chars.next()),
            c => step.name.push(c),
        }
        is_start = c == '.';
    }
    steps.push(step);
    Ok(Some(steps))
}

impl Step {
    fn begin() -> Step {
        Step { name: String::new(), is_key: false }
    }

    /// Returns true for a step that names an element of an array.
    fn is_element(&self) -> bool {
        let is_index = !self.name.is_empty() && self.name.bytes().all(|it| it.is_ascii_digit());
        !self.is_key && (is_index || self.is_end())
    }

    fn is_end(&self) -> bool {
        !self.is_key && self.name == "-1"
    }

    /// Returns the index of an existing element of an array.
    fn index_in(&self, items: &[Tree]) -> Option<usize> {
        if self.is_end() {
            return items.len().checked_sub(1);
        }
        let index = self.name.parse().ok().filter(|index| *index < items.len());
        index.filter(|_| self.is_element())
    }

    /// Returns the part that the step names, and creates it if it is missing.
    fn enter<'t>(&self, at: &'t mut Tree) -> Result<&'t mut Tree, EditError> {
        if !matches!(at, Tree::Array(_) | Tree::Object(_)) {
            *at = match self.is_element() {
                true => Tree::Array(Vec::new()),
                false => Tree::Object(TreeMap::new()),
            };
        }
        match at {
            Tree::Array(items) => self.enter_array(items),
            Tree::Object(members) => Ok(members.entry(self.name.clone()).or_insert(Tree::Null)),
            // Replaced above.
            scalar => Ok(scalar),
        }
    }

    fn enter_array<'t>(&self, items: &'t mut Vec<Tree>) -> Result<&'t mut Tree, EditError> {
        if !self.is_element() {
            return Err(EditError::Key(self.name.clone()));
        }
        let index = match self.is_end() {
            true => items.len(),
            false => {
                let index = self.name.parse::<usize>().ok();
                index
                    .filter(|it| it.saturating_sub(items.len()) <= MAX_PADDING)
                    .ok_or_else(|| EditError::Index(self.name.clone()))?
            }
        };
        if index >= items.len() {
            items.resize(index + 1, Tree::Null);
        }
        Ok(&mut items[index])
    }

    fn existing<'t>(&self, at: &'t mut Tree) -> Option<&'t mut Tree> {
        match at {
            Tree::Object(members) => members.get_mut(&self.name),
            Tree::Array(items) => {
                let index = self.index_in(items)?;
                items.get_mut(index)
            }
            _ => None,
        }
    }

    fn remove_from(&self, parent: &mut Tree) {
        match parent {
            Tree::Object(members) => {
                members.remove(&self.name);
            }
            Tree::Array(items) => {
                if let Some(index) = self.index_in(items) {
                    items.remove(index);
                }
            }
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_are_set_and_missing_parents_created() {
        for (document, path, raw, expected) in [
            ("{}", "a", "1", r#"{"a":1}"#),
            ("", "a.b", "1", r#"{"a":{"b":1}}"#),
            ("null", "0", "1", "[1]"),
            ("5", "a", "1", r#"{"a":1}"#),
            (r#"{"a":{"b":1}}"#, "a.b", "[ 2 ]", r#"{"a":{"b":[2]}}"#),
            (r#"{"a":{"b":1}}"#, "a.c", "\"x\"", r#"{"a":{"b":1,"c":"x"}}"#),
            (r#"{"a":5}"#, "a.b", "1", r#"{"a":{"b":1}}"#),
            (r#"{"a":[1,2]}"#, "a.1", "9", r#"{"a":[1,9]}"#),
            (r#"{"a":[1]}"#, "a.3", "9", r#"{"a":[1,null,null,9]}"#),
            (r#"{"a":[1]}"#, "a.-1", "9", r#"{"a":[1,9]}"#),
            ("{}", "a.-1.b", "9", r#"{"a":[{"b":9}]}"#),
            ("{}", "a.2", "9", r#"{"a":[null,null,9]}"#),
            ("{}", "a.:2", "9", r#"{"a":{"2":9}}"#),
            ("{}", ":-1", "9", r#"{"-1":9}"#),
            (r#"{"a":{"2":1}}"#, "a.2", "9", r#"{"a":{"2":9}}"#),
            ("{}", "a\\.b.c\\*", "1", r#"{"a.b":{"c*":1}}"#),
            ("{}", "a.", "1", r#"{"a":{"":1}}"#),
            ("{}", "a\\", "1", r#"{"a":1}"#),
            ("{\"z\":1}", "", "{\"foo\": \"baz\"}", r#"{"foo":"baz"}"#),
            (r#"{"a":[{"n":1},{"n":2}]}"#, "a.#(n==2).n", "7", r#"{"a":[{"n":1},{"n":7}]}"#),
            (r#"{"a":[{"n":1}]}"#, "a.#(n==5).n", "7", r#"{"a":[{"n":1}]}"#),
            (r#"{"ab":1}"#, "a*", "7", r#"{"ab":7}"#),
        ] {
            let result = set_raw(document.as_bytes(), path, raw.as_bytes());
            assert_eq!(result.as_deref(), Ok(expected), "{document} {path}");
        }
        assert_eq!(set(b"{}", "a", &"<".into()).as_deref(), Ok("{\"a\":\"\\u003c\"}"));
        let null = Value::null(values::Type::Dynamic);
        assert_eq!(set(b"{}", "a", &null).as_deref(), Ok("{\"a\":null}"));
    }

    #[test]
    fn parts_are_deleted_and_missing_ones_ignored() {
        for (document, path, expected) in [
            (r#"{"a":1,"b":2}"#, "a", r#"{"b":2}"#),
            (r#"{"a":{"b":1}}"#, "a.b", r#"{"a":{}}"#),
            (r#"{"a":[1,2,3]}"#, "a.1", r#"{"a":[1,3]}"#),
            (r#"{"a":[1,2,3]}"#, "a.-1", r#"{"a":[1,2]}"#),
            (r#"{"a":[{"b":1},{"b":2}]}"#, "a.-1.b", r#"{"a":[{"b":1},{}]}"#),
            (r#"{"a":[]}"#, "a.-1", r#"{"a":[]}"#),
            (r#"{"a":[1]}"#, "a.7", r#"{"a":[1]}"#),
            (r#"{"a":[1]}"#, "a.:0", r#"{"a":[1]}"#),
            (r#"{"a":1}"#, "a.b.c", r#"{"a":1}"#),
            (r#"{"a":1}"#, "", "{}"),
            ("1", "a", "1"),
        ] {
            assert_eq!(
                delete(document.as_bytes(), path).as_deref(),
                Ok(expected),
                "{document} {path}"
            );
        }
    }

    #[test]
    fn changes_with_hostile_paths_are_errors() {
        let long = "a.".repeat(100_000);
        for (document, path, raw, error) in [
            ("[1]", "a", "1", "cannot set array element for non-numeric key 'a'"),
            ("[1]", ":0", "1", "cannot set array element for non-numeric key '0'"),
            (
                "[]",
                "1001",
                "1",
                "the index 1001 is more than 1000 elements behind the end of the array",
            ),
            (
                "[]",
                "99999999999999999999",
                "1",
                "the index 99999999999999999999 is more than 1000 elements behind the end of the array",
            ),
            ("{}", &long, "1", "the path has more than 256 steps"),
            ("{}", "a", "{", "failed to unmarshal the JSON document: unexpected end of JSON input"),
            ("[", "a", "1", "failed to unmarshal the JSON document: unexpected end of JSON input"),
            ("[[1]]", "#.#", "1", "the path contains \"#.#\", which is not supported"),
        ] {
            let result = set_raw(document.as_bytes(), path, raw.as_bytes());
            assert_eq!(result.map_err(|it| it.to_string()), Err(error.to_owned()));
        }
        assert_eq!(delete(b"[]", "#"), Err(EditError::Complex));
        assert!(set_raw(b"{}", &vec!["a"; 256].join("."), "[".repeat(250).as_bytes()).is_err());
        let deepest = set_raw(b"{}", &vec!["0"; 256].join("."), b"1");
        assert!(deepest.is_ok_and(|it| it.starts_with("{\"0\":[[")));
    }
}
