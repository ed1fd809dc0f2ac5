//! Functions that ask the world: files, the time, randomness.

use base64::{Engine, engine::general_purpose::STANDARD};

use super::{
    call::{Call, FunctionError},
    signature::{Function, Parameter, Returns, Shape},
};
use crate::{Type, Value};

const PATH: &[Parameter] = &[Parameter::string("path")];

pub(super) const FUNCTIONS: &[Function] = &[
    Function::new("file", PATH, Returns::Fixed(Shape::String), file, "Reads a file of text."),
    Function::new(
        "filebase64",
        PATH,
        Returns::Fixed(Shape::String),
        filebase64,
        "Reads a file and encodes it in Base64.",
    ),
    Function::new(
        "fileexists",
        PATH,
        Returns::Fixed(Shape::Bool),
        fileexists,
        "Tells whether a file exists.",
    ),
    Function::new(
        "templatefile",
        &[Parameter::string("path"), Parameter::any("vars")],
        Returns::From(|_| Ok(Type::Dynamic)),
        templatefile,
        "Reads a file as a template and renders it with variables.",
    )
    .nullable(),
    Function::new(
        "basename",
        PATH,
        Returns::Fixed(Shape::String),
        basename,
        "Gives the last part of a path.",
    ),
    Function::new(
        "dirname",
        PATH,
        Returns::Fixed(Shape::String),
        dirname,
        "Gives a path without its last part.",
    ),
    Function::new(
        "timestamp",
        &[],
        Returns::Fixed(Shape::String),
        timestamp,
        "Gives the time, once it is decided.",
    ),
    Function::new("uuid", &[], Returns::Fixed(Shape::String), uuid, "Makes a random UUID."),
];

/// The content of the file that an argument names.
pub(super) fn bytes(call: &Call<'_>, position: usize) -> Result<Vec<u8>, FunctionError> {
    let path = call.text(position);
    if call.env.is_undecided(path) {
        return Err(FunctionError::undecided());
    }
    call.env.read_file(path).map_err(|message| refused(call, position, message))
}

/// The reason may name the file, which must not be shown if the path is secret.
fn refused(call: &Call<'_>, position: usize, message: String) -> FunctionError {
    let message = if call.secret {
        "the file cannot be read; its path is sensitive".to_owned()
    } else {
        message
    };
    FunctionError::at(position, message)
}

fn content(call: &Call<'_>) -> Result<String, FunctionError> {
    String::from_utf8(bytes(call, 0)?).map_err(|_| {
        let path = call.quoted(call.text(0));
        FunctionError::at(
            0,
            format!("contents of {path} are not valid UTF-8; use the filebase64 function to obtain the Base64 encoded contents"),
        )
    })
}

fn file(call: &Call<'_>) -> Result<Value, FunctionError> {
    Ok(Value::string(content(call)?))
}

fn filebase64(call: &Call<'_>) -> Result<Value, FunctionError> {
    Ok(Value::string(STANDARD.encode(bytes(call, 0)?)))
}

fn fileexists(call: &Call<'_>) -> Result<Value, FunctionError> {
    let path = call.text(0);
    if call.env.is_undecided(path) {
        return Err(FunctionError::undecided());
    }
    let exists = call.env.file_exists(path);
    exists.map(Value::bool).map_err(|message| refused(call, 0, message))
}

fn templatefile(call: &Call<'_>) -> Result<Value, FunctionError> {
    let variables = &call.args[1];
    let Some(entries) = variables.as_map() else {
        return Err(FunctionError::at(1, "invalid vars value: must be a map"));
    };
    let is_name = |name: &str| {
        let mut chars = name.chars();
        let starts = chars.next().is_some_and(|c| c.is_alphabetic() || c == '_');
        starts && chars.all(|c| c.is_alphanumeric() || c == '_' || c == '-')
    };
    if let Some(name) = entries.keys().find(|name| !is_name(name)) {
        let name = call.quoted(name);
        let message = format!(
            "invalid template variable name {name}: must start with a letter, followed by zero or more letters, digits, \
             and underscores"
        );
        return Err(FunctionError::at(1, message));
    }
    let text = content(call)?;
    let rendered = call.env.render_template(call.text(0), &text, &call.marked[1]);
    rendered.map_err(|message| {
        let message = if call.secret {
            "the template cannot be rendered; its variables are sensitive".to_owned()
        } else {
            message
        };
        FunctionError::new(message)
    })
}

fn basename(call: &Call<'_>) -> Result<Value, FunctionError> {
    let path = call.text(0);
    if path.is_empty() {
        return Ok(Value::string("."));
    }
    let trimmed = path.trim_end_matches('/');
    let name = trimmed.rsplit('/').next().unwrap_or("");
    Ok(Value::string(if trimmed.is_empty() { "/" } else { name }))
}

fn dirname(call: &Call<'_>) -> Result<Value, FunctionError> {
    let directory = call.text(0).rsplit_once('/').map_or("", |(directory, _)| directory);
    let rooted = call.text(0).starts_with('/');
    Ok(Value::string(clean(directory, rooted)))
}

/// The shortest path that means the same, as Go's `filepath.Clean` has it.
fn clean(path: &str, rooted: bool) -> String {
    let mut parts: Vec<&str> = Vec::new();
    for part in path.split('/') {
        match part {
            "" | "." => {}
            ".." if parts.last().is_some_and(|last| *last != "..") => {
                parts.pop();
            }
            ".." if rooted => {}
            part => parts.push(part),
        }
    }
    match (rooted, parts.is_empty()) {
        (true, _) => format!("/{}", parts.join("/")),
        (false, true) => ".".to_owned(),
        (false, false) => parts.join("/"),
    }
}

fn timestamp(call: &Call<'_>) -> Result<Value, FunctionError> {
    Ok(call.env.now().map_or_else(|| call.unknown(), Value::from))
}

fn uuid(call: &Call<'_>) -> Result<Value, FunctionError> {
    Ok(call.env.uuid().map_or_else(|| call.unknown(), Value::from))
}
