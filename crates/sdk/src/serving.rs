//! A provider as a program of its own.

use std::{process::ExitCode, sync::Arc};

pub use plugin::ServeError;
use provider::{BoxFuture, Provider};

use crate::{definition::Definition, server::Server};

/// The `main` function of a provider: serves it to the core that started this process, until that core ends it. With
/// the argument `--debug` it is served to every core that reattaches, until an interrupt.
///
/// If a person starts the program without a core, the program explains itself on stderr.
pub fn main<D: Definition>(definition: D) -> ExitCode {
    let source = definition.source();
    main_of(Server::new(definition), source)
}

/// The `main` function of a provider that is not a [`Server`] alone, such as one that watches the calls of another
/// one. See [`main`].
pub fn main_of(provider: impl Provider + 'static, source: &str) -> ExitCode {
    let served = match std::env::args().skip(1).any(|it| it == "--debug" || it == "-debug") {
        true => serve_for_debugging(provider, source),
        false => serve(provider),
    };
    match served {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => explain(&error),
    }
}

#[expect(clippy::print_stderr, reason = "a plugin that a person starts says so on stderr")]
fn explain(error: &ServeError) -> ExitCode {
    eprintln!("{error}");
    ExitCode::FAILURE
}

/// Serves a provider to the core that started this process, until that core ends it. The memory of the process is
/// excluded from dumps.
///
/// # Errors
/// If this process was not started as a plugin, or cannot listen.
pub fn serve(provider: impl Provider + 'static) -> Result<(), ServeError> {
    forbid_dumps();
    run(plugin::serve(Arc::new(provider)))
}

/// Serves a provider until an interrupt to every core that reattaches. Prints the value of `TF_REATTACH_PROVIDERS` for
/// that. `source` is the source address of the provider.
///
/// # Errors
/// If it cannot listen.
pub fn serve_for_debugging(
    provider: impl Provider + 'static,
    source: &str,
) -> Result<(), ServeError> {
    run(plugin::serve_debug(Arc::new(provider), source))
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

fn run(served: BoxFuture<'_, Result<(), ServeError>>) -> Result<(), ServeError> {
    let runtime =
        tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build();
    let runtime = runtime.map_err(ServeError::Announce)?;
    let result = runtime.block_on(served);
    // A call that hangs must not keep the process alive.
    runtime.shutdown_background();
    result
}
