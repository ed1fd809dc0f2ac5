//! The command line program: commands, setup, signals, output and exit codes.
//!
//! Start reading at [`run`], then [`session`] (the environment of every command), [`operation`] (plan and apply),
//! and the modules of [`commands`]. What a command does to a root module is in the crate `operations`; here is what a
//! person, a terminal or a script sees of it.
//!
//! **Invariant:** while a command runs, only [`ui`] prints. Before a `Ui` exists, [`usage`] and this module print
//! errors; the panic hook prints the location of a panic.
//! **Invariant:** log lines of this program contain only names and numbers. Log lines of providers contain no
//! known ephemeral value.
#![expect(
    clippy::disallowed_methods,
    reason = "an edge crate: it is the one that meets the operating system"
)]

mod allocator;
mod args;
mod arguments;
mod commands;
mod completion;
mod deprecations;
mod directories;
mod events;
mod exit;
mod harden;
mod log;
mod notices;
mod operation;
mod pages;
mod progress;
mod session;
mod signals;
mod status_line;
mod supervision;
mod terminal;
mod ui;
mod usage;

use std::{
    io::IsTerminal as _,
    mem::ManuallyDrop,
    panic::{AssertUnwindSafe, catch_unwind},
};

use db::{Diagnostic, OsSystem, Sources, Summary};
use durability::Failpoints;
use engine::LogLevel;
use operations::{
    edit::taint::Mark, root_system::RootSystem, session::Failure, variables::flag::VarFlag,
};
use plugin::{HiddenMode, Processes};

use crate::{
    args::{Command, Deferred, MetadataCommand, StateCommand},
    directories::Directories,
    exit::Exit,
    session::CommandSession,
};

fn main() -> std::process::ExitCode {
    let args = match plugin::hidden_mode(&std::env::args_os().collect::<Vec<_>>()) {
        HiddenMode::Done(code) => return code,
        HiddenMode::Run(args) => args,
        HiddenMode::None => std::env::args_os().collect(),
    };
    harden::harden();
    let args = args::normalize(args.into_iter().map(|arg| arg.to_string_lossy().into_owned()));
    let args = args::with_help_last(args);
    if let [_, serve, source] = args.as_slice()
        && serve == session::SERVE_ARGUMENT
    {
        return commands::serve_bundled(source).into();
    }
    let processes = Processes::default();
    // Analysis recurses along chains of references, which may be long.
    let run = || parallel::on_deep_stack(|| run(args, processes.clone()));
    // The panic hook has already printed the location.
    let exit = catch_unwind(AssertUnwindSafe(run)).unwrap_or(Exit::Crash);
    // A panic may have left plugins running. Nothing else runs anymore.
    processes.kill_all();
    // Dropping the list would wait for the supervisor, which ends with this process.
    std::mem::forget(processes);
    exit.into()
}

/// Runs one command.
fn run(args: Vec<String>, processes: Processes) -> Exit {
    if let Ok(line) = std::env::var(completion::LINE) {
        return completion::answer(&line, &args, processes);
    }
    // Freeing the many parts of the definition would take longer than parsing with it.
    let mut definition = ManuallyDrop::new(args::command());
    let args = match with_environment_arguments(&definition, args) {
        Ok(args) => args,
        Err(variable) => return usage::unclosed_quote(&variable),
    };
    let cli = match args::parse(&mut definition, &args) {
        Ok(cli) => cli,
        Err(error) => return usage::report(&error),
    };
    let directories = match directories::enter(cli.chdir.as_deref()) {
        Ok(directories) => directories,
        Err(problem) => return usage::problem_with(&problem),
    };
    let (refusal, invocation) = (cli.refusal, cli.invocation);
    let command = match cli.command {
        Some(command) => command,
        None if cli.install_autocomplete => return commands::completion::set_up(false),
        None if cli.uninstall_autocomplete => return commands::completion::set_up(true),
        None if cli.version => Command::Version(Deferred::default()),
        None => {
            let help = definition.render_help().to_string();
            return commands::help(&help);
        }
    };
    let flags = arguments::ordered_flags(&args);
    drop(args);
    let invocation = Invocation { refusal, text: invocation, processes };
    dispatch(command, flags, directories, invocation)
}

/// Inserts the arguments of `TF_CLI_ARGS` and `TF_CLI_ARGS_state_list` directly after the name of the command, as
/// OpenTofu does.
///
/// # Errors
/// The name of an environment variable with an unclosed quote.
fn with_environment_arguments(
    definition: &clap::Command,
    args: Vec<String>,
) -> Result<Vec<String>, String> {
    let Some(first) = args.iter().skip(1).position(|arg| !arg.starts_with('-')).map(|it| it + 1)
    else {
        return Ok(args);
    };
    let is_group = args::is_group(definition, &args[first]);
    let second = args.get(first + 1).filter(|it| is_group && !it.starts_with('-'));
    let position = first + usize::from(second.is_some());
    let command = args[first..=position].join("_").replace('-', "_");
    let mut extra = Vec::new();
    for name in ["TF_CLI_ARGS".to_owned(), format!("TF_CLI_ARGS_{command}")] {
        if let Ok(text) = std::env::var(&name) {
            extra.extend(arguments::shell_words(&text).ok_or(name)?);
        }
    }
    let mut all = args;
    let tail = all.split_off(position + 1);
    all.extend(args::normalize(extra));
    all.extend(tail);
    Ok(all)
}

/// Runs a parsed command. The values on the command line are kept in `flags` only and are dropped when the
/// variables are known. Other processes can read the arguments anyway, but copies in memory should be few.
fn dispatch(
    mut command: Command,
    flags: Vec<VarFlag>,
    directories: Directories,
    invocation: Invocation,
) -> Exit {
    command.forget_values();
    let os = OsSystem::at(directories.works_in);
    let reads_pipes = Failpoints::of(&os).reads_pipes();
    let system = RootSystem::new(os.waiting_for_pipes(reads_pipes), directories.called_in);
    let session = match CommandSession::new(&mut command, system, invocation.processes) {
        Ok(session) => session,
        Err(error) => return usage::problem_with(&error),
    };
    log_begin(&session, &invocation.text);
    if session.ui.has_json_lines() {
        session.ui.json_line(&render::version_json(&session.now()));
    }
    if let Some(detail) = invocation.refusal {
        let refused = Diagnostic::new(Summary::UNSUPPORTED_OPTION, detail);
        session.ui.diagnostics(&[refused], &Sources::default());
        return Exit::Failure;
    }
    session.take_flags(&flags);
    let listens = matches!(
        command,
        Command::Plan(_)
            | Command::Apply(_)
            | Command::Destroy(_)
            | Command::Refresh(_)
            | Command::Watch(_)
            | Command::Test(_)
            | Command::Console(_)
            | Command::Explain(_)
            | Command::Lsp(_)
            | Command::State { command: StateCommand::ReplaceProvider(_) }
    );
    if !listens {
        signals::end_at_once(&session);
    }
    if !matches!(command, Command::Lsp(_)) {
        supervision::begin(&session);
    }
    if let Err(refused) = session.check_settings() {
        return failed(&session, refused);
    }
    let result = match command {
        Command::Init(it) => commands::init::run(&session, &it),
        Command::Get(it) => commands::get::run(&session, &it),
        Command::Validate(it) => commands::validate::run(&session, &it, &flags),
        Command::Fmt(it) => commands::fmt::run(&session, &it),
        Command::Plan(it) => operation::plan_command(&session, &it, flags),
        Command::Watch(Deferred(it)) => commands::watch::run(&session, it, flags),
        Command::Apply(it) => operation::apply_command(&session, &it, flags),
        Command::Destroy(mut it) => {
            it.is_destroy = true;
            operation::apply_command(&session, &it, flags)
        }
        Command::Refresh(Deferred(it)) => it
            .check(&session)
            .and_then(|()| operation::apply_command(&session, &it.into_apply(), flags)),
        Command::Test(it) => commands::test::run(&session, &it, flags),
        Command::Console(it) => commands::console::run(&session, &it, &flags),
        Command::Import(it) => commands::import::run(&session, &it, flags),
        Command::Show(it) => commands::show::run(&session, &it),
        Command::Output(it) => commands::output::run(&session, &it),
        Command::Taint(it) => commands::taint::run(&session, &it, Mark::Taint),
        Command::Untaint(it) => commands::taint::run(&session, &it, Mark::Untaint),
        Command::Workspace { command } => commands::workspace::run(&session, &command),
        Command::Env { command } => commands::workspace::run_as_env(&session, &command),
        Command::State { command } => commands::state::run(&session, &command, flags),
        Command::Providers(it) => commands::providers::run(&session, &it),
        Command::Provider { command } => commands::provider::run(&session, &command),
        Command::Graph(it) => commands::graph::run(&session, &it),
        Command::Login(it) => commands::login::run(&session, &it),
        Command::Logout(it) => commands::login::run_logout(&session, &it),
        Command::Metadata { command: MetadataCommand::Functions(it) } => {
            commands::metadata::functions(&session, &it)
        }
        Command::Version(it) => commands::version::run(&session, &it),
        Command::Lsp(_) => return commands::lsp::run(session),
        Command::ForceUnlock(it) => commands::force_unlock::run(&session, &it),
        Command::Push(it) => commands::push(&session, &it),
        Command::Completion(it) => commands::completion::run(&session, &it),
        Command::Explain(it) => commands::explain::run(&session, &it, flags),
    };
    let exit = match result {
        Ok(exit) => exit,
        Err(failure) => failed(&session, failure),
    };
    session.ui.log(LogLevel::Info, "cli", &format!("the command ends: {exit:?}"));
    exit
}

/// The parts of a run of this program that are needed in addition to the parsed command.
struct Invocation {
    /// The list for the child processes.
    processes: Processes,
    /// The reason why the command line is refused, as a sentence.
    refusal: Option<String>,
    /// The names of the command and of its flags.
    text: String,
}

fn log_begin(session: &CommandSession, invocation: &str) {
    let log = |level, text: String| session.ui.log(level, "cli", &text);
    let terminal = |is: bool| if is { "is a terminal" } else { "is not a terminal" };
    log(LogLevel::Trace, format!("stdin {}", terminal(std::io::stdin().is_terminal())));
    log(LogLevel::Trace, format!("stdout {}", terminal(std::io::stdout().is_terminal())));
    log(LogLevel::Trace, format!("stderr {}", terminal(std::io::stderr().is_terminal())));
    log(LogLevel::Info, format!("Mayfly version: {}", env!("CARGO_PKG_VERSION")));
    log(LogLevel::Debug, format!("platform: {}", session.platform()));
    log(LogLevel::Info, format!("command: {invocation}"));
}

fn failed(session: &CommandSession, failure: Failure) -> Exit {
    let Failure::Diagnostics(diagnostics, sources) = failure;
    session.ui.diagnostics(&diagnostics, &sources);
    Exit::Failure
}
