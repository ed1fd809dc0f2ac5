//! The provider part of `init`: selects a version of each provider and installs its package.

use std::fmt;
use std::path::{Path, PathBuf};

use addr::{ProviderSource, Version, VersionConstraint};
use futures::future::BoxFuture;
use sorted::{TreeMap, TreeSet};

use crate::blocking::{Events, blocking, in_order};
use crate::evidence::{Authentication, Evidence};
use crate::hash::{Hash, hash_of_directory};
use crate::locks::{Locks, ProviderLock};
use crate::package::{self, executable_in, package_dir};
use crate::packed::UnpackedPackage;
use crate::platform::Platform;
use crate::plugin_cache::{CacheEntry, EntryState};
use crate::retrieve::{LocalPackage, Retrieved, find, unreachable_remote};
use crate::sources::{Available, BundledProvider, Sources};

/// The inputs of an installation.
#[derive(Clone, Copy)]
pub struct InstallRequest<'a> {
    /// The requirements of configuration and state, with the constraints of all modules combined.
    pub requirements: &'a TreeMap<ProviderSource, VersionConstraint>,
    /// The current selections.
    pub locks: &'a Locks,
    /// True for `-upgrade`: select anew and ignore the locked versions.
    pub upgrade: bool,
    /// The sources of packages.
    pub sources: &'a Sources,
    /// The directory `.terraform/providers`.
    pub target: &'a Path,
    /// A cache of unpacked packages that configurations share.
    pub plugin_cache: Option<&'a Path>,
    /// True if a cached package may be locked without a comparison with its source.
    pub cache_may_break_locks: bool,
    /// Running providers (`TF_REATTACH_PROVIDERS`), which are neither installed nor locked.
    pub unmanaged: &'a TreeSet<ProviderSource>,
    /// The platform of the packages.
    pub platform: &'a Platform,
}

/// The result of an installation. Errors do not undo the installation of other providers.
#[derive(Debug)]
pub struct Installed {
    /// The new selections, only for required providers. Write them only if there are no errors.
    pub locks: Locks,
    /// The errors of providers that could not be installed.
    pub errors: Vec<InstallError>,
    /// Sentences of registries for the user, by the provider that they are about.
    pub warnings: Vec<RegistryWarnings>,
    /// The new packages that no source told hashes of for other platforms, so that the locks have none.
    pub incomplete: Vec<ProviderSource>,
    /// The packages that were unpacked.
    pub unpacked: Vec<UnpackedPackage>,
}

/// Sentences of a registry for the user.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RegistryWarnings {
    /// The provider that they are about.
    pub source: ProviderSource,
    pub texts: Vec<String>,
}

/// An event of an installation. Its text is the same as in OpenTofu.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum InstallEvent {
    Builtin(ProviderSource),
    Bundled(ProviderSource, Version),
    Overridden(ProviderSource),
    Reusing(ProviderSource),
    Finding(ProviderSource, VersionConstraint),
    Installing(ProviderSource, Version),
    InstallingToCache(ProviderSource, Version),
    Installed(ProviderSource, Version, Authentication),
    AlreadyInstalled(ProviderSource, Version),
    AlreadyInCache(ProviderSource, Version),
    FromCache(ProviderSource, Version),
    /// A package in the cache must not be used, with the reason as a clause about "it".
    CacheRefused(ProviderSource, Version, String),
    /// Another process is using the cache.
    WaitingForCache(PathBuf),
}

impl fmt::Display for InstallEvent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Builtin(it) => write!(f, "- {it} is built in to Mayfly"),
            Self::Bundled(it, version) => {
                write!(f, "- {} v{version} is bundled with Mayfly", it.for_display())
            }
            Self::Overridden(it) => {
                write!(f, "- {} is overridden by the CLI configuration", it.for_display())
            }
            Self::Reusing(it) => {
                write!(
                    f,
                    "- Reusing previous version of {} from the dependency lock file",
                    it.for_display()
                )
            }
            Self::Finding(it, constraint) => match constraint.canonical() {
                all if all.is_empty() => {
                    write!(f, "- Finding latest version of {}...", it.for_display())
                }
                some => write!(f, "- Finding {} versions matching {some:?}...", it.for_display()),
            },
            Self::Installing(it, version) => {
                write!(f, "- Installing {} v{version}...", it.for_display())
            }
            Self::InstallingToCache(it, version) => {
                write!(
                    f,
                    "- Installing {} v{version} to the shared cache directory...",
                    it.for_display()
                )
            }
            Self::Installed(it, version, Authentication::SigningSkipped) => write!(
                f,
                "- Installed {} v{version}. Signature validation was skipped due to the registry not \
                 containing GPG keys for this provider",
                it.for_display()
            ),
            Self::Installed(it, version, evidence) => {
                write!(f, "- Installed {} v{version} ({evidence})", it.for_display())
            }
            Self::AlreadyInstalled(it, version) => {
                write!(f, "- Using previously-installed {} v{version}", it.for_display())
            }
            Self::AlreadyInCache(it, version) => write!(
                f,
                "- Detected previously-installed {} v{version} in the shared cache directory",
                it.for_display()
            ),
            Self::CacheRefused(it, version, reason) => write!(
                f,
                "- Replacing {} v{version} in the shared cache directory: {reason}",
                it.for_display()
            ),
            Self::WaitingForCache(directory) => {
                write!(f, "- Waiting for lock on cache directory {}", directory.display())
            }
            Self::FromCache(it, version) => {
                write!(f, "- Using {} v{version} from the shared cache directory", it.for_display())
            }
        }
    }
}

/// An error that prevents the installation of one provider.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{}", self.detail())]
pub enum InstallError {
    /// No version could be selected. The cause is a sentence fragment.
    Query { source_addr: ProviderSource, cause: String },
    /// A version was selected, but its package could not be installed.
    Install { source_addr: ProviderSource, version: String, cause: String },
    /// A built-in provider does not exist, or has a version constraint.
    Builtin { source_addr: ProviderSource, cause: String },
}

impl InstallError {
    /// Adds a hint at a bundled provider that may have been meant.
    fn with_hint(mut self, request: &InstallRequest<'_>, constraint: &VersionConstraint) -> Self {
        if let Self::Query { source_addr, cause } | Self::Install { source_addr, cause, .. } =
            &mut self
            && let Some(hint) = bundled_hint(request.sources, source_addr, constraint)
        {
            *cause = format!("{cause}\n\n{hint}.");
        }
        self
    }

    /// The detail: the error and how to resolve it.
    pub fn detail(&self) -> String {
        match self {
            Self::Query { source_addr, cause } => format!(
                "Could not retrieve the list of available versions for provider {name}: \
                 {cause}\n\nCheck its source and version in every required_providers block that names it.",
                name = source_addr.for_display()
            ),
            Self::Install { source_addr, version, cause } => {
                format!("Error while installing {} v{version}: {cause}", source_addr.for_display())
            }
            Self::Builtin { source_addr, cause } => format!("Cannot use {source_addr}: {cause}."),
        }
    }
}

/// Installs all required providers. An error of one provider does not prevent the installation of the others.
pub fn install<'r>(
    request: &'r InstallRequest<'_>,
    on_event: &'r mut (dyn FnMut(InstallEvent) + Send),
) -> BoxFuture<'r, Installed> {
    Box::pin(install_all(request, on_event))
}

async fn install_all(
    request: &InstallRequest<'_>,
    on_event: &mut (dyn FnMut(InstallEvent) + Send),
) -> Installed {
    let mut outcome = Installed {
        locks: Locks::default(),
        errors: Vec::new(),
        warnings: Vec::new(),
        incomplete: Vec::new(),
        unpacked: Vec::new(),
    };
    let mut selected = Vec::new();
    // All versions are selected before the first package is installed, as in OpenTofu.
    let selecting = |(source, constraint), events| select(request, source, constraint, events);
    let selections = in_order(request.requirements, selecting, on_event).await;
    for ((source, constraint), selection) in request.requirements.iter().zip(selections) {
        match selection {
            Ok(Some(mut selection)) => {
                let texts = std::mem::take(&mut selection.available.warnings);
                if !texts.is_empty() {
                    outcome.warnings.push(RegistryWarnings { source: source.clone(), texts });
                }
                selected.push(selection);
            }
            Ok(None) => keep_lock(request, source, &mut outcome.locks),
            Err(error) => outcome.errors.push(error.with_hint(request, constraint)),
        }
    }
    let installing = |selection, events| install_one(request, selection, events);
    let installed = in_order(&selected, installing, on_event).await;
    for (selection, installed) in selected.into_iter().zip(installed) {
        match installed {
            Ok(PlacedPackage { lock, is_incomplete, unpacked }) => {
                outcome.unpacked.extend(unpacked);
                if is_incomplete {
                    outcome.incomplete.push(selection.source.clone());
                }
                outcome.locks.providers.insert(selection.source, lock);
            }
            Err(cause) => {
                let error = InstallError::Install {
                    source_addr: selection.source,
                    version: selection.version.to_string(),
                    cause,
                };
                outcome.errors.push(error.with_hint(request, &selection.constraint));
            }
        }
    }
    outcome
}

/// Keeps the lock of a provider that this run does not install.
fn keep_lock(request: &InstallRequest<'_>, source: &ProviderSource, locks: &mut Locks) {
    if let Some(lock) = request.locks.providers.get(source) {
        locks.providers.insert(source.clone(), lock.clone());
    }
}

/// A selected version.
struct Selection {
    source: ProviderSource,
    version: Version,
    constraint: VersionConstraint,
    available: Available,
}

/// A package in its place.
struct PlacedPackage {
    lock: ProviderLock,
    /// True if the package is new and no source told hashes of packages for other platforms.
    is_incomplete: bool,
    /// The package, if it was unpacked.
    unpacked: Option<UnpackedPackage>,
}

/// The hashes of a new package.
struct NewHashes {
    hashes: TreeSet<Hash>,
    /// True if they include those of packages for other platforms.
    covers_platforms: bool,
    /// The package, if it was unpacked.
    unpacked: Option<UnpackedPackage>,
}

/// Selects a version. `None` for providers that need no package.
async fn select(
    request: &InstallRequest<'_>,
    source: &ProviderSource,
    constraint: &VersionConstraint,
    events: Events<InstallEvent>,
) -> Result<Option<Selection>, InstallError> {
    if source.is_builtin() {
        return select_builtin(source, constraint, &events).map(|()| None);
    }
    if request.unmanaged.contains(source) {
        return Ok(None);
    }
    if request.sources.overrides.contains_key(source) {
        events.emit(InstallEvent::Overridden(source.clone()));
        return Ok(None);
    }
    let lock = request.locks.providers.get(source).filter(|_| !request.upgrade);
    let bundled =
        request.sources.bundled(source).filter(|it| constraint.allows_provider(&it.version));
    if let (None, Some(bundled)) = (lock, bundled) {
        events.emit(InstallEvent::Bundled(source.clone(), bundled.version.clone()));
        return Ok(None);
    }
    let failed = |cause| InstallError::Query { source_addr: source.clone(), cause };
    let version = match lock {
        Some(lock) => {
            events.emit(InstallEvent::Reusing(source.clone()));
            if !constraint.allows_provider(&lock.version) {
                return Err(failed(locked_out(source, &lock.version, constraint)));
            }
            Some(lock.version.clone())
        }
        None => {
            events.emit(InstallEvent::Finding(source.clone(), constraint.clone()));
            None
        }
    };
    let available = request.sources.available(source, request.platform, version.as_ref()).await;
    let available = available.map_err(failed)?;
    let version = match version {
        Some(version) => version,
        None => newest(source, constraint, &available, request.platform).map_err(failed)?,
    };
    Ok(Some(Selection {
        source: source.clone(),
        version,
        constraint: constraint.clone(),
        available,
    }))
}

/// Suggests a bundled provider that is similar to the required one. `None` if there is none.
pub(crate) fn bundled_hint(
    sources: &Sources,
    source: &ProviderSource,
    constraint: &VersionConstraint,
) -> Option<String> {
    if let Some(bundled) = sources.bundled(source) {
        let version = &bundled.version;
        return Some(match constraint.allows_provider(version) {
            true => format!(
                "Version {version} is bundled with Mayfly; to select it in place of the locked \
                 one, run \"mayfly init -upgrade\""
            ),
            false => format!(
                "Version {version} is bundled with Mayfly, which the constraints {:?} do not \
                 allow: change them in required_providers",
                constraint.canonical()
            ),
        });
    }
    let is_near = |it: &&BundledProvider| {
        it.source.type_name == source.type_name || it.source.namespace == source.namespace
    };
    let near = sources.bundled.iter().find(is_near)?;
    if near.source.type_name == source.type_name {
        let (old, new) = (source.for_display(), near.source.for_display());
        return Some(format!(
            "Did you mean {new}, which is bundled with Mayfly? Write source = \"{new}\" in a \
             required_providers block. If only the state has objects of the old provider, run \
             \"mayfly state replace-provider {old} {new}\""
        ));
    }
    Some(format!(
        "Did you mean {}, which is bundled with Mayfly? Write source = \"{}\" in a required_providers block",
        near.source.for_display(),
        near.source.for_display()
    ))
}

fn select_builtin(
    source: &ProviderSource,
    constraint: &VersionConstraint,
    events: &Events<InstallEvent>,
) -> Result<(), InstallError> {
    let cause = if &*source.type_name != "terraform" {
        "this Mayfly release has no built-in provider of that name"
    } else if !constraint.terms().is_empty() {
        "built-in providers do not support explicit version constraints"
    } else {
        events.emit(InstallEvent::Builtin(source.clone()));
        return Ok(());
    };
    Err(InstallError::Builtin { source_addr: source.clone(), cause: cause.to_owned() })
}

pub(crate) fn locked_out(
    source: &ProviderSource,
    version: &Version,
    constraint: &VersionConstraint,
) -> String {
    format!(
        "locked provider {source} {version} does not match configured version constraint {}; must \
         use mayfly init -upgrade to allow selection of new versions",
        constraint.canonical()
    )
}

/// Returns the newest version that the constraint allows and that has a package for the platform.
pub(crate) fn newest(
    source: &ProviderSource,
    constraint: &VersionConstraint,
    available: &Available,
    platform: &Platform,
) -> Result<Version, String> {
    let allowed = |it: &&Version| constraint.allows_provider(it);
    if let Some(version) = available.packages.keys().rev().find(allowed) {
        return Ok(version.clone());
    }
    if let Some(version) = available.elsewhere.iter().rev().find(allowed) {
        return Err(format!("provider {source} {version} is not available for {platform}"));
    }
    if let Some(remote) = available.remotes.first() {
        return Err(unreachable_remote(source, remote));
    }
    if !available.packages.is_empty() || !available.elsewhere.is_empty() {
        return Err(format!(
            "no available releases match the given constraints {}",
            constraint.canonical()
        ));
    }
    let searched: String = available.searched.iter().map(|it| format!("\n  - {it}")).collect();
    Err(format!("provider {source} was not found in any of the search locations\n{searched}"))
}

/// Installs the selected package if necessary, and checks that it is the locked one. The error is a sentence
/// fragment.
async fn install_one(
    request: &InstallRequest<'_>,
    selection: &Selection,
    events: Events<InstallEvent>,
) -> Result<PlacedPackage, String> {
    let Selection { source, version, constraint, .. } = selection;
    let locked = request.locks.providers.get(source).filter(|it| it.version == *version);
    let locked = locked.map(|it| it.hashes.clone()).unwrap_or_default();
    let target = package_dir(request.target, source, version, request.platform);
    let found = if is_usable(&target, source, &locked).await {
        events.emit(InstallEvent::AlreadyInstalled(source.clone(), version.clone()));
        None
    } else {
        match request.plugin_cache {
            Some(cache) => install_by_cache(request, selection, cache, &locked, &events).await?,
            None => {
                events.emit(InstallEvent::Installing(source.clone(), version.clone()));
                let place = Target { directory: &target, present: None };
                Some(fetch(request, selection, &place, &locked, &events).await?)
            }
        }
    };
    let lacks_platforms = |found: &NewHashes| {
        !found.covers_platforms && (locked.is_empty() || locked == found.hashes)
    };
    let is_incomplete = found.as_ref().is_some_and(lacks_platforms);
    let (hashes, unpacked) = found.map(|it| (it.hashes, it.unpacked)).unwrap_or_default();
    let hashes = locked.into_iter().chain(hashes).collect();
    let (version, constraints) = (version.clone(), constraint.clone());
    let lock = ProviderLock { version, constraints, hashes };
    Ok(PlacedPackage { lock, is_incomplete, unpacked })
}

/// Installs the package to the cache if necessary, and links to it. Returns the hashes if the package is new.
async fn install_by_cache(
    request: &InstallRequest<'_>,
    selection: &Selection,
    cache: &Path,
    locked: &TreeSet<Hash>,
    events: &Events<InstallEvent>,
) -> Result<Option<NewHashes>, String> {
    let Selection { source, version, .. } = selection;
    let on_wait = || events.emit(InstallEvent::WaitingForCache(cache.to_owned()));
    let package = package_dir(cache, source, version, request.platform);
    let entry = CacheEntry::lock(cache, package, on_wait).await?;
    let refused = refusal(request, selection, &entry, locked).await;
    let found = match refused {
        Refusal::None => {
            events.emit(InstallEvent::AlreadyInCache(source.clone(), version.clone()));
            None
        }
        refused => {
            if let Refusal::Because(reason) = &refused {
                let reason = reason.clone();
                events.emit(InstallEvent::CacheRefused(source.clone(), version.clone(), reason));
            }
            events.emit(InstallEvent::InstallingToCache(source.clone(), version.clone()));
            let present = match refused {
                Refusal::Unlocked(hash) => Some(hash),
                _ => None,
            };
            let place = Target { directory: &entry.package, present };
            Some(fill(request, selection, &place, locked, events).await?)
        }
    };
    events.emit(InstallEvent::FromCache(source.clone(), version.clone()));
    let target = package_dir(request.target, source, version, request.platform);
    let (cached, link) = (entry.package.clone(), target.clone());
    let linked = blocking(move || package::link_to_cache(&cached, &link)).await;
    linked.map_err(|it| it.to_string())?;
    executable(&target, source).await?;
    Ok(found)
}

/// The reason why an entry of the cache is not used as it is.
enum Refusal {
    /// It is used.
    None,
    Missing,
    /// The lock file has no hash to compare this one with.
    Unlocked(Hash),
    /// The reason, as a clause about "it".
    Because(String),
}

async fn refusal(
    request: &InstallRequest<'_>,
    selection: &Selection,
    entry: &CacheEntry,
    locked: &TreeSet<Hash>,
) -> Refusal {
    match entry.state(request.sources.mirrors()).await {
        EntryState::Missing => return Refusal::Missing,
        EntryState::Refused(reason) => return Refusal::Because(reason),
        EntryState::Sound => {}
    }
    if let Err(reason) = executable(&entry.package, &selection.source).await {
        return Refusal::Because(format!("it has no plugin: {reason}"));
    }
    match hash_of_directory(&entry.package).await {
        Ok(hash) if locked.is_empty() => Refusal::Unlocked(hash),
        Ok(hash) if locked.contains(&hash) => Refusal::None,
        Ok(_) => Refusal::Because("the lock file has other hashes".to_owned()),
        Err(error) => Refusal::Because(format!("it cannot be hashed: {}", error.cause)),
    }
}

/// Installs the package to the cache. A package that is there and that no lock file knows stays if it is the right one,
/// because other configurations may use it now, or if the user trusts the cache.
async fn fill(
    request: &InstallRequest<'_>,
    selection: &Selection,
    place: &Target<'_>,
    locked: &TreeSet<Hash>,
    events: &Events<InstallEvent>,
) -> Result<NewHashes, String> {
    let Selection { source, version, available, .. } = selection;
    if let Some(hash) = place.present.clone().filter(|_| request.cache_may_break_locks) {
        // OpenTofu also searches the sources here; a package that no source has must not be locked.
        find(request.sources, source, version, request.platform, available).await?;
        let evidence = Authentication::Unauthenticated;
        events.emit(InstallEvent::Installed(source.clone(), version.clone(), evidence));
        let hashes = TreeSet::from([hash]);
        return Ok(NewHashes { hashes, covers_platforms: false, unpacked: None });
    }
    fetch(request, selection, place, locked, events).await
}

/// The place of a package.
struct Target<'a> {
    directory: &'a Path,
    /// The `h1:` hash of the package that is there and stays if it is the right one. `None` if it is replaced.
    present: Option<Hash>,
}

/// Installs the package from its source and returns its hashes.
async fn fetch(
    request: &InstallRequest<'_>,
    selection: &Selection,
    target: &Target<'_>,
    locked: &TreeSet<Hash>,
    events: &Events<InstallEvent>,
) -> Result<NewHashes, String> {
    let Selection { source, version, available, .. } = selection;
    let offered = find(request.sources, source, version, request.platform, available).await?;
    let retrieved = offered.retrieve(Some(target.directory)).await?;
    let Retrieved { mut package, evidence } = retrieved;
    let hash = package.hash().await?;
    if !is_locked(&mut package, &hash, locked).await? {
        return Err(not_locked(selection, &package));
    }
    package.require_plugin(source).await?;
    let unpacked = match target.present.as_ref() == Some(&hash) {
        true => None,
        false => package.install(source, target.directory).await?,
    };
    let Evidence { mut told, authentication, covers_platforms } = evidence;
    events.emit(InstallEvent::Installed(source.clone(), version.clone(), authentication));
    told.insert(hash);
    Ok(NewHashes { hashes: told, covers_platforms, unpacked })
}

/// Returns true if the directory holds a package with an executable whose hash is in the lock file. Only such a
/// package is used without a look at its source.
async fn is_usable(directory: &Path, source: &ProviderSource, locked: &TreeSet<Hash>) -> bool {
    !locked.is_empty()
        && hash_of_directory(directory).await.is_ok_and(|it| locked.contains(&it))
        && executable(directory, source).await.is_ok()
}

/// Finds the executable of a package. The error is a sentence fragment.
async fn executable(package: &Path, source: &ProviderSource) -> Result<PathBuf, String> {
    let (package, source) = (package.to_owned(), source.clone());
    blocking(move || executable_in(&package, &source)).await.map_err(|it| it.to_string())
}

/// Returns true if the lock file has the package, or nothing about it. `hash` is its `h1:` hash.
async fn is_locked(
    package: &mut LocalPackage,
    hash: &Hash,
    locked: &TreeSet<Hash>,
) -> Result<bool, String> {
    match package {
        _ if locked.is_empty() || locked.contains(hash) => Ok(true),
        LocalPackage::Directory(_) => Ok(false),
        LocalPackage::Archive(packed) => packed.has_one_of(locked).await,
    }
}

fn not_locked(selection: &Selection, package: &LocalPackage) -> String {
    let Selection { source, version, .. } = selection;
    let noun = match package {
        LocalPackage::Directory(_) => "package",
        LocalPackage::Archive(_) => "archive",
    };
    format!(
        "the local {noun} for {source} {version} doesn't match any of the checksums previously \
         recorded in the dependency lock file (this might be because the available checksums are \
         for packages targeting different platforms); for more information: \
         https://opentofu.org/docs/language/files/dependency-lock/#checksum-verification"
    )
}

#[cfg(test)]
pub(crate) mod tests;
