//! Conversion between values and JSON texts, for all attributes of dynamic type.

use values::{
    Kind, Number, ObjectType, Type, Value, ValueMap,
    json::{Json, JsonText, parse},
};

use super::{number, tree::JsonError};

/// The most levels of a document that becomes a value of an implied type. The text of that type has two levels for each
/// of them, and a reader accepts 256.
const MAX_LEVELS: usize = 100;

/// The reason why a conversion fails. It quotes no value.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum ConvertError {
    /// The bytes are no document.
    #[error(transparent)]
    Json(#[from] JsonError),
    /// A number of a value that JSON cannot contain.
    #[error("failed to marshal the value: a number is out of the range of a 64-bit float")]
    Number,
    /// A document that nests too deep for the type that it implies.
    #[error("the JSON document nests deeper than {MAX_LEVELS} levels")]
    Depth,
    /// A tuple and an array with different lengths.
    #[error(
        "tuple element size not match: the tuple has {tuple} elements, the JSON array has {array}"
    )]
    TupleSize {
        /// The number of elements of the tuple type.
        tuple: usize,
        /// The number of elements of the JSON array.
        array: usize,
    },
    /// A part of the document is of another kind than its type.
    #[error("the type needs a {wanted}, the JSON document contains {found}")]
    Kind {
        /// The name of the type.
        wanted: String,
        /// The kind in the document, with an article.
        found: &'static str,
    },
    /// The elements of a collection with an open element type have several types.
    #[error("the elements of the JSON document have different types, the type needs one for all")]
    Elements,
}

/// Converts a value to compact JSON with sorted keys. `None` if the value is null or unknown: a request then has no
/// body. Null and unknown parts become `null`. The depth of the recursion is that of the value, which its decoder has
/// bounded.
///
/// # Errors
/// Returns an error if a number is too large for a 64-bit float.
pub fn to_json(value: &Value) -> Result<Option<String>, ConvertError> {
    if value.is_null() || !value.is_known() {
        return Ok(None);
    }
    let mut out = JsonText::compact();
    write(value, &mut out)?;
    Ok(Some(out.into_text()))
}

fn write(value: &Value, out: &mut JsonText) -> Result<(), ConvertError> {
    match value.kind() {
        Kind::Null | Kind::Unknown(_) => out.token("null"),
        Kind::Bool(value) => out.token(value),
        Kind::Number(number) => out.token(number::json_text(number).ok_or(ConvertError::Number)?),
        Kind::String(text) => out.string(text),
        Kind::List(items) | Kind::Set(items) | Kind::Tuple(items) => {
            out.open('[');
            for item in items {
                out.item();
                write(item, out)?;
            }
            out.close(']');
        }
        Kind::Map(entries) | Kind::Object(entries) => {
            out.open('{');
            for (key, value) in entries {
                out.key(key);
                write(value, out)?;
            }
            out.close('}');
        }
    }
    Ok(())
}

/// Converts JSON to a value of the type that the JSON implies: arrays become tuples, objects become objects. No bytes
/// and `null` become a null of dynamic type.
///
/// # Errors
/// Returns an error if the bytes are not JSON, or contain a number beyond 64-bit floats.
pub fn from_json_implied(json: &[u8]) -> Result<Value, ConvertError> {
    from_json(json, &Type::Dynamic)
}

/// Converts JSON to a value of a type. Members outside of an object type are dropped, and missing ones become null,
/// so that a value tracks only a part of the document. No bytes and `null` become a null of the type.
///
/// # Errors
/// Returns an error if the bytes are not JSON, if a part is of another kind than its type, or if an array has another
/// length than its tuple type.
pub fn from_json(json: &[u8], ty: &Type) -> Result<Value, ConvertError> {
    if json.is_empty() {
        return Ok(Value::null(ty.clone()));
    }
    typed(&parse(json).map_err(JsonError::from)?, ty)
}

fn typed(json: &Json<'_>, ty: &Type) -> Result<Value, ConvertError> {
    match (json, ty) {
        (Json::Null, _) => Ok(Value::null(ty.clone())),
        (_, Type::Dynamic) => implied(json, 0),
        (Json::Bool(value), Type::Bool) => Ok(Value::bool(*value)),
        (Json::Number(text), Type::Number) => read_number(text).map(Value::number),
        (Json::String(text), Type::String) => Ok(Value::string(text.as_ref())),
        (Json::Array(items), Type::List(element)) => {
            Ok(Value::list(Type::clone(element), elements(items, element)?))
        }
        (Json::Array(items), Type::Set(element)) => {
            Ok(Value::set(Type::clone(element), elements(items, element)?))
        }
        (Json::Array(items), Type::Tuple(types)) if items.len() == types.len() => {
            let items = items.iter().zip(types.iter()).map(|(item, ty)| typed(item, ty));
            Ok(Value::tuple(items.collect::<Result<_, _>>()?))
        }
        (Json::Array(items), Type::Tuple(types)) => {
            Err(ConvertError::TupleSize { tuple: types.len(), array: items.len() })
        }
        (Json::Object(entries), Type::Map(element)) => {
            let entries =
                entries.iter().map(|(key, it)| Ok((key.as_ref().into(), typed(it, element)?)));
            let entries = entries.collect::<Result<ValueMap, ConvertError>>()?;
            check_element_types(element, entries.values())?;
            Ok(Value::map(Type::clone(element), entries))
        }
        (Json::Object(entries), Type::Object(object)) => tracked(entries, object),
        _ => Err(ConvertError::Kind { wanted: ty.friendly_name(), found: kind_of(json) }),
    }
}

fn elements(items: &[Json<'_>], element: &Type) -> Result<Vec<Value>, ConvertError> {
    let items: Vec<Value> = items.iter().map(|it| typed(it, element)).collect::<Result<_, _>>()?;
    check_element_types(element, items.iter())?;
    Ok(items)
}

/// Checks that the elements of a collection with an open element type have one type.
fn check_element_types<'a>(
    element: &Type,
    mut items: impl Iterator<Item = &'a Value>,
) -> Result<(), ConvertError> {
    if !element.has_dynamic() {
        return Ok(());
    }
    let first = items.next().map(Value::ty);
    match items.all(|it| Some(it.ty()) == first) {
        true => Ok(()),
        false => Err(ConvertError::Elements),
    }
}

/// Returns an object with exactly the attributes of its type.
fn tracked(
    entries: &[(std::borrow::Cow<'_, str>, Json<'_>)],
    object: &ObjectType,
) -> Result<Value, ConvertError> {
    // A member that is given replaces the null.
    let absent = object.iter().map(|(name, ty)| Ok((name.clone(), Value::null(ty.clone()))));
    let given = entries.iter().filter_map(|(key, json)| {
        let ty = object.get(key)?;
        Some(typed(json, ty).map(|value| (key.as_ref().into(), value)))
    });
    Ok(Value::object(absent.chain(given).collect::<Result<ValueMap, ConvertError>>()?))
}

fn implied(json: &Json<'_>, level: usize) -> Result<Value, ConvertError> {
    if level > MAX_LEVELS {
        return Err(ConvertError::Depth);
    }
    let part = |it| implied(it, level + 1);
    Ok(match json {
        Json::Null => Value::null(Type::Dynamic),
        Json::Bool(value) => Value::bool(*value),
        Json::Number(text) => Value::number(read_number(text)?),
        Json::String(text) => Value::string(text.as_ref()),
        Json::Array(items) => Value::tuple(items.iter().map(part).collect::<Result<_, _>>()?),
        Json::Object(entries) => {
            let entries = entries.iter().map(|(key, it)| Ok((key.as_ref().into(), part(it)?)));
            Value::object(entries.collect::<Result<ValueMap, ConvertError>>()?)
        }
    })
}

fn read_number(text: &str) -> Result<Number, ConvertError> {
    Ok(number::read(text).ok_or(JsonError::Number)?)
}

fn kind_of(json: &Json<'_>) -> &'static str {
    match json {
        Json::Null => "null",
        Json::Bool(_) => "a bool",
        Json::Number(_) => "a number",
        Json::String(_) => "a string",
        Json::Array(_) => "an array",
        Json::Object(_) => "an object",
    }
}

#[cfg(test)]
mod tests {
    use values::json::type_from_json;

    use super::*;

    fn ty(text: &str) -> Type {
        type_from_json(text.as_bytes()).expect("a type")
    }

    fn number(text: &str) -> Value {
        Value::number(Number::parse(text).expect("a number"))
    }

    #[test]
    fn value_becomes_compact_json_with_nulls_for_unknown_parts() {
        let value = Value::object_from([
            ("z", Value::unknown(Type::String)),
            ("list", Value::list(Type::Number, vec![number("1.50"), number("1e21")])),
            ("a", Value::tuple(vec![Value::null(Type::Bool), Value::bool(true)])),
            ("map", Value::map(Type::String, [("<".into(), "&".into())].into_iter().collect())),
            ("set", Value::set(Type::String, vec!["b".into(), "a".into()])),
        ]);
        let expected = r#"{"a":[null,true],"list":[1.5,1e+21],"map":{"\u003c":"\u0026"},"set":["a","b"],"z":null}"#;
        assert_eq!(to_json(&value), Ok(Some(expected.to_owned())));
    }

    #[test]
    fn null_and_unknown_values_have_no_json() {
        for value in [Value::null(Type::Dynamic), Value::dynamic(), Value::unknown(Type::String)] {
            assert_eq!(to_json(&value), Ok(None));
        }
        assert_eq!(to_json(&number("1e400")), Err(ConvertError::Number));
    }

    #[test]
    fn json_implies_tuples_objects_and_dynamic_nulls() {
        for (json, type_text, text) in [
            ("[1,\"a\"]", r#"["tuple",["number","string"]]"#, r#"[1,"a"]"#),
            (
                "{\"a\":null,\"b\":{}}",
                r#"["object",{"a":"dynamic","b":["object",{}]}]"#,
                r#"{"a":null,"b":{}}"#,
            ),
            ("{\"a\":1,\"a\":true}", r#"["object",{"a":"bool"}]"#, r#"{"a":true}"#),
            ("9007199254740993", r#""number""#, "9007199254740993"),
        ] {
            let value = from_json_implied(json.as_bytes()).expect("JSON");
            assert_eq!(value.ty(), ty(type_text), "{json}");
            assert_eq!(to_json(&value), Ok(Some(text.to_owned())), "{json}");
        }
        for json in [&b""[..], b"null", b" null "] {
            assert_eq!(from_json_implied(json), Ok(Value::null(Type::Dynamic)));
        }
    }

    #[test]
    fn implied_type_of_the_deepest_document_can_be_read() {
        let nested = |levels: usize| format!("{}1{}", "[".repeat(levels), "]".repeat(levels));
        let value = from_json_implied(nested(MAX_LEVELS).as_bytes()).expect("a value");
        let text = values::json::encode(&value, &Type::Dynamic).expect("a text");
        assert_eq!(values::json::decode(text.as_bytes(), &Type::Dynamic), Ok(value));
        let deeper = from_json_implied(nested(MAX_LEVELS + 1).as_bytes());
        assert_eq!(deeper, Err(ConvertError::Depth));
    }

    #[test]
    fn typed_conversion_keeps_the_shape_of_the_type() {
        for (json, type_text, text) in [
            ("{\"a\":1,\"b\":2}", r#"["object",{"a":"number"}]"#, r#"{"a":1}"#),
            ("{}", r#"["object",{"a":"number","d":"dynamic"}]"#, r#"{"a":null,"d":null}"#),
            ("{\"d\":[1]}", r#"["object",{"d":"dynamic"}]"#, r#"{"d":[1]}"#),
            ("{\"a\":null}", r#"["object",{"a":["list","string"]}]"#, r#"{"a":null}"#),
            ("[{\"x\":1,\"y\":2}]", r#"["list",["object",{"x":"number"}]]"#, r#"[{"x":1}]"#),
            ("[2,1,2]", r#"["set","number"]"#, "[1,2]"),
            ("{\"k\":\"v\"}", r#"["map","string"]"#, r#"{"k":"v"}"#),
            ("[1,\"b\"]", r#"["tuple",["number","dynamic"]]"#, r#"[1,"b"]"#),
        ] {
            let value = from_json(json.as_bytes(), &ty(type_text)).expect("a value of the type");
            assert_eq!(to_json(&value), Ok(Some(text.to_owned())), "{json}");
        }
        let null = from_json(b"", &Type::String);
        assert_eq!(null, Ok(Value::null(Type::String)));
    }

    #[test]
    fn document_of_another_shape_is_an_error_without_its_values() {
        for (json, type_text, error) in [
            (
                "[1]",
                r#"["tuple",[]]"#,
                "tuple element size not match: the tuple has 0 elements, the JSON array has 1",
            ),
            (
                "\"secret\"",
                r#""number""#,
                "the type needs a number, the JSON document contains a string",
            ),
            ("1", r#""string""#, "the type needs a string, the JSON document contains a number"),
            (
                "{}",
                r#"["list","string"]"#,
                "the type needs a list of string, the JSON document contains an object",
            ),
            (
                "[1,\"a\"]",
                r#"["list","dynamic"]"#,
                "the elements of the JSON document have different types, the type needs one for all",
            ),
            (
                "1e999",
                r#""number""#,
                "failed to unmarshal the JSON document: a number is out of the range of a 64-bit float",
            ),
            (
                "nope",
                r#""number""#,
                "failed to unmarshal the JSON document: invalid character in literal at offset 0",
            ),
        ] {
            let result = from_json(json.as_bytes(), &ty(type_text)).map(|_| ());
            assert_eq!(result.map_err(|it| it.to_string()), Err(error.to_owned()), "{json}");
        }
    }
}
