//! Merge patches (RFC 7386): the body with `ephemeral_body` merged in, and the body of an update by `PATCH`.

use sorted::TreeMap;

use super::tree::Tree;

/// The reason why two documents have no merge patch.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
pub enum PatchError {
    /// Documents that are not both objects or both arrays.
    #[error("a merge patch needs two JSON objects, or two JSON arrays of the same length")]
    Roots,
    /// Arrays with an element that is no object.
    #[error("a merge patch of JSON arrays needs elements that are all objects")]
    Elements,
}

/// Returns a document with a merge patch applied. A null in the patch deletes the member; in arrays, nulls stay.
#[must_use]
pub fn apply(target: Tree, patch: Tree) -> Tree {
    let Tree::Object(changes) = patch else { return patch };
    let mut members = match target {
        Tree::Object(members) => members,
        _ => TreeMap::new(),
    };
    for (key, change) in changes {
        match change {
            Tree::Null => {
                members.remove(&key);
            }
            change => {
                let old = members.remove(&key).unwrap_or(Tree::Null);
                members.insert(key, apply(old, change));
            }
        }
    }
    Tree::Object(members)
}

/// Returns the merge patch that changes `before` to `after`. Two arrays give an array with the patch of each pair of
/// elements. Arrays inside of objects are replaced as a whole.
///
/// # Errors
/// Returns an error if the documents are not both objects or both arrays of the same length, or if an element of
/// such an array is not an object.
pub fn diff(before: &Tree, after: &Tree) -> Result<Tree, PatchError> {
    match (before, after) {
        (Tree::Object(before), Tree::Object(after)) => Ok(Tree::Object(changes(before, after))),
        (Tree::Array(before), Tree::Array(after)) if before.len() == after.len() => {
            let changes = before.iter().zip(after).map(|pair| match pair {
                (Tree::Object(before), Tree::Object(after)) => {
                    Ok(Tree::Object(changes(before, after)))
                }
                _ => Err(PatchError::Elements),
            });
            Ok(Tree::Array(changes.collect::<Result<_, _>>()?))
        }
        _ => Err(PatchError::Roots),
    }
}

fn changes(before: &TreeMap<String, Tree>, after: &TreeMap<String, Tree>) -> TreeMap<String, Tree> {
    let deleted = before.keys().filter(|key| !after.contains_key(*key));
    let deleted = deleted.map(|key| (key.clone(), Tree::Null));
    let changed = after.iter().filter_map(|(key, new)| {
        let change = match (before.get(key), new) {
            (Some(Tree::Object(before)), Tree::Object(after)) => {
                let changes = changes(before, after);
                (!changes.is_empty()).then_some(Tree::Object(changes))?
            }
            (Some(old), new) if old == new => return None,
            (_, new) => new.clone(),
        };
        Some((key.clone(), change))
    });
    deleted.chain(changed).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tree(text: &str) -> Tree {
        Tree::parse(text.as_bytes()).unwrap_or_else(|it| panic!("{text}: {it}"))
    }

    #[test]
    fn merge_patch_is_applied_as_in_the_examples_of_the_rfc() {
        for (target, patch, expected) in [
            (r#"{"a":"b"}"#, r#"{"a":"c"}"#, r#"{"a":"c"}"#),
            (r#"{"a":"b"}"#, r#"{"b":"c"}"#, r#"{"a":"b","b":"c"}"#),
            (r#"{"a":"b"}"#, r#"{"a":null}"#, "{}"),
            (r#"{"a":"b","b":"c"}"#, r#"{"a":null}"#, r#"{"b":"c"}"#),
            (r#"{"a":["b"]}"#, r#"{"a":"c"}"#, r#"{"a":"c"}"#),
            (r#"{"a":"c"}"#, r#"{"a":["b"]}"#, r#"{"a":["b"]}"#),
            (r#"{"a":{"b":"c"}}"#, r#"{"a":{"b":"d","c":null}}"#, r#"{"a":{"b":"d"}}"#),
            (r#"{"a":[{"b":"c"}]}"#, r#"{"a":[1]}"#, r#"{"a":[1]}"#),
            (r#"["a","b"]"#, r#"["c","d"]"#, r#"["c","d"]"#),
            (r#"{"a":"b"}"#, r#"["c"]"#, r#"["c"]"#),
            (r#"{"a":"foo"}"#, "null", "null"),
            (r#"{"a":"foo"}"#, r#""bar""#, r#""bar""#),
            (r#"{"e":null}"#, r#"{"a":1}"#, r#"{"a":1,"e":null}"#),
            ("[1,2]", r#"{"a":"b","c":null}"#, r#"{"a":"b"}"#),
            ("{}", r#"{"a":{"bb":{"ccc":null}}}"#, r#"{"a":{"bb":{}}}"#),
            ("{}", r#"{"a":[null,1]}"#, r#"{"a":[null,1]}"#),
        ] {
            assert_eq!(apply(tree(target), tree(patch)).text(), expected, "{target} {patch}");
        }
    }

    #[test]
    fn diff_is_the_smallest_patch() {
        for (before, after, expected) in [
            (r#"{"a":1,"b":2}"#, r#"{"a":1,"b":3}"#, r#"{"b":3}"#),
            (r#"{"a":1,"b":2}"#, r#"{"a":1.0}"#, r#"{"b":null}"#),
            (r#"{"a":{"x":1,"y":2}}"#, r#"{"a":{"x":1,"y":3}}"#, r#"{"a":{"y":3}}"#),
            (r#"{"a":{"x":1}}"#, r#"{"a":{"x":1}}"#, "{}"),
            (r#"{"a":{"x":1}}"#, r#"{"a":5}"#, r#"{"a":5}"#),
            (r#"{"a":[1,2]}"#, r#"{"a":[1,3]}"#, r#"{"a":[1,3]}"#),
            (r#"[{"a":1},{"b":1}]"#, r#"[{"a":2},{"b":1}]"#, r#"[{"a":2},{}]"#),
            ("[]", "[]", "[]"),
        ] {
            let patch = diff(&tree(before), &tree(after)).map(|it| it.text());
            assert_eq!(patch.as_deref(), Ok(expected), "{before} {after}");
        }
    }

    #[test]
    fn documents_without_common_structure_have_no_patch() {
        for (before, after, error) in [
            ("[1]", "[1,2]", PatchError::Roots),
            ("{}", "[]", PatchError::Roots),
            ("1", "2", PatchError::Roots),
            ("[1]", "[2]", PatchError::Elements),
            ("[{}]", "[null]", PatchError::Elements),
        ] {
            let patch = diff(&tree(before), &tree(after)).map(|it| it.text());
            assert_eq!(patch, Err(error), "{before} {after}");
        }
    }
}
