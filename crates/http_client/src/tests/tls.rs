//! Tests of TLS settings: given authorities, client certificates, no verification; and of cookies at redirects.

use std::sync::{Arc, Mutex};

use hyper::header::{COOKIE, HeaderMap, HeaderValue, SET_COOKIE, USER_AGENT};
use rcgen::{CertificateParams, KeyPair};

use super::server::{World, answer, request};
use crate::{Authorities, CookieStore, ErrorKind, Identity, TlsSettings, Url, Verification};

const A: &str = "a.example:443";

fn pair() -> (String, String) {
    let key = KeyPair::generate().expect("a key");
    let params = CertificateParams::new(["a.example".to_owned()]).expect("names");
    let certificate = params.self_signed(&key).expect("a certificate");
    (certificate.pem(), key.serialize_pem())
}

async fn status_with(world: &World, verification: Verification) -> Result<u16, ErrorKind> {
    world.answers(A, [answer("200 OK", &[], b"")]);
    let mut config = world.config();
    config.tls = TlsSettings { verification, identities: Vec::new() };
    let response = world.client_with(config).send(&request("https://a.example/")).await;
    response.map(|it| it.status.as_u16()).map_err(|it| it.kind)
}

#[tokio::test(start_paused = true)]
async fn given_authorities_replace_those_of_the_machine() {
    let world = World::new(&["a.example"]);
    let own = std::fs::read(world.files.path().join("ca.pem")).expect("a file");
    let own = Authorities::from_pem(&[own]).expect("an authority");
    let other = Authorities::from_pem(&[pair().0]).expect("an authority");
    assert_eq!(status_with(&world, Verification::Only(own)).await.expect("trusted"), 200);
    let error = status_with(&world, Verification::Only(other)).await.expect_err("not trusted");
    assert!(matches!(error, ErrorKind::Certificate { .. }), "{error}");
}

#[tokio::test(start_paused = true)]
async fn unverified_server_is_accepted_only_on_request() {
    let world = World::new(&["other.example"]);
    let error = status_with(&world, Verification::Machine).await.expect_err("not trusted");
    assert!(matches!(error, ErrorKind::Certificate { .. }), "{error}");
    assert_eq!(status_with(&world, Verification::Off).await.expect("accepted"), 200);
}

#[test]
fn unusable_certificates_are_errors_that_quote_nothing() {
    let ((chain, key), (_, other_key)) = (pair(), pair());
    let identity = Identity::from_pem(chain.as_bytes(), key.as_bytes()).expect("an identity");
    assert_eq!(format!("{identity:?}"), "Identity");
    for (chain, key) in [
        (&*chain, &*other_key),
        (&chain, "s3cret"),
        (&chain, "-----BEGIN s3cret\n"),
        ("s3cret", &key),
        ("-----BEGIN CERTIFICATE-----\ns3cret\n-----END CERTIFICATE-----\n", &key),
    ] {
        let error = Identity::from_pem(chain.as_bytes(), key.as_bytes()).expect_err("unusable");
        assert!(!error.to_string().contains("s3cret"), "{error}");
    }
    Authorities::from_pem::<&str>(&[]).expect_err("none");
    Authorities::from_pem(&["s3cret"]).expect_err("no certificate");
}

#[derive(Debug, Default)]
struct LastCookie(Mutex<Option<(String, HeaderValue)>>);

impl CookieStore for LastCookie {
    fn cookies(&self, url: &Url) -> Option<HeaderValue> {
        let last = self.0.lock().expect("no panic");
        last.as_ref().filter(|(host, _)| host == url.host()).map(|(_, value)| value.clone())
    }

    fn receive(&self, url: &Url, headers: &HeaderMap) {
        if let Some(value) = headers.get(SET_COOKIE) {
            *self.0.lock().expect("no panic") = Some((url.host().to_owned(), value.clone()));
        }
    }
}

#[tokio::test(start_paused = true)]
async fn cookie_of_a_redirect_is_sent_to_its_host_only() {
    let world = World::new(&["a.example", "b.example"]);
    let moved =
        |to: &str| answer("302 Found", &["set-cookie: s=1", &format!("location: {to}")], b"");
    let onward = answer("302 Found", &["location: https://b.example/z"], b"");
    world.answers(A, [moved("/y"), onward]);
    world.answers("b.example:443", [answer("200 OK", &[], b"")]);
    let mut config = world.config();
    config.cookies = Some(Arc::new(LastCookie::default()));
    let mut first = request("https://a.example/x");
    first.headers.insert(COOKIE, HeaderValue::from_static("own=2"));
    first.headers.insert(USER_AGENT, HeaderValue::from_static("Own/3"));
    drop(world.client_with(config).send(&first).await.expect("an answer"));
    let heads = world.heads();
    assert!(heads[0].contains("cookie: own=2\r\n"), "{heads:?}");
    assert!(heads[1].contains("cookie: own=2; s=1\r\n"), "{heads:?}");
    assert!(heads[1].contains("user-agent: Own/3\r\n"), "{heads:?}");
    assert!(
        !heads[2].contains("cookie") && heads[2].contains("user-agent: Test/1\r\n"),
        "{heads:?}"
    );
}
