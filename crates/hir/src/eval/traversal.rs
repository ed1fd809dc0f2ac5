//! Traversals: chains of attribute names and literal indexes on a reference or a bound symbol, as in `var.a[0].b`.
//!
//! A traversal is the unit of what an expression *reads*: `try` checks if one is unknown, and diagnostics show the
//! values of traversals.

use rustc_hash::FxHashSet;

use crate::expr::{Expr, ExprId, Exprs, Literal, SymbolId};

/// The longest traversals in an expression, in source order. A traversal that starts with a symbol bound inside of
/// the expression is left out, because it has no single value.
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
        exprs[id].for_each_child(&mut |child| rest.push(child));
        rest[first..].reverse();
    }
    found
}

/// The reference or symbol that a traversal starts with. `None` if the expression is not a traversal.
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

/// Formats a traversal as in the source. `None` if it starts with the unnamed element of a splat.
pub(crate) fn traversal_text(exprs: &Exprs, id: ExprId) -> Option<String> {
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
