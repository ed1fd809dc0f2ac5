//! Tests of operators on known, unknown and marked values.

use super::{BinaryOp, UnaryOp, attribute, binary, index, unary};
use crate::{Mark, MarkKind, Number, Refinements, Type, Value, json};

fn value(text: &str) -> Value {
    json::decode_implied(text.as_bytes()).unwrap_or_else(|error| panic!("{text}: {error}"))
}

fn show(result: Result<Value, super::OpError>) -> String {
    match result {
        Ok(value) => format!("{value:?}"),
        Err(error) => error.to_string(),
    }
}

fn op(text: &str) -> BinaryOp {
    match text {
        "+" => BinaryOp::Add,
        "-" => BinaryOp::Subtract,
        "*" => BinaryOp::Multiply,
        "/" => BinaryOp::Divide,
        "%" => BinaryOp::Modulo,
        "==" => BinaryOp::Equal,
        "!=" => BinaryOp::NotEqual,
        "<" => BinaryOp::Less,
        "<=" => BinaryOp::LessOrEqual,
        ">" => BinaryOp::Greater,
        ">=" => BinaryOp::GreaterOrEqual,
        "&&" => BinaryOp::And,
        "||" => BinaryOp::Or,
        other => panic!("no operator {other}"),
    }
}

#[track_caller]
fn check(cases: &[(&str, &str, &str, &str)]) {
    for (left, operator, right, expected) in cases {
        let got = show(binary(op(operator), &value(left), &value(right)));
        assert_eq!(got, *expected, "{left} {operator} {right}");
    }
}

#[test]
fn operator_results_match_opentofu() {
    check(&[
        ("1", "+", "\"2\"", "3"),
        ("0.1", "+", "0.2", "0.3"),
        ("7", "%", "-3", "1"),
        ("1", "/", "0", "+Inf"),
        ("0", "/", "0", "Error during operation: the result is not a number."),
        ("\"a\"", "+", "1", "Unsuitable value for left operand: a number is required."),
        ("1", "+", "[]", "Unsuitable value for right operand: number required."),
        ("null", "+", "1", "Error during operation: argument must not be null."),
        ("1", "<", "2", "true"),
        ("2", "<=", "2", "true"),
        ("2", ">", "2", "false"),
        ("2", ">=", "3", "false"),
        ("true", "&&", "\"false\"", "false"),
        ("false", "||", "true", "true"),
        ("null", "&&", "true", "false"),
        ("\"1\"", "==", "1", "false"),
        ("[1]", "==", "[1]", "true"),
        ("{\"a\":1}", "!=", "{\"a\":2}", "true"),
        ("null", "==", "null", "true"),
        ("null", "==", "\"\"", "false"),
    ]);
    assert_eq!(show(unary(UnaryOp::Negate, &Value::int(0))), "-0");
    assert_eq!(show(unary(UnaryOp::Not, &"true".into())), "false");
}

#[test]
fn collections_of_other_kinds_are_not_equal() {
    let tuple = value("[1]");
    let list = Value::list(Type::Number, vec![Value::int(1)]);
    assert_eq!(tuple.equals(&list), Value::bool(false));
    let map = Value::map(Type::Number, [("a".into(), Value::int(1))].into_iter().collect());
    assert_eq!(value("{\"a\":1}").equals(&map), Value::bool(false));
    let set = |items: [i64; 2]| Value::set(Type::Number, items.map(Value::int).into());
    assert_eq!(set([1, 2]).equals(&set([2, 1])), Value::bool(true));
    let empty = |ty: Type| Value::list(ty, vec![]);
    assert_eq!(empty(Type::String).equals(&empty(Type::Number)), Value::bool(false));
}

fn unknown() -> Value {
    Value::unknown(Type::String)
}

#[test]
fn unknown_parts_make_equality_unknown_only_if_they_decide() {
    let pair = |a: Value, b: Value| Value::tuple(vec![a, b]);
    let is = |a: Value, b: Value| a.equals(&b);
    assert_eq!(is(pair("1".into(), unknown()), pair("2".into(), "x".into())), Value::bool(false));
    assert!(!is(pair(unknown(), "1".into()), pair("x".into(), "2".into())).is_known());
    let object = |a: Value, b: Value| Value::object_from([("a", a), ("b", b)]);
    assert_eq!(
        is(object(unknown(), "1".into()), object("x".into(), "2".into())),
        Value::bool(false)
    );
    assert!(!is(unknown(), Value::null(Type::String)).is_known());
    assert_eq!(is(unknown().refined_not_null(), Value::null(Type::String)), Value::bool(false));
    let prefixed = Value::unknown_with(Type::String, Refinements::non_null().with_prefix("foo-"));
    assert_eq!(is(prefixed.clone(), "bar".into()), Value::bool(false));
    assert!(!is(prefixed.clone(), "foo-bar".into()).is_known());
    assert_eq!(is(prefixed, "fo".into()), Value::bool(false));
    assert!(!is(Value::dynamic(), "x".into()).is_known());
    let set = Value::set(Type::String, vec![unknown(), "a".into()]);
    assert!(!is(set.clone(), set).is_known());
}

#[test]
fn bounds_decide_comparisons_of_unknown_numbers() {
    let between = |low: i64, high: i64| {
        let known = Refinements::non_null()
            .with_lower(Number::from(low), true)
            .with_upper(Number::from(high), true);
        Value::unknown_with(Type::Number, known)
    };
    let compare = |operator: &str, a: &Value, b: &Value| show(binary(op(operator), a, b));
    let either = between(1, 2);
    assert_eq!(compare(">", &either, &Value::int(0)), "true");
    assert_eq!(compare(">", &either, &Value::int(5)), "false");
    assert_eq!(compare("<=", &either, &Value::int(3)), "true");
    // As in cty, bounds that are equal decide nothing.
    assert_eq!(compare("<=", &either, &Value::int(2)), "(known after apply)");
    assert_eq!(compare(">", &either, &Value::int(2)), "(known after apply)");
    assert_eq!(compare("<", &either, &Value::int(2)), "(known after apply)");
    let sum = binary(BinaryOp::Add, &either, &between(10, 20)).expect("a number");
    assert_eq!(compare(">=", &sum, &Value::int(10)), "true");
    assert_eq!(compare("<", &sum, &Value::int(22)), "(known after apply)");
    let product = binary(BinaryOp::Multiply, &between(-2, 3), &between(-5, 4)).expect("a number");
    assert!(
        product.range().includes_number(&Number::from(-15_i64))
            && !product.range().includes_number(&Number::from(16_i64))
    );
    let negated = unary(UnaryOp::Negate, &either).expect("a number");
    assert_eq!(compare("<", &negated, &Value::int(0)), "true");
}

#[test]
fn known_operand_decides_logic_with_an_unknown_one() {
    let unknown = Value::unknown(Type::Bool);
    assert_eq!(show(binary(BinaryOp::And, &unknown, &Value::bool(false))), "false");
    assert_eq!(show(binary(BinaryOp::Or, &Value::bool(true), &unknown)), "true");
    assert_eq!(show(binary(BinaryOp::And, &unknown, &Value::bool(true))), "(known after apply)");
    let secret = Value::unknown(Type::Bool).with_mark(Mark::Ephemeral);
    let result = binary(BinaryOp::And, &secret, &Value::bool(false)).expect("a bool");
    assert!(result.marks().has(MarkKind::Ephemeral));
}

#[test]
fn equality_takes_deep_marks_but_a_comparison_with_null_only_those_at_the_top() {
    let inside = Value::tuple(vec![Value::int(1).with_mark(Mark::Ephemeral)]);
    assert!(inside.equals(&value("[1]")).marks().has(MarkKind::Ephemeral));
    let null = Value::null(Type::Dynamic);
    assert!(inside.equals(&null).marks().is_empty());
    assert!(inside.with_mark(Mark::Sensitive).equals(&null).marks().has(MarkKind::Sensitive));
}

#[test]
fn index_and_attribute_return_a_part_or_an_error() {
    let at = |text: &str, key: &str| show(index(&value(text), &value(key)));
    let wrong = "The given key does not identify an element in this collection value";
    assert_eq!(at("[1,2]", "\"1\""), "2");
    assert_eq!(
        at("[1]", "1"),
        format!(
            "{wrong}: the given index is greater than or equal to the length of the collection."
        )
    );
    assert_eq!(
        at("[1]", "-1"),
        format!("{wrong}: a negative number is not a valid index for a sequence.")
    );
    assert_eq!(at("[1]", "0.5"), format!("{wrong}: indexing a sequence requires a whole number."));
    assert_eq!(at("[]", "0"), format!("{wrong}: the collection has no elements."));
    assert_eq!(at("[1]", "null"), "Can't use a null value as an indexing key.");
    assert_eq!(at("[1]", "\"x\""), format!("{wrong}: a number is required."));
    assert_eq!(at("{\"a\":1}", "\"a\""), "1");
    assert_eq!(
        at("{\"a\":1}", "0"),
        format!(
            "{wrong}. An object only supports looking up attributes by name, not by numeric index."
        )
    );
    assert_eq!(at("null", "0"), "This value is null, so it does not have any indices.");
    assert_eq!(at("1", "0"), "This value does not have any indices.");
    let set = Value::set(Type::String, vec!["a".into()]);
    assert!(show(index(&set, &Value::int(0))).starts_with("Elements of a set"));
    let of = |text: &str, name: &str| show(attribute(&value(text), name));
    assert_eq!(of("{\"a\":1}", "a"), "1");
    assert_eq!(of("{\"a\":1}", "b"), "This object does not have an attribute named \"b\".");
    assert_eq!(of("1", "b"), "Can't access attributes on a primitive-typed value (number).");
    let map = Value::map(Type::Number, [("a".into(), Value::int(1))].into_iter().collect());
    assert_eq!(show(attribute(&map, "a")), "1");
    assert_eq!(show(attribute(&map, "b")), "This map does not have an element with the key \"b\".");
}

#[test]
fn parts_of_unknown_values_are_unknown_of_the_right_type() {
    let object = Value::unknown(Type::object([("a", Type::Bool)]));
    assert_eq!(attribute(&object, "a").expect("an attribute"), Value::unknown(Type::Bool));
    assert!(attribute(&object, "b").is_err());
    let tuple = Value::unknown(Type::tuple([Type::Bool, Type::String]));
    assert_eq!(index(&tuple, &Value::int(1)).expect("an element"), Value::unknown(Type::String));
    assert_eq!(index(&tuple, &Value::unknown(Type::Number)).expect("an element"), Value::dynamic());
    assert!(index(&tuple, &Value::int(2)).is_err());
    let list =
        Value::unknown_with(Type::list(Type::Bool), Refinements::non_null().with_max_length(1));
    assert!(index(&list, &Value::int(1)).is_err());
    assert_eq!(index(&Value::dynamic(), &Value::int(1)).expect("an element"), Value::dynamic());
}
