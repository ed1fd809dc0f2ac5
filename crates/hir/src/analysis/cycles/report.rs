//! The diagnostics of cycles: the members and the references that lead from one to the next.

use std::collections::VecDeque;

use db::Summary;
use rustc_hash::{FxHashMap, FxHashSet};

use crate::{
    Db,
    analysis::{
        cycles::graph::Graph,
        dependencies::{Node, References},
        problem::{ItemProblem, LocatedProblem},
    },
    content::item,
    expr::At,
    item::{Item, ItemKind},
    item_name::ItemKey,
};

/// The largest number of members that a message names.
const MAX_NAMES: usize = 20;

/// A node of a cycle. The nodes are in order, and the last refers to the first.
#[derive(Clone, Copy)]
struct CycleMember {
    /// The index of the node in the graph.
    node: usize,
    /// The place of the reference to the next node.
    reference: At,
}

/// The places where the nodes of a graph refer to others, computed for the nodes that a message mentions.
pub(super) struct Places<'a> {
    references: References<'a>,
    graph: &'a Graph,
    of_nodes: FxHashMap<usize, FxHashMap<Node, At>>,
}

impl<'a> Places<'a> {
    pub(super) fn new(references: References<'a>, graph: &'a Graph) -> Places<'a> {
        Places { references, graph, of_nodes: FxHashMap::default() }
    }

    /// The place of the first reference from one node to another.
    pub(super) fn reference(&mut self, from: usize, to: usize) -> Option<At> {
        let references = &self.references;
        let node = self.graph.node(references.db, from);
        let places = self.of_nodes.entry(from).or_insert_with(|| {
            let mut places = FxHashMap::default();
            references.for_each(node.key(), item(references.db, node.key()), |_, it, edge| {
                if it == node {
                    places.entry(edge.target).or_insert(edge.reference);
                }
            });
            places
        });
        places.get(&self.graph.node(references.db, to)).copied()
    }
}

/// Reports each member of a component on a shortest cycle that contains it.
pub(super) fn report_cycle(
    places: &mut Places<'_>,
    component: &[usize],
    problems: &mut Vec<LocatedProblem>,
) {
    let (db, graph) = (places.references.db, places.graph);
    let members: FxHashSet<usize> = component.iter().copied().collect();
    let mut reported = FxHashSet::default();
    for &member in component {
        if reported.contains(&member) {
            continue;
        }
        let Some(cycle) = cycle_through(places, &members, member) else { continue };
        let names = cycle_names(db, graph, &cycle);
        let provider = provider_of_member(db, graph, &cycle);
        for position in 0..cycle.len() {
            if reported.insert(cycle[position].node) {
                let texts = CycleTexts { names: &names, provider: provider.as_deref() };
                problems.push(member_problem(db, graph, &cycle, position, texts));
            }
        }
    }
}

/// A shortest path from a node back to itself among the members of its component.
fn cycle_through(
    places: &mut Places<'_>,
    members: &FxHashSet<usize>,
    start: usize,
) -> Option<Vec<CycleMember>> {
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
    let mut cycle = Vec::new();
    let mut node = start;
    loop {
        let &from = came_from.get(&node)?;
        cycle.push(CycleMember { node: from, reference: places.reference(from, node)? });
        if from == start {
            cycle.reverse();
            return Some(cycle);
        }
        node = from;
    }
}

/// The names of the members of a cycle in order. The first by name comes first, so that each member gets the same
/// text.
fn cycle_names(db: &dyn Db, graph: &Graph, cycle: &[CycleMember]) -> String {
    let mut names: Vec<String> =
        cycle.iter().map(|it| name_of(db, graph.node(db, it.node))).collect();
    let first = (0..names.len()).min_by_key(|&position| &names[position]).unwrap_or_default();
    names.rotate_left(first);
    let more = names.len().saturating_sub(MAX_NAMES);
    names.truncate(MAX_NAMES);
    match more {
        0 => names.join(", "),
        more => format!("{} and {more} more", names.join(", ")),
    }
}

/// The texts that the problems of all members of a cycle share.
#[derive(Clone, Copy)]
struct CycleTexts<'t> {
    /// The names of the members.
    names: &'t str,
    /// The name of the provider configuration that is made from one of its own resources.
    provider: Option<&'t str>,
}

/// The problem on one member of a cycle.
fn member_problem(
    db: &dyn Db,
    graph: &Graph,
    cycle: &[CycleMember],
    position: usize,
    texts: CycleTexts<'_>,
) -> LocatedProblem {
    let member = cycle[position];
    let key = graph.node(db, member.node).key();
    let name = name_of(db, graph.node(db, member.node));
    if cycle.len() == 1 {
        return LocatedProblem::new(key, self_reference(db, key, member.reference, &name));
    }
    let follower = |position: usize| cycle[(position + 1) % cycle.len()];
    let next = follower(position);
    let mut detail = format!(
        "{name} refers to {}, which depends on {name} in turn. Remove one of the references.",
        name_of(db, graph.node(db, next.node))
    );
    if let Some(provider) = texts.provider {
        detail.push_str(&format!(
            " The configuration {provider} is made from a resource of the same provider. Give one \
             of them an alias: a second provider block with \"alias\", and \"provider\" in the \
             resources that are to use it."
        ));
    }
    let mut problem = ItemProblem::new(member.reference, Summary::cycle(texts.names), detail);
    let after_next = name_of(db, graph.node(db, follower((position + 1) % cycle.len()).node));
    let refers = format!("{} refers to {after_next} here", name_of(db, graph.node(db, next.node)));
    problem.relate(graph.node(db, next.node).key(), next.reference, refers);
    LocatedProblem::new(key, problem)
}

fn self_reference(db: &dyn Db, key: ItemKey, at: At, name: &str) -> ItemProblem {
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
fn provider_of_member(db: &dyn Db, graph: &Graph, cycle: &[CycleMember]) -> Option<String> {
    let is_resource =
        |node: usize| matches!(item(db, graph.node(db, node).key()).kind, ItemKind::Resource(_));
    let mut pairs = (0..cycle.len()).map(|it| (cycle[it].node, cycle[(it + 1) % cycle.len()].node));
    pairs.find_map(|(from, to)| {
        let config = item(db, graph.node(db, to).key()).kind.as_provider();
        let has_no_alias = config.is_some_and(|it| it.alias.is_none());
        (has_no_alias && is_resource(from)).then(|| name_of(db, graph.node(db, to)))
    })
}

/// The name of a node in messages.
fn name_of(db: &dyn Db, node: Node) -> String {
    let declared = item(db, node.key());
    match (node, declared.kind.as_module_call()) {
        (Node::Input(_, index), Some(call)) => {
            format!("module.{}.var.{}", call.name, call.inputs[index as usize].name)
        }
        _ => address_of(declared),
    }
}

/// The address of an item in messages.
fn address_of(item: &Item) -> String {
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
        ItemKind::Test(_) => "a test".to_owned(),
    }
}
