//! The index of names: for each module, the declarations of each name, the blocks that refer to it, and the blocks
//! that have problems.
//!
//! ```text
//!                 ┌─ declarations ─► Symbol (input) ─► the queries that looked the name up
//!  edit ─► index ─┼─ references ───► the blocks that the edit can affect ─► checked at once
//!                 └─ problems ─────► the blocks whose diagnostics may have moved
//! ```
//!
//! Everything else that depends on text is a query. Queries find out by themselves what an edit invalidates, but an
//! answer about a whole module must then revalidate each of its blocks, even if none of them changed. The index
//! answers the three questions about a whole module that an editor asks after each key. `cargo bench -p project --bench
//! edits` compares both ways (release build, two processors, median and worst of 20 edits):
//!
//! | question | budget | queries alone | with the index |
//! |---|---|---|---|
//! | the declarations of a name, 100,000 resources in 1,000 files | 20 ms | 81, 103 ms | 0.1, 0.2 ms |
//! | the problems of the edited file, 5,000 resources in it | 20 ms | 19, 44 ms | 0.7, 4.3 ms |
//! | all problems and the program, 5,000 resources in 50 files | 50 ms | 28, 39 ms | 2.2, 3.5 ms |
//!
//! The third budget is that of an edit in `watch`, of which the rest takes about 24 ms.
//!
//! **Invariant:** only this index sets the declarations of a name. After each edit they agree with the names that
//! the blocks declare.
//! **Invariant:** the index finds every block whose results may have changed; the database decides whether they
//! did. A block that does not refer to a name of an edited block, not even through other blocks, cannot have
//! changed. The exceptions are the settings of a whole module: its required providers and their configurations. An
//! edit of these affects every block.

use db::{Block, Directory};
use hir::{
    ItemKind,
    item::RefTarget,
    names::{ItemName, block_items, block_names, provider_local_name},
    provider_function,
    symbols::{RedeclaredBlock, redeclare, symbol},
};
use rustc_hash::{FxHashMap, FxHashSet};
use sorted::TreeSet;

use crate::{Handle, warm_up};

/// An edit of a module.
#[derive(Clone, Debug)]
pub struct Edit {
    /// The module.
    pub directory: Directory,
    /// The blocks that the edit changed or added.
    pub blocks: Vec<Block>,
    /// The names that the touched blocks declared before the edit or declare after it.
    pub names: TreeSet<ItemName>,
    /// True if the edit added or removed blocks, or changed the names that a block declares.
    pub redeclares: bool,
}

impl Edit {
    /// Returns true if the edit can change the signature of the module: its variables and outputs.
    pub(crate) fn changes_signature(&self, affected: &FxHashSet<Block>, db: &dyn Handle) -> bool {
        let is_seen = |name: &ItemName| matches!(name, ItemName::Variable(_) | ItemName::Output(_));
        let affected = affected.iter().flat_map(|block| block_names(db, *block));
        self.names.iter().chain(affected).any(is_seen)
    }

    /// Returns true if the edit touched a module call, so that the set of modules may have changed.
    pub fn changes_modules(&self) -> bool {
        self.names.iter().any(|name| matches!(name, ItemName::Module(_)))
    }
}

/// Declares the names of a module that was just read.
pub(crate) fn declare(db: &mut dyn Handle, directory: Directory) {
    warm_up::declare(db, directory);
}

/// The index of all modules. The declarations are in the database, where queries read them.
#[derive(Default)]
pub(crate) struct NameIndex {
    modules: FxHashMap<Directory, ModuleIndex>,
}

/// The blocks of a module by what an editor asks for.
#[derive(Default)]
struct ModuleIndex {
    /// The blocks that refer to each name.
    references: FxHashMap<ItemName, FxHashSet<Block>>,
    /// The blocks that had a diagnostic when they were checked last.
    with_problems: FxHashSet<Block>,
}

impl NameIndex {
    /// Starts to follow the references of a module. The declarations of every module are followed.
    pub(crate) fn follow(&mut self, db: &dyn Handle, directory: Directory) {
        self.modules.entry(directory).or_insert_with(|| ModuleIndex::of(db, directory));
    }

    /// Stops to follow the references of a module.
    pub(crate) fn forget(&mut self, directory: Directory) {
        self.modules.remove(&directory);
    }

    /// Notes what some blocks declare, and removes their references. Called before the blocks change or disappear.
    pub(crate) fn before(
        &mut self,
        db: &dyn Handle,
        directory: Directory,
        blocks: &[Block],
    ) -> Vec<RedeclaredBlock> {
        let mut module = self.modules.get_mut(&directory);
        let before = |&block: &Block| {
            if let Some(module) = &mut module {
                module.remove(block, &mentioned(db, block));
            }
            RedeclaredBlock { before: block_names(db, block).into(), ..RedeclaredBlock::of(block) }
        };
        blocks.iter().map(before).collect()
    }

    /// Sets what blocks declare after a change, and adds their references. `is_there` is false for blocks that
    /// disappeared.
    pub(crate) fn after(
        &mut self,
        db: &mut dyn Handle,
        directory: Directory,
        changes: &mut [RedeclaredBlock],
        is_there: impl Fn(Block) -> bool,
    ) {
        let mut module = self.modules.get_mut(&directory);
        for change in changes.iter_mut() {
            if is_there(change.block) {
                change.after = block_names(db, change.block).into();
                if let Some(module) = &mut module {
                    module.add(change.block, &mentioned(db, change.block));
                }
            } else if let Some(module) = &mut module {
                module.with_problems.remove(&change.block);
            }
        }
        redeclare(db, directory, changes);
    }

    /// Builds the references of a module again, if they are followed.
    pub(crate) fn refresh(&mut self, db: &dyn Handle, directory: Directory) {
        if let Some(module) = self.modules.get_mut(&directory) {
            module.references = ModuleIndex::of(db, directory).references;
        }
    }

    /// Returns the blocks that an edit can affect; `None` if it can affect every block, or if the references of
    /// the module are not followed.
    pub(crate) fn affected(&self, db: &dyn Handle, edit: &Edit) -> Option<FxHashSet<Block>> {
        let module = self.modules.get(&edit.directory)?;
        // Problems in override files are reported in other files, too.
        let files = edit.directory.files(db);
        if files.iter().any(|file| db::is_override(file.path(db))) {
            return None;
        }
        let is_setting = |it: &ItemName| matches!(it, ItemName::Terraform | ItemName::Provider(..));
        if edit.names.iter().any(is_setting) {
            return None;
        }
        // A provider without a block is configured as soon as a resource uses it, and then may offer functions.
        let may_use = |it: &ItemName| matches!(it, ItemName::Resource(_) | ItemName::Module(_));
        let functions = edit.names.iter().any(may_use).then_some(ItemName::Terraform);
        let mut affected = module.following(db, edit.names.iter().cloned().chain(functions));
        affected.extend(edit.blocks.iter().copied());
        // If a name has several declarations, the diagnostic of each refers to the first.
        let symbols = edit.names.iter().filter_map(|name| symbol(db, edit.directory, name));
        affected.extend(symbols.flat_map(|it| it.declarations(db)).map(|key| key.block));
        Some(affected)
    }

    /// Returns the blocks of a module that had a diagnostic when they were checked last. Empty if the module is not
    /// followed.
    pub(crate) fn with_problems(&self, directory: Directory) -> FxHashSet<Block> {
        self.modules.get(&directory).map(|it| it.with_problems.clone()).unwrap_or_default()
    }

    /// Notes which blocks of a module have a diagnostic.
    pub(crate) fn set_with_problems(&mut self, directory: Directory, blocks: FxHashSet<Block>) {
        if let Some(module) = self.modules.get_mut(&directory) {
            module.with_problems = blocks;
        }
    }
}

impl ModuleIndex {
    fn of(db: &dyn Handle, directory: Directory) -> ModuleIndex {
        let mut module = ModuleIndex::default();
        for &block in directory.files(db).iter().flat_map(|file| file.blocks(db)) {
            module.add(block, &mentioned(db, block));
        }
        module
    }

    fn add(&mut self, block: Block, names: &TreeSet<ItemName>) {
        for name in names {
            self.references.entry(name.clone()).or_default().insert(block);
        }
    }

    fn remove(&mut self, block: Block, names: &TreeSet<ItemName>) {
        for name in names {
            if let Some(blocks) = self.references.get_mut(name) {
                blocks.remove(&block);
                if blocks.is_empty() {
                    self.references.remove(name);
                }
            }
        }
    }

    /// Returns the blocks that refer to one of the names, directly or through names that other blocks declare.
    fn following(
        &self,
        db: &dyn Handle,
        names: impl IntoIterator<Item = ItemName>,
    ) -> FxHashSet<Block> {
        let mut open: Vec<ItemName> = names.into_iter().collect();
        let mut seen: FxHashSet<ItemName> = open.iter().cloned().collect();
        let mut found = FxHashSet::default();
        while let Some(name) = open.pop() {
            for &block in self.references.get(&name).into_iter().flatten() {
                if found.insert(block) {
                    let declared = block_names(db, block).iter();
                    open.extend(declared.filter(|it| seen.insert((*it).clone())).cloned());
                }
            }
        }
        found
    }
}

/// Returns the names that a block refers to, including the provider configurations that it uses implicitly. A block
/// that calls provider functions refers to the `terraform` blocks, which declare the providers.
fn mentioned(db: &dyn Handle, block: Block) -> TreeSet<ItemName> {
    let mut names = TreeSet::new();
    for item in block_items(db, block) {
        names.extend(item.refs.iter().filter_map(|reference| name_of(&reference.target)));
        for (_, it) in provider_function::calls(&item.exprs) {
            names.insert(ItemName::Terraform);
            names.insert(ItemName::Provider(it.provider.into(), it.alias.map(Into::into)));
        }
        match &item.kind {
            ItemKind::Resource(it) => {
                let alias = it.provider.as_ref().and_then(|provider| provider.alias.clone());
                names.insert(ItemName::Provider(provider_local_name(it).into(), alias));
            }
            ItemKind::ModuleCall(it) => {
                let passed = it.providers.iter().flatten().map(|it| &it.parent);
                names.extend(
                    passed.map(|it| ItemName::Provider(it.local_name.clone(), it.alias.clone())),
                );
            }
            _ => {}
        }
    }
    names
}

fn name_of(target: &RefTarget) -> Option<ItemName> {
    Some(match target {
        RefTarget::Variable(name) => ItemName::Variable(name.clone()),
        RefTarget::Local(name) => ItemName::Local(name.clone()),
        RefTarget::Resource(resource) => ItemName::Resource(resource.clone()),
        RefTarget::Module(name) | RefTarget::ModuleOutput(name, _) => {
            ItemName::Module(name.clone())
        }
        RefTarget::Ambient(_) => return None,
    })
}
