//! Plugins as real processes: our client against our server, and against programs that do everything wrong.

#![expect(clippy::disallowed_methods, reason = "the tests look at processes, sockets and clocks")]

mod go;
mod misbehaving;
mod peer;
mod support;
mod terraform;
