//! Texts of numbers: Go's notation for those that a 64-bit float holds, all digits for others.

use std::cmp::Ordering;

use values::Number;

/// The longest text that is read with all digits. A number keeps about 150 digits, so a longer text gains nothing.
const MAX_DIGITS: usize = 1000;

/// Reads the number of a JSON document, with all digits that [`Number`] keeps. `None` if it is too large for a 64-bit
/// float, which would make its plain notation unboundedly long; a number that is too small is zero.
pub(super) fn read(text: &str) -> Option<Number> {
    let float: f64 = text.parse().ok().filter(|it: &f64| it.is_finite())?;
    if float == 0.0 {
        return Number::parse(if float.is_sign_negative() { "-0" } else { "0" });
    }
    if text.len() > MAX_DIGITS {
        return Some(Number::from(float));
    }
    Number::parse(text)
}

/// Returns the text of a number in a JSON document. It is the text that Go writes for the nearest 64-bit float if
/// that text denotes the same number; otherwise all digits. `None` if the number is too large for a 64-bit float.
pub(super) fn json_text(number: &Number) -> Option<String> {
    if number.is_infinite() {
        return None;
    }
    let magnitude = number.magnitude();
    if magnitude.compare(&Number::from(f64::MAX)) == Ordering::Greater {
        return None;
    }
    let smallest = Number::from(f64::from_bits(1));
    if number.signum() == 0 || magnitude.compare(&smallest) == Ordering::Less {
        let is_minus_zero = number.signum() == 0 && number.to_string() == "-0";
        return Some(if is_minus_zero { "-0" } else { "0" }.to_owned());
    }
    let text = go_text(number.nearest_f64());
    match Number::parse(&text).as_ref() == Some(number) {
        true => Some(text),
        false => Some(number.to_string()),
    }
}

/// Returns the text that Go's JSON writer gives a finite float: the shortest digits, with an exponent if it is below
/// -6 or above 20.
fn go_text(float: f64) -> String {
    let magnitude = float.abs();
    if magnitude == 0.0 || (1e-6..1e21).contains(&magnitude) {
        return float.to_string();
    }
    let text = format!("{float:e}");
    if text.contains("e-") { text } else { text.replace('e', "e+") }
}

/// Returns the text of a number that an expression inserts: the source text if it has only digits, else the nearest
/// 64-bit float in plain notation. A number beyond these floats keeps its source text.
pub(in crate::restful) fn plain_text(source: &str) -> String {
    let digits = source.strip_prefix('-').unwrap_or(source);
    if digits.bytes().all(|it| it.is_ascii_digit()) {
        return source.to_owned();
    }
    match source.parse::<f64>() {
        Ok(float) if float.is_finite() => float.to_string(),
        _ => source.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn number_texts_are_those_of_go_unless_digits_would_be_lost() {
        for (source, text) in [
            ("0", "0"),
            ("-0", "-0"),
            ("-0.0", "-0"),
            ("1.50", "1.5"),
            ("1e3", "1000"),
            ("1E+3", "1000"),
            ("0.1", "0.1"),
            ("123456789", "123456789"),
            ("100000000000000000000", "100000000000000000000"),
            ("1e21", "1e+21"),
            ("1.5e300", "1.5e+300"),
            ("0.000001", "0.000001"),
            ("0.0000001", "1e-7"),
            ("-1.5e-9", "-1.5e-9"),
            ("9007199254740993", "9007199254740993"),
            ("1152921504606846976", "1152921504606846976"),
            ("1234567890.12345678901234567890", "1234567890.1234567890123456789"),
            ("5e-324", "5e-324"),
            ("1e-999999999", "0"),
            ("1e-99999999999", "0"),
            ("1.7976931348623157e308", "1.7976931348623157e+308"),
        ] {
            let number = read(source).unwrap_or_else(|| panic!("{source} is a number"));
            assert_eq!(json_text(&number).as_deref(), Some(text), "{source}");
        }
    }

    #[test]
    fn number_beyond_floats_is_refused_without_writing_its_digits() {
        for source in ["1e309", "-1e309", "1e999999999", "1e99999999999", "NaN", "inf", "-inf"] {
            assert!(read(source).is_none(), "{source}");
        }
        assert!(read(&"9".repeat(400)).is_none());
        assert!(read(&format!("0.{}", "1".repeat(500_000))).is_some());
        for source in ["1e600000000", "1e309"] {
            assert!(json_text(&Number::parse(source).expect("a number")).is_none(), "{source}");
        }
        let tiny = Number::parse("1e-600000000").expect("a number");
        assert_eq!(json_text(&tiny).as_deref(), Some("0"));
    }

    #[test]
    fn plain_text_keeps_digits_and_has_no_exponent() {
        for (source, text) in [
            ("12345678901234567890123", "12345678901234567890123"),
            ("-5", "-5"),
            ("1.50", "1.5"),
            ("1e3", "1000"),
            ("1e21", "1000000000000000000000"),
            ("1e-7", "0.0000001"),
            ("1e400", "1e400"),
        ] {
            assert_eq!(plain_text(source), text, "{source}");
        }
    }
}
