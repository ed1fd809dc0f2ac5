//! `ephemeral_body` of a managed resource: its check against `body`, its place in requests, and the private entry
//! that remembers its hash and shape.
//!
//! The rules are those of `docs/restful.md`, "`ephemeral_body`".

use values::{Path, Value};

use super::{
    document::{
        applied::{Applied, AppliedError, ENTRY, has_changed},
        overlap::{is_disjoint, union},
        patch::{self, PatchError},
        tree::Tree,
    },
    schema::EPHEMERAL_BODY,
    session::{json_of, tree_of, unusable},
};
use mayfly_sdk::{Diagnostic, Diagnostics, Object, PrivateState};

/// The bodies of a configuration. It has no `Debug`: it has secrets.
pub(super) struct Bodies {
    /// `body`. `None` if it is null.
    pub(super) body: Option<Tree>,
    /// `ephemeral_body`. `None` if it is null.
    pub(super) ephemeral: Option<Ephemeral>,
}

/// An `ephemeral_body` with what is remembered of it.
pub(super) struct Ephemeral {
    pub(super) tree: Tree,
    pub(super) applied: Applied,
}

fn broken(error: &AppliedError) -> Diagnostic {
    unusable(EPHEMERAL_BODY, &error.to_string())
}

fn overlapping() -> Diagnostic {
    let detail = "`body` is stored in the state and `ephemeral_body` is not, so a part of the \
                  request must be in only one of them. Both must be objects, and a key that both \
                  have must have an object in both. Remove the common part from one of them.";
    Diagnostic::error("the body and the ephemeral body are not disjointed", detail)
        .at(Path::root().attr(EPHEMERAL_BODY))
}

fn without_body() -> Diagnostic {
    let detail = "`body` is null, so there is nothing to merge `ephemeral_body` into. Set \
                  `body = {}` to send only the ephemeral part.";
    Diagnostic::error("failed to check disjoint of the body and the ephemeral body", detail)
        .at(Path::root().attr(EPHEMERAL_BODY))
}

impl Bodies {
    /// Reads the bodies.
    ///
    /// # Errors
    /// Returns an error if they overlap.
    pub(super) fn of(body: &Value, ephemeral: &Value) -> Result<Bodies, Diagnostic> {
        let body = tree_of("body", body)?;
        let Some(json) = json_of(EPHEMERAL_BODY, ephemeral)? else {
            return Ok(Bodies { body, ephemeral: None });
        };
        let tree = Tree::parse(json.as_bytes());
        let tree = tree.map_err(|it| unusable(EPHEMERAL_BODY, &it.to_string()))?;
        check_disjoint(body.as_ref(), &tree)?;
        let applied = Applied::of(&json).map_err(|it| broken(&it))?;
        Ok(Bodies { body, ephemeral: Some(Ephemeral { tree, applied }) })
    }

    /// The body of a request: `body` with `ephemeral_body` merged in. `None` if both are null.
    pub(super) fn merged(&self) -> Option<Tree> {
        merge(self.body.clone(), self.ephemeral.as_ref())
    }

    /// The hash and shape of `ephemeral_body`. `None` if it is null.
    pub(super) fn applied(&self) -> Option<&Applied> {
        self.ephemeral.as_ref().map(|it| &it.applied)
    }
}

/// Merges `ephemeral_body` into a body.
pub(super) fn merge(body: Option<Tree>, ephemeral: Option<&Ephemeral>) -> Option<Tree> {
    match (body, ephemeral) {
        (Some(body), Some(ephemeral)) => Some(patch::apply(body, ephemeral.tree.clone())),
        (body, _) => body,
    }
}

/// The merge patch of an update. It has every part of `ephemeral_body`, because the API may have another value than
/// the last request, and null for each part that is no longer there.
pub(super) fn merge_patch(
    prior: &Tree,
    applied: Option<&Applied>,
    body: &Tree,
    ephemeral: Option<&Ephemeral>,
) -> Result<Tree, PatchError> {
    let after = merge(Some(body.clone()), ephemeral).unwrap_or(Tree::Null);
    let mut patch = patch::diff(prior, &after)?;
    for shape in [applied.map(Applied::shape), ephemeral.map(|it| it.applied.shape())] {
        if let (Tree::Object(_), Some(shape @ Tree::Object(_))) = (&patch, shape) {
            patch = union(&patch, &forced(shape, Some(&after)));
        }
    }
    Ok(patch)
}

/// The parts of a document at the leaves of a shape, and null for those that it does not have.
fn forced(shape: &Tree, document: Option<&Tree>) -> Tree {
    match (shape, document) {
        (Tree::Object(shape), None) if !shape.is_empty() => {
            Tree::Object(shape.iter().map(|(key, it)| (key.clone(), forced(it, None))).collect())
        }
        (Tree::Object(shape), Some(Tree::Object(document))) if !shape.is_empty() => {
            let part = |(key, it): (&String, &Tree)| (key.clone(), forced(it, document.get(key)));
            Tree::Object(shape.iter().map(part).collect())
        }
        (_, document) => document.cloned().unwrap_or(Tree::Null),
    }
}

fn check_disjoint(body: Option<&Tree>, ephemeral: &Tree) -> Result<(), Diagnostic> {
    let body = body.ok_or_else(without_body)?;
    if is_disjoint(body, ephemeral) { Ok(()) } else { Err(overlapping()) }
}

/// Checks a configuration. Unknown parts count as null, and a body that is unknown as a whole is not checked.
pub(super) fn validate(config: &Object, diagnostics: &mut Diagnostics) {
    if config.is_unknown("body") || config.is_unknown(EPHEMERAL_BODY) {
        return;
    }
    if let Err(error) = Bodies::of(&config.attr("body"), &config.attr(EPHEMERAL_BODY)) {
        diagnostics.push(error);
    }
}

/// Reads the private entry. `None` if no `ephemeral_body` was applied.
///
/// # Errors
/// Returns an error if the private state is damaged: without its shape, secrets could get into `output`.
pub(super) fn applied(private: &PrivateState) -> Result<Option<Applied>, Diagnostic> {
    if private.is_damaged() {
        return Err(broken(&AppliedError::Damaged));
    }
    private.entry(ENTRY).map(Applied::from_entry).transpose().map_err(|it| broken(&it))
}

/// Writes the private entry.
pub(super) fn remember(private: &mut PrivateState, applied: Option<&Applied>) {
    match applied {
        Some(applied) => private.set(ENTRY, applied.to_entry()),
        None => private.remove(ENTRY),
    }
}

/// Returns true if a configuration has another `ephemeral_body` than the last request, or may have.
pub(super) fn changed(config: &Value, private: &PrivateState) -> Result<bool, Diagnostic> {
    has_changed(config, applied(private)?.as_ref()).map_err(|it| broken(&it))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tree(text: &str) -> Tree {
        Tree::parse(text.as_bytes()).unwrap_or_else(|it| panic!("{text}: {it}"))
    }

    fn ephemeral(json: &str) -> Ephemeral {
        let applied = Applied::of(json).unwrap_or_else(|it| panic!("{it}"));
        Ephemeral { tree: tree(json), applied }
    }

    #[test]
    fn merge_patch_has_every_ephemeral_part_and_removes_old_ones() {
        for (prior, before, body, now, expected) in [
            (r#"{"a":1}"#, None, r#"{"a":1}"#, Some(r#"{"s":"x"}"#), r#"{"s":"x"}"#),
            (
                r#"{"a":1}"#,
                Some(r#"{"s":"x"}"#),
                r#"{"a":2}"#,
                Some(r#"{"s":"x"}"#),
                r#"{"a":2,"s":"x"}"#,
            ),
            (r#"{"a":1}"#, Some(r#"{"s":"x"}"#), r#"{"a":1}"#, None, r#"{"s":null}"#),
            (r#"{"a":1}"#, Some(r#"{"s":"x"}"#), r#"{"a":1,"s":null}"#, None, r#"{"s":null}"#),
            (r#"{"a":1}"#, Some(r#"{"s":"x"}"#), r#"{"a":1,"s":"x"}"#, None, r#"{"s":"x"}"#),
            (
                r#"{"m":{"n":1}}"#,
                Some(r#"{"m":{"k":"x"}}"#),
                r#"{"m":{"n":1,"k":null}}"#,
                None,
                r#"{"m":{"k":null}}"#,
            ),
            (r#"{"a":1}"#, Some(r#"{"m":{"k":"x"}}"#), r#"{"a":1}"#, None, r#"{"m":{"k":null}}"#),
            (r#"{"a":1}"#, None, r#"{"a":1}"#, Some(r#"{"m":{}}"#), r#"{"m":{}}"#),
            (
                r#"{"a":1}"#,
                Some(r#"{"s":"x"}"#),
                r#"{"a":1}"#,
                Some(r#"{"s":null}"#),
                r#"{"s":null}"#,
            ),
            (r#"{"m":{"n":1}}"#, Some(r#"{"m":{"k":"x"}}"#), "{}", None, r#"{"m":null}"#),
            ("[{}]", None, r#"[{"a":1}]"#, None, r#"[{"a":1}]"#),
        ] {
            let before = before.map(|it| ephemeral(it).applied);
            let now = now.map(ephemeral);
            let patch = merge_patch(&tree(prior), before.as_ref(), &tree(body), now.as_ref());
            let patch = patch.map(|it| it.text());
            assert_eq!(patch.as_deref(), Ok(expected), "{prior} {body}");
        }
    }
}
