//! The state of lowering one item, which every part of lowering adds to.

use std::sync::Arc;

use db::Summary;
use syntax::{TextRange, flat::ast};
use values::Str;

use crate::{
    expr::{Expr, ExprId, Exprs, NodeId, SymbolId},
    item::{Item, ItemKind, RefPlace, StaticRef},
    lower::{
        header::header_range, lowered::Lowered, problem::Problem, source_map::SourceMap,
        spare::SpareLists,
    },
};

/// A top-level block with its overrides.
pub(super) struct Top<'a, 't> {
    pub(super) block: &'a ast::Block<'t>,
    /// The blocks of override files that change this block, in order.
    pub(super) overriding: &'a [ast::Block<'t>],
    /// Set if the block itself is in an override file.
    pub(super) is_override: bool,
}

impl<'a, 't> Top<'a, 't> {
    pub(super) fn alone(block: &'a ast::Block<'t>) -> Top<'a, 't> {
        Top { block, overriding: &[], is_override: false }
    }
}

/// Lowers a block that declares one item.
pub(super) fn lower_one<'t>(
    lowered: &mut Lowered,
    top: &Top<'_, 't>,
    lower: impl FnOnce(&mut ItemCtx<'_>, &Top<'_, 't>) -> Option<ItemKind>,
) {
    let block = top.block;
    let mut ctx = ItemCtx { is_override: top.is_override, ..ItemCtx::of(lowered) };
    let header = ctx.node(header_range(block));
    if let Some(kind) = lower(&mut ctx, top) {
        let (item, source_map) = ctx.finish(kind, header);
        lowered.items.push(Arc::new(item));
        lowered.source_maps.push(source_map);
    }
}

/// The maximum depth of an expression. The syntax tree is limited to [`syntax::MAX_DEPTH`]; the rest allows for
/// traversals, which have few steps in practice.
const MAX_LEVELS: u32 = 2 * syntax::MAX_DEPTH as u32;

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
    pub(super) exprs: Vec<Expr>,
    expr_ranges: Vec<TextRange>,
    /// The depth of each expression. A traversal is flat in the syntax tree but nested here, and the limit lets
    /// later code recurse over expressions.
    depths: Vec<u32>,
    node_ranges: Vec<TextRange>,
    /// Lists for reuse by the next item, without the lists above.
    spare: Box<SpareLists>,
    symbols: Vec<Str>,
    scope: Vec<(Str, SymbolId)>,
    refs: Vec<StaticRef>,
    /// The position of the references that are found now.
    pub(super) place: RefPlace,
    /// Set if references are allowed here.
    pub(super) may_refer: bool,
    pub(super) problems: &'a mut Vec<Problem>,
    /// The variables of a template file, whose unbound names are variables. `None` outside of template files.
    pub(super) free_names: Option<Vec<(Str, SymbolId)>>,
    /// Set for items in the JSON syntax.
    pub(super) is_json: bool,
    /// Set for items of override files, whose required arguments may be missing.
    pub(super) is_override: bool,
    /// Set for items of `.tofu` files, which Terraform does not read.
    pub(super) is_tofu: bool,
    /// Set for items of test files, which may refer to outputs and to earlier runs.
    pub(super) is_test: bool,
}

impl<'a> ItemCtx<'a> {
    pub(super) fn of(lowered: &'a mut Lowered) -> ItemCtx<'a> {
        ItemCtx {
            is_json: lowered.file.is_json,
            is_tofu: lowered.file.is_tofu,
            is_test: lowered.file.is_test,
            ..ItemCtx::new(&mut lowered.problems)
        }
    }

    pub(super) fn new(problems: &'a mut Vec<Problem>) -> ItemCtx<'a> {
        let mut spare = SpareLists::take();
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
            is_test: false,
        }
    }

    /// A copy of the expressions so far, for evaluating a constant among them.
    pub(super) fn exprs_so_far(&self) -> Exprs {
        Exprs::new(self.exprs.clone(), self.symbols.clone())
    }

    pub(super) fn take_source_map(&mut self) -> SourceMap {
        SourceMap {
            exprs: std::mem::take(&mut self.expr_ranges),
            nodes: std::mem::take(&mut self.node_ranges),
            parts: None,
        }
    }

    pub(super) fn into_exprs(mut self) -> (Exprs, Vec<StaticRef>) {
        let exprs = self.exprs.drain(..).collect();
        (self.spare.exprs, self.spare.depths) = (self.exprs, self.depths);
        self.spare.leave();
        (Exprs::new(exprs, self.symbols), self.refs)
    }

    pub(super) fn finish(mut self, kind: ItemKind, header: NodeId) -> (Item, SourceMap) {
        let source_map = self.take_source_map();
        let (exprs, refs) = self.into_exprs();
        (Item { exprs, kind, header, refs: refs.into() }, source_map)
    }

    pub(super) fn alloc(&mut self, expr: Expr, range: TextRange) -> ExprId {
        let id = ExprId(self.exprs.len() as u32);
        let mut depth = 0;
        expr.for_each_child(&mut |child| {
            depth = depth.max(self.depths.get(child.0 as usize).map_or(0, |it| it + 1));
        });
        let is_too_deep = depth > MAX_LEVELS;
        if is_too_deep {
            self.problem(too_deep(range));
        }
        self.exprs.push(if is_too_deep { Expr::Missing } else { expr });
        self.depths.push(if is_too_deep { 0 } else { depth });
        self.expr_ranges.push(range);
        id
    }

    pub(super) fn node(&mut self, range: TextRange) -> NodeId {
        let id = NodeId(self.node_ranges.len() as u32);
        self.node_ranges.push(range);
        id
    }

    /// Returns true if the predicate holds for an expression or one of its descendants.
    pub(super) fn any_inside(&self, root: ExprId, is_one: impl Fn(&Expr) -> bool) -> bool {
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

    pub(super) fn range_of(&self, expr: ExprId) -> TextRange {
        self.expr_ranges.get(expr.0 as usize).copied().unwrap_or_default()
    }

    pub(super) fn problem(&mut self, problem: Problem) {
        self.problems.push(problem);
    }

    pub(super) fn symbol(&mut self, name: Str) -> SymbolId {
        let id = SymbolId(self.symbols.len() as u32);
        self.symbols.push(name);
        id
    }

    pub(super) fn bind(&mut self, name: Str) -> SymbolId {
        let id = self.symbol(name.clone());
        self.scope.push((name, id));
        id
    }

    pub(super) fn depth(&self) -> usize {
        self.scope.len()
    }

    pub(super) fn leave(&mut self, depth: usize) {
        self.scope.truncate(depth);
    }

    /// The innermost binding of a name. In a template file, an unbound name becomes a variable. `None` otherwise.
    pub(super) fn lookup(&mut self, name: &str) -> Option<SymbolId> {
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

    pub(super) fn add_ref(&mut self, reference: StaticRef) {
        self.refs.push(reference);
    }

    /// Lowers an expression that may not contain references. An incomplete reference gets the same error as a
    /// complete one.
    pub(super) fn without_names<T>(&mut self, lower: impl FnOnce(&mut Self) -> T) -> T {
        let outer = std::mem::replace(&mut self.may_refer, false);
        let result = lower(self);
        self.may_refer = outer;
        result
    }

    /// Lowers with `place` as the position of all references.
    pub(super) fn in_place<T>(&mut self, place: RefPlace, lower: impl FnOnce(&mut Self) -> T) -> T {
        let outer = std::mem::replace(&mut self.place, place);
        let result = lower(self);
        self.place = outer;
        result
    }
}
