//! JSON in OpenTofu's format: `<`, `>` and `&` are escaped, numbers keep their text, and the order of fields is
//! fixed.

use serde_json::{Map, Value as Json};
use values::{Kind, MarkKind, Value, json::JsonText};

/// Compact JSON text.
pub(crate) fn compact(json: &Json) -> String {
    let mut text = JsonText::compact();
    write(json, &mut text);
    text.into_text()
}

/// JSON text with an indentation of two spaces.
pub(crate) fn pretty(json: &Json) -> String {
    let mut text = JsonText::with_capacity(256);
    write(json, &mut text);
    text.into_text()
}

/// The word for a resource mode.
pub(crate) fn mode(mode: addr::ResourceMode) -> &'static str {
    match mode {
        addr::ResourceMode::Managed => "managed",
        addr::ResourceMode::Data => "data",
        addr::ResourceMode::Ephemeral => "ephemeral",
    }
}

fn write(json: &Json, text: &mut JsonText) {
    match json {
        Json::String(it) => text.string(it),
        Json::Array(items) => {
            text.open('[');
            for item in items {
                text.item();
                write(item, text);
            }
            text.close(']');
        }
        Json::Object(entries) => {
            text.open('{');
            for (key, item) in entries {
                text.key(key);
                write(item, text);
            }
            text.close('}');
        }
        Json::Null | Json::Bool(_) | Json::Number(_) => text.token(json),
    }
}

/// An object of the fields that are `Some`.
pub(crate) fn object<const N: usize>(fields: [(&str, Option<Json>); N]) -> Json {
    let fields = fields.into_iter().filter_map(|(name, it)| Some((name.to_owned(), it?)));
    Json::Object(fields.collect())
}

/// A value in clear text. Unknown parts are omitted from maps and objects, and null elsewhere. `None` if the whole
/// value is unknown.
///
/// Ephemeral parts are null, because no format may contain them.
pub(crate) fn known(value: &Value) -> Option<Json> {
    if value.marks().has(MarkKind::Ephemeral) {
        return Some(Json::Null);
    }
    Some(match value.kind() {
        Kind::Unknown(_) => return None,
        Kind::Null => Json::Null,
        Kind::Bool(it) => it.into(),
        Kind::Number(it) => number(it),
        Kind::String(it) => Json::String(it.to_string()),
        Kind::List(items) | Kind::Set(items) | Kind::Tuple(items) => {
            items.iter().map(|it| known(it).unwrap_or(Json::Null)).collect()
        }
        Kind::Map(entries) | Kind::Object(entries) => {
            let entries =
                entries.iter().filter_map(|(key, it)| Some((key.to_string(), known(it)?)));
            Json::Object(entries.collect())
        }
    })
}

/// A number with its exact text. Infinity has no JSON form and becomes null.
pub(crate) fn number(number: &values::Number) -> Json {
    serde_json::from_str::<serde_json::Number>(&number.to_string()).map_or(Json::Null, Json::Number)
}

/// Flags for the unknown parts of a value: `true` for an unknown part, `false` for a known element of a list.
/// Objects omit entries without unknown parts.
pub(crate) fn unknown_flags(value: &Value) -> Json {
    flags(value, &|it| !it.is_known())
}

/// Flags for the sensitive and ephemeral parts of a value, in the form of [`unknown_flags`].
pub(crate) fn sensitive_flags(value: &Value) -> Json {
    flags(value, &|it| it.marks().has(MarkKind::Sensitive) || it.marks().has(MarkKind::Ephemeral))
}

fn flags(value: &Value, is_set: &impl Fn(&Value) -> bool) -> Json {
    if is_set(value) {
        return Json::Bool(true);
    }
    match value.kind() {
        Kind::List(items) | Kind::Set(items) | Kind::Tuple(items) => {
            items.iter().map(|it| flags(it, is_set)).collect()
        }
        Kind::Map(entries) | Kind::Object(entries) => {
            let entries = entries.iter().map(|(key, it)| (key.to_string(), flags(it, is_set)));
            Json::Object(entries.filter(|(_, it)| *it != Json::Bool(false)).collect())
        }
        Kind::Unknown(_) => match value.ty() {
            values::Type::Map(_) | values::Type::Object(_) => Json::Object(Map::new()),
            values::Type::List(_) | values::Type::Set(_) | values::Type::Tuple(_) => {
                Json::Array(Vec::new())
            }
            _ => Json::Bool(false),
        },
        Kind::Null | Kind::Bool(_) | Kind::Number(_) | Kind::String(_) => Json::Bool(false),
    }
}

/// A type in JSON: `"string"`, `["list","string"]`.
pub(crate) fn of_type(ty: &values::Type) -> Json {
    serde_json::from_str(&values::json::type_to_json(ty)).unwrap_or(Json::Null)
}

#[cfg(test)]
mod tests {
    use values::{Mark, Number, Type};

    use super::*;

    #[test]
    fn numbers_keep_their_digits_and_html_is_escaped() {
        let number = Number::parse("12345678901234567890.125").expect("a number");
        let value =
            Value::object_from([("a<", Value::number(number)), ("n", Value::null(Type::Dynamic))]);
        let json = known(&value).expect("known");
        assert_eq!(compact(&json), "{\"a\\u003c\":12345678901234567890.125,\"n\":null}");
    }

    #[test]
    fn json_layout_matches_serde_json() {
        let text = r#"{"a":[1,{},[],{"b":[[null]],"é\n\"":1.50}],"c":"}","d":{"e":true,"f":[]}}"#;
        let json: Json = serde_json::from_str(text).expect("JSON");
        for json in [json.clone(), json["a"].clone(), json["c"].clone(), Json::Null] {
            assert_eq!(compact(&json), serde_json::to_string(&json).expect("JSON"));
            assert_eq!(pretty(&json), serde_json::to_string_pretty(&json).expect("JSON"));
        }
    }

    #[test]
    fn unknown_parts_are_omitted_in_json_objects_and_null_in_lists() {
        let unknown = || Value::unknown(Type::String);
        let value = Value::object_from([
            ("u", unknown()),
            ("l", Value::tuple(vec![unknown(), Value::int(1)])),
        ]);
        assert_eq!(compact(&known(&value).expect("known")), r#"{"l":[null,1]}"#);
        assert_eq!(compact(&unknown_flags(&value)), r#"{"l":[true,false],"u":true}"#);
    }

    #[test]
    fn ephemeral_value_is_null_and_sensitive_in_json() {
        let value =
            Value::object_from([("e", Value::string("hunter2").with_mark(Mark::Ephemeral))]);
        assert_eq!(compact(&known(&value).expect("known")), r#"{"e":null}"#);
        assert_eq!(compact(&sensitive_flags(&value)), r#"{"e":true}"#);
    }
}
