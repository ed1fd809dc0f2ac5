//! Tests with recorded results of Go's big floats and of cty's arithmetic on them.

use std::cmp::Ordering;

use super::Number;

const VECTORS: &str = include_str!("../../../../tests/data/number_vectors.txt");

/// Parses an operand: `I` and `U` are machine integers, `F` is a double by its bits, `P` is text.
fn operand(text: &str) -> Number {
    let (kind, rest) = text.split_at(1);
    match kind {
        "I" => Number::from(rest.parse::<i64>().expect("an i64")),
        "U" => Number::from(rest.parse::<u64>().expect("a u64")),
        "F" => Number::from(f64::from_bits(rest.parse().expect("bits of a double"))),
        _ => Number::parse(rest).expect("number text"),
    }
}

fn check(line: &str) {
    let fields: Vec<&str> = line.split('|').collect();
    let left = operand(fields[1]);
    if fields[0] == "cmp" {
        let right = operand(fields[2]);
        assert_eq!((left.compare(&right) == Ordering::Less).to_string(), fields[3], "{line}");
        assert_eq!((left == right).to_string(), fields[4], "{line}");
        return;
    }
    let right = || operand(fields[2]);
    let result = match fields[0] {
        "id" => left,
        "add" => left.add(&right()).expect("a number"),
        "sub" => left.subtract(&right()).expect("a number"),
        "mul" => left.multiply(&right()).expect("a number"),
        "div" => left.divide(&right()).expect("a number"),
        "mod" => left.modulo(&right()).expect("a number"),
        other => panic!("unknown operation {other}"),
    };
    assert_eq!(result.precision().to_string(), fields[3], "{line}");
    assert_eq!(result.to_string(), fields[4], "{line}");
    assert_eq!(result.ten_digit_text(), fields[5], "{line}");
    assert_eq!(result.to_i64().is_some().to_string(), fields[6], "{line}");
    if let Some(value) = result.to_i64() {
        assert_eq!(value.to_string(), fields[7], "{line}");
    }
    assert_eq!(result.to_f64().is_some().to_string(), fields[8], "{line}");
    if let Some(value) = result.to_f64() {
        assert_eq!(value.to_bits().to_string(), fields[9], "{line}");
    }
}

#[test]
fn every_recorded_number_is_reproduced() {
    VECTORS.lines().for_each(check);
}

#[test]
fn numbers_with_large_exponents_round_trip() {
    for text in
        ["1e-200000", "-12345678901234567890e-290000", "7e200000", "9999999999999999e300000"]
    {
        let number = Number::parse(text).expect("a number");
        let shown = number.to_string();
        assert_eq!(Number::parse(&shown).expect("a number"), number, "{text}");
        let (digits, _) = text.split_once('e').expect("an exponent");
        assert_eq!(
            shown.trim_matches(['0', '-', '.']),
            digits.trim_start_matches('-').trim_end_matches('0'),
            "{text}"
        );
    }
}

#[test]
fn excessive_exponents_give_infinity_or_zero() {
    assert_eq!(Number::parse("1e1000000000").expect("a number").to_string(), "+Inf");
    assert_eq!(Number::parse("1e-1000000000").expect("a number").to_string(), "0");
    assert!(Number::parse("1e99999999999").is_none());
}

#[test]
fn invalid_number_texts_are_refused() {
    for text in [
        "", "-", "+", ".", "e1", "1e", "1e+", "1_000", "0x10", " 1", "1 ", "NaN", "infinity",
        "1..2", "--1", "१",
    ] {
        assert!(Number::parse(text).is_none(), "{text:?}");
    }
}

#[test]
fn undefined_arithmetic_returns_none() {
    let [zero, inf] = [Number::zero(), Number::parse("Inf").expect("a number")];
    assert!(zero.divide(&zero).is_none());
    assert!(inf.divide(&inf).is_none());
    assert!(inf.subtract(&inf).is_none());
    assert!(inf.add(&inf.negated()).is_none());
    assert!(zero.multiply(&inf).is_none());
    assert!(inf.modulo(&Number::from(2_i64)).is_none());
    assert_eq!(Number::from(1_i64).divide(&zero).expect("infinity").to_string(), "+Inf");
}

#[test]
fn floor_and_ceil_round_negative_numbers_correctly() {
    let number = |text: &str| Number::parse(text).expect("a number");
    for (text, floor, ceil) in [
        ("1.5", "1", "2"),
        ("-1.5", "-2", "-1"),
        ("3", "3", "3"),
        ("-0.5", "-1", "0"),
        ("Inf", "+Inf", "+Inf"),
    ] {
        assert_eq!(number(text).floor().to_string(), floor, "floor of {text}");
        assert_eq!(number(text).ceil().to_string(), ceil, "ceil of {text}");
    }
}
