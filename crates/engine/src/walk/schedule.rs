//! The loop of a run: gives ready nodes their turns, drives the tasks, and ends nodes that are released.

use std::{
    collections::VecDeque,
    fmt,
    panic::AssertUnwindSafe,
    pin::{Pin, pin},
    task::{Context, Poll, ready},
};

use addr::{InstanceKey, ResourceMode};
use db::Diagnostic;
use futures::{FutureExt, StreamExt, stream::FuturesUnordered};
use rustc_hash::FxHashMap;

use super::{Each, Failed, Phase, Walk, values::Turn};
use crate::{
    ephemeral::OpenIx,
    event::Event,
    function_calls::FunctionCall,
    graph::{Declared, EdgeKind, NodeIx, NodeKind, Status},
    place,
    pool::SlotIx,
    request::CancelLevel,
};

/// Asynchronous work for a node: a provider call or a command.
pub(crate) struct Task {
    pub(crate) node: NodeIx,
    pub(crate) work: Work,
}

/// The work of a task.
#[derive(Clone)]
pub(crate) enum Work {
    /// Plans, applies, reads or opens one instance, according to the phase of the run and the mode of the
    /// resource.
    Instance(Each),
    /// Plans the deletion of an instance that the configuration does not have.
    Gone(InstanceKey, Option<state::Reason>),
    /// Destroys the instance of a destroy node.
    Destroy,
    /// Imports the object of an import node.
    Import,
    /// Calls the provider functions that the node's expressions need. The node then has its turn again.
    Functions(Vec<FunctionCall>),
    /// Renews an open ephemeral resource until it is closed.
    Keep(OpenIx),
    /// Closes ephemeral resources.
    Close(Vec<OpenIx>),
    /// Releases a provider.
    LeaveProvider(SlotIx),
    /// Asks all providers to end running calls early.
    StopProviders,
}

struct Ended {
    task: Task,
    result: Result<(), Failed>,
}

/// The tasks of a run, and the number of unfinished tasks for each node.
struct Running<F> {
    /// Limited tasks that have not started.
    waiting: VecDeque<Task>,
    tasks: FuturesUnordered<Placed<F>>,
    /// Free memory for the futures of further tasks.
    places: Vec<Place<F>>,
    /// The number of running tasks that count against `-parallelism`.
    limited: usize,
    /// The number of running tasks that only wait until an ephemeral resource must be renewed.
    keepers: usize,
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

impl<F: Future<Output = Ended>> Running<F> {
    fn new() -> Running<F> {
        Running {
            waiting: VecDeque::new(),
            tasks: FuturesUnordered::new(),
            places: Vec::new(),
            limited: 0,
            keepers: 0,
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

/// Runs all demanded nodes to their end, then closes ephemeral resources and ends providers, except those that are
/// kept for the next run.
pub(crate) async fn run(walk: &Walk<'_>) {
    drive(walk, |task| start(walk, task)).await;
    place::leave_node();
    let was_stopped = walk.is_stopping();
    if walk.pool.keeps() && !was_stopped {
        walk.end_unwanted().await;
    } else {
        walk.close_everything().await;
        walk.end_providers().await;
    }
    if was_stopped {
        let detail = match walk.environment.cancel.level() {
            CancelLevel::Aborting => {
                "The operation was aborted. Actions that were running at that moment may or may \
                 not have taken effect: make a new plan to see."
            }
            _ => {
                "The operation was interrupted. Actions that had started were finished; no others \
                 were started."
            }
        };
        walk.report(Diagnostic::error("run-interrupted", "execution halted", detail));
    }
    let silent = !walk.report.has_errors();
    if silent && walk.nodes.graph(|graph| graph.any_failed()) {
        // A failure without a diagnostic must not look like success, so report an internal error.
        walk.report_panic();
    }
}

/// Runs the loop until there is nothing left to do. If the run is aborted, it returns at once: running calls are
/// dropped and not polled again.
async fn drive<F: Future<Output = Ended>>(walk: &Walk<'_>, make: impl Fn(Task) -> F) {
    let mut running = Running::new();
    let mut told = CancelLevel::Running;
    loop {
        turns(walk, &mut running, &make);
        if told == CancelLevel::Running && walk.is_stopping() {
            told = CancelLevel::Stopping;
            walk.emit(Event::Stopping);
            running.push(make(Task { node: NodeIx(0), work: Work::StopProviders }));
        }
        begin(walk, &mut running, &make);
        if running.tasks.len() == running.keepers {
            if running.waiting.is_empty() && !unlock_stuck(walk) {
                // Let running renewals finish: dropping one would lose data that closing the resource needs.
                walk.store.rest();
                while running.next().await.is_some() {}
                return;
            }
            continue;
        }
        let next_level = if told == CancelLevel::Running {
            CancelLevel::Stopping
        } else {
            CancelLevel::Aborting
        };
        tokio::select! {
            biased;
            Some(ended) = running.next() => end(walk, &mut running, ended),
            () = walk.environment.cancel.reached(next_level) => {
                if next_level == CancelLevel::Aborting {
                    return;
                }
            }
        }
    }
}

/// Gives every ready node its turn, and begins to end nodes that are released.
fn turns<F: Future<Output = Ended>>(
    walk: &Walk<'_>,
    running: &mut Running<F>,
    make: &impl Fn(Task) -> F,
) {
    loop {
        let next = walk.nodes.change(|graph| graph.next_ready());
        if let Some(node) = next {
            turn(walk, running, node);
            continue;
        }
        let next = walk.nodes.change(|graph| graph.next_closing());
        let Some(node) = next else { return };
        match walk.ending(node) {
            Some(work) => running.push(make(Task { node, work })),
            None => walk.nodes.change(|graph| graph.let_go(node)),
        }
    }
}

fn turn<F: Future<Output = Ended>>(walk: &Walk<'_>, running: &mut Running<F>, node: NodeIx) {
    let status = walk.nodes.graph(|graph| graph.status(node));
    match status {
        Status::Waiting => {
            walk.activate(node);
            walk.nodes.change(|graph| graph.wait(node));
        }
        Status::Ready
            if walk.nodes.graph(|graph| graph.is_poisoned(node)) || walk.is_stopping() =>
        {
            walk.nodes.change(|graph| graph.finish(node, false, false));
        }
        Status::Ready => {
            walk.reuse.count_turn();
            walk.enter(node);
            let run = || std::panic::catch_unwind(AssertUnwindSafe(|| walk.run_node(node)));
            let (turn, wanted) = walk.gather_calls(run);
            let turn = turn.unwrap_or_else(|_| {
                walk.report_panic();
                Turn::Failed
            });
            match turn {
                _ if !wanted.is_empty() => {
                    running.left.insert(node, Left { tasks: 1, failed: false });
                    running.waiting.push_back(Task { node, work: Work::Functions(wanted) });
                }
                Turn::Done { keeps } => finish(walk, node, true, keeps),
                Turn::Failed => walk.nodes.change(|graph| graph.finish(node, false, false)),
                Turn::Again => walk.nodes.change(|graph| graph.wait_again(node)),
                Turn::Tasks(tasks) => {
                    running.left.insert(node, Left { tasks: tasks.len(), failed: false });
                    running.waiting.extend(tasks.into_iter().map(|work| Task { node, work }));
                }
            }
        }
        // The node was queued twice, because it was demanded in two ways.
        Status::Idle | Status::Done | Status::Failed => {}
    }
}

/// Marks a node as ended. `keeps` is true if it holds its dependencies until it is released; the next run cannot
/// reuse its result then.
fn finish(walk: &Walk<'_>, node: NodeIx, ok: bool, keeps: bool) {
    if keeps {
        walk.reuse.add_unkept(node);
    }
    walk.nodes.change(|graph| graph.finish(node, ok, keeps));
}

/// Starts the renewal tasks that were requested, and waiting tasks as far as `-parallelism` allows. In a run that
/// is stopping, waiting tasks fail instead.
fn begin<F: Future<Output = Ended>>(
    walk: &Walk<'_>,
    running: &mut Running<F>,
    make: &impl Fn(Task) -> F,
) {
    for task in walk.store.take_spawned() {
        running.keepers += 1;
        running.push(make(task));
    }
    while walk.is_stopping() {
        let Some(task) = running.waiting.pop_front() else { break };
        running.limited += 1;
        end(walk, running, Ended { task, result: Err(Failed) });
    }
    while running.limited < walk.settings.parallelism.max(1) {
        let Some(task) = running.waiting.pop_front() else { break };
        running.limited += 1;
        running.push(make(task));
    }
}

async fn start(walk: &Walk<'_>, task: Task) -> Ended {
    let result = AssertUnwindSafe(in_place(walk, &task)).catch_unwind().await;
    let result = result.unwrap_or_else(|_| {
        walk.report_panic();
        Err(Failed)
    });
    Ended { task, result }
}

/// Runs a task, and registers its node as the current one for each poll.
async fn in_place(walk: &Walk<'_>, task: &Task) -> Result<(), Failed> {
    let mut work = pin!(walk.run_work(task.node, &task.work));
    std::future::poll_fn(|context| {
        walk.enter(task.node);
        work.as_mut().poll(context)
    })
    .await
}

fn end<F>(walk: &Walk<'_>, running: &mut Running<F>, ended: Ended) {
    let Ended { task: Task { node, work }, result } = ended;
    match work {
        Work::StopProviders => {}
        Work::Keep(_) => running.keepers -= 1,
        Work::Close(_) | Work::LeaveProvider(_) => walk.nodes.change(|graph| graph.let_go(node)),
        Work::Functions(_) => {
            running.limited -= 1;
            running.left.remove(&node);
            walk.nodes.change(|graph| graph.wait_again(node));
        }
        Work::Instance(_) | Work::Gone(..) | Work::Destroy | Work::Import => {
            running.limited -= 1;
            let Some(left) = running.left.get_mut(&node) else { return };
            left.tasks -= 1;
            left.failed |= result.is_err();
            if left.tasks == 0 {
                let ok = !left.failed;
                running.left.remove(&node);
                let keeps = walk.conclude(node, ok);
                finish(walk, node, ok, keeps);
            }
        }
    }
}

/// Fails the nodes that wait for each other, and reports the cycle. Returns false if there are none. Analysis
/// rejects configurations with cycles, so this is a safeguard.
fn unlock_stuck(walk: &Walk<'_>) -> bool {
    let stuck = walk.nodes.graph(|graph| graph.stuck());
    if stuck.is_empty() {
        return false;
    }
    let names: Vec<String> = stuck.iter().filter_map(|node| walk.node_name(*node)).collect();
    walk.report(Diagnostic::error(
        "dependency-cycle",
        "Cycle",
        format!("Cycle: {}", names.join(", ")),
    ));
    for node in stuck {
        walk.nodes.change(|graph| graph.finish(node, false, false));
    }
    true
}

impl Walk<'_> {
    /// Activates the edges that a demanded node waits for from the start.
    fn activate(&self, node: NodeIx) {
        let kind = self.nodes.kind(node);
        let Some((_, module, local)) = self.declared(node) else {
            if matches!(
                kind,
                NodeKind::DestroyReady { .. }
                    | NodeKind::DestroyDone { .. }
                    | NodeKind::Destroy { .. }
                    | NodeKind::AllApplied
            ) {
                self.nodes.change(|graph| graph.activate(node, |_| true));
            }
            return;
        };
        match &module.template.nodes[local as usize] {
            Declared::Resource(entry) => {
                let managed = entry.resource().resource.mode == ResourceMode::Managed;
                match self.phase() {
                    Phase::PlanDestroy if managed => {
                        let resource = entry.resource().resource.clone();
                        let address = resource.in_module(module.address.clone());
                        if let Some(orphan) = self.implied.orphan_node(&address) {
                            self.nodes.change(|graph| {
                                graph.add_active_edge(orphan, node, EdgeKind::Value)
                            });
                        }
                    }
                    Phase::ApplyDestroy
                        if entry.resource().resource.mode != ResourceMode::Ephemeral => {}
                    _ => self
                        .nodes
                        .change(|graph| graph.activate(node, |kind| kind == EdgeKind::Order)),
                }
            }
            _ => self.nodes.change(|graph| graph.activate(node, |_| true)),
        }
    }

    fn run_node(&self, node: NodeIx) -> Turn {
        let kind = self.nodes.kind(node);
        let (index, local) = match kind {
            NodeKind::Declared { module, local } => (module, local),
            NodeKind::ImplicitProvider { index } => return self.run_implicit_provider(node, index),
            NodeKind::Orphan { index } => return self.run_orphan(node, index),
            NodeKind::Destroy { index } => return self.run_destroy(node, index),
            NodeKind::Import => return self.run_import(node),
            NodeKind::DestroyReady { .. } | NodeKind::DestroyDone { .. } | NodeKind::AllApplied => {
                return Turn::Done { keeps: false };
            }
        };
        let module = self.module(index);
        let declared = &module.template.nodes[local as usize];
        match declared {
            Declared::Variable(entry) => self.run_variable(node, &module, entry),
            Declared::Local(entry) => self.run_local(node, index, &module, entry),
            Declared::Output(entry) => self.run_output(node, index, &module, entry),
            Declared::Expand(_) | Declared::Call(..) => {
                self.run_expansion(node, index, local, declared)
            }
            Declared::Resource(entry) => self.run_resource(node, &module, entry),
            Declared::Provider(entry) => self.run_provider(node, index, &module, entry),
            Declared::ModuleOutput { call, output } => {
                self.run_module_output(node, &module, call, output)
            }
            Declared::ModuleObject(call) => self.run_module_object(node, &module, call),
            Declared::Gate(_) | Declared::CallDone(_) => {
                let inherited = self.nodes.inherited(node);
                let version =
                    self.reuse.memo(|memo| memo.version_of_inputs(self.inputs(node, &[])));
                self.nodes.facts(node, |it| {
                    *it = super::Facts { version, opened: Default::default(), ..inherited }
                });
                Turn::Done { keeps: true }
            }
            Declared::Check(entry) => {
                if self.wait_for_values(node) {
                    return Turn::Again;
                }
                self.run_check(index, &module, entry)
            }
        }
    }

    async fn run_work(&self, node: NodeIx, work: &Work) -> Result<(), Failed> {
        match work {
            Work::Instance(each) => self.run_instance(node, each).await,
            Work::Gone(key, reason) => self.plan_gone(node, key, *reason).await,
            Work::Destroy => self.destroy_instance(node).await,
            Work::Import => self.import_object(node).await,
            Work::Functions(calls) => {
                self.call_functions(calls).await;
                Ok(())
            }
            Work::Keep(open) => {
                self.keep_open(*open).await;
                Ok(())
            }
            Work::Close(opened) => {
                self.close_all(opened).await;
                Ok(())
            }
            Work::LeaveProvider(slot) => {
                self.leave_provider(*slot).await;
                Ok(())
            }
            Work::StopProviders => {
                self.pool.stop_all().await;
                Ok(())
            }
        }
    }

    /// The work that ends a released node; `None` if it needs none.
    fn ending(&self, node: NodeIx) -> Option<Work> {
        if let Some(slot) = self.nodes.slot(node) {
            return Some(Work::LeaveProvider(slot));
        }
        let mut opened = self.store.opened_by(node);
        opened.retain(|open| !self.pool.needs(&self.store.get(*open)));
        (!opened.is_empty()).then_some(Work::Close(opened))
    }

    fn report_panic(&self) {
        let detail = "Mayfly encountered an unexpected situation. Open ephemeral resources are \
                      closed, and known results are kept. Please report this, with the steps that \
                      led to it.";
        self.report(Diagnostic::error("internal-error", "Internal error", detail));
    }

    /// Registers this node as the current one, for the message that is shown if memory runs out.
    fn enter(&self, node: NodeIx) {
        let Some((_, module, local)) = self.declared(node) else {
            return place::leave_node();
        };
        let address = &module.address;
        let dot = if address.is_root() { "" } else { "." };
        match named(&module.template.nodes[local as usize]) {
            Some((kind, name)) => {
                place::enter_node(format_args!("{address}{dot}{kind}{name}"));
            }
            None => place::enter_node(format_args!("{address}")),
        }
    }

    /// The name of a node in messages; `None` if no user wrote it.
    fn node_name(&self, node: NodeIx) -> Option<String> {
        let (_, module, local) = self.declared(node)?;
        let (kind, name) = named(&module.template.nodes[local as usize])?;
        Some(super::values::prefixed(&module.address.to_string(), &format!("{kind}{name}")))
    }
}

/// The prefix and the name of a declaration, which together are its address in the module. `None` if no user wrote
/// it.
fn named(declared: &Declared) -> Option<(&'static str, &dyn fmt::Display)> {
    Some(match declared {
        Declared::Variable(it) => ("var.", &it.variable().name),
        Declared::Local(it) => ("local.", &it.item.kind.as_local()?.name),
        Declared::Output(it) => ("output.", &it.output().name),
        Declared::Resource(it) => ("", &it.resource().resource),
        Declared::Provider(it) => ("provider.", &it.provider_config().local_name),
        Declared::Call(it, _) => ("module.", &it.module_call().name),
        _ => return None,
    })
}
