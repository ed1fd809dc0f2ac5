//! Conversion of values to types, and unification: the search for a type that several types convert to.
//!
//! Start reading at [`convert`] and [`unify`]. A *safe* conversion succeeds for every value of a type; an unsafe
//! one depends on the value. Results and messages equal those of cty 1.18.

mod apply;
mod check;
mod mismatch;
mod unify;

pub use check::{can_convert, is_safe, result_type};
pub use mismatch::mismatch;
use mismatch::mismatch_of_secret;
pub use unify::{unify, unify_safe};

use crate::{Path, Type, Value};

/// The reason why a value does not convert to the wanted type.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("{message}")]
pub struct ConvertError {
    /// The path to the part of the value that does not convert.
    pub path: Path,
    /// The reason, such as `a number is required`. It never quotes the value.
    pub message: String,
}

impl ConvertError {
    pub(crate) fn new(path: &Path, message: impl Into<String>) -> ConvertError {
        ConvertError { path: path.clone(), message: message.into() }
    }
}

/// Converts `value` to `want`. Each [`Type::Dynamic`] in `want` accepts the type of that part of the value. Marks
/// stay on their parts.
///
/// # Errors
/// Returns an error with the path to the faulty part if the value does not convert.
#[inline]
pub fn convert(value: &Value, want: &Type) -> Result<Value, ConvertError> {
    convert_at(value, want, &mut Path::root())
}

pub(crate) fn convert_at(
    value: &Value,
    want: &Type,
    path: &mut Path,
) -> Result<Value, ConvertError> {
    if matches!(want, Type::Dynamic) {
        return Ok(value.clone());
    }
    let ty = value.ty();
    if ty == *want && !want.has_optional() {
        return Ok(value.clone());
    }
    if !can_convert(&ty, want) {
        let reason = if value.has_deep_secret() {
            mismatch_of_secret(&ty, want)
        } else {
            mismatch(&ty, want)
        };
        return Err(ConvertError::new(path, reason));
    }
    apply::apply(value, &ty, want, path)
}

#[cfg(test)]
mod tests;
