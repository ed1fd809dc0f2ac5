//! A journal beside a state: entries of opaque bytes, each durable before its call returns.
//!
//! A journal is always a file of this machine, even if the state is remote, because it is meant for the next run
//! on this machine. Its calls therefore block on the disk; a caller that must not block calls them from a separate
//! thread.
//!
//! ```text
//!   start(entry) ─► append(entry) ─► append(entry) ─► …  ─► start(entry)   what is left, in place of everything before
//!                                                        └► remove()
//! ```
//!
//! **Invariant:** an entry is durable before the next one is begun. A crash can therefore cut off only the last entry,
//! and an incomplete entry that is followed by another one was damaged later.
//! **Invariant:** an incomplete last entry was never reported as durable; reading leaves it out.

mod file;
pub(crate) mod frame;
mod memory;

pub use file::LocalJournal;
pub use memory::MemoryJournal;

use crate::store::StoreError;

/// A store of a sequence of entries, each durable when its call returns. There is one writer at a time, the holder
/// of the state's lock.
pub trait JournalStore: Send + Sync {
    /// Returns all complete entries. `None` if there is no journal.
    ///
    /// # Errors
    /// Returns [`StoreError::Damaged`] if an incomplete entry is followed by another one,
    /// [`StoreError::NewerJournal`] for an unknown format, or [`StoreError::Io`].
    /// format that does not exist yet, [`StoreError::Io`].
    fn read(&self) -> Result<Option<Vec<Vec<u8>>>, StoreError>;

    /// Starts a journal with one entry. It replaces an existing journal, which stays in place until the new one is
    /// durable.
    ///
    /// # Errors
    /// Returns [`StoreError::Io`]; the old journal is then unchanged.
    fn start(&self, entry: &[u8]) -> Result<(), StoreError>;

    /// Appends an entry to the journal that this store has started.
    ///
    /// # Errors
    /// Returns [`StoreError::Io`]; the journal then has all earlier entries and not this one.
    fn append(&self, entry: &[u8]) -> Result<(), StoreError>;

    /// Removes the journal, if there is one.
    ///
    /// # Errors
    /// Returns [`StoreError::Io`]; the journal then still exists.
    fn remove(&self) -> Result<(), StoreError>;

    /// The location of the journal for messages.
    fn place(&self) -> String;
}
