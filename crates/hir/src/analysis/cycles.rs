//! The static dependency graph of a module: the order in which items depend on each other, and the cycles among
//! them.

pub(crate) mod report;

use std::collections::BTreeSet;

use db::Directory;
use rustc_hash::{FxHashMap, FxHashSet};
use values::Str;

use crate::{
    Db,
    analysis::{
        AnalyzedId, AnalyzedItem, AnalyzedPlace,
        cycles::report::{Places, address_of, for_each_component, report_cycle},
        module_items,
        problem::ItemProblem,
    },
    expr::{At, ExprId},
    item::{Attr, Item, ItemKind, ModuleCall, RefPlace, RefTarget, StaticRef},
    names::{
        ItemKey, ItemName, block_names, called_directories, item, lookup, provider_local_name,
    },
    workspace::Workspace,
};

/// A node of the graph: an item, or one argument of a module call. Arguments are nodes of their own because an
/// output of a module depends only on the arguments that reach it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Node {
    Item(ItemKey),
    /// The call, and the index of the argument.
    Input(ItemKey, u32),
}

impl Node {
    /// The index of the argument, if the node is an argument of a call.
    fn argument(self) -> Option<u32> {
        match self {
            Node::Item(_) => None,
            Node::Input(_, argument) => Some(argument),
        }
    }

    /// The key of the item, or of the call that the argument belongs to.
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

/// An edge: the target of a reference, and the place of the reference.
type Edge = (Node, At);

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
pub struct WaitList {
    nodes: Vec<NodeId>,
    /// The targets of all nodes, one node after the other.
    targets: Vec<NodeId>,
    /// The number of targets of each node.
    counts: Vec<u32>,
}

impl WaitList {
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

    /// Appends another list to this one.
    pub fn and(mut self, further: WaitList) -> WaitList {
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
    pub fn lone_items(&self) -> impl Iterator<Item = AnalyzedId> {
        let nodes = self.nodes.iter().zip(&self.counts);
        let lone = nodes.filter(|(node, count)| node.argument.is_none() && **count == 0);
        lone.map(|(node, _)| node.item)
    }
}

/// The nodes of a module, each with the nodes that it depends on.
struct Graph {
    nodes: Vec<NodeId>,
    /// The targets of all nodes, one node after the other.
    targets: Vec<u32>,
    /// The position of the first target of each node, and the end of the last node's targets.
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

    /// The node in the form that messages name.
    fn node(&self, db: &dyn Db, node: usize) -> Node {
        let NodeId { item, argument } = self.nodes[node];
        let key = AnalyzedItem::of_id(db, item).key(db);
        argument.map_or(Node::Item(key), |argument| Node::Input(key, argument))
    }

    /// Returns true if a strongly connected component is a cycle: it has several members, or its only member
    /// depends on itself.
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

/// The problems of the members of each cycle of a module.
///
/// **Stability:** reads every item of the module, so it is queried only where [`is_cyclic`] returns true.
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

/// Returns true if an item, or an argument of a call, is a member of a cycle. The value of a member is unknown.
/// Members are not inferred around the cycle, because that takes time quadratic in its length.
///
/// **Stability:** reads the names of the block, not the item, so dependents are invalidated only if the answer
/// changes.
pub(super) fn is_cyclic<'db>(db: &'db dyn Db, item: AnalyzedItem<'db>) -> bool {
    if db.is_acyclic() {
        return false;
    }
    let key = item.key(db);
    match block_names(db, key.block).get(key.index as usize) {
        Some(ItemName::Module(_)) => is_call_cyclic(db, item),
        // No reference within a module leads to these.
        Some(ItemName::Output(_) | ItemName::Check(_)) => false,
        _ => is_item_cyclic(db, item),
    }
}

/// Returns true if a non-call item is a member of a cycle. Skips the memoized query for an item without
/// dependencies, and for one whose dependencies have none: about two thirds of all items.
fn is_item_cyclic<'db>(db: &'db dyn Db, item: AnalyzedItem<'db>) -> bool {
    let goes_on = |it: &Dependency<'db>| match it.target.argument {
        Some(_) => true,
        None => !dependencies(db, it.target.item).is_empty(),
    };
    dependencies(db, item).of(None).iter().any(goes_on) && reaches_itself(db, item)
}

/// Returns true if a module call, or one of its arguments, is a member of a cycle.
#[salsa::tracked(returns(copy))]
fn is_call_cyclic<'db>(db: &'db dyn Db, item: AnalyzedItem<'db>) -> bool {
    nodes_of(db, item.key(db)).any(|node| match node.argument() {
        Some(argument) => argument_reaches_itself(db, item, argument),
        None => reaches_itself(db, item),
    })
}

/// Returns true if an item reaches itself. salsa detects the cycle, because the query follows the dependencies.
///
/// **Stability:** an edit that does not change the references of the item re-runs this for the item alone.
#[salsa::tracked(returns(copy), cycle_result = item_in_cycle)]
fn reaches_itself<'db>(db: &'db dyn Db, item: AnalyzedItem<'db>) -> bool {
    follow(db, item, None);
    false
}

/// Returns true if an argument of a call reaches itself; see [`reaches_itself`].
#[salsa::tracked(returns(copy), cycle_result = argument_in_cycle)]
fn argument_reaches_itself<'db>(db: &'db dyn Db, item: AnalyzedItem<'db>, argument: u32) -> bool {
    follow(db, item, Some(argument));
    false
}

/// Cycle fallback of [`reaches_itself`].
fn item_in_cycle(_: &dyn Db, _: salsa::Id, _: AnalyzedItem<'_>) -> bool {
    true
}

/// Cycle fallback of [`argument_reaches_itself`].
fn argument_in_cycle(_: &dyn Db, _: salsa::Id, _: AnalyzedItem<'_>, _: u32) -> bool {
    true
}

/// Runs the query for each dependency of a node. A member of a cycle reaches its own query, and salsa calls the
/// cycle fallback.
fn follow<'db>(db: &'db dyn Db, item: AnalyzedItem<'db>, argument: Option<u32>) {
    for Dependency { target: DependencyTarget { item, argument }, .. } in
        dependencies(db, item).of(argument)
    {
        let (item, argument) = (*item, *argument);
        match argument {
            Some(argument) => argument_reaches_itself(db, item, argument),
            None => is_item_cyclic(db, item),
        };
    }
}

/// The target of a dependency: an item, or an argument of a module call.
#[derive(Clone, Copy, PartialEq, Eq, Hash, salsa::SalsaValue)]
struct DependencyTarget<'db> {
    /// The item, or the call.
    item: AnalyzedItem<'db>,
    argument: Option<u32>,
}

/// A dependency of an item or of an argument of a module call.
#[derive(Clone, Copy, PartialEq, Eq, salsa::SalsaValue)]
struct Dependency<'db> {
    /// The index of the argument of a module call that has the dependency; `None` if the item has it.
    argument: Option<u32>,
    target: DependencyTarget<'db>,
    /// The index among the references of the item. It is `u32::MAX`, which is out of range, for the provider
    /// configuration of a resource, which needs no reference.
    reference: u32,
}

/// The dependencies of an item and, for a module call, of each of its arguments.
#[derive(Clone, Default, PartialEq, Eq, salsa::SalsaValue)]
pub struct Dependencies<'db> {
    /// The dependencies, sorted by the argument that has them.
    edges: Box<[Dependency<'db>]>,
    /// The number of arguments of a module call, otherwise zero.
    arguments: u32,
}

impl<'db> Dependencies<'db> {
    /// Returns true if the item has no dependencies at all.
    pub fn is_empty(&self) -> bool {
        self.edges.is_empty()
    }

    /// The dependencies of the item itself, or of an argument of the call.
    fn of(&self, argument: Option<u32>) -> &[Dependency<'db>] {
        let start = self.edges.partition_point(|it| it.argument < argument);
        let end = self.edges.partition_point(|it| it.argument <= argument);
        &self.edges[start..end]
    }
}

/// The dependencies of an item and, for a module call, of each of its arguments.
///
/// **Stability:** an edit that does not change the references of the item leaves the result equal.
#[salsa::tracked(returns(ref), cycle_result = no_waits)]
pub fn dependencies<'db>(db: &'db dyn Db, item: AnalyzedItem<'db>) -> Dependencies<'db> {
    let AnalyzedPlace { workspace, directory, key } = item.place(db);
    let mentions = Mentions { db, workspace, directory };
    let mut edges = Vec::new();
    let waiting = crate::names::item(db, key);
    mentions.for_each(key, waiting, |reference, node, (target, _)| {
        let item = AnalyzedItem::of(db, workspace, directory, target.key());
        let target = DependencyTarget { item, argument: target.argument() };
        edges.push(Dependency { argument: node.argument(), target, reference });
    });
    edges.sort_by_key(|it| it.argument);
    let arguments = waiting.kind.as_module_call().map_or(0, |call| call.inputs.len() as u32);
    Dependencies { edges: edges.into(), arguments }
}

/// The largest number of dependencies that [`Resolved::find`] searches, so that an item with many references does
/// not cost time quadratic in their number.
const MOST_SEARCHED: usize = 16;

/// The targets of the references of an item, as [`dependencies`] resolved them.
#[derive(Clone, Copy)]
pub(super) struct Resolved<'db> {
    waits: &'db Dependencies<'db>,
    refs: &'db [StaticRef],
}

impl<'db> Resolved<'db> {
    /// Returns the targets of an item's references, or `None` if the item has no references.
    pub(super) fn of(
        db: &'db dyn Db,
        analyzed: AnalyzedItem<'db>,
        item: &'db Item,
    ) -> Option<Resolved<'db>> {
        let refs = &item.refs;
        (!refs.is_empty()).then(|| Resolved { waits: dependencies(db, analyzed), refs })
    }

    /// Returns the item that a reference leads to. `None` if none of the first `MOST_SEARCHED` dependencies
    /// matches; the caller must then look the name up.
    pub(super) fn find(self, is_it: impl Fn(&RefTarget) -> bool) -> Option<AnalyzedItem<'db>> {
        let mut edges = self.waits.edges.iter().take(MOST_SEARCHED);
        let target =
            |it: &Dependency<'_>| self.refs.get(it.reference as usize).map(|it| &it.target);
        edges.find(|it| target(it).is_some_and(&is_it)).map(|it| it.target.item)
    }
}

/// Cycle fallback for a module that calls itself; the `module-cycle` error of the call reports that.
fn no_waits<'db>(_: &'db dyn Db, _: salsa::Id, _: AnalyzedItem<'db>) -> Dependencies<'db> {
    Dependencies::default()
}

/// The resolver of the references in the expressions of a module's items.
struct Mentions<'db> {
    db: &'db dyn Db,
    workspace: Workspace,
    directory: Directory,
}

impl<'db> Mentions<'db> {
    /// Visits every edge of an item and, if it is a module call, of its arguments. The first parameter of `visit`
    /// is the index of the reference, or `u32::MAX` for the provider configuration.
    fn for_each(&self, key: ItemKey, item: &Item, mut visit: impl FnMut(u32, Node, Edge)) {
        let inputs =
            item.kind.as_module_call().map(|call| arguments(item, call)).unwrap_or_default();
        for (index, reference) in (0u32..).zip(&item.refs) {
            // A provisioner runs when its resource exists, so its references are no dependencies.
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

    /// The edge to the provider configuration of a resource, if that is in this module. A resource without a
    /// `provider` argument uses the default configuration of the provider that its type name begins with.
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

    /// Visits the call, and those of its arguments that the output needs; all arguments if that is not known.
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

/// Maps each expression within the arguments of a call to the index of its argument.
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

/// Returns true if the reference is to the variable that contains it. Its validation may read it, because the
/// variable has its value by then.
fn is_itself(item: &Item, target: &RefTarget) -> bool {
    matches!((&item.kind, target), (ItemKind::Variable(variable), RefTarget::Variable(name)) if variable.name == *name)
}

/// The names of the input variables that an output of a module can depend on.
///
/// **Stability:** reads the items that the output reaches; an edit that does not change references leaves the
/// result equal.
#[salsa::tracked(returns(ref), cycle_result = no_inputs)]
pub(super) fn inputs_of_output<'db>(db: &'db dyn Db, output: AnalyzedItem<'db>) -> BTreeSet<Str> {
    let mut inputs = BTreeSet::new();
    let mut seen = FxHashSet::default();
    let mut open = vec![DependencyTarget { item: output, argument: None }];
    while let Some(node) = open.pop() {
        if !seen.insert(node) {
            continue;
        }
        if let ItemKind::Variable(variable) = &item(db, node.item.key(db)).kind {
            inputs.insert(variable.name.clone());
        }
        open.extend(dependencies(db, node.item).of(node.argument).iter().map(|it| it.target));
    }
    inputs
}

/// Cycle fallback of [`inputs_of_output`].
fn no_inputs(_: &dyn Db, _: salsa::Id, _: AnalyzedItem<'_>) -> BTreeSet<Str> {
    BTreeSet::new()
}
