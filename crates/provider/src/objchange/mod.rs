//! The rules by which a resource's object changes: what is proposed to the provider, and what it may answer.
//!
//! Every function takes values that conform to the block's implied type. They may be marked: values that are moved
//! keep their marks, comparisons do not look at them, and what is marked sensitive or ephemeral, or belongs to a
//! sensitive or write-only attribute, is quoted in no message.
//!
//! The rules are those of OpenTofu's `internal/plans/objchange` (`protocol.md` 5).

mod compatible;
mod element_index;
mod go_syntax;
mod ignore;
mod normalize;
mod plan_valid;
mod proposed;
mod replace;
mod same;

#[cfg(test)]
mod tests;

use std::fmt;

use values::{Kind, MarkKind, Path, Step, Type, Value};

pub use self::compatible::object_compatible;
pub use self::ignore::{IgnoreChanges, ignore_changes};
pub use self::normalize::normalize_legacy;
pub use self::plan_valid::plan_valid;
pub use self::proposed::{planned_unknown_object, proposed_new};
pub use self::replace::{ReplacePaths, replace_paths};

/// Whether a step may stand in the path of a violation: the keys of a secret map are as secret as its elements.
fn is_shown(step: &Step, is_secret: bool) -> bool {
    !(is_secret && matches!(step, Step::Index(key) if key.as_str().is_some()))
}

/// A rule that an answer of a provider does not keep.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Violation {
    /// The part of the object that is at fault.
    pub path: Path,
    /// The rule, as a fragment.
    pub message: String,
}

/// Prints `.path: message`, or the message alone for the object as a whole.
impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.path.is_root() {
            f.write_str(&self.message)
        } else {
            write!(f, "{}: {}", self.path, self.message)
        }
    }
}

/// An attribute of an object that may be null or unknown as a whole: then the attribute is, too.
fn attr_of(object: &Value, name: &str, ty: impl FnOnce() -> Type) -> Value {
    match object.kind() {
        Kind::Object(attributes) => {
            attributes.get(name).cloned().unwrap_or_else(|| Value::null(ty()))
        }
        Kind::Unknown(_) => Value::unknown(ty()),
        _ => Value::null(ty()),
    }
}

/// Says whether a value as a whole, not only some part of it, must not be shown.
fn is_secret(value: &Value) -> bool {
    value.marks().has(MarkKind::Sensitive) || value.marks().has(MarkKind::Ephemeral)
}
