//! The cache of unpacked packages that configurations share (`plugin_cache_dir`): its locks, and the checks of what is
//! in it. Other programs and other versions write to it, too.
//!
//! **Invariant:** an entry is inspected under its lock, and an entry that is refused is replaced, never used.

use std::fs::{File, Metadata, TryLockError};
use std::io;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use crate::blocking::{blocking, waiting};

/// An entry of the cache, locked against other processes while the value lives.
pub(crate) struct CacheEntry {
    cache: PathBuf,
    /// The directory of the package.
    pub(crate) package: PathBuf,
    _lock: File,
}

/// The state of an entry.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum EntryState {
    Missing,
    /// It may be used if it has the right hash.
    Sound,
    /// The reason why it must not be used, as a clause about "it".
    Refused(String),
}

/// The lock of an entry, which another process may have.
struct Lock {
    file: File,
    is_held: bool,
}

impl CacheEntry {
    /// Locks the entry of a package. Calls `on_wait` if another process has it. The error is a sentence fragment.
    pub(crate) async fn lock(
        cache: &Path,
        package: PathBuf,
        on_wait: impl FnOnce(),
    ) -> Result<CacheEntry, String> {
        let cache = cache.to_owned();
        let (root, entry) = (cache.clone(), package.clone());
        let lock = blocking(move || open_lock(&root, &entry)).await?;
        let file = match lock.is_held {
            true => lock.file,
            false => {
                on_wait();
                let file = lock.file;
                let locked = waiting(move || file.lock().map(|()| file)).await;
                locked.map_err(|error| not_locked(&package, &error))?
            }
        };
        let entry = package.clone();
        blocking(move || remove_scratch(&entry)).await;
        Ok(CacheEntry { cache, package, _lock: file })
    }

    /// Inspects the entry. A link is accepted only to a package in one of the mirrors.
    pub(crate) async fn state(&self, mirrors: Vec<PathBuf>) -> EntryState {
        let (cache, package) = (self.cache.clone(), self.package.clone());
        blocking(move || match inspect(&cache, &package, &mirrors) {
            Ok(true) => EntryState::Sound,
            Ok(false) => EntryState::Missing,
            Err(reason) => EntryState::Refused(reason),
        })
        .await
    }
}

fn not_locked(package: &Path, error: &io::Error) -> String {
    format!("failed to lock {}: {error}", lock_path(package).display())
}

/// The lock file is beside the package, because a file inside would change the hash of the package.
fn lock_path(package: &Path) -> PathBuf {
    let mut path = package.as_os_str().to_owned();
    path.push(".lock");
    PathBuf::from(path)
}

fn open_lock(cache: &Path, package: &Path) -> Result<Lock, String> {
    let failed = |error: io::Error| not_locked(package, &error);
    let parent = package.parent().unwrap_or(cache);
    std::fs::create_dir_all(cache).map_err(failed)?;
    let real = |path: &Path| std::fs::canonicalize(path).map_err(failed);
    // Nothing is created behind a link that leads out of the cache.
    let is_there = |it: &&Path| std::fs::symlink_metadata(it).is_ok();
    let existing = parent.ancestors().find(is_there).unwrap_or(cache);
    if !real(existing)?.starts_with(real(cache)?) {
        return Err(format!(
            "the directory {} of the plugin cache leads out of the cache; remove the link",
            parent.display()
        ));
    }
    std::fs::create_dir_all(parent).map_err(failed)?;
    let path = lock_path(package);
    if std::fs::symlink_metadata(&path).is_ok_and(|it| !it.is_file()) {
        return Err(format!("{} is not a lock file; remove it", path.display()));
    }
    let mut options = File::options();
    let no_link = rustix::fs::OFlags::NOFOLLOW.bits().cast_signed();
    let options = options.read(true).write(true).create(true).truncate(false);
    let file = options.custom_flags(no_link).open(&path);
    let file = file.map_err(failed)?;
    match file.try_lock() {
        Ok(()) => Ok(Lock { file, is_held: true }),
        Err(TryLockError::WouldBlock) => Ok(Lock { file, is_held: false }),
        Err(TryLockError::Error(error)) => Err(failed(error)),
    }
}

/// Removes the scratch directories of runs that were killed. The lock is held, so that none of them is in use.
fn remove_scratch(package: &Path) {
    let prefix = crate::package::scratch_prefix(package);
    let entries = package.parent().and_then(|it| std::fs::read_dir(it).ok());
    for entry in entries.into_iter().flatten().flatten() {
        if entry.file_name().to_string_lossy().starts_with(&prefix) {
            // A remaining directory does no harm.
            drop(std::fs::remove_dir_all(entry.path()));
        }
    }
}

/// Returns true if there is a sound package, and false if there is nothing. The error is the reason why what is there
/// must not be used.
fn inspect(cache: &Path, package: &Path, mirrors: &[PathBuf]) -> Result<bool, String> {
    let metadata = match std::fs::symlink_metadata(package) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(false),
        other => other.map_err(unreadable)?,
    };
    if metadata.is_symlink() {
        return check_link(package, mirrors).map(|()| true);
    }
    if !metadata.is_dir() {
        return Err("it is not a directory".to_owned());
    }
    let owner = std::fs::metadata(cache).map_err(unreadable)?.uid();
    let owners = [0, rustix::process::geteuid().as_raw(), owner];
    check_file(&metadata, "it", &owners)?;
    let mut pending = vec![package.to_owned()];
    while let Some(directory) = pending.pop() {
        for entry in std::fs::read_dir(&directory).map_err(unreadable)? {
            let path = entry.map_err(unreadable)?.path();
            let name = path.strip_prefix(package).unwrap_or(&path);
            if name.components().count() > 64 {
                return Err("its directories are nested too deeply".to_owned());
            }
            let metadata = std::fs::symlink_metadata(&path).map_err(unreadable)?;
            check_file(&metadata, &format!("its file {:?}", name.display()), &owners)?;
            if metadata.is_dir() {
                pending.push(path);
            }
        }
    }
    Ok(true)
}

fn unreadable(error: io::Error) -> String {
    format!("it cannot be read: {error}")
}

/// Accepts a link to a package of a mirror: an unpacked package is linked and not copied.
fn check_link(package: &Path, mirrors: &[PathBuf]) -> Result<(), String> {
    let Ok(target) = std::fs::canonicalize(package) else {
        return Err("it is a link that leads nowhere".to_owned());
    };
    let is_inside = |it: &PathBuf| std::fs::canonicalize(it).is_ok_and(|it| target.starts_with(it));
    match mirrors.iter().any(is_inside) && target.is_dir() {
        true => Ok(()),
        false => Err(format!("it is a link to {}, which is in no mirror", target.display())),
    }
}

/// Checks the kind, the owner and the permissions of a file or directory.
fn check_file(metadata: &Metadata, what: &str, owners: &[u32]) -> Result<(), String> {
    if metadata.is_symlink() {
        return Err(format!("{what} is a link"));
    }
    if !metadata.is_dir() && !metadata.is_file() {
        return Err(format!("{what} is neither a file nor a directory"));
    }
    if !owners.contains(&metadata.uid()) {
        return Err(format!("{what} belongs to another user, {}", metadata.uid()));
    }
    match metadata.mode() & 0o002 {
        0 => Ok(()),
        _ => Err(format!("{what} can be changed by every user")),
    }
}

#[cfg(test)]
mod tests;
