//! The kinds of runs: what distinguishes a plan, an apply, a destruction and an import, and how the scheduler drives
//! each of them.
//!
//! Variables, locals, outputs, providers, module calls and checks run in the same way in every run. The rest is in
//! the context of a run, which implements [`Purpose`] (`src/runs`).

use std::{
    fmt,
    panic::AssertUnwindSafe,
    pin::{Pin, pin},
    rc::Rc,
};

use db::{Diagnostic, Summary};
use hir::Entry;
use values::Value;

use crate::{
    cancel::{CancelLevel, CancelToken},
    ephemeral::OpenIx,
    event::Event,
    function_calls::FunctionRequest,
    graph::{EdgeKind, Graph, ModuleIx, NodeIx, NodeKind, template::Declared},
    place,
    schedule::{self, Executor, Failed, Lane, Step},
    walk::{
        context::Walk,
        modules::ModuleRun,
        outcome::{Facts, ProviderSlots},
        rules::GraphRules,
        turn::Turn,
        value_nodes::prefixed,
    },
};

/// A kind of run: its context holds the shared [`Walk`] and what only this kind may touch.
pub(crate) trait Purpose<'a>: GraphRules {
    /// Work on one object.
    type Part;

    /// The shared part of the context.
    fn walk(&self) -> &Walk<'a>;

    /// Activates the edges that a demanded resource waits for from the start.
    fn activate_resource(&self, node: NodeIx, _module: &ModuleRun, _entry: &Entry) {
        self.walk().nodes.change(|graph| graph.activate(node, |kind| kind == EdgeKind::Order));
    }

    /// Runs one turn of a declared resource.
    fn run_resource(&self, node: NodeIx, module: &Rc<ModuleRun>, entry: &Entry)
    -> Step<Self::Part>;

    /// Runs one turn of an `import` block. Only a plan imports.
    fn run_import_block(&self, _node: NodeIx, _entry: &Entry) -> Step<Self::Part> {
        Step::Done { keeps: false }
    }

    /// Runs one turn of a node that only this kind of run adds.
    fn run_own(&self, _node: NodeIx, _kind: NodeKind) -> Step<Self::Part> {
        Step::Done { keeps: false }
    }

    /// Records the value of an output of the root module.
    fn root_output(&self, _entry: &Entry, _value: &Value) {}

    /// Does the work on one object of a node.
    async fn run_part(&self, node: NodeIx, part: &Self::Part) -> Result<(), Failed>;
}

/// The work of a task.
pub(crate) enum Work<P> {
    /// Work on one object of a node.
    Part(P),
    /// Asks providers for the functions, and the results of functions, that the node's expressions need.
    Functions(Vec<FunctionRequest>),
    /// Renews an open ephemeral resource until it is closed.
    Keep(OpenIx),
    /// Closes ephemeral resources.
    Close(Vec<OpenIx>),
    /// Releases the instances of a provider.
    LeaveProvider(Rc<ProviderSlots>),
    /// Asks all providers to end running calls early.
    StopProviders,
}

/// Runs all demanded nodes to their end, then closes ephemeral resources and ends providers, except those that are
/// kept for the next run.
pub(crate) async fn run<'a>(purpose: &impl Purpose<'a>) {
    let walk = purpose.walk();
    schedule::drive(&Execution { purpose, walk }).await;
    place::leave_node();
    walk.end_provisioners().await;
    let was_stopped = walk.is_stopping();
    if walk.pool.keeps() && !was_stopped {
        walk.end_unwanted().await;
    } else {
        walk.close_everything().await;
        walk.end_providers().await;
    }
    if was_stopped {
        walk.report_interruption();
    }
    let silent = !walk.report.has_errors();
    if silent && walk.nodes.graph(Graph::any_failed) {
        // A failure without a diagnostic must not look like success, so report an internal error.
        walk.report_panic();
    }
}

/// Executes the nodes of a run for the scheduler.
struct Execution<'r, 'a, P> {
    purpose: &'r P,
    walk: &'r Walk<'a>,
}

impl<'a, P: Purpose<'a>> Execution<'_, 'a, P> {
    fn run_node(&self, node: NodeIx) -> Step<P::Part> {
        let walk = self.walk;
        let (index, local) = match walk.nodes.kind(node) {
            NodeKind::Declared { module, local } => (module, local),
            NodeKind::ImplicitProvider { index } => {
                return walk.run_implicit_provider(node, index).into();
            }
            kind => return self.purpose.run_own(node, kind),
        };
        let module = walk.module(index);
        match &module.template.nodes[local as usize] {
            Declared::Resource(entry) => self.purpose.run_resource(node, &module, entry),
            Declared::Output(entry) => self.run_output(node, index, &module, entry).into(),
            Declared::Import(entry) => self.purpose.run_import_block(node, entry),
            declared @ (Declared::Expand(_) | Declared::Call(..)) => {
                walk.run_expansion(self.purpose, node, index, local, declared).into()
            }
            declared => walk.run_declared(node, index, &module, declared).into(),
        }
    }

    fn run_output(&self, node: NodeIx, index: ModuleIx, module: &ModuleRun, entry: &Entry) -> Turn {
        let walk = self.walk;
        let turn = walk.run_output(node, index, module, entry);
        if matches!(turn, Turn::Done { .. })
            && module.caller.is_none()
            && let Some(value) = walk.nodes.value(node)
        {
            self.purpose.root_output(entry, &value);
        }
        turn
    }

    async fn do_work(&self, node: Option<NodeIx>, work: &Work<P::Part>) -> Result<(), Failed> {
        let walk = self.walk;
        match work {
            Work::Part(part) => self.purpose.run_part(node.ok_or(Failed)?, part).await?,
            Work::Functions(requests) => walk.answer_requests(requests).await,
            Work::Keep(open) => walk.keep_open(*open).await,
            Work::Close(opened) => walk.close_all(opened).await,
            Work::LeaveProvider(slots) => {
                for slot in slots.values() {
                    walk.leave_provider(*slot).await;
                }
            }
            Work::StopProviders => walk.pool.stop_all().await,
        }
        Ok(())
    }
}

impl<'a, P: Purpose<'a>> Executor for Execution<'_, 'a, P> {
    type Work = Work<P::Part>;

    fn graph<T>(&self, change: impl FnOnce(&mut Graph) -> T) -> T {
        self.walk.nodes.change(change)
    }

    fn parallelism(&self) -> usize {
        self.walk.settings.parallelism
    }

    fn cancel(&self) -> &CancelToken {
        &self.walk.environment.cancel
    }

    fn is_stopping(&self) -> bool {
        self.walk.is_stopping()
    }

    fn stop(&self) -> Self::Work {
        self.walk.emit(Event::Stopping);
        Work::StopProviders
    }

    fn activate(&self, node: NodeIx) {
        let walk = self.walk;
        if let Some((_, module, local)) = walk.declared(node)
            && let Declared::Resource(entry) = &module.template.nodes[local as usize]
        {
            return self.purpose.activate_resource(node, &module, entry);
        }
        walk.nodes.change(|graph| graph.activate(node, |_| true));
    }

    fn foresee(&self, nodes: &[NodeIx]) {
        self.walk.foresee_values(nodes);
    }

    fn turn(&self, node: NodeIx) -> Step<Self::Work> {
        let walk = self.walk;
        walk.reuse.count_turn();
        walk.enter(node);
        let run = || std::panic::catch_unwind(AssertUnwindSafe(|| self.run_node(node)));
        let (step, wanted) = walk.gather_calls(run);
        let step = step.unwrap_or_else(|_| {
            walk.report_panic();
            Step::Failed
        });
        if !wanted.is_empty() {
            return Step::Request(Work::Functions(wanted));
        }
        step.map(Work::Part)
    }

    async fn work(&self, node: Option<NodeIx>, work: &Self::Work) -> Result<(), Failed> {
        let mut work: Pin<&mut _> = pin!(self.do_work(node, work));
        std::future::poll_fn(|context| {
            match node {
                Some(node) => self.walk.enter(node),
                None => place::leave_node(),
            }
            work.as_mut().poll(context)
        })
        .await
    }

    fn lane(&self, node: NodeIx) -> Option<Lane> {
        let slots = self.walk.nodes.slots(self.walk.provider_node(node)?)?;
        // The tasks of a node may need different instances, and a node has only one lane.
        let mut slots = slots.values();
        slots.next().filter(|_| slots.next().is_none()).and_then(|it| self.walk.pool.lane(*it))
    }

    fn admit(&self, lane: Lane) -> bool {
        self.walk.pool.admit(lane)
    }

    fn leave(&self, lane: Lane) {
        self.walk.pool.end_start(lane);
    }

    async fn admission_changed(&self) {
        self.walk.pool.started_one.notified().await;
    }

    fn conclude(&self, node: NodeIx, ok: bool) -> bool {
        self.walk.conclude(node, ok)
    }

    fn note_kept(&self, node: NodeIx) {
        self.walk.reuse.add_unkept(node);
    }

    fn ending(&self, node: NodeIx) -> Option<Self::Work> {
        let walk = self.walk;
        if let Some(slots) = walk.nodes.slots(node) {
            return Some(Work::LeaveProvider(slots));
        }
        let mut opened = walk.store.opened_by(node);
        opened.retain(|open| !walk.pool.needs(&walk.store.get(*open)));
        (!opened.is_empty()).then_some(Work::Close(opened))
    }

    fn take_background(&self) -> Vec<Self::Work> {
        self.walk.store.take_unattended().into_iter().map(Work::Keep).collect()
    }

    fn end_background(&self) {
        self.walk.store.rest();
    }

    fn report_cycle(&self, nodes: &[NodeIx]) {
        let walk = self.walk;
        let names: Vec<String> = nodes.iter().filter_map(|node| walk.node_name(*node)).collect();
        let detail = "These parts of the configuration wait for each other, so none of them can be evaluated. \
                      Remove one of the references between them.";
        let summary = match names.as_slice() {
            [] => Summary::UNNAMED_CYCLE,
            names => Summary::cycle(names.join(", ")),
        };
        walk.report(Diagnostic::new(summary, detail));
    }

    fn report_panic(&self) {
        self.walk.report_panic();
    }
}

impl<P> Step<P> {
    /// Converts the work of the tasks.
    pub(crate) fn map<W>(self, convert: impl Fn(P) -> W) -> Step<W> {
        match self {
            Step::Done { keeps } => Step::Done { keeps },
            Step::Failed => Step::Failed,
            Step::Again => Step::Again,
            Step::Tasks(tasks) => Step::Tasks(tasks.into_iter().map(convert).collect()),
            Step::Request(work) => Step::Request(convert(work)),
        }
    }
}

impl Walk<'_> {
    /// Runs one turn of a declaration that is neither a resource nor an output, and adds nothing to the graph.
    fn run_declared(
        &self,
        node: NodeIx,
        index: ModuleIx,
        module: &Rc<ModuleRun>,
        declared: &Declared,
    ) -> Turn {
        match declared {
            Declared::Variable(entry) => self.run_variable(node, module, entry),
            Declared::Local(entry) => self.run_local(node, index, module, entry),
            Declared::Provider(entry) => self.run_provider(node, index, module, entry),
            Declared::ModuleOutput { call, output } => {
                self.run_module_output(node, module, call, output)
            }
            Declared::ModuleObject(call) => self.run_module_object(node, module, call),
            Declared::Check(_) | Declared::Assertions(_) if self.wait_for_values(node) => {
                Turn::Again
            }
            Declared::Check(entry) => self.run_check(index, module, entry),
            Declared::Assertions(entry) => self.run_assertions(index, entry),
            Declared::Gate(_)
            | Declared::CallDone(_)
            | Declared::Resource(_)
            | Declared::Output(_)
            | Declared::Import(_)
            | Declared::Expand(_)
            | Declared::Call(..) => self.run_gate(node),
        }
    }

    /// Ends a node that only orders others.
    fn run_gate(&self, node: NodeIx) -> Turn {
        let inherited = self.nodes.inherited(node);
        let version = self.reuse.memo(|memo| memo.version_of_inputs(self.inputs(node, &[])));
        self.nodes.facts(node, |it| {
            *it = Facts { version, opened: Default::default(), ..inherited };
        });
        Turn::Done { keeps: true }
    }

    fn report_interruption(&self) {
        let detail = match self.environment.cancel.level() {
            CancelLevel::Aborting => {
                "The operation was aborted. Actions that were running at that moment may or may \
                 not have taken effect: make a new plan to see."
            }
            _ => {
                "The operation was interrupted. Actions that had started were finished; no others \
                 were started."
            }
        };
        self.report(Diagnostic::new(Summary::RUN_INTERRUPTED, detail));
    }

    fn report_panic(&self) {
        let detail = "Mayfly encountered an unexpected situation. Open ephemeral resources are \
                      closed, and known results are kept. Please report this, with the steps that \
                      led to it.";
        self.report(Diagnostic::new(Summary::INTERNAL_ERROR, detail));
    }

    /// Registers this node as the current one, for the message that is shown if memory runs out.
    fn enter(&self, node: NodeIx) {
        let Some((_, module, local)) = self.declared(node) else {
            return place::leave_node();
        };
        let address = &module.address;
        let dot = if address.is_root() { "" } else { "." };
        match named(&module.template.nodes[local as usize]) {
            Some(name) => place::enter_node(node, format_args!("{address}{dot}{name}")),
            None => place::enter_node(node, format_args!("{address}")),
        }
    }

    /// The name of a node in messages; `None` if no user wrote it.
    fn node_name(&self, node: NodeIx) -> Option<String> {
        let (_, module, local) = self.declared(node)?;
        let name = named(&module.template.nodes[local as usize])?;
        Some(prefixed(&module.address.to_string(), &name.to_string()))
    }
}

/// The address of a declaration in its module.
struct Named<'d> {
    prefix: &'static str,
    name: &'d dyn fmt::Display,
    /// The alias of a provider configuration.
    alias: Option<&'d str>,
}

impl fmt::Display for Named<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", self.prefix, self.name)?;
        self.alias.map_or(Ok(()), |alias| write!(f, ".{alias}"))
    }
}

/// The address of a declaration. `None` if no user wrote it.
fn named(declared: &Declared) -> Option<Named<'_>> {
    let named = |prefix, name| Named { prefix, name, alias: None };
    Some(match declared {
        Declared::Variable(it) => named("var.", &it.variable().name),
        Declared::Local(it) => named("local.", &it.item.kind.as_local()?.name),
        Declared::Output(it) => named("output.", &it.output().name),
        Declared::Resource(it) => named("", &it.resource().resource),
        Declared::Provider(it) => {
            let config = it.provider_config();
            let alias = config.alias.as_deref();
            Named { alias, ..named("provider.", &config.local_name) }
        }
        Declared::Call(it, _) => named("module.", &it.module_call().name),
        Declared::Import(it) => named("import of ", &it.item.kind.as_import()?.to.resource),
        _ => return None,
    })
}
