//! Why `for_each` makes no instances of a value, in the words that analysis and runs have in common.

use values::Type;

/// Of a set that has null in it.
pub const NULL_IN_SET: &str = "\"for_each\" sets must not contain null values";

/// Whether values of a type have keys, if they are known.
pub fn has_keys(ty: &Type) -> bool {
    match ty {
        Type::Map(_) | Type::Object(_) | Type::Dynamic => true,
        Type::Set(element) => matches!(**element, Type::String | Type::Dynamic),
        _ => false,
    }
}

/// Of a type whose values have none.
pub fn wrong_type(ty: &Type) -> String {
    match ty {
        Type::Set(element) => format!(
            "\"for_each\" supports maps and sets of strings, but you have provided a set containing type {}",
            element.friendly_name()
        ),
        ty => format!(
            "the \"for_each\" argument must be a map, or set of strings, and you have provided a value of type {}",
            ty.friendly_name()
        ),
    }
}
