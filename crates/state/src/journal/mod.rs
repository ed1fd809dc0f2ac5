//! What a run writes down while it changes the world, so that a run that was killed can be told from one that was not.
//!
//! ```text
//!   begin ─► intent 1 ─► intent 2 ─► instance (answers 1) ─► folding ─► intent 3 ─► instance (answers 2) ─ killed
//!                                    └──── the state has these ─────┘   └── 3: uncertain     └── the state lacks this
//! ```
//!
//! A record says what an instance *is* after a change, with all its objects, never what was done to it: replaying a record
//! twice, or on top of a state that has it, changes nothing. Start reading at [`Record`], then [`Journal`].
//!
//! **Invariant:** a record of an instance holds what the state file would hold of it, in the same words, and nothing else
//! holds a value: sensitive values are in both, ephemeral and write-only ones in neither.
//! **Absent on purpose:** where a journal lies, when it is durable, clocks.

mod json;

use std::collections::BTreeMap;

use addr::{ProviderConfigRef, ProviderSource, ResourceInstance};

use crate::error::EncodeError;
use crate::resources::{Instance, State};

/// The format that this version reads and writes.
pub(crate) const FORMAT: u64 = 1;

/// One thing that happened.
#[derive(Clone, Debug, PartialEq)]
pub enum Record {
    /// The first one.
    Begin(Begin),
    /// A provider is about to be asked.
    Intent(Intent),
    /// What an instance is from here on.
    Instance(Changed),
    /// The provider has answered an intent, and the instance is what it was.
    Unchanged {
        /// The intent's number.
        answers: u64,
    },
    /// An ephemeral resource is about to be opened.
    Opening(Opening),
    /// It is closed, or was never open.
    Closed {
        /// The opening's number.
        number: u64,
    },
    /// The state is about to be written with all that was recorded before this.
    Folding {
        /// The serial that it gets.
        serial: u64,
        /// The digest of its bytes.
        digest: String,
    },
}

/// Which state a journal stands on, and who began it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Begin {
    pub lineage: String,
    pub serial: u64,
    /// The digest of the state's bytes; none where there was no state.
    pub digest: Option<String>,
    /// The command.
    pub operation: String,
    pub workspace: String,
    /// RFC 3339.
    pub time: String,
    /// The program and its version.
    pub program: String,
    /// Whether the run has ended, and this is what it could not resolve.
    pub is_rest: bool,
}

/// What a provider is about to be asked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Intent {
    /// Tells the intents of one journal apart.
    pub number: u64,
    pub address: ResourceInstance,
    pub action: IntentAction,
    pub provider: ProviderConfigRef,
    /// How people may find the object outside: `name=blue`, if that is known and not secret.
    pub named: Option<String>,
    /// RFC 3339.
    pub time: String,
}

/// What becomes of an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IntentAction {
    Create,
    Update,
    Delete,
}

/// An instance with all its objects.
#[derive(Clone, Debug, PartialEq)]
pub struct Changed {
    pub address: ResourceInstance,
    /// The intent that this is the answer to.
    pub answers: Option<u64>,
    /// The provider configuration of the resource. None if there is no object any more.
    pub provider: Option<ProviderConfigRef>,
    /// Its objects; none if nothing is left of it.
    pub instance: Instance,
}

/// An ephemeral resource that is about to be opened. There is no place for its data.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Opening {
    /// Tells the openings of one journal apart.
    pub number: u64,
    pub address: ResourceInstance,
    pub provider: ProviderSource,
    /// RFC 3339.
    pub time: String,
}

/// Why a journal could not be understood.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum JournalError {
    /// It was written by a later version.
    #[error("it has format {0}, and this version of Mayfly knows format {FORMAT} only")]
    NewFormat(u64),
    /// It does not begin as a journal does.
    #[error("it does not begin as a journal does")]
    NoBegin,
    /// A record is none. `cause` quotes nothing of it.
    #[error("record {record} cannot be understood: {cause}")]
    Record { record: usize, cause: String },
}

/// A journal that was read.
#[derive(Clone, Debug, PartialEq)]
pub struct Journal {
    pub begin: Begin,
    records: Vec<Record>,
}

impl Record {
    /// Adds the record to an entry, which is a sequence of them.
    ///
    /// # Errors
    /// [`EncodeError`] for what may not be or cannot be in a file.
    pub fn write(&self, entry: &mut Vec<u8>) -> Result<(), EncodeError> {
        json::write(self, entry)
    }
}

impl Changed {
    /// An instance as a state has it.
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
    /// Reads all entries. None if nothing was written yet.
    ///
    /// # Errors
    /// [`JournalError`]; nothing is read half.
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

    /// Which records a state lacks, given the digest of its bytes: those after it was written. None if the journal knows no
    /// such state.
    pub fn since(&self, digest: Option<&str>) -> Option<&[Record]> {
        let is_it = |record: &Record| matches!(record, Record::Folding { digest: it, .. } if Some(it.as_str()) == digest);
        match self.records.iter().rposition(is_it) {
            Some(at) => self.records.get(at + 1..),
            None if self.begin.digest.as_deref() == digest => Some(&self.records),
            None => None,
        }
    }

    /// Everything that happened.
    pub fn records(&self) -> &[Record] {
        &self.records
    }

    /// Creations that nobody knows the outcome of, in the order in which they were asked for.
    ///
    pub fn uncertain(&self) -> Vec<Intent> {
        let mut uncertain = Uncertain::default();
        self.records.iter().for_each(|record| uncertain.follow(record));
        uncertain.all()
    }

    /// Ephemeral resources that were opened, or were about to be, and not closed.
    pub fn left_open(&self) -> Vec<&Opening> {
        let mut open: BTreeMap<u64, &Opening> = BTreeMap::new();
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

/// Creations that nobody knows the outcome of, record by record.
///
/// An answer that there is an object ends all doubt about its address. An answer that this attempt came to nothing says
/// nothing of earlier ones.
#[derive(Clone, Debug, Default)]
pub struct Uncertain(BTreeMap<u64, Intent>);

impl Uncertain {
    /// Takes account of one more record.
    pub fn follow(&mut self, record: &Record) {
        match record {
            Record::Intent(intent) if intent.action == IntentAction::Create => {
                self.0.insert(intent.number, intent.clone());
            }
            Record::Instance(Changed { answers: Some(answers), .. }) => {
                if let Some(answered) = self.0.remove(answers) {
                    self.0.retain(|_, it| it.address != answered.address);
                }
            }
            Record::Unchanged { answers } => {
                self.0.remove(answers);
            }
            _ => {}
        }
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// All of them, in the order in which they were asked for.
    pub fn all(&self) -> Vec<Intent> {
        self.0.values().cloned().collect()
    }
}

/// Lets a state have what records say, and gives how many instances are different now.
pub fn replay(state: &mut State, records: &[Record]) -> usize {
    let mut last: BTreeMap<&ResourceInstance, &Changed> = BTreeMap::new();
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
