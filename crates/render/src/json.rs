//! JSON in OpenTofu's format: `<`, `>` and `&` are escaped, numbers keep their text, and the order of fields is
//! fixed.

use serde_json::{Map, Value as Json};
use values::{Kind, MarkKind, Value};

/// Compact JSON text.
pub(crate) fn compact(json: &Json) -> String {
    let mut text = String::new();
    write(json, None, 0, &mut text);
    text
}

/// JSON text with an indentation of two spaces.
pub(crate) fn pretty(json: &Json) -> String {
    let mut text = String::new();
    write(json, Some("  "), 0, &mut text);
    text
}

/// The word for a resource mode.
pub(crate) fn mode(mode: addr::ResourceMode) -> &'static str {
    match mode {
        addr::ResourceMode::Managed => "managed",
        addr::ResourceMode::Data => "data",
        addr::ResourceMode::Ephemeral => "ephemeral",
    }
}

fn write(json: &Json, indent: Option<&str>, depth: usize, text: &mut String) {
    let brake = |depth: usize, text: &mut String| {
        if let Some(indent) = indent {
            text.push('\n');
            (0..depth).for_each(|_| text.push_str(indent));
        }
    };
    match json {
        Json::String(it) => values::json::write_string(it, text),
        Json::Array(items) if !items.is_empty() => {
            text.push('[');
            for (i, item) in items.iter().enumerate() {
                text.push_str(if i == 0 { "" } else { "," });
                brake(depth + 1, text);
                write(item, indent, depth + 1, text);
            }
            brake(depth, text);
            text.push(']');
        }
        Json::Object(entries) if !entries.is_empty() => {
            text.push('{');
            for (i, (key, item)) in entries.iter().enumerate() {
                text.push_str(if i == 0 { "" } else { "," });
                brake(depth + 1, text);
                values::json::write_string(key, text);
                text.push_str(if indent.is_some() { ": " } else { ":" });
                write(item, indent, depth + 1, text);
            }
            brake(depth, text);
            text.push('}');
        }
        Json::Array(_) => text.push_str("[]"),
        Json::Object(_) => text.push_str("{}"),
        Json::Null | Json::Bool(_) | Json::Number(_) => text.push_str(&json.to_string()),
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
    fn unknown_parts_are_left_out_of_objects_and_null_in_lists() {
        let unknown = || Value::unknown(Type::String);
        let value = Value::object_from([
            ("u", unknown()),
            ("l", Value::tuple(vec![unknown(), Value::int(1)])),
        ]);
        assert_eq!(compact(&known(&value).expect("known")), r#"{"l":[null,1]}"#);
        assert_eq!(compact(&unknown_flags(&value)), r#"{"l":[true,false],"u":true}"#);
    }

    #[test]
    fn an_ephemeral_value_is_null_and_flagged() {
        let value =
            Value::object_from([("e", Value::string("hunter2").with_mark(Mark::Ephemeral))]);
        assert_eq!(compact(&known(&value).expect("known")), r#"{"e":null}"#);
        assert_eq!(compact(&sensitive_flags(&value)), r#"{"e":true}"#);
    }
}
