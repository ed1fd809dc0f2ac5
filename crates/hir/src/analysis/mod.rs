//! Static analysis: the abstract value of every item, and what is wrong with it, module by module.
//!
//! Analysis is keyed by the module's directory, never by the path of calls that lead to it (DESIGN 2.10): a variable or
//! an output carries ephemerality only where it is declared, so a module can be judged by itself.
//!
//! ```text
//! item_value(item) ◄── item_inference(item) ──► problems
//!      ▲                     │ asks
//!      └─────────────────────┘ for the items that it mentions
//! ```
//!
//! **Stability:** editing one item re-runs its own [`item_inference`]; others re-run only if its [`item_value`] changed.

pub mod body;
mod cycles;
mod deprecated;
pub(crate) mod env;
pub mod infer;
mod instances;
mod items;
pub mod origin;
pub mod problem;
mod recorded;
pub mod value;

use std::{borrow::Cow, sync::LazyLock};

use db::{Block, Directory};
use salsa::plumbing::{AsId, FromId};

pub use cycles::{DependencyOrder, WaitList, Waits, waits_for};
pub use deprecated::{DeprecatedOutput, DeprecatedPart};
pub use items::{EPHEMERAL_ROOT_OUTPUT, output_not_ephemeral};
pub use problem::ItemProblem;
pub use recorded::{ExprValues, ItemValues, Recorder, expr_values};
pub use value::{Abstract, Ephemerality, Tri, TriMarks, When};

use crate::{
    Db,
    names::{ItemKey, ItemName, base_of, block_names, item, lookup},
    symbols::gathered,
    workspace::Workspace,
};

/// What the inference of an item found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Inference {
    /// What a reference to the item means.
    pub value: Abstract,
    /// What is wrong with it.
    pub problems: Box<[ItemProblem]>,
}

/// An item of a module of a configuration. All questions about an item have this one key: each argument more would be
/// looked up again for each question. Keys stay, as blocks do: whoever looks one up does not depend on its being there.
#[salsa::interned(revisions = usize::MAX)]
pub struct AnalyzedItem<'db> {
    /// Where it is. One field: each is looked up by itself.
    #[returns(copy)]
    pub place: AnalyzedPlace,
}

/// Where an [`AnalyzedItem`] is.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct AnalyzedPlace {
    /// The configuration.
    pub workspace: Workspace,
    /// The module.
    pub directory: Directory,
    /// The place of the item in the module.
    pub key: ItemKey,
}

/// An [`AnalyzedItem`] for a while in which nothing changes, for all handles of the database.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct AnalyzedId(salsa::Id);

impl<'db> AnalyzedItem<'db> {
    /// The item with a key.
    pub fn of(
        db: &'db dyn Db,
        workspace: Workspace,
        directory: Directory,
        key: ItemKey,
    ) -> AnalyzedItem<'db> {
        AnalyzedItem::new(db, AnalyzedPlace { workspace, directory, key })
    }

    /// The place of the item in its module.
    pub fn key(self, db: &'db dyn Db) -> ItemKey {
        self.place(db).key
    }

    /// What stands for the item where another handle of the database is.
    pub fn id(self) -> AnalyzedId {
        AnalyzedId(self.as_id())
    }

    /// The item that [`AnalyzedItem::id`] was asked of, in the same database.
    pub fn of_id(_: &'db dyn Db, id: AnalyzedId) -> AnalyzedItem<'db> {
        FromId::from_id(id.0)
    }
}

/// Infers one item.
///
/// **Stability:** depends on the item, on the values of what it mentions and on the schemas it uses; not on ranges.
#[salsa::tracked(returns(ref), cycle_result = inference_in_cycle)]
pub fn item_inference<'db>(db: &'db dyn Db, item: AnalyzedItem<'db>) -> Inference {
    items::infer_item(db, item)
}

/// What a reference to an item means: the part of its inference that others see.
pub fn item_value<'db>(db: &'db dyn Db, item: AnalyzedItem<'db>) -> &'db Abstract {
    static CYCLIC: LazyLock<Abstract> = LazyLock::new(Abstract::any);
    match db.one_shot() {
        Some(_) if cycles::is_cyclic(db, item) => &CYCLIC,
        Some(_) => &item_inference(db, item).value,
        None => kept_value(db, item),
    }
}

/// The same, which stays when something else is found out about the item.
#[salsa::tracked(returns(ref), cycle_result = value_in_cycle)]
fn kept_value<'db>(db: &'db dyn Db, item: AnalyzedItem<'db>) -> Abstract {
    if cycles::is_cyclic(db, item) {
        return Abstract::any();
    }
    item_inference(db, item).value.clone()
}

/// Nothing is known of an item that depends on itself through other modules. Cycles within one are found before.
fn inference_in_cycle(_: &dyn Db, _: salsa::Id, _: AnalyzedItem<'_>) -> Inference {
    Inference { value: Abstract::any(), problems: Box::default() }
}

fn value_in_cycle(_: &dyn Db, _: salsa::Id, _: AnalyzedItem<'_>) -> Abstract {
    Abstract::any()
}

/// A problem of an item, with the item.
pub type LocatedProblem = (ItemKey, ItemProblem);

/// Everything that is wrong with the items of a block: cycles, duplicates, and what inference found.
///
/// **Stability:** what is asked of each block of a file after each edit; it runs again only if one of its items did.
#[salsa::tracked(returns(ref))]
pub fn item_problems(
    db: &dyn Db,
    workspace: Workspace,
    directory: Directory,
    block: Block,
) -> Box<[LocatedProblem]> {
    problems_of_items(db, workspace, directory, block).into()
}

/// The same for somebody who asks once: nothing is remembered but what inference is.
pub(crate) fn problems_of_items(
    db: &dyn Db,
    workspace: Workspace,
    directory: Directory,
    block: Block,
) -> Vec<LocatedProblem> {
    let count = block_names(db, block).len() as u32;
    let mut problems = Vec::new();
    for key in (0..count).map(|index| ItemKey { block, index }) {
        let item = AnalyzedItem::of(db, workspace, directory, key);
        if cycles::is_cyclic(db, item) {
            let of_item = cycles::cycles(db, workspace, directory).get(&key);
            problems.extend(of_item.into_iter().flatten().map(|it| (key, it.clone())));
        }
        problems
            .extend(item_inference(db, item).problems.iter().map(|problem| (key, problem.clone())));
    }
    problems
}

/// What is wrong with the items of a block before anything is installed.
pub(crate) fn setup_problems(
    db: &dyn Db,
    workspace: Workspace,
    directory: Directory,
    block: Block,
) -> Vec<LocatedProblem> {
    let is_override = db::is_override(block.file(db).path(db));
    let mut problems = Vec::new();
    for (index, name) in (0u32..).zip(block_names(db, block)) {
        let key = ItemKey { block, index };
        if !is_override || stands(db, directory, key, name) {
            let item = AnalyzedItem::of(db, workspace, directory, key);
            let found = items::setup::problems(db, item).into_iter();
            problems.extend(found.map(|problem| (key, problem)));
        } else if base_of(db, directory, key).is_none() {
            problems.push((key, items::without_base(item(db, key))));
        }
    }
    problems
}

/// What is wrong with the items of a block of an override file by themselves: those that declare something, and those that
/// have nothing to override.
pub fn overriding_problems(
    db: &dyn Db,
    workspace: Workspace,
    directory: Directory,
    block: Block,
) -> Vec<LocatedProblem> {
    let mut problems = Vec::new();
    for (index, name) in (0u32..).zip(block_names(db, block)) {
        let key = ItemKey { block, index };
        if stands(db, directory, key, name) {
            let item = AnalyzedItem::of(db, workspace, directory, key);
            problems.extend(item_inference(db, item).problems.iter().map(|it| (key, it.clone())));
        } else if base_of(db, directory, key).is_none() {
            problems.push((key, items::without_base(item(db, key))));
        }
    }
    problems
}

/// Whether an item of an override file declares something.
fn stands(db: &dyn Db, directory: Directory, key: ItemKey, name: &ItemName) -> bool {
    name.is_shared() || lookup(db, directory, name) == Some(key)
}

/// Every item of a module in the order of its files, unnamed ones included. Those of override files are there as what they
/// change.
pub fn module_items(db: &dyn Db, directory: Directory) -> Cow<'_, [ItemKey]> {
    if let Some(gathered) = gathered(db, directory) {
        return Cow::Borrowed(&gathered.items);
    }
    let files = directory.files(db).iter();
    let items = files.flat_map(move |file| {
        let is_override = db::is_override(file.path(db));
        file.blocks(db).iter().flat_map(move |&block| {
            let names = (0u32..).zip(block_names(db, block));
            let keys = names.map(move |(index, name)| (ItemKey { block, index }, name));
            let counts = move |(key, name): &(ItemKey, &ItemName)| {
                !is_override || stands(db, directory, *key, name)
            };
            keys.filter(counts).map(|(key, _)| key)
        })
    });
    Cow::Owned(items.collect())
}

/// Whether a module declares a name.
pub(crate) fn declares(db: &dyn Db, directory: Directory, name: &ItemName) -> bool {
    lookup(db, directory, name).is_some()
}
