//! Functions that split and join texts.

use super::{
    call::{Call, FunctionError},
    signature::{Function, Parameter, Returns, Shape},
};
use crate::{Kind, Number, Type, Value, budget::NODE};

pub(super) const FUNCTIONS: &[Function] = &[
    Function::new(
        "join",
        &[Parameter::string("separator")],
        Returns::Fixed(Shape::String),
        join,
        "Joins strings with a separator between them.",
    )
    .variadic(Parameter::new("lists", Shape::ListOfString)),
    Function::new(
        "split",
        &[Parameter::string("separator"), Parameter::string("str")],
        Returns::Fixed(Shape::ListOfString),
        split,
        "Splits a string at every separator.",
    ),
    Function::new(
        "parseint",
        &[Parameter::any("number"), Parameter::number("base")],
        Returns::Fixed(Shape::Number),
        parseint,
        "Reads a whole number in a base from 2 to 62.",
    ),
];

fn join(call: &Call<'_>) -> Result<Value, FunctionError> {
    if call.args.len() < 2 {
        return Err(FunctionError::new("at least one list is required"));
    }
    let mut parts: Vec<&str> = Vec::new();
    for (list, arg) in call.args.iter().enumerate().skip(1) {
        for (i, item) in arg.as_slice().into_iter().flatten().enumerate() {
            let Some(text) = item.as_str() else {
                let place = if call.args.len() == 2 {
                    String::new()
                } else {
                    format!(" of list {}", list - 1)
                };
                let message = format!("element {i}{place} is null; cannot concatenate null values");
                return Err(FunctionError::at(list, message));
            };
            parts.push(text);
        }
    }
    let separators = call.text(0).len().saturating_mul(parts.len().saturating_sub(1));
    let length = parts.iter().fold(separators, |sum, part| sum.saturating_add(part.len()));
    call.reserve(length as u64)?;
    Ok(Value::string(parts.join(call.text(0))))
}

fn split(call: &Call<'_>) -> Result<Value, FunctionError> {
    let (separator, text) = (call.text(0), call.text(1));
    let count = match separator {
        "" => text.len(),
        separator => text.matches(separator).count() + 1,
    };
    call.reserve(count as u64 * NODE + text.len() as u64)?;
    let parts: Vec<Value> = if separator.is_empty() {
        text.chars().map(|c| Value::string(c.to_string())).collect()
    } else {
        text.split(separator).map(Value::from).collect()
    };
    Ok(Value::list(Type::String, parts))
}

/// Returns the value of a digit. Digits above nine are `a` to `z` in either case; above base 36, upper case
/// follows lower case.
fn digit(c: char, base: u32) -> Option<u32> {
    let value = match c {
        '0'..='9' => u32::from(c) - u32::from('0'),
        'a'..='z' => u32::from(c) - u32::from('a') + 10,
        'A'..='Z' if base <= 36 => u32::from(c) - u32::from('A') + 10,
        'A'..='Z' => u32::from(c) - u32::from('A') + 36,
        _ => return None,
    };
    (value < base).then_some(value)
}

fn parseint(call: &Call<'_>) -> Result<Value, FunctionError> {
    let base = call.integer(1).map_err(|error| FunctionError::at(1, error.message))?;
    let base = u32::try_from(base).ok().filter(|base| (2..=62).contains(base));
    let base = base.ok_or_else(|| {
        FunctionError::at(1, "base must be a whole number between 2 and 62 inclusive")
    })?;
    let text = match call.args[0].kind() {
        Kind::String(text) => text.to_string(),
        Kind::Number(number) => number.to_string(),
        _ => return Err(FunctionError::at(0, "first argument must be a string or number")),
    };
    let wrong = || {
        let text = call.quoted(&text);
        FunctionError::at(0, format!("cannot parse {text} as a base {base} integer"))
    };
    let (negative, digits) = match text.strip_prefix('-') {
        Some(digits) => (true, digits),
        None => (false, text.strip_prefix('+').unwrap_or(&text)),
    };
    if digits.is_empty() || digits.len() > 4096 {
        return Err(wrong());
    }
    let digits: Option<Vec<u8>> =
        digits.chars().map(|c| digit(c, base).and_then(|value| u8::try_from(value).ok())).collect();
    let magnitude = digits
        .and_then(|digits| num_bigint::BigUint::from_radix_be(&digits, base))
        .ok_or_else(wrong)?;
    let number = Number::from_integer(negative, magnitude);
    Ok(Value::number(number))
}
