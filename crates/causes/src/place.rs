//! Places in the configuration, with line and column.

use std::{cell::RefCell, sync::Arc};

use db::{ByteRange, Location, Sources};
use hir::{At, Entry, Program};
use rustc_hash::FxHashMap;

/// A place in a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// The display path of the file.
    pub path: Arc<str>,
    /// The byte range in the file.
    pub range: ByteRange,
    /// The line of its start, from 1. 0 if the text of the file is not loaded.
    pub line: u32,
    /// The column of its start in characters, from 1. 0 if the text of the file is not loaded.
    pub column: u32,
}

impl std::fmt::Display for Place {
    /// Writes `file:line`.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.line {
            0 => f.write_str(&self.path),
            line => write!(f, "{}:{line}", self.path),
        }
    }
}

/// The lines of the files that places were asked for.
pub(crate) struct Places<'a> {
    program: &'a Program,
    files: RefCell<FxHashMap<Arc<str>, Option<Arc<Lines>>>>,
}

struct Lines {
    text: String,
    /// The byte offset of each line.
    starts: Vec<usize>,
}

impl<'a> Places<'a> {
    pub(crate) fn new(program: &'a Program) -> Places<'a> {
        Places { program, files: RefCell::default() }
    }

    /// The place of a part of a block.
    pub(crate) fn of(&self, entry: &Entry, at: impl Into<At>) -> Option<Place> {
        let location = self.program.locate(entry.origin, at.into())?;
        Some(self.at(&location))
    }

    pub(crate) fn at(&self, location: &Location) -> Place {
        let lines = self.lines(&location.path);
        let start = location.range.start as usize;
        let (line, column) = lines.and_then(|it| it.position(start)).unwrap_or_default();
        Place { path: Arc::clone(&location.path), range: location.range, line, column }
    }

    fn lines(&self, path: &Arc<str>) -> Option<Arc<Lines>> {
        let mut files = self.files.borrow_mut();
        let lines = files.entry(Arc::clone(path));
        lines.or_insert_with(|| Lines::of(&self.program.sources, path)).clone()
    }
}

impl Lines {
    fn of(sources: &Sources, path: &str) -> Option<Arc<Lines>> {
        let text = sources.text(path)?;
        let ends = text.bytes().enumerate().filter(|(_, byte)| *byte == b'\n');
        let starts = [0].into_iter().chain(ends.map(|(at, _)| at + 1)).collect();
        Some(Arc::new(Lines { text, starts }))
    }

    fn position(&self, at: usize) -> Option<(u32, u32)> {
        let line = self.starts.partition_point(|start| *start <= at);
        let start = *self.starts.get(line.checked_sub(1)?)?;
        let column = self.text.get(start..at)?.chars().count() + 1;
        Some((u32::try_from(line).ok()?, u32::try_from(column).ok()?))
    }
}
