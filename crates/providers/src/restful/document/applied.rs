//! The memory of the `ephemeral_body` that the last request contained: its hash, which shows that a configuration
//! has changed, and its shape, which is removed from `output`. Both are in the private state; the content is not.

use base64::{Engine as _, engine::general_purpose::STANDARD};
use serde_json::Value as Entry;
use sha2::{Digest as _, Sha256};
use values::Value;

use super::{
    convert::{ConvertError, to_json},
    overlap::{nullify, union},
    tree::{JsonError, Tree},
};

/// The name of the private entry.
pub const ENTRY: &str = "ephemeral_body";

/// The member with the hash: base64 of SHA-256 of the JSON text.
const HASH: &str = "hash";
/// The member with the shape: base64 of its JSON text.
const SHAPE: &str = "null";

/// An `ephemeral_body` that was part of a request. It has no `Debug`: its keys may tell about secrets.
#[derive(Clone, PartialEq, Eq)]
pub struct Applied {
    hash: String,
    shape: Tree,
}

/// The reason why an entry cannot be used. Without the shape, secrets could get into `output`, so a damaged entry is
/// not ignored.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum AppliedError {
    /// An entry with another structure.
    #[error(
        "the private state of \"ephemeral_body\" is damaged; restore the state from its backup, or \
         remove the object from the state and import it"
    )]
    Damaged,
    /// A value that cannot be written.
    #[error(transparent)]
    Convert(#[from] ConvertError),
    /// JSON text that cannot be read.
    #[error(transparent)]
    Json(#[from] JsonError),
}

impl Applied {
    /// Remembers the JSON text of an `ephemeral_body`, as [`to_json`] returns it.
    ///
    /// # Errors
    /// Returns an error if the text is not JSON.
    pub fn of(json: &str) -> Result<Applied, AppliedError> {
        Ok(Applied { hash: hash(json), shape: nullify(&Tree::parse(json.as_bytes())?) })
    }

    /// Remembers a request whose outcome is not known: the shapes of what was applied before and of what it contained.
    /// Its hash is that of no configuration, so the next plan sends the request again. `None` if there is no
    /// `ephemeral_body` before and after.
    #[must_use]
    pub fn unconfirmed(before: Option<&Applied>, next: Option<&Applied>) -> Option<Applied> {
        let shape = match (before, next) {
            (None, None) => return None,
            (Some(one), None) | (None, Some(one)) => one.shape.clone(),
            (Some(before), Some(next)) => union(&before.shape, &next.shape),
        };
        Some(Applied { hash: String::new(), shape })
    }

    /// Reads the private entry.
    ///
    /// # Errors
    /// Returns an error if the entry is not one that [`Applied::to_entry`] returned.
    pub fn from_entry(entry: &Entry) -> Result<Applied, AppliedError> {
        let text = |name| entry.get(name).and_then(Entry::as_str).ok_or(AppliedError::Damaged);
        let shape = STANDARD.decode(text(SHAPE)?).map_err(|_| AppliedError::Damaged)?;
        let shape = Tree::parse(&shape).map_err(|_| AppliedError::Damaged)?;
        // A shape has no values. If the entry has some, they must not be kept.
        Ok(Applied { hash: text(HASH)?.to_owned(), shape: nullify(&shape) })
    }

    /// Returns the private entry.
    #[must_use]
    pub fn to_entry(&self) -> Entry {
        let shape = STANDARD.encode(self.shape.text());
        serde_json::json!({ HASH: self.hash, SHAPE: shape })
    }

    /// Returns the shape, to be removed from answers with [`super::overlap::difference`].
    #[must_use]
    pub fn shape(&self) -> &Tree {
        &self.shape
    }
}

/// Returns true if the `ephemeral_body` of a configuration may differ from the applied one: it is not wholly known, it
/// has another hash, or only one of them exists.
///
/// # Errors
/// Returns an error if the value cannot be written as JSON.
pub fn has_changed(config: &Value, applied: Option<&Applied>) -> Result<bool, AppliedError> {
    if !config.is_wholly_known() {
        return Ok(true);
    }
    let now = to_json(config)?.map(|json| hash(&json));
    Ok(now.as_ref() != applied.map(|it| &it.hash))
}

fn hash(json: &str) -> String {
    STANDARD.encode(Sha256::digest(json))
}

#[cfg(test)]
mod tests {
    use values::Type;

    use super::*;

    #[test]
    fn entry_has_the_hash_and_the_shape_and_no_value() {
        let json = r#"{"secret":"hunter2","list":["hunter2"]}"#;
        let applied = Applied::of(json).unwrap_or_else(|it| panic!("{it}"));
        let entry = applied.to_entry();
        assert_eq!(entry[SHAPE], "eyJsaXN0IjpudWxsLCJzZWNyZXQiOm51bGx9");
        assert!(Applied::from_entry(&entry).is_ok_and(|again| again == applied));
        let known = Applied::of("\"abc\"").unwrap_or_else(|it| panic!("{it}"));
        assert_eq!(known.to_entry()[HASH], "bMQ/hY+7djMBY3ta+XDipGtG9GHyfloPQeAJxZuCeyU=");
    }

    #[test]
    fn damaged_entries_are_errors() {
        for entry in [
            "null",
            "1",
            "{}",
            r#"{"hash":1,"null":"e30="}"#,
            r#"{"null":"e30="}"#,
            r#"{"hash":"x"}"#,
            r#"{"hash":"x","null":"!"}"#,
            r#"{"hash":"x","null":""}"#,
            r#"{"hash":"x","null":"ew=="}"#,
        ] {
            let entry: Entry = serde_json::from_str(entry).expect("JSON");
            assert!(matches!(Applied::from_entry(&entry), Err(AppliedError::Damaged)), "{entry}");
        }
        let values = serde_json::json!({ "hash": "x", "null": STANDARD.encode("{\"a\":\"b\"}") });
        assert!(Applied::from_entry(&values).is_ok_and(|it| it.shape().text() == "{\"a\":null}"));
    }

    #[test]
    fn changes_are_found_by_hash_and_existence() {
        let config = |text: &str| Value::object_from([("secret", Value::string(text))]);
        let json = to_json(&config("a")).ok().flatten().expect("JSON");
        let applied = Applied::of(&json).unwrap_or_else(|it| panic!("{it}"));
        let partly_unknown = Value::object_from([("secret", Value::unknown(Type::String))]);
        let null = Value::null(Type::Dynamic);
        for (config, has_entry, expected) in [
            (&config("a"), true, false),
            (&config("b"), true, true),
            (&config("a"), false, true),
            (&null, true, true),
            (&null, false, false),
            (&Value::dynamic(), false, true),
            (&Value::dynamic(), true, true),
            (&partly_unknown, true, true),
        ] {
            let changed = has_changed(config, has_entry.then_some(&applied));
            assert_eq!(changed, Ok(expected));
        }
    }

    #[test]
    fn unconfirmed_request_covers_both_shapes_and_counts_as_changed() {
        let of = |json| Applied::of(json).unwrap_or_else(|it| panic!("{it}"));
        let (before, next) = (of(r#"{"a":"hunter2"}"#), of(r#"{"b":{"c":"hunter2"}}"#));
        assert!(Applied::unconfirmed(None, None).is_none());
        let both = Applied::unconfirmed(Some(&before), Some(&next)).expect("shapes");
        assert_eq!(both.shape().text(), r#"{"a":null,"b":{"c":null}}"#);
        let config = Value::object_from([("a", Value::string("hunter2"))]);
        for applied in [Some(both), Applied::unconfirmed(Some(&before), None)] {
            assert!(has_changed(&config, applied.as_ref()).is_ok_and(|it| it));
            let nothing = Value::null(Type::Dynamic);
            assert!(has_changed(&nothing, applied.as_ref()).is_ok_and(|it| it));
        }
    }
}
