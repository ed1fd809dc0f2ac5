//! Arithmetic of [`Float`] with cty's rules for the precision of results. The recorded vectors test each rule.

use num_bigint::BigUint;
use num_integer::Integer;
use num_traits::Zero;

use super::float::{Float, Form, bits};

/// The precision at which products are computed before they are narrowed.
const MULTIPLY_PRECISION: u32 = 512;

impl Float {
    pub(super) fn negated(&self) -> Float {
        Float { negative: !self.negative, ..self.clone() }
    }

    pub(super) fn with_precision(&self, precision: u32) -> Float {
        match self.form {
            Form::Finite => {
                Float::round(self.negative, self.mantissa.clone(), self.exponent, precision, false)
            }
            _ => Float { precision, ..self.clone() },
        }
    }

    pub(super) fn add(&self, other: &Float) -> Float {
        self.add_rounded(other, self.precision.max(other.precision))
    }

    fn add_rounded(&self, other: &Float, precision: u32) -> Float {
        match (self.form, other.form) {
            (Form::Finite, Form::Finite) => self.add_finite(other, precision),
            (Form::Zero, Form::Zero) => Float::zero(self.negative && other.negative, precision),
            (Form::Infinite, _) | (_, Form::Zero) => self.with_precision(precision),
            _ => other.with_precision(precision),
        }
    }

    fn add_finite(&self, other: &Float, precision: u32) -> Float {
        let exponent = self.exponent.min(other.exponent);
        let (left, right) = (self.aligned(exponent), other.aligned(exponent));
        if self.negative == other.negative {
            return Float::round(self.negative, left + right, exponent, precision, false);
        }
        match left.cmp(&right) {
            std::cmp::Ordering::Equal => Float::zero(false, precision),
            std::cmp::Ordering::Greater => {
                Float::round(self.negative, left - right, exponent, precision, false)
            }
            std::cmp::Ordering::Less => {
                Float::round(other.negative, right - left, exponent, precision, false)
            }
        }
    }

    pub(super) fn subtract(&self, other: &Float) -> Float {
        self.add(&other.negated())
    }

    pub(super) fn multiply(&self, other: &Float) -> Float {
        let product = self.multiply_rounded(other, MULTIPLY_PRECISION);
        let precision = self.precision.max(other.precision).max(product.needed_precision());
        product.with_precision(precision)
    }

    pub(super) fn multiply_rounded(&self, other: &Float, precision: u32) -> Float {
        let negative = self.negative != other.negative;
        if self.is_finite() && other.is_finite() {
            let exponent = self.exponent + other.exponent;
            return Float::round(
                negative,
                &self.mantissa * &other.mantissa,
                exponent,
                precision,
                false,
            );
        }
        if self.form == Form::Infinite || other.form == Form::Infinite {
            return Float::infinite(negative, precision);
        }
        Float::zero(negative, precision)
    }

    pub(super) fn divide(&self, other: &Float) -> Float {
        let precision = self.precision.max(other.precision);
        if self.is_finite() && other.is_finite() {
            return self.divide_finite(other, precision);
        }
        let negative = self.negative != other.negative;
        if self.form == Form::Zero || other.form == Form::Infinite {
            return Float::zero(negative, precision);
        }
        Float::infinite(negative, precision)
    }

    pub(super) fn divide_finite(&self, other: &Float, precision: u32) -> Float {
        let shift =
            (i64::from(precision) + 2 - (bits(&self.mantissa) - bits(&other.mantissa))).max(0);
        let (quotient, rest) = (&self.mantissa << shift.unsigned_abs()).div_rem(&other.mantissa);
        let exponent = self.exponent - other.exponent - shift;
        Float::round(
            self.negative != other.negative,
            quotient,
            exponent,
            precision,
            !rest.is_zero(),
        )
    }

    /// Returns `a - b * trunc(a / b)`, all at the precision of `a`. The remainder by zero is `a`.
    pub(super) fn modulo(&self, other: &Float) -> Float {
        if other.form == Form::Zero {
            return self.clone();
        }
        let quotient = self.divide(other);
        let whole = Float::round(quotient.negative, quotient.truncated(), 0, self.precision, false);
        let whole =
            if whole.form == Form::Zero { Float::zero(false, whole.precision) } else { whole };
        let taken = other.multiply_rounded(&whole, self.precision);
        self.add_rounded(&taken.negated(), self.precision)
    }

    /// Returns the next integer above if `up`, else the next one below.
    pub(super) fn to_whole(&self, up: bool) -> Float {
        if self.is_integer() || !self.is_finite() {
            return self.clone();
        }
        let mut magnitude: BigUint = self.truncated();
        if self.negative != up {
            magnitude += 1u32;
        }
        let precision = self.precision.max(u32::try_from(magnitude.bits()).unwrap_or(u32::MAX));
        let whole = Float::round(self.negative, magnitude, 0, precision, false);
        if whole.form == Form::Zero { Float::zero(false, precision) } else { whole }
    }
}
