//! The command `providers lock`: the hashes of packages for several platforms.

use std::fmt;

use addr::{ProviderSource, Version, VersionConstraint};
use futures::future::BoxFuture;
use sorted::TreeMap;

use crate::blocking::{Events, in_order};
use crate::evidence::Authentication;
use crate::install::{locked_out, newest};
use crate::locks::{Locks, ProviderLock};
use crate::platform::Platform;
use crate::retrieve::{Retrieved, find};
use crate::sources::Sources;

/// The inputs of `providers lock`.
#[derive(Clone, Copy)]
pub struct LockRequest<'a> {
    /// The providers to lock, with the constraints of all modules combined.
    pub requirements: &'a TreeMap<ProviderSource, VersionConstraint>,
    /// The current selections. Their versions stay.
    pub locks: &'a Locks,
    /// The sources of packages. Overrides are ignored, as in OpenTofu.
    pub sources: &'a Sources,
    /// The platforms of the packages.
    pub platforms: &'a [Platform],
}

/// A step of `providers lock`. Its text is the same as in OpenTofu.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LockEvent {
    Bundled(ProviderSource, Version),
    Fetching(ProviderSource, Version, Platform),
    Retrieved(ProviderSource, Version, Platform, Authentication),
    Obtained(ProviderSource, Platform, NewHashes),
}

/// The news of the hashes for one provider and one platform.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NewHashes {
    /// The provider was not locked.
    OfNewProvider,
    /// Some hashes were not locked.
    Some,
    /// All hashes were locked.
    None,
}

impl fmt::Display for LockEvent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Bundled(it, version) => {
                write!(
                    f,
                    "- Skipping {} v{version} because it is bundled with Mayfly",
                    it.for_display()
                )
            }
            Self::Fetching(it, version, platform) => {
                write!(f, "- Fetching {} {version} for {platform}...", it.for_display())
            }
            Self::Retrieved(it, version, platform, evidence) => {
                write!(f, "- Retrieved {} {version} for {platform} ({evidence})", it.for_display())
            }
            Self::Obtained(it, platform, news) => {
                let news = match news {
                    NewHashes::OfNewProvider => {
                        "This was a new provider and the checksums for this platform are now \
                         tracked in the lock file"
                    }
                    NewHashes::Some => {
                        "Additional checksums for this platform are now tracked in the lock file"
                    }
                    NewHashes::None => {
                        "All checksums for this platform were already tracked in the lock file"
                    }
                };
                write!(f, "- Obtained {} checksums for {platform}; {news}", it.for_display())
            }
        }
    }
}

/// The error that prevents locking.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum LockError {
    /// Packages for a platform cannot be retrieved. Each problem is a sentence fragment.
    #[error(
        "Mayfly failed to fetch the requested providers for {platform} in order to calculate their \
         checksums: some providers could not be installed:{}.",
        list(problems)
    )]
    Platform { platform: Platform, problems: Vec<(ProviderSource, String)> },
    /// The newest version differs between the platforms.
    #[error(
        "The version constraint for {0} selected different versions for different platforms. The \
         source may have changed while this command ran, or it may have no version for all of them."
    )]
    Inconsistent(ProviderSource),
}

fn list(problems: &[(ProviderSource, String)]) -> String {
    problems.iter().map(|(source, problem)| format!("\n- {source}: {problem}")).collect()
}

/// Retrieves the packages for all platforms and adds their hashes to the locks. Nothing is installed.
///
/// # Errors
/// Returns a [`LockError`] for the first platform that has problems.
pub fn lock_platforms<'r>(
    request: &'r LockRequest<'_>,
    on_event: &'r mut (dyn FnMut(LockEvent) + Send),
) -> BoxFuture<'r, Result<Locks, LockError>> {
    Box::pin(lock_all(request, on_event))
}

async fn lock_all(
    request: &LockRequest<'_>,
    on_event: &mut (dyn FnMut(LockEvent) + Send),
) -> Result<Locks, LockError> {
    let mut found: Vec<(&Platform, TreeMap<&ProviderSource, ProviderLock>)> = Vec::new();
    let mut versions: TreeMap<&ProviderSource, Version> = TreeMap::new();
    let requirements = lockable(request, on_event);
    for platform in request.platforms {
        let of_platform = lock_one(request, &requirements, platform, on_event).await?;
        for (source, lock) in &of_platform {
            let version = versions.entry(source).or_insert_with(|| lock.version.clone());
            if *version != lock.version {
                return Err(LockError::Inconsistent((*source).clone()));
            }
        }
        found.push((platform, of_platform));
    }
    let mut locks = request.locks.clone();
    for (source, _) in requirements {
        for (platform, of_platform) in &found {
            let Some(lock) = of_platform.get(source) else { continue };
            let old = request.locks.providers.get(source);
            let news = match old {
                None => NewHashes::OfNewProvider,
                Some(old) if old.hashes.is_superset(&lock.hashes) => NewHashes::None,
                Some(_) => NewHashes::Some,
            };
            on_event(LockEvent::Obtained(source.clone(), (*platform).clone(), news));
            add(&mut locks, source, lock);
        }
    }
    Ok(locks)
}

/// The providers that need a lock. Built-in providers have none; bundled ones only if the user locked another version.
fn lockable<'a>(
    request: &LockRequest<'a>,
    on_event: &mut (dyn FnMut(LockEvent) + Send),
) -> Vec<(&'a ProviderSource, &'a VersionConstraint)> {
    let mut lockable = Vec::new();
    for (source, constraint) in request.requirements {
        let bundled = request.sources.bundled(source);
        let bundled = bundled.filter(|it| constraint.allows_provider(&it.version));
        let is_locked = request.locks.providers.contains_key(source);
        match bundled.filter(|_| !is_locked) {
            Some(it) => on_event(LockEvent::Bundled(source.clone(), it.version.clone())),
            None if source.is_builtin() || source.is_legacy() => {}
            None => lockable.push((source, constraint)),
        }
    }
    lockable
}

fn add(locks: &mut Locks, source: &ProviderSource, lock: &ProviderLock) {
    match locks.providers.get_mut(source) {
        Some(known) => {
            known.hashes.extend(lock.hashes.iter().cloned());
            known.constraints = lock.constraints.clone();
        }
        None => drop(locks.providers.insert(source.clone(), lock.clone())),
    }
}

async fn lock_one<'a>(
    request: &LockRequest<'a>,
    requirements: &[(&'a ProviderSource, &'a VersionConstraint)],
    platform: &Platform,
    on_event: &mut (dyn FnMut(LockEvent) + Send),
) -> Result<TreeMap<&'a ProviderSource, ProviderLock>, LockError> {
    let task = |(source, constraint), events| hashes(request, source, constraint, platform, events);
    let results = in_order(requirements.iter().copied(), task, on_event).await;
    let (mut locks, mut problems) = (TreeMap::new(), Vec::new());
    for ((source, _), result) in requirements.iter().zip(results) {
        match result {
            Ok(lock) => drop(locks.insert(*source, lock)),
            Err(problem) => problems.push(((*source).clone(), problem)),
        }
    }
    match problems.is_empty() {
        true => Ok(locks),
        false => Err(LockError::Platform { platform: platform.clone(), problems }),
    }
}

/// Retrieves one package and returns its lock. The error is a sentence fragment.
async fn hashes(
    request: &LockRequest<'_>,
    source: &ProviderSource,
    constraint: &VersionConstraint,
    platform: &Platform,
    events: Events<LockEvent>,
) -> Result<ProviderLock, String> {
    let locked = request.locks.providers.get(source).map(|it| &it.version);
    if let Some(version) = locked.filter(|it| !constraint.allows_provider(it)) {
        return Err(locked_out(source, version, constraint));
    }
    let available = request.sources.available(source, platform, locked).await?;
    let version = match locked {
        Some(version) => version.clone(),
        None => newest(source, constraint, &available, platform)?,
    };
    let offered = find(request.sources, source, &version, platform, &available).await?;
    events.emit(LockEvent::Fetching(source.clone(), version.clone(), platform.clone()));
    let Retrieved { mut package, evidence } = offered.retrieve(None).await?;
    let hash = package.hash().await?;
    // The hash of a package without a plugin would only be locked to fail later.
    package.require_plugin(source).await?;
    let (of, version_of) = (source.clone(), version.clone());
    let authentication = evidence.authentication.clone();
    events.emit(LockEvent::Retrieved(of, version_of, platform.clone(), authentication));
    let hashes = evidence.told.into_iter().chain([hash]).collect();
    Ok(ProviderLock { version, constraints: constraint.clone(), hashes })
}

#[cfg(test)]
mod tests;
