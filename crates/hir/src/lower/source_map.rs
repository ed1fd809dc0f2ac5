//! The source ranges of an item: the ids of its expressions and nodes, mapped to text.

use std::cmp::Reverse;

use syntax::{TextRange, TextSize};

use crate::expr::{At, ExprId, NodeId};

/// The source ranges of an item's expressions and nodes, relative to its block.
#[derive(Clone, Debug, Default)]
pub struct SourceMap {
    pub(super) exprs: Vec<TextRange>,
    pub(super) nodes: Vec<TextRange>,
    /// The block of each range, if override files changed the item. `None` if all ranges are in the item's own
    /// block.
    pub(super) parts: Option<Box<Parts>>,
}

/// The block numbers of expressions and nodes. Number 0 is the item's own block.
#[derive(Clone, Debug)]
pub(super) struct Parts {
    pub(super) exprs: Vec<usize>,
    pub(super) nodes: Vec<usize>,
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
    pub(super) fn in_parts(self, place: impl Fn(TextRange) -> (usize, TextRange)) -> SourceMap {
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
        sorted::sort_by_key(&mut around, |(_, it)| it.len());
        around.into_iter().map(|(id, _)| id).collect()
    }

    /// Replaces each range.
    pub(super) fn map_ranges(&mut self, of: impl Fn(TextRange) -> TextRange) {
        self.exprs.iter_mut().chain(&mut self.nodes).for_each(|it| *it = of(*it));
    }
}
