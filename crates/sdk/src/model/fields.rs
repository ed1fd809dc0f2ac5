//! The attributes of an object as fields of a struct.

use values::Value;

use super::{
    attribute_value::AttributeValue,
    blocks::Blocks,
    key::Key,
    maybe_unknown::MaybeUnknown,
    part::{Part, Unknowns},
};
use crate::{data::Object, diagnostics::Diagnostic};

impl Object {
    /// Returns an attribute as the type of its field.
    ///
    /// # Errors
    /// If the value does not fit, such as a number that is too large.
    pub fn get<T: AttributeValue>(
        &self,
        key: Key<T>,
    ) -> Result<MaybeUnknown<Option<T>>, Diagnostic> {
        self.field(key.name(), Unknowns::Refused)
    }

    /// Reads an attribute for a field of a struct.
    ///
    /// # Errors
    /// See [`AttributeValue::decode`].
    pub fn field<T: AttributeValue>(
        &self,
        name: &str,
        unknowns: Unknowns,
    ) -> Result<T, Diagnostic> {
        T::decode(&Part { value: &self.attr(name), path: self.path_of(name), unknowns })
    }

    /// Reads an attribute with a default for a field of a struct. The default stands for null too, which a state has
    /// that was written before the attribute existed.
    ///
    /// # Errors
    /// See [`AttributeValue::decode`].
    pub fn field_or<T: AttributeValue>(
        &self,
        name: &str,
        default: impl FnOnce() -> Value,
        unknowns: Unknowns,
    ) -> Result<T, Diagnostic> {
        let value = self.attr(name);
        let value = if value.is_null() { default() } else { value };
        T::decode(&Part { value: &value, path: self.path_of(name), unknowns })
    }

    /// Reads nested blocks for a field of a struct.
    ///
    /// # Errors
    /// See [`Blocks::decode_blocks`].
    pub fn blocks<T: Blocks>(&self, name: &str, unknowns: Unknowns) -> Result<T, Diagnostic> {
        T::decode_blocks(&Part { value: &self.attr(name), path: self.path_of(name), unknowns })
    }

    /// Replaces an attribute by a value of the type of its field.
    pub fn put<T: AttributeValue>(&mut self, key: Key<T>, value: &T) {
        self.set(key, value.encode());
    }
}
