//! Diagnostics of a whole configuration: problems of items and blocks, joined with the ranges that they are at.

use std::sync::Arc;

use db::{Block, ByteRange, Db, Diagnostic, Directory, File, Location, Related};
use rustc_hash::FxHashMap;
use syntax::TextRange;

use crate::{
    analysis::{self, ItemProblem},
    lower::{PLACE, Problem},
    names::{ItemKey, block_problems, required_providers, source_maps},
    workspace::Workspace,
};

/// Everything that is wrong with the configuration, hints included: the root module first, then the others by path.
/// Modules that were read for a call that is gone do not count.
pub fn diagnostics(db: &dyn Db, workspace: Workspace) -> Vec<Diagnostic> {
    let mut directories = crate::build::reachable(db, workspace);
    directories[1..].sort_by_key(|directory| directory.path(db));
    let places = Places::of(db, workspace);
    let mut diagnostics = Vec::new();
    for directory in directories {
        diagnostics.extend(of_module(db, workspace, directory, &places));
    }
    diagnostics
}

/// Everything that is wrong with one module, in the order of its files.
pub fn module_diagnostics(
    db: &dyn Db,
    workspace: Workspace,
    directory: Directory,
) -> Vec<Diagnostic> {
    of_module(db, workspace, directory, &Places::of(db, workspace))
}

fn of_module(
    db: &dyn Db,
    workspace: Workspace,
    directory: Directory,
    places: &Places,
) -> Vec<Diagnostic> {
    let mut found: Vec<Diagnostic> =
        directory.files(db).iter().filter_map(|file| decode_error(db, *file)).collect();
    for file in directory.files(db) {
        for &block in file.blocks(db) {
            found.extend(
                block_problems(db, block).iter().map(|problem| from_block(problem, places, block)),
            );
        }
    }
    found.extend(provider_problems(db, directory, places));
    for (key, problem) in analysis::module_problems(db, workspace, directory) {
        found.push(from_item(db, places, key, &problem));
    }
    found.sort_by(|a, b| a.location.cmp(&b.location));
    found
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

fn from_block(problem: &Problem, places: &Places, block: Block) -> Diagnostic {
    Diagnostic {
        severity: problem.severity,
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
            let Some(source) = &entry.source else { continue };
            if let Err(error) = addr::ProviderSource::parse(source) {
                let problem = ItemProblem::error(
                    entry.node.into(),
                    "invalid-provider-source",
                    "Invalid provider source string",
                    error.to_string(),
                );
                found.push(from_item(db, places, key, &problem));
            }
        }
    }
    let _ = required_providers(db, directory);
    found
}
