//! The dependency cycles of a module: which items are members, and the problems that report them.

pub(crate) mod graph;
pub(crate) mod report;

use db::Directory;
use rustc_hash::FxHashMap;

use crate::{
    Db,
    analysis::{
        analyzed::AnalyzedItem,
        cycles::{
            graph::{DependencyList, Graph},
            report::{Places, report_cycle},
        },
        dependencies::{Dependency, DependencyTarget, Node, References, dependencies},
        problem::ItemProblem,
    },
    content::{block_names, item},
    item_name::{ItemKey, ItemName},
    names::module_items,
    workspace::Workspace,
};

fn nodes_of(db: &dyn Db, key: ItemKey) -> impl Iterator<Item = Node> {
    let inputs = match block_names(db, key.block).get(key.index as usize) {
        Some(ItemName::Module(_)) => {
            item(db, key).kind.as_module_call().map_or(0, |call| call.inputs.len() as u32)
        }
        _ => 0,
    };
    std::iter::once(Node::Item(key)).chain((0..inputs).map(move |index| Node::Input(key, index)))
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
    let mut list = DependencyList::default();
    for &key in &*module_items(db, directory) {
        list.add(db, AnalyzedItem::of(db, workspace, directory, key));
    }
    let graph = Graph::of(list);
    let mut places = Places::new(References { db, workspace, directory }, &graph);
    let mut problems = Vec::new();
    graph.for_each_component(|members| {
        if graph.is_cycle(members) {
            report_cycle(&mut places, members, &mut problems);
        }
    });
    let mut by_member: FxHashMap<ItemKey, Vec<ItemProblem>> = FxHashMap::default();
    for found in problems {
        by_member.entry(found.item).or_default().push(found.problem);
    }
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
