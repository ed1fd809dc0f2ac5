//! The ways to read a part of a larger result: from the result, or through a query of its own.
//!
//! A query of its own stays equal if an edit changes only other parts of the larger result, so the edit does not
//! invalidate its readers. It costs a cache entry for each part. Without edits, the entries have no use.
//!
//! The type of the database decides: the one for edits returns [`SEPARATE`], the frozen one [`CONTAINED`]. A query
//! that reads a part does not know which it gets. The results are the same; a test compares them.

use std::sync::Arc;

use db::Block;

use crate::{
    Db,
    analysis::{self, AnalyzedItem, value::Abstract},
    item::Item,
    names::{self, ItemKey, Outline},
};

/// The functions that read parts of larger results.
pub struct Projections {
    /// Reads the names that a block declares.
    pub(crate) outline: for<'db> fn(&'db dyn Db, Block) -> &'db Outline,
    /// Reads one item of a block.
    pub(crate) item: for<'db> fn(&'db dyn Db, ItemKey) -> &'db Arc<Item>,
    /// Reads the value of an inferred item.
    pub(crate) value: for<'db> fn(&'db dyn Db, AnalyzedItem<'db>) -> &'db Abstract,
}

/// Reads each part through a query of its own.
pub static SEPARATE: Projections = Projections {
    outline: names::separate_outline,
    item: names::separate_item,
    value: analysis::separate_value,
};

/// Reads each part from the larger result.
pub static CONTAINED: Projections = Projections {
    outline: names::contained_outline,
    item: names::contained_item,
    value: analysis::contained_value,
};
