//! What bounds of unknown numbers say about sums, products and comparisons.

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

/// Whether `left` is below `right`; of an unknown number, as far as its bounds tell, and `None` if they do not. As in go-cty, bounds
/// that meet tell nothing, not even where that would be enough for the comparison.
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
