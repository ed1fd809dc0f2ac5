//! What functions read from files, so that a later plan knows whether it would read the same.
//!
//! **Invariant:** of the contents a keyed hash is kept and nothing else: a file that is read may be a secret.

use std::{
    collections::BTreeMap,
    io,
    path::{Path, PathBuf},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::SystemTime,
};

use db::{DirectoryEntry, System};
use hmac::{Hmac, Mac};
use sha2::Sha256;

use crate::memo::process_key;

/// A system that remembers what was asked of it about files.
pub(crate) struct Observed {
    system: Arc<dyn System>,
    key: [u8; 32],
    answers: Mutex<BTreeMap<(Question, PathBuf), Answer>>,
}

/// What is asked about a path.
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
        Observed { system, key: process_key(), answers: Mutex::default() }
    }

    /// Whether every answer would be the same now.
    pub(crate) fn is_as_before(&self) -> bool {
        self.answers().iter().all(|((question, path), known)| {
            let answer = match question {
                Question::Content => self.content(&self.system.read_file(path)),
                Question::Entries => self.entries(&self.system.list_directory(path)),
                Question::IsDirectory => self.hash(&[u8::from(self.system.is_directory(path))]),
                Question::IsFile => self.hash(&[u8::from(self.system.is_file(path))]),
            };
            answer == *known
        })
    }

    /// Forgets all answers: whoever asked asks again.
    pub(crate) fn forget(&self) {
        self.answers().clear();
    }

    /// The paths that were asked about.
    pub(crate) fn paths(&self) -> Vec<PathBuf> {
        let mut paths: Vec<PathBuf> = self.answers().keys().map(|(_, path)| path.clone()).collect();
        paths.sort();
        paths.dedup();
        paths
    }

    fn answers(&self) -> MutexGuard<'_, BTreeMap<(Question, PathBuf), Answer>> {
        self.answers.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn note(&self, question: Question, path: &Path, answer: Answer) {
        self.answers().insert((question, path.to_owned()), answer);
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
        let mut mac =
            Hmac::<Sha256>::new_from_slice(&self.key).expect("a key of any length makes an HMAC");
        mac.update(bytes);
        mac.finalize().into_bytes().into()
    }
}

impl System for Observed {
    fn read_file(&self, path: &Path) -> io::Result<Vec<u8>> {
        let read = self.system.read_file(path);
        self.note(Question::Content, path, self.content(&read));
        read
    }

    fn list_directory(&self, path: &Path) -> io::Result<Vec<DirectoryEntry>> {
        let listed = self.system.list_directory(path);
        self.note(Question::Entries, path, self.entries(&listed));
        listed
    }

    fn is_directory(&self, path: &Path) -> bool {
        let is_directory = self.system.is_directory(path);
        self.note(Question::IsDirectory, path, self.hash(&[u8::from(is_directory)]));
        is_directory
    }

    fn is_file(&self, path: &Path) -> bool {
        let is_file = self.system.is_file(path);
        self.note(Question::IsFile, path, self.hash(&[u8::from(is_file)]));
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
