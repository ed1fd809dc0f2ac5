//! Tests of functions.

use std::collections::BTreeMap;

use expect_test::{Expect, expect};
use provider::FunctionFault;
use values::{Number, Str, Text, Value};

use super::shown;
use crate::{AttributeValue, Choice, Function, FunctionError, MaybeUnknown, Model, Rest, Secret};

fn signature(function: &Function) -> String {
    let described = |it: &provider::FunctionParameter| {
        let flags = [(it.allow_null_value, "?"), (it.allow_unknown_values, "~")];
        let flags: String = flags.iter().filter(|it| it.0).map(|it| it.1).collect();
        format!("{}: {}{flags}", it.name, it.ty)
    };
    let signature = &function.signature;
    let mut all: Vec<String> = signature.parameters.iter().map(described).collect();
    all.extend(signature.variadic.iter().map(|it| format!("{}...", described(it))));
    format!("({}) -> {}", all.join(", "), signature.returns)
}

fn call(function: &Function, arguments: &[Value]) -> String {
    match function.call(arguments) {
        Ok(value) => shown(&value),
        Err(FunctionFault { argument: None, message }) => message,
        Err(FunctionFault { argument: Some(index), message }) => format!("{index}: {message}"),
    }
}

#[track_caller]
fn check(function: Function, names: &[&str], calls: &[&[Value]], expected: Expect) {
    let function = names.iter().fold(function, |it, name| it.parameter(name, ""));
    assert_eq!(function.problem(), None);
    let mut lines = vec![signature(&function)];
    lines.extend(calls.iter().map(|it| call(&function, it)));
    expected.assert_eq(&lines.join("\n"));
}

fn text(text: &str) -> Value {
    Value::string(text)
}

type Outcome<T> = Result<T, FunctionError>;

#[test]
fn functions_have_up_to_six_parameters() {
    let no = || -> Outcome<String> { Ok("none".to_owned()) };
    check(
        Function::new("f", no),
        &[],
        &[&[], &[text("a")]],
        expect![[r#"
        () -> string
        "none"
        "f" takes 0 arguments, not 1"#]],
    );
    let one = |a: String| -> Outcome<String> { Ok(a) };
    check(
        Function::new("f", one),
        &["a"],
        &[&[text("a")], &[]],
        expect![[r#"
            (a: string) -> string
            "a"
            "f" takes 1 argument, not 0"#]],
    );
    let six = |a: i64, b: i64, c: i64, d: i64, e: i64, f: i64| -> Outcome<i64> {
        Ok(((((a * 10 + b) * 10 + c) * 10 + d) * 10 + e) * 10 + f)
    };
    let digits: Vec<Value> = (1..=6).map(Value::int).collect();
    let names = ["a", "b", "c", "d", "e", "f"];
    check(
        Function::new("f", six),
        &names,
        &[&digits, &digits[1..]],
        expect![[r#"
        (a: number, b: number, c: number, d: number, e: number, f: number) -> number
        123456
        "f" takes 6 arguments, not 5"#]],
    );
}

#[test]
fn rest_takes_all_further_arguments() {
    let join =
        |separator: String, rest: Rest<String>| -> Outcome<String> { Ok(rest.0.join(&separator)) };
    let calls: [&[Value]; 5] = [
        &[],
        &[text("-")],
        &[text("-"), text("a")],
        &[text("-"), text("a"), text("b")],
        &[text("-"), text("a"), Value::null(values::Type::String)],
    ];
    check(
        Function::new("join", join),
        &["separator", "texts"],
        &calls,
        expect![[r#"
            (separator: string, texts: string...) -> string
            "join" takes at least 1 argument, not 0
            ""
            "a"
            "a-b"
            2: must be set, and not to null"#]],
    );
    let count = |rest: Rest<Option<u8>>| -> Outcome<usize> { Ok(rest.0.iter().flatten().count()) };
    let null = Value::null(values::Type::Number);
    let calls: [&[Value]; 3] = [&[], &[Value::int(1), null], &[Value::int(1), Value::int(256)]];
    check(
        Function::new("count", count),
        &["numbers"],
        &calls,
        expect![[r#"
            (numbers: number?...) -> number
            0
            1
            1: must be a whole number from 0 to 255"#]],
    );
}

#[derive(Model)]
struct Point {
    x: i64,
    y: Option<i64>,
}

#[derive(Choice, Clone, Copy)]
enum Axis {
    X,
    Y,
}

#[test]
fn arguments_can_be_null_or_unknown_if_their_type_can() {
    let null = || Value::null(values::Type::String);
    let unknown = || Value::unknown(values::Type::String);
    let strict = |it: String| -> Outcome<String> { Ok(it) };
    check(
        Function::new("f", strict),
        &["a"],
        &[&[null()], &[unknown()]],
        expect![[r#"
            (a: string) -> string
            0: must be set, and not to null
            0: is needed now, but its value is known only after an apply. Apply the objects that it depends on first, for example with -target, or set it to a value that is known before"#]],
    );
    let nullable = |it: Option<String>| -> Outcome<Option<String>> { Ok(it) };
    check(
        Function::new("f", nullable),
        &["a"],
        &[&[null()], &[unknown()]],
        expect![[r#"
            (a: string?) -> string
            null
            0: is needed now, but its value is known only after an apply. Apply the objects that it depends on first, for example with -target, or set it to a value that is known before"#]],
    );
    let open = |it: MaybeUnknown<Option<String>>| -> Outcome<MaybeUnknown<Option<usize>>> {
        Ok(match it {
            MaybeUnknown::Unknown => MaybeUnknown::Unknown,
            MaybeUnknown::Known(text) => MaybeUnknown::Known(text.map(|it| it.len())),
        })
    };
    let calls: [&[Value]; 3] = [&[null()], &[unknown()], &[text("abc")]];
    check(
        Function::new("f", open),
        &["a"],
        &calls,
        expect![[r#"
        (a: string?~) -> number
        null
        ?
        3"#]],
    );
}

#[test]
fn arguments_can_have_every_type() {
    let coordinate = |point: Point, axis: Axis| -> Outcome<Option<i64>> {
        Ok(match axis {
            Axis::X => Some(point.x),
            Axis::Y => point.y,
        })
    };
    let point =
        Value::object_from([("x", Value::int(3)), ("y", Value::null(values::Type::Number))]);
    let wrong = Value::object_from([
        ("x", Value::number(Number::parse("1.5").expect("is a number"))),
        ("y", Value::int(1)),
    ]);
    let calls: [&[Value]; 4] = [
        &[point.clone(), text("x")],
        &[point.clone(), text("y")],
        &[point, text("z")],
        &[wrong, text("x")],
    ];
    check(
        Function::new("coordinate", coordinate),
        &["point", "axis"],
        &calls,
        expect![[r#"
            (point: object({ x = number, y = number }), axis: string) -> number
            3
            null
            1: must be one of: x, y
            0: x must be a whole number"#]],
    );
    let inverted = |entries: BTreeMap<Str, Secret>| -> Outcome<BTreeMap<String, Text>> {
        Ok(entries.into_iter().map(|(key, it)| (it.reveal().to_owned(), key.to_text())).collect())
    };
    let entries: values::ValueMap = [("k".into(), text("v"))].into_iter().collect();
    let calls: [&[Value]; 1] = [&[Value::map(values::Type::String, entries)]];
    check(
        Function::new("inverted", inverted),
        &["entries"],
        &calls,
        expect![[r#"
        (entries: map(string)) -> map(string)
        {v="k"}"#]],
    );
    let any = |it: Value| -> Outcome<Value> { Ok(it) };
    let calls: [&[Value]; 2] = [&[Value::int(1)], &[Value::null(values::Type::Dynamic)]];
    check(
        Function::new("any", any),
        &["value"],
        &calls,
        expect![[r#"
        (value: any?) -> any
        1
        null"#]],
    );
}

#[test]
fn function_errors_name_the_argument() {
    let failing = |a: u8, b: u8| -> Outcome<u8> {
        match a.checked_sub(b) {
            Some(difference) => Ok(difference),
            None if a == 0 => Err(FunctionError::new("nothing is left")),
            None => Err(FunctionError::argument(1, "must not be larger than the first argument")),
        }
    };
    let numbers = |a, b| [Value::int(a), Value::int(b)];
    let calls: [&[Value]; 4] = [&numbers(3, 2), &numbers(3, 4), &numbers(0, 1), &numbers(3, 300)];
    check(
        Function::new("minus", failing),
        &["a", "b"],
        &calls,
        expect![[r#"
            (a: number, b: number) -> number
            1
            1: must not be larger than the first argument
            nothing is left
            1: must be a whole number from 0 to 255"#]],
    );
}

#[track_caller]
fn check_problem(function: Function, names: &[&str], expected: Expect) {
    let function = names.iter().fold(function, |it, name| it.parameter(name, ""));
    expected.assert_eq(&function.problem().unwrap_or_default());
}

#[test]
fn mistakes_in_functions_are_reported_to_the_author() {
    let two = || Function::new("f", |a: String, _: String| Ok(a));
    check_problem(
        two(),
        &["a"],
        expect!["it has 2 parameters, but 1 are named by Function::parameter"],
    );
    check_problem(
        two(),
        &["a", "b", "c"],
        expect!["it has 2 parameters, but 3 are named by Function::parameter"],
    );
    check_problem(two(), &["a", "a"], expect![[r#"two parameters have the name "a""#]]);
    let early = Function::new("f", |_: Rest<String>, b: String| Ok(b));
    check_problem(early, &["a", "b"], expect!["parameters follow Rest, which takes all arguments"]);
    let twice = Function::new("f", |_: Rest<String>, _: Rest<String>| Ok(true));
    check_problem(twice, &["a", "b"], expect!["parameters follow Rest, which takes all arguments"]);
}

#[test]
fn function_has_texts_for_its_users() {
    let function = Function::new("f", |_: u8, _: Rest<u8>| Ok(true))
        .summary("A summary")
        .description("A *description*.")
        .deprecated("Use g.")
        .parameter("a", "The first.")
        .parameter("more", "The others.")
        .markdown();
    let signature = function.signature;
    assert_eq!((&*signature.summary, &*signature.description), ("A summary", "A *description*."));
    assert_eq!(&*signature.deprecation_message, "Use g.");
    let all = signature.parameters.iter().chain(&signature.variadic);
    let described: Vec<_> = all.map(|it| (&*it.description, it.description_kind)).collect();
    let markdown = provider::DescriptionKind::Markdown;
    assert_eq!(described, [("The first.", markdown), ("The others.", markdown)]);
    assert_eq!(signature.returns, bool::ty());
}
