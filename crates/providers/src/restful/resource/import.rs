//! The import specification: a JSON object that says how to find and read an object. It is the ID of an import and
//! the identity of a resource.

use serde::Deserialize;
use serde_json::Value as Json;
use values::{Type, Value, json::JsonText};

use super::arguments::{ApiObject, ReadArguments};
use crate::restful::{
    document::{convert::from_json_implied, overlap::nullify, tree::Tree},
    schema::{Arguments, HeaderArgument, QueryArgument},
    session::{json_of, sentence, tree_of},
};
use mayfly_sdk::{
    AttributeValue as _, Diagnostic, Import, Model, Object, Unknowns,
    schema::{Block, Schema, string},
};

/// The identity of a resource: the import specification.
pub(super) fn identity_schema() -> Schema {
    let text = "The import specification as JSON: `id`, `path`, and perhaps `query`, `header`, \
                `body`, `read_selector` and `read_response_template`.";
    Schema::new(Block::new().attribute(ApiObject::ID.name(), string().required().description(text)))
}

/// The members that an import needs or uses. Others are ignored.
#[derive(Deserialize)]
struct Specification {
    id: Option<String>,
    path: Option<String>,
    query: Option<QueryArgument>,
    header: Option<HeaderArgument>,
    body: Option<Json>,
    read_selector: Option<String>,
    read_response_template: Option<String>,
}

/// The identity of an object: the members in the order of `magodo/restful`, without empty ones.
///
/// # Errors
/// Returns an error if the body cannot be written as JSON.
pub(super) fn identity(state: &ApiObject) -> Result<Value, Diagnostic> {
    let body = tree_of("body", &state.body)?;
    let Arguments { query, header } = &state.arguments;
    let parts = [("query", query.encode()), ("header", header.encode())];
    let mut out = JsonText::compact();
    out.open('{');
    out.member("id", state.id.as_deref().unwrap_or_default());
    out.member("path", &state.path);
    for (name, value) in parts {
        if let Some(json) = json_of(name, &value)?.filter(|it| it != "{}") {
            out.key(name);
            out.json(&json);
        }
    }
    if let Some(shape) = body.map(|it| nullify(&it)).filter(|it| *it != Tree::Null) {
        out.key("body");
        out.json(&shape.text());
    }
    let ReadArguments { read_selector, read_response_template, .. } = &state.read;
    out.optional("read_selector", read_selector.as_deref().unwrap_or_default());
    out.optional("read_response_template", read_response_template.as_deref().unwrap_or_default());
    out.close('}');
    Ok(Value::object_from([(ApiObject::ID, Value::string(out.into_text()))]))
}

/// The object of an import, filled in so far that a read finds the rest.
///
/// # Errors
/// Returns an error if the target is no import specification.
pub(super) fn imported(target: &Import) -> Result<ApiObject, Diagnostic> {
    let specification: Specification = serde_json::from_str(&target.id_or(ApiObject::ID)?)
        .map_err(|error| invalid("failed to unmarshal ID", error))?;
    let required = |name: &str, value: Option<String>| {
        let summary = format!("`{name}` not specified in the import spec");
        let value = value.filter(|it| !it.is_empty());
        value.map(Value::string).ok_or_else(|| invalid(&summary, EXAMPLE))
    };
    let body = match specification.body {
        Some(body) => from_json_implied(body.to_string().as_bytes())
            .map_err(|it| invalid("failed to unmarshal ID", it))?,
        None => Value::null(Type::Dynamic),
    };
    let known = Value::object_from([
        ("id", required("id", specification.id)?),
        ("path", required("path", specification.path)?),
        ("query", specification.query.encode()),
        ("header", specification.header.encode()),
        ("body", body),
        ("read_selector", specification.read_selector.encode()),
        ("read_response_template", specification.read_response_template.encode()),
    ]);
    Model::decode(&Object::new(known), Unknowns::Absent)
}

const EXAMPLE: &str = r#"An import needs a JSON text such as {"id": "posts/1", "path": "posts"}."#;

fn invalid(summary: &str, reason: impl std::fmt::Display) -> Diagnostic {
    let detail = match reason.to_string() {
        it if it == EXAMPLE => it,
        it => format!("{} {EXAMPLE}", sentence(&it)),
    };
    Diagnostic::error(summary, detail).at(ApiObject::ID.path())
}
