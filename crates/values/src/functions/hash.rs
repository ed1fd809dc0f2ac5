//! Functions that hash texts and files.

use base64::{Engine, engine::general_purpose::STANDARD};
use md5::Md5;
use sha1::Sha1;
use sha2::{Digest, Sha256, Sha512};

use super::{
    call::{Call, FunctionError},
    signature::{Function, Parameter, Returns, Shape},
};
use crate::Value;

const STR: &[Parameter] = &[Parameter::string("str")];
const PATH: &[Parameter] = &[Parameter::string("path")];

const fn hash(
    name: &'static str,
    params: &'static [Parameter],
    body: fn(&Call<'_>) -> Result<Value, FunctionError>,
    doc: &'static str,
) -> Function {
    Function::new(name, params, Returns::Fixed(Shape::String), body, doc)
}

pub(super) const FUNCTIONS: &[Function] = &[
    hash(
        "md5",
        STR,
        |call| text(call, hex::<Md5>),
        "Returns the MD5 hash of a string in hexadecimal.",
    ),
    hash(
        "sha1",
        STR,
        |call| text(call, hex::<Sha1>),
        "Returns the SHA-1 hash of a string in hexadecimal.",
    ),
    hash(
        "sha256",
        STR,
        |call| text(call, hex::<Sha256>),
        "Returns the SHA-256 hash of a string in hexadecimal.",
    ),
    hash(
        "sha512",
        STR,
        |call| text(call, hex::<Sha512>),
        "Returns the SHA-512 hash of a string in hexadecimal.",
    ),
    hash(
        "base64sha256",
        STR,
        |call| text(call, base64::<Sha256>),
        "Returns the SHA-256 hash of a string in Base64.",
    ),
    hash(
        "base64sha512",
        STR,
        |call| text(call, base64::<Sha512>),
        "Returns the SHA-512 hash of a string in Base64.",
    ),
    hash(
        "filemd5",
        PATH,
        |call| file(call, hex::<Md5>),
        "Returns the MD5 hash of a file in hexadecimal.",
    ),
    hash(
        "filesha1",
        PATH,
        |call| file(call, hex::<Sha1>),
        "Returns the SHA-1 hash of a file in hexadecimal.",
    ),
    hash(
        "filesha256",
        PATH,
        |call| file(call, hex::<Sha256>),
        "Returns the SHA-256 hash of a file in hexadecimal.",
    ),
    hash(
        "filesha512",
        PATH,
        |call| file(call, hex::<Sha512>),
        "Returns the SHA-512 hash of a file in hexadecimal.",
    ),
    hash(
        "filebase64sha256",
        PATH,
        |call| file(call, base64::<Sha256>),
        "Returns the SHA-256 hash of a file in Base64.",
    ),
    hash(
        "filebase64sha512",
        PATH,
        |call| file(call, base64::<Sha512>),
        "Returns the SHA-512 hash of a file in Base64.",
    ),
];

fn text(call: &Call<'_>, encode: fn(&[u8]) -> String) -> Result<Value, FunctionError> {
    Ok(Value::string(encode(call.text(0).as_bytes())))
}

fn file(call: &Call<'_>, encode: fn(&[u8]) -> String) -> Result<Value, FunctionError> {
    let bytes = super::file::bytes(call, 0)?;
    Ok(Value::string(encode(&bytes)))
}

fn hex<D: Digest>(bytes: &[u8]) -> String {
    base16ct::lower::encode_string(&D::digest(bytes))
}

fn base64<D: Digest>(bytes: &[u8]) -> String {
    STANDARD.encode(D::digest(bytes))
}
