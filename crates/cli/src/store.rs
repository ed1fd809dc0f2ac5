//! The state of a run: read under a lock, kept after every operation, written at the end.

use std::{
    io::ErrorKind,
    path::{Path, PathBuf},
    sync::{Arc, Mutex, PoisonError},
    time::{Duration, Instant},
};

use addr::ResourceInstance;
use backend::{
    Expected, HeldLock, LocalPaths, LocalStore, LocalWorkspaces, LockInfo, StateStore, StoreError,
};
use db::{Diagnostic, System};
use engine::StateSink;
use state::{State, StateError, StateFile, StateIdentity};

use crate::{
    args::StateArgs,
    session::{Failure, Session},
};

/// The state of one workspace, open for one operation.
pub(crate) struct OpenState {
    /// What was read; a new lineage where there was nothing.
    pub(crate) file: StateFile,
    store: Arc<dyn StateStore>,
    generation: Expected,
    lock: Option<Box<dyn HeldLock>>,
}

/// Opens the state: takes the lock, then reads.
pub(crate) fn open(
    session: &Session,
    args: &StateArgs,
    operation: &str,
) -> Result<OpenState, Failure> {
    session.refuse_encryption()?;
    if args.state.is_none() {
        session.refuse_other_backends()?;
    }
    let paths = paths(session, args)?;
    let store: Arc<dyn StateStore> = Arc::new(LocalStore::new(paths.clone()));
    let lock = match args.lock {
        true => Some(lock(session, &*store, args, operation)?),
        false => None,
    };
    read(session, store, &paths, lock)
}

/// Opens the state for reading only: no lock is taken, and nothing is written.
pub(crate) fn open_unlocked(session: &Session, path: Option<&Path>) -> Result<OpenState, Failure> {
    session.refuse_encryption()?;
    let paths = match path {
        Some(path) => LocalPaths::at(path),
        None => {
            session.refuse_other_backends()?;
            workspace_paths(session)?
        }
    };
    read(session, Arc::new(LocalStore::new(paths.clone())), &paths, None)
}

/// Reads the state as it is now, as [`open`] would, without its lock. Whether it is here at all is for the caller to know.
pub(crate) fn look(session: &Session, args: &StateArgs) -> Result<OpenState, Failure> {
    session.refuse_encryption()?;
    let paths = paths(session, args)?;
    read(session, Arc::new(LocalStore::new(paths.clone())), &paths, None)
}

/// The file that [`look`] reads.
pub(crate) fn state_path(session: &Session, args: &StateArgs) -> Result<PathBuf, Failure> {
    Ok(paths(session, args)?.read)
}

fn workspace_paths(session: &Session) -> Result<LocalPaths, Failure> {
    let workspaces = LocalWorkspaces::new(Path::new(""), None, None);
    workspaces.paths(&session.workspace()).map_err(|error| {
        Diagnostic::error("workspace", "Invalid workspace", error.to_string()).into()
    })
}

fn paths(session: &Session, args: &StateArgs) -> Result<LocalPaths, Failure> {
    let mut paths = match &args.state {
        Some(path) => LocalPaths::at(path),
        None => workspace_paths(session)?,
    };
    if let Some(out) = &args.state_out {
        paths = LocalPaths { read: paths.read, ..LocalPaths::at(out) };
    }
    match args.backup.as_deref() {
        Some("-") => paths.backup = None,
        Some(path) => paths.backup = Some(path.into()),
        None => {}
    }
    Ok(paths)
}

fn lock(
    session: &Session,
    store: &dyn StateStore,
    args: &StateArgs,
    operation: &str,
) -> Result<Box<dyn HeldLock>, Failure> {
    let timeout = parse_duration(&args.lock_timeout).ok_or_else(|| {
        Diagnostic::error(
            "lock-timeout",
            "Invalid -lock-timeout",
            "A duration is a number with a unit, such as 30s or 5m.".to_owned(),
        )
    })?;
    let id = uuid::Uuid::new_v4().to_string();
    let info =
        LockInfo::new(id, operation, who(session), state::WRITTEN_VERSION, session.timestamp());
    let acquired =
        session.runtime.block_on(backend::acquire(store, info, timeout, tokio::time::sleep));
    acquired.map_err(|error| lock_error(&error).into())
}

/// What to do where a file of the state cannot be used, which has nothing to do with who holds a lock.
fn file_fault(error: &StoreError) -> Option<String> {
    let StoreError::Io { path, source, .. } = error else { return None };
    let path = path.display();
    Some(match source.kind() {
        ErrorKind::PermissionDenied | ErrorKind::ReadOnlyFilesystem => format!(
            "{path} cannot be written: check its permissions, and those of the directory that it is in ({source})."
        ),
        _ => format!("{error}. Check the path and the disk that it is on."),
    })
}

fn lock_error(error: &StoreError) -> Diagnostic {
    if let Some(detail) = file_fault(error) {
        return Diagnostic::error(
            "state-unwritable",
            "Error opening the state for writing",
            detail,
        );
    }
    let holder = match error {
        StoreError::Locked { holder: Some(holder), .. } => format!("\n{holder}"),
        _ => String::new(),
    };
    let detail = format!(
        "Error message: {error}{holder}\n\nMayfly acquires a state lock to protect the state from being written by multiple users at the same time. \
         Please resolve the issue above and try again. If the command that held the lock has crashed, \"mayfly force-unlock LOCK_ID\" releases it. For \
         most commands, you can disable locking with the \"-lock=false\" flag, but this is not recommended."
    );
    Diagnostic::error("state-lock", "Error acquiring the state lock", detail)
}

fn who(session: &Session) -> String {
    let variable = |name: &str| session.system.variable(name).filter(|it| !it.is_empty());
    let user = variable("USER")
        .or_else(|| variable("LOGNAME"))
        .unwrap_or_else(|| format!("uid-{}", rustix::process::getuid().as_raw()));
    let host = rustix::system::uname().nodename().to_string_lossy().into_owned();
    format!("{user}@{host}")
}

fn read(
    session: &Session,
    store: Arc<dyn StateStore>,
    paths: &LocalPaths,
    lock: Option<Box<dyn HeldLock>>,
) -> Result<OpenState, Failure> {
    let snapshot = session.runtime.block_on(store.read()).map_err(|error| {
        Diagnostic::error(
            "state-read",
            "Error loading state",
            format!("The state cannot be read: {error}."),
        )
    })?;
    let generation = Expected::from(&snapshot);
    let file = match &snapshot {
        Some(snapshot) => StateFile::read(&snapshot.bytes)
            .map_err(|error| damaged(session, &error, &paths.read, paths.backup.as_deref()))?,
        None => StateFile::new(uuid::Uuid::new_v4().to_string()),
    };
    Ok(OpenState { file, store, generation, lock })
}

/// A state file that cannot be understood: which one, and what to do about it.
pub(crate) fn damaged(
    session: &Session,
    error: &StateError,
    path: &Path,
    backup: Option<&Path>,
) -> Diagnostic {
    let (path, mut detail) = (path.display(), error.detail());
    match error {
        // Not damaged, but for other programs or with a key.
        StateError::OldVersion { .. } | StateError::NewVersion { .. } | StateError::Encrypted => {
            detail.push_str(&format!("\n\nThe file is {path}."));
        }
        _ => match backup.filter(|it| session.system.is_file(it)) {
            Some(backup) => {
                let backup = backup.display();
                detail.push_str(&format!(
                    "\n\nThe file {path} was edited or cut off. The state of before the last run is in {backup}: if that is whole, copy it to \
                     {path}, and run \"mayfly plan\" to see what has changed since."
                ));
            }
            None => detail.push_str(&format!(
                "\n\nThe file {path} was edited or cut off, and no backup lies beside it. Restore it from a copy of your own."
            )),
        },
    }
    Diagnostic::error("state-read", error.summary(), detail)
}

/// Removes the lock of the selected workspace's state.
pub(crate) fn force_unlock(session: &Session, id: &str) -> Result<(), String> {
    let paths =
        workspace_paths(session).map_err(|_| "the workspace's name is not valid".to_owned())?;
    let store = LocalStore::new(paths);
    session.runtime.block_on(store.force_unlock(id)).map_err(|error| error.to_string())
}

impl OpenState {
    /// Whether there was a state at all.
    pub(crate) fn exists(&self) -> bool {
        self.generation != Expected::Missing
    }

    /// The lineage and serial that a plan is made for.
    pub(crate) fn identity(&self) -> StateIdentity {
        StateIdentity { lineage: self.file.lineage.clone(), serial: self.file.serial }
    }

    /// What keeps the state while an operation runs.
    pub(crate) fn keeper(self) -> Keeper {
        let kept = Kept {
            serial: self.file.serial,
            lineage: self.file.lineage.clone(),
            generation: self.generation,
            last_write: Instant::now(),
            last_cost: Duration::ZERO,
            last_bytes: None,
        };
        Keeper { store: self.store, kept: Mutex::new(kept), lock: Mutex::new(self.lock) }
    }

    /// Gives the lock back.
    pub(crate) fn close(mut self, session: &Session) -> Result<(), Failure> {
        release(session, self.lock.take())
    }
}

fn release(session: &Session, lock: Option<Box<dyn HeldLock>>) -> Result<(), Failure> {
    let Some(lock) = lock else { return Ok(()) };
    session.runtime.block_on(lock.release()).map_err(|error| {
        let detail = format!(
            "The lock could not be given back: {error}. \"mayfly force-unlock\" removes it."
        );
        Diagnostic::error("state-unlock", "Error releasing the state lock", detail).into()
    })
}

/// Keeps the state of a run.
pub(crate) struct Keeper {
    store: Arc<dyn StateStore>,
    kept: Mutex<Kept>,
    lock: Mutex<Option<Box<dyn HeldLock>>>,
}

struct Kept {
    serial: u64,
    lineage: String,
    generation: Expected,
    last_write: Instant,
    last_cost: Duration,
    last_bytes: Option<Vec<u8>>,
}

/// While an operation runs, writing the state may take this part of the time.
const WRITE_SHARE: u32 = 20;

impl Keeper {
    /// Writes the state now.
    pub(crate) fn write(&self, state: &State) -> Result<(), Box<Diagnostic>> {
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        let start = Instant::now();
        let first = kept.last_bytes.is_none();
        let serial = if first { next_serial(kept.serial)? } else { kept.serial };
        let file = StateFile {
            written_by: None,
            serial,
            lineage: kept.lineage.clone(),
            state: state.clone(),
        };
        let bytes = file.write().map_err(|error| {
            Box::new(Diagnostic::error(
                "state-encode",
                "Failed to write state",
                format!("The state cannot be written: {error}."),
            ))
        })?;
        if kept.last_bytes.as_ref() == Some(&bytes) {
            return Ok(());
        }
        // Local storages answer at once; the engine's thread may wait for them.
        let written =
            futures::executor::block_on(self.store.write(&bytes, kept.generation.clone()));
        match written {
            Ok(generation) => kept.generation = Expected::At(generation),
            Err(error) => {
                let cause = file_fault(&error).unwrap_or_else(|| format!("{error}."));
                let detail = format!(
                    "{cause} The objects that were changed exist all the same; run the command again when the cause is mended."
                );
                return Err(Box::new(Diagnostic::error(
                    "state-write",
                    "Failed to save state",
                    detail,
                )));
            }
        }
        kept.serial = serial;
        kept.last_bytes = Some(bytes);
        kept.last_cost = start.elapsed();
        kept.last_write = Instant::now();
        Ok(())
    }

    /// The state as it would be written.
    pub(crate) fn encoded(&self, state: &State) -> Option<Vec<u8>> {
        let kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        let file = StateFile {
            written_by: None,
            serial: next_serial(kept.serial).ok()?,
            lineage: kept.lineage.clone(),
            state: state.clone(),
        };
        file.write().ok()
    }

    /// Gives the lock back.
    pub(crate) fn close(&self, session: &Session) -> Result<(), Failure> {
        let lock = self.lock.lock().unwrap_or_else(PoisonError::into_inner).take();
        release(session, lock)
    }
}

/// The serial of the state that follows; it never starts again at zero, because a greater one is the newer state.
fn next_serial(serial: u64) -> Result<u64, Box<Diagnostic>> {
    serial.checked_add(1).ok_or_else(|| {
        Box::new(Diagnostic::error(
            "state-serial",
            "Failed to write state",
            format!("The serial of the state is {serial}, and there is none after it. Somebody must have written it there: set a lower one."),
        ))
    })
}

impl StateSink for Keeper {
    fn persist(&self, state: &State, _: &ResourceInstance) -> Result<(), Box<Diagnostic>> {
        let due = {
            let kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
            kept.last_write.elapsed() >= kept.last_cost * WRITE_SHARE
        };
        if due { self.write(state) } else { Ok(()) }
    }
}

/// `90s`, `5m`, `1h30m`, `250ms`.
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
    use super::*;

    #[test]
    fn durations_are_those_of_go() {
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
    fn what_cannot_be_written_is_no_matter_of_locks() {
        let io = |kind: ErrorKind| StoreError::Io {
            action: "open",
            path: "d/terraform.tfstate".into(),
            source: kind.into(),
        };
        let shown = lock_error(&io(ErrorKind::PermissionDenied)).detail;
        assert!(shown.starts_with("d/terraform.tfstate cannot be written: check its permissions"));
        for kind in [ErrorKind::PermissionDenied, ErrorKind::NotADirectory] {
            let shown = lock_error(&io(kind)).detail;
            assert!(!shown.contains("force-unlock") && !shown.contains("-lock=false"), "{shown}");
        }
        let held = StoreError::Locked { cause: "held".to_owned(), holder: None };
        assert!(lock_error(&held).detail.contains("force-unlock"));
    }

    #[test]
    fn no_serial_comes_after_the_greatest() {
        assert_eq!(next_serial(4).ok(), Some(5));
        assert!(next_serial(u64::MAX).is_err());
    }
}
