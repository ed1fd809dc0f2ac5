//! Hover for names in bodies: arguments, block types, labels and object keys.

use addr::ResourceMode;
use hir::names::{ItemName, required_providers};
use syntax::{AstNode, SyntaxToken, ast};

use super::{Card, declared, language_argument, schema_attribute, test_file};
use crate::{
    Cursor, language,
    scheme::{ArgumentMeaning, BlockMeaning, DoubleKeys, blocks_around, double_keys, scheme},
    shown,
};

/// Describes the name of an argument, or a local value in a `locals` block.
pub(super) fn argument(
    cursor: &Cursor<'_>,
    attribute: &ast::Attribute,
    token: &SyntaxToken,
) -> Option<Card> {
    if attribute.name_token().as_ref() != Some(token) {
        return None;
    }
    let module = cursor.document.module();
    let blocks = blocks_around(attribute.syntax());
    let kind = blocks.last().and_then(ast::Block::block_type);
    match (blocks.len(), kind.as_deref()) {
        (1, Some("locals")) => {
            return Some(declared(module, cursor.item_around(token.text_range())?.key));
        }
        (2, Some("required_providers")) => return Some(required_provider(module, token.text())),
        _ => {}
    }
    let scheme = scheme(module, &blocks)?;
    Some(match scheme.argument(module, token.text())? {
        ArgumentMeaning::Language(argument) => language_argument(argument),
        ArgumentMeaning::Schema(attribute, source) => {
            schema_attribute(token.text(), attribute, source)
        }
        ArgumentMeaning::Variable(key) => declared(module.with_directory(scheme.called?), key),
    })
}

pub(super) fn required_provider(module: crate::Module<'_>, local_name: &str) -> Card {
    let source = required_providers(module.db, module.directory).source(local_name);
    provider(module, &source)
}

fn provider(module: crate::Module<'_>, source: &addr::ProviderSource) -> Card {
    let card = Card::of(format!("provider {}", source.for_display()));
    match module.workspace.providers(module.db).get(source) {
        Some(input) => {
            let schema = input.schemas(module.db).0.provider.clone();
            card.paragraph(&schema.block().description)
        }
        None => card.paragraph("Its schemas are not at hand; `mayfly init` installs providers."),
    }
}

/// Describes a block type.
pub(super) fn block_type(
    cursor: &Cursor<'_>,
    block: &ast::Block,
    token: &SyntaxToken,
) -> Option<Card> {
    if block.type_token().as_ref() != Some(token) {
        return None;
    }
    let scheme = scheme(cursor.document.module(), &blocks_around(block.syntax()))?;
    Some(match scheme.block(token.text())? {
        BlockMeaning::Language(it) => language_block(it),
        BlockMeaning::Schema(nested, source) => nested_block(token.text(), nested, source),
    })
}

/// The card of a block type that the language defines.
pub(crate) fn language_block(block: &language::LanguageBlock) -> Card {
    let labels: Vec<String> = block.labels.iter().map(|it| format!(" \"{it}\"")).collect();
    let card = Card::of(format!("{}{} {{}}", block.name, labels.concat())).paragraph(block.doc);
    match block.is_supported {
        true => card,
        false => card.paragraph("This version of Mayfly does not support it."),
    }
}

/// The card of a nested block from a provider's schema.
pub(crate) fn nested_block(
    name: &str,
    nested: &provider::NestedBlock,
    source: &addr::ProviderSource,
) -> Card {
    let count = match (nested.min_items, nested.max_items) {
        (0, 0) => None,
        (0, 1) => Some("At most one.".to_owned()),
        (0, most) => Some(format!("At most {most}.")),
        (1, 1) => Some("Exactly one.".to_owned()),
        (least, 0) => Some(format!("At least {least}.")),
        (least, most) => Some(format!("From {least} to {most}.")),
    };
    Card::of(format!("{name} {{}}"))
        .deprecation(nested.block.deprecated, &nested.block.deprecation_message)
        .paragraph(&nested.block.description)
        .paragraph_opt(count.as_deref())
        .paragraph(&format!("Provider {}", shown::code(&source.for_display())))
}

/// Describes a label of a block.
pub(super) fn label(cursor: &Cursor<'_>, label: &ast::Label) -> Option<Card> {
    let block = label.syntax().parent().and_then(ast::Block::cast)?;
    let position = block.labels().position(|it| it == *label)?;
    let module = cursor.document.module();
    let around = blocks_around(block.syntax());
    let kind = block.block_type()?;
    if module.is_test {
        return label_in_test(cursor, &block, position);
    }
    if !around.is_empty() {
        let scheme = scheme(module, &around)?;
        return match (&*kind, scheme.block(&label.text())?) {
            ("dynamic", BlockMeaning::Schema(nested, source)) => {
                Some(nested_block(&label.text(), nested, source))
            }
            _ => None,
        };
    }
    match (&*kind, position) {
        ("resource", 0) => resource_type(cursor, ResourceMode::Managed, &block),
        ("data", 0) => resource_type(cursor, ResourceMode::Data, &block),
        ("ephemeral", 0) => resource_type(cursor, ResourceMode::Ephemeral, &block),
        ("provider", 0) => Some(required_provider(module, &label.text())),
        _ => Some(declared(module, cursor.item()?.key)),
    }
}

/// Describes a label in a test file.
fn label_in_test(cursor: &Cursor<'_>, block: &ast::Block, position: usize) -> Option<Card> {
    let name = block.label_texts().nth(position)?;
    let module = cursor.document.module();
    match (block.block_type()?.as_str(), position) {
        ("run", 0) => test_file::run(&cursor.document.run(&name)?),
        ("provider" | "mock_provider", 0) => Some(required_provider(module, &name)),
        (kind @ ("mock_resource" | "mock_data"), 0) => {
            let word = if kind == "mock_data" { "data" } else { "resource" };
            let mut blocks = blocks_around(block.syntax());
            blocks.push(block.clone());
            let DoubleKeys::Attributes(part) = double_keys(module, &blocks)? else { return None };
            Some(schema_card(Card::of(format!("{word} \"{name}\"")), part.block(), &part.source))
        }
        _ => None,
    }
}

fn resource_type(cursor: &Cursor<'_>, mode: ResourceMode, block: &ast::Block) -> Option<Card> {
    let module = cursor.document.module();
    let type_name = block.label_texts().next()?;
    let blocks = [block.clone()];
    let card = Card::of(format!("{} \"{type_name}\"", mode.block_type()));
    let Some(part) = scheme(module, &blocks)?.schema else {
        let resource = addr::Resource::new(mode, &*type_name, "name");
        let local_name = resource.implied_provider();
        let source = required_providers(module.db, module.directory).source(local_name);
        return Some(card.with(provider(module, &source)));
    };
    Some(schema_card(card, part.block(), &part.source))
}

/// Adds the documentation of a resource type from its schema.
pub(crate) fn schema_card(
    card: Card,
    block: &provider::Block,
    source: &addr::ProviderSource,
) -> Card {
    card.deprecation(block.deprecated, &block.deprecation_message)
        .paragraph(&block.description)
        .paragraph(&format!("Provider {}", shown::code(&source.for_display())))
}

/// Describes a key of an object: a nested attribute of the schema, or the type of the key's value.
pub(super) fn object_key(
    cursor: &Cursor<'_>,
    key: &ast::ObjectKey,
    token: &SyntaxToken,
) -> Option<Card> {
    if let Some(card) = nested_attribute(cursor, key) {
        return Some(card);
    }
    let item = key.syntax().parent().and_then(ast::ObjectItem::cast)?;
    let (at, id) = cursor.expr_around(item.value()?.syntax().text_range())?;
    let value = cursor.values(at).expr(id)?.clone();
    Some(
        Card::of(format!("{}: {}", token.text(), shown::type_of(&value)))
            .marks(shown::marks(&value.marks)),
    )
}

/// The card of the schema attribute that a key names. `None` if no schema describes the key.
fn nested_attribute(cursor: &Cursor<'_>, key: &ast::ObjectKey) -> Option<Card> {
    let (attribute, names) = path_of_key(key)?;
    let module = cursor.document.module();
    let blocks = blocks_around(attribute.syntax());
    if blocks.last()?.block_type()? == "required_providers" {
        let argument = language::REQUIRED_PROVIDER
            .iter()
            .find(|it| Some(it.name) == names.last().map(String::as_str));
        return argument.map(language_argument);
    }
    let scheme = scheme(module, &blocks)?;
    if let Some(keys) = &scheme.double {
        return double_key(module, keys, &names);
    }
    let ArgumentMeaning::Schema(mut found, source) = scheme.argument(module, &attribute.name()?)?
    else {
        return None;
    };
    for name in &names {
        found = found.nested()?.attributes().get(&**name)?;
    }
    Some(schema_attribute(names.last()?, found, source))
}

/// The card of the attribute or output that a key of a test double stands for.
fn double_key(module: crate::Module<'_>, keys: &DoubleKeys, names: &[String]) -> Option<Card> {
    match keys {
        DoubleKeys::Attributes(part) => {
            let path = names.iter().map(String::as_str);
            let attribute = part.block().attribute_by_names(path)?;
            Some(schema_attribute(names.last()?, attribute, &part.source))
        }
        DoubleKeys::Outputs(directory) => {
            let [name] = names else { return None };
            let module = module.with_directory(*directory);
            let key = module.lookup(&ItemName::Output(name.as_str().into()))?;
            Some(declared(module, key))
        }
    }
}

/// The argument whose value contains a key, and the keys that lead to it, including the key itself.
pub(crate) fn path_of_key(key: &ast::ObjectKey) -> Option<(ast::Attribute, Vec<String>)> {
    let mut names = vec![key.name_token()?.text().to_owned()];
    let mut node = key.syntax().parent()?;
    loop {
        node = node.parent()?;
        if let Some(item) = ast::ObjectItem::cast(node.clone()) {
            names.push(item.key()?.name_token()?.text().to_owned());
        } else if let Some(attribute) = ast::Attribute::cast(node.clone()) {
            names.reverse();
            return Some((attribute, names));
        } else if !(<ast::Object>::can_cast(node.kind()) || <ast::Tuple>::can_cast(node.kind())) {
            return None;
        }
    }
}
