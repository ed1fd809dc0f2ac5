//! Tests of accepted and rejected texts, and of all positions.

use expect_test::{Expect, expect};
use proptest::prelude::*;

use super::*;

fn printed(value: &JsonValue, out: &mut String) {
    let place =
        |range: TextRange| format!("{}..{}", u32::from(range.start()), u32::from(range.end()));
    match &value.kind {
        JsonKind::Null => out.push_str("null"),
        JsonKind::Bool(it) => out.push_str(&it.to_string()),
        JsonKind::Number(it) => out.push_str(it),
        JsonKind::String(it) => out.push_str(&format!("{:?}", it.text)),
        JsonKind::Array(elements) => {
            out.push('[');
            elements.iter().for_each(|it| {
                printed(it, out);
                out.push(' ');
            });
            out.push(']');
        }
        JsonKind::Object(properties) => {
            out.push('{');
            properties.iter().for_each(|it| {
                out.push_str(&format!("{:?}@{}: ", it.name.text, place(it.name.range)));
                printed(&it.value, out);
                out.push(' ');
            });
            out.push('}');
        }
    }
    out.push_str(&format!("@{}", place(value.range)));
}

#[track_caller]
fn check(text: &str, expected: Expect) {
    let json = parse_json(text);
    let mut out = String::new();
    if let Some(root) = &json.root {
        printed(root, &mut out);
    }
    if let Some(error) = &json.error {
        let (start, end) = (u32::from(error.range.start()), u32::from(error.range.end()));
        let detail = error.detail(|_| String::new());
        out.push_str(&format!("\n{start}..{end} {}: {detail}", error.summary));
    }
    expected.assert_eq(&out);
}

#[test]
fn json_values_have_their_source_ranges() {
    check(
        "",
        expect![[r#"

        0..0 Missing value: The JSON data ends prematurely."#]],
    );
    check(" { } ", expect!["{}@1..4"]);
    check(
        r#"{"a": [1, -0.5e+3, true, null, "x"], "a": {}}"#,
        expect![[
            r#"{"a"@1..4: [1@7..8 -0.5e+3@10..17 true@19..23 null@25..29 "x"@31..34 ]@6..35 "a"@37..40: {}@42..44 }@0..45"#
        ]],
    );
    check(r#""\u0041\n\ud83d\ude00\ud83d é\/""#, expect![[r#""A\n😀� é/"@0..33"#]]);
}

/// Summaries and start positions equal those of `terraform validate`, with two exceptions. It reports missing
/// commas and closing brackets one token too late, and for an invalid escape it shows the text after it.
#[test]
fn first_json_error_matches_terraform() {
    for text in [
        "{",
        "{\"a\"",
        "{\"a\":",
        "{\"a\":1",
        "{\"a\":1,",
        "{\"a\":1,}",
        "{\"a\" 1}",
        "{\"a\"=1}",
        "{a:1}",
        "{1:2}",
        "{\"a\":}",
        "{\"a\":]}",
        "[",
        "[1",
        "[1,]",
        "[1 2]",
        "[1}",
        "{\"a\":1]",
        "{\"a\":1 \"b\":2}",
        "{\"a\":nul}",
        "{\"a\":undefined}",
        "{\"a\":True}",
        "{\"a\":nothing}",
        "{\"a\":01}",
        "{\"a\":+1}",
        "{\"a\":1.}",
        "{\"a\":.5}",
        "{\"a\":1e}",
        "{\"a\":-}",
        "{\"a\":\"x",
        "{\"a\":\"\\q\"}",
        "{\"a\":\"\\u12\"}",
        "{\"a\":\"x\ny\"}",
        "{} {}",
        "{}x",
        "\u{feff}{}",
        "// c",
        "{\"a\":1,,\"b\":2}",
        "{,}",
        "@",
    ] {
        let json = parse_json(text);
        assert!(json.error.is_some(), "{text}");
    }
    check(
        "{\"a\":1,}",
        expect![[r#"
        {"a"@1..4: 1@5..6 }@0..8
        6..7 Trailing comma in object: JSON does not permit a trailing comma after the final property in an object."#]],
    );
    check(
        "{\"a\"=1}",
        expect![[r#"
        {}@0..5
        4..5 Missing property value colon: JSON uses a colon as its name/value delimiter, not an equals sign."#]],
    );
    check(
        "{\"a\": 1 \"b\": 2}",
        expect![[r#"
        {"a"@1..4: 1@6..7 }@0..11
        8..11 Missing attribute seperator comma: A comma must appear between each property definition in an object."#]],
    );
    check(
        "{\"a\": [1, 2}",
        expect![[r#"
        {"a"@1..4: [1@7..8 2@10..11 ]@6..12 }@0..12
        11..12 Mismatched brackets: A JSON array must be closed with a bracket, not a brace."#]],
    );
    check(
        "{\"a\": {\"b\": 1}",
        expect![[r#"
        {"a"@1..4: {"b"@7..10: 1@12..13 }@6..14 }@0..14
        0..1 Unclosed object: No closing brace was found for this JSON object."#]],
    );
    check(
        "{\"a\": Tru}",
        expect![[r#"
        {}@0..5
        6..9 Invalid JSON keyword: "Tru" is not a valid JSON keyword. Did you mean "true"?"#]],
    );
    check(
        "{\"a\": NaN}",
        expect![[r#"
        {}@0..5
        6..9 Invalid JSON keyword: The JavaScript identifier "NaN" cannot be used in JSON."#]],
    );
    check(
        "{\"a\": \"x\\q\"}",
        expect![[r#"
            {}@0..5
            8..10 Invalid JSON string: There is a syntax error in the given JSON string: after a backslash comes one of " \ / b f n r t, or u with four hexadecimal digits."#]],
    );
    check(
        "{\"a\": \"x",
        expect![[r#"
        {}@0..5
        6..7 Invalid JSON string: There is a syntax error in the given JSON string: there is no quote at its end."#]],
    );
    check(
        "{\"a\": 01}",
        expect![[r#"
        {}@0..5
        6..8 Invalid JSON number: There is a syntax error in the given JSON number."#]],
    );
    check(
        "{} // no",
        expect![[r#"
            {}@0..2
            3..4 Extraneous data after value: Extra characters appear after the JSON value."#]],
    );
}

#[test]
fn offsets_in_a_json_string_map_to_the_source() {
    let source = r#"["ab\n${x}\u00e9y"]"#;
    let json = parse_json(source);
    let Some(JsonValue { kind: JsonKind::Array(elements), .. }) = json.root else { panic!() };
    let JsonKind::String(string) = &elements[0].kind else { panic!() };
    let place = |part: &str| {
        let start = string.text.find(part).expect("is in it") as u32;
        let range = TextRange::at(start.into(), TextSize::of(part));
        &source[string.place(range)]
    };
    assert_eq!(place("ab"), "ab");
    assert_eq!(place("\n"), "\\n");
    assert_eq!(place("${x}"), "${x}");
    assert_eq!(place("x}é"), "x}\\u00e9");
    assert_eq!(place("y"), "y");
}

#[test]
fn deeply_nested_json_is_refused() {
    let text = "[".repeat(200_000);
    let error = parse_json(&text).error.expect("is too deep");
    assert_eq!(error.summary, "Value nested too deeply");
}

proptest! {
    /// Checks that serde accepts the same texts and gives the same values.
    #[test]
    fn json_parser_agrees_with_serde(text in any_text()) {
        let ours = parse_json(&text);
        let theirs: Result<serde_json::Value, _> = serde_json::from_str(&text);
        prop_assert_eq!(ours.error.is_none(), theirs.is_ok(), "{}", text);
        if let (Some(root), Ok(theirs)) = (ours.root.filter(|_| ours.error.is_none()), theirs) {
            prop_assert_eq!(as_serde(&root), theirs);
        }
    }
}

fn any_text() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        Just("{"),
        Just("}"),
        Just("["),
        Just("]"),
        Just(","),
        Just(":"),
        Just("\"a\""),
        Just("\"\\n\\u0041\""),
        Just("1"),
        Just("-0.5e3"),
        Just("01"),
        Just("null"),
        Just("true"),
        Just(" "),
        Just("\"\\x\""),
        Just("{\"a\":1}"),
        Just("[1,2]"),
    ];
    prop::collection::vec(piece, 0..12).prop_map(|pieces| pieces.concat())
}

/// Converts to serde's value, in which the last of several properties with one name counts.
fn as_serde(value: &JsonValue) -> serde_json::Value {
    match &value.kind {
        JsonKind::Null => serde_json::Value::Null,
        JsonKind::Bool(it) => (*it).into(),
        JsonKind::Number(it) => serde_json::from_str(it).expect("is a number"),
        JsonKind::String(it) => it.text.clone().into(),
        JsonKind::Array(elements) => elements.iter().map(as_serde).collect(),
        JsonKind::Object(properties) => {
            properties.iter().map(|it| (it.name.text.clone(), as_serde(&it.value))).collect()
        }
    }
}
