//! The reason why an expression has no value before planning.

use std::sync::Arc;

use db::Summary;
use values::Str;

use crate::{
    analysis::problem::ItemProblem,
    expr::At,
    item_name::ItemKey,
    place::{ItemPlace, RelatedPlace},
    scope::EvalDiagnostic,
};

/// The reason why an expression has no value before planning.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StaticError {
    /// The summary of the diagnostic.
    pub summary: Summary,
    /// The detail of the diagnostic: the problem and how to solve it.
    pub detail: String,
    /// The chain from the use to the cause. Each location has a message.
    pub links: Vec<RelatedPlace>,
    /// A file that must be read first. If it is set, the expression itself is not at fault.
    pub wanted_file: Option<Str>,
    /// The reason why the expression may get a value nevertheless.
    pub deferral: Deferral,
}

/// The reason why an expression without a value may get one at its use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Deferral {
    /// It cannot get a value.
    None,
    /// A variable is not set yet.
    UnsetVariable,
    /// A function asks for a value that is not available before planning.
    RuntimeFunction,
}

/// The maximum number of locations in a displayed chain.
const LONGEST_WAY: usize = 20;

/// The absence of a value. `None` if another check reports the reason.
pub(super) type NoValue = Option<Arc<StaticError>>;

impl StaticError {
    /// Creates the problem at a location of an item. `here` is the message for the location.
    pub(super) fn at(
        place: ItemPlace,
        summary: Summary,
        detail: String,
        here: String,
    ) -> StaticError {
        StaticError {
            summary,
            detail,
            links: vec![place.with_message(here)],
            wanted_file: None,
            deferral: Deferral::None,
        }
    }

    /// Sets the reason why the expression may get a value later.
    pub(super) fn with_deferral(self, deferral: Deferral) -> StaticError {
        StaticError { deferral, ..self }
    }

    /// Converts a diagnostic of the evaluation.
    pub(super) fn evaluating(item: ItemKey, found: &EvalDiagnostic) -> StaticError {
        let here = format!("{} here", found.summary);
        StaticError::at(
            ItemPlace::new(item, found.at),
            found.summary.clone(),
            found.detail.clone(),
            here,
        )
    }

    /// Creates the request for a file that must be read first.
    pub(super) fn missing_file(file: Str) -> StaticError {
        StaticError {
            summary: Summary::INVALID_FUNCTION_ARGUMENT,
            detail: String::new(),
            links: Vec::new(),
            wanted_file: Some(file),
            deferral: Deferral::None,
        }
    }

    /// Adds a link at the start of the chain: a use of the expression.
    pub(super) fn used_at(&self, item: ItemKey, at: At, here: String) -> StaticError {
        let links = std::iter::once(ItemPlace::new(item, at).with_message(here))
            .chain(self.links.iter().cloned());
        StaticError { links: links.collect(), ..self.clone() }
    }

    /// Converts to a problem of the item at the start of the chain. `None` if a file must be read first. Links at
    /// the problem's own location are left out.
    pub(crate) fn problem(&self) -> Option<ItemProblem> {
        let use_place = self.links.first().filter(|_| self.wanted_file.is_none())?.place;
        let mut problem = ItemProblem::new(use_place.at, self.summary.clone(), &*self.detail);
        let way = self.links[1..].iter().filter(|it| it.place != use_place);
        let mut way: Vec<_> = way.cloned().collect();
        // Keep both ends of a long chain, because they are the most useful.
        if way.len() > LONGEST_WAY {
            way.drain(LONGEST_WAY / 2..way.len() - LONGEST_WAY / 2);
        }
        problem.related = way;
        Some(problem)
    }
}
