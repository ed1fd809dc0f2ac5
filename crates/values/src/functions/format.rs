//! `format` and `formatlist`.

use super::{
    call::{Call, FunctionError},
    signature::{Function, Parameter, Returns, Shape},
    verb::{Verb, VerbError},
};
use crate::{Kind, Refinements, Type, Value};

pub(super) const FUNCTIONS: &[Function] = &[
    Function::new(
        "format",
        &[Parameter::string("format")],
        Returns::Fixed(Shape::String),
        format,
        "Formats values by a format string.",
    )
    .variadic(Parameter::any("args").nullable().lazy()),
    Function::new(
        "formatlist",
        &[Parameter::string("format")],
        Returns::Fixed(Shape::ListOfString),
        formatlist,
        "Formats the elements of lists by a format string, one string for each index.",
    )
    .variadic(Parameter::any("args").nullable().lazy()),
];

fn format(call: &Call<'_>) -> Result<Value, FunctionError> {
    let rendered = render(call, 0, &call.args[1..])?;
    Ok(rendered.into_value())
}

/// A text, or its known prefix.
struct Rendered {
    text: String,
    complete: bool,
}

impl Rendered {
    fn into_value(self) -> Value {
        if self.complete {
            return Value::string(self.text);
        }
        Value::unknown_with(Type::String, Refinements::non_null().with_safe_prefix(&self.text))
    }
}

/// Formats values by the format string. `before` is the number of bytes that other values of the call already
/// took.
fn render(call: &Call<'_>, before: u64, args: &[Value]) -> Result<Rendered, FunctionError> {
    let template = call.text(0);
    let mut rendered = Rendered { text: String::new(), complete: true };
    let (mut next, mut used, mut explicit) = (0, 0, false);
    let mut rest = template;
    while let Some(start) = rest.find('%') {
        append(&mut rendered, &rest[..start]);
        let offset = template.len() - rest.len() + start;
        let verb = Verb::parse(&rest[start..], offset)
            .map_err(|message| FunctionError::quoting(0, message))?;
        rest = &rest[start + verb.length..];
        if verb.mode == '%' {
            append(&mut rendered, "%");
            continue;
        }
        explicit |= verb.argument.is_some();
        let position = verb.argument.unwrap_or(next);
        next = position + 1;
        used = used.max(next);
        let Some(arg) = args.get(position) else {
            return Err(FunctionError::quoting(
                0,
                format!(
                    "not enough arguments for {:?} at {offset}: need index {} but have {} total",
                    verb.raw,
                    position + 1,
                    args.len()
                ),
            ));
        };
        if !arg.is_wholly_known() {
            rendered.complete = false;
        } else {
            let length = before + rendered.text.len() as u64;
            call.reserve(
                length.saturating_add(arg.unshared_size().saturating_add(verb.padding())),
            )?;
            let text = verb.render(arg).map_err(|error| unsupported(&error, &verb, offset))?;
            append(&mut rendered, &text);
        }
    }
    append(&mut rendered, rest);
    if used < args.len() && !explicit {
        let message = if used == 0 {
            "too many arguments; no verbs in format string".to_owned()
        } else {
            format!("too many arguments; only {used} used by format string")
        };
        return Err(FunctionError::at(used + 1, message));
    }
    Ok(rendered)
}

/// Appends a text. After the first unknown part, the rest of the text is not known.
fn append(rendered: &mut Rendered, text: &str) {
    if rendered.complete {
        rendered.text.push_str(text);
    }
}

fn unsupported(error: &VerbError, verb: &Verb<'_>, offset: usize) -> FunctionError {
    FunctionError::quoting(
        0,
        format!("unsupported value for {:?} at {offset}: {}", verb.raw, error.0),
    )
}

fn formatlist(call: &Call<'_>) -> Result<Value, FunctionError> {
    let args = &call.args[1..];
    let is_sequence =
        |arg: &Value| matches!(arg.ty(), Type::List(_) | Type::Set(_) | Type::Tuple(_));
    let mut length: Option<(usize, usize)> = None;
    for (i, arg) in args.iter().enumerate().filter(|(_, arg)| is_sequence(arg) && !arg.is_null()) {
        let uncertain = matches!(arg.kind(), Kind::Set(_)) && !arg.is_wholly_known();
        let Some(count) = arg.as_slice().map(<[Value]>::len).filter(|_| !uncertain) else {
            return Ok(call.unknown());
        };
        match length {
            Some((first, expected)) if expected != count => {
                return Err(FunctionError::at(
                    i + 1,
                    format!(
                        "argument {} has length {count}, which is inconsistent with argument {} of length {expected}",
                        i + 1,
                        first + 1
                    ),
                ));
            }
            _ => length = length.or(Some((i, count))),
        }
    }
    if args.iter().any(|arg| arg.ty() == Type::Dynamic && !arg.is_known()) {
        return Ok(call.unknown());
    }
    let count = length.map_or(1, |(_, count)| count);
    let mut size = 0;
    let rows = (0..count).map(|at| {
        call.step()?;
        let pick =
            |arg: &Value| arg.as_slice().and_then(|items| items.get(at)).unwrap_or(arg).clone();
        let row: Vec<Value> = args.iter().map(pick).collect();
        let rendered = render(call, size, &row).map(Rendered::into_value);
        size += rendered.as_ref().map_or(0, Value::unshared_size);
        rendered.map_err(|error| {
            let message = format!("error on format iteration {at}: {}", error.message);
            error.with_message(message)
        })
    });
    let rows: Result<Vec<Value>, FunctionError> = rows.collect();
    Ok(Value::list(Type::String, rows?))
}
