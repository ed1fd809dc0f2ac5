//! Messages for two types without a conversion between them.

use super::check::{can_convert, is_safe};
use crate::{ObjectType, Type};

/// Returns the reason why `got` does not convert to `want`, such as `attribute "a" is required`. Meaningful only
/// if it does not. The attribute names of `got` come from values and may be quoted; for a secret value, use
/// [`mismatch_of_secret`].
#[must_use]
pub fn mismatch(got: &Type, want: &Type) -> String {
    reason(got, want, true)
}

/// Like [`mismatch`], without the keys of elements, which may be secret.
#[must_use]
pub(crate) fn mismatch_of_secret(got: &Type, want: &Type) -> String {
    reason(got, want, false)
}

/// Returns the reason. `names_keys` permits the names of elements in it; the names of wanted attributes are always
/// permitted.
fn reason(got: &Type, want: &Type, names_keys: bool) -> String {
    match (got, want) {
        (Type::Object(got), Type::Object(want)) => objects(got, want, names_keys),
        (Type::Tuple(_), Type::List(element)) if **element == Type::Dynamic => same_type("list"),
        (Type::Tuple(_), Type::Set(element)) if **element == Type::Dynamic => same_type("set"),
        (Type::Object(_), Type::Map(element)) if **element == Type::Dynamic => same_type("map"),
        (Type::Tuple(got), Type::List(want) | Type::Set(want)) => {
            let elements = got.iter().enumerate().map(|(i, ty)| (format!("element {i}"), ty));
            structural(elements, want, names_keys)
        }
        (Type::Object(got), Type::Map(want)) => {
            let quoted = |name| {
                if names_keys { format!("element {name:?}") } else { "an element".to_owned() }
            };
            structural(got.iter().map(|(name, ty)| (quoted(name), ty)), want, names_keys)
        }
        (Type::List(got) | Type::Set(got), Type::List(want)) => {
            collection("list", got, want, names_keys)
        }
        (Type::List(got) | Type::Set(got), Type::Set(want)) => {
            collection("set", got, want, names_keys)
        }
        (Type::Map(got), Type::Map(want)) => collection("map", got, want, names_keys),
        _ => required(want),
    }
}

fn required(want: &Type) -> String {
    format!("{} required", want.friendly_constraint())
}

fn same_type(noun: &str) -> String {
    format!("all {noun} elements must have the same type")
}

fn collection(noun: &str, got: &Type, want: &Type, names_keys: bool) -> String {
    format!("incorrect {noun} element type: {}", reason(got, want, names_keys))
}

fn structural<'a>(
    got: impl Iterator<Item = (String, &'a Type)>,
    want: &Type,
    names_keys: bool,
) -> String {
    for (key, got) in got {
        if !can_convert(got, want) {
            return format!("{key}: {}", reason(got, want, names_keys));
        }
    }
    format!("all elements must be {}", want.friendly_constraint())
}

/// Reports missing attributes first, then an attribute that never converts, then one that may not convert.
fn objects(got: &ObjectType, want: &ObjectType, names_keys: bool) -> String {
    let missing = want
        .iter()
        .map(|(name, _)| name)
        .filter(|name| got.get(name).is_none() && !want.is_optional(name));
    let missing: Vec<String> = missing.map(|name| format!("{name:?}")).collect();
    match missing.as_slice() {
        [] => {}
        [one] => return format!("attribute {one} is required"),
        [one, two] => return format!("attributes {one} and {two} are required"),
        [most @ .., last] => {
            return format!("attributes {}, and {last} are required", most.join(", "));
        }
    }
    for converts in [can_convert, is_safe] {
        for (name, want) in want.iter() {
            if let Some(got) = got.get(name)
                && !converts(got, want)
            {
                return format!("attribute {name:?}: {}", reason(got, want, names_keys));
            }
        }
    }
    "incorrect object attributes".to_owned()
}
