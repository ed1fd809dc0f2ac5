//! The playground as a core sees it: in process, over a real plugin process, and under `terraform` where there is one.

#![expect(clippy::disallowed_methods, reason = "the tests look at processes, sockets and files")]

mod core;
mod ephemeral;
mod faults;
mod managed;
mod terraform;
