//! Notifications and requests that the server sends on its own.

use tokio::sync::mpsc::UnboundedReceiver;
use tower_lsp_server::{
    Client,
    ls_types::{
        ConfigurationItem, Diagnostic, MessageType, Registration, Uri,
        notification::Notification as Protocol,
    },
};

/// A notification or request for the client.
pub(crate) enum Outgoing {
    /// The diagnostics of a file, and the document version to which they belong.
    Diagnostics(Uri, Vec<Diagnostic>, Option<i32>),
    /// A message for the user.
    Message(MessageType, String),
    /// The text of the status line.
    Status(Status),
    /// Registrations of capabilities.
    Register(Vec<Registration>),
    /// A request for the user's settings, with the receiver of the answer.
    AskForSettings(Box<dyn Fn(serde_json::Value) + Send>),
    /// A request to pull data again.
    Refresh(Refresh),
}

/// The kinds of data that a client should pull again.
#[derive(Clone, Copy, Default)]
pub(crate) struct Refresh {
    pub(crate) diagnostics: bool,
    pub(crate) inlay_hints: bool,
    pub(crate) code_lenses: bool,
    pub(crate) semantic_tokens: bool,
}

/// The parameters of the notification `mayfly/status`.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub(crate) struct Status {
    /// A few words; empty if there is no problem.
    pub(crate) message: String,
    /// `ok`, `warning` or `error`.
    pub(crate) severity: String,
    /// The whole message, in sentences.
    pub(crate) detail: String,
}

impl Status {
    /// The status without a problem.
    pub(crate) fn fine() -> Status {
        Status { message: String::new(), severity: "ok".to_owned(), detail: String::new() }
    }
}

enum StatusNotification {}

impl Protocol for StatusNotification {
    type Params = Status;
    const METHOD: &'static str = "mayfly/status";
}

/// Sends outgoing messages in order. Requests that wait for an answer of the client do not delay the others.
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
            Outgoing::AskForSettings(answer) => {
                let client = client.clone();
                tokio::spawn(async move {
                    let section = Some("mayfly".to_owned());
                    let item = ConfigurationItem { scope_uri: None, section };
                    for options in client.configuration(vec![item]).await.unwrap_or_default() {
                        answer(options);
                    }
                });
            }
            Outgoing::Refresh(refresh) => {
                let client = client.clone();
                // A client without support answers with an error, which has no consequence.
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
