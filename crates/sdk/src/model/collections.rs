//! Collections of values.

use std::{collections::BTreeMap, collections::BTreeSet, ops::Deref};

use values::{Kind, Str, Type, Value};

use super::{
    attribute_value::{AttributeValue, mismatch},
    part::Part,
};
use crate::{
    diagnostics::{Diagnostic, public_key},
    schema::{Attribute, ObjectNesting},
};

/// A set of values whose type has no order, in the order of the core. `BTreeSet` is for the others.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Set<T>(pub Vec<T>);

impl<T> Deref for Set<T> {
    type Target = Vec<T>;

    fn deref(&self) -> &Vec<T> {
        &self.0
    }
}

impl<T> FromIterator<T> for Set<T> {
    fn from_iter<I: IntoIterator<Item = T>>(elements: I) -> Set<T> {
        Set(elements.into_iter().collect())
    }
}

/// Converts one element.
type Decode<T> = fn(&Part<'_>) -> Result<T, Diagnostic>;

/// Reads the elements of a list, set or tuple.
pub(super) fn elements_with<T>(part: &Part<'_>, decode: Decode<T>) -> Result<Vec<T>, Diagnostic> {
    let value = part.require_known()?;
    if !matches!(value.kind(), Kind::List(_) | Kind::Set(_) | Kind::Tuple(_)) {
        return Err(mismatch(part));
    }
    let element = |(key, element): (Value, &Value)| {
        let path = part.path.clone().index(public_key(value, key));
        decode(&Part { value: element, path, unknowns: part.unknowns })
    };
    value.elements().map(element).collect()
}

/// Reads the entries of a map or object.
pub(super) fn entries_with<K, T>(
    part: &Part<'_>,
    decode: Decode<T>,
) -> Result<BTreeMap<K, T>, Diagnostic>
where
    K: for<'a> From<&'a str> + Ord,
{
    let value = part.require_known()?;
    let entry = |(key, element): (&Str, &Value)| {
        let path = part.path.clone().index(Value::string(key.clone()));
        Ok((K::from(key), decode(&Part { value: element, path, unknowns: part.unknowns })?))
    };
    value.as_map().ok_or_else(|| mismatch(part))?.iter().map(entry).collect()
}

impl<T: AttributeValue> AttributeValue for Vec<T> {
    fn attribute() -> Attribute {
        T::attribute().collected(ObjectNesting::List)
    }

    fn ty() -> Type {
        Type::list(T::ty())
    }

    fn decode(part: &Part<'_>) -> Result<Vec<T>, Diagnostic> {
        elements_with(part, T::decode)
    }

    fn encode(&self) -> Value {
        Value::list(T::ty(), self.iter().map(T::encode).collect())
    }
}

impl<T: AttributeValue> AttributeValue for Set<T> {
    fn attribute() -> Attribute {
        T::attribute().collected(ObjectNesting::Set)
    }

    fn ty() -> Type {
        Type::set(T::ty())
    }

    fn decode(part: &Part<'_>) -> Result<Set<T>, Diagnostic> {
        elements_with(part, T::decode).map(Set)
    }

    fn encode(&self) -> Value {
        Value::set(T::ty(), self.iter().map(T::encode).collect())
    }
}

impl<T: AttributeValue + Ord> AttributeValue for BTreeSet<T> {
    fn attribute() -> Attribute {
        T::attribute().collected(ObjectNesting::Set)
    }

    fn ty() -> Type {
        Type::set(T::ty())
    }

    fn decode(part: &Part<'_>) -> Result<BTreeSet<T>, Diagnostic> {
        Ok(elements_with(part, T::decode)?.into_iter().collect())
    }

    fn encode(&self) -> Value {
        Value::set(T::ty(), self.iter().map(T::encode).collect())
    }
}

impl<K: AsRef<str> + for<'a> From<&'a str> + Ord, T: AttributeValue> AttributeValue
    for BTreeMap<K, T>
{
    fn attribute() -> Attribute {
        T::attribute().collected(ObjectNesting::Map)
    }

    fn ty() -> Type {
        Type::map(T::ty())
    }

    fn decode(part: &Part<'_>) -> Result<BTreeMap<K, T>, Diagnostic> {
        entries_with(part, T::decode)
    }

    fn encode(&self) -> Value {
        let entry = |(key, element): (&K, &T)| (Str::on_heap(key.as_ref()), element.encode());
        Value::map(T::ty(), self.iter().map(entry).collect())
    }
}
