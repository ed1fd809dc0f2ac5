//! The schema of a body: the arguments and blocks that the language, a provider's schema or the variables of a
//! called module define.

mod double;

use std::sync::Arc;

use addr::{ProviderSource, ResourceMode};
use db::Directory;
use hir::{
    item::Variable,
    module_calls::called_directory,
    names::{ItemKey, ItemName, item, required_providers},
    symbols::NameKind,
    workspace::{SchemaLookup, resource_schema},
};
use provider::{Attribute, NestedBlock, Schema};
use syntax::{
    AstNode, SyntaxNode, SyntaxToken,
    ast::{self, HasItems as _},
};
use values::Str;

use crate::{
    Module,
    block_syntax::is_in_type_argument,
    language::{self, Argument, LanguageBlock, ValueForm},
};

pub(crate) use self::double::{DoubleKeys, double_keys};

/// A block of a provider's schema: the outermost one or a nested one.
#[derive(Clone)]
pub(crate) struct SchemaPart {
    pub(crate) source: ProviderSource,
    schema: Arc<Schema>,
    /// The types of the nested blocks, from the outside in.
    path: Vec<Str>,
}

impl SchemaPart {
    /// The block.
    pub(crate) fn block(&self) -> &provider::Block {
        self.path.iter().fold(self.schema.block(), |block, name| {
            block.blocks().get(name).map_or(block, |it| &it.block)
        })
    }

    fn nested(&self, name: &str) -> Option<SchemaPart> {
        let (name, _) = self.block().blocks().get_key_value(name)?;
        let mut part = self.clone();
        part.path.push(name.clone());
        Some(part)
    }
}

/// The arguments and blocks that a body accepts.
#[derive(Clone, Default)]
pub(crate) struct Scheme {
    /// The block type of the language, if the body belongs to one.
    pub(crate) language: Option<&'static LanguageBlock>,
    /// The schema of the provider for this body.
    pub(crate) schema: Option<SchemaPart>,
    /// The called module, whose variables are arguments.
    pub(crate) called: Option<Directory>,
    /// Additional arguments, such as those of a provisioner type.
    pub(crate) further: &'static [Argument],
    /// The blocks, at the top level of a file.
    top_level: &'static [LanguageBlock],
    /// The keys of the values in a test double.
    pub(crate) double: Option<DoubleKeys>,
}

/// The definition of an argument.
pub(crate) enum ArgumentMeaning<'a> {
    Language(&'static Argument),
    Schema(&'a Attribute, &'a ProviderSource),
    Variable(ItemKey),
}

/// The definition of a block type.
pub(crate) enum BlockMeaning<'a> {
    Language(&'static LanguageBlock),
    Schema(&'a NestedBlock, &'a ProviderSource),
}

impl Scheme {
    /// The scheme of the top level of a file.
    fn file(module: Module<'_>) -> Scheme {
        let top_level = match module.is_test {
            true => language::TEST_TOP_LEVEL,
            false => language::TOP_LEVEL,
        };
        Scheme { top_level, ..Scheme::default() }
    }

    /// Adds what the body of the last of `blocks` has in a test file.
    fn in_test(self, module: Module<'_>, blocks: &[ast::Block]) -> Scheme {
        match self.language.map(|it| it.name) {
            Some("variables") => Scheme { called: Some(module.directory), ..self },
            _ => Scheme { double: double_keys(module, blocks), ..self },
        }
    }

    /// The definition of the argument with the given name.
    pub(crate) fn argument(&self, module: Module<'_>, name: &str) -> Option<ArgumentMeaning<'_>> {
        let known = self.language_arguments().find(|it| it.name == name);
        if let Some(argument) = known {
            return Some(ArgumentMeaning::Language(argument));
        }
        if let Some(part) = &self.schema
            && let Some(attribute) = part.block().attributes().get(name)
        {
            return Some(ArgumentMeaning::Schema(attribute, &part.source));
        }
        let called = module.with_directory(self.called?);
        called.lookup(&ItemName::Variable(name.into())).map(ArgumentMeaning::Variable)
    }

    /// The definition of the block type with the given name.
    pub(crate) fn block(&self, name: &str) -> Option<BlockMeaning<'_>> {
        if let Some(found) = language::block_of(self.language_blocks(), name) {
            return Some(BlockMeaning::Language(found));
        }
        let part = self.schema.as_ref()?;
        if let Some(nested) = part.block().blocks().get(name) {
            return Some(BlockMeaning::Schema(nested, &part.source));
        }
        (name == "dynamic").then_some(BlockMeaning::Language(&language::DYNAMIC))
    }

    /// The arguments that the language defines for this body.
    pub(crate) fn language_arguments(&self) -> impl Iterator<Item = &'static Argument> + use<> {
        let own = self.language.map_or(&[][..], |it| it.arguments);
        own.iter().chain(self.further)
    }

    /// The blocks that the language defines for this body.
    pub(crate) fn language_blocks(&self) -> &'static [LanguageBlock] {
        self.language.map_or(self.top_level, |it| it.blocks)
    }
}

/// The blocks around a node, outermost first. A block counts only for nodes inside of its body.
pub(crate) fn blocks_around(node: &SyntaxNode) -> Vec<ast::Block> {
    let mut blocks: Vec<ast::Block> = Vec::new();
    let mut child = node.clone();
    for ancestor in node.ancestors().skip(1) {
        if let Some(block) = ast::Block::cast(ancestor.clone())
            && <ast::Body>::can_cast(child.kind())
        {
            blocks.push(block);
        }
        child = ancestor;
    }
    blocks.reverse();
    blocks
}

/// The scheme of the body of the last of `blocks`, each of which contains the next. `None` if the body is unknown.
pub(crate) fn scheme(module: Module<'_>, blocks: &[ast::Block]) -> Option<Scheme> {
    let file = Scheme::file(module);
    let Some((first, inner)) = blocks.split_first() else { return Some(file) };
    let kind = first.block_type()?;
    let language = language::block_of(file.top_level, &kind)?;
    let mut scheme = Scheme { language: Some(language), ..Scheme::default() };
    match language.name {
        "resource" => scheme.schema = resource_part(module, first, ResourceMode::Managed),
        "data" => scheme.schema = resource_part(module, first, ResourceMode::Data),
        "ephemeral" => scheme.schema = resource_part(module, first, ResourceMode::Ephemeral),
        "provider" => scheme.schema = provider_part(module, first),
        "module" => scheme.called = called(module, first),
        _ => {}
    }
    let scheme = inner.iter().try_fold(scheme, inside)?;
    Some(if module.is_test { scheme.in_test(module, blocks) } else { scheme })
}

fn inside(outer: Scheme, block: &ast::Block) -> Option<Scheme> {
    let kind = block.block_type()?;
    // The body of a `dynamic` block contains `content`, which accepts the contents of the generated block.
    if kind == "content" && outer.language.is_some_and(|it| it.name == "dynamic") {
        return Some(Scheme { schema: outer.schema, ..Scheme::default() });
    }
    if let Some(found) = language::block_of(outer.language_blocks(), &kind) {
        let label = block.label_texts().next();
        let is_local_exec = found.name == "provisioner" && label.as_deref() == Some("local-exec");
        let further = if is_local_exec { language::LOCAL_EXEC } else { &[] };
        return Some(Scheme { language: Some(found), further, ..Scheme::default() });
    }
    let part = outer.schema?;
    if kind == "dynamic" {
        let schema = block.label_texts().next().and_then(|label| part.nested(&label));
        return Some(Scheme { language: Some(&language::DYNAMIC), schema, ..Scheme::default() });
    }
    Some(Scheme { schema: Some(part.nested(&kind)?), ..Scheme::default() })
}

/// The form of the value of the argument around a token. `None` if the language does not define the argument.
pub(crate) fn takes(module: Module<'_>, token: &SyntaxToken) -> Option<ValueForm> {
    if is_in_type_argument(token) {
        return Some(ValueForm::Type);
    }
    let attribute = token.parent_ancestors().find_map(ast::Attribute::cast)?;
    let scheme = scheme(module, &blocks_around(attribute.syntax()))?;
    match scheme.argument(module, &attribute.name()?)? {
        ArgumentMeaning::Language(argument) => Some(argument.takes),
        _ => None,
    }
}

/// The local name of the provider of a resource block, as far as the block is complete.
fn local_name(block: &ast::Block, type_name: &str) -> String {
    let argument = block.body().and_then(|body| body.attribute("provider"));
    let chosen = argument.and_then(|it| it.value()?.as_static_traversal());
    match chosen {
        Some(traversal) => traversal.root.text().to_owned(),
        None => type_name.split('_').next().unwrap_or_default().to_owned(),
    }
}

fn resource_part(module: Module<'_>, block: &ast::Block, mode: ResourceMode) -> Option<SchemaPart> {
    let type_name = block.label_texts().next()?;
    let required = required_providers(module.db, module.directory);
    let source = required.source(&local_name(block, &type_name));
    schema_of(module, source, mode, &type_name)
}

/// The schema of a resource type of a provider.
pub(crate) fn schema_of(
    module: Module<'_>,
    source: ProviderSource,
    mode: ResourceMode,
    type_name: &str,
) -> Option<SchemaPart> {
    match resource_schema(module.db, module.workspace, &source, mode, type_name) {
        SchemaLookup::Found(schema) => Some(SchemaPart { source, schema, path: Vec::new() }),
        SchemaLookup::NoProvider | SchemaLookup::NoSuchType => None,
    }
}

/// The schema of a declared resource.
pub(crate) fn schema_of_resource(
    module: Module<'_>,
    resource: &hir::item::Resource,
) -> Option<SchemaPart> {
    let required = required_providers(module.db, module.directory);
    let source = required.source(hir::names::provider_local_name(resource));
    schema_of(module, source, resource.resource.mode, &resource.resource.type_name)
}

fn provider_part(module: Module<'_>, block: &ast::Block) -> Option<SchemaPart> {
    let name = block.label_texts().next()?;
    let source = required_providers(module.db, module.directory).source(&name);
    let input = module.workspace.providers(module.db).get(&source)?;
    let schema = input.schemas(module.db).0.provider.clone();
    Some(SchemaPart { source, schema, path: Vec::new() })
}

fn called(module: Module<'_>, block: &ast::Block) -> Option<Directory> {
    call_of(&module, &block.label_texts().next()?)
}

/// The module that a call refers to. `None` if it is not loaded.
pub(crate) fn called_by(module: Module<'_>, call: ItemKey) -> Option<Directory> {
    let call = item(module.db, call).kind.as_module_call()?;
    called_directory(module.db, module.workspace, module.directory, call)
}

/// The directory of the module that the call with the given name refers to.
pub(crate) fn call_of(module: &Module<'_>, name: &str) -> Option<Directory> {
    called_by(*module, module.lookup(&ItemName::Module(name.into()))?)
}

/// The variables of a module with their keys.
pub(crate) fn variables(module: Module<'_>) -> impl Iterator<Item = (ItemKey, &Variable)> {
    let names = module.names(NameKind::Variable).into_iter();
    names.filter_map(move |(_, key)| Some((key, item(module.db, key).kind.as_variable()?)))
}
