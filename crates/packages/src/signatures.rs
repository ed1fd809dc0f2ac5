//! Signatures of providers: an OpenPGP signature of the list of a release's checksums.
//!
//! The registry that names the package names the keys, too, so a signature protects from changes of the package and of
//! its list after the registry has learned the key, not from the registry itself.

use std::borrow::Cow;
use std::io::Read as _;
use std::time::{Duration, SystemTime};

use pgp::armor::Dearmor;
use pgp::composed::{Deserializable, DetachedSignature, SignedPublicKey, SignedPublicSubKey};
use pgp::crypto::hash::HashAlgorithm;
use pgp::packet::{Signature, SignatureType};
use pgp::types::{KeyDetails, KeyVersion, Tag, Timestamp, VerifyingKey};

/// The most signatures of one document that are read.
const MOST_SIGNATURES: usize = 16;

/// The time by which a clock may be slow.
const SLOW_CLOCK: Duration = Duration::from_secs(24 * 60 * 60);

/// The policy for signatures.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct SignaturePolicy {
    /// True if a package of the default registry needs a signature although the registry names no key
    /// (`OPENTOFU_ENFORCE_GPG_VALIDATION`).
    pub(crate) requires_keys: bool,
    /// True if expired keys and signatures are refused (`OPENTOFU_ENFORCE_GPG_EXPIRATION`).
    pub(crate) refuses_expired: bool,
}

impl SignaturePolicy {
    pub(crate) fn from_environment(variable: &dyn Fn(&str) -> Option<String>) -> SignaturePolicy {
        let is_true = |name: &str| variable(name).as_deref() == Some("true");
        SignaturePolicy {
            requires_keys: is_true("OPENTOFU_ENFORCE_GPG_VALIDATION"),
            refuses_expired: is_true("OPENTOFU_ENFORCE_GPG_EXPIRATION"),
        }
    }
}

/// The author of a valid signature.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Signer {
    /// The ID of the primary key: 16 hexadecimal digits.
    pub(crate) key_id: String,
    /// True if the key or the signature has expired.
    pub(crate) is_expired: bool,
}

/// The reason why a signature is not accepted. The texts are sentence fragments.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum SignatureError {
    #[error("error decoding signing key: {0}")]
    Key(String),
    #[error("the signature is not one of OpenPGP: {0}")]
    Form(String),
    #[error("error checking signature: {0}")]
    Invalid(String),
    #[error("the signing key {0} is revoked")]
    Revoked(String),
    #[error(
        "the signing key {0} has expired, and OPENTOFU_ENFORCE_GPG_EXPIRATION refuses such keys"
    )]
    Expired(String),
    /// No key has made the signature.
    #[error("authentication signature from unknown issuer")]
    UnknownIssuer,
}

/// Finds the key that signed a document. `keys` are public keys with ASCII armor, `signature` is a detached signature
/// with armor or without. A key that has not expired has precedence.
///
/// # Errors
/// Returns a [`SignatureError`] if a key cannot be read, or if no key has made the signature.
pub(crate) fn signer(
    document: &[u8],
    signature: &[u8],
    keys: &[String],
    now: SystemTime,
) -> Result<Signer, SignatureError> {
    let signatures = parse_signatures(signature)?;
    let mut expired = None;
    for armor in keys {
        for key in parse_keys(armor)? {
            for signature in &signatures {
                let Some(signer) = check(document, signature, &key, now)? else { continue };
                match signer.is_expired {
                    true => expired = expired.or(Some(signer)),
                    false => return Ok(signer),
                }
            }
        }
    }
    expired.ok_or(SignatureError::UnknownIssuer)
}

fn parse_keys(armor: &str) -> Result<Vec<SignedPublicKey>, SignatureError> {
    let failed = |error: pgp::errors::Error| SignatureError::Key(plain(&error));
    let packets = dearmored::<SignedPublicKey>(armor.as_bytes()).map_err(failed)?;
    let keys = parse_packets::<SignedPublicKey>(&packets, usize::MAX).map_err(failed)?;
    match keys.is_empty() {
        true => Err(SignatureError::Key("it has no key".to_owned())),
        false => Ok(keys),
    }
}

/// Parses the signatures in a file, of which there are several if an author has an old and a new key.
fn parse_signatures(bytes: &[u8]) -> Result<Vec<DetachedSignature>, SignatureError> {
    let failed = |error: pgp::errors::Error| SignatureError::Form(plain(&error));
    let packets = match bytes.trim_ascii_start().starts_with(b"-----BEGIN") {
        true => Cow::Owned(dearmored::<DetachedSignature>(bytes).map_err(failed)?),
        false => Cow::Borrowed(bytes),
    };
    let signatures: Vec<DetachedSignature> =
        parse_packets(&packets, MOST_SIGNATURES).map_err(failed)?;
    match signatures.is_empty() {
        true => Err(SignatureError::Form("it has no signature".to_owned())),
        false => Ok(signatures),
    }
}

/// Decodes ASCII armor, and refuses a block of another type than that of `T`. The library could parse the armor itself,
/// but its parser would be compiled once for each type of reader.
fn dearmored<T: Deserializable>(armor: &[u8]) -> pgp::errors::Result<Vec<u8>> {
    let mut reader = Dearmor::new(armor);
    reader.read_header()?;
    if !reader.typ.is_some_and(T::matches_block_type) {
        return Err("unexpected type of block".to_owned().into());
    }
    let mut packets = Vec::new();
    reader.read_to_end(&mut packets)?;
    Ok(packets)
}

fn parse_packets<T: Deserializable>(packets: &[u8], most: usize) -> pgp::errors::Result<Vec<T>> {
    T::from_bytes_many(packets)?.take(most).collect()
}

/// The text of an error in one line, because it can quote what a stranger wrote.
fn plain(error: &pgp::errors::Error) -> String {
    let text = error.to_string();
    let text: String = text.chars().map(|it| if it.is_control() { ' ' } else { it }).collect();
    text.chars().take(200).collect()
}

/// Checks a signature by a key and its subkeys. `None` if another key has made it.
fn check(
    document: &[u8],
    signature: &DetachedSignature,
    key: &SignedPublicKey,
    now: SystemTime,
) -> Result<Option<Signer>, SignatureError> {
    let signature = &signature.signature;
    let primary = &key.primary_key;
    // Signatures of other types do not cover the whole document.
    if !matches!(signature.typ(), Some(SignatureType::Binary | SignatureType::Text)) {
        return Err(SignatureError::Invalid("it is not a signature of a document".to_owned()));
    }
    if signature.hash_alg().is_none_or(is_weak) {
        let cause = "its hash is one of which others can make a second document";
        return Err(SignatureError::Invalid(cause.to_owned()));
    }
    let verified = |result: pgp::errors::Result<()>| {
        result.map_err(|error| SignatureError::Invalid(plain(&error)))
    };
    let mut is_expired = has_expired(signature.created(), signature_lifetime(signature), now);
    if is_by(signature, primary) {
        if !may_sign(key) {
            let cause = "its key may certify other keys, but not sign documents";
            return Err(SignatureError::Invalid(cause.to_owned()));
        }
        verified(signature.verify(primary, document))?;
    } else {
        let subkeys = key.public_subkeys.iter();
        let Some(subkey) = subkeys.into_iter().find(|it| is_by(signature, &it.key)) else {
            return Ok(None);
        };
        let binding = binding(subkey, primary).ok_or_else(|| {
            let cause = "its subkey does not belong to its key, or may not sign";
            SignatureError::Invalid(cause.to_owned())
        })?;
        verified(signature.verify(&subkey.key, document))?;
        is_expired |= has_expired(Some(subkey.key.created_at()), lifetime(binding), now);
    }
    let key_id = primary.legacy_key_id().to_string().to_uppercase();
    if is_revoked(key) {
        return Err(SignatureError::Revoked(key_id));
    }
    is_expired |= has_expired(Some(primary.created_at()), lifetime_of_key(key), now);
    Ok(Some(Signer { key_id, is_expired }))
}

fn is_weak(hash: HashAlgorithm) -> bool {
    matches!(hash, HashAlgorithm::Md5 | HashAlgorithm::Sha1 | HashAlgorithm::Ripemd160)
}

/// Returns true if a signature names a key as its maker.
fn is_by(signature: &Signature, key: &impl KeyDetails) -> bool {
    let (id, fingerprint) = (key.legacy_key_id(), key.fingerprint());
    signature.issuer_key_id().contains(&&id)
        || signature.issuer_fingerprint().contains(&&fingerprint)
}

/// The newest signature that binds a subkey to its primary key. `None` if there is none, if the subkey is revoked, or
/// if it may not sign.
fn binding<'k>(
    subkey: &'k SignedPublicSubKey,
    primary: &(impl VerifyingKey + pgp::ser::Serialize),
) -> Option<&'k Signature> {
    let valid = |it: &&Signature| it.verify_subkey_binding(primary, &subkey.key).is_ok();
    let valid: Vec<&Signature> = subkey.signatures.iter().filter(valid).collect();
    if valid.iter().any(|it| it.typ() == Some(SignatureType::SubkeyRevocation)) {
        return None;
    }
    let newest = valid.into_iter().max_by_key(|it| it.created())?;
    // The subkey confirms that it belongs to the key: a key cannot adopt the subkey of another author.
    let confirmed = newest.embedded_signature()?.verify_primary_key_binding(&subkey.key, primary);
    (newest.key_flags().sign() && confirmed.is_ok()).then_some(newest)
}

fn is_revoked(key: &SignedPublicKey) -> bool {
    key.details.revocation_signatures.iter().any(|it| it.verify_key(&key.primary_key).is_ok())
}

/// The certifications of a primary key by itself. A user ID that it has revoked certifies nothing.
fn self_certifications(key: &SignedPublicKey) -> impl Iterator<Item = &Signature> {
    let primary = &key.primary_key;
    let users = key.details.users.iter().filter_map(move |user| {
        let is_own = |it: &&Signature| {
            is_by(it, primary) && it.verify_certification(primary, Tag::UserId, &user.id).is_ok()
        };
        let own: Vec<&Signature> = user.signatures.iter().filter(is_own).collect();
        let is_revoked = own.iter().any(|it| it.typ() == Some(SignatureType::CertRevocation));
        (!is_revoked).then_some(own)
    });
    let direct = key.details.direct_signatures.iter();
    let direct = direct.filter(move |it| it.verify_key(primary).is_ok());
    users.flatten().chain(direct)
}

/// Returns true if the newest certification with flags permits signing. A key without flags may do everything.
fn may_sign(key: &SignedPublicKey) -> bool {
    let flags = |it: &&Signature| {
        let flags = it.key_flags();
        flags.sign() || flags.certify() || flags.encrypt_comms() || flags.encrypt_storage()
    };
    let newest = self_certifications(key).filter(flags).max_by_key(|it| it.created());
    newest.is_none_or(|it| it.key_flags().sign())
}

/// The lifetime of a primary key, by its newest certification of a user ID, or else by that of the key itself. `None`
/// if it does not expire.
fn lifetime_of_key(key: &SignedPublicKey) -> Option<Duration> {
    let newest = self_certifications(key).max_by_key(|it| (it.is_certification(), it.created()));
    let newest = newest.and_then(lifetime);
    newest.or_else(|| legacy_lifetime(&key.primary_key))
}

/// The lifetime in keys of version 3, which have no signatures with one.
fn legacy_lifetime(key: &impl KeyDetails) -> Option<Duration> {
    let days = key.legacy_v3_expiration_days().filter(|it| *it > 0);
    let is_old = matches!(key.version(), KeyVersion::V2 | KeyVersion::V3);
    days.filter(|_| is_old).map(|it| Duration::from_secs(u64::from(it) * 24 * 60 * 60))
}

fn lifetime(signature: &Signature) -> Option<Duration> {
    signature.key_expiration_time().map(Duration::from)
}

fn signature_lifetime(signature: &Signature) -> Option<Duration> {
    signature.signature_expiration_time().map(Duration::from)
}

/// Returns true if the lifetime has passed or has not begun. A lifetime of zero lasts for ever (RFC 9580, section
/// 5.2.3.13).
fn has_expired(created: Option<Timestamp>, lifetime: Option<Duration>, now: SystemTime) -> bool {
    if created.is_some_and(|it| SystemTime::from(it) > now + SLOW_CLOCK) {
        return true;
    }
    let (Some(created), Some(lifetime)) = (created, lifetime.filter(|it| !it.is_zero())) else {
        return false;
    };
    SystemTime::from(created) + lifetime <= now
}

#[cfg(test)]
mod tests;
