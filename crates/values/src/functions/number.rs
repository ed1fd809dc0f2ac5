//! Functions on numbers.

use std::cmp::Ordering;

use super::{
    call::{Call, FunctionError},
    signature::{Function, Parameter, Returns, Shape},
};
use crate::{Number, Refinements, Type, Value};

const NUM: &[Parameter] = &[Parameter::number("num")];

const fn numeric(
    name: &'static str,
    params: &'static [Parameter],
    body: fn(&Call<'_>) -> Result<Value, FunctionError>,
    doc: &'static str,
) -> Function {
    Function::new(name, params, Returns::Fixed(Shape::Number), body, doc)
}

pub(super) const FUNCTIONS: &[Function] = &[
    numeric("abs", NUM, abs, "Returns the absolute value of a number."),
    numeric("ceil", NUM, ceil, "Returns the smallest whole number that is not less than a number."),
    numeric(
        "floor",
        NUM,
        floor,
        "Returns the largest whole number that is not greater than a number.",
    ),
    numeric("signum", NUM, signum, "Returns -1, 0 or 1 by the sign of a number."),
    numeric("min", &[], min, "Returns the smallest of its arguments.")
        .variadic(Parameter::number("numbers").lazy()),
    numeric("max", &[], max, "Returns the largest of its arguments.")
        .variadic(Parameter::number("numbers").lazy()),
    numeric(
        "log",
        &[Parameter::number("num"), Parameter::number("base")],
        log,
        "Returns the logarithm of a number to a base.",
    ),
    numeric(
        "pow",
        &[Parameter::number("num"), Parameter::number("power")],
        pow,
        "Raises a number to a power.",
    ),
];

fn abs(call: &Call<'_>) -> Result<Value, FunctionError> {
    Ok(Value::number(call.number(0)?.magnitude()))
}

fn ceil(call: &Call<'_>) -> Result<Value, FunctionError> {
    Ok(Value::number(unsigned_zero(call.number(0)?.ceil())))
}

fn floor(call: &Call<'_>) -> Result<Value, FunctionError> {
    Ok(Value::number(unsigned_zero(call.number(0)?.floor())))
}

/// Removes the sign of zero. OpenTofu converts to a whole number here, which has no negative zero.
fn unsigned_zero(number: Number) -> Number {
    if number.signum() == 0 { Number::zero() } else { number }
}

fn signum(call: &Call<'_>) -> Result<Value, FunctionError> {
    Ok(Value::int(call.integer(0)?.signum()))
}

fn min(call: &Call<'_>) -> Result<Value, FunctionError> {
    extreme(call, Ordering::Less)
}

fn max(call: &Call<'_>) -> Result<Value, FunctionError> {
    extreme(call, Ordering::Greater)
}

/// Returns the argument that compares in `direction` with all others. If some are unknown, the known ones still
/// bound the result.
fn extreme(call: &Call<'_>, direction: Ordering) -> Result<Value, FunctionError> {
    if call.args.is_empty() {
        return Err(FunctionError::new("must pass at least one number"));
    }
    let mut best: Option<&Number> = None;
    for number in call.args.iter().filter_map(Value::as_number) {
        if best.is_none_or(|best| number.compare(best) == direction) {
            best = Some(number);
        }
    }
    if call.args.iter().any(|arg| !arg.is_known()) {
        let known = match (best, direction) {
            (None, _) => Refinements::non_null(),
            (Some(best), Ordering::Less) => Refinements::non_null().with_upper(best.clone(), true),
            (Some(best), _) => Refinements::non_null().with_lower(best.clone(), true),
        };
        return Ok(Value::unknown_with(Type::Number, known));
    }
    best.cloned()
        .map(Value::number)
        .ok_or_else(|| FunctionError::new("must pass at least one number"))
}

fn log(call: &Call<'_>) -> Result<Value, FunctionError> {
    let (number, base) = (call.number(0)?.nearest_f64(), call.number(1)?.nearest_f64());
    finite(logarithm(number) / logarithm(base))
}

/// Computes the natural logarithm as Go does, by the algorithm of FreeBSD's `e_log.c`, because its last digits are
/// visible in results.
fn logarithm(number: f64) -> f64 {
    const LN2_HIGH: f64 = 6.931_471_803_691_238e-1;
    const LN2_LOW: f64 = 1.908_214_929_270_587_7e-10;
    const ODD: [f64; 4] = [
        6.666_666_666_666_735e-1,
        2.857_142_874_366_239e-1,
        1.818_357_216_161_805e-1,
        1.479_819_860_511_658_6e-1,
    ];
    const EVEN: [f64; 3] =
        [3.999_999_999_940_942e-1, 2.222_219_843_214_978_4e-1, 1.531_383_769_920_937_3e-1];
    if !number.is_finite() || number <= 0.0 {
        return number.ln();
    }
    let (fraction, exponent) = mantissa(number);
    let is_low = fraction < std::f64::consts::FRAC_1_SQRT_2;
    let (fraction, exponent) =
        if is_low { (fraction * 2.0, exponent - 1) } else { (fraction, exponent) };
    #[expect(clippy::cast_precision_loss, reason = "exponents are small")]
    let (f, k) = (fraction - 1.0, exponent as f64);
    let s = f / (2.0 + f);
    let s2 = s * s;
    let s4 = s2 * s2;
    let odd = s2 * (ODD[0] + s4 * (ODD[1] + s4 * (ODD[2] + s4 * ODD[3])));
    let even = s4 * (EVEN[0] + s4 * (EVEN[1] + s4 * EVEN[2]));
    let half_square = 0.5 * f * f;
    k * LN2_HIGH - ((half_square - (s * (half_square + (odd + even)) + k * LN2_LOW)) - f)
}

fn pow(call: &Call<'_>) -> Result<Value, FunctionError> {
    finite(power(call.number(0)?.nearest_f64(), call.number(1)?.nearest_f64()))
}

/// Computes whole powers by squaring, as Go does, because the last digits are visible in results.
fn power(base: f64, exponent: f64) -> f64 {
    let (whole, part) = (exponent.abs().trunc(), exponent.abs().fract());
    let is_ordinary =
        base.is_finite() && base != 0.0 && whole < 9e18 && (part == 0.0 || base > 0.0);
    if !is_ordinary || exponent == 0.0 {
        return base.powf(exponent);
    }
    if exponent.abs() == 0.5 {
        return if exponent > 0.0 { base.sqrt() } else { 1.0 / base.sqrt() };
    }
    let (whole, part) = if part > 0.5 { (whole + 1.0, part - 1.0) } else { (whole, part) };
    let mut result = if part == 0.0 { 1.0 } else { (part * logarithm(base)).exp() };
    let mut result_scale = 0_i64;
    let (mut square, mut scale) = mantissa(base);
    #[expect(clippy::cast_possible_truncation, reason = "it is whole and below the largest")]
    let mut rest = whole as i64;
    while rest != 0 {
        if scale.abs() > 1 << 12 {
            result_scale += scale;
            break;
        }
        if rest & 1 == 1 {
            result *= square;
            result_scale += scale;
        }
        square *= square;
        scale *= 2;
        if square < 0.5 {
            square += square;
            scale -= 1;
        }
        rest >>= 1;
    }
    match exponent < 0.0 {
        true => scaled(1.0 / result, -result_scale),
        false => scaled(result, result_scale),
    }
}

/// Splits a number into a fraction from one half to one and a power of two.
fn mantissa(number: f64) -> (f64, i64) {
    // Subnormal numbers have no exponent bits.
    let (number, lift) =
        if number.is_normal() { (number, 0) } else { (number * 2_f64.powi(64), 64) };
    let bits = number.to_bits();
    let exponent = i64::try_from(bits >> 52 & 0x7ff).unwrap_or(0) - 1022;
    (f64::from_bits(bits & !(0x7ff << 52) | 1022 << 52), exponent - lift)
}

fn scaled(number: f64, power: i64) -> f64 {
    // Scale in steps, so that no step overflows before the last one.
    let mut left = power.clamp(-2200, 2200);
    let mut number = number;
    while left != 0 {
        let step = left.clamp(-1000, 1000);
        number *= 2_f64.powi(i32::try_from(step).unwrap_or(0));
        left -= step;
    }
    number
}

fn finite(result: f64) -> Result<Value, FunctionError> {
    if result.is_nan() {
        return Err(FunctionError::new("the result is not a number"));
    }
    Ok(Value::number(Number::from(result)))
}
