//! A journal beside a state: entries of opaque bytes, each durable before its call returns.
//!
//! A journal is always a file of this machine, also where the state is remote: it is what a run that was killed here
//! leaves to the next one here. So its calls simply wait for the disk; who must not wait has a thread for it.
//!
//! ```text
//!   start(entry) ─► append(entry) ─► append(entry) ─► …  ─► start(entry)   what is left, in place of everything before
//!                                                        └► remove()
//! ```
//!
//! **Invariant:** an entry is durable before the next one is begun. So only the last one can be cut off by a crash, and an
//! entry that is not whole although another one follows was damaged later.
//! **Invariant:** what is cut off at the end was never said to be durable; reading leaves it out.

mod file;
pub(crate) mod frame;
mod memory;

pub use file::LocalJournal;
pub use memory::MemoryJournal;

use crate::store::StoreError;

/// A place that keeps a sequence of entries, each durable when its call has returned. One writer at a time; who holds the
/// state's lock is the one.
pub trait JournalStore: Send + Sync {
    /// All entries that are whole. `None` where there is no journal.
    ///
    /// # Errors
    /// [`StoreError::Damaged`] where an entry is not whole although another one follows, [`StoreError::NewerJournal`] for a
    /// format that does not exist yet, [`StoreError::Io`].
    fn read(&self) -> Result<Option<Vec<Vec<u8>>>, StoreError>;

    /// Begins a journal with one entry, in the place of whatever is there: until this is durable, the old one is.
    ///
    /// # Errors
    /// [`StoreError::Io`]; the old journal is untouched then.
    fn start(&self, entry: &[u8]) -> Result<(), StoreError>;

    /// Adds an entry to the journal that this store has started.
    ///
    /// # Errors
    /// [`StoreError::Io`]; the entry is not in the journal then, and the ones before it are.
    fn append(&self, entry: &[u8]) -> Result<(), StoreError>;

    /// Removes the journal, if there is one.
    ///
    /// # Errors
    /// [`StoreError::Io`]; the journal is still there then.
    fn remove(&self) -> Result<(), StoreError>;

    /// How people find it.
    fn place(&self) -> String;
}
