//! The set operations of `ephemeral_body`: it must not overlap with `body`, and answers must not bring it back into
//! `output`. Only the structure of objects counts; arrays and scalars are leaves, whatever they contain.

use sorted::TreeMap;

use super::tree::Tree;

/// Returns true if two documents share no part: both are objects, and the values of their common keys are disjoint
/// too. Leaves are never disjoint, not even from equal ones or null.
#[must_use]
pub fn is_disjoint(left: &Tree, right: &Tree) -> bool {
    let (Tree::Object(left), Tree::Object(right)) = (left, right) else { return false };
    left.iter().all(|(key, value)| right.get(key).is_none_or(|other| is_disjoint(value, other)))
}

/// Returns the shape of a document: its objects and keys, with null for every leaf.
#[must_use]
pub fn nullify(tree: &Tree) -> Tree {
    match tree {
        Tree::Object(members) => {
            Tree::Object(members.iter().map(|(key, value)| (key.clone(), nullify(value))).collect())
        }
        _ => Tree::Null,
    }
}

/// Returns a document without the parts that another one has. Unless both values of a common key are objects, the key
/// is removed: a leaf of `ephemeral_body` may come back as an object that contains it. A child that becomes empty is
/// removed; one that was empty stays. If one of the documents is no object, the result is `from` itself.
#[must_use]
pub fn difference(from: Tree, without: &Tree) -> Tree {
    match (from, without) {
        (Tree::Object(from), Tree::Object(without)) => Tree::Object(remaining(from, without)),
        (from, _) => from,
    }
}

/// Returns a document without the leaves that a shape has, like [`difference`], but with the children that become
/// empty: what a body of a known type can be read from.
#[must_use]
pub fn masked(from: Tree, shape: &Tree) -> Tree {
    let (members, shape) = match (from, shape) {
        (Tree::Object(members), Tree::Object(shape)) => (members, shape),
        (from, _) => return from,
    };
    let kept = members.into_iter().filter_map(|(key, value)| match (value, shape.get(&key)) {
        (value, None) => Some((key, value)),
        (value @ Tree::Object(_), Some(of_key @ Tree::Object(_))) => {
            Some((key, masked(value, of_key)))
        }
        _ => None,
    });
    Tree::Object(kept.collect())
}

/// Returns the parts of two documents. A leaf wins over an object, and one of `right` over one of `left`.
#[must_use]
pub fn union(left: &Tree, right: &Tree) -> Tree {
    let (Tree::Object(members), Tree::Object(added)) = (left, right) else {
        return if matches!(right, Tree::Object(_)) { left.clone() } else { right.clone() };
    };
    let mut members = members.clone();
    for (key, value) in added {
        let value = members.get(key).map_or_else(|| value.clone(), |it| union(it, value));
        members.insert(key.clone(), value);
    }
    Tree::Object(members)
}

fn remaining(
    from: TreeMap<String, Tree>,
    without: &TreeMap<String, Tree>,
) -> TreeMap<String, Tree> {
    let kept = from.into_iter().filter_map(|(key, value)| match (value, without.get(&key)) {
        (value, None) => Some((key, value)),
        (Tree::Object(child), Some(Tree::Object(other))) => {
            let was_empty = child.is_empty();
            let rest = remaining(child, other);
            (was_empty || !rest.is_empty()).then_some((key, Tree::Object(rest)))
        }
        _ => None,
    });
    kept.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tree(text: &str) -> Tree {
        Tree::parse(text.as_bytes()).unwrap_or_else(|it| panic!("{text}: {it}"))
    }

    #[test]
    fn documents_are_disjoint_only_if_no_leaf_is_shared() {
        for (left, right, expected) in [
            ("1", "2", false),
            ("1", "true", false),
            ("1", "null", false),
            ("[1]", "[2]", false),
            ("[]", "[1]", false),
            ("{}", "[]", false),
            ("null", "null", false),
            (r#"{"a":1,"b":2}"#, r#"{"c":1,"b":2}"#, false),
            (r#"{"a":1,"b":{"x":1}}"#, r#"{"c":1,"b":{"y":2}}"#, true),
            (r#"{"a":1,"b":2}"#, r#"{"c":1,"d":2}"#, true),
            ("{}", r#"{"a":1}"#, true),
            ("{}", "{}", true),
            (r#"{"a":{}}"#, r#"{"a":null}"#, false),
            (r#"{"a":{}}"#, r#"{"a":{"b":1}}"#, true),
        ] {
            assert_eq!(is_disjoint(&tree(left), &tree(right)), expected, "{left} {right}");
            assert_eq!(is_disjoint(&tree(right), &tree(left)), expected, "{right} {left}");
        }
    }

    #[test]
    fn nullified_document_keeps_only_keys() {
        for (text, expected) in [
            (
                r#"{"m":{"a":1,"b":2},"array":[1,2,3],"p":1}"#,
                r#"{"array":null,"m":{"a":null,"b":null},"p":null}"#,
            ),
            ("123", "null"),
            ("[1,2]", "null"),
            ("{}", "{}"),
            (r#"{"a":[{"b":1}]}"#, r#"{"a":null}"#),
        ] {
            assert_eq!(nullify(&tree(text)).text(), expected);
        }
    }

    #[test]
    fn difference_removes_everything_that_may_contain_the_other() {
        for (from, without, expected) in [
            (r#"{"a":1,"b":2,"c":3}"#, r#"{"a":2,"b":3}"#, r#"{"c":3}"#),
            (
                r#"{"m":{"a":1,"b":2,"c":3},"x":1,"y":2,"z":3}"#,
                r#"{"m":{"a":2,"b":3},"x":2,"y":3}"#,
                r#"{"m":{"c":3},"z":3}"#,
            ),
            (
                r#"{"m":{"a":2,"b":3},"x":1,"z":3}"#,
                r#"{"m":{"a":1,"b":2,"c":3},"x":2}"#,
                r#"{"z":3}"#,
            ),
            (r#"{"m":{},"x":1}"#, r#"{"m":{"a":1},"x":2}"#, r#"{"m":{}}"#),
            (
                r#"{"m":{"a":2,"b":3,"c":{"x":1,"y":2,"z":3}}}"#,
                r#"{"m":{"a":1,"b":2,"c":{"x":2,"y":3}}}"#,
                r#"{"m":{"c":{"z":3}}}"#,
            ),
            ("1", r#"{"a":1}"#, "1"),
            (r#"{"a":1}"#, "1", r#"{"a":1}"#),
            (r#"{"secret":{"value":"x"},"a":1}"#, r#"{"secret":null}"#, r#"{"a":1}"#),
            (r#"{"secret":"x"}"#, r#"{"secret":{"value":null}}"#, "{}"),
            (r#"{"secret":["x"]}"#, r#"{"secret":null}"#, "{}"),
            (r#"{"m":{"n":{"a":1}}}"#, r#"{"m":{"n":{"a":null}}}"#, "{}"),
        ] {
            assert_eq!(difference(tree(from), &tree(without)).text(), expected, "{from} {without}");
        }
    }

    #[test]
    fn mask_keeps_children_that_become_empty() {
        for (from, shape, expected) in [
            (r#"{"m":{"a":1},"x":2}"#, r#"{"m":{"a":null}}"#, r#"{"m":{},"x":2}"#),
            (r#"{"m":{"a":1}}"#, r#"{"m":null}"#, "{}"),
            (r#"{"m":5}"#, r#"{"m":{"a":null}}"#, "{}"),
            ("[1]", r#"{"a":null}"#, "[1]"),
        ] {
            assert_eq!(masked(tree(from), &tree(shape)).text(), expected, "{from} {shape}");
        }
    }

    #[test]
    fn union_has_the_parts_of_both_documents() {
        for (left, right, expected) in [
            (
                r#"{"a":1,"m":{"x":1}}"#,
                r#"{"b":2,"m":{"y":2}}"#,
                r#"{"a":1,"b":2,"m":{"x":1,"y":2}}"#,
            ),
            (r#"{"a":{"x":1}}"#, r#"{"a":null}"#, r#"{"a":null}"#),
            (r#"{"a":null}"#, r#"{"a":{"x":1}}"#, r#"{"a":null}"#),
            (r#"{"a":1}"#, r#"{"a":2}"#, r#"{"a":2}"#),
            ("{}", "null", "null"),
        ] {
            assert_eq!(union(&tree(left), &tree(right)).text(), expected, "{left} {right}");
        }
    }
}
