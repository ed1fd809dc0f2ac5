//! The import specification: a JSON object that says how to find and read an object. It is the ID of an import and
//! the identity of a resource.

use std::collections::BTreeMap;

use provider::ImportTarget;
use serde::{Deserialize, Serialize};
use serde_json::Value as Json;
use values::{Path, Type, Value, ValueMap};

use crate::{
    restful::{
        document::{convert::from_json_implied, overlap::nullify, tree::Tree},
        request::settings::{Headers, Query},
        schema::{headers_of, query_of},
        session::{json_of, unusable},
    },
    sdk::{
        Diagnostic, Existing, Object, StepResult,
        schema::{Block, Schema, string},
    },
};

/// The attribute of the identity.
const ID: &str = "id";

/// The identity of a resource: the import specification.
pub(super) fn identity_schema() -> Schema {
    let text = "The import specification as JSON: `id`, `path`, and perhaps `query`, `header`, \
                `body`, `read_selector` and `read_response_template`.";
    Schema::new(Block::new().attribute(ID, string().required().description(text)))
}

/// The members in the order of the text of an identity.
#[derive(Serialize, Deserialize)]
struct Specification {
    id: Option<String>,
    path: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    query: Option<Query>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    header: Option<Headers>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    body: Option<Json>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    read_selector: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    read_response_template: Option<String>,
}

/// The identity of an object.
///
/// # Errors
/// Returns an error if the body cannot be written as JSON.
pub(super) fn identity(state: &Object) -> Result<Value, Diagnostic> {
    let text = |name| state.string(name).map(|it| it.to_string());
    let body = json_of(state, "body")?.map(|it| Tree::parse(it.as_bytes())).transpose();
    let body = body.map_err(|it| unusable("body", &it.to_string()))?;
    let shape = body.map(|it| nullify(&it)).filter(|it| *it != Tree::Null);
    let specification = Specification {
        id: text("id"),
        path: text("path"),
        query: Some(query_of(&state.attr("query"))).filter(|it| !it.is_empty()),
        header: Some(headers_of(&state.attr("header"))).filter(|it| !it.is_empty()),
        body: shape.and_then(|it| serde_json::from_str(&it.text()).ok()),
        read_selector: text("read_selector"),
        read_response_template: text("read_response_template"),
    };
    let json = serde_json::to_string(&specification);
    let json = json.map_err(|it| unusable("id", &it.to_string()))?;
    Ok(Value::object_from([(ID, Value::string(json))]))
}

/// Fills in what a read needs.
///
/// # Errors
/// Returns an error if the target is no import specification.
pub(super) fn import(target: &ImportTarget, existing: &mut Existing) -> StepResult {
    let text = match target {
        ImportTarget::Id(id) => id.clone(),
        ImportTarget::Identity(identity) => {
            Object::new(identity.clone()).string(ID).unwrap_or_default()
        }
    };
    let specification: Specification =
        serde_json::from_str(&text).map_err(|error| invalid("failed to unmarshal ID", error))?;
    let required = |name: &str, value: Option<String>| {
        let summary = format!("`{name}` not specified in the import spec");
        value.filter(|it| !it.is_empty()).ok_or_else(|| invalid(&summary, EXAMPLE))
    };
    let state = &mut existing.state;
    state.set("id", required("id", specification.id)?.as_str());
    state.set("path", required("path", specification.path)?.as_str());
    if let Some(query) = specification.query {
        state.set("query", query_value(query));
    }
    if let Some(headers) = specification.header {
        state.set("header", headers_value(headers));
    }
    if let Some(body) = specification.body {
        let body = from_json_implied(body.to_string().as_bytes());
        state.set("body", body.map_err(|it| invalid("failed to unmarshal ID", it))?);
    }
    state.set_or_null("read_selector", specification.read_selector.as_deref());
    let template = specification.read_response_template;
    state.set_or_null("read_response_template", template.as_deref());
    existing.identity = Some(identity(&existing.state)?);
    Ok(())
}

const EXAMPLE: &str = r#"An import needs a JSON text such as {"id": "posts/1", "path": "posts"}."#;

fn invalid(summary: &str, reason: impl std::fmt::Display) -> Diagnostic {
    let detail = match reason.to_string() {
        it if it == EXAMPLE => it,
        it => format!("{} {EXAMPLE}", crate::restful::session::sentence(&it)),
    };
    Diagnostic::error(summary, detail).at(Path::root().attr(ID))
}

fn query_value(query: Query) -> Value {
    let texts =
        |it: Vec<String>| Value::list(Type::String, it.into_iter().map(Value::string).collect());
    let entries = query.into_iter().map(|(name, it)| (name.into(), texts(it)));
    Value::map(Type::list(Type::String), entries.collect::<ValueMap>())
}

fn headers_value(headers: BTreeMap<String, String>) -> Value {
    let entries = headers.into_iter().map(|(name, it)| (name.into(), Value::string(it)));
    Value::map(Type::String, entries.collect::<ValueMap>())
}
