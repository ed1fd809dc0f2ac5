//! Observes an inference: records the value of every expression, which an editor shows.

use std::cell::RefCell;

use crate::{
    analysis::value::Abstract,
    expr::{ExprId, SymbolId},
    item::{Item, Repetition},
};

/// The values that the inference of an item found for each expression and for each name that the item binds.
///
/// An expression that is inferred several times, such as the body of a loop, has one value that joins all rounds.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ExprValues {
    exprs: Vec<Option<Abstract>>,
    symbols: Vec<Option<Abstract>>,
}

impl ExprValues {
    /// Returns the value of an expression, or `None` if it was not inferred.
    pub fn expr(&self, id: ExprId) -> Option<&Abstract> {
        self.exprs.get(id.0 as usize)?.as_ref()
    }

    /// Returns the value of a name that a `for`, a `dynamic` block or a splat binds, or `None` if it was not bound.
    pub fn symbol(&self, id: SymbolId) -> Option<&Abstract> {
        self.symbols.get(id.0 as usize)?.as_ref()
    }
}

/// An observer that collects the values of an inference.
#[derive(Debug, Default)]
pub struct Recorder {
    values: RefCell<ExprValues>,
    /// The argument of `for_each`, if the item has one.
    for_each: Option<ExprId>,
}

impl Recorder {
    /// A recorder for the expressions of an item.
    pub(super) fn of(item: &Item) -> Recorder {
        let exprs = vec![None; item.exprs.len()];
        let symbols = vec![None; item.exprs.symbol_count()];
        let for_each = match item.repetition() {
            Repetition::ForEach(expr) => Some(expr),
            _ => None,
        };
        Recorder { values: RefCell::new(ExprValues { exprs, symbols }), for_each }
    }

    /// Returns the value of an element of `for_each` with the marks of the whole collection, so that an editor does
    /// not show the elements of a marked collection.
    pub(super) fn element(&self, element: Abstract) -> Abstract {
        let values = self.values.borrow();
        match self.for_each.and_then(|it| values.expr(it)) {
            Some(whole) => element.with_marks(&whole.marks).with_origin(whole.origin.clone()),
            None => element,
        }
    }

    pub(super) fn note(&self, id: ExprId, value: &Abstract) {
        join(self.values.borrow_mut().exprs.get_mut(id.0 as usize), value);
    }

    pub(super) fn note_symbol(&self, symbol: SymbolId, value: &Abstract) {
        join(self.values.borrow_mut().symbols.get_mut(symbol.0 as usize), value);
    }

    pub(super) fn expr(&self, id: ExprId) -> Option<Abstract> {
        self.values.borrow().expr(id).cloned()
    }

    /// Ends the recording.
    pub(super) fn into_values(self) -> ExprValues {
        self.values.into_inner()
    }

    pub(super) fn knows(&self, id: ExprId) -> bool {
        self.values.borrow().expr(id).is_some()
    }

    pub(super) fn symbol(&self, symbol: SymbolId) -> Option<Abstract> {
        self.values.borrow().symbol(symbol).cloned()
    }
}

fn join(known: Option<&mut Option<Abstract>>, value: &Abstract) {
    let Some(known) = known else { return };
    *known = Some(match known.take() {
        Some(before) if before == *value => before,
        Some(before) => before.either(value),
        None => value.clone(),
    });
}
