//! What bounds of unknown numbers say about sums, products and comparisons.

use std::cmp::Ordering;

use crate::{Bound, Number, Refinements, Type, Value};

/// The unknown result of an operation on two numbers, within the bounds that the operands' ranges give.
pub(super) fn arithmetic(
    left: &Value,
    right: &Value,
    compute: impl Fn(&Number, &Number) -> Option<Number>,
) -> Value {
    let known =
        bounds(&left.range(), &right.range(), compute).unwrap_or_else(Refinements::non_null);
    Value::unknown_with(Type::Number, known)
}

/// The operations used are monotonic in each operand, so that the extremes lie at the corners.
fn bounds(
    left: &Refinements,
    right: &Refinements,
    compute: impl Fn(&Number, &Number) -> Option<Number>,
) -> Option<Refinements> {
    let corner = |a: &Bound, b: &Bound| {
        Some(Bound { value: compute(&a.value, &b.value)?, inclusive: a.inclusive && b.inclusive })
    };
    let (a, b) = (left.lower()?, left.upper()?);
    let (c, d) = (right.lower()?, right.upper()?);
    let corners = [corner(a, c)?, corner(a, d)?, corner(b, c)?, corner(b, d)?];
    let least = corners.iter().min_by(|a, b| a.value.compare(&b.value))?;
    let most = corners.iter().max_by(|a, b| a.value.compare(&b.value))?;
    // Where two corners tie, one of them may include its end; to include it is always right.
    let touches =
        |end: &Bound| corners.iter().any(|it| it.inclusive && it.value.compare(&end.value).is_eq());
    let is_zero = |end: &Bound| end.value.signum() == 0;
    let known = Refinements::non_null()
        .with_lower(least.value.clone(), touches(least) || is_zero(least))
        .with_upper(most.value.clone(), touches(most) || is_zero(most));
    Some(known)
}

/// Whether `left` is below `right` whatever they turn out to be (`Some(Less)`), or above, or surely not below
/// (`above_or_equal`), as far as bounds tell.
pub(super) fn less_than(left: &Value, right: &Value) -> Option<bool> {
    let (left, right) = (left.range(), right.range());
    if let (Some(upper), Some(lower)) = (left.upper(), right.lower()) {
        match upper.value.compare(&lower.value) {
            Ordering::Less => return Some(true),
            Ordering::Equal if !(upper.inclusive && lower.inclusive) => return Some(true),
            _ => {}
        }
    }
    if let (Some(lower), Some(upper)) = (left.lower(), right.upper())
        && lower.value.compare(&upper.value).is_ge()
    {
        return Some(false);
    }
    None
}
