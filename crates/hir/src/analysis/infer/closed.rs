//! Closed expressions, whose value does not depend on where they are: they have no reference, no name from outside,
//! no time and no file.

use smallvec::SmallVec;

use crate::expr::{Expr, ExprId, Exprs, SymbolId};

/// One bit for every expression of an item: whether it is closed.
pub(super) struct ClosedExprs(SmallVec<[bool; FEW]>);

/// The number of expressions that most items do not have more of.
const FEW: usize = 64;

/// The functions whose result does not follow from the source.
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

/// Returns true if a function's result depends on more than its arguments.
pub(super) fn is_impure(name: &str) -> bool {
    IMPURE.contains(&name)
}

impl ClosedExprs {
    /// Scans the arena once; children come before their parents.
    pub(super) fn of(exprs: &Exprs) -> ClosedExprs {
        let mut scan = Scan { no_refs: SmallVec::with_capacity(exprs.len()), free: Vec::new() };
        let mut closed = SmallVec::with_capacity(exprs.len());
        for (_, expr) in exprs.iter() {
            closed.push(scan.take(expr));
        }
        ClosedExprs(closed)
    }

    pub(super) fn contains(&self, id: ExprId) -> bool {
        self.0[id.0 as usize]
    }
}

/// The facts about the expressions scanned so far.
struct Scan {
    /// For each expression, whether it reads nothing but names that are bound in the item.
    no_refs: SmallVec<[bool; FEW]>,
    /// The names that each expression reads and does not bind itself. Most expressions read none, so the list ends
    /// at the last one that does.
    free: Vec<SmallVec<[SymbolId; 2]>>,
}

impl Scan {
    /// Scans the next expression. Returns true if it is closed.
    fn take(&mut self, expr: &Expr) -> bool {
        let mut pure = match expr {
            Expr::Ref(_) | Expr::Missing | Expr::Type(None) => false,
            Expr::Call(call) => !is_impure(&call.name) && !call.name.contains("::"),
            _ => true,
        };
        let mut names = SmallVec::new();
        expr.for_each_child(&mut |child| {
            let child = child.0 as usize;
            pure &= self.no_refs[child];
            names.extend_from_slice(
                self.free.get(child).map(SmallVec::as_slice).unwrap_or_default(),
            );
        });
        match expr {
            Expr::Symbol(symbol) => names.push(*symbol),
            Expr::Splat { item, .. } => names.retain(|name| *name != *item),
            Expr::ForTuple(it) => names.retain(|name| *name != it.value && Some(*name) != it.key),
            Expr::ForObject(it) => names.retain(|name| *name != it.value && Some(*name) != it.key),
            _ => {}
        }
        let is_closed = pure && names.is_empty();
        if pure && !names.is_empty() {
            sorted::sort(&mut names);
            names.dedup();
            self.free.resize_with(self.no_refs.len(), SmallVec::new);
            self.free.push(names);
        }
        self.no_refs.push(pure);
        is_closed
    }
}
