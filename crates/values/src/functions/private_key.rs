//! RSA private keys, and decryption with them by PKCS #1 version 1.5.
//!
//! The duration of a decryption depends on the key. That is acceptable: an attacker in a position to measure it
//! can also read the configuration that contains the key.

use base64::{Engine, engine::general_purpose::STANDARD};
use num_bigint::BigUint;
use num_integer::Integer;

/// The maximum size of a number. Longer numbers would take too long.
const MAX_BITS: u64 = 16_384;

/// The encoded object identifier `1.2.840.113549.1.1.1`.
const RSA: &[u8] = &[0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 0x01, 0x01, 0x01];

pub(super) struct PrivateKey {
    modulus: BigUint,
    exponent: BigUint,
}

impl PrivateKey {
    /// Parses an unencrypted key in PEM: PKCS #1, PKCS #8, or OpenSSH's own format.
    pub(super) fn parse(text: &str) -> Result<PrivateKey, String> {
        let PemBlock { label, headers, bytes } = block(text).ok_or("ssh: no key found")?;
        if headers.contains("ENCRYPTED") {
            return Err("ssh: this private key is passphrase protected".to_owned());
        }
        let found = match label {
            "RSA PRIVATE KEY" => pkcs1(&bytes),
            "PRIVATE KEY" => pkcs8(&bytes),
            "OPENSSH PRIVATE KEY" => openssh(&bytes),
            label => return Err(format!("ssh: unsupported key type {label:?}")),
        };
        let key = found.ok_or("it is not an RSA key that is not encrypted")?;
        let is_sound = key.modulus.bits() > 64
            && key.modulus.bits() <= MAX_BITS
            && key.exponent < key.modulus
            && key.modulus.is_odd();
        if is_sound { Ok(key) } else { Err("its numbers make no key".to_owned()) }
    }

    /// Returns the message. `None` if it was not encrypted for this key.
    pub(super) fn decrypt(&self, ciphertext: &[u8]) -> Option<Vec<u8>> {
        let number = BigUint::from_bytes_be(ciphertext);
        if number >= self.modulus {
            return None;
        }
        let size = usize::try_from(self.modulus.bits().div_ceil(8)).ok()?;
        let padded = number.modpow(&self.exponent, &self.modulus).to_bytes_be();
        // The leading zero byte of the padding is not part of the number's bytes.
        let body = padded.strip_prefix(&[2]).filter(|_| padded.len() + 1 == size)?;
        let end = body.iter().position(|byte| *byte == 0).filter(|end| *end >= 8)?;
        Some(body[end + 1..].to_vec())
    }
}

/// A block of a PEM file.
struct PemBlock<'a> {
    label: &'a str,
    headers: String,
    bytes: Vec<u8>,
}

/// Returns the first PEM block.
fn block(text: &str) -> Option<PemBlock<'_>> {
    let (_, text) = text.split_once("-----BEGIN ")?;
    let (label, text) = text.split_once("-----")?;
    let (body, _) = text.split_once(&format!("-----END {label}-----"))?;
    let (headers, lines): (Vec<&str>, Vec<&str>) =
        body.lines().map(str::trim).partition(|line| line.contains(':'));
    let bytes = STANDARD.decode(lines.concat()).ok()?;
    Some(PemBlock { label, headers: headers.concat(), bytes })
}

/// A cursor over a DER encoding.
struct Der<'a>(&'a [u8]);

impl<'a> Der<'a> {
    /// Returns the content of the next element. `None` if it has another tag.
    fn element(&mut self, tag: u8) -> Option<&'a [u8]> {
        let (first, rest) = self.0.split_first()?;
        let (length, rest) = rest.split_first()?;
        let (length, rest) = match *length {
            short @ 0..0x80 => (usize::from(short), rest),
            long => {
                let (digits, rest) = rest.split_at_checked(usize::from(long & 0x7f))?;
                let fits = !digits.is_empty() && digits.len() <= 4;
                let length = digits.iter().fold(0, |sum, byte| sum << 8 | usize::from(*byte));
                (fits.then_some(length)?, rest)
            }
        };
        let (content, rest) = rest.split_at_checked(length)?;
        self.0 = rest;
        (*first == tag).then_some(content)
    }

    fn sequence(&mut self) -> Option<Der<'a>> {
        self.element(0x30).map(Der)
    }

    /// Returns a non-negative number.
    fn number(&mut self) -> Option<BigUint> {
        let bytes = self.element(0x02)?;
        let is_positive = bytes.first().is_some_and(|first| first & 0x80 == 0);
        is_positive.then(|| BigUint::from_bytes_be(bytes))
    }
}

fn pkcs1(bytes: &[u8]) -> Option<PrivateKey> {
    let mut key = Der(bytes).sequence()?;
    key.number()?;
    let modulus = key.number()?;
    key.number()?;
    Some(PrivateKey { modulus, exponent: key.number()? })
}

fn pkcs8(bytes: &[u8]) -> Option<PrivateKey> {
    let mut info = Der(bytes).sequence()?;
    info.number()?;
    let is_rsa = info.sequence()?.element(0x06)? == RSA;
    is_rsa.then(|| pkcs1(info.element(0x04)?))?
}

/// A cursor over an SSH encoding, in which every field follows its length in four bytes.
struct Ssh<'a>(&'a [u8]);

impl<'a> Ssh<'a> {
    fn take(&mut self, length: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.0.split_at_checked(length)?;
        self.0 = rest;
        Some(taken)
    }

    fn word(&mut self) -> Option<u32> {
        self.take(4).and_then(|bytes| bytes.try_into().ok()).map(u32::from_be_bytes)
    }

    fn bytes(&mut self) -> Option<&'a [u8]> {
        let length = usize::try_from(self.word()?).ok()?;
        self.take(length)
    }
}

fn openssh(bytes: &[u8]) -> Option<PrivateKey> {
    let mut outer = Ssh(bytes.strip_prefix(b"openssh-key-v1\0")?);
    let cipher = outer.bytes()?;
    // The key derivation, its options, the number of keys, and the public key.
    let (_, _, count, _) = (outer.bytes()?, outer.bytes()?, outer.word()?, outer.bytes()?);
    let mut key = Ssh(outer.bytes()?);
    let checks = (key.word()?, key.word()?);
    let is_plain = cipher == b"none" && count == 1 && checks.0 == checks.1;
    if !is_plain || key.bytes()? != b"ssh-rsa" {
        return None;
    }
    let modulus = BigUint::from_bytes_be(key.bytes()?);
    key.bytes()?;
    Some(PrivateKey { modulus, exponent: BigUint::from_bytes_be(key.bytes()?) })
}
