//! The commands other than plan, apply and destroy.

pub(crate) mod completion;
pub(crate) mod console;
pub(crate) mod explain;
pub(crate) mod fmt;
pub(crate) mod force_unlock;
pub(crate) mod get;
pub(crate) mod graph;
pub(crate) mod import;
pub(crate) mod init;
pub(crate) mod login;
pub(crate) mod lsp;
pub(crate) mod metadata;
pub(crate) mod output;
pub(crate) mod provider;
pub(crate) mod providers;
pub(crate) mod show;
pub(crate) mod state;
pub(crate) mod taint;
pub(crate) mod test;
pub(crate) mod validate;
pub(crate) mod version;
pub(crate) mod watch;
pub(crate) mod workspace;

use std::io::Write;

use db::{Diagnostic, Summary};
use operations::session::Failure;

use crate::{args::RemovedPushArgs, exit::Exit, session::CommandSession};

/// Runs one of the bundled providers as a plugin server for the parent process, which is another instance of this
/// program.
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

/// Prints the help text for a command line without a command.
pub(crate) fn help(text: &str) -> Exit {
    let _ = write!(std::io::stderr(), "{text}");
    Exit::NoCommand
}

/// Prints lines of a command that has no session.
fn print_lines(lines: &[String]) -> Exit {
    for line in lines {
        let _ = writeln!(std::io::stdout(), "{line}");
    }
    Exit::Success
}

/// Runs `push`, which only says that it is no longer supported.
pub(crate) fn push(session: &CommandSession, args: &RemovedPushArgs) -> Result<Exit, Failure> {
    if args.has("--help") || args.has("-h") {
        session.ui.line("Usage: mayfly push\n\nThis command is no longer supported.");
        return Ok(Exit::Success);
    }
    let detail = "This command was used to push configuration to Terraform Enterprise legacy (v1), which has now \
                  reached end-of-life. To push configuration to a new cloud backend, use its REST API.";
    Err(Diagnostic::new(Summary::UNSUPPORTED_PUSH, detail).into())
}

/// Reports that a resource which every command needs, such as the runtime, cannot be created.
pub(crate) fn environment_error(what: &str, error: &std::io::Error) -> Exit {
    let _ = writeln!(std::io::stderr(), "{what}: {error}");
    Exit::Failure
}
