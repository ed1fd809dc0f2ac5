//! Verifies installed module packages against their locks.

use std::path::{Path, PathBuf};

use futures::future::BoxFuture;
use futures::{StreamExt, stream};

use super::contents::Contents;
use super::install::list_of;
use crate::blocking::{AT_ONCE, blocking};
use crate::hash::HashError;
use crate::locks::ModuleLock;

/// The result of verifying an installed package.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// The package is the locked one.
    Same,
    /// The package is the locked one with additional files that are not configuration. Usually the module wrote
    /// them.
    Grown(Vec<String>),
    /// The package differs from the locked one.
    Altered(Alteration),
}

/// The files in which a package differs from the locked one. All lists are empty if the files cannot be
/// determined.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Alteration {
    /// The files with another content.
    pub changed: Vec<String>,
    /// The files that no longer exist.
    pub missing: Vec<String>,
    /// Configuration files that were added.
    pub added: Vec<String>,
}

/// An installed package with its lock.
#[derive(Clone, Debug)]
pub struct LockedPackage {
    /// The directory of the package.
    pub directory: PathBuf,
    /// The lock that the package must match.
    pub lock: ModuleLock,
}

/// Compares installed packages with their locks, several at once. The results have the order of the packages. A
/// package that cannot be read gives a [`HashError`].
pub fn verify_module_packages(
    packages: Vec<LockedPackage>,
) -> BoxFuture<'static, Vec<Result<Verdict, HashError>>> {
    let verify =
        |it: LockedPackage| blocking(move || verify_module_package(&it.directory, &it.lock));
    Box::pin(stream::iter(packages).map(verify).buffered(AT_ONCE).collect())
}

/// Compares one package.
pub(super) fn verify_module_package(
    directory: &Path,
    lock: &ModuleLock,
) -> Result<Verdict, HashError> {
    // A package that another tool installed includes its repository.
    let now = match &lock.directory {
        Some(name) if directory.ends_with(name) => Contents::of(directory)?,
        _ => Contents::of_others(directory)?,
    };
    if lock.hashes.contains(&now.hash()) {
        return Ok(Verdict::Same);
    }
    let list = std::fs::read_to_string(list_of(directory)).ok();
    let before = list.and_then(|it| Contents::parse(&it, |hash| lock.hashes.contains(hash)));
    let Some(before) = before else { return Ok(Verdict::Altered(Alteration::default())) };
    let difference = before.difference(&now);
    let (added, others): (Vec<String>, Vec<String>) =
        difference.added.into_iter().partition(|name| is_configuration(name));
    let alteration = Alteration { changed: difference.changed, missing: difference.missing, added };
    Ok(match alteration == Alteration::default() {
        true => Verdict::Grown(others),
        false => Verdict::Altered(alteration),
    })
}

/// Returns true if a file with this name is read as part of a module.
pub fn is_configuration(name: &str) -> bool {
    [".tf", ".tofu", ".tf.json", ".tofu.json"].iter().any(|it| name.ends_with(it))
}
