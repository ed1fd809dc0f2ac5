//! The remote system: a directory with one JSON file for each note.

use std::{
    fs::{self, OpenOptions},
    io::{self, Write as _},
    os::unix::fs::OpenOptionsExt as _,
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
            // The error of the reader would quote the content, which may be a PIN.
            Ok(bytes) => serde_json::from_slice(&bytes)
                .map(Some)
                .map_err(|_| io::Error::other("the file of the note is damaged")),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Writes a new note.
    ///
    /// # Errors
    /// If there is a note with this title, or the file cannot be written.
    pub fn create(&self, note: &Stored) -> io::Result<()> {
        let draft = self.draft(note)?;
        let linked = fs::hard_link(&draft, self.path(&note.title));
        fs::remove_file(draft).and(linked)
    }

    /// Replaces a note as a whole: a crash leaves the old file or the new one.
    ///
    /// # Errors
    /// If the file cannot be written.
    pub fn replace(&self, note: &Stored) -> io::Result<()> {
        fs::rename(self.draft(note)?, self.path(&note.title))
    }

    /// Writes a file that only the user can read, because it may have a PIN.
    fn draft(&self, note: &Stored) -> io::Result<PathBuf> {
        let path = self.path(&note.title).with_extension("draft");
        let mut options = OpenOptions::new();
        let file = options.write(true).create(true).truncate(true).mode(0o600).open(&path);
        file?.write_all(&serde_json::to_vec(note)?)?;
        Ok(path)
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
