//! A name that is meant to be another one.

use db::Fix;

use super::{Action, Fault, in_tree};
use crate::Edit;

/// Puts the name that is meant in place of the one that is there.
pub(super) fn action(fault: &Fault<'_, '_>) -> Option<Action> {
    let Some(Fix::Replace { location, text }) = &fault.diagnostic.fix else { return None };
    let range = in_tree(&fault.tree, location.range)?;
    let edit = Edit::replace(fault.tree.file_range(range), text);
    Some(Action::fix(format!("Change to \"{text}\""), vec![edit]).preferred())
}
