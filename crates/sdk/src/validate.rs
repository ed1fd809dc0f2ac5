//! Validation of a configuration by its schema.

use values::{Path, Value};

use crate::{
    data::Object,
    diagnostics::Diagnostics,
    schema::{Attribute, Block},
    walk::{Outcome, Places, rebuild_block},
};

/// A validator of one attribute.
pub trait Validator: Send + Sync {
    /// Validates a value that is known and not null. The diagnostics must not quote the value if the attribute is
    /// sensitive or write-only.
    fn validate(&self, path: &Path, value: &Value, diagnostics: &mut Diagnostics);
}

/// The text of a path in a sentence, without the dot before its first attribute.
#[must_use]
pub fn shown(path: &Path) -> String {
    path.to_string().trim_start_matches('.').to_owned()
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

/// Checks that exactly one of the attributes is set. An unknown attribute counts as set, because it may turn out
/// not to be null.
pub fn exactly_one_of(config: &Object, names: &[&str], diagnostics: &mut Diagnostics) {
    let set = names.iter().filter(|name| !config.is_absent(name)).count();
    if let Some(first) = names.first().filter(|_| set != 1) {
        let detail = format!("Exactly one of {} must be set.", names.join(", "));
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

/// Validates a configuration by its schema: required values, no values for attributes that only the provider sets,
/// deprecations, validators.
pub(crate) fn validate_block(block: &Block, config: &Value, diagnostics: &mut Diagnostics) {
    rebuild_block(
        block,
        &Path::root(),
        &Places::default(),
        config,
        &mut |path, attribute, _, value| {
            validate_attribute(path, attribute, value, diagnostics);
            Outcome { value: value.clone(), enter: value.is_known() }
        },
    );
}

fn validate_attribute(
    path: &Path,
    attribute: &Attribute,
    value: &Value,
    diagnostics: &mut Diagnostics,
) {
    if value.is_null() {
        if attribute.required {
            let detail = format!("{} must be set, and not to null.", shown(path));
            diagnostics.error_at(
                path.clone(),
                "Missing Configuration for Required Attribute",
                detail,
            );
        }
        return;
    }
    if attribute.computed && !attribute.optional {
        let detail = format!(
            "{} is set by the provider; it cannot be set in the configuration.",
            shown(path)
        );
        diagnostics.error_at(path.clone(), "Invalid Configuration for Read-Only Attribute", detail);
    }
    if let Some(instead) = &attribute.deprecation {
        diagnostics.warn_at(path.clone(), "Attribute Deprecated", &**instead);
    }
    if value.is_known() {
        attribute.validators.iter().for_each(|it| it.validate(path, value, diagnostics));
    }
}
