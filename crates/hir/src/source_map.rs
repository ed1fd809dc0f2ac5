//! From a place inside an item back to the text.

use db::{ByteRange, Location, Sources};

use crate::{
    expr::{At, NodeId},
    lower,
    program::Origin,
};

/// Where something of an item stands, found by parsing its block again.
pub(crate) fn locate(sources: &Sources, origin: Origin, at: At) -> Option<Location> {
    let (map, file) = source_map(sources, origin)?;
    let range = ByteRange::from(map.range(at)?);
    Some(Location {
        path: file.path.clone(),
        range: range.shifted(file.block_offset(origin.block)),
    })
}

/// The header of the block around an item, as shown after "in".
pub(crate) fn context(sources: &Sources, origin: Origin) -> Option<String> {
    let (map, file) = source_map(sources, origin)?;
    let text = file.blocks.get(origin.block as usize)?;
    lower::context_at(text, &file.path, map.range(NodeId(0).into())?)
}

fn source_map(sources: &Sources, origin: Origin) -> Option<(lower::SourceMap, &db::SourceText)> {
    let file = sources.files.get(origin.file as usize)?;
    let text = file.blocks.get(origin.block as usize)?;
    let mut lowered = lower::lower_text(text, &file.path);
    let index = origin.item as usize;
    (index < lowered.source_maps.len()).then(|| (lowered.source_maps.swap_remove(index), file))
}
