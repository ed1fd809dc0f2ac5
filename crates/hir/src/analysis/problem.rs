//! A problem of one item. It has no ranges; they are added when the problem is shown.

use std::sync::Arc;

use db::{Rule, Severity, Summary};
use values::Str;

use crate::{
    analysis::{
        origin::Origin,
        value::{
            marks::Tri,
            when::{Condition, When},
        },
    },
    expr::At,
    fix::Fix,
    item_name::ItemKey,
    place::{ItemPlace, RelatedPlace},
    scope::EvalDiagnostic,
    unsupported,
};

/// A problem at a place of an item.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ItemProblem {
    /// The place of the problem in the item.
    pub at: At,
    /// The rule, the severity and the summary.
    pub summary: Summary,
    /// A description of the problem and of the way to solve it.
    pub detail: String,
    /// The address of the object that the problem is about, if there is one.
    pub address: Option<Str>,
    /// Lines about the values involved, such as `var.x is 5`.
    pub values: Vec<String>,
    /// Related places, each with the text to show there.
    pub related: Vec<RelatedPlace>,
    /// The edit that solves the problem, if there is one.
    pub fix: Option<Fix>,
    /// The condition under which the problem exists; the detail begins with it. `None` if it exists in every case.
    pub condition: Option<Arc<Condition>>,
}

impl ItemProblem {
    /// Creates a problem at a place of an item.
    pub fn new(at: At, summary: Summary, detail: impl Into<String>) -> ItemProblem {
        ItemProblem {
            at,
            summary,
            detail: detail.into(),
            address: None,
            values: Vec::new(),
            related: Vec::new(),
            fix: None,
            condition: None,
        }
    }

    /// Returns the rule that was broken.
    pub fn id(&self) -> Rule {
        self.summary.rule()
    }

    /// Returns the severity.
    pub fn severity(&self) -> Severity {
        self.summary.severity()
    }

    /// Sets the edit that solves the problem.
    pub(crate) fn fixed_by(self, fix: Option<Fix>) -> ItemProblem {
        ItemProblem { fix, ..self }
    }

    /// Lowers the severity, if it is higher than this one.
    pub fn at_most(self, severity: Severity) -> ItemProblem {
        ItemProblem { summary: self.summary.at_most(severity), ..self }
    }

    /// Sets the address of the object that the problem is about.
    pub fn about(self, address: impl ToString) -> ItemProblem {
        ItemProblem { address: Some(address.to_string().into()), ..self }
    }

    /// Sets the severity of a problem with a value that may be ephemeral, and adds the chain of origins. The problem
    /// is an error if the value is ephemeral in every run, a warning that states the condition if there is one, and a
    /// hint for the editor if the value is ephemeral only while something is unknown.
    pub(super) fn if_ephemeral(
        self,
        certainty: Tri,
        when: &When,
        origin: Option<&Arc<Origin>>,
    ) -> ItemProblem {
        match (certainty, when) {
            (Tri::Yes, _) | (_, When::Always) => self.with_origin_chain(origin),
            (_, When::If(condition)) => {
                let detail = format!("{}\n\n{}", condition.sentence(), self.detail);
                let summary = Summary::POSSIBLY_EPHEMERAL;
                let problem = ItemProblem { summary, detail, ..self };
                let mut problem = problem.with_origin_chain(origin);
                problem.condition = Some(Arc::clone(condition));
                for subject in condition.subjects() {
                    let message = format!("whether it is ephemeral is decided by {}", subject.text);
                    problem.relate(subject.item, subject.expr, message);
                }
                problem
            }
            (_, When::Never) => {
                let detail =
                    format!("Depending on values that are not known here: {}", self.detail);
                ItemProblem { detail, ..self }.at_most(Severity::Hint).with_origin_chain(origin)
            }
        }
    }

    /// Adds a related place with the text to show there.
    pub(crate) fn relate(&mut self, item: ItemKey, at: impl Into<At>, message: impl Into<String>) {
        self.related.push(ItemPlace::new(item, at).with_message(message));
    }

    /// Adds the chain that leads to an ephemeral value as related places, and a note if OpenTofu drops the mark on
    /// the way.
    pub fn with_origin_chain(mut self, origin: Option<&Arc<Origin>>) -> ItemProblem {
        let mut dropped = None;
        for link in origin.into_iter().flat_map(|origin| origin.chain()) {
            dropped = dropped.or(link.dropped_mark);
            self.relate(link.item, link.at, &*link.message);
        }
        if let Some(form) = dropped {
            self.detail = format!("{}\n\n{}", self.detail, form.note());
        }
        self
    }
}

/// A problem of an item, with the key of the item.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct LocatedProblem {
    /// The item.
    pub item: ItemKey,
    /// The problem.
    pub problem: ItemProblem,
}

impl LocatedProblem {
    /// Attaches the key of an item to its problem.
    pub(crate) fn new(item: ItemKey, problem: ItemProblem) -> LocatedProblem {
        LocatedProblem { item, problem }
    }
}

impl From<EvalDiagnostic> for ItemProblem {
    fn from(it: EvalDiagnostic) -> ItemProblem {
        ItemProblem {
            at: it.at,
            summary: it.summary,
            detail: it.detail,
            address: None,
            values: it.values,
            related: Vec::new(),
            fix: it.fix,
            condition: None,
        }
    }
}

/// The error for a construct that this version does not support.
pub(super) fn not_supported(at: impl Into<At>, what: &str) -> ItemProblem {
    let detail = unsupported::detail(what);
    ItemProblem::new(at.into(), Summary::NOT_SUPPORTED_YET, detail)
}
