//! Functions on files and paths.

use std::borrow::Cow;

use base64::{Engine, engine::general_purpose::STANDARD};

use super::{
    call::{Call, FunctionError, RenderError},
    glob,
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
        "Returns true if a file exists.",
    ),
    Function::new(
        "templatefile",
        // A template with unknown variables may still render to a known text, because it may not use them.
        &[Parameter::string("path"), Parameter::any("vars").shallow()],
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
        "Returns the last part of a path.",
    ),
    Function::new(
        "dirname",
        PATH,
        Returns::Fixed(Shape::String),
        dirname,
        "Returns a path without its last part.",
    ),
    Function::new(
        "templatestring",
        &[Parameter::string("data"), Parameter::any("vars").shallow()],
        Returns::From(|_| Ok(Type::Dynamic)),
        templatestring,
        "Renders a string as a template with variables.",
    )
    .nullable(),
    Function::new(
        "fileset",
        &[Parameter::string("path"), Parameter::string("pattern")],
        Returns::Fixed(Shape::SetOfString),
        fileset,
        "Lists the files below a directory whose paths match a pattern.",
    ),
    Function::new(
        "abspath",
        PATH,
        Returns::Fixed(Shape::String),
        abspath,
        "Returns the absolute form of a path.",
    ),
    Function::new(
        "pathexpand",
        PATH,
        Returns::Fixed(Shape::String),
        pathexpand,
        "Replaces a tilde at the beginning of a path by the home directory.",
    ),
];

/// Returns the content of the file that an argument names.
pub(super) fn bytes(call: &Call<'_>, position: usize) -> Result<Vec<u8>, FunctionError> {
    let path = expanded(call, position)?;
    if call.env.is_undecided(&path) {
        return Err(FunctionError::undecided());
    }
    call.env.read_file(&path).map_err(|message| refused(call, position, message))
}

/// Replaces a leading tilde in a path by the home directory.
fn expanded<'a>(call: &Call<'a>, position: usize) -> Result<Cow<'a, str>, FunctionError> {
    let path: &'a str = call.args[position].as_str().unwrap_or("");
    with_home(call, path)
        .map_err(|message| FunctionError::at(position, format!("failed to expand ~: {message}")))
}

fn with_home<'a>(call: &Call<'_>, path: &'a str) -> Result<Cow<'a, str>, String> {
    let Some(rest) = path.strip_prefix('~') else {
        return Ok(Cow::Borrowed(path));
    };
    if !rest.is_empty() && !rest.starts_with('/') {
        return Err("cannot expand user-specific home dir".to_owned());
    }
    let home = call.env.home_directory().ok_or("the home directory is not known")?;
    Ok(Cow::Owned(cleaned(&format!("{home}/{rest}"))))
}

/// Creates the error for a file. The reason may name the file, which must stay hidden if the path is secret.
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
            format!(
                "contents of {path} are not valid UTF-8; use the filebase64 function to obtain \
                     the Base64 encoded contents"
            ),
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
    let path = expanded(call, 0)?;
    if call.env.is_undecided(&path) {
        return Err(FunctionError::undecided());
    }
    let exists = call.env.file_exists(&path);
    exists.map(Value::bool).map_err(|message| refused(call, 0, message))
}

fn templatefile(call: &Call<'_>) -> Result<Value, FunctionError> {
    check_names(call)?;
    rendered(call, call.text(0), &content(call)?)
}

fn templatestring(call: &Call<'_>) -> Result<Value, FunctionError> {
    check_names(call)?;
    rendered(call, "the template", call.text(0))
}

/// Checks that the variables of a template have valid names.
fn check_names(call: &Call<'_>) -> Result<(), FunctionError> {
    let Some(entries) = call.args[1].as_map() else {
        return Err(FunctionError::at(1, "invalid vars value: must be a map"));
    };
    let is_name = |name: &str| {
        let mut chars = name.chars();
        let starts = chars.next().is_some_and(|c| c.is_alphabetic() || c == '_');
        starts && chars.all(|c| c.is_alphanumeric() || c == '_' || c == '-')
    };
    let Some(name) = entries.keys().find(|name| !is_name(name)) else { return Ok(()) };
    let name = call.quoted(name);
    let message = format!(
        "invalid template variable name {name}: must start with a letter, followed by zero or more letters, digits, \
         and underscores"
    );
    Err(FunctionError::at(1, message))
}

fn rendered(call: &Call<'_>, name: &str, text: &str) -> Result<Value, FunctionError> {
    call.env.render_template(name, text, &call.marked[1]).map_err(|error| {
        let hidden = || "the template cannot be rendered; its variables are sensitive".to_owned();
        match error {
            RenderError::Exceeded(exceeded) => FunctionError::exceeding(exceeded),
            RenderError::Failed(_) if call.secret => FunctionError::new(hidden()),
            RenderError::Failed(message) => FunctionError::new(message),
        }
    })
}

fn fileset(call: &Call<'_>) -> Result<Value, FunctionError> {
    let base = cleaned(call.text(0));
    if call.env.is_undecided(&base) {
        return Err(FunctionError::undecided());
    }
    let pattern = cleaned(&format!("{base}/{}", call.text(1)));
    let found = glob::files(&pattern, call.env).map_err(|reason| {
        let pattern = call.quoted(&pattern);
        FunctionError::new(format!("failed to glob pattern {pattern}: {reason}"))
    })?;
    let found = found.iter().map(|path| Value::string(relative(&base, path))).collect();
    Ok(Value::set(Type::String, found))
}

/// Returns `path` relative to the directory `base`. Neither may contain a significant `..`.
fn relative(base: &str, path: &str) -> String {
    let parts = |path: &str| -> Vec<String> {
        path.split('/').filter(|it| !matches!(*it, "" | ".")).map(str::to_owned).collect()
    };
    let (base, path) = (parts(base), parts(path));
    let common = base.iter().zip(&path).take_while(|(a, b)| a == b).count();
    let up = std::iter::repeat_n("..", base.len() - common);
    up.chain(path[common..].iter().map(String::as_str)).collect::<Vec<_>>().join("/")
}

fn abspath(call: &Call<'_>) -> Result<Value, FunctionError> {
    let path = call.text(0);
    if call.env.is_undecided(path) {
        return Err(FunctionError::undecided());
    }
    if path.starts_with('/') {
        return Ok(Value::string(cleaned(path)));
    }
    let Some(base) = call.env.base_directory() else {
        return Ok(call.unknown());
    };
    Ok(Value::string(cleaned(&format!("{base}/{path}"))))
}

fn pathexpand(call: &Call<'_>) -> Result<Value, FunctionError> {
    with_home(call, call.text(0)).map(Value::string).map_err(FunctionError::new)
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

fn cleaned(path: &str) -> String {
    clean(path, path.starts_with('/'))
}

/// Returns the shortest equivalent path, as Go's `filepath.Clean` does.
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
