//! Readings of a text: the text without the encodings that it went through. A secret and its encoded form have the
//! same reading, although encoders differ in what they encode.

use std::ops::Range;

use crate::redact::MIN_SECRET;

/// The maximum number of encodings that are removed from a text, one after the other.
const MAX_LAYERS: usize = 2;

/// An encoding that can be removed from a text.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Encoding {
    /// Escapes of JSON and similar syntaxes, at any level of quoting.
    Backslashes,
    /// Percent-encoding: `%3C`.
    Percent,
    /// Form encoding: `%3C`, and `+` for a space.
    Form,
    /// HTML entities: `&lt;`.
    Entities,
    /// A list of bytes: `[104 117]`.
    Bytes(Notation),
    /// Hexadecimal digits, such as `6875`, from the digit at this offset of each run.
    Hex(usize),
    /// Base64 in either alphabet, from the character at this offset of each run.
    Base64(usize),
}

impl Encoding {
    /// All single encodings; [`Layers::visit`] composes them.
    const ALL: [Encoding; 12] = [
        Encoding::Backslashes,
        Encoding::Percent,
        Encoding::Form,
        Encoding::Entities,
        Encoding::Bytes(Notation::Number),
        Encoding::Bytes(Notation::Hex),
        Encoding::Hex(0),
        Encoding::Hex(1),
        Encoding::Base64(0),
        Encoding::Base64(1),
        Encoding::Base64(2),
        Encoding::Base64(3),
    ];

    /// Returns the text without the encoding; `None` if it contains no such encoding that is long enough for a
    /// secret.
    fn read(self, text: &[u8]) -> Option<Reading> {
        let reading = match self {
            Encoding::Backslashes if text.contains(&b'\\') => Reading::unescaped(text),
            Encoding::Percent if text.contains(&b'%') => Reading::percent_decoded(text),
            Encoding::Form if text.contains(&b'+') => Reading::form_decoded(text),
            Encoding::Entities if text.contains(&b'&') => Reading::without_entities(text),
            Encoding::Bytes(notation) => Reading::byte_lists(text, notation),
            Encoding::Hex(offset) => Reading::hex_decoded(text, offset),
            Encoding::Base64(offset) => Reading::base64_decoded(text, offset),
            _ => return None,
        };
        (reading.text.len() >= MIN_SECRET).then_some(reading)
    }
}

/// A text after the removal of some encodings, with the layers that were removed.
///
/// ```text
///   text ──Form──► reading ──Backslashes──► reading
///     ▲               ▲                        │ a secret at 3..9
///     └── written ────┴────────── written ─────┘
/// ```
pub(super) struct Layers<'a> {
    pub(super) text: &'a [u8],
    /// True if one of the layers was backslash escapes, so that backslashes of the secret itself are removed too.
    pub(super) is_unescaped: bool,
    /// The last layer, and the text from which it was removed.
    last: Option<(Encoding, &'a Reading, &'a Layers<'a>)>,
}

impl Layers<'_> {
    /// Visits the text and its readings under every composition of at most [`MAX_LAYERS`] encodings, until `visit`
    /// returns true. Returns true if it did. Only the readings of one composition are in memory at a time.
    pub(super) fn visit(text: &[u8], visit: &mut dyn FnMut(&Layers<'_>) -> bool) -> bool {
        Layers { text, is_unescaped: false, last: None }.visit_within(MAX_LAYERS, visit)
    }

    fn visit_within(&self, depth: usize, visit: &mut dyn FnMut(&Layers<'_>) -> bool) -> bool {
        if visit(self) {
            return true;
        }
        let Some(depth) = depth.checked_sub(1) else { return false };
        let of_last = self.last.as_ref().map(|(encoding, ..)| *encoding);
        Encoding::ALL.into_iter().any(|encoding| {
            let is_backslashes = encoding == Encoding::Backslashes;
            // A single layer removes all levels of backslashes.
            if is_backslashes && of_last == Some(encoding) {
                return false;
            }
            let Some(reading) = encoding.read(self.text) else { return false };
            let inner = Layers {
                text: &reading.text,
                is_unescaped: self.is_unescaped || is_backslashes,
                last: Some((encoding, &reading, self)),
            };
            inner.visit_within(depth, visit)
        })
    }

    /// Maps a range of the reading to the range in the visited text.
    pub(super) fn written(&self, part: Range<usize>) -> Range<usize> {
        match &self.last {
            Some((_, reading, outer)) => outer.written(reading.written(part)),
            None => part,
        }
    }
}

/// A text after the removal of an encoding.
pub(super) struct Reading {
    pub(super) text: Vec<u8>,
    /// The position in the encoded text of each byte of `text`, and the end.
    starts: Vec<usize>,
    /// True if a byte is encoded in parts of two characters. The second character then belongs to the byte,
    /// although the next byte starts in it.
    shares: bool,
}

/// A separator between unrelated parts. UTF-8 never contains this byte.
const GAP: u8 = 0xff;

impl Reading {
    /// Removes percent-encoding, whichever bytes are encoded.
    pub(super) fn percent_decoded(text: &[u8]) -> Reading {
        Reading::url_decoded(text, b'+')
    }

    /// Removes percent-encoding, and reads `+` as a space, as in form data.
    fn form_decoded(text: &[u8]) -> Reading {
        Reading::url_decoded(text, b' ')
    }

    fn url_decoded(text: &[u8], plus: u8) -> Reading {
        let mut it = Reading::for_text(text);
        let mut at = 0;
        while at < text.len() {
            let encoded = (text[at] == b'%').then(|| hex(text, at + 1, 2)).flatten();
            let plain = if text[at] == b'+' { plus } else { text[at] };
            it.push(encoded.map_or(plain, |byte| byte as u8), at);
            at += if encoded.is_some() { 3 } else { 1 };
        }
        it.ending(at)
    }

    /// Decodes runs of hexadecimal digits, from the digit at `offset` of each run.
    fn hex_decoded(text: &[u8], offset: usize) -> Reading {
        let mut it = Reading::empty();
        for run in runs(text, 2 * MIN_SECRET, |byte| byte.is_ascii_hexdigit()) {
            let mut at = run.start + offset;
            while let Some(byte) = (at + 2 <= run.end).then(|| hex(text, at, 2)).flatten() {
                it.push(byte as u8, at);
                at += 2;
            }
            it.push(GAP, at);
        }
        it.ending(text.len())
    }

    /// Removes escapes of JSON and similar syntaxes, at any level of quoting. Encoders differ in what they escape
    /// (`<` in Go, `é` in Python, `/` in PHP), and JSON within JSON mixes their choices.
    pub(super) fn unescaped(text: &[u8]) -> Reading {
        let mut it = Reading::for_text(text);
        let mut at = 0;
        while at < text.len() {
            if text[at] == b'\\' {
                let (character, end) = escape(text, at);
                match character {
                    Escaped::Byte(byte) => it.push(byte, at),
                    Escaped::Char(character) => it.push_char(character, at),
                }
                at = end;
            } else {
                it.push(text[at], at);
                at += 1;
            }
        }
        it.ending(at)
    }

    /// Removes the entities of HTML and XML.
    fn without_entities(text: &[u8]) -> Reading {
        let mut it = Reading::for_text(text);
        let mut at = 0;
        while at < text.len() {
            match (text[at] == b'&').then(|| entity(text, at)).flatten() {
                Some((character, end)) => {
                    it.push_char(character, at);
                    at = end;
                }
                None => {
                    it.push(text[at], at);
                    at += 1;
                }
            }
        }
        it.ending(at)
    }

    /// Decodes lists of bytes, such as those that Go prints: `[104 117]`, `0x68, 0x75`, `68:75`.
    fn byte_lists(text: &[u8], notation: Notation) -> Reading {
        let mut it = Reading::empty();
        let mut listed = 0;
        let mut at = 0;
        while at < text.len() {
            let start = at + text[at..].iter().take_while(|it| !it.is_ascii_alphanumeric()).count();
            let is_near = start - at <= MAX_BETWEEN;
            let end =
                start + text[start..].iter().take_while(|it| it.is_ascii_alphanumeric()).count();
            let byte = notation.byte(&text[start..end]);
            if listed > 0 && !(is_near && byte.is_some()) {
                it.end_list(listed, at);
                listed = 0;
            }
            if let Some(byte) = byte {
                it.push(byte, start);
                listed += 1;
            }
            at = end;
        }
        it.end_list(listed, at);
        it.ending(at)
    }

    /// Decodes runs of base64 characters, from the character at `offset` of each run.
    fn base64_decoded(text: &[u8], offset: usize) -> Reading {
        let mut it = Reading { shares: true, ..Reading::empty() };
        // Six bytes take eight characters.
        let least = MIN_SECRET.div_ceil(3) * 4;
        for run in runs(text, least, |byte| sextet(byte).is_some()) {
            let mut bits = 0_u32;
            for (index, at) in (run.start + offset..run.end).enumerate() {
                bits = bits << 6 | u32::from(sextet(text[at]).unwrap_or_default());
                if index % 4 != 0 {
                    it.push((bits >> [0, 4, 2, 0][index % 4]) as u8, at - 1);
                }
            }
            it.push(GAP, run.end);
        }
        it.ending(text.len())
    }

    fn empty() -> Reading {
        Reading { text: Vec::new(), starts: Vec::new(), shares: false }
    }

    fn for_text(text: &[u8]) -> Reading {
        Reading { text: Vec::with_capacity(text.len()), ..Reading::empty() }
    }

    fn push(&mut self, byte: u8, start: usize) {
        self.text.push(byte);
        self.starts.push(start);
    }

    fn push_char(&mut self, character: char, start: usize) {
        let mut buffer = [0; 4];
        for byte in character.encode_utf8(&mut buffer).bytes() {
            self.push(byte, start);
        }
    }

    /// Ends a list, and drops it if it is too short to contain a secret.
    fn end_list(&mut self, listed: usize, end: usize) {
        if listed < MIN_SECRET {
            self.text.truncate(self.text.len() - listed);
            self.starts.truncate(self.text.len());
        } else {
            self.push(GAP, end);
        }
    }

    fn ending(mut self, end: usize) -> Reading {
        self.starts.push(end);
        self
    }

    /// Maps a range of the reading to the range in the encoded text.
    pub(super) fn written(&self, part: Range<usize>) -> Range<usize> {
        let start = self.starts[part.start];
        match part.end.checked_sub(1) {
            Some(last) if self.shares => start..self.starts[last] + 2,
            _ => start..self.starts[part.end],
        }
    }
}

/// The maximum number of characters between two numbers of a list.
const MAX_BETWEEN: usize = 4;

/// The notation of the numbers in a list.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Notation {
    /// Decimal or prefixed hexadecimal: `104`, `0x68`.
    Number,
    /// Two hexadecimal digits: `68`.
    Hex,
}

impl Notation {
    fn byte(self, digits: &[u8]) -> Option<u8> {
        let digits = std::str::from_utf8(digits).ok()?;
        match self {
            Notation::Number => match digits.strip_prefix("0x") {
                Some(hex) => u8::from_str_radix(hex, 16).ok(),
                None => digits.parse().ok(),
            },
            Notation::Hex => (digits.len() == 2).then(|| u8::from_str_radix(digits, 16).ok())?,
        }
    }
}

/// Returns the runs of at least `least` bytes that satisfy a predicate.
fn runs(
    text: &[u8],
    least: usize,
    is_of_it: impl Fn(u8) -> bool,
) -> impl Iterator<Item = Range<usize>> {
    let mut at = 0;
    std::iter::from_fn(move || {
        while at < text.len() {
            let start = at;
            at += text[at..].iter().take_while(|byte| is_of_it(**byte)).count();
            let run = start..at;
            at += 1;
            if run.len() >= least {
                return Some(run);
            }
        }
        None
    })
}

fn sextet(byte: u8) -> Option<u8> {
    Some(match byte {
        b'A'..=b'Z' => byte - b'A',
        b'a'..=b'z' => byte - b'a' + 26,
        b'0'..=b'9' => byte - b'0' + 52,
        b'+' | b'-' => 62,
        b'/' | b'_' => 63,
        _ => return None,
    })
}

/// The byte or character that an escape stands for.
enum Escaped {
    Byte(u8),
    Char(char),
}

/// Decodes the escape at `at`, and returns its end. Any number of backslashes is one escape.
fn escape(text: &[u8], at: usize) -> (Escaped, usize) {
    let slashes = text[at..].iter().take_while(|it| **it == b'\\').count();
    let next = at + slashes;
    let Some(&byte) = text.get(next) else { return (Escaped::Byte(b'\\'), next) };
    let plain = match byte {
        b'n' => b'\n',
        b'r' => b'\r',
        b't' => b'\t',
        b'a' => 0x7,
        b'b' => 0x8,
        b'v' => 0xb,
        b'f' => 0xc,
        b'u' | b'U' | b'x' | b'0'..=b'7' => {
            return numbered(text, next).unwrap_or((Escaped::Byte(byte), next + 1));
        }
        other => other,
    };
    (Escaped::Byte(plain), next + 1)
}

/// Decodes `uXXXX`, `u{X}`, `UXXXXXXXX`, `xXX` or three octal digits.
fn numbered(text: &[u8], at: usize) -> Option<(Escaped, usize)> {
    let character = |code, end| Some((Escaped::Char(char_of(code)), end));
    match text[at] {
        b'u' if text.get(at + 1) == Some(&b'{') => {
            let length = text[at + 2..].iter().take(7).position(|it| *it == b'}')?;
            character(hex(text, at + 2, length)?, at + length + 3)
        }
        b'u' => {
            let unit = hex(text, at + 1, 4)?;
            let (code, end) = wide(text, unit, at + 5);
            character(code, end)
        }
        b'U' => character(hex(text, at + 1, 8)?, at + 9),
        b'x' => Some((Escaped::Byte(hex(text, at + 1, 2)? as u8), at + 3)),
        _ => {
            let digits = std::str::from_utf8(text.get(at..at + 3)?).ok()?;
            Some((Escaped::Byte(u8::from_str_radix(digits, 8).ok()?), at + 3))
        }
    }
}

/// Returns the code point of an escaped UTF-16 unit, combined with a low surrogate that may follow it.
fn wide(text: &[u8], unit: u32, end: usize) -> (u32, usize) {
    let slashes = text[end..].iter().take_while(|it| **it == b'\\').count();
    let low = (text.get(end + slashes) == Some(&b'u'))
        .then(|| hex(text, end + slashes + 1, 4))
        .flatten()
        .filter(|low| (0xdc00..0xe000).contains(low));
    match low {
        Some(low) if slashes > 0 && (0xd800..0xdc00).contains(&unit) => {
            (0x10000 + ((unit - 0xd800) << 10) + (low - 0xdc00), end + slashes + 5)
        }
        _ => (unit, end),
    }
}

/// Decodes the entity at `at`, such as `&amp;`, `&#38;` or `&#x26;`, and returns its end.
fn entity(text: &[u8], at: usize) -> Option<(char, usize)> {
    const LONGEST: usize = 10;
    let length = text[at + 1..].iter().take(LONGEST).position(|it| *it == b';')?;
    let name = std::str::from_utf8(&text[at + 1..at + 1 + length]).ok()?;
    let character = match name {
        "amp" => '&',
        "lt" => '<',
        "gt" => '>',
        "quot" => '"',
        "apos" => '\'',
        _ => {
            let code = name.strip_prefix('#')?;
            let code = match code.strip_prefix(['x', 'X']) {
                Some(digits) => u32::from_str_radix(digits, 16).ok()?,
                None => code.parse().ok()?,
            };
            char_of(code)
        }
    };
    Some((character, at + length + 2))
}

/// Parses the `length` hexadecimal digits at `at`.
fn hex(text: &[u8], at: usize, length: usize) -> Option<u32> {
    let digits = text.get(at..at + length)?;
    let digits = digits.iter().all(u8::is_ascii_hexdigit).then_some(digits)?;
    u32::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok()
}

fn char_of(code: u32) -> char {
    char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER)
}
