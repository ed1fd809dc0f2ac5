//! Putting packages in place: the module half of `init`.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use addr::ModulePackage;

use super::contents::Contents;
use super::fetch::{FetchError, check_getter, fetch};
use super::git::Git;
use crate::hash::{Hash, sha256_of_bytes};
use crate::locks::{Locks, ModuleLock};
use crate::package::{PackageError, scratch, settle};

/// Where packages are put, and what is known of them.
pub struct ModuleRequest<'a> {
    /// `.terraform/modules`.
    pub target: &'a Path,
    /// What is locked.
    pub locks: &'a Locks,
    /// `-upgrade`: get everything anew, whatever is locked.
    pub upgrade: bool,
    pub git: &'a Git,
}

/// What happens meanwhile.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ModuleEvent {
    /// It is not in place, and is being got.
    Fetching,
    /// What was in place is not what is locked, and is being replaced.
    Restoring,
}

/// Why a package is not in place.
#[derive(Debug, thiserror::Error)]
pub enum ModuleInstallError {
    #[error(transparent)]
    Fetch(#[from] FetchError),
    /// It is not what it was when it was locked.
    #[error("its contents hash to {found}, and the lock file has {}", locked(.hashes))]
    Changed { found: Hash, hashes: BTreeSet<Hash> },
    /// It was got, and could not be put in place, or has something in it that may not be there.
    #[error("{0}")]
    Package(String),
}

fn locked(hashes: &BTreeSet<Hash>) -> String {
    hashes.iter().map(Hash::as_str).collect::<Vec<_>>().join(", ")
}

impl From<PackageError> for ModuleInstallError {
    fn from(error: PackageError) -> Self {
        Self::Package(error.to_string())
    }
}

/// Installs the packages of one configuration, each once.
pub struct ModuleInstaller<'a> {
    request: ModuleRequest<'a>,
    /// Where each package is, by its address.
    placed: BTreeMap<String, PathBuf>,
    locks: BTreeMap<String, ModuleLock>,
}

impl<'a> ModuleInstaller<'a> {
    /// One that has installed nothing yet.
    pub fn new(request: ModuleRequest<'a>) -> Self {
        Self { request, placed: BTreeMap::new(), locks: BTreeMap::new() }
    }

    /// Puts a package in place, unless it is there already. Gives its directory.
    ///
    /// # Errors
    /// [`ModuleInstallError`]; what was in place before stays.
    pub fn install(
        &mut self,
        package: &ModulePackage,
        on_event: impl FnOnce(ModuleEvent),
    ) -> Result<PathBuf, ModuleInstallError> {
        let address = package.to_string();
        if let Some(directory) = self.placed.get(&address) {
            return Ok(directory.clone());
        }
        let target = self.request.target.join(self.name(package));
        let lock = self.request.locks.modules.get(&address).filter(|_| !self.request.upgrade);
        let in_place = lock.filter(|lock| is_in_place(&target, lock));
        let lock = match in_place {
            Some(lock) => lock.clone(),
            None => {
                on_event(match target.is_dir() && lock.is_some() {
                    true => ModuleEvent::Restoring,
                    false => ModuleEvent::Fetching,
                });
                self.replace(package, lock, &target)?
            }
        };
        self.locks.insert(address.clone(), lock);
        self.placed.insert(address, target.clone());
        Ok(target)
    }

    /// Records a package that somebody else put in place, where nobody here can get it.
    ///
    /// # Errors
    /// If it cannot be read, or is not what is locked.
    pub fn adopt(&mut self, package: &str, directory: &Path) -> Result<(), ModuleInstallError> {
        let contents = Contents::of(directory);
        let contents = contents.map_err(|it| ModuleInstallError::Package(it.to_string()))?;
        let hash = contents.hash();
        let lock = self.request.locks.modules.get(package).filter(|_| !self.request.upgrade);
        if let Some(lock) = lock.filter(|lock| !lock.hashes.contains(&hash)) {
            let hashes = lock.hashes.clone();
            return Err(ModuleInstallError::Changed { found: hash, hashes });
        }
        let fresh = ModuleLock { revision: None, hashes: BTreeSet::from([hash]) };
        self.locks.insert(package.to_owned(), lock.cloned().unwrap_or(fresh));
        self.placed.insert(package.to_owned(), directory.to_owned());
        Ok(())
    }

    fn replace(
        &self,
        package: &ModulePackage,
        lock: Option<&ModuleLock>,
        target: &Path,
    ) -> Result<ModuleLock, ModuleInstallError> {
        check_getter(package)?;
        let fetched = scratch(target)?;
        let revision = lock.and_then(|it| it.revision.as_deref());
        let revision = fetch(package, revision, self.request.git, fetched.path())?;
        let contents = Contents::of(fetched.path());
        let contents = contents.map_err(|it| {
            // The scratch directory is nothing that anybody knows.
            let inner = it.path.strip_prefix(fetched.path()).unwrap_or(&it.path);
            ModuleInstallError::Package(format!("{:?} in it: {}", inner.display(), it.cause))
        })?;
        let hash = contents.hash();
        let kept = match lock {
            Some(lock) if !lock.hashes.contains(&hash) => {
                let hashes = lock.hashes.clone();
                return Err(ModuleInstallError::Changed { found: hash, hashes });
            }
            Some(lock) => lock.clone(),
            None => ModuleLock { revision, hashes: BTreeSet::from([hash]) },
        };
        settle(fetched, target)?;
        let list = list_of(target);
        std::fs::write(&list, contents.to_text()).map_err(|error| {
            ModuleInstallError::Package(format!("failed to write {}: {error}", list.display()))
        })?;
        Ok(kept)
    }

    /// The directory's name. Whatever version of a package is selected, it stays the same, so that what is planned from
    /// `path.module` does; only of a package that is there in two versions the second one is named after its own.
    fn name(&self, package: &ModulePackage) -> String {
        let place = package.place();
        let hash = sha256_of_bytes(place.as_bytes());
        let name = format!("{}-{}", plain(package.name()), &hash[..8]);
        let taken = |name: &String| self.placed.values().any(|it| it.ends_with(name));
        if !taken(&name) {
            return name;
        }
        let version = sha256_of_bytes(package.to_string().as_bytes());
        let reference = package.query.get("ref").map_or("", String::as_str);
        format!("{name}-{}-{}", plain(reference), &version[..8])
    }

    /// What is in place, by address.
    pub fn placed(&self) -> &BTreeMap<String, PathBuf> {
        &self.placed
    }

    /// The locks of what is in place.
    pub fn locks(&self) -> &BTreeMap<String, ModuleLock> {
        &self.locks
    }

    /// Removes the packages that were put in place before and that nothing calls any more.
    pub fn remove_others(&self) {
        let Ok(entries) = std::fs::read_dir(self.request.target) else { return };
        for list in entries.flatten().map(|it| it.path()) {
            // What has no list is not ours.
            let Some(name) = list.file_name().and_then(|it| it.to_str()) else { continue };
            let Some(name) = name.strip_suffix(LIST) else { continue };
            let directory = self.request.target.join(name);
            if !self.placed.values().any(|it| *it == directory)
                && std::fs::remove_dir_all(&directory).is_ok()
            {
                // One that stays is removed the next time.
                drop(std::fs::remove_file(&list));
            }
        }
    }
}

const LIST: &str = ".h1";

/// Where the list of a package's files lies: beside it, so that the package is what was got and nothing else.
pub(super) fn list_of(directory: &Path) -> PathBuf {
    let mut name = directory.as_os_str().to_owned();
    name.push(LIST);
    PathBuf::from(name)
}

fn is_in_place(target: &Path, lock: &ModuleLock) -> bool {
    Contents::of(target).is_ok_and(|it| lock.hashes.contains(&it.hash()))
}

/// A text as a part of a file's name.
fn plain(text: &str) -> String {
    let plain = |it: char| if it.is_ascii_alphanumeric() || "-_.".contains(it) { it } else { '-' };
    let text: String = text.chars().take(40).map(plain).collect();
    text.trim_matches(['.', '-']).to_owned()
}
