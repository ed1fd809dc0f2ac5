//! Providers and modules from the registry of the distribution project (`docker-registry`), over TLS and with a
//! password. The tests are skipped if the program is missing.

use std::{
    io::{BufRead as _, BufReader, ErrorKind, Read as _, Write as _},
    net::TcpStream,
    process::{Child, Command, Stdio},
    sync::Arc,
};

use base64::{Engine as _, engine::general_purpose::STANDARD};
use rustls::{
    ClientConfig, ClientConnection, RootCertStore, StreamOwned,
    crypto::ring,
    pki_types::{CertificateDer, ServerName, pem::PemObject as _},
};
use serde_json::Value;

use registry::{ServerIdentity, package, sha256};

use super::oci::{Content, THING, configure, require, run};
use crate::{
    bench::Bench,
    downloads::authority,
    tofu::{Program, both_streams, programs, words},
};

const PROGRAM: &str = "docker-registry";

/// The user `user` with the password `passw0rd`, for the registry alone.
const USERS: &str = "user:$2y$05$abcdefghijklmnopqrstuu9OFqWWOzfDAA/IR5v44xt6jSW30z88K\n";

/// A running registry, which ends with the test.
struct Registry {
    process: Child,
    port: u16,
    tls: Arc<ClientConfig>,
}

impl Registry {
    /// Starts the program in the directory of a bench. `None` if it is missing.
    fn start(bench: &Bench) -> Option<Registry> {
        let identity = ServerIdentity::new(&authority(bench));
        let file = |name: &str, text: &str| {
            bench.write(&format!("../registry/{name}"), text);
            bench.root().join("registry").join(name).display().to_string()
        };
        let certificate = file("cert.pem", &identity.certificate);
        let key = file("key.pem", &identity.key);
        let users = file("users", USERS);
        let storage = bench.root().join("registry/storage").display().to_string();
        let configuration = format!(
            "version: 0.1\nstorage:\n  filesystem:\n    rootdirectory: {storage}\nauth:\n  htpasswd:\n    realm: \
             tests\n    path: {users}\nhttp:\n  addr: 127.0.0.1:0\n  secret: s\n  tls:\n    certificate: \
             {certificate}\n    key: {key}\n"
        );
        let configuration = file("config.yml", &configuration);
        let mut command = Command::new(PROGRAM);
        command.args(["serve", &configuration]).stdout(Stdio::null()).stderr(Stdio::piped());
        let mut process = match command.spawn() {
            Err(error) if error.kind() == ErrorKind::NotFound => {
                let _ = writeln!(std::io::stderr(), "skipped: the program {PROGRAM} is missing");
                return None;
            }
            started => started.expect("starts"),
        };
        let mut lines = BufReader::new(process.stderr.take().expect("is piped")).lines();
        let port = loop {
            let line = lines.next().expect("runs").expect("is text");
            if let Some((_, rest)) = line.split_once("listening on 127.0.0.1:") {
                let digits: String = rest.chars().take_while(char::is_ascii_digit).collect();
                break digits.parse().expect("a port");
            }
        };
        // The registry logs every request, and would wait if the log were not read.
        std::thread::spawn(move || lines.for_each(drop));
        let mut roots = RootCertStore::empty();
        let authority =
            CertificateDer::from_pem_slice(&bench.read("ca.pem")).expect("a certificate");
        roots.add(authority).expect("an authority");
        let tls = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()));
        let tls = tls.with_safe_default_protocol_versions().expect("versions");
        let tls = Arc::new(tls.with_root_certificates(roots).with_no_client_auth());
        Some(Registry { process, port, tls })
    }

    /// Sends a request as the user. Returns the head of the answer, which must be a success.
    fn send(&self, method: &str, path: &str, content_type: &str, body: &[u8]) -> String {
        let name = ServerName::try_from("localhost").expect("a name");
        let connection = ClientConnection::new(self.tls.clone(), name).expect("a client");
        let stream = TcpStream::connect(("127.0.0.1", self.port)).expect("listens");
        let mut stream = StreamOwned::new(connection, stream);
        let head = format!(
            "{method} {path} HTTP/1.1\r\nhost: localhost:{}\r\nconnection: close\r\nauthorization: Basic \
             {}\r\ncontent-type: {content_type}\r\ncontent-length: {}\r\n\r\n",
            self.port,
            STANDARD.encode("user:passw0rd"),
            body.len()
        );
        stream.write_all(&[head.as_bytes(), body].concat()).expect("is read");
        let mut answer = Vec::new();
        stream.read_to_end(&mut answer).expect("is answered");
        let answer = String::from_utf8_lossy(&answer).into_owned();
        assert!(answer.split(' ').nth(1).is_some_and(|it| it.starts_with('2')), "{path}: {answer}");
        answer
    }

    /// Uploads everything: blobs, then the manifests that refer to them, then those that refer to manifests.
    fn push(&self, content: &Content) {
        for (name, bytes) in &content.blobs {
            let (repository, digest) = name.rsplit_once('/').expect("a repository");
            let path = format!("/v2/{repository}/blobs/uploads/");
            let begun = self.send("POST", &path, "application/octet-stream", b"");
            let lines = begun.lines().filter_map(|it| it.split_once(": "));
            let mut places = lines.filter(|(name, _)| name.eq_ignore_ascii_case("location"));
            let place = places.next().expect("a place").1;
            let (_, place) = place.split_once(&format!("localhost:{}", self.port)).expect("here");
            let path = format!("{place}&digest={digest}");
            self.send("PUT", &path, "application/octet-stream", bytes);
        }
        let parsed = |bytes: &[u8]| serde_json::from_slice::<Value>(bytes).expect("is JSON");
        let is_index = |bytes: &[u8]| parsed(bytes)["manifests"].is_array();
        let (indexes, images): (Vec<_>, Vec<_>) =
            content.manifests.iter().partition(|(_, bytes)| is_index(bytes));
        for (name, bytes) in images.into_iter().chain(indexes) {
            let (repository, reference) = name.rsplit_once('/').expect("a repository");
            let kind = parsed(bytes)["mediaType"].as_str().expect("a type").to_owned();
            self.send("PUT", &format!("/v2/{repository}/manifests/{reference}"), &kind, bytes);
        }
    }
}

impl Drop for Registry {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

fn call(bench: &Bench, port: u16, reference: &str) {
    let source = format!("oci://localhost:{port}/modules/net//vpc{reference}");
    bench.write(
        "main.tf",
        &format!(
            "module \"net\" {{\n  source = \"{source}\"\n}}\noutput \"text\" {{\n  value = module.net.text\n}}\n"
        ),
    );
}

#[test]
fn newest_allowed_provider_comes_from_a_registry_with_a_password() {
    for program in programs() {
        let bench = Bench::new();
        let Some(registry) = Registry::start(&bench) else { return };
        let mut content = Content::default();
        for version in ["1.0.0", "1.2.0", "2.0.0"] {
            content.provider(THING, version);
        }
        registry.push(&content);
        configure(&bench, registry.port);
        require(&bench);
        let ended = run(&program, &bench, &["init"]).succeeds();
        ended.shows(&["- Installed example.com/tests/thing v1.2.0 (verified checksum)"]);
        ended.lacks(&["passw0rd"]);
        let lock = String::from_utf8(bench.read(".terraform.lock.hcl")).expect("is text");
        let hash = format!("\"zh:{}\"", sha256(&package("1.2.0", "linux_amd64")));
        assert!(lock.contains(&hash), "{}: {lock}", program.name());
    }
}

#[test]
fn module_has_the_content_of_its_tag_or_digest() {
    for program in programs() {
        let bench = Bench::new();
        let Some(registry) = Registry::start(&bench) else { return };
        let mut content = Content::default();
        for tag in ["1.0.0", "latest"] {
            content.module(
                "modules/net",
                tag,
                &format!("output \"text\" {{\n  value = \"it is {tag}\"\n}}\n"),
            );
        }
        registry.push(&content);
        configure(&bench, registry.port);
        let digest = sha256(&content.manifests["modules/net/1.0.0"]);
        for (reference, text) in [
            ("", "it is latest"),
            ("?tag=1.0.0", "it is 1.0.0"),
            (&*format!("?digest=sha256:{digest}"), "it is 1.0.0"),
        ] {
            call(&bench, registry.port, reference);
            run(&program, &bench, &["init"]).succeeds().lacks(&["passw0rd"]);
            run(&program, &bench, &["plan"]).succeeds().shows(&[text]);
        }
    }
}

#[test]
fn missing_tag_and_wrong_password_are_errors_at_the_call() {
    let bench = Bench::new();
    let Some(registry) = Registry::start(&bench) else { return };
    let mut content = Content::default();
    content.module("modules/net", "1.0.0", "# module\n");
    registry.push(&content);
    configure(&bench, registry.port);
    let init = || {
        let (_, err) = both_streams(&run(&Program::Mayfly, &bench, &["init"]).fails());
        words(&err.replace(['╷', '│', '╵'], ""))
    };
    for (reference, expected) in [
        ("?tag=2.0.0", "it has no \"2.0.0\""),
        ("", "it has no \"latest\""),
        (&*format!("?digest=sha256:{}", "0".repeat(64)), "it has no \"sha256:0000"),
    ] {
        call(&bench, registry.port, reference);
        let err = init();
        assert!(err.contains(expected) && err.contains("main.tf line 2"), "{expected}: {err}");
    }
    let rc = std::fs::read_to_string(bench.root().join("rc")).expect("was written");
    bench.write("../rc", &rc.replace("passw0rd", "wr0ng"));
    call(&bench, registry.port, "?tag=1.0.0");
    let err = init();
    assert!(err.contains("the registry denies access") && !err.contains("wr0ng"), "{err}");
    assert!(!bench.path(".terraform.lock.hcl").exists());
}
