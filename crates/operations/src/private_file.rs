//! Atomic writes of files that only their owner can read.

use std::{
    fs::{self, File},
    io::{self, Write},
    path::{Path, PathBuf},
};

use tempfile::NamedTempFile;

/// The durability of a write.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Durable {
    /// The call returns after the file is on the disk: its content cannot be recovered.
    Yes,
    /// The call does not wait for the disk: the file is a cache.
    No,
}

/// Replaces the content of a file atomically, or creates the file.
///
/// For a symbolic link the link stays and its target is replaced. Anything that is not a regular file, such as
/// `/dev/stdout` or a pipe, is written to directly.
///
/// # Errors
/// Any I/O error of the system. The old file is then unchanged.
pub(crate) fn write(path: &Path, bytes: &[u8], durable: Durable) -> io::Result<()> {
    let target = match fs::metadata(path) {
        Ok(meta) if !meta.is_file() => {
            return File::options().write(true).open(path)?.write_all(bytes);
        }
        Ok(_) => fs::canonicalize(path)?,
        // A symbolic link may have a target that does not exist yet.
        Err(_) => match fs::read_link(path) {
            Ok(target) => path.parent().unwrap_or(Path::new("")).join(target),
            Err(_) => PathBuf::from(path),
        },
    };
    let directory = match target.parent() {
        Some(parent) if parent.as_os_str().is_empty() => Path::new("."),
        Some(parent) => parent,
        None => Path::new("/"),
    };
    // Drop the name of the temporary file from the error, because it means nothing to the user.
    let mut file =
        NamedTempFile::new_in(directory).map_err(|error| io::Error::from(error.kind()))?;
    file.write_all(bytes)?;
    if durable == Durable::Yes {
        file.as_file().sync_all()?;
    }
    file.persist(&target).map_err(|error| error.error)?;
    match durable {
        // The name of the file is stored in the directory, so sync that too.
        Durable::Yes => File::open(directory)?.sync_all(),
        Durable::No => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::{PermissionsExt, symlink};

    use super::*;

    fn mode(path: &Path) -> u32 {
        fs::metadata(path).expect("is there").permissions().mode() & 0o777
    }

    #[test]
    fn write_makes_an_existing_public_file_private() {
        let directory = tempfile::tempdir().expect("a directory");
        let path = directory.path().join("plan");
        fs::write(&path, "old").expect("writes");
        fs::set_permissions(&path, fs::Permissions::from_mode(0o644)).expect("is ours");
        write(&path, b"new", Durable::Yes).expect("writes");
        assert_eq!((fs::read(&path).expect("is there"), mode(&path)), (b"new".to_vec(), 0o600));
        assert_eq!(
            fs::read_dir(&directory).expect("lists").count(),
            1,
            "nothing is left beside it"
        );
    }

    #[test]
    fn write_keeps_a_symlink_to_the_file() {
        let directory = tempfile::tempdir().expect("a directory");
        let (target, link) = (directory.path().join("target"), directory.path().join("link"));
        fs::write(&target, "old").expect("writes");
        symlink(&target, &link).expect("links");
        write(&link, b"new", Durable::No).expect("writes");
        assert!(fs::symlink_metadata(&link).expect("is there").is_symlink());
        assert_eq!((fs::read(&target).expect("is there"), mode(&target)), (b"new".to_vec(), 0o600));
        fs::remove_file(&target).expect("is ours");
        write(&link, b"again", Durable::Yes).expect("writes");
        assert!(fs::symlink_metadata(&link).expect("is there").is_symlink());
        assert_eq!(fs::read(&target).expect("is there"), b"again");
    }

    #[test]
    fn write_to_a_device_writes_into_it() {
        write(Path::new("/dev/null"), b"x", Durable::Yes).expect("takes everything");
    }
}
