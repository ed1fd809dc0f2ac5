//! The environment of one command: its root module and its terminal.

use std::{ops::Deref, sync::Arc};

use db::System;
use engine::CancelToken;
use operations::{
    root_system::RootSystem,
    session::{Session, SessionOptions},
};
use plugin::Processes;

use crate::{
    args::ViewArgs,
    arguments,
    events::CommandView,
    harden,
    log::Log,
    ui::{Stdout, Ui},
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
    pub(crate) fn new(
        view: &ViewArgs,
        system: RootSystem,
        stdout: Stdout,
        processes: Processes,
    ) -> std::io::Result<CommandSession> {
        let cancel = CancelToken::new();
        let no_color = system.variable("NO_COLOR").is_some_and(|it| !it.is_empty());
        let (log, problems) = Log::from_environment(&system);
        let ui = Arc::new(Ui::new(view, no_color, stdout, cancel.clone(), log));
        problems.iter().for_each(|problem| ui.print_error(problem));
        let runtime =
            tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build()?;
        let entered = runtime.enter();
        harden::report_file_size_limit()?;
        drop(entered);
        let session = Session::new(SessionOptions {
            view: Arc::new(CommandView(Arc::clone(&ui))),
            system,
            directory: None,
            runtime: Arc::new(runtime),
            cancel,
            processes,
            executable: std::env::current_exe().map_err(|error| error.to_string()),
            arguments: arguments::flags,
        });
        Ok(CommandSession { ui, session })
    }
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
