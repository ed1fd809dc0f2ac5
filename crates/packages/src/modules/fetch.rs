//! Fetches a module package from its source.

use std::fs::{File, Metadata};
use std::io;
use std::path::{Path, PathBuf};

use addr::{Getter, ModulePackage};

use super::archive::Archive;
use super::contents::LEFT_OUT;
use super::git::Git;

/// An error that prevented fetching a package. The texts are sentence fragments.
#[derive(Debug, thiserror::Error)]
pub enum FetchError {
    /// The output of git.
    #[error("{0}")]
    Git(String),
    /// The source was refused, with the reason.
    #[error("{0}")]
    Refused(String),
    /// This version does not support the getter.
    #[error("{0}")]
    Unsupported(String),
    /// Reading or writing failed.
    #[error("{0}")]
    Io(#[from] io::Error),
}

/// Returns an error if the getter of a package is not supported.
pub(super) fn check_getter(package: &ModulePackage) -> Result<(), FetchError> {
    let what = match &package.getter {
        Getter::Git | Getter::File => return Ok(()),
        Getter::Registry => "of registries".to_owned(),
        Getter::Http => "of web servers".to_owned(),
        Getter::Other(getter) => format!("by {getter:?}"),
    };
    Err(FetchError::Unsupported(what))
}

/// Writes the files of a package to an empty directory. Returns the revision, if the package has one.
///
/// `data_dir` is the data directory of this run, which is never part of a package.
pub(super) fn fetch(
    package: &ModulePackage,
    revision: Option<&str>,
    git: &Git,
    data_dir: &Path,
    target: &Path,
) -> Result<Option<String>, FetchError> {
    check_getter(package)?;
    let known: &[&str] = match package.getter {
        Getter::Git => &["ref", "depth", "sshkey"],
        _ => &["archive"],
    };
    if let Some(name) = package.query.keys().find(|name| !known.contains(&&***name)) {
        return Err(FetchError::Refused(format!("the parameter {name:?} is not understood")));
    }
    match &package.getter {
        Getter::Git => {
            if package.query.contains_key("sshkey") {
                let why = "a key in the source would be in every copy of the configuration; let an \
                           agent of SSH hold it";
                return Err(FetchError::Refused(why.to_owned()));
            }
            let reference = package.query.get("ref").map(String::as_str);
            let reference = reference.filter(|it| !it.is_empty());
            let checkout = git.checkout(&package.location, reference, revision, target);
            checkout.map(Some).map_err(|error| without_secrets(error, package))
        }
        _ => from_files(package, data_dir, target).map(|()| None),
    }
}

/// Removes secrets of the source address from an error, because git quotes its arguments.
fn without_secrets(error: FetchError, package: &ModulePackage) -> FetchError {
    match error {
        FetchError::Git(mut words) => {
            let shown = package.place();
            let shown = shown.strip_prefix("git::").unwrap_or(&shown);
            words = words.replace(&package.location, shown);
            if let Some(user) = package.user() {
                words = words.replace(&format!("{user}@"), "");
            }
            FetchError::Git(words)
        }
        other => other,
    }
}

fn from_files(package: &ModulePackage, data_dir: &Path, target: &Path) -> Result<(), FetchError> {
    let path = Path::new(&package.location);
    let metadata = std::fs::metadata(path)?;
    if metadata.is_dir() {
        let data_dir = std::fs::canonicalize(data_dir)?;
        return Ok(copy(path, target, &data_dir, 0)?);
    }
    let name = match package.query.get("archive") {
        Some(kind) => format!("package.{kind}"),
        None => package.location.clone(),
    };
    match Archive::of(&name).map_err(FetchError::Refused)? {
        Some(archive) => Ok(archive.unpack(File::open(path)?, target)?),
        None => {
            Err(FetchError::Refused("it is a file, but neither a .zip nor a .tar.gz".to_owned()))
        }
    }
}

/// Copies a directory without [`LEFT_OUT`] and `data_dir`. Links are copied as links.
fn copy(from: &Path, to: &Path, data_dir: &Path, depth: usize) -> io::Result<()> {
    if depth > 64 {
        return Err(io::Error::other("its directories are nested too deeply"));
    }
    let mut entries: Vec<(PathBuf, PathBuf, Metadata)> = Vec::new();
    for entry in std::fs::read_dir(from)? {
        let entry = entry?;
        if LEFT_OUT.iter().all(|it| entry.file_name() != *it) {
            let metadata = std::fs::symlink_metadata(entry.path())?;
            entries.push((entry.path(), to.join(entry.file_name()), metadata));
        }
    }
    for (path, copied, metadata) in entries {
        if metadata.is_symlink() {
            std::os::unix::fs::symlink(std::fs::read_link(&path)?, &copied)?;
        } else if metadata.is_dir() {
            if std::fs::canonicalize(&path)? != data_dir {
                std::fs::create_dir(&copied)?;
                copy(&path, &copied, data_dir, depth + 1)?;
            }
        } else if metadata.is_file() {
            std::fs::copy(&path, &copied)?;
        } else {
            let what = format!("{} is neither a file, a directory nor a link", path.display());
            return Err(io::Error::other(what));
        }
    }
    Ok(())
}
