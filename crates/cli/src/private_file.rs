//! Files that only their owner can read, written whole or not at all.

use std::{
    fs::{self, File},
    io::{self, Write},
    path::{Path, PathBuf},
};

use tempfile::NamedTempFile;

/// Whether a file must have reached the disk when the call returns.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Durable {
    /// What is lost with it cannot be had again.
    Yes,
    /// It is a cache.
    No,
}

/// Puts a file with these bytes in the place of whatever is there.
///
/// A symbolic link stays, and what it leads to is replaced. What is no regular file (`/dev/stdout`, a pipe) is written to.
///
/// # Errors
/// What the system says; the old file is untouched then.
pub(crate) fn write(path: &Path, bytes: &[u8], durable: Durable) -> io::Result<()> {
    let target = match fs::metadata(path) {
        Ok(meta) if !meta.is_file() => {
            return File::options().write(true).open(path)?.write_all(bytes);
        }
        Ok(_) => fs::canonicalize(path)?,
        // A link may lead to where nothing is yet.
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
    // The name of the temporary file is nobody's business.
    let mut file =
        NamedTempFile::new_in(directory).map_err(|error| io::Error::from(error.kind()))?;
    file.write_all(bytes)?;
    if durable == Durable::Yes {
        file.as_file().sync_all()?;
    }
    file.persist(&target).map_err(|error| error.error)?;
    match durable {
        // The name is the directory's.
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
    fn an_old_file_that_all_can_read_becomes_private() {
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
    fn a_link_stays_and_leads_to_the_new_file() {
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
    fn what_is_no_file_is_written_to() {
        write(Path::new("/dev/null"), b"x", Durable::Yes).expect("takes everything");
    }
}
