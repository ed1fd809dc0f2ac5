//! A problem of one item, without ranges: they are joined when it is shown.

use std::sync::Arc;

use db::Severity;
use values::Str;

use super::{origin::Origin, value::when::Condition};
use crate::{expr::At, fix::Fix, names::ItemKey, scope::EvalDiagnostic, unsupported};

/// A problem at a place of an item.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ItemProblem {
    /// Where.
    pub at: At,
    /// Stable, kebab-case.
    pub id: &'static str,
    /// How bad it is.
    pub severity: Severity,
    /// One line.
    pub summary: String,
    /// What is wrong and the way out.
    pub detail: String,
    /// The address of the object, if it is about one.
    pub address: Option<Str>,
    /// Lines such as `var.x is 5`.
    pub values: Vec<String>,
    /// Further places with what is there.
    pub related: Vec<(ItemKey, At, String)>,
    /// What would mend it.
    pub fix: Option<Fix>,
    /// What decides whether there is a problem at all; the detail begins with it.
    pub condition: Option<Arc<Condition>>,
}

impl ItemProblem {
    /// An error.
    pub fn error(
        at: At,
        id: &'static str,
        summary: impl Into<String>,
        detail: impl Into<String>,
    ) -> ItemProblem {
        ItemProblem {
            at,
            id,
            severity: Severity::Error,
            summary: summary.into(),
            detail: detail.into(),
            address: None,
            values: Vec::new(),
            related: Vec::new(),
            fix: None,
            condition: None,
        }
    }

    /// The same with what would mend it.
    pub(crate) fn fixed_by(self, fix: Option<Fix>) -> ItemProblem {
        ItemProblem { fix, ..self }
    }

    /// The same with another severity.
    pub fn with_severity(self, severity: Severity) -> ItemProblem {
        ItemProblem { severity, ..self }
    }

    /// The same about an object.
    pub fn about(self, address: impl ToString) -> ItemProblem {
        ItemProblem { address: Some(address.to_string().into()), ..self }
    }

    /// The same with the chain that leads to an ephemeral value, and a word on where the reference loses it.
    pub fn because(mut self, origin: Option<&Arc<Origin>>) -> ItemProblem {
        let mut forgetting = None;
        for link in origin.into_iter().flat_map(|origin| origin.chain()) {
            forgetting = forgetting.or(link.forgotten_by);
            self.related.push((link.item, link.at, link.message.to_string()));
        }
        if let Some(form) = forgetting {
            self.detail = format!("{}\n\n{}", self.detail, form.note());
        }
        self
    }
}

impl From<EvalDiagnostic> for ItemProblem {
    fn from(it: EvalDiagnostic) -> ItemProblem {
        ItemProblem {
            at: it.at,
            id: it.id,
            severity: it.severity,
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

/// That this version does not run what stands there.
pub(super) fn not_supported(at: impl Into<At>, what: &str) -> ItemProblem {
    let detail = unsupported::detail(what);
    ItemProblem::error(at.into(), unsupported::ID, unsupported::SUMMARY, detail)
}
