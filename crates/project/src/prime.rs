//! Warming up: what every question about a configuration needs first, on all processors.
//!
//! Blocks do not depend on each other, so they are parsed and lowered side by side. Items do, so they are inferred in the
//! order of their dependencies, in small batches: what a batch waits for is done, or is being done by another thread.
//!
//! **Invariant:** no query that is asked here reads a whole module. A handle of the database keeps the list of what a query
//! read at the largest size it ever had, and clears all of it after each later query: N small queries after one that read N
//! things would take quadratic time.

use std::{
    num::NonZero,
    panic::AssertUnwindSafe,
    sync::{
        OnceLock,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
    thread,
};

use db::{Block, Directory};
use hir::{
    Workspace,
    analysis::{
        AnalyzedId, AnalyzedItem, dependency_order, item_inference, item_problems, module_items,
        waits_for,
    },
    names::{ItemKey, ItemName, block_names},
    symbols::{self, Declared, NameKind},
};
use salsa::Database as _;

use crate::Database;

/// Fewer pieces of work than this are not worth a thread.
const WORTHWHILE: usize = 256;
/// Lowering follows the tree by recursion, and a tree may be as deep as the parser allows.
const LOWERING_STACK: usize = 64 << 20;
/// Inference follows references by recursion where the order of dependencies has cycles.
const INFERENCE_STACK: usize = 1 << 30;
/// How many pieces a thread takes at once. Inference recurses at most through the batches that are being worked on.
const BATCH: usize = 64;

/// Parses and lowers every block of a module.
pub(crate) fn names(db: &Database, directory: Directory) {
    let files = directory.files(db).iter();
    let blocks: Vec<Block> = files.flat_map(|file| file.blocks(db).iter().copied()).collect();
    on_processors(db, &blocks, LOWERING_STACK, processors(), |db, &block| {
        block_names(db, block);
    });
}

/// Declares what the blocks of a directory say, whose names are known. Names refer to each other in no way: half of the kinds
/// is done by another thread.
pub(crate) fn declare(db: &mut Database, directory: Directory) {
    let Some(declared) = Declared::first_of(db, directory) else {
        return symbols::declare(db, directory);
    };
    let (locals, others): (Vec<NameKind>, Vec<NameKind>) =
        NameKind::ALL.into_iter().partition(|kind| *kind == NameKind::Local);
    let here = || declared.tables(db, &others);
    let tables = match declared.count() < WORTHWHILE || processors() < 2 {
        true => vec![here(), declared.tables(db, &locals)],
        false => {
            let (here, there) = side_by_side(db, here, |db| declared.tables(db, &locals));
            let there = there.unwrap_or_else(|| declared.tables(db, &locals));
            vec![here, there]
        }
    };
    symbols::declare_tables(db, directory, tables);
}

/// Infers every item of every module of a configuration, called modules before their callers. Gives whether nothing was found
/// to be wrong with any of them, cycles included; where it was left to whoever asks, nobody knows, and it is no.
pub(crate) fn values(db: &Database, workspace: Workspace) -> bool {
    let (mut items, mut has_cycles) = (Vec::<AnalyzedId>::new(), false);
    for directory in hir::reachable(db, workspace).into_iter().rev() {
        let (order, is_ring) = in_order(db, waits(db, workspace, directory));
        items.extend(order);
        has_cycles |= is_ring;
    }
    let has_problems = AtomicBool::new(false);
    let all_done = on_processors(db, &items, INFERENCE_STACK, processors(), |db, &id| {
        if !item_inference(db, AnalyzedItem::of_id(db, id)).problems.is_empty() {
            has_problems.store(true, Ordering::Relaxed);
        }
    });
    all_done && !has_cycles && !has_problems.into_inner()
}

/// The items of a module, each after what it waits for, and whether some wait for themselves. Only one thread can find that
/// out; another one infers locals that wait for nothing meanwhile.
fn in_order(db: &Database, waiting: Vec<AnalyzedId>) -> (Vec<AnalyzedId>, bool) {
    let order = || {
        let items = waiting.iter().map(|&id| AnalyzedItem::of_id(db, id));
        let order = dependency_order(db, items);
        (order.items.into_iter().map(AnalyzedItem::id).collect(), order.has_cycles)
    };
    if waiting.len() < WORTHWHILE || processors() < 2 {
        return order();
    }
    let is_known = AtomicBool::new(false);
    let here = || {
        let order = order();
        is_known.store(true, Ordering::Relaxed);
        order
    };
    let there = |db: &Database| {
        let infer = || {
            let items = waiting.iter().map(|&id| AnalyzedItem::of_id(db, id));
            for item in items.take_while(|_| !is_known.load(Ordering::Relaxed)) {
                if is_lone_local(db, item) {
                    item_inference(db, item);
                }
            }
        };
        // As below: this thread finds out by itself.
        drop(salsa::Cancelled::catch(AssertUnwindSafe(infer)));
    };
    side_by_side(db, here, there).0
}

fn is_lone_local(db: &Database, item: AnalyzedItem<'_>) -> bool {
    let key = item.key(db);
    let name = block_names(db, key.block).get(key.index as usize);
    matches!(name, Some(ItemName::Local(_))) && waits_for(db, item).is_empty()
}

/// The items of a module, after finding out what they wait for. What those of a called module do is known by then.
fn waits(db: &Database, workspace: Workspace, directory: Directory) -> Vec<AnalyzedId> {
    let items: Vec<(ItemKey, OnceLock<AnalyzedId>)> =
        module_items(db, directory).map(|key| (key, OnceLock::new())).collect();
    on_processors(db, &items, LOWERING_STACK, processors(), |db, (key, id)| {
        let item = AnalyzedItem::of(db, workspace, directory, *key);
        waits_for(db, item);
        id.get_or_init(|| item.id());
    });
    // Little work was left to whoever asks.
    let id = |(key, id): (ItemKey, OnceLock<AnalyzedId>)| {
        let known = id.into_inner();
        known.unwrap_or_else(|| AnalyzedItem::of(db, workspace, directory, key).id())
    };
    items.into_iter().map(id).collect()
}

/// Asks for everything that is wrong with a module, whose items were inferred before. This goes on behind the back of
/// somebody who types.
pub(crate) fn problems(db: &Database, workspace: Workspace, directory: Directory) {
    // Of override files it is asked of what they change.
    let files = directory.files(db).iter().filter(|it| !db::is_override(it.path(db)));
    let blocks: Vec<Block> = files.flat_map(|file| file.blocks(db).iter().copied()).collect();
    on_processors(db, &blocks, INFERENCE_STACK, all_but_one(), |db, &block| {
        item_problems(db, workspace, directory, block);
    });
}

/// Does two things at once, the second on a thread of its own with its own handle of the database. Nothing comes of it on a
/// machine that has no thread to give.
pub(crate) fn side_by_side<A, B: Send>(
    db: &Database,
    here: impl FnOnce() -> A,
    there: impl FnOnce(&Database) -> B + Send,
) -> (A, Option<B>) {
    let db = db.clone();
    thread::scope(|scope| {
        let work = move || there(&db);
        let thread = thread::Builder::new().stack_size(INFERENCE_STACK).spawn_scoped(scope, work);
        let a = here();
        let b = thread.ok().map(|it| match it.join() {
            Ok(b) => b,
            Err(panic) => std::panic::resume_unwind(panic),
        });
        (a, b)
    })
}

fn processors() -> usize {
    thread::available_parallelism().map_or(1, NonZero::get)
}

/// One is left for who types meanwhile.
fn all_but_one() -> usize {
    processors() - 1
}

/// Fewer files than this are read before a thread has begun.
const MANY_FILES: usize = 8;

/// What `work` gives for each of some things, in their order.
pub(crate) fn side_by_side_each<T: Sync, R: Send>(
    things: &[T],
    work: impl Fn(&T) -> R + Sync,
) -> Vec<R> {
    if things.len() < MANY_FILES || processors() < 2 {
        return things.iter().map(work).collect();
    }
    let part = things.len().div_ceil(processors());
    let work_on = |part: &[T]| -> Vec<R> { part.iter().map(&work).collect() };
    thread::scope(|scope| {
        let mut parts = things.chunks(part);
        let here = parts.next();
        let there: Vec<_> = parts
            .map(|part| (part, thread::Builder::new().spawn_scoped(scope, || work_on(part))))
            .collect();
        let mut done = here.map(work_on).unwrap_or_default();
        for (part, thread) in there {
            match thread {
                Ok(thread) => match thread.join() {
                    Ok(more) => done.extend(more),
                    Err(panic) => std::panic::resume_unwind(panic),
                },
                // A machine that has no thread to give.
                Err(_) => done.extend(work_on(part)),
            }
        }
        done
    })
}

/// Does each piece of work, each thread with its own handle, this one among them: whoever asks has a stack for it, as it may
/// be left to it anyway. Little work, or a machine that has no thread to give, leaves it to whoever asks for the results.
/// Gives whether all was done.
fn on_processors<T: Sync>(
    db: &Database,
    pieces: &[T],
    stack: usize,
    threads: usize,
    work: impl Fn(&Database, &T) + Sync,
) -> bool {
    if threads < 2 || pieces.len() < WORTHWHILE {
        return false;
    }
    let (next, done) = (AtomicUsize::new(0), AtomicUsize::new(0));
    let (next, done, work) = (&next, &done, &work);
    let take_batches = |db: Database| {
        let take_batches = move || {
            loop {
                let start = next.fetch_add(BATCH, Ordering::Relaxed);
                let Some(rest) = pieces.get(start..) else { return };
                let batch = &rest[..rest.len().min(BATCH)];
                batch.iter().for_each(|piece| work(&db, piece));
                done.fetch_add(batch.len(), Ordering::Relaxed);
            }
        };
        // A thread that is cancelled has nothing to tell: below, this one finds out by itself.
        drop(salsa::Cancelled::catch(AssertUnwindSafe(take_batches)));
    };
    thread::scope(|scope| {
        // This thread works along: one that only waits leaves its processor empty until the system gives it to another.
        for _ in 1..threads {
            let db = db.clone();
            let work = move || take_batches(db);
            drop(thread::Builder::new().stack_size(stack).spawn_scoped(scope, work));
        }
        take_batches(db.clone());
    });
    db.unwind_if_revision_cancelled();
    done.load(Ordering::Relaxed) == pieces.len()
}
