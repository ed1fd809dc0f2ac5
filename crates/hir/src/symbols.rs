//! The symbol table: which names the modules declare, and where.
//!
//! ```text
//! text(block) ─► block_names ─► driver compares with before ─► Symbol (input) ─► whoever looked the name up
//! ```
//!
//! A map of all names of a module would be a query that reads every block: with a hundred thousand resources, a name that
//! is being typed would cost a tenth of a second each time. So what a block declares is handed back to the database as
//! input, name by name, by the one who changed its text ([`redeclare`]): an edit costs as much as the names that it
//! touched, and re-runs only who looked one of them up, declared or not.
//!
//! **Invariant:** at the end of each change, the table holds what [`block_names`] gives for every block of every directory.
//! The functions that change it, [`declare`], [`declare_tables`], [`declare_again`] and [`redeclare`], are called by `project`
//! only.
//! **Invariant:** the table holds declared names only, and those change only while the database has no other handle,
//! together with an input that every walk over a map has read.
//!
//! A name that nobody declares has no entry, whoever looks for it: who types a name leaves dozens of them behind. That it was
//! looked for in vain is a read of one of a fixed number of inputs, which all such names share by their hash; a name that
//! gets or loses its entry changes the one of its hash. What a name leaves when its last declaration goes is used for another.

mod first;

use std::{
    collections::{BTreeMap, BTreeSet},
    hash::{Hash as _, Hasher as _},
    sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError},
};

use db::{Block, Directory, File, Override};
use hashbrown::HashTable;
use rustc_hash::{FxHashMap, FxHasher};
use salsa::Setter as _;

pub(crate) use self::first::Gathered;
pub use self::first::{Declared, Said, Tables, blocks_to_declare};
use self::first::{Table, hash_of};

use crate::{
    Db,
    names::{ItemKey, ItemName, block_names},
};

/// A declared name of a module.
#[salsa::input]
pub struct Symbol {
    /// The declaration that counts: the first in the order of the text that is in no override file.
    #[returns(copy)]
    pub first: Option<ItemKey>,
    /// Further declarations of the name, in the order of the text: first those that should not be there, then those of
    /// override files, which change what the name is. If these are all, nothing is declared.
    #[returns(ref)]
    pub later: Box<[ItemKey]>,
}

impl Symbol {
    /// Every declaration, in the order of the text.
    pub fn declarations(self, db: &dyn Db) -> Vec<ItemKey> {
        self.declared(db).collect()
    }

    fn declared(self, db: &dyn Db) -> impl Iterator<Item = ItemKey> {
        self.first(db).into_iter().chain(self.later(db).iter().copied())
    }
}

/// That the declared names of one kind changed: read by whoever walks over all of them.
#[salsa::input]
struct Revision {
    #[returns(copy)]
    number: u64,
}

/// That a name got its first declaration or lost its last, among the names with one hash.
#[salsa::input]
struct Absent {
    #[returns(copy)]
    number: u64,
}

/// Into how many parts names without a declaration are divided.
const ABSENT: usize = 1024;

/// The part of a name.
fn part_of(directory: Directory, name: &ItemName) -> usize {
    let mut hasher = FxHasher::default();
    (directory, name).hash(&mut hasher);
    hasher.finish() as usize % ABSENT
}

/// What a name is the name of; each kind is listed by itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum NameKind {
    /// `var.x`
    Variable,
    /// `local.x`
    Local,
    /// An output
    Output,
    /// A resource of any mode
    Resource,
    /// `module.x`
    Module,
    /// A provider configuration
    Provider,
    /// A check
    Check,
    /// `terraform {}`; one name for all of them.
    Terraform,
    /// `moved {}`, the same.
    Moved,
    /// `removed {}`, the same.
    Removed,
    /// `import {}`, the same.
    Import,
}

impl NameKind {
    /// Every kind, in the order of [`ItemName`].
    pub const ALL: [NameKind; 11] = [
        NameKind::Variable,
        NameKind::Local,
        NameKind::Output,
        NameKind::Resource,
        NameKind::Module,
        NameKind::Provider,
        NameKind::Check,
        NameKind::Terraform,
        NameKind::Moved,
        NameKind::Removed,
        NameKind::Import,
    ];

    /// The kind of a name; none of what has no name.
    pub fn of(name: &ItemName) -> Option<NameKind> {
        Some(match name {
            ItemName::Variable(_) => NameKind::Variable,
            ItemName::Local(_) => NameKind::Local,
            ItemName::Output(_) => NameKind::Output,
            ItemName::Resource(_) => NameKind::Resource,
            ItemName::Module(_) => NameKind::Module,
            ItemName::Provider(..) => NameKind::Provider,
            ItemName::Check(_) => NameKind::Check,
            ItemName::Terraform => NameKind::Terraform,
            ItemName::Moved => NameKind::Moved,
            ItemName::Removed => NameKind::Removed,
            ItemName::Import => NameKind::Import,
            ItemName::Other => return None,
        })
    }
}

/// The names of all modules. Cheap to clone; the handles of one database share it.
///
/// No lock: it changes only while the database has no other handle. If there were one, it would keep what it had.
#[derive(Clone, Default)]
pub struct Symbols {
    modules: Arc<FxHashMap<Directory, ModuleSymbols>>,
    /// Stands for the modules that nobody has declared, for who looks there nevertheless.
    undeclared: Arc<OnceLock<ModuleSymbols>>,
    absent: Arc<OnceLock<Box<[Absent]>>>,
    /// Those of names that have no declaration any more. Whoever read one has to look again, since it changed; so it can
    /// stand for another name.
    spare: Arc<Mutex<Vec<Symbol>>>,
}

/// The names of one module by kind.
#[derive(Clone)]
struct ModuleSymbols {
    kinds: [KindSymbols; NameKind::ALL.len()],
    /// Where no text changes.
    gathered: Option<Arc<Gathered>>,
}

/// The names of one kind: one table for who looks a name up, one for who walks over them in their order.
#[derive(Clone)]
struct KindSymbols {
    revision: Revision,
    by_name: HashTable<(ItemName, Symbol)>,
    sorted: Sorted,
    /// Whether a name may be declared more than once.
    has_further: bool,
}

impl Symbols {
    /// The names of one kind.
    fn of(&self, db: &dyn Db, directory: Directory, kind: NameKind) -> &KindSymbols {
        let known = self.modules.get(&directory);
        known.unwrap_or_else(|| self.undeclared.get_or_init(|| ModuleSymbols::new(db))).kind(kind)
    }

    /// The symbol of a name that has a table entry.
    fn get(&self, directory: Directory, name: &ItemName) -> Option<Symbol> {
        let kind = NameKind::of(name)?;
        self.modules.get(&directory)?.kind(kind).get(name)
    }

    /// Whether somebody may have looked at the names of a module.
    fn may_be_known(&self, directory: Directory) -> bool {
        self.modules.contains_key(&directory) || self.undeclared.get().is_some()
    }

    fn kind_mut(&mut self, directory: Directory, kind: NameKind) -> Option<&mut KindSymbols> {
        let module = Arc::make_mut(&mut self.modules).get_mut(&directory);
        module.map(|it| &mut it.kinds[kind as usize])
    }

    /// What changes when a name of this part gets its first declaration or loses its last.
    fn absent(&self, db: &dyn Db, part: usize) -> Absent {
        self.absent.get_or_init(|| (0..ABSENT).map(|_| Absent::new(db, 0)).collect())[part]
    }

    fn spare(&self) -> MutexGuard<'_, Vec<Symbol>> {
        self.spare.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Sets where a name is declared. Gives whether it was not declared before, or is not any more.
fn declare_name(db: &mut dyn Db, directory: Directory, name: &ItemName, keys: &[ItemKey]) -> bool {
    let Some(kind) = NameKind::of(name) else { return false };
    match db.symbols().get(directory, name) {
        Some(symbol) => {
            set_declarations(db, symbol, keys);
            if keys.is_empty() {
                // It changes, even where override files alone had the name: whoever read it has to look again.
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
            // It is read instead of what just changed, so it has to be as new, even where nothing is declared still.
            symbol.set_first(db).to(None);
            set_declarations(db, symbol, keys);
            let of_kind = db.symbols_mut().kind_mut(directory, kind);
            of_kind.into_iter().for_each(|it| it.insert(name.clone(), symbol));
            true
        }
    }
}

/// Whoever has walked over the names of a kind has to look again.
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
        ModuleSymbols { kinds: NameKind::ALL.map(kind), gathered: None }
    }

    fn kind(&self, kind: NameKind) -> &KindSymbols {
        &self.kinds[kind as usize]
    }
}

impl KindSymbols {
    fn fill(&mut self, table: Table) {
        self.by_name = table.by_name;
        self.sorted = Sorted::List(Arc::new(table.sorted));
        self.has_further = table.has_further;
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

/// Names in their order with what stands for them.
#[derive(Clone)]
enum Sorted {
    /// As they were read.
    List(Arc<Vec<(ItemName, Symbol)>>),
    /// From the first name on that comes or goes.
    Tree(BTreeMap<ItemName, Symbol>),
}

impl Sorted {
    fn tree(&mut self) -> &mut BTreeMap<ItemName, Symbol> {
        if let Sorted::List(list) = self {
            *self = Sorted::Tree(list.iter().cloned().collect());
        }
        match self {
            Sorted::Tree(tree) => tree,
            Sorted::List(_) => unreachable!("it is a tree now"),
        }
    }

    fn iter(&self) -> impl Iterator<Item = (&ItemName, Symbol)> {
        let (list, tree) = match self {
            Sorted::List(list) => (Some(list), None),
            Sorted::Tree(tree) => (None, Some(tree)),
        };
        let listed = list.into_iter().flat_map(|it| it.iter().map(|(name, it)| (name, *it)));
        listed.chain(tree.into_iter().flat_map(|it| it.iter().map(|(name, it)| (name, *it))))
    }

    /// Visits the names that are next to one: half of them before it.
    fn for_each_near(&self, name: &ItemName, most: usize, mut visit: impl FnMut(&ItemName)) {
        match self {
            Sorted::List(list) => {
                let at = list.partition_point(|(it, _)| it < name);
                let near = &list[at.saturating_sub(most / 2)..];
                near.iter().take(most).for_each(|(name, _)| visit(name));
            }
            Sorted::Tree(tree) => {
                let before = tree.range(..name).rev().take(most / 2).last();
                let from = before.map_or(name, |(first, _)| first);
                tree.range(from..).take(most).for_each(|(name, _)| visit(name));
            }
        }
    }
}

/// The symbol of a name that is declared. Who asks in vain is asked again when it is.
pub fn symbol(db: &dyn Db, directory: Directory, name: &ItemName) -> Option<Symbol> {
    found(db, directory, name).map(|(symbol, _)| symbol)
}

/// The declaration of a name that counts, where that at `key` is a further one.
///
/// **Stability:** reads the further ones alone, where `key` is none of them. The name is declared as long as `key` says so,
/// and who asks has read that.
pub(crate) fn declared_before(
    db: &dyn Db,
    directory: Directory,
    name: &ItemName,
    key: ItemKey,
) -> Option<ItemKey> {
    let kind = db.symbols().modules.get(&directory)?.kind(NameKind::of(name)?);
    if db.one_shot().is_some() && !kind.has_further {
        return None;
    }
    let symbol = kind.get(name)?;
    if symbol.later(db).contains(&key) { symbol.first(db) } else { None }
}

/// The declaration of a name that counts.
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
        // Its going is a change of it.
        Some(symbol) => Some((symbol, symbol.first(db))),
        None => {
            // Who looks in vain is known to have looked, even where nobody has declared anything yet.
            db.symbols().of(db, directory, kind);
            db.symbols().absent(db, part_of(directory, name)).number(db);
            None
        }
    }
}

/// The declared names of one kind, sorted, each with the declaration that counts.
pub fn names_of_kind(
    db: &dyn Db,
    directory: Directory,
    kind: NameKind,
) -> Vec<(ItemName, ItemKey)> {
    let kind = db.symbols().of(db, directory, kind);
    // Every declaration that comes, goes or moves is a new number.
    kind.revision.number(db);
    let of = |(name, symbol): (&ItemName, Symbol)| Some((name.clone(), symbol.first(db)?));
    kind.sorted.iter().filter_map(of).collect()
}

/// What the blocks of a module say, where no text changes and no file overrides another.
pub(crate) fn gathered(db: &dyn Db, directory: Directory) -> Option<&Gathered> {
    db.symbols().modules.get(&directory)?.gathered.as_deref()
}

/// Every declaration of one kind, those of a name that is declared twice included.
pub fn all_of_kind(db: &dyn Db, directory: Directory, kind: NameKind) -> Vec<ItemKey> {
    let kind = db.symbols().of(db, directory, kind);
    kind.revision.number(db);
    kind.sorted.iter().flat_map(|(_, symbol)| symbol.declared(db)).collect()
}

/// Declares what the blocks of a directory say, in the order of its text. For a directory that was just read.
pub fn declare(db: &mut dyn Db, directory: Directory) {
    let mut said = Said::by(db, &blocks_to_declare(db, directory));
    match is_first(db, directory) {
        true => {
            let tables = said.take(NameKind::ALL).tables(db, has_overrides(db, directory));
            declare_tables(db, directory, said, vec![tables]);
        }
        false => declare_again(db, directory, said),
    }
}

/// Whether nobody can have looked for the names of a directory yet.
pub fn is_first(db: &dyn Db, directory: Directory) -> bool {
    !db.symbols().may_be_known(directory)
}

/// Declares what the blocks of a directory say with the tables of all kinds of names, where [`is_first`].
pub fn declare_tables(db: &mut dyn Db, directory: Directory, said: Said, tables: Vec<Tables>) {
    let mut module = ModuleSymbols::new(db);
    for (kind, table) in tables.into_iter().flat_map(|it| it.0) {
        module.kinds[kind as usize].fill(table);
    }
    if db.one_shot().is_some() && !has_overrides(db, directory) {
        module.gathered = Some(said.gathered.into());
    }
    Arc::make_mut(&mut db.symbols_mut().modules).insert(directory, module);
    declared(db, directory);
}

/// The same where somebody may have looked, and has to look again.
pub fn declare_again(db: &mut dyn Db, directory: Directory, mut said: Said) {
    enter(db, directory);
    let mut of_names = Vec::new();
    let all = said.take(NameKind::ALL);
    all.for_each_name(|name, keys| of_names.push((name.clone(), keys.to_vec())));
    let mut others = BTreeSet::new();
    for (name, keys) in of_names {
        if declare_name(db, directory, &name, &keys) {
            others.insert(part_of(directory, &name));
        }
    }
    tell(db, &others);
    declared(db, directory);
}

fn declared(db: &mut dyn Db, directory: Directory) {
    override_all(db, directory);
    NameKind::ALL.into_iter().for_each(|kind| names_changed(db, directory, kind));
}

/// Sets what the override files of a directory change, where there are any.
fn override_all(db: &mut dyn Db, directory: Directory) {
    if !has_overrides(db, directory) {
        return;
    }
    let mut overriding = Overriding::default();
    let declared = Said::by(db, &blocks_to_declare(db, directory)).take(NameKind::ALL);
    declared.for_each_name(|name, keys| overriding.add(db, name, keys, &[]));
    overriding.set(db);
}

/// Whether a directory has override files.
pub fn has_overrides(db: &dyn Db, directory: Directory) -> bool {
    directory.files(db).iter().any(|file| db::is_override(file.path(db)))
}

/// Makes an empty table for a module that has none. Whoever looked at its names before looks again.
fn enter(db: &mut dyn Db, directory: Directory) {
    if db.symbols().modules.contains_key(&directory) {
        return;
    }
    let looked_at = db.symbols().undeclared.get().cloned();
    let revisions = looked_at.into_iter().flat_map(|it| it.kinds.map(|kind| kind.revision));
    revisions.for_each(|it| count_up(db, it));
    let module = ModuleSymbols::new(db);
    Arc::make_mut(&mut db.symbols_mut().modules).insert(directory, module);
}

/// Whoever looked for names in vain looks again. That a name went is told here too: who found it looks in vain then, and a
/// query may not read what is older than what it read before.
fn tell(db: &mut dyn Db, others: &BTreeSet<usize>) {
    for part in others {
        let absent = db.symbols().absent(db, *part);
        let next = absent.number(db) + 1;
        absent.set_number(db).to(next);
    }
}

/// How many names are tried for a suggestion: those that are nearest in the order of the alphabet.
const MOST_TRIED: usize = 4_000;

/// Visits declared names that one that is not declared may have been meant for, in their order: those of its kind.
pub(crate) fn for_each_near(
    db: &dyn Db,
    directory: Directory,
    name: &ItemName,
    visit: impl FnMut(&ItemName),
) {
    let Some(kind) = NameKind::of(name) else { return };
    let kind = db.symbols().of(db, directory, kind);
    kind.revision.number(db);
    kind.sorted.for_each_near(name, MOST_TRIED, visit);
}

/// What one block declared before and after a change, by the index of its items. A block that came has nothing before,
/// one that went has nothing after.
pub struct Redeclared {
    /// The block.
    pub block: Block,
    /// Its names before.
    pub before: Box<[ItemName]>,
    /// Its names now.
    pub after: Box<[ItemName]>,
}

impl Redeclared {
    /// A block that declared nothing and declares nothing, to be filled in.
    pub fn of(block: Block) -> Redeclared {
        Redeclared { block, before: Box::default(), after: Box::default() }
    }
}

/// Takes over what blocks of a directory declare now. The directory's files and their blocks are the new ones already.
pub fn redeclare(db: &mut dyn Db, directory: Directory, changes: &[Redeclared]) {
    enter(db, directory);
    let mut touched: BTreeMap<&ItemName, Touched> = BTreeMap::new();
    for change in changes {
        let names = change.before.len().max(change.after.len());
        for index in 0..names {
            let (before, after) = (change.before.get(index), change.after.get(index));
            if before == after {
                continue;
            }
            let key = ItemKey { block: change.block, index: index as u32 };
            before.into_iter().for_each(|name| touched.entry(name).or_default().gone.push(key));
            after.into_iter().for_each(|name| touched.entry(name).or_default().come.push(key));
        }
    }
    let mut positions = Positions::default();
    let mut kinds = Vec::new();
    let mut others = BTreeSet::new();
    let mut overriding = Overriding::default();
    for (name, touched) in touched {
        let Some(kind) = NameKind::of(name) else { continue };
        let known = db.symbols().get(directory, name);
        let mut keys = known.map(|it| it.declarations(db)).unwrap_or_default();
        keys.retain(|key| !touched.gone.contains(key));
        keys.extend(&touched.come);
        if keys.len() > 1 {
            keys.sort_by_cached_key(|key| (positions.of(db, directory, key.block), key.index));
        }
        overriding.add(db, name, &keys, &touched.gone);
        if declare_name(db, directory, name, &keys) {
            others.insert(part_of(directory, name));
        }
        if !kinds.contains(&kind) {
            kinds.push(kind);
        }
    }
    if overriding.is_any {
        overriding.set(db);
    }
    tell(db, &others);
    kinds.into_iter().for_each(|kind| names_changed(db, directory, kind));
}

/// The declarations of one name that went and came.
#[derive(Default)]
struct Touched {
    gone: Vec<ItemKey>,
    come: Vec<ItemKey>,
}

/// Override files come last.
type FilePosition = (bool, Option<usize>);

/// The places of blocks among the blocks of a directory, found out for the files that hold one of several declarations: a
/// table of all blocks would cost more than the edit.
#[derive(Default)]
struct Positions {
    files: FxHashMap<File, (FilePosition, FxHashMap<Block, usize>)>,
}

impl Positions {
    /// The place of the file, and the place in the file.
    fn of(
        &mut self,
        db: &dyn Db,
        directory: Directory,
        block: Block,
    ) -> Option<(FilePosition, usize)> {
        let file = block.file(db);
        let (position, blocks) = self.files.entry(file).or_insert_with(|| {
            let position = directory.files(db).iter().position(|it| *it == file);
            let position = (is_overriding(db, block), position);
            let blocks = file.blocks(db).iter().copied().zip(0..).collect();
            (position, blocks)
        });
        Some((*position, *blocks.get(&block)?))
    }
}

fn new_symbol(db: &dyn Db, keys: &[ItemKey]) -> Symbol {
    let (first, later) = leading(db, keys);
    Symbol::new(db, first, later.into())
}

/// The declaration that counts and the others, of those of a name in their order.
fn leading<'a>(db: &dyn Db, keys: &'a [ItemKey]) -> (Option<ItemKey>, &'a [ItemKey]) {
    match keys {
        [first, later @ ..] if declares(db, *first) => (Some(*first), later),
        _ => (None, keys),
    }
}

/// Whether a declaration can be the one that counts. In an override file that is the case of what needs no declaration: the
/// default configuration of a provider, and settings.
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

/// What is to be set of the blocks of some names: which items of each are overridden, and by what.
#[derive(Default)]
struct Overriding {
    of_blocks: FxHashMap<Block, BTreeMap<u32, Vec<ItemKey>>>,
    /// Whether one of the declarations is of an override file.
    is_any: bool,
}

impl Overriding {
    /// Takes the declarations of a name in their order, and those that are gone.
    fn add(&mut self, db: &dyn Db, name: &ItemName, keys: &[ItemKey], gone: &[ItemKey]) {
        let others = keys.iter().filter(|key| is_overriding(db, key.block)).count();
        self.is_any |= others > 0 || gone.iter().any(|key| is_overriding(db, key.block));
        for key in gone {
            self.of_blocks.entry(key.block).or_default().entry(key.index).or_default();
        }
        // Settings are not merged block by block.
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
            // Those of one item stay in their order.
            all.sort_by_key(|it| it.item);
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
