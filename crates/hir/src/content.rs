//! The lowered content of a block, and the queries that read a part of it.
//!
//! ```text
//! text(block) ─► block_content ─► item(s) ─► inference
//!      │              └─────────► outline: names and kinds of instance keys ─► symbol table
//!      └───────► source_maps (ranges, on demand)
//! ```
//!
//! **Stability:** an edit inside a block's body leaves its [`block_names`] equal, so the symbol table does not
//! change.

use std::{ops::Deref, sync::Arc};

use db::{Block, Override};
use syntax::TextRange;

use crate::{
    Db,
    expr::At,
    item::Item,
    item_name::{ItemKey, ItemName, Keys},
    lower::{
        header_at, json, lower_text,
        lowered::Lowered,
        overriding::{Declaration, Merged, declarations as declarations_of_text, merge},
        problem::{INVALID_REFERENCE, Problem},
        source_map::SourceMap,
        spare::recycle,
    },
};

/// The lowered content of a block, without source maps.
///
/// The syntax tree is not kept. Only rendering a location needs it, and [`source_maps`] parses the block again for
/// that.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BlockContent {
    /// The items without ranges, merged with their overrides.
    items: Items,
    /// Syntax errors and structural problems. Their ranges are relative to the block, so the content stays equal
    /// when the block moves in its file.
    pub problems: Box<[Problem]>,
    /// The problems located in blocks that override this one.
    in_overrides: Option<Box<[OverrideProblem]>>,
    outline: Arc<Outline>,
}

/// A problem in a block that overrides another one.
#[derive(Clone, Debug, PartialEq, Eq)]
struct OverrideProblem {
    /// The overriding block.
    block: Block,
    problem: Problem,
}

/// The items of a block. Most blocks have one.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Items {
    One([Arc<Item>; 1]),
    Several(Box<[Arc<Item>]>),
}

impl Deref for Items {
    type Target = [Arc<Item>];

    fn deref(&self) -> &[Arc<Item>] {
        match self {
            Items::One(item) => item,
            Items::Several(items) => items,
        }
    }
}

impl From<Vec<Arc<Item>>> for Items {
    fn from(items: Vec<Arc<Item>>) -> Items {
        match <[Arc<Item>; 1]>::try_from(items) {
            Ok(item) => Items::One(item),
            Err(items) => Items::Several(items.into()),
        }
    }
}

/// Lowers a block.
#[salsa::tracked(returns(ref))]
fn block_content(db: &dyn Db, block: Block) -> BlockContent {
    let mut lowered = lower_text(block.text(db), block.file(db).path(db));
    recycle(std::mem::take(&mut lowered.source_maps));
    match &**block.overrides(db) {
        [] => BlockContent::new(lowered.items.into(), lowered.problems.into(), None),
        overrides => overridden(db, block, overrides, lowered),
    }
}

impl BlockContent {
    fn new(
        items: Items,
        problems: Box<[Problem]>,
        in_overrides: Option<Box<[OverrideProblem]>>,
    ) -> BlockContent {
        let outline = Arc::new(Outline::of(&items));
        BlockContent { items, problems, in_overrides, outline }
    }
}

/// Merges the items of a block with their overrides.
fn overridden(db: &dyn Db, block: Block, overrides: &[Override], lowered: Lowered) -> BlockContent {
    let Lowered { mut items, problems, .. } = lowered;
    let has_several = items.len() > 1;
    let (mut of_whole, mut in_overrides) = (Vec::new(), Vec::new());
    for of_item in overrides.chunk_by(|a, b| a.item == b.item) {
        let Some(item) = items.get_mut(of_item[0].item as usize) else { continue };
        let Some(merged) = merged(db, block, of_item) else { continue };
        *item = merged.item;
        for (part, problem) in merged.problems {
            match part.checked_sub(1) {
                None => of_whole.push(problem),
                Some(by) => in_overrides.push(OverrideProblem { block: of_item[by].by, problem }),
            }
        }
    }
    // An invalid reference in an overridden argument does not matter, because the argument is not evaluated. Other
    // problems of the block itself still count. In a block with several items, the unmerged items keep their
    // problems.
    let is_kept = |it: &Problem| has_several || it.id() != INVALID_REFERENCE;
    let mut problems: Vec<Problem> = problems.into_iter().filter(is_kept).collect();
    of_whole.retain(|it| !problems.contains(it));
    problems.extend(of_whole);
    let in_overrides = (!in_overrides.is_empty()).then(|| in_overrides.into());
    BlockContent::new(items.into(), problems.into(), in_overrides)
}

/// One item of a block merged with its overrides. `None` if a declaration is missing or cannot be merged.
fn merged(db: &dyn Db, block: Block, overrides: &[Override]) -> Option<Merged> {
    let base = block_declarations(db, block).get(overrides.first()?.item as usize)?;
    let by = overrides.iter().map(|it| block_declarations(db, it.by).get(it.by_item as usize));
    merge(base, &by.collect::<Option<Vec<_>>>()?)
}

/// The declarations of a block as syntax. Needed only for blocks that override others or are overridden.
#[salsa::tracked(returns(ref), no_eq, lru = 256)]
fn block_declarations(db: &dyn Db, block: Block) -> Box<[Declaration]> {
    declarations_of_text(block.text(db), block.file(db).path(db)).into()
}

/// The source ranges of a block's items. Needed only to render locations.
#[salsa::tracked(returns(ref), no_eq, lru = 256)]
pub fn source_maps(db: &dyn Db, block: Block) -> Box<[SourceMap]> {
    let path = block.file(db).path(db);
    let mut maps = lower_text(block.text(db), path).source_maps;
    for of_item in block.overrides(db).chunk_by(|a, b| a.item == b.item) {
        if let Some(map) = maps.get_mut(of_item[0].item as usize)
            && let Some(merged) = merged(db, block, of_item)
        {
            *map = merged.map;
        }
    }
    maps.into()
}

/// The location of a part of an item: the block and the range relative to its start. The block differs from the
/// item's own if an override file contributed the part. `None` if the part has no range.
pub fn place_of(db: &dyn Db, key: ItemKey, at: impl Into<At>) -> Option<(Block, TextRange)> {
    let map = source_maps(db, key.block).get(key.index as usize)?;
    let (part, range) = map.place(at.into())?;
    let block = match part.checked_sub(1) {
        None => key.block,
        Some(by) => {
            let mut of_item = key.block.overrides(db).iter().filter(|it| it.item == key.index);
            of_item.nth(by)?.by
        }
    };
    Some((block, range))
}

/// The range of an item's header in its own block, without the effect of override files.
pub fn own_header(db: &dyn Db, key: ItemKey) -> Option<TextRange> {
    let index = key.index as usize;
    if key.block.overrides(db).is_empty() {
        return source_maps(db, key.block).get(index)?.range(item(db, key).header.into());
    }
    let alone = lower_text(key.block.text(db), key.block.file(db).path(db));
    let header = alone.items.get(index)?.header;
    alone.source_maps.get(index)?.range(header.into())
}

/// The problems of `block` that are located in `by`, a block that overrides it.
pub(crate) fn problems_in_override(
    db: &dyn Db,
    block: Block,
    by: Block,
) -> impl Iterator<Item = &Problem> {
    let all = block_content(db, block).in_overrides.as_deref().unwrap_or_default();
    all.iter().filter(move |it| it.block == by).map(|it| &it.problem)
}

/// The header of the top-level block around a range, which diagnostics show after "in".
pub(crate) fn header_around(db: &dyn Db, block: Block, place: TextRange) -> Option<String> {
    match db::is_json(block.file(db).path(db)) {
        true => {
            let around = json_headers(db, block).iter().find(|(it, _)| it.contains_range(place));
            around.map(|(_, header)| header.clone())
        }
        false => header_at(db::parse(db, block), place),
    }
}

/// The block headers of a file in the JSON syntax, each with the range of its block.
#[salsa::tracked(returns(ref), no_eq, lru = 16)]
fn json_headers(db: &dyn Db, block: Block) -> Box<[(TextRange, String)]> {
    json::headers(block.text(db), block.file(db).path(db)).into()
}

/// The items of a block, without ranges.
///
/// **Stability:** the items and the problems of a block are one query result, so a problem that is added, removed
/// or moved also invalidates readers of the items. The items usually change at the same time, and a separate query
/// for the items would cost one more cache entry for each block of the configuration.
pub fn block_items(db: &dyn Db, block: Block) -> &[Arc<Item>] {
    &block_content(db, block).items
}

/// The syntax errors and structural problems of a block.
pub fn block_problems(db: &dyn Db, block: Block) -> &[Problem] {
    &block_content(db, block).problems
}

/// The parts of a block's items that references to them depend on, in the order of the items.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Outline {
    names: Box<[ItemName]>,
    /// The instance keys of each item. Empty if no item has keys, which is the usual case.
    keys: Box<[Keys]>,
}

impl Outline {
    fn of(items: &[Arc<Item>]) -> Outline {
        let keys: Box<[Keys]> = match items.iter().any(|item| Keys::of(item) != Keys::None) {
            true => items.iter().map(|item| Keys::of(item)).collect(),
            false => Box::default(),
        };
        Outline { names: items.iter().map(|item| ItemName::of(item)).collect(), keys }
    }
}

fn outline(db: &dyn Db, block: Block) -> &Outline {
    (db.projections().outline)(db, block)
}

/// Reads the outline from the content of the block.
pub(crate) fn contained_outline(db: &dyn Db, block: Block) -> &Outline {
    &block_content(db, block).outline
}

/// Reads the outline through a query of its own.
pub(crate) fn separate_outline(db: &dyn Db, block: Block) -> &Outline {
    kept_outline(db, block)
}

/// The outline as a separate query, which stays equal if an edit changes only other parts of the block.
#[salsa::tracked(returns(ref))]
fn kept_outline(db: &dyn Db, block: Block) -> Arc<Outline> {
    Arc::clone(&block_content(db, block).outline)
}

/// The names that a block declares, in the order of its items.
pub fn block_names(db: &dyn Db, block: Block) -> &[ItemName] {
    &outline(db, block).names
}

/// The kind of an item's instance keys.
///
/// **Stability:** an edit of the item leaves the result equal unless it changes the kind of repetition.
pub(crate) fn keys_of(db: &dyn Db, key: ItemKey) -> Keys {
    outline(db, key.block).keys.get(key.index as usize).copied().unwrap_or(Keys::None)
}

/// The item of a key. An equal item may have another address after an edit.
///
/// **Stability:** in a block with several items, an edit of one item does not invalidate readers of the others.
pub fn item(db: &dyn Db, key: ItemKey) -> &Arc<Item> {
    (db.projections().item)(db, key)
}

/// Reads an item from the content of its block.
pub(crate) fn contained_item(db: &dyn Db, key: ItemKey) -> &Arc<Item> {
    &block_items(db, key.block)[key.index as usize]
}

/// Reads an item of a block with several items through a query of its own.
pub(crate) fn separate_item(db: &dyn Db, key: ItemKey) -> &Arc<Item> {
    match block_names(db, key.block).len() {
        1 => contained_item(db, key),
        _ => one_of_many(db, ItemOfBlock::new(db, key.block, key.index)),
    }
}

/// The query key of an item in a block with several items.
#[salsa::interned(revisions = usize::MAX)]
struct ItemOfBlock<'db> {
    #[returns(copy)]
    block: Block,
    #[returns(copy)]
    index: u32,
}

#[salsa::tracked(returns(ref))]
fn one_of_many<'db>(db: &'db dyn Db, place: ItemOfBlock<'db>) -> Arc<Item> {
    Arc::clone(&block_items(db, place.block(db))[place.index(db) as usize])
}
