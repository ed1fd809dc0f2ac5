//! Locks on local files that this process holds.
//!
//! POSIX locks belong to a process, not to a handle: a second lock by the same process succeeds, and closing any
//! handle of a file releases all locks on it. The process therefore keeps one table of its locked files. Locking
//! checks the table first, and reading uses the handle in it.

use std::collections::BTreeMap;
use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::{FileExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rustix::fs::{FlockOperation, fcntl_lock};

use crate::local::atomic::{Replacement, directory_of, sweep};
use crate::local::{check_regular, read_regular};
use crate::lock::LockInfo;
use crate::store::{BoxFuture, HeldLock, StoreError};

/// Bytes that no tool reads as a state.
const SPOILT: &[u8] =
    b"This state was replaced while its lock was awaited. Run the command again.\n";

/// The number of attempts to lock a file that is replaced between opening and locking it.
const ATTEMPTS: usize = 64;

static HELD: Mutex<BTreeMap<PathBuf, Arc<HeldFile>>> = Mutex::new(BTreeMap::new());

fn table() -> MutexGuard<'static, BTreeMap<PathBuf, Arc<HeldFile>>> {
    HELD.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A file that this process has locked.
#[derive(Debug)]
pub(crate) struct HeldFile {
    /// All files with the lock; the last one is in place. Replaced files stay open until the lock is released: a
    /// program that opened one of them before must not get a lock on it.
    files: Mutex<Vec<File>>,
    info: LockInfo,
}

impl HeldFile {
    fn files(&self) -> MutexGuard<'_, Vec<File>> {
        self.files.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Passes the file that is in place to `f`.
    pub(crate) fn with_current<T>(&self, f: impl FnOnce(&File) -> T) -> T {
        f(self.files().last().expect("a held lock has at least the file it was taken on"))
    }

    /// Adds a replacement that is in place now; [`lock_replacement`] has locked it before.
    ///
    /// It takes the file itself, not a second handle, because closing either of two handles would release the
    /// lock.
    pub(crate) fn adopt(&self, file: File) {
        self.files().push(file);
    }

    /// Overwrites replaced files, so that programs that wait for a lock on them fail. Only files that no name
    /// refers to any more are overwritten.
    pub(crate) fn spoil_replaced(&self) {
        let files = self.files();
        let Some((_, replaced)) = files.split_last() else { return };
        for file in replaced {
            if file.metadata().is_ok_and(|it| it.nlink() == 0) {
                // Best effort: the state itself is already in place.
                let _ = file.set_len(0).and_then(|()| file.write_all_at(SPOILT, 0));
            }
        }
    }
}

/// The lock as its owner holds it.
#[derive(Debug)]
pub(crate) struct LocalLock {
    path: PathBuf,
    held: Arc<HeldFile>,
    is_created: bool,
    is_released: bool,
}

/// Returns the lock of this process on a file, if it has one.
pub(crate) fn find(target: &Path) -> Option<Arc<HeldFile>> {
    table().get(&key(target)).cloned()
}

/// The path of the file that shows the lock's owner to other tools.
pub(crate) fn info_path(target: &Path) -> PathBuf {
    let name = target.file_name().unwrap_or_default().to_string_lossy();
    directory_of(target).join(format!(".{name}.lock.info"))
}

/// Takes the lock, or returns an error that names its holder.
pub(crate) fn lock(target: &Path, info: LockInfo) -> Result<LocalLock, StoreError> {
    let directory = directory_of(target);
    std::fs::create_dir_all(directory).map_err(StoreError::io("create", directory))?;
    let mut table = table();
    if let Some(held) = table.get(&key(target)) {
        let cause = format!("state {:?} already locked", target.display().to_string());
        return Err(StoreError::Locked { cause, holder: Some(Box::new(held.info.clone())) });
    }
    let (file, is_created) = open_locked(target)?;
    sweep(target);
    let held = Arc::new(HeldFile { files: Mutex::new(vec![file]), info });
    table.insert(key(target), Arc::clone(&held));
    drop(table);
    let lock = LocalLock { path: target.to_owned(), held, is_created, is_released: false };
    write_info(target, &lock.held.info)?;
    Ok(lock)
}

/// Locks a replacement before it is put in place, so that the path is never without a lock.
pub(crate) fn lock_replacement(next: &Replacement, path: &Path) -> Result<(), StoreError> {
    try_lock(next.file()).map_err(StoreError::io("lock", path))
}

/// Opens and locks a file. Tries again if the path leads to another file once the lock is taken.
fn open_locked(target: &Path) -> Result<(File, bool), StoreError> {
    let mut is_created = false;
    for _ in 0..ATTEMPTS {
        is_created |= !target.exists();
        let file = OpenOptions::new()
            .read(true)
            .write(true)
            .create(true)
            .truncate(false)
            .mode(0o600)
            .open(target)
            .map_err(StoreError::io("open", target))?;
        let regular = file.metadata().and_then(|it| check_regular(&it));
        regular.map_err(StoreError::io("lock", target))?;
        match try_lock(&file) {
            Ok(()) if is_in_place(&file, target) => return Ok((file, is_created)),
            Ok(()) => {}
            Err(error) if is_taken(&error) => {
                let holder = read_regular(&info_path(target)).ok();
                let holder = holder.and_then(|it| LockInfo::from_json(&it)).map(Box::new);
                return Err(StoreError::Locked { cause: taken_text(&error), holder });
            }
            Err(error) => return Err(StoreError::io("lock", target)(error)),
        }
    }
    let cause = "the state file is being replaced again and again".to_owned();
    Err(StoreError::Locked { cause, holder: None })
}

/// Takes the POSIX lock on a whole file without waiting.
pub(crate) fn try_lock(file: &File) -> io::Result<()> {
    fcntl_lock(file, FlockOperation::NonBlockingLockExclusive).map_err(io::Error::from)
}

fn is_taken(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::PermissionDenied)
}

/// The text of `strerror` in lower case and without a number, as OpenTofu shows it.
fn taken_text(error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::WouldBlock => "resource temporarily unavailable".to_owned(),
        _ => "permission denied".to_owned(),
    }
}

fn is_in_place(file: &File, target: &Path) -> bool {
    let (Ok(opened), Ok(named)) = (file.metadata(), std::fs::metadata(target)) else {
        return false;
    };
    (opened.dev(), opened.ino()) == (named.dev(), named.ino())
}

fn write_info(target: &Path, info: &LockInfo) -> Result<(), StoreError> {
    let path = info_path(target);
    let mut options = OpenOptions::new();
    options.write(true).create(true).truncate(true).mode(0o600);
    let written = options.open(&path).and_then(|mut it| it.write_all(info.to_json().as_bytes()));
    written.map_err(StoreError::io("write", &path))
}

/// The key of a file in the table. It is the same for all spellings of its directory.
fn key(target: &Path) -> PathBuf {
    let directory = directory_of(target);
    let directory = std::fs::canonicalize(directory).unwrap_or_else(|_| directory.to_owned());
    directory.join(target.file_name().unwrap_or_default())
}

impl LocalLock {
    /// Releases the lock. The info file is removed first, so that nothing shows an owner that is gone.
    pub(crate) fn release_now(mut self) -> Result<(), StoreError> {
        self.end()
    }

    fn end(&mut self) -> Result<(), StoreError> {
        if std::mem::replace(&mut self.is_released, true) {
            return Ok(());
        }
        let info = info_path(&self.path);
        let removed = match std::fs::remove_file(&info) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
            _ => Ok(()),
        };
        if self.is_created && std::fs::metadata(&self.path).is_ok_and(|it| it.len() == 0) {
            // The empty file was created only for the lock.
            let _ = std::fs::remove_file(&self.path);
        }
        let mut table = table();
        table.remove(&key(&self.path));
        self.held.files().clear();
        removed.map_err(StoreError::io("remove", &info))
    }
}

impl HeldLock for LocalLock {
    fn info(&self) -> &LockInfo {
        &self.held.info
    }

    fn has_made_store(&self) -> bool {
        self.is_created
    }

    fn release(self: Box<Self>) -> BoxFuture<'static, Result<(), StoreError>> {
        Box::pin(async move { self.release_now() })
    }
}

impl Drop for LocalLock {
    fn drop(&mut self) {
        // A destructor cannot return an error; `release` does.
        let _ = self.end();
    }
}
