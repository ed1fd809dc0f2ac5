//! Tests of the SDK with small providers.

mod echo;
mod failures;
mod flattened;
mod functions;
mod identities;
mod items;
mod lifecycle;
mod options;
mod places;
mod plans;
mod round_trips;
mod secret_argument;
mod sets;
mod states;
mod thing;
mod validation;

use std::sync::Arc;

use provider::{ConfigureRequest, Private, Provider, Schema, ValidateRequest};
use values::{Kind, Value, json};

use self::thing::Things;
use super::{Diagnostic, Server};

/// Returns a configured server.
async fn configured() -> Server<Things> {
    let server = Server::new(Things);
    let config = Value::object_from([("prefix", Value::string("t"))]);
    let said = server.configure(ConfigureRequest { core_version: "1.13.0".into(), config }).await;
    assert_eq!(said_of(&said), "");
    server
}

async fn schema() -> Arc<Schema> {
    let schemas = Server::new(Things).schemas().await.expect("schemas are there");
    schemas.managed("test_thing").expect("the type is there")
}

/// Parses an object of a schema from JSON. `null` gives null, and `"?"` an unknown string.
fn value(schema: &Schema, text: &str) -> Value {
    let value = json::decode(text.as_bytes(), schema.implied_type()).expect("the test's JSON fits");
    value.transform(&mut |_, part| match part.as_str() {
        Some("?") => Value::unknown(part.ty()),
        _ => part.clone(),
    })
}

/// Formats a value briefly, without nulls and with `?` for unknown values.
fn shown(value: &Value) -> String {
    let list = |parts: Vec<String>, open, close| format!("{open}{}{close}", parts.join(", "));
    match value.kind() {
        Kind::Null => "null".to_owned(),
        Kind::Unknown(_) => "?".to_owned(),
        Kind::List(items) | Kind::Set(items) | Kind::Tuple(items) => {
            list(items.iter().map(shown).collect(), '[', ']')
        }
        Kind::Map(entries) | Kind::Object(entries) => {
            let filled = entries.iter().filter(|(_, it)| !it.is_null());
            list(filled.map(|(name, it)| format!("{name}={}", shown(it))).collect(), '{', '}')
        }
        _ => format!("{value:?}"),
    }
}

/// Formats diagnostics, one per line.
fn said_of(diagnostics: &[Diagnostic]) -> String {
    let line = |it: &Diagnostic| {
        let path = it.path.as_ref().map(|path| format!("{path}: ")).unwrap_or_default();
        let severity = if it.is_error() { "" } else { "warning: " };
        format!("{severity}{path}{}", it.summary)
    };
    diagnostics.iter().map(line).collect::<Vec<_>>().join("\n")
}

fn validate_request(config: Value) -> ValidateRequest {
    ValidateRequest { type_name: "test_thing".into(), config }
}

fn text_of(private: &Private) -> &str {
    std::str::from_utf8(private.as_bytes()).expect("the SDK writes text")
}
