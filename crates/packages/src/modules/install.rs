//! The module part of `init`: installs module packages.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

use addr::ModulePackage;

use super::contents::Contents;
use super::fetch::{FetchError, check_getter, fetch};
use super::git::Git;
use crate::hash::{Hash, sha256_of_bytes};
use crate::locks::{Locks, ModuleLock};
use crate::package::{PackageError, clear, scratch, settle};

/// The inputs of an installation.
pub struct ModuleRequest<'a> {
    /// The directory `.terraform/modules`.
    pub target: &'a Path,
    /// The current locks.
    pub locks: &'a Locks,
    /// True for `-upgrade`: fetch everything anew and ignore the locks.
    pub upgrade: bool,
    /// True for `-lockfile=readonly`: install only locked packages.
    pub readonly: bool,
    /// The settings for running git.
    pub git: &'a Git,
}

/// An event of an installation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ModuleEvent {
    /// The package is not installed and is being fetched.
    Fetching,
    /// The installed package is not the locked one and is being fetched again.
    Restoring,
}

/// An error that prevents the installation of a package.
#[derive(Debug, thiserror::Error)]
pub enum ModuleInstallError {
    #[error(transparent)]
    Fetch(#[from] FetchError),
    /// The package differs from the locked one.
    #[error("its contents hash to {found}, and the lock file has {}", locked(.hashes))]
    Changed { found: Hash, hashes: BTreeSet<Hash> },
    /// The package is not locked, and the lock file must not change.
    #[error("it is not in the lock file, which may not be changed")]
    NotLocked,
    /// The package was fetched, but is invalid or could not be installed.
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
///
/// Fetched packages stay in a staging directory until [`ModuleInstaller::settle`], so that a failed installation
/// changes nothing.
pub struct ModuleInstaller<'a> {
    request: ModuleRequest<'a>,
    /// The current directory of each package by its address.
    placed: BTreeMap<String, PathBuf>,
    /// The address of each package in the staging directory and the name for its directory, in the order of
    /// fetching.
    aside: Vec<(String, String)>,
    locks: BTreeMap<String, ModuleLock>,
    /// The lock file, which is held while something is written, so that concurrent runs do not interfere.
    guard: Option<File>,
}

/// The name of the staging directory.
const ASIDE: &str = ".new";

/// The file that is locked while the installer writes.
const GUARD: &str = ".lock";

impl<'a> ModuleInstaller<'a> {
    /// Creates an installer that has installed nothing.
    pub fn new(request: ModuleRequest<'a>) -> Self {
        let (placed, locks) = (BTreeMap::new(), BTreeMap::new());
        Self { request, placed, aside: Vec::new(), locks, guard: None }
    }

    /// Waits until no other process writes to the directory, and removes the staging directory of an earlier run.
    fn begin(&mut self) -> io::Result<()> {
        if self.guard.is_none() {
            std::fs::create_dir_all(self.request.target)?;
            let guard = File::create(self.request.target.join(GUARD))?;
            guard.lock()?;
            // A remaining staging directory does no harm.
            drop(std::fs::remove_dir_all(self.request.target.join(ASIDE)));
            self.guard = Some(guard);
        }
        Ok(())
    }

    /// Installs a package, unless the locked one is already installed. Returns its current directory, which may
    /// still be in the staging directory. `name` is the name for its directory if the lock has none.
    ///
    /// # Errors
    /// Returns a [`ModuleInstallError`].
    pub fn install(
        &mut self,
        package: &ModulePackage,
        name: &str,
        on_event: impl FnOnce(ModuleEvent),
    ) -> Result<PathBuf, ModuleInstallError> {
        let address = package.to_string();
        if let Some(directory) = self.placed.get(&address) {
            return Ok(directory.clone());
        }
        check_getter(package)?;
        let known = self.request.locks.modules.get(&address);
        let lock = known.filter(|_| !self.request.upgrade);
        let name = known.and_then(|it| it.directory.clone()).unwrap_or_else(|| plain(name));
        let place = self.request.target.join(&name);
        let (directory, lock) = match lock.filter(|it| self.is_in_place(&place, it)) {
            Some(lock) => (place, lock.clone()),
            None if lock.is_none() && self.request.readonly => {
                return Err(ModuleInstallError::NotLocked);
            }
            None => {
                on_event(match lock.is_some() && place.is_dir() {
                    true => ModuleEvent::Restoring,
                    false => ModuleEvent::Fetching,
                });
                self.begin().map_err(FetchError::Io)?;
                let aside = format!("{name}-{}", &sha256_of_bytes(address.as_bytes())[..8]);
                let aside = self.request.target.join(ASIDE).join(aside);
                let lock = self.fetch(package, lock, &aside)?;
                self.aside.push((address.clone(), name));
                (aside, lock)
            }
        };
        self.locks.insert(address.clone(), lock);
        self.placed.insert(address, directory.clone());
        Ok(directory)
    }

    fn is_in_place(&self, place: &Path, lock: &ModuleLock) -> bool {
        lock.directory.is_some()
            && !self.placed.values().any(|it| it == place)
            && Contents::of(place).is_ok_and(|it| lock.hashes.contains(&it.hash()))
    }

    /// Records a package that another tool installed, for a getter that is not supported here.
    ///
    /// # Errors
    /// If the package cannot be read or is not the locked one.
    pub fn adopt(&mut self, package: &str, directory: &Path) -> Result<(), ModuleInstallError> {
        let contents = Contents::of_others(directory);
        let contents = contents.map_err(|it| ModuleInstallError::Package(it.to_string()))?;
        let hash = contents.hash();
        let lock = self.request.locks.modules.get(package).filter(|_| !self.request.upgrade);
        let lock = match lock {
            Some(lock) if !lock.hashes.contains(&hash) => {
                let hashes = lock.hashes.clone();
                return Err(ModuleInstallError::Changed { found: hash, hashes });
            }
            Some(lock) => lock.clone(),
            None if self.request.readonly => return Err(ModuleInstallError::NotLocked),
            None => {
                let hashes = BTreeSet::from([hash]);
                ModuleLock { directory: None, revision: None, hashes }
            }
        };
        self.locks.insert(package.to_owned(), lock);
        self.placed.insert(package.to_owned(), directory.to_owned());
        Ok(())
    }

    /// Fetches a package to the staging directory and writes its list of files.
    fn fetch(
        &self,
        package: &ModulePackage,
        lock: Option<&ModuleLock>,
        aside: &Path,
    ) -> Result<ModuleLock, ModuleInstallError> {
        let fetched = scratch(aside)?;
        let revision = lock.and_then(|it| it.revision.as_deref());
        let data_dir = self.request.target.parent().unwrap_or(self.request.target);
        let revision = fetch(package, revision, self.request.git, data_dir, fetched.path())?;
        let contents = Contents::of(fetched.path());
        let contents = contents.map_err(|it| {
            // Errors show the path inside of the package, because the scratch directory means nothing to the user.
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
            None => ModuleLock { directory: None, revision, hashes: BTreeSet::from([hash]) },
        };
        settle(fetched, aside)?;
        write(&list_of(aside), &contents.to_text())?;
        Ok(kept)
    }

    /// Moves the packages from the staging directory to their places. A package keeps the directory in its lock;
    /// another one gets the name that it was installed under if that is free. Returns true if there was a package
    /// to move.
    ///
    /// # Errors
    /// If a directory cannot be replaced.
    pub fn settle(&mut self) -> Result<bool, ModuleInstallError> {
        let mut aside = std::mem::take(&mut self.aside);
        let is_any = !aside.is_empty();
        let known = |address: &String| {
            let lock = self.request.locks.modules.get(address);
            lock.is_some_and(|it| it.directory.is_some())
        };
        aside.sort_by_key(|(address, _)| !known(address));
        for (address, name) in aside {
            let hash = &sha256_of_bytes(address.as_bytes())[..8];
            let names = [name.clone(), format!("{name}-{hash}")];
            let is_free = |name: &&String| {
                let place = self.request.target.join(name);
                !self.placed.values().any(|it| *it == place)
            };
            let name = names.iter().find(is_free).unwrap_or(&names[1]).clone();
            let place = self.request.target.join(&name);
            if let Some(from) = self.placed.insert(address.clone(), place.clone()) {
                replace(&from, &place)?;
            }
            if let Some(lock) = self.locks.get_mut(&address) {
                lock.directory = Some(name);
            }
        }
        drop(std::fs::remove_dir_all(self.request.target.join(ASIDE)));
        Ok(is_any)
    }

    /// The directories of the installed packages by address.
    pub fn placed(&self) -> &BTreeMap<String, PathBuf> {
        &self.placed
    }

    /// The locks of the installed packages.
    pub fn locks(&self) -> &BTreeMap<String, ModuleLock> {
        &self.locks
    }

    /// Removes packages of earlier installations that no module call uses any more.
    pub fn remove_others(&self) {
        let Ok(entries) = std::fs::read_dir(self.request.target) else { return };
        for list in entries.flatten().map(|it| it.path()) {
            // This installer has not created directories without a list.
            let Some(name) = list.file_name().and_then(|it| it.to_str()) else { continue };
            let Some(name) = name.strip_suffix(LIST).filter(|it| is_name(it)) else { continue };
            let directory = self.request.target.join(name);
            if !self.placed.values().any(|it| *it == directory) {
                // If the removal fails, the next run tries again.
                drop(std::fs::remove_dir_all(&directory));
                drop(std::fs::remove_file(&list));
            }
        }
    }
}

/// Returns true if a text can be the name of a package's directory.
pub(crate) fn is_name(text: &str) -> bool {
    let is_plain = |it: char| it.is_ascii_alphanumeric() || "-_.".contains(it);
    let is_taken = text == MANIFEST || text.ends_with(LIST);
    let may_be = !text.is_empty() && text.len() <= 200 && !text.starts_with('.') && !is_taken;
    may_be && text.chars().all(is_plain)
}

/// Moves a package together with its list.
fn replace(from: &Path, place: &Path) -> Result<(), ModuleInstallError> {
    clear(place)?;
    let moved = std::fs::rename(from, place);
    let moved = moved.and_then(|()| std::fs::rename(list_of(from), list_of(place)));
    moved.map_err(|error| {
        ModuleInstallError::Package(format!("failed to make {}: {error}", place.display()))
    })
}

fn write(path: &Path, text: &str) -> Result<(), ModuleInstallError> {
    std::fs::write(path, text).map_err(|error| {
        ModuleInstallError::Package(format!("failed to write {}: {error}", path.display()))
    })
}

/// The directory of the package that contains a directory below the modules directory.
pub fn module_package_below(modules: &Path, directory: &Path) -> Option<PathBuf> {
    let mut below = directory.strip_prefix(modules).ok()?.components();
    let first = modules.join(below.next()?);
    match first.ends_with(ASIDE) {
        true => Some(first.join(below.next()?)),
        false => Some(first),
    }
}

const LIST: &str = ".h1";

/// The manifest, which is also in the modules directory.
const MANIFEST: &str = "modules.json";

/// The path of the list of a package's files. It is beside the package, so that the package has exactly the
/// fetched files.
pub(super) fn list_of(directory: &Path) -> PathBuf {
    let mut name = directory.as_os_str().to_owned();
    name.push(LIST);
    PathBuf::from(name)
}

/// Converts a text to a valid name of a package's directory.
fn plain(text: &str) -> String {
    let plain = |it: char| if it.is_ascii_alphanumeric() || "-_.".contains(it) { it } else { '_' };
    let text: String = text.chars().take(100).map(plain).collect();
    let text = text.trim_start_matches('.');
    match is_name(text) {
        true => text.to_owned(),
        // The name of a module call may equal the name of the manifest or of a list.
        false => format!("module-{}", text.replace('.', "-")),
    }
}
