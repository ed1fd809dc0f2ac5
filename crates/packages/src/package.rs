//! Provider packages on disk: their location, their installation, and the executable in them.

use std::fs::{File, OpenOptions};
use std::io::{self, Read};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use addr::{ProviderSource, Version};

use crate::hash::{largest_unpacked, open_zip};
use crate::platform::Platform;
use crate::sources::{PackageLocation, provider_folder};

/// The size limit of an unpacked package.
const MAX_UNPACKED: u64 = 16 << 30;

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

fn fault<'a, E: ToString>(
    action: &'static str,
    path: &'a Path,
) -> impl FnOnce(E) -> PackageError + 'a {
    move |cause| PackageError::Io { action, path: path.to_owned(), cause: cause.to_string() }
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
    let wanted = format!("terraform-provider-{}", source.type_name);
    let entries = std::fs::read_dir(package).map_err(fault("read", package))?;
    let mut found: Vec<PathBuf> = Vec::new();
    for entry in entries.flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        if is_plugin(&name, &wanted) && entry.path().is_file() {
            found.push(entry.path());
        }
    }
    found.into_iter().min().ok_or(PackageError::NoExecutable(wanted))
}

/// Returns true if a file is a provider's plugin.
fn is_plugin(name: &str, wanted: &str) -> bool {
    let rest = name.strip_prefix(wanted);
    rest.is_some_and(|it| it.is_empty() || it.starts_with('_') || it == ".exe")
}

/// Checks that a packed package has a plugin executable.
pub(crate) fn executable_in_archive(
    archive: &Path,
    source: &ProviderSource,
) -> Result<(), PackageError> {
    let wanted = format!("terraform-provider-{}", source.type_name);
    let zip = open_zip(archive).map_err(fault("open", archive))?;
    let has_plugin = zip.file_names().flatten().any(|it| is_plugin(&it, &wanted));
    if has_plugin { Ok(()) } else { Err(PackageError::NoExecutable(wanted)) }
}

/// Installs a package: a directory is linked, or copied where links are not possible; a zip file is unpacked.
/// Replaces an existing package.
pub(crate) fn place(from: &PackageLocation, target: &Path) -> Result<(), PackageError> {
    match from {
        PackageLocation::Directory(directory) => link(directory, target),
        PackageLocation::Archive(archive) => unpack(archive, target),
    }
}

/// Makes the target a link to an unpacked package.
fn link(directory: &Path, target: &Path) -> Result<(), PackageError> {
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

fn unpack(archive: &Path, target: &Path) -> Result<(), PackageError> {
    let unpacked = scratch(target)?;
    let mut zip = open_zip(archive).map_err(fault("open", archive))?;
    let packed = std::fs::metadata(archive).map_err(fault("open", archive))?.len();
    let mut left = largest_unpacked(packed).min(MAX_UNPACKED);
    for index in 0..zip.len() {
        let entry = zip.by_index(index).map_err(fault("read", archive))?;
        let name = String::from_utf8_lossy(entry.name_raw()).into_owned();
        let Some(path) = inner_path(&name).filter(|_| !entry.is_symlink()) else {
            return Err(PackageError::UnsafeEntry { path: archive.to_owned(), entry: name });
        };
        let path = unpacked.path().join(path);
        if entry.is_dir() {
            std::fs::create_dir_all(&path).map_err(fault("create", &path))?;
            continue;
        }
        let mode = entry.unix_mode().unwrap_or(0o644);
        let file = create(&path, mode).map_err(fault("create", &path))?;
        left = left
            .saturating_sub(write_limited(entry, file, left).map_err(fault("unpack", archive))?);
    }
    settle(unpacked, target)
}

pub(crate) fn create(path: &Path, mode: u32) -> io::Result<File> {
    if let Some(parent) = path.parent() {
        std::fs::create_dir_all(parent)?;
    }
    let mode = if mode & 0o111 == 0 { 0o644 } else { 0o755 };
    OpenOptions::new().write(true).create_new(true).mode(mode).open(path)
}

fn write_limited(entry: impl Read, mut file: File, left: u64) -> io::Result<u64> {
    let written = io::copy(&mut entry.take(left), &mut file)?;
    if written == left {
        return Err(io::Error::other("it unpacks to more than a package of its size can be"));
    }
    Ok(written)
}

/// Converts the name of a zip entry to a path inside of the package. `None` if it leads out of it.
pub(crate) fn inner_path(name: &str) -> Option<PathBuf> {
    let name = name.strip_suffix('/').unwrap_or(name);
    let is_plain = |it: &str| !it.is_empty() && it != "." && it != "..";
    let is_safe = name.split('/').all(is_plain) && !name.contains(['\\', '\0']);
    is_safe.then(|| PathBuf::from(name))
}

/// Creates an empty directory beside the target, so that installing it is a rename.
pub(crate) fn scratch(target: &Path) -> Result<tempfile::TempDir, PackageError> {
    let parent = target.parent().unwrap_or(Path::new("."));
    std::fs::create_dir_all(parent).map_err(fault("create", parent))?;
    tempfile::Builder::new()
        .prefix(".new-")
        .tempdir_in(parent)
        .map_err(fault("create a directory in", parent))
}

pub(crate) fn settle(directory: tempfile::TempDir, target: &Path) -> Result<(), PackageError> {
    clear(target)?;
    // The scratch directory has mode 0700. The package gets a mode that lets its parent directory control access.
    let permissions: std::fs::Permissions = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    std::fs::set_permissions(directory.path(), permissions).map_err(fault("create", target))?;
    let path = directory.keep();
    std::fs::rename(&path, target).map_err(fault("create", target))
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
