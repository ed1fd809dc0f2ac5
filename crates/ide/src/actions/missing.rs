//! Quick fixes that add missing required arguments and blocks.

use db::Fix;
use provider::Block;
use syntax::ast;
use values::Type;

use super::{
    Action, DiagnosticSite,
    layout::{self, NewArgument},
};
use crate::scheme::{ArgumentMeaning, BlockMeaning, Scheme, blocks_around, scheme};

/// Adds the missing argument or block, with placeholder values.
pub(super) fn action(fault: &DiagnosticSite<'_, '_>) -> Option<Action> {
    let fix = fault.diagnostic.fix.as_ref()?;
    let block = fault.block()?;
    match fix {
        Fix::MissingArgument(name) => {
            let value = value_in(fault, &block, name);
            let argument = NewArgument { name: name.clone(), value };
            let edits = layout::add_arguments(&fault.tree, &block, &[argument])?;
            Some(Action::fix(format!("Add argument \"{name}\""), edits).preferred())
        }
        Fix::MissingBlock(kind) => {
            let scheme = scheme_in(fault, &block)?;
            let BlockMeaning::Schema(nested, _) = scheme.block(kind)? else { return None };
            let edit = layout::add_block(&fault.tree, &block, &block_lines(kind, &nested.block))?;
            Some(Action::fix(format!("Add block \"{kind}\""), vec![edit]).preferred())
        }
        Fix::Replace { .. } | Fix::BlockIsArgument | Fix::ArgumentIsBlock => None,
    }
}

/// Adds all missing arguments of a block at once, if several diagnostics report one each.
pub(super) fn all(faults: &[DiagnosticSite<'_, '_>]) -> Vec<Action> {
    let mut actions: Vec<Action> = Vec::new();
    for (at, fault) in faults.iter().enumerate() {
        let is_same =
            |other: &DiagnosticSite<'_, '_>| other.diagnostic.location == fault.diagnostic.location;
        let name = |it: &DiagnosticSite<'_, '_>| match &it.diagnostic.fix {
            Some(Fix::MissingArgument(name)) if is_same(it) => Some(name.clone()),
            _ => None,
        };
        // The action belongs to the first of these diagnostics.
        if faults.iter().take(at).any(|it| name(it).is_some()) {
            continue;
        }
        let missing: Vec<String> = faults.iter().filter_map(name).collect();
        if missing.len() < 2 {
            continue;
        }
        let Some(block) = fault.block() else { continue };
        let arguments: Vec<_> = missing
            .into_iter()
            .map(|name| {
                let value = value_in(fault, &block, &name);
                NewArgument { name, value }
            })
            .collect();
        let edits = layout::add_arguments(&fault.tree, &block, &arguments);
        actions.extend(edits.map(|edits| Action {
            diagnostic: Some(fault.index),
            ..Action::fix(format!("Add all {} missing arguments", arguments.len()), edits)
        }));
    }
    actions
}

fn value_in(fault: &DiagnosticSite<'_, '_>, block: &ast::Block, name: &str) -> String {
    let value = scheme_in(fault, block).and_then(|it| value_of(fault, &it, name));
    value.unwrap_or_else(|| "null".to_owned())
}

fn scheme_in(fault: &DiagnosticSite<'_, '_>, block: &ast::Block) -> Option<Scheme> {
    use syntax::AstNode as _;
    scheme(fault.tree.document.module(), &blocks_around(block.body()?.syntax()))
}

fn value_of(fault: &DiagnosticSite<'_, '_>, scheme: &Scheme, name: &str) -> Option<String> {
    let module = fault.tree.document.module();
    Some(match scheme.argument(module, name)? {
        ArgumentMeaning::Schema(attribute, _) => placeholder(&attribute.implied_type()),
        ArgumentMeaning::Variable(key) => {
            placeholder(&hir::names::item(module.db, key).kind.as_variable()?.ty.ty)
        }
        ArgumentMeaning::Language(argument) => match argument.name {
            "source" | "error_message" => "\"\"".to_owned(),
            "condition" => "true".to_owned(),
            "for_each" => "{}".to_owned(),
            _ => "null".to_owned(),
        },
    })
}

/// The simplest value of a type.
fn placeholder(ty: &Type) -> String {
    match ty {
        Type::String => "\"\"".to_owned(),
        Type::Number => "0".to_owned(),
        Type::Bool => "false".to_owned(),
        Type::List(_) | Type::Set(_) => "[]".to_owned(),
        Type::Map(_) => "{}".to_owned(),
        Type::Object(object) => {
            let required = object.iter().filter(|(name, _)| !object.is_optional(name));
            let parts: Vec<_> =
                required.map(|(name, ty)| format!("{name} = {}", placeholder(ty))).collect();
            if parts.is_empty() { "{}".to_owned() } else { format!("{{ {} }}", parts.join(", ")) }
        }
        _ => "null".to_owned(),
    }
}

/// The lines of a block with everything that its schema requires.
fn block_lines(kind: &str, block: &Block) -> Vec<String> {
    let required = || block.attributes().iter().filter(|(_, attribute)| attribute.required);
    let nested = || block.blocks().iter().filter(|(_, nested)| nested.min_items > 0);
    if required().next().is_none() && nested().next().is_none() {
        return vec![format!("{kind} {{}}")];
    }
    let width = required().map(|(name, _)| name.len()).max().unwrap_or_default();
    let mut lines = vec![format!("{kind} {{")];
    for (name, attribute) in required() {
        let value = placeholder(&attribute.implied_type());
        lines.push(format!("{}{name:width$} = {value}", layout::INDENT));
    }
    for (name, nested) in nested() {
        let inner = block_lines(name, &nested.block);
        lines.extend(inner.into_iter().map(|line| format!("{}{line}", layout::INDENT)));
    }
    lines.push("}".to_owned());
    lines
}
