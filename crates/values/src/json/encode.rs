//! Encodes values.

use std::fmt::Write;

use crate::{
    CodecError, Kind, Number, Path, Step, Type, Value,
    codec::check_unmarked,
    json::{type_to_json, write_string},
};

/// Encodes `value` for the type `ty`. Where `ty` is open, the output is an object with the value and its type.
///
/// # Errors
/// Returns an error if the value carries a mark, has an unknown or infinite part, or does not conform to `ty`.
pub fn encode(value: &Value, ty: &Type) -> Result<String, CodecError> {
    check_unmarked(value)?;
    let mut out = String::new();
    write(value, ty, &mut out, &mut Path::root())?;
    Ok(out)
}

fn write(value: &Value, ty: &Type, out: &mut String, path: &mut Path) -> Result<(), CodecError> {
    if *ty == Type::Dynamic && value.ty() != Type::Dynamic {
        let ty = value.ty();
        out.push_str("{\"value\":");
        write(value, &ty, out, path)?;
        out.push_str(",\"type\":");
        out.push_str(&type_to_json(&ty));
        out.push('}');
        return Ok(());
    }
    match (value.kind(), ty) {
        (Kind::Unknown(_), _) => return Err(CodecError::new(path, "value is not known")),
        (Kind::Null, _) => out.push_str("null"),
        (Kind::Bool(value), Type::Bool) => out.push_str(if value { "true" } else { "false" }),
        (Kind::Number(number), Type::Number) => write_number(number, out, path)?,
        (Kind::String(text), Type::String) => write_string(text, out),
        (Kind::List(items), Type::List(element)) | (Kind::Set(items), Type::Set(element)) => {
            write_items(items.iter().map(|item| (item, element.as_ref())), out, path)?;
        }
        (Kind::Tuple(items), Type::Tuple(types)) if items.len() == types.len() => {
            write_items(items.iter().zip(types.iter()), out, path)?;
        }
        (Kind::Map(entries), Type::Map(element)) => {
            let entries = entries.iter().map(|(key, value)| {
                (key.as_ref(), value, element.as_ref(), Step::Index(Value::string(key.clone())))
            });
            write_entries(entries, out, path)?;
        }
        (Kind::Object(attributes), Type::Object(object))
            if attributes.keys().eq(object.iter().map(|(n, _)| n)) =>
        {
            let entries = attributes.iter().zip(object.iter()).map(|((name, value), (_, ty))| {
                (name.as_ref(), value, ty, Step::Attr(name.clone()))
            });
            write_entries(entries, out, path)?;
        }
        _ => return Err(CodecError::new(path, format!("{} is required", ty.friendly_name()))),
    }
    Ok(())
}

fn write_number(number: &Number, out: &mut String, path: &Path) -> Result<(), CodecError> {
    if number.is_infinite() {
        return Err(CodecError::new(path, "cannot serialize infinity as JSON"));
    }
    let _ = write!(out, "{number}");
    Ok(())
}

fn write_items<'a>(
    items: impl Iterator<Item = (&'a Value, &'a Type)>,
    out: &mut String,
    path: &mut Path,
) -> Result<(), CodecError> {
    out.push('[');
    for (i, (item, ty)) in items.enumerate() {
        if i > 0 {
            out.push(',');
        }
        path.push(Value::index_step(i));
        write(item, ty, out, path)?;
        path.pop();
    }
    out.push(']');
    Ok(())
}

fn write_entries<'a>(
    entries: impl Iterator<Item = (&'a str, &'a Value, &'a Type, Step)>,
    out: &mut String,
    path: &mut Path,
) -> Result<(), CodecError> {
    out.push('{');
    for (i, (key, value, ty, step)) in entries.enumerate() {
        if i > 0 {
            out.push(',');
        }
        write_string(key, out);
        out.push(':');
        path.push(step);
        write(value, ty, out, path)?;
        path.pop();
    }
    out.push('}');
    Ok(())
}
