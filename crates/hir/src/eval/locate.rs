//! Maps a path into a body's value to the location in the body that the value comes from.

use values::{Step, Str, Value};

use crate::{
    expr::{At, Expr, ExprId, Exprs},
    item::{Block, Body},
};

pub(super) fn locate(body: &Body, exprs: &Exprs, path: &[Step]) -> Option<At> {
    let (Step::Attr(name), rest) = path.split_first()? else { return None };
    if let Some(attr) = body.attrs.iter().find(|attr| attr.name == *name) {
        return Some(At::Expr(locate_in_expr(exprs, attr.value, rest)));
    }
    let blocks: Vec<&Block> = body.blocks.iter().filter(|block| block.kind == *name).collect();
    let (block, rest) = choose(&blocks, rest)?;
    match &block.dynamic {
        // A `dynamic` block with a wrong value as a whole: the cause is its `for_each`.
        Some(dynamic) if rest.is_empty() => Some(At::Expr(dynamic.for_each)),
        _ => Some(locate(&block.body, exprs, rest).unwrap_or(At::Node(block.node))),
    }
}

/// The block that an index in the path selects, and the rest of the path. A `dynamic` block generates any number
/// of blocks, so an index at or after the first one selects that `dynamic` block.
fn choose<'b, 'p>(blocks: &[&'b Block], path: &'p [Step]) -> Option<(&'b Block, &'p [Step])> {
    let first = *blocks.first()?;
    let Some((Step::Index(key), rest)) = path.split_first() else { return Some((first, path)) };
    let chosen = match (position(key), key.as_str()) {
        (Some(position), _) if blocks.iter().take(position + 1).all(|it| it.dynamic.is_none()) => {
            blocks.get(position).copied()
        }
        (Some(_), _) => blocks.iter().copied().find(|it| it.dynamic.is_some()),
        (None, Some(label)) => {
            blocks.iter().copied().find(|it| it.labels.first().is_some_and(|it| **it == *label))
        }
        (None, None) => None,
    };
    Some((chosen.unwrap_or(first), rest))
}

/// The innermost expression that the path reaches through constructors.
pub(super) fn locate_in_expr(exprs: &Exprs, expr: ExprId, path: &[Step]) -> ExprId {
    part_at(exprs, expr, path).0
}

/// The innermost expression that the path reaches through constructors, and the rest of the path.
pub fn part_at<'p>(exprs: &Exprs, expr: ExprId, path: &'p [Step]) -> (ExprId, &'p [Step]) {
    let Some((step, rest)) = path.split_first() else { return (expr, path) };
    let inner = match (&exprs[expr], step) {
        (Expr::Tuple(elements), Step::Index(key)) => {
            position(key).and_then(|at| elements.get(at)).copied()
        }
        (Expr::Object(items), step) => name_of(step).and_then(|name| {
            let has_name = |key: ExprId| key_text(exprs, key).is_some_and(|key| *key == *name);
            items.iter().rev().find(|item| has_name(item.key)).map(|item| item.value)
        }),
        _ => None,
    };
    inner.map_or((expr, path), |inner| part_at(exprs, inner, rest))
}

fn position(key: &Value) -> Option<usize> {
    key.as_number()?.to_usize()
}

fn name_of(step: &Step) -> Option<Str> {
    match step {
        Step::Attr(name) => Some(name.clone()),
        Step::Index(key) => key.as_str().map(Str::on_heap),
    }
}

fn key_text(exprs: &Exprs, key: ExprId) -> Option<Str> {
    match &exprs[key] {
        Expr::Literal(literal) => literal.value().as_str().map(Str::from),
        _ => None,
    }
}
