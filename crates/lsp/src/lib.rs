//! The language server: the protocol around `ide`, one database behind it.
//!
//! Start reading at [`serve`], then `frames` and `transport` (from bytes to messages and back), `front` (what the client calls),
//! `server` (the one thread that owns the database), `snapshot` (how a question is answered), `checks` (diagnostics while
//! somebody types) and `reading` (what is read from the disk while somebody types).
//!
//! ```text
//!  client ◄─► transport ─► front ── Message ──► server thread ── Snapshot ──► workers ─► ide
//!                ▲                              owns the database                 │
//!                └──── outgoing ◄─────── diagnostics, status ◄── Message ─────────┘
//! ```
//!
//! **Invariant:** handlers put a message into the queue before they wait for anything, so edits and questions keep the order
//! in which the client sent them (the transport polls handlers in turns).
//! **Invariant:** only the server thread changes the database. Whoever reads has a snapshot, which an edit cancels.
//! **Invariant:** no program is started, whatever the workspace says: schemas are those that `init` has left.
//! **Absent on purpose:** engines, plugins, state, values.

mod beside;
mod capabilities;
mod checks;
mod convert;
mod documents;
mod frames;
mod front;
pub mod fuzz;
mod installation;
mod outgoing;
mod position;
mod reading;
mod roots;
mod server;
mod settings;
mod snapshot;
mod transport;
mod watcher;
mod workers;

use std::sync::{Arc, mpsc};

use db::System;
use tokio::io::{AsyncRead, AsyncWrite};
use tower_lsp_server::LspService;

pub use crate::installation::{Installation, Installed};

/// Answers a client until it says `exit`, closes the connection, or sends what no message can be found in any more. Returns true if
/// the client has said `shutdown` before.
pub async fn serve(
    input: impl AsyncRead + Unpin,
    output: impl AsyncWrite,
    system: Arc<dyn System>,
    installation: Arc<dyn Installation>,
) -> bool {
    let (messages, inbox) = mpsc::channel();
    let (outgoing, outbox) = tokio::sync::mpsc::unbounded_channel();
    let shut_down = Arc::default();
    let (service, socket) = LspService::build(|client| {
        tokio::spawn(outgoing::deliver(client, outbox));
        front::Front::new(messages.clone(), Arc::clone(&shut_down))
    })
    .finish();
    let own = messages.clone();
    let thread = server::start(system, installation, own, inbox, outgoing);
    transport::carry(input, output, service, socket).await;
    let _ = messages.send(server::Message::Exit);
    drop(thread);
    shut_down.load(std::sync::atomic::Ordering::SeqCst)
}
