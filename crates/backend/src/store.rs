//! The interface of state stores.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};
use std::pin::Pin;
use std::sync::Arc;

use crate::lock::LockInfo;

/// A boxed future, so that stores can be trait objects.
pub type BoxFuture<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// A store for one sequence of bytes (a state), which can be locked.
///
/// Calls of one store may overlap; the store orders them itself.
pub trait StateStore: Send + Sync {
    /// Reads the current bytes. `None` if the store was never written or is empty.
    ///
    /// # Errors
    /// Returns [`StoreError::Io`], and for remote stores the error that prevents an answer.
    fn read(&self) -> BoxFuture<'_, Result<Option<Snapshot>, StoreError>>;

    /// Replaces the bytes, provided that the store still holds the expected ones.
    ///
    /// # Errors
    /// Returns [`StoreError::Conflict`] if it does not; nothing has changed then.
    fn write<'a>(
        &'a self,
        bytes: &'a [u8],
        expected: Expected,
    ) -> BoxFuture<'a, Result<Generation, StoreError>>;

    /// Checks whether a write can succeed, as far as this is possible without writing. Call it before changing
    /// real objects.
    ///
    /// # Errors
    /// Returns [`StoreError::Io`] with the path that cannot be written.
    fn check_writable(&self) -> BoxFuture<'_, Result<(), StoreError>>;

    /// Takes the lock without waiting; [`acquire`](crate::acquire) waits.
    ///
    /// # Errors
    /// Returns [`StoreError::Locked`] if the state is already locked.
    fn lock(&self, info: LockInfo) -> BoxFuture<'_, Result<Box<dyn HeldLock>, StoreError>>;

    /// Removes the lock of another process. `id` is the ID of that lock.
    ///
    /// # Errors
    /// Returns [`StoreError::LockId`] if the lock has another ID, [`StoreError::NotLocked`] if there is none, or
    /// [`StoreError::Alive`] if its owner is a running process on this machine.
    fn force_unlock<'a>(&'a self, id: &'a str) -> BoxFuture<'a, Result<(), StoreError>>;
}

/// A lock that is held until it is released. Dropping it releases it, too, as far as this is possible without
/// waiting.
pub trait HeldLock: Send + Sync + fmt::Debug {
    /// The information that was written to the lock.
    fn info(&self) -> &LockInfo;

    /// Returns true if there was no state before, and an empty one was created only for the lock.
    fn has_made_store(&self) -> bool {
        false
    }

    /// Releases the lock.
    ///
    /// # Errors
    /// Returns [`StoreError::Io`]; the lock may then still exist, and `force-unlock` removes it.
    fn release(self: Box<Self>) -> BoxFuture<'static, Result<(), StoreError>>;
}

/// The bytes of a state as they were read, and the generation that a later write must name.
#[derive(Clone, PartialEq, Eq)]
pub struct Snapshot {
    /// The bytes.
    pub bytes: Vec<u8>,
    /// The generation of the bytes.
    pub generation: Generation,
}

/// Shows only the size, because state holds sensitive values.
impl fmt::Debug for Snapshot {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Snapshot({} bytes at {:?})", self.bytes.len(), self.generation)
    }
}

/// The identity of one version of a store's bytes. It is meaningful only to the store that returned it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Generation(Arc<str>);

impl Generation {
    /// Wraps a store's own version text, such as an object generation, an ETag or a counter.
    pub fn new(text: impl Into<Arc<str>>) -> Self {
        Self(text.into())
    }

    /// The store's own version text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// The content that a write expects to replace.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Expected {
    /// Nothing is stored yet.
    Missing,
    /// The store still holds this generation.
    At(Generation),
    /// Any content (`state push -force`).
    Anything,
}

impl From<&Option<Snapshot>> for Expected {
    fn from(read: &Option<Snapshot>) -> Self {
        read.as_ref().map_or(Self::Missing, |it| Self::At(it.generation.clone()))
    }
}

/// An error of a store.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// The stored bytes are not the ones that the caller has read.
    #[error(
        "the state has changed since it was read; run the command again to work with the new one"
    )]
    Conflict,
    /// The state is already locked. `cause` is the store's own text.
    #[error("{cause}")]
    Locked { cause: String, holder: Option<Box<LockInfo>> },
    /// `force_unlock` was called with an ID other than that of the lock.
    #[error("lock id {given:?} does not match existing lock{}", named(.existing.as_deref()))]
    LockId { given: String, existing: Option<String> },
    /// `force_unlock` found no lock.
    #[error("there is no lock on this state")]
    NotLocked,
    /// `force_unlock` found a lock whose process is still running.
    #[error(
        "local state cannot be unlocked by another process; end the process that holds the lock instead"
    )]
    Alive,
    /// An entry of a journal was damaged after it was written, because later entries follow.
    #[error("{} is damaged at byte {offset}", .path.display())]
    Damaged { path: PathBuf, offset: usize },
    /// A journal has a format that this version does not support.
    #[error("{} is a journal of format {format}, and this version of Mayfly knows format 1 only", .path.display())]
    NewerJournal { path: PathBuf, format: u8 },
    /// A file or directory could not be accessed.
    #[error("failed to {action} {}: {source}", .path.display())]
    Io { action: &'static str, path: PathBuf, source: io::Error },
}

/// A blank and the quoted text; empty for `None`.
fn named(text: Option<&str>) -> String {
    text.map(|it| format!(" {it:?}")).unwrap_or_default()
}

impl StoreError {
    /// Returns a function that adds the action and the path to an I/O error.
    pub(crate) fn io(action: &'static str, path: &Path) -> impl FnOnce(io::Error) -> Self {
        move |source| Self::Io { action, path: path.to_owned(), source }
    }
}
