//! What to say of two types between which there is no conversion.

use super::check::{can_convert, is_safe};
use crate::{ObjectType, Type};

/// Why `got` does not convert to `want`, such as `attribute "a" is required`. Meaningful only if it does not.
#[must_use]
pub fn mismatch(got: &Type, want: &Type) -> String {
    match (got, want) {
        (Type::Object(got), Type::Object(want)) => objects(got, want),
        (Type::Tuple(_), Type::List(element)) if **element == Type::Dynamic => same_type("list"),
        (Type::Tuple(_), Type::Set(element)) if **element == Type::Dynamic => same_type("set"),
        (Type::Object(_), Type::Map(element)) if **element == Type::Dynamic => same_type("map"),
        (Type::Tuple(got), Type::List(want) | Type::Set(want)) => {
            structural(got.iter().enumerate().map(|(i, ty)| (i.to_string(), ty)), want)
        }
        (Type::Object(got), Type::Map(want)) => {
            structural(got.iter().map(|(name, ty)| (format!("{name:?}"), ty)), want)
        }
        (Type::List(got) | Type::Set(got), Type::List(want)) => collection("list", got, want),
        (Type::List(got) | Type::Set(got), Type::Set(want)) => collection("set", got, want),
        (Type::Map(got), Type::Map(want)) => collection("map", got, want),
        _ => required(want),
    }
}

fn required(want: &Type) -> String {
    format!("{} required", want.friendly_constraint())
}

fn same_type(noun: &str) -> String {
    format!("all {noun} elements must have the same type")
}

fn collection(noun: &str, got: &Type, want: &Type) -> String {
    format!("incorrect {noun} element type: {}", mismatch(got, want))
}

fn structural<'a>(got: impl Iterator<Item = (String, &'a Type)>, want: &Type) -> String {
    for (key, got) in got {
        if !can_convert(got, want) {
            return format!("element {key}: {}", mismatch(got, want));
        }
    }
    format!("all elements must be {}", want.friendly_constraint())
}

/// Missing attributes come first, then an attribute that never converts, then one that may not.
fn objects(got: &ObjectType, want: &ObjectType) -> String {
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
                return format!("attribute {name:?}: {}", mismatch(got, want));
            }
        }
    }
    "incorrect object attributes".to_owned()
}
