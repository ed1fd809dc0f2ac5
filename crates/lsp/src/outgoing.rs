//! Notifications and requests that the server sends on its own.

use std::cell::{Cell, RefCell};

use serde::Serialize;
use serde_json::Value as Json;
use tower_lsp_server::{
    jsonrpc::{Id, Request, RequestBuilder, Response},
    ls_types::{
        ConfigurationItem, ConfigurationParams, Diagnostic, MessageType, PublishDiagnosticsParams,
        Registration, RegistrationParams, ShowMessageParams, Uri,
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
    AskForSettings(SettingsReceiver),
    /// A request to pull data again.
    Refresh(Refresh),
}

/// Receives the user's settings.
pub(crate) type SettingsReceiver = Box<dyn Fn(Json) + Send>;

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

/// The requests of the server to the client.
#[derive(Default)]
pub(crate) struct ServerRequests {
    /// The number of requests so far, which is the id of the next one.
    count: Cell<i64>,
    /// The last request for settings that is not answered: its id, and the receiver. The answers to other requests
    /// have no consequence.
    of_settings: RefCell<Option<(i64, SettingsReceiver)>>,
}

impl ServerRequests {
    /// The messages of the protocol that tell something to the client.
    pub(crate) fn messages(&self, outgoing: Outgoing) -> Vec<Request> {
        match outgoing {
            Outgoing::Diagnostics(uri, diagnostics, version) => {
                let params = PublishDiagnosticsParams { uri, diagnostics, version };
                vec![message("textDocument/publishDiagnostics", &params).finish()]
            }
            Outgoing::Message(typ, message) => {
                let params = ShowMessageParams { typ, message };
                vec![self::message("window/showMessage", &params).finish()]
            }
            Outgoing::Status(status) => vec![message("mayfly/status", &status).finish()],
            Outgoing::Register(registrations) => {
                let params =
                    message("client/registerCapability", &RegistrationParams { registrations });
                vec![params.id(self.next_id()).finish()]
            }
            Outgoing::AskForSettings(receiver) => vec![self.settings_request(receiver)],
            Outgoing::Refresh(refresh) => self.refresh_requests(refresh),
        }
    }

    fn settings_request(&self, receiver: SettingsReceiver) -> Request {
        let item = ConfigurationItem { scope_uri: None, section: Some("mayfly".to_owned()) };
        let params = ConfigurationParams { items: vec![item] };
        let id = self.next_id();
        self.of_settings.replace(Some((id, receiver)));
        message("workspace/configuration", &params).id(id).finish()
    }

    /// A client without support answers with errors.
    fn refresh_requests(&self, refresh: Refresh) -> Vec<Request> {
        let methods = [
            (refresh.diagnostics, "workspace/diagnostic/refresh"),
            (refresh.inlay_hints, "workspace/inlayHint/refresh"),
            (refresh.code_lenses, "workspace/codeLens/refresh"),
            (refresh.semantic_tokens, "workspace/semanticTokens/refresh"),
        ];
        let methods = methods.iter().filter(|(is_stale, _)| *is_stale);
        methods.map(|(_, method)| Request::build(*method).id(self.next_id()).finish()).collect()
    }

    fn next_id(&self) -> i64 {
        let id = self.count.get();
        self.count.set(id + 1);
        id
    }

    /// Takes the client's answer to a request. An answer without a request is dropped.
    pub(crate) fn take(&self, answer: Response) {
        let (id, result) = answer.into_parts();
        let asked = self.of_settings.borrow_mut().take_if(|(asked, _)| id == Id::Number(*asked));
        if let (Some((_, receive)), Ok(Json::Array(settings))) = (asked, result) {
            settings.into_iter().for_each(receive);
        }
    }
}

fn message(method: &'static str, params: &impl Serialize) -> RequestBuilder {
    let params = serde_json::to_value(params).expect("parameters have string keys only");
    Request::build(method).params(params)
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::{Receiver, channel};

    use serde_json::json;
    use tower_lsp_server::jsonrpc::Error;

    use super::*;

    /// Requests settings, and returns the id of the request and what arrives.
    fn ask_for_settings(requests: &ServerRequests) -> (Id, Receiver<Json>) {
        let (sender, arrived) = channel();
        let receiver = Box::new(move |settings| drop(sender.send(settings)));
        let [request] = &requests.messages(Outgoing::AskForSettings(receiver))[..] else {
            panic!("it is one request");
        };
        (request.id().expect("it has an id").clone(), arrived)
    }

    #[test]
    fn settings_are_the_elements_of_the_answer() {
        let requests = ServerRequests::default();
        let (id, arrived) = ask_for_settings(&requests);
        requests.take(Response::from_ok(Id::Number(77), json!([0])));
        requests.take(Response::from_ok(id.clone(), json!([1, 2])));
        requests.take(Response::from_ok(id, json!([3])));
        assert_eq!(arrived.iter().collect::<Vec<_>>(), [1, 2]);
    }

    #[test]
    fn refused_or_repeated_request_for_settings_keeps_no_receiver() {
        let requests = ServerRequests::default();
        let (id, arrived) = ask_for_settings(&requests);
        requests.take(Response::from_error(id.clone(), Error::method_not_found()));
        requests.take(Response::from_ok(id, json!([1])));
        assert_eq!(arrived.iter().count(), 0);
        let (first, arrived) = ask_for_settings(&requests);
        let (last, last_arrived) = ask_for_settings(&requests);
        requests.take(Response::from_ok(first, json!([1])));
        requests.take(Response::from_ok(last, json!([2])));
        assert_eq!(arrived.iter().count(), 0);
        assert_eq!(last_arrived.iter().collect::<Vec<_>>(), [2]);
    }
}
