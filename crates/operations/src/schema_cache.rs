//! A disk cache of provider schemas, keyed by the SHA-256 of the provider's executable.
//!
//! The hash of an executable is itself cached under the file's stamp (device, inode, size, mtime, ctime).
//! Otherwise, reading hundreds of megabytes would take most of the time of `validate`.
//!
//! **Invariant:** an entry that is damaged, or was written for another executable, counts as missing.

use std::{
    fs,
    io::Read,
    os::unix::fs::MetadataExt,
    path::{Path, PathBuf},
    sync::Arc,
};

use packages::{Hash, UnpackedPackage};
use provider::{
    Block, Capabilities, ProviderSchemas, Schema, SchemaTypes,
    schema_codec::{self, CachedSchemas, ExecutableHash},
};
use sha2::{Digest, Sha256};
use sorted::SortedMap;

use crate::{
    private_file::{self, Durable},
    session::Session,
};

/// The folder of the schemas of providers.
const PROVIDERS: &str = "schemas";

/// The folder of the schemas of provisioner plugins.
const PROVISIONERS: &str = "provisioner-schemas";

/// The schema cache of the user.
pub(crate) struct SchemaCache {
    directory: Option<PathBuf>,
}

impl SchemaCache {
    /// Opens the cache in `$XDG_CACHE_HOME/mayfly` or `~/.cache/mayfly`. Without a home directory there is no
    /// cache.
    pub(crate) fn new(session: &Session) -> SchemaCache {
        SchemaCache { directory: directory(session) }
    }

    /// The cached schemas of an executable. `None` if they are not cached.
    pub(crate) fn get(&self, executable: &Path) -> Option<Arc<ProviderSchemas>> {
        self.read(PROVIDERS, executable).map(Arc::new)
    }

    /// Caches the schemas of an executable. A failure is ignored, because it only makes later commands slower.
    pub(crate) fn put(&self, executable: &Path, schemas: &ProviderSchemas) {
        self.write(PROVIDERS, executable, schemas);
    }

    /// The cached schema of a provisioner plugin. `None` if it is not cached.
    pub(crate) fn provisioner(&self, executable: &Path) -> Option<Arc<Block>> {
        let schemas = self.read(PROVISIONERS, executable)?;
        Some(Arc::new(schemas.provider.block().clone()))
    }

    /// Caches the schema of a provisioner plugin, in the form of a provider that has only a configuration. A failure is
    /// ignored, because it only makes later commands slower.
    pub(crate) fn put_provisioner(&self, executable: &Path, schema: &Block) {
        let configuration = Schema::new(0, schema.clone());
        let (types, functions) = (SchemaTypes::default(), SortedMap::new());
        let schemas =
            ProviderSchemas::new(configuration, types, functions, Capabilities::default());
        self.write(PROVISIONERS, executable, &schemas);
    }

    fn read(&self, family: &str, executable: &Path) -> Option<ProviderSchemas> {
        let hash = self.executable_hash(executable)?;
        let bytes = fs::read(self.entry(family, &hash)?).ok()?;
        CachedSchemas::open(bytes, &hash).and_then(ProviderSchemas::from_cache).ok()
    }

    fn write(&self, family: &str, executable: &Path, schemas: &ProviderSchemas) {
        let Some(hash) = self.executable_hash(executable) else { return };
        let encoded = schema_codec::encode(schemas, &hash);
        if let (Some(entry), Ok(bytes)) = (self.entry(family, &hash), encoded) {
            let _ = keep(&entry, &bytes);
        }
    }

    /// Removes the cached schemas of an executable.
    pub(crate) fn remove(&self, executable: &Path) {
        let entry = self.executable_hash(executable);
        let entry = entry.and_then(|hash| self.entry(PROVIDERS, &hash));
        // Ignore a failure: the next command detects the wrong entry again.
        let _ = entry.map(fs::remove_file);
    }

    /// The current fingerprint of an executable. `None` if the file cannot be read.
    pub(crate) fn fingerprint(&self, executable: &Path) -> Option<Fingerprint> {
        let stamp = stamp_of(executable)?;
        Some(Fingerprint { stamp, hash: self.executable_hash(executable) })
    }

    /// Returns true if an executable has not changed since the fingerprint was taken.
    pub(crate) fn is_still(&self, executable: &Path, before: &Fingerprint) -> bool {
        stamp_of(executable).as_ref() == Some(&before.stamp)
            || (before.hash.is_some() && self.executable_hash(executable) == before.hash)
    }

    /// Caches the hashes that were computed while a package was unpacked, unless its files have changed since.
    pub(crate) async fn adopt(&self, package: &UnpackedPackage) {
        let plugin = self.stamp(&package.directory.join(&package.plugin.name));
        let stamp = packages::stamp_of_directory(&package.directory).await;
        if stamp.is_ok_and(|it| it == package.stamp)
            && let (Some(plugin), Some(entry)) = (plugin, self.package_entry(&package.stamp))
        {
            let _ = keep(&plugin, &package.plugin.sha256);
            let _ = keep(&entry, package.hash.as_str().as_bytes());
        }
    }

    /// The `h1:` hash of a package directory, cached under the stamp of its files.
    pub(crate) async fn package_hash(&self, package: &Path) -> Result<Hash, packages::HashError> {
        let stamp = packages::stamp_of_directory(package).await.ok();
        let remembered = stamp.and_then(|stamp| self.package_entry(&stamp));
        if let Some(path) = &remembered
            && let Some(hash) =
                fs::read_to_string(path).ok().and_then(|text| Hash::parse(text.trim()).ok())
        {
            return Ok(hash);
        }
        let hash = packages::hash_of_directory(package).await?;
        if let Some(path) = &remembered {
            let _ = keep(path, hash.as_str().as_bytes());
        }
        Ok(hash)
    }

    /// The entry with the `h1:` hash of the package whose files have this stamp.
    fn package_entry(&self, stamp: &str) -> Option<PathBuf> {
        let name = base16ct::lower::encode_string(&Sha256::digest(stamp.as_bytes()));
        Some(self.directory.as_ref()?.join("packages").join(name))
    }

    fn entry(&self, family: &str, hash: &ExecutableHash) -> Option<PathBuf> {
        Some(self.directory.as_ref()?.join(family).join(base16ct::lower::encode_string(hash)))
    }

    /// The SHA-256 of an executable. `None` if the file cannot be read.
    pub(crate) fn executable_hash(&self, executable: &Path) -> Option<ExecutableHash> {
        let stamp = self.stamp(executable)?;
        if let Some(known) =
            fs::read(&stamp).ok().and_then(|bytes| ExecutableHash::try_from(bytes).ok())
        {
            return Some(known);
        }
        let hash = hash_file(executable)?;
        let _ = keep(&stamp, &hash);
        Some(hash)
    }

    fn stamp(&self, executable: &Path) -> Option<PathBuf> {
        let stamp = stamp_of(executable)?;
        Some(
            self.directory
                .as_ref()?
                .join("stamps")
                .join(base16ct::lower::encode_string(&Sha256::digest(stamp.as_bytes()))),
        )
    }
}

/// The fingerprint of a file at one point in time.
#[derive(Clone)]
pub(crate) struct Fingerprint {
    stamp: String,
    hash: Option<ExecutableHash>,
}

impl Fingerprint {
    /// The SHA-256 of the content. `None` if the content could not be read.
    pub(crate) fn hash(&self) -> Option<ExecutableHash> {
        self.hash
    }
}

/// A text that differs after every change of a file.
fn stamp_of(file: &Path) -> Option<String> {
    let meta = fs::metadata(file).ok()?;
    Some(format!(
        "{} {} {} {}.{} {}.{}",
        meta.dev(),
        meta.ino(),
        meta.size(),
        meta.mtime(),
        meta.mtime_nsec(),
        meta.ctime(),
        meta.ctime_nsec()
    ))
}

fn hash_file(path: &Path) -> Option<ExecutableHash> {
    let mut file = fs::File::open(path).ok()?;
    let mut hasher = Sha256::new();
    let mut buffer = vec![0; 1 << 16];
    loop {
        match file.read(&mut buffer).ok()? {
            0 => return Some(hasher.finalize().into()),
            read => hasher.update(&buffer[..read]),
        }
    }
}

/// The cache directory of this program. `None` without a home directory.
pub(crate) fn directory(session: &Session) -> Option<PathBuf> {
    let variable =
        |name: &str| session.system.variable(name).filter(|it| !it.is_empty()).map(PathBuf::from);
    let base = variable("XDG_CACHE_HOME").or_else(|| Some(variable("HOME")?.join(".cache")));
    base.map(|it| it.join("mayfly"))
}

/// Writes a cache entry. It need not reach the disk before the command ends, because it can be computed again.
pub(crate) fn keep(path: &Path, bytes: &[u8]) -> std::io::Result<()> {
    if let Some(directory) = path.parent() {
        fs::create_dir_all(directory)?;
    }
    private_file::write(path, bytes, Durable::No)
}

#[cfg(test)]
mod tests {
    use packages::PackagedFile;

    use super::*;

    #[tokio::test]
    async fn hashes_of_an_unpacked_package_are_cached_unless_it_has_changed() {
        let root = tempfile::tempdir().expect("a temporary directory");
        let cache = SchemaCache { directory: Some(root.path().join("cache")) };
        let directory = root.path().join("package");
        fs::create_dir(&directory).expect("writable");
        let plugin = directory.join("terraform-provider-b");
        fs::write(&plugin, "binary").expect("writable");
        let package = async |digest: u8| UnpackedPackage {
            directory: directory.clone(),
            stamp: packages::stamp_of_directory(&directory).await.expect("readable"),
            hash: Hash::parse(&format!("h1:{digest}")).expect("a hash"),
            plugin: PackagedFile { name: "terraform-provider-b".to_owned(), sha256: [digest; 32] },
        };
        let unpacked = package(7).await;
        cache.adopt(&unpacked).await;
        assert_eq!(cache.package_hash(&directory).await.expect("readable"), unpacked.hash);
        assert_eq!(cache.executable_hash(&plugin), Some([7; 32]));

        let outdated = package(8).await;
        fs::write(&plugin, "other binary").expect("writable");
        cache.adopt(&outdated).await;
        let hash = cache.package_hash(&directory).await.expect("readable");
        assert_eq!(hash, packages::hash_of_directory(&directory).await.expect("readable"));
        assert_eq!(cache.executable_hash(&plugin), hash_file(&plugin));
    }
}
