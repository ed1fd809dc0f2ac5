//! The commands other than plan, apply and destroy.

pub(crate) mod console;
pub(crate) mod force_unlock;
pub(crate) mod init;
pub(crate) mod output;
pub(crate) mod providers;
pub(crate) mod show;
pub(crate) mod state;
pub(crate) mod validate;
pub(crate) mod version;

use std::io::Write;

use crate::exit::Exit;

/// Serves one of this program's own providers to the process that started this one.
pub(crate) fn serve_bundled(source: &str) -> Exit {
    let found = ::providers::bundled().into_iter().find(|it| it.source.to_string() == source);
    let Some(bundled) = found else {
        let _ = writeln!(std::io::stderr(), "there is no bundled provider {source:?}");
        return Exit::Failure;
    };
    match (bundled.serve)() {
        Ok(()) => Exit::Success,
        Err(error) => {
            let _ = writeln!(std::io::stderr(), "{error}");
            Exit::Failure
        }
    }
}

/// A command line that cannot be understood, or a request for help.
///
/// What was typed is not shown: it may be the value of a variable, torn from its flag by a blank.
pub(crate) fn usage_error(error: &clap::Error) -> Exit {
    use clap::error::{ContextKind, ErrorKind};
    if !error.use_stderr() {
        let _ = error.print();
        return Exit::Success;
    }
    let what = match error.kind() {
        ErrorKind::InvalidSubcommand => "There is no such command.",
        ErrorKind::MissingSubcommand => "A command is missing.",
        ErrorKind::MissingRequiredArgument => "A required argument is missing.",
        ErrorKind::UnknownArgument => "An argument is not expected here.",
        ErrorKind::InvalidValue | ErrorKind::ValueValidation | ErrorKind::NoEquals => {
            "The value of a flag is not valid."
        }
        ErrorKind::ArgumentConflict => "Flags are in conflict, or one is given twice.",
        _ => "The command line cannot be understood.",
    };
    let mut text = format!(
        "Error: {what}\n\nArguments are not shown here, because they may hold secrets. A value with blanks stands in quotes: -var 'name=a b'.\n"
    );
    if let Some(usage) = error.get(ContextKind::Usage) {
        text.push_str(&format!("\n{usage}\n"));
    }
    text.push_str("\nFor more information, try 'mayfly -help' or 'mayfly COMMAND -help'.\n");
    let _ = write!(std::io::stderr(), "{text}");
    Exit::Failure
}

/// No command was given.
pub(crate) fn help(text: &str) -> Exit {
    let _ = write!(std::io::stderr(), "{text}");
    Exit::NoCommand
}

/// Something that every command needs is missing.
pub(crate) fn environment_error(what: &str, error: &std::io::Error) -> Exit {
    let _ = writeln!(std::io::stderr(), "{what}: {error}");
    Exit::Failure
}
