//! The functions of the built-in provider, which convert variables files and expressions to values and back. They
//! are pure, so calls are evaluated immediately.

use hir::{native_text, variables_file};
use provider::{FunctionParameter, FunctionSignature};
use sorted::SortedMap;
use values::{Str, Type, Value};

/// Returns the signatures of the functions.
pub(super) fn signatures() -> SortedMap<Str, FunctionSignature> {
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
    SortedMap::from([
        ("decode_tfvars".into(), signature("src", Type::String, Type::Dynamic, decode)),
        ("encode_tfvars".into(), signature("value", Type::Dynamic, Type::String, encode)),
        ("encode_expr".into(), signature("value", Type::Dynamic, Type::String, expression)),
    ])
}

/// Calls a function of the built-in provider.
pub(crate) fn call(function: &str, arguments: &[Value]) -> Result<Value, String> {
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
