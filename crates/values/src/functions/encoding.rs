//! Functions that encode and decode values and texts.

use base64::{Engine, engine::general_purpose::STANDARD};

use super::{
    base64_text,
    call::{Call, FunctionError},
    signature::{Function, Needs, Parameter, Returns, Shape},
};
use crate::{Kind, Refinements, Type, Value, budget::NODE, json};

const STR: &[Parameter] = &[Parameter::string("str")];

pub(super) const FUNCTIONS: &[Function] = &[
    Function::new(
        "jsonencode",
        &[Parameter::any("val").nullable().lazy()],
        Returns::Fixed(Shape::String),
        jsonencode,
        "Writes a value as JSON.",
    )
    .needs(Needs::Unshared),
    Function::new(
        "jsondecode",
        &[Parameter::string("str")],
        Returns::From(jsondecode_type),
        jsondecode,
        "Reads JSON.",
    )
    .nullable()
    .needs(Needs::Bytes(values_in_json)),
    Function::new(
        "base64encode",
        STR,
        Returns::Fixed(Shape::String),
        base64encode,
        "Encodes a string in Base64.",
    ),
    Function::new(
        "base64decode",
        STR,
        Returns::Fixed(Shape::String),
        base64decode,
        "Decodes Base64 of a text.",
    ),
    Function::new(
        "urlencode",
        STR,
        Returns::Fixed(Shape::String),
        urlencode,
        "Escapes a string for a URL's query.",
    ),
    Function::new(
        "urldecode",
        STR,
        Returns::Fixed(Shape::String),
        urldecode,
        "Decodes a string that is escaped for a URL's query.",
    ),
];

fn jsonencode(call: &Call<'_>) -> Result<Value, FunctionError> {
    let value = &call.args[0];
    if !value.is_wholly_known() {
        return Ok(call
            .unknown()
            .refined(&Refinements::non_null().with_prefix(json_prefix(value))));
    }
    let text = json::encode(value, &value.ty())
        .map_err(|error| FunctionError::at(0, error.to_string()))?;
    Ok(Value::string(text))
}

/// Returns the first character of a value's JSON form if it is certain; empty if the value may be null.
fn json_prefix(value: &Value) -> &'static str {
    if !value.is_definitely_not_null() {
        return "";
    }
    match value.ty() {
        Type::String => "\"",
        Type::List(_) | Type::Set(_) | Type::Tuple(_) => "[",
        Type::Map(_) | Type::Object(_) => "{",
        Type::Dynamic | Type::Bool | Type::Number => "",
    }
}

/// Returns the type that the JSON text describes; open until the text is known.
fn jsondecode_type(args: &[Value]) -> Result<Type, FunctionError> {
    match args[0].kind() {
        Kind::String(text) => json::implied_type(text.as_bytes())
            .map_err(|error| FunctionError::new(error.to_string())),
        _ => Ok(Type::Dynamic),
    }
}

/// Returns an upper bound for the bytes that the values in a JSON text take. Every value but the first follows one
/// of three characters.
fn values_in_json(args: &[Value]) -> u64 {
    let text = args.first().and_then(Value::as_str).unwrap_or("");
    let values = text.bytes().filter(|byte| matches!(byte, b',' | b'[' | b'{')).count();
    (values as u64 + 1) * NODE + text.len() as u64
}

fn jsondecode(call: &Call<'_>) -> Result<Value, FunctionError> {
    json::decode_implied(call.text(0).as_bytes())
        .map_err(|error| FunctionError::new(error.to_string()))
}

fn base64encode(call: &Call<'_>) -> Result<Value, FunctionError> {
    call.reserve(call.text(0).len() as u64 / 3 * 4)?;
    Ok(Value::string(STANDARD.encode(call.text(0))))
}

fn base64decode(call: &Call<'_>) -> Result<Value, FunctionError> {
    let bytes = base64_text::decode(call.text(0)).map_err(|_| {
        FunctionError::new(format!("failed to decode base64 data {}", call.quoted(call.text(0))))
    })?;
    let text = String::from_utf8(bytes).map_err(|_| {
        FunctionError::new("the result of decoding the provided string is not valid UTF-8")
    })?;
    Ok(Value::string(text))
}

fn urlencode(call: &Call<'_>) -> Result<Value, FunctionError> {
    call.reserve(call.text(0).len() as u64)?;
    let mut out = String::new();
    for byte in call.text(0).bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'_' | b'.' | b'~' => {
                out.push(char::from(byte))
            }
            b' ' => out.push('+'),
            byte => out.push_str(&format!("%{byte:02X}")),
        }
    }
    Ok(Value::string(out))
}

fn urldecode(call: &Call<'_>) -> Result<Value, FunctionError> {
    let text = call.text(0).as_bytes();
    let mut bytes = Vec::with_capacity(text.len());
    let mut at = 0;
    while let Some(byte) = text.get(at) {
        match byte {
            b'+' => bytes.push(b' '),
            b'%' => {
                bytes.push(escaped(text, at).ok_or_else(|| wrong_escape(call, &text[at..]))?);
                at += 2;
            }
            byte => bytes.push(*byte),
        }
        at += 1;
    }
    let text = String::from_utf8(bytes).map_err(|_| {
        FunctionError::new("the result of decoding the provided string is not valid UTF-8")
    })?;
    Ok(Value::string(text))
}

fn escaped(text: &[u8], at: usize) -> Option<u8> {
    let digit = |at: usize| text.get(at).and_then(|digit| char::from(*digit).to_digit(16));
    u8::try_from(digit(at + 1)? * 16 + digit(at + 2)?).ok()
}

fn wrong_escape(call: &Call<'_>, rest: &[u8]) -> FunctionError {
    let escape = String::from_utf8_lossy(&rest[..rest.len().min(3)]);
    let escape = call.quoted(&escape);
    FunctionError::new(format!("failed to decode URL: invalid URL escape {escape}"))
}
