//! Errors in the command line.
//!
//! **Invariant:** of the command line, only names of commands and flags are printed. Any other word may be the
//! value of a variable that a space separated from its flag.

use std::io::Write;

use clap::error::{ContextKind, ContextValue, ErrorKind};

use crate::exit::Exit;

/// The error for a `-chdir` flag without a value, worded as in OpenTofu.
const CHDIR: &str = "Invalid -chdir option: must include an equals sign followed by a directory \
                     path, like -chdir=example";

/// The maximum length of a word that can be a mistyped name.
const LONGEST_NAME: usize = 32;

/// Prints the error for an invalid command line, or the requested help.
pub(crate) fn report(error: &clap::Error) -> Exit {
    if !error.use_stderr() {
        let _ = error.print();
        return Exit::Success;
    }
    // A command group without a subcommand. The help text of clap for it quotes no user input.
    if error.kind() == ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand {
        let _ = write!(std::io::stderr(), "Error: A command is missing.\n\n{}", error.render());
        return Exit::Failure;
    }
    let _ = write!(
        std::io::stderr(),
        "Error: {}\n{}\nFor more information, try 'mayfly -help' or 'mayfly COMMAND -help'.\n",
        problem(error),
        environment_note()
    );
    Exit::Failure
}

/// Prints the error for an environment variable with arguments that has an unclosed quote.
pub(crate) fn unclosed_quote(variable: &str) -> Exit {
    let text =
        format!("Error: The environment variable {variable} has a quote that is not closed.");
    let _ = writeln!(std::io::stderr(), "{text}");
    Exit::Failure
}

/// Prints an error about an option before the command.
pub(crate) fn problem_with(text: &str) -> Exit {
    let _ = writeln!(std::io::stderr(), "{text}");
    Exit::Failure
}

fn problem(error: &clap::Error) -> String {
    match error.kind() {
        ErrorKind::InvalidSubcommand => unknown_command(error),
        ErrorKind::UnknownArgument => unknown_argument(error),
        ErrorKind::MissingRequiredArgument => match list(error, ContextKind::InvalidArg).as_slice()
        {
            [] => "A required argument is missing.".to_owned(),
            missing => format!("A required argument is missing: {}.", missing.join(", ")),
        },
        ErrorKind::InvalidValue | ErrorKind::ValueValidation | ErrorKind::NoEquals => {
            invalid_value(error)
        }
        ErrorKind::ArgumentConflict => match flag(error) {
            Some(flag) => {
                format!("The flag {flag} is given twice, or together with one that excludes it.")
            }
            None => "Flags are in conflict, or one is given twice.".to_owned(),
        },
        ErrorKind::MissingSubcommand => "A command is missing.".to_owned(),
        _ => "The command line cannot be understood.".to_owned(),
    }
}

fn unknown_command(error: &clap::Error) -> String {
    let typed = text(error, ContextKind::InvalidSubcommand).filter(|it| is_name(it));
    let Some(typed) = typed else { return "There is no such command.".to_owned() };
    match list(error, ContextKind::SuggestedSubcommand).as_slice() {
        [] => format!("There is no command \"{typed}\"."),
        near => {
            format!("There is no command \"{typed}\". Did you mean \"{}\"?", near.join("\" or \""))
        }
    }
}

fn unknown_argument(error: &clap::Error) -> String {
    let Some(flag) = flag(error) else {
        return "There are too many arguments. Arguments are not shown here, because they may hold \
                secrets. Put a value with spaces in quotes: -var 'name=a b'."
            .to_owned();
    };
    let long = format!("-{flag}");
    if long == "--chdir" {
        return "The flag -chdir must come before the command: mayfly -chdir=DIR COMMAND."
            .to_owned();
    }
    match list(error, ContextKind::SuggestedArg).as_slice() {
        [] => format!("This command has no flag {flag}."),
        near => format!("This command has no flag {flag}. Did you mean {}?", one_dash(&near[0])),
    }
}

fn invalid_value(error: &clap::Error) -> String {
    let Some(flag) = flag(error) else { return "The value of a flag is not valid.".to_owned() };
    if flag == "-chdir" {
        return CHDIR.to_owned();
    }
    let valid = list(error, ContextKind::ValidValue);
    let is_missing = text(error, ContextKind::InvalidValue).is_none_or(str::is_empty);
    match valid.is_empty() {
        true if is_missing => format!("The flag {flag} needs a value."),
        true => match std::error::Error::source(error) {
            // The cause, without the given value.
            Some(cause) => format!("The value of the flag {flag} is not valid: {cause}."),
            None => format!("The value of the flag {flag} is not valid."),
        },
        false => format!("The flag {flag} takes one of: {}.", valid.join(", ")),
    }
}

/// The flag that an error is about, with one dash. `None` if the error is not about a flag.
fn flag(error: &clap::Error) -> Option<String> {
    let typed = text(error, ContextKind::InvalidArg)?;
    let name = typed.split([' ', '=', '[']).next()?;
    (name.starts_with("--") && is_name(&name[2..])).then(|| one_dash(name))
}

fn one_dash(flag: &str) -> String {
    flag.strip_prefix('-').filter(|it| it.starts_with('-')).unwrap_or(flag).to_owned()
}

fn is_name(word: &str) -> bool {
    word.len() <= LONGEST_NAME
        && word.starts_with(|it: char| it.is_ascii_lowercase())
        && word.bytes().all(|it| it.is_ascii_lowercase() || it == b'-')
}

fn text(error: &clap::Error, kind: ContextKind) -> Option<&str> {
    match error.get(kind)? {
        ContextValue::String(text) => Some(text),
        ContextValue::Strings(all) => all.first().map(String::as_str),
        _ => None,
    }
}

fn list(error: &clap::Error, kind: ContextKind) -> Vec<String> {
    match error.get(kind) {
        Some(ContextValue::Strings(all)) => all.clone(),
        Some(ContextValue::String(one)) => vec![one.clone()],
        _ => Vec::new(),
    }
}

/// A note that names the environment variables that add arguments. Empty if there are none.
fn environment_note() -> String {
    let set = std::env::vars_os().filter_map(|(name, value)| {
        let name = name.into_string().ok()?;
        (name.starts_with("TF_CLI_ARGS") && !value.is_empty()).then_some(name)
    });
    let names: Vec<String> = set.collect();
    match names.is_empty() {
        true => String::new(),
        false => format!("\nThe environment adds arguments: {}.\n", names.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};

    use super::*;
    use crate::args::{command, normalize, parse};

    fn check(lines: &[&str], expected: Expect) {
        let rendered = lines.iter().map(|line| {
            let words = std::iter::once("mayfly").chain(line.split(' ')).map(str::to_owned);
            let error = parse(&mut command(), &normalize(words)).err().expect("is wrong");
            format!("{line}: {}\n", problem(&error))
        });
        expected.assert_eq(&rendered.collect::<String>());
    }

    #[test]
    fn usage_errors_name_commands_and_flags_only() {
        check(
            &[
                "aply",
                "workspace lst",
                "state lst",
                "state mv a",
                "s3cret-Word",
                "plan -vars x",
                "plan -auto-approve",
                "plan -chdir=store",
                "plan -var name=a b",
                "-chdir=x -chdir=y plan",
                "-chdir x plan",
                "-chdir= plan",
                "get -generate-config-out=x",
                "validate secret",
                "plan -parallelism=secret",
                "plan -input=secret",
                "plan -out",
                "state show",
                "plan -json -json",
                "plan -parallelism=-1",
            ],
            expect![[r#"
                aply: There is no command "aply". Did you mean "apply"?
                workspace lst: There is no command "lst". Did you mean "list"?
                state lst: There is no command "lst". Did you mean "ls" or "list"?
                state mv a: A required argument is missing: <DESTINATION>.
                s3cret-Word: There is no such command.
                plan -vars x: This command has no flag -vars. Did you mean -var?
                plan -auto-approve: This command has no flag -auto-approve.
                plan -chdir=store: The flag -chdir must come before the command: mayfly -chdir=DIR COMMAND.
                plan -var name=a b: There are too many arguments. Arguments are not shown here, because they may hold secrets. Put a value with spaces in quotes: -var 'name=a b'.
                -chdir=x -chdir=y plan: The flag -chdir is given twice, or together with one that excludes it.
                -chdir x plan: Invalid -chdir option: must include an equals sign followed by a directory path, like -chdir=example
                -chdir= plan: Invalid -chdir option: must include an equals sign followed by a directory path, like -chdir=example
                get -generate-config-out=x: This command has no flag -generate-config-out.
                validate secret: There are too many arguments. Arguments are not shown here, because they may hold secrets. Put a value with spaces in quotes: -var 'name=a b'.
                plan -parallelism=secret: The value of the flag -parallelism is not valid: it must be a whole number that is not negative.
                plan -input=secret: The value of the flag -input is not valid: it is true or false.
                plan -out: The flag -out needs a value.
                state show: A required argument is missing: <ADDRESS>.
                plan -json -json: The flag -json is given twice, or together with one that excludes it.
                plan -parallelism=-1: The value of the flag -parallelism is not valid: it must be a whole number that is not negative.
            "#]],
        );
    }
}
