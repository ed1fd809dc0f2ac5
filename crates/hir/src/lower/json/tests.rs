//! Tests of the translation to native text, and of the locations of problems.

use expect_test::{Expect, expect};
use proptest::prelude::*;

use super::*;

#[track_caller]
fn check_native(text: &str, expected: Expect) {
    let native = native(text, FileKind::default());
    assert!(native.problems.is_empty(), "{:?}", native.problems);
    expected.assert_eq(&native.text);
}

/// Compares the problems of a text, each with the text at its location.
#[track_caller]
fn check(text: &str, expected: Expect) {
    let lowered = lower(text, FileKind { is_json: true, ..FileKind::default() });
    let told = lowered.problems.iter().map(|it| {
        let related = it.related.map(|it| format!(" ({})", &text[it])).unwrap_or_default();
        format!("{} | {}: {}{related}\n", &text[it.range], it.summary, it.detail)
    });
    expected.assert_eq(&told.collect::<String>());
}

#[test]
fn json_labels_come_from_the_keys_of_enclosing_objects() {
    check_native(
        r#"{"variable": {"a": {"type": "list(string)", "default": ["${x}"]}, "b": null, "c": [{}, {}]}}"#,
        expect![[r#"
            variable "a" {
            type = list(string)
            default = ["\u0024{x}", ]
            }
            variable "c" {
            }
            variable "c" {
            }
        "#]],
    );
    check_native(
        r#"[{"resource": [{"t": {"a": {"depends_on": ["t.b"], "lifecycle": {"ignore_changes": "all"}}}}]}, {"//": 1, "locals": [{"a": 1}, {"b": null}]}]"#,
        expect![[r#"
            resource "t" "a" {
            depends_on = [t.b, ]
            lifecycle {
            ignore_changes = all
            }
            }
            locals {
            a = 1
            }
            locals {
            b = null
            }
        "#]],
    );
    check_native(
        r#"{"terraform": {"required_providers": {"x": {"source": "a/${b}", "configuration_aliases": ["x.y"]}}, "backend": {"local": {"path": "p"}}}}"#,
        expect![[r#"
            terraform {
            required_providers {
            x = {"source" = "a/\u0024{b}", "configuration_aliases" = [x.y, ], }
            }
            backend "local" {
            path = "p"
            }
            }
        "#]],
    );
    check_native(
        r#"{"module": {"m": {"source": "./m", "providers": {"x": "x.y"}, "in": {"a": "${1}"}}}}"#,
        expect![[r#"
            module "m" {
            source = "./m"
            providers = {x = x.y, }
            in = {"a" = "${1}", }
            }
        "#]],
    );
}

#[test]
fn json_strings_are_templates_in_evaluated_arguments() {
    check_native(
        r#"{"locals": {"a": "x", "b": "${local.a}", "c": "say \"${upper(\"hi\")}\"\n$${no} \u00e9", "d": {"${local.a}": [1.50, "%{ if true }y%{ endif }"]}}}"#,
        expect![[r#"
            locals {
            a = "x"
            b = "${local.a}"
            c = "say \"${upper("hi")}\"\n$${no} é"
            d = {"${local.a}" = [1.50, "%{ if true }y%{ endif }", ], }
            }
        "#]],
    );
}

#[test]
fn json_objects_are_lowered_as_attribute_and_as_block() {
    check_native(
        r#"{"resource": {"t": {"a": {"one": {"x": 1}, "many": [{"y": "${z.a}"}], "list": [1], "tags": {"a b": 1}, "dynamic": {"one": {"for_each": [], "content": {"x": 2}}}}}}}"#,
        expect![[r#"
            resource "t" "a" {
            one = {"x" = 1, }
            one {
            x = 1
            }
            many = [{"y" = "${z.a}", }, ]
            many {
            y = "${z.a}"
            }
            list = [1, ]
            tags = {"a b" = 1, }
            tags {
            }
            dynamic "one" {
            for_each = []
            content {
            x = 2
            }
            }
            }
        "#]],
    );
}

#[test]
fn json_errors_are_located_in_the_text() {
    check(
        r#"{"foo": 1, "varible": {}}"#,
        expect![[r#"
        "foo" | Extraneous JSON object property: No argument or block type is named "foo".
        "varible" | Extraneous JSON object property: No argument or block type is named "varible". Did you mean "variable"?
    "#]],
    );
    check(
        r#"{"variable": {"x": {"typ": "string", "type": "list(strin)"}}}"#,
        expect![[r#"
        strin | Invalid type specification: The keyword "strin" is not a valid type specification. Did you mean "string"?
        "typ" | Extraneous JSON object property: No argument or block type is named "typ". Did you mean "type"?
    "#]],
    );
    check(
        r#"{"variable": {"x": 1, "y": [2]}, "locals": 1, "output": {}}"#,
        expect![[r#"
        1 | Incorrect JSON value type: Either a JSON object or a JSON array is required, representing the contents of one or more "variable" blocks.
        2 | Incorrect JSON value type: Either a JSON object or a JSON array of objects is required here, to define arguments and child blocks.
        1 | Incorrect JSON value type: Either a JSON object or a JSON array is required, representing the contents of one or more "locals" blocks.
        { | Missing block label: At least one object property is required, whose name represents the output block's name.
    "#]],
    );
    check(
        r#"{"output": {"a": {"value": 1, "value": 2}, "b": {}}}"#,
        expect![[r#"
        "value" | Duplicate argument: The argument "value" was already set at ￼. ("value")
        "b" | Missing required argument: The argument "value" is required, but no definition was found.
    "#]],
    );
    check(
        r#"{"locals": {"a": {"k": 1, "k": 2}, "b c": 1}}"#,
        expect![[r#"
        "k" | Duplicate object attribute: An attribute named "k" was already defined at ￼. ("k")
        "b c" | Invalid argument name: "b c" is no name of an argument: it must start with a letter or underscore and may contain only letters, digits, underscores, and dashes.
    "#]],
    );
    check(
        r#"{"locals": {"a": "x ${1 +} y", "b": "\u0041${", "c": "${a.*.b"}}"#,
        expect![[r#"
        } | Invalid expression: Expected the start of an expression, but found an invalid expression token.
         | Missing expression: Expected the start of an expression, but there is nothing more: the text ends here, or another block begins.
        ${ | Unclosed template interpolation sequence: There is no closing brace for this interpolation sequence before the end of the file. This might be caused by incorrect nesting inside the given expression.
    "#]],
    );
    check(
        r#"{"resource": {"t": {"a": {"depends_on": ["t.b["], "provider": "1x"}}}}"#,
        expect![[r#"
             | Missing expression: Expected the start of an expression, but there is nothing more: the text ends here, or another block begins.
            x | Extra characters after expression: An expression was successfully parsed, but extra characters were found after it.
        "#]],
    );
    check(
        r#"{"variable": {"source": {}}, "locals": {"a": 1},}"#,
        expect![[r#"
        , | Trailing comma in object: JSON does not permit a trailing comma after the final property in an object.
    "#]],
    );
    check(
        "1",
        expect![[r#"
        1 | Root value must be object: The root value in a JSON-based configuration must be either a JSON object or a JSON array of objects.
    "#]],
    );
}

#[test]
fn ranges_in_json_strings_account_for_escapes() {
    let text = r#"{"locals": {"a": "\u0041\n${local.first} \"${local.second}\""}}"#;
    let lowered = lower(text, FileKind { is_json: true, ..FileKind::default() });
    let map = &lowered.source_maps[0];
    let places: Vec<&str> = map.exprs().map(|(_, range)| &text[range]).collect();
    assert_eq!(
        places,
        ["local.first", "local.second", r#""\u0041\n${local.first} \"${local.second}\"""#]
    );
    assert_eq!(map.nodes().map(|(_, range)| &text[range]).collect::<Vec<_>>(), [r#""a""#]);
    assert_eq!(headers(text, "a.tf.json")[0].1, "locals");
}

#[test]
fn native_text_of_deep_json_grows_linearly() {
    let deep = format!("{}1{}", r#"{"b":"#.repeat(500), "}".repeat(500));
    let text = format!(r#"{{"resource":{{"t":{{"a":{deep}}}}}}}"#);
    assert!(native(&text, FileKind::default()).text.len() < 50 * text.len());
}

fn any_json() -> impl Strategy<Value = String> {
    let leaf = prop_oneof![
        Just("1".to_owned()),
        Just("null".to_owned()),
        Just(r#""a.b""#.to_owned()),
        Just(r#""${local.a}""#.to_owned()),
        Just(r#""\u0041${ü""#.to_owned()),
        Just(r#""%{ if a }\n${b}""#.to_owned()),
        Just(r#""%{ if a }\n${b}%{ endif }\"""#.to_owned()),
    ];
    let names = [
        "resource",
        "variable",
        "locals",
        "t",
        "a",
        "a b",
        "dynamic",
        "content",
        "lifecycle",
        "depends_on",
        "type",
        "//",
        "ü",
        "_",
        "${a}",
    ];
    leaf.prop_recursive(6, 40, 4, move |inner| {
        let property = (prop::sample::select(names.to_vec()), inner.clone());
        let property = property.prop_map(|(name, value)| format!("{name:?}: {value}"));
        prop_oneof![
            prop::collection::vec(inner, 0..4).prop_map(|it| format!("[{}]", it.join(", "))),
            prop::collection::vec(property, 0..4).prop_map(|it| format!("{{{}}}", it.join(", "))),
        ]
    })
}

proptest! {
    /// Checks that nothing panics, that all ranges are in the text, and that valid JSON gives valid native text.
    #[test]
    fn any_valid_json_lowers_to_valid_native_text(text in any_json()) {
        let native = native(&text, FileKind::default());
        let parse = syntax::parse_file(&native.text);
        if native.problems.is_empty() {
            let errors = parse.errors();
            prop_assert!(errors.is_empty(), "{}\n{}\n{:?}", text, native.text, errors);
        }
        let lowered = lower(&text, FileKind { is_json: true, ..FileKind::default() });
        let places = lowered.source_maps.iter().flat_map(|it| it.exprs.iter().chain(&it.nodes));
        for place in places.chain(lowered.problems.iter().map(|it| &it.range)) {
            let range = std::ops::Range::<usize>::from(*place);
            prop_assert!(text.get(range).is_some(), "{:?} in {}", place, text);
        }
    }
}
