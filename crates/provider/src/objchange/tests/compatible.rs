use values::{Mark, Refinements, Step, Type, Value};

use super::lines;
use crate::fixture::{
    block, block_with, computed, nested, optional, optional_computed, sensitive, value, write_only,
};
use crate::objchange::object_compatible;
use crate::schema::{Attribute, Block, Nesting, ObjectNesting};

#[track_caller]
fn check(block: &Block, planned: &str, actual: &str, expected: &str) {
    let violations = object_compatible(block, &value(block, planned), &value(block, actual));
    assert_eq!(lines(&violations), expected, "{planned} {actual}");
}

#[test]
fn applied_attributes_must_equal_known_planned_values() {
    let schema = block([
        ("o", optional()),
        ("oc", optional_computed()),
        ("s", sensitive(optional())),
        ("w", write_only()),
    ]);
    let cases = [
        ("null", "null", ""),
        ("null", "{}", "Root object was absent, but now present"),
        ("{}", "null", "Root object was present, but now absent"),
        (r#"{"o": "a", "oc": "?"}"#, r#"{"o": "a", "oc": "x"}"#, ""),
        (r#"{"oc": "?"}"#, "{}", ""),
        (
            r#"{"o": "a"}"#,
            r#"{"o": "b"}"#,
            r#".o: was cty.StringVal("a"), but now cty.StringVal("b")"#,
        ),
        (r#"{"o": "a"}"#, "{}", r#".o: was cty.StringVal("a"), but now null"#),
        ("{}", r#"{"o": "b"}"#, r#".o: was null, but now cty.StringVal("b")"#),
        (r#"{"o": "a"}"#, r#"{"o": "?"}"#, ".o: was known, but now unknown"),
        (r#"{"s": "a"}"#, r#"{"s": "b"}"#, ".s: inconsistent values for sensitive attribute"),
        ("{}", r#"{"w": "b"}"#, ".w: inconsistent values for sensitive attribute"),
    ];
    for (planned, actual, expected) in cases {
        check(&schema, planned, actual, expected);
    }
}

#[test]
fn inconsistency_errors_quote_no_marked_value() {
    let schema =
        block_with([("o", optional())], [("b", Nesting::List, block([("o", optional())]))]);
    let planned = value(&schema, r#"{"o": "a", "b": [{"o": "a"}]}"#);
    let actual = value(&schema, r#"{"o": "z", "b": [{"o": "z"}]}"#);
    for (name, at) in [("o", ".o"), ("b", ".b[0].o")] {
        let marked =
            planned.with_part(&Step::Attr(name.into()), |it| it.with_mark(Mark::Ephemeral));
        let violations = lines(&object_compatible(&schema, &marked, &actual));
        let expected = format!("{at}: inconsistent values for sensitive attribute");
        assert!(violations.lines().any(|line| line == expected), "{violations}");
    }
}

#[test]
fn inconsistency_errors_quote_no_object_with_a_secret_attribute() {
    for secret in [sensitive(optional()), write_only()] {
        let schema = block([("n", nested(ObjectNesting::Set, [("s", secret.clone())]))]);
        let expected = ".n: inconsistent values for sensitive attribute";
        check(&schema, r#"{"n": [{"s": "a"}]}"#, r#"{"n": [{"s": "z"}]}"#, expected);
        let schema = block_with([], [("b", Nesting::Set, block([("s", secret)]))]);
        let expected = ".b: planned set element does not correlate with any element in actual\n.b: \
                        actual set element does not correlate with any element in plan";
        check(&schema, r#"{"b": [{"s": "a"}]}"#, r#"{"b": [{"s": "z"}]}"#, expected);
    }
}

#[test]
fn untyped_null_in_a_planned_set_allows_any_value() {
    let element = Type::object([("d", Type::Dynamic)]);
    let schema = block([("s", Attribute::optional(Type::set(element.clone())))]);
    let object = |d: Value| {
        let elements = vec![Value::object_from([("d", d)])];
        Value::object_from([("s", Value::set(element.clone(), elements))])
    };
    let planned = object(Value::null(Type::Dynamic));
    assert_eq!(lines(&object_compatible(&schema, &planned, &object("x".into()))), "");
}

#[test]
fn applied_value_must_satisfy_the_planned_refinements() {
    let schema = block([("l", Attribute::optional(Type::list(Type::String))), ("o", optional())]);
    let text = Refinements::non_null().with_prefix("ab");
    let list = Refinements::NONE.with_min_length(2).with_max_length(3);
    let planned = Value::object_from([
        ("l", Value::unknown_with(Type::list(Type::String), list)),
        ("o", Value::unknown_with(Type::String, text)),
    ]);
    let cases = [
        (r#"{"l": ["x", "y"], "o": "abc"}"#, ""),
        (r#"{"l": null, "o": "ab"}"#, ""),
        (
            r#"{"l": ["x"], "o": null}"#,
            r#".l: final value cty.ListVal([]cty.Value{cty.StringVal("x")}) does not conform to planning placeholder cty.UnknownVal(cty.List(cty.String)).Refine().CollectionLengthLowerBound(2).CollectionLengthUpperBound(3).NewValue()
.o: final value cty.NullVal(cty.String) does not conform to planning placeholder cty.UnknownVal(cty.String).Refine().NotNull().StringPrefixFull("ab").NewValue()"#,
        ),
    ];
    for (actual, expected) in cases {
        let violations = object_compatible(&schema, &planned, &value(&schema, actual));
        assert_eq!(lines(&violations), expected, "{actual}");
    }
}

#[test]
fn applied_collections_must_keep_planned_elements() {
    let schema = block([
        ("l", Attribute::optional(Type::list(Type::String))),
        ("m", Attribute::optional(Type::map(Type::String))),
        ("s", Attribute::optional(Type::set(Type::String))),
    ]);
    let cases = [
        (r#"{"l": ["a", "?"]}"#, r#"{"l": ["a", "b"]}"#, ""),
        (r#"{"l": ["a", "b"]}"#, r#"{"l": ["a"]}"#, ".l: element 1 has vanished"),
        (r#"{"l": ["a"]}"#, r#"{"l": ["a", "b"]}"#, ".l: new element 1 has appeared"),
        (
            r#"{"l": ["a"]}"#,
            r#"{"l": ["b"]}"#,
            r#".l[0]: was cty.StringVal("a"), but now cty.StringVal("b")"#,
        ),
        (
            r#"{"m": {"k": "a"}}"#,
            r#"{"m": {"l": "a"}}"#,
            ".m: element \"k\" has vanished\n.m: new element \"l\" has appeared",
        ),
        (
            r#"{"m": {"k": "a"}}"#,
            r#"{"m": {"k": "b"}}"#,
            r#".m["k"]: was cty.StringVal("a"), but now cty.StringVal("b")"#,
        ),
        (r#"{"s": ["a", "b"]}"#, r#"{"s": ["b", "a"]}"#, ""),
        // Unknown elements that turn out equal shrink the set.
        (r#"{"s": ["a", "?"]}"#, r#"{"s": ["a"]}"#, ""),
        (r#"{"s": "?"}"#, r#"{"s": ["a", "b"]}"#, ""),
        (r#"{"s": ["?"]}"#, r#"{"s": ["a", "b"]}"#, ".s: length changed from 1 to 2"),
        (
            r#"{"s": ["a", "b"]}"#,
            r#"{"s": ["a", "c"]}"#,
            ".s: planned set element cty.StringVal(\"b\") does not correlate with any element in \
             actual\n.s: actual set element cty.StringVal(\"c\") does not correlate with any element in plan",
        ),
    ];
    for (planned, actual, expected) in cases {
        check(&schema, planned, actual, expected);
    }
}

#[test]
fn untyped_planned_value_allows_any_value() {
    let schema = block([("d", Attribute::optional(Type::Dynamic))]);
    let object = |value| Value::object_from([("d", value)]);
    let planned = object(Value::dynamic());
    assert_eq!(lines(&object_compatible(&schema, &planned, &object(Value::int(1)))), "");
    let planned = object(Value::from("a"));
    let violations = object_compatible(&schema, &planned, &object(Value::int(1)));
    assert_eq!(lines(&violations), ".d: wrong final value type: string required");
}

#[test]
fn applied_blocks_must_equal_planned_blocks() {
    let inner = || block([("c", computed()), ("o", optional())]);
    let cases = [
        (Nesting::Single, r#""?""#, "null", ""),
        (Nesting::Single, "null", "{}", ".b: was absent, but now present"),
        (Nesting::Single, r#"{"c": "?"}"#, r#"{"c": "x"}"#, ""),
        (Nesting::List, r#"[{"c": "?"}]"#, r#"[{"c": "x"}]"#, ""),
        (Nesting::List, "[{}]", "[]", ".b: block count changed from 1 to 0"),
        (Nesting::List, r#""?""#, "[{}, {}]", ""),
        (
            Nesting::List,
            r#"[{"o": "a"}]"#,
            r#"[{"o": "b"}]"#,
            r#".b[0].o: was cty.StringVal("a"), but now cty.StringVal("b")"#,
        ),
        (
            Nesting::Map,
            r#"{"k": {}}"#,
            r#"{"l": {}}"#,
            ".b: block key \"k\" has vanished\n.b: new block key \"l\" has appeared",
        ),
        (Nesting::Map, r#"{"k": {}}"#, "{}", ".b: block count changed from 1 to 0"),
        (Nesting::Set, r#"[{"o": "a", "c": "?"}]"#, r#"[{"o": "a", "c": "x"}]"#, ""),
        // One actual element may complete two planned ones.
        (Nesting::Set, r#"[{"o": "?"}, {"o": "a"}]"#, r#"[{"o": "a"}]"#, ""),
        (
            Nesting::Set,
            r#"[{"o": "a"}]"#,
            r#"[{"o": "a"}, {"o": "b"}]"#,
            r#".b: actual set element cty.ObjectVal(map[string]cty.Value{"c":cty.NullVal(cty.String), "o":cty.StringVal("b")}) does not correlate with any element in plan
.b: block set length changed from 1 to 2"#,
        ),
    ];
    for (nesting, planned, actual, expected) in cases {
        let schema = block_with([], [("b", nesting, inner())]);
        let wrap = |json: &str| format!(r#"{{"b": {json}}}"#);
        check(&schema, &wrap(planned), &wrap(actual), expected);
    }
}

#[test]
fn nested_set_elements_correspond_by_known_attributes() {
    let attributes = [("c", computed()), ("o", optional())];
    let schema = block([("n", nested(ObjectNesting::Set, attributes))]);
    check(
        &schema,
        r#"{"n": [{"o": "a", "c": "?"}, {"o": "b", "c": "?"}]}"#,
        r#"{"n": [{"o": "b", "c": "1"}, {"o": "a", "c": "2"}]}"#,
        "",
    );
    let planned: Vec<String> = (0..3_000).map(|i| format!(r#"{{"o": "{i}", "c": "?"}}"#)).collect();
    let actual: Vec<String> =
        (0..3_000).map(|i| format!(r#"{{"o": "{i}", "c": "x{i}"}}"#)).collect();
    let wrap = |elements: &[String]| format!(r#"{{"n": [{}]}}"#, elements.join(","));
    check(&schema, &wrap(&planned), &wrap(&actual), "");
}

#[test]
fn paths_contain_no_keys_of_a_secret_map() {
    let inner = block([("o", optional())]);
    let schema = block_with([], [("b", Nesting::Map, inner)]);
    let object = |text: &str| value(&schema, text);
    let planned = object(r#"{"b": {"canary-key": {"o": "a"}}}"#);
    let planned = planned.with_part(&Step::Attr("b".into()), |it| it.with_mark(Mark::Sensitive));
    let violations =
        object_compatible(&schema, &planned, &object(r#"{"b": {"canary-key": {"o": "b"}}}"#));
    let said: Vec<String> =
        violations.iter().map(|it| format!("{}: {}", it.path, it.message)).collect();
    assert_eq!(said, [".b.o: inconsistent values for sensitive attribute"]);
}
