//! Lowers the JSON syntax: translates a file to equivalent native text, and maps ranges back to the file.
//!
//! ```text
//! JSON ──shape──► native text ──parser, lowering──► items
//!   ▲                  │ ranges
//!   └──────map─────────┘
//! ```
//!
//! Start reading at [`lower`]. For blocks of the language, [`shape`] says if a property is an argument, a block or
//! a label. In a body that a schema describes, an object may be an argument or a block: it is written as both, and
//! the code that has the schema chooses one ([`crate::item::Body::fitted`]).
//!
//! **Invariant:** all ranges in the result are ranges of the JSON text, never of the native text.
//! **Invariant:** errors of the native text are reported as errors of the JSON text.
//! **Absent on purpose:** the meaning of blocks, which the lowering of the native syntax defines.

pub(crate) mod map;
pub(crate) mod problem;
pub(crate) mod shape;
pub(crate) mod strings;
#[cfg(test)]
mod tests;
pub(crate) mod write;

use syntax::{AstNode as _, TextRange, ast::HasItems as _, flat::FlatParse, json::parse_json};

use crate::lower::{
    block::lower_items,
    header::header_text,
    json::{
        map::Map,
        shape::{FILE, TEST_FILE},
        write::Writer,
    },
    lowered::{FileKind, Lowered},
    problem::Problem,
};

/// The native text of a file in the JSON syntax.
pub(super) struct NativeText {
    pub(super) text: String,
    pub(super) map: Map,
    problems: Vec<Problem>,
    unread: Vec<TextRange>,
    /// Set if the JSON text has a syntax error. Further problems may be consequences of it.
    pub(super) is_broken: bool,
}

pub(super) fn native(text: &str, file: FileKind) -> NativeText {
    let json = parse_json(text);
    let mut writer = Writer::default();
    if let Some(root) = &json.root {
        writer.file(root, if file.is_test { &TEST_FILE } else { &FILE });
    }
    let Writer { text, map, problems, unread, .. } = writer;
    match &json.error {
        Some(error) => {
            let problems = vec![Problem::syntax(error)];
            NativeText { text, map, problems, unread, is_broken: true }
        }
        None => NativeText { text, map, problems, unread, is_broken: false },
    }
}

/// Lowers a file in the JSON syntax.
pub(super) fn lower(text: &str, file: FileKind) -> Lowered {
    let NativeText { text, map, problems, unread, is_broken } = native(text, file);
    let parse = syntax::parse_file(&text);
    let mut lowered = Lowered::of(file);
    lower_items(&mut lowered, &FlatParse::of(&parse, &text));
    let found = std::mem::replace(&mut lowered.problems, problems);
    let errors = parse.errors().iter().map(Problem::syntax);
    if lowered.problems.is_empty() {
        lowered.problems.extend(errors.map(|it| mapped(&map, it)));
    }
    if !is_broken {
        let is_read = |it: &Problem| !unread.iter().any(|unread| unread.contains_range(it.range));
        lowered.problems.extend(found.into_iter().map(|it| mapped(&map, it)).filter(is_read));
    }
    lowered.source_maps.iter_mut().for_each(|it| it.map_ranges(|range| map.source(range)));
    lowered
}

/// The headers of the top-level blocks in the native syntax, each with the range of its block.
pub(crate) fn headers(text: &str, path: &str) -> Vec<(TextRange, String)> {
    let NativeText { text, map, .. } = native(text, FileKind::of(path));
    let blocks = syntax::parse_file(&text).tree().blocks();
    let place = |block: &syntax::ast::Block| map.source(block.syntax().text_range());
    blocks.map(|block| (place(&block), header_text(&block))).collect()
}

/// Maps a problem to the JSON text. Drops its fix, which would insert native text.
fn mapped(map: &Map, problem: Problem) -> Problem {
    let related = problem.related.map(|it| map.source(it));
    Problem { range: map.source(problem.range), related, fix: None, ..problem }
}
