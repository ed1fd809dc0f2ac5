//! Lists that one item leaves to the next on the same thread: most items are about as large as others, and a list that has
//! grown once need not grow again. Nothing is in them.

use std::cell::Cell;

use super::SourceMap;
use crate::expr::Expr;

/// Lists that a longer item has filled are not kept.
const MOST_SPARE: usize = 1 << 12;
/// How many source maps are kept: a block has one item, or a handful.
const MOST_MAPS: usize = 8;

/// The lists that an item grows.
#[derive(Default)]
pub(super) struct Spare {
    pub(super) exprs: Vec<Expr>,
    pub(super) depths: Vec<u32>,
    maps: Vec<SourceMap>,
}

thread_local! {
    static SPARE: Cell<Option<Box<Spare>>> = const { Cell::new(None) };
}

impl Spare {
    /// What was left; nothing for an item that is lowered while another is.
    pub(super) fn take() -> Box<Spare> {
        SPARE.take().unwrap_or_default()
    }

    /// Leaves the lists to the next item.
    pub(super) fn leave(mut self: Box<Self>) {
        self.exprs.clear();
        self.depths.clear();
        if self.exprs.capacity() <= MOST_SPARE {
            SPARE.set(Some(self));
        }
    }

    /// An empty source map.
    pub(super) fn map(&mut self) -> SourceMap {
        self.maps.pop().unwrap_or_default()
    }
}

/// Takes back the source maps of a block that nobody asked for.
pub(crate) fn recycle(maps: Vec<SourceMap>) {
    let mut spare = Spare::take();
    for mut map in maps.into_iter().take(MOST_MAPS - spare.maps.len().min(MOST_MAPS)) {
        map.exprs.clear();
        map.nodes.clear();
        if map.parts.is_none() && map.exprs.capacity().max(map.nodes.capacity()) <= MOST_SPARE {
            spare.maps.push(map);
        }
    }
    SPARE.set(Some(spare));
}
