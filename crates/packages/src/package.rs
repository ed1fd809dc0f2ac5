//! Provider packages on disk: their location, their installation, and the executable in them.

use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use addr::{ProviderSource, Version};

use crate::platform::Platform;

/// An error when a package is installed or used.
#[derive(Debug, thiserror::Error)]
pub enum PackageError {
    #[error("failed to {action} {}: {cause}", .path.display())]
    Io { action: &'static str, path: PathBuf, cause: String },
    /// A zip entry leads out of the package, or is neither a file nor a directory.
    #[error("the package {} has the unsafe entry {entry:?}", .path.display())]
    UnsafeEntry { path: PathBuf, entry: String },
    /// The package has no plugin executable.
    #[error("provider binary not found: could not find executable file starting with {0}")]
    NoExecutable(String),
}

pub(crate) fn fault<'a, E: ToString>(
    action: &'static str,
    path: &'a Path,
) -> impl FnOnce(E) -> PackageError + 'a {
    move |cause| PackageError::Io { action, path: path.to_owned(), cause: cause.to_string() }
}

/// The directory of a mirror that has the packages of a provider.
pub(crate) fn provider_folder(mirror: &Path, source: &ProviderSource) -> PathBuf {
    mirror.join(&*source.host).join(&*source.namespace).join(&*source.type_name)
}

/// Returns the path `HOST/NAMESPACE/TYPE/VERSION/OS_ARCH` below a directory of installed packages.
pub(crate) fn package_dir(
    root: &Path,
    source: &ProviderSource,
    version: &Version,
    platform: &Platform,
) -> PathBuf {
    provider_folder(root, source).join(version.to_string()).join(platform.to_string())
}

/// Finds the plugin executable in a package: `terraform-provider-TYPE`, with or without `_v1.2.3_x5`.
pub(crate) fn executable_in(
    package: &Path,
    source: &ProviderSource,
) -> Result<PathBuf, PackageError> {
    let entries = std::fs::read_dir(package).map_err(fault("read", package))?;
    let files = entries.flatten().filter(|it| it.path().is_file());
    let name = plugin_among(files.map(|it| it.file_name().to_string_lossy().into_owned()), source)?;
    Ok(package.join(name))
}

/// Selects the plugin executable among the names of the files of a package.
pub(crate) fn plugin_among(
    names: impl Iterator<Item = String>,
    source: &ProviderSource,
) -> Result<String, PackageError> {
    let wanted = format!("terraform-provider-{}", source.type_name);
    let is_plugin = |name: &String| {
        let rest = name.strip_prefix(&wanted).filter(|it| !it.contains('/'));
        rest.is_some_and(|it| it.is_empty() || it.starts_with('_') || it == ".exe")
    };
    names.filter(is_plugin).min().ok_or(PackageError::NoExecutable(wanted))
}

/// Makes the target a link to an unpacked package. Copies it where links are not possible.
pub(crate) fn link(directory: &Path, target: &Path) -> Result<(), PackageError> {
    let absolute = std::fs::canonicalize(directory).map_err(fault("find", directory))?;
    if std::fs::canonicalize(target).is_ok_and(|it| it == absolute) {
        return Ok(());
    }
    link_as(absolute, target)
}

/// Makes the target a link to a package in the cache. If that package is a link, too, it is not resolved.
pub(crate) fn link_to_cache(cached: &Path, target: &Path) -> Result<(), PackageError> {
    let absolute = std::path::absolute(cached).map_err(fault("find", cached))?;
    link_as(absolute, target)
}

fn link_as(absolute: PathBuf, target: &Path) -> Result<(), PackageError> {
    clear(target)?;
    if std::os::unix::fs::symlink(&absolute, target).is_ok() {
        return Ok(());
    }
    let copy = scratch(target)?;
    copy_tree(&absolute, copy.path(), 0)?;
    settle(copy, target)
}

fn copy_tree(from: &Path, to: &Path, depth: usize) -> Result<(), PackageError> {
    if depth > 64 {
        return Err(fault("copy", from)("its directories are nested too deeply"));
    }
    for entry in std::fs::read_dir(from).map_err(fault("read", from))?.flatten() {
        let (path, copy) = (entry.path(), to.join(entry.file_name()));
        if path.is_dir() {
            std::fs::create_dir(&copy).map_err(fault("create", &copy))?;
            copy_tree(&path, &copy, depth + 1)?;
        } else {
            std::fs::copy(&path, &copy).map_err(fault("copy", &path))?;
        }
    }
    Ok(())
}

pub(crate) fn create(path: &Path, mode: u32) -> io::Result<File> {
    if let Some(parent) = path.parent() {
        std::fs::create_dir_all(parent)?;
    }
    let mode = if mode & 0o111 == 0 { 0o644 } else { 0o755 };
    OpenOptions::new().write(true).create_new(true).mode(mode).open(path)
}

/// The deepest directories of a package.
const MAX_LEVELS: usize = 64;

/// Converts the name of a zip entry to a path inside of the package. `None` if it leads out of it, or is too deep.
pub(crate) fn inner_path(name: &str) -> Option<PathBuf> {
    let name = name.strip_suffix('/').unwrap_or(name);
    let is_plain = |it: &str| !it.is_empty() && it != "." && it != "..";
    let is_safe = name.split('/').all(is_plain) && !name.contains(['\\', '\0']);
    let is_safe = is_safe && name.split('/').count() <= MAX_LEVELS;
    is_safe.then(|| PathBuf::from(name))
}

/// Creates an empty directory beside the target, so that installing it is a rename.
pub(crate) fn scratch(target: &Path) -> Result<tempfile::TempDir, PackageError> {
    let parent = target.parent().unwrap_or(Path::new("."));
    std::fs::create_dir_all(parent).map_err(fault("create", parent))?;
    tempfile::Builder::new()
        .prefix(&scratch_prefix(target))
        .tempdir_in(parent)
        .map_err(fault("create a directory in", parent))
}

/// The beginning of the names of the scratch directories of a target.
pub(crate) fn scratch_prefix(target: &Path) -> String {
    format!(".new-{}-", target.file_name().unwrap_or_default().to_string_lossy())
}

/// Puts a directory to its target. A package that is there is moved away first, because its removal takes long.
pub(crate) fn settle(directory: tempfile::TempDir, target: &Path) -> Result<(), PackageError> {
    // The scratch directory has mode 0700. The package gets a mode that lets its parent directory control access.
    let permissions: std::fs::Permissions = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    std::fs::set_permissions(directory.path(), permissions).map_err(fault("create", target))?;
    let old = set_aside(target)?;
    let settled = std::fs::rename(directory.path(), target);
    if let (Err(_), Some(old)) = (&settled, &old) {
        // Without its replacement, the package is still needed.
        let _ = std::fs::rename(old.path().join(ASIDE), target);
    }
    settled.map_err(fault("create", target))?;
    // There is nothing left to remove.
    let _ = directory.keep();
    Ok(())
}

/// The name of a package that was moved away, in its scratch directory.
const ASIDE: &str = "old";

/// Moves the directory at the target to a scratch directory, which removes it when it is dropped.
fn set_aside(target: &Path) -> Result<Option<tempfile::TempDir>, PackageError> {
    if !std::fs::symlink_metadata(target).is_ok_and(|it| it.is_dir()) {
        return clear(target).map(|()| None);
    }
    let aside = scratch(target)?;
    std::fs::rename(target, aside.path().join(ASIDE)).map_err(fault("replace", target))?;
    Ok(Some(aside))
}

/// Removes the target and creates the directories above it.
pub(crate) fn clear(target: &Path) -> Result<(), PackageError> {
    let parent = target.parent().unwrap_or(Path::new("."));
    std::fs::create_dir_all(parent).map_err(fault("create", parent))?;
    let removed = match std::fs::symlink_metadata(target) {
        Ok(it) if it.is_dir() => std::fs::remove_dir_all(target),
        Ok(_) => std::fs::remove_file(target),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        Err(error) => Err(error),
    };
    removed.map_err(fault("replace", target))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_lead_out_or_are_too_deep_are_no_inner_paths() {
        for name in ["", "/a", "../a", "a/../b", "a//b", "a/./b", "a\\b", &"a/".repeat(65)] {
            assert_eq!(inner_path(name), None, "{name}");
        }
        assert_eq!(inner_path("a/b/"), Some(PathBuf::from("a/b")));
        assert!(inner_path(&"a/".repeat(64)).is_some());
    }

    #[test]
    fn package_stays_if_its_replacement_cannot_be_moved() {
        let folder = tempfile::tempdir().expect("a directory");
        let mut replacement = tempfile::tempdir_in(folder.path()).expect("a directory");
        replacement.disable_cleanup(true);
        let target = replacement.path().join("package");
        std::fs::create_dir(&target).expect("writable");
        std::fs::write(target.join("old"), "").expect("writable");
        // A directory cannot be moved into itself, so that the second move fails.
        assert!(settle(replacement, &target).is_err());
        assert!(target.join("old").exists());
    }
}
