//! Operators and the conditional.

use values::{
    Type, convert,
    rules::RuleId,
};

use super::{Infer, perhaps};
use crate::{
    analysis::value::{Abstract, TriMarks},
    expr::{BinaryOp, Expr, ExprId, Literal, UnaryOp},
};

impl Infer<'_> {
    pub(super) fn unary(&mut self, id: ExprId, op: UnaryOp, operand: ExprId) -> Abstract {
        let value = self.expr(operand);
        let ty = match op {
            UnaryOp::Not => Type::Bool,
            UnaryOp::Negate => Type::Number,
        };
        self.check_operand(operand, &value, &ty, "operand");
        let marks = self.rule_marks(RuleId::Operator, &value);
        let _ = id;
        Abstract::of_type(ty).with_marks(&marks).with_origin(value.origin)
    }

    pub(super) fn binary(&mut self, id: ExprId, op: BinaryOp, left: ExprId, right: ExprId) -> Abstract {
        let a = self.expr(left);
        let b = self.expr(right);
        let (operand, result) = match op {
            BinaryOp::Or | BinaryOp::And => (Some(Type::Bool), Type::Bool),
            BinaryOp::Equal | BinaryOp::NotEqual => (None, Type::Bool),
            BinaryOp::Less | BinaryOp::LessOrEqual | BinaryOp::Greater | BinaryOp::GreaterOrEqual => {
                (Some(Type::Number), Type::Bool)
            }
            _ => (Some(Type::Number), Type::Number),
        };
        let marks = match &operand {
            Some(operand) => {
                self.check_operand(left, &a, operand, "left operand");
                self.check_operand(right, &b, operand, "right operand");
                self.rule_marks(RuleId::Operator, &a).union(&self.rule_marks(RuleId::Operator, &b))
            }
            None => self.equality_marks((left, &a), (right, &b)),
        };
        let _ = id;
        Abstract::of_type(result).with_marks(&marks).with_origin(a.origin.or(b.origin))
    }

    /// Everything inside of both sides is compared, so its marks count; a comparison with `null` looks at the value only.
    fn equality_marks(&self, (left, a): (ExprId, &Abstract), (right, b): (ExprId, &Abstract)) -> TriMarks {
        if self.is_null(left) || self.is_null(right) {
            return self.rule_marks(RuleId::EqualityNull, a).union(&self.rule_marks(RuleId::EqualityNull, b));
        }
        // A part that differs ends the comparison, but its result then is known and marked with what was read.
        self.rule_marks(RuleId::Equality, a).union(&self.rule_marks(RuleId::Equality, b))
    }

    fn is_null(&self, id: ExprId) -> bool {
        matches!(self.exprs[id], Expr::Literal(Literal::Null))
    }

    fn check_operand(&mut self, at: ExprId, value: &Abstract, want: &Type, which: &str) {
        if value.ty == Type::Dynamic {
            return;
        }
        if !convert::can_convert(&value.ty, want) {
            let required = if *want == Type::Bool { "a bool" } else { "a number" };
            let detail = format!("Unsuitable value for {which}: {required} is required.");
            self.fails(at, "invalid-operand", "Invalid operand", detail);
        }
    }

    pub(super) fn conditional(&mut self, id: ExprId, condition: ExprId, then: ExprId, otherwise: ExprId) -> Abstract {
        let condition_value = self.expr(condition);
        let decided = condition_value.constant.as_ref().and_then(|it| it.0.as_bool());
        let arm = |it: &mut Self, arm: ExprId, chosen: Option<bool>| match chosen {
            Some(true) => it.expr(arm),
            _ => it.uncertainly(|it| it.expr(arm)),
        };
        let a = arm(self, then, decided);
        let b = arm(self, otherwise, decided.map(|decided| !decided));
        if condition_value.ty != Type::Dynamic && !convert::can_convert(&condition_value.ty, &Type::Bool) {
            let detail = "The condition expression must be of type bool.";
            self.fails(condition, "incorrect-condition-type", "Incorrect condition type", detail);
        }
        let rule = |value: &Abstract| self.rule_marks(RuleId::Conditional, value);
        let marks = rule(&condition_value).union(&rule(&a)).union(&rule(&b));
        let value = match decided {
            Some(true) => a.clone(),
            Some(false) => b.clone(),
            None => self.undecided(id, then, otherwise, &a, &b),
        };
        let origin = condition_value.origin.or(a.origin).or(b.origin);
        value.with_marks(&marks).with_origin(origin)
    }

    fn undecided(&mut self, id: ExprId, then: ExprId, otherwise: ExprId, a: &Abstract, b: &Abstract) -> Abstract {
        // A literal null takes the other arm's type.
        if self.is_null(then) {
            return Abstract { constant: None, ..b.clone() };
        }
        if self.is_null(otherwise) {
            return Abstract { constant: None, ..a.clone() };
        }
        let known = a.ty != Type::Dynamic && b.ty != Type::Dynamic;
        if known && a.ty != b.ty && convert::unify(&[a.ty.clone(), b.ty.clone()]).is_none() {
            let detail = format!(
                "The true and false result expressions must have consistent types. The 'true' value is {}, but the 'false' value \
                 is {}.",
                a.ty.friendly_name(),
                b.ty.friendly_name()
            );
            self.fails(id, "inconsistent-conditional-types", "Inconsistent conditional result types", detail);
        }
        // While the condition is unknown, the concrete domain marks the whole with what is inside of either arm.
        let inner = perhaps(&a.inner_marks().union(&b.inner_marks()));
        a.either(b).with_marks(&inner)
    }
}
