//! Rust types for the values of attributes.

use values::{Number, Str, Type, Value};

use super::part::{Part, Unknowns};
use crate::{
    diagnostics::Diagnostic,
    schema::{Attribute, typed},
};

/// A Rust type for the values of an attribute.
///
/// | type | attribute |
/// |---|---|
/// | `String`, [`Str`], [`super::Secret`] | `string`; a secret is sensitive |
/// | `bool` | `bool` |
/// | `i64` and the other integers, `f64`, [`Number`] | `number` |
/// | `Vec<T>`, `BTreeSet<T>`, [`super::Set<T>`], `BTreeMap<Str, T>` | `list`, `set`, `set`, `map` |
/// | a struct with [`super::Model`] | nested attributes |
/// | an enum with [`super::Choice`] | a `string` from a list |
/// | [`Value`] | any type |
/// | `Option<T>` | `T`, or null |
/// | [`super::MaybeUnknown<T>`] | `T`, or unknown |
pub trait AttributeValue: Sized {
    /// True if null is a value of this type.
    const HAS_NULL: bool = false;
    /// True if this type has unknown values.
    const HAS_UNKNOWN: bool = false;

    /// An attribute of this type, without required, optional and computed.
    #[must_use]
    fn attribute() -> Attribute;

    /// The type of the encoded values.
    #[must_use]
    fn ty() -> Type {
        Self::attribute().implied_type()
    }

    /// Reads a value.
    ///
    /// # Errors
    /// If the value is null or unknown and this type cannot have that, or if it does not fit. The error does not quote
    /// the value.
    fn decode(part: &Part<'_>) -> Result<Self, Diagnostic>;

    /// Returns the value.
    #[must_use]
    fn encode(&self) -> Value;
}

/// The error for a value of another type. A core converts values, so it means that schema and struct differ.
pub(super) fn mismatch(part: &Part<'_>) -> Diagnostic {
    part.error(
        "Unexpected Type",
        "has another type than the provider expects. This is a bug in the provider",
    )
}

impl AttributeValue for Str {
    fn attribute() -> Attribute {
        typed(Type::String)
    }

    fn ty() -> Type {
        Type::String
    }

    fn decode(part: &Part<'_>) -> Result<Str, Diagnostic> {
        part.require_known()?.as_str().map(Str::from).ok_or_else(|| mismatch(part))
    }

    fn encode(&self) -> Value {
        Value::string(self.clone())
    }
}

impl AttributeValue for String {
    fn attribute() -> Attribute {
        typed(Type::String)
    }

    fn ty() -> Type {
        Type::String
    }

    fn decode(part: &Part<'_>) -> Result<String, Diagnostic> {
        part.require_known()?.as_str().map(str::to_owned).ok_or_else(|| mismatch(part))
    }

    fn encode(&self) -> Value {
        Value::string(self.as_str())
    }
}

impl AttributeValue for bool {
    fn attribute() -> Attribute {
        typed(Type::Bool)
    }

    fn ty() -> Type {
        Type::Bool
    }

    fn decode(part: &Part<'_>) -> Result<bool, Diagnostic> {
        part.require_known()?.as_bool().ok_or_else(|| mismatch(part))
    }

    fn encode(&self) -> Value {
        Value::bool(*self)
    }
}

impl AttributeValue for Number {
    fn attribute() -> Attribute {
        typed(Type::Number)
    }

    fn ty() -> Type {
        Type::Number
    }

    fn decode(part: &Part<'_>) -> Result<Number, Diagnostic> {
        part.require_known()?.as_number().cloned().ok_or_else(|| mismatch(part))
    }

    fn encode(&self) -> Value {
        Value::number(self.clone())
    }
}

/// The nearest floating-point number. [`Number`] is exact.
impl AttributeValue for f64 {
    fn attribute() -> Attribute {
        typed(Type::Number)
    }

    fn ty() -> Type {
        Type::Number
    }

    fn decode(part: &Part<'_>) -> Result<f64, Diagnostic> {
        Ok(Number::decode(part)?.nearest_f64())
    }

    fn encode(&self) -> Value {
        // No number is infinite or not a number.
        Number::parse(&self.to_string()).map_or(Value::null(Type::Number), Value::number)
    }
}

/// Whole numbers are never rounded: one that does not fit is an error.
macro_rules! whole_numbers {
    ($($integer:ty),*) => {$(
        impl AttributeValue for $integer {
            fn attribute() -> Attribute {
                typed(Type::Number)
            }

            fn ty() -> Type {
                Type::Number
            }

            fn decode(part: &Part<'_>) -> Result<$integer, Diagnostic> {
                let number = Number::decode(part)?;
                let exact = number.is_integer().then(|| format!("{number}").parse().ok()).flatten();
                exact.ok_or_else(|| {
                    let range = format!("must be a whole number from {} to {}", <$integer>::MIN, <$integer>::MAX);
                    part.error("Invalid Attribute Value", &range)
                })
            }

            fn encode(&self) -> Value {
                Number::parse(&self.to_string()).map_or(Value::null(Type::Number), Value::number)
            }
        }
    )*};
}

whole_numbers!(i8, i16, i32, i64, u8, u16, u32, u64, isize, usize);

impl AttributeValue for Value {
    const HAS_NULL: bool = true;

    fn attribute() -> Attribute {
        typed(Type::Dynamic)
    }

    fn ty() -> Type {
        Type::Dynamic
    }

    fn decode(part: &Part<'_>) -> Result<Value, Diagnostic> {
        Ok(part.value.clone())
    }

    fn encode(&self) -> Value {
        self.clone()
    }
}

impl<T: AttributeValue> AttributeValue for Option<T> {
    const HAS_NULL: bool = true;
    const HAS_UNKNOWN: bool = T::HAS_UNKNOWN;

    fn attribute() -> Attribute {
        T::attribute()
    }

    fn ty() -> Type {
        T::ty()
    }

    fn decode(part: &Part<'_>) -> Result<Option<T>, Diagnostic> {
        let is_absent = !part.value.is_known() && part.unknowns == Unknowns::Absent;
        match is_absent || part.value.is_null() {
            true => Ok(None),
            false => T::decode(part).map(Some),
        }
    }

    fn encode(&self) -> Value {
        self.as_ref().map_or_else(|| Value::null(T::ty()), T::encode)
    }
}
