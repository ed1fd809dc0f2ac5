//! A journal in memory, for tests.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::journal::JournalStore;
use crate::store::StoreError;

/// A journal in memory, which counts its syncs. Clones share their content.
#[derive(Clone, Default)]
pub struct MemoryJournal {
    shared: Arc<Mutex<Shared>>,
}

#[derive(Default)]
struct Shared {
    entries: Option<Vec<Vec<u8>>>,
    syncs: usize,
    is_full: bool,
}

impl MemoryJournal {
    fn shared(&self) -> MutexGuard<'_, Shared> {
        self.shared.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The number of syncs.
    pub fn syncs(&self) -> usize {
        self.shared().syncs
    }

    /// Makes all later writes fail, as on a full disk, or succeed again.
    pub fn fill(&self, is_full: bool) {
        self.shared().is_full = is_full;
    }

    fn write(
        &self,
        entry: &[u8],
        change: impl FnOnce(&mut Shared, Vec<u8>),
    ) -> Result<(), StoreError> {
        let mut shared = self.shared();
        if shared.is_full {
            let full = std::io::ErrorKind::StorageFull.into();
            return Err(StoreError::io("write", "memory".as_ref())(full));
        }
        shared.syncs += 1;
        change(&mut shared, entry.to_vec());
        Ok(())
    }
}

impl JournalStore for MemoryJournal {
    fn read(&self) -> Result<Option<Vec<Vec<u8>>>, StoreError> {
        Ok(self.shared().entries.clone())
    }

    fn start(&self, entry: &[u8]) -> Result<(), StoreError> {
        self.write(entry, |shared, entry| shared.entries = Some(vec![entry]))
    }

    fn append(&self, entry: &[u8]) -> Result<(), StoreError> {
        self.write(entry, |shared, entry| shared.entries.get_or_insert_default().push(entry))
    }

    fn remove(&self) -> Result<(), StoreError> {
        self.shared().entries = None;
        Ok(())
    }

    fn place(&self) -> String {
        "memory".to_owned()
    }
}
