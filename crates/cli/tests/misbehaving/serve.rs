//! The process of the plugin: the handshake, HTTP/2 and the gRPC framing, implemented by hand where they are
//! broken on purpose.

use std::{
    convert::Infallible,
    io::Write,
    process::ExitCode,
    sync::atomic::{AtomicBool, Ordering},
    time::Duration,
};

use http_body_util::{BodyExt, StreamBody};
use hyper::{
    Request, Response,
    body::{Bytes, Frame, Incoming},
    header::HeaderMap,
    server::conn::http2,
    service::service_fn,
};
use hyper_util::rt::{TokioExecutor, TokioIo};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{UnixListener, UnixStream},
    sync::mpsc,
};

use crate::{
    good::Call,
    matrix::{OLD, current_name},
    ways,
    wire::Message,
};

/// The environment variable that selects the way of misbehaving.
pub(crate) const WAY: &str = "MISBEHAVING_WAY";
/// The environment variable with the directory of the test, in which the plugin records its calls.
pub(crate) const BENCH: &str = "MISBEHAVING_BENCH";

/// The reply to a call.
pub(crate) enum Reply {
    Message(Message),
    /// An error status with its message.
    Status(u32, String),
    /// These bytes instead of a framed message, followed by a status if one is given.
    Frames(Vec<u8>, Option<u32>),
    /// An HTTP response that is not gRPC.
    Http(u16, &'static str),
    /// No answer.
    Never,
    /// The process ends without an answer.
    Exit,
    /// The process ends after a part of the answer.
    PartThenExit(Message),
    /// The process answers, and ends at the next call.
    MessageThenExit(Message),
}

/// True if the process ends at the next call.
static DOOMED: AtomicBool = AtomicBool::new(false);

type Body = StreamBody<tokio_stream::wrappers::ReceiverStream<Result<Frame<Bytes>, Infallible>>>;

/// Serves until the process is ended.
pub(crate) fn main() -> ExitCode {
    let variable = |name| std::env::var(name).unwrap_or_default();
    let (way, bench) = (variable(WAY), variable(BENCH));
    let runtime =
        tokio::runtime::Builder::new_multi_thread().worker_threads(4).enable_all().build();
    runtime.expect("a runtime").block_on(serve(way.leak(), bench.leak()));
    ExitCode::SUCCESS
}

async fn serve(way: &'static str, bench: &'static str) {
    // Ctrl-C reaches the whole process group, but is meant for the core.
    let interrupts = tokio::signal::unix::SignalKind::interrupt();
    let _ignored = tokio::signal::unix::signal(interrupts).expect("can be ignored");
    let others = way.starts_with("ignores signals").then(|| {
        use tokio::signal::unix::SignalKind;
        [SignalKind::terminate(), SignalKind::hangup(), SignalKind::quit()]
    });
    let _ignored_too: Vec<_> = others
        .into_iter()
        .flatten()
        .map(|it| tokio::signal::unix::signal(it).expect("too"))
        .collect();
    ways::begin(way);
    let path = std::env::temp_dir().join(format!("bad{}", std::process::id()));
    let listener = UnixListener::bind(&path).expect("it listens");
    let version = if way.starts_with(OLD) { 5 } else { 6 };
    let line = format!("1|{version}|unix|{}|grpc|\n", path.display());
    std::io::stdout().write_all(line.as_bytes()).expect("somebody reads");
    std::io::stdout().flush().expect("somebody reads");
    ways::started(way);
    while let Ok((stream, _)) = listener.accept().await {
        tokio::spawn(connection(stream, way, bench));
    }
}

async fn connection(mut stream: UnixStream, way: &'static str, bench: &'static str) {
    match way {
        "hangs up" => return,
        "listens and says nothing" => return std::future::pending().await,
        "speaks HTTP/1.1" | "speaks something else" => {
            let mut request = [0; 24];
            let _ = stream.read_exact(&mut request).await;
            let words: &[u8] = match way {
                "speaks HTTP/1.1" => b"HTTP/1.1 505 HTTP Version Not Supported\r\n\r\n",
                _ => &[0xff; 4096],
            };
            let _ = stream.write_all(words).await;
            return;
        }
        _ => {}
    }
    let service =
        service_fn(
            move |request| async move { Ok::<_, Infallible>(answer(request, way, bench).await) },
        );
    let _ = http2::Builder::new(TokioExecutor::new())
        .initial_stream_window_size(16 << 20)
        .initial_connection_window_size(32 << 20)
        .serve_connection(TokioIo::new(stream), service)
        .await;
}

async fn answer(
    request: Request<Incoming>,
    way: &'static str,
    bench: &'static str,
) -> Response<Body> {
    let path = request.uri().path().to_owned();
    let (service, method) = path.rsplit_once('/').unwrap_or_default();
    let method = current_name(service, method);
    if method == "StreamStdio" {
        return stdio(way);
    }
    // A flag and a length precede the message.
    let body = request.into_body().collect().await.map(|it| it.to_bytes()).unwrap_or_default();
    let call = Call { method, request: body.get(5..).unwrap_or_default() };
    if DOOMED.load(Ordering::SeqCst) {
        die();
    }
    let reply = ways::reply(way, &call);
    note(bench, if matches!(reply, Reply::Never) { "(no answer)" } else { method });
    respond(reply)
}

/// Ends the process abruptly.
#[expect(clippy::exit, reason = "that is how it misbehaves")]
fn die() -> ! {
    std::process::exit(7)
}

/// Ends the process as the core requests.
#[expect(clippy::exit, reason = "what else runs is of no interest any more")]
pub(crate) fn end() -> ! {
    std::process::exit(0)
}

/// Records a received call.
fn note(bench: &str, method: &str) {
    let path = std::path::Path::new(bench).join("calls");
    let file = std::fs::File::options().append(true).create(true).open(path);
    let _ = file.and_then(|mut it| it.write_all(format!("{method}\n").as_bytes()));
}

fn framed(message: &Message) -> Vec<u8> {
    let length = message.0.len() as u32;
    [&[0][..], &length.to_be_bytes(), &message.0].concat()
}

fn status(code: u32) -> Frame<Bytes> {
    let mut trailers = HeaderMap::new();
    trailers.insert("grpc-status", code.into());
    Frame::trailers(trailers)
}

fn respond(reply: Reply) -> Response<Body> {
    let (sender, receiver) = mpsc::channel(4);
    let mut response = Response::new(StreamBody::new(receiver.into()));
    response.headers_mut().insert("content-type", "application/grpc".parse().expect("a name"));
    let send = |frame| sender.try_send(Ok(frame)).expect("there is room");
    let data = |bytes: Vec<u8>| Frame::data(Bytes::from(bytes));
    match reply {
        Reply::Message(message) => {
            send(data(framed(&message)));
            send(status(0));
        }
        Reply::Frames(bytes, code) => {
            send(data(bytes));
            if let Some(code) = code {
                send(status(code));
            }
        }
        Reply::Status(code, words) => {
            let headers = response.headers_mut();
            headers.insert("grpc-status", code.into());
            headers.insert("grpc-message", words.parse().expect("fits a header"));
        }
        Reply::Http(code, content_type) => {
            *response.status_mut() = code.try_into().expect("a status");
            response.headers_mut().insert("content-type", content_type.parse().expect("a name"));
            send(data(b"<html>hello</html>".to_vec()));
        }
        Reply::Never => {
            tokio::spawn(async move {
                sender.closed().await;
            });
        }
        Reply::Exit => die(),
        Reply::PartThenExit(message) => {
            let mut bytes = framed(&message);
            bytes.extend([0; 64]);
            bytes[1..5].copy_from_slice(&(message.0.len() as u32 + 1000).to_be_bytes());
            send(data(bytes));
            exit_soon(sender);
        }
        Reply::MessageThenExit(message) => {
            DOOMED.store(true, Ordering::SeqCst);
            send(data(framed(&message)));
            send(status(0));
        }
    }
    response
}

/// Ends the process after the data was sent. The stream stays open until then.
fn exit_soon(sender: mpsc::Sender<Result<Frame<Bytes>, Infallible>>) {
    tokio::spawn(async move {
        tokio::time::sleep(Duration::from_millis(100)).await;
        drop(sender);
        die();
    });
}

/// The stream of the plugin's output, in the protocol of go-plugin.
fn stdio(way: &'static str) -> Response<Body> {
    let (sender, receiver) = mpsc::channel(4);
    let mut response = Response::new(StreamBody::new(receiver.into()));
    response.headers_mut().insert("content-type", "application/grpc".parse().expect("a name"));
    tokio::spawn(async move {
        while let Some(message) = ways::printed(way) {
            if sender.send(Ok(Frame::data(framed(&message).into()))).await.is_err() {
                return;
            }
        }
        sender.closed().await;
    });
    response
}
