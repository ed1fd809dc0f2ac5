//! Faults of a registry and its servers, over TLS.

use std::{
    collections::BTreeMap,
    io::{Cursor, Write as _},
    sync::Mutex,
};

use zip::{ZipWriter, write::SimpleFileOptions};

use registry::{AuthorKey, Release, Server, answer, package, packed, pages, pages_with};

use crate::{
    bench::{Bench, Ended},
    downloads::{authority, trusting},
    tofu::{both_streams, words},
};

const PACKAGE: &str = "/files/1.2.0/terraform-provider-thing_1.2.0_linux_amd64.zip";
const VERSIONS: &str = "/v1/providers/tests/thing/versions";
const SUMS: &str = "/files/1.2.0/SHA256SUMS";

/// Runs `init` with a registry of which each path has these first answers before the right one. Returns the requests,
/// too.
fn init(
    key: &AuthorKey,
    first: &[(&str, Vec<u8>)],
    environment: &[(&str, &str)],
) -> (Ended, Vec<String>) {
    let bench = Bench::new();
    let right = pages(&[Release { key: Some(key), ..Release::default() }]);
    let mut faults: BTreeMap<String, Vec<Vec<u8>>> = BTreeMap::new();
    for (path, answer) in first {
        faults.entry((*path).to_owned()).or_default().insert(0, answer.clone());
    }
    let faults = Mutex::new(faults);
    let server = Server::start_with(&authority(&bench), move |_, path| {
        let fault = faults.lock().expect("no panic").get_mut(path).and_then(Vec::pop);
        fault.or_else(|| right.get(path).cloned())
    });
    let source = format!("localhost:{}/tests/thing", server.port);
    bench.write(
        "main.tf",
        &format!("terraform {{\n  required_providers {{\n    thing = {{ source = \"{source}\" }}\n  }}\n}}\n"),
    );
    let mut run = trusting(&bench, bench.mayfly(".", ["init"]));
    for (name, value) in environment {
        run = run.env(name, value);
    }
    (run.end(), server.heads())
}

fn status(status: &str) -> Vec<u8> {
    format!("HTTP/1.1 {status}\r\nretry-after: 0\r\nconnection: close\r\ncontent-length: 0\r\n\r\n")
        .into_bytes()
}

/// The first half of a package, with a head that announces the whole.
fn truncated() -> Vec<u8> {
    let whole = answer("application/zip", &package("1.2.0", "linux_amd64"));
    let text = String::from_utf8_lossy(&whole).into_owned();
    let head = text.find("\r\n\r\n").expect("a head") + 4;
    whole[..head + (whole.len() - head) / 2].to_vec()
}

fn count(heads: &[String], path: &str) -> usize {
    heads.iter().filter(|it| it.contains(&format!(" {path} "))).count()
}

#[test]
fn temporary_faults_are_overcome() {
    let key = AuthorKey::new();
    for (path, fault) in [
        (VERSIONS, status("429 Too Many Requests")),
        (VERSIONS, status("503 Service Unavailable")),
        (SUMS, status("500 Internal Server Error")),
        (PACKAGE, status("502 Bad Gateway")),
        (PACKAGE, truncated()),
        (PACKAGE, Vec::new()),
    ] {
        let (ended, heads) = init(&key, &[(path, fault)], &[]);
        ended.exits(0).shows(&["v1.2.0 (signed, key ID"]);
        assert_eq!(count(&heads, path), 2, "{path}");
    }
}

#[test]
fn number_of_retries_is_a_setting() {
    let key = AuthorKey::new();
    let fault = || status("503 Service Unavailable");
    let (ended, heads) = init(&key, &[(PACKAGE, fault())], &[("TF_PROVIDER_DOWNLOAD_RETRY", "0")]);
    ended.exits(1).shows(&["the status 503 Service Unavailable"]);
    assert_eq!(count(&heads, PACKAGE), 1);
    let many: Vec<_> = (0..5).map(|_| (VERSIONS, fault())).collect();
    let (ended, heads) = init(&key, &many, &[("TF_REGISTRY_DISCOVERY_RETRY", "2")]);
    ended.exits(1).shows(&["the status 503 Service Unavailable"]);
    assert_eq!(count(&heads, VERSIONS), 3);
    let (ended, _) = init(&key, &many, &[("TF_REGISTRY_DISCOVERY_RETRY", "5")]);
    ended.exits(0);
}

/// Runs `init` with a package that is signed, and returns the error.
fn error_with(package: &[u8]) -> String {
    let key = AuthorKey::new();
    let bench = Bench::new();
    let release = Release { key: Some(&key), ..Release::default() };
    let server = Server::start(&authority(&bench), pages_with(&[release], |_, _| package.to_vec()));
    let source = format!("localhost:{}/tests/thing", server.port);
    bench.write(
        "main.tf",
        &format!("terraform {{\n  required_providers {{\n    thing = {{ source = \"{source}\" }}\n  }}\n}}\n"),
    );
    let (_, err) = both_streams(&trusting(&bench, bench.mayfly(".", ["init"])).fails());
    assert!(!bench.path(".terraform.lock.hcl").exists());
    assert!(!bench.root().join("work/escaped").exists() && !bench.root().join("escaped").exists());
    words(&err.replace(['╷', '│', '╵'], ""))
}

#[test]
fn signed_packages_that_attack_are_refused() {
    let slip = packed("../../../../../../../escaped", "x");
    assert!(error_with(&slip).contains("the unsafe entry \"../../"));
    let mut bomb = ZipWriter::new(Cursor::new(Vec::new()));
    bomb.start_file("terraform-provider-thing_v1.2.0", SimpleFileOptions::default())
        .expect("in memory");
    let zeros = vec![0; 1 << 20];
    for _ in 0..64 {
        bomb.write_all(&zeros).expect("in memory");
    }
    let error = error_with(&bomb.finish().expect("in memory").into_inner());
    assert!(error.contains("it unpacks to more than a package of its size can be"), "{error}");
    assert!(error_with(b"no archive").contains("invalid Zip archive"));
    let other = packed("terraform-provider-other_v1.2.0", "x");
    assert!(
        error_with(&other)
            .contains("could not find executable file starting with terraform-provider-thing")
    );
}
