//! Unification: finds the common type of a conditional's results, or of the elements of a collection.

use std::cmp::Ordering;

use super::check::{Mode, possible};
use crate::Type;

/// Returns the type that values of all given types convert to, including conversions that depend on the value.
/// `None` if there is none, or if `types` is empty.
#[must_use]
pub fn unify(types: &[Type]) -> Option<Type> {
    unify_in(types, Mode::Unsafe)
}

/// Like [`unify`], with safe conversions only.
#[must_use]
pub fn unify_safe(types: &[Type]) -> Option<Type> {
    unify_in(types, Mode::Safe)
}

pub(super) fn unify_in(types: &[Type], mode: Mode) -> Option<Type> {
    let types = distinct(types);
    match types.as_slice() {
        [] => None,
        [only] => Some(only.clone()),
        several => unify_structure(several, mode).unwrap_or_else(|| most_general(several, mode)),
    }
}

/// Removes duplicates, since many elements usually have few types.
fn distinct(types: &[Type]) -> Vec<Type> {
    let mut found: Vec<Type> = Vec::new();
    for ty in types {
        if !found.contains(ty) {
            found.push(ty.clone());
        }
    }
    found
}

/// Unifies types of one kind by their element types. The outer `None` means that the types are not of one kind.
fn unify_structure(types: &[Type], mode: Mode) -> Option<Option<Type>> {
    let count = |is: fn(&Type) -> bool| types.iter().filter(|ty| is(ty)).count();
    let maps = count(|ty| matches!(ty, Type::Map(_)));
    let lists = count(|ty| matches!(ty, Type::List(_)));
    let sets = count(|ty| matches!(ty, Type::Set(_)));
    let objects = count(|ty| matches!(ty, Type::Object(_)));
    let tuples = count(|ty| matches!(ty, Type::Tuple(_)));
    let open = count(|ty| matches!(ty, Type::Dynamic));
    let all = |some: usize| some > 0 && some + open == types.len();
    if all(maps) || all(lists) || all(sets) {
        return Some(unify_collections(types, open > 0, mode));
    }
    if all(objects) {
        return Some(if open > 0 { Some(Type::Dynamic) } else { unify_objects(types, mode) });
    }
    if all(tuples) {
        return Some(if open > 0 { Some(Type::Dynamic) } else { unify_tuples(types, mode) });
    }
    if maps > 0 && all(maps + objects) {
        return objects_as_maps(types, mode)
            .and_then(|maps| unify_collections(&maps, open > 0, mode))
            .map(Some);
    }
    if lists > 0 && all(lists + tuples) {
        return tuples_as_lists(types, mode)
            .and_then(|lists| unify_collections(&lists, open > 0, mode))
            .map(Some);
    }
    (objects > 0 && tuples > 0).then_some(None)
}

fn unify_collections(types: &[Type], open: bool, mode: Mode) -> Option<Type> {
    if open {
        return Some(Type::Dynamic);
    }
    let elements: Vec<Type> = types.iter().filter_map(Type::element).cloned().collect();
    let element = unify_in(&elements, mode)?;
    match types.first()? {
        Type::Map(_) => Some(Type::map(element)),
        Type::Set(_) => Some(Type::set(element)),
        _ => Some(Type::list(element)),
    }
}

fn unify_objects(types: &[Type], mode: Mode) -> Option<Type> {
    let objects: Vec<_> = types.iter().filter_map(Type::as_object).collect();
    let first = objects.first()?;
    let same_names = objects
        .iter()
        .all(|it| it.iter().map(|(name, _)| name).eq(first.iter().map(|(name, _)| name)));
    if !same_names {
        return objects_to_map(types, mode);
    }
    let mut attributes = Vec::with_capacity(first.len());
    for (name, _) in first.iter() {
        let across: Vec<Type> = objects.iter().filter_map(|it| it.get(name)).cloned().collect();
        attributes.push((name, unify_in(&across, mode)?));
    }
    let unified = Type::object(attributes);
    if types.iter().all(|ty| possible(ty, &unified, mode)) {
        Some(unified)
    } else {
        objects_to_map(types, mode)
    }
}

fn objects_to_map(types: &[Type], mode: Mode) -> Option<Type> {
    let attributes = types.iter().filter_map(Type::as_object).flat_map(|object| object.iter());
    let attributes: Vec<Type> = attributes.map(|(_, ty)| ty.clone()).collect();
    let unified = Type::map(unify_in(&attributes, mode)?);
    types.iter().all(|ty| possible(ty, &unified, mode)).then_some(unified)
}

fn unify_tuples(types: &[Type], mode: Mode) -> Option<Type> {
    let tuples: Vec<&[Type]> = types.iter().filter_map(Type::as_tuple).collect();
    let first = tuples.first()?;
    if tuples.iter().any(|tuple| tuple.len() != first.len()) {
        return tuples_to_list(types, mode);
    }
    let mut elements = Vec::with_capacity(first.len());
    for i in 0..first.len() {
        let across: Vec<Type> = tuples.iter().map(|tuple| tuple[i].clone()).collect();
        elements.push(unify_in(&across, mode)?);
    }
    let unified = Type::tuple(elements);
    if types.iter().all(|ty| possible(ty, &unified, mode)) {
        Some(unified)
    } else {
        tuples_to_list(types, mode)
    }
}

fn tuples_to_list(types: &[Type], mode: Mode) -> Option<Type> {
    let elements: Vec<Type> = types.iter().filter_map(Type::as_tuple).flatten().cloned().collect();
    let unified = Type::list(unify_in(&elements, mode)?);
    types.iter().all(|ty| possible(ty, &unified, mode)).then_some(unified)
}

/// Replaces each object type by a map type, and keeps other types.
fn objects_as_maps(types: &[Type], mode: Mode) -> Option<Vec<Type>> {
    let as_map = |ty: &Type| match ty {
        Type::Object(_) => objects_to_map(std::slice::from_ref(ty), mode),
        other => Some(other.clone()),
    };
    types.iter().map(as_map).collect()
}

/// Replaces each tuple type by a list type, and keeps other types.
fn tuples_as_lists(types: &[Type], mode: Mode) -> Option<Vec<Type>> {
    let as_list = |ty: &Type| match ty {
        Type::Tuple(_) => tuples_to_list(std::slice::from_ref(ty), mode),
        other => Some(other.clone()),
    };
    types.iter().map(as_list).collect()
}

/// Returns the most general of the types that all others convert to.
fn most_general(types: &[Type], mode: Mode) -> Option<Type> {
    let suits = |want: &&Type| types.iter().all(|ty| ty == *want || possible(ty, want, mode));
    by_generality(types).into_iter().find(suits).cloned()
}

/// Sorts topologically by "is more general than". Types that cannot be compared keep their order.
fn by_generality(types: &[Type]) -> Vec<&Type> {
    let mut rest: Vec<&Type> = types.iter().collect();
    let mut sorted = Vec::with_capacity(types.len());
    while !rest.is_empty() {
        let is_free =
            |ty: &&Type| !rest.iter().any(|other| generality(other, ty) == Ordering::Less);
        let free: Vec<&Type> = rest.iter().copied().filter(is_free).collect();
        if free.is_empty() {
            sorted.append(&mut rest);
            break;
        }
        rest.retain(|ty| !free.contains(ty));
        sorted.extend(free);
    }
    sorted
}

/// Returns `Less` if `a` is more general than `b`, and `Equal` if neither is.
fn generality(a: &Type, b: &Type) -> Ordering {
    match (a, b) {
        (Type::Dynamic, Type::Dynamic) => Ordering::Equal,
        // An open type takes the type of the others.
        (Type::Dynamic, _) => Ordering::Greater,
        (_, Type::Dynamic) => Ordering::Less,
        (Type::String, Type::Number | Type::Bool) => Ordering::Less,
        (Type::Number | Type::Bool, Type::String) => Ordering::Greater,
        (Type::List(a), Type::List(b))
        | (Type::Set(a), Type::Set(b))
        | (Type::Map(a), Type::Map(b)) => generality(a, b),
        (Type::List(_) | Type::Tuple(_), Type::Set(_))
        | (Type::List(_), Type::Tuple(_))
        | (Type::Map(_), Type::Object(_)) => Ordering::Less,
        (Type::Set(_), Type::List(_) | Type::Tuple(_))
        | (Type::Tuple(_), Type::List(_))
        | (Type::Object(_), Type::Map(_)) => Ordering::Greater,
        (Type::Object(a), Type::Object(b))
            if a.iter().map(|(name, _)| name).eq(b.iter().map(|(name, _)| name)) =>
        {
            agreed(a.iter().zip(b.iter()).map(|((_, a), (_, b))| generality(a, b)))
        }
        (Type::Tuple(a), Type::Tuple(b)) if a.len() == b.len() => {
            agreed(a.iter().zip(b.iter()).map(|(a, b)| generality(a, b)))
        }
        _ => Ordering::Equal,
    }
}

/// Returns the order that all parts agree on, ignoring parts that are `Equal`. `Equal` if they disagree.
fn agreed(orders: impl Iterator<Item = Ordering>) -> Ordering {
    let mut result = Ordering::Equal;
    for order in orders.filter(|order| order.is_ne()) {
        if result.is_ne() && result != order {
            return Ordering::Equal;
        }
        result = order;
    }
    result
}
