//! Values as short texts without secrets.

use std::fmt::Write as _;

use values::{Kind, MarkKind, Value, go_quoted};

/// The most characters of a value that are shown.
const LONGEST: usize = 60;

/// The values of a chain that may be shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Visibility {
    Shown,
    /// They flow into a sensitive attribute.
    Sensitive,
    /// They flow into a write-only attribute.
    WriteOnly,
}

impl Visibility {
    /// The visibility inside of another one, which prevails if it hides anything.
    pub(crate) fn or_outer(self, outer: Visibility) -> Visibility {
        if outer == Visibility::Shown { self } else { outer }
    }
}

/// A value in the notation of the language, on one line and shortened. Secret parts are placeholders.
pub(crate) fn shown(value: &Value, visibility: Visibility) -> String {
    match visibility {
        Visibility::Shown => {}
        Visibility::Sensitive => return "(sensitive value)".to_owned(),
        Visibility::WriteOnly => return "(write-only value)".to_owned(),
    }
    let mut text = String::new();
    write(value, &mut text);
    text
}

fn write(value: &Value, text: &mut String) {
    if value.marks().has(MarkKind::Ephemeral) {
        return text.push_str("(ephemeral value)");
    }
    if value.marks().has(MarkKind::Sensitive) {
        return text.push_str("(sensitive value)");
    }
    match value.kind() {
        Kind::Null => text.push_str("null"),
        Kind::Unknown(_) => text.push_str("(known after apply)"),
        Kind::Bool(it) => text.push_str(if it { "true" } else { "false" }),
        Kind::Number(it) => text.push_str(&it.to_string()),
        Kind::String(it) => text.push_str(&short_string(it)),
        Kind::List(items) | Kind::Set(items) | Kind::Tuple(items) => {
            write_parts("[", items.iter().map(|it| (None, it)), "]", text);
        }
        Kind::Map(entries) | Kind::Object(entries) => {
            write_parts("{", entries.iter().map(|(key, it)| (Some(&**key), it)), "}", text);
        }
    }
}

fn short_string(it: &str) -> String {
    match it.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("{}... ({} bytes)", go_quoted(&it[..end]), it.len()),
        None => go_quoted(it),
    }
}

/// Writes the parts of a container until the text is long enough, then the number of the others.
fn write_parts<'v>(
    open: &str,
    parts: impl ExactSizeIterator<Item = (Option<&'v str>, &'v Value)>,
    close: &str,
    text: &mut String,
) {
    let count = parts.len();
    text.push_str(open);
    for (index, (key, part)) in parts.enumerate() {
        if text.len() > LONGEST {
            let _ = write!(text, ", and {} more", count - index);
            break;
        }
        if index > 0 {
            text.push_str(", ");
        }
        if let Some(key) = key {
            let key = if addr::is_identifier(key) { key.to_owned() } else { short_string(key) };
            let _ = write!(text, "{key} = ");
        }
        write(part, text);
    }
    text.push_str(close);
}

#[cfg(test)]
mod tests {
    use values::{Mark, Type};

    use super::*;

    #[track_caller]
    fn check(value: &Value, expected: &str) {
        assert_eq!(shown(value, Visibility::Shown), expected);
    }

    #[test]
    fn secret_parts_are_placeholders() {
        let secret = Value::string("hunter2").with_mark(Mark::Sensitive);
        let token = Value::string("token").with_mark(Mark::Ephemeral);
        check(
            &Value::object_from([("a", Value::int(1)), ("b", secret.clone())]),
            "{a = 1, b = (sensitive value)}",
        );
        check(
            &Value::tuple(vec![token, Value::unknown(Type::String)]),
            "[(ephemeral value), (known after apply)]",
        );
        assert_eq!(shown(&Value::string("x"), Visibility::WriteOnly), "(write-only value)");
        assert_eq!(shown(&secret, Visibility::Shown), "(sensitive value)");
    }

    #[test]
    fn long_values_are_shortened() {
        check(&Value::string("x".repeat(100)), &format!("\"{}\"... (100 bytes)", "x".repeat(60)));
        let many = (0..1000).map(Value::int).collect();
        let text = shown(&Value::tuple(many), Visibility::Shown);
        assert!(text.len() < 100 && text.contains(" more]"), "{text}");
    }
}
