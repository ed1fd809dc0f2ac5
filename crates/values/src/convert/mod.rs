//! Conversion of values to types, and the search for a type that several types convert to.
//!
//! Start at [`convert`] and [`unify`]. A *safe* conversion succeeds for every value of a type, an unsafe one depends on
//! the value. Facts and messages are those of cty (`reference: go-cty 1.18`).

mod apply;
mod check;
mod mismatch;
mod unify;

pub use check::{can_convert, is_safe, result_type};
pub use mismatch::mismatch;
use mismatch::mismatch_of_secret;
pub use unify::{unify, unify_safe};

use crate::{Path, Type, Value};

/// Why a value has no counterpart of the wanted type.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("{message}")]
pub struct ConvertError {
    /// The part of the value that does not fit.
    pub path: Path,
    /// The reason, such as `a number is required`. It never quotes the value.
    pub message: String,
}

impl ConvertError {
    pub(crate) fn new(path: &Path, message: impl Into<String>) -> ConvertError {
        ConvertError { path: path.clone(), message: message.into() }
    }
}

/// Converts `value` to `want`; each [`Type::Dynamic`] in `want` takes what the value has there. Marks stay where they
/// are.
///
/// # Errors
/// If the value has no counterpart of that type, with the path to the part at fault.
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
