//! Atomic writing of files: a file is written beside its place and moved there when it is complete.

use std::{
    fs::{self, DirBuilder, File, Permissions},
    io::{self, ErrorKind},
    os::unix::fs::{DirBuilderExt as _, MetadataExt as _, PermissionsExt as _},
    path::{Path, PathBuf},
};

use tempfile::NamedTempFile;

use super::Mode;

/// The identity of a file, independent of its names.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct FileId {
    device: u64,
    inode: u64,
}

impl FileId {
    /// The identity of the file with this metadata.
    pub(crate) fn of(metadata: &fs::Metadata) -> FileId {
        FileId { device: metadata.dev(), inode: metadata.ino() }
    }

    /// The identity of the file at a path. `None` if there is no file.
    pub(crate) fn at(path: &Path) -> Option<FileId> {
        fs::metadata(path).ok().as_ref().map(FileId::of)
    }
}

/// A file that is being written. It does not appear at its place before [`Draft::keep`]. If it is dropped, only
/// the directories that were created for it remain.
pub(crate) struct Draft {
    file: NamedTempFile,
    place: PathBuf,
}

impl Draft {
    /// Begins a file for a path and creates missing directories. The umask of the process applies to both modes.
    ///
    /// # Errors
    /// If the path leads to something other than a regular file, or the directory does not accept a file.
    pub(crate) fn begin(path: &Path, mode: Mode, folders: Mode) -> io::Result<Draft> {
        let place = place_of(path)?;
        let folder = match place.parent() {
            Some(folder) if !folder.as_os_str().is_empty() => folder,
            _ => Path::new("."),
        };
        DirBuilder::new().recursive(true).mode(folders.0).create(folder)?;
        let file = tempfile::Builder::new()
            .prefix(".mayfly-")
            .permissions(Permissions::from_mode(mode.0))
            .tempfile_in(folder)
            .map_err(without_name)?;
        Ok(Draft { file, place })
    }

    /// The file, for writing.
    pub(crate) fn file(&mut self) -> &mut File {
        self.file.as_file_mut()
    }

    /// Moves the file to its place and replaces an existing file.
    ///
    /// # Errors
    /// If the system refuses it.
    pub(crate) fn keep(self) -> io::Result<()> {
        self.file.persist(&self.place).map(drop).map_err(|it| it.error)
    }
}

/// Returns the path to write to: the target if `path` is a link. Returns an error if something other than a
/// regular file would be replaced.
fn place_of(path: &Path) -> io::Result<PathBuf> {
    let text = path.as_os_str().as_encoded_bytes();
    if path.file_name().is_none() || text.ends_with(b"/") {
        return Err(io::Error::new(ErrorKind::InvalidInput, "the path does not end in a name"));
    }
    match fs::metadata(path) {
        Ok(found) if found.is_file() => fs::canonicalize(path),
        Ok(found) if found.is_dir() => Err(ErrorKind::IsADirectory.into()),
        Ok(_) => Err(io::Error::new(ErrorKind::InvalidInput, "it is not a regular file")),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(path.to_owned()),
        Err(error) => Err(error),
    }
}

/// Returns the error without the name of the temporary file, which is random and means nothing to the user.
fn without_name(error: io::Error) -> io::Error {
    error
        .get_ref()
        .and_then(|it| it.source())
        .and_then(|it| it.downcast_ref::<io::Error>())
        .map_or(error.kind().into(), |it| {
            it.raw_os_error().map_or(it.kind().into(), io::Error::from_raw_os_error)
        })
}

#[cfg(test)]
mod tests {
    use std::{io::Write as _, os::unix::fs::symlink};

    use super::*;

    fn write(path: &Path, text: &str) -> io::Result<()> {
        let mut draft = Draft::begin(path, Mode(0o640), Mode(0o750))?;
        draft.file().write_all(text.as_bytes())?;
        draft.keep()
    }

    fn mode(path: &Path) -> u32 {
        fs::metadata(path).expect("is there").permissions().mode() & 0o777
    }

    /// The mode that the umask of the test process leaves; it is the same for all files.
    fn allowed(folder: &Path) -> u32 {
        let all = tempfile::Builder::new()
            .permissions(Permissions::from_mode(0o777))
            .tempfile_in(folder)
            .expect("can be made");
        mode(all.path())
    }

    #[test]
    fn draft_file_appears_only_when_kept() {
        let folder = tempfile::tempdir().expect("can be made");
        let (path, allowed) = (folder.path().join("a/b/file"), allowed(folder.path()));
        let mut draft = Draft::begin(&path, Mode(0o640), Mode(0o750)).expect("begins");
        draft.file().write_all(b"half").expect("can be written");
        assert!(!path.exists());
        drop(draft);
        assert_eq!(fs::read_dir(folder.path().join("a/b")).expect("is there").count(), 0);
        write(&path, "first").expect("is written");
        write(&path, "second").expect("is written");
        assert_eq!(fs::read_to_string(&path).expect("can be read"), "second");
        assert_eq!(
            (mode(&path), mode(&folder.path().join("a"))),
            (0o640 & allowed, 0o750 & allowed)
        );
    }

    #[test]
    fn draft_keeps_a_symlink_and_accepts_a_bare_name() {
        let folder = tempfile::tempdir().expect("can be made");
        let (file, link) = (folder.path().join("file"), folder.path().join("link"));
        fs::write(&file, "old").expect("can be written");
        symlink("file", &link).expect("can be made");
        assert_eq!(FileId::at(&file), FileId::at(&link));
        write(&link, "new").expect("is written");
        assert_eq!(fs::read_to_string(&file).expect("can be read"), "new");
        assert!(fs::symlink_metadata(&link).expect("is there").is_symlink());
        assert_eq!(
            place_of(Path::new("no-such-file")).expect("is a name"),
            Path::new("no-such-file")
        );
        assert_eq!(FileId::at(Path::new("no-such-file")), None);
    }

    #[track_caller]
    fn check(path: &Path, expected: &str) {
        let error = write(path, "").expect_err("is refused").to_string();
        // The error number differs between systems.
        assert_eq!(error.split(" (os error").next(), Some(expected));
    }

    #[test]
    fn draft_does_not_replace_directories_and_devices() {
        let folder = tempfile::tempdir().expect("can be made");
        check(folder.path(), "is a directory");
        check(Path::new("/dev/null"), "it is not a regular file");
        for path in ["", "..", "no-such-folder/"] {
            check(Path::new(path), "the path does not end in a name");
        }
        let file = folder.path().join("file");
        fs::write(&file, "").expect("can be written");
        check(&file.join("below"), "Not a directory");
    }
}
