//! The bundled providers, written with [`mayfly_sdk`].
//!
//! Start reading at [`local`], the smallest, then [`archive`], [`playground`] and [`restful`]; [`bundled`] lists
//! the providers.
//! Tests with real processes are in `tests/`.
//!
//! **Invariant:** a bundled provider is an ordinary plugin: it does everything through [`provider::Provider`], and
//! it also runs under `terraform` and `tofu`.
//! **Invariant:** secrets are written only to the playground's own store, where they are sealed, and to the files
//! that a configuration asks for.
//! **Absent on purpose:** the engine, configurations, state files.

#![expect(
    clippy::disallowed_methods,
    reason = "an edge crate: the providers are about files, sockets and clocks"
)]

pub mod archive;
mod bundle;
mod files;
pub mod local;
pub mod playground;
pub mod restful;

pub use bundle::{Bundled, ServeError, Surroundings, bundled};
