//! The symbol table: the declared names of each module and their declarations.
//!
//! ```text
//! text(block) ─► block_names ─► driver compares with before ─► Symbol (input) ─► the queries that looked the name up
//! ```
//!
//! A query that maps all names of a module would read every block: with 100,000 resources, each keystroke in a
//! name would cost a tenth of a second. Instead, the code that changes a block's text feeds the declared names
//! back into the database as inputs, one per name ([`redeclare`]). The cost of an edit depends on the number of
//! changed names, and the edit invalidates only queries that looked up one of these names, declared or not.
//!
//! **Invariant:** after each change, the table agrees with [`block_names`] of every block of every directory. Only
//! the `project` crate calls the functions that change the table: [`declare`], [`declare_tables`],
//! [`declare_again`] and [`redeclare`].
//! **Invariant:** the table holds only declared names. They change only while the database has no other handle,
//! and together with an input that every iteration over the table has read.
//!
//! An undeclared name has no entry, even if a query looked it up: typing one name causes dozens of such lookups. A
//! lookup without result reads one of a fixed number of `UndeclaredPartition` inputs, selected by the hash of the
//! name. Adding or removing the entry of a name changes the input for its hash. The `Symbol` of a removed name is
//! reused for another name.

pub(crate) mod first;
pub(crate) mod sorted;

use std::{
    hash::{Hash as _, Hasher as _},
    sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError},
};

use ::sorted::{TreeMap, TreeSet};
use db::{Block, Directory, File, Override};
use hashbrown::HashTable;
use rustc_hash::{FxHashMap, FxHasher};
use salsa::Setter as _;

use crate::{
    Db,
    content::block_names,
    item_name::{ItemKey, ItemName},
    symbols::{
        first::{Table, hash_of},
        sorted::Sorted,
    },
};

pub(crate) use self::first::ModuleOutline;

pub use crate::item_name::NameKind;

pub use self::first::{BlockOutline, Declared, Tables, blocks_to_declare};

/// A declared name of a module.
#[salsa::input]
pub struct Symbol {
    /// The effective declaration: the first one in the order of the text that is in no override file. `None` if
    /// only override files have the name.
    #[returns(copy)]
    pub first: Option<ItemKey>,
    /// The other declarations. Duplicates come first, in the order of the text, then the declarations of override
    /// files, which modify the effective declaration. If `first` is `None`, these are all and the name counts as
    /// undeclared.
    #[returns(ref)]
    pub later: Box<[ItemKey]>,
}

impl Symbol {
    /// All declarations in the order of the text.
    pub fn declarations(self, db: &dyn Db) -> Vec<ItemKey> {
        self.declared(db).collect()
    }

    fn declared(self, db: &dyn Db) -> impl Iterator<Item = ItemKey> {
        self.first(db).into_iter().chain(self.later(db).iter().copied())
    }
}

/// A counter that changes with the declared names of one kind. Every iteration over the names of the kind reads
/// it.
#[salsa::input]
struct Revision {
    #[returns(copy)]
    number: u64,
}

/// A counter that changes when a name gets its first declaration or loses its last. All names of one hash
/// partition share it.
#[salsa::input]
struct UndeclaredPartition {
    #[returns(copy)]
    number: u64,
}

/// The number of hash partitions of undeclared names.
const UNDECLARED_PARTITIONS: usize = 1024;

/// The hash partition of a name.
fn partition_of(directory: Directory, name: &ItemName) -> usize {
    let mut hasher = FxHasher::default();
    (directory, name).hash(&mut hasher);
    hasher.finish() as usize % UNDECLARED_PARTITIONS
}

/// The names of all modules. Cheap to clone: the handles of one database share the data.
///
/// There is no lock: the names change only while the database has no other handle. If another handle existed, it
/// would keep its old data.
#[derive(Clone, Default)]
pub struct Symbols {
    modules: Arc<FxHashMap<Directory, ModuleSymbols>>,
    /// An empty entry that lookups in undeclared modules read, so that a later declaration invalidates them.
    undeclared: Arc<OnceLock<ModuleSymbols>>,
    absent: Arc<OnceLock<Box<[UndeclaredPartition]>>>,
    /// Symbols of names without declarations, for reuse. Removing a name changes its symbol, which invalidates
    /// every reader, so the symbol can then stand for another name.
    spare: Arc<Mutex<Vec<Symbol>>>,
}

/// The names of one module, by kind.
#[derive(Clone)]
struct ModuleSymbols {
    kinds: [KindSymbols; NameKind::ALL.len()],
    /// The outline of the module, if it is final. Absent for a module with override files.
    outline: Option<Arc<ModuleOutline>>,
}

/// The names of one kind: a hash table for lookups and a sorted collection for iteration.
#[derive(Clone)]
struct KindSymbols {
    revision: Revision,
    by_name: HashTable<(ItemName, Symbol)>,
    sorted: Sorted,
    /// False if no name has more than one declaration and the table is final.
    has_further: bool,
}

impl Symbols {
    /// The names of one kind in a module. Empty if the module is undeclared.
    fn of(&self, db: &dyn Db, directory: Directory, kind: NameKind) -> &KindSymbols {
        let known = self.modules.get(&directory);
        known.unwrap_or_else(|| self.undeclared.get_or_init(|| ModuleSymbols::new(db))).kind(kind)
    }

    /// The symbol of a name. `None` if the name has no table entry.
    fn get(&self, directory: Directory, name: &ItemName) -> Option<Symbol> {
        let kind = NameKind::of(name)?;
        self.modules.get(&directory)?.kind(kind).get(name)
    }

    /// Returns true if a query may have read the names of a module.
    fn may_be_known(&self, directory: Directory) -> bool {
        self.modules.contains_key(&directory) || self.undeclared.get().is_some()
    }

    fn kind_mut(&mut self, directory: Directory, kind: NameKind) -> Option<&mut KindSymbols> {
        let module = Arc::make_mut(&mut self.modules).get_mut(&directory);
        module.map(|it| &mut it.kinds[kind as usize])
    }

    /// The input that changes when a name of this partition gets its first declaration or loses its last.
    fn absent(&self, db: &dyn Db, part: usize) -> UndeclaredPartition {
        self.absent.get_or_init(|| {
            (0..UNDECLARED_PARTITIONS).map(|_| UndeclaredPartition::new(db, 0)).collect()
        })[part]
    }

    fn spare(&self) -> MutexGuard<'_, Vec<Symbol>> {
        self.spare.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Sets the declarations of a name. Returns true if the name got its first declaration or lost its last.
fn declare_name(db: &mut dyn Db, directory: Directory, name: &ItemName, keys: &[ItemKey]) -> bool {
    let Some(kind) = NameKind::of(name) else { return false };
    match db.symbols().get(directory, name) {
        Some(symbol) => {
            set_declarations(db, symbol, keys);
            if keys.is_empty() {
                // Set `first` even if it was `None` already: the change invalidates the readers of the symbol.
                symbol.set_first(db).to(None);
                let of_kind = db.symbols_mut().kind_mut(directory, kind);
                of_kind.into_iter().for_each(|it| it.remove(name));
                db.symbols().spare().push(symbol);
            }
            keys.is_empty()
        }
        None if keys.is_empty() => false,
        None => {
            let spare = db.symbols().spare().pop();
            let symbol = spare.unwrap_or_else(|| new_symbol(db, keys));
            // Set `first` even if it stays `None`. Readers switch from the `UndeclaredPartition` input that just
            // changed to this symbol, so the symbol must be at least as recent.
            symbol.set_first(db).to(None);
            set_declarations(db, symbol, keys);
            let of_kind = db.symbols_mut().kind_mut(directory, kind);
            of_kind.into_iter().for_each(|it| it.insert(name.clone(), symbol));
            true
        }
    }
}

/// Invalidates queries that iterated over the names of a kind.
fn names_changed(db: &mut dyn Db, directory: Directory, kind: NameKind) {
    let revision = db.symbols().of(db, directory, kind).revision;
    count_up(db, revision);
}

fn count_up(db: &mut dyn Db, revision: Revision) {
    let next = revision.number(db) + 1;
    revision.set_number(db).to(next);
}

impl ModuleSymbols {
    fn new(db: &dyn Db) -> ModuleSymbols {
        let kind = |_| KindSymbols {
            revision: Revision::new(db, 0),
            by_name: HashTable::new(),
            sorted: Sorted::List(Arc::default()),
            has_further: true,
        };
        ModuleSymbols { kinds: NameKind::ALL.map(kind), outline: None }
    }

    fn kind(&self, kind: NameKind) -> &KindSymbols {
        &self.kinds[kind as usize]
    }
}

impl KindSymbols {
    fn fill(&mut self, table: Table, lifetime: TableLifetime) {
        self.by_name = table.by_name;
        self.sorted = Sorted::List(Arc::new(table.sorted));
        self.has_further = table.has_further || lifetime == TableLifetime::UntilEdit;
    }

    fn get(&self, name: &ItemName) -> Option<Symbol> {
        let found = self.by_name.find(hash_of(name), |(it, _)| it == name);
        found.map(|(_, symbol)| *symbol)
    }

    fn insert(&mut self, name: ItemName, symbol: Symbol) {
        let hasher = |(name, _): &(ItemName, Symbol)| hash_of(name);
        self.by_name.insert_unique(hash_of(&name), (name.clone(), symbol), hasher);
        self.sorted.tree().insert(name, symbol);
        self.has_further = true;
    }

    fn remove(&mut self, name: &ItemName) {
        if let Ok(entry) = self.by_name.find_entry(hash_of(name), |(it, _)| it == name) {
            entry.remove();
        }
        self.sorted.tree().remove(name);
    }
}

/// The symbol of a declared name. `None` if the name has no table entry; a later declaration then invalidates the
/// calling query.
pub fn symbol(db: &dyn Db, directory: Directory, name: &ItemName) -> Option<Symbol> {
    found(db, directory, name).map(|(symbol, _)| symbol)
}

/// The effective declaration of a name if the declaration at `key` is a further one. `None` otherwise.
///
/// **Stability:** reads only the further declarations if `key` is not one of them. The name is declared as long as
/// the block of `key` declares it, and the caller has read that block.
pub(crate) fn declared_before(
    db: &dyn Db,
    directory: Directory,
    name: &ItemName,
    key: ItemKey,
) -> Option<ItemKey> {
    let kind = db.symbols().modules.get(&directory)?.kind(NameKind::of(name)?);
    if !kind.has_further {
        return None;
    }
    let symbol = kind.get(name)?;
    if symbol.later(db).contains(&key) { symbol.first(db) } else { None }
}

/// The effective declaration of a name. `None` if the name is undeclared.
pub(crate) fn first_declaration(
    db: &dyn Db,
    directory: Directory,
    name: &ItemName,
) -> Option<ItemKey> {
    found(db, directory, name)?.1
}

fn found(db: &dyn Db, directory: Directory, name: &ItemName) -> Option<(Symbol, Option<ItemKey>)> {
    let kind = NameKind::of(name)?;
    match db.symbols().get(directory, name) {
        // Removing the name changes this symbol, so the read is a sufficient dependency.
        Some(symbol) => Some((symbol, symbol.first(db))),
        None => {
            // Creates the entry for undeclared modules, so that a first declaration of the module knows of this
            // lookup.
            db.symbols().of(db, directory, kind);
            db.symbols().absent(db, partition_of(directory, name)).number(db);
            None
        }
    }
}

/// The declared names of one kind, sorted, each with its effective declaration.
pub fn names_of_kind(
    db: &dyn Db,
    directory: Directory,
    kind: NameKind,
) -> Vec<(ItemName, ItemKey)> {
    let kind = db.symbols().of(db, directory, kind);
    // The counter changes with every declaration that is added, removed or moved.
    kind.revision.number(db);
    let of = |(name, symbol): (&ItemName, Symbol)| Some((name.clone(), symbol.first(db)?));
    kind.sorted.iter().filter_map(of).collect()
}

/// The outline of a module. `None` unless it is final and the module has no override files.
pub(crate) fn module_outline(db: &dyn Db, directory: Directory) -> Option<&ModuleOutline> {
    db.symbols().modules.get(&directory)?.outline.as_deref()
}

/// All declarations of one kind, including duplicates.
pub fn all_of_kind(db: &dyn Db, directory: Directory, kind: NameKind) -> Vec<ItemKey> {
    let kind = db.symbols().of(db, directory, kind);
    kind.revision.number(db);
    kind.sorted.iter().flat_map(|(_, symbol)| symbol.declared(db)).collect()
}

/// Declares the names of a directory that was just read, in the order of its text.
pub fn declare(db: &mut dyn Db, directory: Directory) {
    let mut outline = BlockOutline::of_blocks(db, &blocks_to_declare(db, directory));
    match is_first(db, directory) {
        true => {
            let tables = outline.take(NameKind::ALL).tables(db, has_overrides(db, directory));
            declare_tables(db, directory, outline, vec![tables], TableLifetime::UntilEdit);
        }
        false => declare_again(db, directory, outline),
    }
}

/// Returns true if no query can have read the names of a directory yet.
pub fn is_first(db: &dyn Db, directory: Directory) -> bool {
    !db.symbols().may_be_known(directory)
}

/// The time for which the tables of a directory stay as they were declared. The driver knows it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TableLifetime {
    /// Until the next edit.
    UntilEdit,
    /// As long as the database, which is frozen.
    Final,
}

/// Declares the names of a directory from prepared tables of all kinds. Requires that [`is_first`] returns true.
pub fn declare_tables(
    db: &mut dyn Db,
    directory: Directory,
    outline: BlockOutline,
    tables: Vec<Tables>,
    lifetime: TableLifetime,
) {
    let mut module = ModuleSymbols::new(db);
    for (kind, table) in tables.into_iter().flat_map(|it| it.0) {
        module.kinds[kind as usize].fill(table, lifetime);
    }
    if lifetime == TableLifetime::Final && !has_overrides(db, directory) {
        module.outline = Some(outline.module.into());
    }
    Arc::make_mut(&mut db.symbols_mut().modules).insert(directory, module);
    finish_declaration(db, directory);
}

/// Declares the names of a directory whose names a query may have read. Invalidates these queries.
pub fn declare_again(db: &mut dyn Db, directory: Directory, mut outline: BlockOutline) {
    enter(db, directory);
    let mut of_names = Vec::new();
    let all = outline.take(NameKind::ALL);
    all.for_each_name(|name, keys| of_names.push((name.clone(), keys.to_vec())));
    let mut partitions = TreeSet::new();
    for (name, keys) in of_names {
        if declare_name(db, directory, &name, &keys) {
            partitions.insert(partition_of(directory, &name));
        }
    }
    invalidate_undeclared(db, &partitions);
    finish_declaration(db, directory);
}

fn finish_declaration(db: &mut dyn Db, directory: Directory) {
    override_all(db, directory);
    NameKind::ALL.into_iter().for_each(|kind| names_changed(db, directory, kind));
}

/// Sets which items the override files of a directory change. Does nothing without override files.
fn override_all(db: &mut dyn Db, directory: Directory) {
    if !has_overrides(db, directory) {
        return;
    }
    let mut overriding = Overriding::default();
    let declared =
        BlockOutline::of_blocks(db, &blocks_to_declare(db, directory)).take(NameKind::ALL);
    declared.for_each_name(|name, keys| overriding.add(db, name, keys, &[]));
    overriding.set(db);
}

/// Returns true if a directory has override files.
pub fn has_overrides(db: &dyn Db, directory: Directory) -> bool {
    directory.files(db).iter().any(|file| db::is_override(file.path(db)))
}

/// Adds an empty table for a module that has none. Invalidates queries that read the names of undeclared modules.
fn enter(db: &mut dyn Db, directory: Directory) {
    if db.symbols().modules.contains_key(&directory) {
        return;
    }
    let undeclared = db.symbols().undeclared.get().cloned();
    let revisions = undeclared.into_iter().flat_map(|it| it.kinds.map(|kind| kind.revision));
    revisions.for_each(|it| count_up(db, it));
    let module = ModuleSymbols::new(db);
    Arc::make_mut(&mut db.symbols_mut().modules).insert(directory, module);
}

/// Invalidates lookups without result in the given partitions. This includes partitions of removed names: a query
/// that found such a name reads the `UndeclaredPartition` input next, which must not be older than what the query
/// read before.
fn invalidate_undeclared(db: &mut dyn Db, partitions: &TreeSet<usize>) {
    for part in partitions {
        let absent = db.symbols().absent(db, *part);
        let next = absent.number(db) + 1;
        absent.set_number(db).to(next);
    }
}

/// The number of candidates for a suggestion: the nearest in sort order.
const MAX_CANDIDATES: usize = 4_000;

/// Visits, in sort order, the declared names that are candidates for a suggestion: names of the same kind near
/// `name`.
pub(crate) fn for_each_near(
    db: &dyn Db,
    directory: Directory,
    name: &ItemName,
    visit: impl FnMut(&ItemName),
) {
    let Some(kind) = NameKind::of(name) else { return };
    let kind = db.symbols().of(db, directory, kind);
    kind.revision.number(db);
    kind.sorted.for_each_near(name, MAX_CANDIDATES, visit);
}

/// The names that one block declared before and after a change, by index of the item. An added block has none
/// before; a removed block has none after.
pub struct RedeclaredBlock {
    /// The block.
    pub block: Block,
    /// The names before the change.
    pub before: Box<[ItemName]>,
    /// The names after the change.
    pub after: Box<[ItemName]>,
}

impl RedeclaredBlock {
    /// An entry without names, for the caller to complete.
    pub fn of(block: Block) -> RedeclaredBlock {
        RedeclaredBlock { block, before: Box::default(), after: Box::default() }
    }
}

/// Updates the table after changes of blocks. The directory's files and blocks must already be the new ones.
pub fn redeclare(db: &mut dyn Db, directory: Directory, changes: &[RedeclaredBlock]) {
    enter(db, directory);
    let mut changed: TreeMap<&ItemName, ChangedDeclarations> = TreeMap::new();
    for change in changes {
        let names = change.before.len().max(change.after.len());
        for index in 0..names {
            let (before, after) = (change.before.get(index), change.after.get(index));
            if before == after {
                continue;
            }
            let key = ItemKey { block: change.block, index: index as u32 };
            before.into_iter().for_each(|name| changed.entry(name).or_default().removed.push(key));
            after.into_iter().for_each(|name| changed.entry(name).or_default().added.push(key));
        }
    }
    let mut positions = Positions::default();
    let mut kinds = Vec::new();
    let mut partitions = TreeSet::new();
    let mut overriding = Overriding::default();
    for (name, changed) in changed {
        let Some(kind) = NameKind::of(name) else { continue };
        let known = db.symbols().get(directory, name);
        let mut keys = known.map(|it| it.declarations(db)).unwrap_or_default();
        keys.retain(|key| !changed.removed.contains(key));
        keys.extend(&changed.added);
        if keys.len() > 1 {
            keys.sort_by_cached_key(|key| (positions.of(db, directory, key.block), key.index));
        }
        overriding.add(db, name, &keys, &changed.removed);
        if declare_name(db, directory, name, &keys) {
            partitions.insert(partition_of(directory, name));
        }
        if !kinds.contains(&kind) {
            kinds.push(kind);
        }
    }
    if overriding.is_any {
        overriding.set(db);
    }
    invalidate_undeclared(db, &partitions);
    kinds.into_iter().for_each(|kind| names_changed(db, directory, kind));
}

/// The removed and the added declarations of one name.
#[derive(Default)]
struct ChangedDeclarations {
    removed: Vec<ItemKey>,
    added: Vec<ItemKey>,
}

/// The position of a file among the files of its directory.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct FilePosition {
    /// Comes first, because override files sort last.
    is_override: bool,
    index: Option<usize>,
}

/// The position of a block in its directory.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct BlockPosition {
    file: FilePosition,
    index: usize,
}

/// The positions of blocks in their directory. Computed only for files that contain one of several declarations of
/// a name: a table of all blocks would cost more than the edit.
#[derive(Default)]
struct Positions {
    files: FxHashMap<File, (FilePosition, FxHashMap<Block, usize>)>,
}

impl Positions {
    /// The position of the block's file and the block's index in that file. `None` if the file no longer has the
    /// block.
    fn of(&mut self, db: &dyn Db, directory: Directory, block: Block) -> Option<BlockPosition> {
        let file = block.file(db);
        let (position, blocks) = self.files.entry(file).or_insert_with(|| {
            let index = directory.files(db).iter().position(|it| *it == file);
            let position = FilePosition { is_override: is_overriding(db, block), index };
            let blocks = file.blocks(db).iter().copied().zip(0..).collect();
            (position, blocks)
        });
        Some(BlockPosition { file: *position, index: *blocks.get(&block)? })
    }
}

fn new_symbol(db: &dyn Db, keys: &[ItemKey]) -> Symbol {
    let (first, later) = leading(db, keys);
    Symbol::new(db, first, later.into())
}

/// Splits the sorted declarations of a name into the effective one and the others.
fn leading<'a>(db: &dyn Db, keys: &'a [ItemKey]) -> (Option<ItemKey>, &'a [ItemKey]) {
    match keys {
        [first, later @ ..] if declares(db, *first) => (Some(*first), later),
        _ => (None, keys),
    }
}

/// Returns true if a declaration can be the effective one. In an override file, only items that need no original
/// declaration can: the default provider configuration and `terraform` settings.
fn declares(db: &dyn Db, key: ItemKey) -> bool {
    if !is_overriding(db, key.block) {
        return true;
    }
    let name = block_names(db, key.block).get(key.index as usize);
    matches!(name, Some(ItemName::Provider(_, None) | ItemName::Terraform))
}

fn is_overriding(db: &dyn Db, block: Block) -> bool {
    db::is_override(block.file(db).path(db))
}

/// Collects the overrides to set: for each block, its overridden items and the declarations that override them.
#[derive(Default)]
struct Overriding {
    of_blocks: FxHashMap<Block, TreeMap<u32, Vec<ItemKey>>>,
    /// Set if one of the declarations is in an override file.
    is_any: bool,
}

impl Overriding {
    /// Adds the declarations of a name in their order, and its removed declarations.
    fn add(&mut self, db: &dyn Db, name: &ItemName, keys: &[ItemKey], removed: &[ItemKey]) {
        let others = keys.iter().filter(|key| is_overriding(db, key.block)).count();
        self.is_any |= others > 0 || removed.iter().any(|key| is_overriding(db, key.block));
        for key in removed {
            self.of_blocks.entry(key.block).or_default().entry(key.index).or_default();
        }
        // Settings are not merged block by block, so shared names have no overrides here.
        let (first, by) = match leading(db, keys) {
            (Some(first), later) if !name.is_shared() => {
                (Some(first), &later[later.len() - others.min(later.len())..])
            }
            _ => (None, &[][..]),
        };
        for key in keys {
            let by = if Some(*key) == first { by.to_vec() } else { Vec::new() };
            self.of_blocks.entry(key.block).or_default().insert(key.index, by);
        }
    }

    fn set(self, db: &mut dyn Db) {
        let of_blocks: Vec<_> = self.of_blocks.into_iter().collect();
        for (block, items) in of_blocks {
            let known = block.overrides(db).iter().filter(|it| !items.contains_key(&it.item));
            let new = items.iter().flat_map(|(&item, by)| {
                by.iter().map(move |key| Override { item, by: key.block, by_item: key.index })
            });
            let mut all: Vec<Override> = known.copied().chain(new).collect();
            // The sort is stable: overrides of one item keep their order.
            ::sorted::sort_by_key(&mut all, |it| it.item);
            if **block.overrides(db) != *all {
                block.set_overrides(db).to(all.into());
            }
        }
    }
}

fn set_declarations(db: &mut dyn Db, symbol: Symbol, keys: &[ItemKey]) {
    let (first, later) = leading(db, keys);
    if symbol.first(db) != first {
        symbol.set_first(db).to(first);
    }
    if **symbol.later(db) != *later {
        symbol.set_later(db).to(later.into());
    }
}
