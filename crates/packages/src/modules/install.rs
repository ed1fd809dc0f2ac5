//! The module part of `init`: installs module packages.

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

use addr::{Getter, ModulePackage, Version, VersionConstraint};
use futures::future::{BoxFuture, LocalBoxFuture};
use futures::{StreamExt, stream};
use percent_encoding::percent_decode_str;
use sorted::{TreeMap, TreeSet};
use tempfile::TempDir;

use super::contents::Contents;
use super::error::FetchError;
use super::fetch::{self, Fetched, Tools, check_getter};
use super::git::Git;
use super::registry::{ModuleRegistry, newest};
use crate::blocking::{AT_ONCE, blocking, waiting};
use crate::hash::{Hash, sha256_of_bytes};
use crate::locks::{Locks, ModuleLock};
use crate::network::Network;
use crate::package::{PackageError, clear, scratch, settle};

/// The inputs of an installation.
#[derive(Clone)]
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
    /// The access to registries and web servers.
    pub network: &'a Network,
}

impl ModuleRequest<'_> {
    /// Fetches a package to an empty directory outside of the installation. No lock is read or made. Returns the
    /// directory in the package that its registry or a page names as the module.
    ///
    /// # Errors
    /// If the package cannot be fetched.
    pub fn copy<'r>(
        &'r self,
        package: &'r ModulePackage,
        to: &'r Path,
    ) -> BoxFuture<'r, Result<String, FetchError>> {
        Box::pin(async move {
            let fetched = fetch::fetch(package, None, self.tools(), to).await?;
            let directory = to.to_owned();
            // A link in the package must not lead out of it, because its files are copied.
            let contents = blocking(move || Contents::of(&directory).map(drop)).await;
            contents.map_err(|error| FetchError::Refused(error.to_string()))?;
            Ok(fetched.subdirectory)
        })
    }

    fn tools(&self) -> Tools<'_> {
        let ModuleRequest { target, git, network, .. } = *self;
        Tools { git, network, data_dir: target.parent().unwrap_or(target) }
    }
}

/// A package that a module call needs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WantedModule {
    /// The package.
    pub package: ModulePackage,
    /// The name for its directory if the lock has none: that of the first call.
    pub name: String,
}

/// A module of a registry, of which a version is wanted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ModuleSelection {
    /// The address of the module, without a version.
    pub module: ModulePackage,
    /// All constraints of the call.
    pub constraint: VersionConstraint,
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
    Changed { found: Hash, hashes: TreeSet<Hash> },
    /// The package is not locked, and the lock file must not change.
    #[error("it is not in the lock file, which may not be changed")]
    NotLocked,
    /// The package was fetched, but is invalid or could not be installed.
    #[error("{0}")]
    Package(String),
}

fn locked(hashes: &TreeSet<Hash>) -> String {
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
    placed: TreeMap<String, PathBuf>,
    /// The package that each address stands for. An address leaves out parameters that can contain keys.
    packages: TreeMap<String, ModulePackage>,
    /// The address of each package in the staging directory and the name for its directory, in the order of
    /// fetching.
    aside: Vec<(String, String)>,
    locks: TreeMap<String, ModuleLock>,
    /// The versions that registries have, by the address of the module.
    versions: TreeMap<String, Result<TreeSet<Version>, String>>,
    /// The lock file, which is held while something is written, so that concurrent runs do not interfere.
    guard: Option<File>,
}

/// A package that this run has not installed yet.
struct FreshPackage<'w> {
    address: String,
    wanted: &'w WantedModule,
}

/// The error for packages with the same address.
const CLASH: &str = "another module call has the same address with other parameters. Mayfly \
                     neither shows nor locks parameters of web addresses that can contain keys, \
                     so it cannot tell the two packages apart. Use different paths, or write the \
                     version in a parameter named \"version\"";

/// The name of the staging directory.
const ASIDE: &str = ".new";

/// The file that is locked while the installer writes.
const GUARD: &str = ".lock";

impl<'a> ModuleInstaller<'a> {
    /// Creates an installer that has installed nothing.
    pub fn new(request: ModuleRequest<'a>) -> Self {
        Self {
            request,
            placed: TreeMap::new(),
            packages: TreeMap::new(),
            aside: Vec::new(),
            locks: TreeMap::new(),
            versions: TreeMap::new(),
            guard: None,
        }
    }

    /// Waits until no other process writes to the directory, and removes the staging directory of an earlier run.
    async fn begin(&mut self) -> io::Result<()> {
        if self.guard.is_none() {
            let target = self.request.target.to_owned();
            let guard = waiting(move || {
                std::fs::create_dir_all(&target)?;
                let guard = File::create(target.join(GUARD))?;
                guard.lock()?;
                // A remaining staging directory does no harm.
                drop(std::fs::remove_dir_all(target.join(ASIDE)));
                Ok::<_, io::Error>(guard)
            });
            self.guard = Some(guard.await?);
        }
        Ok(())
    }

    /// Selects a version of each module of a registry: the newest locked one that the constraint allows, or else the
    /// newest one of the registry. Each registry is asked once for a module, and several at once.
    ///
    /// The results have the order of the modules. An error is a sentence fragment.
    pub fn select<'r>(
        &'r mut self,
        wanted: &'r [ModuleSelection],
    ) -> BoxFuture<'r, Vec<Result<Version, String>>> {
        Box::pin(self.select_all(wanted))
    }

    async fn select_all(&mut self, wanted: &[ModuleSelection]) -> Vec<Result<Version, String>> {
        let unlocked = wanted.iter().filter(|it| self.locked_version(it).is_none());
        let unasked = unlocked.filter(|it| !self.versions.contains_key(&it.module.place()));
        let unasked: TreeMap<String, ModulePackage> =
            unasked.map(|it| (it.module.place(), it.module.clone())).collect();
        let network = self.request.network;
        let ask = |(place, module): (String, ModulePackage)| async move {
            let versions = match ModuleRegistry::of(network, &module).await {
                Ok(registry) => registry.versions().await,
                Err(error) => Err(error),
            };
            (place, versions.map_err(|error| error.to_string()))
        };
        let asked = stream::iter(unasked).map(ask).buffered(AT_ONCE).collect::<Vec<_>>().await;
        self.versions.extend(asked);
        wanted.iter().map(|it| self.selected(it)).collect()
    }

    fn selected(&self, wanted: &ModuleSelection) -> Result<Version, String> {
        if let Some(version) = self.locked_version(wanted) {
            return Ok(version);
        }
        let place = wanted.module.place();
        let versions = match self.versions.get(&place) {
            Some(versions) => versions.as_ref().map_err(Clone::clone)?,
            None => return Err("its registry was not asked".to_owned()),
        };
        newest(versions, &wanted.constraint).cloned().ok_or_else(|| match versions.last() {
            None => format!("the registry has no version of {place}"),
            Some(last) => format!(
                "no version that the registry has of {place} meets the constraint \"{}\"; the newest one is {last}",
                wanted.constraint.canonical()
            ),
        })
    }

    /// The newest locked version that the constraint allows. `None` if there is none.
    pub fn locked_version(&self, wanted: &ModuleSelection) -> Option<Version> {
        if self.request.upgrade {
            return None;
        }
        let prefix = format!("{}?version=", wanted.module.place());
        let locked = self.request.locks.modules.keys().filter_map(|it| it.strip_prefix(&prefix));
        let decoded = |it: &str| percent_decode_str(it).decode_utf8_lossy().into_owned();
        let locked: Vec<Version> =
            locked.filter_map(|it| Version::parse(&decoded(it)).ok()).collect();
        newest(&locked, &wanted.constraint).cloned()
    }

    /// Installs packages, unless the locked ones are already installed, and several at once. Returns the errors by
    /// the address of the package; [`ModuleInstaller::placed`] has the directories, which may still be in the
    /// staging directory.
    pub fn install<'r>(
        &'r mut self,
        wanted: &'r [WantedModule],
        on_event: &'r mut (dyn FnMut(&WantedModule, ModuleEvent) + Send),
    ) -> LocalBoxFuture<'r, TreeMap<String, ModuleInstallError>> {
        Box::pin(self.install_all(wanted, on_event))
    }

    async fn install_all(
        &mut self,
        wanted: &[WantedModule],
        on_event: &mut (dyn FnMut(&WantedModule, ModuleEvent) + Send),
    ) -> TreeMap<String, ModuleInstallError> {
        let mut errors = self.refuse_clashes(wanted);
        let mut fresh = self.fresh(wanted);
        fresh.retain(|it| !errors.contains_key(&it.address));
        let installed = self.installed_hashes(&fresh).await;
        let mut fetches = Vec::new();
        for FreshPackage { address, wanted } in fresh {
            match self.decide(address.clone(), wanted, &installed) {
                Ok(None) => {}
                Ok(Some((fetch, event))) => {
                    on_event(wanted, event);
                    fetches.push(fetch);
                }
                Err(error) => drop(errors.insert(address, error)),
            }
        }
        if fetches.is_empty() {
            return errors;
        }
        if let Err(error) = self.begin().await {
            let again = || FetchError::Io(io::Error::new(error.kind(), error.to_string()));
            errors.extend(fetches.into_iter().map(|it| (it.address, again().into())));
            return errors;
        }
        let fetched = stream::iter(&fetches).map(|it| self.fetch(it)).buffered(AT_ONCE);
        let fetched: Vec<_> = fetched.collect().await;
        for (fetch, fetched) in fetches.into_iter().zip(fetched) {
            match fetched {
                Ok(lock) => self.place(fetch, lock),
                Err(error) => drop(errors.insert(fetch.address, error)),
            }
        }
        errors
    }

    /// Refuses packages of web servers and buckets whose addresses differ only in parameters that are not part of a
    /// lock: one lock cannot stand for both.
    fn refuse_clashes(&mut self, wanted: &[WantedModule]) -> TreeMap<String, ModuleInstallError> {
        let mut errors = TreeMap::new();
        let may_clash = |it: &&WantedModule| matches!(it.package.getter, Getter::Http | Getter::S3);
        for it in wanted.iter().filter(may_clash) {
            let address = it.package.to_string();
            let known = self.packages.entry(address.clone()).or_insert_with(|| it.package.clone());
            if *known != it.package {
                errors.insert(address, ModuleInstallError::Package(CLASH.to_owned()));
            }
        }
        errors
    }

    /// The packages that this run has not installed yet, each once.
    fn fresh<'w>(&self, wanted: &'w [WantedModule]) -> Vec<FreshPackage<'w>> {
        let mut seen = TreeSet::new();
        let packages = wanted
            .iter()
            .map(|wanted| FreshPackage { address: wanted.package.to_string(), wanted });
        let is_fresh = |address: &String| !self.placed.contains_key(address);
        packages.filter(|it| is_fresh(&it.address) && seen.insert(it.address.clone())).collect()
    }

    /// The hashes of the directories in which locked packages are expected. A directory that cannot be read has
    /// none.
    async fn installed_hashes(&self, fresh: &[FreshPackage<'_>]) -> TreeMap<PathBuf, Hash> {
        let locked = fresh.iter().filter_map(|it| {
            let lock = self.lock_of(&it.address)?;
            Some(self.request.target.join(lock.directory.as_ref()?))
        });
        let hashed = |place: PathBuf| async move {
            let directory = place.clone();
            let contents = blocking(move || Contents::of(&directory)).await;
            Some((place, contents.ok()?.hash()))
        };
        let places: TreeSet<PathBuf> = locked.collect();
        let hashes = stream::iter(places).map(hashed).buffered(AT_ONCE).collect::<Vec<_>>();
        hashes.await.into_iter().flatten().collect()
    }

    /// The lock that a package must match.
    fn lock_of(&self, address: &str) -> Option<&'a ModuleLock> {
        let locks: &'a Locks = self.request.locks;
        locks.modules.get(address).filter(|_| !self.request.upgrade)
    }

    /// Returns the fetch of a package with its event. `None` if the locked package is already installed.
    fn decide(
        &mut self,
        address: String,
        wanted: &WantedModule,
        installed: &TreeMap<PathBuf, Hash>,
    ) -> Result<Option<(Fetch, ModuleEvent)>, ModuleInstallError> {
        check_getter(&wanted.package)?;
        let known = self.request.locks.modules.get(&address);
        let name = known.and_then(|it| it.directory.clone()).unwrap_or_else(|| plain(&wanted.name));
        let place = self.request.target.join(&name);
        let lock = self.lock_of(&address);
        let is_free = !self.placed.values().any(|it| *it == place);
        let is_in_place = |lock: &&ModuleLock| {
            let hash = installed.get(&place).filter(|_| lock.directory.is_some() && is_free);
            hash.is_some_and(|it| lock.hashes.contains(it))
        };
        if let Some(lock) = lock.filter(is_in_place) {
            self.locks.insert(address.clone(), lock.clone());
            self.placed.insert(address, place);
            return Ok(None);
        }
        if lock.is_none() && self.request.readonly {
            return Err(ModuleInstallError::NotLocked);
        }
        let event = match lock.is_some() && place.is_dir() {
            true => ModuleEvent::Restoring,
            false => ModuleEvent::Fetching,
        };
        let aside = format!("{name}-{}", &sha256_of_bytes(address.as_bytes())[..8]);
        let aside = self.request.target.join(ASIDE).join(aside);
        let package = wanted.package.clone();
        Ok(Some((Fetch { address, package, name, lock: lock.cloned(), aside }, event)))
    }

    fn place(&mut self, fetch: Fetch, lock: ModuleLock) {
        self.aside.push((fetch.address.clone(), fetch.name));
        self.locks.insert(fetch.address.clone(), lock);
        self.placed.insert(fetch.address, fetch.aside);
    }

    /// Records a package that another tool installed. `subdirectory` is the directory of the module that its registry
    /// names.
    ///
    /// # Errors
    /// If the package cannot be read or is not the locked one.
    pub async fn adopt(
        &mut self,
        package: &str,
        directory: &Path,
        subdirectory: &str,
    ) -> Result<(), ModuleInstallError> {
        let read = directory.to_owned();
        let contents = blocking(move || Contents::of_others(&read)).await;
        let contents = contents.map_err(|it| ModuleInstallError::Package(it.to_string()))?;
        let lock = match self.lock_of(package) {
            None if self.request.readonly => return Err(ModuleInstallError::NotLocked),
            lock => {
                let subdirectory = subdirectory.to_owned();
                let fetched = Fetched { revision: None, subdirectory };
                accepted(lock.cloned(), contents.hash(), fetched)?
            }
        };
        self.locks.insert(package.to_owned(), lock);
        self.placed.insert(package.to_owned(), directory.to_owned());
        Ok(())
    }

    /// Fetches a package to the staging directory and writes its list of files.
    async fn fetch(&self, fetch: &Fetch) -> Result<ModuleLock, ModuleInstallError> {
        let Fetch { package, lock, aside, .. } = fetch;
        let tools = self.request.tools();
        let place = aside.clone();
        let directory = blocking(move || scratch(&place)).await?;
        let revision = lock.as_ref().and_then(|it| it.revision.as_deref());
        let fetched = fetch::fetch(package, revision, tools, directory.path()).await?;
        let (lock, place) = (lock.clone(), aside.clone());
        blocking(move || keep(directory, lock, fetched, &place)).await
    }

    /// Moves the packages from the staging directory to their places. A package keeps the directory in its lock;
    /// another one gets the name that it was installed under if that is free. Returns true if there was a package
    /// to move.
    ///
    /// # Errors
    /// If a directory cannot be replaced.
    pub async fn settle(&mut self) -> Result<bool, ModuleInstallError> {
        let mut aside = std::mem::take(&mut self.aside);
        let is_any = !aside.is_empty();
        let known = |address: &String| {
            let lock = self.request.locks.modules.get(address);
            lock.is_some_and(|it| it.directory.is_some())
        };
        sorted::sort_by_key(&mut aside, |(address, _)| !known(address));
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
                blocking(move || replace(&from, &place)).await?;
            }
            if let Some(lock) = self.locks.get_mut(&address) {
                lock.directory = Some(name);
            }
        }
        let staging = self.request.target.join(ASIDE);
        blocking(move || drop(std::fs::remove_dir_all(staging))).await;
        Ok(is_any)
    }

    /// The directories of the installed packages by address.
    pub fn placed(&self) -> &TreeMap<String, PathBuf> {
        &self.placed
    }

    /// The locks of the installed packages.
    pub fn locks(&self) -> &TreeMap<String, ModuleLock> {
        &self.locks
    }

    /// Removes packages of earlier installations that no module call uses any more.
    pub async fn remove_others(&self) {
        let used: TreeSet<PathBuf> = self.placed.values().cloned().collect();
        let target = self.request.target.to_owned();
        blocking(move || remove_except(&target, &used)).await;
    }
}

fn remove_except(target: &Path, used: &TreeSet<PathBuf>) {
    let Ok(entries) = std::fs::read_dir(target) else { return };
    for list in entries.flatten().map(|it| it.path()) {
        // This installer has not created directories without a list.
        let Some(name) = list.file_name().and_then(|it| it.to_str()) else { continue };
        let Some(name) = name.strip_suffix(LIST).filter(|it| is_name(it)) else { continue };
        let directory = target.join(name);
        if !used.contains(&directory) {
            // If the removal fails, the next run tries again.
            drop(std::fs::remove_dir_all(&directory));
            drop(std::fs::remove_file(&list));
        }
    }
}

/// A package to be fetched.
struct Fetch {
    address: String,
    package: ModulePackage,
    /// The name for its directory.
    name: String,
    /// The lock that the package must match.
    lock: Option<ModuleLock>,
    /// Its place in the staging directory.
    aside: PathBuf,
}

/// Checks a fetched package, and moves it to the staging directory with its list of files.
fn keep(
    directory: TempDir,
    lock: Option<ModuleLock>,
    fetched: Fetched,
    aside: &Path,
) -> Result<ModuleLock, ModuleInstallError> {
    let contents = Contents::of(directory.path()).map_err(|it| {
        // Errors show the path inside of the package, because the scratch directory means nothing to the user.
        let inner = it.path.strip_prefix(directory.path()).unwrap_or(&it.path);
        ModuleInstallError::Package(format!("{:?} in it: {}", inner.display(), it.cause))
    })?;
    let lock = accepted(lock, contents.hash(), fetched)?;
    settle(directory, aside)?;
    write(&list_of(aside), &contents.to_text())?;
    Ok(lock)
}

/// Returns the lock of a package with this hash, which is the present lock if there is one.
fn accepted(
    lock: Option<ModuleLock>,
    hash: Hash,
    fetched: Fetched,
) -> Result<ModuleLock, ModuleInstallError> {
    match lock {
        Some(lock) if !lock.hashes.contains(&hash) => {
            Err(ModuleInstallError::Changed { found: hash, hashes: lock.hashes })
        }
        // Another tool installed the package, and an earlier version recorded no directory.
        Some(lock) if lock.directory.is_none() && lock.subdirectory.is_empty() => {
            Ok(ModuleLock { subdirectory: fetched.subdirectory, ..lock })
        }
        Some(lock) => Ok(lock),
        None => {
            let Fetched { revision, subdirectory } = fetched;
            let hashes = TreeSet::from([hash]);
            Ok(ModuleLock { directory: None, subdirectory, revision, hashes })
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
