//! Traversals: chains of attribute names and literal indexes above a reference or a bound name, as in `var.a[0].b`.
//!
//! They are the unit of what an expression *reads*: `try` asks whether one of them is unknown, and a diagnostic
//! explains itself with their values.

use rustc_hash::FxHashSet;

use crate::expr::{Expr, ExprId, Exprs, Literal, SymbolId};

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
        exprs[id].for_each_child(&mut |child| rest.push(child));
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

/// A traversal as it is written; nothing where it begins with the nameless element of a splat.
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
