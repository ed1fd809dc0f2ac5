//! The import specification: a JSON object that says how to find and read an object. It is the ID of an import and
//! the identity of a resource.

use std::collections::BTreeMap;

use provider::ImportTarget;
use serde::Deserialize;
use serde_json::Value as Json;
use values::{Path, Type, Value, ValueMap, json::JsonText};

use crate::restful::{
    document::{convert::from_json_implied, overlap::nullify, tree::Tree},
    request::settings::{Headers, Query},
    session::{json_of, sentence, text, tree_of},
};
use mayfly_sdk::erased::{Existing, StepResult};
use mayfly_sdk::{
    Diagnostic, Object,
    schema::{Block, Schema, string},
};

/// The attribute of the identity.
const ID: &str = "id";

/// The identity of a resource: the import specification.
pub(super) fn identity_schema() -> Schema {
    let text = "The import specification as JSON: `id`, `path`, and perhaps `query`, `header`, \
                `body`, `read_selector` and `read_response_template`.";
    Schema::new(Block::new().attribute(ID, string().required().description(text)))
}

/// The members that an import needs or uses. Others are ignored.
#[derive(Deserialize)]
struct Specification {
    id: Option<String>,
    path: Option<String>,
    query: Option<Query>,
    header: Option<Headers>,
    body: Option<Json>,
    read_selector: Option<String>,
    read_response_template: Option<String>,
}

/// The identity of an object: the members in the order of `magodo/restful`, without empty ones.
///
/// # Errors
/// Returns an error if the body cannot be written as JSON.
pub(super) fn identity(state: &Object) -> Result<Value, Diagnostic> {
    let body = tree_of(state, "body")?;
    let parts = [("query", json_of(state, "query")?), ("header", json_of(state, "header")?)];
    let mut out = JsonText::compact();
    out.open('{');
    for name in ["id", "path"] {
        out.member(name, &text(state, name));
    }
    for (name, json) in parts.into_iter().filter_map(|(name, it)| Some((name, it?))) {
        if json != "{}" {
            out.key(name);
            out.json(&json);
        }
    }
    if let Some(shape) = body.map(|it| nullify(&it)).filter(|it| *it != Tree::Null) {
        out.key("body");
        out.json(&shape.text());
    }
    for name in ["read_selector", "read_response_template"] {
        out.optional(name, &text(state, name));
    }
    out.close('}');
    Ok(Value::object_from([(ID, Value::string(out.into_text()))]))
}

/// Fills in what a read needs.
///
/// # Errors
/// Returns an error if the target is no import specification.
pub(super) fn import(target: &ImportTarget, existing: &mut Existing) -> StepResult {
    let given = match target {
        ImportTarget::Id(id) => id.clone(),
        ImportTarget::Identity(identity) => {
            Object::new(identity.clone()).string(ID).unwrap_or_default()
        }
    };
    let specification: Specification =
        serde_json::from_str(&given).map_err(|error| invalid("failed to unmarshal ID", error))?;
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
        it => format!("{} {EXAMPLE}", sentence(&it)),
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
