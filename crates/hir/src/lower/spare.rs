//! Reuses the lists of one item for the next item on the same thread. Most items have similar sizes, so this
//! avoids growing the lists again. The reused lists are empty.

use std::cell::Cell;

use crate::{expr::Expr, lower::source_map::SourceMap};

/// The maximum capacity of a list that is kept.
const MAX_SPARE: usize = 1 << 12;

/// The maximum number of source maps that are kept. A block has only a few items.
const MAX_MAPS: usize = 8;

/// The lists that lowering an item fills.
#[derive(Default)]
pub(super) struct SpareLists {
    pub(super) exprs: Vec<Expr>,
    pub(super) depths: Vec<u32>,
    maps: Vec<SourceMap>,
}

thread_local! {
    static SPARE: Cell<Option<Box<SpareLists>>> = const { Cell::new(None) };
}

impl SpareLists {
    /// Takes the lists of the thread. Empty if another item on the thread is being lowered.
    pub(super) fn take() -> Box<SpareLists> {
        SPARE.take().unwrap_or_default()
    }

    /// Returns the lists for the next item.
    pub(super) fn leave(mut self: Box<Self>) {
        self.exprs.clear();
        self.depths.clear();
        if self.exprs.capacity() <= MAX_SPARE {
            SPARE.set(Some(self));
        }
    }

    /// An empty source map.
    pub(super) fn map(&mut self) -> SourceMap {
        self.maps.pop().unwrap_or_default()
    }
}

/// Returns unused source maps of a block for reuse.
pub(crate) fn recycle(maps: Vec<SourceMap>) {
    let mut spare = SpareLists::take();
    for mut map in maps.into_iter().take(MAX_MAPS - spare.maps.len().min(MAX_MAPS)) {
        map.exprs.clear();
        map.nodes.clear();
        if map.parts.is_none() && map.exprs.capacity().max(map.nodes.capacity()) <= MAX_SPARE {
            spare.maps.push(map);
        }
    }
    SPARE.set(Some(spare));
}
