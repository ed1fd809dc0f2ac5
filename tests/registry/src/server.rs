//! The web server.

use std::{
    collections::BTreeMap,
    fs, io,
    path::Path,
    rc::Rc,
    sync::{Arc, Mutex, PoisonError},
    thread,
    time::Duration,
};

use rcgen::{BasicConstraints, CertificateParams, IsCa, Issuer, KeyPair};
use rustls::{
    ServerConfig,
    crypto::ring,
    pki_types::{CertificateDer, PrivateKeyDer, pem::PemObject as _},
};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt, BufStream},
    net::{TcpListener, TcpStream},
    runtime,
    task::{LocalSet, spawn_local},
};
use tokio_rustls::{TlsAcceptor, server::TlsStream};

/// The answers of a server by path. `PORT` in an answer that is text becomes the port of the server.
pub type Pages = BTreeMap<String, Vec<u8>>;

/// Answers a request by its head, its body and its path without the query. `None` is a missing page.
type Answer = Rc<dyn Fn(&str, &str) -> Option<Vec<u8>>>;

/// The speed of a slow server.
#[derive(Clone, Copy, Debug)]
pub struct Pace {
    /// The bytes that it sends at once.
    pub bytes: usize,
    /// The pause after them.
    pub pause: Duration,
}

/// A web server on the loopback interface, for the rest of the process. It keeps a connection open after an answer of
/// the announced length, unless the answer says otherwise.
pub struct Server {
    pub port: u16,
    /// The requests: the head of each, followed by its body.
    heads: Arc<Mutex<Vec<String>>>,
}

impl Server {
    /// Starts a server with a certificate for `localhost`. Writes the certificate of its authority to `authority`.
    ///
    /// # Panics
    /// If the server cannot be started.
    pub fn start(authority: &Path, pages: Pages) -> Server {
        Server::start_with(authority, move |_, path| pages.get(path).cloned())
    }

    /// Starts a slow server.
    ///
    /// # Panics
    /// If the server cannot be started.
    pub fn start_slow(authority: &Path, pages: Pages, pace: Pace) -> Server {
        Server::start_at(authority, move |_, path| pages.get(path).cloned(), Some(pace))
    }

    /// Starts a server that answers by the request and its path without the query. `None` is a missing page.
    ///
    /// # Panics
    /// If the server cannot be started.
    pub fn start_with(
        authority: &Path,
        answer: impl Fn(&str, &str) -> Option<Vec<u8>> + Send + 'static,
    ) -> Server {
        Server::start_at(authority, answer, None)
    }

    fn start_at(
        authority: &Path,
        answer: impl Fn(&str, &str) -> Option<Vec<u8>> + Send + 'static,
        pace: Option<Pace>,
    ) -> Server {
        let acceptor = acceptor(authority);
        let heads = Arc::new(Mutex::new(Vec::new()));
        let seen = Arc::clone(&heads);
        let runtime = runtime::Builder::new_current_thread().enable_all().build();
        let runtime = runtime.expect("a runtime");
        let listener = runtime.block_on(TcpListener::bind("127.0.0.1:0")).expect("a port");
        let port = listener.local_addr().expect("an address").port();
        thread::spawn(move || {
            let answer: Answer = Rc::new(answer);
            LocalSet::new().block_on(&runtime, async {
                while let Ok((stream, _)) = listener.accept().await {
                    let connection = Connection {
                        acceptor: acceptor.clone(),
                        answer: Rc::clone(&answer),
                        seen: Arc::clone(&seen),
                        port,
                        pace,
                    };
                    spawn_local(connection.serve(stream));
                }
            });
        });
        Server { port, heads }
    }

    /// The requests since the last call.
    pub fn heads(&self) -> Vec<String> {
        std::mem::take(&mut *self.heads.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

/// A connection with a client.
struct Connection {
    acceptor: TlsAcceptor,
    answer: Answer,
    seen: Arc<Mutex<Vec<String>>>,
    port: u16,
    pace: Option<Pace>,
}

impl Connection {
    async fn serve(self, stream: TcpStream) {
        // A client that does not trust the certificate leaves.
        let Ok(stream) = self.acceptor.accept(stream).await else { return };
        let mut stream = BufStream::new(stream);
        while let Some(request) = request(&mut stream).await {
            let path = request.split(' ').nth(1).unwrap_or_default();
            let path = path.split('?').next().unwrap_or_default();
            let missing = b"HTTP/1.1 404 Not Found\r\ncontent-length: 0\r\n\r\n".to_vec();
            let answer = with_port((self.answer)(&request, path).unwrap_or(missing), self.port);
            self.seen.lock().unwrap_or_else(PoisonError::into_inner).push(request);
            if self.write(&mut stream, &answer).await.is_err() || !is_complete(&answer) {
                break;
            }
        }
        drop(stream.shutdown().await);
    }
}

impl Connection {
    async fn write(&self, stream: &mut Stream, answer: &[u8]) -> io::Result<()> {
        let Some(Pace { bytes, pause }) = self.pace else {
            stream.write_all(answer).await?;
            return stream.flush().await;
        };
        for piece in answer.chunks(bytes) {
            stream.write_all(piece).await?;
            stream.flush().await?;
            if piece.len() == bytes {
                tokio::time::sleep(pause).await;
            }
        }
        Ok(())
    }
}

type Stream = BufStream<TlsStream<TcpStream>>;

/// Reads the head and the body of the next request. `None` if the client has left.
async fn request(stream: &mut Stream) -> Option<String> {
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        head.push(stream.read_u8().await.ok()?);
    }
    let mut body = vec![0; content_length(&head).unwrap_or(0)];
    stream.read_exact(&mut body).await.ok()?;
    Some(String::from_utf8_lossy(&[head, body].concat()).into_owned())
}

/// Returns true if a client knows where the answer ends, and may send its next request.
fn is_complete(answer: &[u8]) -> bool {
    let Some(end) = answer.windows(4).position(|it| it == b"\r\n\r\n") else { return false };
    let (head, body) = answer.split_at(end + 4);
    let closes = String::from_utf8_lossy(head).to_lowercase().contains("connection: close");
    !closes && content_length(head) == Some(body.len())
}

fn content_length(head: &[u8]) -> Option<usize> {
    let head = String::from_utf8_lossy(head).to_lowercase();
    let mut lines = head.lines().filter_map(|it| it.strip_prefix("content-length:"));
    lines.next().and_then(|it| it.trim().parse().ok())
}

fn with_port(answer: Vec<u8>, port: u16) -> Vec<u8> {
    match String::from_utf8(answer) {
        Ok(text) => text.replace("PORT", &port.to_string()).into_bytes(),
        Err(error) => error.into_bytes(),
    }
}

/// A certificate for `localhost` with its key, both in PEM.
pub struct ServerIdentity {
    pub certificate: String,
    pub key: String,
}

impl ServerIdentity {
    /// Makes a certificate. Writes the certificate of its authority to `authority`.
    ///
    /// # Panics
    /// If the file cannot be written.
    pub fn new(authority: &Path) -> ServerIdentity {
        let mut root = CertificateParams::default();
        root.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let root_key = KeyPair::generate().expect("a key");
        let root_certificate = root.self_signed(&root_key).expect("a certificate");
        fs::write(authority, root_certificate.pem()).expect("writable");
        let key = KeyPair::generate().expect("a key");
        let issuer = Issuer::new(root, root_key);
        let server = CertificateParams::new(["localhost".to_owned()]).expect("a name");
        let server = server.signed_by(&key, &issuer).expect("a certificate");
        ServerIdentity { certificate: server.pem(), key: key.serialize_pem() }
    }
}

fn acceptor(authority: &Path) -> TlsAcceptor {
    let identity = ServerIdentity::new(authority);
    let certificate = CertificateDer::from_pem_slice(identity.certificate.as_bytes());
    let key = PrivateKeyDer::from_pem_slice(identity.key.as_bytes()).expect("a key");
    let config = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()));
    let config = config.with_safe_default_protocol_versions().expect("versions");
    let config = config.with_no_client_auth();
    let config = config.with_single_cert(vec![certificate.expect("a certificate")], key);
    TlsAcceptor::from(Arc::new(config.expect("a server")))
}

/// An answer with a body of this type.
pub fn answer(content_type: &str, body: &[u8]) -> Vec<u8> {
    let length = body.len();
    let head = format!(
        "HTTP/1.1 200 OK\r\ncontent-type: {content_type}\r\ncontent-length: {length}\r\n\r\n"
    );
    [head.as_bytes(), body].concat()
}
