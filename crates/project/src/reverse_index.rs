//! A reverse index from names to the blocks that refer to them. It finds the blocks that an edit can affect.
//!
//! The database finds out by itself which results an edit invalidates, but only for the queries that are run, and
//! revalidation has a cost: in a file of fifteen thousand blocks, revalidating each block takes longer than an
//! editor may wait. The index finds the blocks that an edit can affect, and these are checked first. The other
//! blocks can wait until there is time.
//!
//! **Invariant:** the index finds every block whose results may have changed; the database decides whether they
//! did. A block that does not refer to a name of an edited block, not even through other blocks, cannot have
//! changed. The exceptions are the settings of a whole module: its required providers and their configurations. An
//! edit of these affects every block.

use std::collections::BTreeSet;

use db::{Block, Directory};
use hir::{
    ItemKind,
    item::RefTarget,
    names::{ItemName, block_items, block_names, provider_local_name},
    symbols::symbol,
};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::Handle;

/// The blocks of a module, by the names that they refer to.
#[derive(Default)]
pub(crate) struct ReverseIndex {
    by_name: FxHashMap<ItemName, FxHashSet<Block>>,
}

impl ReverseIndex {
    pub(crate) fn of(db: &dyn Handle, directory: Directory) -> ReverseIndex {
        let mut mentions = ReverseIndex::default();
        for &block in directory.files(db).iter().flat_map(|file| file.blocks(db)) {
            mentions.add(block, &mentioned(db, block));
        }
        mentions
    }

    pub(crate) fn add(&mut self, block: Block, names: &BTreeSet<ItemName>) {
        for name in names {
            self.by_name.entry(name.clone()).or_default().insert(block);
        }
    }

    pub(crate) fn remove(&mut self, block: Block, names: &BTreeSet<ItemName>) {
        for name in names {
            if let Some(blocks) = self.by_name.get_mut(name) {
                blocks.remove(&block);
                if blocks.is_empty() {
                    self.by_name.remove(name);
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
            for &block in self.by_name.get(&name).into_iter().flatten() {
                if found.insert(block) {
                    let declared = block_names(db, block).iter();
                    open.extend(declared.filter(|it| seen.insert((*it).clone())).cloned());
                }
            }
        }
        found
    }

    /// Returns the blocks that an edit can affect; `None` if it can affect every block.
    pub(crate) fn reached(&self, db: &dyn Handle, edit: &Edit) -> Option<FxHashSet<Block>> {
        // Problems in override files are reported in other files, too.
        let files = edit.directory.files(db);
        if files.iter().any(|file| db::is_override(file.path(db))) {
            return None;
        }
        if edit
            .names
            .iter()
            .any(|name| matches!(name, ItemName::Terraform | ItemName::Provider(..)))
        {
            return None;
        }
        let mut reached = self.following(db, edit.names.iter().cloned());
        reached.extend(edit.blocks.iter().copied());
        // If a name has several declarations, the diagnostic of each refers to the first.
        let symbols = edit.names.iter().filter_map(|name| symbol(db, edit.directory, name));
        reached.extend(symbols.flat_map(|it| it.declarations(db)).map(|key| key.block));
        Some(reached)
    }
}

/// An edit of a module.
#[derive(Clone, Debug)]
pub struct Edit {
    /// The module.
    pub directory: Directory,
    /// The blocks that the edit changed or added.
    pub blocks: Vec<Block>,
    /// The names that the touched blocks declared before the edit or declare after it.
    pub names: BTreeSet<ItemName>,
    /// True if the edit added or removed blocks, or changed the names that a block declares.
    pub redeclares: bool,
}

impl Edit {
    /// Returns true if the edit can change the signature of the module: its variables and outputs.
    pub(crate) fn changes_signature(&self, reached: &FxHashSet<Block>, db: &dyn Handle) -> bool {
        let is_seen = |name: &ItemName| matches!(name, ItemName::Variable(_) | ItemName::Output(_));
        let reached = reached.iter().flat_map(|block| block_names(db, *block));
        self.names.iter().chain(reached).any(is_seen)
    }

    /// Returns true if the edit touched a module call, so that the set of modules may have changed.
    pub fn changes_modules(&self) -> bool {
        self.names.iter().any(|name| matches!(name, ItemName::Module(_)))
    }
}

/// Returns the names that a block refers to, including the provider configurations that it uses implicitly.
pub(crate) fn mentioned(db: &dyn Handle, block: Block) -> BTreeSet<ItemName> {
    let mut names = BTreeSet::new();
    for item in block_items(db, block) {
        names.extend(item.refs.iter().filter_map(|reference| name_of(&reference.target)));
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
