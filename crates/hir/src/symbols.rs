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
//! The two functions that change it, [`declare`] and [`redeclare`], are called by `project` only.
//! **Invariant:** what walks over a map sees declared names only, and those change only while the database has no other
//! handle, together with an input that every walk has read. Names that are only looked for may come in between.

use std::{
    collections::BTreeMap,
    sync::{Arc, PoisonError, RwLock, RwLockReadGuard},
};

use db::{Block, Directory, File};
use rustc_hash::FxHashMap;
use salsa::Setter as _;

use crate::{
    Db,
    names::{ItemKey, ItemName, block_names},
};

/// A name of a module, declared or only looked for.
#[salsa::input]
pub struct Symbol {
    /// The declaration that counts: the first in the order of the text.
    #[returns(copy)]
    pub first: Option<ItemKey>,
    /// Further declarations of the name, in the order of the text.
    #[returns(ref)]
    pub later: Box<[ItemKey]>,
}

impl Symbol {
    /// Every declaration, in the order of the text.
    pub fn declarations(self, db: &dyn Db) -> Vec<ItemKey> {
        self.first(db).into_iter().chain(self.later(db).iter().copied()).collect()
    }
}

/// That the declared names of one kind changed: read by whoever walks over all of them.
#[salsa::input]
struct Revision {
    #[returns(copy)]
    number: u64,
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
}

impl NameKind {
    /// Every kind, in the order of [`ItemName`].
    pub const ALL: [NameKind; 8] = [
        NameKind::Variable,
        NameKind::Local,
        NameKind::Output,
        NameKind::Resource,
        NameKind::Module,
        NameKind::Provider,
        NameKind::Check,
        NameKind::Terraform,
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
            ItemName::Other => return None,
        })
    }
}

/// The names of all modules. Cheap to clone; the handles of one database share it.
#[derive(Clone, Default)]
pub struct Symbols {
    modules: Arc<RwLock<FxHashMap<Directory, Arc<ModuleSymbols>>>>,
}

/// The names of one module by kind.
struct ModuleSymbols {
    kinds: [KindSymbols; NameKind::ALL.len()],
}

struct KindSymbols {
    revision: Revision,
    /// Names that were looked for and are not declared are here too: their later declaration is a change of an input.
    symbols: RwLock<BTreeMap<ItemName, Symbol>>,
}

impl Symbols {
    fn module(&self, db: &dyn Db, directory: Directory) -> Arc<ModuleSymbols> {
        let modules = self.modules.read().unwrap_or_else(PoisonError::into_inner);
        if let Some(module) = modules.get(&directory) {
            return Arc::clone(module);
        }
        drop(modules);
        let mut modules = self.modules.write().unwrap_or_else(PoisonError::into_inner);
        let module = modules.entry(directory).or_insert_with(|| Arc::new(ModuleSymbols::new(db)));
        Arc::clone(module)
    }
}

impl ModuleSymbols {
    fn new(db: &dyn Db) -> ModuleSymbols {
        let kind = |_| KindSymbols {
            revision: Revision::new(db, 0),
            symbols: RwLock::new(BTreeMap::new()),
        };
        ModuleSymbols { kinds: NameKind::ALL.map(kind) }
    }

    fn kind(&self, kind: NameKind) -> &KindSymbols {
        &self.kinds[kind as usize]
    }
}

impl KindSymbols {
    /// The symbol of a name, made where there was none.
    fn symbol(&self, db: &dyn Db, name: &ItemName) -> Symbol {
        if let Some(&symbol) = self.lock_to_read().get(name) {
            return symbol;
        }
        let mut symbols = self.symbols.write().unwrap_or_else(PoisonError::into_inner);
        *symbols.entry(name.clone()).or_insert_with(|| Symbol::new(db, None, Box::default()))
    }

    fn declare(&self, db: &mut dyn Db, name: ItemName, keys: Vec<ItemKey>) {
        let known = self.lock_to_read().get(&name).copied();
        if let Some(symbol) = known {
            return set_declarations(db, symbol, &keys);
        }
        let later = keys.get(1..).unwrap_or_default().into();
        let symbol = Symbol::new(db, keys.first().copied(), later);
        self.symbols.write().unwrap_or_else(PoisonError::into_inner).insert(name, symbol);
    }

    fn lock_to_read(&self) -> RwLockReadGuard<'_, BTreeMap<ItemName, Symbol>> {
        self.symbols.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn changed(&self, db: &mut dyn Db) {
        let next = self.revision.number(db) + 1;
        self.revision.set_number(db).to(next);
    }
}

/// The symbol of a name; none for [`ItemName::Other`].
pub fn symbol(db: &dyn Db, directory: Directory, name: &ItemName) -> Option<Symbol> {
    let kind = NameKind::of(name)?;
    Some(db.symbols().module(db, directory).kind(kind).symbol(db, name))
}

/// The declared names of one kind, sorted, each with the declaration that counts.
pub fn names_of_kind(
    db: &dyn Db,
    directory: Directory,
    kind: NameKind,
) -> Vec<(ItemName, ItemKey)> {
    let module = db.symbols().module(db, directory);
    let kind = module.kind(kind);
    // Every declaration that comes, goes or moves is a new number.
    kind.revision.number(db);
    let symbols = kind.lock_to_read();
    let declared =
        symbols.iter().filter_map(|(name, symbol)| Some((name.clone(), symbol.first(db)?)));
    declared.collect()
}

/// Every declaration of one kind, those of a name that is declared twice included.
pub fn all_of_kind(db: &dyn Db, directory: Directory, kind: NameKind) -> Vec<ItemKey> {
    let module = db.symbols().module(db, directory);
    let kind = module.kind(kind);
    kind.revision.number(db);
    kind.lock_to_read().values().flat_map(|symbol| symbol.declarations(db)).collect()
}

/// Declares what the blocks of a directory say, in the order of its text. For a directory that was just read.
pub fn declare(db: &mut dyn Db, directory: Directory) {
    let module = db.symbols().module(db, directory);
    let mut declared: BTreeMap<ItemName, Vec<ItemKey>> = BTreeMap::new();
    for file in directory.files(db) {
        for &block in file.blocks(db) {
            for (index, name) in (0u32..).zip(block_names(db, block)) {
                declared.entry(name.clone()).or_default().push(ItemKey { block, index });
            }
        }
    }
    for (name, keys) in declared {
        let Some(kind) = NameKind::of(&name) else { continue };
        module.kind(kind).declare(db, name, keys);
    }
    for kind in &module.kinds {
        kind.changed(db);
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
    let module = db.symbols().module(db, directory);
    let kind = module.kind(kind);
    kind.revision.number(db);
    let symbols = kind.lock_to_read();
    // Which names somebody has looked for in vain must make no difference.
    let is_declared = |(_, symbol): &(&ItemName, &Symbol)| symbol.first(db).is_some();
    let before = symbols.range(..name).rev().filter(is_declared).take(MOST_TRIED / 2).last();
    let from = before.map_or(name, |(first, _)| first);
    let near = symbols.range(from..).filter(is_declared).take(MOST_TRIED);
    near.for_each(|(name, _)| visit(name));
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
    let module = db.symbols().module(db, directory);
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
    for (name, touched) in touched {
        let Some(kind) = NameKind::of(name) else { continue };
        let symbol = module.kind(kind).symbol(db, name);
        let mut keys = symbol.declarations(db);
        keys.retain(|key| !touched.gone.contains(key));
        keys.extend(touched.come);
        if keys.len() > 1 {
            keys.sort_by_cached_key(|key| (positions.of(db, directory, key.block), key.index));
        }
        set_declarations(db, symbol, &keys);
        if !kinds.contains(&kind) {
            kinds.push(kind);
        }
    }
    kinds.into_iter().for_each(|kind| module.kind(kind).changed(db));
}

/// The declarations of one name that went and came.
#[derive(Default)]
struct Touched {
    gone: Vec<ItemKey>,
    come: Vec<ItemKey>,
}

/// The places of blocks among the blocks of a directory, found out for the files that hold one of several declarations: a
/// table of all blocks would cost more than the edit.
#[derive(Default)]
struct Positions {
    files: FxHashMap<File, (Option<usize>, FxHashMap<Block, usize>)>,
}

impl Positions {
    /// The place of the file, and the place in the file.
    fn of(
        &mut self,
        db: &dyn Db,
        directory: Directory,
        block: Block,
    ) -> Option<(Option<usize>, usize)> {
        let file = block.file(db);
        let (position, blocks) = self.files.entry(file).or_insert_with(|| {
            let position = directory.files(db).iter().position(|it| *it == file);
            let blocks = file.blocks(db).iter().copied().zip(0..).collect();
            (position, blocks)
        });
        Some((*position, *blocks.get(&block)?))
    }
}

fn set_declarations(db: &mut dyn Db, symbol: Symbol, keys: &[ItemKey]) {
    let first = keys.first().copied();
    if symbol.first(db) != first {
        symbol.set_first(db).to(first);
    }
    let later = keys.get(1..).unwrap_or_default();
    if **symbol.later(db) != *later {
        symbol.set_later(db).to(later.into());
    }
}
