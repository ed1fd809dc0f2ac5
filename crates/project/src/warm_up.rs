//! Warms up the caches: runs the queries that every request needs first, on all processors.
//!
//! Blocks do not depend on each other, so they are parsed and lowered in parallel. Items do, so they are inferred
//! in dependency order. If there are long chains of dependencies, all threads take small batches from one list:
//! the dependencies of a batch are then done or in progress on another thread.
//!
//! **Invariant:** no query that runs here reads a whole module. A database handle keeps the dependency list of a
//! query at the largest size it ever had, and clears all of it after each later query. N small queries after one
//! query with N dependencies would take quadratic time.

use std::{
    panic::AssertUnwindSafe,
    sync::atomic::{AtomicBool, Ordering},
};

use db::{Block, Directory};
use hir::{
    Workspace,
    analysis::{
        AnalyzedId, AnalyzedItem, DependencyList, DependencyOrder, is_independent, item_inference,
        item_problems,
    },
    names::{ItemKey, ItemName, block_names, module_items},
    symbols::{self, BlockOutline, NameKind, Tables},
};

use parallel::processors;

use crate::{
    Handle,
    batches::{self, Shares, WORTHWHILE, all_but_one, each_in_parallel, in_batches},
};

/// The depth of dependencies up to which inference may recurse.
const DEEP: usize = 500;

/// Parses and lowers every block of a directory, and declares its names.
pub(crate) fn declare(db: &mut dyn Handle, directory: Directory) {
    let mut outline = outline(db, directory);
    let lifetime = db.table_lifetime();
    if symbols::is_first(db, directory) {
        let tables = tables(db, &mut outline, symbols::has_overrides(db, directory));
        symbols::declare_tables(db, directory, outline, tables, lifetime);
    } else {
        symbols::declare_again(db, directory, outline);
    }
}

/// Returns the declarations in the blocks of a directory.
fn outline(db: &dyn Handle, directory: Directory) -> BlockOutline {
    let blocks = symbols::blocks_to_declare(db, directory);
    let by_batch = |db: &dyn Handle, batch: &[Block]| BlockOutline::of_blocks(db, batch);
    let parts = in_batches(db, &blocks, by_batch);
    parts.fold(BlockOutline::default(), BlockOutline::joined)
}

/// Builds the tables of names. Names do not depend on each other, so a second thread builds those of locals and
/// outputs.
fn tables(db: &dyn Handle, outline: &mut BlockOutline, has_overrides: bool) -> Vec<Tables> {
    let is_small = outline.count() < WORTHWHILE;
    let is_value = |kind: &NameKind| matches!(kind, NameKind::Local | NameKind::Output);
    let values = outline.take(NameKind::ALL.into_iter().filter(is_value));
    let others = outline.take(NameKind::ALL.into_iter().filter(|kind| !is_value(kind)));
    let here = || others.tables(db, has_overrides);
    let there = |db: &dyn Handle| values.tables(db, has_overrides);
    let (here, there) = match is_small {
        true => (here(), there(db)),
        false => batches::join(db, here, there),
    };
    vec![here, there]
}

/// Infers every item of every module of a configuration, called modules before their callers. Returns true if no
/// item has a problem and there is no cycle. Returns false if that is unknown because the threads did not do all
/// the work.
pub(crate) fn values(db: &dyn Handle, workspace: Workspace) -> bool {
    let (mut items, mut has_cycles, mut depth) = (Vec::<AnalyzedId>::new(), false, 0);
    for directory in hir::reachable(db, workspace).into_iter().rev() {
        let order = in_order(db, waits(db, workspace, directory));
        items.extend(order.items);
        has_cycles |= order.has_cycles;
        depth += order.depth;
    }
    if !has_cycles {
        db.set_acyclic();
    }
    let has_problems = AtomicBool::new(false);
    // A thread that starts in the middle of a chain infers the earlier items by recursion.
    let shares = match depth < DEEP {
        true => Shares::of(items.len(), processors()),
        false => Shares::one(items.len(), processors()),
    };
    let all_done = each_in_parallel(db, &items, &shares, |db, &id| {
        if !item_inference(db, AnalyzedItem::of_id(db, id)).problems.is_empty() {
            has_problems.store(true, Ordering::Relaxed);
        }
    });
    all_done && !has_cycles && !has_problems.into_inner()
}

/// Returns the dependency order of the items of a module. Only one thread can compute it; meanwhile another thread
/// infers locals without dependencies.
fn in_order(db: &dyn Handle, waits: DependencyList) -> DependencyOrder {
    if waits.len() < WORTHWHILE || processors() < 2 {
        return DependencyOrder::of(waits);
    }
    let lone: Vec<AnalyzedId> = waits.independent_items().collect();
    let is_known = AtomicBool::new(false);
    let here = || {
        let order = DependencyOrder::of(waits);
        is_known.store(true, Ordering::Relaxed);
        order
    };
    let there = |db: &dyn Handle| {
        let infer = || {
            let items = lone.iter().map(|&id| AnalyzedItem::of_id(db, id));
            for item in items.take_while(|_| !is_known.load(Ordering::Relaxed)) {
                if is_local(db, item) {
                    item_inference(db, item);
                }
            }
        };
        // A cancelled thread reports nothing: the calling thread finds the cancellation itself.
        drop(salsa::Cancelled::catch(AssertUnwindSafe(infer)));
    };
    batches::join(db, here, there).0
}

fn is_local(db: &dyn Handle, item: AnalyzedItem<'_>) -> bool {
    let key = item.key(db);
    matches!(block_names(db, key.block).get(key.index as usize), Some(ItemName::Local(_)))
}

/// Returns the dependencies of the items of a module. Those of called modules must be known already.
fn waits(db: &dyn Handle, workspace: Workspace, directory: Directory) -> DependencyList {
    let items = module_items(db, directory);
    let of_batch = |db: &dyn Handle, batch: &[ItemKey]| {
        let mut list = DependencyList::default();
        for &key in batch {
            let item = AnalyzedItem::of(db, workspace, directory, key);
            match is_independent(db, key) {
                true => list.add_independent(item),
                false => list.add(db, item),
            }
        }
        list
    };
    let parts = in_batches(db, &items, of_batch);
    parts.fold(DependencyList::default(), DependencyList::and)
}

/// Computes all problems of a module whose items are inferred already. Runs in the background while the user
/// edits.
pub(crate) fn problems(db: &dyn Handle, workspace: Workspace, directory: Directory) {
    // The problems of override files are computed with the blocks that they override.
    let files = directory.files(db).iter().filter(|it| !db::is_override(it.path(db)));
    let blocks: Vec<Block> = files.flat_map(|file| file.blocks(db).iter().copied()).collect();
    let shares = Shares::of(blocks.len(), all_but_one());
    each_in_parallel(db, &blocks, &shares, |db, &block| {
        item_problems(db, workspace, directory, block);
    });
}
