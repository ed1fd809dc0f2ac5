//! Who mentions which name: what an edit can have reached, found without asking about what it cannot.
//!
//! The database finds out by itself what has to be computed again, but only for what it is asked, and asking costs: after
//! an edit in a file of fifteen thousand blocks, asking about each takes longer than a person should wait. So the blocks
//! that an edit can have reached are found here, and asked first; the rest is asked when there is time.
//!
//! **Invariant:** what is found is what may have changed; whether it did, the database says. A block that mentions no
//! name of an edited one, not even through others, cannot have changed, except through what counts for a whole module:
//! which providers it requires and how they are configured. An edit of those reaches everything.

use std::collections::BTreeSet;

use db::{Block, Directory};
use hir::{
    ItemKind,
    item::RefTarget,
    names::{ItemName, block_items, block_names, provider_local_name},
    symbols::symbol,
};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::Database;

/// The blocks of one module by the names that they mention.
#[derive(Default)]
pub(crate) struct Mentions {
    by_name: FxHashMap<ItemName, FxHashSet<Block>>,
}

impl Mentions {
    pub(crate) fn of(db: &Database, directory: Directory) -> Mentions {
        let mut mentions = Mentions::default();
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

    /// The blocks that mention one of the names, or a name that one of those declares, and so on.
    fn following(
        &self,
        db: &Database,
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

    /// The blocks that an edit can have reached; `None` if it can have reached every one.
    pub(crate) fn reached(&self, db: &Database, edit: &Edit) -> Option<FxHashSet<Block>> {
        // What override files say is wrong elsewhere, too.
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
        // Of several declarations of a name, each is told of the first.
        let symbols = edit.names.iter().filter_map(|name| symbol(db, edit.directory, name));
        reached.extend(symbols.flat_map(|it| it.declarations(db)).map(|key| key.block));
        Some(reached)
    }
}

/// What an edit touched.
#[derive(Clone, Debug)]
pub struct Edit {
    /// The module that it was made in.
    pub directory: Directory,
    /// The blocks that changed or came.
    pub blocks: Vec<Block>,
    /// The names that the touched blocks declared before or declare now.
    pub names: BTreeSet<ItemName>,
    /// Whether blocks came or went, or declare other names than before.
    pub redeclares: bool,
}

impl Edit {
    /// Whether it touched what other modules see of this one.
    pub(crate) fn changes_signature(&self, reached: &FxHashSet<Block>, db: &Database) -> bool {
        let is_seen = |name: &ItemName| matches!(name, ItemName::Variable(_) | ItemName::Output(_));
        let reached = reached.iter().flat_map(|block| block_names(db, *block));
        self.names.iter().chain(reached).any(is_seen)
    }

    /// Whether it touched a module call, so that other modules may be part of the configuration now.
    pub fn changes_modules(&self) -> bool {
        self.names.iter().any(|name| matches!(name, ItemName::Module(_)))
    }
}

/// The names that a block mentions, those of provider configurations that it uses without a word included.
pub(crate) fn mentioned(db: &Database, block: Block) -> BTreeSet<ItemName> {
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
