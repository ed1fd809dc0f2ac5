//! The transport of messages between the client and the service.
//!
//! ```text
//!  input ──► Frames ──► sorted ──► service ──► tasks ──┐
//!                          └── errors of the protocol ─┴─► outbox ──► output
//!                              requests to the client ────────────────►┘
//! ```
//!
//! **Invariant:** a message that cannot be understood gets an error as its answer and has no other effect. The
//! connection ends only if the next message cannot be found.
//! **Invariant:** no answer of this module quotes input of the client.

use std::future::poll_fn;

use futures::{SinkExt as _, StreamExt as _, future::BoxFuture, stream::FuturesUnordered};
use serde_json::Value as Json;
use tokio::{
    io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _},
    sync::mpsc::{Receiver, Sender, channel},
};
use tower::Service;
use tower_lsp_server::{
    ClientSocket, ExitedError,
    jsonrpc::{Error, ErrorCode, Id, Request, Response},
};

use crate::frames::{Frame, FrameReader};

/// The maximal number of requests that wait for answers. It has to be large: a reader that waits for a slot cannot
/// read the cancellation that would free one.
const MAX_WAITING: usize = 4096;

/// The maximal number of answers that wait for the client to read them.
const MAX_UNREAD: usize = 64;

/// The size of the read buffer, in bytes.
const CHUNK: usize = 64 << 10;

/// The phase of the connection.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Phase {
    /// The client has not received the server's capabilities yet.
    Fresh,
    Serving,
    ShutDown,
}

/// A classified content.
enum Message {
    Request(Request),
    Response(Response),
    /// Neither a request nor a response, with the error to answer.
    Invalid(Response),
}

/// Serves until the client sends `exit`, closes the connection, or sends bytes in which no message can be found.
pub(crate) async fn carry<S>(
    input: impl AsyncRead + Unpin,
    output: impl AsyncWrite,
    service: S,
    socket: ClientSocket,
) where
    S: Service<Request, Response = Option<Response>, Error = ExitedError>,
    S::Future: Send + 'static,
{
    let (to_client, from_client) = socket.split();
    let (outbox, outgoing) = channel(MAX_UNREAD);
    let reading = Reader { service, outbox, tasks: FuturesUnordered::new(), phase: Phase::Fresh };
    let mut output = std::pin::pin!(output);
    let read = async move { reading.run(input, from_client).await };
    let write = write(&mut output, outgoing, to_client);
    let (read, mut write) = (std::pin::pin!(read), std::pin::pin!(write));
    tokio::select! {
        () = read => write.await,
        // The client no longer reads answers.
        () = &mut write => {}
    }
}

/// Writes answers and requests to the client, until no more answers can come or the connection is closed.
async fn write(
    output: &mut (impl AsyncWrite + Unpin),
    mut outgoing: Receiver<Vec<u8>>,
    mut to_client: impl futures::Stream<Item = Request> + Unpin,
) {
    loop {
        let content = tokio::select! {
            answer = outgoing.recv() => match answer {
                Some(answer) => answer,
                None => return,
            },
            Some(request) = to_client.next() => encoded(&request),
        };
        let head = format!("Content-Length: {}\r\n\r\n", content.len());
        let written = async {
            output.write_all(head.as_bytes()).await?;
            output.write_all(&content).await?;
            output.flush().await
        };
        if written.await.is_err() {
            return;
        }
    }
}

fn encoded(message: &impl serde::Serialize) -> Vec<u8> {
    serde_json::to_vec(message).expect("messages have string keys only")
}

struct Reader<S> {
    service: S,
    outbox: Sender<Vec<u8>>,
    /// The requests that are being answered. New ones are polled first, in the order of their arrival, so that
    /// each handler queues its message in that order.
    tasks: FuturesUnordered<BoxFuture<'static, ()>>,
    phase: Phase,
}

impl<S> Reader<S>
where
    S: Service<Request, Response = Option<Response>, Error = ExitedError>,
    S::Future: Send + 'static,
{
    async fn run(
        mut self,
        mut input: impl AsyncRead + Unpin,
        mut from_client: impl futures::Sink<Response> + Unpin,
    ) {
        let mut frames = FrameReader::default();
        let mut chunk = vec![0; CHUNK];
        'reading: loop {
            while let Some(frame) = frames.next() {
                self.wait_for_slot().await;
                let content = match frame {
                    Frame::Content(content) => content,
                    Frame::Unreadable => {
                        self.answer(failure(Id::Null, Error::parse_error())).await;
                        continue;
                    }
                    Frame::Lost(reason) => {
                        self.answer(failure(Id::Null, lost(reason))).await;
                        break 'reading;
                    }
                };
                match sorted(&content) {
                    Message::Request(request) => {
                        if !self.take(request).await {
                            break 'reading;
                        }
                    }
                    // A response without a request is dropped.
                    Message::Response(response) => drop(from_client.send(response).await),
                    Message::Invalid(answer) => self.answer(answer).await,
                }
            }
            tokio::select! {
                read = input.read(&mut chunk) => match read {
                    Ok(read @ 1..) => frames.push(&chunk[..read]),
                    // The client closed the connection.
                    Ok(0) | Err(_) => break,
                },
                Some(()) = self.tasks.next() => {}
            }
        }
        while self.tasks.next().await.is_some() {}
    }

    async fn wait_for_slot(&mut self) {
        while self.tasks.len() >= MAX_WAITING {
            self.tasks.next().await;
        }
    }

    /// Passes a request or notification to the service. Returns false if it ends the connection.
    async fn take(&mut self, request: Request) -> bool {
        if let Some(id) = request.id()
            && let Some(refused) = self.refused(request.method())
        {
            self.answer(failure(id.clone(), refused)).await;
            return true;
        }
        let is_exit = request.method() == "exit";
        let next_phase = match (request.method(), request.id()) {
            ("initialize", Some(_)) => Some(Phase::Serving),
            ("shutdown", Some(_)) => Some(Phase::ShutDown),
            _ => None,
        };
        if poll_fn(|context| self.service.poll_ready(context)).await.is_err() {
            return false;
        }
        let answer = self.service.call(request);
        if let Some(next_phase) = next_phase {
            // Waits for the answer, so that the next message finds the server in the next phase even if the client
            // does not wait.
            if let Ok(Some(answer)) = answer.await {
                if answer.is_ok() {
                    self.phase = next_phase;
                }
                self.answer(answer).await;
            }
            return true;
        }
        let outbox = self.outbox.clone();
        self.tasks.push(Box::pin(async move {
            if let Ok(Some(answer)) = answer.await {
                let _ = outbox.send(encoded(&answer)).await;
            }
        }));
        !is_exit
    }

    /// The error for a request that the current phase does not allow. `None` if the service may answer it.
    fn refused(&self, method: &str) -> Option<Error> {
        match self.phase {
            Phase::Fresh if method != "initialize" => {
                let code = ErrorCode::ServerError(-32002);
                Some(Error { code, message: "Server not initialized".into(), data: None })
            }
            Phase::ShutDown => Some(Error::invalid_request()),
            // The service ignores every method with this prefix, but only notifications may be ignored.
            Phase::Serving if method.starts_with("$/") => Some(Error::method_not_found()),
            Phase::Fresh | Phase::Serving => None,
        }
    }

    async fn answer(&mut self, answer: Response) {
        let sent = self.outbox.send(encoded(&answer));
        let mut sent = std::pin::pin!(sent);
        loop {
            tokio::select! {
                _ = &mut sent => return,
                // Finished tasks make room in the outbox.
                Some(()) = self.tasks.next() => {}
            }
        }
    }
}

/// Classifies a content.
fn sorted(content: &[u8]) -> Message {
    let invalid = |id: Id, error: Error| Message::Invalid(failure(id, error));
    let Ok(json) = serde_json::from_slice::<Json>(content) else {
        return invalid(Id::Null, Error::parse_error());
    };
    let Json::Object(object) = &json else {
        // The language server protocol has no batches.
        return invalid(Id::Null, Error::invalid_request());
    };
    let id = object.get("id").and_then(|id| serde_json::from_value(id.clone()).ok());
    let id = id.unwrap_or(Id::Null);
    let is_request = object.contains_key("method");
    let is_response = object.contains_key("result") || object.contains_key("error");
    let message = match (is_request, is_response) {
        (true, _) => serde_json::from_value(json).map(Message::Request),
        (false, true) => serde_json::from_value(json).map(Message::Response),
        (false, false) => return invalid(id, Error::invalid_request()),
    };
    // The id of an invalid response is one of the server's own, so the error must not carry it.
    let id = if is_request { id } else { Id::Null };
    message.unwrap_or_else(|_| invalid(id, Error::invalid_request()))
}

fn failure(id: Id, error: Error) -> Response {
    Response::from_error(id, error)
}

fn lost(reason: &str) -> Error {
    let message = format!("Parse error: {reason}; nothing after it can be read");
    Error { message: message.into(), ..Error::parse_error() }
}
