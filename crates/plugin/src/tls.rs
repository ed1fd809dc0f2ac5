//! go-plugin's AutoMTLS: each side makes a certificate, sends it to the other in advance, and accepts only the
//! certificate that it received.
//!
//! rustls' own verifier refuses Go's certificates, which are self-signed CAs used as leaf, and ring does not
//! support P-521, the curve of their keys. The presented certificate is therefore compared byte by byte, and
//! signatures are checked with ring's algorithms and one from `p521`.

use std::sync::{Arc, LazyLock};

use p521::ecdsa::signature::Verifier;
use rcgen::{
    CertificateParams, DistinguishedName, DnType, ExtendedKeyUsagePurpose, KeyPair, KeyUsagePurpose,
};
use rustls::{
    ClientConfig, DigitallySignedStruct, DistinguishedName as Subject, Error, ServerConfig,
    SignatureScheme,
    client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier},
    crypto::{
        CryptoProvider, WebPkiSupportedAlgorithms, verify_tls12_signature, verify_tls13_signature,
    },
    pki_types::{
        AlgorithmIdentifier, CertificateDer, InvalidSignature, PrivateKeyDer, PrivatePkcs8KeyDer,
        ServerName, SignatureVerificationAlgorithm, UnixTime, pem::PemObject,
    },
    server::danger::{ClientCertVerified, ClientCertVerifier},
};

/// The name in every certificate of AutoMTLS.
pub(crate) const SERVER_NAME: &str = "localhost";
/// The application protocol. grpc-go closes connections that did not negotiate it.
const ALPN: &[u8] = b"h2";

/// An error about a key that cannot be generated or a certificate that cannot be used.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub(crate) struct TlsError(String);

/// A certificate with its private key, made for one connection.
pub(crate) struct Identity {
    certificate: CertificateDer<'static>,
    pem: String,
    key: PrivateKeyDer<'static>,
}

impl Identity {
    /// Generates a P-256 key and a self-signed certificate that is not a CA. The Go side accepts it as client and
    /// as server, and so do plugins that verify with webpki.
    pub(crate) fn generate() -> Result<Self, TlsError> {
        let failed =
            |error: rcgen::Error| TlsError(format!("failed to make a certificate: {error}"));
        let mut params = CertificateParams::new([SERVER_NAME.to_owned()]).map_err(failed)?;
        let mut name = DistinguishedName::new();
        name.push(DnType::CommonName, SERVER_NAME);
        name.push(DnType::OrganizationName, "Mayfly");
        params.distinguished_name = name;
        params.key_usages = vec![KeyUsagePurpose::DigitalSignature, KeyUsagePurpose::KeyAgreement];
        params.extended_key_usages =
            vec![ExtendedKeyUsagePurpose::ClientAuth, ExtendedKeyUsagePurpose::ServerAuth];
        let key = KeyPair::generate().map_err(failed)?;
        let certificate = params.self_signed(&key).map_err(failed)?;
        Ok(Self {
            pem: certificate.pem(),
            certificate: certificate.der().clone(),
            key: PrivatePkcs8KeyDer::from(key.serialize_der()).into(),
        })
    }

    pub(crate) fn pem(&self) -> &str {
        &self.pem
    }

    pub(crate) fn der(&self) -> &[u8] {
        &self.certificate
    }

    /// The configuration of a core that accepts only the certificate `server`.
    pub(crate) fn client_config(self, server: Vec<u8>) -> Result<ClientConfig, TlsError> {
        let mut config = ClientConfig::builder_with_provider(Arc::clone(&CRYPTO))
            .with_safe_default_protocol_versions()
            .map_err(unusable)?
            .dangerous()
            .with_custom_certificate_verifier(Arc::new(Pinned { certificate: server }))
            .with_client_auth_cert(vec![self.certificate], self.key)
            .map_err(unusable)?;
        config.alpn_protocols = vec![ALPN.to_vec()];
        Ok(config)
    }

    /// The configuration of a plugin that accepts only the certificate in `client_pem`.
    pub(crate) fn server_config(self, client_pem: &str) -> Result<ServerConfig, TlsError> {
        let client = CertificateDer::from_pem_slice(client_pem.as_bytes())
            .map_err(|error| TlsError(format!("the core's certificate cannot be read: {error}")))?;
        let mut config = ServerConfig::builder_with_provider(Arc::clone(&CRYPTO))
            .with_safe_default_protocol_versions()
            .map_err(unusable)?
            .with_client_cert_verifier(Arc::new(Pinned { certificate: client.to_vec() }))
            .with_single_cert(vec![self.certificate], self.key)
            .map_err(unusable)?;
        config.alpn_protocols = vec![ALPN.to_vec()];
        Ok(config)
    }
}

fn unusable(error: Error) -> TlsError {
    TlsError(format!("failed to set up TLS: {error}"))
}

/// A verifier that accepts exactly one certificate and ignores its names, dates and purposes.
#[derive(Debug)]
struct Pinned {
    certificate: Vec<u8>,
}

impl Pinned {
    fn compare(&self, presented: &CertificateDer<'_>) -> Result<(), Error> {
        if presented.as_ref() == self.certificate {
            Ok(())
        } else {
            Err(Error::General(
                "the peer presents another certificate than the one it announced".to_owned(),
            ))
        }
    }
}

impl ServerCertVerifier for Pinned {
    fn verify_server_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        _intermediates: &[CertificateDer<'_>],
        _server_name: &ServerName<'_>,
        _ocsp_response: &[u8],
        _now: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        self.compare(end_entity).map(|()| ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        dss: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        verify_tls12_signature(message, cert, dss, &CRYPTO.signature_verification_algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        dss: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        verify_tls13_signature(message, cert, dss, &CRYPTO.signature_verification_algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        CRYPTO.signature_verification_algorithms.supported_schemes()
    }
}

impl ClientCertVerifier for Pinned {
    fn root_hint_subjects(&self) -> &[Subject] {
        &[]
    }

    fn verify_client_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        _intermediates: &[CertificateDer<'_>],
        _now: UnixTime,
    ) -> Result<ClientCertVerified, Error> {
        self.compare(end_entity).map(|()| ClientCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        dss: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        ServerCertVerifier::verify_tls12_signature(self, message, cert, dss)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        dss: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        ServerCertVerifier::verify_tls13_signature(self, message, cert, dss)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        ServerCertVerifier::supported_verify_schemes(self)
    }
}

type Algorithms = &'static [&'static dyn SignatureVerificationAlgorithm];

static P521: &[&dyn SignatureVerificationAlgorithm] = &[&EcdsaP521Sha512];
static RING: LazyLock<WebPkiSupportedAlgorithms> =
    LazyLock::new(|| rustls::crypto::ring::default_provider().signature_verification_algorithms);
static ALL: LazyLock<Vec<&'static dyn SignatureVerificationAlgorithm>> =
    LazyLock::new(|| RING.all.iter().chain(P521).copied().collect());
static MAPPING: LazyLock<Vec<(SignatureScheme, Algorithms)>> = LazyLock::new(|| {
    RING.mapping.iter().copied().chain([(SignatureScheme::ECDSA_NISTP521_SHA512, P521)]).collect()
});
/// ring's algorithms and P-521 signatures.
static CRYPTO: LazyLock<Arc<CryptoProvider>> = LazyLock::new(|| {
    let mut provider = rustls::crypto::ring::default_provider();
    provider.signature_verification_algorithms =
        WebPkiSupportedAlgorithms { all: &ALL, mapping: &MAPPING };
    Arc::new(provider)
});

/// Verification of ECDSA signatures over P-521 with SHA-512.
#[derive(Debug)]
struct EcdsaP521Sha512;

impl SignatureVerificationAlgorithm for EcdsaP521Sha512 {
    fn verify_signature(
        &self,
        public_key: &[u8],
        message: &[u8],
        signature: &[u8],
    ) -> Result<(), InvalidSignature> {
        let key =
            p521::ecdsa::VerifyingKey::from_sec1_bytes(public_key).map_err(|_| InvalidSignature)?;
        let signature =
            p521::ecdsa::Signature::from_der(signature).map_err(|_| InvalidSignature)?;
        key.verify(message, &signature).map_err(|_| InvalidSignature)
    }

    /// id-ecPublicKey (1.2.840.10045.2.1) with secp521r1 (1.3.132.0.35).
    fn public_key_alg_id(&self) -> AlgorithmIdentifier {
        AlgorithmIdentifier::from_slice(&[
            0x06, 0x07, 0x2a, 0x86, 0x48, 0xce, 0x3d, 0x02, 0x01, 0x06, 0x05, 0x2b, 0x81, 0x04,
            0x00, 0x23,
        ])
    }

    /// ecdsa-with-SHA512 (1.2.840.10045.4.3.4).
    fn signature_alg_id(&self) -> AlgorithmIdentifier {
        AlgorithmIdentifier::from_slice(&[
            0x06, 0x08, 0x2a, 0x86, 0x48, 0xce, 0x3d, 0x04, 0x03, 0x04,
        ])
    }
}

#[cfg(test)]
mod tests {
    use p521::{
        SecretKey,
        ecdsa::{Signature, SigningKey, signature::Signer as _},
        pkcs8::DecodePrivateKey,
    };
    use rustls::{
        SignatureAlgorithm,
        server::{ClientHello, ResolvesServerCert},
        sign::{CertifiedKey, Signer},
    };
    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    use tokio_rustls::{TlsAcceptor, TlsConnector};

    use super::*;

    const GO_CERTIFICATE: &str = include_str!("../tests/data/p521_cert.pem");
    const GO_KEY: &str = include_str!("../tests/data/p521_key.pem");

    /// A P-521 key as the Go side uses. ring cannot sign with it.
    #[derive(Clone, Debug)]
    struct GoKey(SecretKey);

    impl GoKey {
        fn read() -> Self {
            Self(SecretKey::from_pkcs8_pem(GO_KEY).expect("it is PKCS #8"))
        }

        fn signature(&self, message: &[u8]) -> Vec<u8> {
            let key = SigningKey::from_slice(&self.0.to_bytes()).expect("it is a P-521 key");
            let signature: Signature = key.sign(message);
            signature.to_der().as_bytes().to_vec()
        }
    }

    impl rustls::sign::SigningKey for GoKey {
        fn choose_scheme(&self, offered: &[SignatureScheme]) -> Option<Box<dyn Signer>> {
            let known = offered.contains(&SignatureScheme::ECDSA_NISTP521_SHA512);
            known.then(|| Box::new(self.clone()) as Box<dyn Signer>)
        }

        fn algorithm(&self) -> SignatureAlgorithm {
            SignatureAlgorithm::ECDSA
        }
    }

    impl Signer for GoKey {
        fn sign(&self, message: &[u8]) -> Result<Vec<u8>, Error> {
            Ok(self.signature(message))
        }

        fn scheme(&self) -> SignatureScheme {
            SignatureScheme::ECDSA_NISTP521_SHA512
        }
    }

    fn go_certificate() -> CertificateDer<'static> {
        CertificateDer::from_pem_slice(GO_CERTIFICATE.as_bytes()).expect("it is PEM")
    }

    /// Presents Go's certificate, because rustls' own resolvers refuse a CA.
    #[derive(Debug)]
    struct GoResolver(Arc<CertifiedKey>);

    impl ResolvesServerCert for GoResolver {
        fn resolve(&self, _: ClientHello<'_>) -> Option<Arc<CertifiedKey>> {
            Some(Arc::clone(&self.0))
        }
    }

    /// Sends a greeting through a connection of the two. Returns the reason if the connection fails.
    async fn greet(client: ClientConfig, server: ServerConfig) -> Result<(), String> {
        let (ours, theirs) = tokio::io::duplex(1 << 14);
        let name = ServerName::try_from(SERVER_NAME).expect("a name");
        let serve = async {
            let mut stream = TlsAcceptor::from(Arc::new(server)).accept(theirs).await?;
            assert_eq!(stream.get_ref().1.alpn_protocol(), Some(ALPN));
            stream.write_all(b"hello").await?;
            stream.flush().await
        };
        let ask = async {
            let mut stream = TlsConnector::from(Arc::new(client)).connect(name, ours).await?;
            let mut greeting = [0; 5];
            stream.read_exact(&mut greeting).await.map(|_| ())
        };
        let (asked, served) = tokio::join!(ask, serve);
        asked.and(served).map_err(|error| error.to_string())
    }

    #[tokio::test]
    async fn p521_certificate_of_a_go_server_is_accepted_in_both_tls_versions() {
        let key = CertifiedKey::new(vec![go_certificate()], Arc::new(GoKey::read()));
        for version in rustls::ALL_VERSIONS {
            let mut server = ServerConfig::builder_with_provider(Arc::clone(&CRYPTO))
                .with_protocol_versions(&[version])
                .expect("a version that ring knows")
                .with_no_client_auth()
                .with_cert_resolver(Arc::new(GoResolver(Arc::new(key.clone()))));
            server.alpn_protocols = vec![ALPN.to_vec()];
            let client = Identity::generate()
                .expect("made")
                .client_config(go_certificate().to_vec())
                .expect("good");
            assert_eq!(greet(client, server).await, Ok(()), "{version:?}");
        }
    }

    #[tokio::test]
    async fn tls_accepts_only_the_announced_certificate() {
        let identities = || Identity::generate().expect("made");
        let (ours, theirs, other) = (identities(), identities(), identities());
        let (our_pem, their_der) = (ours.pem().to_owned(), theirs.der().to_vec());
        let server = theirs.server_config(&our_pem).expect("good");
        let other = other.client_config(their_der.clone()).expect("good");
        assert_eq!(
            greet(ours.client_config(their_der).expect("good"), server.clone()).await,
            Ok(())
        );
        assert!(greet(other, server.clone()).await.is_err());
        let client = identities().client_config(go_certificate().to_vec()).expect("good");
        assert!(greet(client, server).await.is_err_and(|it| it.contains("another certificate")));
    }

    #[test]
    fn invalid_p521_signature_is_refused() {
        let key = GoKey::read();
        let (public, der) = (key.0.public_key().to_sec1_bytes(), key.signature(b"message"));
        let verify = |message, signature: &[u8]| {
            EcdsaP521Sha512.verify_signature(&public, message, signature)
        };
        assert!(verify(b"message", &der).is_ok());
        assert!(verify(b"massage", &der).is_err());
        assert!(verify(b"message", b"junk").is_err());
        assert!(EcdsaP521Sha512.verify_signature(b"junk", b"message", &der).is_err());
    }
}
