//! What the server says without being asked.

use std::sync::mpsc::Sender;

use tokio::sync::mpsc::UnboundedReceiver;
use tower_lsp_server::{
    Client,
    ls_types::{
        ConfigurationItem, Diagnostic, MessageType, Registration, Uri,
        notification::Notification as Protocol,
    },
};

use crate::server::Message;

/// Something for the client.
pub(crate) enum Outgoing {
    /// The diagnostics of a file, and the version of the text that they are about.
    Diagnostics(Uri, Vec<Diagnostic>, Option<i32>),
    /// A sentence for the person at the editor.
    Message(MessageType, String),
    /// What a status line says.
    Status(Status),
    /// Something that the client is to do from now on.
    Register(Vec<Registration>),
    /// The client is asked what a person has set; the answer is a message to the server.
    AskForSettings(Sender<Message>),
    /// What was pulled before may be different.
    Refresh(Refresh),
}

/// What a client is to ask for again.
#[derive(Clone, Copy, Default)]
pub(crate) struct Refresh {
    pub(crate) diagnostics: bool,
    pub(crate) inlay_hints: bool,
    pub(crate) code_lenses: bool,
    pub(crate) semantic_tokens: bool,
}

/// The notification `mayfly/status`.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub(crate) struct Status {
    /// A few words; empty if there is nothing to say.
    pub(crate) message: String,
    /// `ok`, `warning` or `error`.
    pub(crate) severity: String,
    /// All of it, in sentences.
    pub(crate) detail: String,
}

impl Status {
    /// There is nothing to say.
    pub(crate) fn fine() -> Status {
        Status { message: String::new(), severity: "ok".to_owned(), detail: String::new() }
    }
}

enum StatusNotification {}

impl Protocol for StatusNotification {
    type Params = Status;
    const METHOD: &'static str = "mayfly/status";
}

/// Hands over one thing after the other. What waits for an answer of the client does not keep the rest waiting.
pub(crate) async fn deliver(client: Client, mut outbox: UnboundedReceiver<Outgoing>) {
    while let Some(outgoing) = outbox.recv().await {
        match outgoing {
            Outgoing::Diagnostics(uri, diagnostics, version) => {
                client.publish_diagnostics(uri, diagnostics, version).await;
            }
            Outgoing::Message(kind, text) => client.show_message(kind, text).await,
            Outgoing::Status(status) => {
                client.send_notification::<StatusNotification>(status).await;
            }
            Outgoing::Register(registrations) => {
                let client = client.clone();
                tokio::spawn(async move { client.register_capability(registrations).await });
            }
            Outgoing::AskForSettings(messages) => {
                let client = client.clone();
                tokio::spawn(async move {
                    let section = Some("mayfly".to_owned());
                    let item = ConfigurationItem { scope_uri: None, section };
                    for options in client.configuration(vec![item]).await.unwrap_or_default() {
                        let _ = messages.send(Message::Settings(options));
                    }
                });
            }
            Outgoing::Refresh(refresh) => {
                let client = client.clone();
                // A client that cannot says so, and nothing follows from it.
                tokio::spawn(async move {
                    if refresh.diagnostics {
                        let _ = client.workspace_diagnostic_refresh().await;
                    }
                    if refresh.inlay_hints {
                        let _ = client.inlay_hint_refresh().await;
                    }
                    if refresh.code_lenses {
                        let _ = client.code_lens_refresh().await;
                    }
                    if refresh.semantic_tokens {
                        let _ = client.semantic_tokens_refresh().await;
                    }
                });
            }
        }
    }
}
