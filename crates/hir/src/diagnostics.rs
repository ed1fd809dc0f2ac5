//! Diagnostics of a whole configuration: problems of items and blocks, joined with the ranges that they are at.

use std::cell::RefCell;

use db::{Block, ByteRange, Diagnostic, Directory, File, Location, Related};
use rustc_hash::{FxHashMap, FxHashSet};
use syntax::{TextRange, TextSize};
use values::Str;

use crate::{
    Db,
    analysis::{
        ItemProblem, item_problems, overriding_problems, problems_of_items, setup_problems,
    },
    expr::NodeId,
    fix::Fix,
    lower::{INVALID_REFERENCE, MISSING_ARGUMENT, PLACE, Problem, SYNTAX_ERROR},
    names::{
        ItemKey, base_of, block_names, block_problems, header_around, place_of,
        problems_in_override,
    },
    statics,
    symbols::gathered,
    workspace::Workspace,
};

/// Everything that is wrong with the configuration, hints included: the root module first, then the others by path.
/// Modules that were read for a call that is gone do not count.
pub fn diagnostics(db: &dyn Db, workspace: Workspace) -> Vec<Diagnostic> {
    diagnostics_with(db, workspace, |directory, file| of_file(db, workspace, directory, file))
}

/// The same, where somebody knows already what is wrong with each file of a module. Addresses in it are those within the
/// module.
pub fn diagnostics_with(
    db: &dyn Db,
    workspace: Workspace,
    of_file: impl Fn(Directory, File) -> Vec<Diagnostic>,
) -> Vec<Diagnostic> {
    let mut directories = crate::build::reachable(db, workspace);
    let addresses = addresses(db, workspace, &directories);
    directories[1..].sort_by_key(|directory| directory.path(db));
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

/// The addresses of the modules that one path of calls leads to, without instances. Of a module that is called more than
/// once nobody can say which is meant; the place in its text says enough.
fn addresses(
    db: &dyn Db,
    workspace: Workspace,
    reachable: &[Directory],
) -> FxHashMap<Directory, String> {
    let mut callers: FxHashMap<Directory, Vec<(Directory, Str)>> = FxHashMap::default();
    for &caller in reachable {
        for (name, child) in crate::names::module_calls(db, workspace, caller) {
            callers.entry(child).or_default().push((caller, name));
        }
    }
    let root = workspace.root(db);
    let mut addresses: FxHashMap<Directory, String> = FxHashMap::default();
    // Callers come before what they call.
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

/// Everything that is wrong with one file of a module, hints included, in the order of its text. Addresses are those
/// within the module.
pub fn of_file(
    db: &dyn Db,
    workspace: Workspace,
    directory: Directory,
    file: File,
) -> Vec<Diagnostic> {
    of_blocks_of_file(db, workspace, directory, file, |_| true).diagnostics
}

/// The same for somebody who asks once, as a command does. Where nothing is wrong with any item, as whoever inferred them all
/// has seen, they are not asked again, nor are blocks of which nothing was wrong when they were gathered.
pub fn of_file_once(
    db: &dyn Db,
    workspace: Workspace,
    (directory, are_items_sound): (Directory, bool),
    file: File,
) -> Vec<Diagnostic> {
    let are_blocks_sound = gathered(db, directory).is_some_and(|it| !it.has_problems);
    if are_items_sound && are_blocks_sound {
        return decode_error(db, file).into_iter().collect();
    }
    let asked = if are_items_sound { Asked::OfSoundItems } else { Asked::Once };
    of_some_blocks(db, (workspace, asked), directory, file, |_| true).diagnostics
}

/// What is wrong with one file of a module before anything is installed: what cannot be read, what is declared twice, and what
/// says which modules and providers there are. Expressions are looked at by whoever evaluates them.
pub fn of_file_for_setup(
    db: &dyn Db,
    workspace: Workspace,
    directory: Directory,
    file: File,
) -> Vec<Diagnostic> {
    let asked = (workspace, Asked::ForSetup);
    let mut found = of_some_blocks(db, asked, directory, file, |_| true).diagnostics;
    found.retain(|it| it.is_error() && !OF_EXPRESSIONS.contains(&it.id));
    found
}

/// What blocks have that is wrong with expressions, and with bodies that only a schema explains.
const OF_EXPRESSIONS: [&str; 6] = [
    INVALID_REFERENCE,
    "reserved-symbol",
    "extraneous-dynamic-content",
    "invalid-dynamic-iterator",
    "invalid-dynamic-labels",
    "missing-dynamic-content",
];

/// How often somebody asks for what is wrong, and what is known.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Asked {
    ForSetup,
    Once,
    /// The same, when no item has a problem.
    OfSoundItems,
    AfterEachEdit,
}

/// A diagnostic at a place of an item, with the header of the block around it.
pub fn at_item(db: &dyn Db, (key, node): (ItemKey, NodeId), found: Diagnostic) -> Diagnostic {
    let Some((block, range)) = place_of(db, key, node) else { return found };
    let location = Places::default().location(db, block, range);
    Diagnostic { context: header_around(db, block, range), ..found }.at(location)
}

/// What is wrong with a file, and with which of its blocks.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FileProblems {
    /// The diagnostics, in the order of the text.
    pub diagnostics: Vec<Diagnostic>,
    /// The blocks that they are about, in the order of the text.
    pub blocks: Vec<Block>,
}

/// What is wrong with some blocks of a file, and with the file as a whole.
///
/// This is what an editor asks after each key: it costs a look at each block of the file, and work for those only that
/// the edit reached.
pub fn of_blocks_of_file(
    db: &dyn Db,
    workspace: Workspace,
    directory: Directory,
    file: File,
    is_asked: impl Fn(Block) -> bool,
) -> FileProblems {
    of_some_blocks(db, (workspace, Asked::AfterEachEdit), directory, file, is_asked)
}

fn of_some_blocks(
    db: &dyn Db,
    (workspace, asked): (Workspace, Asked),
    directory: Directory,
    file: File,
    is_asked: impl Fn(Block) -> bool,
) -> FileProblems {
    let places = Places::default();
    let is_override = db::is_override(file.path(db));
    let blocks: Vec<Block> = file.blocks(db).iter().copied().filter(|it| is_asked(*it)).collect();
    let blocks = &blocks;
    let of_block = |&block| block_problems(db, block).iter().map(move |it| (block, it));
    let problems: Vec<(Block, &Problem)> = blocks
        .iter()
        .flat_map(of_block)
        .filter(|&(block, it)| !is_doubtful(db, block, it.id))
        .filter(|&(block, it)| it.id == SYNTAX_ERROR || !is_spoiled(db, block, it.range))
        .collect();
    let mut with_problems: FxHashSet<Block> = problems.iter().map(|(block, _)| *block).collect();
    let mut found: Vec<Diagnostic> = decode_error(db, file).into_iter().collect();
    found.extend(of_blocks(db, &problems, &places));
    for &block in blocks {
        let before = found.len();
        match is_override && asked != Asked::ForSetup {
            true => of_override(db, workspace, directory, block, &places, &mut found),
            false => of_items(db, (workspace, asked), (directory, block), &places, &mut found),
        }
        if found.len() > before {
            with_problems.insert(block);
        }
    }
    found.sort_by(|a, b| a.location.cmp(&b.location));
    if is_override {
        // What is wrong with an overriding block by itself mostly is wrong with the two together.
        found.dedup();
    }
    let blocks = blocks.iter().copied().filter(|it| with_problems.contains(it)).collect();
    FileProblems { diagnostics: found, blocks }
}

/// What is wrong with the items of a block that is in no override file, or of any block before anything is installed.
fn of_items(
    db: &dyn Db,
    (workspace, asked): (Workspace, Asked),
    (directory, block): (Directory, Block),
    places: &Places,
    found: &mut Vec<Diagnostic>,
) {
    let once;
    let problems = match asked {
        Asked::AfterEachEdit => &**item_problems(db, workspace, directory, block),
        Asked::Once => {
            once = problems_of_items(db, workspace, directory, block);
            &once
        }
        Asked::ForSetup => {
            once = setup_problems(db, workspace, directory, block);
            &once
        }
        Asked::OfSoundItems => return,
    };
    for (key, problem) in problems {
        let is_told = !is_doubtful(db, block, problem.id) && is_in(db, block, *key, problem);
        let at = || place_of(db, *key, problem.at);
        if is_told && !at().is_some_and(|(block, range)| is_spoiled(db, block, range)) {
            found.push(from_item(db, workspace, places, *key, problem));
        }
    }
}

/// Whether a problem is at a place of a block. Nearly all are at one of the item's own.
fn is_in(db: &dyn Db, block: Block, key: ItemKey, problem: &ItemProblem) -> bool {
    match key.block.overrides(db).is_empty() {
        true => key.block == block,
        false => place_of(db, key, problem.at).map_or(key.block, |(block, _)| block) == block,
    }
}

/// What is wrong with a block of an override file: in what it overrides, or because there is no such thing.
fn of_override(
    db: &dyn Db,
    workspace: Workspace,
    directory: Directory,
    block: Block,
    places: &Places,
    found: &mut Vec<Diagnostic>,
) {
    for (key, problem) in overriding_problems(db, workspace, directory, block) {
        found.push(from_item(db, workspace, places, key, &problem));
    }
    let mut seen = FxHashSet::default();
    for index in 0..block_names(db, block).len() as u32 {
        let Some(base) = base_of(db, directory, ItemKey { block, index }) else { continue };
        if !seen.insert(base.block) {
            continue;
        }
        let of_items = item_problems(db, workspace, directory, base.block).iter();
        let here = of_items.filter(|(key, problem)| is_in(db, block, *key, problem));
        found.extend(here.map(|(key, problem)| from_item(db, workspace, places, *key, problem)));
        let structural = problems_in_override(db, base.block, block);
        found.extend(structural.map(|it| from_block(db, it, places, block)));
    }
}

/// Whether a problem may be there because the parser could not read something of the block: what is missing may be just
/// that.
fn is_doubtful(db: &dyn Db, block: Block, id: &str) -> bool {
    id == MISSING_ARGUMENT && block_problems(db, block).iter().any(|it| it.id == SYNTAX_ERROR)
}

/// Whether the parser stopped within a place, or right behind it: what is wrong there follows from what it could not read.
fn is_spoiled(db: &dyn Db, block: Block, place: TextRange) -> bool {
    let text = block.text(db);
    let is_near = |error: &Problem| {
        let (start, end) = (error.range.start(), error.range.end());
        let (before, behind) = text.split_at_checked(start.into()).unwrap_or_default();
        // What goes on in the next line was meant to belong to the line before.
        let start = match behind.starts_with(['(', '[', '.']) {
            true => TextSize::of(before.trim_end()),
            false => start,
        };
        error.id == SYNTAX_ERROR && start <= place.end() && place.start() <= end
    };
    block_problems(db, block).iter().any(is_near)
}

/// After an edit few places are asked for, and looking for each from the start of its file is cheaper than a table of all
/// blocks. From this many in one file on there is a table.
const FEW: usize = 8;

/// Where blocks stand in their files, found out for the files that something is said about.
#[derive(Default)]
struct Places {
    of_files: RefCell<FxHashMap<File, PlacesInFile>>,
}

#[derive(Default)]
struct PlacesInFile {
    asked: usize,
    offsets: Option<FxHashMap<Block, u32>>,
}

impl Places {
    /// A fix is native text.
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
        places.asked += 1;
        if places.asked < FEW {
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
    Some(
        Diagnostic::error("invalid-encoding", "Invalid character encoding", detail)
            .at(Some(location)),
    )
}

/// The most syntax errors of one file that are shown: a file that is no configuration has one in each line.
const MOST_SYNTAX_ERRORS: usize = 100;

/// The problems of a file's blocks.
fn of_blocks(db: &dyn Db, problems: &[(Block, &Problem)], places: &Places) -> Vec<Diagnostic> {
    let (mut found, mut count, mut first_hidden) = (Vec::new(), 0, None);
    for &(block, problem) in problems {
        count += usize::from(problem.id == SYNTAX_ERROR);
        if problem.id == SYNTAX_ERROR && count > MOST_SYNTAX_ERRORS {
            first_hidden.get_or_insert((block, problem.range));
        } else {
            found.push(from_block(db, problem, places, block));
        }
    }
    if let Some((block, range)) = first_hidden {
        let more = count - MOST_SYNTAX_ERRORS;
        let detail = format!(
            "There are {more} more syntax errors from here to the end of the file. Correct the ones above first, or see whether this file is a \
             configuration at all."
        );
        found.push(
            Diagnostic::error(SYNTAX_ERROR, "Too many syntax errors", detail)
                .at(places.location(db, block, range)),
        );
    }
    found
}

fn from_block(db: &dyn Db, problem: &Problem, places: &Places, block: Block) -> Diagnostic {
    let fix = problem.fix.as_ref().and_then(|fix| places.fix(db, block, problem.range, fix));
    Diagnostic {
        severity: problem.severity,
        fix,
        context: around(db, block, problem.range, problem.id),
        ..Diagnostic::error(problem.id, problem.summary.clone(), problem.detail.clone())
    }
    .at(places.location(db, block, problem.range))
    .naming(problem.related.and_then(|range| places.location(db, block, range)))
}

/// The header of the block that a problem is inside of. What is about a header is inside of nothing, but for what the body
/// lacks, which only has no other place.
fn around(db: &dyn Db, block: Block, range: TextRange, id: &str) -> Option<String> {
    const OF_THE_BODY: [&str; 3] = [MISSING_ARGUMENT, "insufficient-blocks", "missing-name"];
    let header = header_around(db, block, range)?;
    let text = block.text(db).get(range.start().into()..)?;
    let is_header = text.starts_with(&header) && !OF_THE_BODY.contains(&id);
    (!is_header).then_some(header)
}

/// The words for a place that a detail names.
trait Naming {
    fn naming(self, place: Option<Location>) -> Self;
}

impl Naming for Diagnostic {
    fn naming(mut self, place: Option<Location>) -> Diagnostic {
        if self.detail.contains(PLACE) {
            self.detail = self.detail.replace(PLACE, "the place shown below");
            self.related.extend(
                place.map(|location| Related { location, message: "this is the place".to_owned() }),
            );
        }
        self
    }
}

fn from_item(
    db: &dyn Db,
    workspace: Workspace,
    places: &Places,
    key: ItemKey,
    problem: &ItemProblem,
) -> Diagnostic {
    let place = place_of(db, key, problem.at);
    let related = problem.related.iter().filter_map(|(key, at, message)| {
        let (block, range) = place_of(db, *key, *at)?;
        Some(Related { location: places.location(db, block, range)?, message: message.clone() })
    });
    let location = place.and_then(|(block, range)| places.location(db, block, range));
    let fix = problem.fix.as_ref();
    let fix = fix.zip(place).and_then(|(fix, (block, range))| places.fix(db, block, range, fix));
    Diagnostic {
        fix,
        id: problem.id,
        severity: problem.severity,
        summary: problem.summary.clone(),
        detail: detail_today(db, workspace, problem),
        address: problem.address.as_ref().map(ToString::to_string),
        context: place.and_then(|(block, range)| around(db, block, range, problem.id)),
        values: problem.values.clone(),
        // The first link of a chain often is the very place that the diagnostic is at.
        related: related.filter(|it| Some(&it.location) != location.as_ref()).collect(),
        location,
    }
}

/// The detail of a problem, with what today's values make of its condition.
fn detail_today(db: &dyn Db, workspace: Workspace, problem: &ItemProblem) -> String {
    let today = problem.condition.as_ref().and_then(|condition| {
        let (said, rest) = problem.detail.split_once("\n\n")?;
        let today = statics::today::sentence(db, workspace, condition)?;
        Some(format!("{said} {today}\n\n{rest}"))
    });
    today.unwrap_or_else(|| problem.detail.clone())
}
