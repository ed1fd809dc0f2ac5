//! The contract of a storage.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};
use std::pin::Pin;
use std::sync::Arc;

use crate::lock::LockInfo;

/// A boxed future, so that storages can be trait objects.
pub type BoxFuture<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// A place that keeps one sequence of bytes (a state) and can be locked.
///
/// Calls of one store may overlap; a store orders them itself.
pub trait StateStore: Send + Sync {
    /// Reads the current bytes. A store that has never been written (or holds no bytes at all) gives `None`.
    ///
    /// # Errors
    /// [`StoreError::Io`] and, for remote storages, whatever keeps them from answering.
    fn read(&self) -> BoxFuture<'_, Result<Option<Snapshot>, StoreError>>;

    /// Replaces the bytes, provided that the store still holds what `expected` says.
    ///
    /// # Errors
    /// [`StoreError::Conflict`] when it does not; nothing has changed then.
    fn write<'a>(
        &'a self,
        bytes: &'a [u8],
        expected: Expected,
    ) -> BoxFuture<'a, Result<Generation, StoreError>>;

    /// Finds out whether a write can succeed, as far as that can be told without one. Whoever is about to change the world
    /// asks before.
    ///
    /// # Errors
    /// [`StoreError::Io`] with the place that cannot be written.
    fn check_writable(&self) -> BoxFuture<'_, Result<(), StoreError>>;

    /// Takes the lock without waiting; [`acquire`](crate::acquire) waits.
    ///
    /// # Errors
    /// [`StoreError::Locked`] when someone else has it.
    fn lock(&self, info: LockInfo) -> BoxFuture<'_, Result<Box<dyn HeldLock>, StoreError>>;

    /// Removes somebody else's lock, named by its ID.
    ///
    /// # Errors
    /// [`StoreError::LockId`] when the lock has another ID, [`StoreError::NotLocked`] when there is none,
    /// [`StoreError::Alive`] when its owner is a process on this machine that still runs.
    fn force_unlock<'a>(&'a self, id: &'a str) -> BoxFuture<'a, Result<(), StoreError>>;
}

/// A lock that is ours until it is released (or dropped, which releases it as well as it can without waiting).
pub trait HeldLock: Send + Sync + fmt::Debug {
    /// What was written into the lock.
    fn info(&self) -> &LockInfo;

    /// Returns true if nothing was stored before, and something empty is there now only to carry the lock.
    fn has_made_store(&self) -> bool {
        false
    }

    /// Gives the lock back.
    ///
    /// # Errors
    /// [`StoreError::Io`]; the lock may then still exist, and `force-unlock` removes it.
    fn release(self: Box<Self>) -> BoxFuture<'static, Result<(), StoreError>>;
}

/// Bytes as they were read, and the generation that a later write has to name.
#[derive(Clone, PartialEq, Eq)]
pub struct Snapshot {
    pub bytes: Vec<u8>,
    pub generation: Generation,
}

/// State holds sensitive values: only its size is shown.
impl fmt::Debug for Snapshot {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Snapshot({} bytes at {:?})", self.bytes.len(), self.generation)
    }
}

/// Names one version of a store's bytes; it means something only to the store that gave it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Generation(Arc<str>);

impl Generation {
    /// Wraps a storage's own version text: an object generation, an ETag, a counter.
    pub fn new(text: impl Into<Arc<str>>) -> Self {
        Self(text.into())
    }

    /// The storage's own version text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// What a write expects to replace.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Expected {
    /// Nothing has been stored yet.
    Missing,
    /// The store still holds this version.
    At(Generation),
    /// Whatever is there (`state push -force`).
    Anything,
}

impl From<&Option<Snapshot>> for Expected {
    fn from(read: &Option<Snapshot>) -> Self {
        read.as_ref().map_or(Self::Missing, |it| Self::At(it.generation.clone()))
    }
}

/// Why a storage could not do what it was asked.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// The stored bytes are not the ones that the caller has seen.
    #[error(
        "the state has changed since it was read; run the command again to work with the new one"
    )]
    Conflict,
    /// Someone holds the lock. `cause` is the storage's own word for it.
    #[error("{cause}")]
    Locked { cause: String, holder: Option<Box<LockInfo>> },
    /// `force_unlock` named a lock that is not the one in place.
    #[error("lock id {given:?} does not match existing lock{}", .existing.as_deref().map(|it| format!(" {it:?}")).unwrap_or_default())]
    LockId { given: String, existing: Option<String> },
    /// `force_unlock` found no lock.
    #[error("there is no lock on this state")]
    NotLocked,
    /// `force_unlock` found a lock whose process is still running.
    #[error(
        "local state cannot be unlocked by another process; end the process that holds the lock instead"
    )]
    Alive,
    /// An entry of a journal is not what was written, although later ones are there.
    #[error("{} is damaged at byte {offset}", .path.display())]
    Damaged { path: PathBuf, offset: usize },
    /// A journal in a format that this version does not know.
    #[error("{} is a journal of format {format}, and this version of Mayfly knows format 1 only", .path.display())]
    NewerJournal { path: PathBuf, format: u8 },
    /// A file or directory could not be used.
    #[error("failed to {action} {}: {source}", .path.display())]
    Io { action: &'static str, path: PathBuf, source: io::Error },
}

impl StoreError {
    /// Turns an I/O error into one that names the action and the path.
    pub(crate) fn io(action: &'static str, path: &Path) -> impl FnOnce(io::Error) -> Self {
        move |source| Self::Io { action, path: path.to_owned(), source }
    }
}
