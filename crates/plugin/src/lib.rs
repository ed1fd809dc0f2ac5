//! Providers as processes: go-plugin's handshake and TLS, provider protocols 5 and 6, both as client and as server.
//!
//! Start reading at [`launch`], which starts a provider's executable and gives a [`PluginProcess`]; then
//! [`GrpcProvider`], which makes of it a [`provider::Provider`]; then [`serve`], the other side.
//! Tests over real processes are in `tests/`.
//!
//! **Invariant:** no process outlives its [`PluginProcess`], whether that is shut down, dropped, or dropped while a
//! panic unwinds; [`kill_all`] covers an exit that runs no destructors, and [`supervise`] the death of this process by a
//! signal or for want of memory. Of a plugin that ends badly, neither does a child.
//! **Invariant:** every wait is bounded, but for the answer to a provider's RPC, which takes as long as the provider needs.
//! **Invariant:** every text that a plugin says passes the [`Redact`] hook before anything else sees it.
//! **Invariant:** bytes from the other side never panic; they become an error that names provider and RPC.
//! **Invariant:** no type that holds a protocol message implements `Debug`, because messages carry secrets.
//! **Absent on purpose:** configuration, graph, state, and where a provider's executable came from.

#![expect(
    clippy::disallowed_methods,
    reason = "an edge crate: it starts processes and owns sockets and deadlines"
)]

mod channel;
mod client;
mod diagnostics;
mod dynamic_value;
pub mod fuzz;
mod generated;
mod handshake;
mod launch;
mod leftovers;
mod logs;
mod process;
mod protocol;
mod reattach;
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
    client::GrpcProvider,
    handshake::{Address, HandshakeError},
    launch::{LaunchError, LaunchOptions, PluginStdin, TlsMode, launch},
    logs::{LONGEST_READ, Line, Lines},
    process::{PluginProcess, kill_all},
    protocol::ProtocolVersion,
    reattach::{Reattach, ReattachError, parse_reattach},
    server::{ServeError, serve, serve_debug},
    sink::{LogLevel, LogRecord, OutputChannel, PluginEvent, PluginSink, Redact},
    supervision::{
        HiddenMode, Registration, Supervision, end_left_processes, hidden_mode, supervise,
    },
};
