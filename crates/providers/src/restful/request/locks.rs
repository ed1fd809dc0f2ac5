//! Named locks of this process, by which prechecks let one operation at a time touch an API.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::OwnedMutexGuard;

use super::pause::{Stopped, unless_stopped};
use mayfly_sdk::Stop;

type Lock = Arc<tokio::sync::Mutex<()>>;

/// The locks that are held or waited for.
static LOCKS: Mutex<BTreeMap<String, Lock>> = Mutex::new(BTreeMap::new());

fn locks() -> MutexGuard<'static, BTreeMap<String, Lock>> {
    LOCKS.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The locks of one operation. Dropping it releases them, the last one first, so an operation that fails or is
/// dropped holds none.
#[derive(Default)]
pub struct HeldLocks(Vec<HeldLock>);

struct HeldLock {
    // Fields are dropped in this order: the lock is free before its entry is removed.
    _guard: OwnedMutexGuard<()>,
    entry: Entry,
}

impl HeldLocks {
    /// Creates a set without locks.
    pub fn new() -> HeldLocks {
        HeldLocks::default()
    }

    /// Waits until no other operation holds the lock of a name, and takes it. A name that the operation already
    /// holds is no wait, because it would never end.
    ///
    /// # Errors
    /// Returns [`Stopped`] if the core asks to stop. The locks that were taken before are still held.
    pub async fn acquire(&mut self, name: &str, stop: &mut Stop) -> Result<(), Stopped> {
        if self.0.iter().any(|it| it.entry.name == name) {
            return Ok(());
        }
        let entry = Entry::new(name);
        let Some(lock) = entry.lock.clone() else { return Ok(()) };
        let guard = unless_stopped(stop, lock.lock_owned()).await?;
        self.0.push(HeldLock { _guard: guard, entry });
        Ok(())
    }
}

impl Drop for HeldLocks {
    fn drop(&mut self) {
        while self.0.pop().is_some() {}
    }
}

/// An interest in a lock. The last one removes the lock from the table, so that the table stays small.
struct Entry {
    name: String,
    /// `None` only while it is dropped.
    lock: Option<Lock>,
}

impl Entry {
    fn new(name: &str) -> Entry {
        let lock = locks().entry(name.to_owned()).or_default().clone();
        Entry { name: name.to_owned(), lock: Some(lock) }
    }
}

impl Drop for Entry {
    fn drop(&mut self) {
        let mut locks = locks();
        self.lock = None;
        if locks.get(&self.name).is_some_and(|it| Arc::strong_count(it) == 1) {
            locks.remove(&self.name);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use tokio::time::{sleep, timeout};

    use super::*;
    use mayfly_sdk::Stopper;

    async fn held(name: &str) -> HeldLocks {
        let mut held = HeldLocks::new();
        held.acquire(name, &mut Stopper::new().stop()).await.expect("the lock");
        held
    }

    #[tokio::test(start_paused = true)]
    async fn second_operation_waits_for_the_first() {
        let first = held("waits").await;
        let mut second = Box::pin(held("waits"));
        assert!(timeout(Duration::from_secs(9), &mut second).await.is_err());
        drop(held("other").await);
        drop(first);
        drop(second.await);
        assert!(!locks().contains_key("waits") && !locks().contains_key("other"));
    }

    #[tokio::test(start_paused = true)]
    async fn lock_is_free_after_a_failed_operation() {
        async fn failing() -> Result<(), &'static str> {
            let _held = held("fails").await;
            Err("the precheck fails")
        }
        failing().await.expect_err("it fails");
        let running = tokio::spawn(async {
            let _held = held("fails").await;
            std::future::pending::<()>().await;
        });
        sleep(Duration::from_secs(1)).await;
        running.abort();
        assert!(running.await.expect_err("aborted").is_cancelled());
        timeout(Duration::from_secs(1), held("fails")).await.expect("the lock is free");
        assert!(!locks().contains_key("fails"));
    }

    #[tokio::test(start_paused = true)]
    async fn waiting_operation_can_be_stopped() {
        let first = held("stops").await;
        let stopper = Stopper::new();
        let mut stop = stopper.stop();
        let waiting =
            tokio::spawn(async move { HeldLocks::new().acquire("stops", &mut stop).await });
        sleep(Duration::from_secs(1)).await;
        stopper.fire();
        assert_eq!(waiting.await.expect("no panic"), Err(Stopped));
        drop(first);
        assert!(!locks().contains_key("stops"));
    }

    #[tokio::test(start_paused = true)]
    async fn second_acquisition_by_the_holder_does_not_wait() {
        let mut held = held("twice").await;
        held.acquire("twice", &mut Stopper::new().stop()).await.expect("no wait");
        assert_eq!(held.0.len(), 1);
    }
}
