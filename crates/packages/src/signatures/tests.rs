//! Signatures by GnuPG. The keys are of 2024, and exist for these tests alone.

use super::*;

const SUMS: &[u8] = include_bytes!("data/SHA256SUMS");
const RSA: &str = include_str!("data/rsa.asc");
const SPLIT: &str = include_str!("data/split.asc");
const EXPIRED: &str = include_str!("data/expired.asc");
const REVOKED: &str = include_str!("data/revoked.asc");
/// The key `rsa` with the subkey of `split`, which does not belong to it.
const ADOPTED: &str = include_str!("data/adopted.asc");

const BY_RSA: &[u8] = include_bytes!("data/rsa.sig");
const BY_SPLIT: &[u8] = include_bytes!("data/split.sig");
const BY_SPLIT_ARMORED: &[u8] = include_bytes!("data/split.sig.asc");
const BY_EXPIRED: &[u8] = include_bytes!("data/expired.sig");
const BY_REVOKED: &[u8] = include_bytes!("data/revoked.sig");
/// A signature that the key `rsa` made with SHA-1.
const WEAK: &[u8] = include_bytes!("data/weak.sig");

/// Seconds after 1970 of a day in 2026, and of one in June 2024.
const IN_2026: u64 = 1_780_000_000;
const IN_2024: u64 = 1_718_000_000;

/// Describes the maker of a signature of the list of checksums.
fn signed(signature: &[u8], keys: &[&str], seconds: u64) -> String {
    let keys: Vec<String> = keys.iter().map(|it| (*it).to_owned()).collect();
    let now = SystemTime::UNIX_EPOCH + Duration::from_secs(seconds);
    match signer(SUMS, signature, &keys, now) {
        Ok(Signer { key_id, is_expired: false }) => key_id,
        Ok(Signer { key_id, is_expired: true }) => format!("{key_id}, expired"),
        Err(error) => error.to_string(),
    }
}

#[test]
fn signatures_name_their_primary_keys() {
    assert_eq!(signed(BY_RSA, &[RSA], IN_2026), "FD7A34A754EBC8A0");
    assert_eq!(signed(BY_RSA, &[SPLIT, RSA], IN_2026), "FD7A34A754EBC8A0");
    assert_eq!(signed(BY_SPLIT, &[SPLIT], IN_2026), "6252894218315367");
    assert_eq!(signed(BY_SPLIT_ARMORED, &[RSA, SPLIT], IN_2026), "6252894218315367");
}

#[test]
fn expiry_depends_on_the_time() {
    assert_eq!(signed(BY_EXPIRED, &[EXPIRED], IN_2026), "B7F5BD2E87FA5455, expired");
    assert_eq!(signed(BY_EXPIRED, &[EXPIRED], IN_2024), "B7F5BD2E87FA5455");
}

#[test]
fn invalid_signatures_are_refused() {
    let cut = RSA.replace("mQEN", "");
    for (signature, keys, expected) in [
        (BY_RSA, &[SPLIT][..], "unknown issuer"),
        (BY_RSA, &[], "unknown issuer"),
        (BY_SPLIT, &[ADOPTED], "its subkey does not belong to its key"),
        (BY_REVOKED, &[REVOKED], "56F1EA83F1727CF8 is revoked"),
        (WEAK, &[RSA], "others can make a second document"),
        (b"", &[RSA], "is not one of OpenPGP"),
        (b"-----BEGIN PGP SIGNATURE-----\n", &[RSA], "is not one of OpenPGP"),
        (RSA.as_bytes(), &[RSA], "is not one of OpenPGP"),
        (BY_RSA, &["no key"], "error decoding signing key"),
        (BY_RSA, &[&cut], "error decoding signing key"),
    ] {
        let error = signed(signature, keys, IN_2026);
        assert!(error.contains(expected), "{expected}: {error}");
    }
}

#[test]
fn only_signatures_of_documents_count() {
    // Types of signatures that cover a part of the document, nothing of it, or a key.
    for kind in [0x02, 0x40, 0x10, 0x1f] {
        let mut other = BY_SPLIT.to_vec();
        assert_eq!(other[2..4], [4, 0], "the version and the type");
        other[3] = kind;
        assert!(signed(&other, &[SPLIT], IN_2026).contains("not a signature of a document"));
    }
}

#[test]
fn every_signature_in_a_file_is_tried() {
    let both = [BY_RSA, BY_SPLIT].concat();
    assert_eq!(signed(&both, &[SPLIT], IN_2026), "6252894218315367");
    assert_eq!(signed(&both, &[RSA], IN_2026), "FD7A34A754EBC8A0");
    // A signature from the future is as one that has expired.
    assert_eq!(signed(BY_RSA, &[RSA], 1_700_000_000), "FD7A34A754EBC8A0, expired");
}

#[test]
fn changed_signatures_and_documents_are_noticed() {
    for at in 0..BY_SPLIT.len() {
        let mut changed = BY_SPLIT.to_vec();
        changed[at] ^= 0x10;
        // The part that names the maker is not signed itself: a change of it makes no other maker.
        let found = signed(&changed, &[SPLIT, RSA], IN_2026);
        assert!(found == "6252894218315367" || found.contains(' '), "{at}: {found}");
    }
    let keys = [SPLIT.to_owned()];
    let now = SystemTime::UNIX_EPOCH + Duration::from_secs(IN_2026);
    let other = [SUMS, b"\n"].concat();
    assert!(matches!(signer(&other, BY_SPLIT, &keys, now), Err(SignatureError::Invalid(_))));
}

#[test]
fn policy_comes_from_the_environment() {
    let policy = |wanted: &'static str, text: &'static str| {
        SignaturePolicy::from_environment(&move |name| (name == wanted).then(|| text.to_owned()))
    };
    let (validation, expiration) =
        ("OPENTOFU_ENFORCE_GPG_VALIDATION", "OPENTOFU_ENFORCE_GPG_EXPIRATION");
    assert_eq!(policy(validation, "1"), SignaturePolicy::default());
    assert!(policy(validation, "true").requires_keys);
    assert!(policy(expiration, "true").refuses_expired);
}
