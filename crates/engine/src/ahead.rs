//! Evaluation ahead: other processors evaluate expressions before the thread of the run needs their values.
//!
//! The thread of the run takes one node after the other. It hands the [`Request`]s that it will come to over to
//! [`Ahead`]. When it comes to one, [`Ahead::take`] has the value, or the thread evaluates the expression itself. While
//! it waits for another processor's evaluation, it takes the next one. Start reading at [`Ahead::request`];
//! `src/walk/foresee.rs` makes the requests.
//!
//! **Invariant:** an evaluation ahead has no effect and no result of its own: it counts only if it read nothing but
//! its [`Captured`] values, reported nothing and stayed within the budget of the run. All else is evaluated by the
//! thread of the run, as if nothing had happened, so results do not depend on the number of processors.
//! **Invariant:** no ephemeral value is captured, no evaluation outlives the run, and no run waits for the evaluation
//! of another one.
//! **Invariant:** values to which the run has not come, and evaluations that run, take a bounded amount of memory.
//! **Absent on purpose:** the graph, providers, files, and the kind of the run.

mod scope;
#[cfg(test)]
mod tests;

use std::{
    cell::RefCell,
    collections::VecDeque,
    sync::{
        Arc, Condvar, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
};

use addr::InstanceKey;
use hir::{Entry, ExprId, eval};
use parallel::{Ended, Task};
use provider::Schema;
use rustc_hash::FxHashMap;
use values::{Budget, MarkKind, Value};

use crate::{
    ahead::scope::CapturedScope, cancel::CancelToken, graph::NodeIx, walk::instances::Each,
};

pub(crate) use scope::Captured;

/// The expressions that a request evaluates.
enum Subject {
    /// One expression.
    Value(ExprId),
    /// The body of a resource, for one of its instances.
    Body(Arc<Schema>, Each),
}

/// An evaluation that may happen on any thread.
pub(crate) struct Request {
    target: Target,
    entry: Entry,
    subject: Subject,
    captured: Arc<Captured>,
}

/// A value that was evaluated without a diagnostic.
pub(crate) struct Foreseen {
    pub(crate) value: Value,
    /// The secrets that occurred in the evaluation.
    pub(crate) parts: Vec<Value>,
    /// The memory in bytes that the budget of the run must still be charged.
    pub(crate) charge: u64,
    /// The memory in bytes that the evaluation needed at once. It counts only if the budget of the run has that much.
    pub(crate) peak: u64,
}

/// The memory in bytes that one evaluation may need, and that values may take to which the run has not come. The budget
/// of the run is charged for a value when it comes to it, so without this bound a run that waits for a provider would
/// let the others evaluate everything.
const ROOM: u64 = 16 << 20;

/// The memory in bytes that a value takes besides what it is charged for.
const RECORD: u64 = 256;

/// The value that a request is for.
#[derive(Clone, PartialEq, Eq, Hash)]
struct Target {
    node: NodeIx,
    /// The key of an instance of the node; [`InstanceKey::None`] if the node has one value.
    key: InstanceKey,
}

/// The evaluations of one run. They end when this value is dropped.
pub(crate) struct Ahead {
    shared: Arc<Shared>,
    /// The requests to which the run has not come.
    tasks: RefCell<FxHashMap<Target, Arc<Evaluation>>>,
}

struct Shared {
    queue: Mutex<Queue>,
    /// Notified when a worker ends.
    ended: Condvar,
    /// The memory in bytes of the values to which the run has not come.
    held: AtomicU64,
    /// True if a worker ended because there was no room.
    is_paused: AtomicBool,
    /// True if running evaluations should stop.
    is_over: AtomicBool,
    cancel: CancelToken,
}

#[derive(Default)]
struct Queue {
    waiting: VecDeque<Arc<Evaluation>>,
    /// The number of workers that the pool has, whether it has started them or not.
    workers: usize,
    /// The number of workers that have started.
    running: usize,
}

impl Ahead {
    pub(crate) fn new(cancel: &CancelToken) -> Ahead {
        let shared = Arc::new(Shared {
            queue: Mutex::default(),
            ended: Condvar::new(),
            held: AtomicU64::new(0),
            is_paused: AtomicBool::new(false),
            is_over: AtomicBool::new(false),
            cancel: cancel.clone(),
        });
        Ahead { shared, tasks: RefCell::default() }
    }

    /// Starts the evaluations, in this order, on threads that are free. A second request for a value is left out:
    /// values do not change in a run.
    pub(crate) fn request(&self, requests: Vec<Request>) {
        let mut tasks = self.tasks.borrow_mut();
        let mut queue = self.shared.lock();
        for request in requests {
            tasks.entry(request.target.clone()).or_insert_with(|| {
                let task = Arc::new(Task::new(request));
                queue.waiting.push_back(Arc::clone(&task));
                task
            });
        }
        drop(queue);
        self.shared.start_workers();
    }

    /// Takes the value of a node, or of one of its instances. Waits for an evaluation that runs, and evaluates others
    /// meanwhile; does not wait for one that has not begun. `None` if there is no value that counts, or no longer.
    pub(crate) fn take(&self, node: NodeIx, key: &InstanceKey) -> Option<Foreseen> {
        let task = self.tasks.borrow_mut().remove(&Target { node, key: key.clone() })?;
        let shared = &self.shared;
        shared.work_beside(&task);
        let foreseen = match task.take() {
            Ended::Done(foreseen) => foreseen,
            Ended::NotBegun(_) | Ended::Lost => None,
        };
        let size = foreseen.as_ref().map_or(0, Foreseen::size);
        let held = shared.held.fetch_sub(size, Ordering::Relaxed) - size;
        if held < ROOM / 2 && shared.is_paused.swap(false, Ordering::Relaxed) {
            shared.start_workers();
        }
        foreseen
    }
}

impl Drop for Ahead {
    fn drop(&mut self) {
        let mut queue = self.shared.lock();
        self.shared.is_over.store(true, Ordering::Relaxed);
        queue.waiting.clear();
        // A worker that has not started may be behind the work of another run. It will find that this one is over.
        while queue.running > 0 {
            queue = self.shared.ended.wait(queue).unwrap_or_else(PoisonError::into_inner);
        }
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, Queue> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Starts workers for what waits, up to the number of the other processors.
    fn start_workers(self: &Arc<Shared>) {
        let missing = {
            let mut queue = self.lock();
            let wanted = queue.waiting.len().min(parallel::processors() - 1);
            let missing = wanted.saturating_sub(queue.workers);
            queue.workers += missing;
            missing
        };
        for _ in 0..missing {
            let shared = Arc::clone(self);
            if !parallel::spawn(move || shared.work()) {
                self.lock().workers -= 1;
            }
        }
    }

    /// Evaluates what waits, until nothing does, or until there is no room.
    fn work(self: &Arc<Shared>) {
        let mut queue = self.lock();
        if self.is_over.load(Ordering::Relaxed) {
            return;
        }
        queue.running += 1;
        while let Some(task) = self.next(&mut queue) {
            drop(queue);
            run(&task, self);
            queue = self.lock();
        }
        queue.running -= 1;
        queue.workers -= 1;
        self.ended.notify_all();
    }

    /// Evaluates what waits as long as another thread evaluates `task`. Otherwise a run whose values follow one another
    /// would wait for each of them, always one behind the worker.
    fn work_beside(self: &Arc<Shared>, task: &Evaluation) {
        while task.is_running() {
            let other = self.next(&mut self.lock());
            match other {
                Some(other) => run(&other, self),
                None => return,
            }
        }
    }

    fn next(&self, queue: &mut Queue) -> Option<Arc<Evaluation>> {
        if self.held.load(Ordering::Relaxed) < ROOM {
            return queue.waiting.pop_front();
        }
        self.is_paused.store(true, Ordering::Relaxed);
        None
    }

    fn is_stopping(&self) -> bool {
        self.is_over.load(Ordering::Relaxed) || self.cancel.is_requested()
    }
}

impl Foreseen {
    fn size(&self) -> u64 {
        self.charge + RECORD
    }
}

/// An evaluation that the run or a worker may begin. Its result is `None` if it does not count.
type Evaluation = Task<Request, Option<Foreseen>>;

/// Evaluates a request, unless the thread of the run was faster. After a panic, that thread evaluates again and
/// reports it.
fn run(task: &Evaluation, shared: &Arc<Shared>) {
    task.run(|request| {
        let foreseen = request.evaluate(shared)?;
        shared.held.fetch_add(foreseen.size(), Ordering::Relaxed);
        Some(foreseen)
    });
}

impl Request {
    /// Requests the value of a node, which is that of an expression.
    pub(crate) fn value(
        node: NodeIx,
        entry: &Entry,
        expr: ExprId,
        captured: Arc<Captured>,
    ) -> Request {
        let target = Target { node, key: InstanceKey::None };
        Request { target, entry: entry.clone(), subject: Subject::Value(expr), captured }
    }

    /// Requests the configuration of an instance of a resource. `None` if the instance has an ephemeral value.
    pub(crate) fn body(
        node: NodeIx,
        entry: &Entry,
        schema: &Arc<Schema>,
        each: &Each,
        captured: &Arc<Captured>,
    ) -> Option<Request> {
        let is_ephemeral = |it: &Value| it.has_deep(MarkKind::Ephemeral);
        if each.value.as_ref().is_some_and(is_ephemeral) {
            return None;
        }
        let subject = Subject::Body(Arc::clone(schema), each.clone());
        let target = Target { node, key: each.key.clone() };
        Some(Request { target, entry: entry.clone(), subject, captured: Arc::clone(captured) })
    }

    fn evaluate(&self, shared: &Arc<Shared>) -> Option<Foreseen> {
        let shared = Arc::clone(shared);
        let budget = Budget::new(ROOM).until(move || shared.is_stopping());
        let each = match &self.subject {
            Subject::Body(_, each) => Some(each),
            Subject::Value(_) => None,
        };
        let scope = CapturedScope::new(&self.captured, each, budget);
        let exprs = &self.entry.item.exprs;
        let (evaluated, parts) = scope.parts.gather(|| match &self.subject {
            Subject::Value(expr) => eval::evaluate(exprs, *expr, &scope),
            Subject::Body(schema, _) => {
                let body = &self.entry.resource().body;
                eval::decode_body(exprs, body, self.entry.item.header, schema.block(), &scope)
            }
        });
        let evaluated = evaluated.ok().filter(|it| it.diagnostics.is_empty())?;
        let value = evaluated.value;
        scope.is_complete().then(|| Foreseen {
            value,
            parts,
            charge: scope.budget.used(),
            peak: scope.budget.peak(),
        })
    }
}
