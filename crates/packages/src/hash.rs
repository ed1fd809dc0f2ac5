//! The hashes of packages: `h1:` over the unpacked files, `zh:` over the zip file.

use std::fmt::{self, Write as _};
use std::fs::File;
use std::io::{self, Read};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use base16ct::lower::encode_string;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use sha2::{Digest as _, Sha256};
use sorted::TreeMap;

use crate::blocking::blocking;

/// A SHA-256.
pub type Digest = [u8; 32];

/// The size of a buffer for a file. The allocator keeps 64 KiB for buffers of up to this size, and 512 KiB for larger
/// ones, all of which a thread uses in turn.
pub(crate) const BUFFER: usize = 1 << 13;

/// A hash with its scheme as in the lock file: `h1:…`, `zh:…`.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Hash(String);

/// An error that prevented hashing a package.
#[derive(Debug, thiserror::Error)]
#[error("failed to hash {}: {cause}", .path.display())]
pub struct HashError {
    /// The path with the error.
    pub path: PathBuf,
    /// The cause as a sentence fragment.
    pub cause: String,
}

impl Hash {
    /// Parses a hash. The scheme is the part before the colon.
    ///
    /// # Errors
    /// Returns a sentence fragment in OpenTofu's wording.
    pub fn parse(text: &str) -> Result<Self, String> {
        match text.split_once(':') {
            None => {
                Err("hash string must start with a scheme keyword followed by a colon".to_owned())
            }
            Some(("", _)) => {
                Err("hash string must start with a scheme keyword followed by a colon".to_owned())
            }
            Some((_, "")) => Err("hash string must have a value after the scheme".to_owned()),
            Some(_) => Ok(Self(text.to_owned())),
        }
    }

    /// The scheme and the value.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Returns true if this version computes hashes of this form: `h1:` with 32 bytes in base64, or `zh:` with 64
    /// hexadecimal digits. Others are not locked.
    pub(crate) fn is_usable(&self) -> bool {
        match self.0.split_once(':') {
            Some(("h1", value)) => STANDARD.decode(value).is_ok_and(|it| it.len() == 32),
            Some(("zh", value)) => {
                let is_digit = |it: u8| matches!(it, b'0'..=b'9' | b'a'..=b'f');
                value.len() == 64 && value.bytes().all(is_digit)
            }
            _ => false,
        }
    }

    /// The part before the colon.
    pub fn scheme(&self) -> &str {
        self.0.split_once(':').map_or("", |(scheme, _)| scheme)
    }
}

impl fmt::Display for Hash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Computes the `h1:` hash of an unpacked package: the hash of the sorted list of its files' digests and names.
/// Links are followed, including a link at the root.
///
/// # Errors
/// Returns a [`HashError`] for unreadable files and for names that the list cannot represent.
pub async fn hash_of_directory(root: &Path) -> Result<Hash, HashError> {
    let root = root.to_owned();
    blocking(move || directory_h1(&root)).await
}

/// Computes a stamp of a package from the metadata of its files, without reading them. It changes whenever a file
/// may have changed, so a caller can cache the hash by it.
///
/// # Errors
/// Returns a [`HashError`] if the metadata of a file cannot be read.
pub async fn stamp_of_directory(root: &Path) -> Result<String, HashError> {
    let root = root.to_owned();
    blocking(move || directory_stamp(&root)).await
}

/// Blocking version of [`hash_of_directory`].
fn directory_h1(root: &Path) -> Result<Hash, HashError> {
    let mut hashes = TreeMap::new();
    for (name, path) in files_in(root)? {
        let hashed = File::open(&path).and_then(sha256_of);
        hashes.insert(name, hashed.map_err(|it| fault(&path, it))?);
    }
    h1_of(&hashes).map_err(|it| fault(root, it))
}

/// Computes the `zh:` hash of a packed package: the digest of the file itself.
pub(crate) fn zip_zh(path: &Path) -> Result<Hash, HashError> {
    let hashed = File::open(path).and_then(sha256_hex).map_err(|it| fault(path, it))?;
    Ok(Hash(format!("zh:{hashed}")))
}

/// Blocking version of [`stamp_of_directory`].
pub(crate) fn directory_stamp(root: &Path) -> Result<String, HashError> {
    let mut sha = Sha256::new();
    for (name, path) in files_in(root)? {
        let it = std::fs::metadata(&path).map_err(|it| fault(&path, it))?;
        let (changed, modified) = ((it.ctime(), it.ctime_nsec()), (it.mtime(), it.mtime_nsec()));
        let line =
            format!("{name:?} {} {} {} {changed:?} {modified:?}\n", it.dev(), it.ino(), it.size());
        sha.update(line.as_bytes());
    }
    Ok(encode_string(&sha.finalize()))
}

/// Returns all files below a directory by their names with slashes, in byte order.
pub(crate) fn files_in(root: &Path) -> Result<TreeMap<String, PathBuf>, HashError> {
    let mut files = TreeMap::new();
    let mut pending = vec![(String::new(), root.to_owned())];
    while let Some((prefix, directory)) = pending.pop() {
        if prefix.matches('/').count() > 64 {
            return Err(fault(&directory, "its directories are nested too deeply"));
        }
        for entry in std::fs::read_dir(&directory).map_err(|it| fault(&directory, it))? {
            let entry = entry.map_err(|it| fault(&directory, it))?;
            let path = entry.path();
            let name = entry.file_name().into_string();
            let name = name.map_err(|_| fault(&path, "its name is not UTF-8"))?;
            let name = format!("{prefix}{name}");
            let kind = std::fs::metadata(&path).map_err(|it| fault(&path, it))?;
            if kind.is_dir() {
                pending.push((format!("{name}/"), path));
            } else {
                files.insert(name, path);
            }
        }
    }
    Ok(files)
}

/// Computes the `h1:` hash from the digests of the files by their names.
pub(crate) fn h1_of(files: &TreeMap<String, Digest>) -> io::Result<Hash> {
    let mut list = String::new();
    for (name, digest) in files {
        if name.contains('\n') {
            return Err(io::Error::other("a file's name has a line break"));
        }
        // Writing to a string cannot fail.
        let _ = writeln!(list, "{}  {name}", encode_string(digest));
    }
    Ok(hash_of_list(&list))
}

/// Computes the `h1:` hash of a sorted list of file digests and names, one per line.
pub(crate) fn hash_of_list(list: &str) -> Hash {
    let value = STANDARD.encode(Sha256::digest(list));
    Hash(format!("h1:{value}"))
}

pub(crate) fn sha256_of_bytes(bytes: &[u8]) -> String {
    encode_string(&Sha256::digest(bytes))
}

/// The SHA-256 as hexadecimal digits.
pub(crate) fn sha256_hex(reader: impl Read) -> io::Result<String> {
    sha256_of(reader).map(|it| encode_string(&it))
}

fn sha256_of(mut reader: impl Read) -> io::Result<Digest> {
    let mut sha = Sha256::new();
    let mut buffer = vec![0; BUFFER];
    loop {
        match reader.read(&mut buffer) {
            Ok(0) => return Ok(sha.finalize().into()),
            Ok(length) => sha.update(&buffer[..length]),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
}

pub(crate) fn fault(path: &Path, cause: impl ToString) -> HashError {
    HashError { path: path.to_owned(), cause: cause.to_string() }
}

/// The largest accepted size of the content of an archive. Executables and configurations are packed to a tenth; an
/// archive of zeros is packed to a thousandth.
pub(crate) fn largest_unpacked(packed: u64) -> u64 {
    packed.saturating_mul(200).saturating_add(16 << 20)
}

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use super::*;

    #[test]
    fn hash_of_a_directory_is_that_of_its_sorted_files() {
        let root = tempfile::tempdir().expect("a temporary directory");
        let package = root.path().join("package");
        std::fs::create_dir_all(package.join("b")).expect("writable");
        std::fs::write(package.join("terraform-provider-x"), "binary").expect("writable");
        std::fs::write(package.join("b/LICENSE"), "text").expect("writable");
        // The digests come from `sha256sum`.
        let text = "982d9e3eb996f559e633f4d194def3761d909f5a3b647d1a851fead67c32c9d1  \
                    b/LICENSE\n9a3a45d01531a20e89ac6ae10b0b0beb0492acd7216a368aa062d1a5fecaf9cd  \
                    terraform-provider-x\n";
        let expected = format!("h1:{}", STANDARD.encode(Sha256::digest(text.as_bytes())));
        let hash = directory_h1(&package).expect("readable");
        assert_eq!(hash.as_str(), expected);
        let link = root.path().join("link");
        std::os::unix::fs::symlink(&package, &link).expect("possible");
        assert_eq!(directory_h1(&link).expect("readable"), hash);
    }

    #[test]
    fn empty_package_has_the_hash_of_no_files() {
        let root = tempfile::tempdir().expect("a temporary directory");
        expect!["h1:47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU="]
            .assert_eq(directory_h1(root.path()).expect("readable").as_str());
    }

    #[test]
    fn a_stamp_changes_with_the_package() {
        let root = tempfile::tempdir().expect("a temporary directory");
        std::fs::write(root.path().join("a"), "1").expect("writable");
        let before = directory_stamp(root.path()).expect("readable");
        assert_eq!(directory_stamp(root.path()).expect("readable"), before);
        std::fs::write(root.path().join("a"), "22").expect("writable");
        assert_ne!(directory_stamp(root.path()).expect("readable"), before);
    }

    #[test]
    fn package_hash_requires_a_scheme() {
        assert!(
            Hash::parse("abc").is_err()
                && Hash::parse(":a").is_err()
                && Hash::parse("h1:").is_err()
        );
        assert_eq!(Hash::parse("zh:ab").expect("a hash").scheme(), "zh");
    }
}
