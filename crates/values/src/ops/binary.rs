//! Operators with two operands.

use super::{NULL_OPERAND, OpError, OpErrorKind, ranges};
use crate::{
    Number, Refinements, Type, Value, convert,
    rules::{self, RuleId},
};

/// An operator with two operands.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum BinaryOp {
    /// `+`
    Add,
    /// `-`
    Subtract,
    /// `*`
    Multiply,
    /// `/`
    Divide,
    /// `%`
    Modulo,
    /// `==`
    Equal,
    /// `!=`
    NotEqual,
    /// `<`
    Less,
    /// `<=`
    LessOrEqual,
    /// `>`
    Greater,
    /// `>=`
    GreaterOrEqual,
    /// `&&`
    And,
    /// `||`
    Or,
}

impl BinaryOp {
    /// Returns the type that operands are converted to; [`Type::Dynamic`] if they are not converted.
    #[must_use]
    pub fn operand_type(self) -> Type {
        match self {
            BinaryOp::Equal | BinaryOp::NotEqual => Type::Dynamic,
            BinaryOp::And | BinaryOp::Or => Type::Bool,
            _ => Type::Number,
        }
    }

    /// Returns the type of the result.
    #[must_use]
    pub fn result_type(self) -> Type {
        match self {
            BinaryOp::Add
            | BinaryOp::Subtract
            | BinaryOp::Multiply
            | BinaryOp::Divide
            | BinaryOp::Modulo => Type::Number,
            _ => Type::Bool,
        }
    }
}

/// Applies an operator. The operands are converted to its operand type. The result is unknown if it depends on
/// unknown operands.
///
/// # Errors
/// Returns an error if an operand does not convert or is null, or if the operation has no result (0 / 0).
pub fn binary(op: BinaryOp, left: &Value, right: &Value) -> Result<Value, OpError> {
    match op {
        BinaryOp::Equal => return Ok(left.equals(right)),
        BinaryOp::NotEqual => return super::unary(super::UnaryOp::Not, &left.equals(right)),
        _ => {}
    }
    let ty = op.operand_type();
    let (converted_left, converted_right) = (operand(left, &ty, 0)?, operand(right, &ty, 1)?);
    // OpenTofu treats null as false in `&&`.
    let null_is_false = op == BinaryOp::And;
    if !null_is_false && (converted_left.is_null() || converted_right.is_null()) {
        let at = usize::from(!converted_left.is_null());
        return Err(OpError::new(OpErrorKind::Operation, NULL_OPERAND).at(at));
    }
    let marks = rules::result_marks(RuleId::Operator, [&converted_left, &converted_right]);
    let result = compute(op, &converted_left, &converted_right)?;
    Ok(result.with_marks(&marks))
}

fn operand(value: &Value, ty: &Type, position: usize) -> Result<Value, OpError> {
    convert::convert(value, ty).map_err(|error| {
        let side = if position == 0 { "left" } else { "right" };
        let detail = format!("Unsuitable value for {side} operand: {}.", error.message);
        OpError::new(OpErrorKind::Operand, detail).at(position)
    })
}

fn compute(op: BinaryOp, left: &Value, right: &Value) -> Result<Value, OpError> {
    match op {
        BinaryOp::Add => numbers(left, right, Number::add, true),
        BinaryOp::Subtract => numbers(left, right, Number::subtract, true),
        BinaryOp::Multiply => numbers(left, right, Number::multiply, true),
        BinaryOp::Divide => numbers(left, right, Number::divide, false),
        BinaryOp::Modulo => numbers(left, right, Number::modulo, false),
        BinaryOp::Less => Ok(decided(ranges::less_than(left, right))),
        BinaryOp::Greater => Ok(decided(ranges::less_than(right, left))),
        BinaryOp::LessOrEqual => Ok(decided(ranges::less_than(right, left).map(|it| !it))),
        BinaryOp::GreaterOrEqual => Ok(decided(ranges::less_than(left, right).map(|it| !it))),
        BinaryOp::And if left.is_null() || right.is_null() => Ok(Value::bool(false)),
        BinaryOp::And => Ok(logic(left, right, false)),
        BinaryOp::Or => Ok(logic(left, right, true)),
        BinaryOp::Equal | BinaryOp::NotEqual => Ok(left.equals_unmarked(right)),
    }
}

fn numbers(
    left: &Value,
    right: &Value,
    compute: fn(&Number, &Number) -> Option<Number>,
    monotonic: bool,
) -> Result<Value, OpError> {
    match (left.as_number(), right.as_number()) {
        (Some(a), Some(b)) => {
            let no_result = "Error during operation: the result is not a number.";
            compute(a, b)
                .map(Value::number)
                .ok_or_else(|| OpError::new(OpErrorKind::Operation, no_result))
        }
        _ if monotonic => Ok(ranges::arithmetic(left, right, compute)),
        _ => Ok(Value::unknown_with(Type::Number, Refinements::non_null())),
    }
}

/// Computes "and" and "or". `controlling` is the operand value that determines the result alone: false for "and",
/// true for "or".
fn logic(left: &Value, right: &Value, controlling: bool) -> Value {
    let (left, right) = (left.as_bool(), right.as_bool());
    if left == Some(controlling) || right == Some(controlling) {
        return Value::bool(controlling);
    }
    decided(left.and(right).map(|_| !controlling))
}

fn decided(result: Option<bool>) -> Value {
    match result {
        Some(value) => Value::bool(value),
        None => Value::unknown_with(Type::Bool, Refinements::non_null()),
    }
}
