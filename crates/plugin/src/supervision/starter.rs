//! Starts processes that end with this one: with the parent-death signal where there is one, and out of reach of a closed
//! terminal, so that the operation in flight can be ended in good order.

use std::{
    ffi::{OsStr, OsString},
    io::{self, Write},
    os::unix::process::CommandExt,
    process::{Command, ExitCode},
    sync::{LazyLock, mpsc},
};

use nix::sys::signal::{SigSet, Signal};
use tokio::{process::Child, runtime::Handle, sync::oneshot};

use super::{HiddenMode, START, starter};

/// Begins the line on stdout that says that a program could not be started; the number of the error follows.
const REFUSED: &str = "mayfly-cannot-start ";

/// A process to be started, for a runtime.
struct Job {
    command: tokio::process::Command,
    runtime: Handle,
    answer: oneshot::Sender<io::Result<Child>>,
}

/// A thread that lives as long as the process. The parent-death signal comes when the *thread* ends that started a child.
static STARTER: LazyLock<mpsc::Sender<Job>> = LazyLock::new(|| {
    let (sender, jobs) = mpsc::channel::<Job>();
    let work = move || {
        // Children inherit it. A closed terminal and Ctrl-\ reach the whole process group; Mayfly decides what ends.
        let _blocked =
            [Signal::SIGHUP, Signal::SIGQUIT].into_iter().collect::<SigSet>().thread_block();
        for mut job in jobs {
            let _runtime = job.runtime.enter();
            // Nobody waits any more: dropping the child kills it.
            let _abandoned = job.answer.send(job.command.spawn());
        }
    };
    // Without the thread there is no receiver, and every start is an error.
    let _thread = std::thread::Builder::new().name("starter".to_owned()).spawn(work);
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

/// The command that starts `command` with the parent-death signal, which a process can only set for itself.
pub(crate) fn through_starter(command: Command) -> Command {
    let Some(this) = starter().filter(|_| cfg!(target_os = "linux")) else { return command };
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

/// The error of a program that could not be started, if the first line of its output says that.
pub(crate) fn refused(line: &str) -> Option<io::Error> {
    let number = line.strip_prefix(REFUSED)?.trim().parse().ok()?;
    Some(io::Error::from_raw_os_error(number))
}

/// Sets the parent-death signal and becomes `program`. Where that is this very program, it goes on here.
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

/// Lets the system kill this process when its parent ends.
#[expect(clippy::exit, reason = "the parent has ended already, so nobody waits")]
fn end_with_parent(parent: &OsStr) {
    #[cfg(target_os = "linux")]
    let _unsupported =
        rustix::process::set_parent_process_death_signal(Some(rustix::process::Signal::KILL));
    // A parent that ended before the signal was set sends none.
    let now = rustix::process::getppid().map(|it| it.as_raw_nonzero().to_string());
    if now.as_deref().map(OsStr::new) != Some(parent) {
        std::process::exit(1);
    }
}
