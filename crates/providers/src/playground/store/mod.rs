//! The remote system behind the playground: a directory with one small file per object, a key, a lock and a ledger.
//!
//! ```text
//! STORE/key                      random bytes that seal the secrets; 0600
//! STORE/lock                     taken for every change, by all processes that share the directory
//! STORE/ledger.jsonl             what the provider was asked and what it did; holds no secret
//! STORE/objects/KIND/NAME.json   one object each; secret fields are sealed
//! ```
//!
//! A remote system must store the secrets that it receives. They are sealed with the key in the same directory.
//! This does not protect them from a user with read access to the directory. But the store never holds a secret in
//! plain text, so a search of the working directory for leaked secrets finds only real leaks.

mod ledger;
mod record;
mod seal;

use std::{
    fs::{self, File, OpenOptions},
    io::{self, Write},
    os::unix::fs::{DirBuilderExt, OpenOptionsExt},
    path::{Path, PathBuf},
    sync::{Mutex, MutexGuard, PoisonError},
};

use mayfly_sdk::Diagnostic;
pub use mayfly_sdk::Secret;
use sorted::TreeMap;

use self::seal::Key;
pub(crate) use self::seal::random;
pub use self::{
    ledger::{Entry, Ledger},
    record::Record,
};

/// An error of the store. No variant holds a secret.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    #[error("failed to use the store at {}: {source}", path.display())]
    Io { path: PathBuf, source: io::Error },
    #[error("the file {} of the store is damaged: {reason}", path.display())]
    Damaged { path: PathBuf, reason: String },
    #[error("a {kind} named {name:?} already exists")]
    Exists { kind: &'static str, name: String },
    #[error("there is no {kind} named {name:?}")]
    Missing { kind: &'static str, name: String },
}

/// A diagnostic for the user. It quotes no secret either.
impl From<StoreError> for Diagnostic {
    fn from(error: StoreError) -> Diagnostic {
        Diagnostic::error("The playground's store cannot be used", format!("Failed: {error}."))
    }
}

/// An open store. Several processes may share the directory.
pub struct Store {
    root: PathBuf,
    key: Key,
    ledger: Ledger,
    /// Serializes the threads of this process; `flock` serializes processes.
    threads: Mutex<()>,
}

impl Store {
    /// Opens the store at `root`, or creates it.
    ///
    /// # Errors
    /// If the directory or its key cannot be created or read.
    pub fn open(root: &Path) -> Result<Store, StoreError> {
        let objects = root.join("objects");
        private_directories(&objects).map_err(|source| StoreError::Io { path: objects, source })?;
        let held = lock_file(root)?;
        let key = Key::open(&root.join("key"))?;
        drop(held);
        let ledger = Ledger::open(root)?;
        Ok(Store { root: root.to_owned(), key, ledger, threads: Mutex::new(()) })
    }

    /// The directory of the store.
    #[must_use]
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// The ledger of the store.
    #[must_use]
    pub fn ledger(&self) -> &Ledger {
        &self.ledger
    }

    /// Returns a short text by which a test recognizes a secret that it knows. The text does not reveal the
    /// secret.
    #[must_use]
    pub fn fingerprint(&self, secret: &Secret) -> String {
        self.key.fingerprint(secret)
    }

    /// Returns the fingerprints of received secrets by attribute, for an entry of the ledger.
    pub fn fingerprints<'a, K: Into<String>>(
        &self,
        received: impl IntoIterator<Item = (K, &'a Secret)>,
    ) -> TreeMap<String, String> {
        received.into_iter().map(|(name, it)| (name.into(), self.fingerprint(it))).collect()
    }

    /// Reads the object with this name. `None` if it does not exist.
    ///
    /// # Errors
    /// If its file cannot be read or is damaged.
    pub fn read(&self, kind: &'static str, name: &str) -> Result<Option<Record>, StoreError> {
        let path = self.path_of(kind, name);
        match fs::read(&path) {
            Ok(bytes) => Record::decode(kind, &bytes, &self.key, &path).map(Some),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(source) => Err(StoreError::Io { path, source }),
        }
    }

    /// Creates an object.
    ///
    /// # Errors
    /// If an object with this name exists, or the file cannot be written.
    pub fn create(&self, record: &Record) -> Result<(), StoreError> {
        let _held = self.exclusive()?;
        if self.read(record.kind, &record.name)?.is_some() {
            return Err(StoreError::Exists { kind: record.kind, name: record.name.clone() });
        }
        self.write(record)
    }

    /// Changes an object and returns the result.
    ///
    /// # Errors
    /// If there is no object with this name, or its file cannot be read or written.
    pub fn update(
        &self,
        kind: &'static str,
        name: &str,
        change: impl FnOnce(&mut Record),
    ) -> Result<Record, StoreError> {
        let _held = self.exclusive()?;
        let missing = || StoreError::Missing { kind, name: name.to_owned() };
        let mut record = self.read(kind, name)?.ok_or_else(missing)?;
        change(&mut record);
        self.write(&record)?;
        Ok(record)
    }

    /// Removes an object. Returns true if it existed.
    ///
    /// # Errors
    /// If its file cannot be removed.
    pub fn remove(&self, kind: &'static str, name: &str) -> Result<bool, StoreError> {
        let _held = self.exclusive()?;
        let path = self.path_of(kind, name);
        match fs::remove_file(&path) {
            Ok(()) => Ok(true),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
            Err(source) => Err(StoreError::Io { path, source }),
        }
    }

    fn exclusive(&self) -> Result<(MutexGuard<'_, ()>, File), StoreError> {
        let thread = self.threads.lock().unwrap_or_else(PoisonError::into_inner);
        Ok((thread, lock_file(&self.root)?))
    }

    /// Writes a new file and renames it, so that a reader sees either the old object or the new one.
    fn write(&self, record: &Record) -> Result<(), StoreError> {
        let path = self.path_of(record.kind, &record.name);
        let wrap = |source| StoreError::Io { path: path.clone(), source };
        let parent = path.parent().unwrap_or(&self.root);
        private_directories(parent).map_err(wrap)?;
        let draft = path.with_extension("new");
        let bytes = record.encode(&self.key);
        create_private(&draft).and_then(|mut file| file.write_all(&bytes)).map_err(wrap)?;
        fs::rename(&draft, &path).map_err(wrap)
    }

    fn path_of(&self, kind: &str, name: &str) -> PathBuf {
        self.root.join("objects").join(kind).join(format!("{}.json", file_name(name)))
    }
}

/// Converts a name to a file name. Characters that could leave the directory or hide the file are percent-encoded.
fn file_name(name: &str) -> String {
    let mut text = String::with_capacity(name.len());
    for byte in name.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'_' => text.push(char::from(byte)),
            _ => text.push_str(&format!("%{byte:02x}")),
        }
    }
    text
}

fn private_directories(path: &Path) -> io::Result<()> {
    fs::DirBuilder::new().recursive(true).mode(0o700).create(path)
}

fn create_private(path: &Path) -> io::Result<File> {
    OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(path)
}

/// Takes the lock of the store. Dropping the file releases it.
fn lock_file(root: &Path) -> Result<File, StoreError> {
    let path = root.join("lock");
    let open = OpenOptions::new().write(true).create(true).truncate(false).mode(0o600).open(&path);
    let file = open.map_err(|source| StoreError::Io { path: path.clone(), source })?;
    rustix::fs::flock(&file, rustix::fs::FlockOperation::LockExclusive)
        .map_err(|error| StoreError::Io { path, source: error.into() })?;
    Ok(file)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record(name: &str, secret: &str) -> Record {
        let mut record = Record::new("secret", name, "id-1");
        record.set("description", "plain");
        record.set_secret("value", Secret::new(secret));
        record
    }

    #[test]
    fn stored_object_is_read_after_reopening() {
        let directory = tempfile::tempdir().expect("a directory");
        Store::open(directory.path())
            .expect("opens")
            .create(&record("a/b", "hush-hush"))
            .expect("creates");
        let store = Store::open(directory.path()).expect("opens");
        let found = store.read("secret", "a/b").expect("reads").expect("is there");
        assert_eq!(found.text("description"), Some("plain"));
        assert_eq!(found.secret("value").map(Secret::reveal), Some("hush-hush"));
        assert!(store.read("secret", "a").expect("reads").is_none());
    }

    #[test]
    fn object_names_are_unique_until_removed() {
        let directory = tempfile::tempdir().expect("a directory");
        let store = Store::open(directory.path()).expect("opens");
        store.create(&record("n", "s")).expect("creates");
        assert!(matches!(store.create(&record("n", "s")), Err(StoreError::Exists { .. })));
        assert!(store.remove("secret", "n").expect("removes"));
        assert!(!store.remove("secret", "n").expect("is gone"));
        assert!(matches!(store.update("secret", "n", |_| ()), Err(StoreError::Missing { .. })));
        store.create(&record("n", "s")).expect("creates again");
    }

    #[test]
    fn store_files_are_private_and_show_no_secret() {
        use std::os::unix::fs::PermissionsExt;
        let directory = tempfile::tempdir().expect("a directory");
        let store = Store::open(directory.path()).expect("opens");
        store.create(&record("n", "correct-horse-battery")).expect("creates");
        store.ledger().write(&Entry::effect("created", "playground_secret", "n")).expect("writes");
        for file in ["key", "lock", "ledger.jsonl", "objects/secret/n.json"] {
            let path = directory.path().join(file);
            let bytes = fs::read(&path).expect("is there");
            assert!(!bytes.windows(13).any(|it| it == b"correct-horse"), "{file} shows the secret");
            let mode = fs::metadata(&path).expect("has metadata").permissions().mode();
            assert_eq!(mode & 0o077, 0, "{file} is open to others");
        }
    }

    #[test]
    fn damaged_store_file_is_an_error() {
        let directory = tempfile::tempdir().expect("a directory");
        let store = Store::open(directory.path()).expect("opens");
        store.create(&record("n", "s")).expect("creates");
        for bytes in
            [&b"{"[..], b"[]", br#"{"id":"x","created":"","version":1,"secrets":{"value":"AAAA"}}"#]
        {
            fs::write(store.path_of("secret", "n"), bytes).expect("writes");
            assert!(matches!(store.read("secret", "n"), Err(StoreError::Damaged { .. })));
        }
    }

    #[test]
    fn object_names_are_escaped_in_file_names() {
        assert_eq!(file_name("../a b.ü"), "%2e%2e%2fa%20b%2e%c3%bc");
    }
}
