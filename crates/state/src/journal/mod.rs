//! The journal of a run: a record of every step that changes real objects, so that a killed run can be recovered.
//!
//! ```text
//!   begin ─► intent 1 ─► intent 2 ─► instance (answers 1) ─► folding ─► intent 3 ─► instance (answers 2) ─ killed
//!                                    └──── the state has these ─────┘   └── 3: uncertain     └── the state lacks this
//! ```
//!
//! A record holds the instance *after* a change, with all its objects, never the change itself. Replaying a record
//! twice, or over a state that already has it, changes nothing. Start reading at [`Record`], then [`Journal`].
//!
//! **Invariant:** the record of an instance holds exactly what the state file holds for it, in the same form, and no
//! other record holds values. Sensitive values are in both, ephemeral and write-only values in neither.
//! **Absent on purpose:** the location of a journal, durability, clocks.

mod json;

use addr::{ProviderConfigRef, ProviderSource, ResourceInstance};
use sorted::TreeMap;

use crate::error::EncodeError;
use crate::object_address::ObjectAddress;
use crate::resources::{Instance, State};

/// The format version that this program reads and writes.
pub(crate) const FORMAT: u64 = 1;

/// One step of a run.
#[derive(Clone, Debug, PartialEq)]
pub enum Record {
    /// The first record of a journal.
    Begin(Begin),
    /// The provider is about to be asked to change an object.
    Intent(Intent),
    /// The new content of an instance.
    Instance(Changed),
    /// The provider has answered an intent, and the instance did not change.
    Unchanged {
        /// The number of the intent.
        answers: u64,
    },
    /// An ephemeral resource is about to be opened.
    Opening(Opening),
    /// An ephemeral resource is closed, or was never opened.
    Closed {
        /// The number of the opening.
        number: u64,
    },
    /// The state is about to be written with all changes that were recorded before this.
    Folding {
        /// The serial of that state.
        serial: u64,
        /// The digest of the bytes of that state.
        digest: String,
    },
}

/// The state that a journal is based on, and the run that began it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Begin {
    /// The lineage of the state.
    pub lineage: String,
    /// The serial of the state.
    pub serial: u64,
    /// The digest of the bytes of the state. `None` if there was no state.
    pub digest: Option<String>,
    /// The command of the run.
    pub operation: String,
    /// The workspace.
    pub workspace: String,
    /// The time of the start, RFC 3339.
    pub time: String,
    /// The program and its version.
    pub program: String,
    /// True if the run has ended and the journal holds only what it left unresolved.
    pub is_rest: bool,
}

/// A change that the provider is about to be asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Intent {
    /// The number of the intent, unique within the journal.
    pub number: u64,
    /// The object that changes. A creation is always of the current object.
    pub object: ObjectAddress,
    /// The kind of the change.
    pub action: IntentAction,
    /// The provider configuration of the instance.
    pub provider: ProviderConfigRef,
    /// A hint for users to find the real object, such as `name=blue`. `None` if it is unknown or secret.
    pub named: Option<String>,
    /// The time of the intent, RFC 3339.
    pub time: String,
}

/// The kind of a change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IntentAction {
    Create,
    Update,
    Delete,
}

/// An instance with all its objects.
#[derive(Clone, Debug, PartialEq)]
pub struct Changed {
    /// The address of the instance.
    pub address: ResourceInstance,
    /// The number of the intent that this record answers.
    pub answers: Option<u64>,
    /// The provider configuration of the resource. `None` if the instance has no object.
    pub provider: Option<ProviderConfigRef>,
    /// The objects of the instance. Empty if the instance no longer exists.
    pub instance: Instance,
}

/// An ephemeral resource that is about to be opened. Its data is never recorded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Opening {
    /// The number of the opening, unique within the journal.
    pub number: u64,
    /// The ephemeral resource instance.
    pub address: ResourceInstance,
    /// The provider of the resource.
    pub provider: ProviderSource,
    /// The time of the opening, RFC 3339.
    pub time: String,
}

/// An error that prevents reading a journal.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum JournalError {
    /// A later version wrote the journal.
    #[error("it has format {0}, and this version of Mayfly knows format {FORMAT} only")]
    NewFormat(u64),
    /// The first record is not a begin record.
    #[error("it does not begin as a journal does")]
    NoBegin,
    /// A record is invalid. `cause` quotes nothing from it.
    #[error("record {record} cannot be understood: {cause}")]
    Record { record: usize, cause: String },
}

/// A journal that was read.
#[derive(Clone, Debug, PartialEq)]
pub struct Journal {
    /// The first record.
    pub begin: Begin,
    records: Vec<Record>,
}

impl Record {
    /// Appends the record to an entry, which is a sequence of records.
    ///
    /// # Errors
    /// Returns an [`EncodeError`] for values that must not or cannot be in a file.
    pub fn write(&self, entry: &mut Vec<u8>) -> Result<(), EncodeError> {
        json::write(self, entry)
    }
}

impl Changed {
    /// Creates the record of an instance in a state.
    pub fn of(state: &State, address: &ResourceInstance, answers: Option<u64>) -> Changed {
        let resource = state.resource(&address.containing_resource());
        let instance = state.instance(address).cloned();
        Changed {
            address: address.clone(),
            answers,
            provider: resource.filter(|_| instance.is_some()).map(|it| it.provider.clone()),
            instance: instance.unwrap_or_default(),
        }
    }
}

impl Journal {
    /// Reads all entries. `None` if there are no records.
    ///
    /// # Errors
    /// Returns a [`JournalError`]; an invalid journal is refused as a whole.
    pub fn read(entries: &[Vec<u8>]) -> Result<Option<Journal>, JournalError> {
        let mut records = Vec::new();
        for entry in entries {
            json::read(entry, &mut records)?;
        }
        if records.is_empty() {
            return Ok(None);
        }
        match records.remove(0) {
            Record::Begin(begin) => Ok(Some(Journal { begin, records })),
            _ => Err(JournalError::NoBegin),
        }
    }

    /// Returns the records after the last write of the state with this digest, which are the changes that the
    /// state lacks. `None` if the journal does not belong to such a state.
    pub fn since(&self, digest: Option<&str>) -> Option<&[Record]> {
        let is_it = |record: &Record| match record {
            Record::Folding { digest: it, .. } => Some(it.as_str()) == digest,
            _ => false,
        };
        match self.records.iter().rposition(is_it) {
            Some(at) => self.records.get(at + 1..),
            None if self.begin.digest.as_deref() == digest => Some(&self.records),
            None => None,
        }
    }

    /// All records after the first one.
    pub fn records(&self) -> &[Record] {
        &self.records
    }

    /// The creations whose outcome is unknown, in the order of their intents.
    pub fn uncertain(&self) -> Vec<Intent> {
        let mut uncertain = Uncertain::default();
        self.records.iter().for_each(|record| uncertain.follow(record));
        uncertain.all()
    }

    /// The ephemeral resources that were opened, or were about to be, and not closed.
    pub fn left_open(&self) -> Vec<&Opening> {
        let mut open: TreeMap<u64, &Opening> = TreeMap::new();
        for record in &self.records {
            match record {
                Record::Opening(opening) => {
                    open.insert(opening.number, opening);
                }
                Record::Closed { number } => {
                    open.remove(number);
                }
                _ => {}
            }
        }
        open.into_values().collect()
    }
}

/// Tracks creations whose outcome is unknown, record by record.
///
/// An answer with an object settles all creations at its address. An answer without a change settles only its own
/// intent, not earlier ones.
#[derive(Clone, Debug, Default)]
pub struct Uncertain(TreeMap<u64, Intent>);

impl Uncertain {
    /// Updates the creations with one more record.
    pub fn follow(&mut self, record: &Record) {
        match record {
            Record::Intent(intent) if intent.action == IntentAction::Create => {
                self.0.insert(intent.number, intent.clone());
            }
            Record::Instance(Changed { answers: Some(answers), .. }) => {
                if let Some(answered) = self.0.remove(answers) {
                    self.0.retain(|_, it| it.object != answered.object);
                }
            }
            Record::Unchanged { answers } => {
                self.0.remove(answers);
            }
            _ => {}
        }
    }

    /// Returns true if no creation is uncertain.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// All uncertain creations in the order of their intents.
    pub fn all(&self) -> Vec<Intent> {
        self.0.values().cloned().collect()
    }
}

/// Applies records to a state. Returns the number of instances that changed.
pub fn replay(state: &mut State, records: &[Record]) -> usize {
    let mut last: TreeMap<&ResourceInstance, &Changed> = TreeMap::new();
    for record in records {
        if let Record::Instance(changed) = record {
            last.insert(&changed.address, changed);
        }
    }
    let mut count = 0;
    for changed in last.into_values() {
        let before = state.instance(&changed.address);
        if before == Some(&changed.instance) || (before.is_none() && changed.instance.is_empty()) {
            continue;
        }
        count += 1;
        state.set_instance(&changed.address, changed.provider.as_ref(), changed.instance.clone());
    }
    count
}

#[cfg(test)]
mod tests;
