//! The check of a server's key.

use std::{
    borrow::Cow,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
};

use russh::{
    Preferred,
    keys::{Algorithm, Certificate, HashAlg, PublicKey, PublicKeyOrCertificate, ssh_key},
};

/// The key that a server must have, and the host for which a certificate must be.
#[derive(Clone)]
pub(crate) struct HostKeyCheck {
    pub(crate) expected: Option<PublicKey>,
    pub(crate) host: String,
    pub(crate) certificates: Certificates,
    /// The reason why the server's key was refused.
    pub(crate) refused: Arc<Mutex<Option<String>>>,
}

/// The certificates of servers in one attempt to connect.
///
/// A server that has a certificate shows it, even if its bare key is the expected one. So an attempt accepts
/// certificates first; if another authority signed one, the next attempt asks for bare keys.
#[derive(Clone, Default)]
pub(crate) struct Certificates {
    /// True if only bare keys are asked for.
    pub(crate) are_excluded: bool,
    is_foreign: Arc<AtomicBool>,
}

impl Certificates {
    /// The attempt after one that a certificate of another authority ended. `None` after any other attempt.
    pub(crate) fn next(&self) -> Option<Certificates> {
        let is_next = !self.are_excluded && self.is_foreign.load(Ordering::Relaxed);
        is_next.then(|| Certificates { are_excluded: true, is_foreign: Arc::default() })
    }
}

impl HostKeyCheck {
    /// Returns true if the server's key is acceptable. If not, keeps the reason.
    pub(crate) fn accepts(&self, found: &PublicKeyOrCertificate) -> bool {
        let Some(expected) = &self.expected else { return true };
        if found.public_key().key_data() == expected.key_data() {
            return true;
        }
        let reason = match found.certificate() {
            None => format!(
                "the host key does not match: the server has {}, and the expected key is {}",
                described(&found.public_key()),
                described(expected)
            ),
            Some(certificate) => match self.wrong_with(certificate, expected) {
                None => return true,
                Some(reason) => reason,
            },
        };
        *self.refused.lock().unwrap_or_else(PoisonError::into_inner) = Some(reason);
        false
    }

    fn wrong_with(&self, certificate: &Certificate, authority: &PublicKey) -> Option<String> {
        let fingerprint = authority.fingerprint(HashAlg::Sha256);
        let principals = certificate.valid_principals();
        if certificate.signature_key() != authority.key_data() {
            self.certificates.is_foreign.store(true, Ordering::Relaxed);
            return Some(
                "the host key does not match: another authority signed the certificate of the \
                 server"
                    .to_owned(),
            );
        }
        let is_for_hosts = certificate.cert_type() == ssh_key::certificate::CertType::Host;
        if !is_for_hosts || !certificate.critical_options().is_empty() {
            return Some("the server's certificate is not one for hosts".to_owned());
        }
        if !principals.is_empty() && !principals.contains(&self.host) {
            return Some(format!("the server's certificate is not for {}", self.host));
        }
        certificate
            .validate([&fingerprint])
            .is_err()
            .then(|| "the server's certificate is invalid, or not valid at this time".to_owned())
    }

    /// The algorithms to offer: first those of the expected key, because a server has keys of several types and
    /// shows only one.
    pub(crate) fn preferred(&self) -> Preferred {
        let mut preferred = Preferred::DEFAULT;
        let Some(expected) = &self.expected else { return preferred };
        let kind = |algorithm: &Algorithm| match algorithm {
            Algorithm::Rsa { .. } => Algorithm::Rsa { hash: None },
            other => other.clone(),
        };
        let wanted = kind(&expected.algorithm());
        let mut algorithms = preferred.key.to_vec();
        algorithms.sort_by_key(|it| kind(it) != wanted);
        if !self.certificates.are_excluded {
            preferred.host_key_certificates = Cow::Owned(algorithms.clone());
        }
        preferred.key = Cow::Owned(algorithms);
        preferred
    }
}

fn described(key: &PublicKey) -> String {
    format!("{} {}", key.algorithm(), key.fingerprint(HashAlg::Sha256))
}
