//! The references of expressions, with as much of each traversal as is constant.

use addr::InstanceKey;
use hir::{
    Expr, ExprId, Item, Ref,
    eval::exprs_at,
    expr::Literal,
    item::{Body, Repetition},
};
use rustc_hash::FxHashSet;
use values::{Kind, Path, Step, Str, Value};

/// The target of a reference.
#[derive(Clone, PartialEq, Eq, Hash)]
pub(super) enum Referenced {
    /// A resource, or one of its instances if the key is constant.
    Resource(addr::Resource, InstanceKey),
    Variable(Str),
    Local(Str),
    /// An output of a call, or of one of its instances.
    Output(Str, InstanceKey, Str),
    /// A call as a whole, or one of its instances.
    Module(Str, InstanceKey),
}

/// The references of expressions.
#[derive(Default)]
pub(super) struct Names {
    /// The targets, each with the rest of its traversal.
    pub(super) found: Vec<(Referenced, Path)>,
    /// True if `count.index`, `each.key` or `each.value` is among them.
    pub(super) uses_repetition: bool,
}

/// The references of these expressions and of all that they contain.
pub(super) fn of_exprs(item: &Item, exprs: impl IntoIterator<Item = ExprId>) -> Names {
    let mut collect = Collect { item, names: Names::default(), seen: FxHashSet::default() };
    let mut open: Vec<ExprId> = exprs.into_iter().collect();
    while let Some(expr) = open.pop() {
        if collect.seen.insert(expr) {
            collect.expression(expr, &mut open);
        }
    }
    collect.names
}

/// The references of an object's block, as far as the value at this path is derived from them.
pub(super) fn of_object(item: &Item, body: &Body, path: &Path) -> Names {
    of_exprs(item, exprs_at(body, path).into_iter().map(|it| it.expr))
}

/// The expression that determines the instances of a block; `None` if nothing does, or if references to the instance
/// do not depend on it.
pub(super) fn repetition(repetition: Repetition) -> Option<ExprId> {
    match repetition {
        Repetition::Count(expr) | Repetition::ForEach(expr) => Some(expr),
        Repetition::Single | Repetition::Enabled(_) => None,
    }
}

struct Collect<'i> {
    item: &'i Item,
    names: Names,
    seen: FxHashSet<ExprId>,
}

impl Collect<'_> {
    fn expression(&mut self, expr: ExprId, open: &mut Vec<ExprId>) {
        let (base, steps) = self.traversal(expr);
        if let Expr::Ref(reference) = &self.item.exprs[base] {
            self.reference(reference, steps);
            return;
        }
        self.item.exprs[expr].for_each_child(&mut |child| open.push(child));
    }

    /// The innermost expression that constant steps are applied to, with these steps.
    fn traversal(&self, expr: ExprId) -> (ExprId, Vec<Step>) {
        let (mut base, mut steps) = (expr, Vec::new());
        loop {
            let (next, step) = match &self.item.exprs[base] {
                Expr::GetAttr { base, name } => (*base, Step::Attr(name.clone())),
                Expr::Index { base, key } => match &self.item.exprs[*key] {
                    Expr::Literal(Literal::String(text)) => {
                        (*base, Step::Index(Value::string(text.clone())))
                    }
                    Expr::Literal(Literal::Number(number)) => {
                        (*base, Step::Index(Value::number(number.clone())))
                    }
                    _ => break,
                },
                _ => break,
            };
            base = next;
            steps.push(step);
        }
        steps.reverse();
        (base, steps)
    }

    fn reference(&mut self, reference: &Ref, steps: Vec<Step>) {
        let mut rest = steps.as_slice();
        let target = match reference {
            Ref::Variable(name) => Referenced::Variable(name.clone()),
            Ref::Local(name) => Referenced::Local(name.clone()),
            Ref::Resource(resource) => {
                Referenced::Resource((**resource).clone(), take_key(&mut rest))
            }
            Ref::Module(call) => {
                let key = take_key(&mut rest);
                match rest {
                    [Step::Attr(output), ..] => {
                        rest = &rest[1..];
                        Referenced::Output(call.clone(), key, output.clone())
                    }
                    _ => Referenced::Module(call.clone(), key),
                }
            }
            Ref::EachKey | Ref::EachValue | Ref::CountIndex => {
                self.names.uses_repetition = true;
                return;
            }
            _ => return,
        };
        self.names.found.push((target, rest.iter().cloned().collect()));
    }
}

/// Takes the instance key from the front of the steps of a traversal.
pub fn take_key(steps: &mut &[Step]) -> InstanceKey {
    let Some((Step::Index(key), rest)) = steps.split_first() else { return InstanceKey::None };
    let key = match key.kind() {
        Kind::String(text) => InstanceKey::string(&**text),
        Kind::Number(number) => match number.to_i64() {
            Some(index) => InstanceKey::Int(index),
            None => return InstanceKey::None,
        },
        _ => return InstanceKey::None,
    };
    *steps = rest;
    key
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_constant_index_is_an_instance_key() {
        let key = |value: Value| {
            let steps = [Step::Index(value), Step::Attr("x".into())];
            let mut rest = steps.as_slice();
            let key = take_key(&mut rest);
            (key, rest.len())
        };
        assert_eq!(key(Value::int(3)), (InstanceKey::Int(3), 1));
        assert_eq!(key(Value::string("k")), (InstanceKey::string("k"), 1));
        assert_eq!(key(Value::bool(true)), (InstanceKey::None, 2));
    }
}
