//! The remote system: a directory with one JSON file for each note.

use std::{
    fs, io,
    path::{Path, PathBuf},
};

use mayfly_sdk::serde_json;
use serde::{Deserialize, Serialize};

/// A directory of notes.
pub struct Store {
    directory: PathBuf,
}

/// A note as it is stored. It has no `Debug`, because the PIN is a secret.
#[derive(Clone, Serialize, Deserialize)]
pub struct Stored {
    /// The title.
    pub title: String,
    /// The text.
    pub body: String,
    /// The secret that protects the note, if there is one.
    pub pin: Option<String>,
    /// The number of times that the note was written.
    pub revision: u64,
}

impl Store {
    /// Opens a directory, and creates it if it does not exist.
    ///
    /// # Errors
    /// If it cannot be created.
    pub fn open(directory: PathBuf) -> io::Result<Store> {
        fs::create_dir_all(&directory)?;
        Ok(Store { directory })
    }

    /// Reads a note. `None` if there is none with this title.
    ///
    /// # Errors
    /// If the file cannot be read.
    pub fn find(&self, title: &str) -> io::Result<Option<Stored>> {
        match fs::read(self.path(title)) {
            Ok(bytes) => Ok(Some(serde_json::from_slice(&bytes)?)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Writes a note as a whole: a crash leaves the old file or the new one.
    ///
    /// # Errors
    /// If the file cannot be written.
    pub fn write(&self, note: &Stored) -> io::Result<()> {
        let (path, draft) = (self.path(&note.title), self.path(&note.title).with_extension("new"));
        fs::write(&draft, serde_json::to_vec(note)?)?;
        fs::rename(draft, path)
    }

    /// Removes a note. A note that does not exist is no error.
    ///
    /// # Errors
    /// If the file cannot be removed.
    pub fn remove(&self, title: &str) -> io::Result<()> {
        match fs::remove_file(self.path(title)) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
            _ => Ok(()),
        }
    }

    fn path(&self, title: &str) -> PathBuf {
        self.directory.join(Path::new(&slug(title)).with_extension("json"))
    }
}

/// Returns a title in the form of a file name: lower case, with hyphens in place of other characters.
pub fn slug(title: &str) -> String {
    let lower = title.to_lowercase();
    let words = lower.split(|it: char| !it.is_alphanumeric()).filter(|it| !it.is_empty());
    words.collect::<Vec<_>>().join("-")
}
