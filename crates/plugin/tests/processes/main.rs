//! Tests with plugins as real processes: the client against the server, and against programs that break the
//! protocol.

#![expect(clippy::disallowed_methods, reason = "the tests look at processes, sockets and clocks")]

mod go;
mod misbehaving;
mod peer;
mod sandboxed;
mod support;
mod terraform;
