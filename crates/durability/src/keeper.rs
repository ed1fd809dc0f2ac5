//! Saves the state during a run: each change goes to the journal at once, and the whole state is written from time
//! to time and at the end.

use std::{
    path::Path,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::{Duration, Instant},
};

use addr::{ProviderConfigRef, ProviderSource, ResourceInstance, ResourceMode};
use backend::{Expected, HeldLock, StateStore};
use db::{Diagnostic, Summary, System};
use engine::{Journal, Number};
use provider::BoxFuture;
use state::{
    ObjectAddress, State,
    journal::{Begin, Changed, Intent, IntentAction, Opening, Record},
};
use tokio::{
    runtime::Handle,
    sync::{mpsc::UnboundedSender, oneshot},
};

use crate::{
    failpoint::Failpoints,
    faults::journal_fault,
    folder::{Status, Task, TaskOrder, not_encoded},
    timestamp,
    writer::Writer,
};

/// An opened state, as a [`Keeper`] takes it over.
pub struct OpenedState {
    /// The storage of the state.
    pub store: Arc<dyn StateStore>,
    /// The journal. `None` if the run records nothing.
    pub writer: Option<Arc<Writer>>,
    /// The stored state, and the run.
    pub begin: Begin,
    /// The content of the stored state: a run that ends with the same content writes nothing. `None` if nothing is
    /// stored where the run writes, or something else.
    pub stored: Option<State>,
    /// The generation of the stored state.
    pub generation: Expected,
    /// The duration of the read.
    pub cost: Duration,
    /// The lock of the state.
    pub lock: Option<Box<dyn HeldLock>>,
}

/// Saves the state of a run. Its methods only queue; the ones that wait are `async`.
pub struct Keeper {
    writer: Option<Arc<Writer>>,
    system: Arc<dyn System>,
    failpoints: Failpoints,
    status: Arc<Mutex<Status>>,
    orders: UnboundedSender<TaskOrder>,
}

impl Keeper {
    /// Takes over an opened state. `runtime` drives the timers and connections of its store.
    pub fn new(
        opened: OpenedState,
        system: Arc<dyn System>,
        failpoints: Failpoints,
        runtime: &Handle,
    ) -> Keeper {
        let OpenedState { store, writer, begin, stored, generation, cost, lock } = opened;
        let status = Status::new(cost);
        let task = Task {
            store,
            writer: writer.clone(),
            failpoints: failpoints.clone(),
            begin,
            stored,
            generation,
            lock,
            status: Arc::clone(&status),
            last_bytes: None,
            failed: false,
        };
        let orders = task.start(runtime);
        Keeper { writer, system, failpoints, status, orders }
    }

    /// Starts with the state that the plan was made for. Writes it first if instances have other addresses than in
    /// the stored state, because the journal has no record for a changed address.
    ///
    /// # Errors
    /// The state cannot be written. Nothing may be changed then.
    pub async fn begin(&self, stored: &State, planned: &State) -> Result<(), Box<Diagnostic>> {
        if stored.has_same_resources(planned) || addresses(stored).eq(addresses(planned)) {
            return Ok(());
        }
        let answer = self.order(|reply| TaskOrder::Begin(planned.clone(), reply)).await;
        answer.unwrap_or_else(|| Err(ended()))
    }

    /// Writes the final state, after the writes that the run ordered, unless the stored state has the same content.
    /// [`Keeper::close`] ends the journal.
    ///
    /// # Errors
    /// The state cannot be written. The journal then stays.
    pub async fn write(&self, state: &State) -> Result<(), Box<Diagnostic>> {
        let answer = self.order(|reply| TaskOrder::End(state.clone(), reply)).await;
        answer.unwrap_or_else(|| Err(ended()))
    }

    /// The location of the journal, if it durably contains all changes that the stored state lacks. `None`
    /// otherwise.
    pub async fn safe_in(&self) -> Option<String> {
        let writer = self.writer.as_ref()?;
        (writer.durable().await.is_ok() && writer.is_begun()).then(|| writer.place())
    }

    /// The creations whose outcome is unknown.
    pub fn uncertain(&self) -> Vec<Intent> {
        self.writer.as_ref().map(|it| it.uncertain()).unwrap_or_default()
    }

    /// The encoded state file. `None` if it cannot be encoded or has no next serial.
    pub async fn encoded(&self, state: &State) -> Option<Vec<u8>> {
        self.order(|reply| TaskOrder::Encode(state.clone(), reply)).await.flatten()
    }

    /// Ends the journal, unless it has changes that the stored state lacks, and returns the lock for its release.
    ///
    /// # Errors
    /// The task that writes the state has panicked. The lock is released then.
    pub async fn close(&self) -> Result<Option<Box<dyn HeldLock>>, Box<Diagnostic>> {
        self.order(TaskOrder::Close).await.ok_or_else(ended)
    }

    /// Gives an order and waits for its answer. `None` if the task has ended.
    async fn order<T>(&self, order: impl FnOnce(oneshot::Sender<T>) -> TaskOrder) -> Option<T> {
        let (reply, answer) = oneshot::channel();
        self.orders.send(order(reply)).ok()?;
        answer.await.ok()
    }

    fn status(&self) -> MutexGuard<'_, Status> {
        self.status.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Orders a write of the state, unless it is too early for one or the last one is not done.
    fn fold_if_due(&self, state: &State) {
        let mut status = self.status();
        if !self.failpoints.folds_always() && !status.is_due(Instant::now()) {
            return;
        }
        status.begin();
        drop(status);
        if let Some(writer) = &self.writer {
            writer.mark();
        }
        // A task that has ended answers no later order either, which the end of the run reports.
        let _ = self.orders.send(TaskOrder::Fold(state.clone()));
    }
}

/// The error if the task has panicked.
fn ended() -> Box<Diagnostic> {
    let detail = "The task that writes the state has ended. This is a bug. The journal records all \
                  changes of this run.";
    Box::new(Diagnostic::new(Summary::STATE_WRITE, detail))
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
pub fn refuse_last_serial(serial: u64, path: &Path) -> Result<(), Box<Diagnostic>> {
    if serial < u64::MAX {
        return Ok(());
    }
    let what = last_serial(&path.display().to_string(), serial);
    let detail = format!("{what} Nothing was done.\n\n{LOWER_SERIAL}");
    Err(Box::new(Diagnostic::new(Summary::STATE_SERIAL, detail)))
}

/// The next serial. It never wraps around to zero, because the state with the greater serial is the newer one.
pub fn next_serial(serial: u64) -> Result<u64, Box<Diagnostic>> {
    serial.checked_add(1).ok_or_else(|| {
        Box::new(Diagnostic::new(
            Summary::STATE_SERIAL_EXHAUSTED,
            format!("{} {LOWER_SERIAL}", last_serial("the state", serial)),
        ))
    })
}

fn addresses(state: &State) -> impl Iterator<Item = ResourceInstance> {
    let managed = state.instances().filter(|it| it.address.resource.mode == ResourceMode::Managed);
    managed.map(|it| it.address)
}

fn opening(
    writer: &Writer,
    system: &dyn System,
    failpoints: &Failpoints,
    address: &ResourceInstance,
    provider: &ProviderSource,
) -> Number {
    let (address, provider) = (address.clone(), provider.clone());
    let number = writer.number();
    let time = timestamp(system);
    // The record has nothing that could fail to be encoded.
    let _ = writer.take(&Record::Opening(Opening { number, address, provider, time }));
    failpoints.reach("opening");
    Number(number)
}

fn closed(writer: &Writer, failpoints: &Failpoints, number: Number) {
    // A number cannot fail to be encoded.
    let _ = writer.take(&Record::Closed { number: number.0 });
    failpoints.reach("closed");
}

impl Journal for Keeper {
    fn intent(
        &self,
        object: &ObjectAddress,
        action: IntentAction,
        provider: &ProviderConfigRef,
        named: Option<String>,
    ) -> Number {
        let Some(writer) = &self.writer else { return Number(0) };
        let number = writer.number();
        let (object, provider) = (object.clone(), provider.clone());
        let time = timestamp(&*self.system);
        let intent = Intent { number, object, action, provider, named, time };
        // The record has nothing that could fail to be encoded.
        let _ = writer.take(&Record::Intent(intent));
        self.failpoints.reach("intent");
        Number(number)
    }

    fn changed(
        &self,
        state: &State,
        changed: &ResourceInstance,
        answers: Option<Number>,
    ) -> Result<(), Box<Diagnostic>> {
        self.failpoints.reach("answer");
        if let Some(writer) = &self.writer {
            let changed = Changed::of(state, changed, answers.map(|it| it.0));
            writer.take(&Record::Instance(changed)).map_err(|error| not_encoded(&error))?;
        }
        self.failpoints.reach("answered");
        if let Some(fault) = self.status().take_fault() {
            return Err(fault);
        }
        self.fold_if_due(state);
        Ok(())
    }

    fn unchanged(&self, answers: Number) {
        if let Some(writer) = &self.writer {
            let _ = writer.take(&Record::Unchanged { answers: answers.0 });
        }
    }

    fn opening(&self, address: &ResourceInstance, provider: &ProviderSource) -> Number {
        match &self.writer {
            Some(writer) => opening(writer, &*self.system, &self.failpoints, address, provider),
            None => Number(0),
        }
    }

    fn closed(&self, number: Number) {
        if let Some(writer) = &self.writer {
            closed(writer, &self.failpoints, number);
        }
    }

    fn durable(&self) -> BoxFuture<'_, Result<(), Box<Diagnostic>>> {
        Box::pin(async {
            match &self.writer {
                Some(writer) => writer.durable().await.map_err(|fault| journal_fault(&fault))?,
                None => return Ok(()),
            }
            self.failpoints.reach("durable");
            Ok(())
        })
    }
}

/// The journal of a plan. It records only opened and closed ephemeral resources, because a plan changes nothing.
pub struct EphemeralJournal {
    writer: Arc<Writer>,
    system: Arc<dyn System>,
    failpoints: Failpoints,
}

impl EphemeralJournal {
    /// Records in the journal of `writer`.
    pub fn new(
        writer: Arc<Writer>,
        system: Arc<dyn System>,
        failpoints: Failpoints,
    ) -> EphemeralJournal {
        EphemeralJournal { writer, system, failpoints }
    }
}

impl Journal for EphemeralJournal {
    fn opening(&self, address: &ResourceInstance, provider: &ProviderSource) -> Number {
        opening(&self.writer, &*self.system, &self.failpoints, address, provider)
    }

    fn closed(&self, number: Number) {
        closed(&self.writer, &self.failpoints, number);
    }

    fn durable(&self) -> BoxFuture<'_, Result<(), Box<Diagnostic>>> {
        Box::pin(async { self.writer.durable().await.map_err(|fault| journal_fault(&fault)) })
    }
}

#[cfg(test)]
mod tests {
    use std::task::Poll;

    use backend::{JournalStore, LockInfo, MemoryJournal, MemoryStore, Snapshot, StoreError};
    use db::MemorySystem;
    use futures::executor::block_on;
    use state::StateFile;
    use tokio::sync::Semaphore;

    use super::*;

    /// A store whose writes wait for a permit each.
    struct Slow {
        store: MemoryStore,
        permits: Semaphore,
        /// One permit for each write that has begun.
        begun: Semaphore,
    }

    impl StateStore for Slow {
        fn read(&self) -> backend::BoxFuture<'_, Result<Option<Snapshot>, StoreError>> {
            self.store.read()
        }

        fn write<'a>(
            &'a self,
            bytes: &'a [u8],
            expected: Expected,
        ) -> backend::BoxFuture<'a, Result<backend::Generation, StoreError>> {
            Box::pin(async move {
                self.begun.add_permits(1);
                self.permits.acquire().await.expect("is open").forget();
                self.store.write(bytes, expected).await
            })
        }

        fn check_writable(&self) -> backend::BoxFuture<'_, Result<(), StoreError>> {
            self.store.check_writable()
        }

        fn lock(
            &self,
            info: LockInfo,
        ) -> backend::BoxFuture<'_, Result<Box<dyn HeldLock>, StoreError>> {
            self.store.lock(info)
        }

        fn force_unlock<'a>(
            &'a self,
            id: &'a str,
        ) -> backend::BoxFuture<'a, Result<(), StoreError>> {
            self.store.force_unlock(id)
        }
    }

    fn slow() -> Arc<Slow> {
        let (permits, begun) = (Semaphore::new(0), Semaphore::new(0));
        Arc::new(Slow { store: MemoryStore::default(), permits, begun })
    }

    struct Run {
        keeper: Keeper,
        journal: MemoryJournal,
        state: State,
        _runtime: tokio::runtime::Runtime,
    }

    impl Run {
        /// A run in which every change is due to be written if `folds_always` is set.
        fn new(store: Arc<dyn StateStore>, folds_always: bool) -> Run {
            Run::after(store, folds_always, None)
        }

        /// A run that begins with what the store has, of which this is the content.
        fn after(store: Arc<dyn StateStore>, folds_always: bool, before: Option<State>) -> Run {
            let journal = MemoryJournal::default();
            let begin = Begin { lineage: "l".to_owned(), ..Begin::default() };
            let always = [("MAYFLY_FOLD_ALWAYS".to_owned(), String::new())];
            let always = always.into_iter().filter(|_| folds_always).collect();
            let system = MemorySystem::new().with_variables(always);
            let failpoints = Failpoints::of(&system);
            let writer = Writer::new(
                Arc::new(journal.clone()),
                begin.clone(),
                Vec::new(),
                failpoints.clone(),
            );
            let read = before.as_ref().and_then(|_| block_on(store.read()).expect("memory"));
            let opened = OpenedState {
                generation: Expected::from(&read),
                stored: before.clone(),
                store,
                writer: Some(Arc::new(writer)),
                begin,
                cost: Duration::ZERO,
                lock: None,
            };
            let runtime = tokio::runtime::Builder::new_current_thread().build().expect("is made");
            let keeper = Keeper::new(opened, Arc::new(system), failpoints, runtime.handle());
            Run { keeper, journal, state: before.unwrap_or_default(), _runtime: runtime }
        }

        /// The answer of a provider: an instance is there.
        fn answer(&mut self, number: usize) -> Result<(), Box<Diagnostic>> {
            let object = state::Object::from_json(0, "{}".into());
            self.state.set_current(&address(number), &provider(), Arc::new(object));
            self.keeper.changed(&self.state, &address(number), None)
        }

        /// The state that the next command finds: what is stored, with what the journal adds.
        fn recovered(&self, store: &MemoryStore) -> State {
            let file = stored(store);
            let digest = file.as_ref().map(|it| crate::digest(&it.write().expect("encodes")));
            let mut state = file.map(|it| it.state).unwrap_or_default();
            let entries = self.journal.read().expect("memory").expect("is there");
            let read = state::journal::Journal::read(&entries).expect("reads").expect("has begun");
            let records = read.since(digest.as_deref()).expect("the journal belongs to the state");
            state::journal::replay(&mut state, records);
            state
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
        let read = block_on(store.read()).expect("memory")?;
        Some(StateFile::read(&read.bytes).expect("a state"))
    }

    #[test]
    fn state_is_written_rarely_and_the_journal_has_the_rest() {
        let store = MemoryStore::default();
        let mut run = Run::new(Arc::new(store.clone()), false);
        for number in 0..100 {
            run.answer(number).expect("is taken down");
        }
        block_on(run.keeper.durable()).expect("memory");
        assert!(stored(&store).is_none(), "it was not yet time");
        assert_eq!(run.recovered(&store), run.state);
        block_on(run.keeper.write(&run.state)).expect("memory");
        assert_eq!(stored(&store).expect("is written").state, run.state);
        block_on(run.keeper.close()).expect("the task lives");
        assert!(run.journal.read().expect("memory").is_none(), "the journal has ended");
    }

    #[test]
    fn run_without_changes_writes_nothing() {
        let store = MemoryStore::default();
        let mut first = Run::new(Arc::new(store.clone()), false);
        first.answer(0).expect("is taken down");
        block_on(first.keeper.write(&first.state)).expect("memory");
        block_on(first.keeper.close()).expect("the task lives");
        let before = stored(&store).expect("is written");
        let bytes = || block_on(store.read()).expect("memory").expect("is there").bytes;
        let written = bytes();

        // An object that was read again is recorded, and is the same.
        let mut second = Run::after(Arc::new(store.clone()), false, Some(before.state.clone()));
        second.answer(0).expect("is taken down");
        block_on(second.keeper.durable()).expect("memory");
        block_on(second.keeper.write(&second.state)).expect("memory");
        block_on(second.keeper.close()).expect("the task lives");
        assert_eq!(bytes(), written);
        assert!(second.journal.read().expect("memory").is_none(), "the journal has ended");

        let mut third = Run::after(Arc::new(store.clone()), false, Some(before.state));
        third.answer(1).expect("is taken down");
        block_on(third.keeper.write(&third.state)).expect("memory");
        assert_ne!(bytes(), written);
    }

    #[test]
    fn slow_store_delays_no_answer_and_answers_stay_durable() {
        let slow = slow();
        let mut run = Run::new(slow.clone(), true);
        run.answer(0).expect("is taken down");
        // The write of the first state has begun, and does not end.
        block_on(slow.begun.acquire()).expect("is open").forget();
        for number in 1..50 {
            run.answer(number).expect("is taken down");
            block_on(run.keeper.durable()).expect("memory");
            assert!(stored(&slow.store).is_none());
            assert_eq!(run.recovered(&slow.store), run.state, "a kill here loses nothing");
        }
        // Each write that ends leaves a state to which the journal adds the rest.
        for _ in 0..3 {
            slow.permits.add_permits(1);
            block_on(slow.begun.acquire()).expect("is open").forget();
            assert!(stored(&slow.store).is_some());
            assert_eq!(run.recovered(&slow.store), run.state, "a kill here loses nothing");
        }
        slow.permits.add_permits(100);
        block_on(run.keeper.write(&run.state)).expect("memory");
        assert_eq!(stored(&slow.store).expect("is written").state, run.state);
    }

    #[test]
    fn end_of_a_run_waits_for_the_store() {
        let slow = slow();
        let mut run = Run::new(slow.clone(), true);
        run.answer(0).expect("is taken down");
        block_on(slow.begun.acquire()).expect("is open").forget();
        let mut write = std::pin::pin!(run.keeper.write(&run.state));
        let polled = block_on(std::future::poll_fn(|context| {
            Poll::Ready(write.as_mut().poll(context).is_ready())
        }));
        assert!(!polled, "the first write has not ended");
        slow.permits.add_permits(1);
        block_on(write).expect("memory");
        assert_eq!(stored(&slow.store).expect("is written").state, run.state);
    }

    #[test]
    fn failed_state_write_ends_the_run_and_keeps_the_journal() {
        let store = MemoryStore::default();
        block_on(store.write(b"of another program", Expected::Missing)).expect("memory");
        let mut run = Run::new(Arc::new(store.clone()), true);
        run.answer(0).expect("is only queued");
        // The answer to an order comes after the write before it.
        block_on(run.keeper.encoded(&run.state)).expect("encodes");
        let fault = run.answer(1).expect_err("the write has failed");
        assert_eq!(fault.summary, "Failed to save state");
        assert!(block_on(run.keeper.write(&run.state)).is_err());
        assert!(block_on(run.keeper.safe_in()).is_some());
        block_on(run.keeper.close()).expect("the task lives");
        assert!(run.journal.read().expect("memory").is_some(), "the journal stays");
    }

    #[test]
    fn serial_after_the_greatest_is_an_error() {
        assert_eq!(next_serial(4).ok(), Some(5));
        let error = next_serial(u64::MAX).expect_err("is the last");
        assert!(error.detail.contains("Edit \"serial\""), "{}", error.detail);
        assert!(refuse_last_serial(u64::MAX - 1, Path::new("s")).is_ok());
        let error = refuse_last_serial(u64::MAX, Path::new("s")).expect_err("is the last");
        assert!(error.detail.starts_with("The serial of s is 1844"), "{}", error.detail);
    }
}
