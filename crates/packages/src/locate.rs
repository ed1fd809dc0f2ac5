//! Finds the executables of installed providers, for every command after `init`.

use std::path::{Path, PathBuf};

use addr::{ProviderSource, Version, VersionConstraint};
use futures::future::{BoxFuture, LocalBoxFuture};
use futures::{StreamExt, stream};
use sorted::TreeMap;

use crate::blocking::{AT_ONCE, blocking};
use crate::hash::{Hash, HashError};
use crate::install::bundled_hint;
use crate::locks::{Locks, ProviderLock};
use crate::package::{executable_in, package_dir};
use crate::platform::Platform;
use crate::sources::Sources;

/// A function that returns the `h1:` hash of a package.
pub type HashPackage<'a> =
    dyn Fn(PathBuf) -> BoxFuture<'a, Result<Hash, HashError>> + Send + Sync + 'a;

/// The requirements and the selections.
#[derive(Clone, Copy)]
pub struct LocateRequest<'a> {
    /// The requirements of configuration and state, with the constraints of all modules combined.
    pub requirements: &'a TreeMap<ProviderSource, VersionConstraint>,
    /// The selected versions.
    pub locks: &'a Locks,
    /// The sources, for overridden and bundled providers.
    pub sources: &'a Sources,
    /// The directory `.terraform/providers`.
    pub installed: &'a Path,
    /// The platform of the packages.
    pub platform: &'a Platform,
    /// Returns the `h1:` hash of a package: [`hash_of_directory`](crate::hash_of_directory), or a function that
    /// caches.
    pub hash: &'a HashPackage<'a>,
}

/// The way in which a provider is run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Located {
    /// Inside of this program.
    Builtin,
    /// As a plugin that is bundled with this program.
    Bundled { version: Version, executable: PathBuf, arguments: Vec<String> },
    /// As an installed package whose hash is in the lock file.
    Installed { version: Version, executable: PathBuf, hash: Hash },
    /// As a development override of the user.
    Overridden { executable: PathBuf },
}

/// An error that prevents running the providers. Each problem is a sentence fragment in OpenTofu's wording.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{}", self.detail())]
pub enum LocateError {
    /// The lock file does not match the requirements.
    Inconsistent {
        problems: Vec<String>,
        /// True if a locked version must change, which requires `init -upgrade`.
        needs_upgrade: bool,
    },
    /// The installed packages do not match the lock file.
    NotInstalled { problems: Vec<String> },
    /// A development override of the CLI configuration cannot be used.
    Overridden { problems: Vec<String> },
}

impl LocateError {
    /// The detail: the problems and how to resolve them.
    pub fn detail(&self) -> String {
        let list = |it: &[String]| it.iter().map(|it| format!("\n  - {it}")).collect::<String>();
        match self {
            Self::Inconsistent { problems, needs_upgrade } => {
                let way_out = if *needs_upgrade {
                    "To update the locked dependency selections to match a changed configuration, \
                     run:\n  mayfly init -upgrade"
                } else {
                    "To make the initial dependency selections that will initialize the dependency \
                     lock file, run:\n  mayfly init"
                };
                format!(
                    "The following dependency selections recorded in the lock file are \
                     inconsistent with the current configuration:{}\n\n{way_out}",
                    list(problems)
                )
            }
            Self::NotInstalled { problems } => format!(
                "The installed provider plugins are not consistent with the packages selected in \
                 the dependency lock file:{}\n\nMayfly uses external plugins to integrate with a \
                 variety of different infrastructure services. To download the plugins required \
                 for this configuration, run:\n  mayfly init",
                list(problems)
            ),
            Self::Overridden { problems } => format!(
                "The CLI configuration overrides providers with paths that do not \
                 exist:{}\n\nCorrect the paths in its dev_overrides block, or remove them.",
                list(problems)
            ),
        }
    }
}

/// Finds all required providers, and verifies the installed ones.
///
/// # Errors
/// Returns a [`LocateError`] with all problems of overrides, else of the lock file, else of the packages.
pub fn locate<'r>(
    request: &'r LocateRequest<'_>,
) -> LocalBoxFuture<'r, Result<TreeMap<ProviderSource, Located>, LocateError>> {
    Box::pin(locate_all(request))
}

async fn locate_all(
    request: &LocateRequest<'_>,
) -> Result<TreeMap<ProviderSource, Located>, LocateError> {
    let mut located = TreeMap::new();
    let mut selected = Vec::new();
    let mut inconsistent = Vec::new();
    let mut overridden = Vec::new();
    let mut needs_upgrade = false;
    for (source, constraint) in request.requirements {
        match choose(request, source, constraint).await {
            Ok(Choice::Ready(it)) => drop(located.insert(source.clone(), it)),
            Ok(Choice::Locked(lock)) => selected.push((source, lock)),
            Err(NotChosen::Override(problem)) => overridden.push(format!("{source}: {problem}")),
            Err(NotChosen::Lock { problem, is_changed }) => {
                needs_upgrade |= is_changed;
                inconsistent.push(format!("provider {source}: {problem}"));
            }
        }
    }
    if !overridden.is_empty() {
        return Err(LocateError::Overridden { problems: overridden });
    }
    if !inconsistent.is_empty() {
        return Err(LocateError::Inconsistent { problems: inconsistent, needs_upgrade });
    }
    let mut missing = Vec::new();
    let found = stream::iter(&selected).map(|(source, lock)| find(request, source, lock));
    let found: Vec<_> = found.buffered(AT_ONCE).collect().await;
    for ((source, _), found) in selected.into_iter().zip(found) {
        match found {
            Ok(it) => drop(located.insert(source.clone(), it)),
            Err(problem) => missing.push(format!("{source}: {problem}")),
        }
    }
    if missing.is_empty() {
        Ok(located)
    } else {
        Err(LocateError::NotInstalled { problems: missing })
    }
}

/// Checks that the lock file has a suitable version of each required provider.
///
/// # Errors
/// Returns [`LocateError::Inconsistent`] otherwise.
pub fn check_locks(
    requirements: &TreeMap<ProviderSource, VersionConstraint>,
    locks: &Locks,
    sources: &Sources,
) -> Result<(), LocateError> {
    let (mut problems, mut needs_upgrade) = (Vec::new(), false);
    for (source, constraint) in requirements.iter().filter(|it| !it.0.is_builtin()) {
        if let Err(NotChosen::Lock { problem, is_changed }) =
            choose_locked(locks, sources, source, constraint)
        {
            needs_upgrade |= is_changed;
            problems.push(format!("provider {source}: {problem}"));
        }
    }
    match problems.is_empty() {
        true => Ok(()),
        false => Err(LocateError::Inconsistent { problems, needs_upgrade }),
    }
}

enum Choice<'a> {
    Ready(Located),
    Locked(&'a ProviderLock),
}

/// The reason why a provider cannot be chosen. Problems are sentence fragments.
enum NotChosen {
    Override(String),
    Lock {
        problem: String,
        /// True if a locked version does not match.
        is_changed: bool,
    },
}

async fn choose<'a>(
    request: &LocateRequest<'a>,
    source: &ProviderSource,
    constraint: &VersionConstraint,
) -> Result<Choice<'a>, NotChosen> {
    if source.is_builtin() {
        return Ok(Choice::Ready(Located::Builtin));
    }
    if let Some(directory) = request.sources.overrides.get(source) {
        let executable = overriding_executable(directory, source).await;
        let executable = executable.map_err(NotChosen::Override)?;
        return Ok(Choice::Ready(Located::Overridden { executable }));
    }
    choose_locked(request.locks, request.sources, source, constraint)
}

fn choose_locked<'a>(
    locks: &'a Locks,
    sources: &Sources,
    source: &ProviderSource,
    constraint: &VersionConstraint,
) -> Result<Choice<'a>, NotChosen> {
    if let Some(lock) = locks.providers.get(source) {
        if constraint.allows_provider(&lock.version) {
            return Ok(Choice::Locked(lock));
        }
        let problem = format!(
            "locked version selection {} doesn't match the updated version constraints {:?}",
            lock.version,
            constraint.canonical()
        );
        return Err(NotChosen::Lock { problem, is_changed: true });
    }
    match sources.bundled(source) {
        Some(bundled) if constraint.allows_provider(&bundled.version) => {
            Ok(Choice::Ready(Located::Bundled {
                version: bundled.version.clone(),
                executable: bundled.executable.clone(),
                arguments: bundled.arguments.clone(),
            }))
        }
        _ => {
            let mut problem =
                "required by this configuration but no version is selected".to_owned();
            if let Some(hint) = bundled_hint(sources, source, constraint) {
                problem = format!("{problem}. {hint}");
            }
            Err(NotChosen::Lock { problem, is_changed: false })
        }
    }
}

/// Returns the executable of an override, which is either the directory of a package or the executable itself.
async fn overriding_executable(path: &Path, source: &ProviderSource) -> Result<PathBuf, String> {
    let (path, source) = (path.to_owned(), source.clone());
    blocking(move || match path.is_file() {
        true => Ok(path),
        false => executable_in(&path, &source).map_err(|it| format!("{}: {it}", path.display())),
    })
    .await
}

async fn find(
    request: &LocateRequest<'_>,
    source: &ProviderSource,
    lock: &ProviderLock,
) -> Result<Located, String> {
    let version = &lock.version;
    let root = request.installed.display();
    let package = package_dir(request.installed, source, version, request.platform);
    let place = package.clone();
    if !blocking(move || place.is_dir()).await {
        return Err(format!("there is no package for {source} {version} cached in {root}"));
    }
    let hash = (request.hash)(package.clone()).await.map_err(|it| {
        format!(
            "failed to determine checksum of cached package for {source} \
                               {version} (in {root}): {it}"
        )
    })?;
    if !lock.hashes.contains(&hash) {
        return Err(format!(
            "the cached package for {source} {version} (in {root}) does not match any of the \
             checksums recorded in the dependency lock file"
        ));
    }
    let of = source.clone();
    let executable = blocking(move || executable_in(&package, &of)).await;
    let executable = executable.map_err(|it| it.to_string())?;
    Ok(Located::Installed { version: version.clone(), executable, hash })
}
