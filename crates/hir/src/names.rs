//! What the blocks of a module declare, by name.
//!
//! ```text
//! text(block) ─► block_items ─► block_names ─► symbol table ─► lookup
//!      └───────► source_maps     names only     `symbols`
//!                (ranges, on demand)
//! ```
//!
//! **Stability:** an edit inside a block's body leaves its [`block_names`] equal, so the symbol table stays as it is.

use std::{collections::BTreeMap, sync::Arc};

use addr::ProviderSource;
use db::{Block, Directory};
use syntax::TextRange;
use values::Str;

use crate::{
    Db,
    expr::NodeId,
    item::{Item, ItemKind, RequiredProvider},
    lower::{Lowered, Problem, SourceMap, header_at, json, lower_text},
    symbols::{NameKind, first_declaration, names_of_kind, symbol},
    workspace::{InstalledModule, Workspace, is_local_source, local_module_directory},
};

/// One item, by its place: the block that declares it and its index among the block's items.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ItemKey {
    /// The top-level block.
    pub block: Block,
    /// The index among the block's items.
    pub index: u32,
}

/// The name of a declaration within its module.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum ItemName {
    /// `var.x`
    Variable(Str),
    /// `local.x`
    Local(Str),
    /// An output
    Output(Str),
    /// A resource of any mode
    Resource(addr::Resource),
    /// `module.x`
    Module(Str),
    /// A provider configuration
    Provider(Str, Option<Str>),
    /// A check
    Check(Str),
    /// `terraform {}`; any number of them.
    Terraform,
    /// Something without a name.
    Other,
}

/// What a block says, without its source maps.
///
/// The tree is not kept: it is needed again only to show a place, and [`source_maps`] makes it then.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BlockContent {
    /// The items, without ranges.
    pub items: Box<[Arc<Item>]>,
    /// Syntax errors and structural problems. They have ranges, but a block that has none stays equal when it moves.
    pub problems: Box<[Problem]>,
}

/// Lowers a block.
#[salsa::tracked(returns(ref))]
fn block_content(db: &dyn Db, block: Block) -> BlockContent {
    let Lowered { items, problems, .. } = lower_text(block.text(db), block.file(db).path(db));
    BlockContent { items: items.into(), problems: problems.into() }
}

/// The ranges of a block's items. Only who shows something to a person asks.
#[salsa::tracked(returns(ref), no_eq, lru = 256)]
pub fn source_maps(db: &dyn Db, block: Block) -> Box<[SourceMap]> {
    let path = block.file(db).path(db);
    lower_text(block.text(db), path).source_maps.into()
}

/// The header of the top-level block around a place of a block's text, as it is shown after "in".
pub(crate) fn header_around(db: &dyn Db, block: Block, place: TextRange) -> Option<String> {
    match db::is_json(block.file(db).path(db)) {
        true => {
            let around = json_headers(db, block).iter().find(|(it, _)| it.contains_range(place));
            around.map(|(_, header)| header.clone())
        }
        false => header_at(db::parse(db, block), place),
    }
}

/// The headers of a file of the JSON syntax, each with the place of its block.
#[salsa::tracked(returns(ref), no_eq, lru = 16)]
fn json_headers(db: &dyn Db, block: Block) -> Box<[(TextRange, String)]> {
    json::headers(block.text(db)).into()
}

/// The items of a block, without ranges.
///
/// **Stability:** a problem that comes, goes or moves within the block re-runs who reads its items. That is one block, and
/// what it says seldom stays the same meanwhile; a question more would be one for each block of a configuration.
pub fn block_items(db: &dyn Db, block: Block) -> &[Arc<Item>] {
    &block_content(db, block).items
}

/// Syntax errors and structural problems of a block.
pub fn block_problems(db: &dyn Db, block: Block) -> &[Problem] {
    &block_content(db, block).problems
}

/// The names that a block declares, in the order of its items.
#[salsa::tracked(returns(ref))]
pub fn block_names(db: &dyn Db, block: Block) -> Box<[ItemName]> {
    block_items(db, block).iter().map(|item| name_of(item)).collect()
}

fn name_of(item: &Item) -> ItemName {
    match &item.kind {
        ItemKind::Variable(it) => ItemName::Variable(it.name.clone()),
        ItemKind::Local(it) => ItemName::Local(it.name.clone()),
        ItemKind::Output(it) => ItemName::Output(it.name.clone()),
        ItemKind::Resource(it) => ItemName::Resource(it.resource.clone()),
        ItemKind::ModuleCall(it) => ItemName::Module(it.name.clone()),
        ItemKind::Provider(it) => ItemName::Provider(it.local_name.clone(), it.alias.clone()),
        ItemKind::Check(it) => ItemName::Check(it.name.clone()),
        ItemKind::Terraform(_) => ItemName::Terraform,
        ItemKind::Other(_) => ItemName::Other,
    }
}

/// The declaration of a name in a module; the first of two.
pub fn lookup(db: &dyn Db, directory: Directory, name: &ItemName) -> Option<ItemKey> {
    first_declaration(db, directory, name)
}

/// Every named declaration of a module, by name; of a name that is declared twice the first.
pub fn declarations(
    db: &dyn Db,
    directory: Directory,
) -> impl Iterator<Item = (ItemName, ItemKey)> {
    NameKind::ALL.into_iter().flat_map(move |kind| names_of_kind(db, directory, kind))
}

/// The `terraform {}` blocks of a module in order.
pub fn terraform_blocks(db: &dyn Db, directory: Directory) -> Vec<ItemKey> {
    symbol(db, directory, &ItemName::Terraform).map(|it| it.declarations(db)).unwrap_or_default()
}

/// The item behind a key. What an edit leaves equal may be another object after it.
///
/// **Stability:** an edit of one item of a block with several re-runs nobody who reads the others.
pub fn item(db: &dyn Db, key: ItemKey) -> &Arc<Item> {
    match block_names(db, key.block).len() {
        1 => &block_items(db, key.block)[key.index as usize],
        _ => one_of_many(db, OneOfMany::new(db, key.block, key.index)),
    }
}

/// An item of a block that has several.
#[salsa::interned(revisions = usize::MAX)]
struct OneOfMany<'db> {
    #[returns(copy)]
    block: Block,
    #[returns(copy)]
    index: u32,
}

#[salsa::tracked(returns(ref))]
fn one_of_many<'db>(db: &'db dyn Db, place: OneOfMany<'db>) -> Arc<Item> {
    Arc::clone(&block_items(db, place.block(db))[place.index(db) as usize])
}

/// Where the providers of a module come from.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RequiredProviders {
    /// Declared entries by local name, with the source where it can be read.
    pub declared: BTreeMap<Str, (RequiredProvider, Option<ProviderSource>)>,
    /// `required_version` constraints, unparsed.
    pub required_versions: Vec<Str>,
}

impl RequiredProviders {
    /// The source of a local name: declared, or implied by the name.
    pub fn source(&self, local_name: &str) -> ProviderSource {
        let declared = self.declared.get(local_name).and_then(|(_, source)| source.clone());
        declared.unwrap_or_else(|| ProviderSource::implied_for(local_name))
    }
}

/// The `required_providers` entries of a module.
#[salsa::tracked(returns(ref))]
pub fn required_providers(db: &dyn Db, directory: Directory) -> RequiredProviders {
    let mut result = RequiredProviders::default();
    for key in terraform_blocks(db, directory) {
        let Some(terraform) = item(db, key).kind.as_terraform() else { continue };
        result.required_versions.extend(terraform.required_version.clone());
        for entry in &terraform.required_providers {
            let source = match &entry.source {
                Some(source) => ProviderSource::parse(source).ok(),
                None => Some(ProviderSource::implied_for(&entry.local_name)),
            };
            result
                .declared
                .entry(entry.local_name.clone())
                .or_insert_with(|| (entry.clone(), source));
        }
    }
    result
}

/// The local provider name that a resource is configured under: its `provider` argument, or the type's first word.
pub fn provider_local_name(resource: &crate::item::Resource) -> Str {
    match &resource.provider {
        Some(provider) => provider.local_name.clone(),
        None => Str::from(resource.resource.implied_provider()),
    }
}

/// The calls of a module by name, with the directories that they lead to, as far as those were read.
pub fn module_calls(
    db: &dyn Db,
    workspace: Workspace,
    caller: Directory,
) -> impl Iterator<Item = (Str, Directory)> {
    names_of_kind(db, caller, NameKind::Module).into_iter().filter_map(move |(name, key)| {
        let ItemName::Module(name) = name else { return None };
        let call = item(db, key).kind.as_module_call()?;
        Some((name, called_directory(db, workspace, caller, call)?))
    })
}

/// The directory that a module call leads to, if it was read.
pub fn called_directory(
    db: &dyn Db,
    workspace: Workspace,
    caller: Directory,
    call: &crate::item::ModuleCall,
) -> Option<Directory> {
    let path = called_path(db, workspace, caller, call)?;
    workspace.directories(db).get(&path).copied()
}

/// The path of the directory that a module call leads to, whether or not it was read; `None` for a module that is not
/// installed.
pub fn called_path(
    db: &dyn Db,
    workspace: Workspace,
    caller: Directory,
    call: &crate::item::ModuleCall,
) -> Option<Arc<str>> {
    match call.source.as_deref() {
        Some(source) if is_local_source(source) => {
            Some(local_module_directory(caller.path(db), source))
        }
        source => {
            let installed = installed_module(db, workspace, caller, call)?;
            let is_asked = source.is_none_or(|source| installed.is_of(source));
            is_asked.then(|| installed.dir.clone())
        }
    }
}

/// What was installed for a call, perhaps when its source was another one.
pub fn installed_module<'db>(
    db: &'db dyn Db,
    workspace: Workspace,
    caller: Directory,
    call: &crate::item::ModuleCall,
) -> Option<&'db InstalledModule> {
    workspace.manifest(db).get(&(caller.path(db).clone(), call.name.clone()))
}

/// A call of a module, and where it says that the module is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SourcedCall {
    /// The call's name.
    pub name: Str,
    /// Its `source`.
    pub source: Str,
    /// The call's item, and where `source` stands in it.
    pub place: (ItemKey, NodeId),
}

/// The calls of a module whose sources are known, by name.
pub fn sourced_calls(db: &dyn Db, caller: Directory) -> impl Iterator<Item = SourcedCall> {
    names_of_kind(db, caller, NameKind::Module).into_iter().filter_map(move |(name, key)| {
        let ItemName::Module(name) = name else { return None };
        let call = item(db, key).kind.as_module_call()?;
        Some(SourcedCall { name, source: call.source.clone()?, place: (key, call.source_node) })
    })
}
