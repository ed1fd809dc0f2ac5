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
        "Returns the first match of a pattern.",
    ),
    Function::new(
        "regexall",
        PATTERN_AND_STRING,
        Returns::From(|args| Ok(Type::list(regex_type(args)?))),
        regexall,
        "Lists all matches of a pattern.",
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
        let count = text.matches(wanted).count() as u64;
        let more = replacement.len().saturating_sub(wanted.len()) as u64;
        call.reserve(count.saturating_mul(more).saturating_add(text.len() as u64))?;
        return Ok(Value::string(text.replace(wanted, replacement)));
    };
    replace_all(call, &compiled(1, pattern)?, text, replacement).map(Value::string)
}

/// Replaces every match. The budget is checked on the way, since the length of the result depends on all captures.
fn replace_all(
    call: &Call<'_>,
    regex: &Regex,
    text: &str,
    replacement: &str,
) -> Result<String, FunctionError> {
    let (mut replaced, mut end) = (String::new(), 0);
    for captures in regex.captures_iter(text) {
        call.step()?;
        let found = captures.get_match();
        replaced.push_str(&text[end..found.start()]);
        captures.expand(replacement, &mut replaced);
        end = found.end();
        call.reserve(replaced.len() as u64)?;
    }
    replaced.push_str(&text[end..]);
    Ok(replaced)
}

/// Returns the result type: a string without groups, a tuple of strings with groups, an object with named groups.
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
            Value::object(
                names.map(|name| (Str::on_heap(name), group(captures.name(name)))).collect(),
            )
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
    let (mut found, mut size) = (Vec::new(), 0);
    for captures in regex.captures_iter(call.text(1)) {
        call.step()?;
        let value = captured(&regex, &captures, &element);
        size += value.unshared_size();
        call.reserve(size)?;
        found.push(value);
    }
    Ok(Value::list(element, found))
}
