//! Decodes values.

use std::sync::Arc;

use super::{reader::Reader, refinements};
use crate::{
    CodecError, ObjectType, Path, Step, Str, Type, Value, ValueMap,
    codec::{MAX_DEPTH, one_type},
    json,
};

/// Decodes a value of type `ty`. Bytes after it are ignored.
///
/// # Errors
/// Returns an error if the bytes are not a value of that type.
pub fn decode(bytes: &[u8], ty: &Type) -> Result<Value, CodecError> {
    read(&mut Reader::new(bytes), ty, &mut Path::root(), 0)
}

fn read(
    reader: &mut Reader<'_>,
    ty: &Type,
    path: &mut Path,
    depth: usize,
) -> Result<Value, CodecError> {
    if depth > MAX_DEPTH {
        return Err(CodecError::new(path, "value is nested too deeply"));
    }
    if let Some((kind, body)) = reader.take_extension(path)? {
        return refinements::read(kind, body, ty, path);
    }
    if reader.take_nil() {
        return Ok(Value::null(ty.clone()));
    }
    match ty {
        Type::Dynamic => read_dynamic(reader, path, depth),
        Type::Bool => reader.bool(path).map(Value::bool),
        Type::Number => reader.number(path).map(Value::number),
        Type::String => reader.text(path).map(Value::string),
        Type::List(element) => {
            let items = read_items(reader, element, path, depth)?;
            Ok(Value::list(one_type(element, &items, path)?, items))
        }
        Type::Set(element) => {
            let items = read_items(reader, element, path, depth)?;
            Ok(Value::set(one_type(element, &items, path)?, items))
        }
        Type::Map(element) => read_map(reader, element, path, depth),
        Type::Tuple(types) => read_tuple(reader, types, path, depth),
        Type::Object(object) => read_object(reader, object, path, depth),
    }
}

fn read_at(
    reader: &mut Reader<'_>,
    ty: &Type,
    path: &mut Path,
    step: Step,
    depth: usize,
) -> Result<Value, CodecError> {
    path.push(step);
    let value = read(reader, ty, path, depth + 1)?;
    path.pop();
    Ok(value)
}

fn read_dynamic(
    reader: &mut Reader<'_>,
    path: &mut Path,
    depth: usize,
) -> Result<Value, CodecError> {
    if reader.array_header(path)? != 2 {
        return Err(CodecError::new(path, "a value of dynamic type is a pair of type and value"));
    }
    let ty = json::type_from_json(reader.bytes(path)?)
        .map_err(|error| CodecError::new(path, error.message))?;
    if ty.has_optional() {
        return Err(CodecError::new(path, "the type of a value has no optional attributes"));
    }
    read(reader, &ty, path, depth + 1)
}

fn read_items(
    reader: &mut Reader<'_>,
    element: &Type,
    path: &mut Path,
    depth: usize,
) -> Result<Vec<Value>, CodecError> {
    let length = reader.array_header(path)?;
    // Do not trust the claimed length: with nested claims, the allocations would multiply.
    let mut items = Vec::with_capacity(length.min(64));
    for i in 0..length {
        items.push(read_at(reader, element, path, Value::index_step(i), depth)?);
    }
    Ok(items)
}

fn read_tuple(
    reader: &mut Reader<'_>,
    types: &[Type],
    path: &mut Path,
    depth: usize,
) -> Result<Value, CodecError> {
    if reader.array_header(path)? != types.len() {
        return Err(CodecError::new(
            path,
            format!("a tuple of length {} is required", types.len()),
        ));
    }
    let mut items = Vec::with_capacity(types.len());
    for (i, ty) in types.iter().enumerate() {
        items.push(read_at(reader, ty, path, Value::index_step(i), depth)?);
    }
    Ok(Value::tuple(items))
}

fn read_map(
    reader: &mut Reader<'_>,
    element: &Type,
    path: &mut Path,
    depth: usize,
) -> Result<Value, CodecError> {
    let entries = (0..reader.map_header(path)?).map(|_| {
        let key = Str::from(reader.text(path)?);
        let step = Step::Index(Value::string(key.clone()));
        Ok((key, read_at(reader, element, path, step, depth)?))
    });
    let entries = entries.collect::<Result<ValueMap, CodecError>>()?;
    let items: Vec<Value> = entries.values().cloned().collect();
    Ok(Value::map(one_type(element, &items, path)?, entries))
}

fn read_object(
    reader: &mut Reader<'_>,
    object: &Arc<ObjectType>,
    path: &mut Path,
    depth: usize,
) -> Result<Value, CodecError> {
    let length = reader.map_header(path)?;
    if length != object.len() {
        return Err(CodecError::new(
            path,
            format!("an object with {} attributes is required", object.len()),
        ));
    }
    let attributes = (0..length).map(|_| {
        let name = reader.text(path)?;
        let Some((name, ty)) = object.entry(&name) else {
            return Err(CodecError::new(path, "unsupported attribute"));
        };
        Ok((name.clone(), read_at(reader, ty, path, Step::Attr(name.clone()), depth)?))
    });
    let attributes = attributes.collect::<Result<ValueMap, CodecError>>()?;
    if attributes.len() != object.len() {
        return Err(CodecError::new(path, "an attribute is given twice"));
    }
    Ok(Value::object_of(object, attributes))
}
