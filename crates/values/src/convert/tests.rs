//! Tests of conversions, unifications and their messages.

use super::{convert, unify};
use crate::{Mark, MarkKind, Type, Value, json};

fn ty(text: &str) -> Type {
    json::type_from_json(text.as_bytes()).unwrap_or_else(|error| panic!("{text}: {error}"))
}

fn value(text: &str) -> Value {
    json::decode_implied(text.as_bytes()).unwrap_or_else(|error| panic!("{text}: {error}"))
}

#[track_caller]
fn check(cases: &[(&str, &str, &str)]) {
    for (from, to, expected) in cases {
        let got = match convert(&value(from), &ty(to)) {
            Ok(value) => format!("{value:?}"),
            Err(error) => format!("error at {:?}: {}", error.path.to_string(), error.message),
        };
        assert_eq!(got, *expected, "{from} to {to}");
    }
}

#[test]
fn values_convert_as_in_cty() {
    check(&[
        ("1.50", r#""string""#, r#""1.5""#),
        (r#""1e3""#, r#""number""#, "1000"),
        (r#""x""#, r#""number""#, "error at \"\": a number is required"),
        (r#""1""#, r#""bool""#, "true"),
        (
            r#""True""#,
            r#""bool""#,
            "error at \"\": a bool is required; to convert from string, use lowercase \"true\"",
        ),
        ("1", r#""bool""#, "error at \"\": bool required"),
        ("[1]", r#""string""#, "error at \"\": string required"),
        (r#"[1,"a"]"#, r#"["list","string"]"#, r#"tolist(["1", "a"])"#),
        (r#"[1,"a"]"#, r#"["list","dynamic"]"#, r#"tolist(["1", "a"])"#),
        (
            r#"[1,[]]"#,
            r#"["list","dynamic"]"#,
            "error at \"\": all list elements must have the same type",
        ),
        (r#"[1,[]]"#, r#"["list","string"]"#, "error at \"\": element 1: string required"),
        (r#"[1,"x"]"#, r#"["list","number"]"#, "error at \"[1]\": a number is required"),
        (r#"{"a":1,"b":"x"}"#, r#"["map","dynamic"]"#, r#"tomap({"a" = "1", "b" = "x"})"#),
        (
            r#"{"a":1,"b":true,"c":"z"}"#,
            r#"["map","dynamic"]"#,
            r#"tomap({"a" = "1", "b" = "true", "c" = "z"})"#,
        ),
        (r#"{"a":[]}"#, r#"["map","string"]"#, "error at \"\": element \"a\": string required"),
        (r#"{"a":1}"#, r#"["object",{"a":"string"}]"#, r#"{"a" = "1"}"#),
        (r#"{"a":1,"b":2}"#, r#"["object",{"a":"number"}]"#, r#"{"a" = 1}"#),
        (r#"{}"#, r#"["object",{"a":"number"}]"#, "error at \"\": attribute \"a\" is required"),
        (
            r#"{}"#,
            r#"["object",{"a":"bool","b":"bool","c":"bool"}]"#,
            "error at \"\": attributes \"a\", \"b\", and \"c\" are required",
        ),
        (r#"{}"#, r#"["object",{"a":"number"},["a"]]"#, r#"{"a" = tonumber(null)}"#),
        (r#"{"a":"x"}"#, r#"["object",{"a":"number"}]"#, "error at \".a\": a number is required"),
        (
            r#"{"a":[1]}"#,
            r#"["object",{"a":"number"}]"#,
            "error at \"\": attribute \"a\": number required",
        ),
        ("[1,2]", r#"["tuple",["string","string"]]"#, r#"["1", "2"]"#),
        ("[1]", r#"["tuple",["string","string"]]"#, "error at \"\": tuple required"),
        ("null", r#"["list","string"]"#, "tolist(null) /* of string */"),
        (
            r#"[{"a":1},{"a":"x"}]"#,
            r#"["list","dynamic"]"#,
            r#"tolist([{"a" = "1"}, {"a" = "x"}])"#,
        ),
        (r#"[[1],[]]"#, r#"["list",["list","dynamic"]]"#, "tolist([tolist([1]), tolist([])])"),
        (r#"["b","a","b"]"#, r#"["set","string"]"#, r#"toset(["a", "b"])"#),
    ]);
}

#[test]
fn collections_convert_into_each_other() {
    let set = Value::set(Type::String, vec!["b".into(), "a".into()]);
    assert_eq!(
        format!("{:?}", convert(&set, &Type::list(Type::String))),
        r#"Ok(tolist(["a", "b"]))"#
    );
    let list = Value::list(Type::Number, vec![Value::int(2), Value::int(2)]);
    assert_eq!(format!("{:?}", convert(&list, &Type::set(Type::String))), r#"Ok(toset(["2"]))"#);
    let map = Value::map(
        Type::String,
        [("a".into(), "1".into()), ("x".into(), "y".into())].into_iter().collect(),
    );
    assert_eq!(
        format!("{:?}", convert(&map, &ty(r#"["object",{"a":"number"}]"#))),
        r#"Ok({"a" = 1})"#
    );
    let error = convert(&map, &ty(r#"["object",{"b":"number"}]"#)).expect_err("no b");
    assert_eq!(error.message, "map has no element for required attribute \"b\"");
    let error = convert(&list, &Type::list(Type::Bool)).expect_err("numbers are no bools");
    assert_eq!(error.message, "incorrect list element type: bool required");
    assert!(convert(&list, &ty(r#"["tuple",["number","number"]]"#)).is_err());
}

#[test]
fn conversion_keeps_marks_and_unknowns() {
    let marked =
        Value::tuple(vec![Value::int(1).with_mark(Mark::Ephemeral), Value::unknown(Type::String)]);
    let list = convert(&marked, &Type::list(Type::String)).expect("a list");
    let items = list.as_slice().expect("elements");
    assert!(
        list.marks().is_empty()
            && items[0].marks().has(MarkKind::Ephemeral)
            && !items[1].is_known()
    );
    let set = convert(&marked.with_mark(Mark::Sensitive), &Type::set(Type::String)).expect("a set");
    assert!(set.marks().has(MarkKind::Ephemeral) && set.marks().has(MarkKind::Sensitive));
    let unknown = Value::unknown(Type::tuple([Type::Bool, Type::String])).refined_not_null();
    let list = convert(&unknown, &Type::list(Type::Dynamic)).expect("a list");
    assert_eq!(list.stored_length(), Some(2));
    assert_eq!(list.ty(), Type::list(Type::String));
}

#[test]
fn collection_whose_type_reveals_ephemeral_names_is_ephemeral() {
    let secret = Value::object_from([("secret", Value::int(1))]).with_mark(Mark::Ephemeral);
    let part = Value::object_from([("a", Value::int(1).with_mark(Mark::Ephemeral))]);
    let check = |value: Value, to: &str, expected: bool| {
        let converted = convert(&value, &ty(to)).expect("a collection");
        assert_eq!(converted.marks().has(MarkKind::Ephemeral), expected, "{to}");
    };
    check(Value::tuple(vec![secret.clone()]), r#"["list","dynamic"]"#, true);
    check(Value::object_from([("k", secret.clone())]), r#"["map","dynamic"]"#, true);
    check(Value::tuple(vec![Value::tuple(vec![secret.clone()])]), r#"["list","dynamic"]"#, true);
    check(Value::tuple(vec![secret]), r#"["list",["object",{"secret":"number"}]]"#, false);
    check(Value::tuple(vec![part]), r#"["list","dynamic"]"#, false);
}

#[test]
fn conversion_error_names_no_key_of_a_secret() {
    let value = Value::object_from([("secret", Value::empty_tuple())]);
    let to = ty(r#"["map","string"]"#);
    let error = convert(&value.with_mark(Mark::Ephemeral), &to).expect_err("no map");
    assert_eq!(error.message, "an element: string required");
}

#[test]
fn set_with_an_unknown_element_converts_to_an_unknown_list() {
    let set = Value::set(Type::String, vec!["b".into(), Value::unknown(Type::String)]);
    let list = convert(&set, &Type::list(Type::String)).expect("a list");
    assert!(
        !list.is_known() && list.range().max_length() == Some(2) && list.range().min_length() == 1
    );
}

#[test]
fn types_unify_as_in_cty() {
    let check = |types: &[&str], expected: Option<&str>| {
        let types: Vec<Type> = types.iter().map(|text| ty(text)).collect();
        let mut reversed = types.clone();
        reversed.reverse();
        assert_eq!(unify(&types), expected.map(ty), "{types:?}");
        assert_eq!(unify(&reversed), expected.map(ty), "{reversed:?}");
    };
    check(&[r#""string""#, r#""number""#], Some(r#""string""#));
    check(&[r#""bool""#, r#""number""#], None);
    check(&[r#""dynamic""#, r#""number""#], Some(r#""number""#));
    check(&[r#"["tuple",["number"]]"#, r#"["tuple",["string"]]"#], Some(r#"["tuple",["string"]]"#));
    check(
        &[r#"["tuple",["number","number"]]"#, r#"["tuple",["string"]]"#],
        Some(r#"["list","string"]"#),
    );
    check(
        &[r#"["object",{"a":"number"}]"#, r#"["object",{"b":"string"}]"#],
        Some(r#"["map","string"]"#),
    );
    check(&[r#"["object",{"a":"number"}]"#, r#"["object",{}]"#], Some(r#"["map","number"]"#));
    check(&[r#"["object",{"a":"number","b":["tuple",["number"]]}]"#, r#"["object",{}]"#], None);
    check(&[r#"["list","number"]"#, r#"["set","string"]"#], Some(r#"["list","number"]"#));
    check(&[r#"["tuple",[]]"#, r#"["tuple",["number","string"]]"#], Some(r#"["list","string"]"#));
    check(&[r#"["map","number"]"#, r#"["object",{"a":"string"}]"#], Some(r#"["map","string"]"#));
    check(&[r#"["object",{"a":"number"}]"#, r#"["tuple",["number"]]"#], None);
    check(&[r#"["object",{"a":"number"}]"#, r#""dynamic""#], Some(r#""dynamic""#));
    check(&[r#"["list","number"]"#, r#"["list","string"]"#], Some(r#"["list","string"]"#));
    assert_eq!(unify(&[]), None);
}
