//! Starts processes that end with this one, by the parent-death signal where the system has it. A closed terminal
//! does not reach them, so that the operation in progress can finish.

use std::{
    ffi::{OsStr, OsString},
    fmt,
    io::{self, Write},
    os::unix::process::CommandExt,
    path::Path,
    process::{Command, ExitCode},
    sync::{LazyLock, mpsc},
    time::{Duration, Instant},
};

use nix::sys::signal::{SigSet, Signal};
use sandbox::{Policy, Start};
use tokio::{process::Child, runtime::Handle, sync::oneshot};

use super::{HiddenMode, Processes, START, START_SANDBOXED};
use crate::sandboxed::Sandboxed;

/// The prefix of the line on stdout that reports that a program could not be started. The error number follows.
const REFUSED: &str = "mayfly-cannot-start ";

/// The prefix of the line on stdout that reports that this process could not restrict itself. The reason follows.
const UNRESTRICTED: &str = "mayfly-cannot-restrict ";

/// The prefix of the warning in the log of a plugin that could not be restricted as a whole. The reason follows.
const INCOMPLETE: &str = "[WARN] the sandbox of this provider is incomplete: ";

/// The time after which a program that is still open for writing is an error.
const LONGEST_BUSY: Duration = Duration::from_secs(2);

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
            let started = while_busy(LONGEST_BUSY, || job.command.spawn());
            let _abandoned = job.answer.send(started);
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
    through.arg(START).arg(std::process::id().to_string());
    wrap(through, &command)
}

/// Wraps `command` so that it restricts itself before it starts, in addition to [`through_starter`].
pub(crate) fn through_sandbox(sandboxed: &Sandboxed, command: &Command) -> Command {
    let mut through = Command::new(sandboxed.launcher());
    through.arg(START_SANDBOXED).arg(std::process::id().to_string());
    through.args(sandboxed.policy().to_arguments());
    wrap(through, command)
}

/// Appends a command to the launcher that starts it, and moves its environment and directory there.
fn wrap(mut through: Command, command: &Command) -> Command {
    through.arg(command.get_program()).args(command.get_args());
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

/// Returns the reason why a process could not restrict itself, if the first line of its output reports one.
pub(crate) fn not_sandboxed(line: &str) -> Option<&str> {
    line.strip_prefix(UNRESTRICTED).map(str::trim)
}

/// Restricts this process, and then does the same as [`run`]. Without the restriction, nothing is started.
pub(super) fn run_sandboxed(this: &OsStr, parent: &OsStr, arguments: &[OsString]) -> HiddenMode {
    let unrestricted = |cause: &dyn fmt::Display| {
        let _told = writeln!(io::stdout(), "{UNRESTRICTED}{cause}");
        HiddenMode::Done(ExitCode::from(127))
    };
    let Some((policy, [program, rest @ ..])) = Policy::from_arguments(arguments) else {
        return unrestricted(&"the policy cannot be understood");
    };
    let start = match program == this {
        true => Start::InProcess,
        false => Start::Program(Path::new(program)),
    };
    close_inherited();
    match sandbox::restrict(&policy, start) {
        Ok(refused) => {
            for error in refused {
                // The standard error of a plugin is its log.
                let _logged = writeln!(io::stderr(), "{INCOMPLETE}{error}");
            }
            run(this, parent, program, rest)
        }
        Err(error) => unrestricted(&error),
    }
}

/// Closes the files that the caller of Mayfly left open, beyond the standard streams: a restriction does not apply to
/// files that are open already. This process has opened none so far.
fn close_inherited() {
    let open = std::fs::read_dir("/proc/self/fd").map(|entries| {
        let numbers = entries.flatten().filter_map(|it| it.file_name().to_str()?.parse().ok());
        numbers.collect::<Vec<i32>>()
    });
    // Without `/proc`, the numbers are unknown; the lowest free ones are used first.
    let open = open.unwrap_or_else(|_| (0..=1024).collect());
    for number in open.into_iter().filter(|it| *it > 2) {
        // The number by which the list was read is closed already.
        let _closed = nix::unistd::close(number);
    }
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
    let exec = || -> io::Result<()> { Err(Command::new(program).args(rest).exec()) };
    let error = while_busy(LONGEST_BUSY, exec).err().and_then(|it| it.raw_os_error());
    let _told = writeln!(io::stdout(), "{REFUSED}{}", error.unwrap_or_default());
    HiddenMode::Done(ExitCode::from(127))
}

/// Repeats a start while the program is open for writing. A process that forked while the program was installed has
/// it open until it executes another.
fn while_busy<T>(longest: Duration, mut start: impl FnMut() -> io::Result<T>) -> io::Result<T> {
    let end = Instant::now() + longest;
    loop {
        match start() {
            Err(error)
                if error.kind() == io::ErrorKind::ExecutableFileBusy && Instant::now() < end =>
            {
                std::thread::sleep(Duration::from_millis(10));
            }
            started => return started,
        }
    }
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

#[cfg(test)]
mod tests {
    use std::{fs::OpenOptions, os::unix::fs::OpenOptionsExt};

    use super::*;

    #[test]
    fn program_open_for_writing_starts_after_it_is_closed() {
        let folder = tempfile::tempdir().expect("a folder");
        let program = folder.path().join("program");
        let mut options = OpenOptions::new();
        let create = options.write(true).create(true).mode(0o755).open(&program);
        let mut file = create.expect("can be created");
        file.write_all(b"#!/bin/sh\n").expect("can be written");
        let busy = while_busy(Duration::ZERO, || Command::new(&program).status());
        assert_eq!(busy.err().map(|it| it.kind()), Some(io::ErrorKind::ExecutableFileBusy));
        let mut writer = Some(file);
        let mut attempts = 0;
        let ended = while_busy(Duration::from_secs(60), || {
            let status = Command::new(&program).status();
            attempts += 1;
            drop(writer.take());
            status
        });
        assert!(ended.expect("starts").success());
        assert!(attempts > 1, "the first attempt was too early");
    }
}
