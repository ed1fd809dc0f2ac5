//! Resolves YAML scalars, with a mixture of YAML 1.1 (`yes`, dates) and 1.2 (`0o17`).

use base64::{Engine, engine::general_purpose::STANDARD};

use crate::{Number, Type, Value, functions::rfc3339::Timestamp, go_quoted};

/// The prefix of the tags that YAML defines.
const CORE: &str = "tag:yaml.org,2002:";

/// Returns the value of a scalar with a tag; an empty `tag` means that it has none.
pub(super) fn resolve(text: &str, tag: &str, is_plain: bool) -> Result<Value, String> {
    let kind = match tag.strip_prefix(CORE) {
        Some(kind @ ("str" | "bool" | "int" | "float" | "null" | "timestamp" | "binary")) => kind,
        None if tag.is_empty() => "",
        _ => return Err(format!("unsupported tag {}", go_quoted(tag))),
    };
    match kind {
        "binary" if STANDARD.decode(text).is_err() => {
            let shown = go_quoted(text);
            return Err(format!("cannot parse {shown} as {CORE}binary: not valid base64"));
        }
        "str" | "binary" => return Ok(Value::string(text)),
        _ if !is_plain => return Ok(Value::string(text)),
        _ => {}
    }
    if let Some(value) = well_known(text)? {
        return Ok(value);
    }
    if matches!(kind, "" | "timestamp")
        && let Some(rfc3339) = Timestamp::parse_loosely(text)
    {
        return Ok(Value::string(rfc3339.to_text()));
    }
    if is_decimal(text)
        && let Some(number) = Number::parse(text)
    {
        return Ok(Value::number(number));
    }
    let wrong = |kind: &str| format!("cannot parse {} as {CORE}{kind}", go_quoted(text));
    match kind {
        "null" => Ok(Value::null(Type::Dynamic)),
        "int" | "float" => tagged_number(text).ok_or_else(|| wrong(kind)),
        "" if is_other_base(text) => tagged_number(text).ok_or_else(|| wrong("int")),
        "" => Ok(Value::string(text)),
        kind => Err(wrong(kind)),
    }
}

fn well_known(text: &str) -> Result<Option<Value>, String> {
    Ok(Some(match text {
        "y" | "Y" | "yes" | "Yes" | "YES" | "true" | "True" | "TRUE" | "on" | "On" | "ON" => {
            Value::bool(true)
        }
        "n" | "N" | "no" | "No" | "NO" | "false" | "False" | "FALSE" | "off" | "Off" | "OFF" => {
            Value::bool(false)
        }
        "" | "~" | "null" | "Null" | "NULL" => Value::null(Type::Dynamic),
        ".inf" | ".Inf" | ".INF" | "+.inf" | "+.Inf" | "+.INF" => infinity("Inf"),
        "-.inf" | "-.Inf" | "-.INF" => infinity("-Inf"),
        ".nan" | ".NaN" | ".NAN" => return Err("floating point NaN is not supported".to_owned()),
        _ => return Ok(None),
    }))
}

fn infinity(text: &str) -> Value {
    Number::parse(text).map_or_else(|| Value::null(Type::Number), Value::number)
}

/// Returns true for `[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?`.
fn is_decimal(text: &str) -> bool {
    let digits = |text: &str| text.bytes().take_while(u8::is_ascii_digit).count();
    let text = text.strip_prefix(['+', '-']).unwrap_or(text);
    let whole = digits(text);
    let rest = &text[whole..];
    let (fraction, rest) = match rest.strip_prefix('.') {
        Some(rest) => (digits(rest), &rest[digits(rest)..]),
        None => (0, rest),
    };
    let has_exponent = rest.strip_prefix(['e', 'E']).is_some_and(|exponent| {
        let exponent = exponent.strip_prefix(['+', '-']).unwrap_or(exponent);
        !exponent.is_empty() && digits(exponent) == exponent.len()
    });
    whole + fraction > 0 && (rest.is_empty() || has_exponent)
}

fn is_other_base(text: &str) -> bool {
    let all = |digits: &str, base| !digits.is_empty() && digits.chars().all(|c| c.is_digit(base));
    text.strip_prefix("0x").is_some_and(|digits| all(digits, 16))
        || text.strip_prefix("0o").is_some_and(|digits| all(digits, 8))
}

/// Parses a number with an explicit tag: underscores are ignored, and bases are those of Go, up to 64 bits.
fn tagged_number(text: &str) -> Option<Value> {
    let plain = text.replace('_', "");
    if let Some(number) = Number::parse(&plain) {
        return Some(Value::number(number));
    }
    let (is_negative, digits) = match plain.strip_prefix('-') {
        Some(digits) => (true, digits),
        None => (false, plain.strip_prefix('+').unwrap_or(&plain)),
    };
    let (prefix, digits) = digits.split_at_checked(2)?;
    let base = match prefix {
        "0x" | "0X" => 16,
        "0o" | "0O" => 8,
        "0b" | "0B" => 2,
        _ => return None,
    };
    let is_number = digits.bytes().all(|byte| byte.is_ascii_alphanumeric());
    let magnitude = u64::from_str_radix(digits, base).ok().filter(|_| is_number)?;
    if is_negative && magnitude > 1 << 63 {
        return None;
    }
    Some(Value::number(Number::from_integer(is_negative, magnitude.into())))
}
