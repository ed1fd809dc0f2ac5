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
//! Tasks of one *lane* need the same resource, which takes time to open: a provider process. Until it may open, its
//! tasks wait together and take no place from others, so that work on what is open already comes first.
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
use indexmap::IndexMap;
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
    Request(W),
}

/// The tasks that need the same resource.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) struct Lane(pub(crate) u32);

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

    /// Takes note of nodes that will have their turns soon, in this order, unless the run stops.
    fn foresee(&self, _nodes: &[NodeIx]) {}

    /// Gives a ready node its turn.
    fn turn(&self, node: NodeIx) -> Step<Self::Work>;

    /// Does the work of a task. `node` is `None` for work that belongs to no node.
    async fn work(&self, node: Option<NodeIx>, work: &Self::Work) -> Result<(), Failed>;

    /// The lane of a node's tasks; `None` if they need nothing that takes time to open.
    fn lane(&self, node: NodeIx) -> Option<Lane>;

    /// Lets the tasks of a lane start if it is open, or can be opened now: then the first of them opens it. Returns
    /// false if they must wait.
    fn admit(&self, lane: Lane) -> bool;

    /// Records that a task of a lane has ended, whether or not it opened the lane.
    fn leave(&self, lane: Lane);

    /// Completes when the answer of [`Executor::admit`] may have changed without the end of a task.
    async fn admission_changed(&self);

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
    /// `None` if the task needs nothing that takes time to open.
    lane: Option<Lane>,
    work: W,
}

struct Ended {
    role: Role,
    lane: Option<Lane>,
    result: Result<(), Failed>,
}

/// The tasks of a run, and the number of unfinished tasks for each node.
struct Running<W, F> {
    /// Limited tasks that have not started.
    waiting: VecDeque<Task<W>>,
    /// The tasks of lanes that are not admitted, by lane, in the order in which they were found.
    parked: IndexMap<Lane, VecDeque<Task<W>>>,
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

/// The end of a task.
struct Finished<F> {
    ended: Ended,
    /// The memory that the task no longer needs.
    place: Option<Place<F>>,
}

/// A running task in its memory. It returns the memory when it ends.
struct Placed<F>(Option<Place<F>>);

impl<F: Future<Output = Ended>> Future for Placed<F> {
    type Output = Finished<F>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let future = self.0.as_mut().and_then(|place| place.as_mut().as_pin_mut());
        let future = future.expect("a task is in its place until it has ended");
        let ended = ready!(future.poll(cx));
        let mut place = self.0.take();
        if let Some(place) = &mut place {
            place.set(None);
        }
        Poll::Ready(Finished { ended, place })
    }
}

impl<W, F: Future<Output = Ended>> Running<W, F> {
    fn new() -> Running<W, F> {
        Running {
            waiting: VecDeque::new(),
            parked: IndexMap::new(),
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

    /// Returns true if a task has not started.
    fn has_waiting(&self) -> bool {
        !self.waiting.is_empty() || !self.parked.is_empty()
    }

    /// Takes the next task that may start. Tasks of lanes that are not admitted are set aside.
    fn next_admitted(&mut self, admit: impl Fn(Lane) -> bool) -> Option<Task<W>> {
        while let Some(task) = self.waiting.pop_front() {
            match task.lane {
                Some(lane) if !admit(lane) => {
                    self.parked.entry(lane).or_default().push_back(task);
                }
                _ => return Some(task),
            }
        }
        None
    }

    /// Returns the tasks of lanes that are admitted now to the front of the queue.
    fn unpark(&mut self, admit: impl Fn(Lane) -> bool) {
        let mut admitted = Vec::new();
        self.parked.retain(|lane, tasks| {
            let is_admitted = admit(*lane);
            if is_admitted {
                admitted.push(std::mem::take(tasks));
            }
            !is_admitted
        });
        for tasks in admitted.into_iter().rev() {
            for task in tasks.into_iter().rev() {
                self.waiting.push_front(task);
            }
        }
    }

    /// Takes all tasks that have not started.
    fn take_waiting(&mut self) -> Vec<Task<W>> {
        let parked = std::mem::take(&mut self.parked).into_values().flatten();
        std::mem::take(&mut self.waiting).into_iter().chain(parked).collect()
    }

    async fn next(&mut self) -> Option<Ended> {
        let Finished { ended, place } = self.tasks.next().await?;
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
            running.push(make(Task { role: Role::Stop, lane: None, work: executor.stop() }));
        }
        begin(executor, &mut running, &make);
        if running.tasks.len() == running.background {
            if !running.has_waiting() && !unlock_stuck(executor) {
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
            () = executor.admission_changed() => {}
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
        let soon = executor.graph(Graph::take_unannounced);
        if !soon.is_empty() {
            executor.foresee(&soon);
        }
        if let Some(node) = executor.graph(Graph::next_ready) {
            turn(executor, running, node);
            continue;
        }
        let Some(node) = executor.graph(Graph::next_closing) else { return };
        match executor.ending(node) {
            Some(work) => running.push(make(Task { role: Role::Ending(node), lane: None, work })),
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
        Step::Request(work) => {
            running.waiting.push_back(Task { role: Role::Question(node), lane: None, work });
        }
        Step::Tasks(tasks) if tasks.is_empty() => {
            let keeps = executor.conclude(node, true);
            finish(executor, node, true, keeps);
        }
        Step::Tasks(tasks) => {
            running.left.insert(node, Left { tasks: tasks.len(), failed: false });
            let (role, lane) = (Role::Part(node), executor.lane(node));
            running.waiting.extend(tasks.into_iter().map(|work| Task { role, lane, work }));
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
        running.push(make(Task { role: Role::Background, lane: None, work }));
    }
    while executor.is_stopping() && running.has_waiting() {
        for Task { role, .. } in running.take_waiting() {
            running.limited += 1;
            end(executor, running, Ended { role, lane: None, result: Err(Failed) });
        }
    }
    let admit = |lane| executor.admit(lane);
    running.unpark(admit);
    while running.limited < executor.parallelism().max(1) {
        let Some(task) = running.next_admitted(admit) else { break };
        running.limited += 1;
        running.push(make(task));
    }
}

async fn start<E: Executor>(executor: &E, task: Task<E::Work>) -> Ended {
    let Task { role, lane, work } = task;
    let result = AssertUnwindSafe(executor.work(role.node(), &work)).catch_unwind().await;
    let result = result.unwrap_or_else(|_| {
        executor.report_panic();
        Err(Failed)
    });
    Ended { role, lane, result }
}

fn end<E: Executor, F>(executor: &E, running: &mut Running<E::Work, F>, ended: Ended) {
    let Ended { role, lane, result } = ended;
    if let Some(lane) = lane {
        executor.leave(lane);
    }
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

#[cfg(test)]
mod tests {
    use std::cell::{Cell, RefCell};

    use expect_test::{Expect, expect};
    use tokio::sync::Notify;

    use super::*;
    use crate::graph::{ModuleIx, NodeKind};

    /// Nodes with two parts each. The parts of a node are a lane, and only one lane opens at a time.
    struct Lanes {
        graph: RefCell<Graph>,
        cancel: CancelToken,
        opening: Cell<Option<Lane>>,
        open: RefCell<Vec<Lane>>,
        opened: Notify,
        log: RefCell<Vec<String>>,
        /// False if the tasks end without opening their lane.
        opens: bool,
    }

    impl Lanes {
        fn log(&self, line: String) {
            self.log.borrow_mut().push(line);
        }
    }

    impl Executor for Lanes {
        type Work = &'static str;

        fn graph<T>(&self, change: impl FnOnce(&mut Graph) -> T) -> T {
            change(&mut self.graph.borrow_mut())
        }

        fn parallelism(&self) -> usize {
            3
        }

        fn cancel(&self) -> &CancelToken {
            &self.cancel
        }

        fn is_stopping(&self) -> bool {
            false
        }

        fn stop(&self) -> &'static str {
            "stop"
        }

        fn activate(&self, _node: NodeIx) {}

        fn turn(&self, _node: NodeIx) -> Step<&'static str> {
            Step::Tasks(vec!["first", "second"])
        }

        async fn work(&self, node: Option<NodeIx>, work: &&'static str) -> Result<(), Failed> {
            let lane = Lane(node.ok_or(Failed)?.0);
            if self.opens && *work == "first" {
                self.log(format!("open {}", lane.0));
                tokio::task::yield_now().await;
                self.open.borrow_mut().push(lane);
                self.leave(lane);
                self.opened.notify_one();
            }
            // Work that takes longer than to open the next lane.
            for _ in 0..10 {
                tokio::task::yield_now().await;
            }
            self.log(format!("{work} of {}", lane.0));
            Ok(())
        }

        fn lane(&self, node: NodeIx) -> Option<Lane> {
            Some(Lane(node.0))
        }

        fn admit(&self, lane: Lane) -> bool {
            if self.open.borrow().contains(&lane) {
                return true;
            }
            let opening = self.opening.get().unwrap_or(lane);
            self.opening.set(Some(opening));
            opening == lane
        }

        fn leave(&self, lane: Lane) {
            if self.opening.get() == Some(lane) {
                self.opening.set(None);
            }
        }

        async fn admission_changed(&self) {
            self.opened.notified().await;
        }

        fn conclude(&self, node: NodeIx, _ok: bool) -> bool {
            self.log(format!("end {}", node.0));
            false
        }

        fn note_kept(&self, _node: NodeIx) {}

        fn ending(&self, _node: NodeIx) -> Option<&'static str> {
            None
        }

        fn take_background(&self) -> Vec<&'static str> {
            Vec::new()
        }

        fn end_background(&self) {}

        fn report_cycle(&self, _nodes: &[NodeIx]) {}

        fn report_panic(&self) {}
    }

    fn check(opens: bool, expected: Expect) {
        let mut graph = Graph::default();
        for local in 0..3 {
            let node = graph.add_node(NodeKind::Declared { module: ModuleIx(0), local });
            graph.demand(node);
        }
        let lanes = Lanes {
            graph: RefCell::new(graph),
            cancel: CancelToken::default(),
            opening: Cell::default(),
            open: RefCell::default(),
            opened: Notify::new(),
            log: RefCell::default(),
            opens,
        };
        let runtime = tokio::runtime::Builder::new_current_thread().build().expect("a runtime");
        runtime.block_on(drive(&lanes));
        expected.assert_eq(&lanes.log.take().join("\n"));
    }

    #[test]
    fn scheduler_prefers_open_lanes_over_the_next_lane() {
        check(
            true,
            expect![[r#"
                open 0
                open 1
                second of 0
                open 2
                first of 0
                end 0
                first of 1
                first of 2
                second of 2
                end 2
                second of 1
                end 1"#]],
        );
    }

    #[test]
    fn lane_that_no_task_opens_does_not_block_the_next_lane() {
        check(
            false,
            expect![[r#"
                first of 0
                second of 0
                end 0
                first of 1
                second of 1
                end 1
                first of 2
                second of 2
                end 2"#]],
        );
    }
}
