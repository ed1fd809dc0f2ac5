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
//! The functions that change it, [`declare`], [`declare_tables`] and [`redeclare`], are called by `project` only.
//! **Invariant:** the table holds declared names only, and those change only while the database has no other handle,
//! together with an input that every walk over a map has read.
//!
//! A name that nobody declares has no entry, whoever looks for it: who types a name leaves dozens of them behind. That it was
//! looked for in vain is a read of one of a fixed number of inputs, which all such names share by their hash; a name that
//! gets or loses its entry changes the one of its hash. What a name leaves when its last declaration goes is used for another.

use std::{
    collections::{BTreeMap, BTreeSet},
    hash::{Hash as _, Hasher as _},
    sync::{
        Arc, Mutex, MutexGuard, OnceLock, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard,
    },
};

use db::{Block, Directory, File, Override};
use rustc_hash::{FxHashMap, FxHasher};
use salsa::Setter as _;

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
#[derive(Clone, Default)]
pub struct Symbols {
    modules: Arc<RwLock<FxHashMap<Directory, ModuleSymbols>>>,
    absent: Arc<OnceLock<Box<[Absent]>>>,
    /// Those of names that have no declaration any more. Whoever read one has to look again, since it changed; so it can
    /// stand for another name.
    spare: Arc<Mutex<Vec<Symbol>>>,
}

/// The names of one module by kind.
struct ModuleSymbols {
    kinds: [KindSymbols; NameKind::ALL.len()],
}

/// The names of one kind: one table for who looks a name up, one for who walks over them in their order.
struct KindSymbols {
    revision: Revision,
    by_name: FxHashMap<ItemName, Symbol>,
    sorted: BTreeMap<ItemName, Symbol>,
}

impl Symbols {
    /// Looks at the names of one kind. `look` asks for inputs only: nobody may wait for another query in there.
    fn look<T>(
        &self,
        db: &dyn Db,
        directory: Directory,
        kind: NameKind,
        look: impl FnOnce(&KindSymbols) -> T,
    ) -> T {
        if let Some(module) = self.lock_to_read().get(&directory) {
            return look(module.kind(kind));
        }
        self.lock_to_write().entry(directory).or_insert_with(|| ModuleSymbols::new(db));
        look(self.lock_to_read()[&directory].kind(kind))
    }

    fn change<T>(
        &self,
        directory: Directory,
        kind: NameKind,
        change: impl FnOnce(&mut KindSymbols) -> T,
    ) -> Option<T> {
        let mut modules = self.lock_to_write();
        modules.get_mut(&directory).map(|it| change(&mut it.kinds[kind as usize]))
    }

    fn lock_to_write(&self) -> RwLockWriteGuard<'_, FxHashMap<Directory, ModuleSymbols>> {
        self.modules.write().unwrap_or_else(PoisonError::into_inner)
    }

    fn lock_to_read(&self) -> RwLockReadGuard<'_, FxHashMap<Directory, ModuleSymbols>> {
        self.modules.read().unwrap_or_else(PoisonError::into_inner)
    }

    /// What changes when a name of this part gets its first declaration or loses its last.
    fn absent(&self, db: &dyn Db, part: usize) -> Absent {
        self.absent.get_or_init(|| (0..ABSENT).map(|_| Absent::new(db, 0)).collect())[part]
    }

    fn spare(&self) -> MutexGuard<'_, Vec<Symbol>> {
        self.spare.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Sets where a name is declared. Gives whether it was not declared before, or is not any more.
    fn declare(
        &self,
        db: &mut dyn Db,
        directory: Directory,
        name: &ItemName,
        keys: &[ItemKey],
    ) -> bool {
        let Some(kind) = NameKind::of(name) else { return false };
        let known = self.look(db, directory, kind, |it| it.by_name.get(name).copied());
        match known {
            Some(symbol) => {
                set_declarations(db, symbol, keys);
                if keys.is_empty() {
                    // It changes, even where override files alone had the name: whoever read it has to look again.
                    symbol.set_first(db).to(None);
                    self.change(directory, kind, |it| it.remove(name));
                    self.spare().push(symbol);
                }
                keys.is_empty()
            }
            None if keys.is_empty() => false,
            None => {
                let spare = self.spare().pop();
                let symbol = spare.unwrap_or_else(|| new_symbol(db, keys));
                // It is read instead of what just changed, so it has to be as new, even where nothing is declared still.
                symbol.set_first(db).to(None);
                set_declarations(db, symbol, keys);
                self.change(directory, kind, |it| it.insert(name.clone(), symbol));
                true
            }
        }
    }

    fn changed(&self, db: &mut dyn Db, directory: Directory, kind: NameKind) {
        let revision = self.look(db, directory, kind, |it| it.revision);
        let next = revision.number(db) + 1;
        revision.set_number(db).to(next);
    }
}

impl ModuleSymbols {
    fn new(db: &dyn Db) -> ModuleSymbols {
        let kind = |_| KindSymbols {
            revision: Revision::new(db, 0),
            by_name: FxHashMap::default(),
            sorted: BTreeMap::new(),
        };
        ModuleSymbols { kinds: NameKind::ALL.map(kind) }
    }

    fn kind(&self, kind: NameKind) -> &KindSymbols {
        &self.kinds[kind as usize]
    }
}

impl KindSymbols {
    fn insert(&mut self, name: ItemName, symbol: Symbol) {
        self.by_name.insert(name.clone(), symbol);
        self.sorted.insert(name, symbol);
    }

    fn remove(&mut self, name: &ItemName) {
        self.by_name.remove(name);
        self.sorted.remove(name);
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
    let kind = NameKind::of(name)?;
    let symbol = db.symbols().look(db, directory, kind, |it| it.by_name.get(name).copied())?;
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
    let symbol = db.symbols().look(db, directory, kind, |it| it.by_name.get(name).copied());
    match symbol {
        // Its going is a change of it.
        Some(symbol) => Some((symbol, symbol.first(db))),
        None => {
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
    db.symbols().look(db, directory, kind, |kind| {
        // Every declaration that comes, goes or moves is a new number.
        kind.revision.number(db);
        let of = |(name, symbol): (&ItemName, &Symbol)| Some((name.clone(), symbol.first(db)?));
        kind.sorted.iter().filter_map(of).collect()
    })
}

/// Every declaration of one kind, those of a name that is declared twice included.
pub fn all_of_kind(db: &dyn Db, directory: Directory, kind: NameKind) -> Vec<ItemKey> {
    db.symbols().look(db, directory, kind, |kind| {
        kind.revision.number(db);
        kind.sorted.values().flat_map(|symbol| symbol.declared(db)).collect()
    })
}

/// Declares what the blocks of a directory say, in the order of its text. For a directory that was just read.
pub fn declare(db: &mut dyn Db, directory: Directory) {
    let all = Declared::first_of(db, directory).map(|it| it.tables(db, &NameKind::ALL));
    match all {
        Some(tables) => declare_tables(db, directory, vec![tables]),
        None => {
            let symbols = db.symbols().clone();
            declare_again(db, &symbols, directory);
            declared(db, &symbols, directory);
        }
    }
}

/// Declares what the blocks of a directory say with the tables of all kinds of names, which were made of
/// [`Declared::first_of`] it.
pub fn declare_tables(db: &mut dyn Db, directory: Directory, tables: Vec<Tables>) {
    let symbols = db.symbols().clone();
    let mut module = ModuleSymbols::new(db);
    for (kind, (by_name, sorted)) in tables.into_iter().flat_map(|it| it.0) {
        let of_kind = &mut module.kinds[kind as usize];
        (of_kind.by_name, of_kind.sorted) = (by_name, sorted);
    }
    symbols.lock_to_write().insert(directory, module);
    declared(db, &symbols, directory);
}

fn declared(db: &mut dyn Db, symbols: &Symbols, directory: Directory) {
    override_all(db, directory);
    NameKind::ALL.into_iter().for_each(|kind| symbols.changed(db, directory, kind));
}

/// What the blocks of a directory declare, where nothing was declared before: to be made into tables, kind by kind.
pub struct Declared<'db> {
    kinds: [Vec<(&'db ItemName, ItemKey)>; NameKind::ALL.len()],
    has_overrides: bool,
}

impl<'db> Declared<'db> {
    /// `None` of a directory that has a table: somebody may have looked for its names, and has to be told.
    pub fn first_of(db: &'db dyn Db, directory: Directory) -> Option<Declared<'db>> {
        let is_known = db.symbols().lock_to_read().contains_key(&directory);
        (!is_known).then(|| Declared {
            kinds: declared_names(db, directory),
            has_overrides: has_overrides(db, directory),
        })
    }

    /// How many declarations there are.
    pub fn count(&self) -> usize {
        self.kinds.iter().map(Vec::len).sum()
    }

    /// The tables of some kinds of names. Another handle of the database may make those of others at the same time.
    pub fn tables(&self, db: &dyn Db, kinds: &[NameKind]) -> Tables {
        Tables(kinds.iter().map(|&kind| (kind, self.table(db, kind))).collect())
    }

    fn table(&self, db: &dyn Db, kind: NameKind) -> Table {
        let mut declared = self.kinds[kind as usize].clone();
        let new_symbol = |keys: &[ItemKey]| match keys {
            // What is in no override file need not be asked whether it is.
            [only] if !self.has_overrides => Symbol::new(db, Some(*only), Box::default()),
            _ => new_symbol(db, keys),
        };
        let mut symbols = Vec::with_capacity(declared.len());
        for_each_name(&mut declared, |name, keys| symbols.push((name.clone(), new_symbol(keys))));
        (symbols.iter().cloned().collect(), symbols.into_iter().collect())
    }
}

/// The names of one kind with what stands for them, found by hash and in their order.
type Table = (FxHashMap<ItemName, Symbol>, BTreeMap<ItemName, Symbol>);

/// The tables of some kinds of names of one directory.
pub struct Tables(Vec<(NameKind, Table)>);

/// Sets what the override files of a directory change, where there are any.
fn override_all(db: &mut dyn Db, directory: Directory) {
    if !has_overrides(db, directory) {
        return;
    }
    let mut overriding = Overriding::default();
    let mut declared = declared_names(db, directory);
    for of_kind in &mut declared {
        for_each_name(of_kind, |name, keys| overriding.add(db, name, keys, &[]));
    }
    overriding.set(db);
}

fn has_overrides(db: &dyn Db, directory: Directory) -> bool {
    directory.files(db).iter().any(|file| db::is_override(file.path(db)))
}

fn declare_again(db: &mut dyn Db, symbols: &Symbols, directory: Directory) {
    let mut declared = declared_names(db, directory);
    let mut of_names = Vec::new();
    for of_kind in &mut declared {
        for_each_name(of_kind, |name, keys| of_names.push((name.clone(), keys.to_vec())));
    }
    let mut others = BTreeSet::new();
    for (name, keys) in of_names {
        if symbols.declare(db, directory, &name, &keys) {
            others.insert(part_of(directory, &name));
        }
    }
    tell(db, &others);
}

/// Visits the names of one kind in their order, each with its declarations in the order of the text.
fn for_each_name<'db>(
    declared: &mut [(&'db ItemName, ItemKey)],
    mut visit: impl FnMut(&'db ItemName, &[ItemKey]),
) {
    sort(declared);
    let mut keys = Vec::new();
    for of_name in declared.chunk_by(|a, b| a.0 == b.0) {
        keys.clear();
        keys.extend(of_name.iter().map(|(_, key)| *key));
        visit(of_name[0].0, &keys);
    }
}

/// Sorts by name; those of one name stay in the order of the text. Texts lie all over the memory, and most comparisons of a
/// sort are decided by how they begin: so that is put beside each other first.
fn sort(declared: &mut [(&ItemName, ItemKey)]) {
    let types: BTreeSet<_> = declared.iter().filter_map(|(name, _)| begin(name).0).collect();
    let types: Vec<_> = types.into_iter().collect();
    let key = |&(name, key): &(_, _)| {
        let (ty, text) = begin(name);
        let ty = ty.map_or(0, |ty| types.partition_point(|it| *it < ty));
        (ty, leading_bytes(text), (name, key))
    };
    let mut keyed: Vec<_> = declared.iter().map(key).collect();
    keyed.sort_by(|a, b| (a.0, a.1).cmp(&(b.0, b.1)).then_with(|| a.2.0.cmp(b.2.0)));
    let sorted = keyed.into_iter().map(|(_, _, it)| it);
    declared.iter_mut().zip(sorted).for_each(|(place, it)| *place = it);
}

/// What counts first in the order of the names of one kind: the type, where there is one, and a text.
fn begin(name: &ItemName) -> (Option<(addr::ResourceMode, &str)>, &str) {
    match name {
        ItemName::Resource(it) => (Some((it.mode, &it.type_name)), &it.name),
        ItemName::Variable(text)
        | ItemName::Local(text)
        | ItemName::Output(text)
        | ItemName::Module(text)
        | ItemName::Provider(text, _)
        | ItemName::Check(text) => (None, text),
        ItemName::Terraform
        | ItemName::Moved
        | ItemName::Removed
        | ItemName::Import
        | ItemName::Other => (None, ""),
    }
}

/// How a text begins, as a number: the numbers of two texts are in their order, or equal.
fn leading_bytes(text: &str) -> u128 {
    let mut bytes = [0; 16];
    let length = text.len().min(bytes.len());
    bytes[..length].copy_from_slice(&text.as_bytes()[..length]);
    u128::from_be_bytes(bytes)
}

/// What the blocks of a directory declare, by kind, in the order of the text; that of override files comes last.
fn declared_names(
    db: &dyn Db,
    directory: Directory,
) -> [Vec<(&ItemName, ItemKey)>; NameKind::ALL.len()] {
    let mut declared = [const { Vec::new() }; NameKind::ALL.len()];
    let (overriding, others): (Vec<&File>, Vec<&File>) =
        directory.files(db).iter().partition(|file| db::is_override(file.path(db)));
    for file in others.into_iter().chain(overriding) {
        for &block in file.blocks(db) {
            for (index, name) in (0u32..).zip(block_names(db, block)) {
                if let Some(kind) = NameKind::of(name) {
                    declared[kind as usize].push((name, ItemKey { block, index }));
                }
            }
        }
    }
    declared
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
    mut visit: impl FnMut(&ItemName),
) {
    let Some(kind) = NameKind::of(name) else { return };
    db.symbols().look(db, directory, kind, |kind| {
        kind.revision.number(db);
        let before = kind.sorted.range(..name).rev().take(MOST_TRIED / 2).last();
        let from = before.map_or(name, |(first, _)| first);
        let near = kind.sorted.range(from..).take(MOST_TRIED);
        near.for_each(|(name, _)| visit(name));
    });
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
    let symbols = db.symbols().clone();
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
        let known = symbols.look(db, directory, kind, |it| it.by_name.get(name).copied());
        let mut keys = known.map(|it| it.declarations(db)).unwrap_or_default();
        keys.retain(|key| !touched.gone.contains(key));
        keys.extend(&touched.come);
        if keys.len() > 1 {
            keys.sort_by_cached_key(|key| (positions.of(db, directory, key.block), key.index));
        }
        overriding.add(db, name, &keys, &touched.gone);
        if symbols.declare(db, directory, name, &keys) {
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
    kinds.into_iter().for_each(|kind| symbols.changed(db, directory, kind));
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
