//! Lowers the syntax tree of a top-level block to items without source ranges.
//!
//! Start reading at [`lower_text`] and [`lower_chunk`]. The declarations of a block never depend on other blocks,
//! so lowering is a pure function of the block's text. It returns items, source maps and problems. A file in the
//! JSON syntax counts as one block.

pub(crate) mod body;
pub(crate) mod check;
pub(crate) mod encryption;
pub(crate) mod expr;
pub(crate) mod json;
pub(crate) mod lone;
pub(crate) mod module_call;
pub(crate) mod named;
pub(crate) mod overriding;
pub(crate) mod problem;
pub(crate) mod provider_block;
pub(crate) mod refactoring;
pub(crate) mod reference;
pub(crate) mod resource;
pub(crate) mod spare;
pub(crate) mod terraform;
pub(crate) mod types;

use std::{cmp::Reverse, sync::Arc};

use db::Summary;
use syntax::{
    AstNode, Parse, TextRange, TextSize,
    ast::{HasItems as _, SourceFile},
    flat::{FlatParse, ast},
};
use values::Str;

use crate::{
    expr::{At, Expr, ExprId, Exprs, NodeId, SymbolId},
    fix::Fix,
    item::{Item, ItemKind, RefPlace, StaticRef},
    lower::spare::Spare,
};

pub use lone::{LoneExpression, lower_expression, lower_lone, lower_template};

pub use named::is_reserved_variable;

pub use overriding::{Declaration, Merged, declarations, merge};

pub use problem::{INVALID_REFERENCE, MISSING_ARGUMENT, PLACE, Problem, SYNTAX_ERROR};

pub use reference::reference_root;

/// The result of lowering one top-level block.
#[derive(Clone, Debug, Default)]
pub struct Lowered {
    /// The items, in source order.
    pub items: Vec<Arc<Item>>,
    /// The source map of each item.
    pub source_maps: Vec<SourceMap>,
    /// Syntax errors and problems of the block's structure.
    pub problems: Vec<Problem>,
    /// Set for the JSON syntax.
    is_json: bool,
    /// Set for blocks of override files.
    is_override: bool,
    /// Set for blocks of `.tofu` files, which Terraform does not read.
    is_tofu: bool,
}

/// The source ranges of an item's expressions and nodes, relative to its block.
#[derive(Clone, Debug, Default)]
pub struct SourceMap {
    exprs: Vec<TextRange>,
    nodes: Vec<TextRange>,
    /// The block of each range, if override files changed the item. `None` if all ranges are in the item's own
    /// block.
    parts: Option<Box<Parts>>,
}

/// The block numbers of expressions and nodes. Number 0 is the item's own block.
#[derive(Clone, Debug)]
struct Parts {
    exprs: Vec<usize>,
    nodes: Vec<usize>,
}

impl SourceMap {
    /// The range of a location, relative to the item's own block. `None` if an override file contributed it.
    pub fn range(&self, at: At) -> Option<TextRange> {
        self.place(at).and_then(|(part, range)| (part == 0).then_some(range))
    }

    /// The range of a location, and the number of the block that it is relative to. Number 0 is the item's own
    /// block; the others are the overriding blocks in order.
    pub fn place(&self, at: At) -> Option<(usize, TextRange)> {
        let of_expr = |expr: ExprId| Some((self.part_of_expr(expr), self.of_expr(expr)?));
        match at {
            At::Expr(expr) => of_expr(expr),
            At::Node(node) => {
                let parts = self.parts.as_ref().and_then(|it| it.nodes.get(node.0 as usize));
                let part = parts.copied().unwrap_or_default();
                Some((part, *self.nodes.get(node.0 as usize)?))
            }
            At::Step(expr) => of_expr(expr).map(|(part, it)| {
                (part, self.base(part, it).map_or(it, |base| TextRange::new(base.end(), it.end())))
            }),
            At::Base(expr) => {
                of_expr(expr).map(|(part, it)| (part, self.base(part, it).unwrap_or(it)))
            }
            At::Callee(expr) => {
                of_expr(expr).map(|(part, it)| (part, self.callee(part, it).unwrap_or(it)))
            }
            At::Closer(expr) => of_expr(expr)
                .map(|(part, it)| (part, TextRange::new(it.end() - TextSize::from(1), it.end()))),
            At::Arms(expr) => {
                of_expr(expr).map(|(part, it)| (part, self.arms(expr, it).unwrap_or(it)))
            }
        }
    }

    fn of_expr(&self, expr: ExprId) -> Option<TextRange> {
        self.exprs.get(expr.0 as usize).copied()
    }

    fn part_of_expr(&self, expr: ExprId) -> usize {
        let parts = self.parts.as_ref().and_then(|it| it.exprs.get(expr.0 as usize));
        parts.copied().unwrap_or_default()
    }

    /// The base of an access: the longest expression of the same block that starts at the same offset and ends
    /// earlier.
    fn base(&self, part: usize, access: TextRange) -> Option<TextRange> {
        let begins = |it: &TextRange| it.start() == access.start() && it.end() < access.end();
        let exprs = (0..).map(ExprId).zip(&self.exprs);
        let exprs = exprs.filter(|(id, it)| begins(it) && self.part_of_expr(*id) == part);
        exprs.map(|(_, it)| *it).max_by_key(|it| it.end())
    }

    /// The function name of a call, which is a node.
    fn callee(&self, part: usize, call: TextRange) -> Option<TextRange> {
        let begins = |it: &TextRange| it.start() == call.start() && it.end() < call.end();
        let part_of = |index: usize| {
            let parts = self.parts.as_ref().and_then(|it| it.nodes.get(index));
            parts.copied().unwrap_or_default()
        };
        let mut nodes = self.nodes.iter().enumerate();
        nodes.find(|(index, it)| begins(it) && part_of(*index) == part).map(|(_, it)| *it)
    }

    /// The range of both results. In the arena, the second result directly precedes the conditional. The first
    /// result is the expression that ends last before the second one starts.
    fn arms(&self, conditional: ExprId, whole: TextRange) -> Option<TextRange> {
        let children = self.exprs.get(..conditional.0 as usize)?;
        let otherwise = children.last()?;
        let is_before =
            |it: &&TextRange| it.start() >= whole.start() && it.end() <= otherwise.start();
        let then =
            children.iter().filter(is_before).max_by_key(|it| (it.end(), Reverse(it.start())))?;
        Some(then.cover(*otherwise))
    }

    /// The expressions of the item's own block with their ranges, children before their parents.
    pub fn exprs(&self) -> impl Iterator<Item = (ExprId, TextRange)> {
        let ids = (0..self.exprs.len() as u32).map(ExprId);
        ids.filter_map(|id| Some((id, self.range(id.into())?)))
    }

    /// The names, headers and labels of the item's own block with their ranges.
    pub fn nodes(&self) -> impl Iterator<Item = (NodeId, TextRange)> {
        let ids = (0..self.nodes.len() as u32).map(NodeId);
        ids.filter_map(|id| Some((id, self.range(id.into())?)))
    }

    /// The source map of a merged item: maps each range to its block number and the range in that block.
    fn in_parts(self, place: impl Fn(TextRange) -> (usize, TextRange)) -> SourceMap {
        let placed = |ranges: Vec<TextRange>| ranges.into_iter().map(&place).unzip();
        let (expr_parts, exprs) = placed(self.exprs);
        let (node_parts, nodes) = placed(self.nodes);
        let parts = Parts { exprs: expr_parts, nodes: node_parts };
        SourceMap { exprs, nodes, parts: Some(Box::new(parts)) }
    }

    /// The smallest expression that covers a range; the innermost if several have that range. Linear in the size
    /// of the item.
    pub fn expr_around(&self, range: TextRange) -> Option<ExprId> {
        let around = self.exprs().filter(|(_, it)| it.contains_range(range));
        around.min_by_key(|(_, it)| it.len()).map(|(id, _)| id)
    }

    /// The outermost expression with exactly this range. Its value is the value of the whole range.
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

/// Lowers the text of one block. `path` is the path of its file, which determines the syntax.
pub fn lower_text(text: &str, path: &str) -> Lowered {
    let is_override = db::is_override(path);
    match db::is_json(path) {
        true => json::lower(text, (is_override, path.ends_with(".tofu.json"))),
        false => lower_parsed(text, (is_override, path.ends_with(".tofu"))),
    }
}

/// Lowers one top-level chunk of a file in the native syntax.
pub fn lower_chunk(text: &str) -> Lowered {
    lower_parsed(text, (false, false))
}

fn lower_parsed(text: &str, (is_override, is_tofu): (bool, bool)) -> Lowered {
    let parse = FlatParse::chunk(text);
    let mut lowered = Lowered { is_override, is_tofu, ..Lowered::default() };
    for error in parse.errors() {
        lowered.problems.push(syntax_problem(error));
    }
    lower_items(&mut lowered, &parse);
    lowered
}

fn lower_items(lowered: &mut Lowered, parse: &FlatParse<'_>) {
    for item in parse.file().into_iter().flat_map(|file| file.body_items()) {
        match item {
            ast::BodyItem::Block(block) => {
                let is_override = lowered.is_override;
                lower_top(lowered, &Top { is_override, ..Top::alone(&block) });
            }
            ast::BodyItem::Attribute(attribute) => {
                let name = attribute.name().unwrap_or_default();
                lowered.problems.push(Problem::new(
                    Summary::UNSUPPORTED_ARGUMENT,
                    attribute
                        .name_token()
                        .map_or(attribute.syntax().text_range(), |name| name.text_range()),
                    format!("An argument named \"{name}\" is not expected here."),
                ));
            }
        }
    }
}

/// The header of the block around a range, which diagnostics show after "in": `resource "a" "b"`.
pub(crate) fn context_at(text: &str, path: &str, place: TextRange) -> Option<String> {
    match db::is_json(path) {
        true => {
            let mut headers = json::headers(text).into_iter();
            headers.find(|(it, _)| it.contains_range(place)).map(|(_, header)| header)
        }
        false => header_at(&syntax::parse_chunk(text), place),
    }
}

/// The header of the block around a range of a syntax tree.
pub(crate) fn header_at(parse: &Parse<SourceFile>, place: TextRange) -> Option<String> {
    let around = |block: &syntax::ast::Block| block.syntax().text_range().contains_range(place);
    parse.tree().blocks().find(around).map(|block| body::header_text(&block))
}

/// Converts a syntax error. [`problem::PLACE`] stands for a related location in its detail until the file is
/// known.
fn syntax_problem(error: &syntax::SyntaxError) -> Problem {
    let detail = error.detail(|_| PLACE.to_owned()).into_owned();
    let problem = Problem::new(Summary::syntax_error(&error.summary), error.range, detail);
    Problem { related: error.related, ..problem }
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

/// A top-level block with its overrides.
struct Top<'a, 't> {
    block: &'a ast::Block<'t>,
    /// The blocks of override files that change this block, in order.
    overriding: &'a [ast::Block<'t>],
    /// Set if the block itself is in an override file.
    is_override: bool,
}

impl<'a, 't> Top<'a, 't> {
    fn alone(block: &'a ast::Block<'t>) -> Top<'a, 't> {
        Top { block, overriding: &[], is_override: false }
    }
}

fn lower_top(lowered: &mut Lowered, top: &Top<'_, '_>) {
    let block = top.block;
    let Some(kind) = block.type_token() else { return };
    match kind.text() {
        kind @ ("check" | "moved" | "import" | "removed" | "language") if top.is_override => {
            lowered.problems.push(overriding::refused_block(block, kind));
        }
        "variable" => one(lowered, top, named::variable),
        "output" => one(lowered, top, named::output),
        "locals" => named::locals(lowered, block),
        "resource" => {
            one(lowered, top, |ctx, top| resource::resource(ctx, top, addr::ResourceMode::Managed))
        }
        "data" => {
            one(lowered, top, |ctx, top| resource::resource(ctx, top, addr::ResourceMode::Data))
        }
        "ephemeral" => one(lowered, top, |ctx, top| {
            resource::resource(ctx, top, addr::ResourceMode::Ephemeral)
        }),
        "module" => one(lowered, top, module_call::module_call),
        "provider" => one(lowered, top, provider_block::provider),
        "terraform" => one(lowered, top, |ctx, top| terraform::terraform(ctx, top.block)),
        "check" => {
            one(lowered, top, |ctx, top| check::check(ctx, top.block));
            check::scoped_data(lowered, block);
        }
        kind @ ("moved" | "import" | "removed") => {
            lowered.problems.push(refactoring::not_run(block, kind));
            one(lowered, top, |ctx, top| match kind {
                "moved" => refactoring::moved(ctx, top.block),
                "removed" => refactoring::removed(ctx, top.block),
                _ => refactoring::import(ctx, top.block),
            });
        }
        "language" => one(lowered, top, |ctx, top| terraform::language(ctx, top.block)),
        "required_providers" => lowered.problems.push(Problem::new(
            Summary::MISPLACED_REQUIRED_PROVIDERS,
            body::header_range(block),
            "A \"required_providers\" block stands in a \"terraform\" block: write terraform { \
             required_providers { … } }.",
        )),
        other => {
            let mut detail = format!("Blocks of type \"{other}\" are not expected here.");
            let close = crate::suggest::closest(other, TOP_LEVEL.iter().copied());
            if let Some(close) = close {
                detail.push_str(&format!(" Did you mean \"{close}\"?"));
            }
            let problem = Problem::new(Summary::UNSUPPORTED_BLOCK, kind.text_range(), detail);
            lowered.problems.push(problem.fixed_by(Fix::first(other, close)));
        }
    }
}

/// Lowers a block that declares one item.
fn one<'t>(
    lowered: &mut Lowered,
    top: &Top<'_, 't>,
    lower: impl FnOnce(&mut ItemCtx<'_>, &Top<'_, 't>) -> Option<ItemKind>,
) {
    let block = top.block;
    let mut ctx = ItemCtx { is_override: top.is_override, ..ItemCtx::of(lowered) };
    let header = ctx.node(body::header_range(block));
    if let Some(kind) = lower(&mut ctx, top) {
        let (item, source_map) = ctx.finish(kind, header);
        lowered.items.push(Arc::new(item));
        lowered.source_maps.push(source_map);
    }
}

/// The maximum depth of an expression. The syntax tree is limited to [`syntax::MAX_DEPTH`]; the rest allows for
/// traversals, which have few steps in practice.
const MOST_LEVELS: u32 = 2 * syntax::MAX_DEPTH as u32;

fn too_deep(range: TextRange) -> Problem {
    Problem::new(
        Summary::EXPRESSION_TOO_DEEP,
        range,
        "This expression takes more steps than can be evaluated here. Move a part of it into a \
         local value.",
    )
}

/// The state of lowering one item.
pub(crate) struct ItemCtx<'a> {
    exprs: Vec<Expr>,
    expr_ranges: Vec<TextRange>,
    /// The depth of each expression. A traversal is flat in the syntax tree but nested here, and the limit lets
    /// later code recurse over expressions.
    depths: Vec<u32>,
    node_ranges: Vec<TextRange>,
    /// Lists for reuse by the next item, without the lists above.
    spare: Box<Spare>,
    symbols: Vec<Str>,
    scope: Vec<(Str, SymbolId)>,
    refs: Vec<StaticRef>,
    /// The position of the references that are found now.
    place: RefPlace,
    /// Set if references are allowed here.
    may_refer: bool,
    problems: &'a mut Vec<Problem>,
    /// The variables of a template file, whose unbound names are variables. `None` outside of template files.
    free_names: Option<Vec<(Str, SymbolId)>>,
    /// Set for items in the JSON syntax.
    is_json: bool,
    /// Set for items of override files, whose required arguments may be missing.
    is_override: bool,
    /// Set for items of `.tofu` files, which Terraform does not read.
    is_tofu: bool,
}

impl<'a> ItemCtx<'a> {
    fn of(lowered: &'a mut Lowered) -> ItemCtx<'a> {
        ItemCtx {
            is_json: lowered.is_json,
            is_tofu: lowered.is_tofu,
            ..ItemCtx::new(&mut lowered.problems)
        }
    }

    fn new(problems: &'a mut Vec<Problem>) -> ItemCtx<'a> {
        let mut spare = Spare::take();
        let SourceMap { exprs: expr_ranges, nodes: node_ranges, .. } = spare.map();
        ItemCtx {
            exprs: std::mem::take(&mut spare.exprs),
            expr_ranges,
            depths: std::mem::take(&mut spare.depths),
            node_ranges,
            spare,
            symbols: Vec::new(),
            scope: Vec::new(),
            refs: Vec::new(),
            place: RefPlace::Config,
            may_refer: true,
            problems,
            free_names: None,
            is_json: false,
            is_override: false,
            is_tofu: false,
        }
    }

    /// A copy of the expressions so far, for evaluating a constant among them.
    fn exprs_so_far(&self) -> Exprs {
        Exprs::new(self.exprs.clone(), self.symbols.clone())
    }

    fn take_source_map(&mut self) -> SourceMap {
        SourceMap {
            exprs: std::mem::take(&mut self.expr_ranges),
            nodes: std::mem::take(&mut self.node_ranges),
            parts: None,
        }
    }

    fn into_exprs(mut self) -> (Exprs, Vec<StaticRef>) {
        let exprs = self.exprs.drain(..).collect();
        (self.spare.exprs, self.spare.depths) = (self.exprs, self.depths);
        self.spare.leave();
        (Exprs::new(exprs, self.symbols), self.refs)
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

    /// Returns true if the predicate holds for an expression or one of its descendants.
    fn any_inside(&self, root: ExprId, is_one: impl Fn(&Expr) -> bool) -> bool {
        let mut open = vec![root];
        while let Some(id) = open.pop() {
            let Some(expr) = self.exprs.get(id.0 as usize) else { continue };
            if is_one(expr) {
                return true;
            }
            expr.for_each_child(&mut |child| open.push(child));
        }
        false
    }

    fn range_of(&self, expr: ExprId) -> TextRange {
        self.expr_ranges.get(expr.0 as usize).copied().unwrap_or_default()
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

    /// The innermost binding of a name. In a template file, an unbound name becomes a variable. `None` otherwise.
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

    /// Lowers an expression that may not contain references. An incomplete reference gets the same error as a
    /// complete one.
    fn without_names<T>(&mut self, lower: impl FnOnce(&mut Self) -> T) -> T {
        let outer = std::mem::replace(&mut self.may_refer, false);
        let result = lower(self);
        self.may_refer = outer;
        result
    }

    /// Lowers with `place` as the position of all references.
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

    // The words that editors highlight. `cargo xtask codegen` generates grammars from these lists.
    const BLOCK_TYPES: &str = include_str!("../../../../grammar/words/block_types.txt");
    const REFERENCES: &str = include_str!("../../../../grammar/words/references.txt");
    const PRIMITIVE_TYPES: &str = include_str!("../../../../grammar/words/primitive_types.txt");
    const TYPE_CONSTRUCTORS: &str = include_str!("../../../../grammar/words/type_constructors.txt");

    #[test]
    fn traversal_with_too_many_steps_is_refused() {
        let lowered = |steps: usize| {
            let text = format!("locals {{\n  a = local.b{}\n}}\n", ".c".repeat(steps));
            lower_chunk(&text)
        };
        assert!(lowered(500).problems.is_empty());
        let problems = lowered(100_000).problems;
        assert!(problems.iter().all(|it| it.id() == "expression-too-deep"));
        assert!(!problems.is_empty());
    }

    /// The `addr` crate parses addresses on the command line, the `syntax` crate names in a configuration. They
    /// may use tables of different Unicode versions, of which the later has more letters.
    #[test]
    fn parser_and_addresses_accept_the_same_names() {
        let is_name = |text: &str| {
            let parse = syntax::parse_expression(text);
            let name = parse.tree().expr().and_then(|expr| expr.name_token());
            parse.errors().is_empty() && name.is_some_and(|name| name.text() == text)
        };
        // Characters that `addr` and the standard library classify differently.
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
            let _ = writeln!(acc, "{}: {}", it.id(), it.detail);
            acc
        })
    }

    #[test]
    fn grammar_lists_all_block_types() {
        let listed: Vec<&str> = BLOCK_TYPES.lines().collect();
        let missing: Vec<_> = TOP_LEVEL.iter().filter(|it| !listed.contains(it)).collect();
        assert!(missing.is_empty(), "not in grammar/words/block_types.txt: {missing:?}");
        for word in listed {
            let problems = problems(&format!("{word} {{\n}}\n"));
            assert!(!problems.contains("unsupported-block:"), "{word}: {problems}");
        }
    }

    #[test]
    fn grammar_lists_no_resource_type_as_reference_root() {
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
    fn grammar_lists_all_type_keywords() {
        let mut listed: Vec<&str> =
            PRIMITIVE_TYPES.lines().chain(TYPE_CONSTRUCTORS.lines()).collect();
        let mut known: Vec<&str> = types::WORDS.into_iter().chain(["optional"]).collect();
        listed.sort_unstable();
        known.sort_unstable();
        assert_eq!(listed, known);
    }
}
