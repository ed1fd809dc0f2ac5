//! Keys and certificates, from the texts in a configuration.
//!
//! **Invariant:** an error never quotes the text: it may be a private key.

use engine::ConnectError;
use russh::keys::{Certificate, PrivateKey, PublicKey, decode_secret_key};

use crate::failure::lasting;

/// Reads a private key in the formats of OpenSSH, PKCS#1, PKCS#8, SEC1 or PuTTY.
pub(crate) fn private_key(text: &str) -> Result<PrivateKey, ConnectError> {
    let is_encrypted = || {
        lasting(
            "The private key is protected with a passphrase, which cannot be asked for here. Give \
             the key without it (ssh-keygen -p removes a passphrase), or add the key to an SSH \
             agent.",
        )
    };
    if text.contains("ENCRYPTED") {
        return Err(is_encrypted());
    }
    match decode_secret_key(text, None) {
        Ok(key) if key.is_encrypted() => Err(is_encrypted()),
        Ok(key) => Ok(key),
        Err(russh::keys::Error::KeyIsEncrypted) => Err(is_encrypted()),
        Err(_) => Err(lasting(
            "The private key cannot be read. It must be the text of a key file, for example \
             file(\"~/.ssh/id_ed25519\"), in the format of OpenSSH, PKCS#1, PKCS#8 or SEC1.",
        )),
    }
}

/// Reads the certificate of a private key.
pub(crate) fn certificate(text: &str, key: &PrivateKey) -> Result<Certificate, ConnectError> {
    let certificate = Certificate::from_openssh(text.trim()).map_err(|_| {
        lasting(
            "The certificate cannot be read. It must be the text of an OpenSSH certificate, which \
             begins with a type such as ssh-ed25519-cert-v01@openssh.com.",
        )
    })?;
    if certificate.public_key() != key.public_key().key_data() {
        return Err(lasting("The certificate does not belong to the private key."));
    }
    Ok(certificate)
}

/// Reads the public key of a server, or of the authority that signed it. `name` is the argument.
pub(crate) fn host_key(text: &str, name: &str) -> Result<PublicKey, ConnectError> {
    PublicKey::from_openssh(text.trim()).map_err(|_| {
        lasting(format!(
            "The {name} cannot be read. It must be a public key as in the file \
             /etc/ssh/ssh_host_ed25519_key.pub of the machine: a type, a space and the key."
        ))
    })
}
