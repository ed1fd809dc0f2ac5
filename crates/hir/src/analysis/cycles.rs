//! The static graph of a module: the order in which items depend on each other, and the cycles among them.

use std::collections::{BTreeSet, VecDeque};

use db::Directory;
use rustc_hash::{FxHashMap, FxHashSet};
use values::Str;

use super::{
    AnalyzedId, AnalyzedItem, AnalyzedPlace, LocatedProblem, module_items, problem::ItemProblem,
};
use crate::{
    Db,
    expr::{At, ExprId},
    item::{Attr, Item, ItemKind, ModuleCall, RefPlace, RefTarget, StaticRef},
    names::{
        ItemKey, ItemName, block_names, called_directories, item, lookup, provider_local_name,
    },
    workspace::Workspace,
};

/// A node of the graph: an item, or one argument of a module call. Arguments are nodes of their own, because an output
/// of a module waits only for those that reach it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Node {
    Item(ItemKey),
    /// The call, and the index among its arguments.
    Input(ItemKey, u32),
}

impl Node {
    /// The index among the arguments of the call, where it is one.
    fn argument(self) -> Option<u32> {
        match self {
            Node::Item(_) => None,
            Node::Input(_, argument) => Some(argument),
        }
    }

    /// The item, or the call that the argument belongs to.
    fn key(self) -> ItemKey {
        match self {
            Node::Item(key) | Node::Input(key, _) => key,
        }
    }

    fn name(self, db: &dyn Db) -> String {
        let declared = item(db, self.key());
        match (self, declared.kind.as_module_call()) {
            (Node::Input(_, index), Some(call)) => {
                format!("module.{}.var.{}", call.name, call.inputs[index as usize].name)
            }
            _ => address_of(declared),
        }
    }
}

/// One edge: what is mentioned, and where.
type Edge = (Node, At);

/// A node, for all handles of the database.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
struct NodeId {
    /// The item, or the call.
    item: AnalyzedId,
    argument: Option<u32>,
}

/// What items wait for: the graph before its nodes have numbers. Threads write down what they have just found out, and put
/// their lists together.
#[derive(Default)]
pub struct WaitList {
    nodes: Vec<NodeId>,
    /// The targets of all nodes, one node after the other.
    targets: Vec<NodeId>,
    /// How many targets each node has.
    counts: Vec<u32>,
}

impl WaitList {
    /// Adds an item and, if it is a module call, its arguments.
    pub fn add<'db>(&mut self, db: &'db dyn Db, item: AnalyzedItem<'db>) {
        let waits_for = waits_for(db, item);
        let arguments = (0..waits_for.arguments).map(Some);
        for argument in std::iter::once(None).chain(arguments) {
            let edges = waits_for.of(argument);
            self.nodes.push(NodeId { item: item.id(), argument });
            self.counts.push(edges.len() as u32);
            let target =
                |it: &Wait<'_>| NodeId { item: it.target.item.id(), argument: it.target.argument };
            self.targets.extend(edges.iter().map(target));
        }
    }

    /// This list and what comes after it.
    pub fn and(mut self, further: WaitList) -> WaitList {
        self.nodes.extend(further.nodes);
        self.targets.extend(further.targets);
        self.counts.extend(further.counts);
        self
    }

    /// How many items and arguments there are.
    pub fn len(&self) -> usize {
        self.nodes.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.nodes.is_empty()
    }

    /// The items that wait for nothing.
    pub fn lone_items(&self) -> impl Iterator<Item = AnalyzedId> {
        let nodes = self.nodes.iter().zip(&self.counts);
        let lone = nodes.filter(|(node, count)| node.argument.is_none() && **count == 0);
        lone.map(|(node, _)| node.item)
    }
}

/// The nodes of a module, and for each the nodes that it waits for.
struct Graph {
    nodes: Vec<NodeId>,
    /// The targets of all nodes, one node after the other.
    targets: Vec<u32>,
    /// Where the targets of each node begin; one more for the end of the last.
    starts: Vec<u32>,
}

impl Graph {
    fn of(list: WaitList) -> Graph {
        let WaitList { nodes, targets: waited_for, counts } = list;
        let index: FxHashMap<NodeId, u32> = nodes.iter().copied().zip(0..).collect();
        let mut targets = Vec::with_capacity(waited_for.len());
        let mut starts = Vec::with_capacity(nodes.len() + 1);
        let mut waited_for = waited_for.into_iter();
        for count in counts {
            starts.push(targets.len() as u32);
            let of_node = waited_for.by_ref().take(count as usize);
            targets.extend(of_node.filter_map(|it| index.get(&it)));
        }
        starts.push(targets.len() as u32);
        Graph { nodes, targets, starts }
    }

    /// A node, as messages name it.
    fn node(&self, db: &dyn Db, node: usize) -> Node {
        let NodeId { item, argument } = self.nodes[node];
        let key = AnalyzedItem::of_id(db, item).key(db);
        argument.map_or(Node::Item(key), |argument| Node::Input(key, argument))
    }

    /// Whether the members of a component wait for each other, or the only one for itself.
    fn is_cycle(&self, members: &[usize]) -> bool {
        members.len() > 1 || self.targets(members[0]).contains(&(members[0] as u32))
    }

    fn targets(&self, node: usize) -> &[u32] {
        &self.targets[self.starts[node] as usize..self.starts[node + 1] as usize]
    }
}

fn nodes_of(db: &dyn Db, key: ItemKey) -> impl Iterator<Item = Node> {
    let inputs = match block_names(db, key.block).get(key.index as usize) {
        Some(ItemName::Module(_)) => {
            item(db, key).kind.as_module_call().map_or(0, |call| call.inputs.len() as u32)
        }
        _ => 0,
    };
    std::iter::once(Node::Item(key)).chain((0..inputs).map(move |index| Node::Input(key, index)))
}

/// The items of a module in the order in which inference needs no recursion.
pub struct DependencyOrder {
    /// Each after what it depends on.
    pub items: Vec<AnalyzedId>,
    /// Whether some depend on themselves.
    pub has_cycles: bool,
    /// How many follow upon each other at most.
    pub depth: usize,
}

impl DependencyOrder {
    /// The order of the items of a module, with what all of them wait for.
    pub fn of(list: WaitList) -> DependencyOrder {
        let graph = Graph::of(list);
        let (mut items, mut has_cycles, mut depth) =
            (Vec::with_capacity(graph.nodes.len()), false, 0);
        let mut depths = vec![0; graph.nodes.len()];
        for_each_component(&graph, |members| {
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

/// A problem on each member of each cycle of a module.
///
/// **Stability:** reads every item of the module, so it is asked only where [`is_cyclic`] says that there is a cycle.
#[salsa::tracked(returns(ref))]
pub(super) fn cycles(
    db: &dyn Db,
    workspace: Workspace,
    directory: Directory,
) -> FxHashMap<ItemKey, Vec<ItemProblem>> {
    let mut list = WaitList::default();
    for &key in &*module_items(db, directory) {
        list.add(db, AnalyzedItem::of(db, workspace, directory, key));
    }
    let graph = Graph::of(list);
    let mut places = Places::new(Mentions { db, workspace, directory }, &graph);
    let mut problems = Vec::new();
    for_each_component(&graph, |members| {
        if graph.is_cycle(members) {
            report_cycle(&mut places, members, &mut problems);
        }
    });
    let mut by_member: FxHashMap<ItemKey, Vec<ItemProblem>> = FxHashMap::default();
    problems.into_iter().for_each(|(key, problem)| by_member.entry(key).or_default().push(problem));
    by_member
}

/// Whether an item, or an argument of a call, is a member of a cycle. Nothing is known of the value of one, and nobody
/// follows them around the ring: that would take time with the square of its length.
///
/// **Stability:** does not read the item, only whether it is a call: who asks runs again only if the answer changes.
pub(super) fn is_cyclic<'db>(db: &'db dyn Db, item: AnalyzedItem<'db>) -> bool {
    if db.one_shot().is_some_and(|it| it.is_acyclic(db)) {
        return false;
    }
    let key = item.key(db);
    match block_names(db, key.block).get(key.index as usize) {
        Some(ItemName::Module(_)) => is_call_in_ring(db, item),
        // Nothing in a module can refer to these.
        Some(ItemName::Output(_) | ItemName::Check(_)) => false,
        _ => waits_in_ring(db, item),
    }
}

/// A third of all items wait for nothing, and as many only for those: they need no answer of their own.
fn waits_in_ring<'db>(db: &'db dyn Db, item: AnalyzedItem<'db>) -> bool {
    let goes_on = |it: &Wait<'db>| match it.target.argument {
        Some(_) => true,
        None => !waits_for(db, it.target.item).is_empty(),
    };
    waits_for(db, item).of(None).iter().any(goes_on) && is_in_ring(db, item)
}

#[salsa::tracked(returns(copy))]
fn is_call_in_ring<'db>(db: &'db dyn Db, item: AnalyzedItem<'db>) -> bool {
    nodes_of(db, item.key(db)).any(|node| match node.argument() {
        Some(argument) => is_argument_in_ring(db, item, argument),
        None => is_in_ring(db, item),
    })
}

/// Whether a node reaches itself: the database tells, which follows who asks whom.
///
/// **Stability:** an edit that leaves what the item mentions re-runs this for the item alone.
#[salsa::tracked(returns(copy), cycle_result = item_in_ring)]
fn is_in_ring<'db>(db: &'db dyn Db, item: AnalyzedItem<'db>) -> bool {
    follow(db, item, None);
    false
}

/// The same of an argument of a call.
#[salsa::tracked(returns(copy), cycle_result = argument_in_ring)]
fn is_argument_in_ring<'db>(db: &'db dyn Db, item: AnalyzedItem<'db>, argument: u32) -> bool {
    follow(db, item, Some(argument));
    false
}

fn item_in_ring(_: &dyn Db, _: salsa::Id, _: AnalyzedItem<'_>) -> bool {
    true
}

fn argument_in_ring(_: &dyn Db, _: salsa::Id, _: AnalyzedItem<'_>, _: u32) -> bool {
    true
}

/// Asks what a node waits for whether it is in a ring: whoever asks in a ring asks for itself.
fn follow<'db>(db: &'db dyn Db, item: AnalyzedItem<'db>, argument: Option<u32>) {
    for Wait { target: Awaited { item, argument }, .. } in waits_for(db, item).of(argument) {
        let (item, argument) = (*item, *argument);
        match argument {
            Some(argument) => is_argument_in_ring(db, item, argument),
            None => waits_in_ring(db, item),
        };
    }
}

/// Something that is waited for: an item, or an argument of a module call.
#[derive(Clone, Copy, PartialEq, Eq, Hash, salsa::SalsaValue)]
struct Awaited<'db> {
    /// The item, or the call.
    item: AnalyzedItem<'db>,
    argument: Option<u32>,
}

/// Who waits for what.
#[derive(Clone, Copy, PartialEq, Eq, salsa::SalsaValue)]
struct Wait<'db> {
    /// The index of the argument of a module call that waits, if it is one.
    argument: Option<u32>,
    target: Awaited<'db>,
    /// The index among what the item mentions; one that is not there for the provider of a resource, which need not be
    /// mentioned.
    reference: u32,
}

/// What an item and, of a module call, each of its arguments wait for.
#[derive(Clone, Default, PartialEq, Eq, salsa::SalsaValue)]
pub struct Waits<'db> {
    /// In the order of the arguments that wait.
    edges: Box<[Wait<'db>]>,
    /// Of a module call, how many arguments it has.
    arguments: u32,
}

impl<'db> Waits<'db> {
    /// Whether the item waits for nothing at all.
    pub fn is_empty(&self) -> bool {
        self.edges.is_empty()
    }

    /// What an item, or an argument of a call, waits for.
    fn of(&self, argument: Option<u32>) -> &[Wait<'db>] {
        let start = self.edges.partition_point(|it| it.argument < argument);
        let end = self.edges.partition_point(|it| it.argument <= argument);
        &self.edges[start..end]
    }
}

/// **Stability:** an edit that leaves what the item mentions leaves the result equal.
#[salsa::tracked(returns(ref), cycle_result = no_waits)]
pub fn waits_for<'db>(db: &'db dyn Db, item: AnalyzedItem<'db>) -> Waits<'db> {
    let AnalyzedPlace { workspace, directory, key } = item.place(db);
    let mentions = Mentions { db, workspace, directory };
    let mut edges = Vec::new();
    let waiting = crate::names::item(db, key);
    mentions.for_each(key, waiting, |reference, node, (target, _)| {
        let item = AnalyzedItem::of(db, workspace, directory, target.key());
        let target = Awaited { item, argument: target.argument() };
        edges.push(Wait { argument: node.argument(), target, reference });
    });
    edges.sort_by_key(|it| it.argument);
    let arguments = waiting.kind.as_module_call().map_or(0, |call| call.inputs.len() as u32);
    Waits { edges: edges.into(), arguments }
}

/// Somebody who waits for more is not searched through for each of its references.
const MOST_SEARCHED: usize = 16;

/// What the references of an item lead to, as was found out before.
#[derive(Clone, Copy)]
pub(super) struct Resolved<'db> {
    waits: &'db Waits<'db>,
    refs: &'db [StaticRef],
}

impl<'db> Resolved<'db> {
    /// Those of an item; none of one that mentions nothing.
    pub(super) fn of(
        db: &'db dyn Db,
        analyzed: AnalyzedItem<'db>,
        item: &'db Item,
    ) -> Option<Resolved<'db>> {
        let refs = &item.refs;
        (!refs.is_empty()).then(|| Resolved { waits: waits_for(db, analyzed), refs })
    }

    /// The item that a reference leads to; `None` says nothing.
    pub(super) fn find(self, is_it: impl Fn(&RefTarget) -> bool) -> Option<AnalyzedItem<'db>> {
        let mut edges = self.waits.edges.iter().take(MOST_SEARCHED);
        let target = |it: &Wait<'_>| self.refs.get(it.reference as usize).map(|it| &it.target);
        edges.find(|it| target(it).is_some_and(&is_it)).map(|it| it.target.item)
    }
}

/// A module that calls itself is told of as such.
fn no_waits<'db>(_: &'db dyn Db, _: salsa::Id, _: AnalyzedItem<'db>) -> Waits<'db> {
    Waits::default()
}

/// Finds what the expressions of a module's items mention.
struct Mentions<'db> {
    db: &'db dyn Db,
    workspace: Workspace,
    directory: Directory,
}

impl<'db> Mentions<'db> {
    /// Visits every edge of an item and, if it is a module call, of its arguments.
    /// It is given the index among what the item mentions, too.
    fn for_each(&self, key: ItemKey, item: &Item, mut visit: impl FnMut(u32, Node, Edge)) {
        let inputs =
            item.kind.as_module_call().map(|call| arguments(item, call)).unwrap_or_default();
        for (index, reference) in (0u32..).zip(&item.refs) {
            // A provisioner runs when its resource exists.
            let runs_later = matches!(
                reference.place,
                RefPlace::CreateProvisioner | RefPlace::DestroyProvisioner
            );
            if runs_later || is_itself(item, &reference.target) {
                continue;
            }
            let node = inputs
                .get(&reference.expr)
                .map_or(Node::Item(key), |&index| Node::Input(key, index));
            let at = At::from(reference.expr);
            self.targets(&reference.target, |target| visit(index, node, (target, at)));
        }
        if let Some(edge) = self.provider(item) {
            visit(u32::MAX, Node::Item(key), edge);
        }
    }

    /// The configuration of a resource's provider, where it is in this module. A resource that names none has the
    /// default one of the provider that its type begins with.
    fn provider(&self, item: &Item) -> Option<Edge> {
        let resource = item.kind.as_resource()?;
        let alias = resource.provider.as_ref().and_then(|provider| provider.alias.clone());
        let name = ItemName::Provider(provider_local_name(resource).into(), alias);
        let at = resource.provider.as_ref().map_or(item.header, |provider| provider.node);
        lookup(self.db, self.directory, &name).map(|key| (Node::Item(key), at.into()))
    }

    fn targets(&self, target: &RefTarget, mut visit: impl FnMut(Node)) {
        let name = match target {
            RefTarget::Variable(name) => ItemName::Variable(name.clone()),
            RefTarget::Local(name) => ItemName::Local(name.clone()),
            RefTarget::Resource(resource) => ItemName::Resource(resource.clone()),
            RefTarget::Module(call) => return self.module(call, None, visit),
            RefTarget::ModuleOutput(call, output) => return self.module(call, Some(output), visit),
            RefTarget::Ambient(_) => return,
        };
        if let Some(key) = lookup(self.db, self.directory, &name) {
            visit(Node::Item(key));
        }
    }

    /// Visits the call, and those of its arguments that the output needs.
    fn module(&self, name: &Str, output: Option<&Str>, mut visit: impl FnMut(Node)) {
        let key = lookup(self.db, self.directory, &ItemName::Module(name.clone()));
        let Some(key) = key else { return };
        let Some(call) = item(self.db, key).kind.as_module_call() else { return };
        let children = called_directories(self.db, self.workspace, self.directory, call);
        let needed = match (output, children.as_slice()) {
            (Some(output), &[child]) => lookup(self.db, child, &ItemName::Output(output.clone()))
                .map(|key| {
                    let output = AnalyzedItem::of(self.db, self.workspace, child, key);
                    inputs_of_output(self.db, output)
                }),
            _ => None,
        };
        visit(Node::Item(key));
        let is_needed = |input: &Attr| needed.is_none_or(|needed| needed.contains(&input.name));
        let inputs = (0u32..).zip(&call.inputs).filter(|(_, input)| is_needed(input));
        inputs.for_each(|(index, _)| visit(Node::Input(key, index)));
    }
}

/// Which argument of a call each expression is in.
fn arguments(item: &Item, call: &ModuleCall) -> FxHashMap<ExprId, u32> {
    let mut found = FxHashMap::default();
    for (index, input) in (0u32..).zip(&call.inputs) {
        let mut open = vec![input.value];
        while let Some(expr) = open.pop() {
            found.insert(expr, index);
            item.exprs[expr].for_each_child(&mut |child| open.push(child));
        }
    }
    found
}

/// Whether a variable's validation mentions the variable, which has its value by then.
fn is_itself(item: &Item, target: &RefTarget) -> bool {
    matches!((&item.kind, target), (ItemKind::Variable(variable), RefTarget::Variable(name)) if variable.name == *name)
}

/// Which input variables an output of a module can depend on.
///
/// **Stability:** reads what the output reaches; an edit that keeps who mentions whom leaves the result equal.
#[salsa::tracked(returns(ref), cycle_result = no_inputs)]
pub(super) fn inputs_of_output<'db>(db: &'db dyn Db, output: AnalyzedItem<'db>) -> BTreeSet<Str> {
    let mut inputs = BTreeSet::new();
    let mut seen = FxHashSet::default();
    let mut open = vec![Awaited { item: output, argument: None }];
    while let Some(node) = open.pop() {
        if !seen.insert(node) {
            continue;
        }
        if let ItemKind::Variable(variable) = &item(db, node.item.key(db)).kind {
            inputs.insert(variable.name.clone());
        }
        open.extend(waits_for(db, node.item).of(node.argument).iter().map(|it| it.target));
    }
    inputs
}

fn no_inputs(_: &dyn Db, _: salsa::Id, _: AnalyzedItem<'_>) -> BTreeSet<Str> {
    BTreeSet::new()
}

/// Visits the strongly connected components, each after those it depends on (Tarjan, without recursion).
fn for_each_component(graph: &Graph, mut visit: impl FnMut(&[usize])) {
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

/// The most members that a message names.
const MOST_NAMES: usize = 20;

/// A ring of nodes, each with the place where it mentions the next; the last mentions the first.
type Ring = Vec<(usize, At)>;

/// Where the nodes of a graph mention others, found out for those that are told of.
struct Places<'a> {
    mentions: Mentions<'a>,
    graph: &'a Graph,
    of_nodes: FxHashMap<usize, FxHashMap<Node, At>>,
}

impl<'a> Places<'a> {
    fn new(mentions: Mentions<'a>, graph: &'a Graph) -> Places<'a> {
        Places { mentions, graph, of_nodes: FxHashMap::default() }
    }

    /// Where a node mentions another one first.
    fn mention(&mut self, from: usize, to: usize) -> Option<At> {
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

/// Reports each member of a component on the shortest ring that it is in.
fn report_cycle(places: &mut Places<'_>, component: &[usize], problems: &mut Vec<LocatedProblem>) {
    let (db, graph) = (places.mentions.db, places.graph);
    let members: FxHashSet<usize> = component.iter().copied().collect();
    let mut reported = FxHashSet::default();
    for &member in component {
        if reported.contains(&member) {
            continue;
        }
        let Some(ring) = ring_through(places, &members, member) else { continue };
        let names = ring_names(db, graph, &ring);
        let configured = configured_from_its_own(db, graph, &ring);
        for position in 0..ring.len() {
            if reported.insert(ring[position].0) {
                problems.push(on_ring(db, graph, &ring, (&names, configured.as_deref()), position));
            }
        }
    }
}

/// A shortest way from a node back to itself among the members.
fn ring_through(places: &mut Places<'_>, members: &FxHashSet<usize>, start: usize) -> Option<Ring> {
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
    let mut ring = Ring::new();
    let mut node = start;
    loop {
        let &from = came_from.get(&node)?;
        ring.push((from, places.mention(from, node)?));
        if from == start {
            ring.reverse();
            return Some(ring);
        }
        node = from;
    }
}

/// The members of a ring in its order, beginning with the first by name, so that each member is told the same.
fn ring_names(db: &dyn Db, graph: &Graph, ring: &Ring) -> String {
    let mut names: Vec<String> =
        ring.iter().map(|&(node, _)| graph.node(db, node).name(db)).collect();
    let first = (0..names.len()).min_by_key(|&position| &names[position]).unwrap_or_default();
    names.rotate_left(first);
    let more = names.len().saturating_sub(MOST_NAMES);
    names.truncate(MOST_NAMES);
    match more {
        0 => names.join(", "),
        more => format!("{} and {more} more", names.join(", ")),
    }
}

/// The problem on one member of a ring.
fn on_ring(
    db: &dyn Db,
    graph: &Graph,
    ring: &Ring,
    (names, configured): (&str, Option<&str>),
    position: usize,
) -> LocatedProblem {
    let (member, at) = ring[position];
    let key = graph.node(db, member).key();
    let name = graph.node(db, member).name(db);
    if ring.len() == 1 {
        return (key, self_reference(db, key, at, &name));
    }
    let follower = |position: usize| ring[(position + 1) % ring.len()];
    let (next, next_at) = follower(position);
    let mut detail = format!(
        "{name} refers to {}, which depends on {name} in turn. Remove one of the references.",
        graph.node(db, next).name(db)
    );
    if let Some(provider) = configured {
        detail.push_str(&format!(
            " The configuration {provider} is made from a resource of the same provider. Give one of them an alias: a second provider block with \
             \"alias\", and \"provider\" in the resources that are to use it."
        ));
    }
    let mut problem = ItemProblem::error(at, "dependency-cycle", format!("Cycle: {names}"), detail);
    let after_next = graph.node(db, follower((position + 1) % ring.len()).0).name(db);
    let refers = format!("{} refers to {after_next} here", graph.node(db, next).name(db));
    problem.related.push((graph.node(db, next).key(), next_at, refers));
    (key, problem)
}

fn self_reference(db: &dyn Db, key: ItemKey, at: At, name: &str) -> ItemProblem {
    match item(db, key).kind {
        ItemKind::Resource(_) => ItemProblem::error(
            at,
            "self-reference",
            "Self-referential block",
            format!("Configuration for {name} may not refer to itself."),
        ),
        ItemKind::Local(_) => ItemProblem::error(
            at,
            "dependency-cycle",
            "Self-referencing local value",
            format!("{name} may not use its own value to define itself."),
        ),
        _ => ItemProblem::error(
            at,
            "dependency-cycle",
            "Self-reference",
            format!("{name} may not refer to itself."),
        ),
    }
}

/// The provider configuration of a ring, where a resource in it is of that configuration and a second configuration would
/// open the ring. Who has one with an alias has chosen it.
fn configured_from_its_own(db: &dyn Db, graph: &Graph, ring: &Ring) -> Option<String> {
    let is_resource =
        |node: usize| matches!(item(db, graph.node(db, node).key()).kind, ItemKind::Resource(_));
    let mut pairs = (0..ring.len()).map(|it| (ring[it].0, ring[(it + 1) % ring.len()].0));
    pairs.find_map(|(from, to)| {
        let config = item(db, graph.node(db, to).key()).kind.as_provider();
        let has_no_alias = config.is_some_and(|it| it.alias.is_none());
        (has_no_alias && is_resource(from)).then(|| graph.node(db, to).name(db))
    })
}

/// How an item is called in messages.
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
