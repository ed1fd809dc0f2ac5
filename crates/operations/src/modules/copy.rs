//! Copies a module into the working directory (`init -from-module`).

use std::{
    fs, io,
    path::{Path, PathBuf},
};

use addr::{Getter, ModuleSource, VersionConstraint};
use db::{Diagnostic, Summary, system::normalize};
use hir::workspace::is_local_source;
use packages::{Git, Locks, ModuleInstaller, ModuleRequest, ModuleSelection};

use super::without_password;
use crate::{
    session::{Failure, Session},
    view::Notice,
};

/// The directory in the data directory to which the package is fetched.
const STAGING: &str = "init-from-module";

/// The depth of directories beyond which nothing is copied.
const MOST_NESTED: usize = 64;

/// Copies a module into the working directory, which must be empty. Files that begin with a dot stay behind: they
/// belong to the working directory or the repository of the module.
///
/// # Errors
/// If the directory has files, or if the module cannot be fetched.
pub(crate) fn populate(session: &Session, source: &str) -> Result<(), Failure> {
    let root = session.at("");
    let root = if root.as_os_str().is_empty() { PathBuf::from(".") } else { root };
    refuse_files(session, &root)?;
    session.view.notice(&Notice::CopyingModule { source: &without_password(source) });
    let parsed = match is_local_source(source) || source == "." || source == ".." {
        true => ModuleSource::parse(&absolute(&root.join(source))?),
        false => ModuleSource::parse(source),
    };
    let parsed = parsed
        .map_err(|error| Diagnostic::new(Summary::INVALID_MODULE_SOURCE, format!("{error}.")))?;
    let staging = session.data_dir().join(STAGING);
    let copied = fetch(session, &parsed, &staging).and_then(|subdirectory| {
        let module = staging.join(subdirectory).join(&parsed.subdir);
        if !module.is_dir() {
            let detail = format!("The package has no directory \"{}\".", parsed.subdir);
            return Err(Diagnostic::new(Summary::UNREADABLE_SUBDIRECTORY, detail).into());
        }
        copy(&module, &root, 0).map_err(|error| failed(&error).into())
    });
    // A directory that stays is removed by the next copy.
    drop(fs::remove_dir_all(&staging));
    copied
}

fn refuse_files(session: &Session, root: &Path) -> Result<(), Failure> {
    let data_dir = session.data_dir();
    let data_name = data_dir.file_name().unwrap_or_default();
    let entries = fs::read_dir(root).map_err(|error| failed(&error))?;
    let mut others = entries.flatten().filter(|it| it.file_name() != *data_name);
    if others.next().is_none() {
        return Ok(());
    }
    let detail = "The -from-module option requires an empty directory into which a copy of the \
                  referenced module will be placed.\n\nTo initialize the configuration already in \
                  this working directory, omit the -from-module option.";
    Err(Diagnostic::new(Summary::DIRECTORY_NOT_EMPTY, detail).into())
}

fn absolute(path: &Path) -> Result<String, Failure> {
    let path = std::path::absolute(path).map_err(|error| failed(&error))?;
    Ok(normalize(&path).display().to_string())
}

/// Fetches the package of a module, the newest one if it is from a registry. Returns the directory in the package that
/// its registry or a page names.
fn fetch(session: &Session, source: &ModuleSource, staging: &Path) -> Result<String, Failure> {
    let created = match fs::remove_dir_all(staging) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => fs::create_dir_all(staging),
    };
    created.map_err(|error| failed(&error))?;
    let git =
        Git { program: "git".into(), withheld: session.child_environment.withheld_from_git() };
    let (network, target) = (session.network()?, session.modules_dir());
    let locks = Locks::default();
    let request = ModuleRequest {
        target: &target,
        locks: &locks,
        upgrade: false,
        readonly: false,
        git: &git,
        network,
    };
    let failed = |error: String| {
        let detail = format!("The module {source} cannot be downloaded: {error}.");
        Diagnostic::new(Summary::MODULE_DOWNLOAD, detail)
    };
    session.runtime.block_on(async {
        let mut package = source.package.clone();
        if package.getter == Getter::Registry {
            let module = package.clone();
            let wanted = [ModuleSelection { module, constraint: VersionConstraint::any() }];
            let selected = ModuleInstaller::new(request.clone()).select(&wanted).await;
            let version = selected.into_iter().next().unwrap_or_else(|| Err(String::new()));
            package = package.with_version(&version.map_err(failed)?);
        }
        let copied = request.copy(&package, staging).await;
        copied.map_err(|error| failed(error.to_string()).into())
    })
}

/// Copies the files of a directory. Links are copied as links.
fn copy(from: &Path, to: &Path, depth: usize) -> io::Result<()> {
    if depth > MOST_NESTED {
        return Err(io::Error::other("its directories are nested too deeply"));
    }
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        if entry.file_name().as_encoded_bytes().starts_with(b".") {
            continue;
        }
        let (path, copied) = (entry.path(), to.join(entry.file_name()));
        let kind = entry.file_type()?;
        if kind.is_symlink() {
            std::os::unix::fs::symlink(fs::read_link(&path)?, &copied)?;
        } else if kind.is_dir() {
            fs::create_dir_all(&copied)?;
            copy(&path, &copied, depth + 1)?;
        } else {
            fs::copy(&path, &copied)?;
        }
    }
    Ok(())
}

fn failed(error: &io::Error) -> Diagnostic {
    let detail = format!("The module cannot be copied into the working directory: {error}.");
    Diagnostic::new(Summary::MODULE_COPY, detail)
}
