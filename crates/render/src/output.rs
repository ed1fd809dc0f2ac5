//! Outputs of the root module.

use serde_json::{Map, Value as Json};
use state::{OutputValue, State};
use values::{Kind, MarkKind, Value};

use crate::{json, style::visible_line, value::value};

/// Every output on its own line, as `NAME = VALUE`. The value of a sensitive output is hidden unless
/// `show_sensitive` is set.
///
/// The caller prints the heading `Outputs:`, because `output` has none.
pub fn outputs(state: &State, show_sensitive: bool) -> String {
    let shown = state.outputs.iter().map(|(name, output)| {
        format!("{} = {}\n", visible_line(name), output_value(output, show_sensitive))
    });
    shown.collect()
}

/// The value of one output, or its placeholder.
pub fn output_value(output: &OutputValue, show_sensitive: bool) -> String {
    let hidden = output.sensitive || output.value.marks().has(MarkKind::Sensitive);
    match (hidden, show_sensitive) {
        (true, false) => "<sensitive>".to_owned(),
        (_, true) => value(&output.value.without_deep(MarkKind::Sensitive)),
        (false, false) => value(&output.value),
    }
}

/// All outputs with their types and values, sensitive ones in clear text: the document of `output -json`.
pub fn outputs_json(state: &State) -> String {
    let entries = state.outputs.iter().map(|(name, output)| {
        let described = json::object([
            ("deprecated", output.deprecated.clone().map(Json::String)),
            ("sensitive", Some(output.sensitive.into())),
            ("type", Some(json::of_type(&output.value.ty()))),
            ("value", json::known(&output.value)),
        ]);
        (name.to_string(), described)
    });
    json::pretty(&Json::Object(entries.collect::<Map<_, _>>()))
}

/// One value: the document of `output -json NAME`.
pub fn output_json(value: &Value) -> String {
    json::compact(&json::known(value).unwrap_or(Json::Null))
}

/// One value as plain text, for shells.
///
/// # Errors
/// If the value is not a single string, number or bool, or is ephemeral. The error is a sentence with the reason.
pub fn output_raw(value: &Value) -> Result<String, String> {
    if value.marks().has(MarkKind::Ephemeral) {
        return Err("The value is ephemeral, so it cannot be shown.".to_owned());
    }
    match value.kind() {
        Kind::String(text) => Ok(text.to_string()),
        Kind::Number(number) => Ok(number.to_string()),
        Kind::Bool(it) => Ok(it.to_string()),
        Kind::Null => {
            Err("The value is null, and strings for scripts cannot represent that.".to_owned())
        }
        Kind::Unknown(_) => Err("The value will be known only after apply.".to_owned()),
        _ => Err(format!(
            "The -raw option only supports strings, numbers and booleans, but the value is {}. Use \
             the -json option for machine-readable representations of values that have other types.",
            value.ty().friendly_name()
        )),
    }
}

#[cfg(test)]
mod tests {
    use expect_test::expect;
    use values::{Mark, Type};

    use super::*;

    fn state() -> State {
        let output = |value: Value, sensitive| OutputValue { value, sensitive, deprecated: None };
        let secret = Value::string("hunter2").with_mark(Mark::Sensitive);
        let mut state = State::default();
        state.outputs.insert("a".into(), output(Value::string("x<y"), false));
        state.outputs.insert(
            "b".into(),
            output(Value::tuple(vec![Value::int(1), Value::empty_object()]), false),
        );
        state.outputs.insert("s".into(), output(secret, true));
        state
    }

    #[test]
    fn sensitive_outputs_are_hidden_unless_requested() {
        expect![[r#"
            a = "x<y"
            b = [
              1,
              {},
            ]
            s = <sensitive>
        "#]]
        .assert_eq(&outputs(&state(), false));
        assert!(outputs(&state(), true).ends_with("s = \"hunter2\"\n"));
    }

    #[test]
    fn json_outputs_have_types_and_sensitive_values() {
        expect![[r#"
            {
              "a": {
                "sensitive": false,
                "type": "string",
                "value": "x\u003cy"
              },
              "b": {
                "sensitive": false,
                "type": [
                  "tuple",
                  [
                    "number",
                    [
                      "object",
                      {}
                    ]
                  ]
                ],
                "value": [
                  1,
                  {}
                ]
              },
              "s": {
                "sensitive": true,
                "type": "string",
                "value": "hunter2"
              }
            }"#]]
        .assert_eq(&outputs_json(&state()));
        assert_eq!(
            output_json(&Value::tuple(vec![Value::string("x<y"), Value::int(2)])),
            r#"["x\u003cy",2]"#
        );
    }

    #[test]
    fn raw_output_accepts_only_primitive_values() {
        assert_eq!(output_raw(&Value::string("a\nb")).as_deref(), Ok("a\nb"));
        assert_eq!(output_raw(&Value::int(7)).as_deref(), Ok("7"));
        assert_eq!(output_raw(&Value::bool(true)).as_deref(), Ok("true"));
        let refused = [
            Value::null(Type::String),
            Value::empty_tuple(),
            Value::unknown(Type::String),
            Value::string("hunter2").with_mark(Mark::Ephemeral),
        ];
        for value in refused {
            let reason = output_raw(&value).expect_err("refused");
            assert!(!reason.contains("hunter2") && reason.ends_with('.'), "{reason}");
        }
    }
}
