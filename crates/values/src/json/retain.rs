//! Removes attributes that a type does not have.

use super::{
    JsonText,
    parse::{Json, parse},
};
use crate::{CodecError, Type};

/// Returns the JSON of an object without the attributes that its type does not have, at any depth. What does not
/// match the type is kept, and decoding reports it.
///
/// # Errors
/// Returns an error if the text is not JSON.
pub fn retain_attributes(text: &str, ty: &Type) -> Result<String, CodecError> {
    let mut out = JsonText::compact();
    write(&parse(text.as_bytes())?, Some(ty), &mut out);
    Ok(out.into_text())
}

/// Writes a value. `None` for a value whose attributes are all kept.
fn write(json: &Json<'_>, ty: Option<&Type>, out: &mut JsonText) {
    match json {
        Json::Null => out.token("null"),
        Json::Bool(value) => out.token(value),
        Json::Number(text) => out.token(text),
        Json::String(text) => out.string(text),
        Json::Array(items) => {
            let ty = match ty {
                Some(Type::List(element) | Type::Set(element)) => Some(&**element),
                _ => None,
            };
            out.open('[');
            for item in items {
                out.item();
                write(item, ty, out);
            }
            out.close(']');
        }
        Json::Object(entries) => {
            out.open('{');
            for (name, value) in entries {
                let ty = match ty {
                    Some(Type::Object(object)) => match object.get(name) {
                        Some(ty) => Some(ty),
                        None => continue,
                    },
                    Some(Type::Map(element)) => Some(&**element),
                    _ => None,
                };
                out.key(name);
                write(value, ty, out);
            }
            out.close('}');
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json::type_from_json;

    #[test]
    fn attributes_outside_the_type_are_removed_at_any_depth() {
        let ty = br#"["object",{"a":["list",["object",{"b":"number"}]],"m":["map",["object",{}]],"d":"dynamic"}]"#;
        let ty = type_from_json(ty).expect("a type");
        let retained = |text: &str| retain_attributes(text, &ty).expect("JSON");
        assert_eq!(
            retained(
                r#"{"x": 1, "a": [{"b": 1.50, "c": "<"}, 7], "m": {"k": {"y": 1}}, "d": {"z": [null]}}"#
            ),
            r#"{"a":[{"b":1.50},7],"m":{"k":{}},"d":{"z":[null]}}"#
        );
        assert_eq!(retained("[{\"x\":true}]"), "[{\"x\":true}]");
        assert!(retain_attributes("{", &ty).is_err());
    }
}
