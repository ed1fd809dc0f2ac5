//! Diagnostics of a whole configuration: problems of items and blocks, joined with the ranges that they are at.

use std::sync::Arc;

use db::{Block, ByteRange, Db, Diagnostic, Directory, File, Location, Related};
use rustc_hash::FxHashMap;
use syntax::TextRange;
use values::Str;

use crate::{
    analysis::{self, ItemProblem},
    item::RequiredProvider,
    lower::{MISSING_ARGUMENT, PLACE, Problem, SYNTAX_ERROR, context_at},
    names::{ItemKey, block_problems, source_maps},
    workspace::Workspace,
};

/// Everything that is wrong with the configuration, hints included: the root module first, then the others by path.
/// Modules that were read for a call that is gone do not count.
pub fn diagnostics(db: &dyn Db, workspace: Workspace) -> Vec<Diagnostic> {
    let mut directories = crate::build::reachable(db, workspace);
    let addresses = addresses(db, workspace, &directories);
    directories[1..].sort_by_key(|directory| directory.path(db));
    let places = Places::of(db, workspace);
    let mut diagnostics = Vec::new();
    for directory in directories {
        let mut found = of_module(db, workspace, directory, &places);
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
    let mut callers: FxHashMap<Directory, Vec<(Directory, &Str)>> = FxHashMap::default();
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

/// Everything that is wrong with one module, in the order of its files.
fn of_module(
    db: &dyn Db,
    workspace: Workspace,
    directory: Directory,
    places: &Places,
) -> Vec<Diagnostic> {
    let mut found: Vec<Diagnostic> =
        directory.files(db).iter().filter_map(|file| decode_error(db, *file)).collect();
    for file in directory.files(db) {
        let blocks = file.blocks(db).iter();
        let of_block = |&block| block_problems(db, block).iter().map(move |it| (block, it));
        let problems: Vec<(Block, &Problem)> = blocks
            .flat_map(of_block)
            .filter(|&(block, it)| !is_doubtful(db, block, it.id))
            .collect();
        found.extend(of_file(db, &problems, places));
    }
    found.extend(provider_problems(db, directory, places));
    for (key, problem) in analysis::module_problems(db, workspace, directory) {
        if !is_doubtful(db, key.block, problem.id) {
            found.push(from_item(db, places, key, &problem));
        }
    }
    found.sort_by(|a, b| a.location.cmp(&b.location));
    found
}

/// Whether a problem may be there because the parser could not read something of the block: what is missing may be just
/// that.
fn is_doubtful(db: &dyn Db, block: Block, id: &str) -> bool {
    id == MISSING_ARGUMENT && block_problems(db, block).iter().any(|it| it.id == SYNTAX_ERROR)
}

/// Where each block stands in its file.
struct Places {
    blocks: FxHashMap<Block, (Arc<str>, u32)>,
}

impl Places {
    fn of(db: &dyn Db, workspace: Workspace) -> Places {
        let mut blocks = FxHashMap::default();
        for directory in workspace.directories(db).values() {
            for file in directory.files(db) {
                let mut offset = 0;
                for &block in file.blocks(db) {
                    blocks.insert(block, (file.path(db).clone(), offset));
                    offset += block.text(db).len() as u32;
                }
            }
        }
        Places { blocks }
    }

    fn location(&self, block: Block, range: TextRange) -> Option<Location> {
        let (path, offset) = self.blocks.get(&block)?;
        Some(Location { path: path.clone(), range: ByteRange::from(range).shifted(*offset) })
    }
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
fn of_file(db: &dyn Db, problems: &[(Block, &Problem)], places: &Places) -> Vec<Diagnostic> {
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
                .at(places.location(block, range)),
        );
    }
    found
}

fn from_block(db: &dyn Db, problem: &Problem, places: &Places, block: Block) -> Diagnostic {
    Diagnostic {
        severity: problem.severity,
        context: context_at(db::parse(db, block), problem.range),
        ..Diagnostic::error(problem.id, problem.summary.clone(), problem.detail.clone())
    }
    .at(places.location(block, problem.range))
    .naming(problem.related.and_then(|range| places.location(block, range)))
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

fn from_item(db: &dyn Db, places: &Places, key: ItemKey, problem: &ItemProblem) -> Diagnostic {
    let source_map = source_maps(db, key.block).get(key.index as usize);
    let range = source_map.and_then(|map| map.range(problem.at));
    let related = problem.related.iter().filter_map(|(key, at, message)| {
        let map = source_maps(db, key.block).get(key.index as usize)?;
        Some(Related {
            location: places.location(key.block, map.range(*at)?)?,
            message: message.clone(),
        })
    });
    let location = range.and_then(|range| places.location(key.block, range));
    Diagnostic {
        id: problem.id,
        severity: problem.severity,
        summary: problem.summary.clone(),
        detail: problem.detail.clone(),
        address: problem.address.as_ref().map(ToString::to_string),
        context: source_map.map(|map| map.context.clone()),
        values: problem.values.clone(),
        // The first link of a chain often is the very place that the diagnostic is at.
        related: related.filter(|it| Some(&it.location) != location.as_ref()).collect(),
        location,
    }
}

/// Sources of required providers that cannot be read.
fn provider_problems(db: &dyn Db, directory: Directory, places: &Places) -> Vec<Diagnostic> {
    let mut found = Vec::new();
    for &key in &crate::names::module_scope(db, directory).terraform {
        let Some(terraform) = crate::names::item(db, key).kind.as_terraform() else { continue };
        for entry in &terraform.required_providers {
            let problems = [wrong_source(entry), wrong_version(entry)];
            let problems = problems.iter().flatten();
            found.extend(problems.map(|problem| from_item(db, places, key, problem)));
        }
    }
    found
}

fn wrong_source(entry: &RequiredProvider) -> Option<ItemProblem> {
    let error = addr::ProviderSource::parse(entry.source.as_deref()?).err()?;
    let summary = "Invalid provider source string";
    Some(ItemProblem::error(
        entry.node.into(),
        "invalid-provider-source",
        summary,
        error.to_string(),
    ))
}

fn wrong_version(entry: &RequiredProvider) -> Option<ItemProblem> {
    let text = entry.version.as_deref()?;
    let error = addr::VersionConstraint::parse_provider(text).err()?;
    let summary = "Invalid version constraint";
    let detail = format!(
        "The version constraint \"{text}\" of provider \"{}\" cannot be understood: {error}.",
        entry.local_name
    );
    Some(ItemProblem::error(entry.node.into(), "invalid-version-constraint", summary, detail))
}
