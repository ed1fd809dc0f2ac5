//! The rules for changes of a resource's object: the proposal to the provider, and the answers that it may give.
//!
//! All functions take values that conform to the implied type of the block. Values may be marked. Moved values
//! keep their marks, and comparisons ignore marks. No message quotes a value that is marked sensitive or
//! ephemeral, or that belongs to a sensitive or write-only attribute.
//!
//! The rules are those of OpenTofu's package `internal/plans/objchange`.

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

use std::{borrow::Cow, fmt};

use values::{Kind, MarkKind, Path, Step, Type, Value};

pub use self::compatible::object_compatible;
pub use self::ignore::{IgnoreChanges, ignore_changes};
pub use self::normalize::normalize_legacy;
pub use self::plan_valid::plan_valid;
pub use self::proposed::{planned_unknown_object, proposed_new};
pub use self::replace::{ReplacePaths, replace_paths};

/// Returns true if the path of a violation may show the step: the keys of a secret map are as secret as its
/// elements.
fn is_shown(step: &Step, is_secret: bool) -> bool {
    !(is_secret && matches!(step, Step::Index(key) if key.as_str().is_some()))
}

/// A violation of a rule by a provider's answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Violation {
    /// The part of the object with the violation.
    pub path: Path,
    /// The rule as a sentence fragment.
    pub message: String,
}

/// Prints `.path: message`, or only the message if it concerns the whole object.
impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.path.is_root() {
            f.write_str(&self.message)
        } else {
            write!(f, "{}: {}", self.path, self.message)
        }
    }
}

/// The attribute of an object. If the object as a whole is null or unknown, so is the attribute. `position` is that of
/// the attribute in the schema, where an object without nested blocks has it, too: it saves the search, nothing else.
fn attr_of<'v>(
    object: &'v Value,
    position: usize,
    name: &str,
    ty: impl FnOnce() -> Type,
) -> Cow<'v, Value> {
    match object.kind() {
        Kind::Object(attributes) => match attributes.get_near(position, name) {
            Some(value) => Cow::Borrowed(value),
            None => Cow::Owned(Value::null(ty())),
        },
        Kind::Unknown(_) => Cow::Owned(Value::unknown(ty())),
        _ => Cow::Owned(Value::null(ty())),
    }
}

/// Returns true if the value as a whole must not be shown. Secrets inside of it do not count.
fn is_secret(value: &Value) -> bool {
    value.marks().has(MarkKind::Sensitive) || value.marks().has(MarkKind::Ephemeral)
}
