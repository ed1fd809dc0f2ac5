//! A small API on loopback for tests of the provider `restful`.
//!
//! | route | behaviour |
//! |---|---|
//! | `/posts`, `/posts/ID` | a collection in memory: `POST`, `GET`, `PUT` (replaces), `PATCH` (assigns), `DELETE` |
//! | `/store/…` | any JSON under its path: `PUT`, `GET`, `PATCH` (merge patch), `DELETE` |
//! | `/ret-string`, `/ret-url`, `/template`, `/empty`, `/build-id`, `/bar/ID` | answers of unusual forms |
//! | `/demand/NAME` | echoes the body if the header and the query parameter `type` are `NAME`; `GET`: the last body |
//! | `/lease`, `/updateLease`, `/unlease` | a lease that expires after a second |
//! | `/echoing/NAME` | as `/store`, but `GET` has the object a second time, under `copy` |
//! | `/credentials` | a user and a password |
//! | `/lro/NAME`, `/lro-status/NAME` | long operations: creation with a status URL, deletion that is pending |
//! | `/token/{header,params}` | tokens of OAuth 2.0 for a client that is registered at this place; `?form`: as a form |
//! | `/secure` | echoes the `Authorization` header, the query and the cookies |
//! | `/flaky/N/SECONDS` | 503 with `Retry-After: SECONDS`, N times, then 200 |
//! | `/cut/NAME` | stores the object, then closes the connection in the middle of the answer |
//! | `/deep/NAME`, `/text` | an answer of 140 levels, and one that is no JSON |
//! | `/quoting/NAME` | `PUT` stores; the second answer to another method is 500 with the object |
//! | `/refuse` | 422 with the body and the credentials of the request |
//! | `/sleep/MILLISECONDS` | 200 after that time |
//! | `/cookie/set`, `/cookie/show`, `/redirect/CODE?to=URL`, `/form`, `/hostile/KIND` | as named |
//!
//! [`RestfulServer::count`] returns the number of requests for a method and path.

mod routes;
mod tls;

use std::collections::BTreeMap;
use std::convert::Infallible;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use http_body_util::{BodyExt, Limited};
use hyper::Request;
use hyper::body::{Bytes, Incoming};
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use serde_json::Value;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpListener;
use tokio::task::JoinHandle;
use tokio::time::sleep;

pub(crate) use tls::{MutualTls, Pem};

/// The largest accepted body of a request, in bytes.
const MAX_BYTES: usize = 16 << 20;

/// A running server. It ends when it is dropped.
pub(crate) struct RestfulServer {
    /// The URL without a slash at its end.
    pub(crate) url: String,
    state: Arc<Mutex<State>>,
    task: JoinHandle<()>,
}

/// The content of the server.
#[derive(Default)]
pub(crate) struct State {
    /// The number of requests by method and path.
    counts: BTreeMap<String, usize>,
    /// The collection `posts` by id.
    posts: BTreeMap<String, Value>,
    last_id: u64,
    /// The objects of `/store` and `/lro` by path.
    objects: BTreeMap<String, Value>,
    /// The remaining answers before a change of behaviour, by path.
    remaining: BTreeMap<String, u64>,
    tokens: u64,
}

/// A request that was read whole.
pub(crate) struct Received {
    head: hyper::http::request::Parts,
    body: Bytes,
    /// The URL of the server.
    origin: String,
}

impl RestfulServer {
    /// Starts a server without encryption.
    pub(crate) async fn start() -> RestfulServer {
        RestfulServer::listen(None).await
    }

    /// Starts a server that requires a certificate from its clients.
    pub(crate) async fn start_with_tls(tls: &MutualTls) -> RestfulServer {
        RestfulServer::listen(Some(tls.acceptor())).await
    }

    /// The number of requests so far, for a text such as `GET /posts/1`.
    pub(crate) fn count(&self, request: &str) -> usize {
        lock(&self.state).counts.get(request).copied().unwrap_or_default()
    }

    async fn listen(acceptor: Option<tokio_rustls::TlsAcceptor>) -> RestfulServer {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let port = listener.local_addr().expect("an address").port();
        let scheme = if acceptor.is_some() { "https" } else { "http" };
        let url = format!("{scheme}://127.0.0.1:{port}");
        let state = Arc::new(Mutex::new(State::default()));
        let (served, origin) = (state.clone(), url.clone());
        let task = tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let (state, origin, acceptor) = (served.clone(), origin.clone(), acceptor.clone());
                tokio::spawn(async move {
                    match acceptor {
                        None => serve(stream, state, origin).await,
                        Some(acceptor) => {
                            // A client without a certificate ends here.
                            if let Ok(stream) = acceptor.accept(stream).await {
                                serve(stream, state, origin).await;
                            }
                        }
                    }
                });
            }
        });
        RestfulServer { url, state, task }
    }
}

impl Drop for RestfulServer {
    fn drop(&mut self) {
        self.task.abort();
    }
}

fn lock(state: &Mutex<State>) -> MutexGuard<'_, State> {
    state.lock().unwrap_or_else(PoisonError::into_inner)
}

async fn serve(
    stream: impl AsyncRead + AsyncWrite + Unpin + Send + 'static,
    state: Arc<Mutex<State>>,
    origin: String,
) {
    let service = service_fn(move |request| answer(request, state.clone(), origin.clone()));
    // The client may close the connection at any time.
    drop(
        hyper::server::conn::http1::Builder::new()
            .serve_connection(TokioIo::new(stream), service)
            .await,
    );
}

async fn answer(
    request: Request<Incoming>,
    state: Arc<Mutex<State>>,
    origin: String,
) -> Result<routes::Answer, Infallible> {
    let (head, body) = request.into_parts();
    let Ok(body) = Limited::new(body, MAX_BYTES).collect().await else {
        return Ok(routes::plain(413, "too large"));
    };
    let received = Received { head, body: body.to_bytes(), origin };
    let path = received.head.uri.path();
    let name = format!("{} {path}", received.head.method);
    *lock(&state).counts.entry(name).or_default() += 1;
    if let Some(time) = path.strip_prefix("/sleep/") {
        sleep(Duration::from_millis(time.parse().unwrap_or_default())).await;
    }
    Ok(routes::answer(&received, &mut lock(&state)))
}
