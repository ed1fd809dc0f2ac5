//! Functions for gzip data in Base64.

use std::io::{Read, Write};

use base64::{Engine, engine::general_purpose::STANDARD};
use flate2::{Compression, GzBuilder, read::GzDecoder};

use super::{
    base64_text,
    call::{Call, FunctionError},
    signature::{Function, Parameter, Returns, Shape},
};
use crate::Value;

const STR: &[Parameter] = &[Parameter::string("str")];

pub(super) const FUNCTIONS: &[Function] = &[
    Function::new(
        "base64gzip",
        STR,
        Returns::Fixed(Shape::String),
        base64gzip,
        "Compresses a string with gzip and encodes the result in Base64.",
    ),
    Function::new(
        "base64gunzip",
        STR,
        Returns::Fixed(Shape::String),
        base64gunzip,
        "Decodes Base64 and decompresses the result with gzip.",
    ),
];

fn base64gzip(call: &Call<'_>) -> Result<Value, FunctionError> {
    let failed = |_| FunctionError::new("failed to write gzip raw data");
    // Equals the header of Go's writer: no time, an unknown operating system.
    let mut writer =
        GzBuilder::new().operating_system(255).write(Vec::new(), Compression::default());
    writer.write_all(call.text(0).as_bytes()).map_err(failed)?;
    Ok(Value::string(STANDARD.encode(writer.finish().map_err(failed)?)))
}

fn base64gunzip(call: &Call<'_>) -> Result<Value, FunctionError> {
    let bytes = base64_text::decode(call.text(0)).map_err(|_| {
        let text = call.quoted(call.text(0));
        FunctionError::new(format!("failed to decode base64 data {text}"))
    })?;
    if !bytes.starts_with(&[0x1f, 0x8b]) {
        return Err(FunctionError::new("failed to gunzip bytestream: gzip: invalid header"));
    }
    let mut text = Vec::new();
    // Reads one byte more than fits at most, so that `reserve` reports a text that is too long.
    let most = call.room();
    let read = GzDecoder::new(&bytes[..]).take(most.saturating_add(1)).read_to_end(&mut text);
    call.reserve(text.len() as u64)?;
    if read.is_err() {
        return Err(FunctionError::new("failed to read gunzip raw data: it is damaged"));
    }
    let text = String::from_utf8(text).map_err(|_| {
        FunctionError::new("the result of decompressing the provided string is not valid UTF-8")
    })?;
    Ok(Value::string(text))
}
