//! The order of destructions: each object is destroyed after all objects that depend on it.
//!
//! ```text
//!   destroy b[0] ──► done b ──► ready a ──► destroy a[0]        (b depends on a)
//!   destroy b[1] ──┘                   └──► destroy a[1]
//! ```
//! The instances of a resource meet in one node, so that the number of edges grows with instances and dependencies,
//! not with pairs of instances.

use std::collections::{BTreeMap, BTreeSet};

use addr::{ConfigResource, ProviderConfigRef, ResourceInstance};
use rustc_hash::FxHashMap;
use state::{ResourceChange, State};

use crate::{
    graph::{EdgeKind, NodeIx, NodeKind},
    walk::{context::Walk, modules::FoundProvider},
};

/// The nodes of the destructions of an apply, and their order.
#[derive(Default)]
pub(crate) struct Destruction<'p> {
    /// The node that destroys the current object of an instance.
    nodes: FxHashMap<&'p ResourceInstance, NodeIx>,
    /// The gates of each resource with destroyed objects.
    gates: BTreeMap<ConfigResource, Gates>,
    /// For each resource, the resources whose destroyed objects depend on it.
    dependents: Dependents,
}

type Dependents = FxHashMap<ConfigResource, BTreeSet<ConfigResource>>;

/// The nodes that order the destruction of one resource's instances.
struct Gates {
    ready: NodeIx,
    done: NodeIx,
    /// The provider configuration of the destroyed objects.
    provider: ProviderConfigRef,
}

/// Returns true if a provider configuration is derived from a resource that the apply also creates. The destruction
/// of objects of that provider must then wait for the resource, and not the other way round.
pub(crate) type NeedsResource<'n> = &'n dyn Fn(&ProviderConfigRef, &ConfigResource) -> bool;

impl<'p> Destruction<'p> {
    /// Adds a node to the graph for every object that the plan destroys. `needs` tells which provider
    /// configurations depend on resources that the apply creates.
    pub(crate) fn add(
        walk: &Walk<'_>,
        destroyed: &[&'p ResourceChange],
        needs: NeedsResource<'_>,
    ) -> Destruction<'p> {
        let mut destruction = Destruction::default();
        for (index, change) in destroyed.iter().enumerate() {
            destruction.add_node(walk, index as u32, change);
        }
        let previous = walk.state.previous();
        let dependents = stored_dependents(previous, destroyed, &destruction.gates, needs);
        for (dependent, dependency) in without_cycles(&destruction.gates, &dependents) {
            let before = destruction.gates[dependent].done;
            let after = destruction.gates[dependency].ready;
            walk.nodes.change(|graph| graph.add_edge(before, after, EdgeKind::Order));
        }
        Destruction { dependents, ..destruction }
    }

    fn add_node(&mut self, walk: &Walk<'_>, index: u32, change: &'p ResourceChange) {
        let node = walk.nodes.add(NodeKind::Destroy { index });
        let gate = self.gates.entry(change.addr.config()).or_insert_with(|| Gates {
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
        if change.deposed.is_none() {
            self.nodes.insert(&change.addr, node);
        }
        walk.nodes.change(|graph| graph.demand(node));
    }

    /// The node that destroys the current object of an instance; `None` if the plan does not destroy it.
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
        let dependencies = dependencies
            .filter(|it| self.gates.get(it).is_some_and(|gate| !needs(&gate.provider, &config)));
        let before = dependents.chain(dependencies).filter(|it| **it != config);
        before.filter_map(|it| Some(self.gates.get(it)?.done)).collect()
    }
}

/// For each resource, the resources with destroyed objects that depend on it according to the state.
fn stored_dependents(
    previous: &State,
    destroyed: &[&ResourceChange],
    gates: &BTreeMap<ConfigResource, Gates>,
    needs: NeedsResource<'_>,
) -> Dependents {
    let mut dependents = Dependents::default();
    for change in destroyed {
        let Some(object) = previous.object(&change.object()) else { continue };
        let config = change.addr.config();
        let Some((config, gate)) = gates.get_key_value(&config) else { continue };
        for dependency in object.dependencies.iter().filter(|it| *it != config) {
            let known = dependents.get(dependency).is_some_and(|it| it.contains(config));
            if !known && !needs(&gate.provider, dependency) {
                dependents.entry(dependency.clone()).or_default().insert(config.clone());
            }
        }
    }
    dependents
}

/// Pairs of a resource and its dependency, both with destroyed objects. Stored dependencies can form a cycle, for
/// example if a reference was reversed since the last apply. Pairs that would close a cycle are left out.
fn without_cycles<'d>(
    gates: &'d BTreeMap<ConfigResource, Gates>,
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
