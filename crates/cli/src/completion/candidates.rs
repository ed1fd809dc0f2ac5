//! The candidates for the word at the cursor.

use clap::{Arg, ArgAction, Command};

use super::{line::Line, names::Names};
use crate::args;

/// The kinds of words that a flag or an argument takes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Values {
    /// Addresses of objects in the state, and of their resources.
    Objects,
    /// Addresses of resources and modules, in the state or in the configuration.
    Targets,
    /// Names of workspaces.
    Workspaces,
    /// Names of outputs.
    Outputs,
    /// Names of variables, each with "=".
    Variables,
    /// Addresses, as for targets, and ids of diagnostics.
    Explained,
    /// Files and directories.
    Files,
    /// Directories.
    Directories,
}

/// The candidates, sorted. Each begins with the word at the cursor.
pub(super) fn find(line: &Line, mut names: Names) -> Vec<String> {
    let definition = args::whole_command();
    let place = Place::find(&definition, line, &mut names);
    let mut found = place.candidates(line, &mut names);
    found.retain(|it| it.starts_with(&line.current));
    found.sort();
    found.dedup();
    found
}

/// The command at the cursor.
struct Place<'c> {
    command: &'c Command,
    /// The words of the command.
    path: Vec<&'c str>,
    /// The flag whose value the word at the cursor is.
    flag: Option<&'c Arg>,
    /// The number of arguments before the cursor.
    arguments: usize,
}

impl<'c> Place<'c> {
    fn find(definition: &'c Command, line: &Line, names: &mut Names) -> Place<'c> {
        let mut place = Place { command: definition, path: Vec::new(), flag: None, arguments: 0 };
        for word in args::normalize(line.words.iter().cloned()) {
            if place.flag.take().is_some() {
                continue;
            }
            if let Some(directory) = word.strip_prefix("--chdir=") {
                names.enter(directory);
            } else if let Some(flag) = word.strip_prefix("--") {
                place.flag = flag_of(place.command, flag).filter(|it| takes_word(it));
            } else if let Some(below) = place.command.find_subcommand(&word) {
                place.command = below;
                place.path.push(below.get_name());
            } else {
                place.arguments += 1;
            }
        }
        place
    }

    fn candidates(&self, line: &Line, names: &mut Names) -> Vec<String> {
        if let Some(flag) = self.flag {
            return values_of(flag, &self.path, &line.current, names);
        }
        let typed = line.current.strip_prefix('-').map(|it| it.strip_prefix('-').unwrap_or(it));
        match typed.map(|it| it.split_once('=')) {
            Some(Some((name, value))) => {
                let Some(flag) = flag_of(self.command, name) else { return Vec::new() };
                let before = &line.current[..line.current.len() - value.len()];
                let values = values_of(flag, &self.path, value, names);
                values.into_iter().map(|it| format!("{before}{it}")).collect()
            }
            Some(None) => self.flags(line.current.starts_with("--")),
            None => self.words(&line.current, names),
        }
    }

    fn flags(&self, has_two_dashes: bool) -> Vec<String> {
        let dashes = if has_two_dashes { "--" } else { "-" };
        let flags = self.command.get_arguments().filter(|it| !it.is_hide_set());
        let flag = |it: &Arg| Some(format!("{dashes}{}{}", it.get_long()?, ending(it)));
        flags.filter_map(flag).collect()
    }

    /// The commands below, or the values of the next argument.
    fn words(&self, typed: &str, names: &mut Names) -> Vec<String> {
        let below = self
            .command
            .get_subcommands()
            .filter(|it| !it.is_hide_set() && it.get_name() != "help");
        let mut found: Vec<String> = match self.arguments {
            0 => below.map(|it| it.get_name().to_owned()).collect(),
            _ => Vec::new(),
        };
        let positionals: Vec<&Arg> = self.command.get_positionals().collect();
        let next = positionals.get(self.arguments).copied().or_else(|| {
            let is_many = |it: &&Arg| matches!(it.get_action(), ArgAction::Append);
            positionals.last().copied().filter(is_many)
        });
        if let Some(argument) = next {
            found.extend(values_of(argument, &self.path, typed, names));
        }
        found
    }
}

fn flag_of<'c>(command: &'c Command, name: &str) -> Option<&'c Arg> {
    command.get_arguments().find(|it| it.get_long() == Some(name))
}

fn is_bool(flag: &Arg) -> bool {
    flag.get_value_names().is_some_and(|names| names.iter().any(|it| it == "BOOL"))
}

/// Returns true if the value of a flag may be the next word.
fn takes_word(flag: &Arg) -> bool {
    flag.get_action().takes_values() && !flag.is_require_equals_set()
}

/// The text after the name of a flag: a flag that is on by default is given to turn it off.
fn ending(flag: &Arg) -> &'static str {
    let is_on = || flag.get_default_values().iter().any(|it| it == "true");
    match is_bool(flag) {
        true if is_on() => "=false",
        false if flag.is_require_equals_set() => "=",
        _ => "",
    }
}

fn values_of(argument: &Arg, path: &[&str], typed: &str, names: &mut Names) -> Vec<String> {
    if is_bool(argument) {
        return ["false", "true"].map(str::to_owned).into();
    }
    let possible = argument.get_possible_values();
    if !possible.is_empty() {
        return possible.iter().map(|it| it.get_name().to_owned()).collect();
    }
    match argument.get_long() {
        Some("deprecation") => {
            return ["all", "local", "none"].map(|it| format!("module:{it}")).into();
        }
        Some("lockfile") => return vec!["readonly".to_owned()],
        _ => {}
    }
    let value = argument.get_value_names().and_then(|it| it.first()).map(|it| it.as_str());
    match value.and_then(|it| kind(it, argument.get_long().is_some(), path)) {
        None => Vec::new(),
        Some(Values::Objects) => names.objects(),
        Some(Values::Targets) => names.targets(),
        Some(Values::Workspaces) => names.workspaces(),
        Some(Values::Outputs) => names.outputs(),
        Some(Values::Variables) => names.variables(),
        Some(Values::Explained) => {
            let rules = db::Rule::ALL.iter().map(ToString::to_string);
            names.targets().into_iter().chain(rules).collect()
        }
        Some(Values::Files) => names.files(typed, false),
        Some(Values::Directories) => names.files(typed, true),
    }
}

/// The kind of the values that the help text calls by this name.
fn kind(name: &str, is_flag: bool, path: &[&str]) -> Option<Values> {
    let command = path.first().copied().unwrap_or_default();
    Some(match name {
        "ADDRESS" if is_flag || command == "import" => Values::Targets,
        "ADDRESS" | "SOURCE" => Values::Objects,
        "NAME" if ["workspace", "env"].contains(&command) => Values::Workspaces,
        "NAME" if command == "output" => Values::Outputs,
        "NAME=VALUE" => Values::Variables,
        "ADDRESS|ID" => Values::Explained,
        "DIR" => Values::Directories,
        "FILE" | "PATH" | "PLAN" | "TARGET" | "ARGUMENT|FILE" => Values::Files,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use plugin::Processes;

    use super::*;

    fn candidates(line: &str) -> Vec<String> {
        find(&Line::parse(line), Names::new(Processes::default(), true))
    }

    #[test]
    fn commands_and_flags_are_candidates() {
        assert_eq!(candidates("mayfly pl"), ["plan"]);
        assert_eq!(candidates("mayfly state re"), ["replace-provider"]);
        assert_eq!(candidates("mayfly plan -tar"), ["-target", "-target-file"]);
        assert_eq!(candidates("mayfly plan --tar"), ["--target", "--target-file"]);
        assert_eq!(candidates("mayfly plan -refr"), ["-refresh-only", "-refresh=false"]);
        assert_eq!(candidates("mayfly -chd"), ["-chdir="]);
        assert_eq!(candidates("mayfly fmt -no-"), ["-no-color"]);
    }

    #[test]
    fn values_of_flags_are_candidates_after_a_blank_and_after_an_equals_sign() {
        assert_eq!(candidates("mayfly graph -type plan-"), ["plan-destroy", "plan-refresh-only"]);
        assert_eq!(candidates("mayfly graph -type=a"), ["-type=apply"]);
        assert_eq!(candidates("mayfly plan -refresh=f"), ["-refresh=false"]);
        assert_eq!(candidates("mayfly plan -deprecation=module:l"), ["-deprecation=module:local"]);
        assert_eq!(candidates("mayfly explain module-cop"), ["module-copy"]);
        assert!(candidates("mayfly plan -no-such-flag=").is_empty());
    }
}
