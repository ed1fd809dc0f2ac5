//! Lowering: from the syntax tree of one top-level block to items without ranges.
//!
//! Start reading at [`lower_text`] and [`lower_chunk`]. What the text of one block declares never depends on another block,
//! so this is a pure function of the block's tree: items, the source map that leads back, and problems. A file of the JSON
//! syntax is one block.

mod body;
mod check;
mod expr;
pub(crate) mod json;
mod module_call;
mod named;
mod problem;
mod provider_block;
mod reference;
mod resource;
mod terraform;
mod types;

use std::sync::Arc;

use syntax::{
    AstNode, Parse, TextRange, TextSize,
    ast::{HasItems as _, SourceFile},
    flat::{FlatParse, ast},
};
use values::Str;

pub(crate) use json::EXTRANEOUS;
pub use named::is_reserved_variable;
pub use problem::{MISSING_ARGUMENT, PLACE, Problem, SYNTAX_ERROR};
pub use reference::reference_root;

use crate::{
    expr::{At, Expr, ExprId, Exprs, NodeId, SymbolId},
    fix::Fix,
    item::{Item, ItemKind, RefPlace, StaticRef},
    unsupported,
};

/// What one top-level block declares.
#[derive(Clone, Debug, Default)]
pub struct Lowered {
    /// The items, in source order.
    pub items: Vec<Arc<Item>>,
    /// Ranges of each item's expressions and nodes.
    pub source_maps: Vec<SourceMap>,
    /// Syntax errors and everything that is wrong with the block's structure.
    pub problems: Vec<Problem>,
    /// Whether it is written in the JSON syntax.
    is_json: bool,
}

/// Where the expressions and nodes of one item stand, from the start of its block.
#[derive(Clone, Debug, Default)]
pub struct SourceMap {
    exprs: Vec<TextRange>,
    nodes: Vec<TextRange>,
}

impl SourceMap {
    /// The range of a place, from the start of the block.
    pub fn range(&self, at: At) -> Option<TextRange> {
        match at {
            At::Expr(expr) => self.exprs.get(expr.0 as usize).copied(),
            At::Node(node) => self.nodes.get(node.0 as usize).copied(),
        }
    }

    /// Every expression with its range; children come before their parents.
    pub fn exprs(&self) -> impl Iterator<Item = (ExprId, TextRange)> {
        self.exprs.iter().enumerate().map(|(index, range)| (ExprId(index as u32), *range))
    }

    /// Every name, header and label with its range.
    pub fn nodes(&self) -> impl Iterator<Item = (NodeId, TextRange)> {
        self.nodes.iter().enumerate().map(|(index, range)| (NodeId(index as u32), *range))
    }

    /// The smallest expression that covers a range; of several of the same range the innermost. Linear in the item.
    pub fn expr_around(&self, range: TextRange) -> Option<ExprId> {
        let around = self.exprs().filter(|(_, it)| it.contains_range(range));
        around.min_by_key(|(_, it)| it.len()).map(|(id, _)| id)
    }

    /// The expression that is lowered from all of a range; of several the outermost, which has the value that counts.
    pub fn expr_of(&self, range: TextRange) -> Option<ExprId> {
        self.exprs().filter(|(_, it)| *it == range).last().map(|(id, _)| id)
    }

    /// The names, headers and labels that cover a range, the smallest first.
    pub fn nodes_around(&self, range: TextRange) -> Vec<NodeId> {
        let around = self.nodes().filter(|(_, it)| it.contains_range(range));
        let mut around: Vec<(NodeId, TextRange)> = around.collect();
        around.sort_by_key(|(_, it)| it.len());
        around.into_iter().map(|(id, _)| id).collect()
    }
}

/// Lowers the text of one block, of a file with that path.
pub fn lower_text(text: &str, path: &str) -> Lowered {
    match db::is_json(path) {
        true => json::lower(text),
        false => lower_chunk(text),
    }
}

/// Lowers one top-level chunk of a file of the native syntax.
pub fn lower_chunk(text: &str) -> Lowered {
    let parse = FlatParse::chunk(text);
    let mut lowered = Lowered::default();
    for error in parse.errors() {
        lowered.problems.push(syntax_problem(error));
    }
    lower_items(&mut lowered, &parse);
    lowered
}

fn lower_items(lowered: &mut Lowered, parse: &FlatParse<'_>) {
    for item in parse.file().into_iter().flat_map(|file| file.body_items()) {
        match item {
            ast::BodyItem::Block(block) => lower_block(lowered, &block),
            ast::BodyItem::Attribute(attribute) => {
                let name = attribute.name().unwrap_or_default();
                lowered.problems.push(Problem::error(
                    "unsupported-argument",
                    attribute
                        .name_token()
                        .map_or(attribute.syntax().text_range(), |name| name.text_range()),
                    "Unsupported argument",
                    format!("An argument named \"{name}\" is not expected here."),
                ));
            }
        }
    }
}

/// The header of the block around a place of a text, as it is shown after "in": `resource "a" "b"`.
pub(crate) fn context_at(text: &str, path: &str, place: TextRange) -> Option<String> {
    match db::is_json(path) {
        true => {
            let mut headers = json::headers(text).into_iter();
            headers.find(|(it, _)| it.contains_range(place)).map(|(_, header)| header)
        }
        false => header_at(&syntax::parse_chunk(text), place),
    }
}

/// The same of a tree.
pub(crate) fn header_at(parse: &Parse<SourceFile>, place: TextRange) -> Option<String> {
    let around = |block: &syntax::ast::Block| block.syntax().text_range().contains_range(place);
    parse.tree().blocks().find(around).map(|block| body::header_text(&block))
}

/// A syntax error that names another place of the text has [`problem::PLACE`] for it until the file is known.
fn syntax_problem(error: &syntax::SyntaxError) -> Problem {
    let detail = error.detail(|_| PLACE.to_owned()).into_owned();
    let problem = Problem::error(SYNTAX_ERROR, error.range, error.summary.to_string(), detail);
    Problem { related: error.related, ..problem }
}

/// Lowers a lone expression.
pub fn lower_expression(text: &str) -> (Exprs, ExprId, Vec<Problem>) {
    let LoneExpression { exprs, root, problems, .. } = lower_lone(text);
    (exprs, root, problems)
}

/// An expression that stands in no block.
pub struct LoneExpression {
    /// The expression with all that is inside of it.
    pub exprs: Exprs,
    /// The whole of it.
    pub root: ExprId,
    /// Where each part stands.
    pub source_map: SourceMap,
    /// What is wrong with the text.
    pub problems: Vec<Problem>,
}

/// Lowers a lone expression, and says where its parts stand, as the console reads it.
pub fn lower_lone(text: &str) -> LoneExpression {
    let parse = FlatParse::expression(text);
    let mut problems: Vec<Problem> = parse.errors().iter().map(syntax_problem).collect();
    let mut ctx = ItemCtx::new(&mut problems);
    let expr = parse.expression_file().and_then(|file| file.expr());
    let root = ctx.expr_opt(expr, TextRange::default());
    let source_map = ctx.take_source_map();
    let (exprs, _) = ctx.into_exprs();
    LoneExpression { exprs, root, source_map, problems }
}

/// Lowers a template file's text (`templatefile`): names that are not bound inside it are its variables, and stay
/// variables `var`-less: each becomes a symbol, listed in the result.
pub fn lower_template(text: &str) -> (Exprs, ExprId, Vec<(Str, SymbolId)>, Vec<Problem>) {
    let parse = FlatParse::template(text);
    let mut problems: Vec<Problem> = parse.errors().iter().map(syntax_problem).collect();
    let mut ctx = ItemCtx::new(&mut problems);
    ctx.free_names = Some(Vec::new());
    let range = TextRange::up_to(TextSize::of(text));
    let root = match parse.template_file() {
        Some(tree) => ctx.template(&syntax::template::bare(&tree), range),
        None => ctx.expr_opt(None, range),
    };
    let free_names = ctx.free_names.take().unwrap_or_default();
    let (exprs, _) = ctx.into_exprs();
    (exprs, root, free_names, problems)
}

/// The top-level block types, for suggestions.
const TOP_LEVEL: &[&str] = &[
    "resource",
    "data",
    "ephemeral",
    "module",
    "provider",
    "variable",
    "output",
    "locals",
    "terraform",
    "check",
    "moved",
    "import",
    "removed",
];

fn lower_block(lowered: &mut Lowered, block: &ast::Block) {
    let Some(kind) = block.type_token() else { return };
    match kind.text() {
        "variable" => one(lowered, block, named::variable),
        "output" => one(lowered, block, named::output),
        "locals" => named::locals(lowered, block),
        "resource" => one(lowered, block, |ctx, block| {
            resource::resource(ctx, block, addr::ResourceMode::Managed)
        }),
        "data" => one(lowered, block, |ctx, block| {
            resource::resource(ctx, block, addr::ResourceMode::Data)
        }),
        "ephemeral" => one(lowered, block, |ctx, block| {
            resource::resource(ctx, block, addr::ResourceMode::Ephemeral)
        }),
        "module" => one(lowered, block, module_call::module_call),
        "provider" => one(lowered, block, provider_block::provider),
        "terraform" => one(lowered, block, terraform::terraform),
        "check" => one(lowered, block, check::check),
        "moved" | "import" | "removed" | "language" => {
            let kind: Str = kind.text().into();
            one(lowered, block, |ctx, block| {
                ctx.problem(unsupported_block(block, &kind));
                Some(ItemKind::Other(kind))
            });
        }
        other => {
            let mut detail = format!("Blocks of type \"{other}\" are not expected here.");
            let close = crate::suggest::closest(other, TOP_LEVEL.iter().copied());
            if let Some(close) = close {
                detail.push_str(&format!(" Did you mean \"{close}\"?"));
            }
            let (id, summary) = ("unsupported-block", "Unsupported block type");
            let problem = Problem::error(id, kind.text_range(), summary, detail);
            lowered.problems.push(problem.fixed_by(Fix::first(other, close)));
        }
    }
}

/// A block that is known to the language only. Where the state holds no object there is nothing to move or remove,
/// which a plan knows: until then it is a warning.
fn unsupported_block(block: &ast::Block, kind: &str) -> Problem {
    let range = body::header_range(block);
    let what = format!("\"{kind}\" blocks");
    match kind {
        "moved" | "removed" => Problem::warning(
            unsupported::ID,
            range,
            unsupported::SUMMARY,
            format!(
                "This version of Mayfly does not support {what}, and makes no plan where the state holds any object. Take it out of the \
                 configuration to go on then."
            ),
        ),
        _ => Problem::unsupported(range, &what),
    }
}

/// Lowers a block that declares one item.
fn one(
    lowered: &mut Lowered,
    block: &ast::Block,
    lower: impl FnOnce(&mut ItemCtx<'_>, &ast::Block) -> Option<ItemKind>,
) {
    let mut ctx = ItemCtx::of(lowered);
    let header = ctx.node(body::header_range(block));
    if let Some(kind) = lower(&mut ctx, block) {
        let (item, source_map) = ctx.finish(kind, header);
        lowered.items.push(Arc::new(item));
        lowered.source_maps.push(source_map);
    }
}

/// No expression is deeper. Traversals that people write have a handful of steps, and the tree is not deeper than
/// [`syntax::MAX_DEPTH`].
const MOST_LEVELS: u32 = 2 * syntax::MAX_DEPTH as u32;

fn too_deep(range: TextRange) -> Problem {
    Problem::error(
        "expression-too-deep",
        range,
        "Expression too deep",
        "This takes more steps than anything that can be evaluated here. Move a part of it into a local value.",
    )
}

/// What is built while one item is lowered.
pub(crate) struct ItemCtx<'a> {
    exprs: Vec<Expr>,
    expr_ranges: Vec<TextRange>,
    /// How deep each expression is, so that whoever walks one may recurse: a traversal is flat in the tree and deep here.
    depths: Vec<u32>,
    node_ranges: Vec<TextRange>,
    symbols: Vec<Str>,
    scope: Vec<(Str, SymbolId)>,
    refs: Vec<StaticRef>,
    /// The position that references found now are in.
    place: RefPlace,
    problems: &'a mut Vec<Problem>,
    /// In a template file, where a bare name is a variable of the template.
    free_names: Option<Vec<(Str, SymbolId)>>,
    /// Whether the item is written in the JSON syntax.
    is_json: bool,
}

impl<'a> ItemCtx<'a> {
    fn of(lowered: &'a mut Lowered) -> ItemCtx<'a> {
        ItemCtx { is_json: lowered.is_json, ..ItemCtx::new(&mut lowered.problems) }
    }

    fn new(problems: &'a mut Vec<Problem>) -> ItemCtx<'a> {
        ItemCtx {
            exprs: Vec::new(),
            expr_ranges: Vec::new(),
            depths: Vec::new(),
            node_ranges: Vec::new(),
            symbols: Vec::new(),
            scope: Vec::new(),
            refs: Vec::new(),
            place: RefPlace::Config,
            problems,
            free_names: None,
            is_json: false,
        }
    }

    /// A copy of the expressions so far, to evaluate a constant among them.
    fn exprs_so_far(&self) -> Exprs {
        Exprs { arena: self.exprs.clone(), symbols: self.symbols.clone() }
    }

    fn take_source_map(&mut self) -> SourceMap {
        SourceMap {
            exprs: std::mem::take(&mut self.expr_ranges),
            nodes: std::mem::take(&mut self.node_ranges),
        }
    }

    fn into_exprs(self) -> (Exprs, Vec<StaticRef>) {
        (Exprs { arena: self.exprs, symbols: self.symbols }, self.refs)
    }

    fn finish(mut self, kind: ItemKind, header: NodeId) -> (Item, SourceMap) {
        let source_map = self.take_source_map();
        let (exprs, refs) = self.into_exprs();
        (Item { exprs, kind, header, refs: refs.into() }, source_map)
    }

    fn alloc(&mut self, expr: Expr, range: TextRange) -> ExprId {
        let id = ExprId(self.exprs.len() as u32);
        let mut depth = 0;
        expr.for_each_child(&mut |child| {
            depth = depth.max(self.depths.get(child.0 as usize).map_or(0, |it| it + 1));
        });
        let is_too_deep = depth > MOST_LEVELS;
        if is_too_deep {
            self.problem(too_deep(range));
        }
        self.exprs.push(if is_too_deep { Expr::Missing } else { expr });
        self.depths.push(if is_too_deep { 0 } else { depth });
        self.expr_ranges.push(range);
        id
    }

    fn node(&mut self, range: TextRange) -> NodeId {
        let id = NodeId(self.node_ranges.len() as u32);
        self.node_ranges.push(range);
        id
    }

    fn problem(&mut self, problem: Problem) {
        self.problems.push(problem);
    }

    fn symbol(&mut self, name: Str) -> SymbolId {
        let id = SymbolId(self.symbols.len() as u32);
        self.symbols.push(name);
        id
    }

    fn bind(&mut self, name: Str) -> SymbolId {
        let id = self.symbol(name.clone());
        self.scope.push((name, id));
        id
    }

    fn depth(&self) -> usize {
        self.scope.len()
    }

    fn leave(&mut self, depth: usize) {
        self.scope.truncate(depth);
    }

    /// The innermost binding of a name.
    fn lookup(&mut self, name: &str) -> Option<SymbolId> {
        if let Some((_, symbol)) = self.scope.iter().rev().find(|(bound, _)| &**bound == name) {
            return Some(*symbol);
        }
        let free = self
            .free_names
            .as_ref()?
            .iter()
            .find(|(bound, _)| &**bound == name)
            .map(|(_, symbol)| *symbol);
        Some(free.unwrap_or_else(|| {
            let symbol = self.symbol(name.into());
            if let Some(names) = &mut self.free_names {
                names.push((name.into(), symbol));
            }
            symbol
        }))
    }

    fn add_ref(&mut self, reference: StaticRef) {
        self.refs.push(reference);
    }

    /// Lowers with references counted as standing in `place`.
    fn in_place<T>(&mut self, place: RefPlace, lower: impl FnOnce(&mut Self) -> T) -> T {
        let outer = std::mem::replace(&mut self.place, place);
        let result = lower(self);
        self.place = outer;
        result
    }
}

#[cfg(test)]
mod tests {
    use std::fmt::Write as _;

    use super::{TOP_LEVEL, lower_chunk, lower_expression, types};
    use crate::expr::{Expr, Ref};

    // What editors colour; `cargo xtask codegen` makes their grammars from these lists.
    const BLOCK_TYPES: &str = include_str!("../../../../grammar/words/block_types.txt");
    const REFERENCES: &str = include_str!("../../../../grammar/words/references.txt");
    const PRIMITIVE_TYPES: &str = include_str!("../../../../grammar/words/primitive_types.txt");
    const TYPE_CONSTRUCTORS: &str = include_str!("../../../../grammar/words/type_constructors.txt");

    #[test]
    fn a_traversal_of_very_many_steps_is_refused() {
        let lowered = |steps: usize| {
            let text = format!("locals {{\n  a = local.b{}\n}}\n", ".c".repeat(steps));
            lower_chunk(&text)
        };
        assert!(lowered(500).problems.is_empty());
        let problems = lowered(100_000).problems;
        assert!(problems.iter().all(|it| it.id == "expression-too-deep"));
        assert!(!problems.is_empty());
    }

    /// Addresses on the command line and names in a configuration are read by different crates. The tables of one may be of
    /// a later Unicode, which has more letters.
    #[test]
    fn what_is_a_name_to_the_parser_is_one_in_an_address() {
        let is_name = |text: &str| {
            let parse = syntax::parse_expression(text);
            let name = parse.tree().expr().and_then(|expr| expr.name_token());
            parse.errors().is_empty() && name.is_some_and(|name| name.text() == text)
        };
        // Those that are neither letters nor digits to the standard library, or not to all of us.
        let is_doubtful = |c: &char| {
            addr::is_identifier(&c.to_string()) != c.is_alphabetic()
                || addr::is_identifier(&format!("a{c}")) != c.is_alphanumeric()
        };
        let few = ('\u{0}'..='\u{3100}').chain('\u{fb00}'..='\u{ffff}');
        let many = ('\u{3101}'..='\u{10ffff}').filter(is_doubtful);
        for c in few.chain(many).filter(|c| !c.is_whitespace()) {
            for text in [c.to_string(), format!("a{c}")] {
                let (in_address, to_parser) = (addr::is_identifier(&text), is_name(&text));
                let agree = in_address == to_parser || in_address && c > '\u{530}';
                assert!(agree, "{text:?} {:x}", c as u32);
            }
        }
    }

    fn problems(text: &str) -> String {
        lower_chunk(text).problems.iter().fold(String::new(), |mut acc, it| {
            let _ = writeln!(acc, "{}: {}", it.id, it.detail);
            acc
        })
    }

    #[test]
    fn the_grammar_lists_the_block_types() {
        let listed: Vec<&str> = BLOCK_TYPES.lines().collect();
        let missing: Vec<_> = TOP_LEVEL.iter().filter(|it| !listed.contains(it)).collect();
        assert!(missing.is_empty(), "not in grammar/words/block_types.txt: {missing:?}");
        for word in listed {
            let problems = problems(&format!("{word} {{\n}}\n"));
            assert!(!problems.contains("unsupported-block:"), "{word}: {problems}");
        }
    }

    #[test]
    fn the_grammar_lists_roots_of_references_that_are_no_resource_types() {
        let is_resource_type = |root: &str| {
            let (exprs, _, _) = lower_expression(&format!("{root}.a.b"));
            exprs.iter().any(
                |(_, expr)| matches!(expr, Expr::Ref(Ref::Resource(it)) if *it.type_name == *root),
            )
        };
        assert!(is_resource_type("terraform_data"));
        for word in REFERENCES.lines() {
            assert!(!is_resource_type(word), "{word}");
        }
    }

    #[test]
    fn the_grammar_lists_the_words_of_types() {
        let mut listed: Vec<&str> =
            PRIMITIVE_TYPES.lines().chain(TYPE_CONSTRUCTORS.lines()).collect();
        let mut known: Vec<&str> = types::WORDS.into_iter().chain(["optional"]).collect();
        listed.sort_unstable();
        known.sort_unstable();
        assert_eq!(listed, known);
    }
}
