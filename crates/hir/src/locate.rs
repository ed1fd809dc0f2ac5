//! Maps locations inside an item back to source ranges.

use db::{ByteRange, Location, SourceText, Sources};

use crate::{
    expr::{At, NodeId},
    lower::{
        self,
        overriding::{Declaration, declarations, merge},
        source_map::SourceMap,
    },
    program::{BlockPlace, Origin, Program},
};

/// Finds the source location of `at` by parsing its block again. `None` if the item has no such range.
pub(crate) fn locate(program: &Program, origin: Origin, at: At) -> Option<Location> {
    let sources = &program.sources;
    let overrides = program.overrides.get(&BlockPlace { file: origin.file, block: origin.block });
    let by: Vec<Origin> = overrides
        .into_iter()
        .flatten()
        .filter(|it| it.item == origin.item)
        .map(|it| it.by)
        .collect();
    let (range, origin) = match merged_map(sources, origin, &by) {
        Some(map) => {
            let (part, range) = map.place(at)?;
            (range, part.checked_sub(1).map_or(origin, |by_part| by[by_part]))
        }
        None => (source_map(sources, origin)?.range(at)?, origin),
    };
    let file = sources.files.get(origin.file as usize)?;
    let range = ByteRange::from(range).shifted(file.block_offset(origin.block));
    Some(Location { path: file.path.clone(), range })
}

/// The header of the block that contains an item, which diagnostics show after "in".
pub(crate) fn context(sources: &Sources, origin: Origin) -> Option<String> {
    let (text, file) = text_of(sources, origin)?;
    let map = source_map(sources, origin)?;
    lower::context_at(text, &file.path, map.range(NodeId(0).into())?)
}

fn text_of(sources: &Sources, origin: Origin) -> Option<(&str, &SourceText)> {
    let file = sources.files.get(origin.file as usize)?;
    Some((file.blocks.get(origin.block as usize)?, file))
}

fn source_map(sources: &Sources, origin: Origin) -> Option<SourceMap> {
    let (text, file) = text_of(sources, origin)?;
    let mut lowered = lower::lower_text(text, &file.path);
    let index = origin.item as usize;
    (index < lowered.source_maps.len()).then(|| lowered.source_maps.swap_remove(index))
}

/// The source map of an item that override files change. `None` if no override file does.
fn merged_map(sources: &Sources, origin: Origin, by: &[Origin]) -> Option<SourceMap> {
    let declaration = |origin: Origin| -> Option<Declaration> {
        let (text, file) = text_of(sources, origin)?;
        declarations(text, &file.path).into_iter().nth(origin.item as usize)
    };
    if by.is_empty() {
        return None;
    }
    let base = declaration(origin)?;
    let by: Vec<Declaration> = by.iter().map(|it| declaration(*it)).collect::<Option<_>>()?;
    Some(merge(&base, &by.iter().collect::<Vec<_>>())?.map)
}
