//! Why something has no value before anything is planned.

use std::sync::Arc;

use values::Str;

use crate::{analysis::ItemProblem, expr::At, names::ItemKey, scope::EvalDiagnostic};

/// Why something has no value before anything is planned.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Trouble {
    /// The stable id.
    pub id: &'static str,
    /// One line.
    pub summary: String,
    /// What is wrong and the way out.
    pub detail: String,
    /// The way from the use to the cause, each place with what is there.
    pub links: Vec<(ItemKey, At, String)>,
    /// A file that has to be read first. Then nothing is wrong.
    pub wanted_file: Option<Str>,
    /// Whether it may have a value all the same.
    pub doubt: Doubt,
}

/// Whether what has no value here may have one where it is used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Doubt {
    /// It has none.
    None,
    /// A variable is not set so far.
    Unset,
    /// A function asks for something that is not looked at this early.
    Unanswered,
}

/// How many places of a way are shown.
const LONGEST_WAY: usize = 20;

/// What has no value: for a reason, or for one that somebody else tells of.
pub(super) type NoValue = Option<Arc<Trouble>>;

impl Trouble {
    /// What stands at a place of an item.
    pub(super) fn at(
        (item, at): (ItemKey, At),
        id: &'static str,
        summary: &str,
        detail: String,
        here: String,
    ) -> Trouble {
        Trouble {
            id,
            summary: summary.to_owned(),
            detail,
            links: vec![(item, at, here)],
            wanted_file: None,
            doubt: Doubt::None,
        }
    }

    /// The same with a doubt.
    pub(super) fn doubted(self, doubt: Doubt) -> Trouble {
        Trouble { doubt, ..self }
    }

    /// A problem that evaluating found.
    pub(super) fn evaluating(item: ItemKey, found: &EvalDiagnostic) -> Trouble {
        let here = format!("{} here", found.summary);
        Trouble::at((item, found.at), found.id, &found.summary, found.detail.clone(), here)
    }

    /// The file that has to be read first.
    pub(super) fn wants(file: Str) -> Trouble {
        Trouble {
            id: "invalid-function-argument",
            summary: "Invalid function argument".to_owned(),
            detail: String::new(),
            links: Vec::new(),
            wanted_file: Some(file),
            doubt: Doubt::None,
        }
    }

    /// The same seen from what depends on it.
    pub(super) fn seen_from(&self, item: ItemKey, at: At, here: String) -> Trouble {
        let links = std::iter::once((item, at, here)).chain(self.links.iter().cloned());
        Trouble { links: links.collect(), ..self.clone() }
    }

    /// The problem of the item in which the way begins. What is in the item itself is where it is shown.
    pub(crate) fn problem(&self) -> Option<ItemProblem> {
        let (item, at, _) = self.links.first().filter(|_| self.wanted_file.is_none())?;
        let mut problem = ItemProblem::error(*at, self.id, &*self.summary, &*self.detail);
        let way = self.links[1..].iter().filter(|it| (it.0, it.1) != (*item, *at));
        let mut way: Vec<_> = way.cloned().collect();
        // Both ends of a long way say what is needed.
        if way.len() > LONGEST_WAY {
            way.drain(LONGEST_WAY / 2..way.len() - LONGEST_WAY / 2);
        }
        problem.related = way;
        Some(problem)
    }
}
