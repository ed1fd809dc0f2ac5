//! Decimal texts of [`Float`]: the shortest text that identifies it at its own precision, and the ten-digit text
//! that orders sets.

use num_bigint::BigUint;

use super::float::{Float, Form, bits};

/// The number `0.d1d2d3… * 10^point`, without trailing zeros; no digits means zero.
struct Decimal {
    digits: Vec<u8>,
    point: i64,
}

impl Float {
    /// Returns fixed notation with the fewest digits that identify the value at its own precision.
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

    /// Returns `%f` of the magnitude with the given number of digits after the point.
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

    /// Returns `%e` of the magnitude with the given number of digits after the point.
    pub(super) fn exponent_magnitude(&self, places: usize) -> String {
        let mut decimal = Decimal::leading(&self.mantissa, self.exponent, places + 2);
        decimal.round_nearest(places + 1);
        let mut out = String::new();
        decimal.write_exponent(&mut out, places as i64 + 1);
        out
    }

    /// Returns `%g` of the magnitude, with the given number of significant digits, or with as many as identify it.
    pub(super) fn general_magnitude(&self, digits: Option<usize>) -> String {
        let mut decimal = match digits {
            None => self.shortest(),
            Some(digits) => Decimal::leading(&self.mantissa, self.exponent, digits.max(1) + 1),
        };
        // Without given digits, Go chooses between the notations as if six digits had been given.
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

    /// Returns Go's `%.10g`: ten significant digits, with an exponent for very small and very large values.
    pub(super) fn ten_digit_text(&self) -> String {
        const DIGITS: i64 = 10;
        if self.form == Form::Infinite {
            return self.infinite_text();
        }
        let mut decimal = Decimal::leading(&self.mantissa, self.exponent, 11);
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

    /// Compares the digits of the value with those of the midpoints to both neighbours. Stops at the first digit
    /// at which truncating or rounding up stays between the midpoints.
    fn shortest(&self) -> Decimal {
        // This many digits distinguish any value of the precision from its neighbours; further ones determine the
        // rounding.
        let enough = (f64::from(self.precision) * std::f64::consts::LOG10_2) as usize + 4;
        let mut decimal = Decimal::leading(&self.mantissa, self.exponent, enough);
        if decimal.digits.is_empty() {
            return decimal;
        }
        // One bit more than the precision: the lowest bit is half a unit in the last place.
        let shift = i64::from(self.precision) + 1 - bits(&self.mantissa);
        let mantissa = &self.mantissa << shift.unsigned_abs();
        let exponent = self.exponent - shift;
        let low = Decimal::leading(&(&mantissa - 1u32), exponent, enough);
        let high = Decimal::leading(&(&mantissa + 1u32), exponent, enough);
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

/// The exponent from which unneeded digits dominate the work: the time to write all digits grows with the square
/// of their number.
const FAR: u64 = 4096;

impl Decimal {
    /// Returns the first digits, at least `wanted` of them, and one more that represents the rest. For a small
    /// exponent, returns all digits. With a large exponent, the digits never end this early: as many trailing
    /// zeros would need more factors of five than a mantissa has.
    fn leading(mantissa: &BigUint, exponent: i64, wanted: usize) -> Decimal {
        let far = FAR + mantissa.bits() + 8 * wanted as u64;
        let is_far = exponent.unsigned_abs() > far && mantissa.bits() > 0;
        let leading = is_far.then(|| Decimal::truncated(mantissa, exponent, wanted)).flatten();
        leading.unwrap_or_else(|| Decimal::exact(mantissa, exponent))
    }

    /// Computes the first digits with limited precision. `None` if the precision does not suffice to determine
    /// them.
    fn truncated(mantissa: &BigUint, exponent: i64, wanted: usize) -> Option<Decimal> {
        let magnitude = (bits(mantissa) + exponent) as f64 * std::f64::consts::LOG10_2;
        // Multiplied by ten to this power, the value is an integer with the wanted digits and a few more.
        let scale = i64::try_from(wanted).ok()? + 4 - magnitude as i64;
        let power = Between::power_of_five(scale.unsigned_abs(), 4 * wanted as u64 + 128);
        let (low, high) = match scale < 0 {
            false => {
                let shift = exponent + scale + power.exponent;
                (shifted(mantissa * power.low, shift), shifted(mantissa * power.high, shift) + 1u32)
            }
            true => {
                let room = (power.high.bits() + 4 * wanted as u64 + 128).cast_signed();
                let wide = mantissa << room.unsigned_abs();
                let shift = exponent + scale - power.exponent - room;
                (shifted(&wide / power.high, shift), shifted(&wide / power.low, shift) + 1u32)
            }
        };
        let (low, high) = (low.to_str_radix(10), high.to_str_radix(10));
        let is_reported = low.len() == high.len() && low.get(..wanted)? == high.get(..wanted)?;
        let point = low.len().cast_signed() as i64 - scale;
        let mut digits = low.into_bytes();
        digits.truncate(wanted);
        digits.push(b'1');
        is_reported.then_some(Decimal { digits, point })
    }

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
        match self.point > 0 {
            true => self.write_digits(out, 0, self.point),
            false => out.push('0'),
        }
        if fraction > 0 {
            out.push('.');
            self.write_digits(out, self.point, self.point + fraction);
        }
    }

    /// Writes the digits at the given places. Places before the first and after the last digit are zeros, possibly
    /// many.
    fn write_digits(&self, out: &mut String, from: i64, to: i64) {
        let own = |at: i64| at.clamp(0, self.len()).clamp(from, to);
        let (first, last) = (own(from), own(to));
        let zeros = |out: &mut String, count: i64| out.push_str(&"0".repeat(count as usize));
        zeros(out, first - from);
        out.extend((first..last).map(|i| self.digit(i)));
        zeros(out, to - last);
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

/// A lower and an upper bound, both to be multiplied by two to the power of `exponent`.
struct Between {
    low: BigUint,
    high: BigUint,
    exponent: i64,
}

impl Between {
    /// Returns bounds of about `precision` bits for `5^power`.
    fn power_of_five(power: u64, precision: u64) -> Between {
        let mut it = Between { low: BigUint::from(1u32), high: BigUint::from(1u32), exponent: 0 };
        for bit in (0..u64::BITS - power.leading_zeros()).rev() {
            let odd = if power >> bit & 1 == 1 { 5u32 } else { 1 };
            it = Between {
                low: &it.low * &it.low * odd,
                high: &it.high * &it.high * odd,
                exponent: 2 * it.exponent,
            };
            let excess = it.high.bits().saturating_sub(precision);
            if excess > 0 {
                it.low >>= excess;
                it.high = (it.high >> excess) + 1u32;
                it.exponent += excess.cast_signed();
            }
        }
        it
    }
}

/// Returns `mantissa * 2^exponent`, rounded down.
fn shifted(mantissa: BigUint, exponent: i64) -> BigUint {
    if exponent >= 0 {
        mantissa << exponent.unsigned_abs()
    } else {
        mantissa >> exponent.unsigned_abs()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn leading_digits_of_large_numbers_equal_the_exact_ones() {
        let mut random = fastrand::Rng::with_seed(7);
        for _ in 0..300 {
            let mantissa = BigUint::from(random.u128(1..)) >> random.u32(0..120);
            let exponent = random.i64(5_000..9_000) * if random.bool() { 1 } else { -1 };
            let wanted = random.usize(1..60);
            check(&mantissa, exponent, wanted);
        }
        // Only nines after the first digits, and a power of ten.
        check(&(BigUint::from(10u32).pow(40) - 1u32), 9_000, 50);
        check(&BigUint::from(5u32).pow(300), 9_000, 90);
    }

    fn check(mantissa: &BigUint, exponent: i64, wanted: usize) {
        let (all, first) =
            (Decimal::exact(mantissa, exponent), Decimal::leading(mantissa, exponent, wanted));
        assert_eq!((all.point, wanted + 1), (first.point, first.digits.len()), "{exponent}");
        assert_eq!(all.digits[..wanted], first.digits[..wanted], "{mantissa} {exponent}");
    }
}
