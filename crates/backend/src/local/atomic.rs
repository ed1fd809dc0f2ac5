//! Atomic replacement of files: every reader, and every crash, sees either the old bytes or the new ones.

use std::fs::{File, Permissions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use tempfile::NamedTempFile;

use crate::store::StoreError;

/// The suffix of all temporary files, by which a later run finds the ones that a crash has left.
const SUFFIX: &str = ".tmp";

/// New content for a file that is not in place yet. Dropping it removes the temporary file.
pub(crate) struct Replacement {
    file: NamedTempFile,
    target: PathBuf,
    /// The permissions of the replaced file, which are kept. A new file is only for its owner.
    keep: Option<Permissions>,
}

impl Replacement {
    /// Creates a temporary file beside the target, so that the rename stays on one file system.
    pub(crate) fn create(target: &Path) -> Result<Self, StoreError> {
        let directory = directory_of(target);
        std::fs::create_dir_all(directory).map_err(StoreError::io("create", directory))?;
        // `tempfile` creates files with mode 0600 and `O_EXCL`.
        let file = tempfile::Builder::new()
            .prefix(&prefix(target))
            .suffix(SUFFIX)
            .tempfile_in(directory)
            .map_err(StoreError::io("create a temporary file in", directory))?;
        let keep = std::fs::metadata(target).ok().map(|it| it.permissions());
        Ok(Self { file, target: target.to_owned(), keep })
    }

    /// Appends bytes.
    pub(crate) fn write(&mut self, bytes: &[u8]) -> Result<(), StoreError> {
        self.file.write_all(bytes).map_err(StoreError::io("write", &self.target))
    }

    /// The open file, for a lock.
    pub(crate) fn file(&self) -> &File {
        self.file.as_file()
    }

    /// Syncs the new content, renames it over the target, and syncs the directory. Returns the open file.
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

/// Removes temporary files that a killed run left beside the target. Only the holder of the lock may call this,
/// because it is the only writer.
pub(crate) fn sweep(target: &Path) {
    let prefix = prefix(target);
    let Ok(entries) = std::fs::read_dir(directory_of(target)) else { return };
    for entry in entries.flatten() {
        let name = entry.file_name();
        let name = name.to_string_lossy();
        if name.starts_with(&prefix) && name.ends_with(SUFFIX) {
            // A leftover file is harmless, so a failed removal is ignored.
            let _ = std::fs::remove_file(entry.path());
        }
    }
}

fn prefix(target: &Path) -> String {
    format!(".{}.new-", target.file_name().unwrap_or_default().to_string_lossy())
}

/// Makes the entries of a directory durable.
pub(crate) fn sync_directory(directory: &Path) -> io::Result<()> {
    File::open(directory)?.sync_all()
}

/// The directory of a file. For a path without a directory, this is the current directory.
pub(crate) fn directory_of(target: &Path) -> &Path {
    match target.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    }
}
