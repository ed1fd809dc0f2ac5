//! Access to parts of values: indices and attributes.

use crate::{
    Kind, MarkKind, Marks, Type, Value, convert,
    rules::{self, RuleId},
};

use super::{OpError, OpErrorKind};

const NO_ELEMENT: &str = "The given key does not identify an element in this collection value";

/// Evaluates `collection[key]`.
///
/// # Errors
/// Returns an error if the value has no such element, or cannot have elements at all.
pub fn index(collection: &Value, key: &Value) -> Result<Value, OpError> {
    if collection.is_null() {
        return Err(OpError::new(
            OpErrorKind::IndexOfNull,
            "This value is null, so it does not have any indices.",
        ));
    }
    let ty = collection.ty();
    let marks = index_marks(&ty, collection, key);
    let element = match &ty {
        Type::Dynamic => Value::dynamic(),
        Type::List(_) | Type::Tuple(_) => {
            index_sequence(collection, &ty, &converted_key(key, &Type::Number)?)?
        }
        Type::Map(element) => index_map(collection, element, &converted_key(key, &Type::String)?)?,
        Type::Object(_) => index_object(collection, &ty, &converted_key(key, &Type::String)?, key)?,
        Type::Set(_) => {
            return Err(invalid(
                "Elements of a set are identified only by their value and have no index or key to select with, so a \
                 set can only be used as a whole.",
            ));
        }
        _ => return Err(invalid("This value does not have any indices.")),
    };
    Ok(element.with_marks(&marks))
}

fn index_marks(ty: &Type, collection: &Value, key: &Value) -> Marks {
    match ty {
        Type::Object(_) => rules::result_marks(RuleId::IndexObject, [collection])
            .union(&rules::result_marks(RuleId::IndexObjectKey, [key])),
        _ => rules::result_marks(RuleId::IndexCollection, [collection, key]),
    }
}

fn invalid(detail: impl Into<String>) -> OpError {
    OpError::new(OpErrorKind::Index, detail).at(1)
}

fn converted_key(key: &Value, ty: &Type) -> Result<Value, OpError> {
    if key.is_null() {
        return Err(invalid("Can't use a null value as an indexing key."));
    }
    convert::convert(key, ty).map_err(|error| invalid(format!("{NO_ELEMENT}: {}.", error.message)))
}

fn index_sequence(sequence: &Value, ty: &Type, number: &Value) -> Result<Value, OpError> {
    let Some(number) = number.as_number() else {
        return Ok(unknown_element(ty));
    };
    if !number.is_integer() {
        return Err(invalid(format!("{NO_ELEMENT}: indexing a sequence requires a whole number.")));
    }
    if number.signum() < 0 {
        return Err(invalid(format!(
            "{NO_ELEMENT}: a negative number is not a valid index for a sequence."
        )));
    }
    let position = number.to_usize();
    match (sequence.as_slice(), ty) {
        (Some([]), _) => Err(invalid(format!("{NO_ELEMENT}: the collection has no elements."))),
        (Some(items), _) => {
            let element = position.and_then(|position| items.get(position)).cloned();
            element.ok_or_else(out_of_range)
        }
        (None, Type::Tuple(types)) => match position.and_then(|position| types.get(position)) {
            Some(ty) => Ok(Value::unknown(ty.clone())),
            None => Err(out_of_range()),
        },
        (None, _) => {
            let most = sequence.range().max_length();
            let beyond =
                most.is_some_and(|most| position.is_none_or(|position| position as u64 >= most));
            if beyond { Err(out_of_range()) } else { Ok(unknown_element(ty)) }
        }
    }
}

fn out_of_range() -> OpError {
    invalid(format!(
        "{NO_ELEMENT}: the given index is greater than or equal to the length of the collection."
    ))
}

/// Returns an unknown value that covers every element of the sequence.
fn unknown_element(ty: &Type) -> Value {
    match ty {
        Type::List(element) => Value::unknown(Type::clone(element)),
        Type::Tuple(types) => match types.first() {
            Some(first) if types.iter().all(|ty| ty == first) => Value::unknown(first.clone()),
            _ => Value::dynamic(),
        },
        _ => Value::dynamic(),
    }
}

fn index_map(map: &Value, element: &Type, key: &Value) -> Result<Value, OpError> {
    match (map.kind(), key.as_str()) {
        (Kind::Map(entries), Some(key)) => {
            entries.get(key).cloned().ok_or_else(|| invalid(format!("{NO_ELEMENT}.")))
        }
        _ => Ok(Value::unknown(element.clone())),
    }
}

fn index_object(object: &Value, ty: &Type, name: &Value, key: &Value) -> Result<Value, OpError> {
    let Some(name) = name.as_str() else {
        return Ok(Value::dynamic());
    };
    if let Some(attribute) = known_or_unknown_attribute(object, ty, name) {
        return Ok(attribute);
    }
    if !object.is_known() {
        // The type has no such attribute. OpenTofu reports that only when the object is known.
        return Ok(Value::dynamic());
    }
    let hint = match key.ty() {
        Type::Number => {
            " An object only supports looking up attributes by name, not by numeric index."
        }
        _ => "",
    };
    Err(invalid(format!("{NO_ELEMENT}.{hint}")))
}

fn known_or_unknown_attribute(object: &Value, ty: &Type, name: &str) -> Option<Value> {
    match object.kind() {
        Kind::Object(attributes) => attributes.get(name).cloned(),
        _ => ty.as_object()?.get(name).cloned().map(Value::unknown),
    }
}

/// Evaluates `value.name`.
///
/// # Errors
/// Returns an error if the value has no such attribute, or cannot have attributes at all.
pub fn attribute(value: &Value, name: &str) -> Result<Value, OpError> {
    if value.is_null() {
        return Err(OpError::new(
            OpErrorKind::AttributeOfNull,
            "This value is null, so it does not have any attributes.",
        ));
    }
    let ty = value.ty();
    let marks = rules::result_marks(RuleId::Attribute, [value]);
    let attribute = match &ty {
        Type::Dynamic => Value::dynamic(),
        Type::Object(_) => known_or_unknown_attribute(value, &ty, name).ok_or_else(|| {
            unsupported(format!("This object does not have an attribute named {name:?}."))
        })?,
        Type::Map(element) => match value.kind() {
            Kind::Map(entries) => {
                entries.get(name).cloned().ok_or_else(|| missing_element(value, name))?
            }
            _ => Value::unknown(Type::clone(element)),
        },
        _ => return Err(unsupported(no_attributes(&ty))),
    };
    Ok(attribute.with_marks(&marks))
}

fn unsupported(detail: String) -> OpError {
    OpError::new(OpErrorKind::NoAttribute, detail)
}

fn missing_element(map: &Value, name: &str) -> OpError {
    // The name is written in the configuration, so it is not secret even if the map is.
    let of = if map.marks().has(MarkKind::Sensitive) { "This sensitive map" } else { "This map" };
    OpError::new(
        OpErrorKind::NoElement,
        format!("{of} does not have an element with the key {name:?}."),
    )
}

fn no_attributes(ty: &Type) -> String {
    let of_objects = matches!(ty.element(), Some(Type::Object(_)));
    match ty {
        Type::List(_) if of_objects => {
            "Can't access attributes on a list of objects. Name one element, as in `[0]`, or \
             all of them, as in `[*]`."
                .to_owned()
        }
        Type::Set(_) if of_objects => {
            "Can't access attributes on a set of objects. Name all of its elements, as in \
             `[*]`."
                .to_owned()
        }
        ty if ty.is_primitive() => {
            format!("Can't access attributes on a primitive-typed value ({}).", ty.friendly_name())
        }
        _ => "This value does not have any attributes.".to_owned(),
    }
}
