//! The content of a page.

use causes::Finding;
use db::{Diagnostic, Sources};
use hir::Program;
use state::ResourceChange;

use crate::{
    plan::{difference::PlanDifference, view::PlanView},
    style::Style,
};

/// Finds the causes of a planned change.
pub type Explain<'a> = &'a dyn Fn(&ResourceChange) -> Finding;

/// The content of a page.
#[derive(Clone, Copy)]
pub struct PlanPage<'a> {
    /// The plan. Sensitive values are not shown, whatever the view says.
    pub view: PlanView<'a>,
    /// The configuration of the plan, from which the sensitive variables are known. `None` if it is unknown.
    pub program: Option<&'a Program>,
    /// Explains the changes; `None` if the causes are not shown.
    pub causes: Option<Explain<'a>>,
    /// The parts of the plan beside that of a revision; `None` if the page shows the plan as a whole.
    pub difference: Option<&'a PlanDifference>,
    /// The diagnostics of the plan.
    pub diagnostics: &'a [Diagnostic],
    /// The texts that the diagnostics refer to.
    pub sources: &'a Sources,
}

/// The style of the texts whose attributes become elements. Nothing is wrapped, because the width of the window is
/// unknown.
pub(super) const STYLE: Style =
    Style { color: true, width: None, box_drawing: false, names_rules: false };
