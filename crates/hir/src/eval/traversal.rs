//! Traversals: chains of attribute names and literal indexes above a reference or a bound name, as in `var.a[0].b`.
//!
//! They are the unit of what an expression *reads*: `try` asks whether one of them is unknown, and a diagnostic
//! explains itself with their values.

use rustc_hash::FxHashSet;

use crate::expr::{Expr, ExprId, Exprs, Literal, SymbolId, TemplatePart};

/// The longest traversals in an expression, in source order. Those that begin with a name bound inside the expression
/// itself are left out: they have no value of their own.
pub(crate) fn traversals(exprs: &Exprs, root: ExprId) -> Vec<ExprId> {
    let mut found = Vec::new();
    let mut bound = FxHashSet::default();
    let mut rest = vec![root];
    while let Some(id) = rest.pop() {
        if let Some(start) = origin(exprs, id) {
            if !matches!(exprs[start], Expr::Symbol(symbol) if bound.contains(&symbol)) {
                found.push(id);
            }
            continue;
        }
        bind(&exprs[id], &mut bound);
        let first = rest.len();
        for_each_child(&exprs[id], |child| rest.push(child));
        rest[first..].reverse();
    }
    found
}

/// The reference or name that a traversal begins with; nothing for any other expression.
fn origin(exprs: &Exprs, mut id: ExprId) -> Option<ExprId> {
    loop {
        match &exprs[id] {
            Expr::Ref(_) | Expr::Symbol(_) => return Some(id),
            Expr::GetAttr { base, .. } => id = *base,
            Expr::Index { base, key } if matches!(exprs[*key], Expr::Literal(_)) => id = *base,
            _ => return None,
        }
    }
}

fn bind(expr: &Expr, bound: &mut FxHashSet<SymbolId>) {
    match expr {
        Expr::Splat { item, .. } => {
            bound.insert(*item);
        }
        Expr::ForTuple(it) => bound.extend(it.key.into_iter().chain([it.value])),
        Expr::ForObject(it) => bound.extend(it.key.into_iter().chain([it.value])),
        _ => {}
    }
}

fn for_each_child(expr: &Expr, mut visit: impl FnMut(ExprId)) {
    match expr {
        Expr::Missing | Expr::Literal(_) | Expr::Ref(_) | Expr::Symbol(_) => {}
        Expr::Template(parts) => parts.iter().for_each(|part| match part {
            TemplatePart::Literal(_) => {}
            TemplatePart::Expr(id) => visit(*id),
        }),
        Expr::TemplateJoin(id)
        | Expr::GetAttr { base: id, .. }
        | Expr::Unary { operand: id, .. } => visit(*id),
        Expr::Index { base, key } => [*base, *key].into_iter().for_each(visit),
        Expr::Splat { base, each, .. } => [*base, *each].into_iter().for_each(visit),
        Expr::Tuple(elements) => elements.iter().copied().for_each(visit),
        Expr::Object(items) => items.iter().flat_map(|item| [item.key, item.value]).for_each(visit),
        Expr::ForTuple(it) => {
            [Some(it.collection), Some(it.body), it.condition]
                .into_iter()
                .flatten()
                .for_each(visit);
        }
        Expr::ForObject(it) => {
            let parts = [Some(it.collection), Some(it.item_key), Some(it.item_value), it.condition];
            parts.into_iter().flatten().for_each(visit);
        }
        Expr::Binary { left, right, .. } => [*left, *right].into_iter().for_each(visit),
        Expr::Conditional { condition, then, otherwise } => {
            [*condition, *then, *otherwise].into_iter().for_each(visit);
        }
        Expr::Call(call) => call.args.iter().copied().for_each(visit),
    }
}

/// A traversal as it is written; nothing where it begins with the nameless element of a splat.
pub(super) fn traversal_text(exprs: &Exprs, id: ExprId) -> Option<String> {
    match &exprs[id] {
        Expr::Ref(reference) => Some(reference.to_string()),
        Expr::Symbol(symbol) => {
            let name = exprs.symbol_name(*symbol);
            (&**name != "*").then(|| name.to_string())
        }
        Expr::GetAttr { base, name } => Some(format!("{}.{name}", traversal_text(exprs, *base)?)),
        Expr::Index { base, key } => {
            let base = traversal_text(exprs, *base)?;
            match &exprs[*key] {
                Expr::Literal(Literal::String(key)) => {
                    Some(format!("{base}[{}]", addr::quote(key)))
                }
                Expr::Literal(Literal::Number(key)) => Some(format!("{base}[{key}]")),
                _ => Some(format!("{base}[...]")),
            }
        }
        _ => None,
    }
}
