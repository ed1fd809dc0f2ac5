//! Quick fixes for ephemeral values in places that do not accept them.

use db::Rule;
use hir::names::ItemName;
use syntax::{
    AstNode,
    ast::{self, HasItems},
};

use super::{
    Action, DiagnosticSite,
    extract::free_name,
    layout::{self, NewArgument},
    mark,
};
use crate::{
    Edit,
    block_syntax::{attribute_around, top_level},
    naming::called,
    scheme::{blocks_around, scheme},
};

/// Offers to mark the target as ephemeral, to use the write-only counterpart of the argument, or to replace
/// ephemeral parts by null.
pub(super) fn actions(fault: &DiagnosticSite<'_, '_>) -> Vec<Action> {
    let mut actions = Vec::new();
    match fault.id() {
        Rule::OutputNotEphemeral => {
            if !fault.is_in_root() {
                actions.extend(mark_output(fault));
            }
            actions.extend(wrap(fault));
        }
        Rule::EphemeralRootOutput => actions.extend(unmark(fault)),
        Rule::VariableNotEphemeral => {
            actions.extend(mark_variable(fault));
            actions.extend(wrap(fault));
        }
        Rule::EphemeralValueMisuse | Rule::PossiblyEphemeral => {
            actions.extend(write_only_twin(fault));
            actions.extend(wrap(fault));
        }
        Rule::LiteralSecret => actions.extend(take_from_variable(fault)),
        _ => {}
    }
    actions
}

/// Moves a literal secret into a new ephemeral variable without a default.
fn take_from_variable(fault: &DiagnosticSite<'_, '_>) -> Option<Action> {
    let expr = fault.expr()?;
    let argument = attribute_around(&fault.node)?.name()?;
    let wish = argument.strip_suffix("_wo").unwrap_or(&argument);
    let module = fault.tree.document.module();
    let name = free_name(&module, wish, ItemName::Variable);
    let text = format!("variable \"{name}\" {{\n  type      = string\n  ephemeral = true\n}}");
    let block = top_level(expr.syntax())?;
    let edits = vec![
        layout::before_block(&fault.tree, block.syntax(), &text),
        Edit::replace(fault.tree.file_range(expr.syntax().text_range()), format!("var.{name}")),
    ];
    Some(Action::fix(format!("Take it from the ephemeral variable \"{name}\""), edits).preferred())
}

fn wrap(fault: &DiagnosticSite<'_, '_>) -> Option<Action> {
    let expr = fault.expr()?;
    let edits = around(fault, &expr);
    Some(Action::fix("Replace ephemeral parts by null with ephemeralasnull()", edits))
}

fn around(fault: &DiagnosticSite<'_, '_>, expr: &ast::Expr) -> Vec<Edit> {
    let place = fault.tree.file_range(expr.syntax().text_range());
    let close = match expr {
        // The line of a heredoc's end marker must hold nothing else.
        ast::Expr::Heredoc(_) => "\n)",
        _ => ")",
    };
    vec![Edit::before(place, "ephemeralasnull("), Edit::after(place, close)]
}

fn mark_output(fault: &DiagnosticSite<'_, '_>) -> Option<Action> {
    let edits = mark::set(&fault.tree, &fault.block()?, "ephemeral")?;
    Some(Action::fix("Declare the output as ephemeral", edits).preferred())
}

/// Removes `ephemeral` from an output of the root module and wraps its value: the state stores these outputs, so
/// they cannot be ephemeral.
fn unmark(fault: &DiagnosticSite<'_, '_>) -> Option<Action> {
    let body = fault.block()?.body()?;
    let mark = body.attribute("ephemeral")?;
    let mut edits = around(fault, &body.attribute("value")?.value()?);
    edits.push(layout::remove(&fault.tree, mark.syntax()));
    Some(Action::fix("Keep the parts that are not ephemeral with ephemeralasnull()", edits))
}

fn mark_variable(fault: &DiagnosticSite<'_, '_>) -> Option<Action> {
    let argument = attribute_around(&fault.node)?;
    let module = fault.tree.document.module();
    let child = module.with_directory(called(&fault.tree, &fault.block()?)?);
    if child.is_installed() {
        return None;
    }
    let name = argument.name()?;
    let (tree, block) = crate::naming::block(&child, &ItemName::Variable(name.as_str().into()))?;
    let edits = mark::set(&tree, &block, "ephemeral")?;
    Some(Action::fix(format!("Declare variable \"{name}\" as ephemeral"), edits).preferred())
}

/// Renames an argument to its write-only counterpart, such as `password` to `password_wo`, if the schema has both.
fn write_only_twin(fault: &DiagnosticSite<'_, '_>) -> Option<Action> {
    let argument = attribute_around(&fault.node)?;
    let block = crate::block_syntax::block_of(argument.syntax())?;
    let body = block.body()?;
    let scheme = scheme(fault.tree.document.module(), &blocks_around(argument.syntax()))?;
    let schema = scheme.schema.as_ref()?.block();
    let (name, attributes) = (argument.name()?, schema.attributes());
    let twin = format!("{name}_wo");
    let is_free = body.attribute(&twin).is_none() && !attributes.get(name.as_str())?.required;
    (is_free && attributes.get(twin.as_str())?.write_only).then_some(())?;
    let version = format!("{twin}_version");
    let is_wanted = attributes.contains_key(version.as_str()) && body.attribute(&version).is_none();
    let further = is_wanted.then(|| NewArgument { name: version, value: "1".to_owned() });
    let edits = layout::rename_argument(&fault.tree, &argument, &twin, further)?;
    Some(Action::fix(format!("Use the write-only argument \"{twin}\""), edits).preferred())
}
