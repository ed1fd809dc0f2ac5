//! Parses numbers: `[+-] digits [. digits] [(e|E|p|P) [+-] digits]`, or an infinity.

use num_bigint::BigUint;
use num_traits::Zero;

use super::float::{Float, Form};

/// The maximum length of a number's text. It bounds the quadratic time that hostile input could cause.
const MAX_TEXT: usize = 400_000;

/// Parses `text` at `precision` bits; `None` if it is not a number.
pub(super) fn parse(text: &str, precision: u32) -> Option<Float> {
    if text.len() > MAX_TEXT {
        return None;
    }
    let (negative, magnitude) = match text.as_bytes().first()? {
        b'-' => (true, &text[1..]),
        b'+' => (false, &text[1..]),
        _ => (false, text),
    };
    if matches!(magnitude, "Inf" | "inf") {
        return Some(Float::infinite(negative, precision));
    }
    let scanned = Scanned::new(magnitude)?;
    Some(scanned.round(negative, precision))
}

/// A scanned number `mantissa * 2^exponent2 * 5^exponent5`.
struct Scanned {
    mantissa: BigUint,
    exponent2: i64,
    exponent5: i64,
}

impl Scanned {
    fn new(text: &str) -> Option<Scanned> {
        let end = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
        let (digits, suffix) = text.split_at(end);
        let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
        if whole.len() + fraction.len() == 0 || fraction.contains('.') {
            return None;
        }
        let all = [whole, fraction].concat();
        let mantissa = BigUint::parse_bytes(all.as_bytes(), 10)?;
        let shift = -i64::try_from(fraction.len()).ok()?;
        let (binary, decimal) = exponents(suffix)?;
        Some(Scanned { mantissa, exponent2: shift + binary, exponent5: shift + decimal })
    }

    fn round(self, negative: bool, precision: u32) -> Float {
        if self.mantissa.is_zero() {
            return Float::zero(negative, precision);
        }
        if self.exponent5 == 0 {
            return Float::round(negative, self.mantissa, self.exponent2, precision, false);
        }
        let mantissa = Float {
            negative,
            form: Form::Finite,
            mantissa: self.mantissa,
            exponent: self.exponent2,
            precision,
        };
        let power = power_of_five(self.exponent5.unsigned_abs(), precision + 64);
        match (self.exponent5 < 0, power.form) {
            (true, Form::Infinite) => Float::zero(negative, precision),
            (true, _) => mantissa.divide_finite(&power, precision),
            (false, Form::Infinite) => Float::infinite(negative, precision),
            (false, _) => mantissa.multiply_rounded(&power, precision),
        }
    }
}

/// Returns the contribution of the exponent part to the exponents of two and of five; a missing part contributes
/// nothing. `None` if the part is malformed.
fn exponents(suffix: &str) -> Option<(i64, i64)> {
    let Some(marker) = suffix.chars().next() else {
        return Some((0, 0));
    };
    let rest = suffix.strip_prefix(['e', 'E', 'p', 'P'])?;
    let (negative, digits) = match rest.as_bytes().first()? {
        b'-' => (true, &rest[1..]),
        b'+' => (false, &rest[1..]),
        _ => (false, rest),
    };
    if digits.is_empty() || !digits.bytes().all(|b| b.is_ascii_digit()) {
        return None;
    }
    // Go refuses exponents beyond 32 bits. Large exponents below that limit give an infinite or zero result
    // anyway.
    let magnitude = i64::from(digits.parse::<i32>().ok()?);
    let exponent = if negative { -magnitude } else { magnitude };
    Some((exponent, if matches!(marker, 'e' | 'E') { exponent } else { 0 }))
}

/// Returns 5^n by repeated squaring. Each step is rounded as Go does, so that the last bit agrees.
fn power_of_five(n: u64, precision: u32) -> Float {
    const EXACT: u32 = 27;
    let five = BigUint::from(5u32);
    if n <= u64::from(EXACT) {
        let exact = five.pow(u32::try_from(n).unwrap_or(EXACT));
        return Float::round(false, exact, 0, precision, false);
    }
    let mut power = Float::round(false, five.pow(EXACT), 0, precision, false);
    let mut factor = Float::round(false, five, 0, precision + 64, false);
    let mut rest = n - u64::from(EXACT);
    while rest > 0 {
        if rest & 1 == 1 {
            power = power.multiply_rounded(&factor, precision);
        }
        factor = factor.multiply_rounded(&factor, precision + 64);
        rest >>= 1;
        if factor.form == Form::Infinite && rest > 0 {
            return Float::infinite(false, precision);
        }
    }
    power
}
