//! Validators of attributes, and rules about several attributes.

use std::sync::Arc;

use values::{Path, Value};

use crate::{
    data::Object,
    diagnostics::{Diagnostics, shown},
};

/// A validator of one attribute.
pub trait Validator: Send + Sync {
    /// Validates a value that is known and not null. The diagnostics must not quote the value if the attribute is
    /// sensitive or write-only.
    fn validate(&self, path: &Path, value: &Value, diagnostics: &mut Diagnostics);
}

/// A validator for strings from a fixed list.
pub struct OneOf(pub &'static [&'static str]);

impl Validator for OneOf {
    fn validate(&self, path: &Path, value: &Value, diagnostics: &mut Diagnostics) {
        if value.as_str().is_some_and(|text| !self.0.contains(&text)) {
            let detail = format!("{} must be one of: {}.", shown(path), self.0.join(", "));
            diagnostics.error_at(path.clone(), "Invalid Attribute Value Match", detail);
        }
    }
}

/// A validator for whole numbers within bounds.
pub struct WholeBetween(pub i64, pub i64);

impl Validator for WholeBetween {
    fn validate(&self, path: &Path, value: &Value, diagnostics: &mut Diagnostics) {
        let whole = value.as_number().and_then(values::Number::to_i64);
        if whole.is_none_or(|it| it < self.0 || it > self.1) {
            let detail =
                format!("{} must be a whole number from {} to {}.", shown(path), self.0, self.1);
            diagnostics.error_at(path.clone(), "Invalid Attribute Value", detail);
        }
    }
}

/// A validator for the number of bytes of a string.
pub struct LengthBetween(pub usize, pub usize);

impl Validator for LengthBetween {
    fn validate(&self, path: &Path, value: &Value, diagnostics: &mut Diagnostics) {
        let length = value.as_str().map_or(0, str::len);
        if length < self.0 || length > self.1 {
            let detail = format!("{} must have {} to {} bytes.", shown(path), self.0, self.1);
            diagnostics.error_at(path.clone(), "Invalid Attribute Value Length", detail);
        }
    }
}

/// A validator for the number of elements of a collection.
pub struct CountBetween(pub usize, pub usize);

impl Validator for CountBetween {
    fn validate(&self, path: &Path, value: &Value, diagnostics: &mut Diagnostics) {
        let count = value.stored_length().unwrap_or(0);
        if count < self.0 || count > self.1 {
            let detail = format!("{} must have {} to {} elements.", shown(path), self.0, self.1);
            diagnostics.error_at(path.clone(), "Invalid Attribute Value", detail);
        }
    }
}

/// A validator for each known element of a collection.
pub struct Each(pub Arc<dyn Validator>);

impl Validator for Each {
    fn validate(&self, path: &Path, value: &Value, diagnostics: &mut Diagnostics) {
        for (key, element) in value.elements().filter(|(_, it)| it.is_known() && !it.is_null()) {
            self.0.validate(&path.clone().index(key), element, diagnostics);
        }
    }
}

/// A validator for texts that a function accepts. The error of the function is the reason, and must not quote the text
/// if it is a secret.
pub struct Text<F>(pub F);

impl<F, E> Validator for Text<F>
where
    F: Fn(&str) -> Result<(), E> + Send + Sync,
    E: std::fmt::Display,
{
    fn validate(&self, path: &Path, value: &Value, diagnostics: &mut Diagnostics) {
        if let Some(Err(reason)) = value.as_str().map(&self.0) {
            let detail = format!("{} is not valid: {reason}.", shown(path));
            diagnostics.error_at(path.clone(), "Invalid Attribute Value", detail);
        }
    }
}

/// Checks that exactly one of the attributes is set. An unknown attribute counts as set, because it may turn out
/// not to be null.
pub fn exactly_one_of(config: &Object, names: &[&str], diagnostics: &mut Diagnostics) {
    let set = names.iter().filter(|name| !config.is_absent(name)).count();
    if let Some(first) = names.first().filter(|_| set != 1) {
        let detail = format!("Exactly one of {} must be set.", names.join(", "));
        diagnostics.error_at(config.path_of(first), "Invalid Attribute Combination", detail);
    }
}

/// Checks that at least one of the attributes is set. An unknown attribute counts as set.
pub fn at_least_one_of(config: &Object, names: &[&str], diagnostics: &mut Diagnostics) {
    if let Some(first) = names.first().filter(|_| names.iter().all(|it| config.is_absent(it))) {
        let detail = format!("At least one of {} must be set.", names.join(", "));
        diagnostics.error_at(config.path_of(first), "Invalid Attribute Combination", detail);
    }
}

/// Checks that at most one of the two attributes is set.
pub fn conflicting(config: &Object, first: &str, second: &str, diagnostics: &mut Diagnostics) {
    if !config.is_absent(first) && !config.is_absent(second) {
        let detail = format!("Only one of {first} and {second} can be set.");
        diagnostics.error_at(config.path_of(second), "Invalid Attribute Combination", detail);
    }
}

/// Checks that the second attribute is set if the first is.
pub fn requires(config: &Object, first: &str, second: &str, diagnostics: &mut Diagnostics) {
    if !config.is_absent(first) && config.is_absent(second) {
        let detail = format!("{first} is set, so {second} must be set too.");
        diagnostics.error_at(config.path_of(first), "Invalid Attribute Combination", detail);
    }
}
