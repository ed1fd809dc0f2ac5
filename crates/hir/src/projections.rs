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
    analysis::{analyzed::AnalyzedItem, inference, value::Abstract},
    content::{self, Outline},
    item::Item,
    item_name::ItemKey,
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
    outline: content::separate_outline,
    item: content::separate_item,
    value: inference::separate_value,
};

/// Reads each part from the larger result.
pub static CONTAINED: Projections = Projections {
    outline: content::contained_outline,
    item: content::contained_item,
    value: inference::contained_value,
};
