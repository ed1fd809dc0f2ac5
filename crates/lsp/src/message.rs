//! The messages to the server thread.

use tokio::sync::oneshot;
use tower_lsp_server::ls_types::{
    DidChangeTextDocumentParams, TextDocumentItem, Uri, WorkspaceFoldersChangeEvent,
};

use crate::{
    checks::Checked,
    client::InitializeParams,
    reading::Read,
    snapshot::{Answer, QueuedRequest},
};

/// A message to the server thread.
pub(crate) enum Message {
    Initialize(Box<InitializeParams>, oneshot::Sender<Answer>),
    Initialized,
    Open(TextDocumentItem),
    Change(DidChangeTextDocumentParams),
    Close(Uri),
    /// Files that another program wrote, created or removed.
    Watched(Vec<String>),
    Folders(WorkspaceFoldersChangeEvent),
    /// The new settings of the user.
    Settings(serde_json::Value),
    /// A workspace-wide search needs all modules.
    LoadEverything,
    Request(QueuedRequest),
    Checked(Checked),
    /// The result of a background read.
    Read(Read),
    Exit,
}
