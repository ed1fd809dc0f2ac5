//! Functions with regular expressions.

use regex::{Captures, Regex};

use super::{
    call::{Call, FunctionError},
    re2,
    signature::{Function, Parameter, Returns, Shape},
};
use crate::{Kind, Str, Type, Value};

const PATTERN_AND_STRING: &[Parameter] =
    &[Parameter::string("pattern"), Parameter::string("string")];

pub(super) const FUNCTIONS: &[Function] = &[
    Function::new(
        "replace",
        &[Parameter::string("str"), Parameter::string("substr"), Parameter::string("replace")],
        Returns::Fixed(Shape::String),
        replace,
        "Replaces every occurrence of a text, or of a pattern between slashes.",
    ),
    Function::new(
        "regex",
        PATTERN_AND_STRING,
        Returns::From(regex_type),
        regex,
        "Gives what a pattern matches first.",
    ),
    Function::new(
        "regexall",
        PATTERN_AND_STRING,
        Returns::From(|args| Ok(Type::list(regex_type(args)?))),
        regexall,
        "Lists all that a pattern matches.",
    ),
];

fn compiled(position: usize, pattern: &str) -> Result<Regex, FunctionError> {
    Regex::new(&re2::translated(pattern))
        .map_err(|_| FunctionError::at(position, "invalid regexp pattern"))
}

fn replace(call: &Call<'_>) -> Result<Value, FunctionError> {
    let (text, wanted, replacement) = (call.text(0), call.text(1), call.text(2));
    let pattern = wanted.strip_prefix('/').and_then(|rest| rest.strip_suffix('/'));
    let Some(pattern) = pattern else {
        return Ok(Value::string(text.replace(wanted, replacement)));
    };
    let replaced = compiled(1, pattern)?.replace_all(text, replacement).into_owned();
    Ok(Value::string(replaced))
}

/// A string without groups, a tuple of strings with groups, an object with named groups.
fn regex_type(args: &[Value]) -> Result<Type, FunctionError> {
    let Kind::String(pattern) = args[0].kind() else {
        return Ok(Type::Dynamic);
    };
    let regex = compiled(0, pattern)?;
    let names: Vec<Option<&str>> = regex.capture_names().skip(1).collect();
    match names.iter().flatten().count() {
        _ if names.is_empty() => Ok(Type::String),
        0 => Ok(Type::tuple(names.iter().map(|_| Type::String))),
        count if count == names.len() => {
            Ok(Type::object(names.iter().flatten().map(|name| (*name, Type::String))))
        }
        _ => Err(FunctionError::at(
            0,
            "invalid regexp pattern: cannot mix both named and unnamed capture groups",
        )),
    }
}

fn captured(regex: &Regex, captures: &Captures<'_>, ty: &Type) -> Value {
    let group = |text: Option<regex::Match<'_>>| {
        text.map_or_else(|| Value::null(Type::String), |found| Value::string(found.as_str()))
    };
    match ty {
        Type::Object(_) => {
            let names = regex.capture_names().flatten();
            Value::object(names.map(|name| (Str::from(name), group(captures.name(name)))).collect())
        }
        Type::Tuple(_) => {
            Value::tuple((1..captures.len()).map(|i| group(captures.get(i))).collect())
        }
        _ => group(captures.get(0)),
    }
}

fn regex(call: &Call<'_>) -> Result<Value, FunctionError> {
    let regex = compiled(0, call.text(0))?;
    let found = regex.captures(call.text(1));
    let found = found
        .ok_or_else(|| FunctionError::new("pattern did not match any part of the given string"))?;
    Ok(captured(&regex, &found, &call.ty))
}

fn regexall(call: &Call<'_>) -> Result<Value, FunctionError> {
    let regex = compiled(0, call.text(0))?;
    let element = call.ty.element().cloned().unwrap_or(Type::Dynamic);
    let found = regex
        .captures_iter(call.text(1))
        .map(|captures| captured(&regex, &captures, &element))
        .collect();
    Ok(Value::list(element, found))
}
