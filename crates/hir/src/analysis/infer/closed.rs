//! Which expressions mean the same wherever they stand: no reference, no name from outside, no clock, no file.

use crate::expr::{Expr, ExprId, Exprs, SymbolId};

/// A bit for every expression of an item.
pub(super) struct Closed(Vec<bool>);

/// Functions whose result the source does not determine.
const IMPURE: &[&str] = &[
    "timestamp",
    "plantimestamp",
    "uuid",
    "bcrypt",
    "file",
    "fileexists",
    "filebase64",
    "fileset",
    "templatefile",
    "templatestring",
    "abspath",
    "pathexpand",
    "filemd5",
    "filesha1",
    "filesha256",
    "filesha512",
    "filebase64sha256",
    "filebase64sha512",
];

/// Whether a function's result depends on more than its arguments.
pub(super) fn is_impure(name: &str) -> bool {
    IMPURE.contains(&name)
}

impl Closed {
    /// One pass over the arena: children come before their parents.
    pub(super) fn of(exprs: &Exprs) -> Closed {
        let mut closed: Vec<bool> = Vec::with_capacity(exprs.len());
        // Names that an expression reads and does not bind itself, of those without references.
        let mut free: Vec<Vec<SymbolId>> = Vec::with_capacity(exprs.len());
        let mut no_refs: Vec<bool> = Vec::with_capacity(exprs.len());
        for (_, expr) in exprs.iter() {
            let mut pure = !matches!(expr, Expr::Ref(_) | Expr::Missing | Expr::Type(None));
            let mut names = Vec::new();
            expr.for_each_child(&mut |child| {
                pure &= no_refs[child.0 as usize];
                names.extend_from_slice(&free[child.0 as usize]);
            });
            match expr {
                Expr::Symbol(symbol) => names.push(*symbol),
                Expr::Splat { item, .. } => names.retain(|name| name != item),
                Expr::ForTuple(it) => {
                    names.retain(|name| *name != it.value && Some(*name) != it.key)
                }
                Expr::ForObject(it) => {
                    names.retain(|name| *name != it.value && Some(*name) != it.key)
                }
                Expr::Call(call) => pure &= !is_impure(&call.name) && !call.name.contains("::"),
                _ => {}
            }
            if pure {
                names.sort_unstable();
                names.dedup();
            } else {
                names.clear();
            }
            closed.push(pure && names.is_empty());
            no_refs.push(pure);
            free.push(names);
        }
        Closed(closed)
    }

    pub(super) fn contains(&self, id: ExprId) -> bool {
        self.0[id.0 as usize]
    }
}
