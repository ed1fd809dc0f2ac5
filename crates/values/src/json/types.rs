//! Types in JSON, as in schemas, state files and dynamic values.

use super::{
    parse::{Json, parse},
    text::write_string,
};
use crate::{CodecError, ObjectType, Type};

/// Encodes a type: `"string"`, `["list","string"]`, `["object",{"a":"string"},["a"]]`.
#[must_use]
pub fn type_to_json(ty: &Type) -> String {
    let mut out = String::new();
    write(ty, &mut out);
    out
}

fn write(ty: &Type, out: &mut String) {
    match ty {
        Type::Dynamic => out.push_str("\"dynamic\""),
        Type::Bool => out.push_str("\"bool\""),
        Type::Number => out.push_str("\"number\""),
        Type::String => out.push_str("\"string\""),
        Type::List(element) => write_pair("list", element, out),
        Type::Set(element) => write_pair("set", element, out),
        Type::Map(element) => write_pair("map", element, out),
        Type::Tuple(elements) => {
            out.push_str("[\"tuple\",[");
            for (i, element) in elements.iter().enumerate() {
                out.push_str(if i == 0 { "" } else { "," });
                write(element, out);
            }
            out.push_str("]]");
        }
        Type::Object(object) => write_object(object, out),
    }
}

fn write_pair(kind: &str, element: &Type, out: &mut String) {
    out.push_str("[\"");
    out.push_str(kind);
    out.push_str("\",");
    write(element, out);
    out.push(']');
}

fn write_object(object: &ObjectType, out: &mut String) {
    out.push_str("[\"object\",{");
    for (i, (name, ty)) in object.iter().enumerate() {
        out.push_str(if i == 0 { "" } else { "," });
        write_string(name, out);
        out.push(':');
        write(ty, out);
    }
    out.push('}');
    if object.optional().len() > 0 {
        out.push_str(",[");
        for (i, name) in object.optional().enumerate() {
            out.push_str(if i == 0 { "" } else { "," });
            write_string(name, out);
        }
        out.push(']');
    }
    out.push(']');
}

/// Decodes a type.
///
/// # Errors
/// Returns an error if the bytes are not JSON, or do not name a type.
pub fn type_from_json(bytes: &[u8]) -> Result<Type, CodecError> {
    type_of_json(&parse(bytes)?)
}

pub(super) fn type_of_json(json: &Json<'_>) -> Result<Type, CodecError> {
    let wrong = || CodecError::at_root("invalid type");
    match json {
        Json::String(name) => match name.as_ref() {
            "dynamic" => Ok(Type::Dynamic),
            "bool" => Ok(Type::Bool),
            "number" => Ok(Type::Number),
            "string" => Ok(Type::String),
            _ => Err(wrong()),
        },
        Json::Array(parts) => match parts.as_slice() {
            [Json::String(kind), inner] => compound(kind, inner),
            [Json::String(kind), Json::Object(entries), Json::Array(optional)]
                if kind == "object" =>
            {
                let names: Option<Vec<&str>> = optional.iter().map(as_name).collect();
                let names = names.ok_or_else(wrong)?;
                let object = object_type(entries)?;
                if names.iter().any(|name| object.get(name).is_none()) {
                    return Err(wrong());
                }
                Ok(Type::Object(object.with_optional(names).into()))
            }
            _ => Err(wrong()),
        },
        _ => Err(wrong()),
    }
}

fn as_name<'a>(json: &'a Json<'_>) -> Option<&'a str> {
    match json {
        Json::String(name) => Some(name),
        _ => None,
    }
}

fn compound(kind: &str, inner: &Json<'_>) -> Result<Type, CodecError> {
    match (kind, inner) {
        ("list", element) => type_of_json(element).map(Type::list),
        ("set", element) => type_of_json(element).map(Type::set),
        ("map", element) => type_of_json(element).map(Type::map),
        ("tuple", Json::Array(elements)) => {
            let elements: Result<Vec<Type>, CodecError> =
                elements.iter().map(type_of_json).collect();
            elements.map(Type::tuple)
        }
        ("object", Json::Object(entries)) => Ok(Type::Object(object_type(entries)?.into())),
        _ => Err(CodecError::at_root("invalid type")),
    }
}

fn object_type(
    entries: &[(std::borrow::Cow<'_, str>, Json<'_>)],
) -> Result<ObjectType, CodecError> {
    let attributes: Result<Vec<_>, CodecError> =
        entries.iter().map(|(name, json)| Ok((name.as_ref(), type_of_json(json)?))).collect();
    Ok(ObjectType::new(attributes?))
}
