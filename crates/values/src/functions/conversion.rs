//! Type conversions: `tostring`, `tolist` and similar functions.

use super::{
    call::{Call, FunctionError},
    signature::{Body, Function, Needs, Parameter, Place, Returns, Shape},
};
use crate::{Type, Value, convert, rules::RuleId};

const VALUE: &[Parameter] = &[Parameter::any("v").nullable().lazy()];

const fn conversion(
    name: &'static str,
    returns: Returns,
    body: fn(&Call<'_>) -> Result<Value, FunctionError>,
    doc: &'static str,
) -> Function {
    Function::new(name, VALUE, returns, body, doc).rule(RuleId::Conversion).nullable()
}

pub(super) const FUNCTIONS: &[Function] = &[
    conversion(
        "tostring",
        Returns::Fixed(Shape::String),
        to_primitive,
        "Converts a value to a string.",
    ),
    conversion(
        "tonumber",
        Returns::Fixed(Shape::Number),
        to_primitive,
        "Converts a value to a number.",
    ),
    conversion("tobool", Returns::Fixed(Shape::Bool), to_primitive, "Converts a value to a bool."),
    conversion("tolist", Returns::From(list_type), to_list, "Converts a value to a list."),
    conversion("toset", Returns::From(set_type), to_set, "Converts a value to a set."),
    conversion("tomap", Returns::From(map_type), to_map, "Converts a value to a map."),
    Function {
        name: "convert",
        doc: "Converts a value to a type, written as the type of a variable is. Defaults of \
              optional attributes are filled in.",
        params: &[Parameter::any("value").nullable().lazy(), Parameter::new("type", Shape::Type)],
        variadic: None,
        rule: RuleId::Conversion,
        place: Place::Everywhere,
        returns: Returns::From(any_type),
        nullable: true,
        needs: Needs::Nothing,
        body: Body::Form,
    },
];

/// The written type determines the result, and it is not a value.
fn any_type(_args: &[Value]) -> Result<Type, FunctionError> {
    Ok(Type::Dynamic)
}

fn to_primitive(call: &Call<'_>) -> Result<Value, FunctionError> {
    converted(call, &call.ty)
}

fn to_list(call: &Call<'_>) -> Result<Value, FunctionError> {
    converted(call, &Shape::List.ty())
}

fn to_set(call: &Call<'_>) -> Result<Value, FunctionError> {
    converted(call, &Shape::Set.ty())
}

fn to_map(call: &Call<'_>) -> Result<Value, FunctionError> {
    converted(call, &Shape::Map.ty())
}

fn list_type(args: &[Value]) -> Result<Type, FunctionError> {
    collection_type(args, &Shape::List.ty())
}

fn set_type(args: &[Value]) -> Result<Type, FunctionError> {
    collection_type(args, &Shape::Set.ty())
}

fn map_type(args: &[Value]) -> Result<Type, FunctionError> {
    collection_type(args, &Shape::Map.ty())
}

fn collection_type(args: &[Value], to: &Type) -> Result<Type, FunctionError> {
    let from = args.first().map_or(Type::Dynamic, Value::ty);
    if !convert::can_convert(&from, to) {
        return Err(FunctionError::at(0, no_conversion(&from, to)));
    }
    Ok(convert::result_type(&from, to))
}

fn no_conversion(from: &Type, to: &Type) -> String {
    format!("cannot convert {} to {}", from.friendly_name(), to.friendly_constraint())
}

fn converted(call: &Call<'_>, to: &Type) -> Result<Value, FunctionError> {
    let value = &call.args[0];
    let from = value.ty();
    if !convert::can_convert(&from, to) {
        return Err(FunctionError::at(0, no_conversion(&from, to)));
    }
    if !value.is_known() {
        // As in OpenTofu, only the type of the result is known, not even its length.
        return Ok(call.unknown());
    }
    convert::convert(value, to).map_err(|error| {
        let (given, wanted) = (from.friendly_name(), to.friendly_constraint());
        let shown = || call.quoted(value.as_str().unwrap_or(""));
        FunctionError::at(0, match (call.secrecy(), &from, to) {
            (Some(word), ..) => format!("cannot convert this {word} {given} to {wanted}"),
            (_, Type::String, Type::Bool) => {
                format!("cannot convert {} to bool; only the strings \"true\" or \"false\" are allowed", shown())
            }
            (_, Type::String, Type::Number) => format!(
                "cannot convert {} to number; given string must be a decimal representation of a number",
                shown()
            ),
            _ => format!("cannot convert {given} to {wanted}: {error}"),
        })
    })
}
