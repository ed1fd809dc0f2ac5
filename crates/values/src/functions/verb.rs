//! One verb of a format string: `%[flags][width][.precision][[argument]]mode`.

use unicode_segmentation::UnicodeSegmentation;

use crate::{Number, Type, Value, convert, json, number::Notation};

/// The maximum number of digits of a fraction, because computing them takes long.
const MAX_DIGITS: usize = 10_000;

/// A parsed verb.
pub(super) struct Verb<'a> {
    pub(super) raw: &'a str,
    /// The length in bytes in the format string.
    pub(super) length: usize,
    /// The index of the argument that the verb names, counted from zero.
    pub(super) argument: Option<usize>,
    pub(super) mode: char,
    flags: Flags,
    width: usize,
    precision: Option<usize>,
}

#[derive(Clone, Copy, Default)]
struct Flags {
    plus: bool,
    minus: bool,
    sharp: bool,
    space: bool,
    zero: bool,
}

/// The reason why a verb cannot format a value.
pub(super) struct VerbError(pub(super) String);

impl<'a> Verb<'a> {
    /// Parses the verb at the beginning of `text`, which starts with `%` and lies at `offset`.
    pub(super) fn parse(text: &'a str, offset: usize) -> Result<Verb<'a>, String> {
        let mut scanner = Scanner { text, at: 1 };
        let flags = scanner.flags();
        let width = scanner.digits().unwrap_or(0);
        let precision = scanner.take('.').then(|| scanner.digits().unwrap_or(0));
        let argument = if scanner.take('[') {
            let argument = scanner.digits().and_then(|n| n.checked_sub(1));
            let argument = argument.filter(|_| scanner.take(']'));
            Some(argument.ok_or_else(|| format!("invalid argument index at offset {offset}"))?)
        } else {
            None
        };
        let Some(mode) = scanner.peek() else {
            return Err(format!(
                "invalid format string starting at offset {}",
                offset + scanner.at
            ));
        };
        if mode.is_ascii_alphabetic() && !"vtbdoxXeEfgGsq".contains(mode) {
            let raw = &text[..=scanner.at];
            return Err(format!("unsupported format verb {mode:?} in {raw:?} at offset {offset}"));
        }
        if precision.is_some_and(|it| it > MAX_DIGITS) && "eEfgG".contains(mode) {
            return Err(format!("unsupported precision at offset {offset}"));
        }
        if !"vtbdoxXeEfgGsq%".contains(mode) {
            return Err(format!(
                "unrecognized format character {mode:?} at offset {}",
                offset + scanner.at
            ));
        }
        let length = scanner.at + mode.len_utf8();
        Ok(Verb { raw: &text[..length], length, argument, mode, flags, width, precision })
    }

    /// Returns the bytes that the width and the precision can add to the value's own text.
    pub(super) fn padding(&self) -> u64 {
        let digits = if self.mode == 's' || self.mode == 'q' { None } else { self.precision };
        (self.width as u64).saturating_add(digits.unwrap_or(0) as u64)
    }

    /// Formats a wholly known value.
    pub(super) fn render(&self, value: &Value) -> Result<String, VerbError> {
        if self.mode == 'v' {
            return self.as_is(value);
        }
        if value.is_null() {
            return Err(VerbError("null value cannot be formatted".to_owned()));
        }
        match self.mode {
            't' => Ok(self.padded(converted(value, &Type::Bool)?.as_bool() == Some(true), |it| {
                it.to_string()
            })),
            's' => Ok(self.padded(self.cut(&text_of(value)?), str::to_owned)),
            'q' => Ok(self.padded(self.cut(&text_of(value)?), |text| {
                let mut quoted = String::new();
                json::write_string(text, &mut quoted);
                quoted
            })),
            _ => {
                let number = converted(value, &Type::Number)?;
                match number.as_number() {
                    Some(it) if self.is_of_integers() && !it.is_integer() => {
                        Err(VerbError("an integer is required".into()))
                    }
                    Some(it) => Ok(self.number(it)),
                    None => Err(VerbError("number required".into())),
                }
            }
        }
    }

    /// Formats strings and numbers directly, and all other values as JSON.
    fn as_is(&self, value: &Value) -> Result<String, VerbError> {
        let text = match (value.as_str(), value.as_number()) {
            (Some(text), _) if !self.flags.sharp => text.to_owned(),
            (_, Some(number)) if !self.flags.sharp => {
                let sign = if number.is_negative() { "-" } else { "" };
                format!("{sign}{}", number.magnitude_text(Notation::General(None)))
            }
            _ => json::encode(value, &value.ty()).map_err(|error| VerbError(error.to_string()))?,
        };
        Ok(self.padded(text.as_str(), str::to_owned))
    }

    fn cut<'t>(&self, text: &'t str) -> &'t str {
        let end = self.precision.and_then(|precision| text.grapheme_indices(true).nth(precision));
        end.map_or(text, |(end, _)| &text[..end])
    }

    fn padded<T>(&self, value: T, text: impl FnOnce(T) -> String) -> String {
        let text = text(value);
        let missing = self.width.saturating_sub(text.graphemes(true).count());
        let padding = if self.flags.zero { "0" } else { " " }.repeat(missing);
        if self.flags.minus { text + &padding } else { padding + &text }
    }

    fn is_of_integers(&self) -> bool {
        "bdoxX".contains(self.mode)
    }

    fn number(&self, number: &Number) -> String {
        let digits = self.digits(number);
        let is_integer = self.is_of_integers();
        let is_zero = is_integer && digits.bytes().all(|digit| digit == b'0');
        let sign = match number.is_negative() && !is_zero {
            true => "-",
            false if self.flags.plus => "+",
            false if self.flags.space => " ",
            false => "",
        };
        let prefix = match self.mode {
            'x' if self.flags.sharp => "0x",
            'X' if self.flags.sharp => "0X",
            'b' if self.flags.sharp => "0b",
            'o' if self.flags.sharp => "0",
            _ => "",
        };
        let used = sign.len() + prefix.len() + digits.len();
        let missing = self.width.saturating_sub(used);
        if self.flags.zero && !self.flags.minus && !(is_integer && self.precision.is_some()) {
            return format!("{sign}{prefix}{}{digits}", "0".repeat(missing));
        }
        let padding = " ".repeat(missing);
        if self.flags.minus {
            format!("{sign}{prefix}{digits}{padding}")
        } else {
            format!("{padding}{sign}{prefix}{digits}")
        }
    }

    fn digits(&self, number: &Number) -> String {
        let whole = |radix: u32| {
            let digits = number.whole_magnitude().to_str_radix(radix);
            let missing = self.precision.unwrap_or(0).saturating_sub(digits.len());
            "0".repeat(missing) + &digits
        };
        match self.mode {
            'b' => whole(2),
            'o' => whole(8),
            'd' => whole(10),
            'x' => whole(16),
            'X' => whole(16).to_uppercase(),
            'e' => number.magnitude_text(Notation::Exponent(self.precision.unwrap_or(6))),
            'E' => number
                .magnitude_text(Notation::Exponent(self.precision.unwrap_or(6)))
                .replace('e', "E"),
            'g' => number.magnitude_text(Notation::General(self.precision)),
            'G' => number.magnitude_text(Notation::General(self.precision)).replace('e', "E"),
            _ => number.magnitude_text(Notation::Fixed(self.precision.unwrap_or(6))),
        }
    }
}

fn converted(value: &Value, ty: &Type) -> Result<Value, VerbError> {
    convert::convert(value, ty).map_err(|error| VerbError(error.message))
}

fn text_of(value: &Value) -> Result<String, VerbError> {
    Ok(converted(value, &Type::String)?.as_str().unwrap_or("").to_owned())
}

struct Scanner<'a> {
    text: &'a str,
    at: usize,
}

impl Scanner<'_> {
    fn peek(&self) -> Option<char> {
        self.text[self.at..].chars().next()
    }

    fn take(&mut self, c: char) -> bool {
        let found = self.peek() == Some(c);
        self.at += if found { c.len_utf8() } else { 0 };
        found
    }

    fn flags(&mut self) -> Flags {
        let mut flags = Flags::default();
        while let Some(c) = self.peek() {
            match c {
                '+' => flags.plus = true,
                '-' => flags.minus = true,
                '#' => flags.sharp = true,
                ' ' => flags.space = true,
                '0' => flags.zero = true,
                _ => break,
            }
            self.at += 1;
        }
        flags
    }

    /// Parses a decimal number. `None` if there is no digit; a number that overflows gives the maximum.
    fn digits(&mut self) -> Option<usize> {
        let start = self.at;
        while self.peek().is_some_and(|c| c.is_ascii_digit()) {
            self.at += 1;
        }
        (self.at > start).then(|| self.text[start..self.at].parse().unwrap_or(usize::MAX))
    }
}
