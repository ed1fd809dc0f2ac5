//! The operations `providers lock` and `providers mirror`.

use std::path::Path;

use addr::{ProviderSource, VersionConstraint};
use db::{Diagnostic, Summary};
use packages::{
    LockError, LockEvent, LockRequest, Locks, MirrorEvent, MirrorRequest, MirrorStep, Platform,
    Sources,
};
use sorted::TreeMap;

use crate::{
    init,
    session::{Failure, Session, broken},
    view::Notice,
};

/// The options of `providers lock`.
pub struct LockOptions<'a> {
    /// The source addresses of the providers to lock. Empty for all.
    pub providers: &'a [String],
    /// The platforms. Empty for the current one.
    pub platforms: &'a [String],
    /// A directory with packages, in place of the registries.
    pub fs_mirror: Option<&'a Path>,
    /// The URL of a network mirror, in place of the registries.
    pub net_mirror: Option<&'a str>,
}

/// Adds the hashes of packages for several platforms to the lock file. Installs nothing.
pub fn lock(session: &Session, options: &LockOptions<'_>) -> Result<(), Failure> {
    let platforms = platforms(options.platforms)?;
    let sources = lock_sources(session, options)?;
    let mut requirements = requirements(session)?;
    if !options.providers.is_empty() {
        requirements = selected(requirements, options.providers)?;
    }
    let before = session.locks()?;
    let request = LockRequest {
        requirements: &requirements,
        locks: &before,
        sources: &sources,
        platforms: &platforms,
    };
    let mut on_event = |event: LockEvent| session.view.notice(&Notice::Lock(&event));
    let locked = packages::lock_platforms(&request, &mut on_event);
    let after = session.runtime.block_on(locked).map_err(|error| {
        let summary = match error {
            LockError::Platform { .. } => Summary::PROVIDER_LOCKING,
            LockError::Inconsistent(_) => Summary::INCONSISTENT_VERSIONS,
        };
        Diagnostic::new(summary, error.to_string())
    })?;
    if after != before {
        init::save_locks(session, &after)?;
    }
    session.view.notice(&Notice::ProvidersLocked { is_changed: after != before });
    Ok(())
}

/// Copies the packages of all required providers to a mirror, with an index for its use over the network.
pub fn mirror(
    session: &Session,
    directory: &Path,
    wanted_platforms: &[String],
) -> Result<(), Failure> {
    let platforms = platforms(wanted_platforms)?;
    let sources = session.network_sources()?;
    let requirements = requirements(session)?;
    let locks = session.locks()?;
    if locks != Locks::default() {
        packages::check_locks(&requirements, &locks, &sources)
            .map_err(|error| Diagnostic::new(Summary::INCONSISTENT_LOCK_FILE, error.detail()))?;
    }
    let directory = session.at(directory);
    let request = MirrorRequest {
        requirements: &requirements,
        locks: &locks,
        sources: &sources,
        platforms: &platforms,
        directory: &directory,
    };
    let mut on_event = |event: MirrorEvent| session.view.notice(&Notice::Mirror(&event));
    let errors = session.runtime.block_on(packages::mirror(&request, &mut on_event));
    let diagnostics: Vec<Diagnostic> = errors
        .into_iter()
        .map(|error| {
            let summary = match error.step {
                MirrorStep::Select => Summary::MIRROR_SELECTION,
                MirrorStep::Find => Summary::MIRROR_PACKAGE,
                MirrorStep::Retrieve | MirrorStep::Place => Summary::MIRROR_COPY,
                MirrorStep::Index => Summary::MIRROR_INDEX,
            };
            Diagnostic::new(summary, error.detail)
        })
        .collect();
    if diagnostics.is_empty() { Ok(()) } else { Err(diagnostics.into()) }
}

/// The mirror that the options name, or the registries, whose checksums are those that the authors signed. The sources
/// of the CLI configuration are ignored, as in OpenTofu.
fn lock_sources(session: &Session, options: &LockOptions<'_>) -> Result<Sources, Failure> {
    let sources = session.network_sources()?;
    match (options.fs_mirror, options.net_mirror) {
        (Some(_), Some(_)) => {
            let detail = "The -fs-mirror and -net-mirror options are mutually-exclusive: packages \
                          come from only one mirror.";
            Err(Diagnostic::new(Summary::INSTALLATION_OPTIONS, detail).into())
        }
        (Some(directory), None) => Ok(sources.from_plugin_dirs(&[session.at(directory)])),
        (None, Some(url)) => sources.from_network_mirror(url).map_err(|_| {
            let detail =
                "The -net-mirror option requires a valid https: URL as the mirror base URL.";
            Diagnostic::new(Summary::INVALID_NETWORK_MIRROR, detail).into()
        }),
        (None, None) => Ok(sources.from_registries()),
    }
}

/// Parses the platforms. The current one, if there are none.
fn platforms(texts: &[String]) -> Result<Vec<Platform>, Failure> {
    let (mut platforms, mut problems) = (Vec::new(), Vec::new());
    for text in texts {
        match Platform::parse(text) {
            Some(platform) if platforms.contains(&platform) => {}
            Some(platform) => platforms.push(platform),
            None => {
                let detail = format!(
                    "The string {text:?} given in the -platform option is not a valid target \
                     platform: it must be an operating system and a processor architecture with an \
                     underscore between them, such as linux_amd64."
                );
                problems.push(Diagnostic::new(Summary::INVALID_PLATFORM, detail));
            }
        }
    }
    if texts.is_empty() {
        platforms.push(Platform::current());
    }
    if problems.is_empty() { Ok(platforms) } else { Err(problems.into()) }
}

type Requirements = TreeMap<ProviderSource, VersionConstraint>;

/// The providers that the configuration requires.
fn requirements(session: &Session) -> Result<Requirements, Failure> {
    let project = session.project()?;
    match broken(&project) {
        Some(failure) => Err(failure),
        None => Ok(session.requirements(&project, None)),
    }
}

/// The requirements of the given providers only.
fn selected(mut all: Requirements, given: &[String]) -> Result<Requirements, Failure> {
    let (mut selected, mut problems) = (Requirements::new(), Vec::new());
    for text in given {
        match ProviderSource::parse(text) {
            Err(error) => {
                problems.push(Diagnostic::new(Summary::INVALID_PROVIDER_SOURCE, error.detail));
            }
            Ok(source) if selected.contains_key(&source) => {}
            Ok(source) => match all.remove(&source) {
                Some(constraint) => drop(selected.insert(source, constraint)),
                None => {
                    let detail = format!(
                        "The provider {source} is not required by the current configuration."
                    );
                    problems.push(Diagnostic::new(Summary::INVALID_LOCK_PROVIDER, detail));
                }
            },
        }
    }
    if problems.is_empty() { Ok(selected) } else { Err(problems.into()) }
}
