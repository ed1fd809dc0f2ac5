//! A journal in a file.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use rustix::fs::{FlockOperation, flock};

use crate::journal::JournalStore;
use crate::journal::frame::{self, Reading};
use crate::local::atomic::{Replacement, directory_of, sweep, sync_directory};
use crate::local::{check_directory, open_without_waiting, read_regular, resolve_links};
use crate::store::StoreError;

/// A journal in one file with access for its owner only.
pub struct LocalJournal {
    path: PathBuf,
    /// True if the file is locked while it is written, so that other processes can detect whether its process is
    /// alive.
    is_claimed: bool,
    open: Mutex<Option<Open>>,
}

/// The journal that this process is writing.
struct Open {
    file: File,
    length: u64,
    next: u32,
    /// True if the content on the disk is unknown after a failed write.
    is_lost: bool,
}

impl LocalJournal {
    /// Creates a journal at this path without opening it.
    pub fn new(path: impl Into<PathBuf>) -> Self {
        Self { path: path.into(), is_claimed: false, open: Mutex::default() }
    }

    /// Creates a journal beside a state for a process that holds no lock on that state. There may be several; `id`
    /// distinguishes them.
    pub fn of_watcher(state: &Path, id: &str) -> Self {
        let mut path = resolve_links(state).into_os_string();
        path.push(format!("{WATCHER}{id}"));
        Self { is_claimed: true, ..Self::new(path) }
    }

    /// Claims the journals of watchers whose processes have ended.
    pub fn of_dead_watchers(state: &Path) -> Vec<ClaimedJournal> {
        let state = resolve_links(state);
        let prefix =
            format!("{}{WATCHER}", state.file_name().unwrap_or_default().to_string_lossy());
        let Ok(entries) = std::fs::read_dir(directory_of(&state)) else { return Vec::new() };
        let named =
            entries.flatten().filter(|it| it.file_name().to_string_lossy().starts_with(&prefix));
        let mut paths: Vec<PathBuf> = named.map(|it| it.path()).collect();
        paths.sort();
        paths.into_iter().filter_map(ClaimedJournal::claim).collect()
    }

    /// Creates the journal of a local state. Its file is beside the state, and the usual ignore patterns for
    /// states (`*.tfstate.*`) keep it out of version control.
    pub fn beside(state: &Path) -> Self {
        Self::new(Self::path_beside(state))
    }

    /// The file of the journal of a local state.
    pub fn path_beside(state: &Path) -> PathBuf {
        let mut path = resolve_links(state).into_os_string();
        path.push(".journal");
        path.into()
    }

    /// Checks that the journal can be created. Missing permissions are an error.
    pub fn check_writable(&self) -> Result<(), StoreError> {
        check_directory(&self.path)
    }

    fn open(&self) -> MutexGuard<'_, Option<Open>> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn framed(&self, number: u32, entry: &[u8]) -> Result<Vec<u8>, StoreError> {
        let too_long = || io::Error::new(io::ErrorKind::FileTooLarge, "the entry is too long");
        frame::frame(number, entry).ok_or_else(|| StoreError::io("write", &self.path)(too_long()))
    }
}

/// The part of a watcher's journal name that follows the name of the state.
const WATCHER: &str = ".watch-";

/// The journal of a process that has ended. It is locked for other processes while this value lives.
pub struct ClaimedJournal {
    /// The journal.
    pub journal: LocalJournal,
    _claim: File,
}

impl ClaimedJournal {
    fn claim(path: PathBuf) -> Option<Self> {
        let file = open_without_waiting(&path).ok()?;
        flock(&file, FlockOperation::NonBlockingLockExclusive).ok()?;
        // Another process may have claimed and removed it before.
        let is_there = path.exists();
        is_there.then(|| Self { journal: LocalJournal::new(path), _claim: file })
    }
}

impl JournalStore for LocalJournal {
    fn read(&self) -> Result<Option<Vec<Vec<u8>>>, StoreError> {
        let bytes = match read_regular(&self.path) {
            Ok(bytes) => bytes,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(StoreError::io("read", &self.path)(error)),
        };
        let path = self.path.clone();
        match frame::read(&bytes) {
            Reading::Entries(entries) => Ok(Some(entries)),
            Reading::Damaged { offset } => Err(StoreError::Damaged { path, offset }),
            Reading::Newer { format } => Err(StoreError::NewerJournal { path, format }),
        }
    }

    fn start(&self, entry: &[u8]) -> Result<(), StoreError> {
        let mut open = self.open();
        let bytes = self.framed(0, entry)?;
        sweep(&self.path);
        let mut file = Replacement::create(&self.path)?;
        file.write(&bytes)?;
        if self.is_claimed {
            // On a file system without such locks, no other process can claim the journal either.
            let _ = flock(file.file(), FlockOperation::NonBlockingLockExclusive);
        }
        let file = file.put_in_place()?;
        *open = Some(Open { file, length: bytes.len() as u64, next: 1, is_lost: false });
        Ok(())
    }

    fn append(&self, entry: &[u8]) -> Result<(), StoreError> {
        let mut open = self.open();
        let failed = StoreError::io("write", &self.path);
        let Some(open) = open.as_mut().filter(|it| !it.is_lost) else {
            return Err(failed(io::Error::other("an earlier entry could not be written")));
        };
        let bytes = self.framed(open.next, entry)?;
        if let Err(error) = open.file.write_all_at(&bytes, open.length) {
            // Later entries must not follow an incomplete one.
            open.is_lost = open.file.set_len(open.length).is_err();
            return Err(failed(error));
        }
        if let Err(error) = open.file.sync_data() {
            // After a failed sync, the system may report success although data is lost.
            open.is_lost = true;
            return Err(failed(error));
        }
        open.length += bytes.len() as u64;
        open.next += 1;
        Ok(())
    }

    fn remove(&self) -> Result<(), StoreError> {
        *self.open() = None;
        match std::fs::remove_file(&self.path) {
            Ok(()) => sync_directory(directory_of(&self.path))
                .map_err(StoreError::io("write", directory_of(&self.path))),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
            Err(error) => Err(StoreError::io("remove", &self.path)(error)),
        }
    }

    fn place(&self) -> String {
        self.path.display().to_string()
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use tempfile::TempDir;

    use super::*;

    fn place() -> (TempDir, LocalJournal) {
        let directory = tempfile::tempdir().expect("a temporary directory");
        let journal = LocalJournal::beside(&directory.path().join("terraform.tfstate"));
        (directory, journal)
    }

    fn entries(journal: &LocalJournal) -> Option<Vec<Vec<u8>>> {
        LocalJournal::new(journal.path.clone()).read().expect("reads")
    }

    #[test]
    fn journal_entries_persist_until_the_journal_is_removed() {
        let (directory, journal) = place();
        assert_eq!(entries(&journal), None);
        journal.start(b"one").expect("starts");
        journal.append(b"two").expect("appends");
        assert_eq!(entries(&journal), Some(vec![b"one".to_vec(), b"two".to_vec()]));
        let path = directory.path().join("terraform.tfstate.journal");
        let mode = std::fs::metadata(&path).expect("is there").permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
        journal.start(b"three").expect("starts anew");
        journal.append(b"four").expect("appends");
        assert_eq!(entries(&journal), Some(vec![b"three".to_vec(), b"four".to_vec()]));
        journal.remove().expect("removes");
        journal.remove().expect("is gone");
        assert_eq!(std::fs::read_dir(directory.path()).expect("lists").count(), 0);
    }

    #[test]
    fn journal_of_a_dead_watcher_is_found() {
        let (directory, _) = place();
        let state = directory.path().join("terraform.tfstate");
        let dead = || LocalJournal::of_dead_watchers(&state);
        let watcher = LocalJournal::of_watcher(&state, "one");
        watcher.start(b"one").expect("starts");
        watcher.append(b"two").expect("appends");
        assert!(dead().is_empty(), "it lives");
        assert_eq!(LocalJournal::beside(&state).read().expect("reads"), None, "it is another one");
        // Dropping the journal releases its lock, as the end of its process does.
        drop(watcher);
        let found = dead();
        assert!(dead().is_empty(), "nobody else has it");
        let [found] = &*found else { panic!("there is one") };
        let entries = found.journal.read().expect("reads");
        assert_eq!(entries, Some(vec![b"one".to_vec(), b"two".to_vec()]));
        found.journal.remove().expect("removes");
        assert_eq!(std::fs::read_dir(directory.path()).expect("lists").count(), 0);
    }

    #[test]
    fn entries_are_not_appended_after_a_torn_journal() {
        let (directory, journal) = place();
        journal.start(b"one").expect("starts");
        let path = directory.path().join("terraform.tfstate.journal");
        let length = std::fs::metadata(&path).expect("is there").len();
        let file = File::options().write(true).open(&path).expect("opens");
        file.write_all_at(b"MFJ\x01\x01", length).expect("writes");
        assert_eq!(entries(&journal), Some(vec![b"one".to_vec()]));
        let next = LocalJournal::new(&path);
        assert!(next.append(b"two").is_err(), "it has not begun one");
        next.start(b"one").expect("starts");
        next.append(b"two").expect("appends");
        assert_eq!(entries(&next), Some(vec![b"one".to_vec(), b"two".to_vec()]));
    }

    #[test]
    fn failed_append_leaves_the_journal_unchanged() {
        // A write to `/dev/full` fails like one to a full disk.
        let full = File::options().write(true).open("/dev/full");
        let Ok(file) = full else { return };
        let journal = LocalJournal::new("/dev/full");
        *journal.open() = Some(Open { file, length: 0, next: 1, is_lost: false });
        let error = journal.append(b"two").expect_err("the disk is full");
        assert!(
            matches!(&error, StoreError::Io { source, .. } if source.kind() == io::ErrorKind::StorageFull)
        );
    }

    #[test]
    fn damaged_journal_error_names_the_position() {
        let (directory, journal) = place();
        journal.start(b"one").expect("starts");
        journal.append(b"two").expect("appends");
        let path = directory.path().join("terraform.tfstate.journal");
        let mut bytes = std::fs::read(&path).expect("is there");
        bytes[21] ^= 1;
        std::fs::write(&path, bytes).expect("is ours");
        let error = journal.read().expect_err("is damaged").to_string();
        assert!(error.contains("terraform.tfstate.journal is damaged at byte 0"), "{error}");
    }
}
