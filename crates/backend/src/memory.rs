//! A state store in memory, for tests.

use std::sync::{Arc, Mutex, PoisonError};

use crate::lock::LockInfo;
use crate::store::{BoxFuture, Expected, Generation, HeldLock, Snapshot, StateStore, StoreError};

/// A store in memory. Clones share their content, like two processes that use one file.
#[derive(Clone, Default)]
pub struct MemoryStore {
    shared: Arc<Mutex<Shared>>,
}

#[derive(Default)]
struct Shared {
    bytes: Option<Vec<u8>>,
    generation: u64,
    lock: Option<LockInfo>,
}

impl Shared {
    fn snapshot(&self) -> Option<Snapshot> {
        let bytes = self.bytes.clone()?;
        Some(Snapshot { bytes, generation: Generation::new(self.generation.to_string()) })
    }

    fn write(&mut self, bytes: &[u8], expected: Expected) -> Result<Generation, StoreError> {
        let holds = match expected {
            Expected::Missing => self.bytes.is_none(),
            Expected::At(generation) => {
                self.bytes.is_some() && generation.as_str() == self.generation.to_string()
            }
            Expected::Anything => true,
        };
        if !holds {
            return Err(StoreError::Conflict);
        }
        self.generation += 1;
        self.bytes = Some(bytes.to_vec());
        Ok(Generation::new(self.generation.to_string()))
    }
}

impl MemoryStore {
    fn with<T>(&self, f: impl FnOnce(&mut Shared) -> T) -> T {
        f(&mut self.shared.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl StateStore for MemoryStore {
    fn read(&self) -> BoxFuture<'_, Result<Option<Snapshot>, StoreError>> {
        Box::pin(async { Ok(self.with(|it| it.snapshot())) })
    }

    fn write<'a>(
        &'a self,
        bytes: &'a [u8],
        expected: Expected,
    ) -> BoxFuture<'a, Result<Generation, StoreError>> {
        Box::pin(async { self.with(|it| it.write(bytes, expected)) })
    }

    fn check_writable(&self) -> BoxFuture<'_, Result<(), StoreError>> {
        Box::pin(std::future::ready(Ok(())))
    }

    fn lock(&self, info: LockInfo) -> BoxFuture<'_, Result<Box<dyn HeldLock>, StoreError>> {
        Box::pin(async {
            self.with(|it| match &it.lock {
                Some(holder) => Err(StoreError::Locked {
                    cause: "the state is locked".to_owned(),
                    holder: Some(Box::new(holder.clone())),
                }),
                None => {
                    it.lock = Some(info.clone());
                    Ok(())
                }
            })?;
            Ok(Box::new(MemoryLock { store: self.clone(), info }) as Box<dyn HeldLock>)
        })
    }

    fn force_unlock<'a>(&'a self, id: &'a str) -> BoxFuture<'a, Result<(), StoreError>> {
        Box::pin(async move {
            self.with(|it| {
                let existing = &it.lock.as_ref().ok_or(StoreError::NotLocked)?.id;
                if existing != id {
                    let existing = Some(existing.clone());
                    return Err(StoreError::LockId { given: id.to_owned(), existing });
                }
                it.lock = None;
                Ok(())
            })
        })
    }
}

struct MemoryLock {
    store: MemoryStore,
    info: LockInfo,
}

impl std::fmt::Debug for MemoryLock {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "MemoryLock({})", self.info.id)
    }
}

impl HeldLock for MemoryLock {
    fn info(&self) -> &LockInfo {
        &self.info
    }

    fn release(self: Box<Self>) -> BoxFuture<'static, Result<(), StoreError>> {
        Box::pin(async { Ok(()) })
    }
}

impl Drop for MemoryLock {
    fn drop(&mut self) {
        self.store.with(|it| it.lock.take_if(|lock| lock.id == self.info.id));
    }
}

#[cfg(test)]
mod tests {
    use futures::executor::block_on;

    use super::*;

    #[test]
    fn memory_store_write_requires_the_current_generation() {
        let store = MemoryStore::default();
        let first = block_on(store.write(b"1", Expected::Missing)).expect("nothing is there");
        assert!(matches!(
            block_on(store.write(b"2", Expected::Missing)),
            Err(StoreError::Conflict)
        ));
        let second = block_on(store.write(b"2", Expected::At(first.clone()))).expect("unchanged");
        assert!(matches!(
            block_on(store.write(b"3", Expected::At(first))),
            Err(StoreError::Conflict)
        ));
        let read = block_on(store.read()).expect("memory").expect("written");
        assert_eq!((read.bytes.as_slice(), &read.generation), (b"2".as_slice(), &second));
        assert_eq!(format!("{read:?}"), "Snapshot(1 bytes at Generation(\"2\"))");
    }

    #[test]
    fn dropped_memory_lock_is_released() {
        let store = MemoryStore::default();
        let lock = |id: &str| LockInfo { id: id.into(), ..LockInfo::default() };
        let held = block_on(store.lock(lock("a"))).expect("free");
        assert!(block_on(store.clone().lock(lock("b"))).is_err());
        drop(held);
        block_on(block_on(store.lock(lock("b"))).expect("free").release()).expect("memory");
        assert!(matches!(block_on(store.force_unlock("b")), Err(StoreError::NotLocked)));
    }
}
