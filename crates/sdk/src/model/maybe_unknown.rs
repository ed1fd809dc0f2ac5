//! Values that may be unknown.

use values::{Type, Value};

use super::{attribute_value::AttributeValue, part::Part};
use crate::{diagnostics::Diagnostic, schema::Attribute};

/// A value that may be unknown. In the configuration of a provider it is a value that is known only after an apply; in
/// a planned object it is one that the provider will choose.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum MaybeUnknown<T> {
    /// The value is not known yet.
    Unknown,
    /// The value is known.
    Known(T),
}

impl<T> MaybeUnknown<T> {
    /// Returns the value. `None` if it is unknown.
    pub fn known(self) -> Option<T> {
        match self {
            MaybeUnknown::Unknown => None,
            MaybeUnknown::Known(value) => Some(value),
        }
    }

    /// Returns a reference to the value.
    pub fn as_ref(&self) -> MaybeUnknown<&T> {
        match self {
            MaybeUnknown::Unknown => MaybeUnknown::Unknown,
            MaybeUnknown::Known(value) => MaybeUnknown::Known(value),
        }
    }

    /// Returns true if the value is unknown.
    pub fn is_unknown(&self) -> bool {
        matches!(self, MaybeUnknown::Unknown)
    }
}

impl<T: AttributeValue> AttributeValue for MaybeUnknown<T> {
    const HAS_NULL: bool = T::HAS_NULL;
    const HAS_UNKNOWN: bool = true;

    fn attribute() -> Attribute {
        T::attribute()
    }

    fn ty() -> Type {
        T::ty()
    }

    fn decode(part: &Part<'_>) -> Result<MaybeUnknown<T>, Diagnostic> {
        match part.value.is_known() {
            true => T::decode(part).map(MaybeUnknown::Known),
            false => Ok(MaybeUnknown::Unknown),
        }
    }

    fn encode(&self) -> Value {
        match self {
            MaybeUnknown::Unknown => Value::unknown(T::ty()),
            MaybeUnknown::Known(value) => value.encode(),
        }
    }
}
