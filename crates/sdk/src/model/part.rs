//! A value that is being converted to Rust.

use values::{Path, Value};

use crate::diagnostics::{Diagnostic, shown};

/// The meaning of an unknown value for a field of type `Option`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Unknowns {
    /// It is an error. A configuration is read like this: an unknown value is not the same as none.
    Refused,
    /// It is `None`. A planned object is read like this: its unknown values are those that the provider chooses.
    Absent,
}

/// A value that is being converted to Rust.
pub struct Part<'a> {
    /// The value.
    pub value: &'a Value,
    /// The path of the value, for diagnostics.
    pub path: Path,
    /// The meaning of unknown values.
    pub unknowns: Unknowns,
}

impl Part<'_> {
    /// Refuses null and unknown values. For fields whose type has neither.
    ///
    /// # Errors
    /// If the value is null or unknown.
    pub fn require_known(&self) -> Result<&Value, Diagnostic> {
        if !self.value.is_known() {
            return Err(self.unknown());
        }
        match self.value.is_null() {
            true => Err(self.error("Missing Value", "must be set, and not to null")),
            false => Ok(self.value),
        }
    }

    /// The error for a value that is unknown where a known one is needed.
    #[must_use]
    pub fn unknown(&self) -> Diagnostic {
        let why = match self.unknowns {
            Unknowns::Refused => {
                "is needed now, but its value is known only after an apply. Apply the objects that it depends on \
                 first, for example with -target, or set it to a value that is known before"
            }
            Unknowns::Absent => {
                "is unknown in the plan, which its field cannot be. This is a bug in the provider: the type of the \
                 field must be Option or MaybeUnknown"
            }
        };
        self.error("Value Not Known Yet", why)
    }

    /// An error about the value; `what` continues a sentence that begins with the path.
    #[must_use]
    pub fn error(&self, summary: &str, what: &str) -> Diagnostic {
        let detail = format!("{} {what}.", shown(&self.path));
        Diagnostic::error(summary, detail).at(self.path.clone())
    }
}
