//! Providers and modules in repositories of an OCI registry that asks for a token.

use std::collections::BTreeMap;

use base64::{Engine as _, engine::general_purpose::STANDARD};
use serde_json::{Value, json};

use registry::{PLATFORMS, Server, answer, package, packed, sha256};

use crate::{
    bench::{Bench, Run},
    downloads::{authority, trusting},
    tofu::{Program, both_streams, programs, words},
};

/// The content of a registry: manifests by repository and reference, blobs by repository and digest.
#[derive(Clone, Default)]
pub(super) struct Content {
    pub(super) manifests: BTreeMap<String, Vec<u8>>,
    pub(super) blobs: BTreeMap<String, Vec<u8>>,
    tags: BTreeMap<String, Vec<String>>,
}

const INDEX: &str = "application/vnd.oci.image.index.v1+json";
const IMAGE: &str = "application/vnd.oci.image.manifest.v1+json";

impl Content {
    /// Adds a manifest under its digest and, unless it is empty, a tag. Returns its descriptor.
    fn manifest(&mut self, repository: &str, tag: &str, manifest: &Value) -> Value {
        let bytes = manifest.to_string().into_bytes();
        let digest = format!("sha256:{}", sha256(&bytes));
        let size = bytes.len();
        if !tag.is_empty() {
            self.tags.entry(repository.to_owned()).or_default().push(tag.to_owned());
            self.manifests.insert(format!("{repository}/{tag}"), bytes.clone());
        }
        self.manifests.insert(format!("{repository}/{digest}"), bytes);
        json!({
            "mediaType": manifest["mediaType"], "artifactType": manifest["artifactType"], "digest": digest,
            "size": size,
        })
    }

    /// Adds an archive. Returns its descriptor.
    fn blob(&mut self, repository: &str, bytes: Vec<u8>) -> Value {
        let digest = format!("sha256:{}", sha256(&bytes));
        let size = bytes.len();
        self.blobs.insert(format!("{repository}/{digest}"), bytes);
        json!({"mediaType": "archive/zip", "digest": digest, "size": size})
    }

    /// Adds the empty configuration that the manifest of an artifact refers to. Returns its descriptor.
    fn configuration(&mut self, repository: &str) -> Value {
        let mut descriptor = self.blob(repository, b"{}".to_vec());
        descriptor["mediaType"] = "application/vnd.oci.empty.v1+json".into();
        descriptor
    }

    pub(super) fn provider(&mut self, repository: &str, version: &'static str) {
        let targets = PLATFORMS.map(|platform| {
            let layer = self.blob(repository, package(version, platform));
            let image = json!({
                "schemaVersion": 2, "mediaType": IMAGE, "artifactType": "application/vnd.opentofu.provider-target",
                "config": self.configuration(repository), "layers": [layer],
            });
            let mut descriptor = self.manifest(repository, "", &image);
            let (os, arch) = platform.split_once('_').expect("a platform");
            descriptor["platform"] = json!({"os": os, "architecture": arch});
            descriptor
        });
        let index = json!({
            "schemaVersion": 2, "mediaType": INDEX, "artifactType": "application/vnd.opentofu.provider",
            "manifests": targets,
        });
        self.manifest(repository, version, &index);
    }

    pub(super) fn module(&mut self, repository: &str, tag: &str, text: &str) {
        let layer = self.blob(repository, packed("vpc/main.tf", text));
        let image = json!({
            "schemaVersion": 2, "mediaType": IMAGE, "artifactType": "application/vnd.opentofu.modulepkg",
            "config": self.configuration(repository), "layers": [layer],
        });
        self.manifest(repository, tag, &image);
    }

    /// Answers a request to the registry, or to its token service at `/token`.
    fn answer(&self, head: &str, path: &str) -> Option<Vec<u8>> {
        let head = head.to_lowercase();
        if path == "/token" {
            let password = STANDARD.encode("user:passw0rd").to_lowercase();
            return match head.contains(&format!("authorization: basic {password}")) {
                true => Some(answer("application/json", b"{\"token\": \"t0ken\"}")),
                false => Some(
                    b"HTTP/1.1 401 No\r\nconnection: close\r\ncontent-length: 0\r\n\r\n".to_vec(),
                ),
            };
        }
        if !head.contains("authorization: bearer t0ken") {
            let challenge = "HTTP/1.1 401 No\r\nwww-authenticate: Bearer realm=\"https://localhost:PORT/token\",\
                             service=\"registry\",scope=\"repository:x:pull\"\r\nconnection: close\r\n\
                             content-length: 0\r\n\r\n";
            return Some(challenge.as_bytes().to_vec());
        }
        let path = path.strip_prefix("/v2/")?;
        if path.is_empty() {
            return Some(answer("application/json", b"{}"));
        }
        if let Some(repository) = path.strip_suffix("/tags/list") {
            let tags = json!({"name": repository, "tags": self.tags.get(repository)?});
            return Some(answer("application/json", tags.to_string().as_bytes()));
        }
        if let Some(bytes) = self.blobs.get(&path.replace("/blobs/", "/")) {
            return Some(answer("application/octet-stream", bytes));
        }
        let manifest = self.manifests.get(&path.replace("/manifests/", "/"))?;
        let parsed: Value = serde_json::from_slice(manifest).ok()?;
        let digest = format!("docker-content-digest: sha256:{}\r\n", sha256(manifest));
        let answer = answer(parsed["mediaType"].as_str()?, manifest);
        let answer = String::from_utf8(answer).ok()?.replacen(
            "content-type:",
            &format!("{digest}content-type:"),
            1,
        );
        // A `HEAD` request gets no body.
        let end = answer.find("\r\n\r\n").map_or(0, |at| at + 4);
        Some(if head.starts_with("head ") { answer[..end].into() } else { answer.into() })
    }
}

pub(super) fn run(program: &Program, bench: &Bench, arguments: &[&str]) -> Run {
    let run = trusting(bench, program.run(bench, ".", arguments.iter().copied()));
    run.env("TF_CLI_CONFIG_FILE", bench.root().join("rc"))
}

/// Starts a registry, and writes a CLI configuration for it.
fn bench(content: Content) -> (Bench, Server) {
    let bench = Bench::new();
    let server =
        Server::start_with(&authority(&bench), move |head, path| content.answer(head, path));
    configure(&bench, server.port);
    (bench, server)
}

/// Writes a CLI configuration with a mirror in a registry, and with credentials for it.
pub(super) fn configure(bench: &Bench, port: u16) {
    let host = format!("localhost:{port}");
    bench.write(
        "../rc",
        &format!(
            "provider_installation {{\n  oci_mirror {{\n    repository_template = \
             \"{host}/mirror/${{hostname}}/${{namespace}}/${{type}}\"\n  }}\n}}\noci_credentials \"{host}\" {{\n  \
             username = \"user\"\n  password = \"passw0rd\"\n}}\n"
        ),
    );
}

pub(super) const THING: &str = "mirror/example.com/tests/thing";

pub(super) fn require(bench: &Bench) {
    bench.write(
        "main.tf",
        "terraform {\n  required_providers {\n    thing = {\n      source = \"example.com/tests/thing\"\n      \
         version = \"~> 1.0\"\n    }\n  }\n}\n",
    );
}

#[test]
fn provider_of_a_mirror_is_installed_with_a_token() {
    for program in programs() {
        let mut content = Content::default();
        content.provider(THING, "1.1.0");
        content.provider(THING, "1.2.0");
        content.tags.entry(THING.to_owned()).or_default().push("latest".to_owned());
        let (bench, server) = bench(content);
        require(&bench);
        let ended = run(&program, &bench, &["init"]).succeeds();
        ended.shows(&["- Installed example.com/tests/thing v1.2.0 (verified checksum)"]);
        ended.lacks(&["t0ken", "passw0rd"]);
        let lock = String::from_utf8(bench.read(".terraform.lock.hcl")).expect("is text");
        let hash = format!("\"zh:{}\"", sha256(&package("1.2.0", "linux_amd64")));
        assert!(lock.contains(&hash), "{}: {lock}", program.name());
        let heads = server.heads();
        let password = STANDARD.encode("user:passw0rd").to_lowercase();
        for head in heads.iter().map(|it| it.to_lowercase()) {
            assert_eq!(head.contains(&password), head.contains(" /token?"), "{head}");
        }
    }
}

#[test]
fn module_of_a_repository_is_installed_and_locked() {
    for program in programs() {
        let mut content = Content::default();
        let module = "output \"where\" {\n  value = path.module\n}\n";
        content.module("modules/net", "1.0.0", module);
        let (bench, server) = bench(content);
        let source = format!("oci://localhost:{}/modules/net//vpc?tag=1.0.0", server.port);
        bench.write(
            "main.tf",
            &format!(
                "module \"net\" {{\n  source = \"{source}\"\n}}\noutput \"where\" {{\n  value = module.net.where\n}}\n"
            ),
        );
        run(&program, &bench, &["init"]).succeeds().lacks(&["t0ken", "passw0rd"]);
        run(&program, &bench, &["plan"]).succeeds().shows(&[".terraform/modules/net/vpc"]);
        if let Program::Mayfly = program {
            let lock = String::from_utf8(bench.read(".terraform.lock.hcl")).expect("is text");
            assert!(lock.contains("/modules/net?tag=1.0.0\" {"), "{lock}");
        }
    }
}

#[test]
fn missing_and_changed_content_of_a_repository_is_an_error() {
    let mut content = Content::default();
    content.provider(THING, "1.2.0");
    content.module("modules/net", "1.0.0", "");
    content.provider("modules/odd", "1.2.0");
    let is_archive = |it: &(&String, &Vec<u8>)| it.0.starts_with("modules/net/") && it.1.len() > 2;
    let changed = content.blobs.iter().find(is_archive).map(|(digest, _)| digest.clone());
    let changed = changed.expect("a blob");
    let mut wrong = content.clone();
    wrong.blobs.insert(changed, packed("main.tf", "another"));
    let module =
        |source: &str| format!("module \"net\" {{\n  source = \"oci://HOST/{source}\"\n}}\n");
    for (content, main, expected) in [
        (&content, module("modules/net?tag=2.0.0"), "it has no \"2.0.0\""),
        (&content, module("modules/net"), "it has no \"latest\""),
        (&content, module("modules/nothing?tag=1"), "it has no \"1\""),
        (&content, module("modules/odd?tag=1.2.0"), "it is not a module package"),
        (&content, module("modules/net?tag=a b"), "cannot be the name of a tag"),
        (&content, module("modules/net?digest=sha256:1"), "is not a digest of SHA-256"),
        (&content, module("modules/net?tag=1&digest=x"), "cannot both be given"),
        (&content, module("modules/net?version=1"), "\"version\" is not understood"),
        (&content, module("Modules/net?tag=1"), "is not the address of an OCI repository"),
        (&wrong, module("modules/net?tag=1.0.0"), "its content has the digest sha256:"),
    ] {
        let (bench, server) = bench(content.clone());
        bench.write("main.tf", &main.replace("HOST", &format!("localhost:{}", server.port)));
        let (_, err) = both_streams(&run(&Program::Mayfly, &bench, &["init"]).fails());
        let err = words(&err.replace(['╷', '│', '╵'], ""));
        assert!(err.contains(expected), "{expected}: {err}");
        assert!(!bench.path(".terraform.lock.hcl").exists());
    }
}

#[test]
fn wrong_password_and_plain_token_service_are_refused() {
    let mut content = Content::default();
    content.provider(THING, "1.2.0");
    let (bench, server) = bench(content);
    require(&bench);
    let rc = std::fs::read_to_string(bench.root().join("rc")).expect("was written");
    bench.write("../rc", &rc.replace("passw0rd", "wr0ng"));
    let (_, err) = both_streams(&run(&Program::Mayfly, &bench, &["init"]).fails());
    assert!(words(&err).contains("its token service https://localhost:"), "{err}");
    assert!(!err.contains("wr0ng"), "{err}");
    drop(server);
    let bench = Bench::new();
    let plain = "HTTP/1.1 401 No\r\nwww-authenticate: Bearer realm=\"http://localhost:1/token\"\r\nconnection: close\r\n\
                 content-length: 0\r\n\r\n";
    let server =
        Server::start_with(&authority(&bench), move |_, _| Some(plain.as_bytes().to_vec()));
    bench.write("../rc", &rc_at(&rc, server.port));
    require(&bench);
    let (_, err) = both_streams(&run(&Program::Mayfly, &bench, &["init"]).fails());
    assert!(
        words(&err).contains("its token service http://localhost:1/token is not encrypted"),
        "{err}"
    );
}

#[test]
fn credentials_stay_at_the_registry() {
    let elsewhere = Bench::new();
    let other = Server::start_with(&authority(&elsewhere), |_, _| {
        let list = answer("application/json", b"{\"tags\": [\"1.0.0\"]}");
        let list = String::from_utf8(list).expect("is text");
        Some(
            list.replacen("content-type:", "link: </v2/next>; rel=\"next\"\r\ncontent-type:", 1)
                .into_bytes(),
        )
    });
    let bench = Bench::new();
    let content = Content::default();
    let target = other.port;
    let server = Server::start_with(&authority(&bench), move |head, path| {
        match path.ends_with("/tags/list") {
            true if head.contains("t0ken") => {
                let moved = format!(
                    "HTTP/1.1 302 Found\r\nlocation: https://localhost:{target}/tags\r\nconnection: close\r\n\
                 content-length: 0\r\n\r\n"
                );
                Some(moved.into_bytes())
            }
            _ => content.answer(head, path),
        }
    });
    let authorities = [bench.read("ca.pem"), elsewhere.read("ca.pem")].concat();
    bench.write("ca.pem", &String::from_utf8(authorities).expect("is text"));
    configure(&bench, server.port);
    require(&bench);
    run(&Program::Mayfly, &bench, &["init"]).fails();
    let heads = other.heads();
    assert_eq!(heads.len(), 1, "{heads:?}");
    assert!(!heads[0].contains("t0ken"), "{heads:?}");
}

/// The CLI configuration with another port of the registry.
fn rc_at(rc: &str, port: u16) -> String {
    let digits = |it: char| it.is_ascii_digit();
    let mut text = String::new();
    let mut rest = rc;
    while let Some((before, after)) = rest.split_once("localhost:") {
        text.push_str(before);
        text.push_str(&format!("localhost:{port}"));
        rest = after.trim_start_matches(digits);
    }
    text + rest
}
