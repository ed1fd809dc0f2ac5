//! Records what functions read from files, so that a later plan, or the apply of a saved plan, can check that it
//! would read the same.
//!
//! **Invariant:** only a keyed hash of file contents is kept, because the contents may be secret.

use std::{
    io,
    path::{Path, PathBuf},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::SystemTime,
};

use addr::ResourceInstance;
use db::{DirectoryEntry, System};
use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;
use sorted::{TreeMap, TreeSet};
use state::{Action, Plan, PlannedFile, PlannedFiles, ResourceChange};

use crate::memo::process_key;

/// A [`System`] that records all file operations.
pub(crate) struct Observed {
    system: Arc<dyn System>,
    key: [u8; 32],
    answers: Mutex<TreeMap<(Question, PathBuf), Known>>,
    /// The resource instance whose configuration is being evaluated.
    reader: Mutex<Option<ResourceInstance>>,
}

/// A recorded result, and the readers that received it.
struct Known {
    answer: Answer,
    is_found: bool,
    /// True if anything but the configuration of a resource instance read it.
    is_shared: bool,
    instances: TreeSet<ResourceInstance>,
}

/// A file operation.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Question {
    Content,
    Entries,
    IsDirectory,
    IsFile,
}

type Answer = [u8; 32];

impl Observed {
    pub(crate) fn new(system: Arc<dyn System>) -> Observed {
        let reader = Mutex::default();
        Observed { system, key: process_key(), answers: Mutex::default(), reader }
    }

    /// Evaluates the configuration of `instance`, and records `instance` as the reader of all files read
    /// meanwhile.
    pub(crate) fn read_by<T>(
        &self,
        instance: &ResourceInstance,
        evaluate: impl FnOnce() -> T,
    ) -> T {
        *self.lock_reader() = Some(instance.clone());
        let evaluated = evaluate();
        *self.lock_reader() = None;
        evaluated
    }

    /// Returns the files that an apply of `plan` reads again. Excludes files read only for instances without
    /// changes, because their configurations are not evaluated again, and files below `temp`, because the plan
    /// contains them.
    pub(crate) fn read_again(&self, plan: &Plan, temp: &str) -> PlannedFiles {
        let is_evaluated =
            |it: &ResourceChange| it.change.action != Action::NoOp && it.deposed.is_none();
        let changes = plan.changes();
        let changed: TreeSet<&ResourceInstance> =
            changes.filter(|it| is_evaluated(it)).map(|it| &it.addr).collect();
        let mut read = TreeMap::new();
        for ((question, path), known) in self.answers().iter() {
            let counts = known.is_shared || known.instances.iter().any(|it| changed.contains(it));
            if !counts || path.starts_with(temp) {
                continue;
            }
            let Some(path) = path.to_str() else { continue };
            let file = match (question, known.is_found) {
                (Question::Content, true) => PlannedFile::Content(known.answer),
                (Question::IsFile, true) => PlannedFile::Exists,
                (Question::Content | Question::IsFile, false) => PlannedFile::Missing,
                (Question::Entries | Question::IsDirectory, _) => continue,
            };
            // The content sorts first and implies existence.
            read.entry(path.to_owned()).or_insert(file);
        }
        PlannedFiles { key: self.key.to_vec(), read }
    }

    /// Returns true if every recorded operation would have the same result now.
    pub(crate) fn is_as_before(&self) -> bool {
        self.answers().iter().all(|((question, path), known)| {
            let answer = match question {
                Question::Content => self.content(&self.system.read_file(path)),
                Question::Entries => self.entries(&self.system.list_directory(path)),
                Question::IsDirectory => self.hash(&[u8::from(self.system.is_directory(path))]),
                Question::IsFile => self.hash(&[u8::from(self.system.is_file(path))]),
            };
            answer == known.answer
        })
    }

    /// Forgets all results, so that the next evaluation records them again.
    pub(crate) fn forget(&self) {
        self.answers().clear();
    }

    /// Returns the recorded paths.
    pub(crate) fn paths(&self) -> Vec<PathBuf> {
        let mut paths: Vec<PathBuf> = self.answers().keys().map(|(_, path)| path.clone()).collect();
        sorted::sort(&mut paths);
        paths.dedup();
        paths
    }

    fn answers(&self) -> MutexGuard<'_, TreeMap<(Question, PathBuf), Known>> {
        self.answers.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn lock_reader(&self) -> MutexGuard<'_, Option<ResourceInstance>> {
        self.reader.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn note(&self, question: Question, path: &Path, is_found: bool, answer: Answer) {
        let reader = self.lock_reader().clone();
        let mut answers = self.answers();
        let known = answers.entry((question, path.to_owned())).or_insert_with(|| Known {
            answer,
            is_found,
            is_shared: false,
            instances: TreeSet::new(),
        });
        (known.answer, known.is_found) = (answer, is_found);
        known.is_shared |= reader.is_none();
        known.instances.extend(reader);
    }

    fn content(&self, read: &io::Result<Vec<u8>>) -> Answer {
        match read {
            Ok(bytes) => self.hash(bytes),
            Err(error) => self.hash(error.to_string().as_bytes()),
        }
    }

    fn entries(&self, listed: &io::Result<Vec<DirectoryEntry>>) -> Answer {
        let mut text = String::new();
        match listed {
            Ok(entries) => entries.iter().for_each(|entry| {
                text.push_str(&entry.name);
                text.push(if entry.is_directory { '/' } else { '\0' });
            }),
            Err(error) => text = error.to_string(),
        }
        self.hash(text.as_bytes())
    }

    fn hash(&self, bytes: &[u8]) -> Answer {
        digest(&self.key, bytes)
    }
}

fn digest(key: &[u8], bytes: &[u8]) -> Answer {
    let mut mac = Hmac::<Sha256>::new_from_slice(key).expect("a key of any length makes an HMAC");
    mac.update(bytes);
    mac.finalize().into_bytes().into()
}

/// Returns the current content of a file, hashed with the key of `files`, for comparison with a saved plan. The
/// result is `PlannedFile::Missing` if the path is not a readable regular file.
pub fn planned_file(files: &PlannedFiles, system: &dyn System, path: &str) -> PlannedFile {
    let path = Path::new(path);
    // Reading a pipe or a device may never end.
    let read = system.is_file(path).then(|| system.read_file(path).ok()).flatten();
    read.map_or(PlannedFile::Missing, |bytes| PlannedFile::Content(digest(&files.key, &bytes)))
}

impl System for Observed {
    fn read_file(&self, path: &Path) -> io::Result<Vec<u8>> {
        let read = self.system.read_file(path);
        self.note(Question::Content, path, read.is_ok(), self.content(&read));
        read
    }

    fn list_directory(&self, path: &Path) -> io::Result<Vec<DirectoryEntry>> {
        let listed = self.system.list_directory(path);
        self.note(Question::Entries, path, listed.is_ok(), self.entries(&listed));
        listed
    }

    fn is_directory(&self, path: &Path) -> bool {
        let is_directory = self.system.is_directory(path);
        let answer = self.hash(&[u8::from(is_directory)]);
        self.note(Question::IsDirectory, path, is_directory, answer);
        is_directory
    }

    fn is_file(&self, path: &Path) -> bool {
        let is_file = self.system.is_file(path);
        self.note(Question::IsFile, path, is_file, self.hash(&[u8::from(is_file)]));
        is_file
    }

    fn variable(&self, name: &str) -> Option<String> {
        self.system.variable(name)
    }

    fn variables(&self, prefix: &str) -> Vec<(String, String)> {
        self.system.variables(prefix)
    }

    fn current_directory(&self) -> PathBuf {
        self.system.current_directory()
    }

    fn base_directory(&self) -> PathBuf {
        self.system.base_directory()
    }

    fn now(&self) -> SystemTime {
        self.system.now()
    }
}
