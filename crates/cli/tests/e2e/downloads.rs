//! Downloads of module packages from web servers: over TLS, from a server of the test.

use std::{
    collections::BTreeMap,
    fs,
    io::{Cursor, Write as _},
    sync::{Arc, Mutex},
    thread,
};

use rcgen::{BasicConstraints, CertificateParams, IsCa, Issuer, KeyPair};
use rustls::{
    ServerConfig,
    crypto::ring,
    pki_types::{CertificateDer, PrivateKeyDer, pem::PemObject as _},
};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpListener,
    runtime,
};
use tokio_rustls::TlsAcceptor;
use zip::{ZipWriter, write::SimpleFileOptions};

use crate::bench::{Bench, Run};

const MODULE: &str = "output \"where\" {\n  value = path.module\n}\n";

/// The answers of a server by path. `PORT` in an answer that is text becomes the port of the server.
pub(crate) type Pages = BTreeMap<String, Vec<u8>>;

/// A web server on the loopback interface, for the rest of the test process. It closes each connection after its
/// answer and says so; otherwise a client may send its next request into the closing connection.
pub(crate) struct Server {
    pub(crate) port: u16,
    /// The requests: the head of each, followed by its body.
    heads: Arc<Mutex<Vec<String>>>,
}

impl Server {
    /// Starts a server with a certificate for `localhost`. Writes the certificate of its authority to `ca.pem`.
    pub(crate) fn start(bench: &Bench, pages: Pages) -> Server {
        Server::start_with(bench, move |_, path| pages.get(path).cloned())
    }

    /// Starts a server that answers by the request and its path without the query. `None` is a missing page.
    pub(crate) fn start_with(
        bench: &Bench,
        answer: impl Fn(&str, &str) -> Option<Vec<u8>> + Send + 'static,
    ) -> Server {
        let acceptor = acceptor(bench);
        let heads = Arc::new(Mutex::new(Vec::new()));
        let seen = heads.clone();
        let runtime = runtime::Builder::new_current_thread().enable_all().build();
        let runtime = runtime.expect("a runtime");
        let listener = runtime.block_on(TcpListener::bind("127.0.0.1:0")).expect("a port");
        let port = listener.local_addr().expect("an address").port();
        thread::spawn(move || {
            runtime.block_on(async {
                while let Ok((stream, _)) = listener.accept().await {
                    // A client that does not trust the certificate leaves.
                    let Ok(mut stream) = acceptor.accept(stream).await else { continue };
                    let mut head = Vec::new();
                    while !head.ends_with(b"\r\n\r\n") {
                        let Ok(byte) = stream.read_u8().await else { break };
                        head.push(byte);
                    }
                    let mut body = vec![0; length_of_body(&head)];
                    if stream.read_exact(&mut body).await.is_err() {
                        continue;
                    }
                    let head = String::from_utf8_lossy(&[head, body].concat()).into_owned();
                    let path = head.split(' ').nth(1).unwrap_or_default();
                    let path = path.split('?').next().unwrap_or_default();
                    let missing =
                        b"HTTP/1.1 404 Not Found\r\nconnection: close\r\ncontent-length: 0\r\n\r\n"
                            .to_vec();
                    let answer = answer(&head, path).unwrap_or(missing);
                    seen.lock().expect("no panic").push(head);
                    drop(stream.write_all(&with_port(answer, port)).await);
                    drop(stream.shutdown().await);
                }
            });
        });
        Server { port, heads }
    }

    pub(crate) fn heads(&self) -> Vec<String> {
        std::mem::take(&mut *self.heads.lock().expect("no panic"))
    }
}

fn length_of_body(head: &[u8]) -> usize {
    let head = String::from_utf8_lossy(head).to_lowercase();
    let mut lines = head.lines().filter_map(|it| it.strip_prefix("content-length:"));
    lines.next().and_then(|it| it.trim().parse().ok()).unwrap_or(0)
}

fn with_port(answer: Vec<u8>, port: u16) -> Vec<u8> {
    match String::from_utf8(answer) {
        Ok(text) => text.replace("PORT", &port.to_string()).into_bytes(),
        Err(error) => error.into_bytes(),
    }
}

/// A certificate for `localhost` with its key, both in PEM.
pub(crate) struct ServerIdentity {
    pub(crate) certificate: String,
    pub(crate) key: String,
}

/// Makes a certificate for `localhost`. Writes the certificate of its authority to `ca.pem`.
pub(crate) fn server_identity(bench: &Bench) -> ServerIdentity {
    let mut authority = CertificateParams::default();
    authority.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    let authority_key = KeyPair::generate().expect("a key");
    let root = authority.self_signed(&authority_key).expect("a certificate");
    bench.write("ca.pem", &root.pem());
    let key = KeyPair::generate().expect("a key");
    let issuer = Issuer::new(authority, authority_key);
    let server = CertificateParams::new(["localhost".to_owned()]).expect("a name");
    let server = server.signed_by(&key, &issuer).expect("a certificate");
    ServerIdentity { certificate: server.pem(), key: key.serialize_pem() }
}

fn acceptor(bench: &Bench) -> TlsAcceptor {
    let identity = server_identity(bench);
    let certificate = CertificateDer::from_pem_slice(identity.certificate.as_bytes());
    let key = PrivateKeyDer::from_pem_slice(identity.key.as_bytes()).expect("a key");
    let config = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()));
    let config = config.with_safe_default_protocol_versions().expect("versions");
    let config = config.with_no_client_auth();
    let config = config.with_single_cert(vec![certificate.expect("a certificate")], key);
    TlsAcceptor::from(Arc::new(config.expect("a server")))
}

pub(crate) fn archive(text: &str) -> Vec<u8> {
    let mut zip = ZipWriter::new(Cursor::new(Vec::new()));
    zip.start_file("vpc/main.tf", SimpleFileOptions::default()).expect("in memory");
    zip.write_all(text.as_bytes()).expect("in memory");
    answer("application/zip", &zip.finish().expect("in memory").into_inner())
}

/// An answer with a body of this type.
pub(crate) fn answer(content_type: &str, body: &[u8]) -> Vec<u8> {
    let length = body.len();
    let head = format!(
        "HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-type: {content_type}\r\ncontent-length: {length}\r\n\r\n"
    );
    [head.as_bytes(), body].concat()
}

fn pages<const N: usize>(pages: [(&str, Vec<u8>); N]) -> Pages {
    pages.map(|(path, answer)| (path.to_owned(), answer)).into()
}

fn moved(target: &str) -> Vec<u8> {
    format!(
        "HTTP/1.1 302 Found\r\nlocation: {target}\r\nconnection: close\r\ncontent-length: 0\r\n\r\n"
    )
    .into_bytes()
}

fn call(bench: &Bench, server: &Server, place: &str) {
    let source = place.replace("SERVER", &format!("localhost:{}", server.port));
    let call = format!("module \"net\" {{\n  source = \"{source}\"\n}}\n");
    bench.write("main.tf", &format!("{call}output \"where\" {{\n  value = module.net.where\n}}\n"));
}

/// `init` that trusts the authority of the server, and no other.
fn init(bench: &Bench) -> Run {
    trusting(bench, bench.mayfly(".", ["init"]))
}

/// A command that trusts the authority of the server, and no other.
pub(crate) fn trusting(bench: &Bench, run: Run) -> Run {
    let run = run.env("SSL_CERT_FILE", bench.path("ca.pem"));
    run.env("SSL_CERT_DIR", bench.path("none"))
}

#[test]
fn module_archive_is_downloaded_and_locked() {
    let bench = Bench::new();
    let server = Server::start(
        &bench,
        pages([("/moved.zip", moved("/real?sig=s1gnature")), ("/real", archive(MODULE))]),
    );
    call(&bench, &server, "https://user:passw0rd@SERVER/moved.zip//vpc?token=s3cret");
    let done = init(&bench).succeeds();
    done.lacks(&["passw0rd", "s3cret", "s1gnature"]);
    done.shows(&[
        "Initializing modules...",
        &format!("Downloading https://localhost:{}/moved.zip for net...", server.port),
    ]);
    let heads = server.heads();
    assert!(heads[0].starts_with("GET /moved.zip?token=s3cret HTTP/1.1\r\n"), "{heads:?}");
    assert!(heads[0].contains("authorization: Basic "), "{heads:?}");
    assert!(heads[1].starts_with("GET /real?sig=s1gnature HTTP/1.1\r\n"), "{heads:?}");
    bench.mayfly(".", ["plan"]).succeeds().shows(&[".terraform/modules/net/vpc"]);
    for file in [".terraform.lock.hcl", ".terraform/modules/modules.json"] {
        let text = fs::read_to_string(bench.path(file)).expect("was written");
        assert!(text.contains("moved.zip") && !text.contains("passw0rd"), "{text}");
        assert!(!text.contains("s3cret") && !text.contains("s1gnature"), "{text}");
    }
    // The installed package is the locked one, so the server is not asked again.
    init(&bench).succeeds();
    assert!(server.heads().is_empty());
}

#[test]
fn failed_download_is_an_error_at_the_module_call() {
    let bench = Bench::new();
    let server = Server::start(
        &bench,
        pages([
            ("/plain.zip", moved("http://localhost:PORT/real")),
            ("/text.zip", moved("/text")),
            ("/text", answer("text/plain", b"text")),
        ]),
    );
    for (place, words) in [
        ("https://user:passw0rd@SERVER/missing.zip", "the status 404 Not Found"),
        ("https://user:passw0rd@SERVER/plain.zip", "which is not encrypted"),
        ("https://user:passw0rd@SERVER/text.zip", "invalid Zip archive"),
    ] {
        call(&bench, &server, place);
        // The excerpt of the configuration shows the line as it is.
        let failed = init(&bench).fails();
        failed.shows(&["Error: Failed to download module", "main.tf line 2", words]);
        assert!(!bench.path(".terraform/modules/modules.json").exists());
    }
    call(&bench, &server, "https://SERVER/missing.zip");
    let mut untrusting = bench.mayfly(".", ["init"]).env("SSL_CERT_FILE", bench.path("other.pem"));
    bench.write("other.pem", &other_authority());
    untrusting = untrusting.env("SSL_CERT_DIR", bench.path("none"));
    untrusting.fails().shows(&["the certificate of localhost is not trusted"]);
}

fn other_authority() -> String {
    let key = KeyPair::generate().expect("a key");
    let mut authority = CertificateParams::default();
    authority.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    authority.self_signed(&key).expect("a certificate").pem()
}
