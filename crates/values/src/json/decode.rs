//! Decodes values.

use std::{borrow::Cow, sync::Arc};

use super::{
    parse::{Json, parse},
    types::type_of_json,
};
use crate::{
    CodecError, Number, ObjectType, Path, Step, Str, Type, Value, ValueMap, codec::one_type,
};

/// Decodes a value of type `ty`. Primitives are converted if their text allows it; missing attributes are null.
///
/// # Errors
/// Returns an error if the bytes are not JSON, or not a value of that type.
pub fn decode(bytes: &[u8], ty: &Type) -> Result<Value, CodecError> {
    read(&parse(bytes)?, ty, &mut Path::root())
}

/// Decodes JSON without a given type: arrays become tuples, and objects become objects.
///
/// # Errors
/// Returns an error if the bytes are not JSON.
pub fn decode_implied(bytes: &[u8]) -> Result<Value, CodecError> {
    free_value(&parse(bytes)?, &Path::root())
}

/// Returns the type of the value that [`decode_implied`] returns.
///
/// # Errors
/// Returns an error if the bytes are not JSON.
pub fn implied_type(bytes: &[u8]) -> Result<Type, CodecError> {
    Ok(decode_implied(bytes)?.ty())
}

fn free_value(json: &Json<'_>, path: &Path) -> Result<Value, CodecError> {
    match json {
        Json::Null => Ok(Value::null(Type::Dynamic)),
        Json::Bool(value) => Ok(Value::bool(*value)),
        Json::Number(text) => number(text, path),
        Json::String(text) => Ok(Value::string(text.as_ref())),
        Json::Array(items) => {
            let items: Result<Vec<Value>, CodecError> =
                items.iter().map(|item| free_value(item, path)).collect();
            Ok(Value::tuple(items?))
        }
        Json::Object(entries) => {
            let entries = entries
                .iter()
                .map(|(name, value)| Ok((Str::on_heap(name), free_value(value, path)?)));
            let entries: Result<ValueMap, CodecError> = entries.collect();
            Ok(Value::object(entries?))
        }
    }
}

fn number(text: &str, path: &Path) -> Result<Value, CodecError> {
    Number::parse(text)
        .map(Value::number)
        .ok_or_else(|| CodecError::new(path, "number is required"))
}

fn read(json: &Json<'_>, ty: &Type, path: &mut Path) -> Result<Value, CodecError> {
    match (json, ty) {
        (Json::Null, _) => Ok(Value::null(ty.clone())),
        (_, Type::Dynamic) => read_dynamic(json, path),
        (_, Type::Bool | Type::Number | Type::String) => read_primitive(json, ty, path),
        (Json::Array(items), Type::List(element)) => {
            let items = read_items(items, element, path)?;
            Ok(Value::list(one_type(element, &items, path)?, items))
        }
        (Json::Array(items), Type::Set(element)) => {
            let items = read_items(items, element, path)?;
            Ok(Value::set(one_type(element, &items, path)?, items))
        }
        (Json::Array(items), Type::Tuple(types)) => read_tuple(items, types, path),
        (Json::Object(entries), Type::Map(element)) => read_map(entries, element, path),
        (Json::Object(entries), Type::Object(object)) => read_object(entries, object, path),
        _ => Err(required(ty, path)),
    }
}

fn required(ty: &Type, path: &Path) -> CodecError {
    CodecError::new(path, format!("{} is required", ty.friendly_name()))
}

fn read_primitive(json: &Json<'_>, ty: &Type, path: &Path) -> Result<Value, CodecError> {
    match (json, ty) {
        (Json::Bool(value), Type::Bool) => Ok(Value::bool(*value)),
        (Json::String(text), Type::Bool) => match text.as_ref() {
            "true" | "1" => Ok(Value::bool(true)),
            "false" | "0" => Ok(Value::bool(false)),
            _ => Err(CodecError::new(path, "a bool is required")),
        },
        (Json::Number(text), Type::Number) => number(text, path),
        (Json::String(text), Type::Number) => Number::parse(text)
            .map(Value::number)
            .ok_or_else(|| CodecError::new(path, "a number is required")),
        (Json::String(text), Type::String) => Ok(Value::string(text.as_ref())),
        (Json::Number(text), Type::String) => Ok(Value::string(*text)),
        (Json::Bool(value), Type::String) => {
            Ok(Value::string(if *value { "true" } else { "false" }))
        }
        _ => Err(required(ty, path)),
    }
}

fn read_at(json: &Json<'_>, ty: &Type, path: &mut Path, step: Step) -> Result<Value, CodecError> {
    path.push(step);
    let value = read(json, ty, path)?;
    path.pop();
    Ok(value)
}

fn read_items(
    items: &[Json<'_>],
    element: &Type,
    path: &mut Path,
) -> Result<Vec<Value>, CodecError> {
    items
        .iter()
        .enumerate()
        .map(|(i, item)| read_at(item, element, path, Value::index_step(i)))
        .collect()
}

fn read_tuple(items: &[Json<'_>], types: &[Type], path: &mut Path) -> Result<Value, CodecError> {
    if items.len() != types.len() {
        return Err(CodecError::new(
            path,
            format!("a tuple of length {} is required", types.len()),
        ));
    }
    let items = items.iter().zip(types).enumerate();
    let items: Result<Vec<Value>, CodecError> =
        items.map(|(i, (item, ty))| read_at(item, ty, path, Value::index_step(i))).collect();
    Ok(Value::tuple(items?))
}

fn read_map(
    entries: &[(Cow<'_, str>, Json<'_>)],
    element: &Type,
    path: &mut Path,
) -> Result<Value, CodecError> {
    let elements = entries.iter().map(|(key, json)| {
        let step = Step::Index(Value::string(key.as_ref()));
        Ok((Str::on_heap(key), read_at(json, element, path, step)?))
    });
    let elements = elements.collect::<Result<ValueMap, CodecError>>()?;
    let items: Vec<Value> = elements.values().cloned().collect();
    Ok(Value::map(one_type(element, &items, path)?, elements))
}

fn read_object(
    entries: &[(Cow<'_, str>, Json<'_>)],
    object: &Arc<ObjectType>,
    path: &mut Path,
) -> Result<Value, CodecError> {
    // An attribute that is given replaces the null.
    let absent = object.iter().map(|(name, ty)| Ok((name.clone(), Value::null(ty.clone()))));
    let given = entries.iter().map(|(name, json)| {
        let Some((name, ty)) = object.entry(name) else {
            return Err(CodecError::new(path, "unsupported attribute"));
        };
        Ok((name.clone(), read_at(json, ty, path, Step::Attr(name.clone()))?))
    });
    let attributes = absent.chain(given).collect::<Result<ValueMap, CodecError>>()?;
    Ok(Value::object_of(object, attributes))
}

/// Decodes an object with exactly the two attributes "value" and "type", in either order.
fn read_dynamic(json: &Json<'_>, path: &mut Path) -> Result<Value, CodecError> {
    let wrong = |path: &Path| {
        CodecError::new(path, "a value of dynamic type is an object of \"value\" and \"type\"")
    };
    let Json::Object(entries) = json else {
        return Err(wrong(path));
    };
    let (mut value, mut ty) = (None, None);
    for (key, json) in entries {
        match key.as_ref() {
            "value" => value = Some(json),
            "type" => ty = Some(json),
            _ => return Err(wrong(path)),
        }
    }
    let (Some(value), Some(ty)) = (value, ty) else {
        return Err(wrong(path));
    };
    let ty = type_of_json(ty)?;
    if ty.has_optional() {
        return Err(CodecError::new(path, "the type of a value has no optional attributes"));
    }
    read(value, &ty, path)
}
