//! Functions that add, remove and query marks.

use super::{
    call::{Call, FunctionError},
    signature::{Function, Needs, Parameter, Returns, Shape},
};
use crate::{
    Kind, MarkKind, Refinements, Type, Value,
    rules::{self, Domain, MarkRule, RuleId},
};

const VALUE: &[Parameter] = &[Parameter::any("value").nullable().lazy()];

pub(super) const FUNCTIONS: &[Function] = &[
    Function::new(
        "sensitive",
        VALUE,
        Returns::From(same_type),
        same,
        "Marks a value as sensitive.",
    )
    .rule(RuleId::Sensitive)
    .needs(Needs::Nothing)
    .nullable(),
    Function::new(
        "nonsensitive",
        VALUE,
        Returns::From(same_type),
        same,
        "Removes the sensitive mark of a value.",
    )
    .rule(RuleId::Nonsensitive)
    .needs(Needs::Nothing)
    .nullable(),
    Function::new(
        "issensitive",
        VALUE,
        Returns::Fixed(Shape::Bool),
        is_sensitive,
        "Returns true if a value is marked as sensitive.",
    )
    .rule(RuleId::IsSensitive)
    .needs(Needs::Nothing),
    Function::new(
        "ephemeralasnull",
        VALUE,
        Returns::From(same_type),
        ephemeral_as_null,
        "Replaces every ephemeral part of a value by null.",
    )
    .rule(RuleId::EphemeralAsNull)
    .nullable(),
];

fn same_type(args: &[Value]) -> Result<Type, FunctionError> {
    Ok(args.first().map_or(Type::Dynamic, Value::ty))
}

fn same(call: &Call<'_>) -> Result<Value, FunctionError> {
    Ok(call.args[0].clone())
}

fn is_sensitive(call: &Call<'_>) -> Result<Value, FunctionError> {
    let value = &call.args[0];
    if value.marks().has(MarkKind::Sensitive) {
        return Ok(Value::bool(true));
    }
    // An unknown value may still get a mark.
    if value.is_known() { Ok(Value::bool(false)) } else { Ok(Value::unknown(Type::Bool)) }
}

fn ephemeral_as_null(call: &Call<'_>) -> Result<Value, FunctionError> {
    match rules::rule(RuleId::EphemeralAsNull, Domain::Concrete) {
        MarkRule::NullsOut(kind) => Ok(nulled(&call.args[0], kind)),
        _ => Ok(call.args[0].clone()),
    }
}

/// Replaces the parts that have a mark by null. Types stay the same, so that a configuration has the same meaning
/// in every phase. Only the type of an ephemeral object or tuple becomes open: its attribute names may be the
/// secret, as in `{ (var.secret) = 1 }`, and types are stored.
fn nulled(value: &Value, kind: MarkKind) -> Value {
    nulled_in(value, kind, true)
}

/// Implements [`nulled`]. `may_open` permits the type to become open. It is false inside a collection, whose
/// elements must keep their type.
fn nulled_in(value: &Value, kind: MarkKind, may_open: bool) -> Value {
    if !value.has_deep(kind) {
        return value.clone();
    }
    if !value.marks().has(kind) {
        let may_open = may_open && !value.ty().is_collection();
        return value.map_parts(|_, part| nulled_in(part, kind, may_open));
    }
    let marks = value.marks().clone().without(kind);
    let ty = match value.ty() {
        ty if may_open && ty.is_shaped_by_values() => Type::Dynamic,
        ty => ty,
    };
    let bare = match value.kind() {
        // The value will be null, so its refinements no longer hold.
        Kind::Unknown(_) => Value::unknown_with(ty, Refinements::NONE),
        _ => Value::null(ty),
    };
    bare.with_marks(&marks)
}
