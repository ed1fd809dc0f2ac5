//! The environment of one command: its root module and its terminal.

use std::{ops::Deref, os::unix::fs::OpenOptionsExt, sync::Arc};

use engine::CancelToken;
use operations::{
    root_system::RootSystem,
    runtime::Runtime,
    session::{Session, SessionOptions},
};
use plugin::Processes;

use crate::{
    args::Command,
    arguments,
    deprecations::DeprecationFilter,
    events::CommandView,
    harden,
    log::Log,
    ui::{Outputs, Stdout, StyleVariables, Ui},
};

/// The argument that makes this program serve one of its bundled providers.
pub(crate) const SERVE_ARGUMENT: &str = operations::session::SERVE_ARGUMENT;

/// The environment of a command: the session of its root module, and the streams that it prints to.
pub(crate) struct CommandSession {
    pub(crate) ui: Arc<Ui>,
    session: Session,
}

impl CommandSession {
    /// Creates the environment of a command in the working directory of the process.
    ///
    /// # Errors
    /// A text for the user: the file of `-json-into` cannot be opened, or there are no threads.
    pub(crate) fn new(
        command: &mut Command,
        system: RootSystem,
        processes: Processes,
    ) -> Result<CommandSession, String> {
        let outputs = outputs(command)?;
        let common = command.common();
        let (view, strict_secrets) = (common.view, common.strict_secrets);
        let cancel = CancelToken::new();
        let variables = StyleVariables::read(&system);
        let deprecations = DeprecationFilter::new(view.deprecation, &system);
        let (log, problems) = Log::from_environment(&system);
        let ui = Arc::new(Ui::new(&view, variables, deprecations, outputs, cancel.clone(), log));
        problems.iter().for_each(|problem| ui.print_error(problem));
        let runtime = runtime().map_err(|error| format!("Failed to start threads: {error}"))?;
        let session = Session::new(SessionOptions {
            view: Arc::new(CommandView::new(Arc::clone(&ui))),
            system,
            directory: None,
            runtime,
            strict_secrets,
            cancel,
            processes,
            executable: std::env::current_exe().map_err(|error| error.to_string()),
            arguments: arguments::flags,
        });
        Ok(CommandSession { ui, session })
    }
}

fn runtime() -> std::io::Result<Runtime> {
    let runtime = Runtime::with_workers(2)?;
    let entered = runtime.handle().enter();
    harden::report_file_size_limit()?;
    drop(entered);
    Ok(runtime)
}

/// Opens the destinations of a command's output. A new file for JSON is readable for its owner only, because it may
/// have sensitive values.
fn outputs(command: &mut Command) -> Result<Outputs, String> {
    // The JSON of an explanation is the only output on stdout, although a plan may have warnings.
    let is_protocol = match &*command {
        Command::Explain(it) => it.json.json,
        other => matches!(other, Command::Lsp(_)),
    };
    let common = command.common();
    let stdout = match common.json_lines {
        _ if is_protocol => Stdout::Protocol,
        true => Stdout::JsonLines,
        false => Stdout::Text,
    };
    let open = |path: &std::path::Path| {
        let mut options = std::fs::OpenOptions::new();
        let opened = options.write(true).create(true).truncate(true).mode(0o600).open(path);
        opened.map_err(|error| {
            format!(
                "Error: Invalid argument\n\nUnable to open the file {path:?} specified by \
                 -json-into for writing: {error}."
            )
        })
    };
    let into = common.json_into.map(open).transpose()?;
    Ok(Outputs { stdout, into, json: common.json_form })
}

impl Deref for CommandSession {
    type Target = Session;

    fn deref(&self) -> &Session {
        &self.session
    }
}

/// Returns true if stdout is a pipe whose reader is gone, so that a command that never ends by itself can stop.
pub(crate) fn is_stdout_closed() -> bool {
    use rustix::event::{PollFd, PollFlags, Timespec, poll};
    let stdout = std::io::stdout();
    let mut polled = [PollFd::new(&stdout, PollFlags::empty())];
    let at_once = Timespec { tv_sec: 0, tv_nsec: 0 };
    poll(&mut polled, Some(&at_once)).is_ok()
        && polled.iter().any(|it| it.revents().contains(PollFlags::ERR))
}
