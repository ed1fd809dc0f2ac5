//! A plan as one HTML page without external parts, for a pull request.
//!
//! ```text
//!   PlanView ──diff──► coloured text ──painted──► elements     (one comparison and one layout for text and HTML)
//!   page ─► sections ─► tree ─► change
//! ```
//!
//! The page is readable without JavaScript; the script adds filters, a search and keys. A policy in the page permits
//! exactly its own style and its own script, by their digests, and no request.
//!
//! **Invariant:** the page has no sensitive and no ephemeral value, even if the view shows sensitive values
//! or a provider repeats one in another attribute (`secrets`).
//! **Invariant:** text from outside is never markup (`writer`).
//! **Invariant:** the size is linear in that of the plan as text.

mod change;
mod page;
mod secrets;
mod sections;
#[cfg(test)]
mod tests;
mod tree;
mod writer;

use db::{Diagnostic, Sources};
use hir::Program;

use crate::{plan::view::PlanView, style::Style};

pub use self::page::plan_page;

/// The content of a page.
#[derive(Clone, Copy)]
pub struct PlanPage<'a> {
    /// The plan. Sensitive values are not shown, whatever the view says.
    pub view: PlanView<'a>,
    /// The configuration of the plan, from which the sensitive variables are known. `None` if it is unknown.
    pub program: Option<&'a Program>,
    /// The diagnostics of the plan.
    pub diagnostics: &'a [Diagnostic],
    /// The texts that the diagnostics refer to.
    pub sources: &'a Sources,
}

/// The style of the texts whose attributes become elements. Nothing is wrapped, because the width of the window is
/// unknown.
const STYLE: Style = Style { color: true, width: None, box_drawing: false };
