//! Secrets in the files of the store.

use std::{
    fs::{self, OpenOptions},
    io::{self, Write},
    os::unix::fs::OpenOptionsExt,
    path::Path,
};

use base64::{Engine, engine::general_purpose::STANDARD};
use hmac::{Hmac, KeyInit, Mac};
use mayfly_sdk::Secret;
use sha2::{Digest, Sha256};

use super::StoreError;

const NONCE: usize = 16;
const TAG: usize = 16;
const KEY: usize = 32;

/// The key of a store.
pub(super) struct Key([u8; KEY]);

impl Key {
    /// Reads the key at `path`, or creates it. The caller must hold the store's lock.
    pub(super) fn open(path: &Path) -> Result<Key, StoreError> {
        let wrap = |source| StoreError::Io { path: path.to_owned(), source };
        match fs::read(path) {
            Ok(bytes) => {
                let damaged =
                    |_| StoreError::Damaged { path: path.to_owned(), reason: "no key".to_owned() };
                Ok(Key(<[u8; KEY]>::try_from(bytes).map_err(damaged)?))
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                let key = random::<KEY>();
                let file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(path);
                file.and_then(|mut file| file.write_all(&key)).map_err(wrap)?;
                Ok(Key(key))
            }
            Err(source) => Err(wrap(source)),
        }
    }

    /// Seals a secret: base64 of nonce, masked text and tag.
    pub(super) fn seal(&self, secret: &Secret) -> String {
        let nonce = random::<NONCE>();
        let mut sealed = nonce.to_vec();
        sealed.extend(self.masked(&nonce, secret.reveal().as_bytes()));
        let tag = self.tag(&sealed);
        sealed.extend(&tag[..TAG]);
        STANDARD.encode(sealed)
    }

    /// Opens a text that [`Key::seal`] sealed. `None` for any other text.
    pub(super) fn unseal(&self, text: &str) -> Option<Secret> {
        let bytes = STANDARD.decode(text).ok()?;
        let (body, tag) = bytes.split_at_checked(bytes.len().checked_sub(TAG)?)?;
        let (nonce, masked) = body.split_at_checked(NONCE)?;
        if self.tag(body)[..TAG] != *tag {
            return None;
        }
        let text = String::from_utf8(self.masked(nonce, masked)).ok()?;
        Some(Secret::new(text))
    }

    pub(super) fn fingerprint(&self, secret: &Secret) -> String {
        let mut labelled = b"fingerprint ".to_vec();
        labelled.extend(secret.reveal().as_bytes());
        base16ct::lower::encode_string(&self.tag(&labelled)[..6])
    }

    /// XORs the bytes with a stream of SHA-256 digests over key, nonce and block number.
    fn masked(&self, nonce: &[u8], bytes: &[u8]) -> Vec<u8> {
        let mut masked = Vec::with_capacity(bytes.len());
        for (block, chunk) in (0u64..).zip(bytes.chunks(32)) {
            let mut hash = Sha256::new();
            hash.update(self.0);
            hash.update(nonce);
            hash.update(block.to_be_bytes());
            masked.extend(chunk.iter().zip(hash.finalize()).map(|(byte, mask)| byte ^ mask));
        }
        masked
    }

    fn tag(&self, bytes: &[u8]) -> [u8; 32] {
        let mut mac =
            Hmac::<Sha256>::new_from_slice(&self.0).expect("HMAC takes keys of any length");
        mac.update(bytes);
        mac.finalize().into_bytes().into()
    }
}

/// Returns random bytes from the operating system.
pub(crate) fn random<const N: usize>() -> [u8; N] {
    let mut bytes = [0; N];
    getrandom::fill(&mut bytes).expect("the operating system has random bytes");
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sealed_secret_opens_only_unmodified_with_the_same_key() {
        let key = Key([7; KEY]);
        for text in ["", "x", &"long ".repeat(100), "ünï\0code"] {
            let sealed = key.seal(&Secret::new(text));
            assert!(key.unseal(&sealed).is_some_and(|it| it.reveal() == text));
            assert!(Key([8; KEY]).unseal(&sealed).is_none());
            assert!(key.unseal(&sealed[..sealed.len() - 4]).is_none());
        }
        for hostile in ["", "AAAA", "not base64!", &STANDARD.encode([0; TAG])] {
            assert!(key.unseal(hostile).is_none());
        }
    }
}
