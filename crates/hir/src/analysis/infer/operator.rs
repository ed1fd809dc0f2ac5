//! Unary and binary operators.

use db::Summary;
use values::{
    Type, convert,
    ops::{self, BinaryOp, UnaryOp},
    rules::RuleId,
};

use crate::{
    analysis::{
        infer::{Certainty, Infer, flow::Flow},
        value::{Abstract, failing::Failing, inside::Presence},
    },
    expr::ExprId,
};

impl Infer<'_> {
    pub(super) fn unary(&mut self, op: UnaryOp, operand: ExprId) -> Abstract {
        let value = self.expr(operand);
        self.check_operand(operand, &value, &op.ty(), "operand");
        let mut flow = Flow::default();
        flow.add(self.contribution(RuleId::Operator, &value), &value);
        let constant = value.plain_constant().and_then(|value| ops::unary(op, value).ok());
        flow.onto(result(op.ty(), constant, Failing::NEVER.reading(&value)))
    }

    pub(super) fn binary(&mut self, op: BinaryOp, left: ExprId, right: ExprId) -> Abstract {
        let (a, b) = match is_logic(op) {
            true => self.logic_operands(op, left, right),
            false => (self.expr(left), self.expr(right)),
        };
        let mut flow = Flow::default();
        if is_equality(op) {
            self.equality(&mut flow, &a, &b);
        } else {
            for (at, value, which) in [(left, &a, "left operand"), (right, &b, "right operand")] {
                self.check_operand(at, value, &op.operand_type(), which);
                let contribution = self.contribution(RuleId::Operator, value);
                // An operand that decides alone hides a failure of the other operand.
                let contribution = if is_logic(op) {
                    self.contribution_if_hidden(at, contribution, value)
                } else {
                    contribution
                };
                flow.add(contribution, value);
                if is_logic(op) {
                    flow.hidden_in_every_run(&value.failing);
                }
            }
        }
        let constants = a.plain_constant().zip(b.plain_constant());
        let constant = constants.and_then(|(a, b)| ops::binary(op, a, b).ok());
        flow.onto(result(op.result_type(), constant, Failing::NEVER.reading(&a).reading(&b)))
    }

    /// Infers the operands of `&&` and `||`. An operand that decides alone hides problems in the evaluation of the
    /// other.
    fn logic_operands(
        &mut self,
        op: BinaryOp,
        left: ExprId,
        right: ExprId,
    ) -> (Abstract, Abstract) {
        let decides_never = |value: &Abstract| {
            let constant = value.constant.as_ref().and_then(|it| it.0.as_bool());
            constant == Some(op == BinaryOp::And)
        };
        let unless = |hides: bool| if hides { Certainty::Doubtful } else { Certainty::Sure };
        let right_is_idle =
            self.closed.contains(right) && decides_never(&self.without_problems(right));
        let a = self.with_certainty(unless(!right_is_idle), |it| it.expr(left));
        let b = self.with_certainty(unless(!decides_never(&a)), |it| it.expr(right));
        (a, b)
    }

    fn without_problems(&mut self, id: ExprId) -> Abstract {
        self.with_certainty(Certainty::Hidden, |it| it.expr(id))
    }

    /// Adds the marks of a comparison. Everything inside of both sides is compared, so its marks count; a
    /// comparison with null looks only at the values themselves.
    fn equality(&self, flow: &mut Flow, a: &Abstract, b: &Abstract) {
        let against_null = a.is_null() || b.is_null();
        let may_be_null = a.presence == Presence::Open || b.presence == Presence::Open;
        for value in [a, b] {
            let contribution = match (against_null, may_be_null) {
                (true, _) => self.contribution(RuleId::EqualityNull, value),
                (false, true) => {
                    let null = self.contribution(RuleId::EqualityNull, value);
                    null.either(&self.contribution(RuleId::Equality, value))
                }
                (false, false) => self.contribution(RuleId::Equality, value),
            };
            flow.add(contribution, value);
        }
    }

    fn check_operand(&mut self, at: ExprId, value: &Abstract, want: &Type, which: &str) {
        let fits = match value.plain_constant() {
            Some(constant) => convert::convert(constant, want).is_ok(),
            None => convert::can_convert(&value.ty, want),
        };
        if fits {
            return;
        }
        let required = if *want == Type::Bool { "a bool" } else { "a number" };
        let detail = format!("Unsuitable value for {which}: {required} is required.");
        // A value that fails has any type, and the other operand may decide alone.
        let certainty =
            if value.failing.keeps_type { Certainty::Sure } else { Certainty::Doubtful };
        self.with_certainty(certainty, |it| {
            it.fails(at, Summary::INVALID_OPERAND, detail);
        });
    }
}

/// The result of an operation. It keeps its type if the operation fails, and is never null.
fn result(ty: Type, constant: Option<values::Value>, failing: Failing) -> Abstract {
    let value = match constant {
        Some(constant) => Abstract::constant(constant),
        None => Abstract { presence: Presence::NotNull, ..Abstract::of_type(ty) },
    };
    Abstract { failing: failing.of_same_type(), ..value }
}

fn is_equality(op: BinaryOp) -> bool {
    matches!(op, BinaryOp::Equal | BinaryOp::NotEqual)
}

fn is_logic(op: BinaryOp) -> bool {
    matches!(op, BinaryOp::And | BinaryOp::Or)
}
