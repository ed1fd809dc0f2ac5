//! Rules and messages for the values that `for_each` accepts, shared by the analysis and the engine.

use values::Type;

/// The message for a `for_each` set that contains null.
pub const NULL_IN_SET: &str = "\"for_each\" sets must not contain null values";

/// Returns true if `for_each` accepts values of this type. `Dynamic` is accepted: the type is not known yet.
pub fn has_keys(ty: &Type) -> bool {
    match ty {
        Type::Map(_) | Type::Object(_) | Type::Dynamic => true,
        Type::Set(element) => matches!(**element, Type::String | Type::Dynamic),
        _ => false,
    }
}

/// The message for a `for_each` value of a type that [`has_keys`] rejects.
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
