//! The problems of the items of a block: those of each item's inference, cycles, and names that cannot be declared.

use db::{Block, Directory};

use crate::{
    Db,
    analysis::{
        analyzed::AnalyzedItem, cycles, inference::item_inference, items, problem::LocatedProblem,
    },
    content::{block_names, item},
    item_name::ItemKey,
    names::{base_of, is_declaration},
    workspace::Workspace,
};

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
            problems.extend(
                of_item.into_iter().flatten().map(|it| LocatedProblem::new(key, it.clone())),
            );
        }
        let inferred = item_inference(db, item).problems.iter();
        problems.extend(inferred.map(|it| LocatedProblem::new(key, it.clone())));
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
        if !is_override || is_declaration(db, directory, key, name) {
            let item = AnalyzedItem::of(db, workspace, directory, key);
            let found = items::setup::problems(db, item).into_iter();
            problems.extend(found.map(|problem| LocatedProblem::new(key, problem)));
        } else if base_of(db, directory, key).is_none() {
            problems.push(LocatedProblem::new(key, items::without_base(item(db, key))));
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
        if is_declaration(db, directory, key, name) {
            let item = AnalyzedItem::of(db, workspace, directory, key);
            let inferred = item_inference(db, item).problems.iter();
            problems.extend(inferred.map(|it| LocatedProblem::new(key, it.clone())));
        } else if base_of(db, directory, key).is_none() {
            problems.push(LocatedProblem::new(key, items::without_base(item(db, key))));
        }
    }
    problems
}
