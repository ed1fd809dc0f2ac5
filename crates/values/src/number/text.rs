//! Decimal texts of [`Float`]: the shortest one that identifies it at its own precision, and the ten-digit one that
//! orders sets.

use num_bigint::BigUint;

use super::float::{Float, Form, bits};

/// `0.d1d2d3… * 10^point`, without trailing zeros; no digits means zero.
struct Decimal {
    digits: Vec<u8>,
    point: i64,
}

impl Float {
    /// Fixed notation with the fewest digits that identify the value at its own precision.
    pub(super) fn shortest_text(&self) -> String {
        if self.form == Form::Infinite {
            return self.infinite_text();
        }
        let decimal = self.shortest();
        let fraction = (decimal.len() - decimal.point).max(0);
        let mut out = String::from(self.sign());
        decimal.write_fixed(&mut out, fraction);
        out
    }

    /// `%f` of the magnitude with the given number of digits after the point.
    pub(super) fn fixed_magnitude(&self, places: usize) -> String {
        let mut decimal = Decimal::exact(&self.mantissa, self.exponent);
        let places = places as i64;
        if let Ok(digits) = usize::try_from(decimal.point + places) {
            decimal.round_nearest(digits);
        }
        let mut out = String::new();
        decimal.write_fixed(&mut out, places);
        out
    }

    /// `%e` of the magnitude with the given number of digits after the point.
    pub(super) fn exponent_magnitude(&self, places: usize) -> String {
        let mut decimal = Decimal::exact(&self.mantissa, self.exponent);
        decimal.round_nearest(places + 1);
        let mut out = String::new();
        decimal.write_exponent(&mut out, places as i64 + 1);
        out
    }

    /// `%g` of the magnitude: with the given number of significant digits, or as many as identify it.
    pub(super) fn general_magnitude(&self, digits: Option<usize>) -> String {
        let mut decimal = match digits {
            None => self.shortest(),
            Some(_) => Decimal::exact(&self.mantissa, self.exponent),
        };
        // Go decides about the exponent as if six digits had been asked for.
        let (mut precision, mut threshold) = (decimal.len(), 6);
        if let Some(digits) = digits {
            decimal.round_nearest(digits.max(1));
            precision = digits.max(1) as i64;
            let fits = precision > decimal.len() && decimal.len() >= decimal.point;
            threshold = if fits { decimal.len() } else { precision };
        }
        let mut out = String::new();
        let exponent = if decimal.digits.is_empty() { 0 } else { decimal.point - 1 };
        if exponent < -4 || exponent >= threshold.max(1) {
            decimal.write_exponent(&mut out, precision.min(decimal.len()));
        } else {
            let precision = if precision > decimal.point { decimal.len() } else { precision };
            decimal.write_fixed(&mut out, (precision - decimal.point).max(0));
        }
        out
    }

    /// Go's `%.10g`: ten significant digits, exponent form for very small and very large values.
    pub(super) fn ten_digit_text(&self) -> String {
        const DIGITS: i64 = 10;
        if self.form == Form::Infinite {
            return self.infinite_text();
        }
        let mut decimal = Decimal::exact(&self.mantissa, self.exponent);
        decimal.round_nearest(10);
        let mut out = String::from(self.sign());
        let mut threshold = DIGITS;
        if threshold > decimal.len() && decimal.len() >= decimal.point {
            threshold = decimal.len();
        }
        let exponent = decimal.point - 1;
        if exponent < -4 || exponent >= threshold {
            decimal.write_exponent(&mut out, DIGITS.min(decimal.len()));
            return out;
        }
        let digits = if DIGITS > decimal.point { decimal.len() } else { DIGITS };
        decimal.write_fixed(&mut out, (digits - decimal.point).max(0));
        out
    }

    fn infinite_text(&self) -> String {
        String::from(if self.negative { "-Inf" } else { "+Inf" })
    }

    fn sign(&self) -> &'static str {
        if self.negative { "-" } else { "" }
    }

    /// Walks the digits of the value beside those of its two half-way neighbours, and stops at the first place where
    /// cutting down or rounding up stays between them.
    fn shortest(&self) -> Decimal {
        let mut decimal = Decimal::exact(&self.mantissa, self.exponent);
        if decimal.digits.is_empty() {
            return decimal;
        }
        // One more bit than the precision: the lowest one is half a unit in the last place.
        let shift = i64::from(self.precision) + 1 - bits(&self.mantissa);
        let mantissa = &self.mantissa << shift.unsigned_abs();
        let exponent = self.exponent - shift;
        let low = Decimal::exact(&(&mantissa - 1u32), exponent);
        let high = Decimal::exact(&(&mantissa + 1u32), exponent);
        let inclusive = !mantissa.bit(1);
        for i in 0..decimal.digits.len() {
            let (digit, low_digit, high_digit) = (decimal.at(i), low.at(i), high.at(i));
            let down = low_digit != digit || (inclusive && i + 1 == low.digits.len());
            let past_high = i >= high.digits.len();
            let up = digit != high_digit
                && (inclusive
                    || digit + 1 < high_digit
                    || i + 1 < high.digits.len()
                    || (past_high && digit < b'9'));
            match (down, up) {
                (true, true) => decimal.round_nearest(i + 1),
                (true, false) => decimal.cut(i + 1),
                (false, true) => decimal.round_up(i + 1),
                (false, false) => continue,
            }
            break;
        }
        decimal
    }
}

impl Decimal {
    fn exact(mantissa: &BigUint, exponent: i64) -> Decimal {
        let Some(zeros) = mantissa.trailing_zeros() else {
            return Decimal { digits: Vec::new(), point: 0 };
        };
        let (digits, fraction) = if exponent >= 0 {
            ((mantissa << exponent.unsigned_abs()).to_str_radix(10), 0)
        } else {
            let cut = exponent.unsigned_abs().min(zeros);
            let fraction = exponent.unsigned_abs() - cut;
            let power = BigUint::from(5u32).pow(u32::try_from(fraction).unwrap_or(u32::MAX));
            (((mantissa >> cut) * power).to_str_radix(10), fraction.cast_signed())
        };
        let mut decimal = Decimal { point: 0, digits: digits.into_bytes() };
        decimal.point = decimal.len() - fraction;
        decimal.drop_zeros();
        decimal
    }

    fn len(&self) -> i64 {
        self.digits.len().cast_signed() as i64
    }

    fn at(&self, i: usize) -> u8 {
        self.digits.get(i).copied().unwrap_or(b'0')
    }

    fn drop_zeros(&mut self) {
        while self.digits.last() == Some(&b'0') {
            self.digits.pop();
        }
    }

    fn cut(&mut self, n: usize) {
        if n >= self.digits.len() {
            return;
        }
        self.digits.truncate(n);
        self.drop_zeros();
        if self.digits.is_empty() {
            self.point = 0;
        }
    }

    fn round_up(&mut self, mut n: usize) {
        if n >= self.digits.len() {
            return;
        }
        while n > 0 && self.digits[n - 1] >= b'9' {
            n -= 1;
        }
        if n == 0 {
            self.digits = vec![b'1'];
            self.point += 1;
            return;
        }
        self.digits[n - 1] += 1;
        self.digits.truncate(n);
    }

    fn round_nearest(&mut self, n: usize) {
        if n >= self.digits.len() {
            return;
        }
        let exactly_half = self.digits[n] == b'5' && n + 1 == self.digits.len();
        let up = if exactly_half {
            n > 0 && (self.digits[n - 1] - b'0') % 2 == 1
        } else {
            self.digits[n] >= b'5'
        };
        if up { self.round_up(n) } else { self.cut(n) }
    }

    fn digit(&self, i: i64) -> char {
        usize::try_from(i).map_or('0', |i| char::from(self.at(i)))
    }

    fn write_fixed(&self, out: &mut String, fraction: i64) {
        if self.point > 0 {
            out.extend((0..self.point).map(|i| self.digit(i)));
        } else {
            out.push('0');
        }
        if fraction > 0 {
            out.push('.');
            out.extend((0..fraction).map(|i| self.digit(self.point + i)));
        }
    }

    fn write_exponent(&self, out: &mut String, digits: i64) {
        out.push(self.digit(0));
        if digits > 1 {
            out.push('.');
            out.extend((1..digits).map(|i| self.digit(i)));
        }
        let exponent = if self.digits.is_empty() { 0 } else { self.point - 1 };
        let sign = if exponent < 0 { '-' } else { '+' };
        out.push_str(&format!("e{sign}{:02}", exponent.abs()));
    }
}
