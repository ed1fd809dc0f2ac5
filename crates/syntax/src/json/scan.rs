//! Splits text into JSON tokens.

use rowan::{TextRange, TextSize};

use super::{Escape, JsonString};
use crate::SyntaxError;

/// A token.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Token {
    OpenBrace,
    CloseBrace,
    OpenBracket,
    CloseBracket,
    Comma,
    Colon,
    /// `=`, which is not part of JSON but has its own error.
    Equals,
    Null,
    Bool(bool),
    Number(String),
    String(JsonString),
    End,
}

/// A scanner that returns one token after the other.
pub(super) struct Scanner<'t> {
    text: &'t str,
    at: usize,
}

/// Words of JavaScript that users expect to be valid JSON.
const JAVASCRIPT: [&str; 3] = ["undefined", "NaN", "Infinity"];

impl<'t> Scanner<'t> {
    pub(super) fn new(text: &'t str) -> Scanner<'t> {
        Scanner { text, at: 0 }
    }

    fn rest(&self) -> &'t str {
        self.text.get(self.at..).unwrap_or_default()
    }

    fn range_from(&self, start: usize) -> TextRange {
        range(start, self.at)
    }

    /// Returns the next token and its range.
    ///
    /// # Errors
    /// Returns an error if the text at the position is not a token.
    pub(super) fn next(&mut self) -> Result<(Token, TextRange), SyntaxError> {
        let blank = |it: char| matches!(it, ' ' | '\t' | '\n' | '\r');
        self.at = self.text.len() - self.rest().trim_start_matches(blank).len();
        let start = self.at;
        let Some(first) = self.rest().chars().next() else {
            return Ok((Token::End, self.range_from(start)));
        };
        let single = match first {
            '{' => Some(Token::OpenBrace),
            '}' => Some(Token::CloseBrace),
            '[' => Some(Token::OpenBracket),
            ']' => Some(Token::CloseBracket),
            ',' => Some(Token::Comma),
            ':' => Some(Token::Colon),
            '=' => Some(Token::Equals),
            _ => None,
        };
        if let Some(token) = single {
            self.at += 1;
            return Ok((token, self.range_from(start)));
        }
        let token = match first {
            '"' => Token::String(self.string()?),
            '-' | '+' | '.' | '0'..='9' => self.number()?,
            it if it.is_ascii_alphabetic() || it == '_' => self.keyword()?,
            other => {
                self.at += other.len_utf8();
                return Err(no_value(self.range_from(start)));
            }
        };
        Ok((token, self.range_from(start)))
    }

    /// Consumes the characters that satisfy `belongs`.
    fn take_while(&mut self, belongs: impl Fn(char) -> bool) -> (&'t str, TextRange) {
        let start = self.at;
        let rest = self.rest();
        let taken = rest.len() - rest.trim_start_matches(belongs).len();
        self.at += taken;
        (&rest[..taken], self.range_from(start))
    }

    fn number(&mut self) -> Result<Token, SyntaxError> {
        let belongs = |it: char| it.is_ascii_digit() || "+-.eE".contains(it);
        let (text, range) = self.take_while(belongs);
        match is_number(text) {
            true => Ok(Token::Number(text.to_owned())),
            false => {
                let detail = "There is a syntax error in the given JSON number.";
                Err(SyntaxError::new("Invalid JSON number", detail, range))
            }
        }
    }

    fn keyword(&mut self) -> Result<Token, SyntaxError> {
        let (word, range) = self.take_while(|it| it.is_ascii_alphanumeric() || it == '_');
        let detail = match word {
            "null" => return Ok(Token::Null),
            "true" => return Ok(Token::Bool(true)),
            "false" => return Ok(Token::Bool(false)),
            word if JAVASCRIPT.contains(&word) => {
                format!("The JavaScript identifier \"{word}\" cannot be used in JSON.")
            }
            word => match meant(word) {
                Some(meant) => {
                    format!("\"{word}\" is not a valid JSON keyword. Did you mean \"{meant}\"?")
                }
                None => format!("\"{word}\" is not a valid JSON keyword."),
            },
        };
        Err(SyntaxError::new("Invalid JSON keyword", detail, range))
    }

    fn string(&mut self) -> Result<JsonString, SyntaxError> {
        let start = self.at;
        self.at += 1;
        let mut string = JsonString::default();
        loop {
            let plain = self.take_while(|it| it != '"' && it != '\\' && it >= ' ').0;
            string.text.push_str(plain);
            match self.rest().as_bytes().first() {
                Some(b'"') => break,
                Some(b'\\') => self.escape(&mut string)?,
                Some(_) => {
                    return Err(no_string(
                        "a control character stands in it, which is written as \\n, \\t or \\u000A there",
                        range(self.at, self.at + 1),
                    ));
                }
                None => {
                    let what = "there is no quote at its end";
                    return Err(no_string(what, range(start, start + 1)));
                }
            }
        }
        self.at += 1;
        string.range = self.range_from(start);
        Ok(string)
    }

    fn escape(&mut self, string: &mut JsonString) -> Result<(), SyntaxError> {
        let (start, decoded) = (self.at, string.text.len());
        let letter = self.rest().chars().nth(1);
        self.at += 1 + letter.map_or(0, char::len_utf8);
        let plain = match letter {
            Some(it @ ('"' | '\\' | '/')) => Some(it),
            Some('b') => Some('\u{8}'),
            Some('f') => Some('\u{c}'),
            Some('n') => Some('\n'),
            Some('r') => Some('\r'),
            Some('t') => Some('\t'),
            Some('u') => self.code_point(),
            _ => None,
        };
        let Some(plain) = plain else {
            let what = "after a backslash comes one of \" \\ / b f n r t, or u with four hexadecimal digits";
            return Err(no_string(what, self.range_from(start)));
        };
        string.text.push(plain);
        let decoded = range(decoded, string.text.len());
        string.escapes.push(Escape { decoded, source: self.range_from(start) });
        Ok(())
    }

    /// Consumes four hexadecimal digits, and the second escape of a surrogate pair. A lone surrogate gives the
    /// replacement character.
    fn code_point(&mut self) -> Option<char> {
        let first = self.four_digits()?;
        if let (0xD800..0xDC00, Some(rest)) = (first, self.rest().strip_prefix("\\u"))
            && let Some(second @ 0xDC00..0xE000) = hexadecimal(rest)
        {
            self.at += 6;
            return char::from_u32(0x10000 + ((first - 0xD800) << 10) + (second - 0xDC00));
        }
        Some(char::from_u32(first).unwrap_or(char::REPLACEMENT_CHARACTER))
    }

    fn four_digits(&mut self) -> Option<u32> {
        let digits = hexadecimal(self.rest());
        let taken = self.rest().bytes().take(4).take_while(u8::is_ascii_hexdigit).count();
        self.at += taken;
        digits
    }
}

fn hexadecimal(text: &str) -> Option<u32> {
    let digits = text.get(..4)?;
    let is_plain = digits.bytes().all(|it| it.is_ascii_hexdigit());
    is_plain.then(|| u32::from_str_radix(digits, 16).ok()).flatten()
}

/// Returns true for a number as RFC 8259, section 6 defines it.
fn is_number(text: &str) -> bool {
    let text = text.strip_prefix('-').unwrap_or(text);
    let (mantissa, exponent) = match text.split_once(['e', 'E']) {
        Some((mantissa, exponent)) => (mantissa, Some(exponent)),
        None => (text, None),
    };
    let (whole, fraction) = match mantissa.split_once('.') {
        Some((whole, fraction)) => (whole, Some(fraction)),
        None => (mantissa, None),
    };
    let are_digits = |it: &str| !it.is_empty() && it.bytes().all(|it| it.is_ascii_digit());
    let exponent = exponent.map(|it| it.strip_prefix(['+', '-']).unwrap_or(it));
    are_digits(whole)
        && (whole == "0" || !whole.starts_with('0'))
        && fraction.is_none_or(are_digits)
        && exponent.is_none_or(are_digits)
}

/// Returns the keyword that differs from a word by at most one letter.
fn meant(word: &str) -> Option<&'static str> {
    let lower = word.to_ascii_lowercase();
    let is_near = |it: &&&str| crate::levenshtein::distance_within(&lower, it, 1).is_some();
    ["true", "false", "null"].iter().find(is_near).copied()
}

fn no_string(what: &str, range: TextRange) -> SyntaxError {
    let detail = format!("There is a syntax error in the given JSON string: {what}.");
    SyntaxError::new("Invalid JSON string", detail, range)
}

pub(super) fn no_value(range: TextRange) -> SyntaxError {
    SyntaxError::new("Invalid start of value", STARTS, range)
}

pub(super) const STARTS: &str =
    "A JSON value must start with a brace, a bracket, a number, a string, or a keyword.";

fn range(start: usize, end: usize) -> TextRange {
    let size = |it: usize| TextSize::try_from(it).unwrap_or(TextSize::from(u32::MAX));
    TextRange::new(size(start), size(end))
}
