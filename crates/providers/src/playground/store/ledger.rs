//! The ledger: the calls of the provider and their effects, one JSON object per line.

use std::{
    fs::{self, File, OpenOptions},
    io::{self, Write},
    os::unix::fs::{FileExt, OpenOptionsExt},
    path::{Path, PathBuf},
    sync::{Mutex, PoisonError},
};

use serde::{Deserialize, Serialize};
use sorted::TreeMap;

use super::StoreError;

/// A line of the ledger. It never holds a secret, only fingerprints of secrets.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct Entry {
    /// The time, RFC 3339 with microseconds. Set when the entry is written.
    #[serde(default)]
    pub time: String,
    /// The process id. Set when the entry is written.
    #[serde(default)]
    pub pid: u32,
    /// `rpc` for a call; for an effect `created`, `updated`, `deleted`, `opened`, `renewed`, `closed`, `expired`,
    /// `configured` or `faulted`.
    pub event: String,
    /// The call, such as `plan` or `open`. Only for `rpc` and `faulted`.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub rpc: String,
    /// The type name, if there is one.
    #[serde(default, rename = "type", skip_serializing_if = "String::is_empty")]
    pub type_name: String,
    /// The name of the object, if it is known.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub name: String,
    /// The id of the object, if it has one.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub id: String,
    /// The fingerprints of received secrets by attribute.
    #[serde(default, skip_serializing_if = "TreeMap::is_empty")]
    pub received: TreeMap<String, String>,
    /// Further information.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub note: String,
}

impl Entry {
    /// Creates the entry of a call.
    #[must_use]
    pub fn rpc(rpc: &str, type_name: &str, name: &str) -> Entry {
        Entry { rpc: rpc.into(), ..Entry::effect("rpc", type_name, name) }
    }

    /// Creates the entry of an effect.
    #[must_use]
    pub fn effect(event: &str, type_name: &str, name: &str) -> Entry {
        Entry {
            event: event.into(),
            type_name: type_name.into(),
            name: name.into(),
            ..Entry::default()
        }
    }

    /// Returns the entry with the id of its object.
    #[must_use]
    pub fn with_id(mut self, id: &str) -> Entry {
        self.id = id.to_owned();
        self
    }
}

/// An open ledger.
pub struct Ledger {
    path: PathBuf,
    file: Mutex<File>,
}

impl Ledger {
    pub(super) fn open(root: &Path) -> Result<Ledger, StoreError> {
        let path = root.join("ledger.jsonl");
        let mut options = OpenOptions::new();
        let open = options.read(true).append(true).create(true).mode(0o600).open(&path);
        let file = open.map_err(|source| StoreError::Io { path: path.clone(), source })?;
        Ok(Ledger { path, file: Mutex::new(file) })
    }

    /// Appends a line. Lines of different processes do not mix, because each is written under the file's lock.
    ///
    /// A process that is killed while it writes can leave a part of its line. That part is removed first.
    ///
    /// # Errors
    /// If the file cannot be read or written.
    pub fn write(&self, entry: &Entry) -> Result<(), StoreError> {
        let stamped = Entry {
            time: jiff::Timestamp::now().to_string(),
            pid: std::process::id(),
            ..entry.clone()
        };
        let mut line = serde_json::to_vec(&stamped).expect("strings are JSON");
        line.push(b'\n');
        let mut file = self.file.lock().unwrap_or_else(PoisonError::into_inner);
        let lock = |operation| rustix::fs::flock(&*file, operation).map_err(io::Error::from);
        let written = lock(rustix::fs::FlockOperation::LockExclusive)
            .and_then(|()| remove_incomplete_line(&file))
            .and_then(|()| (&*file).write_all(&line));
        let unlocked = lock(rustix::fs::FlockOperation::Unlock);
        written.and(unlocked).and_then(|()| file.flush()).map_err(|source| self.failed(source))
    }

    /// Reads all lines. An incomplete last line is left out.
    ///
    /// # Errors
    /// If the file cannot be read or a line is not an entry.
    pub fn entries(&self) -> Result<Vec<Entry>, StoreError> {
        Ledger::read(&self.path)
    }

    /// Reads all lines of the ledger file at `path`. Empty if there is no file.
    ///
    /// # Errors
    /// If the file cannot be read or a line is not an entry.
    pub fn read(path: &Path) -> Result<Vec<Entry>, StoreError> {
        let text = match fs::read_to_string(path) {
            Ok(text) => text,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            Err(source) => return Err(StoreError::Io { path: path.to_owned(), source }),
        };
        let whole = text.split_inclusive('\n').filter(|line| line.ends_with('\n'));
        let parse = |line| serde_json::from_str(line);
        whole.map(parse).collect::<Result<_, _>>().map_err(|error| StoreError::Damaged {
            path: path.to_owned(),
            reason: error.to_string(),
        })
    }

    fn failed(&self, source: io::Error) -> StoreError {
        StoreError::Io { path: self.path.clone(), source }
    }
}

/// Shortens the file to its last complete line.
fn remove_incomplete_line(file: &File) -> io::Result<()> {
    let length = file.metadata()?.len();
    let mut end = length;
    let mut byte = [0];
    while end > 0 {
        file.read_exact_at(&mut byte, end - 1)?;
        if byte == *b"\n" {
            break;
        }
        end -= 1;
    }
    if end == length { Ok(()) } else { file.set_len(end) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn incomplete_line_of_a_killed_process_is_removed_by_the_next() {
        let directory = tempfile::tempdir().expect("a directory");
        let path = directory.path().join("ledger.jsonl");
        for complete in 0..3 {
            let ledger = Ledger::open(directory.path()).expect("opens");
            ledger.write(&Entry::rpc("plan", "t", "a")).expect("writes");
            let mut text = fs::read_to_string(&path).expect("reads");
            text.push_str(r#"{"time":"2026-11-26T00:00:00Z","eve"#);
            fs::write(&path, text).expect("writes");
            assert_eq!(Ledger::read(&path).expect("reads").len(), complete + 1);
        }
    }

    #[test]
    fn concurrent_ledger_writers_lose_no_line() {
        let directory = tempfile::tempdir().expect("a directory");
        std::thread::scope(|scope| {
            for writer in 0..4 {
                let root = directory.path();
                scope.spawn(move || {
                    let ledger = Ledger::open(root).expect("opens");
                    for _ in 0..50 {
                        ledger
                            .write(&Entry::rpc("plan", "t", &writer.to_string()))
                            .expect("writes");
                    }
                });
            }
        });
        let entries = Ledger::read(&directory.path().join("ledger.jsonl")).expect("reads");
        assert_eq!(entries.len(), 200);
        assert!(
            entries.iter().all(|it| it.rpc == "plan" && it.event == "rpc" && !it.time.is_empty())
        );
    }
}
