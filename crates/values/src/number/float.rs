//! The binary big float under [`Number`](super::Number): sign, mantissa, exponent, precision, rounding to nearest
//! even.

use std::cmp::Ordering;

use num_bigint::BigUint;
use num_traits::{One, ToPrimitive, Zero};

/// The largest magnitude of a binary exponent. Go allows 2^31, whose decimal text would need gigabytes. Numbers
/// beyond this bound (about 10^±315,000) become infinite or zero, so that no input makes printing take minutes.
const MAX_EXPONENT: i64 = 1 << 20;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    Zero,
    Finite,
    Infinite,
}

/// The number `(-1)^negative * mantissa * 2^exponent`.
///
/// **Invariant:** a finite float's mantissa is odd and has at most `precision` bits; every other form's is zero.
#[derive(Clone)]
pub(super) struct Float {
    pub(super) negative: bool,
    pub(super) form: Form,
    pub(super) mantissa: BigUint,
    pub(super) exponent: i64,
    pub(super) precision: u32,
}

impl Float {
    pub(super) fn zero(negative: bool, precision: u32) -> Float {
        Float { negative, form: Form::Zero, mantissa: BigUint::zero(), exponent: 0, precision }
    }

    pub(super) fn infinite(negative: bool, precision: u32) -> Float {
        Float { negative, form: Form::Infinite, mantissa: BigUint::zero(), exponent: 0, precision }
    }

    /// Rounds `mantissa * 2^exponent` to `precision` bits, half to even. `sticky` means that the exact value is
    /// slightly larger than the mantissa.
    pub(super) fn round(
        negative: bool,
        mut mantissa: BigUint,
        mut exponent: i64,
        precision: u32,
        sticky: bool,
    ) -> Float {
        let Some(zeros) = mantissa.trailing_zeros() else {
            return Float::zero(negative, precision);
        };
        let excess = bits(&mantissa) - i64::from(precision);
        if excess > 0 {
            let excess = excess.unsigned_abs();
            let half = mantissa.bit(excess - 1);
            let below_half = sticky || zeros < excess - 1;
            mantissa >>= excess;
            exponent += excess.cast_signed();
            if half && (below_half || mantissa.bit(0)) {
                mantissa += 1u32;
            }
        }
        Float::normal(negative, mantissa, exponent, precision)
    }

    fn normal(negative: bool, mut mantissa: BigUint, mut exponent: i64, precision: u32) -> Float {
        let zeros = mantissa.trailing_zeros().unwrap_or(0);
        mantissa >>= zeros;
        exponent += zeros.cast_signed();
        let top = exponent + bits(&mantissa);
        if top > MAX_EXPONENT {
            return Float::infinite(negative, precision);
        }
        if top < -MAX_EXPONENT {
            return Float::zero(negative, precision);
        }
        Float { negative, form: Form::Finite, mantissa, exponent, precision }
    }

    pub(super) fn from_i64(value: i64, precision: u32) -> Float {
        Float::round(value < 0, BigUint::from(value.unsigned_abs()), 0, precision, false)
    }

    pub(super) fn from_f64(value: f64) -> Float {
        let pattern = value.to_bits();
        let negative = pattern >> 63 == 1;
        let exponent = ((pattern >> 52) & 0x7ff).cast_signed();
        let fraction = pattern & ((1 << 52) - 1);
        match exponent {
            0x7ff => Float::infinite(negative, 53),
            0 => Float::round(negative, BigUint::from(fraction), -1074, 53, false),
            _ => Float::round(
                negative,
                BigUint::from(fraction | 1 << 52),
                exponent - 1075,
                53,
                false,
            ),
        }
    }

    pub(super) fn is_finite(&self) -> bool {
        self.form == Form::Finite
    }

    pub(super) fn is_integer(&self) -> bool {
        match self.form {
            Form::Zero => true,
            Form::Infinite => false,
            Form::Finite => self.exponent >= 0,
        }
    }

    /// Returns -1, 0 or 1; the sign of zero is ignored.
    pub(super) fn signum(&self) -> i8 {
        match (self.form, self.negative) {
            (Form::Zero, _) => 0,
            (_, true) => -1,
            (_, false) => 1,
        }
    }

    /// Returns the number of bits that the mantissa needs.
    pub(super) fn needed_precision(&self) -> u32 {
        u32::try_from(self.mantissa.bits()).unwrap_or(u32::MAX)
    }

    /// Returns the magnitude without its fraction.
    pub(super) fn truncated(&self) -> BigUint {
        if !self.is_finite() {
            return BigUint::zero();
        }
        if self.exponent >= 0 {
            &self.mantissa << self.exponent.unsigned_abs()
        } else {
            &self.mantissa >> self.exponent.unsigned_abs()
        }
    }

    /// Returns the value as an `i64`, or `None` if it is not exactly one. Minus zero gives 0.
    pub(super) fn exact_i64(&self) -> Option<i64> {
        match self.form {
            Form::Zero => Some(0),
            Form::Infinite => None,
            Form::Finite if self.exponent < 0 || self.exponent + bits(&self.mantissa) > 64 => None,
            Form::Finite => {
                let magnitude = self.truncated();
                if self.negative && magnitude == BigUint::one() << 63u32 {
                    return Some(i64::MIN);
                }
                let magnitude = magnitude.to_i64()?;
                Some(if self.negative { -magnitude } else { magnitude })
            }
        }
    }

    /// Returns the value as an `f64`, or `None` if it is not exactly one.
    pub(super) fn exact_f64(&self) -> Option<f64> {
        let magnitude = match self.form {
            Form::Zero => 0.0,
            Form::Infinite => f64::INFINITY,
            Form::Finite => {
                let top = self.exponent + bits(&self.mantissa);
                if bits(&self.mantissa) > 53 || top > 1024 || self.exponent < -1074 {
                    return None;
                }
                scaled(self.mantissa.to_u64()?, i32::try_from(self.exponent).ok()?)
            }
        };
        Some(if self.negative { -magnitude } else { magnitude })
    }

    pub(super) fn compare(&self, other: &Float) -> Ordering {
        let rank = |it: &Float| it.signum() * if it.form == Form::Infinite { 2 } else { 1 };
        match rank(self).cmp(&rank(other)) {
            Ordering::Equal if self.is_finite() && other.is_finite() => {
                let magnitudes = self.compare_magnitude(other);
                if self.negative { magnitudes.reverse() } else { magnitudes }
            }
            order => order,
        }
    }

    fn compare_magnitude(&self, other: &Float) -> Ordering {
        let (top, other_top) =
            (self.exponent + bits(&self.mantissa), other.exponent + bits(&other.mantissa));
        if top != other_top {
            return top.cmp(&other_top);
        }
        let exponent = self.exponent.min(other.exponent);
        self.aligned(exponent).cmp(&other.aligned(exponent))
    }

    /// Returns the mantissa, shifted so that it counts units of 2^`exponent`.
    pub(super) fn aligned(&self, exponent: i64) -> BigUint {
        &self.mantissa << (self.exponent - exponent).unsigned_abs()
    }
}

/// Returns the number of bits of a mantissa, as a signed count.
pub(super) fn bits(mantissa: &BigUint) -> i64 {
    mantissa.bits().cast_signed()
}

/// Returns `mantissa * 2^exponent`, in two steps, since one factor alone may exceed the range of `f64`.
fn scaled(mantissa: u64, exponent: i32) -> f64 {
    #[expect(
        clippy::cast_precision_loss,
        reason = "the caller has checked that the mantissa has at most 53 bits"
    )]
    let mantissa = mantissa as f64;
    let first = exponent.clamp(-900, 900);
    mantissa * 2f64.powi(first) * 2f64.powi(exponent - first)
}
