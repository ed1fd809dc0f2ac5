//! Decodes literal text: escapes of strings, and the text of numbers.
//!
//! The rules are HCL's, including those that its specification does not mention.

use std::borrow::Cow;

/// Returns the text of a quoted literal with its escapes decoded. An invalid escape stands for itself; the parse
/// of the text has reported it.
pub fn unescape_quoted(text: &str) -> Cow<'_, str> {
    if !text.contains(['\\', '$', '%']) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find(['\\', '$', '%']) {
        out.push_str(&rest[..at]);
        rest = &rest[at..];
        let taken = match sequence_escape(rest) {
            Some(literal) => {
                out.push_str(literal);
                3
            }
            None => match backslash_escape(rest) {
                Some((len, Ok(c))) => {
                    out.push(c);
                    len
                }
                _ => {
                    out.push_str(&rest[..1]);
                    1
                }
            },
        };
        rest = &rest[taken..];
    }
    out.push_str(rest);
    Cow::Owned(out)
}

/// Returns the text of a literal outside quotes (heredoc, template file), where only `$${` and `%%{` are escapes.
pub fn unescape_template(text: &str) -> Cow<'_, str> {
    if !text.contains("${") && !text.contains("%{") {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find(['$', '%']) {
        out.push_str(&rest[..at]);
        rest = &rest[at..];
        let (literal, taken) =
            sequence_escape(rest).map_or((&rest[..1], 1), |literal| (literal, 3));
        out.push_str(literal);
        rest = &rest[taken..];
    }
    out.push_str(rest);
    Cow::Owned(out)
}

/// Returns `${` for `$${` and `%{` for `%%{` at the start of the text. In `$$${` the first `$` is plain: the
/// escape is the nearest one.
fn sequence_escape(text: &str) -> Option<&'static str> {
    if text.starts_with("$${") {
        Some("${")
    } else if text.starts_with("%%{") {
        Some("%{")
    } else {
        None
    }
}

/// The reason why an escape is invalid.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum WrongEscape {
    /// No escape begins with this character.
    Selector(char),
    /// `\u` without four hexadecimal digits.
    Short,
    /// `\U` without eight hexadecimal digits.
    Long,
    /// The digits are not the number of a character.
    NotACharacter { digits: [u8; 8], len: usize },
}

/// Returns the length of the escape at the start of `text`, and its character or the error. `None` if `text` does
/// not begin with a backslash and a character after it.
fn backslash_escape(text: &str) -> Option<(usize, Result<char, WrongEscape>)> {
    let rest = text.strip_prefix('\\')?;
    let selector = rest.chars().next()?;
    let plain = |c| Some((2, Ok(c)));
    match selector {
        'n' => plain('\n'),
        'r' => plain('\r'),
        't' => plain('\t'),
        '"' => plain('"'),
        '\\' => plain('\\'),
        'u' => Some(hex_escape(rest, 4)),
        'U' => Some(hex_escape(rest, 8)),
        other => Some((1 + other.len_utf8(), Err(WrongEscape::Selector(other)))),
    }
}

/// Decodes a numeric escape. `rest` begins with the selector `u` or `U`, and `want` is the number of digits.
fn hex_escape(rest: &str, want: usize) -> (usize, Result<char, WrongEscape>) {
    let bytes = &rest.as_bytes()[1..];
    let found = bytes.iter().take(want).take_while(|byte| byte.is_ascii_hexdigit()).count();
    if found < want {
        let wrong = if want == 4 { WrongEscape::Short } else { WrongEscape::Long };
        return (2 + found, Err(wrong));
    }
    let code = u32::from_str_radix(&rest[1..=want], 16).unwrap_or(u32::MAX);
    let result = char::from_u32(code).ok_or_else(|| {
        let mut digits = [0; 8];
        digits[..want].copy_from_slice(&bytes[..want]);
        WrongEscape::NotACharacter { digits, len: want }
    });
    (2 + want, result)
}

/// An invalid escape of a quoted literal.
pub(crate) struct LocatedEscape {
    pub(crate) offset: usize,
    pub(crate) len: usize,
    pub(crate) wrong: WrongEscape,
}

/// Returns the invalid escapes of a quoted literal.
pub(crate) fn wrong_escapes(text: &str) -> Vec<LocatedEscape> {
    let mut out = Vec::new();
    let mut at = 0;
    while let Some(found) = text[at..].find('\\') {
        at += found;
        // A backslash at the end: a newline ended the literal, which has its own error.
        let Some((len, result)) = backslash_escape(&text[at..]) else { break };
        if let Err(wrong) = result {
            out.push(LocatedEscape { offset: at, len, wrong });
        }
        at += len;
    }
    out
}

/// Returns true if the text of a number token is a number. The lexer accepts any run of digits, dots and
/// exponents, as HCL's does.
pub fn is_number(text: &str) -> bool {
    let (mantissa, exponent) = match text.find(['e', 'E']) {
        Some(at) => (&text[..at], Some(&text[at + 1..])),
        None => (text, None),
    };
    let all_digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let mantissa_ok = all_digits(whole) && all_digits(fraction) && whole.len() + fraction.len() > 0;
    let exponent_ok = exponent.is_none_or(|exponent| {
        let digits = exponent.strip_prefix(['+', '-']).unwrap_or(exponent);
        !digits.is_empty() && all_digits(digits)
    });
    mantissa_ok && exponent_ok
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn valid_numbers_are_distinguished_from_number_tokens() {
        let numbers = ["0", "00012", "1.5", "1.e5", "1e5", "1E+5", "2.5e-3"];
        assert!(numbers.iter().all(|text| is_number(text)), "{numbers:?}");
        let others = ["1..2", "1.2.3", "1e5e5", "1e", "", ".", "1e+", "0x1"];
        assert!(others.iter().all(|text| !is_number(text)), "{others:?}");
    }

    #[test]
    fn text_without_escapes_is_not_copied() {
        assert!(matches!(unescape_quoted("plain"), Cow::Borrowed("plain")));
        assert!(matches!(unescape_template("\\n $ %"), Cow::Borrowed("\\n $ %")));
    }

    #[test]
    fn invalid_escapes_are_located() {
        let found = wrong_escapes(r"a\n\q\\\u12\uD800").into_iter();
        assert_eq!(
            found.map(|it| (it.offset, it.len)).collect::<Vec<_>>(),
            [(3, 2), (7, 4), (11, 6)]
        );
    }
}
