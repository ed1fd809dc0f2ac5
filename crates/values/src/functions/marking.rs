//! Functions about marks.

use super::{
    call::{Call, FunctionError},
    signature::{Function, Parameter, Returns, Shape},
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
    .nullable(),
    Function::new(
        "nonsensitive",
        VALUE,
        Returns::From(same_type),
        same,
        "Takes the sensitive mark off a value.",
    )
    .rule(RuleId::Nonsensitive)
    .nullable(),
    Function::new(
        "issensitive",
        VALUE,
        Returns::Fixed(Shape::Bool),
        is_sensitive,
        "Tells whether a value is marked as sensitive.",
    )
    .rule(RuleId::IsSensitive),
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
    // What is not known yet may come with a mark.
    if value.is_known() { Ok(Value::bool(false)) } else { Ok(call.unknown()) }
}

fn ephemeral_as_null(call: &Call<'_>) -> Result<Value, FunctionError> {
    match rules::rule(RuleId::EphemeralAsNull, Domain::Concrete) {
        MarkRule::NullsOut(kind) => Ok(nulled(&call.args[0], kind)),
        _ => Ok(call.args[0].clone()),
    }
}

/// Types stay as they are, so that a configuration means the same in every phase.
fn nulled(value: &Value, kind: MarkKind) -> Value {
    if !value.has_deep(kind) {
        return value.clone();
    }
    if !value.marks().has(kind) {
        return value.map_parts(|_, part| nulled(part, kind));
    }
    let marks = value.marks().clone().without(kind);
    let bare = match value.kind() {
        // It will be null, so nothing that was known of it holds.
        Kind::Unknown(_) => Value::unknown_with(value.ty(), Refinements::NONE),
        _ => Value::null(value.ty()),
    };
    bare.with_marks(&marks)
}
