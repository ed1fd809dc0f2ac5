//! Warming up: what every question about a configuration needs first, on all processors.
//!
//! Blocks do not depend on each other, so they are parsed and lowered side by side, each thread with its own handle of the
//! database. Everything after that depends on names and runs on the thread that asked.

use std::{num::NonZero, thread};

use db::Block;
use hir::{Workspace, names::block_names};

use crate::Database;

/// Fewer blocks than this are not worth a thread.
const WORTHWHILE: usize = 256;
/// Lowering follows the tree by recursion, and a tree may be as deep as the parser allows.
const STACK: usize = 64 << 20;

/// Parses and lowers every block of a configuration.
pub(crate) fn lower_blocks(db: &Database, workspace: Workspace) {
    let directories = workspace.directories(db).values();
    let files = directories.flat_map(|directory| directory.files(db));
    let blocks: Vec<Block> = files.flat_map(|file| file.blocks(db).iter().copied()).collect();
    let threads = thread::available_parallelism().map_or(1, NonZero::get);
    if threads < 2 || blocks.len() < WORTHWHILE {
        return;
    }
    let share = blocks.len().div_ceil(threads);
    thread::scope(|scope| {
        for part in blocks.chunks(share) {
            let db = db.clone();
            let lower = move || {
                for &block in part {
                    block_names(&db, block);
                }
            };
            // Without another thread the blocks are lowered when somebody asks for them.
            drop(thread::Builder::new().stack_size(STACK).spawn_scoped(scope, lower));
        }
    });
}
