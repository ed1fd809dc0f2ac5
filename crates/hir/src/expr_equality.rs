//! Equality of expressions of different items, as far as the source text shows it.

use crate::expr::{Expr, ExprId, Exprs, SymbolId, TemplatePart};

/// An expression with those of its item.
#[derive(Clone, Copy)]
pub(crate) struct WithExprs<'e> {
    pub(crate) exprs: &'e Exprs,
    pub(crate) expr: ExprId,
}

impl<'e> WithExprs<'e> {
    fn expr(self) -> &'e Expr {
        &self.exprs[self.expr]
    }

    fn children(self) -> Vec<WithExprs<'e>> {
        let mut children = Vec::new();
        self.expr().for_each_child(&mut |expr| children.push(WithExprs { expr, ..self }));
        children
    }

    /// Returns true if the expression, or a part of it, refers to something.
    pub(crate) fn has_reference(self) -> bool {
        let mut open = vec![self];
        while let Some(it) = open.pop() {
            if matches!(it.expr(), Expr::Ref(_)) {
                return true;
            }
            open.extend(it.children());
        }
        false
    }

    /// Returns true if both expressions were written in the same way, apart from spaces and parentheses.
    pub(crate) fn is_written_like(self, other: WithExprs<'_>) -> bool {
        let mut open = vec![(self, other)];
        while let Some((a, b)) = open.pop() {
            let (in_a, in_b) = (a.children(), b.children());
            if in_a.len() != in_b.len() || !is_same_form(a, b) {
                return false;
            }
            open.extend(in_a.into_iter().zip(in_b));
        }
        true
    }
}

/// Compares two expressions without their children.
fn is_same_form(a: WithExprs<'_>, b: WithExprs<'_>) -> bool {
    let names = |one: Option<SymbolId>, other: Option<SymbolId>| {
        one.map(|it| a.exprs.symbol_name(it)) == other.map(|it| b.exprs.symbol_name(it))
    };
    match (a.expr(), b.expr()) {
        (Expr::Literal(one), Expr::Literal(other)) => one == other,
        (Expr::Ref(one), Expr::Ref(other)) => one == other,
        (Expr::Symbol(one), Expr::Symbol(other)) => names(Some(*one), Some(*other)),
        (Expr::GetAttr { name: one, .. }, Expr::GetAttr { name: other, .. }) => one == other,
        (Expr::Unary { op: one, .. }, Expr::Unary { op: other, .. }) => one == other,
        (Expr::Binary { op: one, .. }, Expr::Binary { op: other, .. }) => one == other,
        (Expr::Call(one), Expr::Call(other)) => {
            one.name == other.name && one.expand == other.expand
        }
        (Expr::Template(one), Expr::Template(other)) => {
            one.iter().zip(other).all(|parts| match parts {
                (TemplatePart::Literal(one), TemplatePart::Literal(other)) => one == other,
                (TemplatePart::Expr(_), TemplatePart::Expr(_)) => true,
                _ => false,
            }) && one.len() == other.len()
        }
        (Expr::ForTuple(one), Expr::ForTuple(other)) => {
            names(one.key, other.key) && names(Some(one.value), Some(other.value))
        }
        (Expr::ForObject(one), Expr::ForObject(other)) => {
            let grouped = one.group == other.group;
            grouped && names(one.key, other.key) && names(Some(one.value), Some(other.value))
        }
        (Expr::Type(one), Expr::Type(other)) => one == other,
        (Expr::Index { .. }, Expr::Index { .. })
        | (Expr::Splat { .. }, Expr::Splat { .. })
        | (Expr::Tuple(_), Expr::Tuple(_))
        | (Expr::Object(_), Expr::Object(_))
        | (Expr::TemplateJoin(_), Expr::TemplateJoin(_))
        | (Expr::Conditional { .. }, Expr::Conditional { .. }) => true,
        _ => false,
    }
}
