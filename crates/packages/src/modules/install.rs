//! Putting packages in place: the module half of `init`.

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

/// Where packages are put, and what is known of them.
pub struct ModuleRequest<'a> {
    /// `.terraform/modules`.
    pub target: &'a Path,
    /// What is locked.
    pub locks: &'a Locks,
    /// `-upgrade`: get everything anew, whatever is locked.
    pub upgrade: bool,
    /// `-lockfile=readonly`: get nothing that is not locked.
    pub readonly: bool,
    pub git: &'a Git,
}

/// What happens meanwhile.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ModuleEvent {
    /// It is not in place, and is being got.
    Fetching,
    /// What was in place is not what is locked, and is being got again.
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
    /// It is not locked, and the locks may not change.
    #[error("it is not in the lock file, which may not be changed")]
    NotLocked,
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
///
/// What is got lies aside until [`ModuleInstaller::settle`], so that an installation that fails leaves everything as it was.
pub struct ModuleInstaller<'a> {
    request: ModuleRequest<'a>,
    /// Where each package is, by its address.
    placed: BTreeMap<String, PathBuf>,
    /// What lies aside, in the order in which it was got, each with the name that its directory should have.
    aside: Vec<(String, String)>,
    locks: BTreeMap<String, ModuleLock>,
    /// Held while something is written, so that two that run at once do not undo what the other does.
    guard: Option<File>,
}

/// The directory of what lies aside.
const ASIDE: &str = ".new";

/// The file that is locked meanwhile.
const GUARD: &str = ".lock";

impl<'a> ModuleInstaller<'a> {
    /// One that has installed nothing yet.
    pub fn new(request: ModuleRequest<'a>) -> Self {
        let (placed, locks) = (BTreeMap::new(), BTreeMap::new());
        Self { request, placed, aside: Vec::new(), locks, guard: None }
    }

    /// Waits until nobody else writes here. What an earlier one left aside is removed.
    fn begin(&mut self) -> io::Result<()> {
        if self.guard.is_none() {
            std::fs::create_dir_all(self.request.target)?;
            let guard = File::create(self.request.target.join(GUARD))?;
            guard.lock()?;
            // What stays is in nobody's way.
            drop(std::fs::remove_dir_all(self.request.target.join(ASIDE)));
            self.guard = Some(guard);
        }
        Ok(())
    }

    /// Gets a package, unless it is in place. Gives the directory that it is in for now. `name` is what its directory is to be
    /// called if it has none yet.
    ///
    /// # Errors
    /// [`ModuleInstallError`].
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

    /// Records a package that somebody else put in place, where nobody here can get it.
    ///
    /// # Errors
    /// If it cannot be read, or is not what is locked.
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

    /// Puts a package aside, with the list of what is in it.
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
            None => ModuleLock { directory: None, revision, hashes: BTreeSet::from([hash]) },
        };
        settle(fetched, aside)?;
        write(&list_of(aside), &contents.to_text())?;
        Ok(kept)
    }

    /// Puts in place what lies aside. A package keeps the directory that it is locked with; another one gets the name that it
    /// was installed under, if no package has it. Whether there was anything to put in place.
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
            let Some(name) = name.strip_suffix(LIST).filter(|it| is_name(it)) else { continue };
            let directory = self.request.target.join(name);
            if !self.placed.values().any(|it| *it == directory) {
                // One that stays is removed the next time.
                drop(std::fs::remove_dir_all(&directory));
                drop(std::fs::remove_file(&list));
            }
        }
    }
}

/// Whether a text can be the name of a package's directory.
pub(crate) fn is_name(text: &str) -> bool {
    let is_plain = |it: char| it.is_ascii_alphanumeric() || "-_.".contains(it);
    let is_taken = text == MANIFEST || text.ends_with(LIST);
    let may_be = !text.is_empty() && text.len() <= 200 && !text.starts_with('.') && !is_taken;
    may_be && text.chars().all(is_plain)
}

/// Moves a package with its list.
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

/// The directory of the package that a directory in the modules directory belongs to.
pub fn module_package_below(modules: &Path, directory: &Path) -> Option<PathBuf> {
    let mut below = directory.strip_prefix(modules).ok()?.components();
    let first = modules.join(below.next()?);
    match first.ends_with(ASIDE) {
        true => Some(first.join(below.next()?)),
        false => Some(first),
    }
}

const LIST: &str = ".h1";

/// Lies beside the packages, too.
const MANIFEST: &str = "modules.json";

/// Where the list of a package's files lies: beside it, so that the package is what was got and nothing else.
pub(super) fn list_of(directory: &Path) -> PathBuf {
    let mut name = directory.as_os_str().to_owned();
    name.push(LIST);
    PathBuf::from(name)
}

/// A text as a part of a file's name.
fn plain(text: &str) -> String {
    let plain = |it: char| if it.is_ascii_alphanumeric() || "-_.".contains(it) { it } else { '_' };
    let text: String = text.chars().take(100).map(plain).collect();
    let text = text.trim_start_matches('.');
    match is_name(text) {
        true => text.to_owned(),
        // A call may be called like the manifest, or like a list of files.
        false => format!("module-{}", text.replace('.', "-")),
    }
}
