//! Override files: a declaration with what they change of it (`reference`: surface 2.1).
//!
//! ```text
//! block ─────────────────┐
//!                        ├─► one text ─► parser, lowering ─► item, ranges ─► which of the texts, and where in it
//! blocks that override ──┘
//! ```
//!
//! The texts are lowered as one, so that each rule sees the arguments that count: which those are, [`BodyReader`] decides. Of a
//! range the offset tells which text it is of.
//!
//! **Invariant:** a text with a syntax error changes nothing: that is told of where it is lowered by itself.

use std::{borrow::Cow, sync::Arc};

use syntax::{
    AstNode, TextRange, TextSize,
    flat::{
        FlatParse,
        ast::{self, HasItems as _},
    },
};

use super::{
    ItemCtx, Lowered, Problem, SourceMap, Top,
    body::{self, BodyReader},
    json::{self, Map},
    lower_top, named,
};
use crate::{
    item::Item,
    names::{ItemName, name_of},
};

/// One declaration of a block as native text, to be lowered together with others.
#[derive(Clone, Debug)]
pub struct Declaration {
    name: ItemName,
    text: String,
    is_json: bool,
    is_local: bool,
    /// What stands before the text of the block.
    prefix: TextSize,
    /// Where the text begins in the native text of the block.
    start: TextSize,
    /// Where native text stands in a file of the JSON syntax.
    map: Option<Arc<Map>>,
    is_broken: bool,
}

impl Declaration {
    /// Where a range of the text stands in its block.
    fn source(&self, range: TextRange) -> TextRange {
        let moved = |at: TextSize| at.max(self.prefix) - self.prefix + self.start;
        let native = TextRange::new(moved(range.start()), moved(range.end()));
        self.map.as_ref().map_or(native, |map| map.source(native))
    }
}

/// The declarations of a block, by the index of its items.
pub fn declarations(text: &str, path: &str) -> Vec<Declaration> {
    let is_json = db::is_json(path);
    let native = is_json.then(|| json::native(text));
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
        let mut lowered = Lowered { is_json, ..Lowered::default() };
        lower_top(&mut lowered, &Top::alone(&block));
        let range = block.syntax().text_range();
        found.extend(lowered.items.first().map(|item| of(name_of(item), range)));
    }
    found
}

/// A block around the definition of one local value.
fn local(definition: Declaration) -> Declaration {
    const BEFORE: &str = "locals {\n";
    Declaration {
        text: format!("{BEFORE}{}\n}}\n", definition.text),
        prefix: TextSize::of(BEFORE),
        is_local: true,
        ..definition
    }
}

/// A declaration with what overrides it.
pub struct Merged {
    /// What it says.
    pub item: Arc<Item>,
    /// Where its parts stand.
    pub map: SourceMap,
    /// What is wrong with it as a whole, each with the text that it is in: 0 is the declaration's own.
    pub problems: Vec<(usize, Problem)>,
}

/// Lowers a declaration with those that override it, in the order in which they count. `None` if one has a syntax error, or
/// another name: names of a block that was just edited may not be known yet.
pub fn merge(base: &Declaration, by: &[&Declaration]) -> Option<Merged> {
    if by.iter().any(|it| it.name != base.name) {
        return None;
    }
    let all: Vec<&Declaration> = std::iter::once(base).chain(by.iter().copied()).collect();
    // The last definition of a local value is all that counts.
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
    let mut lowered = Lowered { is_json, ..Lowered::default() };
    lower_top(&mut lowered, &Top { block: &block, overriding: &overriding, is_override: false });
    let (item, map) = (lowered.items.pop()?, lowered.source_maps.pop()?);
    let problems = lowered.problems.into_iter().map(|it| parts.problem(it)).collect();
    Some(Merged { item, map: map.in_parts(|range| parts.place(range)), problems })
}

/// Several texts as one.
struct Parts<'a> {
    text: String,
    /// Each with its index among all, and where it begins.
    parts: Vec<(usize, TextSize, &'a Declaration)>,
}

impl<'a> Parts<'a> {
    fn of(all: &[&'a Declaration], from: usize) -> Option<Parts<'a>> {
        let mut parts = Parts { text: String::new(), parts: Vec::new() };
        for (index, declaration) in all.iter().enumerate().skip(from) {
            if declaration.is_broken {
                return None;
            }
            parts.parts.push((index, TextSize::of(&parts.text), declaration));
            parts.text.push_str(&declaration.text);
            parts.text.push('\n');
        }
        Some(parts)
    }

    /// The text that a range is of, and the place in the block that it is from.
    fn place(&self, range: TextRange) -> (usize, TextRange) {
        let behind = self.parts.partition_point(|(_, start, _)| *start <= range.start());
        let (index, start, declaration) = self.parts[behind.saturating_sub(1)];
        (index, declaration.source(range - start))
    }

    /// A fix of what is said of several texts would be of one.
    fn problem(&self, problem: Problem) -> (usize, Problem) {
        let (part, range) = self.place(problem.range);
        let related = problem.related.map(|it| self.place(it));
        let related = related.filter(|(other, _)| *other == part).map(|(_, range)| range);
        let fix = problem.fix.filter(|_| !self.parts[0].2.is_json);
        (part, Problem { range, related, fix, ..problem })
    }
}

/// Blocks of conditions, which override files may not have.
const CONDITIONS: &[&str] = &["precondition", "postcondition", "validation"];

/// Reports what the body of an override file's block may not have.
pub(super) fn refuse(ctx: &mut ItemCtx<'_>, reader: &BodyReader) {
    if let Some(depends_on) = reader.peek("depends_on").and_then(|attr| attr.value()) {
        let first = match &depends_on {
            ast::Expr::Tuple(tuple) => tuple.elements().next(),
            other => Some(other.clone()),
        };
        if let Some(first) = first {
            ctx.problem(Problem::error(
                "invalid-override",
                first.syntax().text_range(),
                "Unsupported override",
                "The depends_on argument may not be overridden. Write it in the block that is overridden.",
            ));
        }
    }
    for nested in reader.peek_blocks() {
        refuse_condition(ctx, nested);
        if nested.type_token().is_some_and(|it| it.text() == "lifecycle") {
            let inside = nested.body().into_iter().flat_map(|body| body.blocks());
            inside.for_each(|it| refuse_condition(ctx, &it));
        }
    }
}

fn refuse_condition(ctx: &mut ItemCtx<'_>, block: &ast::Block) {
    let Some(kind) = condition(block) else { return };
    ctx.problem(Problem::error(
        "invalid-override",
        body::header_range(block),
        format!("Can't override {kind} blocks"),
        format!(
            "Override files cannot override \"{kind}\" blocks. Write it in the block that is overridden."
        ),
    ));
}

/// The type of a block of a condition.
pub(super) fn condition(block: &ast::Block) -> Option<&'static str> {
    let kind = block.type_token()?;
    CONDITIONS.iter().copied().find(|it| *it == kind.text())
}

/// A block that counts by being there, of which there is nothing to override.
pub(super) fn refused_block(block: &ast::Block, kind: &str) -> Problem {
    let (summary, detail) = match kind {
        "check" => (
            "Can't override check blocks".to_owned(),
            "Override files cannot override check blocks.".to_owned(),
        ),
        _ => (
            format!("Cannot override '{kind}' blocks"),
            format!(
                "Blocks of type \"{kind}\" can appear only in normal files, not in override files."
            ),
        ),
    };
    let detail = format!("{detail} Move it into a file whose name does not end in \"override\".");
    Problem::error("invalid-override", body::header_range(block), summary, detail)
}
