//! The functions of the built-in provider, which convert variables files and expressions to values and back. They
//! are pure, so calls are evaluated immediately.

use std::collections::BTreeMap;

use db::Summary;
use hir::{
    Interrupt, Module, Program, native_text,
    provider_function::{self, ArgumentError, Prepared},
    variables_file,
};
use provider::{FunctionParameter, FunctionSignature};
use values::{Str, Type, Value};

use crate::function_calls::{FunctionAnswers, FunctionCall};

/// Returns the signatures of the functions.
pub(super) fn signatures() -> BTreeMap<Str, FunctionSignature> {
    let signature = |parameter: &str, ty, returns, summary: &str| FunctionSignature {
        parameters: vec![FunctionParameter {
            name: parameter.into(),
            ty,
            allow_null_value: false,
            allow_unknown_values: false,
            description: Str::default(),
            description_kind: Default::default(),
        }],
        variadic: None,
        returns,
        summary: summary.into(),
        description: Str::default(),
        description_kind: Default::default(),
        deprecation_message: Str::default(),
    };
    let decode = "The values that the text of a variables file gives.";
    let encode = "The text of a variables file that gives the attributes of an object.";
    let expression = "The text of an expression that means a value.";
    BTreeMap::from([
        ("decode_tfvars".into(), signature("src", Type::String, Type::Dynamic, decode)),
        ("encode_tfvars".into(), signature("value", Type::Dynamic, Type::String, encode)),
        ("encode_expr".into(), signature("value", Type::Dynamic, Type::String, expression)),
    ])
}

/// Returns the result of a call of a provider function. If the provider must be called, the result comes from
/// `answers`, which collects the call if it is missing.
pub(crate) fn answer(
    program: &Program,
    module: &Module,
    name: &str,
    arguments: &[Value],
    answers: Option<&FunctionAnswers>,
) -> Result<Value, Interrupt> {
    let unknown =
        |detail| Interrupt::Refused { summary: Summary::UNKNOWN_PROVIDER_FUNCTION, detail };
    let parts = provider_function::parse(name);
    let Some(parts) = parts else { return Err(unknown(provider_function::not_a_name())) };
    let no_provider = || unknown(provider_function::no_provider(name, parts.provider));
    let source = module.provider_sources.get(parts.provider).ok_or_else(no_provider)?;
    // The built-in provider has no configurations, hence no aliases.
    if *source == super::source() && parts.alias.is_some() {
        return Err(no_provider());
    }
    let schemas = program.schemas.get(source).ok_or_else(no_provider)?;
    let Some(signature) = schemas.functions.get(parts.function) else {
        let offered = schemas.functions.keys().map(|it| &**it);
        return Err(unknown(provider_function::not_offered(parts, offered).0));
    };
    let prepared = provider_function::prepare(name, signature, arguments)
        .map_err(|it| Interrupt::ArgumentError(Box::new(it)))?;
    match prepared {
        Prepared::Unknown(ty) => Ok(Value::unknown(ty)),
        Prepared::Call(arguments) if *source == super::source() => {
            let plain: Vec<Value> = arguments.iter().map(Value::without_all_marks).collect();
            call(parts.function, &plain).map_err(|message| {
                Interrupt::ArgumentError(Box::new(ArgumentError::returned(
                    name, signature, None, &message,
                )))
            })
        }
        Prepared::Call(arguments) => {
            let Some(answers) = answers else {
                return Ok(Value::unknown(signature.returns.clone()));
            };
            match FunctionCall::new(source.clone(), parts.function.into(), arguments) {
                Some(call) => answers.answer(call, name, signature),
                None => {
                    let why = "its arguments cannot be sent to the provider";
                    Err(Interrupt::ArgumentError(Box::new(ArgumentError::returned(
                        name, signature, None, why,
                    ))))
                }
            }
        }
    }
}

/// Calls a function of the built-in provider.
pub(super) fn call(function: &str, arguments: &[Value]) -> Result<Value, String> {
    let Some(argument) = arguments.first() else {
        return Err("an argument is missing".to_owned());
    };
    match function {
        "decode_tfvars" => decode(argument.as_str().unwrap_or_default()),
        "encode_tfvars" => native_text::variables_file(argument).map(Value::string),
        "encode_expr" => native_text::expression(argument).map(Value::string),
        _ => Err(format!("the built-in provider has no function {function}")),
    }
}

fn decode(text: &str) -> Result<Value, String> {
    const SHOWN: &str = "<decode_tfvars argument>.tfvars";
    let file = variables_file::read(SHOWN, text.as_bytes());
    if let Some(problem) = file.problems.first() {
        let at = problem.location.as_ref().map_or(0, |it| it.range.start as usize);
        let line = text.get(..at).unwrap_or_default().matches('\n').count() + 1;
        let detail = problem.detail.trim_end_matches('.');
        return Err(format!("line {line}: {}; {detail}", problem.summary));
    }
    let attributes = file.assignments.into_iter().map(|it| (it.name, it.value));
    Ok(Value::object(attributes.collect()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn encoded_tfvars_decode_to_the_same_value() {
        let text = "a   = 1\nbbb = [null, \"q\\\"$${z}\\n\", {\n  \"b c\" = true\n}]\nc = {}\n";
        let value = call("decode_tfvars", &[Value::string(text)]).expect("is right");
        let again = call("encode_tfvars", std::slice::from_ref(&value)).expect("can be written");
        let once_more = call("decode_tfvars", &[Value::string(again.as_str().expect("a text"))]);
        assert_eq!(once_more.expect("is right"), value);
    }
}
