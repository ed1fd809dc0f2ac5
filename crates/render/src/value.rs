//! Values in the notation of the console and of `output`.

use values::{Kind, MarkKind, Str, Type, Value};

use crate::style::visible;

/// A value as the console shows it: an expression that evaluates to the same value, if there is one.
///
/// Unknown, sensitive and ephemeral parts are shown as placeholders. A string of several lines is a heredoc.
pub fn value(value: &Value) -> String {
    let mut text = String::new();
    write(value, 0, &mut text);
    text
}

fn write(value: &Value, indent: usize, text: &mut String) {
    // OpenTofu's order: unknown comes before sensitive, and sensitive before ephemeral.
    if !value.is_known() {
        return text.push_str("(known after apply)");
    }
    if value.marks().has(MarkKind::Sensitive) {
        return text.push_str("(sensitive value)");
    }
    if value.marks().has(MarkKind::Ephemeral) {
        return text.push_str("(ephemeral value)");
    }
    match value.kind() {
        Kind::Null => text.push_str(&null(&value.ty())),
        Kind::Unknown(_) => {}
        Kind::Bool(it) => text.push_str(if it { "true" } else { "false" }),
        Kind::Number(it) => text.push_str(&it.to_string()),
        Kind::String(it) => write_string(it, indent, text),
        Kind::List(items) => write_items("tolist([", items, "])", indent, text),
        Kind::Set(items) => write_items("toset([", items, "])", indent, text),
        Kind::Tuple(items) => write_items("[", items, "]", indent, text),
        Kind::Map(entries) => write_entries("tomap({", entries.iter(), "})", indent, text),
        Kind::Object(entries) => write_entries("{", entries.iter(), "}", indent, text),
    }
}

fn null(ty: &Type) -> String {
    match ty {
        Type::Dynamic => "null".to_owned(),
        Type::String => "tostring(null)".to_owned(),
        Type::Number => "tonumber(null)".to_owned(),
        Type::Bool => "tobool(null)".to_owned(),
        Type::List(element) => format!("tolist(null) /* of {} */", element.friendly_name()),
        Type::Set(element) => format!("toset(null) /* of {} */", element.friendly_name()),
        Type::Map(element) => format!("tomap(null) /* of {} */", element.friendly_name()),
        Type::Tuple(_) | Type::Object(_) => format!("null /* {} */", ty.friendly_name()),
    }
}

fn write_items(open: &str, items: &[Value], close: &str, indent: usize, text: &mut String) {
    text.push_str(open);
    for item in items {
        new_line(indent + 2, text);
        write(item, indent + 2, text);
        text.push(',');
    }
    if !items.is_empty() {
        new_line(indent, text);
    }
    text.push_str(close);
}

fn write_entries<'a>(
    open: &str,
    entries: impl ExactSizeIterator<Item = (&'a Str, &'a Value)>,
    close: &str,
    indent: usize,
    text: &mut String,
) {
    let is_empty = entries.len() == 0;
    text.push_str(open);
    for (key, item) in entries {
        new_line(indent + 2, text);
        text.push_str(&values::go_quoted(key));
        text.push_str(" = ");
        write(item, indent + 2, text);
    }
    if !is_empty {
        new_line(indent, text);
    }
    text.push_str(close);
}

fn new_line(indent: usize, text: &mut String) {
    text.push('\n');
    text.push_str(&" ".repeat(indent));
}

fn write_string(it: &str, indent: usize, text: &mut String) {
    match it.contains('\n') {
        true => text.push_str(&heredoc(it, indent)),
        false => text.push_str(&values::go_quoted(it)),
    }
}

/// A heredoc whose delimiter differs from every line of the text.
fn heredoc(it: &str, indent: usize) -> String {
    let mut delimiter = "EOT".to_owned();
    while it.lines().any(|line| line.trim() == delimiter) {
        delimiter.push('_');
    }
    let pad = " ".repeat(indent);
    let opening = if indent > 0 { "<<-" } else { "<<" };
    let body: String = it.split('\n').map(|line| format!("{pad}{}\n", visible(line))).collect();
    format!("{opening}{delimiter}\n{body}{pad}{delimiter}")
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};
    use values::{Mark, Number};

    use super::*;

    #[track_caller]
    fn check(it: &Value, expected: Expect) {
        // Makes the space at the end of an empty line visible, so that editors do not strip it.
        expected.assert_eq(&value(it).replace(" \n", "·\n"));
    }

    fn everything() -> Value {
        let text = || Value::string("a");
        Value::object_from([
            ("bool", Value::bool(true)),
            ("empty list", Value::list(Type::String, Vec::new())),
            ("empty map", Value::map(Type::String, Default::default())),
            ("empty object", Value::empty_object()),
            ("empty tuple", Value::empty_tuple()),
            ("escapes", Value::string("\u{7}\"\\${é}\t")),
            ("lines", Value::string("x\n  y\n")),
            ("list", Value::list(Type::String, vec![text(), Value::string("EOT\n")])),
            ("map", Value::map(Type::String, [("k".into(), text())].into_iter().collect())),
            ("number", Value::number(Number::parse("1e30").expect("a number"))),
            ("set", Value::set(Type::String, vec![text()])),
            ("tuple", Value::tuple(vec![Value::int(1), Value::null(Type::Dynamic)])),
        ])
    }

    #[test]
    fn values_print_as_in_the_console() {
        check(
            &everything(),
            expect![[r#"
                {
                  "bool" = true
                  "empty list" = tolist([])
                  "empty map" = tomap({})
                  "empty object" = {}
                  "empty tuple" = []
                  "escapes" = "\a\"\\${é}\t"
                  "lines" = <<-EOT
                  x
                    y
                 ·
                  EOT
                  "list" = tolist([
                    "a",
                    <<-EOT_
                    EOT
                   ·
                    EOT_,
                  ])
                  "map" = tomap({
                    "k" = "a"
                  })
                  "number" = 1000000000000000000000000000000
                  "set" = toset([
                    "a",
                  ])
                  "tuple" = [
                    1,
                    null,
                  ]
                }"#]],
        );
        check(
            &Value::string("x\ny\n"),
            expect![[r#"
            <<EOT
            x
            y

            EOT"#]],
        );
    }

    #[test]
    fn null_values_print_their_type() {
        let nulls = [
            Type::Dynamic,
            Type::String,
            Type::Number,
            Type::Bool,
            Type::list(Type::String),
            Type::set(Type::Number),
            Type::map(Type::Dynamic),
            Type::object([("a", Type::String)]),
            Type::tuple([Type::Bool]),
        ];
        let shown = nulls.map(|ty| value(&Value::null(ty))).join("\n");
        expect![[r#"
            null
            tostring(null)
            tonumber(null)
            tobool(null)
            tolist(null) /* of string */
            toset(null) /* of number */
            tomap(null) /* of dynamic */
            null /* object */
            null /* tuple */"#]]
        .assert_eq(&shown);
    }

    #[test]
    fn placeholder_prefers_unknown_over_sensitive_over_ephemeral() {
        let (secret, fleeting) = (Mark::Sensitive, Mark::Ephemeral);
        let it = Value::object_from([
            (
                "both",
                Value::string("hunter2").with_mark(fleeting.clone()).with_mark(secret.clone()),
            ),
            ("ephemeral", Value::tuple(vec![Value::string("hunter2")]).with_mark(fleeting.clone())),
            ("inside", Value::tuple(vec![Value::string("hunter2").with_mark(secret)])),
            ("unknown", Value::unknown(Type::String).with_mark(fleeting)),
        ]);
        check(
            &it,
            expect![[r#"
            {
              "both" = (sensitive value)
              "ephemeral" = (ephemeral value)
              "inside" = [
                (sensitive value),
              ]
              "unknown" = (known after apply)
            }"#]],
        );
    }

    #[test]
    fn heredoc_escapes_control_characters() {
        check(
            &Value::string("a\n\u{1b}[2J\u{202e}b"),
            expect![[r#"
            <<EOT
            a
            \u001b[2J\u202eb
            EOT"#]],
        );
    }
}
