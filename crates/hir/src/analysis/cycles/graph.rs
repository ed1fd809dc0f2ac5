//! The dependency graph of a module: its nodes have numbers, and it is sorted without recursion.

use rustc_hash::FxHashMap;

use crate::{
    Db,
    analysis::{
        analyzed::{AnalyzedId, AnalyzedItem},
        dependencies::{Dependency, Node, dependencies},
    },
    components::for_each_component,
};

/// The id of a node, valid on all handles of the database.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
struct NodeId {
    /// The item, or the call.
    item: AnalyzedId,
    argument: Option<u32>,
}

/// The dependencies of items, before the nodes of the graph have numbers. Each thread collects a list of its own;
/// the lists are then concatenated.
#[derive(Default)]
pub struct DependencyList {
    nodes: Vec<NodeId>,
    /// The targets of all nodes, one node after the other.
    targets: Vec<NodeId>,
    /// The number of targets of each node.
    counts: Vec<u32>,
}

impl DependencyList {
    /// Adds an item and, if it is a module call, its arguments.
    pub fn add<'db>(&mut self, db: &'db dyn Db, item: AnalyzedItem<'db>) {
        let dependencies = dependencies(db, item);
        let arguments = (0..dependencies.arguments).map(Some);
        for argument in std::iter::once(None).chain(arguments) {
            let edges = dependencies.of(argument);
            self.nodes.push(NodeId { item: item.id(), argument });
            self.counts.push(edges.len() as u32);
            let target = |it: &Dependency<'_>| NodeId {
                item: it.target.item.id(),
                argument: it.target.argument,
            };
            self.targets.extend(edges.iter().map(target));
        }
    }

    /// Adds an item that has no dependencies and is no module call.
    pub fn add_independent(&mut self, item: AnalyzedItem<'_>) {
        self.nodes.push(NodeId { item: item.id(), argument: None });
        self.counts.push(0);
    }

    /// Appends another list to this one.
    pub fn and(mut self, further: DependencyList) -> DependencyList {
        self.nodes.extend(further.nodes);
        self.targets.extend(further.targets);
        self.counts.extend(further.counts);
        self
    }

    /// The number of nodes: items and arguments of calls.
    pub fn len(&self) -> usize {
        self.nodes.len()
    }

    /// Returns true if the list has no nodes.
    pub fn is_empty(&self) -> bool {
        self.nodes.is_empty()
    }

    /// The items without dependencies.
    pub fn independent_items(&self) -> impl Iterator<Item = AnalyzedId> {
        let nodes = self.nodes.iter().zip(&self.counts);
        let lone = nodes.filter(|(node, count)| node.argument.is_none() && **count == 0);
        lone.map(|(node, _)| node.item)
    }
}

/// The nodes of a module, each with the nodes that it depends on.
pub(super) struct Graph {
    nodes: Vec<NodeId>,
    /// The targets of all nodes, one node after the other.
    targets: Vec<u32>,
    /// The position of the first target of each node, and the end of the last node's targets.
    starts: Vec<u32>,
}

impl Graph {
    pub(super) fn of(list: DependencyList) -> Graph {
        let DependencyList { nodes, targets: target_ids, counts } = list;
        let index: FxHashMap<NodeId, u32> = nodes.iter().copied().zip(0..).collect();
        let mut targets = Vec::with_capacity(target_ids.len());
        let mut starts = Vec::with_capacity(nodes.len() + 1);
        let mut target_ids = target_ids.into_iter();
        for count in counts {
            starts.push(targets.len() as u32);
            let of_node = target_ids.by_ref().take(count as usize);
            targets.extend(of_node.filter_map(|it| index.get(&it)));
        }
        starts.push(targets.len() as u32);
        Graph { nodes, targets, starts }
    }

    /// The node in the form that messages name.
    pub(super) fn node(&self, db: &dyn Db, node: usize) -> Node {
        let NodeId { item, argument } = self.nodes[node];
        let key = AnalyzedItem::of_id(db, item).key(db);
        argument.map_or(Node::Item(key), |argument| Node::Input(key, argument))
    }

    /// Returns true if a strongly connected component is a cycle: it has several members, or its only member
    /// depends on itself.
    pub(super) fn is_cycle(&self, members: &[usize]) -> bool {
        members.len() > 1 || self.targets(members[0]).contains(&(members[0] as u32))
    }

    /// Visits the strongly connected components, each after those that it depends on.
    pub(super) fn for_each_component(&self, visit: impl FnMut(&[usize])) {
        let target = |node, edge| self.targets(node).get(edge).map(|it| *it as usize);
        for_each_component(self.nodes.len(), target, visit);
    }

    pub(super) fn targets(&self, node: usize) -> &[u32] {
        &self.targets[self.starts[node] as usize..self.starts[node + 1] as usize]
    }
}

/// The items of a module in dependency order, so that inferring them in turn needs no recursion.
pub struct DependencyOrder {
    /// The items, each after its dependencies.
    pub items: Vec<AnalyzedId>,
    /// True if some items depend on themselves.
    pub has_cycles: bool,
    /// The length of the longest chain of dependencies.
    pub depth: usize,
}

impl DependencyOrder {
    /// Sorts the items of a module; `list` holds the dependencies of all of them.
    pub fn of(list: DependencyList) -> DependencyOrder {
        let graph = Graph::of(list);
        let (mut items, mut has_cycles, mut depth) =
            (Vec::with_capacity(graph.nodes.len()), false, 0);
        let mut depths = vec![0; graph.nodes.len()];
        graph.for_each_component(|members| {
            has_cycles |= graph.is_cycle(members);
            let targets = members.iter().flat_map(|&member| graph.targets(member));
            let below = targets.map(|&target| depths[target as usize]).max().unwrap_or_default();
            members.iter().for_each(|&member| depths[member] = below + members.len());
            depth = depth.max(below + members.len());
            let members = members.iter().map(|&member| graph.nodes[member]);
            items.extend(members.filter(|it| it.argument.is_none()).map(|it| it.item));
        });
        DependencyOrder { items, has_cycles, depth }
    }
}
