//! Downloads of module packages from web servers: over TLS, from a server of the test.

use std::{
    fs,
    io::{Cursor, Write as _},
    path::PathBuf,
};

use rcgen::{BasicConstraints, CertificateParams, IsCa, KeyPair};
use registry::{Pages, Server, answer};
use zip::{ZipWriter, write::SimpleFileOptions};

use crate::bench::{Bench, Run};

const MODULE: &str = "output \"where\" {\n  value = path.module\n}\n";

pub(crate) fn archive(text: &str) -> Vec<u8> {
    let mut zip = ZipWriter::new(Cursor::new(Vec::new()));
    zip.start_file("vpc/main.tf", SimpleFileOptions::default()).expect("in memory");
    zip.write_all(text.as_bytes()).expect("in memory");
    answer("application/zip", &zip.finish().expect("in memory").into_inner())
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

/// The file with the certificate of the server's authority.
pub(crate) fn authority(bench: &Bench) -> PathBuf {
    bench.path("ca.pem")
}

/// A command that trusts the authority of the server, and no other.
pub(crate) fn trusting(bench: &Bench, run: Run) -> Run {
    let run = run.env("SSL_CERT_FILE", authority(bench));
    run.env("SSL_CERT_DIR", bench.path("none"))
}

#[test]
fn module_archive_is_downloaded_and_locked() {
    let bench = Bench::new();
    let server = Server::start(
        &authority(&bench),
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
        &authority(&bench),
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
