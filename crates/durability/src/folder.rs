//! The task that owns the storage of the state.
//!
//! ```text
//!   Keeper ──Order──► task: encode ─► announce in the journal ─► StateStore::write ─► … ─► Close: end of the journal
//!      ▲                │
//!      └──── Status ◄───┘  when it wrote last, how long that took, what went wrong
//! ```
//!
//! The task runs on a thread of its own, because encoding a large state and writing a local file block.

use std::{
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::{Duration, Instant},
};

use backend::{Expected, HeldLock, StateStore};
use db::{Diagnostic, Summary};
use state::{
    EncodeError, State, StateFile,
    journal::{Begin, Record},
};
use tokio::{
    runtime::Handle,
    sync::{
        mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel},
        oneshot,
    },
};

use crate::{
    digest,
    failpoint::Failpoints,
    faults::{journal_fault, state_unwritable},
    keeper::next_serial,
    writer::Writer,
};

/// While an operation runs, writing the state may take at most one part in this many of its time.
const WRITE_SHARE: u32 = 20;

/// The minimum interval between two writes of the state. The journal has all changes in the meantime.
const LEAST_INTERVAL: Duration = Duration::from_secs(1);

/// A state file that is ready to be written.
struct Encoded {
    serial: u64,
    digest: String,
    bytes: Vec<u8>,
}

/// An order to the task.
pub(crate) enum TaskOrder {
    /// Write a state for which the journal has a mark.
    Fold(State),
    /// Write a state from before the run, and answer.
    Begin(State, oneshot::Sender<Result<(), Box<Diagnostic>>>),
    /// Write the state at the end of the run, and answer.
    End(State, oneshot::Sender<Result<(), Box<Diagnostic>>>),
    /// Answer with the bytes of a state.
    Encode(State, oneshot::Sender<Option<Vec<u8>>>),
    /// End the journal unless the last write failed, answer with the lock, and end the task.
    Close(oneshot::Sender<Option<Box<dyn HeldLock>>>),
}

/// The progress of the task, which the engine's thread reads without waiting.
pub(crate) struct Status {
    /// The number of states that wait or are being written.
    folding: usize,
    last_write: Instant,
    /// The duration of the last write. Before the first write, the duration of the read.
    last_cost: Duration,
    /// The error of a write during the run that was not reported yet.
    fault: Option<Box<Diagnostic>>,
}

impl Status {
    /// The status before the first write. `cost` is the duration of the read.
    pub(crate) fn new(cost: Duration) -> Arc<Mutex<Status>> {
        let last_write = Instant::now();
        Arc::new(Mutex::new(Status { folding: 0, last_write, last_cost: cost, fault: None }))
    }

    /// Returns true if the state may be written at `now`.
    pub(crate) fn is_due(&self, now: Instant) -> bool {
        let interval = LEAST_INTERVAL.max(self.last_cost * WRITE_SHARE);
        self.folding == 0 && now.duration_since(self.last_write) >= interval
    }

    /// Counts a state that is about to be written.
    pub(crate) fn begin(&mut self) {
        self.folding += 1;
    }

    /// Takes the error of a write during the run.
    pub(crate) fn take_fault(&mut self) -> Option<Box<Diagnostic>> {
        self.fault.take()
    }

    fn end(&mut self, cost: Duration, written: Result<(), Box<Diagnostic>>) {
        self.folding = self.folding.saturating_sub(1);
        self.last_write = Instant::now();
        self.last_cost = cost;
        self.fault = written.err().or(self.fault.take());
    }
}

/// The task with everything that only it uses.
pub(crate) struct Task {
    pub(crate) store: Arc<dyn StateStore>,
    pub(crate) writer: Option<Arc<Writer>>,
    pub(crate) failpoints: Failpoints,
    /// The state that the store has.
    pub(crate) begin: Begin,
    /// The content of the stored state. `None` after a write, and if the content is not known.
    pub(crate) stored: Option<State>,
    pub(crate) generation: Expected,
    pub(crate) lock: Option<Box<dyn HeldLock>>,
    pub(crate) status: Arc<Mutex<Status>>,
    /// The bytes that this run wrote last.
    pub(crate) last_bytes: Option<Vec<u8>>,
    /// True if the last write failed, so that the journal must stay.
    pub(crate) failed: bool,
}

impl Task {
    /// Starts the task. `runtime` drives the timers and connections of the store.
    pub(crate) fn start(self, runtime: &Handle) -> UnboundedSender<TaskOrder> {
        let (sender, orders) = unbounded_channel();
        let slot = Arc::new(Mutex::new(Some((self, orders))));
        let take = |slot: &Mutex<Option<(Task, UnboundedReceiver<TaskOrder>)>>| {
            slot.lock().unwrap_or_else(PoisonError::into_inner).take()
        };
        let (on_thread, handle) = (Arc::clone(&slot), runtime.clone());
        let thread = parallel::thread("state", move || {
            if let Some((task, orders)) = take(&on_thread) {
                handle.block_on(task.run(orders));
            }
        });
        // Without a thread, the task shares those of the runtime.
        if thread.is_err()
            && let Some((task, orders)) = take(&slot)
        {
            drop(runtime.spawn(task.run(orders)));
        }
        sender
    }

    /// Carries out orders until [`TaskOrder::Close`], or until the keeper is dropped.
    async fn run(mut self, mut orders: UnboundedReceiver<TaskOrder>) {
        while let Some(order) = orders.recv().await {
            match order {
                TaskOrder::Fold(state) => {
                    let start = Instant::now();
                    let written = self.fold(&state).await;
                    drop(state);
                    self.status().end(start.elapsed(), written);
                }
                // Ignore callers that do not wait any more.
                TaskOrder::Begin(state, reply) => drop(reply.send(self.begin(&state).await)),
                TaskOrder::End(state, reply) => {
                    let written = self.end(&state).await;
                    self.failed = written.is_err();
                    drop(reply.send(written));
                }
                TaskOrder::Encode(state, reply) => {
                    let encoded = self.encode(&state).ok().flatten();
                    drop(reply.send(encoded.map(|it| it.bytes)));
                }
                TaskOrder::Close(reply) => {
                    self.close();
                    drop(reply.send(self.lock.take()));
                    return;
                }
            }
        }
    }

    fn status(&self) -> MutexGuard<'_, Status> {
        self.status.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Writes a state that has a mark in the journal.
    async fn fold(&mut self, state: &State) -> Result<(), Box<Diagnostic>> {
        match self.encode(state) {
            Ok(Some(encoded)) => {
                self.announce(&encoded).await?;
                self.store(encoded).await
            }
            other => {
                if let Some(writer) = &self.writer {
                    writer.unmark();
                }
                other.map(drop)
            }
        }
    }

    async fn begin(&mut self, state: &State) -> Result<(), Box<Diagnostic>> {
        if let Some(writer) = &self.writer {
            writer.mark();
        }
        self.fold(state).await
    }

    /// Writes the final state. A run whose journal has not begun needs none: this state has everything.
    async fn end(&mut self, state: &State) -> Result<(), Box<Diagnostic>> {
        let is_stored = self.has_stored(state);
        let is_begun = self.writer.as_ref().is_some_and(|it| !it.drop_pending());
        match (is_stored, is_begun) {
            (true, _) => return Ok(()),
            (false, true) => return self.begin(state).await,
            (false, false) => {}
        }
        match self.encode(state)? {
            Some(encoded) => {
                self.failpoints.reach("fold.announced");
                self.store(encoded).await
            }
            None => Ok(()),
        }
    }

    /// Returns true if the store has the content of this state, perhaps written in another form.
    fn has_stored(&self, state: &State) -> bool {
        let Some(stored) = &self.stored else { return false };
        // The run may have read an object again without a difference, which is written in another form.
        stored == state || {
            let is_begun = self.writer.as_ref().is_some_and(|it| it.is_begun());
            !is_begun && self.content(stored).is_some_and(|it| Some(it) == self.content(state))
        }
    }

    /// The bytes of a state with the serial of the stored one. `None` if it cannot be encoded.
    fn content(&self, state: &State) -> Option<Vec<u8>> {
        let (serial, lineage) = (self.begin.serial, self.begin.lineage.clone());
        StateFile { written_by: None, serial, lineage, state: state.clone() }.write().ok()
    }

    /// Encodes a state. `None` if the store has these bytes.
    fn encode(&self, state: &State) -> Result<Option<Encoded>, Box<Diagnostic>> {
        // All writes of one run have the same serial, the successor of the one that was read.
        let serial = match self.last_bytes.is_some() {
            true => self.begin.serial,
            false => next_serial(self.begin.serial)?,
        };
        let lineage = self.begin.lineage.clone();
        let file = StateFile { written_by: None, serial, lineage, state: state.clone() };
        let bytes = file.write().map_err(|error| not_encoded(&error))?;
        if self.last_bytes.as_ref() == Some(&bytes) {
            return Ok(None);
        }
        self.failpoints.reach("fold");
        Ok(Some(Encoded { serial, digest: digest(&bytes), bytes }))
    }

    /// Records in the journal which state is about to be written, so that recovery can determine whether it was
    /// written.
    async fn announce(&self, encoded: &Encoded) -> Result<(), Box<Diagnostic>> {
        if let Some(writer) = &self.writer {
            let record = Record::Folding { serial: encoded.serial, digest: encoded.digest.clone() };
            writer.announce(&record).map_err(|error| not_encoded(&error))?;
            writer.durable().await.map_err(|fault| journal_fault(&fault))?;
        }
        self.failpoints.reach("fold.announced");
        Ok(())
    }

    async fn store(&mut self, encoded: Encoded) -> Result<(), Box<Diagnostic>> {
        let Encoded { serial, digest, bytes } = encoded;
        let written = self.store.write(&bytes, self.generation.clone()).await;
        let generation = written.map_err(|error| Box::new(state_unwritable(&error)))?;
        self.failpoints.reach("fold.written");
        self.generation = Expected::At(generation);
        self.begin.serial = serial;
        self.begin.digest = Some(digest);
        self.last_bytes = Some(bytes);
        self.stored = None;
        Ok(())
    }

    fn close(&self) {
        self.failpoints.reach("end");
        if let Some(writer) = self.writer.as_ref().filter(|_| !self.failed) {
            // Ignore a failure: the journal stays, but has nothing that the state lacks.
            let _ = writer.end(self.begin.clone());
        }
        self.failpoints.reach("ended");
    }
}

/// The error for a state or a record that cannot be encoded.
pub(crate) fn not_encoded(error: &EncodeError) -> Box<Diagnostic> {
    let detail = format!("The state cannot be written: {error}.");
    Box::new(Diagnostic::new(Summary::UNWRITABLE_STATE, detail))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn state_writes_take_a_twentieth_of_the_time() {
        let status = Status::new(Duration::ZERO);
        let mut status = status.lock().expect("not poisoned");
        let mut is_due = |cost: u64, ago: u64| {
            status.last_cost = Duration::from_millis(cost);
            status.is_due(status.last_write + Duration::from_millis(ago))
        };
        assert!(!is_due(1, 900), "a second must pass between two writes");
        assert!(is_due(1, 1_100));
        assert!(!is_due(200, 3_900));
        assert!(is_due(200, 4_100));
    }
}
