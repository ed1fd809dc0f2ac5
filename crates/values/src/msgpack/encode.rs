//! Encodes values.

use super::refinements;
use crate::{CodecError, Kind, Number, Step, Type, Value, ValueMap, codec::check_unmarked, json};

/// Encodes `value` for the type `ty`.
///
/// # Errors
/// Returns an error if the value carries a mark, or does not conform to `ty`.
pub fn encode(value: &Value, ty: &Type) -> Result<Vec<u8>, CodecError> {
    check_unmarked(value)?;
    /// The size of most objects.
    const USUAL: usize = 512;
    let mut out = Vec::with_capacity(USUAL);
    write(value, ty, &mut out)?;
    Ok(out)
}

fn write(value: &Value, ty: &Type, out: &mut Vec<u8>) -> Result<(), CodecError> {
    if *ty == Type::Dynamic && value.ty() != Type::Dynamic {
        return write_dynamic(value, out);
    }
    match (value.kind(), ty) {
        (Kind::Unknown(known), _) => refinements::write(known, out),
        (Kind::Null, _) => out.push(0xc0),
        (Kind::Bool(value), Type::Bool) => out.push(if value { 0xc3 } else { 0xc2 }),
        (Kind::Number(number), Type::Number) => write_number(number, out),
        (Kind::String(text), Type::String) => write_text(text, out),
        (Kind::List(items), Type::List(element)) | (Kind::Set(items), Type::Set(element)) => {
            array_header(items.len(), out);
            for (i, item) in items.iter().enumerate() {
                write_at(item, element, out, || Value::index_step(i))?;
            }
        }
        (Kind::Tuple(items), Type::Tuple(types)) if items.len() == types.len() => {
            array_header(items.len(), out);
            for (i, (item, ty)) in items.iter().zip(types.iter()).enumerate() {
                write_at(item, ty, out, || Value::index_step(i))?;
            }
        }
        (Kind::Map(entries), Type::Map(element)) => write_map(entries, element, out)?,
        (Kind::Object(attributes), Type::Object(object)) if attributes.len() == object.len() => {
            map_header(attributes.len(), out);
            for (position, (name, ty)) in object.iter().enumerate() {
                let attribute = attributes.get_near(position, name);
                let attribute = attribute.ok_or_else(|| {
                    CodecError::at_root(format!("attribute {name:?} is required"))
                })?;
                write_text(name, out);
                write_at(attribute, ty, out, || Step::Attr(name.clone()))?;
            }
        }
        _ => return Err(CodecError::at_root(format!("{} is required", ty.friendly_name()))),
    }
    Ok(())
}

fn write_at(
    value: &Value,
    ty: &Type,
    out: &mut Vec<u8>,
    step: impl FnOnce() -> Step,
) -> Result<(), CodecError> {
    write(value, ty, out).map_err(|error| error.within(step()))
}

/// Encodes a value of open type as a pair: its type in JSON, and the value encoded for that type.
fn write_dynamic(value: &Value, out: &mut Vec<u8>) -> Result<(), CodecError> {
    let ty = value.ty();
    array_header(2, out);
    write_bytes(json::type_to_json(&ty).as_bytes(), out);
    write(value, &ty, out)
}

fn write_map(entries: &ValueMap, element: &Type, out: &mut Vec<u8>) -> Result<(), CodecError> {
    map_header(entries.len(), out);
    for (key, value) in entries {
        write_text(key, out);
        write_at(value, element, out, || Step::Index(Value::string(key.clone())))?;
    }
    Ok(())
}

/// Writes exact integers of 64 bits as integers, exact doubles with a fraction as doubles, and all other numbers
/// as text.
pub(super) fn write_number(number: &Number, out: &mut Vec<u8>) {
    if let Some(value) = number.to_i64() {
        infallible(rmp::encode::write_sint(out, value));
        return;
    }
    match number.to_f64() {
        Some(value) if !number.is_integer() => infallible(rmp::encode::write_f64(out, value)),
        _ => write_text(&number.to_string(), out),
    }
}

pub(super) fn write_text(text: &str, out: &mut Vec<u8>) {
    infallible(rmp::encode::write_str(out, text));
}

fn write_bytes(bytes: &[u8], out: &mut Vec<u8>) {
    infallible(rmp::encode::write_bin(out, bytes));
}

pub(super) fn array_header(length: usize, out: &mut Vec<u8>) {
    infallible(rmp::encode::write_array_len(out, wire_length(length)));
}

pub(super) fn map_header(length: usize, out: &mut Vec<u8>) {
    infallible(rmp::encode::write_map_len(out, wire_length(length)));
}

/// Converts a length to 32 bits. Memory cannot hold more elements than that.
pub(super) fn wire_length(length: usize) -> u32 {
    u32::try_from(length).unwrap_or(u32::MAX)
}

/// Discards a result: writing into a vector cannot fail, despite the signature of the writer.
pub(super) fn infallible<T, E>(written: Result<T, E>) {
    drop(written);
}
