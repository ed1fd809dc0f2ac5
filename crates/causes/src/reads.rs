//! The references that an expression reads, with as much of each traversal as is known.

use hir::{Expr, ExprId, Exprs, Ref, SymbolId, expr::Literal};
use rustc_hash::FxHashSet;
use values::{Kind, Step, Value};

/// A reference with the steps behind it.
#[derive(Clone, Debug)]
pub(crate) struct Read {
    pub(crate) reference: Ref,
    /// The steps, with the keys of known indexes.
    pub(crate) steps: Vec<Step>,
    /// The steps behind a splat, if there is one.
    pub(crate) splat: Option<Vec<Step>>,
    /// The expression of the traversal.
    pub(crate) expr: ExprId,
}

/// Finds the references that an expression reads, in source order. `value` evaluates a part of it: conditions, so
/// that branches which are not taken are left out, and keys.
pub(crate) fn reads(exprs: &Exprs, root: ExprId, value: &dyn Fn(ExprId) -> Value) -> Vec<Read> {
    let mut found = Reads { exprs, value, found: Vec::new(), bound: FxHashSet::default() };
    let mut rest = vec![root];
    while let Some(id) = rest.pop() {
        let first = rest.len();
        found.visit(id, &mut rest);
        rest[first..].reverse();
    }
    found.found
}

struct Reads<'e> {
    exprs: &'e Exprs,
    value: &'e dyn Fn(ExprId) -> Value,
    found: Vec<Read>,
    /// The symbols that have no single value.
    bound: FxHashSet<SymbolId>,
}

impl Reads<'_> {
    fn visit(&mut self, id: ExprId, rest: &mut Vec<ExprId>) {
        if let Some(read) = self.read(id, rest) {
            return self.found.push(read);
        }
        match &self.exprs[id] {
            Expr::Conditional { condition, then, otherwise } => {
                let taken = match self.known(*condition).and_then(|it| it.as_bool()) {
                    Some(true) => vec![*condition, *then],
                    Some(false) => vec![*condition, *otherwise],
                    None => vec![*condition, *then, *otherwise],
                };
                rest.extend(taken);
            }
            Expr::ForTuple(it) => self.bound.extend(it.key.into_iter().chain([it.value])),
            Expr::ForObject(it) => self.bound.extend(it.key.into_iter().chain([it.value])),
            Expr::Splat { item, .. } => drop(self.bound.insert(*item)),
            _ => {}
        }
        if !matches!(self.exprs[id], Expr::Conditional { .. }) {
            self.exprs[id].for_each_child(&mut |child| rest.push(child));
        }
    }

    /// The traversal at an expression, if it starts with a reference. Adds its keys to `rest`.
    fn read(&self, id: ExprId, rest: &mut Vec<ExprId>) -> Option<Read> {
        if let Expr::Splat { base, item, each } = &self.exprs[id] {
            let behind = self.steps_from(*each, *item)?;
            let read = self.read(*base, rest)?;
            let splat = read.splat.is_none().then_some(behind)?;
            return Some(Read { splat: Some(splat), expr: id, ..read });
        }
        let (mut base, mut steps, mut keys) = (id, Vec::new(), Vec::new());
        loop {
            match &self.exprs[base] {
                Expr::GetAttr { base: inner, name } => {
                    steps.push(Step::Attr(name.clone()));
                    base = *inner;
                }
                Expr::Index { base: inner, key } => {
                    steps.push(Step::Index(self.key(*key)?));
                    keys.push(*key);
                    base = *inner;
                }
                Expr::Ref(reference) => {
                    steps.reverse();
                    rest.extend(keys.into_iter().rev());
                    return Some(Read {
                        reference: reference.clone(),
                        steps,
                        splat: None,
                        expr: id,
                    });
                }
                _ => return None,
            }
        }
    }

    /// The steps from the element of a splat. `None` if the expression is not a traversal of the element.
    fn steps_from(&self, each: ExprId, item: SymbolId) -> Option<Vec<Step>> {
        let (mut base, mut steps) = (each, Vec::new());
        loop {
            match &self.exprs[base] {
                Expr::GetAttr { base: inner, name } => {
                    steps.push(Step::Attr(name.clone()));
                    base = *inner;
                }
                Expr::Symbol(symbol) if *symbol == item => {
                    steps.reverse();
                    return Some(steps);
                }
                _ => return None,
            }
        }
    }

    fn key(&self, key: ExprId) -> Option<Value> {
        let value = match &self.exprs[key] {
            Expr::Literal(Literal::String(text)) => Value::string(text.clone()),
            Expr::Literal(Literal::Number(number)) => Value::number(number.clone()),
            _ => self.known(key)?,
        };
        matches!(value.kind(), Kind::String(_) | Kind::Number(_)).then_some(value)
    }

    /// The value of a part that is known, not secret, and the same for all elements of loops around it.
    fn known(&self, part: ExprId) -> Option<Value> {
        if self.has_bound(part) {
            return None;
        }
        let value = (self.value)(part);
        (value.is_known() && !value.has_deep_secret()).then(|| value.without_all_marks())
    }

    fn has_bound(&self, part: ExprId) -> bool {
        let mut rest = vec![part];
        while let Some(id) = rest.pop() {
            match &self.exprs[id] {
                Expr::Symbol(symbol) if self.bound.contains(symbol) => return true,
                it => it.for_each_child(&mut |child| rest.push(child)),
            }
        }
        false
    }
}
