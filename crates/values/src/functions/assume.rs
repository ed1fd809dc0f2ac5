//! Functions that refine an unknown value with assumptions of the author. Once the value is known, the assumptions
//! are checked.

use super::{
    call::{Call, FunctionError},
    signature::{Function, Parameter, Returns, Shape},
};
use crate::{Refinements, Type, Value, convert, equality};

type Body = fn(&Call<'_>) -> Result<Value, FunctionError>;

const fn assumption(
    name: &'static str,
    params: &'static [Parameter],
    body: Body,
    doc: &'static str,
) -> Function {
    Function::new(name, params, Returns::From(same_type), body, doc).nullable()
}

const fn value(shape: Shape) -> Parameter {
    Parameter::new("value", shape).nullable().lazy()
}

const LEAST: Parameter = Parameter::number("min_length");
const MOST: Parameter = Parameter::number("max_length");

pub(super) const FUNCTIONS: &[Function] = &[
    Function::new(
        "assumeequal",
        &[
            Parameter::any("actual_value").nullable().lazy(),
            Parameter::any("expected_value").nullable().lazy(),
        ],
        Returns::From(|args| Ok(args[1].ty())),
        assume_equal,
        "Returns the second value, and fails if the first one, once known, is not equal to it.",
    )
    .nullable(),
    assumption(
        "assumenotnull",
        &[value(Shape::Any)],
        |call| refined(call, Ok(Refinements::non_null())),
        "Assumes that a value is not null.",
    ),
    assumption(
        "assumestringprefix",
        &[value(Shape::String), Parameter::string("prefix")],
        |call| refined(call, Ok(Refinements::NONE.with_prefix(call.text(1)))),
        "Assumes that a string begins with a prefix.",
    ),
    assumption(
        "assumelistlength",
        &[value(Shape::List), LEAST, MOST],
        between,
        "Assumes that the length of a list is between two numbers.",
    ),
    assumption(
        "assumelistlengthmin",
        &[value(Shape::List), LEAST],
        at_least,
        "Assumes that a list has a minimum length.",
    ),
    assumption(
        "assumelistlengthmax",
        &[value(Shape::List), MOST],
        at_most,
        "Assumes that a list has a maximum length.",
    ),
    assumption(
        "assumesetlength",
        &[value(Shape::Set), LEAST, MOST],
        between,
        "Assumes that the length of a set is between two numbers.",
    ),
    assumption(
        "assumesetlengthmin",
        &[value(Shape::Set), LEAST],
        at_least,
        "Assumes that a set has a minimum length.",
    ),
    assumption(
        "assumesetlengthmax",
        &[value(Shape::Set), MOST],
        at_most,
        "Assumes that a set has a maximum length.",
    ),
    assumption(
        "assumemaplength",
        &[value(Shape::Map), LEAST, MOST],
        between,
        "Assumes that the length of a map is between two numbers.",
    ),
    assumption(
        "assumemaplengthmin",
        &[value(Shape::Map), LEAST],
        at_least,
        "Assumes that a map has a minimum length.",
    ),
    assumption(
        "assumemaplengthmax",
        &[value(Shape::Map), MOST],
        at_most,
        "Assumes that a map has a maximum length.",
    ),
];

fn same_type(args: &[Value]) -> Result<Type, FunctionError> {
    Ok(args[0].ty())
}

fn assume_equal(call: &Call<'_>) -> Result<Value, FunctionError> {
    let (actual, expected) = (&call.args[0], &call.args[1]);
    let converted = convert::convert(actual, &expected.ty()).map_err(|_| {
        FunctionError::at(
            0,
            format!(
                "actual value type {} does not match assumed value type {}",
                actual.ty().friendly_name(),
                expected.ty().friendly_name()
            ),
        )
    })?;
    if equality::compare(&converted, expected) == Some(false) {
        return Err(FunctionError::at(0, "the actual value does not match the assumed value"));
    }
    Ok(expected.clone())
}

fn length(call: &Call<'_>, position: usize) -> Result<u64, FunctionError> {
    let number = call.args[position].as_number().and_then(crate::Number::to_i64);
    number.and_then(|number| u64::try_from(number).ok()).ok_or_else(|| {
        let message = "must be a whole number between 0 and 9223372036854775807";
        FunctionError::at(position, message)
    })
}

fn between(call: &Call<'_>) -> Result<Value, FunctionError> {
    let bounds = length(call, 1).and_then(|least| {
        Ok(Refinements::NONE.with_min_length(least).with_max_length(length(call, 2)?))
    });
    refined(call, bounds)
}

fn at_least(call: &Call<'_>) -> Result<Value, FunctionError> {
    refined(call, length(call, 1).map(|least| Refinements::NONE.with_min_length(least)))
}

fn at_most(call: &Call<'_>) -> Result<Value, FunctionError> {
    refined(call, length(call, 1).map(|most| Refinements::NONE.with_max_length(most)))
}

/// Returns the first argument with more refinements. Fails if they contradict the known facts.
fn refined(
    call: &Call<'_>,
    more: Result<Refinements, FunctionError>,
) -> Result<Value, FunctionError> {
    let (value, more) = (&call.args[0], more?);
    let wrong = || FunctionError::at(0, "assumption was not upheld");
    if value.is_null() {
        // Refinements of the text or the length do not apply to a null.
        return if more.is_not_null() { Err(wrong()) } else { Ok(value.clone()) };
    }
    if let Some(text) = value.as_str() {
        return if text.starts_with(more.prefix()) { Ok(value.clone()) } else { Err(wrong()) };
    }
    if value.ty() == Type::Dynamic {
        return Ok(value.clone());
    }
    let more = more.fitting(&value.ty());
    if value.range().and(&more).is_contradictory() {
        return Err(wrong());
    }
    Ok(if value.is_known() { value.clone() } else { value.refined(&more) })
}
