//! The command line, as the reference has it: `-flag`, `-flag=value`, `-flag value` and the same with two dashes.

use std::{any::TypeId, num::NonZero, path::PathBuf};

use clap::{
    ArgAction, ArgMatches, Args, CommandFactory, FromArgMatches, Parser, Subcommand,
    parser::ValueSource,
};
use engine::Operation;

/// Makes clap's two dashes of the reference's one, so that both are understood.
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

/// `-help plan` asks for the help of `plan`, which clap wants after it.
pub(crate) fn with_help_last(mut args: Vec<String>) -> Vec<String> {
    let flags = args.iter().skip(1).take_while(|arg| arg.starts_with('-')).count();
    let help = args.iter().take(flags + 1).position(|arg| matches!(arg.as_str(), "-h" | "--help"));
    if let Some(help) = help {
        let help = args.remove(help);
        args.push(help);
    }
    args
}

/// A flag's value as Go understands it, which the reference is written in.
fn go_bool(text: &str) -> Result<bool, &'static str> {
    match text {
        "1" | "t" | "T" | "true" | "TRUE" | "True" => Ok(true),
        "0" | "f" | "F" | "false" | "FALSE" | "False" => Ok(false),
        _ => Err("it is true or false"),
    }
}

/// Flags that are understood and refused: to pass over one would do something else than what was asked for. The help of each
/// ends with [`NOT_SUPPORTED`].
const REFUSED: &[Refused] = &[
    Refused {
        commands: &["plan", "apply", "destroy", "watch"],
        flags: &["target", "exclude", "refresh-only"],
        why: None,
    },
    Refused {
        commands: &["watch"],
        flags: &["destroy"],
        why: Some(
            "\"watch\" plans what a configuration asks for. To see what would be destroyed, run \"mayfly plan -destroy\".",
        ),
    },
];

const NOT_SUPPORTED: &str = "(not supported yet)";

struct Refused {
    commands: &'static [&'static str],
    /// Names without dashes before them.
    flags: &'static [&'static str],
    /// A sentence if there is more to say than that this version does not have it.
    why: Option<&'static str>,
}

/// The command line as clap knows it, where every flag may also be given a value, as in `-no-color=false`.
pub(crate) fn command() -> clap::Command {
    with_refused_flags(with_valued_flags(Cli::command()))
}

fn with_refused_flags(mut command: clap::Command) -> clap::Command {
    for refused in REFUSED {
        for name in refused.commands {
            command = command.mut_subcommand(name, |command| {
                refused.flags.iter().fold(command, |command, flag| {
                    command.mut_arg(id_of(flag), |arg| {
                        let help = arg.get_help().map(ToString::to_string).unwrap_or_default();
                        arg.help(format!("{help} {NOT_SUPPORTED}"))
                    })
                })
            });
        }
    }
    command
}

/// The name of the field that a flag is read into.
fn id_of(flag: &str) -> String {
    flag.replace('-', "_")
}

/// Why a command line is not carried out though it is understood; `None` if no flag of it is refused.
fn refusal(matches: &ArgMatches) -> Option<String> {
    let (name, matches) = matches.subcommand()?;
    let of_command = REFUSED.iter().filter(|it| it.commands.contains(&name));
    let flags = of_command.flat_map(|it| it.flags.iter().map(move |flag| (flag, it.why)));
    let mut given = flags.filter(|(flag, _)| is_given(matches, &id_of(flag)));
    given.next().map(|(flag, why)| match why {
        Some(why) => why.to_owned(),
        None => format!("This version of Mayfly does not support -{flag}. Nothing was done."),
    })
}

/// The names of a command and of its flags, as in `state list -id`.
fn invocation(matches: &ArgMatches) -> String {
    let mut command = &command();
    let mut matches = matches;
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

/// Returns false for a flag that is switched off, which asks for nothing.
fn is_given(matches: &ArgMatches, id: &str) -> bool {
    let is_off = matches!(matches.try_get_one::<bool>(id), Ok(Some(false)));
    matches.value_source(id) == Some(ValueSource::CommandLine) && !is_off
}

fn with_valued_flags(command: clap::Command) -> clap::Command {
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

/// Returns true for a word that another one must follow to make a command, as `state`.
pub(crate) fn is_group(word: &str) -> bool {
    command().find_subcommand(word).is_some_and(clap::Command::has_subcommands)
}

/// Reads a command line that [`normalize`] has been over.
///
/// # Errors
/// What clap says is wrong with it, or the help that was asked for.
pub(crate) fn parse(args: &[String]) -> Result<Cli, clap::Error> {
    let matches = command().try_get_matches_from(args)?;
    let cli = Cli::from_arg_matches(&matches)?;
    Ok(Cli { refusal: refusal(&matches), invocation: invocation(&matches), ..cli })
}

/// An OpenTofu-compatible engine that never writes a secret down.
#[derive(Parser)]
#[command(name = "mayfly", bin_name = "mayfly", disable_version_flag = true, max_term_width = 100)]
pub(crate) struct Cli {
    /// Switch to another directory before executing the command.
    #[arg(long, value_name = "DIR", require_equals = true)]
    pub(crate) chdir: Option<PathBuf>,
    /// Print the version; the same as the version command.
    #[arg(long)]
    pub(crate) version: bool,
    /// Why the command line is not carried out, as a sentence.
    #[arg(skip)]
    pub(crate) refusal: Option<String>,
    /// The names of the command and of the flags that were given, without any value.
    #[arg(skip)]
    pub(crate) invocation: String,
    #[command(subcommand)]
    pub(crate) command: Option<Command>,
}

#[derive(Subcommand)]
pub(crate) enum Command {
    /// Prepare the working directory: install providers, write the lock file.
    Init(InitArgs),
    /// Check whether the configuration is valid.
    Validate(ValidateArgs),
    /// Give files the one layout that all configurations have.
    Fmt(FmtArgs),
    /// Show the changes that the configuration asks for.
    Plan(PlanArgs),
    /// Plan, and plan again after every save.
    Watch(WatchArgs),
    /// Create or update infrastructure.
    Apply(ApplyArgs),
    /// Destroy what was created before.
    Destroy(ApplyArgs),
    /// Try expressions, one a line.
    Console(ConsoleArgs),
    /// Take an object that exists into the state.
    Import(ImportArgs),
    /// Show a state or a saved plan.
    Show(ShowArgs),
    /// Show output values of the root module.
    Output(OutputArgs),
    /// Look into the state.
    State {
        #[command(subcommand)]
        command: StateCommand,
    },
    /// Show what is known of providers.
    Providers {
        #[command(subcommand)]
        command: ProvidersCommand,
    },
    /// Show what is known of the language itself.
    Metadata {
        #[command(subcommand)]
        command: MetadataCommand,
    },
    /// Explain what an error or a warning means, and the ways out.
    Explain(ExplainArgs),
    /// Print the version.
    Version(VersionArgs),
    /// Serve an editor over the language server protocol, on standard input and output.
    #[command(alias = "serve")]
    Lsp(LspArgs),
    /// Release a lock on the state that a crashed command left.
    ForceUnlock(ForceUnlockArgs),
}

impl Command {
    /// Lets go of the values of variables, which are taken from the command line in their order instead.
    pub(crate) fn forget_values(&mut self) {
        let vars = match self {
            Command::Init(it) => &mut it.vars,
            Command::Validate(it) => &mut it.vars,
            Command::Plan(it) => &mut it.vars,
            Command::Watch(it) => &mut it.vars,
            Command::Apply(it) | Command::Destroy(it) => &mut it.vars,
            Command::Console(it) => &mut it.vars,
            Command::Import(it) => &mut it.vars,
            Command::State { command: StateCommand::Adopt(it) } => &mut it.vars,
            Command::State { command: StateCommand::List(it) } => &mut it.vars,
            Command::State { command: StateCommand::Show(it) } => &mut it.vars,
            Command::Show(it) => &mut it.vars,
            Command::Output(it) => &mut it.vars,
            Command::Providers { command: ProvidersCommand::Schema(it) } => &mut it.vars,
            Command::ForceUnlock(it) => &mut it.vars,
            Command::Fmt(_)
            | Command::Metadata { .. }
            | Command::Explain(_)
            | Command::Version(_)
            | Command::Lsp(_) => {
                return;
            }
        };
        vars.vars.clear();
    }
}

/// What editors say when they start a language server.
#[derive(clap::Args)]
pub(crate) struct LspArgs {
    /// Standard input and output, which is all that there is.
    #[arg(long)]
    pub(crate) stdio: bool,
}

#[derive(Subcommand)]
pub(crate) enum StateCommand {
    /// List the resources in the state.
    #[command(alias = "ls")]
    List(StateListArgs),
    /// Show one resource of the state.
    Show(StateShowArgs),
    /// Say what became of a creation that a provider never answered.
    Adopt(StateAdoptArgs),
}

#[derive(Subcommand)]
pub(crate) enum ProvidersCommand {
    /// Print the schemas of the configuration's providers.
    Schema(ProvidersSchemaArgs),
}

#[derive(Subcommand)]
pub(crate) enum MetadataCommand {
    /// Print the signatures of all functions.
    Functions(MetadataFunctionsArgs),
}

/// How output looks; every command that people read takes these.
#[derive(Args, Clone, Default)]
pub(crate) struct ViewArgs {
    /// No colours.
    #[arg(long)]
    pub(crate) no_color: bool,
    /// Warnings as a list of one line each, where there are no errors.
    #[arg(long)]
    pub(crate) compact_warnings: bool,
    /// No lines of progress.
    #[arg(long)]
    pub(crate) concise: bool,
    /// Show warnings of one summary as one.
    #[arg(long, default_value_t = true, action = ArgAction::Set)]
    pub(crate) consolidate_warnings: bool,
    /// Show errors of one summary as one.
    #[arg(long)]
    pub(crate) consolidate_errors: bool,
}

/// Values of root variables.
#[derive(Args, Clone, Default)]
pub(crate) struct VarArgs {
    /// Set a root variable: NAME=VALUE. May be repeated.
    #[arg(long = "var", value_name = "NAME=VALUE", allow_hyphen_values = true)]
    pub(crate) vars: Vec<String>,
    /// Set root variables from a file. May be repeated.
    #[arg(long = "var-file", value_name = "FILE")]
    pub(crate) var_files: Vec<PathBuf>,
}

/// Where a local state lies and how it is locked.
#[derive(Args, Clone)]
pub(crate) struct StateArgs {
    /// Lock the state while working on it.
    #[arg(long, default_value_t = true, action = ArgAction::Set)]
    pub(crate) lock: bool,
    /// How long to try again for a lock that someone else holds, such as 10s.
    #[arg(long, value_name = "DURATION", default_value = "0s")]
    pub(crate) lock_timeout: String,
    /// The state file to read, and to write unless -state-out is given.
    #[arg(long, value_name = "PATH")]
    pub(crate) state: Option<PathBuf>,
    /// The state file to write.
    #[arg(long, value_name = "PATH")]
    pub(crate) state_out: Option<PathBuf>,
    /// Where the previous state is kept; "-" for nowhere.
    #[arg(long, value_name = "PATH")]
    pub(crate) backup: Option<String>,
}

/// What an operation does, and how.
#[derive(Args, Clone)]
pub(crate) struct OperationArgs {
    /// How many provider operations may run at once.
    #[arg(long, value_name = "N", default_value = "10")]
    pub(crate) parallelism: NonZero<usize>,
    /// Ask providers for the present state of every object first.
    #[arg(long, default_value_t = true, action = ArgAction::Set)]
    pub(crate) refresh: bool,
    /// Plan the destruction of everything.
    #[arg(long)]
    pub(crate) destroy: bool,
    /// Only update the state from the real objects.
    #[arg(long)]
    pub(crate) refresh_only: bool,
    /// Replace this instance even if nothing forces it. May be repeated.
    #[arg(long, value_name = "ADDRESS")]
    pub(crate) replace: Vec<String>,
    /// Create what may exist already because a provider's answer to an earlier attempt never came.
    #[arg(long)]
    pub(crate) retry_uncertain: bool,
    /// Work on this resource and what it depends on only. May be repeated.
    #[arg(long, value_name = "ADDRESS")]
    pub(crate) target: Vec<String>,
    /// Leave out this resource and what depends on it. May be repeated.
    #[arg(long, value_name = "ADDRESS")]
    pub(crate) exclude: Vec<String>,
    /// Ask for variables that have no value.
    #[arg(long, default_value_t = true, action = ArgAction::Set)]
    pub(crate) input: bool,
    /// One JSON object a line instead of text.
    #[arg(long)]
    pub(crate) json: bool,
    /// Show sensitive values in plans. Ephemeral values are never shown.
    #[arg(long)]
    pub(crate) show_sensitive: bool,
}

#[derive(Args)]
pub(crate) struct InitArgs {
    #[command(flatten)]
    pub(crate) view: ViewArgs,
    #[command(flatten)]
    pub(crate) vars: VarArgs,
    /// Select the newest versions that the constraints allow.
    #[arg(long)]
    pub(crate) upgrade: bool,
    /// Look for providers in this directory only. May be repeated.
    #[arg(long, value_name = "DIR")]
    pub(crate) plugin_dir: Vec<PathBuf>,
    /// "readonly" refuses to change the lock file.
    #[arg(long, value_name = "MODE")]
    pub(crate) lockfile: Option<String>,
    /// Say that the backend is initialized. False leaves alone what is written down of it.
    #[arg(long, default_value_t = true, action = ArgAction::Set)]
    pub(crate) backend: bool,
    /// An argument of the backend, NAME=VALUE, or a file of them. May be repeated.
    #[arg(long, value_name = "ARGUMENT|FILE")]
    pub(crate) backend_config: Vec<String>,
    /// Ask on a terminal for variables that decide which modules there are, and where the state is.
    #[arg(long, default_value_t = true, action = ArgAction::Set)]
    pub(crate) input: bool,
    /// Install modules.
    #[arg(long, default_value_t = true, action = ArgAction::Set)]
    pub(crate) get: bool,
    /// Take over where the configuration says that the state is, and leave states elsewhere alone.
    #[arg(long)]
    pub(crate) reconfigure: bool,
    /// Take over where the configuration says that the state is, and copy the states there.
    #[arg(long)]
    pub(crate) migrate_state: bool,
    /// The same: there are no questions.
    #[arg(long)]
    pub(crate) force_copy: bool,
}

impl InitArgs {
    /// Whether states come along to where the configuration says that they are.
    pub(crate) fn migrates_state(&self) -> bool {
        self.migrate_state || self.force_copy
    }

    /// Whether the lock file may not change.
    pub(crate) fn is_lockfile_readonly(&self) -> bool {
        self.lockfile.as_deref() == Some("readonly")
    }
}

#[derive(Args)]
pub(crate) struct ValidateArgs {
    #[command(flatten)]
    pub(crate) view: ViewArgs,
    #[command(flatten)]
    pub(crate) vars: VarArgs,
    /// The result as JSON.
    #[arg(long)]
    pub(crate) json: bool,
    /// Taken for scripts that give it: test files are left out in any case.
    #[arg(long = "no-tests")]
    pub(crate) _no_tests: bool,
}

#[derive(Args)]
pub(crate) struct FmtArgs {
    #[command(flatten)]
    pub(crate) view: ViewArgs,
    /// List the files that change.
    #[arg(long, default_value_t = true, action = ArgAction::Set)]
    pub(crate) list: bool,
    /// Write the files that change.
    #[arg(long, default_value_t = true, action = ArgAction::Set)]
    pub(crate) write: bool,
    /// Show what changes.
    #[arg(long)]
    pub(crate) diff: bool,
    /// Write nothing, and exit with 3 where something would change.
    #[arg(long)]
    pub(crate) check: bool,
    /// Directories below, too.
    #[arg(long)]
    pub(crate) recursive: bool,
    /// Files and directories, the working directory where there are none; "-" for standard input.
    #[arg(value_name = "TARGET")]
    pub(crate) targets: Vec<PathBuf>,
}

#[derive(Args)]
pub(crate) struct PlanArgs {
    #[command(flatten)]
    pub(crate) view: ViewArgs,
    #[command(flatten)]
    pub(crate) vars: VarArgs,
    #[command(flatten)]
    pub(crate) state: StateArgs,
    #[command(flatten)]
    pub(crate) operation: OperationArgs,
    /// Save the plan to this file.
    #[arg(long, value_name = "FILE")]
    pub(crate) out: Option<PathBuf>,
    /// Exit with 2 where there are changes.
    #[arg(long)]
    pub(crate) detailed_exitcode: bool,
}

#[derive(Args)]
pub(crate) struct WatchArgs {
    #[command(flatten)]
    pub(crate) view: ViewArgs,
    #[command(flatten)]
    pub(crate) vars: VarArgs,
    #[command(flatten)]
    pub(crate) state: StateArgs,
    #[command(flatten)]
    pub(crate) operation: OperationArgs,
}

#[derive(Args)]
pub(crate) struct ApplyArgs {
    #[command(flatten)]
    pub(crate) view: ViewArgs,
    #[command(flatten)]
    pub(crate) vars: VarArgs,
    #[command(flatten)]
    pub(crate) state: StateArgs,
    #[command(flatten)]
    pub(crate) operation: OperationArgs,
    /// Do not ask for approval.
    #[arg(long)]
    pub(crate) auto_approve: bool,
    /// A plan saved with "plan -out".
    #[arg(value_name = "PLAN")]
    pub(crate) plan_file: Option<PathBuf>,
    /// Whether the command is `destroy`, and not `apply -destroy`, which does the same.
    #[arg(skip)]
    pub(crate) is_destroy: bool,
}

impl ApplyArgs {
    /// The operation whose counts the command shows at its end.
    pub(crate) fn operation_done(&self) -> Operation {
        if self.is_destroy { Operation::Destroy } else { Operation::Apply }
    }
}

#[derive(Args)]
pub(crate) struct ConsoleArgs {
    #[command(flatten)]
    pub(crate) view: ViewArgs,
    #[command(flatten)]
    pub(crate) vars: VarArgs,
    /// Lock the state, so that nobody changes it meanwhile.
    #[arg(long, default_value_t = true, action = ArgAction::Set)]
    pub(crate) lock: bool,
    /// How long to try again for a lock that someone else holds, such as 10s.
    #[arg(long, value_name = "DURATION", default_value = "0s")]
    pub(crate) lock_timeout: String,
    /// Taken for scripts that give it: variables without a value are unknown here, and nobody is asked for them.
    #[arg(long = "input", default_value_t = true, action = ArgAction::Set)]
    pub(crate) _input: bool,
    /// The state file to read.
    #[arg(long, value_name = "PATH")]
    pub(crate) state: Option<PathBuf>,
}

#[derive(Args)]
pub(crate) struct ShowArgs {
    #[command(flatten)]
    pub(crate) view: ViewArgs,
    #[command(flatten)]
    pub(crate) vars: VarArgs,
    /// As JSON.
    #[arg(long)]
    pub(crate) json: bool,
    /// Show sensitive values. Ephemeral values are in neither a state nor a plan.
    #[arg(long)]
    pub(crate) show_sensitive: bool,
    /// A saved plan or a state file; the current state where absent.
    #[arg(value_name = "PATH")]
    pub(crate) path: Option<PathBuf>,
}

#[derive(Args)]
pub(crate) struct OutputArgs {
    #[command(flatten)]
    pub(crate) view: ViewArgs,
    #[command(flatten)]
    pub(crate) vars: VarArgs,
    /// As JSON.
    #[arg(long)]
    pub(crate) json: bool,
    /// A string, number or bool as it is.
    #[arg(long)]
    pub(crate) raw: bool,
    /// Show sensitive values in the list of all outputs.
    #[arg(long)]
    pub(crate) show_sensitive: bool,
    /// The state file to read.
    #[arg(long, value_name = "PATH")]
    pub(crate) state: Option<PathBuf>,
    /// One output.
    #[arg(value_name = "NAME")]
    pub(crate) name: Option<String>,
}

#[derive(Args)]
pub(crate) struct StateListArgs {
    #[command(flatten)]
    pub(crate) view: ViewArgs,
    #[command(flatten)]
    pub(crate) vars: VarArgs,
    /// The state file to read.
    #[arg(long, value_name = "PATH")]
    pub(crate) state: Option<PathBuf>,
    /// Only objects with this id.
    #[arg(long, value_name = "ID")]
    pub(crate) id: Option<String>,
    /// Only these resources, or what is in these modules.
    #[arg(value_name = "ADDRESS")]
    pub(crate) addresses: Vec<String>,
}

#[derive(Args)]
pub(crate) struct StateShowArgs {
    #[command(flatten)]
    pub(crate) view: ViewArgs,
    #[command(flatten)]
    pub(crate) vars: VarArgs,
    /// The state file to read.
    #[arg(long, value_name = "PATH")]
    pub(crate) state: Option<PathBuf>,
    /// Show sensitive values.
    #[arg(long)]
    pub(crate) show_sensitive: bool,
    /// The instance.
    #[arg(value_name = "ADDRESS")]
    pub(crate) address: String,
}

#[derive(Args)]
pub(crate) struct StateAdoptArgs {
    #[command(flatten)]
    pub(crate) view: ViewArgs,
    #[command(flatten)]
    pub(crate) vars: VarArgs,
    #[command(flatten)]
    pub(crate) state: StateArgs,
    /// The object does not exist: it may be created again.
    #[arg(long, conflicts_with = "id")]
    pub(crate) gone: bool,
    /// Ask for variables that have no value.
    #[arg(long, default_value_t = true, action = ArgAction::Set)]
    pub(crate) input: bool,
    /// The instance that was about to be created.
    #[arg(value_name = "ADDRESS")]
    pub(crate) address: String,
    /// By what the provider knows the object; its documentation says what that is, under "Import".
    #[arg(value_name = "ID", required_unless_present = "gone")]
    pub(crate) id: Option<String>,
}

#[derive(Args)]
pub(crate) struct ImportArgs {
    #[command(flatten)]
    pub(crate) view: ViewArgs,
    #[command(flatten)]
    pub(crate) vars: VarArgs,
    #[command(flatten)]
    pub(crate) state: StateArgs,
    /// How many provider operations may run at once.
    #[arg(long, value_name = "N", default_value = "10")]
    pub(crate) parallelism: NonZero<usize>,
    /// Ask for variables that have no value.
    #[arg(long, default_value_t = true, action = ArgAction::Set)]
    pub(crate) input: bool,
    /// The instance that the object becomes. Its resource block must be there.
    #[arg(value_name = "ADDRESS")]
    pub(crate) address: String,
    /// By what the provider knows the object; its documentation says what that is, under "Import".
    #[arg(value_name = "ID")]
    pub(crate) id: String,
}

#[derive(Args)]
pub(crate) struct ProvidersSchemaArgs {
    #[command(flatten)]
    pub(crate) view: ViewArgs,
    #[command(flatten)]
    pub(crate) vars: VarArgs,
    /// Required: the schemas are only printed as JSON.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Args)]
pub(crate) struct MetadataFunctionsArgs {
    #[command(flatten)]
    pub(crate) view: ViewArgs,
    /// Required: the signatures are only printed as JSON.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Args)]
pub(crate) struct ExplainArgs {
    #[command(flatten)]
    pub(crate) view: ViewArgs,
    /// The id of the error or warning, as a terminal shows it in brackets; all are listed where it is absent.
    #[arg(value_name = "ID")]
    pub(crate) id: Option<String>,
}

#[derive(Args)]
pub(crate) struct VersionArgs {
    #[command(flatten)]
    pub(crate) view: ViewArgs,
    /// As JSON.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Args)]
pub(crate) struct ForceUnlockArgs {
    #[command(flatten)]
    pub(crate) view: ViewArgs,
    #[command(flatten)]
    pub(crate) vars: VarArgs,
    /// Do not ask.
    #[arg(long)]
    pub(crate) force: bool,
    /// The ID that the error about the lock shows.
    #[arg(value_name = "LOCK_ID")]
    pub(crate) id: String,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn normalized(args: &[&str]) -> Vec<String> {
        normalize(args.iter().map(|arg| (*arg).to_owned()))
    }

    #[test]
    fn refused_flags_are_marked_in_the_help() {
        for refused in REFUSED {
            for (name, flag) in refused
                .commands
                .iter()
                .flat_map(|it| refused.flags.iter().map(move |flag| (it, flag)))
            {
                let mut command = command();
                let command = command.find_subcommand_mut(name).expect("there is such a command");
                let help = command
                    .render_help()
                    .to_string()
                    .split_whitespace()
                    .collect::<Vec<_>>()
                    .join(" ");
                let entry = help.split(" --").find(|it| it.split([' ', '[']).next() == Some(flag));
                let entry = entry.unwrap_or_else(|| panic!("{name} has no flag {flag}"));
                assert!(entry.ends_with(NOT_SUPPORTED), "{name}: {entry}");
            }
        }
        let refusal = |args: &[&str]| {
            let args = std::iter::once("mayfly").chain(args.iter().copied()).map(str::to_owned);
            parse(&normalize(args)).expect("is understood").refusal
        };
        assert_eq!(
            refusal(&["plan", "-target", "a.b"]).as_deref(),
            Some("This version of Mayfly does not support -target. Nothing was done.")
        );
        assert!(refusal(&["apply", "-refresh-only"]).is_some());
        assert!(refusal(&["watch", "-destroy"]).is_some());
        assert_eq!(refusal(&["plan", "-destroy", "-refresh-only=false"]), None);
    }

    #[test]
    fn an_invocation_is_told_by_names_alone() {
        let invocation = |args: &[&str]| {
            let args = std::iter::once("mayfly").chain(args.iter().copied()).map(str::to_owned);
            parse(&normalize(args)).expect("is understood").invocation
        };
        assert_eq!(
            invocation(&[
                "-chdir=secret",
                "plan",
                "-var",
                "secret=-secret",
                "-out=secret",
                "-var=secret=b"
            ]),
            "plan -var -out"
        );
        assert_eq!(
            invocation(&["state", "list", "-id", "secret", "secret.secret"]),
            "state list -id"
        );
        assert_eq!(invocation(&["version"]), "version");
    }

    #[test]
    fn one_dash_and_two_are_the_same() {
        let args = normalized(&[
            "mayfly",
            "-chdir=x",
            "plan",
            "-var",
            "a=b",
            "--refresh=false",
            "-out",
            "f",
            "-",
        ]);
        assert_eq!(
            args,
            ["mayfly", "--chdir=x", "plan", "--var", "a=b", "--refresh=false", "--out", "f", "-"]
        );
    }

    #[test]
    fn flags_of_the_reference_are_understood() {
        let cases: &[&[&str]] = &[
            &[
                "plan",
                "-detailed-exitcode",
                "-out=p",
                "-refresh=false",
                "-no-color",
                "-input=false",
            ],
            &["apply", "-auto-approve", "-var", "x=-1", "-var-file=f", "-parallelism=2", "-json"],
            &["apply", "plan.bin"],
            &["destroy", "-auto-approve=true", "-lock=0", "-no-color=false"],
            &["state", "list", "-state=f", "a.b"],
            &["providers", "schema", "-json"],
            &["output", "-raw", "x"],
            &["init", "-upgrade", "-plugin-dir=d"],
            &["import", "-var", "x=1", "-lock=false", "-input=false", "a.b[\"k\"]", "an-id"],
            &["state", "adopt", "a.b", "an-id"],
            &["state", "adopt", "-gone", "a.b"],
        ];
        for case in cases {
            let args = std::iter::once("mayfly").chain(case.iter().copied()).map(str::to_owned);
            let parsed = parse(&normalize(args));
            assert!(parsed.is_ok(), "{case:?}: {}", parsed.err().expect("checked"));
        }
    }
}
