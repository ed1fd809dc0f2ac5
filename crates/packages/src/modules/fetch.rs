//! Fetches a module package from its source.

use std::fs::{File, Metadata};
use std::io::{self, Seek};
use std::path::{Path, PathBuf};

use addr::{Getter, ModulePackage};
use http_client::{Client, Credentials, Request, Url};

use super::archive::{Archive, MAX_BYTES};
use super::contents::LEFT_OUT;
use super::git::Git;
use crate::blocking::blocking;

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
    /// The download failed.
    #[error(transparent)]
    Http(#[from] http_client::Error),
    /// Reading or writing failed.
    #[error("{0}")]
    Io(#[from] io::Error),
}

/// The places from which packages come, and the tools that fetch them.
#[derive(Clone, Copy)]
pub(super) struct Tools<'a> {
    pub(super) git: &'a Git,
    pub(super) http: &'a Client,
    /// The data directory of this run, which is never part of a package.
    pub(super) data_dir: &'a Path,
}

/// Returns an error if the getter of a package is not supported.
pub(super) fn check_getter(package: &ModulePackage) -> Result<(), FetchError> {
    let what = match &package.getter {
        Getter::Git | Getter::File => return Ok(()),
        Getter::Http => match Archive::of(&file_name(package)).map_err(FetchError::Refused)? {
            Some(_) => return Ok(()),
            None => "of web addresses that end with neither \".zip\" nor \".tar.gz\"".to_owned(),
        },
        Getter::Registry => "of registries".to_owned(),
        Getter::Other(getter) => format!("by {getter:?}"),
    };
    Err(FetchError::Unsupported(what))
}

/// Writes the files of a package to an empty directory. Returns the revision, if the package has one.
pub(super) async fn fetch(
    package: &ModulePackage,
    revision: Option<&str>,
    tools: Tools<'_>,
    target: &Path,
) -> Result<Option<String>, FetchError> {
    check_getter(package)?;
    check_parameters(package)?;
    match &package.getter {
        Getter::Git => {
            let reference = package.query.get("ref").map(String::as_str);
            let reference = reference.filter(|it| !it.is_empty());
            let checkout = tools.git.checkout(&package.location, reference, revision, target);
            checkout.await.map(Some).map_err(|error| without_secrets(error, package))
        }
        Getter::Http => from_web(package, tools.http, target).await.map(|()| None),
        _ => {
            let (package, data_dir) = (package.clone(), tools.data_dir.to_owned());
            let target = target.to_owned();
            blocking(move || from_files(&package, &data_dir, &target)).await.map(|()| None)
        }
    }
}

/// Refuses parameters of a source that would have no effect, or that contain a key.
fn check_parameters(package: &ModulePackage) -> Result<(), FetchError> {
    // The other parameters of a web address belong to its server.
    let is_unknown = |name: &str| match package.getter {
        Getter::Git => !["ref", "depth", "sshkey"].contains(&name),
        Getter::Http => ["checksum", "filename"].contains(&name),
        _ => name != "archive",
    };
    if let Some(name) = package.query.keys().find(|name| is_unknown(name)) {
        return Err(FetchError::Refused(format!("the parameter {name:?} is not understood")));
    }
    if package.getter == Getter::Git && package.query.contains_key("sshkey") {
        let why = "a key in the source would be in every copy of the configuration; let an \
                   agent of SSH hold it";
        return Err(FetchError::Refused(why.to_owned()));
    }
    Ok(())
}

/// Downloads an archive and unpacks it.
async fn from_web(package: &ModulePackage, http: &Client, target: &Path) -> Result<(), FetchError> {
    let archive = Archive::of(&file_name(package)).map_err(FetchError::Refused)?;
    let archive = archive.ok_or_else(|| FetchError::Refused(NO_ARCHIVE.to_owned()))?;
    let (url, credentials) = Credentials::split_from(&package.url_without(&["archive"]));
    let url = Url::parse(&url).map_err(|error| FetchError::Refused(error.to_string()))?;
    let mut request = Request::get(url, MAX_BYTES);
    request.credentials = credentials;
    // Beside the package, which is on a file system with room for it.
    let parent = target.parent().unwrap_or(target).to_owned();
    let file = blocking(move || tempfile::tempfile_in(parent)).await?;
    let mut file = tokio::fs::File::from_std(file);
    http.download(&request, &mut file, &mut |_| {}).await?;
    let (mut file, target) = (file.into_std().await, target.to_owned());
    let unpacked = blocking(move || {
        file.rewind()?;
        archive.unpack(file, &target)
    });
    Ok(unpacked.await?)
}

const NO_ARCHIVE: &str = "it is a file, but neither a .zip nor a .tar.gz";

/// The name of the file at the location, or one with the ending that `archive=` names.
fn file_name(package: &ModulePackage) -> String {
    match package.query.get("archive") {
        Some(kind) => format!("package.{kind}"),
        None => package.location.clone(),
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
    match Archive::of(&file_name(package)).map_err(FetchError::Refused)? {
        Some(archive) => Ok(archive.unpack(File::open(path)?, target)?),
        None => Err(FetchError::Refused(NO_ARCHIVE.to_owned())),
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
