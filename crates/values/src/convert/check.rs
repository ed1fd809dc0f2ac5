//! Determines which types convert to which, and the exact type of the result.

use super::unify::{unify, unify_in};
use crate::{ObjectType, Type};

/// The conversions that count: only safe ones, or also those that depend on the value.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Mode {
    Safe,
    Unsafe,
}

/// Returns true if some value of type `from` converts to `to`.
#[must_use]
pub fn can_convert(from: &Type, to: &Type) -> bool {
    possible(from, to, Mode::Unsafe)
}

/// Returns true if every value of type `from` converts to `to`. For types that contain [`Type::Dynamic`], the
/// result follows cty: the values of such parts may still have no common element type.
#[must_use]
pub fn is_safe(from: &Type, to: &Type) -> bool {
    possible(from, to, Mode::Safe)
}

pub(super) fn possible(from: &Type, to: &Type, mode: Mode) -> bool {
    match (from, to) {
        (_, Type::Dynamic) => true,
        (Type::Dynamic, _) => mode == Mode::Unsafe,
        (from, to) if from == to => true,
        (Type::Number | Type::Bool, Type::String) => true,
        (Type::String, Type::Number | Type::Bool) => mode == Mode::Unsafe,
        (Type::List(from) | Type::Set(from), Type::List(to))
        | (Type::Set(from), Type::Set(to))
        | (Type::Map(from), Type::Map(to)) => possible(from, to, mode),
        // Order and duplicates are lost.
        (Type::List(from), Type::Set(to)) => mode == Mode::Unsafe && possible(from, to, mode),
        (Type::Tuple(_), Type::Set(_)) if mode == Mode::Safe => false,
        (Type::Tuple(from), Type::List(to) | Type::Set(to)) => all_possible(from.iter(), to, mode),
        (Type::Object(from), Type::Map(to)) => {
            all_possible(from.iter().map(|(_, ty)| ty), to, mode)
        }
        (Type::Map(from), Type::Object(to)) => {
            mode == Mode::Unsafe && to.iter().all(|(_, to)| possible(from, to, mode))
        }
        (Type::Object(from), Type::Object(to)) => object_possible(from, to, mode),
        (Type::Tuple(from), Type::Tuple(to)) => {
            from.len() == to.len()
                && from.iter().zip(to.iter()).all(|(from, to)| possible(from, to, mode))
        }
        _ => false,
    }
}

fn all_possible<'a>(mut from: impl Iterator<Item = &'a Type>, element: &Type, mode: Mode) -> bool {
    if *element != Type::Dynamic {
        return from.all(|from| possible(from, element, mode));
    }
    let types: Vec<Type> = from.cloned().collect();
    types.is_empty() || unify_in(&types, mode).is_some()
}

fn object_possible(from: &ObjectType, to: &ObjectType, mode: Mode) -> bool {
    to.iter().all(|(name, to_attr)| match from.get(name) {
        Some(from_attr) => possible(from_attr, to_attr, mode),
        None => to.is_optional(name),
    })
}

/// Returns the type of the result of converting a value of type `from` to `to`: `to` with every [`Type::Dynamic`]
/// replaced as far as `from` determines it. Meaningful only if the conversion is possible.
#[must_use]
pub fn result_type(from: &Type, to: &Type) -> Type {
    if !to.has_dynamic() {
        return to.without_optional();
    }
    match (from, to) {
        (_, Type::Dynamic) => from.clone(),
        (Type::List(from) | Type::Set(from), Type::List(to)) => Type::list(result_type(from, to)),
        (Type::List(from) | Type::Set(from), Type::Set(to)) => Type::set(result_type(from, to)),
        (Type::Map(from), Type::Map(to)) => Type::map(result_type(from, to)),
        (Type::Tuple(from), Type::List(to)) => Type::list(unified_element(from.iter(), to)),
        (Type::Tuple(from), Type::Set(to)) => Type::set(unified_element(from.iter(), to)),
        (Type::Object(from), Type::Map(to)) => {
            Type::map(unified_element(from.iter().map(|(_, ty)| ty), to))
        }
        (Type::Tuple(from), Type::Tuple(to)) if from.len() == to.len() => {
            Type::tuple(from.iter().zip(to.iter()).map(|(from, to)| result_type(from, to)))
        }
        (Type::Map(from), Type::Object(to)) => {
            Type::object(to.iter().map(|(name, to)| (name, result_type(from, to))))
        }
        (Type::Object(from), Type::Object(to)) => Type::object(to.iter().map(|(name, to)| {
            (
                name,
                from.get(name).map_or_else(|| to.without_optional(), |from| result_type(from, to)),
            )
        })),
        _ => to.without_optional(),
    }
}

fn unified_element<'a>(from: impl Iterator<Item = &'a Type>, element: &Type) -> Type {
    let types: Vec<Type> = from.map(|from| result_type(from, element)).collect();
    unify(&types).unwrap_or_else(|| element.without_optional())
}
