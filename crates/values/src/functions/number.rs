//! Functions on numbers.

use std::cmp::Ordering;

use super::{
    call::{Call, FunctionError},
    signature::{Function, Parameter, Returns, Shape},
};
use crate::{Number, Refinements, Type, Value};

const NUM: &[Parameter] = &[Parameter::number("num")];

const fn numeric(
    name: &'static str,
    params: &'static [Parameter],
    body: fn(&Call<'_>) -> Result<Value, FunctionError>,
    doc: &'static str,
) -> Function {
    Function::new(name, params, Returns::Fixed(Shape::Number), body, doc)
}

pub(super) const FUNCTIONS: &[Function] = &[
    numeric("abs", NUM, abs, "Gives a number without its sign."),
    numeric("ceil", NUM, ceil, "Gives the smallest whole number that is not below."),
    numeric("floor", NUM, floor, "Gives the largest whole number that is not above."),
    numeric("signum", NUM, signum, "Gives -1, 0 or 1 by the sign of a whole number."),
    numeric("min", &[], min, "Gives the smallest of its arguments.")
        .variadic(Parameter::number("numbers").lazy()),
    numeric("max", &[], max, "Gives the largest of its arguments.")
        .variadic(Parameter::number("numbers").lazy()),
    numeric(
        "log",
        &[Parameter::number("num"), Parameter::number("base")],
        log,
        "Gives the logarithm to a base.",
    ),
    numeric(
        "pow",
        &[Parameter::number("num"), Parameter::number("power")],
        pow,
        "Raises a number to a power.",
    ),
];

fn abs(call: &Call<'_>) -> Result<Value, FunctionError> {
    Ok(Value::number(call.number(0)?.magnitude()))
}

fn ceil(call: &Call<'_>) -> Result<Value, FunctionError> {
    Ok(Value::number(call.number(0)?.ceil()))
}

fn floor(call: &Call<'_>) -> Result<Value, FunctionError> {
    Ok(Value::number(call.number(0)?.floor()))
}

fn signum(call: &Call<'_>) -> Result<Value, FunctionError> {
    let number = call.number(0)?;
    if !number.is_integer() {
        return Err(FunctionError::at(0, "whole number required"));
    }
    Ok(Value::int(i64::from(number.signum())))
}

fn min(call: &Call<'_>) -> Result<Value, FunctionError> {
    extreme(call, Ordering::Less)
}

fn max(call: &Call<'_>) -> Result<Value, FunctionError> {
    extreme(call, Ordering::Greater)
}

/// The argument that compares in `direction` with all others. Among unknown ones, what is known still bounds it.
fn extreme(call: &Call<'_>, direction: Ordering) -> Result<Value, FunctionError> {
    if call.args.is_empty() {
        return Err(FunctionError::new("must pass at least one number"));
    }
    let mut best: Option<&Number> = None;
    for number in call.args.iter().filter_map(Value::as_number) {
        if best.is_none_or(|best| number.compare(best) == direction) {
            best = Some(number);
        }
    }
    if call.args.iter().any(|arg| !arg.is_known()) {
        let known = match (best, direction) {
            (None, _) => Refinements::non_null(),
            (Some(best), Ordering::Less) => Refinements::non_null().with_upper(best.clone(), true),
            (Some(best), _) => Refinements::non_null().with_lower(best.clone(), true),
        };
        return Ok(Value::unknown_with(Type::Number, known));
    }
    best.cloned()
        .map(Value::number)
        .ok_or_else(|| FunctionError::new("must pass at least one number"))
}

fn log(call: &Call<'_>) -> Result<Value, FunctionError> {
    let (number, base) = (call.number(0)?.nearest_f64(), call.number(1)?.nearest_f64());
    finite(number.ln() / base.ln())
}

fn pow(call: &Call<'_>) -> Result<Value, FunctionError> {
    finite(call.number(0)?.nearest_f64().powf(call.number(1)?.nearest_f64()))
}

fn finite(result: f64) -> Result<Value, FunctionError> {
    if result.is_nan() {
        return Err(FunctionError::new("the result is not a number"));
    }
    Ok(Value::number(Number::from(result)))
}
