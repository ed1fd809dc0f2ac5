//! Replaces the content of a file with the formatted text.

use std::{
    fs::{self, Metadata},
    io::{self, Write},
    os::unix::fs::{MetadataExt, PermissionsExt, fchown},
    path::Path,
};

use tempfile::NamedTempFile;

/// Replaces the content of a file atomically: a concurrent reader sees either the old or the new text. For a
/// symbolic link the link stays and its target is replaced. Mode and owner stay.
///
/// A file with several hard links, or whose owner cannot be kept, is written in place, as OpenTofu writes every
/// file.
///
/// # Errors
/// Any I/O error of the system.
pub(super) fn replace(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let is_link = fs::symlink_metadata(path)?.is_symlink();
    let target = if is_link { fs::canonicalize(path)? } else { path.to_owned() };
    // Open the file for writing first: a read-only file must not be replaced, even if its directory would allow
    // that.
    let in_place = fs::File::options().write(true).open(&target)?;
    let metadata = in_place.metadata()?;
    match beside(&target, &metadata, bytes) {
        Some(file) => file.persist(&target).map(drop).map_err(|error| error.error),
        None => {
            let mut file = in_place;
            file.set_len(0)?;
            file.write_all(bytes)
        }
    }
}

/// Creates a file in the same directory with the new content and the mode and owner of the old file. `None` if the
/// file cannot be replaced this way.
fn beside(target: &Path, metadata: &Metadata, bytes: &[u8]) -> Option<NamedTempFile> {
    if !metadata.is_file() || metadata.nlink() > 1 {
        return None;
    }
    let directory = target.parent().filter(|it| !it.as_os_str().is_empty());
    let mut file = NamedTempFile::new_in(directory.unwrap_or(Path::new("."))).ok()?;
    let own = file.as_file().metadata().ok()?;
    if (own.uid(), own.gid()) != (metadata.uid(), metadata.gid()) {
        fchown(file.as_file(), Some(metadata.uid()), Some(metadata.gid())).ok()?;
    }
    let mode = fs::Permissions::from_mode(metadata.permissions().mode() & 0o7777);
    file.as_file().set_permissions(mode).ok()?;
    file.write_all(bytes).ok()?;
    Some(file)
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn replaced_file_keeps_mode_and_links() {
        let directory = tempfile::tempdir().expect("a directory");
        let path = |name: &str| directory.path().join(name);
        for name in ["file", "target", "twice"] {
            fs::write(path(name), "a rather long old text").expect("writes");
        }
        fs::set_permissions(path("file"), fs::Permissions::from_mode(0o640)).expect("is ours");
        symlink("target", path("link")).expect("links");
        fs::hard_link(path("twice"), path("again")).expect("links");
        for name in ["file", "link", "twice"] {
            replace(&path(name), b"new").expect("replaces");
        }
        for name in ["file", "target", "link", "twice", "again"] {
            assert_eq!(fs::read(path(name)).expect("is there"), b"new", "{name}");
        }
        let mode = fs::metadata(path("file")).expect("is there").permissions().mode();
        assert_eq!(mode & 0o777, 0o640);
        assert!(fs::symlink_metadata(path("link")).expect("is there").is_symlink());
        assert_eq!(fs::read_dir(directory.path()).expect("lists").count(), 5, "nothing is left");
    }
}
