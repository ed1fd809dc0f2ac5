//! The declared names of a module's blocks, and the queries that resolve a name to its declaration.
//!
//! ```text
//! text(block) ─► block_items ─► block_names ─► symbol table ─► lookup
//!      └───────► source_maps     names only     `symbols`
//!                (ranges, on demand)
//! ```
//!
//! **Stability:** an edit inside a block's body leaves its [`block_names`] equal, so the symbol table does not
//! change.

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
        Lowered, SourceMap, header_at, json, lower_text,
        overriding::{Declaration, Merged, declarations as declarations_of_text, merge},
        problem::{INVALID_REFERENCE, Problem},
        spare::recycle,
    },
    statics,
    symbols::{NameKind, first_declaration, names_of_kind, symbol},
    workspace::{InstalledModule, Workspace, is_local_source, local_module_directory},
};

/// The identity of an item: the block that declares it, and its index among the block's items.
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
    /// The `terraform` blocks. Any number of blocks may share this name.
    Terraform,
    /// The `moved` blocks. Any number of blocks may share this name.
    Moved,
    /// The `removed` blocks. Any number of blocks may share this name.
    Removed,
    /// The `import` blocks. Any number of blocks may share this name.
    Import,
    /// An item that cannot be looked up.
    Other,
}

impl ItemName {
    /// Returns true if any number of blocks may have this name.
    pub fn is_shared(&self) -> bool {
        matches!(self, ItemName::Terraform | ItemName::Moved | ItemName::Removed | ItemName::Import)
    }
}

/// The lowered content of a block, without source maps.
///
/// The syntax tree is not kept. Only rendering a location needs it, and [`source_maps`] parses the block again for
/// that.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BlockContent {
    /// The items without ranges, merged with their overrides.
    items: Items,
    /// Syntax errors and structural problems. Their ranges are relative to the block, so the content stays equal
    /// when the block moves in its file.
    pub problems: Box<[Problem]>,
    /// The problems located in blocks that override this one.
    in_overrides: Option<Box<[(Block, Problem)]>>,
    outline: Arc<Outline>,
}

/// The items of a block. Most blocks have one.
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

/// Merges the items of a block with their overrides.
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
    // An invalid reference in an overridden argument does not matter, because the argument is not evaluated. Other
    // problems of the block itself still count. In a block with several items, the unmerged items keep their
    // problems.
    let is_kept = |it: &Problem| has_several || it.id() != INVALID_REFERENCE;
    let mut problems: Vec<Problem> = problems.into_iter().filter(is_kept).collect();
    of_whole.retain(|it| !problems.contains(it));
    problems.extend(of_whole);
    let in_overrides = (!in_overrides.is_empty()).then(|| in_overrides.into());
    BlockContent::new(items.into(), problems.into(), in_overrides)
}

/// One item of a block merged with its overrides. `None` if a declaration is missing or cannot be merged.
fn merged(db: &dyn Db, block: Block, overrides: &[Override]) -> Option<Merged> {
    let base = block_declarations(db, block).get(overrides.first()?.item as usize)?;
    let by = overrides.iter().map(|it| block_declarations(db, it.by).get(it.by_item as usize));
    merge(base, &by.collect::<Option<Vec<_>>>()?)
}

/// The declarations of a block as syntax. Needed only for blocks that override others or are overridden.
#[salsa::tracked(returns(ref), no_eq, lru = 256)]
fn block_declarations(db: &dyn Db, block: Block) -> Box<[Declaration]> {
    declarations_of_text(block.text(db), block.file(db).path(db)).into()
}

/// The source ranges of a block's items. Needed only to render locations.
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

/// The location of a part of an item: the block and the range relative to its start. The block differs from the
/// item's own if an override file contributed the part. `None` if the part has no range.
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

/// The range of an item's header in its own block, without the effect of override files.
pub fn own_header(db: &dyn Db, key: ItemKey) -> Option<TextRange> {
    let index = key.index as usize;
    if key.block.overrides(db).is_empty() {
        return source_maps(db, key.block).get(index)?.range(item(db, key).header.into());
    }
    let alone = lower_text(key.block.text(db), key.block.file(db).path(db));
    let header = alone.items.get(index)?.header;
    alone.source_maps.get(index)?.range(header.into())
}

/// The declaration that an item of an override file changes. `None` if the item is a declaration of its own, or if
/// the original does not exist.
pub fn base_of(db: &dyn Db, directory: Directory, key: ItemKey) -> Option<ItemKey> {
    let name = block_names(db, key.block).get(key.index as usize)?;
    lookup(db, directory, name).filter(|base| *base != key && !name.is_shared())
}

/// The problems of `block` that are located in `by`, a block that overrides it.
pub(crate) fn problems_in_override(
    db: &dyn Db,
    block: Block,
    by: Block,
) -> impl Iterator<Item = &Problem> {
    let all = block_content(db, block).in_overrides.as_deref().unwrap_or_default();
    all.iter().filter(move |(it, _)| *it == by).map(|(_, problem)| problem)
}

/// The header of the top-level block around a range, which diagnostics show after "in".
pub(crate) fn header_around(db: &dyn Db, block: Block, place: TextRange) -> Option<String> {
    match db::is_json(block.file(db).path(db)) {
        true => {
            let around = json_headers(db, block).iter().find(|(it, _)| it.contains_range(place));
            around.map(|(_, header)| header.clone())
        }
        false => header_at(db::parse(db, block), place),
    }
}

/// The block headers of a file in the JSON syntax, each with the range of its block.
#[salsa::tracked(returns(ref), no_eq, lru = 16)]
fn json_headers(db: &dyn Db, block: Block) -> Box<[(TextRange, String)]> {
    json::headers(block.text(db)).into()
}

/// The items of a block, without ranges.
///
/// **Stability:** the items and the problems of a block are one query result, so a problem that is added, removed
/// or moved also invalidates readers of the items. The items usually change at the same time, and a separate query
/// for the items would cost one more cache entry for each block of the configuration.
pub fn block_items(db: &dyn Db, block: Block) -> &[Arc<Item>] {
    &block_content(db, block).items
}

/// The syntax errors and structural problems of a block.
pub fn block_problems(db: &dyn Db, block: Block) -> &[Problem] {
    &block_content(db, block).problems
}

/// The parts of a block's items that references to them depend on, in the order of the items.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Outline {
    names: Box<[ItemName]>,
    /// The instance keys of each item. Empty if no item has keys, which is the usual case.
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
    (db.projections().outline)(db, block)
}

/// Reads the outline from the content of the block.
pub(crate) fn contained_outline(db: &dyn Db, block: Block) -> &Outline {
    &block_content(db, block).outline
}

/// Reads the outline through a query of its own.
pub(crate) fn separate_outline(db: &dyn Db, block: Block) -> &Outline {
    kept_outline(db, block)
}

/// The outline as a separate query, which stays equal if an edit changes only other parts of the block.
#[salsa::tracked(returns(ref))]
fn kept_outline(db: &dyn Db, block: Block) -> Arc<Outline> {
    Arc::clone(&block_content(db, block).outline)
}

/// The names that a block declares, in the order of its items.
pub fn block_names(db: &dyn Db, block: Block) -> &[ItemName] {
    &outline(db, block).names
}

/// The kind of an item's instance keys.
///
/// **Stability:** an edit of the item leaves the result equal unless it changes the kind of repetition.
pub(crate) fn keys_of(db: &dyn Db, key: ItemKey) -> Keys {
    outline(db, key.block).keys.get(key.index as usize).copied().unwrap_or(Keys::None)
}

/// The kind of the instance keys.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Keys {
    /// One instance without a key.
    None,
    /// One instance without a key, or none: `enabled`.
    Optional,
    /// Numbers: `count`.
    Numbers,
    /// Strings: `for_each`.
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

    /// Returns true if a reference to an instance needs a key.
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

/// The declaration of a name in a module. If there are duplicates, the first one. `None` if the name is
/// undeclared.
pub fn lookup(db: &dyn Db, directory: Directory, name: &ItemName) -> Option<ItemKey> {
    first_declaration(db, directory, name)
}

/// All named declarations of a module, by name. If a name has duplicates, only the first one.
pub fn declarations(
    db: &dyn Db,
    directory: Directory,
) -> impl Iterator<Item = (ItemName, ItemKey)> {
    NameKind::ALL.into_iter().flat_map(move |kind| names_of_kind(db, directory, kind))
}

/// The `terraform` blocks of a module in order.
pub fn terraform_blocks(db: &dyn Db, directory: Directory) -> Vec<ItemKey> {
    all_of(db, directory, &ItemName::Terraform)
}

/// The `terraform` block that configures state storage with `backend` or `cloud`: the last one in an override
/// file, or else the first one. `None` if there is none.
pub fn keeps_state(db: &dyn Db, directory: Directory) -> Option<ItemKey> {
    let says = |key: &ItemKey| {
        let settings = item(db, *key).kind.as_terraform();
        settings.is_some_and(|it| it.backend.is_some() || !it.clouds.is_empty())
    };
    let saying: Vec<ItemKey> = terraform_blocks(db, directory).into_iter().filter(says).collect();
    let is_override = |key: &&ItemKey| db::is_override(key.block.file(db).path(db));
    saying.iter().rfind(is_override).or(saying.first()).copied()
}

/// All declarations of a name in order.
pub fn all_of(db: &dyn Db, directory: Directory, name: &ItemName) -> Vec<ItemKey> {
    symbol(db, directory, name).map(|it| it.declarations(db)).unwrap_or_default()
}

/// The item of a key. An equal item may have another address after an edit.
///
/// **Stability:** in a block with several items, an edit of one item does not invalidate readers of the others.
pub fn item(db: &dyn Db, key: ItemKey) -> &Arc<Item> {
    (db.projections().item)(db, key)
}

/// Reads an item from the content of its block.
pub(crate) fn contained_item(db: &dyn Db, key: ItemKey) -> &Arc<Item> {
    &block_items(db, key.block)[key.index as usize]
}

/// Reads an item of a block with several items through a query of its own.
pub(crate) fn separate_item(db: &dyn Db, key: ItemKey) -> &Arc<Item> {
    match block_names(db, key.block).len() {
        1 => contained_item(db, key),
        _ => one_of_many(db, OneOfMany::new(db, key.block, key.index)),
    }
}

/// The query key of an item in a block with several items.
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

/// The provider requirements of a module.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RequiredProviders {
    /// The declared entries by local name, each with its source. The source is `None` if it cannot be parsed.
    pub declared: BTreeMap<Str, (RequiredProvider, Option<ProviderSource>)>,
    /// The `required_version` constraints, unparsed.
    pub required_versions: Vec<Str>,
}

impl RequiredProviders {
    /// The provider source of a local name: declared, or implied by the name.
    pub fn source(&self, local_name: &str) -> ProviderSource {
        let declared = self.declared.get(local_name).and_then(|(_, source)| source.clone());
        declared.unwrap_or_else(|| ProviderSource::implied_for(local_name))
    }
}

/// The `required_providers` entries and version constraints of a module.
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

/// The local provider name of a resource: from its `provider` argument, or else the first word of its type.
pub fn provider_local_name(resource: &crate::item::Resource) -> &str {
    match &resource.provider {
        Some(provider) => &provider.local_name,
        None => resource.resource.implied_provider(),
    }
}

/// The calls of a module by name, each with a directory that it leads to. Directories that were not read are left
/// out. A call occurs several times if its source depends on how its module is called.
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

/// The directory that a module call leads to, the first of several. `None` if it was not read.
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

/// The directories that a module call leads to. There are several if its source depends on how its module is
/// called. Directories that were not read are left out.
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

/// The paths of the directories that a module call leads to, including those that were not read. Empty if the
/// module is not installed.
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
    // While the source is unknown, the installed module is the best guess.
    if sources.is_empty() {
        let installed = installed_modules(db, workspace, caller, &call.name);
        paths.extend(installed.first().map(|it| it.dir.clone()));
    }
    paths
}

/// The directory of the called module if the call has this `source`. `None` if it is not installed.
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

/// The modules installed for a call. Their sources may be outdated.
pub fn installed_modules<'db>(
    db: &'db dyn Db,
    workspace: Workspace,
    caller: Directory,
    name: &Str,
) -> &'db [InstalledModule] {
    let manifest = workspace.manifest(db);
    manifest.get(&(caller.path(db).clone(), name.clone())).map(Vec::as_slice).unwrap_or_default()
}

/// A module call with a known source.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SourcedCall {
    /// The name of the call.
    pub name: Str,
    /// The `source`.
    pub source: Str,
    /// The call's item and the node of `source` in it.
    pub place: (ItemKey, NodeId),
}

/// The module calls with known sources, by name. A call occurs several times if its source depends on how its
/// module is called.
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
