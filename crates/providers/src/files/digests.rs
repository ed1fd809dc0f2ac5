//! The digests of a file.

use std::io::{self, Read};

use base16ct::lower::encode_string;
use base64::{Engine as _, engine::general_purpose::STANDARD};
use md5::Md5;
use sha1::Sha1;
use sha2::{Digest as _, Sha256, Sha512};

/// The number of bytes of a file that are in memory at once.
const CHUNK: usize = 64 * 1024;

/// The size of a file and all digests that the providers report, in hexadecimal digits or in base64.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Digests {
    pub(crate) size: u64,
    pub(crate) md5: String,
    /// The SHA-1, which is also the `id` of all objects for files.
    pub(crate) sha1: String,
    pub(crate) sha256: String,
    pub(crate) sha512: String,
    pub(crate) base64sha256: String,
    pub(crate) base64sha512: String,
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
        Ok(Digests {
            size,
            md5: encode_string(&md5.finalize()),
            sha1: encode_string(&sha1.finalize()),
            base64sha256: STANDARD.encode(sha256),
            base64sha512: STANDARD.encode(sha512),
            sha256: encode_string(&sha256),
            sha512: encode_string(&sha512),
        })
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
        assert_eq!(digests.size, 3);
        let Digests { md5, sha1, sha256, sha512, base64sha256, base64sha512, .. } = digests.clone();
        assert_eq!([md5, sha1, sha256, sha512, base64sha256, base64sha512], expected);
        assert_eq!(Digests::of(Slow(b"abc", false)).expect("goes on"), digests);
    }
}
