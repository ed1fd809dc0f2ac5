//! Rust types for the values of attributes.

use std::marker::PhantomData;

use values::{Number, Path, Text, Type, Value};

use super::part::{Part, Unknowns};
use crate::{
    diagnostics::{Diagnostic, Diagnostics},
    schema::{Attribute, typed},
    validate::Validator,
};

/// A Rust type for the values of an attribute.
///
/// | type | attribute |
/// |---|---|
/// | `String`, [`Text`], [`super::Secret`] | `string`; a secret is sensitive |
/// | `bool` | `bool` |
/// | `i64` and the other integers, `f64`, [`Number`] | `number` |
/// | `Vec<T>`, `BTreeSet<T>`, [`super::Set<T>`], `BTreeMap<Str, T>` | `list`, `set`, `set`, `map` |
/// | a struct with [`super::Model`] | nested attributes |
/// | an enum with [`super::Choice`] | a `string` from a list |
/// | [`Value`] | any type |
/// | `Option<T>` | `T`, or null |
/// | [`super::MaybeUnknown<T>`] | `T`, or unknown |
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a type for the values of an attribute",
    note = "see the table at `mayfly_sdk::AttributeValue`; a struct needs `#[derive(Model)]` and no blocks, an enum \
            `#[derive(Choice)]`"
)]
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

impl AttributeValue for Text {
    fn attribute() -> Attribute {
        typed(Type::String)
    }

    fn ty() -> Type {
        Type::String
    }

    fn decode(part: &Part<'_>) -> Result<Text, Diagnostic> {
        part.require_known()?.as_str().map(Text::from).ok_or_else(|| mismatch(part))
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

/// A validator for the values that a type can hold.
struct Fits<T>(PhantomData<fn() -> T>);

impl<T: AttributeValue> Validator for Fits<T> {
    fn validate(&self, path: &Path, value: &Value, diagnostics: &mut Diagnostics) {
        let part = Part { value, path: path.clone(), unknowns: Unknowns::Absent };
        diagnostics.absorb(T::decode(&part).map(drop));
    }
}

/// Numbers are never rounded: one with more digits than a floating-point number keeps is an error. [`Number`] holds
/// all. A result that is infinite or not a number becomes null.
impl AttributeValue for f64 {
    fn attribute() -> Attribute {
        typed(Type::Number).validator(Fits::<f64>(PhantomData))
    }

    fn ty() -> Type {
        Type::Number
    }

    fn decode(part: &Part<'_>) -> Result<f64, Diagnostic> {
        let number = Number::decode(part)?;
        let nearest = number.nearest_f64();
        match Number::parse(&nearest.to_string()) {
            Some(same) if same == number => Ok(nearest),
            _ => Err(part.error(
                "Invalid Attribute Value",
                "must be a number of at most 15 digits that fits into 64 bits. Round it, for example with \
                 tonumber(format(\"%.6f\", x))",
            )),
        }
    }

    fn encode(&self) -> Value {
        Number::parse(&self.to_string()).map_or(Value::null(Type::Number), Value::number)
    }
}

/// Returns true if the text of a number is short. A configuration can have a number of a billion digits.
fn is_moderate(number: &Number) -> bool {
    number.nearest_f64().abs() < 1e20
}

/// Whole numbers are never rounded: one that does not fit is an error.
macro_rules! whole_numbers {
    ($($integer:ty),*) => {$(
        impl AttributeValue for $integer {
            fn attribute() -> Attribute {
                typed(Type::Number).validator(Fits::<$integer>(PhantomData))
            }

            fn ty() -> Type {
                Type::Number
            }

            fn decode(part: &Part<'_>) -> Result<$integer, Diagnostic> {
                let number = Number::decode(part)?;
                if !number.is_integer() {
                    return Err(part.error("Invalid Attribute Value", "must be a whole number"));
                }
                let fitting = is_moderate(&number).then(|| number.to_string().parse().ok());
                fitting.flatten().ok_or_else(|| {
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
