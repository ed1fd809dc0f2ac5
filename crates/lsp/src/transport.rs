//! The transport of messages between the client and the handlers.
//!
//! ```text
//!  input ──► Frames ──► sorted ──► handlers ──► tasks ─┐
//!                          └── errors of the protocol ─┴─► outbox ──► output
//!                              messages of the server ────────────────►┘
//! ```
//!
//! **Invariant:** handlers are called in the order in which the messages arrive.
//! **Invariant:** a message that cannot be understood gets an error as its answer and has no other effect. The
//! connection ends only if the next message cannot be found.
//! **Invariant:** no answer of this module quotes input of the client.

use std::{cell::Cell, io, pin::Pin};

use futures::{
    StreamExt as _,
    future::{AbortHandle, Aborted, BoxFuture, abortable},
    stream::FuturesUnordered,
};
use rustc_hash::FxHashMap;
use serde_json::Value as Json;
use tokio::{
    io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _},
    sync::mpsc::{Receiver, Sender, UnboundedReceiver, channel},
};
use tower_lsp_server::jsonrpc::{Error, ErrorCode, Id, Request, Response};

use crate::{
    frames::{Frame, FrameReader},
    front::{LanguageFrontEnd, PendingAnswer},
    methods::Params,
    outgoing::{Outgoing, ServerRequests},
};

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
/// Returns true if the client has sent `shutdown` before.
pub(crate) async fn carry(
    input: impl AsyncRead + Unpin,
    output: impl AsyncWrite,
    front: LanguageFrontEnd,
    to_client: UnboundedReceiver<Outgoing>,
) -> bool {
    let (outbox, outgoing) = channel(MAX_UNREAD);
    let (phase, requests) = (Cell::new(Phase::Fresh), ServerRequests::default());
    let reader = Reader {
        front,
        outbox,
        tasks: FuturesUnordered::new(),
        handles: FxHashMap::default(),
        phase: &phase,
        requests: &requests,
    };
    let read = reader.run(input);
    let output = std::pin::pin!(output);
    let writer = Writer { output, is_introduced: false, requests: &requests };
    let write = writer.run(outgoing, to_client);
    let (read, mut write) = (std::pin::pin!(read), std::pin::pin!(write));
    tokio::select! {
        () = read => write.await,
        // The client no longer reads answers.
        () = &mut write => {}
    }
    phase.get() == Phase::ShutDown
}

/// An answer that waits for the client to read it.
struct EncodedAnswer {
    content: Vec<u8>,
    /// True if it is the answer that introduces the server.
    introduces: bool,
}

impl EncodedAnswer {
    fn of(answer: &Response) -> EncodedAnswer {
        EncodedAnswer { content: encoded(answer), introduces: false }
    }
}

/// Writes answers and the server's own messages to the client.
struct Writer<'c, O> {
    output: Pin<&'c mut O>,
    /// True after the answer to `initialize`: the protocol allows no message of the server before it.
    is_introduced: bool,
    requests: &'c ServerRequests,
}

impl<O: AsyncWrite> Writer<'_, O> {
    /// Writes until no more answers can come or the connection is closed.
    async fn run(
        mut self,
        mut answers: Receiver<EncodedAnswer>,
        mut to_client: UnboundedReceiver<Outgoing>,
    ) {
        loop {
            let contents = tokio::select! {
                answer = answers.recv() => match answer {
                    Some(answer) => {
                        self.is_introduced |= answer.introduces;
                        vec![answer.content]
                    }
                    None => return,
                },
                Some(outgoing) = to_client.recv(), if self.is_introduced => {
                    self.requests.messages(outgoing).iter().map(encoded).collect()
                }
            };
            for content in contents {
                if self.write(&content).await.is_err() {
                    return;
                }
            }
        }
    }

    async fn write(&mut self, content: &[u8]) -> io::Result<()> {
        let head = format!("Content-Length: {}\r\n\r\n", content.len());
        self.output.write_all(head.as_bytes()).await?;
        self.output.write_all(content).await?;
        self.output.flush().await
    }
}

fn encoded(message: &impl serde::Serialize) -> Vec<u8> {
    serde_json::to_vec(message).expect("messages have string keys only")
}

/// Reads messages and calls their handlers.
struct Reader<'c> {
    front: LanguageFrontEnd,
    outbox: Sender<EncodedAnswer>,
    /// The requests that are being answered. Each task sends an answer, and returns the id.
    tasks: FuturesUnordered<BoxFuture<'static, Id>>,
    /// The handles by which the client cancels these requests.
    handles: FxHashMap<Id, AbortHandle>,
    phase: &'c Cell<Phase>,
    requests: &'c ServerRequests,
}

impl Reader<'_> {
    async fn run(mut self, mut input: impl AsyncRead + Unpin) {
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
                    Message::Response(response) => self.requests.take(response),
                    Message::Invalid(answer) => self.answer(answer).await,
                }
            }
            tokio::select! {
                read = input.read(&mut chunk) => match read {
                    Ok(read @ 1..) => frames.push(&chunk[..read]),
                    // The client closed the connection.
                    Ok(0) | Err(_) => break,
                },
                Some(id) = self.tasks.next() => drop(self.handles.remove(&id)),
            }
        }
        while let Some(id) = self.tasks.next().await {
            self.handles.remove(&id);
        }
    }

    async fn wait_for_slot(&mut self) {
        while self.tasks.len() >= MAX_WAITING
            && let Some(id) = self.tasks.next().await
        {
            self.handles.remove(&id);
        }
    }

    /// Takes a request or notification. Returns false if it ends the connection.
    async fn take(&mut self, request: Request) -> bool {
        let (method, id, params) = request.into_parts();
        let params = Params(params);
        let Some(id) = id else { return self.take_notification(&method, params) };
        let refused = match self.refused(&method) {
            // The answers could not be told apart.
            None if self.handles.contains_key(&id) => Some(Error::invalid_request()),
            refused => refused,
        };
        let answer = match refused {
            Some(refused) => Err(refused),
            None => self.front.request(&method, params),
        };
        match answer {
            Err(error) => self.answer(failure(id, error)).await,
            Ok(answer) => match &*method {
                "initialize" => self.enter(Phase::Serving, id, answer).await,
                "shutdown" => self.enter(Phase::ShutDown, id, answer).await,
                _ => self.wait_for(id, answer),
            },
        }
        true
    }

    /// Returns false if the notification ends the connection.
    fn take_notification(&self, method: &str, params: Params) -> bool {
        match method {
            "exit" => self.handles.values().for_each(AbortHandle::abort),
            "$/cancelRequest" => self.cancel(params),
            // The protocol has no answer to an invalid notification.
            _ if self.phase.get() == Phase::Serving => drop(self.front.notify(method, params)),
            _ => {}
        }
        method != "exit"
    }

    fn cancel(&self, params: Params) {
        let id = params.0.and_then(|mut params| params.get_mut("id").map(Json::take));
        let id = id.and_then(|id| serde_json::from_value::<Id>(id).ok());
        if let Some(handle) = id.and_then(|id| self.handles.get(&id)) {
            handle.abort();
        }
    }

    /// Waits for the answer, so that the next message finds the server in the next phase even if the client does not
    /// wait.
    async fn enter(&mut self, phase: Phase, id: Id, answer: PendingAnswer) {
        let answer = answer.wait().await;
        let is_ok = answer.is_ok();
        if is_ok {
            self.phase.set(phase);
        }
        let content = encoded(&Response::from_parts(id, answer));
        let introduces = is_ok && phase == Phase::Serving;
        self.send(EncodedAnswer { content, introduces }).await;
    }

    /// Answers a request as soon as its answer is known. The client may cancel it.
    fn wait_for(&mut self, id: Id, answer: PendingAnswer) {
        let (answer, handle) = abortable(answer.wait());
        self.handles.insert(id.clone(), handle);
        let outbox = self.outbox.clone();
        self.tasks.push(Box::pin(async move {
            let answer = answer.await.unwrap_or_else(|Aborted| Err(Error::request_cancelled()));
            let answer = Response::from_parts(id.clone(), answer);
            let _ = outbox.send(EncodedAnswer::of(&answer)).await;
            id
        }));
    }

    /// The error for a request that the current phase does not allow. `None` if its handler may be called.
    fn refused(&self, method: &str) -> Option<Error> {
        match self.phase.get() {
            Phase::Fresh if method != "initialize" => {
                let code = ErrorCode::ServerError(-32002);
                Some(Error { code, message: "Server not initialized".into(), data: None })
            }
            Phase::Serving if method != "initialize" => None,
            Phase::Serving | Phase::ShutDown => Some(Error::invalid_request()),
            Phase::Fresh => None,
        }
    }

    async fn answer(&mut self, answer: Response) {
        self.send(EncodedAnswer::of(&answer)).await;
    }

    async fn send(&mut self, answer: EncodedAnswer) {
        let sent = self.outbox.send(answer);
        let mut sent = std::pin::pin!(sent);
        loop {
            tokio::select! {
                _ = &mut sent => return,
                // Finished tasks make room in the outbox.
                Some(id) = self.tasks.next() => drop(self.handles.remove(&id)),
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

#[cfg(test)]
mod tests {
    use std::sync::mpsc;

    use serde_json::json;
    use tokio::sync::mpsc::unbounded_channel;

    use super::*;
    use crate::message::Message as ToServer;

    /// Serves messages with a server that answers nothing but `initialize`, and that only if it `works`. Returns the
    /// ids of the answers and the codes of the errors.
    async fn codes(messages: &[Json], works: bool) -> Vec<(Json, Json)> {
        let (queue, inbox) = mpsc::channel();
        let server = parallel::thread("server", move || {
            let mut kept = Vec::new();
            for message in inbox {
                match message {
                    ToServer::Initialize(_, reply) if works => drop(reply.send(Ok(Json::Null))),
                    ToServer::Initialize(..) => {}
                    other => kept.push(other),
                }
            }
        });
        let input: Vec<u8> = messages.iter().flat_map(framed).collect();
        let mut output = Vec::new();
        let to_client = unbounded_channel().1;
        carry(&input[..], &mut output, LanguageFrontEnd::new(queue), to_client).await;
        server.expect("it starts").join().expect("it ends");
        let mut frames = FrameReader::default();
        frames.push(&output);
        let mut answers = Vec::new();
        while let Some(Frame::Content(content)) = frames.next() {
            let answer: Json = serde_json::from_slice(&content).expect("it is JSON");
            answers.push((answer["id"].clone(), answer["error"]["code"].clone()));
        }
        answers
    }

    fn framed(message: &Json) -> Vec<u8> {
        let content = message.to_string();
        format!("Content-Length: {}\r\n\r\n{content}", content.len()).into_bytes()
    }

    fn request(id: u32, method: &str, params: Json) -> Json {
        json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params })
    }

    fn hover(id: u32) -> Json {
        let params = json!({
            "textDocument": { "uri": "file:///a.tf" }, "position": { "line": 0, "character": 0 },
        });
        request(id, "textDocument/hover", params)
    }

    fn cancel(id: u32) -> Json {
        json!({ "jsonrpc": "2.0", "method": "$/cancelRequest", "params": { "id": id } })
    }

    #[tokio::test]
    async fn request_can_be_cancelled_before_and_after_shutdown() {
        let initialize = request(1, "initialize", json!({}));
        let shutdown = request(9, "shutdown", Json::Null);
        let messages = [initialize, hover(2), hover(3), cancel(2), cancel(77), shutdown, cancel(3)];
        let mut answers = codes(&messages, true).await;
        answers.sort_by_key(|(id, _)| id.as_u64());
        let cancelled = [2, 3].map(|id| (json!(id), json!(-32800)));
        let done = [1, 9].map(|id| (json!(id), Json::Null));
        assert_eq!(answers, [&done[..1], &cancelled, &done[1..]].concat());
    }

    #[tokio::test]
    async fn second_request_with_the_id_of_a_pending_one_is_refused() {
        let messages = [request(1, "initialize", json!({})), hover(2), hover(2), cancel(2)];
        let answers = codes(&messages, true).await;
        assert_eq!(answers[1..], [-32600, -32800].map(|code| (json!(2), json!(code))));
    }

    #[tokio::test]
    async fn notification_with_an_id_is_an_unknown_request() {
        let initialize = request(1, "initialize", json!({}));
        let exit = request(3, "exit", json!({}));
        let messages = [exit.clone(), initialize, exit, request(4, "initialized", json!({}))];
        let answers = codes(&messages, true).await;
        let expected =
            [(3, json!(-32002)), (1, Json::Null), (3, json!(-32601)), (4, json!(-32601))];
        assert_eq!(answers, expected.map(|(id, code)| (json!(id), code)));
    }

    #[tokio::test]
    async fn exit_cancels_pending_requests() {
        let exit = json!({ "jsonrpc": "2.0", "method": "exit" });
        let messages = [request(1, "initialize", json!({})), hover(2), exit, hover(3)];
        let answers = codes(&messages, true).await;
        assert_eq!(answers[1..], [(json!(2), json!(-32800))]);
    }

    #[tokio::test]
    async fn failure_of_the_server_is_an_internal_error() {
        let answers = codes(&[request(1, "initialize", json!({})), hover(2)], false).await;
        assert_eq!(answers, [(json!(1), json!(-32603)), (json!(2), json!(-32002))]);
    }
}
