//! The queries that infer an item and read its value.

use std::sync::LazyLock;

use crate::{
    Db,
    analysis::{
        analyzed::{AnalyzedItem, Inference},
        cycles, items,
        value::Abstract,
    },
};

/// Infers one item.
///
/// **Stability:** depends on the item, on the values of the items that it references, and on the schemas that it
/// uses; not on source ranges.
#[salsa::tracked(returns(ref), cycle_result = inference_in_cycle)]
pub fn item_inference<'db>(db: &'db dyn Db, item: AnalyzedItem<'db>) -> Inference {
    items::infer_item(db, item)
}

/// Reads the value from the inference of the item.
pub(crate) fn contained_value<'db>(db: &'db dyn Db, item: AnalyzedItem<'db>) -> &'db Abstract {
    static CYCLIC: LazyLock<Abstract> = LazyLock::new(Abstract::any);
    match cycles::is_cyclic(db, item) {
        true => &CYCLIC,
        false => &item_inference(db, item).value,
    }
}

/// Reads the value through a query of its own.
pub(crate) fn separate_value<'db>(db: &'db dyn Db, item: AnalyzedItem<'db>) -> &'db Abstract {
    kept_value(db, item)
}

/// The value as a query of its own, so that a change of the problems of an item alone does not invalidate its
/// dependents.
#[salsa::tracked(returns(ref), cycle_result = value_in_cycle)]
fn kept_value<'db>(db: &'db dyn Db, item: AnalyzedItem<'db>) -> Abstract {
    if cycles::is_cyclic(db, item) {
        return Abstract::any();
    }
    item_inference(db, item).value.clone()
}

/// Fallback for an item that depends on itself through other modules: its value is unknown. `is_cyclic` finds
/// cycles within one module beforehand.
fn inference_in_cycle(_: &dyn Db, _: salsa::Id, _: AnalyzedItem<'_>) -> Inference {
    Inference { value: Abstract::any(), problems: Box::default() }
}

/// Fallback of [`kept_value`] for an item that depends on itself through other modules.
fn value_in_cycle(_: &dyn Db, _: salsa::Id, _: AnalyzedItem<'_>) -> Abstract {
    Abstract::any()
}
