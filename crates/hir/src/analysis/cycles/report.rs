//! The diagnostics of cycles: the members and the references that lead from one to the next.

use std::collections::VecDeque;

use db::Summary;
use rustc_hash::{FxHashMap, FxHashSet};

use crate::{
    Db,
    analysis::{
        LocatedProblem,
        cycles::{Graph, Mentions, Node},
        problem::ItemProblem,
    },
    expr::At,
    item::{Item, ItemKind},
    names::{ItemKey, item},
};

/// Visits the strongly connected components, each after the components it depends on (Tarjan's algorithm, without
/// recursion).
pub(super) fn for_each_component(graph: &Graph, mut visit: impl FnMut(&[usize])) {
    const UNSEEN: u32 = u32::MAX;
    let count = graph.nodes.len();
    let (mut number, mut low) = (vec![UNSEEN; count], vec![0; count]);
    let mut on_stack = vec![false; count];
    let (mut stack, mut work, mut next) = (Vec::new(), Vec::new(), 0);
    for root in 0..count {
        if number[root] != UNSEEN {
            continue;
        }
        work.push((root, 0));
        while let Some((node, edge)) = work.pop() {
            if edge == 0 {
                (number[node], low[node]) = (next, next);
                next += 1;
                stack.push(node);
                on_stack[node] = true;
            }
            if let Some(&target) = graph.targets(node).get(edge) {
                let target = target as usize;
                work.push((node, edge + 1));
                if number[target] == UNSEEN {
                    work.push((target, 0));
                } else if on_stack[target] {
                    low[node] = low[node].min(number[target]);
                }
                continue;
            }
            if low[node] == number[node] {
                let from = stack.iter().rposition(|&it| it == node).unwrap_or_default();
                stack[from..].iter().for_each(|&member| on_stack[member] = false);
                visit(&stack[from..]);
                stack.truncate(from);
            }
            if let Some((parent, _)) = work.last() {
                low[*parent] = low[*parent].min(low[node]);
            }
        }
    }
}

/// The largest number of members that a message names.
pub(super) const MOST_NAMES: usize = 20;

/// A cycle: its nodes in order, each with the place of its reference to the next; the last refers to the first.
pub(super) type Cycle = Vec<(usize, At)>;

/// The places where the nodes of a graph refer to others, computed for the nodes that a message mentions.
pub(super) struct Places<'a> {
    mentions: Mentions<'a>,
    graph: &'a Graph,
    of_nodes: FxHashMap<usize, FxHashMap<Node, At>>,
}

impl<'a> Places<'a> {
    pub(super) fn new(mentions: Mentions<'a>, graph: &'a Graph) -> Places<'a> {
        Places { mentions, graph, of_nodes: FxHashMap::default() }
    }

    /// The place of the first reference from one node to another.
    pub(super) fn mention(&mut self, from: usize, to: usize) -> Option<At> {
        let mentions = &self.mentions;
        let node = self.graph.node(mentions.db, from);
        let places = self.of_nodes.entry(from).or_insert_with(|| {
            let mut places = FxHashMap::default();
            mentions.for_each(node.key(), item(mentions.db, node.key()), |_, it, (target, at)| {
                if it == node {
                    places.entry(target).or_insert(at);
                }
            });
            places
        });
        places.get(&self.graph.node(mentions.db, to)).copied()
    }
}

/// Reports each member of a component on a shortest cycle that contains it.
pub(super) fn report_cycle(
    places: &mut Places<'_>,
    component: &[usize],
    problems: &mut Vec<LocatedProblem>,
) {
    let (db, graph) = (places.mentions.db, places.graph);
    let members: FxHashSet<usize> = component.iter().copied().collect();
    let mut reported = FxHashSet::default();
    for &member in component {
        if reported.contains(&member) {
            continue;
        }
        let Some(cycle) = ring_through(places, &members, member) else { continue };
        let names = ring_names(db, graph, &cycle);
        let configured = configured_from_its_own(db, graph, &cycle);
        for position in 0..cycle.len() {
            if reported.insert(cycle[position].0) {
                problems.push(on_ring(
                    db,
                    graph,
                    &cycle,
                    (&names, configured.as_deref()),
                    position,
                ));
            }
        }
    }
}

/// A shortest path from a node back to itself among the members of its component.
pub(super) fn ring_through(
    places: &mut Places<'_>,
    members: &FxHashSet<usize>,
    start: usize,
) -> Option<Cycle> {
    let mut came_from: FxHashMap<usize, usize> = FxHashMap::default();
    let mut queue = VecDeque::from([start]);
    while let Some(node) = queue.pop_front() {
        for target in places.graph.targets(node).iter().map(|it| *it as usize) {
            if members.contains(&target) && !came_from.contains_key(&target) {
                came_from.insert(target, node);
                queue.push_back(target);
            }
        }
        if came_from.contains_key(&start) {
            break;
        }
    }
    let mut cycle = Cycle::new();
    let mut node = start;
    loop {
        let &from = came_from.get(&node)?;
        cycle.push((from, places.mention(from, node)?));
        if from == start {
            cycle.reverse();
            return Some(cycle);
        }
        node = from;
    }
}

/// The names of the members of a cycle in order. The first by name comes first, so that each member gets the same
/// text.
pub(super) fn ring_names(db: &dyn Db, graph: &Graph, cycle: &Cycle) -> String {
    let mut names: Vec<String> =
        cycle.iter().map(|&(node, _)| graph.node(db, node).name(db)).collect();
    let first = (0..names.len()).min_by_key(|&position| &names[position]).unwrap_or_default();
    names.rotate_left(first);
    let more = names.len().saturating_sub(MOST_NAMES);
    names.truncate(MOST_NAMES);
    match more {
        0 => names.join(", "),
        more => format!("{} and {more} more", names.join(", ")),
    }
}

/// The problem on one member of a cycle.
pub(super) fn on_ring(
    db: &dyn Db,
    graph: &Graph,
    cycle: &Cycle,
    (names, configured): (&str, Option<&str>),
    position: usize,
) -> LocatedProblem {
    let (member, at) = cycle[position];
    let key = graph.node(db, member).key();
    let name = graph.node(db, member).name(db);
    if cycle.len() == 1 {
        return (key, self_reference(db, key, at, &name));
    }
    let follower = |position: usize| cycle[(position + 1) % cycle.len()];
    let (next, next_at) = follower(position);
    let mut detail = format!(
        "{name} refers to {}, which depends on {name} in turn. Remove one of the references.",
        graph.node(db, next).name(db)
    );
    if let Some(provider) = configured {
        detail.push_str(&format!(
            " The configuration {provider} is made from a resource of the same provider. Give one \
             of them an alias: a second provider block with \"alias\", and \"provider\" in the \
             resources that are to use it."
        ));
    }
    let mut problem = ItemProblem::new(at, Summary::cycle(names), detail);
    let after_next = graph.node(db, follower((position + 1) % cycle.len()).0).name(db);
    let refers = format!("{} refers to {after_next} here", graph.node(db, next).name(db));
    problem.related.push((graph.node(db, next).key(), next_at, refers));
    (key, problem)
}

pub(super) fn self_reference(db: &dyn Db, key: ItemKey, at: At, name: &str) -> ItemProblem {
    match item(db, key).kind {
        ItemKind::Resource(_) => ItemProblem::new(
            at,
            Summary::SELF_REFERENCE,
            format!("Configuration for {name} may not refer to itself."),
        ),
        ItemKind::Local(_) => ItemProblem::new(
            at,
            Summary::SELF_REFERENCING_LOCAL,
            format!("{name} may not use its own value to define itself."),
        ),
        _ => ItemProblem::new(
            at,
            Summary::SELF_REFERENCE_OF_ITEM,
            format!("{name} may not refer to itself."),
        ),
    }
}

/// The name of the provider configuration in a cycle, if a resource of that configuration is in the cycle, too. A
/// second configuration would break the cycle. `None` for a configuration with an alias: its resources already
/// choose it explicitly.
pub(super) fn configured_from_its_own(db: &dyn Db, graph: &Graph, cycle: &Cycle) -> Option<String> {
    let is_resource =
        |node: usize| matches!(item(db, graph.node(db, node).key()).kind, ItemKind::Resource(_));
    let mut pairs = (0..cycle.len()).map(|it| (cycle[it].0, cycle[(it + 1) % cycle.len()].0));
    pairs.find_map(|(from, to)| {
        let config = item(db, graph.node(db, to).key()).kind.as_provider();
        let has_no_alias = config.is_some_and(|it| it.alias.is_none());
        (has_no_alias && is_resource(from)).then(|| graph.node(db, to).name(db))
    })
}

/// The address of an item in messages.
pub(super) fn address_of(item: &Item) -> String {
    match &item.kind {
        ItemKind::Variable(it) => format!("var.{}", it.name),
        ItemKind::Local(it) => format!("local.{}", it.name),
        ItemKind::Output(it) => format!("output.{}", it.name),
        ItemKind::Resource(it) => it.resource.to_string(),
        ItemKind::ModuleCall(it) => format!("module.{}", it.name),
        ItemKind::Provider(it) => match &it.alias {
            Some(alias) => format!("provider.{}.{alias}", it.local_name),
            None => format!("provider.{}", it.local_name),
        },
        ItemKind::Check(it) => format!("check.{}", it.name),
        ItemKind::Terraform(_) => "terraform".to_owned(),
        ItemKind::Moved(it) => format!("moved from {}", it.from),
        ItemKind::Removed(it) => format!("removed {}", it.from),
        ItemKind::Import(it) => format!("import of {}", it.to.resource),
        ItemKind::Other(kind) => kind.to_string(),
    }
}
