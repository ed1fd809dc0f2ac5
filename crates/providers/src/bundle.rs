//! The list of bundled providers, and how to serve them as plugins.

use std::sync::Arc;

use addr::{ProviderSource, Version};
pub use plugin::ServeError;
use provider::Provider;

use crate::playground;

/// A provider that comes with the program.
pub struct Bundled {
    /// Its source address.
    pub source: ProviderSource,
    /// Its version.
    pub version: Version,
    /// Makes one; it is not configured.
    pub provider: fn() -> Arc<dyn Provider>,
    /// Serves one to the core that started this process. To be called in a process of its own, started with go-plugin's
    /// magic cookie, before anything was printed.
    pub serve: fn() -> Result<(), ServeError>,
}

/// All bundled providers.
///
/// # Panics
/// Never: the addresses and versions are constants that parse.
#[must_use]
pub fn bundled() -> Vec<Bundled> {
    vec![Bundled {
        source: ProviderSource::parse(playground::SOURCE)
            .expect("the constant is a source address"),
        version: Version::parse(playground::VERSION).expect("the constant is a version"),
        provider: || Arc::new(playground::provider()),
        serve: serve_playground,
    }]
}

/// Serves the playground to the core that started this process, until that ends it. Its memory is not dumped.
///
/// # Errors
/// Where this process was not started as a plugin, or cannot listen.
pub fn serve_playground() -> Result<(), ServeError> {
    forbid_dumps();
    run(plugin::serve(Arc::new(playground::provider())))
}

/// Serves the playground to any core that is told of it by `TF_REATTACH_PROVIDERS`, which is printed, until an interrupt.
///
/// # Errors
/// Where it cannot listen.
pub fn serve_playground_for_debugging() -> Result<(), ServeError> {
    run(plugin::serve_debug(Arc::new(playground::provider()), playground::SOURCE))
}

/// Keeps the memory, which holds secrets, out of core dumps and away from other processes of the user. A system that
/// refuses it is no reason not to serve.
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
    // A call that hangs, as some faults of the playground do, must not keep the process.
    runtime.shutdown_background();
    result
}
