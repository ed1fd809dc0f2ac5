//! Tests of the bundled providers from a core's side: in process, over real plugin processes, and under
//! `terraform` if it is installed.

#![expect(clippy::disallowed_methods, reason = "the tests look at processes, sockets and files")]

mod archive;
mod core;
mod ephemeral;
mod faults;
mod local;
mod managed;
mod terraform;
