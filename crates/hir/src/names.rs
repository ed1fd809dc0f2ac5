//! What the blocks of a module declare, by name.
//!
//! ```text
//! text(block) ─► block_items ─► block_names ─► symbol table ─► lookup
//!      └───────► source_maps     names only     `symbols`
//!                (ranges, on demand)
//! ```
//!
//! **Stability:** an edit inside a block's body leaves its [`block_names`] equal, so the symbol table stays as it is.

use std::{collections::BTreeMap, ops::Deref, sync::Arc};

use addr::ProviderSource;
use db::{Block, Directory, Override};
use syntax::TextRange;
use values::Str;

use crate::{
    Db,
    expr::{At, NodeId},
    item::{Item, ItemKind, ModuleCall, Repetition, RequiredProvider},
    lower::{
        Declaration, INVALID_REFERENCE, Lowered, Merged, Problem, SourceMap,
        declarations as declarations_of_text, header_at, json, lower_text, merge, recycle,
    },
    statics,
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
    /// `moved {}`; any number of them.
    Moved,
    /// `removed {}`; any number of them.
    Removed,
    /// `import {}`; any number of them.
    Import,
    /// Something that nobody looks for.
    Other,
}

impl ItemName {
    /// Whether any number of blocks may have it, because it is no name but a kind.
    pub fn is_shared(&self) -> bool {
        matches!(self, ItemName::Terraform | ItemName::Moved | ItemName::Removed | ItemName::Import)
    }
}

/// What a block says, without its source maps.
///
/// The tree is not kept: it is needed again only to show a place, and [`source_maps`] makes it then.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BlockContent {
    /// The items, without ranges; with what override files change of them.
    items: Items,
    /// Syntax errors and structural problems. They have ranges, but a block that has none stays equal when it moves.
    pub problems: Box<[Problem]>,
    /// Problems in blocks that override it.
    in_overrides: Option<Box<[(Block, Problem)]>>,
    outline: Arc<Outline>,
}

/// The items of a block, of which most have one.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Items {
    One([Arc<Item>; 1]),
    Several(Box<[Arc<Item>]>),
}

impl Deref for Items {
    type Target = [Arc<Item>];

    fn deref(&self) -> &[Arc<Item>] {
        match self {
            Items::One(item) => item,
            Items::Several(items) => items,
        }
    }
}

impl From<Vec<Arc<Item>>> for Items {
    fn from(items: Vec<Arc<Item>>) -> Items {
        match <[Arc<Item>; 1]>::try_from(items) {
            Ok(item) => Items::One(item),
            Err(items) => Items::Several(items.into()),
        }
    }
}

/// Lowers a block.
#[salsa::tracked(returns(ref))]
fn block_content(db: &dyn Db, block: Block) -> BlockContent {
    let Lowered { items, problems, source_maps, .. } =
        lower_text(block.text(db), block.file(db).path(db));
    recycle(source_maps);
    match &**block.overrides(db) {
        [] => BlockContent::new(items.into(), problems.into(), None),
        overrides => overridden(db, block, overrides, (items, problems)),
    }
}

impl BlockContent {
    fn new(
        items: Items,
        problems: Box<[Problem]>,
        in_overrides: Option<Box<[(Block, Problem)]>>,
    ) -> BlockContent {
        let outline = Arc::new(Outline::of(&items));
        BlockContent { items, problems, in_overrides, outline }
    }
}

/// What a block says with what override files change of it.
fn overridden(
    db: &dyn Db,
    block: Block,
    overrides: &[Override],
    (mut items, problems): (Vec<Arc<Item>>, Vec<Problem>),
) -> BlockContent {
    let has_several = items.len() > 1;
    let (mut of_whole, mut in_overrides) = (Vec::new(), Vec::new());
    for of_item in overrides.chunk_by(|a, b| a.item == b.item) {
        let Some(item) = items.get_mut(of_item[0].item as usize) else { continue };
        let Some(merged) = merged(db, block, of_item) else { continue };
        *item = merged.item;
        for (part, problem) in merged.problems {
            match part.checked_sub(1) {
                None => of_whole.push(problem),
                Some(by) => in_overrides.push((of_item[by].by, problem)),
            }
        }
    }
    // What is overridden is not evaluated, so what it mentions does not matter; that a block can be read by itself does. Of
    // a block with several items those that stay as they are have their own.
    let is_kept = |it: &Problem| has_several || it.id != INVALID_REFERENCE;
    let mut problems: Vec<Problem> = problems.into_iter().filter(is_kept).collect();
    of_whole.retain(|it| !problems.contains(it));
    problems.extend(of_whole);
    let in_overrides = (!in_overrides.is_empty()).then(|| in_overrides.into());
    BlockContent::new(items.into(), problems.into(), in_overrides)
}

/// One item of a block with what override files change of it.
fn merged(db: &dyn Db, block: Block, overrides: &[Override]) -> Option<Merged> {
    let base = block_declarations(db, block).get(overrides.first()?.item as usize)?;
    let by = overrides.iter().map(|it| block_declarations(db, it.by).get(it.by_item as usize));
    merge(base, &by.collect::<Option<Vec<_>>>()?)
}

/// The declarations of a block as texts. Only of those that override others or are overridden.
#[salsa::tracked(returns(ref), no_eq, lru = 256)]
fn block_declarations(db: &dyn Db, block: Block) -> Box<[Declaration]> {
    declarations_of_text(block.text(db), block.file(db).path(db)).into()
}

/// The ranges of a block's items. Only who shows something to a person asks.
#[salsa::tracked(returns(ref), no_eq, lru = 256)]
pub fn source_maps(db: &dyn Db, block: Block) -> Box<[SourceMap]> {
    let path = block.file(db).path(db);
    let mut maps = lower_text(block.text(db), path).source_maps;
    for of_item in block.overrides(db).chunk_by(|a, b| a.item == b.item) {
        if let Some(map) = maps.get_mut(of_item[0].item as usize)
            && let Some(merged) = merged(db, block, of_item)
        {
            *map = merged.map;
        }
    }
    maps.into()
}

/// Where something of an item stands: the block, which is another one than its own for what an override file says, and the
/// range from the start of that.
pub fn place_of(db: &dyn Db, key: ItemKey, at: impl Into<At>) -> Option<(Block, TextRange)> {
    let map = source_maps(db, key.block).get(key.index as usize)?;
    let (part, range) = map.place(at.into())?;
    let block = match part.checked_sub(1) {
        None => key.block,
        Some(by) => {
            let mut of_item = key.block.overrides(db).iter().filter(|it| it.item == key.index);
            of_item.nth(by)?.by
        }
    };
    Some((block, range))
}

/// The header of an item in its own block, whatever override files say.
pub fn own_header(db: &dyn Db, key: ItemKey) -> Option<TextRange> {
    let index = key.index as usize;
    if key.block.overrides(db).is_empty() {
        return source_maps(db, key.block).get(index)?.range(item(db, key).header.into());
    }
    let alone = lower_text(key.block.text(db), key.block.file(db).path(db));
    let header = alone.items.get(index)?.header;
    alone.source_maps.get(index)?.range(header.into())
}

/// The declaration that an item of an override file changes: none if it declares something itself, or if what it would change
/// is not there.
pub fn base_of(db: &dyn Db, directory: Directory, key: ItemKey) -> Option<ItemKey> {
    let name = block_names(db, key.block).get(key.index as usize)?;
    lookup(db, directory, name).filter(|base| *base != key && !name.is_shared())
}

/// Problems of a block in one that overrides it.
pub(crate) fn problems_in_override(
    db: &dyn Db,
    block: Block,
    by: Block,
) -> impl Iterator<Item = &Problem> {
    let all = block_content(db, block).in_overrides.as_deref().unwrap_or_default();
    all.iter().filter(move |(it, _)| *it == by).map(|(_, problem)| problem)
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

/// What others need to know of the items of a block to refer to them, in their order.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Outline {
    names: Box<[ItemName]>,
    /// How the instances of each are told apart; empty if no item has keys, as most have none.
    keys: Box<[Keys]>,
}

impl Outline {
    fn of(items: &[Arc<Item>]) -> Outline {
        let keys: Box<[Keys]> = match items.iter().any(|item| Keys::of(item) != Keys::None) {
            true => items.iter().map(|item| Keys::of(item)).collect(),
            false => Box::default(),
        };
        Outline { names: items.iter().map(|item| name_of(item)).collect(), keys }
    }
}

fn outline(db: &dyn Db, block: Block) -> &Outline {
    match db.one_shot() {
        Some(_) => &block_content(db, block).outline,
        None => kept_outline(db, block),
    }
}

/// The same, which stays when the block changes in other ways.
#[salsa::tracked(returns(ref))]
fn kept_outline(db: &dyn Db, block: Block) -> Arc<Outline> {
    Arc::clone(&block_content(db, block).outline)
}

/// The names that a block declares, in the order of its items.
pub fn block_names(db: &dyn Db, block: Block) -> &[ItemName] {
    &outline(db, block).names
}

/// How the instances of an item are told apart.
///
/// **Stability:** an edit of the item leaves the result equal, unless it is about `count` or `for_each`.
pub(crate) fn keys_of(db: &dyn Db, key: ItemKey) -> Keys {
    outline(db, key.block).keys.get(key.index as usize).copied().unwrap_or(Keys::None)
}

/// How instances are told apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Keys {
    /// There is one, without a key.
    None,
    /// There is one or none, without a key: `enabled`.
    Optional,
    /// Numbers: `count`.
    Numbers,
    /// Texts: `for_each`.
    Texts,
}

impl Keys {
    fn of(item: &Item) -> Keys {
        let repetition = match &item.kind {
            ItemKind::Resource(it) => it.repetition,
            ItemKind::ModuleCall(it) => it.repetition,
            _ => return Keys::None,
        };
        match repetition {
            Repetition::Single => Keys::None,
            Repetition::Enabled(_) => Keys::Optional,
            Repetition::Count(_) => Keys::Numbers,
            Repetition::ForEach(_) => Keys::Texts,
        }
    }

    /// Whether references need a key.
    pub(crate) fn are_needed(self) -> bool {
        matches!(self, Keys::Numbers | Keys::Texts)
    }
}

/// The name that an item declares.
pub(crate) fn name_of(item: &Item) -> ItemName {
    match &item.kind {
        ItemKind::Variable(it) => ItemName::Variable(it.name.clone()),
        ItemKind::Local(it) => ItemName::Local(it.name.clone()),
        ItemKind::Output(it) => ItemName::Output(it.name.clone()),
        ItemKind::Resource(it) => ItemName::Resource(it.resource.clone()),
        ItemKind::ModuleCall(it) => ItemName::Module(it.name.clone()),
        ItemKind::Provider(it) => ItemName::Provider(it.local_name.clone(), it.alias.clone()),
        ItemKind::Check(it) => ItemName::Check(it.name.clone()),
        ItemKind::Terraform(_) => ItemName::Terraform,
        ItemKind::Moved(_) => ItemName::Moved,
        ItemKind::Removed(_) => ItemName::Removed,
        ItemKind::Import(_) => ItemName::Import,
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
    all_of(db, directory, &ItemName::Terraform)
}

/// The `terraform {}` block that says where state is kept, by `backend` or `cloud`: the first that does, unless an override
/// file replaces it.
pub fn keeps_state(db: &dyn Db, directory: Directory) -> Option<ItemKey> {
    let says = |key: &ItemKey| {
        let settings = item(db, *key).kind.as_terraform();
        settings.is_some_and(|it| it.backend.is_some() || !it.clouds.is_empty())
    };
    let saying: Vec<ItemKey> = terraform_blocks(db, directory).into_iter().filter(says).collect();
    let is_override = |key: &&ItemKey| db::is_override(key.block.file(db).path(db));
    saying.iter().rfind(is_override).or(saying.first()).copied()
}

/// Every declaration of a name, in order.
pub fn all_of(db: &dyn Db, directory: Directory, name: &ItemName) -> Vec<ItemKey> {
    symbol(db, directory, name).map(|it| it.declarations(db)).unwrap_or_default()
}

/// The item behind a key. What an edit leaves equal may be another object after it.
///
/// **Stability:** an edit of one item of a block with several re-runs nobody who reads the others.
pub fn item(db: &dyn Db, key: ItemKey) -> &Arc<Item> {
    match db.one_shot().is_some() || block_names(db, key.block).len() == 1 {
        true => &block_items(db, key.block)[key.index as usize],
        false => one_of_many(db, OneOfMany::new(db, key.block, key.index)),
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
                Some((source, _)) => ProviderSource::parse(source).ok(),
                None => Some(ProviderSource::implied_for(&entry.local_name)),
            };
            let name = entry.local_name.clone();
            match db::is_override(key.block.file(db).path(db)) {
                true => drop(result.declared.insert(name, (entry.clone(), source))),
                false => drop(result.declared.entry(name).or_insert((entry.clone(), source))),
            }
        }
    }
    result
}

/// The local provider name that a resource is configured under: its `provider` argument, or the type's first word.
pub fn provider_local_name(resource: &crate::item::Resource) -> &str {
    match &resource.provider {
        Some(provider) => &provider.local_name,
        None => resource.resource.implied_provider(),
    }
}

/// The calls of a module by name, with the directories that they lead to, as far as those were read. A call whose source
/// depends on how its module is called may lead to several.
pub fn module_calls(
    db: &dyn Db,
    workspace: Workspace,
    caller: Directory,
) -> impl Iterator<Item = (Str, Directory)> {
    names_of_kind(db, caller, NameKind::Module).into_iter().flat_map(move |(name, key)| {
        let call = item(db, key).kind.as_module_call();
        let called = call.map(|call| called_directories(db, workspace, caller, call));
        let ItemName::Module(name) = name else { return Vec::new() };
        called.into_iter().flatten().map(|called| (name.clone(), called)).collect()
    })
}

/// The directory that a module call leads to, if it was read; the first of several.
pub fn called_directory(
    db: &dyn Db,
    workspace: Workspace,
    caller: Directory,
    call: &ModuleCall,
) -> Option<Directory> {
    let directories = workspace.directories(db);
    match &call.source {
        Some(source) => {
            let path = path_of_source(db, workspace, caller, &call.name, source)?;
            directories.get(&path).copied()
        }
        None => called_directories(db, workspace, caller, call).first().copied(),
    }
}

/// The directories that a module call leads to, as far as they were read: several where its source depends on how its
/// module is called.
pub fn called_directories(
    db: &dyn Db,
    workspace: Workspace,
    caller: Directory,
    call: &ModuleCall,
) -> Vec<Directory> {
    let directories = workspace.directories(db);
    let paths = called_paths(db, workspace, caller, call);
    paths.iter().filter_map(|path| directories.get(path).copied()).collect()
}

/// The paths of the directories that a module call leads to, whether or not they were read; none of a module that is not
/// installed.
pub fn called_paths(
    db: &dyn Db,
    workspace: Workspace,
    caller: Directory,
    call: &ModuleCall,
) -> Vec<Arc<str>> {
    let path = |source: &Str| path_of_source(db, workspace, caller, &call.name, source);
    if let Some(source) = &call.source {
        return path(source).into_iter().collect();
    }
    let mut paths: Vec<Arc<str>> = Vec::new();
    let sources = statics::sources_of(db, workspace, caller, &call.name);
    for path in sources.iter().filter_map(path) {
        if !paths.contains(&path) {
            paths.push(path);
        }
    }
    // While nobody knows the source, what is in place is the best guess at what is meant.
    if sources.is_empty() {
        let installed = installed_modules(db, workspace, caller, &call.name);
        paths.extend(installed.first().map(|it| it.dir.clone()));
    }
    paths
}

/// The directory in which the module of a call is, if its source is this.
pub fn path_of_source(
    db: &dyn Db,
    workspace: Workspace,
    caller: Directory,
    name: &Str,
    source: &str,
) -> Option<Arc<str>> {
    if is_local_source(source) {
        return Some(local_module_directory(caller.path(db), source));
    }
    let installed = installed_modules(db, workspace, caller, name);
    installed.iter().find(|it| it.is_of(source)).map(|it| it.dir.clone())
}

/// What was installed for a call, perhaps when its source was another one.
pub fn installed_modules<'db>(
    db: &'db dyn Db,
    workspace: Workspace,
    caller: Directory,
    name: &Str,
) -> &'db [InstalledModule] {
    let manifest = workspace.manifest(db);
    manifest.get(&(caller.path(db).clone(), name.clone())).map(Vec::as_slice).unwrap_or_default()
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

/// The calls of a module whose sources are known, by name; several of a call whose source depends on how its module is
/// called.
pub fn sourced_calls(
    db: &dyn Db,
    workspace: Workspace,
    caller: Directory,
) -> impl Iterator<Item = SourcedCall> {
    names_of_kind(db, caller, NameKind::Module).into_iter().flat_map(move |(name, key)| {
        let ItemName::Module(name) = name else { return Vec::new() };
        let Some(call) = item(db, key).kind.as_module_call() else { return Vec::new() };
        let sources = match &call.source {
            Some(source) => std::slice::from_ref(source),
            None => statics::sources_of(db, workspace, caller, &name),
        };
        let place = (key, call.source_node);
        let sourced =
            |source: &Str| SourcedCall { name: name.clone(), source: source.clone(), place };
        sources.iter().map(sourced).collect()
    })
}
