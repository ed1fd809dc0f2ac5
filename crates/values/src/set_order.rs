//! The order of a set's elements, which is visible in state files and plans, and the equality of elements.
//!
//! Primitives have a natural order. All other elements are ordered by a *hash text* that equals cty's, so that the
//! files of both tools agree.

use std::{cmp::Ordering, collections::BTreeMap, fmt::Write};

use crate::{Kind, Value, equality, go_quote};

/// Removes later duplicates and sorts the rest in cty's order. The values must not carry marks.
pub(crate) fn distinct_in_order(values: Vec<Value>) -> Vec<Value> {
    if values.len() < 2 {
        return values;
    }
    let mut kept = match values.len() {
        0..=FEW => distinct_of_few(values),
        _ => distinct_of_many(values),
    };
    sorted::sort_by(&mut kept, |(hash_a, a), (hash_b, b)| order(a, hash_a, b, hash_b));
    kept.into_iter().map(|(_, value)| value).collect()
}

/// Up to so many values are compared with each other.
const FEW: usize = 8;

/// Returns values that differ, with their hash texts, in O(n²) steps and with little memory.
fn distinct_of_few(values: Vec<Value>) -> Vec<(String, Value)> {
    let mut kept: Vec<(String, Value)> = Vec::with_capacity(values.len());
    for value in values {
        let hash = hash_text(&value);
        let is_same =
            |it: &(String, Value)| it.0 == hash && equality::certainly_equal(&it.1, &value);
        if !kept.iter().any(is_same) {
            kept.push((hash, value));
        }
    }
    kept
}

/// Returns values that differ, with their hash texts.
fn distinct_of_many(values: Vec<Value>) -> Vec<(String, Value)> {
    let mut buckets: BTreeMap<String, Vec<usize>> = BTreeMap::new();
    let mut kept: Vec<(String, Value)> = Vec::with_capacity(values.len());
    for value in values {
        let hash = hash_text(&value);
        let bucket = buckets.entry(hash.clone()).or_default();
        if bucket.iter().any(|&i| equality::certainly_equal(&kept[i].1, &value)) {
            continue;
        }
        bucket.push(kept.len());
        kept.push((hash, value));
    }
    kept
}

fn order(a: &Value, hash_a: &str, b: &Value, hash_b: &str) -> Ordering {
    let rank = |value: &Value| match value.kind() {
        Kind::Null => 2,
        Kind::Unknown(_) => 1,
        _ => 0,
    };
    rank(a).cmp(&rank(b)).then_with(|| match (a.kind(), b.kind()) {
        (Kind::String(a), Kind::String(b)) => a.as_bytes().cmp(b.as_bytes()),
        (Kind::Number(a), Kind::Number(b)) => a.compare(b),
        (Kind::Bool(a), Kind::Bool(b)) => a.cmp(&b),
        _ => hash_a.cmp(hash_b),
    })
}

/// Returns the text that orders compound elements.
pub(crate) fn hash_text(value: &Value) -> String {
    let mut out = String::new();
    write_hash(value, &mut out);
    out
}

fn write_hash(value: &Value, out: &mut String) {
    match value.kind() {
        Kind::Null => out.push('~'),
        Kind::Unknown(_) => out.push('?'),
        Kind::Bool(true) => out.push('T'),
        Kind::Bool(false) => out.push('F'),
        Kind::Number(number) => out.push_str(&number.ten_digit_text()),
        Kind::String(text) => go_quote::write(text, out),
        Kind::List(items) | Kind::Set(items) => write_items('[', items.iter(), ']', out),
        Kind::Tuple(items) => write_items('<', items.iter(), '>', out),
        Kind::Object(attributes) => write_items('<', attributes.values(), '>', out),
        Kind::Map(entries) => {
            out.push('{');
            for (key, value) in entries {
                go_quote::write(key, out);
                let _ = out.write_char(':');
                write_hash(value, out);
                out.push(';');
            }
            out.push('}');
        }
    }
}

fn write_items<'a>(
    open: char,
    items: impl Iterator<Item = &'a Value>,
    close: char,
    out: &mut String,
) {
    out.push(open);
    for item in items {
        write_hash(item, out);
        out.push(';');
    }
    out.push(close);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Type;

    #[test]
    fn few_and_many_values_keep_the_same_ones() {
        let object = |name: &str, port| {
            Value::object_from([("name", Value::string(name)), ("port", Value::int(port))])
        };
        let values = vec![
            object("b", 1),
            object("a", 1),
            object("b", 1),
            Value::unknown(Type::String),
            Value::unknown(Type::String),
            Value::null(Type::Bool),
            Value::null(Type::Bool),
            object("b", 2),
            object("a", 1),
        ];
        let few = distinct_of_few(values.clone());
        assert_eq!(few.len(), 6, "unknown values may differ");
        assert_eq!(few, distinct_of_many(values));
    }
}
