//! Incremental runs: only the nodes that an edit can affect run again, and the rest of the last run is reused.
//!
//! ```text
//!   run ─► RetainedRun ─► touched nodes ─► all that use them, and what these need that was not kept ─► run again
//!            ▲                                                                                        │
//!            └──── graph, values and results of the others ◄──────────────────────────────────────────┘
//! ```
//!
//! **Invariant:** the result equals that of a full run with the same memo. If that is not certain, nothing is
//! reused and the whole graph runs: if the edit reached a module call, a provider, a condition or an ephemeral
//! resource; if instances have ephemeral values; if the state, a variable or a file changed; if the last run had
//! an error or a warning.
//! **Invariant:** no ephemeral value and no provider configuration is reused.

use std::{any::Any, rc::Rc, sync::Arc};

use addr::{ConfigResource, ModuleInstance, ResourceInstance, ResourceMode};
use hir::program::ModuleId;
use rustc_hash::FxHashSet;
use sorted::TreeSet;
use state::State;

use crate::{
    graph::{
        EdgeKind, Graph, NodeIx, NodeKind, Status,
        template::{Declared, Template, Touched},
    },
    memo::{Digest, Epoch, Memo, Version},
    request::PlanOutcome,
    resource::subject::has_conditions,
    runs::{decisions::DecisionParts, orphans::OrphanParts, planning::Planning},
    walk::{
        checks::Checks,
        context::Walk,
        modules::{Caller, ChildrenOfCalls, KeptModules, ModuleRun, PassedProviders, Placement},
        nodes::KeptNodes,
        outcome::{Facts, Outcome},
    },
};

/// A finished run without diagnostics, from which the next run can resume.
pub(crate) struct RetainedRun {
    epoch: Epoch,
    given: Digest,
    previous: Arc<State>,
    nodes: KeptNodes,
    modules: Vec<Detached>,
    /// The rest of the module instances' data.
    module_parts: KeptModules,
    orphans: OrphanParts,
    /// Nodes without a reusable result: nodes with ephemeral values, and providers.
    unkept: TreeSet<NodeIx>,
    /// The resources that are created before they are destroyed. A setting of one block affects blocks that it
    /// depends on, which no edge of the graph shows.
    created_first: TreeSet<ConfigResource>,
    results: Results,
}

/// The results of a run besides the values of its nodes.
struct Results {
    state: State,
    checks: Checks,
    decisions: DecisionParts,
}

/// A module instance without its template, because a template belongs to one program.
struct Detached {
    module: ModuleId,
    address: ModuleInstance,
    base: u32,
    caller: Option<Caller>,
    gate: Option<NodeIx>,
    passed: PassedProviders,
    children: ChildrenOfCalls,
}

/// The part of the graph that runs again.
pub(crate) struct Part {
    nodes: TreeSet<NodeIx>,
    /// The nodes of the part that were demanded before, in source order.
    demanded: TreeSet<NodeIx>,
    /// Nodes that run only because others need their values, with their previous versions. If one of them gets
    /// another version, the edit reached more than was assumed.
    unmoved: Vec<(NodeIx, Version)>,
}

/// The parts of a finished plan.
pub(crate) struct FinishedPlan {
    pub(crate) templates: Vec<Rc<Template>>,
    pub(crate) retained_run: Option<RetainedRun>,
    /// Data that is no longer needed. It is handed over because dropping it takes time.
    pub(crate) remains: Vec<Box<dyn Any>>,
}

impl RetainedRun {
    /// Replaces the edges of nodes with those that their templates have now.
    pub(crate) fn rewire(&mut self, walk: &Walk<'_>, touched: &Touched) {
        for &(id, local) in &touched.rewired {
            let template = &walk.config.templates[id.0 as usize];
            let edges = template.edges.iter().filter(|edge| edge.user == local);
            let edges: Vec<(u32, EdgeKind)> = edges.map(|it| (it.dependency, it.kind)).collect();
            for module in self.modules.iter().filter(|it| it.module == id) {
                let place = |(local, kind): &(u32, EdgeKind)| (NodeIx(module.base + local), *kind);
                let edges: Vec<(NodeIx, EdgeKind)> = edges.iter().map(place).collect();
                // Edges that lead out of the module are not in the template.
                self.nodes.graph.rewire(NodeIx(module.base + local), &edges, |dependency, kind| {
                    kind == EdgeKind::Provider || Some(dependency) == module.gate
                });
            }
        }
    }

    /// The part of the graph that must run after an edit that touched these nodes. `None` if everything must run.
    pub(crate) fn part(&self, walk: &Planning<'_>, touched: &Touched) -> Option<Part> {
        let is_same_state = self.previous.has_same_resources(walk.state.previous())
            && self.previous.outputs == walk.state.previous().outputs;
        if !is_same_state
            || self.epoch != walk.reuse.memo(Memo::epoch)
            || self.given != walk.given()
            || self.created_first != *walk.created_first()
        {
            return None;
        }
        let reached = self.reached(walk, touched)?;
        let providers = self.unkept.iter().filter(|it| self.is_provider(walk, **it));
        let mut demanded: TreeSet<NodeIx> = reached.iter().chain(providers).copied().collect();
        demanded.retain(|it| self.nodes.graph.status(*it) != Status::Idle);
        let nodes = self.with_needed(reached.iter().chain(&demanded).copied().collect());
        if !nodes.iter().all(|it| self.can_run_again(walk, *it)) {
            return None;
        }
        let others = nodes.difference(&reached).copied();
        let others = others.filter(|it| self.nodes.graph.status(*it) != Status::Idle);
        let unmoved = others.map(|it| (it, self.nodes.facts[it.0 as usize].version)).collect();
        Some(Part { nodes, demanded, unmoved })
    }

    /// The touched nodes in all instances of their modules, with all their direct and indirect dependents. `None`
    /// if one of these nodes cannot run again on its own.
    fn reached(&self, walk: &Walk<'_>, touched: &Touched) -> Option<TreeSet<NodeIx>> {
        let mut reached = TreeSet::new();
        let mut work = Vec::new();
        for (id, local) in &touched.nodes {
            let instances = self.modules.iter().filter(|it| it.module == *id);
            work.extend(instances.map(|it| NodeIx(it.base + local)));
        }
        while let Some(node) = work.pop() {
            if !reached.insert(node) {
                continue;
            }
            if !self.declared(walk, node).is_some_and(can_be_reached) {
                return None;
            }
            // An edge of kind `Hold` reads no value.
            let users = self.nodes.graph.users(node).filter(|(_, kind)| *kind != EdgeKind::Hold);
            work.extend(users.map(|(user, _)| user));
        }
        Some(reached)
    }

    /// Adds all dependencies that have no reusable result, direct and indirect.
    fn with_needed(&self, mut nodes: TreeSet<NodeIx>) -> TreeSet<NodeIx> {
        let mut work: Vec<NodeIx> = nodes.iter().copied().collect();
        while let Some(node) = work.pop() {
            for (dependency, ..) in self.nodes.graph.dependencies(node) {
                let is_kept = self.nodes.graph.status(dependency) == Status::Done
                    && !self.unkept.contains(&dependency);
                if !is_kept && nodes.insert(dependency) {
                    work.push(dependency);
                }
            }
        }
        nodes
    }

    fn can_run_again(&self, walk: &Walk<'_>, node: NodeIx) -> bool {
        let is_able = match self.nodes.graph.kind(node) {
            NodeKind::ImplicitProvider { .. } => true,
            _ => self.declared(walk, node).is_some_and(can_run_again),
        };
        is_able && self.nodes.graph.is_at_rest(node)
    }

    fn is_provider(&self, walk: &Walk<'_>, node: NodeIx) -> bool {
        matches!(self.nodes.graph.kind(node), NodeKind::ImplicitProvider { .. })
            || matches!(self.declared(walk, node), Some(Declared::Provider(_)))
    }

    fn declared<'w>(&self, walk: &'w Walk<'_>, node: NodeIx) -> Option<&'w Declared> {
        let NodeKind::Declared { module, local } = self.nodes.graph.kind(node) else { return None };
        let id = self.modules[module.0 as usize].module;
        Some(&walk.config.templates[id.0 as usize].nodes[local as usize])
    }
}

/// Returns true if the node can run again on its own after an edit that changes its result.
fn can_be_reached(declared: &Declared) -> bool {
    let is_ephemeral = match declared {
        Declared::Provider(_) => true,
        Declared::Variable(entry) => entry.variable().ephemeral,
        Declared::Expand(entry) | Declared::Resource(entry) => {
            entry.resource().resource.mode == ResourceMode::Ephemeral
        }
        _ => false,
    };
    !is_ephemeral && can_run_again(declared)
}

/// Returns true if the node can run again on its own. A module call changes the graph, and results of conditions
/// are stored by address, so such nodes cannot.
fn can_run_again(declared: &Declared) -> bool {
    match declared {
        Declared::Variable(entry) => entry.variable().validations.is_empty(),
        Declared::Output(entry) => entry.output().preconditions.is_empty(),
        Declared::Expand(entry) | Declared::Resource(entry) => !has_conditions(entry),
        Declared::Call(..) | Declared::Check(_) | Declared::Assertions(_) | Declared::Import(_) => {
            false
        }
        Declared::Local(_)
        | Declared::Provider(_)
        | Declared::Gate(_)
        | Declared::CallDone(_)
        | Declared::ModuleOutput { .. }
        | Declared::ModuleObject(_) => true,
    }
}

impl Planning<'_> {
    /// Takes over the last run, and demands the part of it that runs again.
    pub(crate) fn resume(&self, retained_run: RetainedRun, part: &Part) {
        let RetainedRun { modules, mut module_parts, unkept, results, .. } = retained_run;
        let modules = modules.into_iter().map(|it| Rc::new(it.attach(&self.config.templates)));
        module_parts.list.extend(modules);
        self.modules.restore(module_parts);
        self.orphans.restore(retained_run.orphans);
        self.nodes.restore(retained_run.nodes);
        self.reuse.restore_unkept(unkept.difference(&part.nodes).copied().collect());
        self.take_results(results);
        self.forget_results(&part.nodes);
        self.nodes.change(|graph| {
            graph.begin_again(&part.nodes);
            part.demanded.iter().for_each(|node| graph.demand(*node));
            part.nodes.iter().for_each(|node| graph.settle(*node));
        });
    }

    fn take_results(&self, results: Results) {
        let Results { state, checks, decisions } = results;
        self.state.restore(state);
        self.checks.restore(checks);
        self.decisions.restore(decisions);
    }

    /// Removes the results of these nodes from the results of the run.
    fn forget_results(&self, nodes: &TreeSet<NodeIx>) {
        let mut resources = FxHashSet::default();
        for &node in nodes {
            self.nodes.facts(node, |it| *it = Facts::default());
            let outcome = self.nodes.change_outcome(node, std::mem::take);
            if let Outcome::Keys(keys) = outcome {
                let rest = self.modules.instances().saturating_sub(keys.instances.len());
                self.modules.set_instances(rest);
            }
            let Some((_, module, local)) = self.declared(node) else { continue };
            match &module.template.nodes[local as usize] {
                Declared::Resource(entry) => {
                    let resource = entry.resource().resource.clone();
                    resources.insert(resource.in_module(module.address.clone()));
                }
                Declared::Output(entry) if module.caller.is_none() => {
                    self.decisions.remove_output(&entry.output().name);
                }
                _ => {}
            }
        }
        let is_other = |it: &ResourceInstance| !resources.contains(&it.containing_resource());
        self.decisions.retain(is_other);
        let previous = self.state.previous();
        self.state.change(|state| resources.iter().for_each(|it| state.put_back(it, previous)));
    }

    /// A digest of the given values of variables. It allows comparing them without keeping them.
    fn given(&self) -> Digest {
        self.reuse.memo(|memo| {
            let given = self.config.variables.iter().flat_map(|(name, given)| {
                [memo.digest(&[name.as_bytes()]), memo.value_digest(&given.value)]
            });
            memo.combine(&given.collect::<Vec<_>>())
        })
    }

    /// Returns true if the next run can resume from this one.
    fn is_resumable(&self, outcome: &PlanOutcome, part: Option<&Part>) -> bool {
        let unmoved = part.map(|it| it.unmoved.as_slice()).unwrap_or_default();
        let is_unmoved = |(node, version): &(NodeIx, Version)| {
            self.nodes.facts(*node, |it| it.version == *version)
        };
        outcome.diagnostics.is_empty()
            && !self.is_stopping()
            && !self.reuse.has_ephemeral_instances()
            && !self.nodes.graph(Graph::any_failed)
            && unmoved.iter().all(is_unmoved)
    }

    /// Splits the run into what the next run can reuse and what is no longer needed.
    pub(crate) fn into_parts(self, outcome: &PlanOutcome, part: Option<&Part>) -> FinishedPlan {
        let is_resumable = self.is_resumable(outcome, part);
        let (epoch, given) = (self.reuse.memo(Memo::epoch), self.given());
        let unkept = self.reuse.take_unkept();
        let created_first = self.created_first().clone();
        for node in &unkept {
            self.set_outcome(*node, Outcome::None);
            self.nodes.facts(*node, |it| it.opened = Rc::default());
        }
        let mut module_parts = self.modules.take();
        let modules = std::mem::take(&mut module_parts.list).into_iter();
        let modules: Option<Vec<Detached>> =
            modules.map(|it| Rc::try_unwrap(it).ok().map(Detached::from)).collect();
        let plan = &outcome.plan;
        let retained_run = modules.filter(|_| is_resumable).map(|modules| RetainedRun {
            epoch,
            given,
            previous: Arc::clone(self.state.previous()),
            nodes: self.nodes.take(),
            modules,
            module_parts,
            orphans: self.orphans.take(),
            unkept,
            created_first,
            results: Results {
                state: outcome.refreshed.clone(),
                checks: self.checks.take(),
                decisions: DecisionParts {
                    changes: plan.resource_changes.clone(),
                    drift: plan.resource_drift.iter().map(|it| (it.object(), it.clone())).collect(),
                    outputs: plan.output_changes.clone(),
                    ephemerals: Vec::new(),
                },
            },
        });
        let mut remains: Vec<Box<dyn Any>> =
            vec![Box::new(self.nodes.take()), Box::new(self.orphans.take())];
        let walk = self.into_walk();
        remains.push(Box::new(walk.state));
        FinishedPlan { templates: walk.config.templates, retained_run, remains }
    }
}

impl Detached {
    fn attach(self, templates: &[Rc<Template>]) -> ModuleRun {
        let Detached { module, address, base, caller, gate, passed, children } = self;
        let template = Rc::clone(&templates[module.0 as usize]);
        let run = ModuleRun::new(template, base, Placement { address, caller, gate, passed });
        run.restore_children(children);
        run
    }
}

impl From<ModuleRun> for Detached {
    fn from(run: ModuleRun) -> Detached {
        let (module, children) = (run.id(), run.take_children());
        let ModuleRun { address, base, caller, gate, passed, .. } = run;
        Detached { module, address, base, caller, gate, passed, children }
    }
}
