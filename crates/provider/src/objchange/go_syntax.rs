//! Prints values as the Go source that constructs them, the notation of messages for provider developers.

use std::fmt::Write as _;

use values::{Kind, Refinements, Type, Value, go_quoted};

/// Prints a value, for example as `cty.StringVal("a")`.
pub(super) fn value(value: &Value) -> String {
    let mut out = String::new();
    write_value(value, &mut out);
    out
}

/// Returns a space and the key, or nothing if the key is secret.
pub(super) fn key(key: &str, is_secret: bool) -> String {
    if is_secret { String::new() } else { format!(" {}", go_quoted(key)) }
}

fn write_value(value: &Value, out: &mut String) {
    match value.kind() {
        Kind::Null if value.ty() == Type::Dynamic => {
            out.push_str("cty.NullVal(cty.DynamicPseudoType)")
        }
        Kind::Null => push(out, format_args!("cty.NullVal({})", type_text(&value.ty()))),
        Kind::Unknown(refinements) => write_unknown(&value.ty(), refinements, out),
        Kind::Bool(true) => out.push_str("cty.True"),
        Kind::Bool(false) => out.push_str("cty.False"),
        Kind::Number(number) if number.is_integer() => {
            push(out, format_args!("cty.NumberIntVal({number})"))
        }
        Kind::Number(number) => push(out, format_args!("cty.NumberFloatVal({number})")),
        Kind::String(text) => push(out, format_args!("cty.StringVal({})", go_quoted(text))),
        Kind::List(items) => write_items("List", &value.ty(), items, out),
        Kind::Set(items) => write_items("Set", &value.ty(), items, out),
        Kind::Tuple([]) => out.push_str("cty.EmptyTupleVal"),
        Kind::Tuple(items) => write_sequence("cty.TupleVal([]cty.Value{", items, out),
        Kind::Map(entries) if entries.is_empty() => {
            let ty = value.ty();
            let element = ty.element().map(type_text).unwrap_or_default();
            push(out, format_args!("cty.MapValEmpty({element})"));
        }
        Kind::Map(entries) => write_entries("cty.MapVal", entries.iter(), out),
        Kind::Object(entries) if entries.is_empty() => out.push_str("cty.EmptyObjectVal"),
        Kind::Object(entries) => write_entries("cty.ObjectVal", entries.iter(), out),
    }
}

fn push(out: &mut String, text: std::fmt::Arguments<'_>) {
    out.write_fmt(text).expect("writing to a String cannot fail");
}

fn write_unknown(ty: &Type, refinements: &Refinements, out: &mut String) {
    if *ty == Type::Dynamic {
        return out.push_str("cty.DynamicVal");
    }
    push(out, format_args!("cty.UnknownVal({})", type_text(ty)));
    if *refinements == Refinements::NONE {
        return;
    }
    if refinements.is_not_null() && refinements.clone() == Refinements::non_null() {
        return out.push_str(".RefineNotNull()");
    }
    out.push_str(".Refine()");
    if refinements.is_not_null() {
        out.push_str(".NotNull()");
    }
    if !refinements.prefix().is_empty() {
        push(out, format_args!(".StringPrefixFull({})", go_quoted(refinements.prefix())));
    }
    let bounds = [("Lower", refinements.lower()), ("Upper", refinements.upper())];
    for (name, bound) in bounds.into_iter().filter_map(|(name, bound)| Some((name, bound?))) {
        let number = value(&Value::number(bound.value.clone()));
        push(out, format_args!(".NumberRange{name}Bound({number}, {})", bound.inclusive));
    }
    if refinements.min_length() > 0 {
        push(out, format_args!(".CollectionLengthLowerBound({})", refinements.min_length()));
    }
    if let Some(length) = refinements.max_length() {
        push(out, format_args!(".CollectionLengthUpperBound({length})"));
    }
    out.push_str(".NewValue()");
}

fn write_items(name: &str, ty: &Type, items: &[Value], out: &mut String) {
    if items.is_empty() {
        let element = ty.element().map(type_text).unwrap_or_default();
        return push(out, format_args!("cty.{name}ValEmpty({element})"));
    }
    write_sequence(&format!("cty.{name}Val([]cty.Value{{"), items, out);
}

fn write_sequence(open: &str, items: &[Value], out: &mut String) {
    out.push_str(open);
    for (idx, item) in items.iter().enumerate() {
        out.push_str(if idx == 0 { "" } else { ", " });
        write_value(item, out);
    }
    out.push_str("})");
}

fn write_entries<'a>(
    constructor: &str,
    entries: impl Iterator<Item = (&'a values::Str, &'a Value)>,
    out: &mut String,
) {
    push(out, format_args!("{constructor}(map[string]cty.Value{{"));
    for (idx, (key, item)) in entries.enumerate() {
        let separator = if idx == 0 { "" } else { ", " };
        push(out, format_args!("{separator}{}:", go_quoted(key)));
        write_value(item, out);
    }
    out.push_str("})");
}

fn type_text(ty: &Type) -> String {
    match ty {
        Type::Dynamic => "cty.DynamicPseudoType".to_owned(),
        Type::Bool => "cty.Bool".to_owned(),
        Type::Number => "cty.Number".to_owned(),
        Type::String => "cty.String".to_owned(),
        Type::List(element) => format!("cty.List({})", type_text(element)),
        Type::Set(element) => format!("cty.Set({})", type_text(element)),
        Type::Map(element) => format!("cty.Map({})", type_text(element)),
        Type::Tuple(elements) => {
            let elements: Vec<String> = elements.iter().map(type_text).collect();
            format!("cty.Tuple([]cty.Type{{{}}})", elements.join(", "))
        }
        Type::Object(object) => {
            let attributes: Vec<String> = object
                .iter()
                .map(|(name, ty)| format!("{}:{}", go_quoted(name), type_text(ty)))
                .collect();
            format!("cty.Object(map[string]cty.Type{{{}}})", attributes.join(", "))
        }
    }
}
