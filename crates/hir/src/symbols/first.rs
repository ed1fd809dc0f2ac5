//! Builds symbol tables for blocks that were just read. Declarations are collected while the blocks are lowered.
//!
//! The names are scattered in memory, and a cache miss costs as much as a hundred steps. So each declaration
//! stores what the table needs of its name while the block is in the cache: the first bytes, which decide most
//! comparisons of the sort, and the hash.

use std::hash::Hasher as _;

use db::{Block, Directory, File};
use hashbrown::HashTable;
use rustc_hash::FxHasher;
use salsa::Durability;
use sorted::TreeSet;
use values::Str;

use crate::{
    Db,
    content::{block_items, block_names, block_problems},
    item_name::{ItemKey, ItemName, NameKind, import_provider_name, provider_local_name},
    symbols::{Symbol, leading},
};

/// One declaration of a name.
struct Declaration {
    /// The first bytes of the name as a number. For names of one type, the numbers have the order of the names, or
    /// are equal.
    prefix: u128,
    hash: u64,
    name: ItemName,
    key: ItemKey,
}

/// The outline of some blocks, which is the input of the symbol table.
#[derive(Default)]
pub struct BlockOutline {
    /// The declarations by kind, in the order of the text.
    kinds: [Vec<Declaration>; NameKind::ALL.len()],
    /// The outline of the module that has no other blocks.
    pub(super) module: ModuleOutline,
}

/// The outline of a module's blocks, except for names, which have their own table.
#[derive(Default)]
pub(crate) struct ModuleOutline {
    /// All items in the order of the text.
    pub(crate) items: Vec<ItemKey>,
    /// The local names of the providers that resources and provider blocks use.
    pub(crate) providers: TreeSet<Str>,
    /// Set if a block has a diagnostic of its own.
    pub(crate) has_problems: bool,
}

impl BlockOutline {
    /// Collects the outline of blocks in their order. Lowers the blocks.
    pub fn of_blocks(db: &dyn Db, blocks: &[Block]) -> BlockOutline {
        let mut outline = BlockOutline::default();
        for &block in blocks {
            outline.module.has_problems |= !block_problems(db, block).is_empty();
            for (index, name) in (0u32..).zip(block_names(db, block)) {
                outline.add(db, name, ItemKey { block, index });
            }
        }
        outline
    }

    fn add(&mut self, db: &dyn Db, name: &ItemName, key: ItemKey) {
        self.module.items.push(key);
        if let ItemName::Import = name {
            let item = &block_items(db, key.block)[key.index as usize];
            let provider = item.kind.as_import().and_then(import_provider_name);
            self.module.providers.extend(provider.map(Str::from));
        }
        let Some(kind) = NameKind::of(name) else { return };
        let provider = match name {
            ItemName::Resource(_) => {
                let item = &block_items(db, key.block)[key.index as usize];
                item.kind.as_resource().map(provider_local_name)
            }
            ItemName::Provider(local_name, _) => Some(&**local_name),
            _ => None,
        };
        // Allocate a name only once: thousands of resources share a few providers.
        let providers = &mut self.module.providers;
        if let Some(provider) = provider.filter(|it| !providers.contains(*it)) {
            providers.insert(provider.into());
        }
        let (prefix, hash) = (leading_bytes(sort_prefix(name).1), hash_of(name));
        self.kinds[kind as usize].push(Declaration { prefix, hash, name: name.clone(), key });
    }

    /// Appends the outline of further blocks.
    pub fn joined(mut self, other: BlockOutline) -> BlockOutline {
        self.kinds.iter_mut().zip(other.kinds).for_each(|(all, more)| all.extend(more));
        self.module.items.extend(other.module.items);
        self.module.providers.extend(other.module.providers);
        self.module.has_problems |= other.module.has_problems;
        self
    }

    /// The number of declarations.
    pub fn count(&self) -> usize {
        self.kinds.iter().map(Vec::len).sum()
    }

    /// Removes and returns the declarations of some kinds.
    pub fn take(&mut self, kinds: impl IntoIterator<Item = NameKind>) -> Declared {
        let take = |kind| (kind, std::mem::take(&mut self.kinds[kind as usize]));
        Declared(kinds.into_iter().map(take).collect())
    }
}

/// The declarations of some kinds of names.
pub struct Declared(Vec<(NameKind, Vec<Declaration>)>);

impl Declared {
    /// Builds the tables. Other handles of the database may build tables of other kinds in parallel.
    /// `has_overrides` must be true if a declaration may be in an override file.
    pub fn tables(self, db: &dyn Db, has_overrides: bool) -> Tables {
        let table =
            |(kind, declared): (_, Vec<_>)| (kind, build_table(db, declared, has_overrides));
        Tables(self.0.into_iter().map(table).collect())
    }

    /// Visits each name with its declarations in the order of the text. The names of each kind come sorted.
    pub(super) fn for_each_name(&self, mut visit: impl FnMut(&ItemName, &[ItemKey])) {
        for (_, declared) in &self.0 {
            in_order(declared, |of_name| {
                let keys: Vec<ItemKey> = of_name.iter().map(|&it| declared[it].key).collect();
                visit(&declared[of_name[0]].name, &keys);
            });
        }
    }
}

/// The tables of some kinds of names of one directory.
pub struct Tables(pub(super) Vec<(NameKind, Table)>);

/// The names of one kind with their symbols.
pub(super) struct Table {
    /// The names by hash.
    pub(super) by_name: HashTable<(ItemName, Symbol)>,
    /// The names in sort order.
    pub(super) sorted: Vec<(ItemName, Symbol)>,
    /// Set if a name has more than one declaration.
    pub(super) has_further: bool,
}

fn build_table(db: &dyn Db, mut declared: Vec<Declaration>, has_overrides: bool) -> Table {
    let durability = db.durability(Durability::LOW);
    let new_symbol = |keys: &[ItemKey]| {
        let (first, later) = match keys {
            // Without override files, a single declaration is the effective one. This skips the lookup of its
            // file.
            [only] if !has_overrides => (Some(*only), &[][..]),
            _ => leading(db, keys),
        };
        Symbol::builder(first, later.into()).durability(durability).new(db)
    };
    let mut symbols: Vec<(usize, Symbol)> = Vec::with_capacity(declared.len());
    let mut keys = Vec::new();
    in_order(&declared, |of_name| {
        keys.clear();
        keys.extend(of_name.iter().map(|&it| declared[it].key));
        symbols.push((of_name[0], new_symbol(&keys)));
    });
    let has_further = symbols.len() < declared.len();
    let mut by_name = HashTable::with_capacity(symbols.len());
    let mut sorted = Vec::with_capacity(symbols.len());
    for (place, symbol) in symbols {
        let declaration = &mut declared[place];
        let name = std::mem::replace(&mut declaration.name, ItemName::Other);
        let hasher = |(name, _): &(ItemName, Symbol)| hash_of(name);
        by_name.insert_unique(declaration.hash, (name.clone(), symbol), hasher);
        sorted.push((name, symbol));
    }
    Table { by_name, sorted, has_further }
}

/// Visits the names of one kind in sort order. Passes the indices of each name's declarations, in the order of the
/// text.
fn in_order(declared: &[Declaration], mut visit: impl FnMut(&[usize])) {
    let types: TreeSet<_> = declared.iter().filter_map(|it| sort_prefix(&it.name).0).collect();
    let types: Vec<_> = types.into_iter().collect();
    let key = |(place, it): (usize, &Declaration)| {
        let ty = sort_prefix(&it.name).0.map_or(0, |ty| types.partition_point(|known| *known < ty));
        (ty, it.prefix, place)
    };
    let mut keyed: Vec<_> = declared.iter().enumerate().map(key).collect();
    keyed.sort_by(|a, b| {
        let further = || declared[a.2].name.cmp(&declared[b.2].name);
        (a.0, a.1).cmp(&(b.0, b.1)).then_with(further)
    });
    let is_same = |a: &(usize, u128, usize), b: &(usize, u128, usize)| {
        (a.0, a.1) == (b.0, b.1) && declared[a.2].name == declared[b.2].name
    };
    let mut places = Vec::new();
    for of_name in keyed.chunk_by(is_same) {
        places.clear();
        places.extend(of_name.iter().map(|(.., place)| *place));
        visit(&places);
    }
}

/// The leading sort keys of a name: the resource mode and type, if any, and a string.
fn sort_prefix(name: &ItemName) -> (Option<(addr::ResourceMode, &str)>, &str) {
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

/// The first 16 bytes of a string as a number. The numbers have the order of the strings, or are equal.
fn leading_bytes(text: &str) -> u128 {
    let mut bytes = [0; 16];
    let length = text.len().min(bytes.len());
    bytes[..length].copy_from_slice(&text.as_bytes()[..length]);
    u128::from_be_bytes(bytes)
}

/// The hash of a name in the table of its kind.
pub(super) fn hash_of(name: &ItemName) -> u64 {
    use std::hash::Hash as _;
    let mut hasher = FxHasher::default();
    name.hash(&mut hasher);
    hasher.finish()
}

/// The blocks of a directory in order of declaration. Blocks of override files come last.
pub fn blocks_to_declare(db: &dyn Db, directory: Directory) -> Vec<Block> {
    let (overriding, others): (Vec<&File>, Vec<&File>) =
        directory.files(db).iter().partition(|file| db::is_override(file.path(db)));
    let files = others.into_iter().chain(overriding);
    files.flat_map(|file| file.blocks(db).iter().copied()).collect()
}
