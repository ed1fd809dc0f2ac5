//! The language server: the LSP front end of `ide`, with one database behind it.
//!
//! Start reading at [`serve`], then `frames` and `transport` (bytes to messages and back), `methods` and `front` (the
//! handlers), `message` and `server` (the thread that owns the database), `snapshot` (how a request is answered),
//! `checks` (diagnostics while the user types) and `reading` (background reads from the disk).
//!
//! ```text
//!  client ◄─► transport ─► front ── Message ──► server thread ── Snapshot ──► workers ─► ide
//!                ▲                              owns the database                 │
//!                └──── outgoing ◄─────── diagnostics, status ◄── Message ─────────┘
//! ```
//!
//! **Invariant:** handlers queue their message before they return, so edits and requests keep the order in which the
//! client sent them.
//! **Invariant:** only the server thread changes the database. Readers have a snapshot, which an edit cancels.
//! **Invariant:** no program is started, whatever the workspace contains: schemas come from the files that `init`
//! wrote.
//! **Absent on purpose:** engines, plugins, state, values.

mod capabilities;
mod checks;
mod client;
mod convert;
mod documents;
mod frames;
mod front;
pub mod fuzz;
mod installation;
mod message;
mod methods;
mod outgoing;
mod position;
mod reading;
mod roots;
mod server;
mod settings;
mod snapshot;
mod tfvars;
mod transport;

use std::{
    pin::Pin,
    sync::{Arc, mpsc},
};

use db::System;
use futures::future::LocalBoxFuture;
use tokio::io::{AsyncRead, AsyncWrite};

pub use crate::installation::{Installation, Installed, PlannedCauses, PlannedQuestion};

/// Serves a client until it sends `exit`, closes the connection, or sends bytes in which no message can be found.
/// Returns true if the client has sent `shutdown` before.
pub fn serve<'s>(
    input: impl AsyncRead + Unpin + 's,
    output: impl AsyncWrite + 's,
    system: Arc<dyn System>,
    installation: Arc<dyn Installation>,
) -> LocalBoxFuture<'s, bool> {
    serve_streams(Box::new(input), Box::pin(output), system, installation)
}

type Input<'s> = Box<dyn AsyncRead + Unpin + 's>;
type Output<'s> = Pin<Box<dyn AsyncWrite + 's>>;

fn serve_streams<'s>(
    input: Input<'s>,
    output: Output<'s>,
    system: Arc<dyn System>,
    installation: Arc<dyn Installation>,
) -> LocalBoxFuture<'s, bool> {
    Box::pin(serve_client(input, output, system, installation))
}

async fn serve_client(
    input: Input<'_>,
    output: Output<'_>,
    system: Arc<dyn System>,
    installation: Arc<dyn Installation>,
) -> bool {
    let (messages, inbox) = mpsc::channel();
    let (outgoing, outbox) = tokio::sync::mpsc::unbounded_channel();
    let front = front::LanguageFrontEnd::new(messages.clone());
    let own = messages.clone();
    let thread = server::start(system, installation, own, inbox, outgoing);
    let is_shut_down = transport::carry(input, output, front, outbox).await;
    let _ = messages.send(message::Message::Exit);
    drop(thread);
    is_shut_down
}
