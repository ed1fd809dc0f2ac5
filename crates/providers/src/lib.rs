//! Providers that come with the program, and the SDK that they are written in.
//!
//! Start reading at [`sdk`], then [`playground`], [`archive`] and [`local`]; [`bundled`] lists what there is. Tests over real
//! processes are in `tests/`.
//!
//! **Invariant:** a bundled provider is an ordinary plugin: everything it does, it does over [`provider::Provider`], and
//! it runs under `terraform` and `tofu` too.
//! **Invariant:** no secret is written anywhere but, sealed, into the playground's own store, and into the files that a
//! configuration asks for.
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
pub mod sdk;

pub use bundle::{
    Bundled, ServeError, bundled, serve_archive, serve_local, serve_playground,
    serve_playground_for_debugging,
};
