//! The local backend: state in a file, with atomic replacement, one backup per run, and the lock that other tools use.
//!
//! Other tools overwrite the file in place while they hold a POSIX lock on it. This store replaces the file by a
//! rename, which is atomic; its lock therefore moves to the new file:
//!
//! ```text
//!   lock:    open(terraform.tfstate) ─ fcntl ─ is the path still this file? ─ write .terraform.tfstate.lock.info
//!   write:   create .terraform.tfstate.*.tmp ─ write ─ fsync ─ fcntl on it ─ rename over ─ fsync the directory
//!            ─ spoil the file that was replaced, if nothing names it any more
//!   unlock:  remove .terraform.tfstate.lock.info ─ close all files
//! ```
//!
//! Spoiling: a program that waits for a lock on the replaced file would later read an old state there, and would
//! write a new one to a file without a name. With its bytes overwritten, it fails instead.

pub(crate) mod atomic;
mod held;

use std::fs::File;
use std::io::{self, Read};
use std::os::unix::fs::{FileExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rustix::fs::{Access, OFlags};

use crate::local::atomic::{Replacement, directory_of};
use crate::local::held::{HeldFile, LocalLock};
use crate::lock::LockInfo;
use crate::store::{BoxFuture, Expected, Generation, HeldLock, Snapshot, StateStore, StoreError};

/// The files of a local store.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LocalPaths {
    /// The file that state is read from until this store has written (`-state`).
    pub read: PathBuf,
    /// The file that is written and locked (`-state-out`, by default the same as `read`).
    pub write: PathBuf,
    /// The backup of the state before the first write. `None` for `-backup=-`.
    pub backup: Option<PathBuf>,
}

impl LocalPaths {
    /// The default files: state in `path`, backup in `path.backup`.
    pub fn at(path: impl Into<PathBuf>) -> Self {
        let path = path.into();
        let mut backup = path.clone().into_os_string();
        backup.push(".backup");
        Self { read: path.clone(), write: path, backup: Some(backup.into()) }
    }
}

impl LocalPaths {
    /// Returns true if the state that is read is an empty file. Locking a state that does not exist yet creates
    /// such a file.
    pub fn is_empty(&self) -> bool {
        std::fs::metadata(&self.read).is_ok_and(|it| it.is_file() && it.len() == 0)
    }

    /// Returns true if the info file of the lock exists. A killed process leaves it behind.
    pub fn has_lock_info(&self) -> bool {
        held::info_path(&resolve_links(&self.write)).exists()
    }
}

/// A store with the state in one file.
pub struct LocalStore {
    paths: LocalPaths,
    progress: Mutex<Progress>,
}

/// The reads and writes of this store so far.
#[derive(Default)]
struct Progress {
    /// The bytes of the last read, kept until they are in the backup.
    before: Option<Vec<u8>>,
    has_written: bool,
}

impl LocalStore {
    /// Creates a store over these files without opening them.
    pub fn new(paths: LocalPaths) -> Self {
        Self { paths, progress: Mutex::default() }
    }

    fn progress(&self) -> MutexGuard<'_, Progress> {
        self.progress.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn read_now(&self) -> Result<Option<Snapshot>, StoreError> {
        let mut progress = self.progress();
        let path = if progress.has_written { &self.paths.write } else { &self.paths.read };
        let Some((bytes, here)) = read_file(path)? else { return Ok(None) };
        if !progress.has_written {
            progress.before = Some(bytes.clone());
        }
        // With `-state-out`, a write replaces the other file, so the generation is that of the other file.
        let generation =
            if *path == self.paths.write { here } else { generation_at(&self.paths.write)? };
        Ok(Some(Snapshot { bytes, generation }))
    }

    fn write_now(&self, bytes: &[u8], expected: Expected) -> Result<Generation, StoreError> {
        let mut progress = self.progress();
        let target = resolve_links(&self.paths.write);
        self.check(&target, &expected)?;
        if !progress.has_written {
            self.keep_backup(&target, progress.before.take())?;
        }
        let held = held::find(&target);
        let mut file = Replacement::create(&target)?;
        file.write(bytes)?;
        if let Some(held) = &held {
            held::lock_replacement(&file, &target)?;
            held.adopt(file.put_in_place()?);
            held.spoil_replaced();
        } else {
            file.put_in_place()?;
        }
        progress.has_written = true;
        generation_at(&target)
    }

    fn check(&self, target: &Path, expected: &Expected) -> Result<(), StoreError> {
        let holds = match expected {
            Expected::Anything => true,
            Expected::Missing => is_absent(&generation_at(target)?),
            Expected::At(generation) => generation_at(target)? == *generation,
        };
        if holds { Ok(()) } else { Err(StoreError::Conflict) }
    }

    /// Writes the backup: the bytes that were read, or else the bytes that are about to be replaced.
    fn keep_backup(&self, target: &Path, before: Option<Vec<u8>>) -> Result<(), StoreError> {
        let Some(backup) = &self.paths.backup else { return Ok(()) };
        let before = match before {
            Some(before) => before,
            None => match read_file(target)? {
                Some((bytes, _)) => bytes,
                None => return Ok(()),
            },
        };
        let mut file = Replacement::create(&resolve_links(backup))?;
        file.write(&before)?;
        file.put_in_place()?;
        Ok(())
    }

    /// Checks that the state can be written. A read-only state file is an error, although a rename needs only the
    /// directory.
    fn check_writable_now(&self) -> Result<(), StoreError> {
        let target = resolve_links(&self.paths.write);
        check_access(&target, Access::WRITE_OK)?;
        check_directory(&target)?;
        match &self.paths.backup {
            Some(backup) if self.paths.read.exists() || target.exists() => {
                check_directory(&resolve_links(backup))
            }
            _ => Ok(()),
        }
    }

    fn force_unlock_now(&self, id: &str) -> Result<(), StoreError> {
        let target = resolve_links(&self.paths.write);
        let info_path = held::info_path(&target);
        let existing = match read_regular(&info_path) {
            Ok(bytes) => LockInfo::from_json(&bytes).map(|it| it.id),
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                return Err(StoreError::NotLocked);
            }
            Err(error) => return Err(StoreError::io("read", &info_path)(error)),
        };
        if existing.as_deref() != Some(id) {
            return Err(StoreError::LockId { given: id.to_owned(), existing });
        }
        // If the lock can be taken although its info file exists, its owner has ended.
        match held::lock(&target, LockInfo { id: id.to_owned(), ..LockInfo::default() }) {
            Ok(stale) => stale.release_now(),
            Err(StoreError::Locked { .. }) => Err(StoreError::Alive),
            Err(error) => Err(error),
        }
    }
}

impl StateStore for LocalStore {
    fn read(&self) -> BoxFuture<'_, Result<Option<Snapshot>, StoreError>> {
        Box::pin(async { self.read_now() })
    }

    fn write<'a>(
        &'a self,
        bytes: &'a [u8],
        expected: Expected,
    ) -> BoxFuture<'a, Result<Generation, StoreError>> {
        Box::pin(async { self.write_now(bytes, expected) })
    }

    fn check_writable(&self) -> BoxFuture<'_, Result<(), StoreError>> {
        Box::pin(async { self.check_writable_now() })
    }

    fn lock(&self, info: LockInfo) -> BoxFuture<'_, Result<Box<dyn HeldLock>, StoreError>> {
        Box::pin(async {
            let info = LockInfo { path: self.paths.write.display().to_string(), ..info };
            let lock: LocalLock = held::lock(&resolve_links(&self.paths.write), info)?;
            if let Some(backup) = &self.paths.backup {
                atomic::sweep(&resolve_links(backup));
            }
            Ok(Box::new(lock) as Box<dyn HeldLock>)
        })
    }

    fn force_unlock<'a>(&'a self, id: &'a str) -> BoxFuture<'a, Result<(), StoreError>> {
        Box::pin(async move { self.force_unlock_now(id) })
    }
}

/// Checks that a file can be created beside this one. If its directory is missing, checks the nearest existing
/// one.
pub(crate) fn check_directory(target: &Path) -> Result<(), StoreError> {
    check_access(existing_directory(target), Access::WRITE_OK | Access::EXEC_OK)
}

/// The nearest existing directory above a path.
pub fn existing_directory(path: &Path) -> &Path {
    let is_there = |it: &&Path| it.as_os_str().is_empty() || it.exists();
    match directory_of(path).ancestors().find(is_there) {
        Some(directory) if !directory.as_os_str().is_empty() => directory,
        Some(_) => Path::new("."),
        None => Path::new("/"),
    }
}

/// Checks the access to a path. A missing path is no error.
fn check_access(path: &Path, access: Access) -> Result<(), StoreError> {
    match rustix::fs::access(path, access).map_err(io::Error::from) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => {
            Err(StoreError::io("write", path)(error))
        }
        _ => Ok(()),
    }
}

/// Reads the whole file. If this process has locked it, the locked handle is used: closing any other handle of the
/// file would release all POSIX locks that the process has on it.
fn read_file(path: &Path) -> Result<Option<(Vec<u8>, Generation)>, StoreError> {
    let target = resolve_links(path);
    let held: Option<Arc<HeldFile>> = held::find(&target);
    let read = match &held {
        Some(held) => held.with_current(read_opened),
        None => open_without_waiting(&target).and_then(|file| read_opened(&file)),
    };
    match read {
        // Locking a state that does not exist yet leaves an empty file.
        Ok((bytes, _)) if bytes.is_empty() => Ok(None),
        Ok(read) => Ok(Some(read)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(StoreError::io("read", path)(error)),
    }
}

/// Opens a file for reading. Does not block on a pipe without a writer; the caller checks the file type
/// afterwards.
pub(crate) fn open_without_waiting(path: &Path) -> io::Result<File> {
    let flags = (OFlags::NONBLOCK | OFlags::NOCTTY).bits();
    File::options().read(true).custom_flags(i32::try_from(flags).unwrap_or(0)).open(path)
}

/// Reads a regular file.
pub(crate) fn read_regular(path: &Path) -> io::Result<Vec<u8>> {
    let mut file = open_without_waiting(path)?;
    check_regular(&file.metadata()?)?;
    let mut bytes = Vec::new();
    file.read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// Returns an error for a pipe, a socket or a device, which have no content of their own.
pub(crate) fn check_regular(metadata: &std::fs::Metadata) -> io::Result<()> {
    if metadata.is_file() || metadata.is_dir() {
        return Ok(());
    }
    Err(io::Error::new(io::ErrorKind::InvalidInput, "it is a pipe or a device, not a regular file"))
}

fn read_opened(file: &File) -> io::Result<(Vec<u8>, Generation)> {
    let metadata = file.metadata()?;
    check_regular(&metadata)?;
    let mut bytes = vec![0; usize::try_from(metadata.len()).unwrap_or(0)];
    file.read_exact_at(&mut bytes, 0)?;
    Ok((bytes, generation(&metadata)))
}

/// The generation of a file: its inode, size and time. Every write of this store creates a new inode, and other
/// tools change the time.
fn generation(metadata: &std::fs::Metadata) -> Generation {
    let (dev, inode, size) = (metadata.dev(), metadata.ino(), metadata.size());
    if size == 0 {
        return Generation::new(ABSENT);
    }
    let (seconds, nanos) = (metadata.mtime(), metadata.mtime_nsec());
    Generation::new(format!("{dev:x}-{inode:x}-{size:x}-{seconds:x}.{nanos:x}"))
}

const ABSENT: &str = "absent";

fn is_absent(generation: &Generation) -> bool {
    generation.as_str() == ABSENT
}

fn generation_at(path: &Path) -> Result<Generation, StoreError> {
    match std::fs::metadata(path) {
        Ok(metadata) => Ok(generation(&metadata)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Generation::new(ABSENT)),
        Err(error) => Err(StoreError::io("read", path)(error)),
    }
}

/// Follows symbolic links from a state path. The file at the end is the one that is replaced and locked.
pub(crate) fn resolve_links(path: &Path) -> PathBuf {
    let mut path = path.to_owned();
    for _ in 0..40 {
        let Ok(next) = std::fs::read_link(&path) else { break };
        path = path.parent().unwrap_or(Path::new("")).join(next);
    }
    path
}

#[cfg(test)]
mod tests;
