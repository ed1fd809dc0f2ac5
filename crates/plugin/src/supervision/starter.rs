//! Starts processes that end with this one, by the parent-death signal where the system has it. A closed terminal
//! does not reach them, so that the operation in progress can finish.

use std::{
    ffi::{OsStr, OsString},
    io::{self, Write},
    os::unix::process::CommandExt,
    process::{Command, ExitCode},
    sync::{LazyLock, mpsc},
};

use nix::sys::signal::{SigSet, Signal};
use tokio::{process::Child, runtime::Handle, sync::oneshot};

use super::{HiddenMode, Processes, START};

/// The prefix of the line on stdout that reports that a program could not be started. The error number follows.
const REFUSED: &str = "mayfly-cannot-start ";

/// A process to start, and the runtime that manages it.
struct Job {
    command: tokio::process::Command,
    runtime: Handle,
    answer: oneshot::Sender<io::Result<Child>>,
}

/// A thread that lives as long as this process. The parent-death signal is sent when the *thread* that started a
/// child ends.
static STARTER: LazyLock<mpsc::Sender<Job>> = LazyLock::new(|| {
    let (sender, jobs) = mpsc::channel::<Job>();
    let work = move || {
        // Children inherit the blocked signals. A closed terminal and Ctrl-\ signal the whole process group, but
        // Mayfly decides what ends.
        let _blocked =
            [Signal::SIGHUP, Signal::SIGQUIT].into_iter().collect::<SigSet>().thread_block();
        for mut job in jobs {
            let _runtime = job.runtime.enter();
            // If the receiver is gone, the start was cancelled: dropping the child kills it.
            let _abandoned = job.answer.send(job.command.spawn());
        }
    };
    // If the thread does not start, there is no receiver, and every start returns an error.
    let _thread = parallel::thread("starter", work);
    sender
});

/// Starts a process on a thread that lives as long as this process.
pub(crate) async fn spawn(command: tokio::process::Command) -> io::Result<Child> {
    let (answer, child) = oneshot::channel();
    let job = Job { command, runtime: Handle::current(), answer };
    let gone = || io::Error::other("the thread that starts processes is not there");
    STARTER.send(job).map_err(|_| gone())?;
    child.await.map_err(|_| gone())?
}

/// Wraps `command` so that it starts with the parent-death signal, which a process can set only for itself.
pub(crate) fn through_starter(processes: &Processes, command: Command) -> Command {
    let Some(this) = processes.starter().filter(|_| cfg!(target_os = "linux")) else {
        return command;
    };
    let mut through = Command::new(this);
    through.arg(START).arg(std::process::id().to_string()).arg(command.get_program());
    through.args(command.get_args());
    for (name, value) in command.get_envs() {
        match value {
            Some(value) => through.env(name, value),
            None => through.env_remove(name),
        };
    }
    if let Some(directory) = command.get_current_dir() {
        through.current_dir(directory);
    }
    through
}

/// Returns the error of a program that could not be started, if the first line of its output reports one.
pub(crate) fn refused(line: &str) -> Option<io::Error> {
    let number = line.strip_prefix(REFUSED)?.trim().parse().ok()?;
    Some(io::Error::from_raw_os_error(number))
}

/// Sets the parent-death signal and then runs `program`. If that is this program, returns the arguments to
/// continue with.
pub(super) fn run(this: &OsStr, parent: &OsStr, program: &OsStr, rest: &[OsString]) -> HiddenMode {
    end_with_parent(parent);
    if program == this {
        return HiddenMode::Run(
            [this.to_owned()].into_iter().chain(rest.iter().cloned()).collect(),
        );
    }
    let error = Command::new(program).args(rest).exec();
    let _told = writeln!(io::stdout(), "{REFUSED}{}", error.raw_os_error().unwrap_or_default());
    HiddenMode::Done(ExitCode::from(127))
}

/// Asks the system to kill this process when its parent ends.
#[expect(clippy::exit, reason = "the parent has ended already, so nobody waits")]
fn end_with_parent(parent: &OsStr) {
    #[cfg(target_os = "linux")]
    let _unsupported =
        rustix::process::set_parent_process_death_signal(Some(rustix::process::Signal::KILL));
    // If the parent ended before the signal was set, no signal is sent.
    let now = rustix::process::getppid().map(|it| it.as_raw_nonzero().to_string());
    if now.as_deref().map(OsStr::new) != Some(parent) {
        std::process::exit(1);
    }
}
