//! The owner information of a lock, and waiting for a lock.

use std::fmt;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::store::{HeldLock, StateStore, StoreError};

/// The owner of a lock. Its JSON form, including the order of the keys, is the one that other tools use.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "PascalCase", default)]
pub struct LockInfo {
    /// A UUID, which `force-unlock` requires.
    #[serde(rename = "ID")]
    pub id: String,
    /// The operation, such as `OperationTypeApply`.
    pub operation: String,
    /// Free text.
    pub info: String,
    /// `user@host`.
    pub who: String,
    /// The version of the program.
    pub version: String,
    /// The creation time, RFC 3339 in UTC.
    pub created: String,
    /// The store's name of the state, which the store sets.
    pub path: String,
}

impl LockInfo {
    /// Creates the information for a lock. The caller provides the time and the host.
    pub fn new(id: String, operation: &str, who: String, version: &str, created: String) -> Self {
        Self {
            id,
            operation: operation.to_owned(),
            who,
            version: version.to_owned(),
            created,
            ..Self::default()
        }
    }

    /// The content of a lock file.
    pub fn to_json(&self) -> String {
        serde_json::to_string(self).expect("a struct of strings is always valid JSON")
    }

    /// Parses a lock file. `None` if it is damaged; a lock is valid without readable owner information.
    pub fn from_json(bytes: &[u8]) -> Option<Self> {
        serde_json::from_slice(bytes).ok()
    }
}

impl Default for LockInfo {
    fn default() -> Self {
        let empty = String::new;
        Self {
            id: empty(),
            operation: empty(),
            info: empty(),
            who: empty(),
            version: empty(),
            // Go's zero time, which other tools show for a lock without a time.
            created: "0001-01-01T00:00:00Z".to_owned(),
            path: empty(),
        }
    }
}

/// The block that follows "Error acquiring the state lock".
impl fmt::Display for LockInfo {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "Lock Info:")?;
        writeln!(f, "  ID:        {}", self.id)?;
        writeln!(f, "  Path:      {}", self.path)?;
        writeln!(f, "  Operation: {}", self.operation)?;
        writeln!(f, "  Who:       {}", self.who)?;
        writeln!(f, "  Version:   {}", self.version)?;
        writeln!(f, "  Created:   {}", go_time(&self.created))?;
        writeln!(f, "  Info:      {}", self.info)
    }
}

/// Converts `2026-01-02T03:04:05.6Z` to the format of Go's `Time.String`. Any other text stays the same.
fn go_time(rfc3339: &str) -> String {
    let utc = rfc3339.strip_suffix('Z').and_then(|it| it.split_once('T'));
    utc.map_or_else(|| rfc3339.to_owned(), |(date, time)| format!("{date} {time} +0000 UTC"))
}

/// Takes the lock. Retries after 1, 2, 4 … 16 seconds until `timeout` has passed.
///
/// `sleep` waits. The caller provides it, so that an interrupt can end the wait by dropping this future and tests
/// need no clock.
///
/// # Errors
/// Returns the last [`StoreError::Locked`], or the first error of another kind.
pub async fn acquire<S, F>(
    store: &dyn StateStore,
    info: LockInfo,
    timeout: Duration,
    sleep: S,
) -> Result<Box<dyn HeldLock>, StoreError>
where
    S: Fn(Duration) -> F,
    F: Future<Output = ()>,
{
    let mut left = timeout;
    let mut pause = Duration::from_secs(1);
    loop {
        match store.lock(info.clone()).await {
            Err(StoreError::Locked { .. }) if !left.is_zero() => {}
            answer => return answer,
        }
        let wait = pause.min(left);
        sleep(wait).await;
        left -= wait;
        pause = (pause * 2).min(Duration::from_secs(16));
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use expect_test::expect;
    use futures::executor::block_on;

    use super::*;
    use crate::MemoryStore;

    fn sample() -> LockInfo {
        let created = "2026-11-21T14:37:02.572187062Z".to_owned();
        LockInfo::new("some-id".into(), "OperationTypeApply", "a@b".into(), "1.12.6", created)
    }

    #[test]
    fn lock_info_json_equals_that_of_opentofu() {
        let text = sample().to_json();
        expect![[r#"{"ID":"some-id","Operation":"OperationTypeApply","Info":"","Who":"a@b","Version":"1.12.6","Created":"2026-11-21T14:37:02.572187062Z","Path":""}"#]]
        .assert_eq(&text);
        assert_eq!(LockInfo::from_json(text.as_bytes()), Some(sample()));
        assert_eq!(LockInfo::from_json(b"{\"ID\": 7"), None);
    }

    #[test]
    fn lock_info_is_printed_as_a_block() {
        expect![[r#"
            Lock Info:
              ID:        some-id
              Path:      
              Operation: OperationTypeApply
              Who:       a@b
              Version:   1.12.6
              Created:   2026-11-21 14:37:02.572187062 +0000 UTC
              Info:      
        "#]]
        .assert_eq(&sample().to_string());
    }

    #[test]
    fn lock_wait_doubles_its_pauses_and_reports_the_holder() {
        let store = MemoryStore::default();
        let _held = block_on(store.lock(sample())).expect("the lock is free");
        let pauses = Mutex::new(Vec::new());
        let answer = block_on(acquire(&store, sample(), Duration::from_secs(40), |pause| {
            pauses.lock().expect("one thread").push(pause.as_secs());
            std::future::ready(())
        }));
        let Err(StoreError::Locked { holder: Some(holder), .. }) = answer else {
            panic!("the lock is held: {answer:?}")
        };
        assert_eq!(holder.id, "some-id");
        assert_eq!(pauses.into_inner().expect("one thread"), [1, 2, 4, 8, 16, 9]);
    }
}
