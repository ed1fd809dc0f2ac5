//! Operators with one operand.

use super::{NULL_OPERAND, OpError, OpErrorKind};
use crate::{
    Bound, Number, Refinements, Type, Value, convert,
    rules::{self, RuleId},
};

/// An operator with one operand.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum UnaryOp {
    /// `-`
    Negate,
    /// `!`
    Not,
}

impl UnaryOp {
    /// Returns the type of the operand and of the result.
    #[must_use]
    pub fn ty(self) -> Type {
        match self {
            UnaryOp::Negate => Type::Number,
            UnaryOp::Not => Type::Bool,
        }
    }
}

/// Applies an operator.
///
/// # Errors
/// Returns an error if the operand does not convert or is null.
pub fn unary(op: UnaryOp, operand: &Value) -> Result<Value, OpError> {
    let converted = convert::convert(operand, &op.ty()).map_err(|error| {
        let detail = format!("Unsuitable value for unary operand: {}.", error.message);
        OpError::new(OpErrorKind::Operand, detail).at(0)
    })?;
    if converted.is_null() {
        return Err(OpError::new(OpErrorKind::Operation, NULL_OPERAND).at(0));
    }
    let marks = rules::result_marks(RuleId::Operator, [&converted]);
    let result = match op {
        UnaryOp::Not => match converted.as_bool() {
            Some(value) => Value::bool(!value),
            None => Value::unknown_with(Type::Bool, Refinements::non_null()),
        },
        UnaryOp::Negate => match converted.as_number() {
            Some(number) => Value::number(number.negated()),
            None => Value::unknown_with(Type::Number, negated(&converted.range())),
        },
    };
    Ok(result.with_marks(&marks))
}

fn negated(range: &Refinements) -> Refinements {
    let end = |bound: &Bound| (negated_number(&bound.value), bound.inclusive);
    let mut known = Refinements::non_null();
    if let Some((value, inclusive)) = range.upper().map(end) {
        known = known.with_lower(value, inclusive);
    }
    if let Some((value, inclusive)) = range.lower().map(end) {
        known = known.with_upper(value, inclusive);
    }
    known
}

/// Negates a bound. Zero stays zero: minus zero means the same as a bound and would be confusing.
fn negated_number(number: &Number) -> Number {
    if number.signum() == 0 { Number::zero() } else { number.negated() }
}
