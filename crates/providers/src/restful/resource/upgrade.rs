//! The upgrade of states that older versions wrote.
//!
//! In version 0, documents were JSON texts; up to version 1, resources had the settings of retries, which belong to
//! the provider now.

use serde_json::{Map, Value as Json};
use values::{Type, json};

use crate::restful::{document::convert::from_json_implied, session::unusable};
use mayfly_sdk::{Diagnostic, Upgrade};

/// The attributes of version 0 with a JSON text.
const DOCUMENTS: [&str; 3] = ["body", "output", "delete_body"];

/// The upgrades to version 2. Attributes without a place in it are dropped later.
pub(in crate::restful) fn upgrades() -> Vec<Upgrade> {
    vec![Upgrade::from_json(0, with_documents), Upgrade::from_json(1, Ok)]
}

/// Converts the JSON texts of version 0.
///
/// # Errors
/// Returns an error if a text is not JSON.
fn with_documents(mut state: Json) -> Result<Json, Diagnostic> {
    if let Json::Object(members) = &mut state {
        for name in DOCUMENTS {
            convert(members, name)?;
        }
    }
    Ok(state)
}

/// Replaces a JSON text by the document, in the form of an attribute of dynamic type.
fn convert(members: &mut Map<String, Json>, name: &str) -> Result<(), Diagnostic> {
    let Some(Json::String(text)) = members.get(name) else { return Ok(()) };
    let invalid = |it: &dyn std::fmt::Display| unusable(name, &it.to_string());
    let value = from_json_implied(text.as_bytes()).map_err(|it| invalid(&it))?;
    let encoded = json::encode(&value, &Type::Dynamic).map_err(|it| invalid(&it))?;
    let encoded = serde_json::from_str(&encoded).map_err(|it| invalid(&it))?;
    members.insert(name.to_owned(), encoded);
    Ok(())
}
