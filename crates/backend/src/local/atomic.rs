//! Replacing a file so that every reader, and every crash, sees the old bytes or the new ones.

use std::fs::{File, Permissions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use tempfile::NamedTempFile;

use crate::store::StoreError;

/// The end of every temporary file's name, by which a later run finds those that a crash has left.
const SUFFIX: &str = ".tmp";

/// New content for a file, not in place yet; dropping it leaves no trace.
pub(crate) struct Replacement {
    file: NamedTempFile,
    target: PathBuf,
    /// A file that is replaced keeps its mode; a new one is for its owner only.
    keep: Option<Permissions>,
}

impl Replacement {
    /// Starts new content beside the target, so that the rename stays on one file system.
    pub(crate) fn create(target: &Path) -> Result<Self, StoreError> {
        let directory = directory_of(target);
        std::fs::create_dir_all(directory).map_err(StoreError::io("create", directory))?;
        // `tempfile` creates with 0600 and O_EXCL.
        let file = tempfile::Builder::new()
            .prefix(&prefix(target))
            .suffix(SUFFIX)
            .tempfile_in(directory)
            .map_err(StoreError::io("create a temporary file in", directory))?;
        let keep = std::fs::metadata(target).ok().map(|it| it.permissions());
        Ok(Self { file, target: target.to_owned(), keep })
    }

    /// Adds bytes.
    pub(crate) fn write(&mut self, bytes: &[u8]) -> Result<(), StoreError> {
        self.file.write_all(bytes).map_err(StoreError::io("write", &self.target))
    }

    /// The open file, for a lock.
    pub(crate) fn file(&self) -> &File {
        self.file.as_file()
    }

    /// Makes the new content durable, then visible, then makes the rename durable; gives the file, still open.
    pub(crate) fn put_in_place(self) -> Result<File, StoreError> {
        let Self { file, target, keep } = self;
        if let Some(permissions) = keep {
            file.as_file()
                .set_permissions(permissions)
                .map_err(StoreError::io("write", &target))?;
        }
        file.as_file().sync_all().map_err(StoreError::io("write", &target))?;
        let file =
            file.persist(&target).map_err(|it| StoreError::io("replace", &target)(it.error))?;
        let directory = directory_of(&target);
        sync_directory(directory).map_err(StoreError::io("write", directory))?;
        Ok(file)
    }
}

/// Removes what a killed run left beside the target. Only for the holder of the lock: it is the only writer.
pub(crate) fn sweep(target: &Path) {
    let prefix = prefix(target);
    let Ok(entries) = std::fs::read_dir(directory_of(target)) else { return };
    for entry in entries.flatten() {
        let name = entry.file_name();
        let name = name.to_string_lossy();
        if name.starts_with(&prefix) && name.ends_with(SUFFIX) {
            // Leftovers are clutter, not a danger: failing to remove one is no reason to stop.
            let _ = std::fs::remove_file(entry.path());
        }
    }
}

fn prefix(target: &Path) -> String {
    format!(".{}.new-", target.file_name().unwrap_or_default().to_string_lossy())
}

/// Makes durable which names a directory has.
pub(crate) fn sync_directory(directory: &Path) -> io::Result<()> {
    File::open(directory)?.sync_all()
}

/// The directory that holds a file; the empty path's is the current one.
pub(crate) fn directory_of(target: &Path) -> &Path {
    match target.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    }
}
