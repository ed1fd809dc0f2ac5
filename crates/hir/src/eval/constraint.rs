//! Applies the defaults of optional attributes to a value, before its conversion to the type of the constraint.

use std::sync::Arc;

use values::{
    Kind, Refinements, Str, Type, Value, ValueMap,
    convert::{self, ConvertError},
    rules::{self, RuleId},
};

use crate::item::{DefaultStep, Defaults, TypeConstraint};

/// Fills in missing and null attributes from the defaults, at any depth. Null and unknown values stay as they are.
/// A value whose shape differs from the constraint also stays; the conversion then fails.
pub(crate) fn with_defaults(defaults: &Defaults, ty: &Type, value: Value) -> Value {
    if value.stored_length() == Some(0) && !matches!(ty, Type::Object(_)) {
        return value;
    }
    let filled = match (value.kind(), ty) {
        (Kind::Object(attributes) | Kind::Map(attributes), Type::Object(_)) => {
            let filled = fill(defaults, ty, attributes);
            let is_map = matches!(value.kind(), Kind::Map(_));
            if is_map { as_map(filled) } else { Value::object(filled) }
        }
        (Kind::Map(elements) | Kind::Object(elements), Type::Map(element)) => {
            let Some(child) = child(defaults, &DefaultStep::Element) else { return value };
            let changed = |(key, part): (&Str, &Value)| {
                (key.clone(), with_defaults(child, element, part.clone()))
            };
            let changed: ValueMap = elements.iter().map(changed).collect();
            let is_map = matches!(value.kind(), Kind::Map(_));
            if is_map { as_map(changed) } else { Value::object(changed) }
        }
        (
            Kind::List(items) | Kind::Set(items) | Kind::Tuple(items),
            Type::List(_) | Type::Set(_) | Type::Tuple(_),
        ) => {
            let changed = items
                .iter()
                .enumerate()
                .map(|(position, part)| fill_item(defaults, ty, position, part));
            rebuilt(&value, changed.collect())
        }
        _ => return value,
    };
    filled.with_marks(value.marks())
}

fn fill(defaults: &Defaults, ty: &Type, attributes: &ValueMap) -> ValueMap {
    let attribute_type =
        |name: &str| ty.as_object().and_then(|object| object.get(name)).unwrap_or(&Type::Dynamic);
    let mut changed = Vec::new();
    for (name, default) in &defaults.attributes {
        let given = attributes.get(name);
        if given.is_none_or(Value::is_null) {
            // The default reveals that the given value is null, so it inherits marks of that value.
            let marks = rules::result_marks(RuleId::OptionalDefault, given);
            changed.push((name.clone(), default.0.with_marks(&marks)));
        } else if let Some(unknown) = given.filter(|it| !it.is_known() && !default.0.is_null()) {
            let refined = unknown.refined(&Refinements::non_null());
            changed.push((name.clone(), refined));
        }
    }
    let mut filled = attributes.clone();
    filled.extend(changed);
    for (step, child) in &defaults.children {
        if let DefaultStep::Attr(name) = step
            && let Some(part) = filled.get_mut(name)
        {
            *part = with_defaults(child, attribute_type(name), part.clone());
        }
    }
    filled
}

fn fill_item(defaults: &Defaults, ty: &Type, position: usize, part: &Value) -> Value {
    let (step, ty) = match ty {
        Type::Tuple(elements) => (
            DefaultStep::Position(u32::try_from(position).unwrap_or(u32::MAX)),
            elements.get(position),
        ),
        other => (DefaultStep::Element, other.element()),
    };
    match (child(defaults, &step), ty) {
        (Some(child), Some(ty)) => with_defaults(child, ty, part.clone()),
        _ => part.clone(),
    }
}

fn child<'a>(defaults: &'a Defaults, step: &DefaultStep) -> Option<&'a Arc<Defaults>> {
    defaults.children.iter().find(|(at, _)| at == step).map(|(_, child)| child)
}

/// Rebuilds a sequence of the same kind from changed items. If the item types differ now, converts the items to a
/// common type; if there is none, returns a tuple.
fn rebuilt(value: &Value, items: Vec<Value>) -> Value {
    let declared = value.ty().element().cloned();
    match (value.kind(), declared) {
        (Kind::List(_), Some(declared)) => match unified(items.iter(), &declared) {
            Some(ty) => Value::list(ty.clone(), converted(items, &ty)),
            None => Value::tuple(items),
        },
        (Kind::Set(_), Some(declared)) => match unified(items.iter(), &declared) {
            Some(ty) => Value::set(ty.clone(), converted(items, &ty)),
            None => Value::tuple(items),
        },
        _ => Value::tuple(items),
    }
}

fn as_map(entries: ValueMap) -> Value {
    match unified(entries.values(), &Type::Dynamic) {
        Some(ty) => {
            let convert =
                |(key, part): (Str, Value)| (key, convert::convert(&part, &ty).unwrap_or(part));
            Value::map(ty.clone(), entries.into_iter().map(convert).collect())
        }
        None => Value::object(entries),
    }
}

fn unified<'v>(parts: impl Iterator<Item = &'v Value>, if_empty: &Type) -> Option<Type> {
    let types: Vec<Type> = parts.map(Value::ty).collect();
    if types.is_empty() { Some(if_empty.clone()) } else { convert::unify(&types) }
}

fn converted(items: Vec<Value>, ty: &Type) -> Vec<Value> {
    items.into_iter().map(|item| convert::convert(&item, ty).unwrap_or(item)).collect()
}

/// Converts a value to the type of a constraint, after filling in the defaults of optional attributes.
///
/// # Errors
/// If the value does not convert.
pub fn apply_type(constraint: &TypeConstraint, value: Value) -> Result<Value, ConvertError> {
    let value = match &constraint.defaults {
        Some(defaults) => with_defaults(defaults, &constraint.ty, value),
        None => value,
    };
    if constraint.ty == Type::Dynamic {
        return Ok(value);
    }
    convert::convert(&value, &constraint.ty)
}
