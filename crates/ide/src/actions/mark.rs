//! Quick fixes that set `sensitive = true` or `ephemeral = true`.

use db::Rule;
use syntax::{
    AstNode,
    ast::{self, HasItems},
};

use super::{
    Action, DiagnosticSite,
    layout::{self, NewArgument},
};
use crate::{Cursor, Edit};

/// Declares an output as sensitive.
pub(super) fn sensitive(fault: &DiagnosticSite<'_, '_>) -> Option<Action> {
    matches!(fault.id(), Rule::SensitiveOutput | Rule::WriteOnlyOutput).then_some(())?;
    let output = crate::block_syntax::top_level(&fault.node)?;
    let edits = set(&fault.tree, &output, "sensitive")?;
    Some(Action::fix("Declare the output as sensitive", edits).preferred())
}

/// Sets an argument of a block to true, and adds it if it is missing.
pub(super) fn set(tree: &Cursor<'_>, block: &ast::Block, name: &str) -> Option<Vec<Edit>> {
    match block.body()?.attribute(name) {
        Some(argument) => {
            let value = argument.value()?;
            Some(vec![Edit::replace(tree.file_range(value.syntax().text_range()), "true")])
        }
        None => {
            let argument = NewArgument { name: name.to_owned(), value: "true".to_owned() };
            layout::add_arguments(tree, block, &[argument])
        }
    }
}
