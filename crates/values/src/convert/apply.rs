//! Converts a value after its type has been found convertible.

use super::{ConvertError, check, convert_at, unify};
use crate::{
    Kind, Mark, MarkKind, Marks, Number, ObjectType, Path, Refinements, Step, Type, Value, ValueMap,
};

pub(super) fn apply(
    value: &Value,
    from: &Type,
    to: &Type,
    path: &mut Path,
) -> Result<Value, ConvertError> {
    let (bare, marks) = value.unmark();
    let converted = match bare.kind() {
        Kind::Null => Value::null(check::result_type(from, to)),
        Kind::Unknown(known) => unknown(known, from, to),
        // Neither the order nor the number of elements is known.
        Kind::Set(items)
            if matches!(to, Type::List(_)) && items.len() > 1 && !bare.is_wholly_known() =>
        {
            unknown(&bare.range(), from, to)
        }
        Kind::List(items) | Kind::Set(items) | Kind::Tuple(items) => match to {
            Type::Tuple(types) => tuple(items, types, path)?,
            _ => sequence(items, from, to, path)?,
        },
        Kind::Map(entries) | Kind::Object(entries) => match to {
            Type::Object(object) => to_object(&bare, entries, object, path)?,
            _ => map(entries, from, to, path)?,
        },
        _ => primitive(&bare, to, path)?,
    };
    Ok(converted.with_marks(&marks))
}

fn primitive(value: &Value, to: &Type, path: &Path) -> Result<Value, ConvertError> {
    match (value.kind(), to) {
        (Kind::Number(number), Type::String) => Ok(Value::string(number.text())),
        (Kind::Bool(value), Type::String) => {
            Ok(Value::string(if value { "true" } else { "false" }))
        }
        (Kind::String(text), Type::Number) => Number::parse(text)
            .map(Value::number)
            .ok_or_else(|| ConvertError::new(path, "a number is required")),
        (Kind::String(text), Type::Bool) => {
            text_to_bool(text).map_err(|message| ConvertError::new(path, message))
        }
        _ => Ok(value.clone()),
    }
}

fn text_to_bool(text: &str) -> Result<Value, &'static str> {
    match text {
        "true" | "1" => Ok(Value::bool(true)),
        "false" | "0" => Ok(Value::bool(false)),
        _ if text.eq_ignore_ascii_case("true") => {
            Err("a bool is required; to convert from string, use lowercase \"true\"")
        }
        _ if text.eq_ignore_ascii_case("false") => {
            Err("a bool is required; to convert from string, use lowercase \"false\"")
        }
        _ => Err("a bool is required"),
    }
}

/// Converts an unknown value. Of its refinements, only non-nullness and the length stay known.
fn unknown(known: &Refinements, from: &Type, to: &Type) -> Value {
    let ty = check::result_type(from, to);
    let mut kept = if known.is_not_null() { Refinements::non_null() } else { Refinements::NONE };
    let (least, most) = match from {
        Type::Tuple(elements) => (elements.len() as u64, Some(elements.len() as u64)),
        Type::Object(object) => (object.len() as u64, Some(object.len() as u64)),
        _ => (known.min_length(), known.max_length()),
    };
    // Elements may become equal when they become elements of a set.
    let least = if matches!(to, Type::Set(_)) { least.min(1) } else { least };
    kept = kept.with_min_length(least);
    if let Some(most) = most {
        kept = kept.with_max_length(most);
    }
    Value::unknown_with(ty, kept)
}

fn sequence(
    items: &[Value],
    from: &Type,
    to: &Type,
    path: &mut Path,
) -> Result<Value, ConvertError> {
    let wanted = wanted_element(from, to);
    let mut converted = Vec::with_capacity(items.len());
    for (i, item) in items.iter().enumerate() {
        path.push(Value::index_step(i));
        converted.push(convert_at(item, &wanted, path)?);
        path.pop();
    }
    let Some(element) = common_type(&mut converted, &wanted, path)? else {
        return Ok(undecided(from, to, &converted));
    };
    let shape = shape_marks(from, to, &converted);
    let collection = match to {
        Type::Set(_) => Value::set(element, converted),
        _ => Value::list(element, converted),
    };
    Ok(collection.with_marks(&shape))
}

fn map(entries: &ValueMap, from: &Type, to: &Type, path: &mut Path) -> Result<Value, ConvertError> {
    let wanted = wanted_element(from, to);
    let mut converted = Vec::with_capacity(entries.len());
    for (key, value) in entries {
        path.push(Step::Index(Value::string(key.clone())));
        converted.push(convert_at(value, &wanted, path)?);
        path.pop();
    }
    let Some(element) = common_type(&mut converted, &wanted, path)? else {
        return Ok(undecided(from, to, &converted));
    };
    let shape = shape_marks(from, to, &converted);
    let entries = entries.keys().cloned().zip(converted).collect();
    Ok(Value::map(element, entries).with_marks(&shape))
}

/// Returns the marks of a new collection whose element type was inferred from ephemeral elements. That type
/// contains their attribute names and outlives the elements, for example in an empty slice or in a null, so the
/// collection is ephemeral too.
fn shape_marks(from: &Type, to: &Type, elements: &[Value]) -> Marks {
    let is_read_from_elements =
        matches!(from, Type::Tuple(_) | Type::Object(_)) && to.has_dynamic();
    if is_read_from_elements && elements.iter().any(has_ephemeral_shape) {
        return Marks::from(Mark::Ephemeral);
    }
    Marks::NONE
}

fn has_ephemeral_shape(value: &Value) -> bool {
    let mut found = false;
    value.walk(&mut |_, part| {
        // The type of an unknown part may not be known yet.
        let may_be_shaped =
            part.ty().is_shaped_by_values() || (!part.is_known() && part.ty().has_dynamic());
        found |= part.marks().has(MarkKind::Ephemeral) && may_be_shaped;
        !found
    });
    found
}

/// Returns the element type to convert to. If the wanted element type is open, this is the unified type of the
/// source's elements.
fn wanted_element(from: &Type, to: &Type) -> Type {
    let wanted = to.element().cloned().unwrap_or(Type::Dynamic);
    if wanted != Type::Dynamic {
        return wanted;
    }
    match from {
        Type::Tuple(elements) => unify(elements).unwrap_or(Type::Dynamic),
        Type::Object(object) => {
            let types: Vec<Type> = object.iter().map(|(_, ty)| ty.clone()).collect();
            unify(&types).unwrap_or(Type::Dynamic)
        }
        _ => from.element().cloned().unwrap_or(Type::Dynamic),
    }
}

/// Converts all elements to one type, which matters if the wanted type is open in some part. `None` if they have
/// no common type while the type of one element is unknown: that element might turn out to be a string, and all
/// would become strings.
fn common_type(
    values: &mut [Value],
    wanted: &Type,
    path: &mut Path,
) -> Result<Option<Type>, ConvertError> {
    if !wanted.has_dynamic() {
        return Ok(Some(wanted.without_optional()));
    }
    let types: Vec<Type> = values.iter().map(Value::ty).filter(|ty| *ty != Type::Dynamic).collect();
    if types.is_empty() {
        return Ok(Some(wanted.without_optional()));
    }
    let Some(unified) = unify(&types) else {
        let is_open = |value: &Value| !value.is_known() && value.ty() == Type::Dynamic;
        if values.iter().any(is_open) {
            return Ok(None);
        }
        return Err(ConvertError::new(path, "collection elements cannot be unified"));
    };
    for value in values {
        *value = convert_at(value, &unified, path)?;
    }
    Ok(Some(unified))
}

/// Returns an unknown collection, for elements of which one has an unknown type. It has the marks of all elements.
fn undecided(from: &Type, to: &Type, elements: &[Value]) -> Value {
    let marks = elements.iter().fold(Marks::NONE, |all, it| all.union(&it.deep_marks()));
    unknown(&Refinements::non_null(), from, to).with_marks(&marks)
}

fn tuple(items: &[Value], types: &[Type], path: &mut Path) -> Result<Value, ConvertError> {
    let mut converted = Vec::with_capacity(items.len());
    for (i, (item, ty)) in items.iter().zip(types).enumerate() {
        path.push(Value::index_step(i));
        converted.push(convert_at(item, ty, path)?);
        path.pop();
    }
    Ok(Value::tuple(converted))
}

fn to_object(
    value: &Value,
    entries: &ValueMap,
    object: &ObjectType,
    path: &mut Path,
) -> Result<Value, ConvertError> {
    let is_map = matches!(value.kind(), Kind::Map(_));
    let mut converted = ValueMap::with_capacity(object.len());
    for (name, ty) in object.iter() {
        let attribute = match entries.get(name) {
            Some(attribute) => {
                path.push(if is_map {
                    Step::Index(Value::string(name.clone()))
                } else {
                    Step::Attr(name.clone())
                });
                let attribute = convert_at(attribute, ty, path)?;
                path.pop();
                attribute
            }
            None if object.is_optional(name) => Value::null(ty.clone()),
            None => {
                return Err(ConvertError::new(
                    path,
                    format!("map has no element for required attribute {name:?}"),
                ));
            }
        };
        converted.insert(name.clone(), attribute);
    }
    Ok(Value::object(converted))
}
