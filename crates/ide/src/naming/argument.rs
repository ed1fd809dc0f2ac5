//! Resolution of argument names, object keys and quoted names.

use hir::names::ItemName;
use syntax::{AstNode, SyntaxKind, SyntaxNode, ast};
use values::Str;

use super::{
    bound,
    chain::Chain,
    named::{Named, Occurrence, Role},
};
use crate::{
    Cursor,
    block_syntax::{
        argument_of, attribute_around, block_of, is_in_type_argument, is_top_level, name_range,
        top_level,
    },
    scheme::call_of,
    test_file::{self, TestName},
};

/// Arguments of a module call that are not variables of the called module.
const META: &[&str] = &["source", "version", "providers", "count", "for_each", "depends_on"];

/// Resolves the name of an argument: a local, a variable of a called module, or the source of a module call.
pub(super) fn name(tree: &Cursor<'_>, attribute: &ast::Attribute) -> Option<Occurrence> {
    let name = attribute.name_token()?;
    let directory = tree.document.directory;
    let block = block_of(attribute.syntax())?;
    if tree.document.is_test() {
        return in_test(tree, &block, attribute);
    }
    if !is_top_level(block.syntax()) {
        return None;
    }
    match block.block_type()?.as_str() {
        "locals" => {
            let local = Named::Item(directory, ItemName::Local(name.text().into()));
            Some(Occurrence::declaration(local, name.text_range()))
        }
        "module" if name.text() == "source" => source(tree, &block, attribute),
        "module" if !META.contains(&name.text()) => {
            let child = called(tree, &block)?;
            let variable = Named::Item(child, ItemName::Variable(name.text().into()));
            Some(Occurrence { named: variable, range: name.text_range(), role: Role::Write })
        }
        _ => None,
    }
}

/// Resolves the name of an argument in a test file: a variable that gets a value, or the source of a run's module.
fn in_test(
    tree: &Cursor<'_>,
    block: &ast::Block,
    attribute: &ast::Attribute,
) -> Option<Occurrence> {
    let name = attribute.name_token()?;
    match (block.block_type()?.as_str(), name.text()) {
        ("variables", name_text) if !tree.is_elsewhere() => {
            let variable = ItemName::Variable(name_text.into());
            let named = Named::Item(tree.document.directory, variable);
            Some(Occurrence { named, range: name.text_range(), role: Role::Write })
        }
        ("module", "source") => test_source(tree, attribute),
        _ => None,
    }
}

/// Resolves the source of a run's module.
fn test_source(tree: &Cursor<'_>, attribute: &ast::Attribute) -> Option<Occurrence> {
    let value = attribute.value()?;
    let ast::Expr::QuotedTemplate(text) = &value else { return None };
    let directory = tree.document.directory_of(&text.literal_text()?)?;
    Some(Occurrence::read(Named::Module(directory), value.syntax().text_range()))
}

/// The directory of the module that a call refers to.
pub(crate) fn called(tree: &Cursor<'_>, call: &ast::Block) -> Option<db::Directory> {
    call_of(&tree.document.module(), &call.label_texts().next()?)
}

fn source(tree: &Cursor<'_>, block: &ast::Block, attribute: &ast::Attribute) -> Option<Occurrence> {
    let range = attribute.value()?.syntax().text_range();
    Some(Occurrence::read(Named::Module(called(tree, block)?), range))
}

/// Resolves a quoted string: the alias of a provider or the source of a module.
pub(super) fn text(tree: &Cursor<'_>, text: &ast::QuotedTemplate) -> Option<Occurrence> {
    let attribute = ast::Attribute::cast(text.syntax().parent()?)?;
    let block = block_of(attribute.syntax())?;
    let names = (block.block_type()?, attribute.name()?);
    if tree.document.is_test() {
        return match (names.0.as_str(), names.1.as_str()) {
            ("module", "source") => test_source(tree, &attribute),
            ("provider" | "mock_provider", "alias") => {
                let named = Named::OfTest(test_file::declared(&block)?);
                Some(Occurrence::declaration(named, name_range(text.syntax())))
            }
            _ => None,
        };
    }
    let block = Some(block).filter(|it| is_top_level(it.syntax()))?;
    match (block.block_type()?.as_str(), attribute.name()?.as_str()) {
        ("module", "source") => source(tree, &block, &attribute),
        ("provider", "alias") => {
            let name = ItemName::Provider(
                block.label_texts().next()?.as_str().into(),
                text.literal_text().map(Str::from),
            );
            let named = Named::Item(tree.document.directory, name);
            Some(Occurrence::declaration(named, name_range(text.syntax())))
        }
        _ => None,
    }
}

/// Resolves a key of an object: a provider of the called module in `providers`, else the key itself.
pub(super) fn key(tree: &Cursor<'_>, key: &ast::ObjectKey) -> Option<Occurrence> {
    let token = key.name_token()?;
    if let Some(call) = passes_providers(key.syntax()) {
        let provider = ItemName::Provider(token.text().into(), None);
        let child = called(tree, &call)?;
        return Some(Occurrence {
            named: Named::Item(child, provider),
            range: token.text_range(),
            role: Role::Write,
        });
    }
    let attribute = attribute_around(key.syntax()).filter(|_| tree.document.is_test());
    if attribute.is_some_and(|it| passes_to_run(&it)) && !tree.is_elsewhere() {
        let provider = ItemName::Provider(token.text().into(), None);
        let named = Named::Item(tree.document.directory, provider);
        return Some(Occurrence { named, range: token.text_range(), role: Role::Write });
    }
    let place = Named::Place(tree.file_range(token.text_range()));
    Some(Occurrence::declaration(place, token.text_range()))
}

/// The module call whose `providers` map contains a key or value.
pub(super) fn passes_providers(part: &SyntaxNode) -> Option<ast::Block> {
    let item = part.ancestors().find(|it| it.kind() == SyntaxKind::OBJECT_ITEM)?;
    let attribute = ast::Attribute::cast(item.parent()?.parent()?)?;
    let block = block_of(attribute.syntax()).filter(|it| is_top_level(it.syntax()))?;
    let is_map = attribute.name()? == "providers" && block.block_type()? == "module";
    is_map.then_some(block)
}

/// The meaning of a traversal that the language reads as written, without evaluation. Bindings around it do not
/// apply.
pub(crate) enum Written {
    /// A provider configuration, possibly of a called module. `None` if that module is not found.
    Provider(Option<Occurrence>),
    /// The name of an iterator.
    Iterator(Option<Occurrence>),
    /// An attribute of the resource itself in `ignore_changes`, with the argument that sets it, if there is one.
    Attribute(Option<Occurrence>),
    /// A keyword of a type constraint.
    Type,
}

impl Written {
    /// The occurrence of the name. `None` if it has no target.
    pub(super) fn occurrence(self) -> Option<Occurrence> {
        match self {
            Written::Provider(it) | Written::Iterator(it) | Written::Attribute(it) => it,
            Written::Type => None,
        }
    }
}

/// The meaning of a traversal that is not evaluated. `None` if it is an ordinary expression.
pub(super) fn as_written(tree: &Cursor<'_>, traversal: &Chain) -> Option<Written> {
    let directory = tree.document.directory;
    if tree.document.is_test()
        && let Some(written) = provider_of_test(tree, traversal)
    {
        return Some(written);
    }
    if let Some(call) = passes_providers(&traversal.node) {
        let around = traversal.node.parent()?;
        return match around.kind() {
            SyntaxKind::OBJECT_KEY => {
                let child = called(tree, &call);
                let passed = child.and_then(|child| provider(child, traversal, Role::Write));
                Some(Written::Provider(passed))
            }
            SyntaxKind::OBJECT_ITEM => {
                Some(Written::Provider(provider(directory, traversal, Role::Read)))
            }
            _ => None,
        };
    }
    if is_in_type_argument(&traversal.root) {
        return Some(Written::Type);
    }
    let attribute = attribute_around(&traversal.node)?;
    let is_value = attribute.value().is_some_and(|it| *it.syntax() == traversal.node);
    let block = block_of(attribute.syntax())?;
    match (attribute.name()?.as_str(), block.block_type()?.as_str()) {
        ("provider", "resource" | "data" | "ephemeral" | "import") if is_value => {
            Some(Written::Provider(provider(directory, traversal, Role::Read)))
        }
        ("iterator", "dynamic") if is_value => {
            Some(Written::Iterator(bound::iterator(tree, &block)))
        }
        ("ignore_changes", "lifecycle") => Some(Written::Attribute(ignored(tree, traversal))),
        (_, "required_providers") => {
            Some(Written::Provider(provider(directory, traversal, Role::Declaration)))
        }
        ("type", "variable") => Some(Written::Type),
        _ => None,
    }
}

/// Returns true for the argument `providers` of a run.
fn passes_to_run(attribute: &ast::Attribute) -> bool {
    let block = block_of(attribute.syntax()).and_then(|it| it.block_type());
    attribute.name().as_deref() == Some("providers") && block.as_deref() == Some("run")
}

/// A provider configuration in `providers` of a run: of the module as a key, of the test file as a value.
fn provider_of_test(tree: &Cursor<'_>, traversal: &Chain) -> Option<Written> {
    passes_to_run(&attribute_around(&traversal.node)?).then_some(())?;
    let found = provider(tree.document.directory, traversal, Role::Write)?;
    let is_key = traversal.node.parent()?.kind() == SyntaxKind::OBJECT_KEY;
    let Named::Item(_, ItemName::Provider(name, alias)) = &found.named else { return None };
    let of_test = TestName::Provider(name.clone(), alias.clone());
    Some(Written::Provider(Some(match is_key {
        true => found,
        false => Occurrence::read(Named::OfTest(of_test), found.range),
    })))
}

/// The provider configuration of a module that a chain `name` or `name.alias` refers to.
fn provider(directory: db::Directory, chain: &Chain, role: Role) -> Option<Occurrence> {
    let alias = match chain.steps.as_slice() {
        [ast::Step::AttrStep(step), ..] => step.ident_token(),
        _ => None,
    };
    let range = alias.as_ref().unwrap_or(&chain.root).text_range();
    let alias = alias.map(|token| Str::from(token.text()));
    let name = ItemName::Provider(chain.root.text().into(), alias);
    Some(Occurrence { named: Named::Item(directory, name), range, role })
}

/// The target of an attribute in `ignore_changes`: the argument of the same resource.
fn ignored(tree: &Cursor<'_>, chain: &Chain) -> Option<Occurrence> {
    let argument = argument_of(&top_level(&chain.node)?, chain.root.text())?;
    Some(Occurrence::read(Named::Place(tree.file_range(argument)), chain.root.text_range()))
}
