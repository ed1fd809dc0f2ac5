//! The order of destructions: each object is destroyed after all objects that depend on it.
//!
//! ```text
//!   destroy b[0] ──► done b ──► ready a ──► destroy a[0]        (b depends on a)
//!   destroy b[1] ──┘                   └──► destroy a[1]
//! ```
//! The instances of a resource meet in one node, so that the number of edges grows with instances and dependencies,
//! not with pairs of instances. The destructions that wait for creations (`late.rs`) have gates of their own:
//!
//! ```text
//!   all instances of b ──► applied b ──► ready (late) a ──► destroy the old a[0]
//! ```

use std::sync::Arc;

use addr::{ConfigResource, ModulePath, ProviderConfigRef, Resource, ResourceInstance};
use rustc_hash::FxHashMap;
use sorted::{TreeMap, TreeSet};
use state::{ResourceChange, State};
use values::Str;

use crate::{
    graph::{EdgeKind, NodeIx, NodeKind},
    runs::{
        late::{LateDestructions, Waits},
        planned_actions::PlannedActions,
    },
    walk::{
        context::Walk,
        modules::{FoundProvider, ModuleRun},
    },
};

/// The nodes of the destructions of an apply, and their order.
#[derive(Default)]
pub(crate) struct Destruction<'p> {
    /// The node that destroys the current object of an instance before any other work on the instance.
    nodes: FxHashMap<&'p ResourceInstance, NodeIx>,
    /// The gates of each resource with destroyed objects.
    gates: TreeMap<ConfigResource, ResourceGates>,
    /// For each resource, the resources whose destroyed objects depend on it.
    dependents: Dependents,
    /// The nodes that complete when a resource is applied.
    applied: FxHashMap<ConfigResource, NodeIx>,
    /// The parts of each module that these nodes wait for.
    awaited: FxHashMap<ModulePath, Vec<(Awaited, NodeIx)>>,
}

type Dependents = FxHashMap<ConfigResource, TreeSet<ConfigResource>>;

/// The gates of one resource.
#[derive(Default)]
struct ResourceGates {
    /// Of the destructions that creations wait for.
    early: Option<Gates>,
    /// Of the destructions that wait for creations.
    late: Option<Gates>,
}

/// The nodes that order the destruction of one resource's instances.
struct Gates {
    ready: NodeIx,
    done: NodeIx,
    /// The provider configuration of the destroyed objects.
    provider: Arc<ProviderConfigRef>,
}

/// A part of a module that a node of the kind [`NodeKind::Applied`] waits for.
enum Awaited {
    /// The instances of a resource.
    Resource(Resource),
    /// The expansion of a call, after which its instances are known.
    Call(Str),
}

/// Returns true if a provider configuration is derived from a resource that the apply also creates. The destruction
/// of objects of that provider must then wait for the resource, and not the other way round.
pub(crate) type NeedsResource<'n> = &'n dyn Fn(&ProviderConfigRef, &ConfigResource) -> bool;

impl ResourceGates {
    fn all(&self) -> impl Iterator<Item = (&Gates, bool)> {
        let early = self.early.iter().map(|it| (it, false));
        early.chain(self.late.iter().map(|it| (it, true)))
    }
}

impl<'p> Destruction<'p> {
    /// Adds a node to the graph for every object that the plan destroys. `needs` tells which provider
    /// configurations depend on resources that the apply creates.
    pub(crate) fn add(
        walk: &Walk<'_>,
        planned: &PlannedActions<'p>,
        needs: NeedsResource<'_>,
    ) -> Destruction<'p> {
        let mut destruction = Destruction::default();
        let (previous, destroyed) = (walk.state.previous(), planned.destroyed());
        let late = LateDestructions::of(planned, previous, |it| walk.dependencies_of(it));
        for (index, change) in destroyed.iter().enumerate() {
            destruction.add_node(walk, index as u32, change, late.is_late(index));
        }
        let dependents = stored_dependents(previous, destroyed, &destruction.gates);
        for (dependent, dependency) in without_cycles(&destruction.gates, &dependents) {
            destruction.order(walk, dependent, dependency, needs);
        }
        for (resource, waits) in late.waits() {
            destruction.wait(walk, resource, waits);
        }
        Destruction { dependents, ..destruction }
    }

    fn add_node(&mut self, walk: &Walk<'_>, index: u32, change: &'p ResourceChange, late: bool) {
        let node = walk.nodes.add(NodeKind::Destroy { index });
        let gates = self.gates.entry(change.addr.config()).or_default();
        let gates = if late { &mut gates.late } else { &mut gates.early };
        let gate = gates.get_or_insert_with(|| Gates {
            ready: walk.nodes.add(NodeKind::DestroyReady { index }),
            done: walk.nodes.add(NodeKind::DestroyDone { index }),
            provider: change.provider.clone(),
        });
        walk.nodes.change(|graph| {
            graph.add_edge(gate.ready, node, EdgeKind::Order);
            graph.add_edge(node, gate.done, EdgeKind::Order);
        });
        if let FoundProvider::Node(provider) = walk.find_provider_ref(&change.provider) {
            walk.nodes.change(|graph| graph.add_edge(provider, node, EdgeKind::Hold));
        }
        if change.deposed.is_none() && !late {
            self.nodes.insert(&change.addr, node);
        }
        walk.nodes.change(|graph| graph.demand(node));
    }

    /// Orders the destructions of a resource after those of one of its dependents. Early destructions do not wait for
    /// late ones.
    fn order(
        &self,
        walk: &Walk<'_>,
        dependent: &ConfigResource,
        dependency: &ConfigResource,
        needs: NeedsResource<'_>,
    ) {
        for (after, is_late) in self.gates[dependency].all() {
            for (before, waits) in self.gates[dependent].all() {
                if is_late || !(waits || needs(&before.provider, dependency)) {
                    let (done, ready) = (before.done, after.ready);
                    walk.nodes.change(|graph| graph.add_edge(done, ready, EdgeKind::Order));
                }
            }
        }
    }

    /// Makes the late destructions of a resource wait for creations and updates. If the creation of one instance fails,
    /// only the object that it replaces stays.
    fn wait(&mut self, walk: &Walk<'_>, resource: &ConfigResource, waits: &Waits) {
        let Some(ready) = self.gates[resource].late.as_ref().map(|it| it.ready) else { return };
        let own = waits.own.then_some((resource, EdgeKind::Partial));
        let dependents = waits.dependents.iter().map(|it| (it, EdgeKind::Order));
        for (awaited, kind) in own.into_iter().chain(dependents) {
            let applied = self.applied(walk, awaited);
            walk.nodes.change(|graph| graph.add_edge(applied, ready, kind));
        }
    }

    /// The node that completes when all instances of a resource are applied.
    fn applied(&mut self, walk: &Walk<'_>, resource: &ConfigResource) -> NodeIx {
        if let Some(node) = self.applied.get(resource) {
            return *node;
        }
        let node = walk.nodes.add(NodeKind::Applied);
        self.applied.insert(resource.clone(), node);
        let mut module = ModulePath::root();
        for name in resource.module.names() {
            let call = Awaited::Call(Str::from(name.as_str()));
            let child = module.child(name.as_str());
            self.awaited
                .entry(std::mem::replace(&mut module, child))
                .or_default()
                .push((call, node));
        }
        let resource = Awaited::Resource(resource.resource.clone());
        self.awaited.entry(module).or_default().push((resource, node));
        node
    }

    /// Makes late destructions wait for what they await in a new module instance.
    pub(crate) fn connect(&self, walk: &Walk<'_>, module: &ModuleRun) {
        for (awaited, node) in self.awaited.get(&module.path).into_iter().flatten() {
            let template = &module.template;
            let before = match awaited {
                Awaited::Resource(resource) => template.resources.get(resource).copied(),
                Awaited::Call(name) => template.calls.get(name).map(|it| it.call),
            };
            if let Some(before) = before {
                walk.nodes.change(|graph| graph.add_order(module.node(before), *node));
            }
        }
    }

    /// The node that destroys the current object of an instance before any other work on the instance; `None` if the
    /// plan does not destroy it, or only afterwards.
    pub(crate) fn node(&self, address: &ResourceInstance) -> Option<NodeIx> {
        self.nodes.get(address).copied()
    }

    /// The nodes of the destructions that come before a change of an instance: of objects that depended on it, and
    /// of objects that it depended on, since its block no longer refers to them.
    pub(crate) fn before(
        &self,
        previous: &State,
        instance: &ResourceInstance,
        needs: NeedsResource<'_>,
    ) -> Vec<NodeIx> {
        let config = instance.config();
        let dependents = self.dependents.get(&config).into_iter().flatten();
        let object = previous.current(instance);
        let dependencies = object.iter().flat_map(|it| it.dependencies.iter());
        let others = dependents.chain(dependencies).filter(|it| **it != config);
        let gates = others.filter_map(|it| self.gates.get(it)?.early.as_ref());
        gates.filter(|it| !needs(&it.provider, &config)).map(|it| it.done).collect()
    }
}

/// For each resource, the resources with destroyed objects that depend on it according to the state.
fn stored_dependents(
    previous: &State,
    destroyed: &[&ResourceChange],
    gates: &TreeMap<ConfigResource, ResourceGates>,
) -> Dependents {
    let mut dependents = Dependents::default();
    for change in destroyed {
        let Some(object) = previous.object(&change.object()) else { continue };
        let config = change.addr.config();
        let Some((config, _)) = gates.get_key_value(&config) else { continue };
        for dependency in object.dependencies.iter().filter(|it| *it != config) {
            if !dependents.get(dependency).is_some_and(|it| it.contains(config)) {
                dependents.entry(dependency.clone()).or_default().insert(config.clone());
            }
        }
    }
    dependents
}

/// Pairs of a resource and its dependency, both with destroyed objects. Stored dependencies can form a cycle, for
/// example if a reference was reversed since the last apply. Pairs that would close a cycle are left out.
fn without_cycles<'d>(
    gates: &'d TreeMap<ConfigResource, ResourceGates>,
    dependents: &'d Dependents,
) -> Vec<(&'d ConfigResource, &'d ConfigResource)> {
    let mut pairs = Vec::new();
    // False while the dependents of a resource are being visited.
    let mut is_visited: FxHashMap<&ConfigResource, bool> = FxHashMap::default();
    let of = |resource| dependents.get(resource).into_iter().flatten();
    for resource in gates.keys() {
        if is_visited.contains_key(resource) {
            continue;
        }
        is_visited.insert(resource, false);
        let mut path = vec![(resource, of(resource))];
        while let Some((dependency, rest)) = path.last_mut() {
            let dependency = *dependency;
            let Some(dependent) = rest.next() else {
                is_visited.insert(dependency, true);
                path.pop();
                continue;
            };
            match is_visited.get(dependent) {
                Some(false) => continue,
                Some(true) => {}
                None => {
                    is_visited.insert(dependent, false);
                    path.push((dependent, of(dependent)));
                }
            }
            pairs.push((dependent, dependency));
        }
    }
    pairs
}
