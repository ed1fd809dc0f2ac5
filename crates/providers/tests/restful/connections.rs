//! TLS, certificates of clients and the errors of their settings.

use http_client::ErrorKind;
use providers::restful::request::client::InitError;
use providers::restful::request::settings::{CertificateSource, PemSource};

use super::restful_server::{MutualTls, Pem, RestfulServer};
use super::{Provider, http_error, secret, settings};

fn text(pem: &str) -> PemSource {
    PemSource::Text(secret(pem))
}

fn source(pem: &Pem) -> CertificateSource {
    CertificateSource { certificate: text(&pem.certificate), key: text(&pem.key) }
}

fn provider(server: &RestfulServer, roots: &[&MutualTls], identities: &[&Pem]) -> Provider {
    let mut settings = settings(server);
    settings.client.root_authorities = roots.iter().map(|it| text(&it.authority)).collect();
    settings.client.certificates = identities.iter().map(|it| source(it)).collect();
    Provider::new(settings)
}

#[tokio::test]
async fn server_accepts_only_its_own_clients() {
    let (tls, other) = (MutualTls::new("one"), MutualTls::new("other"));
    let server = RestfulServer::start_with_tls(&tls).await;
    // The issuers that the server names choose among the certificates.
    let accepted = provider(&server, &[&other, &tls], &[&other.client, &tls.client]);
    assert_eq!(accepted.get("empty").await.expect("an answer").status.as_u16(), 200);
    // Each provider has connections of its own, so the accepted one helps no other.
    for identities in [&[][..], &[&other.client]] {
        let error = http_error(provider(&server, &[&tls], identities).get("empty").await);
        let is_expected = matches!(error, ErrorKind::Connection(_) | ErrorKind::Connect { .. });
        assert!(is_expected, "{error:?}");
    }
    assert_eq!(server.count("GET /empty"), 1);
}

#[tokio::test]
async fn own_roots_replace_those_of_the_machine() {
    let (tls, other) = (MutualTls::new("one"), MutualTls::new("other"));
    let server = RestfulServer::start_with_tls(&tls).await;
    let directory = tempfile::tempdir().expect("a directory");
    let file = directory.path().join("machine.pem");
    std::fs::write(&file, &tls.authority).expect("a file");
    let trusted = Some(file.display().to_string());
    let with =
        |roots| Provider { trusted: trusted.clone(), ..provider(&server, roots, &[&tls.client]) };
    assert!(with(&[]).get("empty").await.is_ok());
    let error = http_error(with(&[&other]).get("empty").await);
    assert!(matches!(error, ErrorKind::Certificate { .. }), "{error:?}");
    let error = http_error(provider(&server, &[&other], &[&tls.client]).get("empty").await);
    assert!(matches!(error, ErrorKind::Certificate { .. }), "{error:?}");
    assert_eq!(server.count("GET /empty"), 1);
}

#[tokio::test]
async fn insecure_client_accepts_every_server() {
    let (tls, other) = (MutualTls::new("one"), MutualTls::new("other"));
    let server = RestfulServer::start_with_tls(&tls).await;
    let mut settings = settings(&server);
    settings.client.is_insecure = true;
    settings.client.certificates = vec![source(&tls.client)];
    settings.client.root_authorities = vec![text(&other.authority)];
    assert!(Provider::new(settings).get("empty").await.is_ok());
}

#[tokio::test]
async fn redirect_never_leaves_encryption() {
    let tls = MutualTls::new("one");
    let server = RestfulServer::start_with_tls(&tls).await;
    let plain = RestfulServer::start().await;
    let provider = provider(&server, &[&tls], &[&tls.client]);
    let path = format!("redirect/302?to={}/empty", plain.url);
    let error = http_error(provider.get(&path).await);
    assert!(matches!(error, ErrorKind::Redirect(_)), "{error:?}");
    assert_eq!(plain.count("GET /empty"), 0);
}

#[tokio::test]
async fn error_of_the_initialization_is_kept() {
    let tls = MutualTls::new("one");
    let server = RestfulServer::start_with_tls(&tls).await;
    let directory = tempfile::tempdir().expect("a directory");
    let file = directory.path().join("client.pem");
    let mut settings = settings(&server);
    settings.client.certificates = vec![CertificateSource {
        certificate: PemSource::File(file.clone()),
        key: text(&tls.client.key),
    }];
    settings.client.root_authorities = vec![text(&tls.authority)];
    let provider = Provider::new(settings.clone());
    let first = provider.init_error().await;
    assert!(matches!(first, InitError::File { .. }), "{first}");
    let expected = format!("failed to read the file {} of `client.certificates`", file.display());
    assert!(first.to_string().starts_with(&expected), "{first}");
    std::fs::write(&file, &tls.client.certificate).expect("a file");
    assert_eq!(provider.init_error().await.to_string(), first.to_string());
    // The file itself is usable now.
    assert!(Provider::new(settings).get("empty").await.is_ok());
}

#[tokio::test]
async fn unusable_certificates_are_errors_that_quote_no_key() {
    let (tls, other) = (MutualTls::new("one"), MutualTls::new("other"));
    let server = RestfulServer::start_with_tls(&tls).await;
    let swapped = Pem { certificate: tls.client.certificate.clone(), key: other.client.key };
    let broken = Pem { certificate: swapped.certificate.clone(), key: "s3cret".to_owned() };
    for (identity, expected) in [
        (swapped, "the private key does not belong to the certificate"),
        (broken, "it contains no private key in PEM format"),
    ] {
        let error = provider(&server, &[], &[&identity]).init_error().await.to_string();
        assert_eq!(error, format!("failed to load `client.certificates`: {expected}"));
    }
    let mut settings = settings(&server);
    settings.client.root_authorities = vec![text("none")];
    let error = Provider::new(settings).init_error().await.to_string();
    assert!(error.starts_with("failed to load `client.root_ca_certificates`: "), "{error}");
}
