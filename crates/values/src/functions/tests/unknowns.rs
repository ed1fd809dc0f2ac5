//! Tests of the facts that are known about results of unknown arguments.

use super::call;
use crate::{Kind, Number, Refinements, Type, Value};

fn unknown(ty: Type) -> Value {
    Value::unknown(ty)
}

#[track_caller]
fn result(name: &str, args: &[Value]) -> Value {
    call(name, args).unwrap_or_else(|error| panic!("{name}: {error}"))
}

#[track_caller]
fn known_of(value: &Value) -> Refinements {
    match value.kind() {
        Kind::Unknown(known) => known.clone(),
        _ => panic!("known: {value:?}"),
    }
}

#[test]
fn length_of_an_unknown_list_has_its_bounds() {
    let list = Value::unknown_with(
        Type::list(Type::String),
        Refinements::non_null().with_min_length(2).with_max_length(5),
    );
    let known = known_of(&result("length", &[list]));
    assert!(
        !known.includes_number(&Number::from(1_i64)) && known.includes_number(&Number::from(5_i64))
    );
    let set = Value::set(Type::String, vec![unknown(Type::String), "a".into()]);
    let known = known_of(&result("length", &[set]));
    assert!(
        known.includes_number(&Number::from(1_i64)) && !known.includes_number(&Number::from(3_i64))
    );
    assert_eq!(result("length", &[unknown(Type::tuple([Type::Bool, Type::Bool]))]), Value::int(2));
}

#[test]
fn startswith_is_decided_by_a_known_prefix() {
    let name = Value::unknown_with(Type::String, Refinements::non_null().with_prefix("foo-"));
    assert_eq!(result("startswith", &[name.clone(), "foo".into()]), Value::bool(true));
    assert_eq!(result("startswith", &[name.clone(), "bar".into()]), Value::bool(false));
    assert!(!result("startswith", &[name, "foo-bar".into()]).is_known());
}

#[test]
fn string_results_keep_the_prefix_before_the_first_unknown() {
    let formatted = result("format", &["a-%s-%s".into(), "b".into(), unknown(Type::String)]);
    assert_eq!(known_of(&formatted).prefix(), "a-b-");
    let object = Value::object_from([("a", unknown(Type::String))]);
    assert_eq!(known_of(&result("jsonencode", &[object])).prefix(), "{");
}

#[test]
fn results_independent_of_unknown_parts_are_known() {
    let object = Value::object_from([("a", unknown(Type::String)), ("b", Value::int(1))]);
    assert_eq!(result("lookup", &[object.clone(), "b".into()]), Value::int(1));
    assert_eq!(result("keys", &[object]), Value::tuple(vec!["a".into(), "b".into()]));
    let tuple = Value::tuple(vec![unknown(Type::String), "x".into()]);
    assert_eq!(result("contains", &[tuple.clone(), "x".into()]), Value::bool(true));
    assert!(!result("contains", &[tuple.clone(), "y".into()]).is_known());
    assert_eq!(result("element", &[tuple, Value::int(1)]), "x".into());
    let bools = Value::list(Type::Bool, vec![unknown(Type::Bool), Value::bool(false)]);
    assert_eq!(result("alltrue", &[bools]), Value::bool(false));
}

#[test]
fn unknown_function_results_have_the_result_type() {
    assert_eq!(
        result("split", &[",".into(), unknown(Type::String)]).ty(),
        Type::list(Type::String)
    );
    assert_eq!(result("jsondecode", &[unknown(Type::String)]).ty(), Type::Dynamic);
    assert_eq!(result("values", &[unknown(Type::map(Type::Bool))]).ty(), Type::list(Type::Bool));
    assert_eq!(result("concat", &[Value::dynamic(), Value::empty_tuple()]).ty(), Type::Dynamic);
    assert_eq!(result("coalesce", &[unknown(Type::Number), "a".into()]).ty(), Type::String);
}
