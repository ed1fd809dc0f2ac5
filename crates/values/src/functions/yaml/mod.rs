//! `yamldecode` and `yamlencode`.

mod decode;
mod encode;
mod scalar;

use super::{
    call::{Call, FunctionError},
    signature::{Function, Needs, Parameter, Returns, Shape},
};
use crate::{Kind, Type, Value};

pub(super) const FUNCTIONS: &[Function] = &[
    Function::new(
        "yamlencode",
        &[Parameter::any("value").nullable()],
        Returns::Fixed(Shape::String),
        |call| Ok(Value::string(encode::encode(&call.args[0]))),
        "Writes a value as YAML.",
    )
    .needs(Needs::Unshared),
    Function::new(
        "yamldecode",
        &[Parameter::string("src")],
        Returns::From(yamldecode_type),
        yamldecode,
        "Reads YAML.",
    )
    .nullable(),
];

/// Returns the type that the YAML text describes; open until the text is known.
fn yamldecode_type(args: &[Value]) -> Result<Type, FunctionError> {
    match args[0].kind() {
        Kind::String(text) => decode::decode(text)
            .map(|it| it.ty())
            .map_err(|message| FunctionError::quoting(0, message)),
        _ => Ok(Type::Dynamic),
    }
}

fn yamldecode(call: &Call<'_>) -> Result<Value, FunctionError> {
    decode::decode(call.text(0)).map_err(|message| FunctionError::quoting(0, message))
}
