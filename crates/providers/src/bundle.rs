//! The list of bundled providers, and functions that serve them as plugins.

use std::sync::Arc;

use addr::{ProviderSource, Version};
pub use plugin::ServeError;
use provider::Provider;

use crate::{archive, local, playground, restful};

/// The version of all bundled providers.
const VERSION: &str = env!("CARGO_PKG_VERSION");

/// A provider that is bundled with the program.
pub struct Bundled {
    /// The source address.
    pub source: ProviderSource,
    /// The version.
    pub version: Version,
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
    let bundled = |source, provider, serve| Bundled {
        source: ProviderSource::parse(source).expect("the constant is a source address"),
        version: Version::parse(VERSION).expect("the constant is a version"),
        provider,
        serve,
    };
    vec![
        bundled(playground::SOURCE, || Arc::new(playground::provider()), serve_playground),
        bundled(archive::SOURCE, || Arc::new(archive::provider()), serve_archive),
        bundled(local::SOURCE, || Arc::new(local::provider()), serve_local),
        bundled(restful::SOURCE, || Arc::new(restful::provider()), serve_restful),
    ]
}

/// Serves the playground to the core that started this process, until that core ends it. The memory of the process
/// is excluded from dumps.
///
/// # Errors
/// If this process was not started as a plugin, or cannot listen.
pub fn serve_playground() -> Result<(), ServeError> {
    serve(playground::provider())
}

/// Serves `mayfly/archive`, as [`serve_playground`] does.
///
/// # Errors
/// If this process was not started as a plugin, or cannot listen.
pub fn serve_archive() -> Result<(), ServeError> {
    serve(archive::provider())
}

/// Serves `mayfly/local`, as [`serve_playground`] does.
///
/// # Errors
/// If this process was not started as a plugin, or cannot listen.
pub fn serve_local() -> Result<(), ServeError> {
    serve(local::provider())
}

/// Serves `mayfly/restful`, as [`serve_playground`] does.
///
/// # Errors
/// If this process was not started as a plugin, or cannot listen.
pub fn serve_restful() -> Result<(), ServeError> {
    serve(restful::provider())
}

/// Serves the playground until an interrupt to every core that reattaches. Prints the value of
/// `TF_REATTACH_PROVIDERS` for that.
///
/// # Errors
/// If it cannot listen.
pub fn serve_playground_for_debugging() -> Result<(), ServeError> {
    run(plugin::serve_debug(Arc::new(playground::provider()), playground::SOURCE))
}

fn serve(provider: impl Provider + 'static) -> Result<(), ServeError> {
    forbid_dumps();
    run(plugin::serve(Arc::new(provider)))
}

/// Excludes the memory, which holds secrets, from core dumps and from access by other processes of the user. If
/// the system refuses, the provider is served anyway.
fn forbid_dumps() {
    let none = rustix::process::Rlimit { current: Some(0), maximum: Some(0) };
    let _refused = rustix::process::setrlimit(rustix::process::Resource::Core, none);
    #[cfg(target_os = "linux")]
    let _refused =
        rustix::process::set_dumpable_behavior(rustix::process::DumpableBehavior::NotDumpable);
}

fn run(served: impl Future<Output = Result<(), ServeError>>) -> Result<(), ServeError> {
    let runtime =
        tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build();
    let runtime = runtime.map_err(ServeError::Announce)?;
    let result = runtime.block_on(served);
    // A call that hangs, as some faults of the playground do, must not keep the process alive.
    runtime.shutdown_background();
    result
}
