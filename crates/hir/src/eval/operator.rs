//! Evaluates unary and binary operators.

use db::Summary;
use values::{
    Marks, Type, Value, convert,
    ops::{self, BinaryOp, OpErrorKind, UnaryOp},
    rules::{self, RuleId},
};

use crate::{
    eval::evaluation::{Evaluation, Fault, Outcome},
    expr::ExprId,
};

impl Evaluation<'_> {
    pub(super) fn unary(&mut self, id: ExprId, op: UnaryOp, operand: ExprId) -> Outcome {
        let before = self.failures();
        let value = self.value(operand)?;
        if self.failures() > before {
            return Ok(Value::unknown(op.ty()).with_marks(&value.deep_marks()));
        }
        match ops::unary(op, &value) {
            Ok(result) => Ok(result),
            Err(error) => {
                let at = if error.kind == OpErrorKind::Operand { operand } else { id };
                let failed = self.op_failed(at, error, &value.deep_marks());
                Ok(Value::unknown(op.ty()).with_marks(failed.marks()))
            }
        }
    }

    pub(super) fn binary(
        &mut self,
        id: ExprId,
        op: BinaryOp,
        left: ExprId,
        right: ExprId,
    ) -> Outcome {
        match op {
            BinaryOp::And => self.logic(id, BinaryOp::And, left, right),
            BinaryOp::Or => self.logic(id, BinaryOp::Or, left, right),
            op => self.strict(id, op, left, right),
        }
    }

    /// Evaluates an operator that needs both operands.
    fn strict(&mut self, id: ExprId, op: BinaryOp, left: ExprId, right: ExprId) -> Outcome {
        let before = self.failures();
        let a = self.value(left)?;
        let b = self.value(right)?;
        if self.failures() > before {
            self.check_operands(op, Operand::new(left, &a), Operand::new(right, &b));
            return Ok(failed(op.result_type(), &a, &b));
        }
        // A comparison walks all parts.
        self.reserve(id, a.walked_size().saturating_add(b.walked_size()))?;
        Ok(self.applied(id, op, Operand::new(left, &a), Operand::new(right, &b)))
    }

    fn applied(
        &mut self,
        id: ExprId,
        op: BinaryOp,
        left: Operand<'_>,
        right: Operand<'_>,
    ) -> Value {
        match ops::binary(op, left.value, right.value) {
            Ok(result) => return result,
            Err(error) if error.kind == OpErrorKind::Operand => {
                self.check_operands(op, left, right)
            }
            Err(error) => {
                self.op_failed(id, error, &Marks::NONE);
            }
        }
        failed(op.result_type(), left.value, right.value)
    }

    /// Reports each operand of the wrong type.
    fn check_operands(&mut self, op: BinaryOp, left: Operand<'_>, right: Operand<'_>) {
        for (side, Operand { at, value }) in [("left", left), ("right", right)] {
            if let Err(error) = convert::convert(value, &op.operand_type()) {
                let detail = format!("Unsuitable value for {side} operand: {}.", error.message);
                let fault = Fault { at, summary: Summary::INVALID_OPERAND, detail };
                self.fail(fault, &Marks::NONE);
            }
        }
    }

    /// Evaluates `&&` and `||`. If one operand decides the result, errors in the evaluation of the other are
    /// discarded, but an operand of the wrong type is still reported.
    fn logic(&mut self, id: ExprId, op: BinaryOp, left: ExprId, right: ExprId) -> Outcome {
        let controlling = op == BinaryOp::Or;
        let a = self.captured(left)?;
        let b = self.captured(right)?;
        let (Ok(x), Ok(y)) =
            (convert::convert(&a.value, &Type::Bool), convert::convert(&b.value, &Type::Bool))
        else {
            let (a, b) = (self.adopt(a), self.adopt(b));
            return Ok(self.applied(id, op, Operand::new(left, &a), Operand::new(right, &b)));
        };
        let marks = rules::result_marks(RuleId::Operator, [&x, &y]);
        if decides(&x, controlling) {
            self.adopt(a);
            return Ok(Value::bool(controlling).with_marks(&marks));
        }
        if decides(&y, controlling) {
            self.adopt(b);
            return Ok(Value::bool(controlling).with_marks(&marks));
        }
        if !x.is_known() && !y.is_known() && a.failures == 0 {
            self.adopt(a);
            return Ok(Value::unknown(Type::Bool).refined_not_null().with_marks(&marks));
        }
        let has_failed = a.failures + b.failures > 0;
        let (a, b) = (self.adopt(a), self.adopt(b));
        Ok(match has_failed {
            true => failed(Type::Bool, &a, &b),
            false => self.applied(id, op, Operand::new(left, &a), Operand::new(right, &b)),
        })
    }
}

/// An evaluated operand.
#[derive(Clone, Copy)]
struct Operand<'v> {
    at: ExprId,
    value: &'v Value,
}

impl<'v> Operand<'v> {
    fn new(at: ExprId, value: &'v Value) -> Operand<'v> {
        Operand { at, value }
    }
}

/// Returns true if an operand decides the result alone. Null counts as false, as in OpenTofu.
fn decides(operand: &Value, controlling: bool) -> bool {
    match operand.as_bool() {
        Some(value) => value == controlling,
        None => operand.is_null() && !controlling,
    }
}

/// The value of a failed operation: unknown, with the known result type.
fn failed(ty: Type, a: &Value, b: &Value) -> Value {
    Value::unknown(ty).with_marks(&a.deep_marks().union(&b.deep_marks()))
}
