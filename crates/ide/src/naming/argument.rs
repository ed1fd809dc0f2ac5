//! Resolution of argument names, object keys and quoted names.

use hir::names::ItemName;
use syntax::{
    AstNode, SyntaxKind, SyntaxNode, SyntaxToken,
    ast::{self, HasItems},
};
use values::Str;

use super::{Named, Occurrence, Role, bound, is_top_level, name_range, reference, top_level};
use crate::{Cursor, Module, scheme::called_by};

/// Arguments of a module call that are not variables of the called module.
const META: &[&str] = &["source", "version", "providers", "count", "for_each", "depends_on"];

/// Resolves the name of an argument: a local, a variable of a called module, or the source of a module call.
pub(super) fn name(tree: &Cursor<'_>, attribute: &ast::Attribute) -> Option<Occurrence> {
    let name = attribute.name_token()?;
    let directory = tree.document.directory;
    let block = block_of(attribute.syntax())?;
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

/// The block whose body contains an attribute.
pub(crate) fn block_of(attribute: &SyntaxNode) -> Option<ast::Block> {
    ast::Block::cast(attribute.parent()?.parent()?)
}

/// The attribute of a block's body that contains a node.
pub(crate) fn attribute_around(node: &SyntaxNode) -> Option<ast::Attribute> {
    node.ancestors().find_map(ast::Attribute::cast)
}

/// The value of an argument if it is a literal string.
pub(crate) fn literal(block: &ast::Block, name: &str) -> Option<Str> {
    match block.body()?.attribute(name)?.value()? {
        ast::Expr::QuotedTemplate(quoted) => quoted.literal_text().map(Str::from),
        _ => None,
    }
}

/// The directory of the module that a call refers to.
pub(crate) fn called(tree: &Cursor<'_>, call: &ast::Block) -> Option<db::Directory> {
    call_of(&tree.document.module(), call.label_texts().next()?.as_str())
}

/// The directory of the module that the call with the given name refers to.
pub(crate) fn call_of(module: &Module<'_>, name: &str) -> Option<db::Directory> {
    called_by(*module, module.lookup(&ItemName::Module(name.into()))?)
}

fn source(tree: &Cursor<'_>, block: &ast::Block, attribute: &ast::Attribute) -> Option<Occurrence> {
    let range = attribute.value()?.syntax().text_range();
    Some(Occurrence::read(Named::Module(called(tree, block)?), range))
}

/// Resolves a quoted string: the alias of a provider or the source of a module.
pub(super) fn text(tree: &Cursor<'_>, text: &ast::QuotedTemplate) -> Option<Occurrence> {
    let attribute = ast::Attribute::cast(text.syntax().parent()?)?;
    let block = block_of(attribute.syntax()).filter(|it| is_top_level(it.syntax()))?;
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

/// Returns true if a token is in the second argument of `convert`, or is the comma before it.
pub(crate) fn is_in_type_argument(token: &SyntaxToken) -> bool {
    let is_type = |list: &SyntaxNode| {
        let call = list.parent().and_then(ast::Call::cast);
        let name = call.and_then(|call| call.name());
        let name = name.as_deref().map(|name| name.strip_prefix("core::").unwrap_or(name));
        let tokens = list.children_with_tokens().filter_map(|it| it.into_token());
        let commas = tokens.filter(|it| it.kind() == SyntaxKind::COMMA);
        let is_before = |comma: &SyntaxToken| comma.text_range().end() <= token.text_range().end();
        name == Some("convert") && commas.filter(is_before).count() == 1
    };
    token.parent_ancestors().any(|node| node.kind() == SyntaxKind::ARG_LIST && is_type(&node))
}

/// The meaning of a traversal that is not evaluated. `None` if it is an ordinary expression.
pub(super) fn as_written(tree: &Cursor<'_>, traversal: &reference::Chain) -> Option<Written> {
    let directory = tree.document.directory;
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

/// The provider configuration of a module that a chain `name` or `name.alias` refers to.
fn provider(directory: db::Directory, chain: &reference::Chain, role: Role) -> Option<Occurrence> {
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
fn ignored(tree: &Cursor<'_>, chain: &reference::Chain) -> Option<Occurrence> {
    let argument = argument_of(&top_level(&chain.node)?, chain.root.text())?;
    Some(Occurrence::read(Named::Place(tree.file_range(argument)), chain.root.text_range()))
}

/// The name of an argument of a block, or the type of its nested block, including a `dynamic` one.
pub(crate) fn argument_of(block: &ast::Block, name: &str) -> Option<syntax::TextRange> {
    let body = block.body()?;
    if let Some(attribute) = body.attribute(name) {
        return Some(attribute.name_token()?.text_range());
    }
    let mut blocks = body.blocks();
    let nested = blocks.find(|it| {
        let kind = it.block_type();
        kind.as_deref() == Some(name)
            || kind.as_deref() == Some("dynamic")
                && it.label_texts().next().as_deref() == Some(name)
    })?;
    Some(nested.type_token()?.text_range())
}
