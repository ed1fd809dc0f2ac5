//! An object of the remote system, and its file.

use std::path::Path;

use mayfly_sdk::{Secret, SecretChange};
use serde::{Deserialize, Serialize};
use sorted::TreeMap;

use super::{StoreError, seal::Key};

/// An object of the remote system.
#[derive(Clone)]
pub struct Record {
    /// The kind: `secret`, `parameter`, ….
    pub kind: &'static str,
    /// The name, unique within the kind.
    pub name: String,
    /// The id, which no other object ever has.
    pub id: String,
    /// The creation time, RFC 3339.
    pub created: String,
    /// The number of changes.
    pub version: i64,
    plain: TreeMap<String, String>,
    secrets: TreeMap<String, Secret>,
}

/// The file format of a [`Record`].
#[derive(Serialize, Deserialize)]
struct RecordFile {
    name: String,
    id: String,
    created: String,
    version: i64,
    #[serde(default)]
    plain: TreeMap<String, String>,
    #[serde(default)]
    secrets: TreeMap<String, String>,
}

impl Record {
    /// Creates an object with the current time.
    pub fn new(kind: &'static str, name: impl Into<String>, id: impl Into<String>) -> Record {
        Record {
            kind,
            name: name.into(),
            id: id.into(),
            created: jiff::Timestamp::from_second(jiff::Timestamp::now().as_second())
                .map(|time| time.to_string())
                .unwrap_or_default(),
            version: 1,
            plain: TreeMap::new(),
            secrets: TreeMap::new(),
        }
    }

    /// Returns a field that is not secret.
    #[must_use]
    pub fn text(&self, field: &str) -> Option<&str> {
        self.plain.get(field).map(String::as_str)
    }

    /// Returns a field that is a whole number. `None` if it is not set.
    #[must_use]
    pub fn number(&self, field: &str) -> Option<i64> {
        self.text(field)?.parse().ok()
    }

    /// Sets a field that is not secret.
    pub fn set(&mut self, field: &str, text: impl Into<String>) {
        self.plain.insert(field.to_owned(), text.into());
    }

    /// Sets a field that is not secret, or removes it.
    pub fn set_or_remove(&mut self, field: &str, text: Option<impl Into<String>>) {
        match text {
            Some(text) => self.set(field, text),
            None => {
                self.plain.remove(field);
            }
        }
    }

    /// Returns a secret field.
    #[must_use]
    pub fn secret(&self, field: &str) -> Option<&Secret> {
        self.secrets.get(field)
    }

    /// All secret fields, sorted by name.
    pub fn secrets(&self) -> impl Iterator<Item = (&str, &Secret)> {
        self.secrets.iter().map(|(field, secret)| (field.as_str(), secret))
    }

    /// Sets a secret field.
    pub fn set_secret(&mut self, field: &str, secret: Secret) {
        self.secrets.insert(field.to_owned(), secret);
    }

    /// Removes a secret field.
    pub fn remove_secret(&mut self, field: &str) {
        self.secrets.remove(field);
    }

    /// Changes a secret field and counts the change.
    pub fn change_secret(&mut self, field: &str, change: &SecretChange<'_>) {
        match change {
            SecretChange::Keep => return,
            SecretChange::Set { secret, .. } => self.set_secret(field, (*secret).clone()),
            SecretChange::Clear => self.remove_secret(field),
        }
        self.version += 1;
    }

    pub(super) fn encode(&self, key: &Key) -> Vec<u8> {
        let file = RecordFile {
            name: self.name.clone(),
            id: self.id.clone(),
            created: self.created.clone(),
            version: self.version,
            plain: self.plain.clone(),
            secrets: self
                .secrets
                .iter()
                .map(|(field, secret)| (field.clone(), key.seal(secret)))
                .collect(),
        };
        let mut bytes = serde_json::to_vec_pretty(&file).expect("maps of strings are JSON");
        bytes.push(b'\n');
        bytes
    }

    pub(super) fn decode(
        kind: &'static str,
        bytes: &[u8],
        key: &Key,
        path: &Path,
    ) -> Result<Record, StoreError> {
        let damaged = |reason: String| StoreError::Damaged { path: path.to_owned(), reason };
        let file: RecordFile =
            serde_json::from_slice(bytes).map_err(|error| damaged(error.to_string()))?;
        let mut secrets = TreeMap::new();
        for (field, text) in file.secrets {
            let secret = key
                .unseal(&text)
                .ok_or_else(|| damaged(format!("{field:?} was not sealed here")))?;
            secrets.insert(field, secret);
        }
        let RecordFile { name, id, created, version, plain, .. } = file;
        Ok(Record { kind, name, id, created, version, plain, secrets })
    }
}
