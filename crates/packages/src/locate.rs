//! Finding the executables of installed providers, at every command after `init`.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use addr::{ProviderSource, Version, VersionConstraint};

use crate::hash::{Hash, HashError};
use crate::install::bundled_hint;
use crate::locks::{Locks, ProviderLock};
use crate::package::{executable_in, package_dir};
use crate::platform::Platform;
use crate::sources::Sources;

/// What is needed, and what was selected.
#[derive(Clone, Copy)]
pub struct LocateRequest<'a> {
    /// What configuration and state need; constraints of all modules together.
    pub requirements: &'a BTreeMap<ProviderSource, VersionConstraint>,
    pub locks: &'a Locks,
    pub sources: &'a Sources,
    /// `.terraform/providers`.
    pub installed: &'a Path,
    pub platform: &'a Platform,
    /// Gives the `h1:` of a package; [`hash_of_directory`](crate::hash_of_directory), or something that remembers.
    pub hash: &'a dyn Fn(&Path) -> Result<Hash, HashError>,
}

/// How a provider is run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Located {
    /// Inside this program.
    Builtin,
    /// A plugin that came with this program.
    Bundled { version: Version, executable: PathBuf, arguments: Vec<String> },
    /// An installed package, found in the lock file.
    Installed { version: Version, executable: PathBuf, hash: Hash },
    /// A directory that the user put in a provider's place.
    Overridden { executable: PathBuf },
}

/// Why the providers cannot be run; each line is a fragment in the reference's words.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{}: {}", self.summary(), self.detail())]
pub enum LocateError {
    /// The lock file does not fit the requirements.
    Inconsistent {
        problems: Vec<String>,
        /// Whether a locked version has to change, which `init` alone does not do.
        needs_upgrade: bool,
    },
    /// The installed packages do not fit the lock file.
    NotInstalled { problems: Vec<String> },
    /// What the CLI configuration puts in the place of packages is not there.
    Overridden { problems: Vec<String> },
}

impl LocateError {
    /// One line.
    pub fn summary(&self) -> &'static str {
        match self {
            Self::Inconsistent { .. } => "Inconsistent dependency lock file",
            Self::NotInstalled { .. } => "Required plugins are not installed",
            Self::Overridden { .. } => "Development override cannot be used",
        }
    }

    /// What is wrong, and the way out.
    pub fn detail(&self) -> String {
        let list = |it: &[String]| it.iter().map(|it| format!("\n  - {it}")).collect::<String>();
        match self {
            Self::Inconsistent { problems, needs_upgrade } => {
                let way_out = if *needs_upgrade {
                    "To update the locked dependency selections to match a changed configuration, run:\n  mayfly init -upgrade"
                } else {
                    "To make the initial dependency selections that will initialize the dependency lock file, run:\n  mayfly init"
                };
                format!(
                    "The following dependency selections recorded in the lock file are inconsistent with the current configuration:{}\n\n{way_out}",
                    list(problems)
                )
            }
            Self::NotInstalled { problems } => format!(
                "The installed provider plugins are not consistent with the packages selected in the dependency lock file:{}\n\nMayfly uses external plugins to integrate with a variety of different infrastructure services. To download the plugins required for this configuration, run:\n  mayfly init",
                list(problems)
            ),
            Self::Overridden { problems } => format!(
                "The CLI configuration replaces providers by what is not there:{}\n\nCorrect the paths in its dev_overrides block, or remove them.",
                list(problems)
            ),
        }
    }
}

/// Finds all required providers, and verifies those that are installed.
///
/// # Errors
/// [`LocateError`] for all that is wrong with the lock file, else for all that is wrong with the packages.
pub fn locate(
    request: &LocateRequest<'_>,
) -> Result<BTreeMap<ProviderSource, Located>, LocateError> {
    let mut located = BTreeMap::new();
    let mut selected = Vec::new();
    let mut inconsistent = Vec::new();
    let mut overridden = Vec::new();
    let mut needs_upgrade = false;
    for (source, constraint) in request.requirements {
        match choose(request, source, constraint) {
            Ok(Choice::Ready(it)) => drop(located.insert(source.clone(), it)),
            Ok(Choice::Locked(lock)) => selected.push((source, lock)),
            Err(Unfit::Override(problem)) => overridden.push(format!("{source}: {problem}")),
            Err(Unfit::Lock { problem, is_changed }) => {
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
    for (source, lock) in selected {
        match find(request, source, lock) {
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

enum Choice<'a> {
    Ready(Located),
    Locked(&'a ProviderLock),
}

/// Why there is no choice; problems are fragments.
enum Unfit {
    Override(String),
    Lock {
        problem: String,
        /// Whether a locked version does not fit.
        is_changed: bool,
    },
}

fn choose<'a>(
    request: &LocateRequest<'a>,
    source: &ProviderSource,
    constraint: &VersionConstraint,
) -> Result<Choice<'a>, Unfit> {
    if source.is_builtin() {
        return Ok(Choice::Ready(Located::Builtin));
    }
    if let Some(directory) = request.sources.overrides.get(source) {
        let executable = overriding_executable(directory, source).map_err(Unfit::Override)?;
        return Ok(Choice::Ready(Located::Overridden { executable }));
    }
    if let Some(lock) = request.locks.providers.get(source) {
        if constraint.allows_provider(&lock.version) {
            return Ok(Choice::Locked(lock));
        }
        let problem = format!(
            "locked version selection {} doesn't match the updated version constraints {:?}",
            lock.version,
            constraint.canonical()
        );
        return Err(Unfit::Lock { problem, is_changed: true });
    }
    match request.sources.bundled(source) {
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
            if let Some(hint) = bundled_hint(request.sources, source, constraint) {
                problem = format!("{problem}. {hint}");
            }
            Err(Unfit::Lock { problem, is_changed: false })
        }
    }
}

/// An override names a package's directory, or the plugin itself.
fn overriding_executable(path: &Path, source: &ProviderSource) -> Result<PathBuf, String> {
    if path.is_file() {
        return Ok(path.to_owned());
    }
    executable_in(path, source).map_err(|it| format!("{}: {it}", path.display()))
}

fn find(
    request: &LocateRequest<'_>,
    source: &ProviderSource,
    lock: &ProviderLock,
) -> Result<Located, String> {
    let version = &lock.version;
    let root = request.installed.display();
    let package = package_dir(request.installed, source, version, request.platform);
    if !package.is_dir() {
        return Err(format!("there is no package for {source} {version} cached in {root}"));
    }
    let hash = (request.hash)(&package)
        .map_err(|it| format!("failed to determine checksum of cached package for {source} {version} (in {root}): {it}"))?;
    if !lock.hashes.contains(&hash) {
        return Err(format!(
            "the cached package for {source} {version} (in {root}) does not match any of the checksums recorded in the dependency lock file"
        ));
    }
    let executable = executable_in(&package, source).map_err(|it| it.to_string())?;
    Ok(Located::Installed { version: version.clone(), executable, hash })
}
