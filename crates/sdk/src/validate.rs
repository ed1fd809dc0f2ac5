//! Validators of attributes, and rules about several attributes.

use std::{cmp::Ordering, sync::Arc};

use values::{Number, Path, Value};

use crate::{
    data::Object,
    diagnostics::{Diagnostics, public_key, shown},
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
        let whole = value.as_number().and_then(Number::to_i64);
        if whole.is_none_or(|it| it < self.0 || it > self.1) {
            let detail =
                format!("{} must be a whole number from {} to {}.", shown(path), self.0, self.1);
            diagnostics.error_at(path.clone(), "Invalid Attribute Value", detail);
        }
    }
}

/// A validator for numbers within bounds.
pub struct NumberBetween(pub f64, pub f64);

impl Validator for NumberBetween {
    fn validate(&self, path: &Path, value: &Value, diagnostics: &mut Diagnostics) {
        let bound = |it: f64| Number::parse(&it.to_string());
        let is_inside = |number: &Number| {
            let [least, most] = [self.0, self.1].map(|it| bound(it).map(|it| number.compare(&it)));
            least.is_none_or(Ordering::is_ge) && most.is_none_or(Ordering::is_le)
        };
        if !value.as_number().is_some_and(is_inside) {
            let detail = format!("{} must be a number from {} to {}.", shown(path), self.0, self.1);
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
            let path = path.clone().index(public_key(value, key));
            self.0.validate(&path, element, diagnostics);
        }
    }
}

/// A validator for texts that a function accepts. The error of the function is the reason, and must not quote the text
/// if it is a secret.
pub struct Text<F>(pub F);

impl<F, T, E> Validator for Text<F>
where
    F: Fn(&str) -> Result<T, E> + Send + Sync,
    E: std::fmt::Display,
{
    fn validate(&self, path: &Path, value: &Value, diagnostics: &mut Diagnostics) {
        if let Some(Err(reason)) = value.as_str().map(&self.0) {
            let detail = format!("{} is not valid: {reason}.", shown(path));
            diagnostics.error_at(path.clone(), "Invalid Attribute Value", detail);
        }
    }
}

/// Checks that exactly one of the attributes is set. An unknown attribute may turn out to be null or not; the values
/// are checked again when they are known.
pub fn exactly_one_of(config: &Object, names: &[&str], diagnostics: &mut Diagnostics) {
    let set = count_set(config, names);
    let may_be_one = set == 0 && names.iter().any(|it| config.is_unknown(it));
    if let Some(first) = names.first().filter(|_| set != 1 && !may_be_one) {
        combination(
            config,
            first,
            format!("Exactly one of {} must be set", listed(config, names)),
            diagnostics,
        );
    }
}

/// Checks that at least one of the attributes is set, or may turn out to be set.
pub fn at_least_one_of(config: &Object, names: &[&str], diagnostics: &mut Diagnostics) {
    if let Some(first) = names.first().filter(|_| names.iter().all(|it| config.is_absent(it))) {
        combination(
            config,
            first,
            format!("At least one of {} must be set", listed(config, names)),
            diagnostics,
        );
    }
}

fn listed(config: &Object, names: &[&str]) -> String {
    names.iter().map(|it| config.name_of(it).to_string()).collect::<Vec<_>>().join(", ")
}

/// Checks that at most one of the two attributes is set.
pub fn conflicting(config: &Object, first: &str, second: &str, diagnostics: &mut Diagnostics) {
    if count_set(config, &[first, second]) > 1 {
        combination(
            config,
            second,
            format!(
                "Only one of {} and {} can be set",
                config.name_of(first),
                config.name_of(second)
            ),
            diagnostics,
        );
    }
}

/// Checks that the second attribute is set if the first is.
pub fn requires(config: &Object, first: &str, second: &str, diagnostics: &mut Diagnostics) {
    if count_set(config, &[first]) > 0 && config.is_absent(second) {
        combination(
            config,
            first,
            format!(
                "{} is set, so {} must be set too",
                config.name_of(first),
                config.name_of(second)
            ),
            diagnostics,
        );
    }
}

/// The number of attributes that are known and not null.
fn count_set(config: &Object, names: &[&str]) -> usize {
    names.iter().filter(|it| !config.is_absent(it) && !config.is_unknown(it)).count()
}

fn combination(config: &Object, name: &str, rule: String, diagnostics: &mut Diagnostics) {
    let path = config.path_of(name);
    diagnostics.error_at(path, "Invalid Attribute Combination", format!("{rule}."));
}
