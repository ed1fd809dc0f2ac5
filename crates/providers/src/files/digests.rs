//! The digests of a file.

use std::io::{self, Read};

use base16ct::lower::encode_string;
use base64::{Engine as _, engine::general_purpose::STANDARD};
use md5::Md5;
use sha1::Sha1;
use sha2::{Digest as _, Sha256, Sha512};

use mayfly_sdk::Object;

/// The number of bytes of a file that are in memory at once.
const CHUNK: usize = 64 * 1024;

/// The size of a file and all digests that the providers report.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Digests {
    size: u64,
    /// MD5, SHA-1, SHA-256 and SHA-512 in hexadecimal digits, then SHA-256 and SHA-512 in base64.
    texts: [String; 6],
}

impl Digests {
    /// Reads the content to its end.
    ///
    /// # Errors
    /// If reading fails.
    pub(crate) fn of(mut content: impl Read) -> io::Result<Digests> {
        let (mut md5, mut sha1) = (Md5::new(), Sha1::new());
        let (mut sha256, mut sha512) = (Sha256::new(), Sha512::new());
        let (mut size, mut chunk) = (0, vec![0; CHUNK]);
        loop {
            let read = match content.read(&mut chunk) {
                Ok(0) => break,
                Ok(read) => &chunk[..read],
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) => return Err(error),
            };
            md5.update(read);
            sha1.update(read);
            sha256.update(read);
            sha512.update(read);
            size += read.len() as u64;
        }
        let (sha256, sha512) = (sha256.finalize(), sha512.finalize());
        let texts = [
            encode_string(&md5.finalize()),
            encode_string(&sha1.finalize()),
            encode_string(&sha256),
            encode_string(&sha512),
            STANDARD.encode(sha256),
            STANDARD.encode(sha512),
        ];
        Ok(Digests { size, texts })
    }

    /// The number of bytes.
    pub(crate) fn size(&self) -> u64 {
        self.size
    }

    /// The SHA-1 in hexadecimal digits, which is the `id` of all objects for files.
    pub(crate) fn id(&self) -> &str {
        &self.texts[1]
    }

    /// Sets `id` and the attributes with these names, in the order of the digests.
    pub(crate) fn show(&self, object: &mut Object, names: &[&str; 6]) {
        object.set("id", self.id());
        for (name, text) in names.iter().zip(&self.texts) {
            object.set(name, text.as_str());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A reader that returns one byte at a time and is interrupted before each.
    struct Slow<'a>(&'a [u8], bool);

    impl Read for Slow<'_> {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            self.1 = !self.1;
            if self.1 {
                return Err(io::ErrorKind::Interrupted.into());
            }
            let count = self.0.len().min(1);
            self.0.read(&mut buffer[..count])
        }
    }

    #[test]
    fn digests_match_published_values() {
        let digests = Digests::of(&b"abc"[..]).expect("memory can be read");
        let expected = [
            "900150983cd24fb0d6963f7d28e17f72",
            "a9993e364706816aba3e25717850c26c9cd0d89d",
            "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad",
            concat!(
                "ddaf35a193617abacc417349ae20413112e6fa4e89a97ea20a9eeee64b55d39a",
                "2192992a274fc1a836ba3c23a3feebbd454d4423643ce80e2a9ac94fa54ca49f",
            ),
            "ungWv48Bz+pBQUDeXa4iI7ADYaOWF3qctBD/YfIAFa0=",
            "3a81oZNherrMQXNJriBBMRLm+k6JqX6iCp7u5ktV05ohkpkqJ0/BqDa6PCOj/uu9RU1EI2Q86A4qmslPpUyknw==",
        ];
        assert_eq!((digests.size(), digests.id()), (3, expected[1]));
        assert_eq!(digests.texts, expected);
        assert_eq!(Digests::of(Slow(b"abc", false)).expect("goes on"), digests);
    }
}
