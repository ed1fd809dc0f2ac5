//! The scheduler: gives ready nodes their turns, drives the tasks that a turn starts, and ends released nodes.
//!
//! ```text
//!             ┌──────────────────── one loop, one thread ─────────────────────┐
//!   graph ───►│ demanded → activate   ready → turn, then tasks   released → ending │
//!             └──────▲──────────────────────────┬─────────────────────────────┘
//!                    └── tasks: futures on this thread, parts and questions limited by -parallelism
//! ```
//!
//! The scheduler knows nodes, edges and readiness, and nothing of what a node stands for: an [`Executor`] does the
//! work. Start reading at [`drive`].
//!
//! **Invariant:** a node has one turn at a time, and none while one of its tasks runs.
//! **Invariant:** if the run stops, running tasks end and no other one starts, except those that end nodes.

use std::{
    collections::VecDeque,
    panic::AssertUnwindSafe,
    pin::Pin,
    task::{Context, Poll, ready},
};

use futures::{FutureExt, StreamExt, stream::FuturesUnordered};
use rustc_hash::FxHashMap;

use crate::{
    cancel::{CancelLevel, CancelToken},
    graph::{Graph, NodeIx, Status},
};

/// The error of an operation whose diagnostic is already reported: the receiver reports nothing more.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Failed;

/// The outcome of a node's turn. `W` is the work of a task.
pub(crate) enum Step<W> {
    /// The node has its result. If `keeps` is true, its dependencies stay open as long as a dependent may read the
    /// result.
    Done { keeps: bool },
    /// The node failed, and the failure was reported.
    Failed,
    /// The node waits for further dependencies and then has another turn.
    Again,
    /// The node ends when these tasks end: at once, if there are none.
    Tasks(Vec<W>),
    /// The node has another turn when this task ends.
    Ask(W),
}

/// Does the work of the nodes that the scheduler orders.
pub(crate) trait Executor {
    /// The work of one task.
    type Work;

    /// Reads or changes the graph. `change` must not call the executor.
    fn graph<T>(&self, change: impl FnOnce(&mut Graph) -> T) -> T;

    /// The most parts and questions that run at once.
    fn parallelism(&self) -> usize;

    /// The user's request to stop.
    fn cancel(&self) -> &CancelToken;

    /// Returns true if no new work may start.
    fn is_stopping(&self) -> bool;

    /// Called once when the run begins to stop. Returns work that asks running tasks to end early.
    fn stop(&self) -> Self::Work;

    /// Activates the edges that a demanded node waits for from the start.
    fn activate(&self, node: NodeIx);

    /// Gives a ready node its turn.
    fn turn(&self, node: NodeIx) -> Step<Self::Work>;

    /// Does the work of a task. `node` is `None` for work that belongs to no node.
    async fn work(&self, node: Option<NodeIx>, work: &Self::Work) -> Result<(), Failed>;

    /// Ends a node after its tasks. Returns true if it keeps its dependencies, as [`Step::Done`] does.
    fn conclude(&self, node: NodeIx, ok: bool) -> bool;

    /// Records that a node ended and keeps its dependencies.
    fn note_kept(&self, node: NodeIx);

    /// The work that ends a released node; `None` if it needs none.
    fn ending(&self, node: NodeIx) -> Option<Self::Work>;

    /// Takes work that runs in the background from now on. The run does not wait for it.
    fn take_background(&self) -> Vec<Self::Work>;

    /// Asks the work in the background to end.
    fn end_background(&self);

    /// Reports nodes that wait for each other.
    fn report_cycle(&self, nodes: &[NodeIx]);

    /// Reports a panic in a task.
    fn report_panic(&self);
}

/// The reason for a task, which determines what its end causes.
#[derive(Clone, Copy)]
enum Role {
    /// One of the tasks that a node ends with.
    Part(NodeIx),
    /// A question after which the node has another turn.
    Question(NodeIx),
    /// Ends a released node.
    Ending(NodeIx),
    /// Runs until [`Executor::end_background`].
    Background,
    /// Asks running tasks to end.
    Stop,
}

impl Role {
    fn node(self) -> Option<NodeIx> {
        match self {
            Role::Part(node) | Role::Question(node) | Role::Ending(node) => Some(node),
            Role::Background | Role::Stop => None,
        }
    }
}

struct Task<W> {
    role: Role,
    work: W,
}

struct Ended {
    role: Role,
    result: Result<(), Failed>,
}

/// The tasks of a run, and the number of unfinished tasks for each node.
struct Running<W, F> {
    /// Limited tasks that have not started.
    waiting: VecDeque<Task<W>>,
    tasks: FuturesUnordered<Placed<F>>,
    /// Free memory for the futures of further tasks.
    places: Vec<Place<F>>,
    /// The number of running tasks that count against [`Executor::parallelism`].
    limited: usize,
    /// The number of running tasks in the background.
    background: usize,
    left: FxHashMap<NodeIx, Left>,
}

/// Memory for the future of one task. Futures are large, so many tasks use the same memory, one after the other.
type Place<F> = Pin<Box<Option<F>>>;

/// A running task in its memory. It returns the memory when it ends.
struct Placed<F>(Option<Place<F>>);

impl<F: Future<Output = Ended>> Future for Placed<F> {
    type Output = (Ended, Option<Place<F>>);

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let future = self.0.as_mut().and_then(|place| place.as_mut().as_pin_mut());
        let future = future.expect("a task is in its place until it has ended");
        let ended = ready!(future.poll(cx));
        let mut place = self.0.take();
        if let Some(place) = &mut place {
            place.set(None);
        }
        Poll::Ready((ended, place))
    }
}

impl<W, F: Future<Output = Ended>> Running<W, F> {
    fn new() -> Running<W, F> {
        Running {
            waiting: VecDeque::new(),
            tasks: FuturesUnordered::new(),
            places: Vec::new(),
            limited: 0,
            background: 0,
            left: FxHashMap::default(),
        }
    }

    fn push(&mut self, task: F) {
        let mut place = self.places.pop().unwrap_or_else(|| Box::pin(None));
        place.set(Some(task));
        self.tasks.push(Placed(Some(place)));
    }

    async fn next(&mut self) -> Option<Ended> {
        let (ended, place) = self.tasks.next().await?;
        self.places.extend(place);
        Some(ended)
    }
}

#[derive(Default)]
struct Left {
    tasks: usize,
    failed: bool,
}

/// Runs all demanded nodes to their end. If the run is aborted, it returns at once: running calls are dropped and
/// not polled again.
pub(crate) async fn drive<E: Executor>(executor: &E) {
    run(executor, |task| start(executor, task)).await;
}

async fn run<E: Executor, F: Future<Output = Ended>>(
    executor: &E,
    make: impl Fn(Task<E::Work>) -> F,
) {
    let mut running = Running::new();
    let mut reached = CancelLevel::Running;
    loop {
        turns(executor, &mut running, &make);
        if reached == CancelLevel::Running && executor.is_stopping() {
            reached = CancelLevel::Stopping;
            running.push(make(Task { role: Role::Stop, work: executor.stop() }));
        }
        begin(executor, &mut running, &make);
        if running.tasks.len() == running.background {
            if running.waiting.is_empty() && !unlock_stuck(executor) {
                // Let running background work finish: dropping it would lose data that an ending needs.
                executor.end_background();
                while running.next().await.is_some() {}
                return;
            }
            continue;
        }
        let next_level = if reached == CancelLevel::Running {
            CancelLevel::Stopping
        } else {
            CancelLevel::Aborting
        };
        tokio::select! {
            biased;
            Some(ended) = running.next() => end(executor, &mut running, ended),
            () = executor.cancel().reached(next_level) => {
                if next_level == CancelLevel::Aborting {
                    return;
                }
            }
        }
    }
}

/// Gives every ready node its turn, and begins to end nodes that are released.
fn turns<E: Executor, F: Future<Output = Ended>>(
    executor: &E,
    running: &mut Running<E::Work, F>,
    make: &impl Fn(Task<E::Work>) -> F,
) {
    loop {
        if let Some(node) = executor.graph(Graph::next_ready) {
            turn(executor, running, node);
            continue;
        }
        let Some(node) = executor.graph(Graph::next_closing) else { return };
        match executor.ending(node) {
            Some(work) => running.push(make(Task { role: Role::Ending(node), work })),
            None => executor.graph(|graph| graph.let_go(node)),
        }
    }
}

fn turn<E: Executor, F>(executor: &E, running: &mut Running<E::Work, F>, node: NodeIx) {
    match executor.graph(|graph| graph.status(node)) {
        Status::Waiting => {
            executor.activate(node);
            executor.graph(|graph| graph.wait(node));
        }
        Status::Ready
            if executor.graph(|graph| graph.is_poisoned(node)) || executor.is_stopping() =>
        {
            executor.graph(|graph| graph.finish(node, false, false));
        }
        Status::Ready => take_step(executor, running, node),
        // The node was queued twice, because it was demanded in two ways.
        Status::Idle | Status::Done | Status::Failed => {}
    }
}

fn take_step<E: Executor, F>(executor: &E, running: &mut Running<E::Work, F>, node: NodeIx) {
    match executor.turn(node) {
        Step::Done { keeps } => finish(executor, node, true, keeps),
        Step::Failed => executor.graph(|graph| graph.finish(node, false, false)),
        Step::Again => executor.graph(|graph| graph.wait_again(node)),
        Step::Ask(work) => {
            running.waiting.push_back(Task { role: Role::Question(node), work });
        }
        Step::Tasks(tasks) if tasks.is_empty() => {
            let keeps = executor.conclude(node, true);
            finish(executor, node, true, keeps);
        }
        Step::Tasks(tasks) => {
            running.left.insert(node, Left { tasks: tasks.len(), failed: false });
            let role = Role::Part(node);
            running.waiting.extend(tasks.into_iter().map(|work| Task { role, work }));
        }
    }
}

fn finish<E: Executor>(executor: &E, node: NodeIx, ok: bool, keeps: bool) {
    if keeps {
        executor.note_kept(node);
    }
    executor.graph(|graph| graph.finish(node, ok, keeps));
}

/// Starts new background work, and waiting tasks as far as the parallelism allows. In a run that is stopping,
/// waiting tasks fail instead.
fn begin<E: Executor, F: Future<Output = Ended>>(
    executor: &E,
    running: &mut Running<E::Work, F>,
    make: &impl Fn(Task<E::Work>) -> F,
) {
    for work in executor.take_background() {
        running.background += 1;
        running.push(make(Task { role: Role::Background, work }));
    }
    while executor.is_stopping() {
        let Some(Task { role, .. }) = running.waiting.pop_front() else { break };
        running.limited += 1;
        end(executor, running, Ended { role, result: Err(Failed) });
    }
    while running.limited < executor.parallelism().max(1) {
        let Some(task) = running.waiting.pop_front() else { break };
        running.limited += 1;
        running.push(make(task));
    }
}

async fn start<E: Executor>(executor: &E, task: Task<E::Work>) -> Ended {
    let Task { role, work } = task;
    let result = AssertUnwindSafe(executor.work(role.node(), &work)).catch_unwind().await;
    let result = result.unwrap_or_else(|_| {
        executor.report_panic();
        Err(Failed)
    });
    Ended { role, result }
}

fn end<E: Executor, F>(executor: &E, running: &mut Running<E::Work, F>, ended: Ended) {
    let Ended { role, result } = ended;
    match role {
        Role::Stop => {}
        Role::Background => running.background -= 1,
        Role::Ending(node) => executor.graph(|graph| graph.let_go(node)),
        Role::Question(node) => {
            running.limited -= 1;
            executor.graph(|graph| graph.wait_again(node));
        }
        Role::Part(node) => {
            running.limited -= 1;
            let Some(left) = running.left.get_mut(&node) else { return };
            left.tasks -= 1;
            left.failed |= result.is_err();
            if left.tasks == 0 {
                let ok = !left.failed;
                running.left.remove(&node);
                let keeps = executor.conclude(node, ok);
                finish(executor, node, ok, keeps);
            }
        }
    }
}

/// Fails the nodes that wait for each other, and reports the cycle. Returns false if there are none. Analysis
/// rejects configurations with cycles, so this is a safeguard.
fn unlock_stuck<E: Executor>(executor: &E) -> bool {
    let stuck = executor.graph(|graph| graph.stuck());
    if stuck.is_empty() {
        return false;
    }
    executor.report_cycle(&stuck);
    for node in stuck {
        executor.graph(|graph| graph.finish(node, false, false));
    }
    true
}
