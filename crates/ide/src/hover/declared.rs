//! Hover cards of declarations, shared by all references to them.

use std::sync::Arc;

use db::ByteRange;
use hir::{
    Item, ItemKind,
    analysis::{Abstract, ItemValues, When, expr_values, origin::Origin},
    item::{Output, Repetition, Resource, Variable},
    names::{ItemKey, item},
};

use super::Card;
use crate::{
    FileRange, Module,
    scheme::{self, schema_of_resource},
    shown,
};

/// The card of a declaration of a module, with its place.
pub(crate) fn declared(module: Module<'_>, key: ItemKey) -> Card {
    let item = item(module.db, key);
    let card = match &item.kind {
        ItemKind::Variable(it) => variable(module, key, it),
        ItemKind::Local(it) => {
            let value = value_of(module, key);
            with_value(
                module,
                Card::of(format!("local.{}: {}", it.name, shown::type_of(&value))),
                &value,
            )
        }
        ItemKind::Output(it) => output(module, key, it, &format!("output.{}", it.name)),
        ItemKind::Resource(it) => resource(module, it),
        ItemKind::ModuleCall(it) => module_call(module, key, &it.name, it.source.as_deref()),
        ItemKind::Provider(it) => {
            let alias = it.alias.as_ref().map(|alias| format!(".{alias}")).unwrap_or_default();
            let source =
                hir::names::required_providers(module.db, module.directory).source(&it.local_name);
            Card::of(format!("provider {}{alias}", it.local_name))
                .paragraph(&format!("Provider {}", shown::code(&source.for_display())))
        }
        ItemKind::Check(it) => Card::of(format!("check.{}", it.name)),
        ItemKind::Terraform(_)
        | ItemKind::Moved(_)
        | ItemKind::Removed(_)
        | ItemKind::Import(_)
        | ItemKind::Other(_)
        | ItemKind::Test(_) => Card::default(),
    };
    card.footer(declared_in(module, key, item))
}

/// The inferred value of a reference to an item.
pub(crate) fn value_of(module: Module<'_>, key: ItemKey) -> Abstract {
    ItemValues::new(module.db, module.workspace).value(module.directory, key).clone()
}

fn declared_in(module: Module<'_>, key: ItemKey, item: &Arc<Item>) -> Option<String> {
    let place = place_text(module, module.range(key, item.header)?);
    Some(format!("Declared in {}", shown::code(&place)))
}

fn variable(module: Module<'_>, key: ItemKey, it: &Variable) -> Card {
    let value = value_of(module, key);
    // Shows the type constraint rather than the value's type, because it also shows the optional attributes.
    let ty = shown::type_text(&it.ty.ty);
    let card = Card::of(format!("var.{}: {ty}", it.name)).marks(shown::all_marks(&value));
    let card = card
        .deprecation(it.deprecated.is_some(), it.deprecated.as_deref().unwrap_or_default())
        .paragraph_opt(it.description.as_deref());
    match it.default {
        None => card.paragraph("Required."),
        // The default of a possible secret is never shown.
        Some(_) if shown::may_be_secret(&value) => card.paragraph("Optional."),
        Some(default) => {
            let values = expr_values(module.db, module.workspace, module.directory, key);
            let text = values.expr(default).and_then(shown::constant);
            card.paragraph_opt(text.map(|it| format!("Default: {}", shown::code(&it))).as_deref())
        }
    }
}

/// The card of an output, under the name by which a caller reads it.
pub(crate) fn output(module: Module<'_>, key: ItemKey, it: &Output, name: &str) -> Card {
    let value = value_of(module, key);
    let card = Card::of(format!("{name}: {}", shown::type_of(&value)))
        .deprecation(it.deprecated.is_some(), it.deprecated.as_deref().unwrap_or_default())
        .paragraph_opt(it.description.as_deref());
    with_value(module, card, &value)
}

fn resource(module: Module<'_>, it: &Resource) -> Card {
    let address = &it.resource;
    let block = address.mode.block_type();
    let card = Card::of(format!("{block} \"{}\" \"{}\"", address.type_name, address.name));
    let card = match address.mode {
        addr::ResourceMode::Ephemeral => card.marks(["ephemeral"]),
        _ => card,
    };
    let card = match it.repetition {
        Repetition::Single => card,
        Repetition::Count(_) => card.paragraph("One instance for each number below `count`."),
        Repetition::ForEach(_) => card.paragraph("One instance for each element of `for_each`."),
        Repetition::Enabled(_) => card.paragraph("At most one instance, depending on `enabled`."),
    };
    match schema_of_resource(module, it) {
        Some(part) => card
            .deprecation(part.block().deprecated, &part.block().deprecation_message)
            .paragraph(&part.block().description)
            .paragraph(&format!("Provider {}", shown::code(&part.source.for_display()))),
        None => card,
    }
}

fn module_call(module: Module<'_>, key: ItemKey, name: &str, source: Option<&str>) -> Card {
    let value = value_of(module, key);
    let card = Card::of(format!("module.{name}: {}", shown::type_of(&value)))
        .marks(shown::all_marks(&value))
        .paragraph_opt(source.map(|it| format!("Source: {}", shown::code(it))).as_deref());
    match scheme::called_by(module, key) {
        Some(_) => card,
        None => card.paragraph("The module was not found."),
    }
}

/// Adds the marks, the constant and the reason for ephemerality of a value.
pub(crate) fn with_value(module: Module<'_>, card: Card, value: &Abstract) -> Card {
    let constant = shown::constant(value).map(|it| format!("Value: {}", shown::code(&it)));
    let card = card.marks(shown::all_marks(value)).paragraph_opt(constant.as_deref());
    let condition = match value.ephemeral.somewhere() {
        When::If(condition) => Some(condition.sentence()),
        When::Never | When::Always => None,
    };
    let card = card.paragraph_opt(condition.as_deref());
    card.footer(value.origin.as_ref().map(|origin| chain(module, origin)))
}

/// The origin of ephemerality, from the expression link by link to the declaration.
fn chain(module: Module<'_>, origin: &Arc<Origin>) -> String {
    /// The maximal number of links; the links after the first one are cut, because the end of the chain matters
    /// most.
    const MOST: usize = 8;
    let links: Vec<&Origin> = origin.chain().collect();
    let skipped = links.len().saturating_sub(MOST);
    let mut lines = vec!["Where that comes from:\n".to_owned()];
    for (index, link) in links.iter().enumerate() {
        if (1..=skipped).contains(&index) {
            continue;
        }
        let place = module.range(link.item, link.at).map(|it| place_text(module, it));
        let place = place.map(|it| format!(" ({})", shown::code(&it))).unwrap_or_default();
        lines.push(format!("- {}{place}", link.message));
    }
    lines.join("\n")
}

/// Shows a place as `path:line`, relative to the root module as in a terminal.
pub(super) fn place_text(module: Module<'_>, place: FileRange) -> String {
    let line = line_of(module, place);
    let root = module.workspace.root(module.db).path(module.db);
    format!("{}:{line}", shown::path_from(root, place.file.path(module.db)))
}

fn line_of(module: Module<'_>, place: FileRange) -> usize {
    let ByteRange { start, .. } = place.range;
    let mut before = start as usize;
    let mut line = 1;
    for block in place.file.blocks(module.db) {
        let bytes = block.text(module.db).as_bytes();
        let counted = bytes.get(..before.min(bytes.len())).unwrap_or_default();
        line += counted.iter().filter(|it| **it == b'\n').count();
        before = before.saturating_sub(bytes.len());
        if before == 0 {
            break;
        }
    }
    line
}
