//! The `metadata functions` command.

use db::{Diagnostic, Summary};
use serde_json::{Map, Value as Json, json};
use values::{
    Type, Value,
    functions::{self, Function, Parameter},
};

use operations::session::Failure;

use crate::{args::MetadataFunctionsArgs, exit::Exit, session::CommandSession};

/// The version of OpenTofu's JSON format for function signatures.
const FORMAT: &str = "1.0";

/// Runs `metadata functions`: prints the signatures of all functions as JSON.
pub(crate) fn functions(
    session: &CommandSession,
    args: &MetadataFunctionsArgs,
) -> Result<Exit, Failure> {
    if !args.json {
        let detail = "The `mayfly metadata functions` command requires the `-json` flag.";
        return Err(Diagnostic::new(Summary::JSON_REQUIRED, detail).into());
    }
    let signatures: Map<String, Json> = functions::all()
        .filter(|it| it.is_for_configurations())
        .flat_map(|it| {
            [it.name.to_owned(), format!("core::{}", it.name)].map(|name| (name, signature(it)))
        })
        .collect();
    let document = json!({ "format_version": FORMAT, "function_signatures": signatures });
    session.ui.line(&document.to_string());
    Ok(Exit::Success)
}

fn signature(function: &Function) -> Json {
    let mut signature = Map::new();
    signature.insert("description".to_owned(), function.doc.into());
    signature.insert("return_type".to_owned(), type_json(&returns(function)));
    if !function.params.is_empty() {
        let parameters = function.params.iter().map(parameter).collect();
        signature.insert("parameters".to_owned(), parameters);
    }
    if let Some(variadic) = &function.variadic {
        signature.insert("variadic_parameter".to_owned(), parameter(variadic));
    }
    Json::Object(signature)
}

/// The type of the result if each argument is an unknown value of its parameter's type.
fn returns(function: &Function) -> Type {
    let parameters = function.params.iter().chain(&function.variadic);
    let args: Vec<Value> = parameters.map(|it| Value::unknown(it.shape.ty())).collect();
    function.return_type(&args).unwrap_or(Type::Dynamic)
}

fn parameter(parameter: &Parameter) -> Json {
    let mut described = Map::new();
    described.insert("name".to_owned(), parameter.name.into());
    if parameter.allows_null {
        described.insert("is_nullable".to_owned(), true.into());
    }
    described.insert("type".to_owned(), type_json(&parameter.shape.ty()));
    Json::Object(described)
}

fn type_json(ty: &Type) -> Json {
    serde_json::from_str(&values::json::type_to_json(ty)).unwrap_or_default()
}
