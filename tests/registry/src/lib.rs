//! A web server over TLS on the loopback interface, and a registry of providers that it serves: documents, packages and
//! signatures. The end-to-end tests and the bench install from it.
//!
//! Start reading at [`Server`], then [`Release`] and [`pages`].
//!
//! **Absent on purpose:** the tools that install, checks of their requests.
#![expect(
    clippy::disallowed_methods,
    reason = "it writes the certificate of its authority, which the tools read"
)]

mod providers;
mod server;

pub use providers::{
    AuthorKey, PLATFORMS, Release, discovery, package, packed, pages, pages_of, pages_with, sha256,
};
pub use server::{Pace, Pages, Server, ServerIdentity, answer};
