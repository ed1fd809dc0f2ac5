//! The syntax of the command line: dashes, values of flags, flags that are refused.

use std::any::TypeId;

use clap::{ArgAction, ArgMatches, CommandFactory, FromArgMatches, parser::ValueSource};

use super::Cli;

/// Adds the second dash to OpenTofu's flags with one dash, because clap only knows flags with two. Both forms are
/// accepted.
pub(crate) fn normalize(args: impl IntoIterator<Item = String>) -> Vec<String> {
    let mut rest_is_positional = false;
    args.into_iter()
        .map(|arg| {
            rest_is_positional |= arg == "--";
            let is_flag = arg.len() > 2 && arg.starts_with('-') && !arg.starts_with("--");
            match is_flag && !rest_is_positional && arg[1..].starts_with(char::is_alphabetic) {
                true => format!("-{arg}"),
                false => match arg.as_str() {
                    "-v" if !rest_is_positional => "--version".to_owned(),
                    _ => arg,
                },
            }
        })
        .collect()
}

/// Moves a help flag before the command to the end: clap expects `plan -help` for `-help plan`.
pub(crate) fn with_help_last(mut args: Vec<String>) -> Vec<String> {
    let flags = args.iter().skip(1).take_while(|arg| arg.starts_with('-')).count();
    let help = args.iter().take(flags + 1).position(|arg| matches!(arg.as_str(), "-h" | "--help"));
    if let Some(help) = help {
        let help = args.remove(help);
        args.push(help);
    }
    args
}

/// Parses a boolean flag value with the spellings that Go accepts, and therefore OpenTofu.
pub(super) fn go_bool(text: &str) -> Result<bool, &'static str> {
    match text {
        "1" | "t" | "T" | "true" | "TRUE" | "True" => Ok(true),
        "0" | "f" | "F" | "false" | "FALSE" | "False" => Ok(false),
        _ => Err("it is true or false"),
    }
}

/// Flags that are parsed and then refused. Ignoring such a flag would do something other than what the user
/// requested. The help text of each ends with [`NOT_SUPPORTED`].
pub(super) const REFUSED: &[Refused] = &[
    Refused {
        commands: &["console"],
        flags: &["json"],
        why: "\"console\" prints text. To write its output as JSON to a file too, use -json-into=FILE.",
    },
    Refused {
        commands: &["watch"],
        flags: &["json-into"],
        why: "\"watch\" shows a screen or prints JSON, and never both. Use -json.",
    },
    Refused {
        commands: &["watch"],
        flags: &["destroy"],
        why: "\"watch\" plans what a configuration asks for. To see what would be destroyed, run \
              \"mayfly plan -destroy\".",
    },
    Refused {
        commands: &["watch"],
        flags: &["refresh-only"],
        why: "\"watch\" plans what a configuration asks for. To see what has changed outside of it, run \
              \"mayfly plan -refresh-only\".",
    },
];

pub(super) const NOT_SUPPORTED: &str = "(not for this command)";

pub(super) struct Refused {
    pub(super) commands: &'static [&'static str],
    /// Flag names without the leading dashes.
    pub(super) flags: &'static [&'static str],
    /// The error message.
    pub(super) why: &'static str,
}

/// The clap definition of the command line. Every boolean flag also accepts a value, as in `-no-color=false`.
///
/// A process creates it once. The arguments of the commands are [`Deferred`](super::deferred::Deferred).
pub(crate) fn command() -> clap::Command {
    with_valued_flags(Cli::command())
}

/// The definition with the arguments of all commands, and with clap's own command and flag `help`.
pub(crate) fn whole_command() -> clap::Command {
    let mut command = command();
    command.build();
    command
}

/// Marks the flags of a command that it refuses.
pub(super) fn with_refused_flags(command: clap::Command) -> clap::Command {
    let refused = REFUSED.iter().filter(|it| it.commands.contains(&command.get_name()));
    let flags: Vec<_> = refused.flat_map(|it| it.flags).collect();
    flags.into_iter().fold(command, |command, flag| {
        command.mut_arg(id_of(flag), |arg| {
            let help = arg.get_help().map(ToString::to_string).unwrap_or_default();
            arg.help(format!("{help} {NOT_SUPPORTED}"))
        })
    })
}

/// The clap id of a flag, which is the name of its struct field.
pub(super) fn id_of(flag: &str) -> String {
    flag.replace('-', "_")
}

/// The reason why a valid command line is refused. `None` if it has no refused flag.
pub(super) fn refusal(matches: &ArgMatches) -> Option<String> {
    let (name, matches) = matches.subcommand()?;
    let of_command = REFUSED.iter().filter(|it| it.commands.contains(&name));
    let flags = of_command.flat_map(|it| it.flags.iter().map(move |flag| (flag, it.why)));
    let mut given = flags.filter(|(flag, _)| is_given(matches, &id_of(flag)));
    given.next().map(|(_, why)| why.to_owned())
}

/// The names of the command and of its flags, without values, as in `state list -id`.
fn invocation(command: &clap::Command, matches: &ArgMatches) -> String {
    let (mut command, mut matches) = (command, matches);
    let mut words = Vec::new();
    while let Some((name, inner)) = matches.subcommand()
        && let Some(found) = command.find_subcommand(name)
    {
        words.push(name.to_owned());
        (command, matches) = (found, inner);
    }
    let given = command.get_arguments().filter(|it| {
        let id = it.get_id().as_str();
        matches.try_contains_id(id).is_ok()
            && matches.value_source(id) == Some(ValueSource::CommandLine)
    });
    words.extend(given.filter_map(|it| Some(format!("-{}", it.get_long()?))));
    words.join(" ")
}

/// Returns true if a flag is given on the command line. A flag that is set to false does not count.
pub(super) fn is_given(matches: &ArgMatches, id: &str) -> bool {
    let is_off = matches!(matches.try_get_one::<bool>(id), Ok(Some(false)));
    matches.value_source(id) == Some(ValueSource::CommandLine) && !is_off
}

pub(super) fn with_valued_flags(command: clap::Command) -> clap::Command {
    let command = command.mut_args(|arg| {
        let is_flag = arg.get_value_parser().type_id() == TypeId::of::<bool>();
        if !is_flag || !matches!(arg.get_action(), ArgAction::SetTrue | ArgAction::Set) {
            return arg;
        }
        let arg = match arg.get_action() {
            ArgAction::SetTrue => arg.default_value("false").hide_default_value(true),
            _ => arg,
        };
        arg.action(ArgAction::Set)
            .value_parser(go_bool)
            .value_name("BOOL")
            .num_args(0..=1)
            .require_equals(true)
            .default_missing_value("true")
    });
    command.mut_subcommands(with_valued_flags)
}

/// Returns true if a word is the name of a command group, such as `state`, which needs a subcommand.
pub(crate) fn is_group(command: &clap::Command, word: &str) -> bool {
    command.find_subcommand(word).is_some_and(clap::Command::has_subcommands)
}

/// Parses a command line that [`normalize`] returned, by the definition of [`command`].
///
/// # Errors
/// The parse error of clap, or the help text if help was requested.
pub(crate) fn parse(command: &mut clap::Command, args: &[String]) -> Result<Cli, clap::Error> {
    let matches = command.try_get_matches_from_mut(args)?;
    let cli = Cli::from_arg_matches(&matches)?;
    Ok(Cli { refusal: refusal(&matches), invocation: invocation(command, &matches), ..cli })
}
