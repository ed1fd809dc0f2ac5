//! Static analysis: computes the abstract value of every item and the problems of that item, module by module.
//!
//! The key of an analysis is the directory of the module, never the path of calls that leads to it: a variable or
//! an output is ephemeral only where its declaration says so, so each module can be checked on its own.
//!
//! ```text
//! item_value(item) ◄── item_inference(item) ──► problems
//!      ▲                     │ asks
//!      └─────────────────────┘ for the items that it mentions
//! ```
//!
//! **Stability:** editing one item re-runs its own [`item_inference`]; other inferences re-run only if its
//! [`item_value`] changed.

pub mod body;
pub(crate) mod cycles;
pub(crate) mod deprecated;
pub(crate) mod env;
pub mod infer;
pub(crate) mod instances;
pub(crate) mod items;
pub mod origin;
pub mod problem;
pub(crate) mod recorded;
pub mod value;

use std::{borrow::Cow, sync::LazyLock};

use db::{Block, Directory};
use salsa::plumbing::{AsId, FromId};

use crate::{
    Db,
    names::{ItemKey, ItemName, base_of, block_names, item, lookup},
    symbols::gathered,
    workspace::Workspace,
};

pub use cycles::{Dependencies, DependencyOrder, WaitList, dependencies};

pub use deprecated::{DeprecatedOutput, DeprecatedPart};

pub use items::{EPHEMERAL_ROOT_OUTPUT, output_not_ephemeral};

pub use problem::ItemProblem;

pub use recorded::{ExprValues, ItemValues, Recorder, expr_values};

pub use value::{Abstract, Ephemerality, Tri, TriMarks, When};

/// The result of the inference of an item.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Inference {
    /// The value of a reference to the item.
    pub value: Abstract,
    /// The problems that inference found in the item.
    pub problems: Box<[ItemProblem]>,
}

/// An item of a module of a configuration. All queries about an item take this one key: each further argument would
/// cost one more lookup per query. Keys are never collected, as blocks are not either, so looking one up records no
/// dependency on its existence.
#[salsa::interned(revisions = usize::MAX)]
pub struct AnalyzedItem<'db> {
    /// The location of the item. It is a single field because salsa looks up each field on its own.
    #[returns(copy)]
    pub place: AnalyzedPlace,
}

/// The location of an [`AnalyzedItem`].
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct AnalyzedPlace {
    /// The configuration.
    pub workspace: Workspace,
    /// The directory of the module.
    pub directory: Directory,
    /// The key of the item within the module.
    pub key: ItemKey,
}

/// A handle-independent id of an [`AnalyzedItem`]. It is valid on every handle of the database as long as the
/// revision does not change.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct AnalyzedId(salsa::Id);

impl<'db> AnalyzedItem<'db> {
    /// Interns the item with the given key.
    pub fn of(
        db: &'db dyn Db,
        workspace: Workspace,
        directory: Directory,
        key: ItemKey,
    ) -> AnalyzedItem<'db> {
        AnalyzedItem::new(db, AnalyzedPlace { workspace, directory, key })
    }

    /// The key of the item within its module.
    pub fn key(self, db: &'db dyn Db) -> ItemKey {
        self.place(db).key
    }

    /// Returns the id that identifies the item on another handle of the same database.
    pub fn id(self) -> AnalyzedId {
        AnalyzedId(self.as_id())
    }

    /// Returns the item that [`AnalyzedItem::id`] returned `id` for. Both must be of the same database.
    pub fn of_id(_: &'db dyn Db, id: AnalyzedId) -> AnalyzedItem<'db> {
        FromId::from_id(id.0)
    }
}

/// Infers one item.
///
/// **Stability:** depends on the item, on the values of the items that it references, and on the schemas that it
/// uses; not on source ranges.
#[salsa::tracked(returns(ref), cycle_result = inference_in_cycle)]
pub fn item_inference<'db>(db: &'db dyn Db, item: AnalyzedItem<'db>) -> Inference {
    items::infer_item(db, item)
}

/// Returns the value of a reference to an item, the part of its inference that other items read. It is
/// [`Abstract::any`] for a member of a dependency cycle.
pub fn item_value<'db>(db: &'db dyn Db, item: AnalyzedItem<'db>) -> &'db Abstract {
    (db.projections().value)(db, item)
}

/// Reads the value from the inference of the item.
pub(crate) fn contained_value<'db>(db: &'db dyn Db, item: AnalyzedItem<'db>) -> &'db Abstract {
    static CYCLIC: LazyLock<Abstract> = LazyLock::new(Abstract::any);
    match cycles::is_cyclic(db, item) {
        true => &CYCLIC,
        false => &item_inference(db, item).value,
    }
}

/// Reads the value through a query of its own.
pub(crate) fn separate_value<'db>(db: &'db dyn Db, item: AnalyzedItem<'db>) -> &'db Abstract {
    kept_value(db, item)
}

/// The value as a query of its own, so that a change of the problems of an item alone does not invalidate its
/// dependents.
#[salsa::tracked(returns(ref), cycle_result = value_in_cycle)]
fn kept_value<'db>(db: &'db dyn Db, item: AnalyzedItem<'db>) -> Abstract {
    if cycles::is_cyclic(db, item) {
        return Abstract::any();
    }
    item_inference(db, item).value.clone()
}

/// Fallback for an item that depends on itself through other modules: its value is unknown. `is_cyclic` finds
/// cycles within one module beforehand.
fn inference_in_cycle(_: &dyn Db, _: salsa::Id, _: AnalyzedItem<'_>) -> Inference {
    Inference { value: Abstract::any(), problems: Box::default() }
}

/// Fallback of [`kept_value`] for an item that depends on itself through other modules.
fn value_in_cycle(_: &dyn Db, _: salsa::Id, _: AnalyzedItem<'_>) -> Abstract {
    Abstract::any()
}

/// A problem of an item, with the key of the item.
pub type LocatedProblem = (ItemKey, ItemProblem);

/// Returns all problems of the items of a block: cycles, duplicates, and the findings of inference.
///
/// **Stability:** the query that runs for each block of a file after each edit. It runs again only if the result of
/// one of its items changed.
#[salsa::tracked(returns(ref))]
pub fn item_problems(
    db: &dyn Db,
    workspace: Workspace,
    directory: Directory,
    block: Block,
) -> Box<[LocatedProblem]> {
    problems_of_items(db, workspace, directory, block).into()
}

/// Unmemoized form of [`item_problems`], for callers that read the problems once. Only the inferences below it are
/// memoized.
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

/// Returns the problems of the items of a block that `init` reports, before anything is installed.
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

/// Returns the problems of the items of a block of an override file that do not depend on the base block: those of
/// items that declare something, and an error for each item that has nothing to override.
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

/// Returns true if an item of an override file declares something itself, instead of overriding a block of a
/// primary file.
fn stands(db: &dyn Db, directory: Directory, key: ItemKey, name: &ItemName) -> bool {
    name.is_shared() || lookup(db, directory, name) == Some(key)
}

/// Returns every item of a module in the order of its files, unnamed items included. Items of override files are
/// included only if they declare something; the others are merged into the items that they override.
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

/// Returns true if a module declares the name.
pub(crate) fn declares(db: &dyn Db, directory: Directory, name: &ItemName) -> bool {
    lookup(db, directory, name).is_some()
}
