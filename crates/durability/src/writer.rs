//! Writes a journal. One thread takes all pending records and makes them durable with a single sync.
//!
//! ```text
//!   take ─► ┐                         ┌─► durable: all callers that wait
//!   take ─► ├ pending ─► one entry ─► sync
//!   take ─► ┘    └── records of the meantime are the next entry
//! ```
//!
//! Records that no caller waits for are written together with the next records that one waits for, or after a
//! short delay. A short run in which no caller waits writes no journal at all: the state at its end contains
//! everything.
//!
//! While a state is being encoded, later changes go on. [`Writer::mark`] remembers where the state was taken;
//! [`Writer::announce`] repeats the changes since then after the announcement, because they are not in that state:
//!
//! ```text
//!   change 1 ─► mark ─► change 2 ─► announcement ─► change 2 again ─► change 3
//!                └ the state that is written has change 1
//! ```
//!
//! **Invariant:** records reach the storage in the order of the calls of [`Writer::take`].

use std::{
    collections::VecDeque,
    panic::AssertUnwindSafe,
    sync::{
        Arc, Condvar, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
    thread::JoinHandle,
    time::Duration,
};

use backend::{JournalStore, StoreError};
use state::{
    EncodeError,
    journal::{Begin, Intent, Record, Uncertain},
};
use tokio::sync::oneshot;

use crate::failpoint::Failpoints;

/// The maximum delay of records that no caller waits for.
const PATIENCE: Duration = Duration::from_millis(100);

/// The error of a failed journal write. All waiting callers receive the same one.
pub(crate) type Fault = Arc<StoreError>;

/// Writes the journal of one command.
pub struct Writer {
    shared: Arc<Shared>,
    numbers: AtomicU64,
    thread: Mutex<Option<JoinHandle<()>>>,
}

struct Shared {
    store: Arc<dyn JournalStore>,
    failpoints: Failpoints,
    queue: Mutex<Queue>,
    /// Notified when there are records to write.
    wake: Condvar,
}

struct Queue {
    /// The first record of the journal.
    begin: Begin,
    /// Unresolved intents of earlier runs.
    carried: Vec<Intent>,
    /// Encoded records that are not written yet.
    pending: Vec<u8>,
    /// The number of records taken. `durable` is the number of durable ones.
    taken: u64,
    durable: u64,
    /// The waiting callers, each with the number of records that must be durable.
    waiters: Vec<(u64, oneshot::Sender<Result<(), Fault>>)>,
    uncertain: Uncertain,
    /// The encoded changes since the oldest mark.
    since_mark: Vec<u8>,
    /// For each mark, oldest first, where in `since_mark` its changes begin.
    marks: VecDeque<usize>,
    /// True if an entry of this command is in the storage, or is being written.
    is_begun: bool,
    is_closing: bool,
    /// True if the writing thread has panicked.
    is_broken: bool,
}

impl Writer {
    /// Creates a journal without writing anything.
    pub fn new(
        store: Arc<dyn JournalStore>,
        begin: Begin,
        carried: Vec<Intent>,
        failpoints: Failpoints,
    ) -> Writer {
        let last = carried.iter().map(|it| it.number).max().unwrap_or(0);
        let mut uncertain = Uncertain::default();
        carried.iter().for_each(|it| uncertain.follow(&Record::Intent(it.clone())));
        let queue = Queue {
            begin,
            carried,
            pending: Vec::new(),
            taken: 0,
            durable: 0,
            waiters: Vec::new(),
            uncertain,
            since_mark: Vec::new(),
            marks: VecDeque::new(),
            is_begun: false,
            is_closing: false,
            is_broken: false,
        };
        let shared = Shared { store, failpoints, queue: Mutex::new(queue), wake: Condvar::new() };
        Writer {
            shared: Arc::new(shared),
            numbers: AtomicU64::new(last + 1),
            thread: Mutex::default(),
        }
    }

    /// A new record number for this journal.
    pub(crate) fn number(&self) -> u64 {
        self.numbers.fetch_add(1, Ordering::Relaxed)
    }

    /// The location of the journal, for messages.
    pub(crate) fn place(&self) -> String {
        self.shared.store.place()
    }

    /// The creations whose outcome is unknown.
    pub fn uncertain(&self) -> Vec<Intent> {
        self.shared.queue().uncertain.all()
    }

    /// Returns true if an entry of this command is in the storage, or is being written.
    pub(crate) fn is_begun(&self) -> bool {
        self.shared.queue().is_begun
    }

    /// Adds a record. It is written within [`PATIENCE`], or when a caller waits for it.
    pub fn take(&self, record: &Record) -> Result<(), EncodeError> {
        let mut text = Vec::new();
        record.write(&mut text)?;
        let mut queue = self.shared.queue();
        queue.uncertain.follow(record);
        if !queue.marks.is_empty() && matches!(record, Record::Instance(_)) {
            queue.since_mark.extend(&text);
        }
        self.add(queue, &text);
        Ok(())
    }

    fn add(&self, mut queue: MutexGuard<'_, Queue>, text: &[u8]) {
        let is_first = queue.pending.is_empty();
        queue.pending.extend(text);
        queue.taken += 1;
        drop(queue);
        // Notify for the first pending record only: each notification restarts the delay.
        if is_first {
            self.shared.wake.notify_one();
        }
        self.ensure_thread();
    }

    /// Marks the state that has all changes so far. The next [`Writer::announce`] or [`Writer::unmark`] is for the
    /// oldest mark.
    pub(crate) fn mark(&self) {
        let mut queue = self.shared.queue();
        let begins = queue.since_mark.len();
        queue.marks.push_back(begins);
    }

    /// Drops the oldest mark: its state is not written.
    pub(crate) fn unmark(&self) {
        self.shared.queue().take_mark();
    }

    /// Adds the announcement of the oldest marked state, and repeats after it the changes that this state lacks.
    pub(crate) fn announce(&self, folding: &Record) -> Result<(), EncodeError> {
        let mut text = Vec::new();
        folding.write(&mut text)?;
        let mut queue = self.shared.queue();
        text.extend(queue.take_mark());
        self.add(queue, &text);
        Ok(())
    }

    /// Waits until all records that were added so far are durable.
    pub(crate) async fn durable(&self) -> Result<(), Fault> {
        let waits = {
            let mut queue = self.shared.queue();
            if queue.durable == queue.taken {
                return Ok(());
            }
            if queue.is_broken {
                return Err(Arc::new(self.ended()));
            }
            let (sender, waits) = oneshot::channel();
            let taken = queue.taken;
            queue.waiters.push((taken, sender));
            waits
        };
        if !self.ensure_thread() {
            // Without a thread, the caller writes.
            self.shared.write_waited();
        }
        self.shared.wake.notify_one();
        waits.await.unwrap_or_else(|_| Err(Arc::new(self.ended())))
    }

    /// Blocking version of [`Writer::durable`], for callers outside of the async runtime.
    #[cfg(test)]
    fn durable_now(&self) -> Result<(), Fault> {
        futures::executor::block_on(self.durable())
    }

    /// Drops the pending records if no entry was written or is being written. Returns true if it did. The caller
    /// then writes a state that contains all changes.
    pub(crate) fn drop_pending(&self) -> bool {
        let mut queue = self.shared.queue();
        if queue.is_begun {
            return false;
        }
        queue.pending.clear();
        queue.durable = queue.taken;
        true
    }

    /// Ends the journal. It is removed, or reduced to the intents whose outcome is unknown. `begin` describes the
    /// final state.
    ///
    /// # Errors
    /// The storage fails. The old journal then stays. It is valid, only longer than necessary.
    pub fn end(&self, begin: Begin) -> Result<(), StoreError> {
        self.close();
        let queue = self.shared.queue();
        if !queue.is_begun && queue.carried.is_empty() {
            return Ok(());
        }
        match queue.uncertain.is_empty() {
            true => self.shared.store.remove(),
            false => {
                let begin = Begin { is_rest: true, ..begin };
                self.shared.store.start(&head(&begin, &queue.uncertain.all()))
            }
        }
    }

    /// The error for callers whose request the thread did not answer.
    fn ended(&self) -> StoreError {
        let source = std::io::Error::other("what writes it has ended");
        StoreError::Io { action: "write", path: self.place().into(), source }
    }

    /// Starts the writing thread. Returns false if it cannot be started.
    fn ensure_thread(&self) -> bool {
        let mut thread = self.thread.lock().unwrap_or_else(PoisonError::into_inner);
        if thread.is_some() {
            return true;
        }
        let shared = Arc::clone(&self.shared);
        let run = parallel::thread("journal", move || {
            if std::panic::catch_unwind(AssertUnwindSafe(|| shared.run())).is_err() {
                shared.give_up();
            }
        });
        *thread = run.ok();
        thread.is_some()
    }

    fn close(&self) {
        self.shared.queue().is_closing = true;
        self.shared.wake.notify_one();
        let thread = self.thread.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(thread) = thread {
            // Ignore a panic of the thread: it was reported, and the state is written in any case.
            let _ = thread.join();
        }
    }
}

impl Queue {
    /// Removes the oldest mark and returns the encoded changes since then. Empty without a mark.
    fn take_mark(&mut self) -> Vec<u8> {
        let Some(begins) = self.marks.pop_front() else { return Vec::new() };
        let changes = self.since_mark[begins..].to_vec();
        // Keep the changes from the next mark on.
        let unneeded = self.marks.front().copied().unwrap_or(self.since_mark.len());
        self.since_mark.drain(..unneeded);
        self.marks.iter_mut().for_each(|it| *it -= unneeded);
        changes
    }
}

impl Drop for Writer {
    fn drop(&mut self) {
        self.close();
    }
}

impl Shared {
    fn queue(&self) -> MutexGuard<'_, Queue> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn run(&self) {
        let mut queue = self.queue();
        loop {
            if !queue.waiters.is_empty() {
                queue = self.write(queue);
            } else if queue.is_closing {
                return;
            } else if queue.pending.is_empty() {
                queue = self.wake.wait(queue).unwrap_or_else(PoisonError::into_inner);
            } else {
                let waited = self.wake.wait_timeout(queue, PATIENCE);
                let (now, waited) = waited.unwrap_or_else(PoisonError::into_inner);
                queue = now;
                if waited.timed_out() && !queue.is_closing && queue.waiters.is_empty() {
                    queue = self.write(queue);
                }
            }
        }
    }

    /// Wakes all waiting callers with an error, because the thread has panicked.
    fn give_up(&self) {
        let mut queue = self.queue();
        queue.is_broken = true;
        queue.waiters.clear();
    }

    fn write_waited(&self) {
        drop(self.write(self.queue()));
    }

    /// Writes all pending records as one entry, and answers the callers that wait for them.
    fn write<'a>(&'a self, mut queue: MutexGuard<'a, Queue>) -> MutexGuard<'a, Queue> {
        let entry = std::mem::take(&mut queue.pending);
        let upto = queue.taken;
        let begins = !std::mem::replace(&mut queue.is_begun, true);
        let head = if begins { head(&queue.begin, &queue.carried) } else { Vec::new() };
        drop(queue);
        self.failpoints.reach("journal.write");
        let result = match begins {
            true => self.store.start(&[head, entry.clone()].concat()),
            false => self.store.append(&entry),
        };
        self.failpoints.reach("journal.written");
        let mut queue = self.queue();
        let result = match result {
            Ok(()) => {
                queue.durable = upto;
                Ok(())
            }
            Err(error) => {
                // Put the records back. The next waiting caller triggers another attempt.
                queue.is_begun = !begins;
                let later = std::mem::replace(&mut queue.pending, entry);
                queue.pending.extend(later);
                Err(Arc::new(error))
            }
        };
        for (_, waiter) in queue.waiters.extract_if(.., |(number, _)| *number <= upto) {
            // Ignore a waiter that was dropped.
            let _ = waiter.send(result.clone());
        }
        queue
    }
}

/// The encoded first records of a journal.
pub fn head(begin: &Begin, carried: &[Intent]) -> Vec<u8> {
    let records = std::iter::once(Record::Begin(begin.clone()))
        .chain(carried.iter().cloned().map(Record::Intent));
    let mut text = Vec::new();
    for record in records {
        record.write(&mut text).expect("only values can fail to be encoded, and these have none");
    }
    text
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicUsize;

    use backend::MemoryJournal;
    use state::journal::{IntentAction, Journal};

    use super::*;

    fn writer(store: &MemoryJournal, carried: Vec<Intent>) -> Writer {
        Writer::new(Arc::new(store.clone()), Begin::default(), carried, Failpoints::default())
    }

    fn intent(number: u64, address: &str) -> Intent {
        let provider = r#"provider["registry.opentofu.org/hashicorp/test"]"#;
        Intent {
            number,
            object: addr::parse_resource_instance(address).expect("an address").into(),
            action: IntentAction::Create,
            provider: addr::ProviderConfigRef::parse(provider).expect("a provider"),
            named: None,
            time: String::new(),
        }
    }

    fn read(store: &MemoryJournal) -> Option<Journal> {
        let entries = store.read().expect("memory")?;
        Some(Journal::read(&entries).expect("reads").expect("has begun"))
    }

    #[test]
    fn awaited_record_is_in_the_storage() {
        let store = MemoryJournal::default();
        let writer = writer(&store, Vec::new());
        writer.take(&Record::Intent(intent(1, "test_thing.a"))).expect("encodes");
        assert!(writer.durable_now().is_ok());
        assert_eq!(read(&store).expect("is there").uncertain(), [intent(1, "test_thing.a")]);
        writer.take(&Record::Unchanged { answers: 1 }).expect("encodes");
        assert!(writer.durable_now().is_ok());
        assert_eq!(read(&store).expect("is there").uncertain(), []);
        assert_eq!(store.syncs(), 2);
        writer.end(Begin::default()).expect("memory");
        assert!(read(&store).is_none(), "nothing is left to know");
    }

    /// A store that panics.
    struct Panics;

    impl JournalStore for Panics {
        fn read(&self) -> Result<Option<Vec<Vec<u8>>>, StoreError> {
            Ok(None)
        }

        fn start(&self, _: &[u8]) -> Result<(), StoreError> {
            panic!("as told")
        }

        fn append(&self, _: &[u8]) -> Result<(), StoreError> {
            panic!("as told")
        }

        fn remove(&self) -> Result<(), StoreError> {
            Ok(())
        }

        fn place(&self) -> String {
            "nowhere".to_owned()
        }
    }

    #[test]
    fn wait_fails_after_the_writer_panicked() {
        let writer =
            Writer::new(Arc::new(Panics), Begin::default(), Vec::new(), Failpoints::default());
        writer.take(&Record::Intent(intent(1, "test_thing.a"))).expect("encodes");
        assert!(writer.durable_now().is_err());
        writer.take(&Record::Intent(intent(2, "test_thing.a"))).expect("encodes");
        assert!(writer.durable_now().is_err());
    }

    /// A store that blocks until all writers have added their records.
    struct Slow(MemoryJournal, Arc<AtomicUsize>);

    impl JournalStore for Slow {
        fn read(&self) -> Result<Option<Vec<Vec<u8>>>, StoreError> {
            self.0.read()
        }

        fn start(&self, entry: &[u8]) -> Result<(), StoreError> {
            // Wait for the other writers.
            while self.1.load(Ordering::SeqCst) < 50 {
                std::thread::yield_now();
            }
            self.0.start(entry)
        }

        fn append(&self, entry: &[u8]) -> Result<(), StoreError> {
            self.0.append(entry)
        }

        fn remove(&self) -> Result<(), StoreError> {
            self.0.remove()
        }

        fn place(&self) -> String {
            self.0.place()
        }
    }

    #[test]
    fn records_queued_behind_a_slow_write_are_synced_together() {
        let store = MemoryJournal::default();
        let come = Arc::new(AtomicUsize::new(0));
        let slow = Arc::new(Slow(store.clone(), Arc::clone(&come)));
        let writer = Writer::new(slow, Begin::default(), Vec::new(), Failpoints::default());
        std::thread::scope(|scope| {
            for number in 1..=50 {
                let (writer, come) = (&writer, &come);
                scope.spawn(move || {
                    writer.take(&Record::Intent(intent(number, "test_thing.a"))).expect("encodes");
                    come.fetch_add(1, Ordering::SeqCst);
                    assert!(writer.durable_now().is_ok());
                });
            }
        });
        assert_eq!(read(&store).expect("is there").uncertain().len(), 50);
        assert!(store.syncs() <= 3, "{} for fifty", store.syncs());
    }

    #[test]
    fn run_without_waits_writes_no_journal() {
        let store = MemoryJournal::default();
        let writer = writer(&store, Vec::new());
        writer.take(&Record::Closed { number: 1 }).expect("encodes");
        assert!(writer.drop_pending());
        writer.end(Begin::default()).expect("memory");
        assert_eq!((read(&store), store.syncs()), (None, 0));
    }

    #[test]
    fn failed_journal_write_is_retried() {
        let store = MemoryJournal::default();
        let writer = writer(&store, Vec::new());
        store.fill(true);
        writer.take(&Record::Intent(intent(1, "test_thing.a"))).expect("encodes");
        assert!(writer.durable_now().is_err());
        assert!(writer.durable_now().is_err(), "it still is not");
        store.fill(false);
        writer.take(&Record::Intent(intent(2, "test_thing.b"))).expect("encodes");
        assert!(writer.durable_now().is_ok());
        assert_eq!(read(&store).expect("is there").uncertain().len(), 2);
    }

    #[test]
    fn uncertain_records_are_carried_over_to_the_next_run() {
        let store = MemoryJournal::default();
        let first = writer(&store, Vec::new());
        first.take(&Record::Intent(intent(1, "test_thing.a"))).expect("encodes");
        assert!(first.durable_now().is_ok());
        first.end(Begin::default()).expect("memory");
        let rest = read(&store).expect("is there");
        assert!(rest.begin.is_rest);
        let second = writer(&store, rest.uncertain());
        let number = second.number();
        assert_eq!(number, 2, "no number means two things");
        second.take(&Record::Intent(intent(number, "test_thing.b"))).expect("encodes");
        assert!(second.durable_now().is_ok());
        assert_eq!(read(&store).expect("is there").uncertain().len(), 2);
        second.take(&Record::Unchanged { answers: 1 }).expect("encodes");
        second.end(Begin::default()).expect("memory");
        assert_eq!(read(&store).expect("is there").uncertain(), second.uncertain());
        assert_eq!(second.uncertain().len(), 1);
    }

    fn changed(number: u32) -> Record {
        let address = format!("test_thing.a[{number}]");
        let address = addr::parse_resource_instance(&address).expect("an address");
        let provider = intent(1, "test_thing.a").provider;
        let mut state = state::State::default();
        let object = state::Object::from_json(0, "{}".into());
        state.set_current(&address, &provider, Arc::new(object));
        Record::Instance(state::journal::Changed::of(&state, &address, None))
    }

    fn folding(digest: &str) -> Record {
        Record::Folding { serial: 1, digest: digest.to_owned() }
    }

    #[test]
    fn changes_after_a_mark_follow_its_announcement() {
        let store = MemoryJournal::default();
        let writer = writer(&store, Vec::new());
        let take = |number| writer.take(&changed(number)).expect("encodes");
        take(1);
        writer.mark();
        take(2);
        writer.mark();
        take(3);
        writer.announce(&folding("one")).expect("encodes");
        take(4);
        writer.announce(&folding("two")).expect("encodes");
        take(5);
        assert!(writer.durable_now().is_ok());
        let journal = read(&store).expect("is there");
        let lacks = |digest: &str| {
            let mut state = state::State::default();
            let records = journal.since(Some(digest)).expect("is announced");
            state::journal::replay(&mut state, records);
            let numbers = state.instances().map(|it| it.address.key.to_string());
            numbers.collect::<Vec<_>>().join(" ")
        };
        assert_eq!(lacks("one"), "[2] [3] [4] [5]");
        assert_eq!(lacks("two"), "[3] [4] [5]");
    }

    #[test]
    fn dropped_mark_leaves_the_others() {
        let store = MemoryJournal::default();
        let writer = writer(&store, Vec::new());
        writer.mark();
        writer.take(&changed(1)).expect("encodes");
        writer.mark();
        writer.unmark();
        writer.take(&changed(2)).expect("encodes");
        writer.announce(&folding("one")).expect("encodes");
        assert!(writer.durable_now().is_ok());
        let journal = read(&store).expect("is there");
        assert_eq!(journal.since(Some("one")).expect("is announced"), [changed(2)]);
    }
}
