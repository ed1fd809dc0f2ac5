//! Providers that come with the program, and the SDK that they are written in.
//!
//! Start reading at [`sdk`], then [`playground`]; [`bundled`] lists what there is. Tests over real processes are in
//! `tests/`.
//!
//! **Invariant:** a bundled provider is an ordinary plugin: everything it does, it does over [`provider::Provider`], and
//! it runs under `terraform` and `tofu` too.
//! **Invariant:** no secret is written anywhere but, sealed, into the playground's own store.
//! **Absent on purpose:** the engine, configurations, state files.

#![expect(
    clippy::disallowed_methods,
    reason = "an edge crate: the playground is a remote system made of files, sockets and clocks"
)]

mod bundle;
pub mod playground;
pub mod sdk;

pub use bundle::{Bundled, ServeError, bundled, serve_playground, serve_playground_for_debugging};
