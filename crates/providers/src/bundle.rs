//! The list of bundled providers.

use std::{
    path::{Path, PathBuf},
    sync::Arc,
};

use addr::{ProviderSource, Version};
pub use mayfly_sdk::ServeError;
use mayfly_sdk::serve;
use provider::Provider;
use sandbox::{Grants, Ports, contains_home};

use crate::{archive, local, playground, restful};

/// The version of all bundled providers.
const VERSION: &str = env!("CARGO_PKG_VERSION");

/// The surroundings of a run, for the grants of its providers.
pub struct Surroundings<'a> {
    /// The directory that the provider runs in.
    pub working_directory: &'a Path,
    /// The directories of the configuration: the working directory, that of the command, and those of modules.
    /// Directories that contain the home directory are left out.
    pub configuration: &'a [PathBuf],
    /// The home directory of the user. `None` if it is unknown.
    pub home: Option<&'a Path>,
    /// Reads an environment variable of the provider.
    pub variable: &'a dyn Fn(&str) -> Option<String>,
}

/// A provider that is bundled with the program.
pub struct Bundled {
    /// The source address.
    pub source: ProviderSource,
    /// The version.
    pub version: Version,
    /// Returns what the provider needs to do in its sandbox, beyond what every provider may do there.
    pub grants: fn(&Surroundings<'_>) -> Grants,
    /// Creates the provider, not yet configured.
    pub provider: fn() -> Arc<dyn Provider>,
    /// Serves the provider to the core that started this process. Call it in a separate process that was started
    /// with go-plugin's magic cookie, before anything was printed.
    pub serve: fn() -> Result<(), ServeError>,
}

/// All bundled providers.
///
/// # Panics
/// Never: the addresses and versions are valid constants.
#[must_use]
pub fn bundled() -> Vec<Bundled> {
    let bundled = |source, grants, provider, serve| Bundled {
        source: ProviderSource::parse(source).expect("the constant is a source address"),
        version: Version::parse(VERSION).expect("the constant is a version"),
        grants,
        provider,
        serve,
    };
    vec![
        bundled(
            playground::SOURCE,
            playground_grants,
            || Arc::new(playground::provider()),
            || serve(playground::provider()),
        ),
        bundled(
            archive::SOURCE,
            files_only,
            || Arc::new(archive::provider()),
            || serve(archive::provider()),
        ),
        bundled(
            local::SOURCE,
            files_only,
            || Arc::new(local::provider()),
            || serve(local::provider()),
        ),
        bundled(
            restful::SOURCE,
            network_only,
            || Arc::new(restful::provider()),
            || serve(restful::provider()),
        ),
    ]
}

/// The grants of a provider whose resources are files of the configuration.
fn files_only(surroundings: &Surroundings<'_>) -> Grants {
    Grants { write: surroundings.configuration.to_vec(), ..Grants::default() }
}

/// The grants of a provider that calls the servers that its configuration names.
fn network_only(_: &Surroundings<'_>) -> Grants {
    Grants { connect: Ports::All, ..Grants::default() }
}

/// The grants of the playground: its store, which configurations in neighbouring directories may share, and tunnels
/// from a port to an address. The neighbours of a directory in the home directory are not all configurations, and if
/// the working directory contains the home directory, only the usual store in it is permitted.
fn playground_grants(surroundings: &Surroundings<'_>) -> Grants {
    let working_directory = surroundings.working_directory;
    let is_narrow = |it: &&Path| !contains_home(it, surroundings.home);
    let neighbours = working_directory.parent().filter(is_narrow);
    let shared = neighbours.or_else(|| Some(working_directory).filter(is_narrow));
    let shared = match shared {
        Some(directory) => directory.to_owned(),
        None => working_directory.join(playground::STORE_DEFAULT),
    };
    let store = (surroundings.variable)(playground::STORE_VARIABLE).filter(|it| !it.is_empty());
    // A new store is created in the directory that contains it.
    let stores = store.iter().flat_map(|it| {
        let path = working_directory.join(it);
        path.parent().map(Path::to_owned).into_iter().chain([path.clone()])
    });
    Grants {
        write: [shared].into_iter().chain(stores).collect(),
        connect: Ports::All,
        bind: Ports::All,
        ..Grants::default()
    }
}
