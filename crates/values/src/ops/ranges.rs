//! Derives ranges for sums and products, and results of comparisons, from the bounds of unknown numbers.

use crate::{Bound, Number, Refinements, Type, Value};

/// Returns the unknown result of an operation on two numbers, with bounds from the operands' ranges.
pub(super) fn arithmetic(
    left: &Value,
    right: &Value,
    compute: impl Fn(&Number, &Number) -> Option<Number>,
) -> Value {
    let known =
        bounds(&left.range(), &right.range(), compute).unwrap_or_else(Refinements::non_null);
    Value::unknown_with(Type::Number, known)
}

/// Returns the bounds of the result. The operations are monotonic in each operand, so the extremes lie at the
/// corners.
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
    // If two corners are equal, one of them may include its end. Including the end is always correct.
    let touches =
        |end: &Bound| corners.iter().any(|it| it.inclusive && it.value.compare(&end.value).is_eq());
    let is_zero = |end: &Bound| end.value.signum() == 0;
    let known = Refinements::non_null()
        .with_lower(least.value.clone(), touches(least) || is_zero(least))
        .with_upper(most.value.clone(), touches(most) || is_zero(most));
    Some(known)
}

/// Compares two numbers, of which unknown ones count with their bounds. `None` if the bounds do not decide. As in
/// cty, bounds that are equal decide nothing, not even where they would suffice.
pub(super) fn less_than(left: &Value, right: &Value) -> Option<bool> {
    if let (Some(left), Some(right)) = (left.as_number(), right.as_number()) {
        return Some(left.compare(right).is_lt());
    }
    let (left, right) = (left.range(), right.range());
    let is_apart = |below: Option<&Bound>, above: Option<&Bound>| {
        below.zip(above).is_some_and(|(a, b)| a.value.compare(&b.value).is_lt())
    };
    if is_apart(left.upper(), right.lower()) {
        return Some(true);
    }
    is_apart(right.upper(), left.lower()).then_some(false)
}
