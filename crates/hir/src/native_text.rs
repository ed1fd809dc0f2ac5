//! Writes values as text in the native syntax.

use std::fmt::Write as _;

use values::{Kind, Str, Value};

/// Writes `value` as a formatted expression. Collections become tuples and objects.
///
/// # Errors
/// If a part of the value is unknown, nested too deeply, or an infinite number.
pub fn expression(value: &Value) -> Result<String, String> {
    const NAME: &str = "x = ";
    let mut text = NAME.to_owned();
    write(value, 0, &mut text)?;
    text.push('\n');
    let text = laid_out(text);
    Ok(text[NAME.len()..].trim_end_matches('\n').to_owned())
}

/// Writes an object of values as a variables file.
///
/// # Errors
/// If `value` is not an object, if an attribute name is not an identifier, and in the cases of [`expression`].
pub fn variables_file(value: &Value) -> Result<String, String> {
    let Some(attributes) = value.as_map() else {
        return Err(
            "invalid value to encode: must be an object whose attribute names will become \
                    the encoded variable names"
                .to_owned(),
        );
    };
    let mut text = String::new();
    for (name, value) in attributes {
        if !addr::is_identifier(name) {
            return Err(format!("invalid variable name {name:?}: must be a valid identifier"));
        }
        let _ = write!(text, "{name} = ");
        write(value, 0, &mut text)?;
        text.push('\n');
    }
    Ok(laid_out(text))
}

fn laid_out(text: String) -> String {
    syntax::format(&text).unwrap_or(text)
}

/// The nesting limit. The parser could not read deeper text back.
const MAX_DEPTH: usize = syntax::MAX_DEPTH / 2;

fn write(value: &Value, depth: usize, text: &mut String) -> Result<(), String> {
    if depth > MAX_DEPTH {
        return Err("the value is nested too deeply".to_owned());
    }
    match value.kind() {
        Kind::Null => text.push_str("null"),
        Kind::Bool(it) => text.push_str(if it { "true" } else { "false" }),
        Kind::Number(it) if it.is_infinite() => {
            return Err("an infinite number cannot be written".to_owned());
        }
        Kind::Number(it) => {
            let _ = write!(text, "{it}");
        }
        Kind::String(it) => text.push_str(&addr::quote(it)),
        Kind::List(items) | Kind::Set(items) | Kind::Tuple(items) => {
            text.push('[');
            for (position, item) in items.iter().enumerate() {
                text.push_str(if position > 0 { ", " } else { "" });
                write(item, depth + 1, text)?;
            }
            text.push(']');
        }
        Kind::Map(attributes) | Kind::Object(attributes) => {
            let attributes = attributes.iter();
            write_object(attributes, depth, text)?;
        }
        Kind::Unknown(..) => return Err("the value is not known yet".to_owned()),
    }
    Ok(())
}

fn write_object<'v>(
    attributes: impl ExactSizeIterator<Item = (&'v Str, &'v Value)>,
    depth: usize,
    text: &mut String,
) -> Result<(), String> {
    if attributes.len() == 0 {
        text.push_str("{}");
        return Ok(());
    }
    text.push_str("{\n");
    for (name, value) in attributes {
        match addr::is_identifier(name) {
            true => text.push_str(name),
            false => text.push_str(&addr::quote(name)),
        }
        text.push_str(" = ");
        write(value, depth + 1, text)?;
        text.push('\n');
    }
    text.push('}');
    Ok(())
}
