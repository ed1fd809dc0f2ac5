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
    sorted::sort_by(&mut kept, |(hash_a, a), (hash_b, b)| order(a, hash_a, b, hash_b));
    kept.into_iter().map(|(_, value)| value).collect()
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
