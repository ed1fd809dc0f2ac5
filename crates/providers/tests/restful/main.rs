//! The requests of the provider `restful`, against a server on loopback.
//!
//! The clock runs, because a paused one would jump to the next timeout whenever a test waits for the server. Long
//! pauses are never waited for: they are cut short by a bound or a stop, or the clock is moved.

#![expect(clippy::disallowed_methods, reason = "the tests write certificates to files")]

mod authentication;
mod connections;
mod oauth2;
mod polling;
mod requests;
#[path = "../restful_server/mod.rs"]
mod restful_server;
mod retries;
mod terraform;

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use bytes::Bytes;
use http_client::{ErrorKind, Method};
use mayfly_sdk::{Secret, Stopper};
use providers::restful::request::build::{Call, DefaultContentType};
use providers::restful::request::client::{
    Answer, ClientCell, InitError, RequestError, RestClient,
};
use providers::restful::request::settings::{BaseUrl, Settings};
use serde_json::Value;

use restful_server::RestfulServer;

/// A configured provider.
struct Provider {
    cell: ClientCell,
    lines: Arc<Mutex<Vec<String>>>,
    stopper: Stopper,
    /// The value of `SSL_CERT_FILE`.
    trusted: Option<String>,
}

impl Provider {
    fn new(settings: Settings) -> Provider {
        let lines = Arc::new(Mutex::new(Vec::new()));
        let written = lines.clone();
        let log = move |line: &str| {
            written.lock().unwrap_or_else(PoisonError::into_inner).push(line.to_owned());
        };
        let cell = ClientCell::new(settings, Arc::new(log));
        Provider { cell, lines, stopper: Stopper::new(), trusted: None }
    }

    async fn client(&self) -> Result<&RestClient, InitError> {
        let variable = |name: &str| self.trusted.clone().filter(|_| name == "SSL_CERT_FILE");
        self.cell.client(&variable, &mut self.stopper.stop()).await
    }

    async fn init_error(&self) -> InitError {
        self.client().await.err().expect("an error")
    }

    async fn send(&self, call: &Call) -> Result<Answer, RequestError> {
        let client = self.client().await.unwrap_or_else(|error| panic!("{error}"));
        client.send(call, &mut self.stopper.stop()).await
    }

    async fn get(&self, path: &str) -> Result<Answer, RequestError> {
        self.send(&Call::get(path)).await
    }

    /// The JSON value at a path.
    async fn json(&self, path: &str) -> Value {
        parsed(&self.get(path).await.unwrap_or_else(|error| panic!("{path}: {error}")))
    }

    /// The log so far.
    fn log(&self) -> Vec<String> {
        self.lines.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Sends a call, and asks to stop as soon as a condition is true.
    async fn stopped_when(
        &self,
        call: &Call,
        condition: impl Fn() -> bool,
    ) -> Result<Answer, RequestError> {
        let stopping = async {
            until(condition).await;
            self.stopper.fire();
        };
        tokio::join!(self.send(call), stopping).0
    }
}

async fn until(condition: impl Fn() -> bool) {
    while !condition() {
        tokio::task::yield_now().await;
    }
}

fn settings(server: &RestfulServer) -> Settings {
    Settings::new(BaseUrl::parse(&server.url).expect("a base URL"))
}

fn secret(text: &str) -> Secret {
    Secret::new(text)
}

fn call(method: Method, path: &str, body: &str) -> Call {
    let body = Some(Bytes::from(body.to_owned()));
    Call { method, body, content_type: DefaultContentType::WithBody, ..Call::get(path) }
}

fn parsed(answer: &Answer) -> Value {
    serde_json::from_slice(&answer.body).unwrap_or_else(|error| panic!("{answer:?}: {error}"))
}

fn map<V>(name: &str, value: V) -> BTreeMap<String, V> {
    BTreeMap::from([(name.to_owned(), value)])
}

/// The error of a request that reached the HTTP client.
fn http_error(outcome: Result<Answer, RequestError>) -> ErrorKind {
    match outcome {
        Err(RequestError::Http(error)) => error.kind,
        outcome => panic!("{outcome:?}"),
    }
}
