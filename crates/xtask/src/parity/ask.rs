//! Asks the executables for their commands and flags.
//!
//! Mayfly's help lists all of them. OpenTofu's help lists most; for the others, each flag that is known from
//! anywhere is tried with each command. A flag that does not exist ends every such call while the command line is
//! parsed, so no command runs.

use std::{
    collections::BTreeSet,
    path::Path,
    process::{Command, Stdio},
};

use anyhow::{Context as _, Result, ensure};
use tempfile::TempDir;

use super::{Entry, Surface};

/// Commands that no list of commands in a help text contains.
const HIDDEN_COMMANDS: &[&str] = &[
    "env",
    "env delete",
    "env list",
    "env new",
    "env select",
    "push",
    "state ls",
    "state move",
    "state remove",
    "workspace show",
];

/// Commands that only Mayfly has, and that its help does not list.
const OWN_HIDDEN_COMMANDS: &[&str] = &["serve"];

/// Flags that no help text of OpenTofu contains.
const HIDDEN_FLAGS: &[&str] = &["backup", "backup-out", "cloud", "module", "state-out", "verbose"];

/// Flags before the command that no help text of OpenTofu contains. They are not tried, because they edit the
/// start files of the user's shell.
const HIDDEN_GLOBAL_FLAGS: &[&str] = &["install-autocomplete", "uninstall-autocomplete"];

/// A flag that no command has.
const NO_FLAG: &str = "-no-such-flag-exists";

/// The commands and flags of Mayfly.
pub(super) fn surface_of_mayfly(executable: &Path) -> Result<Surface> {
    let program = Program::new(executable)?;
    let mut surface = Surface::new();
    let mut commands = vec![String::new()];
    while let Some(command) = commands.pop() {
        let help = program.help(&command)?;
        surface.extend(options(&help).map(|flag| Entry::flag(&command, flag)));
        let below = listed(&help, &["Commands:"]);
        commands.extend(below.filter(|it| *it != "help").map(|it| below_of(&command, it)));
        if !command.is_empty() {
            surface.insert(Entry::command(&command));
        }
        if command.is_empty() {
            let is_there = |it: &&&str| program.help(it).is_ok();
            let hidden = HIDDEN_COMMANDS.iter().chain(OWN_HIDDEN_COMMANDS);
            commands.extend(hidden.filter(is_there).map(|it| (*it).to_owned()));
        }
    }
    Ok(surface)
}

/// The version, the commands and the flags of OpenTofu. Tries the flags of Mayfly too.
pub(super) fn surface_of_reference(path: &Path, mayfly: &Surface) -> Result<(String, Surface)> {
    let program = Program::new(path)?;
    let version = program.printed(&["version"])?;
    let version = version.split_whitespace().nth(1).context("OpenTofu prints no version")?;
    let mut commands: BTreeSet<String> =
        HIDDEN_COMMANDS.iter().map(|it| (*it).to_owned()).collect();
    let global = program.help("")?;
    let is_global = |it: &&str| ["chdir", "version"].contains(it);
    let titles = ["Main commands:", "All other commands:", "Subcommands:"];
    commands.extend(listed(&global, &titles).map(str::to_owned));
    let mut flags: BTreeSet<String> = HIDDEN_FLAGS.iter().map(|it| (*it).to_owned()).collect();
    let of_commands = mayfly.iter().filter(|it| !it.command.is_empty() && !it.flag.is_empty());
    flags.extend(of_commands.map(|it| it.flag.clone()));
    let mut open: Vec<String> = commands.iter().cloned().collect();
    while let Some(command) = open.pop() {
        let help = program.help(&command)?;
        flags.extend(mentioned(&help).filter(|it| !is_global(it)).map(str::to_owned));
        let below = listed(&help, &titles).map(|it| below_of(&command, it));
        open.extend(below.filter(|it| commands.insert(it.clone())));
    }
    let mut surface = Surface::new();
    for command in &commands {
        surface.insert(Entry::command(command));
        for flag in &flags {
            if program.has_flag(command, flag)? {
                surface.insert(Entry::flag(command, flag));
            }
        }
    }
    let global = mentioned(&global).chain(HIDDEN_GLOBAL_FLAGS.iter().copied());
    surface.extend(global.filter(|it| *it != "help").map(|flag| Entry::flag("", flag)));
    Ok((version.to_owned(), surface))
}

fn below_of(command: &str, name: &str) -> String {
    format!("{command} {name}").trim_start().to_owned()
}

/// The names in the lists of commands with one of these titles.
fn listed<'a>(help: &'a str, titles: &'a [&str]) -> impl Iterator<Item = &'a str> {
    let mut is_list = false;
    help.lines().filter_map(move |line| {
        if !line.starts_with(' ') {
            is_list = titles.contains(&line);
            return None;
        }
        let indent = line.len() - line.trim_start().len();
        let name = line.split_whitespace().next()?;
        (is_list && indent <= 4 && is_name(name)).then_some(name)
    })
}

/// The flags that a help text of Mayfly lists.
fn options(help: &str) -> impl Iterator<Item = &str> {
    help.lines().filter_map(|line| {
        let entry = line.trim_start().strip_prefix("-h, ").unwrap_or(line.trim_start());
        let flag = entry.strip_prefix("--")?.split([' ', '[', '=']).next()?;
        (flag != "help" && is_name(flag)).then_some(flag)
    })
}

/// The flags that a help text mentions anywhere.
fn mentioned(help: &str) -> impl Iterator<Item = &str> {
    help.split_whitespace().filter_map(|word| {
        let flag = word.trim_start_matches(['"', '(', '`']).strip_prefix('-')?;
        let end = flag.find(|it: char| !it.is_ascii_lowercase() && it != '-');
        let flag = &flag[..end.unwrap_or(flag.len())];
        (is_name(flag) && flag != "help").then_some(flag)
    })
}

fn is_name(word: &str) -> bool {
    let is_edge = |it: Option<char>| it.is_some_and(|it| it.is_ascii_lowercase());
    is_edge(word.chars().next())
        && is_edge(word.chars().next_back())
        && word.chars().all(|it| it.is_ascii_lowercase() || it == '-')
}

/// An executable with an empty directory to run in.
struct Program<'a> {
    executable: &'a Path,
    directory: TempDir,
}

impl Program<'_> {
    fn new(executable: &Path) -> Result<Program<'_>> {
        Ok(Program { executable, directory: tempfile::tempdir()? })
    }

    /// Runs the executable, and returns its exit code and its output.
    fn run(&self, arguments: &[&str]) -> Result<(bool, String)> {
        let output = Command::new(self.executable)
            .args(arguments)
            .current_dir(&self.directory)
            .stdin(Stdio::null())
            .env_remove("TF_CLI_ARGS")
            .output()
            .with_context(|| format!("failed to start {}", self.executable.display()))?;
        let text = [output.stdout, output.stderr].concat();
        Ok((output.status.success(), String::from_utf8_lossy(&text).into_owned()))
    }

    fn printed(&self, arguments: &[&str]) -> Result<String> {
        let (succeeds, text) = self.run(arguments)?;
        ensure!(succeeds, "{} {} fails:\n{text}", self.executable.display(), arguments.join(" "));
        Ok(text)
    }

    fn help(&self, command: &str) -> Result<String> {
        let words: Vec<&str> = command.split_whitespace().chain(["-help"]).collect();
        self.printed(&words)
    }

    /// Returns true if OpenTofu's command has the flag.
    fn has_flag(&self, command: &str, flag: &str) -> Result<bool> {
        let given = match flag {
            "deprecation" => "-deprecation=module:all".to_owned(),
            _ => format!("-{flag}"),
        };
        // A flag with a value takes the first of both.
        let after = [&given, NO_FLAG, NO_FLAG, "-no-color"];
        let words: Vec<&str> = command.split_whitespace().chain(after).collect();
        let (succeeds, text) = self.run(&words)?;
        ensure!(!succeeds, "{command}: accepts {NO_FLAG}");
        let unknown = format!("flag provided but not defined: {NO_FLAG}");
        // A group of commands and a removed command parse no flags.
        let is_known = [unknown.as_str(), "invalid value", "invalid boolean value"];
        Ok(is_known.iter().any(|it| text.contains(it)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn help_texts_list_commands_and_flags() {
        let tofu = "Usage: tofu state\n\n  Text with -words.\n\nSubcommands:\n    list    List\n    \
                    mv      Move -x\n\nGlobal options:\n  -chdir=DIR  Switch\n";
        assert_eq!(listed(tofu, &["Subcommands:"]).collect::<Vec<_>>(), ["list", "mv"]);
        assert_eq!(mentioned(tofu).collect::<Vec<_>>(), ["words", "x", "chdir"]);
        let mayfly = "Usage: mayfly plan [OPTIONS]\n\nOptions:\n      --no-color[=<BOOL>]\n          \
                      Disable -colors\n      --var <NAME=VALUE>  Set\n  -h, --help  Print\n";
        assert_eq!(options(mayfly).collect::<Vec<_>>(), ["no-color", "var"]);
    }
}
