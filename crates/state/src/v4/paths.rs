//! The paths of sensitive attributes: `[[{"type": "get_attr", "value": "a"}, {"type": "index", "value": {...}}]]`.

use serde::Deserialize;
use serde_json::value::RawValue;
use std::borrow::Cow;
use values::json::{self, JsonText};
use values::{Path, Step, Str, Type};

use crate::error::EncodeError;

#[derive(Deserialize)]
struct RawStep<'a> {
    #[serde(rename = "type", borrow)]
    kind: Cow<'a, str>,
    #[serde(borrow)]
    value: &'a RawValue,
}

/// Reads the list. The error is a fragment for [`StateError::Instance`](crate::StateError::Instance).
pub(crate) fn read(text: &str) -> Result<Vec<Path>, String> {
    // A shortcut: nearly all lists are empty or absent.
    if matches!(text, "[]" | "null") {
        return Ok(Vec::new());
    }
    let raw: Vec<Vec<RawStep<'_>>> =
        serde_json::from_str(text).map_err(|_| "has malformed sensitive_attributes".to_owned())?;
    raw.into_iter().map(|steps| steps.into_iter().map(read_step).collect()).collect()
}

fn read_step(step: RawStep<'_>) -> Result<Step, String> {
    match &*step.kind {
        "get_attr" => {
            let name: String = serde_json::from_str(step.value.get())
                .map_err(|_| "has a malformed attribute name in sensitive_attributes".to_owned())?;
            Ok(Step::Attr(Str::on_heap(&name)))
        }
        "index" => {
            let key = json::decode(step.value.get().as_bytes(), &Type::Dynamic);
            key.map(Step::Index)
                .map_err(|_| "has a malformed index in sensitive_attributes".to_owned())
        }
        other => Err(format!("has an unsupported step {other:?} in sensitive_attributes")),
    }
}

pub(crate) fn write(out: &mut JsonText, what: &str, paths: &[Path]) -> Result<(), EncodeError> {
    out.open('[');
    for path in paths {
        out.item();
        out.open('[');
        for step in path.steps() {
            out.item();
            out.open('{');
            match step {
                Step::Attr(name) => {
                    out.member("type", "get_attr");
                    out.member("value", name);
                }
                Step::Index(key) => {
                    let key = json::encode(key, &Type::Dynamic)
                        .map_err(|it| EncodeError::value(what, it))?;
                    out.member("type", "index");
                    out.key("value");
                    out.json(&key);
                }
            }
            out.close('}');
        }
        out.close(']');
    }
    out.close(']');
    Ok(())
}
