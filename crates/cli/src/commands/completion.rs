//! The `completion` command, and the flags that set up completion in shells.

use operations::session::Failure;

use crate::{
    args::CompletionArgs,
    completion::{
        install::{self, Homes},
        scripts,
    },
    exit::Exit,
    session::CommandSession,
    usage,
};

/// Runs `completion`: prints the script of a shell.
pub(crate) fn run(session: &CommandSession, args: &CompletionArgs) -> Result<Exit, Failure> {
    session.ui.print(&scripts::script(args.shell, "mayfly"));
    Ok(Exit::Success)
}

/// Runs `-install-autocomplete`, or `-uninstall-autocomplete` if `is_removed` is set.
pub(crate) fn set_up(is_removed: bool) -> Exit {
    let program = std::env::current_exe().map_err(|error| error.to_string());
    let change = if is_removed { install::uninstall } else { install::install };
    let done = program.and_then(|it| change(&Homes::of_user(), &it.to_string_lossy()));
    match done {
        Ok(lines) => super::print_lines(&lines),
        Err(problem) => usage::problem_with(&format!("Error: {problem}")),
    }
}
