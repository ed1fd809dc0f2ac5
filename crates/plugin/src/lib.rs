//! Providers as processes: go-plugin's handshake and TLS, and provider protocols 5 and 6, both as client and as
//! server.
//!
//! Start reading at [`launch`], which starts a provider's executable and returns a [`PluginProcess`]; then
//! [`GrpcProvider`], which implements [`provider::Provider`] on top of it; then [`serve`], the server side. Tests
//! with real processes are in `tests/`.
//!
//! **Invariant:** no process outlives its [`PluginProcess`], whether that is shut down, dropped, or dropped while
//! a panic unwinds. [`Processes::kill_all`] covers an exit that runs no destructors, and [`Processes::supervise`]
//! covers the death of this process by a signal or by lack of memory. If a plugin fails, its children are killed, too.
//! **Invariant:** a list of [`Processes`] belongs to one session; killing its processes leaves those of others alone.
//! **Invariant:** a plugin with a [`Sandbox`] runs no instruction of its own before it is restricted. A provider that
//! another program started ([`GrpcProvider::attach`]) cannot be restricted.
//! **Invariant:** every wait is bounded, except for the answer to a provider's RPC, which takes as long as the
//! provider needs.
//! **Invariant:** every text from a plugin passes the [`Redact`] hook before any other code sees it.
//! **Invariant:** bytes from the other side never cause a panic; they become an error that names the provider and
//! the RPC.
//! **Invariant:** no type that holds a protocol message implements `Debug`, because messages carry secrets.
//! **Absent on purpose:** configuration, graph, state, and the installation of provider executables.

#![expect(
    clippy::disallowed_methods,
    reason = "an edge crate: it starts processes and owns sockets and deadlines"
)]

mod channel;
mod client;
mod diagnostics;
mod dynamic_value;
mod encoded;
pub mod fuzz;
mod generated;
mod handshake;
mod launch;
mod leftovers;
mod logs;
mod process;
mod protocol;
mod reattach;
mod sandboxed;
mod schema_read;
mod schema_v5;
mod schema_write;
mod server;
mod sink;
mod stdio;
mod supervision;
mod tls;
mod wire;

pub use crate::{
    client::{GrpcProvider, GrpcProvisioner},
    handshake::{Address, HandshakeError},
    launch::{LaunchError, LaunchOptions, PluginStdin, TlsMode, launch},
    logs::{LONGEST_READ, Line, Lines, TORN},
    process::PluginProcess,
    protocol::ProtocolVersion,
    reattach::{Reattach, ReattachError, parse_reattach},
    sandboxed::Sandbox,
    server::{ServeError, serve, serve_debug, serve_provisioner},
    sink::{LogLevel, LogRecord, OutputChannel, PluginEvent, PluginSink, Redact},
    supervision::{
        HiddenMode, Processes, Registration, Supervision, end_left_processes, hidden_mode,
    },
};
