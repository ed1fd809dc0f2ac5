//! The reason why an expression has no value before planning.

use std::sync::Arc;

use db::Summary;
use values::Str;

use crate::{analysis::problem::ItemProblem, expr::At, names::ItemKey, scope::EvalDiagnostic};

/// The reason why an expression has no value before planning.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Trouble {
    /// The summary of the diagnostic.
    pub summary: Summary,
    /// The detail of the diagnostic: the problem and how to solve it.
    pub detail: String,
    /// The chain from the use to the cause. Each location has a message.
    pub links: Vec<(ItemKey, At, String)>,
    /// A file that must be read first. If it is set, the expression itself is not at fault.
    pub wanted_file: Option<Str>,
    /// The reason why the expression may get a value nevertheless.
    pub doubt: Doubt,
}

/// The reason why an expression without a value may get one at its use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Doubt {
    /// It cannot get a value.
    None,
    /// A variable is not set yet.
    Unset,
    /// A function asks for a value that is not available before planning.
    Unanswered,
}

/// The maximum number of locations in a displayed chain.
const LONGEST_WAY: usize = 20;

/// The absence of a value. `None` if another check reports the reason.
pub(super) type NoValue = Option<Arc<Trouble>>;

impl Trouble {
    /// Creates the problem at a location of an item. `here` is the message for the location.
    pub(super) fn at(
        (item, at): (ItemKey, At),
        summary: Summary,
        detail: String,
        here: String,
    ) -> Trouble {
        Trouble {
            summary,
            detail,
            links: vec![(item, at, here)],
            wanted_file: None,
            doubt: Doubt::None,
        }
    }

    /// Adds a doubt.
    pub(super) fn doubted(self, doubt: Doubt) -> Trouble {
        Trouble { doubt, ..self }
    }

    /// Converts a diagnostic of the evaluation.
    pub(super) fn evaluating(item: ItemKey, found: &EvalDiagnostic) -> Trouble {
        let here = format!("{} here", found.summary);
        Trouble::at((item, found.at), found.summary.clone(), found.detail.clone(), here)
    }

    /// Creates the request for a file that must be read first.
    pub(super) fn wants(file: Str) -> Trouble {
        Trouble {
            summary: Summary::INVALID_FUNCTION_ARGUMENT,
            detail: String::new(),
            links: Vec::new(),
            wanted_file: Some(file),
            doubt: Doubt::None,
        }
    }

    /// Adds a link at the start of the chain: a use of the expression.
    pub(super) fn seen_from(&self, item: ItemKey, at: At, here: String) -> Trouble {
        let links = std::iter::once((item, at, here)).chain(self.links.iter().cloned());
        Trouble { links: links.collect(), ..self.clone() }
    }

    /// Converts to a problem of the item at the start of the chain. `None` if a file must be read first. Links at
    /// the problem's own location are left out.
    pub(crate) fn problem(&self) -> Option<ItemProblem> {
        let (item, at, _) = self.links.first().filter(|_| self.wanted_file.is_none())?;
        let mut problem = ItemProblem::new(*at, self.summary.clone(), &*self.detail);
        let way = self.links[1..].iter().filter(|it| (it.0, it.1) != (*item, *at));
        let mut way: Vec<_> = way.cloned().collect();
        // Keep both ends of a long chain, because they are the most useful.
        if way.len() > LONGEST_WAY {
            way.drain(LONGEST_WAY / 2..way.len() - LONGEST_WAY / 2);
        }
        problem.related = way;
        Some(problem)
    }
}
