//! Texts that must not be shown.

use values::{Text, Type, Value};

use super::{attribute_value::AttributeValue, part::Part};
use crate::{diagnostics::Diagnostic, schema::Attribute};

/// A secret text. It has neither `Debug` nor `Display`, so that it is not logged by accident, and an attribute of this
/// type is sensitive.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(Text);

impl Secret {
    /// Wraps a text as a secret.
    pub fn new(text: impl AsRef<str>) -> Secret {
        Secret(text.as_ref().into())
    }

    /// Returns the text.
    #[must_use]
    pub fn reveal(&self) -> &str {
        &self.0
    }
}

impl AttributeValue for Secret {
    fn attribute() -> Attribute {
        Text::attribute().holding_secrets()
    }

    fn ty() -> Type {
        Type::String
    }

    fn decode(part: &Part<'_>) -> Result<Secret, Diagnostic> {
        Text::decode(part).map(Secret::new)
    }

    fn encode(&self) -> Value {
        Value::string(self.reveal())
    }
}
