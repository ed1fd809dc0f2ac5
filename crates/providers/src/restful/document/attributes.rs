//! `output_attrs`: a filter that keeps only some parts of a document.
//!
//! Its paths are a small language of their own: steps between dots, where `#` is every element of an array, any other
//! step is a key of an object, and `\` makes the next character literal.

use sorted::TreeMap;

use super::tree::{JsonError, MAX_STEPS, Tree};

/// The reason why a filter fails. It quotes only paths.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum FilterError {
    /// The document is not JSON.
    #[error(transparent)]
    Json(#[from] JsonError),
    /// A step without a name.
    #[error("invalid path {0:?}: a step is empty")]
    EmptyStep(String),
    /// More steps than any document has levels.
    #[error("invalid path: it has more than {MAX_STEPS} steps")]
    TooLong,
    /// A path has a key where the document has an array.
    #[error("expect a splat step \"#\" for an array, got the key {0:?}")]
    KeyOfArray(String),
    /// A path has `#` where the document has an object.
    #[error("expect a key step for an object, got the splat step \"#\"")]
    SplatOfObject,
    /// A path leads into a scalar.
    #[error(
        "invalid document type: a path leads into a value that is neither an object nor an array"
    )]
    Scalar,
}

/// The parts to keep, as a tree of the steps of all paths.
#[derive(Default)]
pub struct Filter {
    /// True if a path ends here, so that everything below is kept.
    is_whole: bool,
    keys: TreeMap<String, Filter>,
    splat: Option<Box<Filter>>,
}

impl Filter {
    /// Reads the paths. Without a path, everything is kept.
    ///
    /// # Errors
    /// Returns an error if a path has an empty step, or too many.
    pub fn parse<P: AsRef<str>>(paths: impl IntoIterator<Item = P>) -> Result<Filter, FilterError> {
        let mut root = Filter::default();
        for path in paths {
            let path = path.as_ref();
            let mut at = &mut root;
            for step in steps(path)? {
                at = match step {
                    Step::Splat => at.splat.get_or_insert_default(),
                    Step::Key(key) => at.keys.entry(key).or_default(),
                };
            }
            at.is_whole = true;
        }
        root.is_whole |= root.keys.is_empty() && root.splat.is_none();
        Ok(root)
    }

    /// Returns the document with only the parts that the paths name. A missing key leaves an empty object.
    ///
    /// # Errors
    /// Returns an error if the document is not JSON (an empty document is none, unless everything is kept), or if a
    /// path does not fit its structure.
    pub fn apply(&self, document: &[u8]) -> Result<String, FilterError> {
        if document.is_empty() && self.is_leaf() {
            return Ok(String::new());
        }
        Ok(self.filtered(Tree::parse(document)?)?.text())
    }

    fn is_leaf(&self) -> bool {
        self.keys.is_empty() && self.splat.is_none()
    }

    /// Returns the kept parts. The recursion ends at scalars, so the depth of the document bounds it.
    fn filtered(&self, tree: Tree) -> Result<Tree, FilterError> {
        if self.is_leaf() {
            return Ok(tree);
        }
        match tree {
            Tree::Object(_) if self.splat.is_some() => Err(FilterError::SplatOfObject),
            Tree::Object(members) => {
                let kept = members.into_iter().filter_map(|(key, value)| {
                    let kept = match self.keys.get(&key) {
                        Some(filter) => filter.filtered(value),
                        None if self.is_whole => Ok(value),
                        None => return None,
                    };
                    Some(kept.map(|value| (key, value)))
                });
                Ok(Tree::Object(kept.collect::<Result<_, _>>()?))
            }
            Tree::Array(items) => match (self.keys.keys().next(), &self.splat) {
                (Some(key), _) => Err(FilterError::KeyOfArray(key.clone())),
                (None, None) => Ok(Tree::Array(items)),
                (None, Some(splat)) => {
                    let kept = items.into_iter().map(|item| splat.filtered(item));
                    Ok(Tree::Array(kept.collect::<Result<_, _>>()?))
                }
            },
            _ => Err(FilterError::Scalar),
        }
    }
}

enum Step {
    Key(String),
    Splat,
}

fn steps(path: &str) -> Result<Vec<Step>, FilterError> {
    let mut steps = Vec::new();
    let (mut key, mut is_escaped) = (String::new(), false);
    // A dot behind the path ends its last step.
    let mut chars = path.chars().chain(['.']);
    while let Some(c) = chars.next() {
        match c {
            '\\' => {
                is_escaped = true;
                key.extend(chars.next());
            }
            '.' if key.is_empty() => return Err(FilterError::EmptyStep(path.to_owned())),
            '.' if steps.len() >= MAX_STEPS => return Err(FilterError::TooLong),
            '.' => {
                let key = std::mem::take(&mut key);
                let is_splat = key == "#" && !std::mem::take(&mut is_escaped);
                steps.push(if is_splat { Step::Splat } else { Step::Key(key) });
                is_escaped = false;
            }
            c => key.push(c),
        }
    }
    match key.is_empty() {
        true => Ok(steps),
        // A `\` at the end made the last dot literal.
        false => Err(FilterError::EmptyStep(path.to_owned())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn filtered(paths: &[&str], document: &str) -> Result<String, String> {
        let filter = Filter::parse(paths).map_err(|it| it.to_string())?;
        filter.apply(document.as_bytes()).map_err(|it| it.to_string())
    }

    #[test]
    fn filter_keeps_only_the_named_parts() {
        let object = r#"{"a":1,"b":2,"obj":{"x":1,"y":2}}"#;
        let array = r#"[{"a":1},{"b":2},{"obj":{"x":1,"y":2}}]"#;
        for (paths, document, expected) in [
            (&["a", "obj.x"][..], object, r#"{"a":1,"obj":{"x":1}}"#),
            (&["#.a", "#.obj.x"], array, r#"[{"a":1},{},{"obj":{"x":1}}]"#),
            (&["foo"], "{}", "{}"),
            (&["#.foo"], "[]", "[]"),
            (&["#"], "[1,2]", "[1,2]"),
            (&[], object, object),
            (&[], "1", "1"),
            (&[], "", ""),
            (&["obj", "obj.x"], object, r#"{"obj":{"x":1,"y":2}}"#),
            (&["obj.z"], object, r#"{"obj":{}}"#),
            (&["#", "#.a"], array, array),
            (
                &["##", "a#", "\\#", "a\\.b", "\\\\"],
                r###"{"##":1,"a#":2,"#":3,"a.b":4,"\\":5,"c":6}"###,
                r###"{"#":3,"##":1,"\\":5,"a#":2,"a.b":4}"###,
            ),
            (
                &["a b", "a/*c*/", "a.1"],
                r#"{"a b":1,"a/*c*/":2,"a":{"1":3}}"#,
                r#"{"a":{"1":3},"a b":1,"a/*c*/":2}"#,
            ),
        ] {
            assert_eq!(filtered(paths, document).as_deref(), Ok(expected), "{paths:?} {document}");
        }
    }

    #[test]
    fn paths_of_another_shape_are_errors() {
        let long = "#.".repeat(100_000) + "a";
        for (path, document, error) in [
            ("#", "{}", "expect a key step for an object, got the splat step \"#\""),
            ("foo", "[]", "expect a splat step \"#\" for an array, got the key \"foo\""),
            (
                "a.b",
                "{\"a\":\"secret\"}",
                "invalid document type: a path leads into a value that is neither an object nor an array",
            ),
            (
                "a",
                "null",
                "invalid document type: a path leads into a value that is neither an object nor an array",
            ),
            ("a", "", "failed to unmarshal the JSON document: unexpected end of JSON input"),
            ("a..b", "{}", "invalid path \"a..b\": a step is empty"),
            ("", "{}", "invalid path \"\": a step is empty"),
            (".a", "{}", "invalid path \".a\": a step is empty"),
            ("a.", "{}", "invalid path \"a.\": a step is empty"),
            ("a\\", "{}", "invalid path \"a\\\\\": a step is empty"),
            (&long, "{}", "invalid path: it has more than 256 steps"),
        ] {
            assert_eq!(filtered(&[path], document), Err(error.to_owned()));
        }
    }
}
