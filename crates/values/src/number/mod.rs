//! Numbers with the semantics of cty: binary floats that carry their own precision.
//!
//! Small integers, which are most numbers of a configuration, are plain `i64`s; all others are a shared [`Float`].
//! Start reading at [`Number`].

mod arithmetic;
mod float;
mod parse;
mod text;

use std::{cmp::Ordering, fmt, sync::Arc};

use float::{Float, Form};

/// The precision of a number parsed from text.
const TEXT_PRECISION: u32 = 512;
/// The precision of a number from a machine integer.
const INTEGER_PRECISION: u32 = 64;

/// A number with its own precision.
///
/// `==` is cty's equality: integers compare by value, other numbers by their shortest text, so `0.1` from a
/// provider's float equals `0.1` from a configuration. [`Number::compare`] orders exact values.
#[derive(Clone)]
pub struct Number(Repr);

/// A notation of a number, with the number of digits.
#[derive(Clone, Copy)]
pub(crate) enum Notation {
    /// `%f`
    Fixed(usize),
    /// `%e`
    Exponent(usize),
    /// `%g`
    General(Option<usize>),
}

/// **Invariant:** an integer in i64's range that fits its precision is always `Small`, except minus zero.
#[derive(Clone)]
enum Repr {
    Small { value: i64, precision: u32 },
    Big(Arc<Float>),
}

/// Two small integers, with the precision of their result.
struct SmallPair {
    left: i64,
    right: i64,
    precision: u32,
}

impl Number {
    /// Parses decimal text from a configuration, from JSON or from a converted string. `None` if it is not a
    /// number.
    #[must_use]
    pub fn parse(text: &str) -> Option<Number> {
        Number::parse_integer(text)
            .or_else(|| parse::parse(text, TEXT_PRECISION).map(Number::from_float))
    }

    /// Parses the fast path: up to 18 digits with an optional minus sign. `None` for any other text.
    fn parse_integer(text: &str) -> Option<Number> {
        let digits = text.strip_prefix('-').unwrap_or(text);
        if digits.is_empty() || digits.len() > 18 || !digits.bytes().all(|b| b.is_ascii_digit()) {
            return None;
        }
        let value: i64 = text.parse().ok()?;
        if value == 0 && text.starts_with('-') {
            return None;
        }
        Some(Number(Repr::Small { value, precision: TEXT_PRECISION }))
    }

    /// Returns zero with the precision of a count or an index.
    #[must_use]
    pub fn zero() -> Number {
        Number::from(0_i64)
    }

    fn from_float(float: Float) -> Number {
        let minus_zero = float.form == Form::Zero && float.negative;
        match float.exact_i64() {
            Some(value) if !minus_zero => Number(Repr::Small { value, precision: float.precision }),
            _ => Number(Repr::Big(Arc::new(float))),
        }
    }

    /// Calls `with` with the float of this number; a small number is widened for the call.
    fn with_float<R>(&self, with: impl FnOnce(&Float) -> R) -> R {
        match &self.0 {
            Repr::Small { value, precision } => with(&Float::from_i64(*value, *precision)),
            Repr::Big(float) => with(float),
        }
    }

    fn combine(&self, other: &Number, with: impl FnOnce(&Float, &Float) -> Float) -> Number {
        Number::from_float(self.with_float(|a| other.with_float(|b| with(a, b))))
    }

    /// Returns both as small integers with the larger precision. `None` unless both precisions hold every `i64`.
    fn small_pair(&self, other: &Number) -> Option<SmallPair> {
        match (&self.0, &other.0) {
            (Repr::Small { value: a, precision: p }, Repr::Small { value: b, precision: q })
                if *p >= INTEGER_PRECISION && *q >= INTEGER_PRECISION =>
            {
                Some(SmallPair { left: *a, right: *b, precision: *p.max(q) })
            }
            _ => None,
        }
    }

    /// Returns the precision in bits.
    #[must_use]
    pub fn precision(&self) -> u32 {
        match &self.0 {
            Repr::Small { precision, .. } => *precision,
            Repr::Big(float) => float.precision,
        }
    }

    /// Returns true if the number has no fraction. Infinities are not integers.
    #[must_use]
    pub fn is_integer(&self) -> bool {
        match &self.0 {
            Repr::Small { .. } => true,
            Repr::Big(float) => float.is_integer(),
        }
    }

    /// Returns true if the number is infinite.
    #[must_use]
    pub fn is_infinite(&self) -> bool {
        matches!(&self.0, Repr::Big(float) if float.form == Form::Infinite)
    }

    /// Returns -1, 0 or 1.
    #[must_use]
    pub fn signum(&self) -> i8 {
        match &self.0 {
            Repr::Small { value, .. } => i8::try_from(value.signum()).unwrap_or(0),
            Repr::Big(float) => float.signum(),
        }
    }

    /// Returns the value as an `i64`, or `None` if it is not exactly one.
    #[must_use]
    pub fn to_i64(&self) -> Option<i64> {
        match &self.0 {
            Repr::Small { value, .. } => Some(*value),
            Repr::Big(float) => float.exact_i64(),
        }
    }

    /// Returns the value as a count or an index, or `None` if it is not exactly one.
    #[must_use]
    pub fn to_usize(&self) -> Option<usize> {
        self.to_i64().and_then(|value| usize::try_from(value).ok())
    }

    /// Returns the value as an `f64`, or `None` if it is not exactly one. Infinities are exact.
    #[must_use]
    pub fn to_f64(&self) -> Option<f64> {
        self.with_float(Float::exact_f64)
    }

    /// Returns the `f64` nearest to the value.
    #[must_use]
    pub fn nearest_f64(&self) -> f64 {
        let rounded = self.with_float(|float| float.with_precision(53));
        rounded.exact_f64().or_else(|| rounded.shortest_text().parse().ok()).unwrap_or(0.0)
    }

    /// Returns ten significant digits, as Go's `%.10g`. Sets order compound elements by this text.
    #[must_use]
    pub fn ten_digit_text(&self) -> String {
        self.with_float(Float::ten_digit_text)
    }

    /// Returns a whole number of any size.
    pub(crate) fn from_integer(negative: bool, magnitude: num_bigint::BigUint) -> Number {
        let precision = u32::try_from(magnitude.bits()).unwrap_or(u32::MAX).max(INTEGER_PRECISION);
        let float = Float::round(negative, magnitude, 0, precision, false);
        Number::from_float(if float.form == Form::Zero {
            Float::zero(false, precision)
        } else {
            float
        })
    }

    /// Returns true if the number is written with a minus sign.
    pub(crate) fn is_negative(&self) -> bool {
        self.with_float(|float| float.negative)
    }

    /// Returns the magnitude without its fraction.
    pub(crate) fn whole_magnitude(&self) -> num_bigint::BigUint {
        self.with_float(Float::truncated)
    }

    /// Returns the shortest decimal text that identifies the number at its own precision, never with an exponent.
    #[must_use]
    pub fn text(&self) -> String {
        match &self.0 {
            Repr::Small { value, precision } if *precision >= INTEGER_PRECISION => {
                value.to_string()
            }
            _ => self.with_float(Float::shortest_text),
        }
    }

    /// Formats the magnitude in one of Go's notations; an infinity is always `Inf`.
    pub(crate) fn magnitude_text(&self, notation: Notation) -> String {
        if self.is_infinite() {
            return "Inf".to_owned();
        }
        self.with_float(|float| match notation {
            Notation::Fixed(places) => float.fixed_magnitude(places),
            Notation::Exponent(places) => float.exponent_magnitude(places),
            Notation::General(digits) => float.general_magnitude(digits),
        })
    }

    /// Orders exact values, whatever their precision. This is not consistent with `==`, which compares texts.
    #[must_use]
    pub fn compare(&self, other: &Number) -> Ordering {
        match (&self.0, &other.0) {
            (Repr::Small { value: a, .. }, Repr::Small { value: b, .. }) => a.cmp(b),
            _ => self.with_float(|a| other.with_float(|b| a.compare(b))),
        }
    }

    /// Returns the sum; `None` for Inf - Inf.
    #[must_use]
    pub fn add(&self, other: &Number) -> Option<Number> {
        if self.is_infinite() && other.is_infinite() && self.signum() != other.signum() {
            return None;
        }
        if let Some(SmallPair { left, right, precision }) = self.small_pair(other)
            && let Some(value) = left.checked_add(right)
        {
            return Some(Number(Repr::Small { value, precision }));
        }
        Some(self.combine(other, Float::add))
    }

    /// Returns the difference; `None` for Inf - Inf.
    #[must_use]
    pub fn subtract(&self, other: &Number) -> Option<Number> {
        if self.is_infinite() && other.is_infinite() && self.signum() == other.signum() {
            return None;
        }
        if let Some(SmallPair { left, right, precision }) = self.small_pair(other)
            && let Some(value) = left.checked_sub(right)
        {
            return Some(Number(Repr::Small { value, precision }));
        }
        Some(self.combine(other, Float::subtract))
    }

    /// Returns the product; `None` for 0 * Inf.
    #[must_use]
    pub fn multiply(&self, other: &Number) -> Option<Number> {
        if (self.is_infinite() && other.signum() == 0)
            || (other.is_infinite() && self.signum() == 0)
        {
            return None;
        }
        if let Some(SmallPair { left, right, precision }) = self.small_pair(other)
            && let Some(value) = left.checked_mul(right)
            && value != 0
        {
            return Some(Number(Repr::Small { value, precision }));
        }
        Some(self.combine(other, Float::multiply))
    }

    /// Returns the quotient, infinite if only the divisor is zero; `None` for 0 / 0 and Inf / Inf.
    #[must_use]
    pub fn divide(&self, other: &Number) -> Option<Number> {
        if (self.signum() == 0 && other.signum() == 0)
            || (self.is_infinite() && other.is_infinite())
        {
            return None;
        }
        if let Some(SmallPair { left, right, precision }) = self.small_pair(other)
            && left != 0
            && left.checked_rem(right) == Some(0)
            && let Some(value) = left.checked_div(right)
        {
            return Some(Number(Repr::Small { value, precision }));
        }
        Some(self.combine(other, Float::divide))
    }

    /// Returns the remainder with the sign of `self`; the remainder by zero is `self`. `None` if `self` is
    /// infinite.
    #[must_use]
    pub fn modulo(&self, other: &Number) -> Option<Number> {
        if self.is_infinite() {
            return None;
        }
        if other.is_infinite() {
            return Some(self.clone());
        }
        if let Some(SmallPair { left, right, .. }) = self.small_pair(other)
            && let Some(value) = left.checked_rem(right)
        {
            return Some(Number(Repr::Small { value, precision: self.precision() }));
        }
        Some(self.combine(other, Float::modulo))
    }

    /// Returns the number with its sign changed. Zero becomes minus zero.
    #[must_use]
    pub fn negated(&self) -> Number {
        Number::from_float(self.with_float(Float::negated))
    }

    /// Returns the number without its sign.
    #[must_use]
    pub fn magnitude(&self) -> Number {
        Number::from_float(self.with_float(|float| Float { negative: false, ..float.clone() }))
    }

    /// Returns the largest integer that is not above the number.
    #[must_use]
    pub fn floor(&self) -> Number {
        Number::from_float(self.with_float(|float| float.to_whole(false)))
    }

    /// Returns the smallest integer that is not below the number.
    #[must_use]
    pub fn ceil(&self) -> Number {
        Number::from_float(self.with_float(|float| float.to_whole(true)))
    }
}

impl From<i64> for Number {
    fn from(value: i64) -> Number {
        Number(Repr::Small { value, precision: INTEGER_PRECISION })
    }
}

impl From<u64> for Number {
    fn from(value: u64) -> Number {
        match i64::try_from(value) {
            Ok(value) => Number::from(value),
            Err(_) => {
                Number::from_float(Float::round(false, value.into(), 0, INTEGER_PRECISION, false))
            }
        }
    }
}

impl From<usize> for Number {
    fn from(value: usize) -> Number {
        Number::from(value as u64)
    }
}

impl From<f64> for Number {
    /// Converts a float. cty has no NaN, so NaN becomes zero; decoders refuse NaN before this conversion.
    fn from(value: f64) -> Number {
        Number::from_float(if value.is_nan() {
            Float::zero(false, 53)
        } else {
            Float::from_f64(value)
        })
    }
}

impl PartialEq for Number {
    fn eq(&self, other: &Number) -> bool {
        if let (Repr::Small { value: a, .. }, Repr::Small { value: b, .. }) = (&self.0, &other.0) {
            return a == b;
        }
        if self.signum() != other.signum() || self.is_integer() != other.is_integer() {
            return false;
        }
        if self.is_integer() {
            return self.compare(other) == Ordering::Equal;
        }
        self.to_string() == other.to_string()
    }
}

impl Eq for Number {}

impl fmt::Display for Number {
    /// Writes [`Number::text`].
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text())
    }
}

impl fmt::Debug for Number {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

#[cfg(test)]
mod tests;
