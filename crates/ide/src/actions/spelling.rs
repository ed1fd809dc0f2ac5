//! Quick fix that replaces a misspelled name by the suggested one.

use db::Fix;

use super::{Action, DiagnosticSite, in_tree};
use crate::Edit;

/// Replaces the name by the one that the diagnostic suggests.
pub(super) fn action(fault: &DiagnosticSite<'_, '_>) -> Option<Action> {
    let Some(Fix::Replace { location, text }) = &fault.diagnostic.fix else { return None };
    let range = in_tree(&fault.tree, location.range)?;
    let edit = Edit::replace(fault.tree.file_range(range), text);
    Some(Action::fix(format!("Change to \"{text}\""), vec![edit]).preferred())
}
