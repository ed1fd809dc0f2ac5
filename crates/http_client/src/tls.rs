//! TLS: the authorities that a server is checked against, and the certificates by which the client proves itself.

use std::fmt;
use std::sync::Arc;

use memchr::memmem;
use rustls::client::ResolvesClientCert;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::{CryptoProvider, ring, verify_tls12_signature, verify_tls13_signature};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName, UnixTime};
use rustls::sign::CertifiedKey;
use rustls::{
    ClientConfig, ConfigBuilder, DigitallySignedStruct, RootCertStore, SignatureScheme,
    WantsVerifier,
};

use crate::trust::Trust;

/// The TLS settings of a client, beyond the authorities of the machine.
#[derive(Clone, Debug, Default)]
pub struct TlsSettings {
    /// The check of the certificates of servers.
    pub verification: Verification,
    /// The certificates of the client. The client shows one if a server asks for it: the first whose issuer the
    /// server accepts, else the first that can sign for it.
    pub identities: Vec<Identity>,
}

/// The check of the certificates of servers.
#[derive(Clone, Debug, Default)]
pub enum Verification {
    /// By the authorities of the machine and the environment: [`ClientConfig::trust`](crate::ClientConfig::trust).
    #[default]
    Machine,
    /// By these authorities only. They replace those of the machine.
    Only(Authorities),
    /// None: any server can impersonate the intended one. Only for a user that asks for it.
    Off,
}

/// Certificates of authorities, at least one.
#[derive(Clone)]
pub struct Authorities(RootCertStore);

/// The reason why a certificate or key is unusable, as a sentence fragment. It quotes neither.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct TlsError(String);

impl Authorities {
    /// Reads the certificates in PEM texts.
    ///
    /// # Errors
    /// Returns a [`TlsError`] if a text contains no certificate, or one that is invalid.
    pub fn from_pem<T: AsRef<[u8]>>(texts: &[T]) -> Result<Authorities, TlsError> {
        let mut roots = RootCertStore::empty();
        for text in texts {
            for certificate in certificates(text.as_ref())? {
                roots.add(certificate).map_err(|error| TlsError(error.to_string()))?;
            }
        }
        match roots.is_empty() {
            true => Err(TlsError("there is no certificate of an authority".to_owned())),
            false => Ok(Authorities(roots)),
        }
    }
}

impl fmt::Debug for Authorities {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Authorities({})", self.0.len())
    }
}

/// A certificate of the client, the certificates of its issuers and its private key. `Debug` shows none of them.
#[derive(Clone)]
pub struct Identity(Arc<CertifiedKey>);

impl Identity {
    /// Reads a chain of certificates, the client's first, and a private key from PEM texts.
    ///
    /// # Errors
    /// Returns a [`TlsError`] if one of them is missing or invalid, or if the key belongs to another certificate.
    pub fn from_pem(chain: &[u8], key: &[u8]) -> Result<Identity, TlsError> {
        let chain = certificates(chain)?;
        // The error of the parser can quote a line of the key.
        let key = PrivateKeyDer::from_pem_slice(key)
            .map_err(|_| TlsError("it contains no private key in PEM format".to_owned()))?;
        match CertifiedKey::from_der(chain, key, &ring::default_provider()) {
            Ok(pair) => Ok(Identity(Arc::new(pair))),
            Err(rustls::Error::InconsistentKeys(_)) => {
                Err(TlsError("the private key does not belong to the certificate".to_owned()))
            }
            Err(error) => Err(TlsError(error.to_string())),
        }
    }

    /// Returns true if a certificate of the chain names one of these issuers, given as DER.
    fn is_issued_by(&self, issuers: &[&[u8]]) -> bool {
        let names =
            |issuer: &&[u8]| self.0.cert.iter().any(|it| memmem::find(it, issuer).is_some());
        issuers.iter().any(names)
    }
}

impl fmt::Debug for Identity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Identity")
    }
}

fn certificates(pem: &[u8]) -> Result<Vec<CertificateDer<'static>>, TlsError> {
    let parsed: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(pem).collect();
    let parsed = parsed.map_err(|_| TlsError("it is not valid PEM".to_owned()))?;
    match parsed.is_empty() {
        true => Err(TlsError("it contains no certificate in PEM format".to_owned())),
        false => Ok(parsed),
    }
}

impl TlsSettings {
    /// Loads the certificates of the machine if they are needed. The error is a sentence fragment.
    pub(crate) fn load(&self, trust: &Trust) -> Result<Arc<ClientConfig>, String> {
        let provider = Arc::new(ring::default_provider());
        let config = ClientConfig::builder_with_provider(provider.clone());
        let config: ConfigBuilder<ClientConfig, WantsVerifier> =
            config.with_safe_default_protocol_versions().map_err(|it| it.to_string())?;
        let config = match &self.verification {
            Verification::Machine => config.with_root_certificates(trust.roots()?),
            Verification::Only(Authorities(roots)) => config.with_root_certificates(roots.clone()),
            Verification::Off => {
                config.dangerous().with_custom_certificate_verifier(Arc::new(Unverified(provider)))
            }
        };
        let mut config = match self.identities.as_slice() {
            [] => config.with_no_client_auth(),
            all => config.with_client_cert_resolver(Arc::new(Identities(all.to_vec()))),
        };
        config.alpn_protocols = vec![b"http/1.1".to_vec()];
        Ok(Arc::new(config))
    }
}

#[derive(Debug)]
struct Identities(Vec<Identity>);

impl ResolvesClientCert for Identities {
    fn resolve(&self, issuers: &[&[u8]], schemes: &[SignatureScheme]) -> Option<Arc<CertifiedKey>> {
        let mut usable = self.0.iter().filter(|it| it.0.key.choose_scheme(schemes).is_some());
        let preferred = usable.clone().find(|it| it.is_issued_by(issuers));
        preferred.or_else(|| usable.next()).map(|it| it.0.clone())
    }

    fn has_certs(&self) -> bool {
        true
    }
}

/// Accepts every certificate. The handshake must still be signed by its key.
#[derive(Debug)]
struct Unverified(Arc<CryptoProvider>);

impl ServerCertVerifier for Unverified {
    fn verify_server_cert(
        &self,
        _: &CertificateDer<'_>,
        _: &[CertificateDer<'_>],
        _: &ServerName<'_>,
        _: &[u8],
        _: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        let algorithms = &self.0.signature_verification_algorithms;
        verify_tls12_signature(message, certificate, signature, algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        let algorithms = &self.0.signature_verification_algorithms;
        verify_tls13_signature(message, certificate, signature, algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.0.signature_verification_algorithms.supported_schemes()
    }
}
