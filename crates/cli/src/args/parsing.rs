//! The syntax of the command line: dashes, help, and the words of a valid command line.

use clap::{ArgMatches, CommandFactory, FromArgMatches, parser::ValueSource};

use super::{
    Cli,
    flags::{REFUSED, id_of, with_valued_flags},
};

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
