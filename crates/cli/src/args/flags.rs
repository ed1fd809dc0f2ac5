//! The flags that all commands have in common: boolean values, and flags that are refused.

use std::any::TypeId;

use clap::ArgAction;

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

/// Lets every boolean flag accept a value, as in `-no-color=false`.
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
