//! Servers that answer by a script. They read requests by hand, so that they can violate HTTP.

use std::collections::{BTreeMap, VecDeque};
use std::io;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use hyper::Uri;
use hyper::header::HeaderValue;
use rcgen::{BasicConstraints, CertificateParams, IsCa, Issuer, KeyPair};
use rustls::ServerConfig;
use rustls::crypto::ring;
use rustls::pki_types::{PrivateKeyDer, PrivatePkcs8KeyDer};
use tempfile::TempDir;
use tokio::io::{AsyncReadExt, AsyncWriteExt, duplex};
use tokio_rustls::TlsAcceptor;

use crate::connect::{Dial, Duplex};
use crate::url::{host_of, port_of};
use crate::{
    Client, ClientConfig, Error, ErrorKind, Proxies, Request, Response, Retries, Timeouts,
    TlsSettings, Trust, Url,
};

/// A step of an answer.
#[derive(Clone)]
pub(super) enum Step {
    Send(Vec<u8>),
    Wait(Duration),
    /// Closes the connection.
    Close,
    /// Continues as the server of the requested host, like a proxy after `CONNECT`.
    Tunnel,
}

type Script = Arc<Mutex<BTreeMap<String, VecDeque<Vec<Step>>>>>;

/// A network of servers.
pub(super) struct World {
    script: Script,
    /// The heads of all requests, each with the server before it.
    heads: Arc<Mutex<Vec<String>>>,
    acceptor: TlsAcceptor,
    pub(super) files: TempDir,
}

/// An answer with a status line and headers, and a body of the right length.
pub(super) fn answer(status: &str, headers: &[&str], body: &[u8]) -> Vec<Step> {
    let mut bytes = head(status, headers, body.len());
    bytes.extend_from_slice(body);
    vec![Step::Send(bytes)]
}

/// The head of an answer.
pub(super) fn head(status: &str, headers: &[&str], length: usize) -> Vec<u8> {
    let headers: String = headers.iter().map(|it| format!("{it}\r\n")).collect();
    format!("HTTP/1.1 {status}\r\n{headers}content-length: {length}\r\n\r\n").into_bytes()
}

impl World {
    /// Creates a network without answers. `names` are in the certificate of its servers.
    pub(super) fn new(names: &[&str]) -> World {
        let files = tempfile::tempdir().expect("a temporary directory");
        let key = || KeyPair::generate().expect("a key");
        let mut authority = CertificateParams::default();
        authority.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let authority_key = key();
        let root = authority.self_signed(&authority_key).expect("a certificate");
        std::fs::write(files.path().join("ca.pem"), root.pem()).expect("writable");
        let names: Vec<String> = names.iter().map(|it| (*it).to_owned()).collect();
        let server_key = key();
        let issuer = Issuer::new(authority, authority_key);
        let server = CertificateParams::new(names).expect("names");
        let server = server.signed_by(&server_key, &issuer).expect("a certificate");
        let config = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()));
        let config = config.with_safe_default_protocol_versions().expect("versions");
        let server_key = PrivateKeyDer::from(PrivatePkcs8KeyDer::from(server_key.serialize_der()));
        let config = config.with_no_client_auth();
        let config = config.with_single_cert(vec![server.der().clone()], server_key);
        let acceptor = TlsAcceptor::from(Arc::new(config.expect("a server")));
        World { script: Script::default(), heads: Arc::default(), acceptor, files }
    }

    /// Adds answers of a server, such as `a.example:443`.
    pub(super) fn answers(&self, server: &str, answers: impl IntoIterator<Item = Vec<Step>>) {
        let mut script = self.script.lock().unwrap_or_else(PoisonError::into_inner);
        script.entry(server.to_owned()).or_default().extend(answers);
    }

    /// Takes the heads of the requests so far.
    pub(super) fn heads(&self) -> Vec<String> {
        std::mem::take(&mut *self.heads.lock().unwrap_or_else(PoisonError::into_inner))
    }

    pub(super) fn config(&self) -> ClientConfig {
        let seconds = Duration::from_secs;
        ClientConfig {
            user_agent: HeaderValue::from_static("Test/1"),
            proxies: Proxies::none(),
            trust: Trust {
                file: Some(self.files.path().join("ca.pem")),
                directories: vec![self.files.path().join("none")],
            },
            tls: TlsSettings::default(),
            cookies: None,
            timeouts: Timeouts {
                connect: seconds(5),
                answer: seconds(20),
                idle: seconds(10),
                slowest: 100,
            },
            retries: Retries { most: 2, first_pause: seconds(1), longest_pause: seconds(30) },
        }
    }

    pub(super) fn client(&self) -> Client {
        self.client_with(self.config())
    }

    pub(super) fn client_with(&self, config: ClientConfig) -> Client {
        Client::with_dial(config, self.dial())
    }

    pub(super) async fn get(&self, url: &str) -> Result<Response, Error> {
        self.client().send(&request(url)).await
    }

    /// Requests a URL and reads the body.
    pub(super) async fn text(&self, url: &str) -> Result<String, Error> {
        let bytes = self.get(url).await?.success()?.body.bytes().await?;
        Ok(String::from_utf8_lossy(&bytes).into_owned())
    }

    fn dial(&self) -> Dial {
        let (script, heads) = (self.script.clone(), self.heads.clone());
        let acceptor = self.acceptor.clone();
        Box::new(move |to| {
            let server = format!("{}:{}", host_of(&to), port_of(&to));
            let is_known = script.lock().unwrap_or_else(PoisonError::into_inner);
            if !is_known.contains_key(&server) {
                let cause = "no such server".to_owned();
                let host = host_of(&to).to_owned();
                return Box::pin(async { Err(ErrorKind::Connect { host, cause }) });
            }
            let (ours, theirs) = duplex(1 << 16);
            let serving = Serving {
                script: script.clone(),
                heads: heads.clone(),
                acceptor: acceptor.clone(),
            };
            let is_encrypted = to.scheme_str() == Some("https");
            tokio::spawn(async move {
                // The client may close the connection at any time.
                drop(serving.serve(Box::new(theirs), server, is_encrypted).await);
            });
            Box::pin(async { Ok(Box::new(ours) as Box<dyn Duplex>) })
        })
    }
}

pub(super) fn request(url: &str) -> Request {
    Request::get(Url::parse(url).expect("a URL"), 1 << 20)
}

struct Serving {
    script: Script,
    heads: Arc<Mutex<Vec<String>>>,
    acceptor: TlsAcceptor,
}

impl Serving {
    async fn serve(
        &self,
        io: Box<dyn Duplex>,
        mut server: String,
        is_encrypted: bool,
    ) -> io::Result<()> {
        let mut io: Box<dyn Duplex> = match is_encrypted {
            true => Box::new(self.acceptor.accept(io).await?),
            false => io,
        };
        loop {
            let head = read_head(&mut io).await?;
            self.heads
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
                .push(format!("{server} {head}"));
            let answer = {
                let mut script = self.script.lock().unwrap_or_else(PoisonError::into_inner);
                script.get_mut(&server).and_then(VecDeque::pop_front)
            };
            for step in answer.unwrap_or_else(|| vec![Step::Close]) {
                match step {
                    Step::Send(bytes) => io.write_all(&bytes).await?,
                    Step::Wait(pause) => tokio::time::sleep(pause).await,
                    // Without `close_notify`, as when a process is killed.
                    Step::Close => return Ok(()),
                    Step::Tunnel => {
                        let uri: Uri =
                            head.split(' ').nth(1).unwrap_or_default().parse().expect("a host");
                        server = format!("{}:{}", host_of(&uri), port_of(&uri));
                        io = Box::new(self.acceptor.accept(io).await?);
                    }
                }
            }
            io.flush().await?;
        }
    }
}

async fn read_head(io: &mut Box<dyn Duplex>) -> io::Result<String> {
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        head.push(io.read_u8().await?);
    }
    Ok(String::from_utf8_lossy(&head).into_owned())
}
