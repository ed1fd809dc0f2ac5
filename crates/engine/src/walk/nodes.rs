//! The nodes of a run: their edges, the outcome of each, and facts beside its value.
//!
//! **Invariant:** no borrow outlives a method. A closure given to a method must not call this component.

use std::{cell::RefCell, rc::Rc};

use values::Value;

use crate::{
    ephemeral::OpenIx,
    graph::{EdgeKind, Graph, NodeIx, NodeKind},
    memo::Version,
    pool::SlotIx,
    walk::{
        instances::Keys,
        outcome::{Facts, Outcome, ProviderInstance, ProviderSlots, ResourceValue},
    },
};

/// Every node that was added to a run.
#[derive(Default)]
pub(crate) struct Nodes {
    graph: RefCell<Graph>,
    outcomes: RefCell<Vec<Outcome>>,
    facts: RefCell<Vec<Facts>>,
}

/// The nodes of an ended run, which the next run may start from.
pub(crate) struct KeptNodes {
    pub(crate) graph: Graph,
    pub(crate) outcomes: Vec<Outcome>,
    pub(crate) facts: Vec<Facts>,
}

impl Nodes {
    /// Adds a node without an outcome.
    pub(crate) fn add(&self, kind: NodeKind) -> NodeIx {
        let node = self.graph.borrow_mut().add_node(kind);
        self.outcomes.borrow_mut().push(Outcome::None);
        self.facts.borrow_mut().push(Facts::default());
        node
    }

    #[inline]
    pub(crate) fn kind(&self, node: NodeIx) -> NodeKind {
        self.graph.borrow().kind(node)
    }

    /// Reads the graph.
    pub(crate) fn graph<T>(&self, read: impl FnOnce(&Graph) -> T) -> T {
        read(&self.graph.borrow())
    }

    /// Changes the graph.
    #[inline]
    pub(crate) fn change<T>(&self, change: impl FnOnce(&mut Graph) -> T) -> T {
        change(&mut self.graph.borrow_mut())
    }

    /// Reads the outcome of a node.
    pub(crate) fn outcome<T>(&self, node: NodeIx, read: impl FnOnce(&Outcome) -> T) -> T {
        read(&self.outcomes.borrow()[node.0 as usize])
    }

    /// Changes the outcome of a node.
    pub(crate) fn change_outcome<T>(
        &self,
        node: NodeIx,
        change: impl FnOnce(&mut Outcome) -> T,
    ) -> T {
        change(&mut self.outcomes.borrow_mut()[node.0 as usize])
    }

    /// Reads or changes the facts of a node.
    pub(crate) fn facts<T>(&self, node: NodeIx, change: impl FnOnce(&mut Facts) -> T) -> T {
        change(&mut self.facts.borrow_mut()[node.0 as usize])
    }

    /// The process slots of a provider's node; `None` for another node, or before it had its turn.
    pub(crate) fn slots(&self, node: NodeIx) -> Option<Rc<ProviderSlots>> {
        self.outcome(node, |outcome| match outcome {
            Outcome::Provider(slots) => Some(Rc::clone(slots)),
            _ => None,
        })
    }

    /// The process slot of one instance of a provider configuration.
    pub(crate) fn slot(&self, provider: &ProviderInstance) -> Option<SlotIx> {
        self.slots(provider.node)?.get(&provider.key).copied()
    }

    /// The instances of a resource as its expansion found them, or as the resource itself has them; `None` before that.
    pub(crate) fn keys(&self, node: NodeIx) -> Option<Rc<Keys>> {
        self.outcome(node, |outcome| match outcome {
            Outcome::Keys(keys) => Some(Rc::clone(keys)),
            Outcome::Resource(resource) => Some(Rc::clone(&resource.keys)),
            _ => None,
        })
    }

    /// Changes the value of a resource; does nothing if the node has none.
    pub(crate) fn change_resource(&self, node: NodeIx, change: impl FnOnce(&mut ResourceValue)) {
        self.change_outcome(node, |outcome| {
            if let Outcome::Resource(resource) = outcome {
                change(resource);
                resource.forget_whole();
            }
        });
    }

    /// The value of a node; `None` if it has none, or if the memo did not keep it.
    pub(crate) fn value(&self, node: NodeIx) -> Option<Value> {
        self.outcome(node, |outcome| match outcome {
            Outcome::Value(value) => Some(value.clone()),
            Outcome::Resource(resource) => Some(resource.whole()),
            _ => None,
        })
    }

    /// Gives `read` the versions of the dependencies that a node waits for.
    pub(crate) fn versions_read<T>(
        &self,
        node: NodeIx,
        read: impl FnOnce(&mut dyn Iterator<Item = Version>) -> T,
    ) -> T {
        let (graph, facts) = (self.graph.borrow(), self.facts.borrow());
        let active = graph.dependencies(node).filter(|(_, _, is_active)| *is_active);
        read(&mut active.map(|(dependency, ..)| facts[dependency.0 as usize].version))
    }

    /// Returns true if one of the dependencies that the nodes wait for fits.
    pub(crate) fn any_dependency(
        &self,
        nodes: &[NodeIx],
        fits: impl Fn(NodeKind, EdgeKind, &Facts) -> bool,
    ) -> bool {
        let (graph, facts) = (self.graph.borrow(), self.facts.borrow());
        let dependencies = nodes.iter().flat_map(|node| graph.dependencies(*node));
        let mut active = dependencies.filter(|(_, _, is_active)| *is_active);
        active.any(|(dependency, kind, _)| {
            fits(graph.kind(dependency), kind, &facts[dependency.0 as usize])
        })
    }

    /// The dependencies that are [`Outcome::Unchanged`]: a reader has to let them compute their values again.
    pub(crate) fn without_values(&self, node: NodeIx) -> Vec<NodeIx> {
        let outcomes = self.outcomes.borrow();
        let is_absent = |it: &NodeIx| matches!(outcomes[it.0 as usize], Outcome::Unchanged);
        let graph = self.graph.borrow();
        let active = graph.dependencies(node).filter(|(_, _, is_active)| *is_active);
        active.map(|(dependency, ..)| dependency).filter(is_absent).collect()
    }

    /// The facts that a node takes over from the dependencies that it waits for.
    pub(crate) fn inherited(&self, node: NodeIx) -> Facts {
        let graph = self.graph.borrow();
        let facts = self.facts.borrow();
        let mut opened: Vec<OpenIx> = Vec::new();
        let mut pending = false;
        for (dependency, _, is_active) in graph.dependencies(node) {
            if !is_active {
                continue;
            }
            let it = &facts[dependency.0 as usize];
            opened.extend(it.opened.iter().copied());
            pending |= it.pending;
        }
        sorted::sort(&mut opened);
        opened.dedup();
        Facts { opened: opened.into(), pending, ..Facts::default() }
    }

    /// Takes all nodes out.
    pub(crate) fn take(&self) -> KeptNodes {
        KeptNodes {
            graph: self.graph.take(),
            outcomes: self.outcomes.take(),
            facts: self.facts.take(),
        }
    }

    /// Puts the nodes of an earlier run in.
    pub(crate) fn restore(&self, kept: KeptNodes) {
        self.graph.replace(kept.graph);
        self.outcomes.replace(kept.outcomes);
        self.facts.replace(kept.facts);
    }
}
