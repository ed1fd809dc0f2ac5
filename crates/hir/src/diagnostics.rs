//! The diagnostics of a whole configuration: problems of items and blocks, with their source ranges.

use std::cell::RefCell;

use db::{Block, ByteRange, Diagnostic, Directory, File, Location, Related, Rule, Summary};
use rustc_hash::{FxHashMap, FxHashSet};
use syntax::{TextRange, TextSize};
use values::Str;

use crate::{
    Db,
    analysis::{
        problem::{ItemProblem, LocatedProblem},
        problems::{item_problems, overriding_problems, problems_of_items, setup_problems},
    },
    content::{block_names, block_problems, header_around, place_of, problems_in_override},
    fix::Fix,
    item_name::ItemKey,
    lower::problem::{INVALID_REFERENCE, MISSING_ARGUMENT, PLACE, Problem, SYNTAX_ERROR},
    names::base_of,
    place::ItemPlace,
    statics,
    symbols::module_outline,
    workspace::Workspace,
};

/// All diagnostics of the configuration, including hints: the root module first, then the other modules by path.
/// Modules that no call reaches any more are left out.
pub fn diagnostics(db: &dyn Db, workspace: Workspace) -> Vec<Diagnostic> {
    diagnostics_with(db, workspace, |directory, file| of_file(db, workspace, directory, file))
}

/// Like [`diagnostics`], but takes the diagnostics of each file from `of_file`. Their addresses must be relative
/// to the module.
pub fn diagnostics_with(
    db: &dyn Db,
    workspace: Workspace,
    of_file: impl Fn(Directory, File) -> Vec<Diagnostic>,
) -> Vec<Diagnostic> {
    let mut directories = crate::build::reachable(db, workspace);
    let addresses = addresses(db, workspace, &directories);
    sorted::sort_by_key(&mut directories[1..], |directory| directory.path(db));
    let mut diagnostics = Vec::new();
    for directory in directories {
        let files = directory.files(db).iter();
        let mut found: Vec<Diagnostic> = files.flat_map(|&file| of_file(directory, file)).collect();
        if let Some(module) = addresses.get(&directory) {
            let inside = found.iter_mut().filter_map(|it| it.address.as_mut());
            inside.for_each(|address| *address = format!("{module}.{address}"));
        }
        diagnostics.extend(found);
    }
    diagnostics
}

/// The addresses of modules with a single path of calls, without instance keys. A module that is called more than
/// once has no entry, because its address is ambiguous; the source location is then enough.
fn addresses(
    db: &dyn Db,
    workspace: Workspace,
    reachable: &[Directory],
) -> FxHashMap<Directory, String> {
    let mut callers: FxHashMap<Directory, Vec<(Directory, Str)>> = FxHashMap::default();
    for &caller in reachable {
        for (name, child) in crate::module_calls::module_calls(db, workspace, caller) {
            callers.entry(child).or_default().push((caller, name));
        }
    }
    let root = workspace.root(db);
    let mut addresses: FxHashMap<Directory, String> = FxHashMap::default();
    // `reachable` lists callers before their callees.
    for directory in &reachable[1..] {
        let Some([(caller, name)]) = callers.get(directory).map(Vec::as_slice) else { continue };
        let address = match addresses.get(caller) {
            Some(above) => format!("{above}.module.{name}"),
            None if *caller == root => format!("module.{name}"),
            None => continue,
        };
        addresses.insert(*directory, address);
    }
    addresses
}

/// All diagnostics of one file of a module, including hints, in the order of the text. Addresses are relative to
/// the module.
pub fn of_file(
    db: &dyn Db,
    workspace: Workspace,
    directory: Directory,
    file: File,
) -> Vec<Diagnostic> {
    of_blocks_of_file(db, workspace, directory, file, |_| true).diagnostics
}

/// Like [`of_file`], for a command that queries once. If the caller has inferred all items and found no problem
/// (`are_items_sound`), the items are not queried again. Blocks are skipped too if the outline of the module
/// records no problem.
pub fn of_file_once(
    db: &dyn Db,
    workspace: Workspace,
    directory: Directory,
    file: File,
    are_items_sound: bool,
) -> Vec<Diagnostic> {
    let are_blocks_sound = module_outline(db, directory).is_some_and(|it| !it.has_problems);
    if are_items_sound && are_blocks_sound {
        return decode_error(db, file).into_iter().collect();
    }
    let mode = if are_items_sound { CheckMode::SoundItems } else { CheckMode::Once };
    of_some_blocks(db, Check { workspace, directory, mode }, file, |_| true).diagnostics
}

/// The errors of one file that matter before installation: syntax errors, duplicate declarations, and errors in
/// the settings that determine modules and providers. Excludes errors of expressions, which evaluation reports.
pub fn of_file_for_setup(
    db: &dyn Db,
    workspace: Workspace,
    directory: Directory,
    file: File,
) -> Vec<Diagnostic> {
    let check = Check { workspace, directory, mode: CheckMode::Setup };
    let mut found = of_some_blocks(db, check, file, |_| true).diagnostics;
    found.retain(|it| it.is_error() && !OF_EXPRESSIONS.contains(&it.id()));
    found
}

/// The ids of block problems that concern expressions, and bodies that need a schema.
const OF_EXPRESSIONS: [Rule; 6] = [
    INVALID_REFERENCE,
    Rule::ReservedSymbol,
    Rule::ExtraneousDynamicContent,
    Rule::InvalidDynamicIterator,
    Rule::InvalidDynamicLabels,
    Rule::MissingDynamicContent,
];

/// The module whose diagnostics are computed, and the mode.
#[derive(Clone, Copy)]
struct Check {
    workspace: Workspace,
    directory: Directory,
    mode: CheckMode,
}

/// The caller's situation, which decides how much work the diagnostics take.
#[derive(Clone, Copy, PartialEq, Eq)]
enum CheckMode {
    /// Before installation: only the problems that `init` reports.
    Setup,
    /// A command that queries once.
    Once,
    /// Like `Once`, if no item has a problem.
    SoundItems,
    /// An editor, after each edit.
    EachEdit,
}

/// Adds the location of a part of an item to a diagnostic, and the header of the block around it.
pub fn at_item(db: &dyn Db, place: ItemPlace, found: Diagnostic) -> Diagnostic {
    let Some((block, range)) = place_of(db, place.item, place.at) else { return found };
    let location = Places::default().location(db, block, range);
    Diagnostic { context: header_around(db, block, range), ..found }.at(location)
}

/// The diagnostics of a file and the blocks that have any.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FileProblems {
    /// The diagnostics, in the order of the text.
    pub diagnostics: Vec<Diagnostic>,
    /// The blocks with diagnostics, in the order of the text.
    pub blocks: Vec<Block>,
}

/// The diagnostics of the selected blocks of a file, and of the file as a whole.
///
/// An editor calls this after each keystroke. It checks each block of the file, but computes only those that the
/// edit invalidated.
pub fn of_blocks_of_file(
    db: &dyn Db,
    workspace: Workspace,
    directory: Directory,
    file: File,
    is_checked: impl Fn(Block) -> bool,
) -> FileProblems {
    let check = Check { workspace, directory, mode: CheckMode::EachEdit };
    of_some_blocks(db, check, file, is_checked)
}

fn of_some_blocks(
    db: &dyn Db,
    check: Check,
    file: File,
    is_checked: impl Fn(Block) -> bool,
) -> FileProblems {
    let Check { workspace, directory, mode } = check;
    let places = Places::default();
    let is_override = db::is_override(file.path(db));
    let blocks: Vec<Block> = file.blocks(db).iter().copied().filter(|it| is_checked(*it)).collect();
    let blocks = &blocks;
    let of_block = |&block| {
        block_problems(db, block).iter().map(move |problem| BlockProblem { block, problem })
    };
    let problems: Vec<BlockProblem<'_>> = blocks
        .iter()
        .flat_map(of_block)
        .filter(|it| !may_follow_syntax_error(db, it.block, it.problem.id()))
        .filter(|it| {
            it.problem.id() == SYNTAX_ERROR || !is_near_syntax_error(db, it.block, it.problem.range)
        })
        .collect();
    let mut with_problems: FxHashSet<Block> = problems.iter().map(|it| it.block).collect();
    let mut found: Vec<Diagnostic> = decode_error(db, file).into_iter().collect();
    found.extend(of_blocks(db, &problems, &places));
    for &block in blocks {
        let before = found.len();
        match is_override && mode != CheckMode::Setup {
            true => of_override(db, workspace, directory, block, &places, &mut found),
            false => of_items(db, check, block, &places, &mut found),
        }
        if found.len() > before {
            with_problems.insert(block);
        }
    }
    sorted::sort_by(&mut found, |a, b| a.location.cmp(&b.location));
    if is_override {
        // Most problems of an overriding block also occur in the merged item, so remove duplicates.
        found.dedup();
    }
    let blocks = blocks.iter().copied().filter(|it| with_problems.contains(it)).collect();
    FileProblems { diagnostics: found, blocks }
}

/// The problems of the items of a block, for blocks outside of override files and, before installation, for all
/// blocks.
fn of_items(db: &dyn Db, check: Check, block: Block, places: &Places, found: &mut Vec<Diagnostic>) {
    let Check { workspace, directory, mode } = check;
    let once;
    let problems = match mode {
        CheckMode::EachEdit => &**item_problems(db, workspace, directory, block),
        CheckMode::Once => {
            once = problems_of_items(db, workspace, directory, block);
            &once
        }
        CheckMode::Setup => {
            once = setup_problems(db, workspace, directory, block);
            &once
        }
        CheckMode::SoundItems => return,
    };
    for LocatedProblem { item: key, problem } in problems {
        let is_reported =
            !may_follow_syntax_error(db, block, problem.id()) && is_in(db, block, *key, problem);
        let at = || place_of(db, *key, problem.at);
        if is_reported && !at().is_some_and(|(block, range)| is_near_syntax_error(db, block, range))
        {
            found.push(from_item(db, workspace, places, *key, problem));
        }
    }
}

/// Returns true if a problem's location is in the given block. Only an overridden item can have problems in other
/// blocks.
fn is_in(db: &dyn Db, block: Block, key: ItemKey, problem: &ItemProblem) -> bool {
    match key.block.overrides(db).is_empty() {
        true => key.block == block,
        false => place_of(db, key, problem.at).map_or(key.block, |(block, _)| block) == block,
    }
}

/// The problems of a block of an override file: problems of the merged items, and overrides without an original.
fn of_override(
    db: &dyn Db,
    workspace: Workspace,
    directory: Directory,
    block: Block,
    places: &Places,
    found: &mut Vec<Diagnostic>,
) {
    for found_in in overriding_problems(db, workspace, directory, block) {
        found.push(from_item(db, workspace, places, found_in.item, &found_in.problem));
    }
    let mut seen = FxHashSet::default();
    for index in 0..block_names(db, block).len() as u32 {
        let Some(base) = base_of(db, directory, ItemKey { block, index }) else { continue };
        if !seen.insert(base.block) {
            continue;
        }
        let of_items = item_problems(db, workspace, directory, base.block).iter();
        let here = of_items.filter(|it| is_in(db, block, it.item, &it.problem));
        found.extend(here.map(|it| from_item(db, workspace, places, it.item, &it.problem)));
        let structural = problems_in_override(db, base.block, block);
        found.extend(structural.map(|it| from_block(db, it, places, block)));
    }
}

/// Returns true if a problem may be a consequence of a syntax error in the block: the missing argument may be in
/// the part that the parser could not read.
fn may_follow_syntax_error(db: &dyn Db, block: Block, id: Rule) -> bool {
    id == MISSING_ARGUMENT && block_problems(db, block).iter().any(|it| it.id() == SYNTAX_ERROR)
}

/// Returns true if a syntax error is inside of the range or right behind it. Problems there may be consequences of
/// it.
fn is_near_syntax_error(db: &dyn Db, block: Block, place: TextRange) -> bool {
    let text = block.text(db);
    let is_near = |error: &Problem| {
        let (start, end) = (error.range.start(), error.range.end());
        let (before, behind) = text.split_at_checked(start.into()).unwrap_or_default();
        // A continuation at the start of a line belongs to the line before.
        let start = match behind.starts_with(['(', '[', '.']) {
            true => TextSize::of(before.trim_end()),
            false => start,
        };
        error.id() == SYNTAX_ERROR && start <= place.end() && place.start() <= end
    };
    block_problems(db, block).iter().any(is_near)
}

/// The number of lookups in one file from which a table of all blocks pays off. After an edit there are few
/// lookups, and a search from the start of the file is cheaper.
const FEW_LOOKUPS: usize = 8;

/// The positions of blocks in their files, computed lazily for files with diagnostics.
#[derive(Default)]
struct Places {
    of_files: RefCell<FxHashMap<File, PlacesInFile>>,
}

#[derive(Default)]
struct PlacesInFile {
    lookups: usize,
    offsets: Option<FxHashMap<Block, u32>>,
}

impl Places {
    /// Renders a fix. `None` for JSON files, because fixes are text in the native syntax.
    fn fix(&self, db: &dyn Db, block: Block, range: TextRange, fix: &Fix) -> Option<db::Fix> {
        if db::is_json(block.file(db).path(db)) {
            return None;
        }
        let Location { path, range: place } = self.location(db, block, range)?;
        let text = block.text(db).get(range.start().into()..range.end().into())?;
        fix.at(&path, place.start, text)
    }

    fn location(&self, db: &dyn Db, block: Block, range: TextRange) -> Option<Location> {
        let path = block.file(db).path(db).clone();
        let range = ByteRange::from(range).shifted(self.offset(db, block)?);
        Some(Location { path, range })
    }

    fn offset(&self, db: &dyn Db, block: Block) -> Option<u32> {
        let file = block.file(db);
        let mut of_files = self.of_files.borrow_mut();
        let places = of_files.entry(file).or_default();
        places.lookups += 1;
        if places.lookups < FEW_LOOKUPS {
            return db::block_offset(db, block);
        }
        let offsets = places.offsets.get_or_insert_with(|| offsets(db, file));
        offsets.get(&block).copied()
    }
}

fn offsets(db: &dyn Db, file: File) -> FxHashMap<Block, u32> {
    let mut next = 0;
    let offset = |&block: &Block| {
        let offset = next;
        next += block.text(db).len() as u32;
        (block, offset)
    };
    file.blocks(db).iter().map(offset).collect()
}

fn decode_error(db: &dyn Db, file: File) -> Option<Diagnostic> {
    let offset = file.decode_error(db)?;
    let location =
        Location { path: file.path(db).clone(), range: ByteRange { start: offset, end: offset } };
    let detail = "All input files must be UTF-8 encoded. Ensure that UTF-8 encoding is selected in your editor.";
    Some(Diagnostic::new(Summary::INVALID_ENCODING, detail).at(Some(location)))
}

/// The largest number of syntax errors that are shown for one file. A file that is not a configuration has one per
/// line.
const MAX_SYNTAX_ERRORS: usize = 100;

/// A problem of a block that does not depend on other blocks.
struct BlockProblem<'db> {
    block: Block,
    problem: &'db Problem,
}

/// The diagnostics of blocks in one file.
fn of_blocks(db: &dyn Db, problems: &[BlockProblem<'_>], places: &Places) -> Vec<Diagnostic> {
    let (mut found, mut count, mut first_hidden) = (Vec::new(), 0, None);
    for &BlockProblem { block, problem } in problems {
        count += usize::from(problem.id() == SYNTAX_ERROR);
        if problem.id() == SYNTAX_ERROR && count > MAX_SYNTAX_ERRORS {
            first_hidden.get_or_insert((block, problem.range));
        } else {
            found.push(from_block(db, problem, places, block));
        }
    }
    if let Some((block, range)) = first_hidden {
        let more = count - MAX_SYNTAX_ERRORS;
        let detail = format!(
            "There are {more} more syntax errors from here to the end of the file. Correct the \
             ones above first, or see whether this file is a configuration at all."
        );
        found.push(
            Diagnostic::new(Summary::TOO_MANY_SYNTAX_ERRORS, detail)
                .at(places.location(db, block, range)),
        );
    }
    found
}

fn from_block(db: &dyn Db, problem: &Problem, places: &Places, block: Block) -> Diagnostic {
    let fix = problem.fix.as_ref().and_then(|fix| places.fix(db, block, problem.range, fix));
    let found = Diagnostic {
        fix,
        context: around(db, block, problem.range, problem.id()),
        ..Diagnostic::new(problem.summary.clone(), problem.detail.clone())
    }
    .at(places.location(db, block, problem.range));
    with_related_place(found, problem.related.and_then(|it| places.location(db, block, it)))
}

/// The header of the block that contains a problem. `None` for problems about the header itself. Problems about
/// missing parts of the body are located at the header too, but they get a context.
fn around(db: &dyn Db, block: Block, range: TextRange, id: Rule) -> Option<String> {
    const OF_THE_BODY: [Rule; 3] = [MISSING_ARGUMENT, Rule::InsufficientBlocks, Rule::MissingName];
    let header = header_around(db, block, range)?;
    let text = block.text(db).get(range.start().into()..)?;
    let is_header = text.starts_with(&header) && !OF_THE_BODY.contains(&id);
    (!is_header).then_some(header)
}

/// Replaces the placeholder for a location in a detail, and adds the location.
pub(crate) fn with_related_place(mut found: Diagnostic, place: Option<Location>) -> Diagnostic {
    if found.detail.contains(PLACE) {
        found.detail = found.detail.replace(PLACE, "the place shown below");
        let related = |location| Related { location, message: "this is the place".to_owned() };
        found.related.extend(place.map(related));
    }
    found
}

fn from_item(
    db: &dyn Db,
    workspace: Workspace,
    places: &Places,
    key: ItemKey,
    problem: &ItemProblem,
) -> Diagnostic {
    let place = place_of(db, key, problem.at);
    let related = problem.related.iter().filter_map(|it| {
        let (block, range) = place_of(db, it.place.item, it.place.at)?;
        let message = it.message.clone();
        Some(Related { location: places.location(db, block, range)?, message })
    });
    let location = place.and_then(|(block, range)| places.location(db, block, range));
    let fix = problem.fix.as_ref();
    let fix = fix.zip(place).and_then(|(fix, (block, range))| places.fix(db, block, range, fix));
    Diagnostic {
        checked: None,
        fix,
        summary: problem.summary.clone(),
        detail: detail_with_current_values(db, workspace, problem),
        address: problem.address.as_ref().map(ToString::to_string),
        context: place.and_then(|(block, range)| around(db, block, range, problem.id())),
        values: problem.values.clone(),
        difference: None,
        // The first link of a chain is often the location of the diagnostic itself.
        related: related.filter(|it| Some(&it.location) != location.as_ref()).collect(),
        location,
    }
}

/// The detail of a problem, with a sentence on the current value of its condition if that is known.
fn detail_with_current_values(db: &dyn Db, workspace: Workspace, problem: &ItemProblem) -> String {
    let detail = problem.condition.as_ref().and_then(|condition| {
        let (first, rest) = problem.detail.split_once("\n\n")?;
        let sentence = statics::current_values::sentence(db, workspace, condition)?;
        Some(format!("{first} {sentence}\n\n{rest}"))
    });
    detail.unwrap_or_else(|| problem.detail.clone())
}
