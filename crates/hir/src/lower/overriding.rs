//! Override files: merges a declaration with its overrides.
//!
//! ```text
//! block ─────────────────┐
//!                        ├─► one text ─► parser, lowering ─► item, ranges ─► which of the texts, and where in it
//! blocks that override ──┘
//! ```
//!
//! The texts are concatenated and lowered as one, so that each check sees the merged arguments, which
//! [`BodyReader`](super::body::BodyReader) merges. The offset of a range shows which text it belongs to.
//!
//! **Invariant:** a text with a syntax error overrides nothing. The error is reported where the text is lowered
//! alone.

use std::{borrow::Cow, sync::Arc};

use syntax::{
    AstNode, TextRange, TextSize,
    flat::{
        FlatParse,
        ast::{self, HasItems as _},
    },
};

use crate::{
    item::Item,
    item_name::ItemName,
    lower::{
        block::lower_top,
        item_ctx::Top,
        json::{self, map::Map},
        lowered::{FileKind, Lowered},
        named,
        problem::Problem,
        source_map::SourceMap,
    },
};

/// One declaration of a block as native text, to be lowered together with others.
#[derive(Clone, Debug)]
pub(crate) struct Declaration {
    name: ItemName,
    text: String,
    is_json: bool,
    is_local: bool,
    /// The length of the text that was added before the block's text.
    prefix: TextSize,
    /// The offset of the text in the native text of the block.
    start: TextSize,
    /// The map from native text to the JSON file, if the file uses the JSON syntax.
    map: Option<Arc<Map>>,
    is_broken: bool,
}

impl Declaration {
    /// Maps a range of the text to its block.
    fn source(&self, range: TextRange) -> TextRange {
        let moved = |at: TextSize| at.max(self.prefix) - self.prefix + self.start;
        let native = TextRange::new(moved(range.start()), moved(range.end()));
        self.map.as_ref().map_or(native, |map| map.source(native))
    }
}

/// The declarations of a block, by index of its items.
pub(crate) fn declarations(text: &str, path: &str) -> Vec<Declaration> {
    let is_json = db::is_json(path);
    let native = is_json.then(|| json::native(text, FileKind::default()));
    let (text, map, is_broken) = match native {
        Some(native) => (Cow::Owned(native.text), Some(Arc::new(native.map)), native.is_broken),
        None => (Cow::Borrowed(text), None, false),
    };
    let tree = syntax::parse_file(&text);
    let parse = FlatParse::of(&tree, &text);
    let is_broken = is_broken || !parse.errors().is_empty();
    let of = |name: ItemName, range: TextRange| Declaration {
        name,
        text: text[range].to_owned(),
        is_json,
        is_local: false,
        prefix: TextSize::from(0),
        start: range.start(),
        map: map.clone(),
        is_broken,
    };
    let mut found = Vec::new();
    for block in parse.file().into_iter().flat_map(|file| file.blocks()) {
        if block.type_token().is_some_and(|it| it.text() == "locals") {
            let local = |it: ast::Attribute| {
                let name = ItemName::Local(it.name().unwrap_or_default().as_str().into());
                local(of(name, it.syntax().text_range()))
            };
            found.extend(named::definitions(&block).map(local));
            continue;
        }
        let mut lowered = Lowered::of(FileKind { is_json, ..FileKind::default() });
        lower_top(&mut lowered, &Top::alone(&block));
        let range = block.syntax().text_range();
        found.extend(lowered.items.first().map(|item| of(ItemName::of(item), range)));
    }
    found
}

/// Wraps the definition of a local value in a `locals` block.
fn local(definition: Declaration) -> Declaration {
    const BEFORE: &str = "locals {\n";
    Declaration {
        text: format!("{BEFORE}{}\n}}\n", definition.text),
        prefix: TextSize::of(BEFORE),
        is_local: true,
        ..definition
    }
}

/// A declaration merged with its overrides.
pub(crate) struct Merged {
    /// The merged item.
    pub(crate) item: Arc<Item>,
    /// The source map of the merged item.
    pub(crate) map: SourceMap,
    /// The problems of the merged declaration, each with the number of its text. Number 0 is the original
    /// declaration.
    pub(crate) problems: Vec<(usize, Problem)>,
}

/// Merges a declaration with its overrides, in order. `None` if one of the texts has a syntax error, or if the
/// names differ: just after an edit, the overrides may still be those of the old name.
pub(crate) fn merge(base: &Declaration, by: &[&Declaration]) -> Option<Merged> {
    if by.iter().any(|it| it.name != base.name) {
        return None;
    }
    let all: Vec<&Declaration> = std::iter::once(base).chain(by.iter().copied()).collect();
    // Only the last definition of a local value counts.
    let from = if base.is_local { by.len() } else { 0 };
    let parts = Parts::of(&all, from)?;
    let tree = syntax::parse_file(&parts.text);
    let parse = FlatParse::of(&tree, &parts.text);
    if !parse.errors().is_empty() {
        return None;
    }
    let mut blocks = parse.file()?.blocks();
    let block = blocks.next()?;
    let overriding: Vec<ast::Block> = blocks.collect();
    let is_json = all[from..].iter().any(|it| it.is_json);
    let mut lowered = Lowered::of(FileKind { is_json, ..FileKind::default() });
    lower_top(&mut lowered, &Top { block: &block, overriding: &overriding, is_override: false });
    let (item, map) = (lowered.items.pop()?, lowered.source_maps.pop()?);
    let problems = lowered.problems.into_iter().map(|it| parts.problem(it)).collect();
    Some(Merged { item, map: map.in_parts(|range| parts.place(range)), problems })
}

/// The concatenated texts.
struct Parts<'a> {
    text: String,
    parts: Vec<Part<'a>>,
}

/// One of the concatenated texts.
struct Part<'a> {
    number: usize,
    /// The offset in the concatenation.
    start: TextSize,
    declaration: &'a Declaration,
}

impl<'a> Parts<'a> {
    fn of(all: &[&'a Declaration], from: usize) -> Option<Parts<'a>> {
        let mut parts = Parts { text: String::new(), parts: Vec::new() };
        for (number, &declaration) in all.iter().enumerate().skip(from) {
            if declaration.is_broken {
                return None;
            }
            let start = TextSize::of(&parts.text);
            parts.parts.push(Part { number, start, declaration });
            parts.text.push_str(&declaration.text);
            parts.text.push('\n');
        }
        Some(parts)
    }

    /// The number of the text that a range belongs to, and the range in its block.
    fn place(&self, range: TextRange) -> (usize, TextRange) {
        let behind = self.parts.partition_point(|it| it.start <= range.start());
        let part = &self.parts[behind.saturating_sub(1)];
        (part.number, part.declaration.source(range - part.start))
    }

    /// Maps a problem to its text. Drops a related range in another text, and fixes if the first text is JSON.
    fn problem(&self, problem: Problem) -> (usize, Problem) {
        let (part, range) = self.place(problem.range);
        let related = problem.related.map(|it| self.place(it));
        let related = related.filter(|(other, _)| *other == part).map(|(_, range)| range);
        let fix = problem.fix.filter(|_| !self.parts[0].declaration.is_json);
        (part, Problem { range, related, fix, ..problem })
    }
}
