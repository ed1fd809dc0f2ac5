//! Running only what an edit can have reached; everything else of the last run stands.
//!
//! ```text
//!   run ─► Standing ─► touched nodes ─► all that use them, and what these need that was not kept ─► run again
//!            ▲                                                                                        │
//!            └──── graph, values and results of the others ◄──────────────────────────────────────────┘
//! ```
//!
//! **Invariant:** what comes out is what a whole run with the same memo would give. Where that cannot be told (a module call,
//! a provider, a condition or an ephemeral resource was reached; instances have ephemeral values; the state, a variable or a
//! file is another; something failed or was warned about), nothing stands and everything is walked.
//! **Invariant:** no ephemeral value stands, and no configuration of a provider.

use std::{
    any::Any,
    cell::OnceCell,
    collections::{BTreeMap, BTreeSet},
    rc::Rc,
    sync::Arc,
};

use ::values::Str;
use addr::{AbsResource, ModuleInstance, ModulePath, ResourceInstance, ResourceMode};
use hir::program::ModuleId;
use rustc_hash::{FxHashMap, FxHashSet};
use state::{OutputChange, ResourceChange, State};

use super::{
    Facts, KeptNodes, ModuleRun, Orphan, Outcome, Walk,
    checks::Checks,
    modules::{Caller, Children},
};
use crate::{
    graph::{Declared, EdgeKind, Graph, NodeIx, NodeKind, Status, Template, Touched},
    memo::{Digest, Epoch, Version},
    request::PlanOutcome,
    resource::has_conditions,
};

/// A run that came to its end, and that nothing was wrong with.
pub(crate) struct Standing {
    epoch: Epoch,
    given: Digest,
    previous: Arc<State>,
    nodes: KeptNodes,
    modules: Vec<Detached>,
    orphans: Vec<Rc<Orphan>>,
    orphan_nodes: FxHashMap<AbsResource, NodeIx>,
    implicit_providers: Vec<addr::ProviderSource>,
    implicit_by_source: FxHashMap<addr::ProviderSource, NodeIx>,
    /// Nodes without a result: those of what is ephemeral, and providers.
    unkept: BTreeSet<NodeIx>,
    instances: usize,
    results: Results,
}

/// What a run found out, apart from the values of its nodes.
struct Results {
    state: State,
    checks: Checks,
    changes: Vec<ResourceChange>,
    drift: Vec<ResourceChange>,
    outputs: BTreeMap<Str, OutputChange>,
}

/// A module instance without its template, which is one program's.
struct Detached {
    module: ModuleId,
    address: ModuleInstance,
    path: ModulePath,
    base: u32,
    caller: Option<Caller>,
    gate: Option<NodeIx>,
    passed: BTreeMap<(Str, Option<Str>), NodeIx>,
    children: FxHashMap<Str, Children>,
}

/// What runs again.
pub(crate) struct Part {
    nodes: BTreeSet<NodeIx>,
    /// Those that were demanded before, in the order of the source.
    demanded: BTreeSet<NodeIx>,
    /// Those that run for the sake of others only, and what they were: if one of them comes out in another way, more was
    /// reached than was thought.
    unmoved: Vec<(NodeIx, Version)>,
}

/// What a walk leaves behind.
pub(crate) struct Apart {
    pub(crate) templates: Vec<Rc<Template>>,
    pub(crate) standing: Option<Standing>,
    /// What is of no more use, and takes time to drop.
    pub(crate) remains: Vec<Box<dyn Any>>,
}

impl Standing {
    /// Gives nodes the edges that their templates have now.
    pub(crate) fn rewire(&mut self, walk: &Walk<'_>, touched: &Touched) {
        for &(id, local) in &touched.rewired {
            let template = &walk.templates[id.0 as usize];
            let edges = template.edges.iter().filter(|edge| edge.user == local);
            let edges: Vec<(u32, EdgeKind)> = edges.map(|it| (it.dependency, it.kind)).collect();
            for module in self.modules.iter().filter(|it| it.module == id) {
                let place = |(local, kind): &(u32, EdgeKind)| (NodeIx(module.base + local), *kind);
                let edges: Vec<(NodeIx, EdgeKind)> = edges.iter().map(place).collect();
                // Those that lead out of the module are no template's.
                self.nodes.graph.rewire(NodeIx(module.base + local), &edges, |dependency, kind| {
                    kind == EdgeKind::Provider || Some(dependency) == module.gate
                });
            }
        }
    }

    /// What runs again after an edit that touched these nodes; none if everything has to.
    pub(crate) fn part(&self, walk: &Walk<'_>, touched: &Touched) -> Option<Part> {
        let is_same_state = self.previous.has_same_resources(&walk.previous)
            && self.previous.outputs == walk.previous.outputs;
        if !is_same_state || self.epoch != walk.memo.borrow().epoch() || self.given != walk.given()
        {
            return None;
        }
        let reached = self.reached(walk, touched)?;
        let providers = self.unkept.iter().filter(|it| self.is_provider(walk, **it));
        let mut demanded: BTreeSet<NodeIx> = reached.iter().chain(providers).copied().collect();
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

    /// The touched nodes in all instances of their modules, and everything that uses them in some way.
    fn reached(&self, walk: &Walk<'_>, touched: &Touched) -> Option<BTreeSet<NodeIx>> {
        let mut reached = BTreeSet::new();
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
            // Holding something is no use of it.
            let users = self.nodes.graph.users(node).filter(|(_, kind)| *kind != EdgeKind::Hold);
            work.extend(users.map(|(user, _)| user));
        }
        Some(reached)
    }

    /// Nodes with everything that they need and that has no result.
    fn with_needed(&self, mut nodes: BTreeSet<NodeIx>) -> BTreeSet<NodeIx> {
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
        Some(&walk.templates[id.0 as usize].nodes[local as usize])
    }
}

/// Whether a node and what it stands for can be run again alone, after an edit that changes what it comes to.
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

/// Whether a node can be run again alone. Making module instances changes the graph, and results of conditions are kept by
/// address.
fn can_run_again(declared: &Declared) -> bool {
    match declared {
        Declared::Variable(entry) => entry.variable().validations.is_empty(),
        Declared::Output(entry) => entry.output().preconditions.is_empty(),
        Declared::Expand(entry) | Declared::Resource(entry) => !has_conditions(entry),
        Declared::Call(..) | Declared::Check(_) => false,
        Declared::Local(_)
        | Declared::Provider(_)
        | Declared::Gate(_)
        | Declared::CallDone(_)
        | Declared::ModuleOutput { .. }
        | Declared::ModuleObject(_) => true,
    }
}

impl Walk<'_> {
    /// Takes over what stands, and demands the part of it that runs again.
    pub(crate) fn resume(&self, standing: Standing, part: &Part) {
        let Standing { modules, orphans, orphan_nodes, unkept, instances, results, .. } = standing;
        let modules = modules.into_iter().map(|it| Rc::new(it.attach(&self.templates)));
        self.modules.replace(modules.collect());
        self.orphans.replace(orphans);
        self.orphan_nodes.replace(orphan_nodes);
        self.implicit_providers.replace(standing.implicit_providers);
        self.implicit_by_source.replace(standing.implicit_by_source);
        self.nodes.restore(standing.nodes);
        self.unkept.replace(unkept.difference(&part.nodes).copied().collect());
        self.instances.set(instances);
        self.take_results(results);
        self.forget_results(&part.nodes);
        self.nodes.change(|graph| {
            graph.begin_again(&part.nodes);
            part.demanded.iter().for_each(|node| graph.demand(*node));
            part.nodes.iter().for_each(|node| graph.settle(*node));
        });
    }

    fn take_results(&self, results: Results) {
        let Results { state, checks, changes, drift, outputs } = results;
        self.state.replace(state);
        self.checks.replace(checks);
        self.changes.replace(changes);
        self.drift.replace(drift.into_iter().map(|it| (it.addr.clone(), it)).collect());
        self.outputs.replace(outputs);
    }

    /// Takes back what nodes have found out.
    fn forget_results(&self, nodes: &BTreeSet<NodeIx>) {
        let mut resources = FxHashSet::default();
        for &node in nodes {
            self.nodes.facts(node, |it| *it = Facts::default());
            let outcome = self.nodes.change_outcome(node, std::mem::take);
            if let Outcome::Keys(keys) = outcome {
                self.instances.set(self.instances.get().saturating_sub(keys.instances.len()));
            }
            let Some((_, module, local)) = self.declared(node) else { continue };
            match &module.template.nodes[local as usize] {
                Declared::Resource(entry) => {
                    let resource = entry.resource().resource.clone();
                    resources.insert(resource.in_module(module.address.clone()));
                }
                Declared::Output(entry) if module.caller.is_none() => {
                    self.outputs.borrow_mut().remove(&entry.output().name);
                }
                _ => {}
            }
        }
        let is_other = |it: &ResourceInstance| !resources.contains(&it.containing_resource());
        self.changes.borrow_mut().retain(|it| is_other(&it.addr));
        self.drift.borrow_mut().retain(|address, _| is_other(address));
        let mut state = self.state.borrow_mut();
        resources.iter().for_each(|it| state.put_back(it, &self.previous));
    }

    /// The values that were given for variables, so that they can be compared without being kept.
    fn given(&self) -> Digest {
        let memo = self.memo.borrow();
        let given = self.variables.iter().flat_map(|(name, given)| {
            [memo.digest(&[name.as_bytes()]), memo.value_digest(&given.value)]
        });
        memo.combine(&given.collect::<Vec<_>>())
    }

    /// Whether the next run can stand on this one.
    fn stands(&self, outcome: &PlanOutcome, part: Option<&Part>) -> bool {
        let unmoved = part.map(|it| it.unmoved.as_slice()).unwrap_or_default();
        let is_unmoved = |(node, version): &(NodeIx, Version)| {
            self.nodes.facts(*node, |it| it.version == *version)
        };
        outcome.diagnostics.is_empty()
            && !self.is_stopping()
            && !self.has_ephemeral_instances.get()
            && !self.nodes.graph(Graph::any_failed)
            && unmoved.iter().all(is_unmoved)
    }

    /// What the next run can use, and what is of no more use.
    pub(crate) fn take_apart(self, outcome: &PlanOutcome, part: Option<&Part>) -> Apart {
        let stands = self.stands(outcome, part);
        let (epoch, given) = (self.memo.borrow().epoch(), self.given());
        let unkept = self.unkept.take();
        for node in &unkept {
            self.set_outcome(*node, Outcome::None);
            self.nodes.facts(*node, |it| it.opened = Rc::default());
        }
        let modules = self.modules.take().into_iter();
        let modules: Option<Vec<Detached>> =
            modules.map(|it| Rc::try_unwrap(it).ok().map(Detached::from)).collect();
        let plan = &outcome.plan;
        let standing = modules.filter(|_| stands).map(|modules| Standing {
            epoch,
            given,
            previous: Arc::clone(&self.previous),
            nodes: self.nodes.take(),
            modules,
            orphans: self.orphans.take(),
            orphan_nodes: self.orphan_nodes.take(),
            implicit_providers: self.implicit_providers.take(),
            implicit_by_source: self.implicit_by_source.take(),
            unkept,
            instances: self.instances.get(),
            results: Results {
                state: outcome.refreshed.clone(),
                checks: self.checks.take(),
                changes: plan.resource_changes.clone(),
                drift: plan.resource_drift.clone(),
                outputs: plan.output_changes.clone(),
            },
        });
        let remains: Vec<Box<dyn Any>> = vec![
            Box::new(self.nodes.take()),
            Box::new(self.orphans.take()),
            Box::new(self.orphan_nodes.take()),
            Box::new(self.previous),
        ];
        Apart { templates: self.templates, standing, remains }
    }
}

impl Detached {
    fn attach(self, templates: &[Rc<Template>]) -> ModuleRun {
        let Detached { module, address, path, base, caller, gate, passed, children } = self;
        let template = Rc::clone(&templates[module.0 as usize]);
        let children = children.into();
        ModuleRun {
            template,
            address,
            path,
            base,
            caller,
            gate,
            passed,
            children,
            temp: OnceCell::new(),
        }
    }
}

impl From<ModuleRun> for Detached {
    fn from(run: ModuleRun) -> Detached {
        let module = run.id();
        let ModuleRun { address, path, base, caller, gate, passed, children, .. } = run;
        let children = children.into_inner();
        Detached { module, address, path, base, caller, gate, passed, children }
    }
}
