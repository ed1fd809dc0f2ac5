//! Certificates for a server that requires a certificate from its clients.

use std::sync::Arc;

use rcgen::{BasicConstraints, CertificateParams, DnType, IsCa, Issuer, KeyPair};
use rustls::RootCertStore;
use rustls::crypto::ring;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, PrivatePkcs8KeyDer};
use rustls::server::WebPkiClientVerifier;
use tokio_rustls::TlsAcceptor;

/// An authority, and the certificates that it issued to the server and to a client.
pub(crate) struct MutualTls {
    /// The certificate of the authority in PEM format.
    pub(crate) authority: String,
    /// The pair of the client.
    pub(crate) client: Pem,
    acceptor: TlsAcceptor,
}

/// A certificate and its key in PEM format.
pub(crate) struct Pem {
    pub(crate) certificate: String,
    pub(crate) key: String,
}

impl MutualTls {
    /// Creates an authority of a name, with fresh keys.
    pub(crate) fn new(name: &str) -> MutualTls {
        let key = || KeyPair::generate().expect("a key");
        let mut params = CertificateParams::default();
        params.distinguished_name.push(DnType::CommonName, name);
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let authority_key = key();
        let root = params.self_signed(&authority_key).expect("a certificate");
        let issuer = Issuer::new(params, authority_key);
        let sign = |name: &str, key: &KeyPair| {
            let params = CertificateParams::new([name.to_owned()]).expect("a name");
            params.signed_by(key, &issuer).expect("a certificate")
        };
        let (server_key, client_key) = (key(), key());
        let server = sign("127.0.0.1", &server_key);
        let certificate = sign("client.example", &client_key).pem();
        let acceptor = acceptor(root.der(), server.der().clone(), &server_key);
        let client = Pem { certificate, key: client_key.serialize_pem() };
        MutualTls { authority: root.pem(), client, acceptor }
    }

    pub(super) fn acceptor(&self) -> TlsAcceptor {
        self.acceptor.clone()
    }
}

fn acceptor(
    root: &CertificateDer<'static>,
    server: CertificateDer<'static>,
    key: &KeyPair,
) -> TlsAcceptor {
    let provider = Arc::new(ring::default_provider());
    let mut roots = RootCertStore::empty();
    roots.add(root.clone()).expect("an authority");
    let verifier =
        WebPkiClientVerifier::builder_with_provider(Arc::new(roots), provider.clone()).build();
    let key = PrivateKeyDer::from(PrivatePkcs8KeyDer::from(key.serialize_der()));
    let config = rustls::ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .expect("versions")
        .with_client_cert_verifier(verifier.expect("a verifier"))
        .with_single_cert(vec![server], key);
    TlsAcceptor::from(Arc::new(config.expect("a server")))
}
