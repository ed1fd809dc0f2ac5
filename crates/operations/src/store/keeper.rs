//! Saves the state during a run: each change goes to the journal at once, and the whole state is written from time
//! to time and at the end.

use std::{
    path::Path,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::{Duration, Instant},
};

use addr::{ProviderConfigRef, ProviderSource, ResourceInstance, ResourceMode};
use backend::{Expected, HeldLock, StateStore, StoreError};
use db::{Diagnostic, System};
use engine::{Journal, Number};
use provider::BoxFuture;
use state::{
    EncodeError, State, StateFile,
    journal::{Begin, Changed, Intent, IntentAction, Opening, Record},
};

use super::{
    digest,
    journal::{Fault, Writer},
    journal_unwritable, release, state_unwritable,
};
use crate::{
    failpoint,
    session::{self, Failure, Session},
};

/// While an operation runs, writing the state may take at most one part in this many of its time.
const WRITE_SHARE: u32 = 20;

/// The minimum interval between two writes of the state. The journal has all changes in the meantime.
const LEAST_INTERVAL: Duration = Duration::from_secs(1);

/// Saves the state of a run.
pub struct Keeper {
    pub(super) store: Arc<dyn StateStore>,
    pub(super) writer: Option<Arc<Writer>>,
    pub(super) system: Arc<dyn System>,
    pub(super) kept: Mutex<Kept>,
    pub(super) lock: Mutex<Option<Box<dyn HeldLock>>>,
}

/// The stored state and statistics about it.
pub(super) struct Kept {
    pub(super) begin: Begin,
    pub(super) generation: Expected,
    pub(super) last_write: Instant,
    /// The duration of the last write. Before the first write, the duration of the read.
    pub(super) last_cost: Duration,
    pub(super) last_bytes: Option<Vec<u8>>,
    /// True if the last write of the state failed, so that the journal must stay.
    pub(super) failed: bool,
}

impl Keeper {
    /// Starts with the state that the plan was made for. Writes it first if instances have other addresses than in
    /// the stored state, because the journal has no record for a changed address.
    pub fn begin(&self, stored: &State, planned: &State) -> Result<(), Box<Diagnostic>> {
        if stored.has_same_resources(planned) || addresses(stored).eq(addresses(planned)) {
            return Ok(());
        }
        self.fold(planned)
    }

    /// Writes the final state. [`Keeper::close`] ends the journal.
    pub fn write(&self, state: &State) -> Result<(), Box<Diagnostic>> {
        let written = self.fold_all(state);
        self.kept().failed = written.is_err();
        written
    }

    fn fold_all(&self, state: &State) -> Result<(), Box<Diagnostic>> {
        match &self.writer {
            Some(writer) if !writer.drop_pending() => self.fold(state),
            _ => self.store_state(state, |_| Ok(())),
        }
    }

    /// Writes the state, after announcing it in the journal.
    fn fold(&self, state: &State) -> Result<(), Box<Diagnostic>> {
        self.store_state(state, |record| self.announce_fold(record))
    }

    /// Records in the journal which state is about to be written, so that recovery can determine whether it was
    /// written.
    fn announce_fold(&self, record: &Record) -> Result<(), Box<Diagnostic>> {
        let Some(writer) = &self.writer else { return Ok(()) };
        writer.take(record).map_err(|error| not_encoded(&error))?;
        writer.durable_now().map_err(|fault| journal_fault(&fault))
    }

    fn store_state(
        &self,
        state: &State,
        announce: impl FnOnce(&Record) -> Result<(), Box<Diagnostic>>,
    ) -> Result<(), Box<Diagnostic>> {
        let mut kept = self.kept();
        let start = Instant::now();
        let serial = kept.next_serial()?;
        let file = kept.file(serial, state);
        let bytes = file.write().map_err(|error| not_encoded(&error))?;
        if kept.last_bytes.as_ref() == Some(&bytes) {
            return Ok(());
        }
        let digest = digest(&bytes);
        failpoint::reach("fold");
        announce(&Record::Folding { serial, digest: digest.clone() })?;
        failpoint::reach("fold.announced");
        // Blocking is fine, because local storage answers immediately.
        let written =
            futures::executor::block_on(self.store.write(&bytes, kept.generation.clone()));
        let generation = written.map_err(|error| Box::new(state_unwritable(&error)))?;
        failpoint::reach("fold.written");
        kept.generation = Expected::At(generation);
        kept.begin.serial = serial;
        kept.begin.digest = Some(digest);
        kept.last_bytes = Some(bytes);
        kept.last_cost = start.elapsed();
        kept.last_write = Instant::now();
        Ok(())
    }

    /// The location of the journal, if it durably contains all changes that the stored state lacks. `None`
    /// otherwise.
    pub fn safe_in(&self) -> Option<String> {
        let writer = self.writer.as_ref()?;
        (writer.durable_now().is_ok() && writer.is_begun()).then(|| writer.place())
    }

    /// The creations whose outcome is unknown.
    pub fn uncertain(&self) -> Vec<Intent> {
        self.writer.as_ref().map(|it| it.uncertain()).unwrap_or_default()
    }

    /// The encoded state file. `None` if it cannot be encoded or has no next serial.
    pub fn encoded(&self, state: &State) -> Option<Vec<u8>> {
        let kept = self.kept();
        let serial = kept.next_serial().ok()?;
        kept.file(serial, state).write().ok()
    }

    /// Ends the journal, unless it has changes that the stored state lacks, and releases the lock.
    pub fn close(&self, session: &Session) -> Result<(), Failure> {
        let (begin, failed) = {
            let kept = self.kept();
            (kept.begin.clone(), kept.failed)
        };
        failpoint::reach("end");
        if let Some(writer) = self.writer.as_ref().filter(|_| !failed) {
            // Ignore a failure: the journal stays, but has nothing that the state lacks.
            let _ = writer.end(begin);
        }
        failpoint::reach("ended");
        let lock = self.lock.lock().unwrap_or_else(PoisonError::into_inner).take();
        release(session, lock)
    }

    fn kept(&self) -> MutexGuard<'_, Kept> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn is_fold_due(&self) -> bool {
        if failpoint::folds_always() {
            return true;
        }
        let kept = self.kept();
        let interval = LEAST_INTERVAL.max(kept.last_cost * WRITE_SHARE);
        kept.last_write.elapsed() >= interval
    }
}

impl Kept {
    /// The serial for the next write. All writes of one run have the same serial, the successor of the one that
    /// was read.
    fn next_serial(&self) -> Result<u64, Box<Diagnostic>> {
        match self.last_bytes.is_some() {
            true => Ok(self.begin.serial),
            false => next_serial(self.begin.serial),
        }
    }

    fn file(&self, serial: u64, state: &State) -> StateFile {
        StateFile {
            written_by: None,
            serial,
            lineage: self.begin.lineage.clone(),
            state: state.clone(),
        }
    }
}

/// The advice for a state with the highest possible serial.
const LOWER_SERIAL: &str = "Each write of the state increases its serial by one, so this number \
                            was set by hand or by another program. Edit \"serial\" in the state \
                            file: use the previous number (the backup has the one from before the \
                            last run) plus one, provided that no copy of the state has a higher \
                            number.";

fn last_serial(what: &str, serial: u64) -> String {
    format!(
        "The serial of {what} is {serial}, the highest possible serial: no later state can be \
         written."
    )
}

/// Refuses to begin a run whose state could not be written because the serial cannot be increased.
pub(super) fn refuse_last_serial(serial: u64, path: &Path) -> Result<(), Box<Diagnostic>> {
    if serial < u64::MAX {
        return Ok(());
    }
    let what = last_serial(&path.display().to_string(), serial);
    let detail = format!("{what} Nothing was done.\n\n{LOWER_SERIAL}");
    Err(Box::new(Diagnostic::error("state-serial", "State has no later serial", detail)))
}

/// The next serial. It never wraps around to zero, because the state with the greater serial is the newer one.
pub(super) fn next_serial(serial: u64) -> Result<u64, Box<Diagnostic>> {
    serial.checked_add(1).ok_or_else(|| {
        Box::new(Diagnostic::error(
            "state-serial",
            "Failed to write state",
            format!("{} {LOWER_SERIAL}", last_serial("the state", serial)),
        ))
    })
}

fn addresses(state: &State) -> impl Iterator<Item = ResourceInstance> {
    let managed = state.instances().filter(|(at, ..)| at.resource.mode == ResourceMode::Managed);
    managed.map(|(address, ..)| address)
}

fn not_encoded(error: &EncodeError) -> Box<Diagnostic> {
    let detail = format!("The state cannot be written: {error}.");
    Box::new(Diagnostic::error("state-encode", "Failed to write state", detail))
}

fn journal_fault(fault: &Fault) -> Box<Diagnostic> {
    let fault: &StoreError = fault;
    Box::new(journal_unwritable(fault))
}

fn opening(
    writer: &Writer,
    system: &dyn System,
    address: &ResourceInstance,
    provider: &ProviderSource,
) -> Number {
    let (address, provider) = (address.clone(), provider.clone());
    let number = writer.number();
    let time = session::timestamp(system);
    // The record has nothing that could fail to be encoded.
    let _ = writer.take(&Record::Opening(Opening { number, address, provider, time }));
    failpoint::reach("opening");
    Number(number)
}

fn closed(writer: &Writer, number: Number) {
    // A number cannot fail to be encoded.
    let _ = writer.take(&Record::Closed { number: number.0 });
    failpoint::reach("closed");
}

impl Journal for Keeper {
    fn intent(
        &self,
        address: &ResourceInstance,
        action: IntentAction,
        provider: &ProviderConfigRef,
        named: Option<String>,
    ) -> Number {
        let Some(writer) = &self.writer else { return Number(0) };
        let number = writer.number();
        let (address, provider) = (address.clone(), provider.clone());
        let time = session::timestamp(&*self.system);
        let intent = Intent { number, address, action, provider, named, time };
        // The record has nothing that could fail to be encoded.
        let _ = writer.take(&Record::Intent(intent));
        failpoint::reach("intent");
        Number(number)
    }

    fn changed(
        &self,
        state: &State,
        changed: &ResourceInstance,
        answers: Option<Number>,
    ) -> Result<(), Box<Diagnostic>> {
        failpoint::reach("answer");
        if let Some(writer) = &self.writer {
            let changed = Changed::of(state, changed, answers.map(|it| it.0));
            writer.take(&Record::Instance(changed)).map_err(|error| not_encoded(&error))?;
        }
        failpoint::reach("answered");
        if self.is_fold_due() { self.fold(state) } else { Ok(()) }
    }

    fn unchanged(&self, answers: Number) {
        if let Some(writer) = &self.writer {
            let _ = writer.take(&Record::Unchanged { answers: answers.0 });
        }
    }

    fn opening(&self, address: &ResourceInstance, provider: &ProviderSource) -> Number {
        match &self.writer {
            Some(writer) => opening(writer, &*self.system, address, provider),
            None => Number(0),
        }
    }

    fn closed(&self, number: Number) {
        if let Some(writer) = &self.writer {
            closed(writer, number);
        }
    }

    fn durable(&self) -> BoxFuture<'_, Result<(), Box<Diagnostic>>> {
        Box::pin(async {
            match &self.writer {
                Some(writer) => writer.durable().await.map_err(|fault| journal_fault(&fault))?,
                None => return Ok(()),
            }
            failpoint::reach("durable");
            Ok(())
        })
    }
}

/// The journal of a plan. It records only opened and closed ephemeral resources, because a plan changes nothing.
pub(crate) struct Openings {
    pub(super) writer: Arc<Writer>,
    pub(super) system: Arc<dyn System>,
}

impl Journal for Openings {
    fn opening(&self, address: &ResourceInstance, provider: &ProviderSource) -> Number {
        opening(&self.writer, &*self.system, address, provider)
    }

    fn closed(&self, number: Number) {
        closed(&self.writer, number);
    }

    fn durable(&self) -> BoxFuture<'_, Result<(), Box<Diagnostic>>> {
        Box::pin(async { self.writer.durable().await.map_err(|fault| journal_fault(&fault)) })
    }
}

#[cfg(test)]
mod tests {
    use backend::{JournalStore, MemoryJournal, MemoryStore};
    use db::MemorySystem;

    use super::*;

    fn keeper(store: &MemoryStore, journal: &MemoryJournal, begin: Begin) -> Keeper {
        let writer = Writer::new(Arc::new(journal.clone()), begin.clone(), Vec::new());
        let kept = Kept {
            begin,
            generation: Expected::Missing,
            last_write: Instant::now(),
            last_cost: Duration::ZERO,
            last_bytes: None,
            failed: false,
        };
        let system = MemorySystem::new();
        Keeper {
            store: Arc::new(store.clone()),
            writer: Some(Arc::new(writer)),
            system: Arc::new(system),
            kept: Mutex::new(kept),
            lock: Mutex::default(),
        }
    }

    fn address(number: usize) -> ResourceInstance {
        let text = format!("test_thing.a[{number}]");
        addr::parse_resource_instance(&text).expect("an address")
    }

    fn provider() -> ProviderConfigRef {
        let text = r#"provider["registry.opentofu.org/hashicorp/test"]"#;
        ProviderConfigRef::parse(text).expect("a provider")
    }

    fn stored(store: &MemoryStore) -> Option<StateFile> {
        let read = futures::executor::block_on(store.read()).expect("memory")?;
        Some(StateFile::read(&read.bytes).expect("a state"))
    }

    #[test]
    fn a_state_is_written_seldom_and_the_journal_has_what_it_lacks() {
        let (store, journal) = (MemoryStore::default(), MemoryJournal::default());
        let keeper = keeper(&store, &journal, Begin::default());
        let mut state = State::default();
        for number in 0..100 {
            let object = state::Object::from_json(0, "{}".into());
            state.set_current(&address(number), &provider(), Arc::new(object));
            keeper.changed(&state, &address(number), None).expect("is taken down");
        }
        assert!(keeper.writer.as_ref().expect("has one").durable_now().is_ok());
        assert!(stored(&store).is_none(), "it was not yet time");
        let entries = journal.read().expect("memory").expect("is there");
        let read = state::journal::Journal::read(&entries).expect("reads").expect("has begun");
        let mut recovered = State::default();
        state::journal::replay(&mut recovered, read.since(None).expect("stands on nothing"));
        assert_eq!(recovered, state);
        // After a second, the state is written.
        keeper.kept().last_write -= Duration::from_secs(2);
        keeper.changed(&state, &address(99), None).expect("is taken down");
        assert_eq!(stored(&store).expect("is written").state, state);
    }

    #[test]
    fn writing_takes_a_twentieth_of_the_time() {
        let (store, journal) = (MemoryStore::default(), MemoryJournal::default());
        let keeper = keeper(&store, &journal, Begin::default());
        let is_due = |cost: u64, ago: u64| {
            let mut kept = keeper.kept();
            kept.last_cost = Duration::from_millis(cost);
            kept.last_write = Instant::now() - Duration::from_millis(ago);
            drop(kept);
            keeper.is_fold_due()
        };
        assert!(!is_due(1, 900), "nobody needs it so often");
        assert!(is_due(1, 1_100));
        assert!(!is_due(200, 3_900));
        assert!(is_due(200, 4_100));
    }

    #[test]
    fn no_serial_comes_after_the_greatest() {
        assert_eq!(next_serial(4).ok(), Some(5));
        let error = next_serial(u64::MAX).expect_err("is the last");
        assert!(error.detail.contains("Edit \"serial\""), "{}", error.detail);
        assert!(refuse_last_serial(u64::MAX - 1, Path::new("s")).is_ok());
        let error = refuse_last_serial(u64::MAX, Path::new("s")).expect_err("is the last");
        assert!(error.detail.starts_with("The serial of s is 1844"), "{}", error.detail);
    }
}
