use values::{Mark, Number, Refinements, Step, Type, Value};

use super::lines;
use crate::fixture::{
    block, block_with, computed, nested, optional, optional_computed, sensitive, value, write_only,
};
use crate::objchange::plan_valid;
use crate::schema::{Attribute, Block, Nesting, ObjectNesting};

#[track_caller]
fn check(block: &Block, [prior, config, planned]: [&str; 3], expected: &str) {
    let of = |json| value(block, json);
    let violations = plan_valid(block, &of(prior), &of(config), &of(planned));
    assert_eq!(lines(&violations), expected, "{prior} {config} {planned}");
}

#[test]
fn planned_attribute_must_be_configured_prior_or_computed() {
    let schema = block([("c", computed()), ("o", optional()), ("oc", optional_computed())]);
    let cases = [
        (["null", "{}", "null"], "planned for absence but config wants existence"),
        (["{}", "null", "{}"], "planned for existence but config wants absence"),
        (["{}", "null", "null"], ""),
        (["null", r#"{"o": "a"}"#, r#"{"c": "?", "o": "a", "oc": "x"}"#], ""),
        // The provider considers the new text equivalent to the old one.
        ([r#"{"o": "{}"}"#, r#"{"o": "{ }"}"#, r#"{"o": "{}"}"#], ""),
        // Every plan is valid for an attribute that is only computed, even if it is configured.
        ([r#"{"c": "x"}"#, r#"{"c": "y"}"#, r#"{"c": "z"}"#], ""),
        ([r#"{"oc": "x"}"#, "{}", r#"{"oc": "?"}"#], ""),
        (
            ["null", r#"{"o": "a"}"#, "{}"],
            r#".o: planned value cty.NullVal(cty.String) does not match config value cty.StringVal("a")"#,
        ),
        (
            [r#"{"o": "p"}"#, "{}", r#"{"o": "p"}"#],
            r#".o: planned value cty.StringVal("p") for a non-computed attribute"#,
        ),
        (
            ["null", "{}", r#"{"o": "a"}"#],
            r#".o: planned value cty.StringVal("a") for a non-computed attribute"#,
        ),
        (
            ["null", r#"{"oc": "a"}"#, r#"{"oc": "b"}"#],
            r#".oc: planned value cty.StringVal("b") does not match config value cty.StringVal("a")"#,
        ),
        (
            [r#"{"o": "p"}"#, r#"{"o": "a"}"#, r#"{"o": "?"}"#],
            r#".o: planned value cty.UnknownVal(cty.String) does not match config value cty.StringVal("a") nor prior value cty.StringVal("p")"#,
        ),
        (
            [r#"{"o": "p"}"#, r#"{"o": "a"}"#, "{}"],
            r#".o: planned value cty.NullVal(cty.String) does not match config value cty.StringVal("a") nor prior value cty.StringVal("p")"#,
        ),
    ];
    for (values, expected) in cases {
        check(&schema, values, expected);
    }
}

#[test]
fn invalid_plan_errors_quote_no_secret() {
    let schema = block([("s", sensitive(optional())), ("w", write_only())]);
    let cases = [
        (
            ["null", "{}", r#"{"s": "x"}"#],
            ".s: sensitive planned value for a non-computed attribute",
        ),
        (
            ["null", r#"{"s": "a"}"#, r#"{"s": "x"}"#],
            ".s: sensitive planned value does not match config value",
        ),
        (
            [r#"{"s": "p"}"#, r#"{"s": "a"}"#, r#"{"s": "x"}"#],
            ".s: sensitive planned value does not match config value nor prior value",
        ),
        (
            ["null", r#"{"w": "a"}"#, r#"{"w": "x"}"#],
            ".w: sensitive planned value does not match config value",
        ),
    ];
    for (values, expected) in cases {
        check(&schema, values, expected);
    }
}

#[test]
fn invalid_plan_errors_quote_no_value_with_marked_configuration() {
    let inner = block([("o", optional())]);
    let schema = block_with([("o", optional())], [("b", Nesting::List, inner)]);
    let planned = value(&schema, r#"{"o": "x", "b": [{"o": "y"}]}"#);
    let config = value(&schema, r#"{"o": "a", "b": [{"o": "b"}]}"#);
    let prior = Value::null(schema.implied_type().clone());
    for name in ["o", "b"] {
        let marked = config.with_part(&Step::Attr(name.into()), |it| it.with_mark(Mark::Sensitive));
        let violations = lines(&plan_valid(&schema, &prior, &marked, &planned));
        let line = violations.lines().find(|line| line.starts_with(&format!(".{name}")));
        let line = line.expect("the value differs");
        assert!(line.ends_with("sensitive planned value does not match config value"), "{line}");
    }
}

#[test]
fn invalid_plan_errors_name_no_key_of_a_secret_map() {
    let schema = block([("m", nested(ObjectNesting::Map, [("a", optional())]))]);
    let of = |json| value(&schema, json);
    let secret = |json| {
        let object: Value = of(json);
        object.with_part(&Step::Attr("m".into()), |it| it.with_mark(Mark::Sensitive))
    };
    for (config, planned, expected) in [
        (
            r#"{"m": {"k": {"a": "x"}}}"#,
            r#"{"m": {"k": {"a": "y"}}}"#,
            ".m.a: sensitive planned value does not match config value",
        ),
        (
            r#"{"m": {"k": {}}}"#,
            r#"{"m": {"l": {}}}"#,
            ".m: map key from plan is not present in config\n.m: map key from config is not present in plan",
        ),
    ] {
        let violations = plan_valid(&schema, &of("null"), &secret(config), &of(planned));
        assert_eq!(lines(&violations), expected);
    }
}

#[test]
fn invalid_plan_errors_quote_no_value_with_a_secret_part() {
    let schema = block([("l", Attribute::optional(Type::list(Type::String)))]);
    let plain = |text: &str| value(&schema, &format!(r#"{{"l": ["{text}"]}}"#));
    let secret = |text: &str| {
        plain(text).with_part(&Step::Attr("l".into()), |list| {
            list.map_parts(|_, element| element.with_mark(Mark::Ephemeral))
        })
    };
    let cases = [
        (plain("p"), secret("a"), plain("x")),
        (secret("p"), plain("a"), plain("x")),
        (plain("p"), plain("a"), secret("x")),
    ];
    for (prior, config, planned) in cases {
        assert_eq!(
            lines(&plan_valid(&schema, &prior, &config, &planned)),
            ".l: sensitive planned value does not match config value nor prior value"
        );
    }
}

#[test]
fn planned_write_only_attributes_must_be_null_at_every_depth() {
    let inner = block([("w", write_only())]);
    let schema = block_with(
        [("n", nested(ObjectNesting::List, [("w", write_only())])), ("w", write_only())],
        [("b", Nesting::List, inner)],
    );
    check(
        &schema,
        [
            r#"{"b": []}"#,
            r#"{"w": "a", "n": [{"w": "b"}], "b": [{"w": "c"}]}"#,
            r#"{"n": [{}], "b": [{}]}"#,
        ],
        "",
    );
}

#[test]
fn planned_blocks_must_equal_the_configuration() {
    let inner = || block([("c", computed()), ("o", optional())]);
    let cases = [
        (Nesting::Single, r#"{"o": "a"}"#, r#"{"o": "a", "c": "?"}"#, ""),
        (Nesting::Single, "null", "{}", ".b: planned for existence but config wants absence"),
        (Nesting::Single, "{}", "null", ".b: planned for absence but config wants existence"),
        (Nesting::Group, r#"{"o": "a"}"#, r#"{"o": "a", "c": "x"}"#, ""),
        (Nesting::List, r#"[{"o": "a"}]"#, r#"[{"o": "a", "c": "?"}]"#, ""),
        (Nesting::List, "null", "[]", ""),
        (
            Nesting::List,
            "[]",
            "null",
            ".b: attribute representing a list of nested blocks must be empty to indicate no blocks, not null",
        ),
        (
            Nesting::List,
            "[{}]",
            "[{}, {}]",
            ".b: block count in plan (2) disagrees with count in config (1)",
        ),
        (
            Nesting::List,
            "[{}]",
            r#"["?"]"#,
            ".b[0]: element representing nested block must not be unknown itself; set nested \
             attribute values to unknown instead",
        ),
        (
            Nesting::List,
            "[{}]",
            r#""?""#,
            ".b: attribute representing nested block must not be unknown itself; set nested \
             attribute values to unknown instead",
        ),
        (Nesting::List, r#""?""#, r#""?""#, ""),
        (
            Nesting::List,
            r#""?""#,
            "[]",
            r#".b: planned value cty.ListValEmpty(cty.Object(map[string]cty.Type{"c":cty.String, "o":cty.String})) for unknown dynamic block"#,
        ),
        (
            Nesting::List,
            r#"[{"o": "a"}]"#,
            r#"[{"o": "z"}]"#,
            r#".b[0].o: planned value cty.StringVal("z") does not match config value cty.StringVal("a")"#,
        ),
        (
            Nesting::Map,
            r#"{"k": {}}"#,
            r#"{"l": {}}"#,
            ".b: block key \"l\" from plan is not present in config\n.b: block key \"k\" from \
             config is not present in plan",
        ),
        (
            Nesting::Map,
            r#"{"k": {}}"#,
            r#"{"k": {}, "l": {}}"#,
            ".b: block count in plan (2) disagrees with count in config (1)",
        ),
        (
            Nesting::Map,
            r#"{"k": {}}"#,
            "null",
            ".b: attribute representing a map of nested blocks must be empty to indicate no blocks, not null",
        ),
        (
            Nesting::Map,
            r#"{"k": {}}"#,
            r#"{"k": {"o": "a"}}"#,
            r#".b["k"].o: planned value cty.StringVal("a") for a non-computed attribute"#,
        ),
        // Elements of sets have no identity, so their content is not checked.
        (Nesting::Set, r#"[{"o": "a"}]"#, r#"[{"o": "z"}, {"o": "y"}]"#, ""),
        (
            Nesting::Set,
            r#"[{"o": "a"}]"#,
            "null",
            ".b: attribute representing a set of nested blocks must be empty to indicate no blocks, not null",
        ),
        (
            Nesting::Set,
            r#"[{"o": "a"}]"#,
            r#"["?"]"#,
            ".b[...]: element representing nested block must not be unknown itself; set nested \
             attribute values to unknown instead",
        ),
    ];
    for (nesting, config, planned, expected) in cases {
        let schema = block_with([], [("b", nesting, inner())]);
        let wrap = |json: &str| format!(r#"{{"b": {json}}}"#);
        check(&schema, ["null", &wrap(config), &wrap(planned)], expected);
    }
}

#[test]
fn planned_nested_objects_must_equal_the_configuration() {
    let attributes = || [("c", computed()), ("o", optional())];
    let cases = [
        (ObjectNesting::Single, r#"{"o": "a"}"#, r#"{"o": "a", "c": "?"}"#, ""),
        (ObjectNesting::Single, "{}", "null", ".n: planned for absence but config wants existence"),
        (ObjectNesting::Single, "{}", r#""?""#, ".n: planned unknown for configured value"),
        (
            ObjectNesting::Single,
            "null",
            "{}",
            r#".n: planned value cty.ObjectVal(map[string]cty.Value{"c":cty.NullVal(cty.String), "o":cty.NullVal(cty.String)}) for a non-computed attribute"#,
        ),
        (
            ObjectNesting::List,
            "[{}]",
            "[{}, {}]",
            ".n: count in plan (cty.NumberIntVal(2)) disagrees with count in config (cty.NumberIntVal(1))",
        ),
        (
            ObjectNesting::List,
            r#""?""#,
            "[{}]",
            ".n: count in plan (cty.NumberIntVal(1)) disagrees with count in config (cty.UnknownVal(cty.Number))",
        ),
        (
            ObjectNesting::List,
            r#"[{"o": "a"}]"#,
            r#"[{"o": "z"}]"#,
            r#".n[0].o: planned value cty.StringVal("z") does not match config value cty.StringVal("a")"#,
        ),
        (ObjectNesting::Map, r#"{"k": {}}"#, r#"{"k": {"c": "?"}}"#, ""),
        (
            ObjectNesting::Map,
            r#"{"k": {}}"#,
            r#"{"l": {}}"#,
            ".n: map key \"l\" from plan is not present in config\n.n: map key \"k\" from config \
             is not present in plan",
        ),
        (ObjectNesting::Set, r#"[{"o": "a"}]"#, r#"[{"o": "z"}]"#, ""),
        (
            ObjectNesting::Set,
            r#"[{"o": "a"}]"#,
            r#"[{"o": "a"}, {"o": "b"}]"#,
            ".n: count in plan (cty.NumberIntVal(2)) disagrees with count in config (cty.NumberIntVal(1))",
        ),
        // Two unknown elements may turn out equal.
        (ObjectNesting::Set, r#"[{"o": "a"}]"#, r#"[{"o": "a"}, {"o": "a", "c": "?"}]"#, ""),
    ];
    for (nesting, config, planned, expected) in cases {
        let schema = block([("n", nested(nesting, attributes()))]);
        let wrap = |json: &str| format!(r#"{{"n": {json}}}"#);
        check(&schema, ["null", &wrap(config), &wrap(planned)], expected);
    }
}

#[test]
fn planned_unknown_value_may_drop_refinements() {
    let schema = block([("o", optional())]);
    let object = |value| Value::object_from([("o", value)]);
    let refined = Value::unknown_with(Type::String, Refinements::non_null().with_prefix("a-"));
    let unknown = Value::unknown(Type::String);
    let prior = Value::null(schema.implied_type().clone());
    for (config, planned) in [(&refined, &unknown), (&unknown, &refined)] {
        let violations =
            plan_valid(&schema, &prior, &object(config.clone()), &object(planned.clone()));
        assert_eq!(lines(&violations), "");
    }
}

#[test]
fn planned_fraction_in_double_precision_equals_the_configured_one() {
    let schema = block([("n", Attribute::optional(Type::Number))]);
    let object = |number| Value::object_from([("n", Value::number(number))]);
    let config = object(Number::parse("0.1").expect("it is a number"));
    let planned = object(Number::from(0.1));
    let prior = Value::null(schema.implied_type().clone());
    assert_eq!(lines(&plan_valid(&schema, &prior, &config, &planned)), "");
}
