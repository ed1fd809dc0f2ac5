//! Supervision of child processes: they end with this process, however it dies.
//!
//! ```text
//!   Mayfly ──pipe──► supervisor     gets the start and the end of each process; the closed pipe means that Mayfly
//!     │                             is dead, and then it kills every process that is still on its list
//!     ├──file──► record             the same lines in the data directory, in case the supervisor dies as well
//!     └──start─► plugin, command    on Linux with the parent-death signal, which needs neither
//! ```
//!
//! Start reading at [`Processes`] and [`Registration`]; then `supervisor.rs` (the other process), `records.rs` (the
//! next run), `entry.rs` (the description of a process, and how it is identified and killed), `starter.rs` (the
//! parent-death signal).
//!
//! The supervisor is this program in a hidden mode, in a session of its own, so that neither the terminal nor a
//! signal to the process group reaches it. It starts with the first process. One supervisor serves all
//! processes of a list.
//!
//! **Invariant:** a process is on the list before it exists, and until it and its children have ended.
//! **Invariant:** a process ID alone never decides what is killed: the start time must be the recorded one, too.

mod entry;
mod records;
mod starter;
mod supervisor;

use std::{
    collections::BTreeMap,
    ffi::OsString,
    fmt,
    io::Write,
    path::{Path, PathBuf},
    process::{Child, ChildStdin, Command, ExitCode, Stdio},
    sync::{Arc, Mutex, MutexGuard, PoisonError, Weak},
};

pub use self::records::end_left_processes;
pub(crate) use self::starter::{not_sandboxed, refused, spawn, through_sandbox, through_starter};
use self::{entry::Entry, records::Record};
use crate::leftovers::{self, Mark};

/// The argument that selects the supervisor mode.
const SUPERVISE: &str = "supervise-processes";
/// The argument that makes this program set the parent-death signal and then run the program that follows.
const START: &str = "start-process";
/// The argument that makes this program restrict itself, too. A policy precedes the program.
const START_SANDBOXED: &str = "start-sandboxed-process";

/// The settings for the supervision of child processes.
pub struct Supervision {
    /// The path of this program, which must call [`hidden_mode`] before anything else.
    pub executable: PathBuf,
    /// The directory for the record that the next run reads.
    pub records: PathBuf,
}

/// The outcome of looking for a hidden mode in the arguments.
pub enum HiddenMode {
    /// No hidden mode: an ordinary run.
    None,
    /// A hidden mode that has finished.
    Done(ExitCode),
    /// An ordinary run with these arguments, with the parent-death signal set.
    Run(Vec<OsString>),
}

/// Runs the hidden modes in which this program starts itself. Call it first, before threads are started.
#[must_use]
pub fn hidden_mode(arguments: &[OsString]) -> HiddenMode {
    match arguments {
        [_, mode] if mode == SUPERVISE => HiddenMode::Done(supervisor::run()),
        [this, mode, parent, program, rest @ ..] if mode == START => {
            starter::run(this, parent, program, rest)
        }
        [this, mode, parent, rest @ ..] if mode == START_SANDBOXED => {
            starter::run_sandboxed(this, parent, rest)
        }
        _ => HiddenMode::None,
    }
}

/// The child processes of one session: plugins and commands. Clones share one list.
///
/// Sessions with lists of their own do not affect each other: [`Processes::kill_all`] kills the processes of one.
#[derive(Clone, Default)]
pub struct Processes(Arc<Shared>);

#[derive(Default)]
struct Shared {
    process_list: Mutex<ProcessList>,
    /// The children that may be running, so that they can be killed from any thread.
    children: Mutex<Vec<Weak<Mutex<tokio::process::Child>>>>,
}

impl fmt::Debug for Processes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.process_list().running.values().map(|it| &it.name)).finish()
    }
}

impl Processes {
    /// Enables the supervision of the processes that are started from now on. Without this call, they are not
    /// supervised.
    pub fn supervise(&self, supervision: Supervision) {
        self.process_list().supervision = Some(supervision);
    }

    /// Kills every process on the list and its descendants, at once and without waiting. Removes the record. The
    /// supervisor checks the list again when this process has ended.
    ///
    /// For an exit that runs no destructors: a second interrupt, or the end of a panic hook. No process of this list
    /// may be started after this call.
    pub fn kill_all(&self) {
        let children = std::mem::take(&mut *lock(&self.0.children));
        for child in children.iter().filter_map(Weak::upgrade) {
            // An error means that the process has already ended.
            let _ended = lock(&child).start_kill();
        }
        let mut process_list = self.process_list();
        let running: Vec<Entry> = process_list.running.values().cloned().collect();
        entry::kill(&running);
        if let Some(record) = process_list.record.take() {
            record.remove();
        }
        process_list.has_no_record = true;
    }

    /// The path of this program, if processes are to be started through it.
    pub(crate) fn starter(&self) -> Option<PathBuf> {
        self.process_list().supervision.as_ref().map(|it| it.executable.clone())
    }

    fn process_list(&self) -> MutexGuard<'_, ProcessList> {
        lock(&self.0.process_list)
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The list of processes, with the supervisor and the record that receive its changes.
#[derive(Default)]
struct ProcessList {
    supervision: Option<Supervision>,
    supervisor: Option<(Child, ChildStdin)>,
    record: Option<Record>,
    /// True if the record cannot be written, because the directory is read-only or has no locks.
    has_no_record: bool,
    running: BTreeMap<String, Entry>,
}

impl ProcessList {
    /// Sends a change to the supervisor and the record. Restarts the supervisor if it has ended.
    fn report(&mut self, line: &str) {
        let Some(supervision) = &self.supervision else { return };
        if self.record.is_none() && !self.has_no_record {
            self.record = Record::new(&supervision.records, &Mark::new().value).ok();
            self.has_no_record = self.record.is_none();
        }
        if let Some(record) = &mut self.record {
            record.add(line, self.running.is_empty());
        }
        let is_reported = self
            .supervisor
            .as_mut()
            .is_some_and(|(_, pipe)| pipe.write_all(line.as_bytes()).is_ok());
        if !is_reported {
            self.start_supervisor();
        }
    }

    /// Starts a supervisor, also to replace one that was killed, and sends it the whole list.
    fn start_supervisor(&mut self) {
        if let Some((mut dead, pipe)) = self.supervisor.take() {
            drop(pipe);
            let _reaped = dead.try_wait();
        }
        let Some(supervision) = &self.supervision else { return };
        // Start with an empty environment: this one may hold secrets, and with a mark in it the supervisor would be
        // killed, too.
        let started = Command::new(&supervision.executable)
            .arg(SUPERVISE)
            .env_clear()
            .current_dir("/")
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn();
        let Ok(mut child) = started else { return };
        let Some(mut pipe) = child.stdin.take() else { return };
        let lines: String = self.running.values().map(Entry::line).collect();
        let _told = pipe.write_all(lines.as_bytes());
        self.supervisor = Some((child, pipe));
    }
}

impl Drop for ProcessList {
    /// Ends the supervisor and removes the record. No process is left: each one holds the list.
    fn drop(&mut self) {
        if let Some(record) = self.record.take() {
            record.remove();
        }
        if let Some((mut supervisor, pipe)) = self.supervisor.take() {
            drop(pipe);
            let _reaped = supervisor.wait();
        }
    }
}

/// The entry of a process on the list. Dropping this removes the entry: the process and its children must have
/// ended by then.
pub struct Registration {
    processes: Processes,
    mark: Mark,
}

impl Registration {
    /// Adds a process that is about to start. `name` is shown to users, such as a provider's source address.
    /// `leads_group` is true if the process and its children have a process group of their own.
    #[must_use]
    pub fn new(processes: &Processes, name: &str, leads_group: bool) -> Registration {
        let mark = Mark::new();
        let entry = Entry::new(&mark.value, name, leads_group);
        let line = entry.line();
        let mut process_list = processes.process_list();
        process_list.running.insert(mark.value.clone(), entry);
        process_list.report(&line);
        drop(process_list);
        Registration { processes: processes.clone(), mark }
    }

    /// The variable that the process must have in its environment; its children inherit it.
    #[must_use]
    pub fn variable(&self) -> (&'static str, &str) {
        (leftovers::KEY, &self.mark.value)
    }

    /// Adds the ID of the started process, which its parent has not reaped yet.
    pub fn started(&self, id: Option<u32>) {
        self.change(|entry| entry.started(id));
    }

    /// Adds the temporary directory of the process, which is removed if this process is killed.
    pub(crate) fn owns(&self, directory: &Path) {
        self.change(|entry| entry.directory = Some(directory.to_owned()));
    }

    /// Adds the child of this entry, so that [`Processes::kill_all`] can kill it before its parent reaps it.
    pub(crate) fn holds(&self, child: &Arc<Mutex<tokio::process::Child>>) {
        let mut children = lock(&self.processes.0.children);
        children.retain(|it| it.strong_count() > 0);
        children.push(Arc::downgrade(child));
    }

    /// Adds the program that the process runs now, and its socket.
    pub(crate) fn connected(&self, socket: Option<&Path>) {
        self.change(|entry| {
            entry.record_program();
            entry.socket = socket.map(Path::to_owned);
        });
    }

    /// Kills the process, its group if it leads one, and its descendants.
    pub fn kill(&self) {
        let entry = self.processes.process_list().running.get(&self.mark.value).cloned();
        entry::kill(entry.as_slice());
    }

    /// Kills the remaining descendants of the process.
    pub(crate) fn kill_leftovers(&self) {
        self.mark.kill();
    }

    fn change(&self, change: impl FnOnce(&mut Entry)) {
        let mut process_list = self.processes.process_list();
        let Some(entry) = process_list.running.get_mut(&self.mark.value) else { return };
        change(entry);
        let line = entry.line();
        process_list.report(&line);
    }
}

impl Drop for Registration {
    fn drop(&mut self) {
        let mut process_list = self.processes.process_list();
        if process_list.running.remove(&self.mark.value).is_some() {
            process_list.report(&entry::ended_line(&self.mark.value));
        }
    }
}
