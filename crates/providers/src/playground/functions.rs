//! The functions of the provider.

use provider::{DescriptionKind, FunctionFault, FunctionParameter, FunctionSignature};
use values::{Type, Value};

use super::names::parse_arn;
use mayfly_sdk::Function;

pub(super) fn all() -> Vec<Function> {
    vec![Function { name: "parse_arn", signature: signature(), call }]
}

fn signature() -> FunctionSignature {
    FunctionSignature {
        parameters: vec![FunctionParameter {
            name: "arn".into(),
            ty: Type::String,
            allow_null_value: false,
            allow_unknown_values: false,
            description: "An ARN of the playground.".into(),
            description_kind: DescriptionKind::Plain,
        }],
        variadic: None,
        returns: Type::object([("service", Type::String), ("resource", Type::String)]),
        summary: "Parts of an ARN".into(),
        description: "Takes an ARN of the playground apart.".into(),
        description_kind: DescriptionKind::Plain,
        deprecation_message: "".into(),
    }
}

fn call(arguments: &[Value]) -> Result<Value, FunctionFault> {
    let fault = || FunctionFault {
        argument: Some(0),
        message: "this is no ARN of the playground".to_owned(),
    };
    let text = arguments.first().and_then(Value::as_str).ok_or_else(fault)?;
    let (service, resource) = parse_arn(text).ok_or_else(fault)?;
    Ok(Value::object_from([
        ("service", Value::string(service)),
        ("resource", Value::string(resource)),
    ]))
}
