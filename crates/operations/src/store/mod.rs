//! The state of a run. It is read under a lock, with the journal of an interrupted run replayed. During the run,
//! each change is saved; at the end the state is written.
//!
//! ```text
//!   lock ─► read ─► recovery: journal into state ─► … keeper: each change into the journal, sometimes the state ─►
//!        state ─► end of the journal ─► unlock
//! ```

mod emptied;
mod faults;
mod purpose;
mod watcher;

use faults::{lock_error, lock_holder};

use std::{
    path::{Path, PathBuf},
    sync::Arc,
    time::{Duration, Instant},
};

use backend::{
    Expected, HeldLock, JournalStore, LocalJournal, LocalPaths, LocalStore, LockInfo, StateStore,
    StoreError,
};
use db::{Diagnostic, Sources, Summary};
use durability::{
    EphemeralJournal, Keeper, OpenedState, Writer, digest, file_fault, head, next_serial, recovery,
    recovery::Findings, refuse_last_serial,
};
use engine::NoJournal;
use state::{
    StateError, StateFile, StateIdentity,
    journal::{Begin, Intent, Record},
};

pub use self::purpose::Purpose;
pub use self::watcher::{WatchJournal, report_dead_watchers};
use crate::{
    PROGRAM, place,
    session::{Failure, Session},
};

/// The location of a local state, and its locking.
#[derive(Clone)]
pub struct StateOptions {
    /// True if the state is locked.
    pub lock: bool,
    /// The time to wait for the lock, such as `10s`.
    pub lock_timeout: String,
    /// The state file to read, and to write unless `state_out` is set. `None` for the configured place.
    pub state: Option<PathBuf>,
    /// The state file to write.
    pub state_out: Option<PathBuf>,
    /// The file for the backup of the previous state; `-` for no backup.
    pub backup: Option<String>,
}

impl StateOptions {
    /// The file that a message names with `-state`. `None` for the configured place.
    fn named(&self) -> Option<String> {
        let file = self.state_out.as_ref().or(self.state.as_ref())?;
        Some(file.display().to_string())
    }
}

/// The opened state of one workspace.
pub struct OpenState {
    /// The state file that was read. An empty state with a new lineage if there was none.
    pub file: StateFile,
    /// The creations whose outcome is unknown.
    pub uncertain: Vec<Intent>,
    /// The file that a message names with `-state`. `None` for the configured place.
    pub named: Option<String>,
    store: Arc<dyn StateStore>,
    generation: Expected,
    /// The digest of the bytes that were read. `None` if there was no state.
    digest: Option<String>,
    /// True if the run writes another file than the one that was read.
    writes_elsewhere: bool,
    /// The duration of the read.
    cost: Duration,
    lock: Option<Box<dyn HeldLock>>,
    /// The journal. `None` if nothing may be written.
    writer: Option<Arc<Writer>>,
}

/// Opens the state: takes the lock, reads the state, and replays the journal of an interrupted run.
pub fn open(
    session: &Session,
    options: &StateOptions,
    purpose: Purpose,
) -> Result<OpenState, Failure> {
    session.refuse_encryption()?;
    if options.state.is_none() {
        session.refuse_other_backends()?;
    }
    let paths = paths(session, options)?;
    let store: Arc<dyn StateStore> = Arc::new(LocalStore::new(paths.clone()));
    let lock = match options.lock {
        true => Some(lock(session, &*store, options, purpose)?),
        false => None,
    };
    if purpose != Purpose::Plan {
        let writable = session.runtime.block_on(store.check_writable());
        writable.map_err(|error| lock_error(&error, purpose))?;
    }
    // Without a lock, a plan only reads, because another run may be writing the state. An apply with `-lock=false`
    // asserts that there is no other run.
    if lock.is_none() && purpose == Purpose::Plan {
        let (open, findings) = read_with_journal(session, store, &paths, None)?;
        let found = recovery::report(&findings, options.named().as_deref());
        session.view.diagnostics(&found, &Sources::default());
        return Ok(open);
    }
    let is_of_lock = lock.as_deref().is_some_and(HeldLock::has_made_store);
    emptied::refuse(session, &paths, is_of_lock)?;
    let open = read(session, store, &paths, lock)?;
    if purpose.writes() {
        refuse_last_serial(open.file.serial, &paths.read).map_err(|it| *it)?;
    }
    let journal = Arc::new(LocalJournal::beside(&paths.write));
    let open = OpenState { named: options.named(), ..open };
    let open = recover(session, open, journal, &paths, purpose)?;
    watcher::report(session, &paths);
    Ok(open)
}

/// Opens the state for reading, without a lock. Writes nothing.
pub fn open_unlocked(session: &Session, path: Option<&Path>) -> Result<OpenState, Failure> {
    session.refuse_encryption()?;
    let paths = match path {
        Some(path) => LocalPaths::at(session.at(path)),
        None => {
            session.refuse_other_backends()?;
            workspace_paths(session)?
        }
    };
    let store = Arc::new(LocalStore::new(paths.clone()));
    Ok(read_with_journal(session, store, &paths, None)?.0)
}

/// The lock of a state that is only read.
pub type ReadLock = Box<dyn HeldLock>;

/// Opens the state for reading, with a lock unless the arguments disable it.
pub fn open_to_read(
    session: &Session,
    options: &StateOptions,
    purpose: Purpose,
) -> Result<(OpenState, Option<ReadLock>), Failure> {
    session.refuse_encryption()?;
    if options.state.is_none() {
        session.refuse_other_backends()?;
    }
    let paths = paths(session, options)?;
    let store = Arc::new(LocalStore::new(paths.clone()));
    let held = match options.lock {
        true => Some(lock(session, &*store, options, purpose)?),
        false => None,
    };
    match read_with_journal(session, store, &paths, held.as_deref()) {
        Ok((open, _)) => Ok((open, held)),
        Err(failure) => {
            release(session, held)?;
            Err(failure)
        }
    }
}

/// Locks a state for copying it. Of the options, only those of the lock count.
pub fn lock_to_copy(
    session: &Session,
    paths: &LocalPaths,
    options: &StateOptions,
) -> Result<ReadLock, Failure> {
    lock(session, &LocalStore::new(paths.clone()), options, Purpose::Plan)
}

/// Reads the current state like [`open`], but without a lock. The caller has checked that the backend is
/// supported.
pub fn read_unlocked(session: &Session, options: &StateOptions) -> Result<OpenState, Failure> {
    session.refuse_encryption()?;
    let paths = paths(session, options)?;
    let store = Arc::new(LocalStore::new(paths.clone()));
    Ok(read_with_journal(session, store, &paths, None)?.0)
}

/// The path of the file that [`read_unlocked`] reads.
pub fn state_path(session: &Session, options: &StateOptions) -> Result<PathBuf, Failure> {
    Ok(paths(session, options)?.read)
}

fn workspace_paths(session: &Session) -> Result<LocalPaths, Failure> {
    let workspaces = place::workspaces(session, &session.place()?);
    workspaces
        .paths(&session.selected_workspace()?)
        .map_err(|error| Diagnostic::new(Summary::INVALID_WORKSPACE, error.to_string()).into())
}

fn paths(session: &Session, options: &StateOptions) -> Result<LocalPaths, Failure> {
    let mut paths = match &options.state {
        Some(path) => LocalPaths::at(session.at(path)),
        None => workspace_paths(session)?,
    };
    if let Some(out) = &options.state_out {
        paths = LocalPaths { read: paths.read, ..LocalPaths::at(session.at(out)) };
    }
    match options.backup.as_deref() {
        Some("-") => paths.backup = None,
        Some(path) => paths.backup = Some(session.at(path)),
        None => {}
    }
    Ok(paths)
}

fn lock(
    session: &Session,
    store: &dyn StateStore,
    options: &StateOptions,
    purpose: Purpose,
) -> Result<Box<dyn HeldLock>, Failure> {
    let timeout = parse_duration(&options.lock_timeout).ok_or_else(|| {
        Diagnostic::new(
            Summary::LOCK_TIMEOUT,
            "A duration is a number with a unit, such as 30s or 5m.".to_owned(),
        )
    })?;
    let id = uuid::Uuid::new_v4().to_string();
    let (operation, holder, time) =
        (purpose.operation(), lock_holder(session), session.timestamp());
    let info = LockInfo::new(id, operation, holder, state::WRITTEN_VERSION, time);
    let acquired =
        session.runtime.block_on(backend::acquire(store, info, timeout, tokio::time::sleep));
    acquired.map_err(|error| lock_error(&error, purpose).into())
}

fn read(
    session: &Session,
    store: Arc<dyn StateStore>,
    paths: &LocalPaths,
    lock: Option<Box<dyn HeldLock>>,
) -> Result<OpenState, Failure> {
    let snapshot = session.runtime.block_on(store.read()).map_err(|error| {
        let detail = format!(
            "The state cannot be read: {error}. Nothing was done. Correct its permissions, or run \
             the command as the user who owns it."
        );
        Diagnostic::new(Summary::STATE_READ, detail)
    })?;
    let begun = Instant::now();
    let generation = Expected::from(&snapshot);
    let file = match &snapshot {
        Some(snapshot) => StateFile::read(&snapshot.bytes)
            .map_err(|error| damaged(session, &error, &paths.read, paths.backup.as_deref()))?,
        None => StateFile::new(uuid::Uuid::new_v4().to_string()),
    };
    Ok(OpenState {
        file,
        uncertain: Vec::new(),
        named: None,
        store,
        generation,
        digest: snapshot.map(|it| digest(&it.bytes)),
        writes_elsewhere: paths.read != paths.write,
        cost: begun.elapsed(),
        lock,
        writer: None,
    })
}

/// The maximum number of attempts to read a consistent pair of state and journal while another process writes
/// them.
const READS: usize = 5;

/// Reads the state and replays its journal in memory. Takes no lock and writes nothing.
fn read_with_journal(
    session: &Session,
    store: Arc<dyn StateStore>,
    paths: &LocalPaths,
    held: Option<&dyn HeldLock>,
) -> Result<(OpenState, Findings), Failure> {
    // A file of 0 bytes with a lock may belong to a process that is about to write its first state.
    let is_of_lock = held.map_or_else(|| paths.has_lock_info(), HeldLock::has_made_store);
    emptied::refuse(session, paths, is_of_lock)?;
    let journal = LocalJournal::beside(&paths.write);
    let mut reads = 0;
    loop {
        let mut open = read(session, Arc::clone(&store), paths, None)?;
        let taken = recovery::read(&journal)
            .map_err(Failure::from)
            .and_then(|it| take_over(it, &mut open, &journal, paths));
        match taken {
            Ok(findings) => {
                open.uncertain.clone_from(&findings.uncertain);
                return Ok((open, findings));
            }
            Err(failure) if reads == READS => return Err(failure),
            // A concurrent apply may have written one of the files between the two reads.
            Err(_) => reads += 1,
        }
    }
}

fn take_over(
    journal: Option<state::journal::Journal>,
    open: &mut OpenState,
    store: &dyn JournalStore,
    paths: &LocalPaths,
) -> Result<Findings, Failure> {
    let Some(journal) = journal else { return Ok(Findings::default()) };
    let digest = open.digest.as_deref();
    let taken = recovery::take_over(&journal, &mut open.file, digest, &store.place(), &paths.read);
    Ok(taken?)
}

/// Replays and reports the journal of an interrupted run, and prepares the journal of this run.
fn recover(
    session: &Session,
    mut open: OpenState,
    store: Arc<dyn JournalStore>,
    paths: &LocalPaths,
    purpose: Purpose,
) -> Result<OpenState, Failure> {
    let journal = recovery::read(&*store)?;
    let records = journal.as_ref().map(|it| it.records().to_vec()).unwrap_or_default();
    let findings = take_over(journal, &mut open, &*store, paths)?;
    let before = findings.begin.as_ref().filter(|_| findings.is_to_be_written());
    if let Some(before) = before {
        session.failpoints.reach("recovery");
        write_recovered(session, &mut open, &*store, before, &records)?;
    }
    let mut reported = recovery::report(&findings, open.named.as_deref());
    // `state adopt` resolves uncertain creations, so do not warn about them.
    reported.retain(|it| purpose != Purpose::Adopt || it.id() != recovery::UNCERTAIN);
    // A test names the objects of a killed one itself.
    reported.retain(|_| purpose != Purpose::Test);
    session.view.diagnostics(&reported, &Sources::default());
    let begin = open.begin(session, purpose);
    open.uncertain = findings.uncertain.clone();
    if findings.is_news() {
        // The state now has all changes. Only uncertain creations stay in the journal.
        let rest = Begin { is_rest: true, ..begin.clone() };
        let left = match findings.uncertain.is_empty() {
            true => store.remove(),
            false => store.start(&head(&rest, &findings.uncertain)),
        };
        left.map_err(|error| not_taken_over(&error, &*store))?;
        session.failpoints.reach("recovery.ended");
    }
    open.writer =
        Some(Arc::new(Writer::new(store, begin, findings.uncertain, session.failpoints.clone())));
    Ok(open)
}

/// Writes the recovered state. Records that in the journal first, so that the recovery itself may be interrupted.
fn write_recovered(
    session: &Session,
    open: &mut OpenState,
    store: &dyn JournalStore,
    begin: &Begin,
    records: &[Record],
) -> Result<(), Failure> {
    let serial = next_serial(open.file.serial).map_err(|it| *it)?;
    open.file.serial = serial;
    let encoded = |error: state::EncodeError| {
        let detail = format!("The state cannot be written: {error}.");
        Diagnostic::new(Summary::UNWRITABLE_STATE, detail)
    };
    let bytes = open.file.write().map_err(encoded)?;
    let digest = digest(&bytes);
    let mut entry = Vec::new();
    let folding = Record::Folding { serial, digest: digest.clone() };
    for record in std::iter::once(&Record::Begin(begin.clone())).chain(records).chain([&folding]) {
        record.write(&mut entry).map_err(encoded)?;
    }
    store.start(&entry).map_err(|error| not_taken_over(&error, store))?;
    session.failpoints.reach("recovery.announced");
    let write = open.store.write(&bytes, open.generation.clone());
    let written = session.runtime.block_on(write);
    let generation = written.map_err(|error| not_taken_over(&error, store))?;
    session.failpoints.reach("recovery.written");
    open.generation = Expected::At(generation);
    open.digest = Some(digest);
    Ok(())
}

fn not_taken_over(error: &StoreError, store: &dyn JournalStore) -> Diagnostic {
    let cause = file_fault(error).unwrap_or_else(|| format!("{error}."));
    let detail = format!(
        "{cause} A run that did not finish left its changes in {}. They must be written to the \
         state before anything else is done. Nothing is lost: resolve the problem, then run the \
         command again.",
        store.place()
    );
    Diagnostic::new(Summary::STATE_WRITE, detail)
}

/// The error for a state file that cannot be parsed, with the path and advice.
pub fn damaged(
    session: &Session,
    error: &StateError,
    path: &Path,
    backup: Option<&Path>,
) -> Diagnostic {
    let (path, mut detail) = (path.display(), error.detail());
    match error {
        // These files are intact, but need another version or a key.
        StateError::OldVersion { .. } | StateError::NewVersion { .. } | StateError::Encrypted => {
            detail.push_str(&format!("\n\nThe file is {path}."));
        }
        _ => match backup.filter(|it| session.system.is_file(it)) {
            Some(backup) => {
                let backup = backup.display();
                detail.push_str(&format!(
                    "\n\nThe file {path} was edited or truncated. The state from before the last \
                     run is in {backup}: if that file is intact, copy it to {path}, and run \
                     \"mayfly plan\" to see what has changed since."
                ));
            }
            None => detail.push_str(&format!(
                "\n\nThe file {path} was edited or truncated, and there is no backup next to it. \
                 Restore it from a copy of your own."
            )),
        },
    }
    Diagnostic::new(Summary::state_fault(error.summary()), detail)
}

/// Removes the lock of the selected workspace's state, if it has this ID.
pub fn force_unlock(session: &Session, id: &str) -> Result<(), String> {
    let paths =
        workspace_paths(session).map_err(|_| "the workspace's name is not valid".to_owned())?;
    let store = LocalStore::new(paths);
    session.runtime.block_on(store.force_unlock(id)).map_err(|error| error.to_string())
}

impl OpenState {
    /// Returns true if a state exists.
    pub fn exists(&self) -> bool {
        self.generation != Expected::Missing
    }

    /// The lineage and serial that a plan is made for.
    pub fn identity(&self) -> StateIdentity {
        StateIdentity { lineage: self.file.lineage.clone(), serial: self.file.serial }
    }

    fn begin(&self, session: &Session, purpose: Purpose) -> Begin {
        Begin {
            lineage: self.file.lineage.clone(),
            serial: self.file.serial,
            digest: self.digest.clone(),
            operation: purpose.command().to_owned(),
            workspace: session.workspace().to_string(),
            time: session.timestamp(),
            program: PROGRAM.to_owned(),
            is_rest: false,
        }
    }

    /// Records that the creations with these numbers did not happen.
    pub fn settle(&self, numbers: impl Iterator<Item = u64>) {
        let Some(writer) = &self.writer else { return };
        for answers in numbers {
            // A number cannot fail to be encoded.
            let _ = writer.take(&Record::Unchanged { answers });
        }
    }

    /// The journal for opened ephemeral resources, before the state is changed.
    pub fn openings(&self, session: &Session) -> Arc<dyn engine::Journal> {
        match &self.writer {
            Some(writer) => {
                let (writer, system) = (Arc::clone(writer), Arc::clone(&session.system));
                Arc::new(EphemeralJournal::new(writer, system, session.failpoints.clone()))
            }
            None => Arc::new(NoJournal),
        }
    }

    /// Converts the opened state into the keeper that saves changes during an operation.
    pub fn keeper(self, session: &Session, purpose: Purpose) -> Keeper {
        let opened = OpenedState {
            begin: self.begin(session, purpose),
            stored: (self.digest.is_some() && !self.writes_elsewhere).then_some(self.file.state),
            store: self.store,
            writer: self.writer,
            generation: self.generation,
            cost: self.cost,
            lock: self.lock,
        };
        let (system, failpoints) = (Arc::clone(&session.system), session.failpoints.clone());
        Keeper::new(opened, system, failpoints, session.runtime.handle())
    }

    /// Replaces the whole stored state, with the serial and the lineage of `file` (`state push`).
    ///
    /// # Errors
    /// The state cannot be written, or another process has written it since it was read. Nothing has changed then.
    pub(crate) fn replace(&mut self, session: &Session, file: StateFile) -> Result<(), Failure> {
        let bytes = file.write().map_err(|error| {
            let detail = format!("The state cannot be written: {error}.");
            Diagnostic::new(Summary::UNWRITABLE_STATE, detail)
        })?;
        let written = session.runtime.block_on(self.store.write(&bytes, self.generation.clone()));
        let generation = written.map_err(|error| {
            Diagnostic::new(
                Summary::STATE_WRITE,
                format!("{error}. The stored state is unchanged."),
            )
        })?;
        self.generation = Expected::At(generation);
        self.digest = Some(digest(&bytes));
        self.file = file;
        Ok(())
    }

    /// Ends the journal and releases the lock.
    pub fn close(mut self, session: &Session) -> Result<(), Failure> {
        let begin = self.begin(session, Purpose::Plan);
        if let Some(writer) = self.writer.take() {
            // Ignore a failure: the journal stays, but has nothing that the state lacks.
            let _ = writer.end(begin);
        }
        release(session, self.lock.take())
    }
}

/// Ends the journal of a run, unless it has changes that the stored state lacks, and releases the lock.
pub(crate) fn close(session: &Session, keeper: &Keeper) -> Result<(), Failure> {
    let lock = session.runtime.block_on(keeper.close()).map_err(|it| *it)?;
    release(session, lock)
}

/// Releases a lock. Does nothing for `None`.
pub fn release(session: &Session, lock: Option<ReadLock>) -> Result<(), Failure> {
    let Some(lock) = lock else { return Ok(()) };
    session.runtime.block_on(lock.release()).map_err(|error| {
        let detail = match &error {
            // The operating system's lock is released; only the lock info file is left.
            StoreError::Io { path, source, .. } => format!(
                "{}, which records the holder of the lock, could not be removed ({source}). The \
                 lock itself was released, so the next command is not blocked.",
                path.display()
            ),
            _ => format!(
                "The lock could not be released: {error}. To remove it, run \"mayfly \
                 force-unlock\"."
            ),
        };
        Diagnostic::new(Summary::STATE_UNLOCK, detail).into()
    })
}

/// Parses a duration such as `90s`, `5m`, `1h30m` or `250ms`. `None` if it is invalid.
fn parse_duration(text: &str) -> Option<Duration> {
    if text == "0" {
        return Some(Duration::ZERO);
    }
    let mut total = Duration::ZERO;
    let mut rest = text;
    while !rest.is_empty() {
        let digits = rest.find(|c: char| !c.is_ascii_digit() && c != '.')?;
        let number: f64 = rest[..digits].parse().ok()?;
        let unit_end =
            rest[digits..].find(|c: char| c.is_ascii_digit()).map_or(rest.len(), |it| digits + it);
        let seconds = match &rest[digits..unit_end] {
            "ms" => 0.001,
            "s" => 1.0,
            "m" => 60.0,
            "h" => 3600.0,
            _ => return None,
        };
        total += Duration::try_from_secs_f64(number * seconds).ok()?;
        rest = &rest[unit_end..];
    }
    (!text.is_empty()).then_some(total)
}

#[cfg(test)]
mod tests {
    use std::io::ErrorKind;

    use super::*;

    #[test]
    fn durations_parse_as_in_go() {
        for (text, expected) in [
            ("10s", Some(10_000)),
            ("1m30s", Some(90_000)),
            ("250ms", Some(250)),
            ("0", Some(0)),
            ("5", None),
            ("", None),
            ("x", None),
        ] {
            assert_eq!(parse_duration(text), expected.map(Duration::from_millis), "{text}");
        }
    }

    #[test]
    fn unwritable_state_error_does_not_mention_locks() {
        let io = |kind: ErrorKind| StoreError::Io {
            action: "open",
            path: "d/terraform.tfstate".into(),
            source: kind.into(),
        };
        let shown = lock_error(&io(ErrorKind::PermissionDenied), Purpose::Apply).detail;
        assert!(shown.starts_with("d/terraform.tfstate cannot be made in the directory /"));
        for kind in [ErrorKind::PermissionDenied, ErrorKind::NotADirectory] {
            let shown = lock_error(&io(kind), Purpose::Apply).detail;
            assert!(!shown.contains("force-unlock") && !shown.contains("-lock=false"), "{shown}");
        }
        let held = StoreError::Locked { cause: "held".to_owned(), holder: None };
        assert!(lock_error(&held, Purpose::Apply).detail.contains("force-unlock"));
    }
}
