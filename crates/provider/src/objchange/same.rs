use std::hash::{Hash, Hasher};

use values::{Kind, Value};

/// Returns true if two values are equal apart from marks and refinements of unknown parts.
pub(super) fn same(a: &Value, b: &Value) -> bool {
    if a.is_wholly_known() != b.is_wholly_known() {
        return false;
    }
    if a.is_wholly_known() && !a.is_marked_deep() && !b.is_marked_deep() {
        return a.raw_equals(b);
    }
    match (a.kind(), b.kind()) {
        (Kind::Unknown(_), Kind::Unknown(_)) => a.ty() == b.ty(),
        (Kind::List(x), Kind::List(y)) | (Kind::Set(x), Kind::Set(y)) => {
            a.ty() == b.ty() && same_items(x, y)
        }
        (Kind::Tuple(x), Kind::Tuple(y)) => same_items(x, y),
        (Kind::Map(x), Kind::Map(y)) => {
            a.ty() == b.ty() && same_entries(x.iter(), y.iter(), x.len() == y.len())
        }
        (Kind::Object(x), Kind::Object(y)) => same_entries(x.iter(), y.iter(), x.len() == y.len()),
        _ => a.unmark().0.raw_equals(&b.unmark().0),
    }
}

fn same_items(x: &[Value], y: &[Value]) -> bool {
    x.len() == y.len() && x.iter().zip(y).all(|(a, b)| same(a, b))
}

fn same_entries<'a, K: PartialEq>(
    x: impl Iterator<Item = (K, &'a Value)>,
    y: impl Iterator<Item = (K, &'a Value)>,
    same_length: bool,
) -> bool {
    same_length && x.zip(y).all(|((key, a), (other, b))| key == other && same(a, b))
}

/// Hashes a value. Values that are [`same`] have the same hash.
pub(super) fn hash_value(value: &Value, hasher: &mut impl Hasher) {
    match value.kind() {
        Kind::Null => 0u8.hash(hasher),
        Kind::Unknown(_) => 1u8.hash(hasher),
        Kind::Bool(it) => (2u8, it).hash(hasher),
        // Whole numbers are equal by value although their texts depend on the precision; other numbers are equal
        // by text.
        Kind::Number(it) if it.is_integer() => {
            (3u8, (it.nearest_f64() + 0.0).to_bits()).hash(hasher)
        }
        Kind::Number(it) => (7u8, it.to_string()).hash(hasher),
        Kind::String(it) => (4u8, it).hash(hasher),
        Kind::List(items) | Kind::Set(items) | Kind::Tuple(items) => {
            (5u8, items.len()).hash(hasher);
            for item in items {
                hash_value(item, hasher);
            }
        }
        Kind::Map(entries) | Kind::Object(entries) => {
            (6u8, entries.len()).hash(hasher);
            for (key, item) in entries {
                key.hash(hasher);
                hash_value(item, hasher);
            }
        }
    }
}
