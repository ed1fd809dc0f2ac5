//! The bundled providers as a core sees them: in process, over real plugin processes, and under `terraform` where there is
//! one.

#![expect(clippy::disallowed_methods, reason = "the tests look at processes, sockets and files")]

mod archive;
mod core;
mod ephemeral;
mod faults;
mod local;
mod managed;
mod terraform;
