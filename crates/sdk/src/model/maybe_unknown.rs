//! Values that may be unknown.

use values::{Type, Value, ValueMap};

use super::{
    attribute_value::AttributeValue,
    described::Model,
    part::{Part, Unknowns},
};
use crate::{
    data::Object,
    diagnostics::Diagnostic,
    schema::{Attribute, Block, Schema},
};

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

/// An object that is unknown as a whole if any part of it is. As [`crate::Definition::Config`], it lets a provider plan
/// with a configuration that is known only after an apply.
impl<M: Model> Model for MaybeUnknown<M> {
    fn schema() -> Schema {
        M::schema()
    }

    fn ty() -> Type {
        M::ty()
    }

    fn describe(block: Block) -> Block {
        M::describe(block)
    }

    fn decode(object: &Object, unknowns: Unknowns) -> Result<MaybeUnknown<M>, Diagnostic> {
        match object.value().is_wholly_known() {
            true => M::decode(object, unknowns).map(MaybeUnknown::Known),
            false => Ok(MaybeUnknown::Unknown),
        }
    }

    fn encode_into(&self, parts: &mut ValueMap) {
        match (self, M::ty()) {
            (MaybeUnknown::Known(model), _) => model.encode_into(parts),
            (MaybeUnknown::Unknown, Type::Object(types)) => {
                let unknown =
                    types.iter().map(|(name, ty)| (name.clone(), Value::unknown(ty.clone())));
                parts.extend(unknown);
            }
            (MaybeUnknown::Unknown, _) => {}
        }
    }
}
