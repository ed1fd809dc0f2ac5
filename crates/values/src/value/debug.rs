//! The debug output of values. It uses the notation of the console, and never shows a secret.

use std::fmt;

use super::{Kind, Value};
use crate::{MarkKind, Type};

impl fmt::Debug for Value {
    /// Writes the console's notation. An ephemeral value reads `(ephemeral value)` and a sensitive one `(sensitive
    /// value)`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.marks.has(MarkKind::Ephemeral) {
            return f.write_str("(ephemeral value)");
        }
        if self.marks.has(MarkKind::Sensitive) {
            return f.write_str("(sensitive value)");
        }
        match self.kind() {
            Kind::Null => fmt_null(&self.ty(), f),
            Kind::Unknown(_) => f.write_str("(known after apply)"),
            Kind::Bool(value) => write!(f, "{value}"),
            Kind::Number(number) => write!(f, "{number}"),
            Kind::String(text) => fmt_quoted(text, f),
            Kind::List(items) => fmt_items("tolist(", items, ")", f),
            Kind::Set(items) => fmt_items("toset(", items, ")", f),
            Kind::Tuple(items) => fmt_items("", items, "", f),
            Kind::Map(entries) => fmt_entries("tomap(", entries.iter(), ")", f),
            Kind::Object(entries) => fmt_entries("", entries.iter(), "", f),
        }
    }
}

fn fmt_null(ty: &Type, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    match ty {
        Type::Dynamic => f.write_str("null"),
        Type::String => f.write_str("tostring(null)"),
        Type::Number => f.write_str("tonumber(null)"),
        Type::Bool => f.write_str("tobool(null)"),
        Type::List(element) => write!(f, "tolist(null) /* of {} */", element.friendly_name()),
        Type::Set(element) => write!(f, "toset(null) /* of {} */", element.friendly_name()),
        Type::Map(element) => write!(f, "tomap(null) /* of {} */", element.friendly_name()),
        Type::Tuple(_) | Type::Object(_) => write!(f, "null /* {} */", ty.friendly_name()),
    }
}

/// Quotes text as in a configuration, including escapes and template markers.
fn fmt_quoted(text: &str, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    f.write_str("\"")?;
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '"' => f.write_str("\\\"")?,
            '\\' => f.write_str("\\\\")?,
            '\n' => f.write_str("\\n")?,
            '\r' => f.write_str("\\r")?,
            '\t' => f.write_str("\\t")?,
            '$' | '%' if chars.peek() == Some(&'{') => write!(f, "{c}{c}")?,
            c if c.is_control() => write!(f, "\\u{:04x}", c as u32)?,
            c => write!(f, "{c}")?,
        }
    }
    f.write_str("\"")
}

fn fmt_items(open: &str, items: &[Value], close: &str, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    write!(f, "{open}[")?;
    for (i, item) in items.iter().enumerate() {
        write!(f, "{}{item:?}", if i == 0 { "" } else { ", " })?;
    }
    write!(f, "]{close}")
}

fn fmt_entries<'a>(
    open: &str,
    entries: impl Iterator<Item = (&'a crate::Str, &'a Value)>,
    close: &str,
    f: &mut fmt::Formatter<'_>,
) -> fmt::Result {
    write!(f, "{open}{{")?;
    for (i, (key, value)) in entries.enumerate() {
        f.write_str(if i == 0 { "" } else { ", " })?;
        fmt_quoted(key, f)?;
        write!(f, " = {value:?}")?;
    }
    write!(f, "}}{close}")
}
