//! Packages in zip files. The content of one is read once: that hashes it and, if it will be installed, unpacks it to
//! a scratch directory. Nothing uses that directory before the caller has compared the hashes and settles it.

use std::fs::File;
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

use addr::ProviderSource;
use sha2::{Digest as _, Sha256};
use sorted::{TreeMap, TreeSet};
use tempfile::{TempDir, TempPath};

use crate::blocking::blocking;
use crate::hash::{BUFFER, Digest, Hash, directory_stamp, h1_of, largest_unpacked, zip_zh};
use crate::package::{PackageError, create, fault, inner_path, plugin_among, scratch, settle};
use crate::zip_file;

/// The largest accepted number of entries of a package.
const MAX_ENTRIES: usize = 100_000;

/// The size limit of an unpacked package.
const MAX_UNPACKED: u64 = 16 << 30;

/// A package in a zip file.
pub(crate) struct PackedPackage {
    path: PathBuf,
    /// The directory to which it will be installed. `None` if it is only hashed.
    target: Option<PathBuf>,
    zip_hash: Option<Hash>,
    content: Option<Content>,
    /// Removes a downloaded file.
    _file: Option<TempPath>,
}

/// The content of a package.
pub(crate) struct Content {
    /// The `h1:` hash of the files. It equals that of the unpacked package.
    pub(crate) h1: Hash,
    /// The `h1:` hash of all entries. Other tools compute it for a zip file, and it differs from `h1` if the file has
    /// entries for directories.
    pub(crate) h1_of_entries: Hash,
    /// The SHA-256 of each file by its name.
    files: TreeMap<String, Digest>,
    /// The unpacked files.
    scratch: Option<TempDir>,
}

/// An unpacked package, with the hashes that were computed while it was unpacked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnpackedPackage {
    /// Its directory.
    pub directory: PathBuf,
    /// The stamp of the files that were hashed, as [`stamp_of_directory`](crate::stamp_of_directory) computes it.
    /// Another stamp of the directory means that the files have changed since.
    pub stamp: String,
    /// The `h1:` hash.
    pub hash: Hash,
    /// The plugin.
    pub plugin: PackagedFile,
}

/// A file of a package.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PackagedFile {
    /// The name in the package.
    pub name: String,
    pub sha256: Digest,
}

impl PackedPackage {
    /// A file that stays where it is.
    pub(crate) fn local(path: PathBuf, target: Option<&Path>) -> PackedPackage {
        let target = target.map(Path::to_owned);
        PackedPackage { path, target, zip_hash: None, content: None, _file: None }
    }

    /// A downloaded file, which is removed with the value.
    pub(crate) fn downloaded(file: TempPath, target: Option<&Path>) -> PackedPackage {
        let package = PackedPackage::local(file.to_path_buf(), target);
        PackedPackage { _file: Some(file), ..package }
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// The `zh:` hash, computed at the first call. The error is a sentence fragment.
    pub(crate) async fn zip_hash(&mut self) -> Result<Hash, String> {
        let hash = match self.zip_hash.take() {
            Some(hash) => hash,
            None => {
                let path = self.path.clone();
                blocking(move || zip_zh(&path)).await.map_err(|it| it.to_string())?
            }
        };
        Ok(self.zip_hash.insert(hash).clone())
    }

    /// The content, read and unpacked at the first call. The error is a sentence fragment.
    pub(crate) async fn content(&mut self) -> Result<&Content, String> {
        let content = match self.content.take() {
            Some(content) => content,
            None => {
                let (path, target) = (self.path.clone(), self.target.clone());
                let content = blocking(move || Content::read(&path, target.as_deref())).await;
                content.map_err(|it| it.to_string())?
            }
        };
        Ok(self.content.insert(content))
    }

    /// Returns true if the package has one of the hashes. The error is a sentence fragment.
    pub(crate) async fn has_one_of(&mut self, hashes: &TreeSet<Hash>) -> Result<bool, String> {
        let content = self.content().await?;
        if hashes.contains(&content.h1) || hashes.contains(&content.h1_of_entries) {
            return Ok(true);
        }
        Ok(hashes.contains(&self.zip_hash().await?))
    }

    /// Moves the unpacked package to its target. The error is a sentence fragment.
    pub(crate) async fn install(
        mut self,
        source: &ProviderSource,
    ) -> Result<UnpackedPackage, String> {
        let content = self.content().await?;
        let plugin = content.plugin(source).map_err(|it| it.to_string())?;
        let hash = content.h1.clone();
        let scratch = self.content.and_then(|it| it.scratch);
        let (Some(scratch), Some(directory)) = (scratch, self.target) else {
            return Err(format!("{} is not unpacked", self.path.display()));
        };
        let target = directory.clone();
        let settled = blocking(move || {
            let stamp = directory_stamp(scratch.path()).map_err(|it| it.to_string())?;
            settle(scratch, &target).map(|()| stamp).map_err(|it| it.to_string())
        });
        Ok(UnpackedPackage { directory, stamp: settled.await?, hash, plugin })
    }
}

impl Content {
    /// Reads the content of an archive. Unpacks it beside the target, if there is one.
    fn read(archive: &Path, target: Option<&Path>) -> Result<Content, PackageError> {
        let scratch = target.map(scratch).transpose()?;
        let file = File::open(archive).map_err(fault("open", archive))?;
        let packed = file.metadata().map_err(fault("open", archive))?.len();
        let mut zip = zip_file::open(file, MAX_ENTRIES).map_err(fault("open", archive))?;
        let mut reading = Reading {
            directory: scratch.as_ref().map(TempDir::path),
            left: largest_unpacked(packed).min(MAX_UNPACKED),
            buffer: vec![0; BUFFER],
        };
        let (mut files, mut entries) = (TreeMap::new(), TreeMap::new());
        for index in 0..zip.len() {
            let mut entry = zip.by_index(index).map_err(fault("read", archive))?;
            let name = String::from_utf8_lossy(entry.name_raw()).into_owned();
            let path = inner_path(&name).filter(|_| !entry.is_symlink());
            let Some(path) = path.filter(|_| name.as_bytes() == entry.name_raw()) else {
                return Err(PackageError::UnsafeEntry { path: archive.to_owned(), entry: name });
            };
            if entry.is_dir() {
                reading.directory(&path)?;
                entries.insert(name, Sha256::digest(b"").into());
            } else {
                let mode = entry.unix_mode().unwrap_or(0o644);
                let digest = reading.file(&mut entry, &path, mode);
                files.insert(name, digest.map_err(fault("unpack", archive))?);
            }
        }
        entries.extend(files.clone());
        let hash = |it: &TreeMap<String, Digest>| h1_of(it).map_err(fault("hash", archive));
        Ok(Content { h1: hash(&files)?, h1_of_entries: hash(&entries)?, files, scratch })
    }

    /// The plugin of the package.
    pub(crate) fn plugin(&self, source: &ProviderSource) -> Result<PackagedFile, PackageError> {
        let name = plugin_among(self.files.keys().cloned(), source)?;
        let sha256 = self.files.get(&name).copied().unwrap_or_default();
        Ok(PackagedFile { name, sha256 })
    }
}

/// Computes the `h1:` hash of a packed package as other tools do: over all entries of the zip file.
///
/// # Errors
/// Returns a [`PackageError`] if the file is no package.
pub(crate) async fn hash_of_zip_contents(path: &Path) -> Result<Hash, PackageError> {
    let path = path.to_owned();
    Ok(blocking(move || Content::read(&path, None)).await?.h1_of_entries)
}

/// The state of reading an archive.
struct Reading<'d> {
    /// The directory to which files are written. `None` if they are only hashed.
    directory: Option<&'d Path>,
    /// The number of bytes that may still be unpacked.
    left: u64,
    buffer: Vec<u8>,
}

impl Reading<'_> {
    fn directory(&self, path: &Path) -> Result<(), PackageError> {
        let Some(directory) = self.directory else { return Ok(()) };
        let path = directory.join(path);
        std::fs::create_dir_all(&path).map_err(fault("create", &path))
    }

    /// Hashes a file, and writes it.
    fn file(&mut self, content: &mut impl Read, path: &Path, mode: u32) -> io::Result<Digest> {
        let mut file = self.directory.map(|it| create(&it.join(path), mode)).transpose()?;
        let mut sha = Sha256::new();
        loop {
            let length = match content.read(&mut self.buffer) {
                Ok(0) => return Ok(sha.finalize().into()),
                Ok(length) => length,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) => return Err(error),
            };
            self.left = self.left.checked_sub(length as u64).ok_or_else(|| {
                io::Error::other("it unpacks to more than a package of its size can be")
            })?;
            sha.update(&self.buffer[..length]);
            if let Some(file) = &mut file {
                file.write_all(&self.buffer[..length])?;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use zip::ZipWriter;
    use zip::write::SimpleFileOptions;

    use super::*;
    use crate::hash::hash_of_directory;

    /// Writes an archive of these files and directories, which end with a slash.
    fn archive(at: &Path, names: &[&str]) -> PathBuf {
        let path = at.join("package.zip");
        let mut zip = ZipWriter::new(File::create(&path).expect("writable"));
        let options = SimpleFileOptions::default().unix_permissions(0o755);
        for name in names {
            match name.strip_suffix('/') {
                Some(name) => zip.add_directory(name, options).expect("writable"),
                None => {
                    zip.start_file(*name, options).expect("writable");
                    zip.write_all(name.as_bytes()).expect("writable");
                }
            }
        }
        zip.finish().expect("writable");
        path
    }

    fn source() -> ProviderSource {
        ProviderSource::parse("a/b").expect("an address")
    }

    #[tokio::test]
    async fn unpacked_package_has_the_hash_that_was_computed_while_unpacking() {
        let root = tempfile::tempdir().expect("a temporary directory");
        let path = archive(root.path(), &["terraform-provider-b", "docs/", "docs/README"]);
        let target = root.path().join("target");
        let mut package = PackedPackage::local(path, Some(&target));
        let content = package.content().await.expect("readable");
        assert_ne!(content.h1, content.h1_of_entries);
        assert!(!target.exists());
        let unpacked = package.install(&source()).await.expect("writable");
        assert_eq!(hash_of_directory(&target).await.expect("readable"), unpacked.hash);
        assert_eq!(directory_stamp(&target).expect("readable"), unpacked.stamp);
        let digest: Digest = Sha256::digest(b"terraform-provider-b").into();
        let plugin = PackagedFile { name: "terraform-provider-b".to_owned(), sha256: digest };
        assert_eq!(unpacked.plugin, plugin);
    }

    #[tokio::test]
    async fn both_hashes_of_the_content_and_the_hash_of_the_file_are_accepted() {
        let root = tempfile::tempdir().expect("a temporary directory");
        let path = archive(root.path(), &["terraform-provider-b", "docs/"]);
        let mut package = PackedPackage::local(path, None);
        let zip_hash = package.zip_hash().await.expect("readable");
        let content = package.content().await.expect("readable");
        for hash in [content.h1.clone(), content.h1_of_entries.clone(), zip_hash] {
            assert!(package.has_one_of(&[hash].into()).await.expect("readable"));
        }
        let other = Hash::parse("h1:x").expect("a hash");
        assert!(!package.has_one_of(&[other].into()).await.expect("readable"));
    }

    #[test]
    fn refused_package_leaves_nothing_behind() {
        let root = tempfile::tempdir().expect("a temporary directory");
        let parent = root.path().join("1.0.0");
        for names in [&["terraform-provider-b", "../x"][..], &["a", "a/b"]] {
            let path = archive(root.path(), names);
            assert!(Content::read(&path, Some(&parent.join("linux_amd64"))).is_err());
            assert_eq!(std::fs::read_dir(&parent).expect("readable").count(), 0);
        }
        let path = archive(root.path(), &["terraform-provider-b_1/x", "README"]);
        let content = Content::read(&path, None).expect("readable");
        assert!(content.plugin(&source()).is_err());
    }
}
