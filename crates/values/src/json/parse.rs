//! A small JSON parser that keeps the texts of numbers and every entry of an object.

use std::borrow::Cow;

use crate::{CodecError, codec::MAX_DEPTH};

/// A JSON document.
pub enum Json<'a> {
    /// `null`.
    Null,
    /// `true` or `false`.
    Bool(bool),
    /// The text of the number as written.
    Number(&'a str),
    /// A string, without its quotes and escapes.
    String(Cow<'a, str>),
    /// The elements in order.
    Array(Vec<Json<'a>>),
    /// The entries in order, including duplicates.
    Object(Vec<(Cow<'a, str>, Json<'a>)>),
}

/// Parses one document, after which only white space may follow.
///
/// # Errors
/// Returns an error if the bytes are not JSON, or nest deeper than any value.
pub fn parse(bytes: &[u8]) -> Result<Json<'_>, CodecError> {
    let text =
        std::str::from_utf8(bytes).map_err(|_| CodecError::at_root("JSON is not valid UTF-8"))?;
    let mut parser = Parser { text, at: 0 };
    parser.space();
    let document = parser.value(0)?;
    parser.space();
    if parser.at < text.len() {
        return Err(parser.wrong("extra data after the JSON value"));
    }
    Ok(document)
}

struct Parser<'a> {
    text: &'a str,
    at: usize,
}

impl<'a> Parser<'a> {
    /// Creates an error with the reason and the position. It does not quote the text, which may be secret.
    fn wrong(&self, what: &str) -> CodecError {
        if self.at >= self.text.len() {
            return CodecError::at_root("unexpected end of JSON input");
        }
        CodecError::at_root(format!("{what} at offset {}", self.at))
    }

    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn space(&mut self) {
        while matches!(self.peek(), Some(b' ' | b'\t' | b'\n' | b'\r')) {
            self.at += 1;
        }
    }

    fn take(&mut self, byte: u8) -> bool {
        let found = self.peek() == Some(byte);
        self.at += usize::from(found);
        found
    }

    fn word(&mut self, word: &str, value: Json<'a>) -> Result<Json<'a>, CodecError> {
        if !self.text[self.at..].starts_with(word) {
            return Err(self.wrong("invalid character in literal"));
        }
        self.at += word.len();
        Ok(value)
    }

    fn value(&mut self, depth: usize) -> Result<Json<'a>, CodecError> {
        if depth > MAX_DEPTH {
            return Err(self.wrong("exceeded max depth"));
        }
        match self.peek() {
            Some(b'n') => self.word("null", Json::Null),
            Some(b't') => self.word("true", Json::Bool(true)),
            Some(b'f') => self.word("false", Json::Bool(false)),
            Some(b'"') => self.string().map(Json::String),
            Some(b'-' | b'0'..=b'9') => self.number().map(Json::Number),
            Some(b'[') => self.array(depth),
            Some(b'{') => self.object(depth),
            _ => Err(self.wrong("invalid character, where a value should begin,")),
        }
    }

    fn array(&mut self, depth: usize) -> Result<Json<'a>, CodecError> {
        self.at += 1;
        let mut items = Vec::new();
        self.space();
        if self.take(b']') {
            return Ok(Json::Array(items));
        }
        loop {
            self.space();
            items.push(self.value(depth + 1)?);
            self.space();
            if self.take(b']') {
                return Ok(Json::Array(items));
            }
            if !self.take(b',') {
                return Err(self.wrong("invalid character after array element"));
            }
        }
    }

    fn object(&mut self, depth: usize) -> Result<Json<'a>, CodecError> {
        self.at += 1;
        let mut entries = Vec::new();
        self.space();
        if self.take(b'}') {
            return Ok(Json::Object(entries));
        }
        loop {
            self.space();
            if self.peek() != Some(b'"') {
                return Err(self.wrong("invalid character, where an object key should begin,"));
            }
            let key = self.string()?;
            self.space();
            if !self.take(b':') {
                return Err(self.wrong("invalid character after object key"));
            }
            self.space();
            entries.push((key, self.value(depth + 1)?));
            self.space();
            if self.take(b'}') {
                return Ok(Json::Object(entries));
            }
            if !self.take(b',') {
                return Err(self.wrong("invalid character after object entry"));
            }
        }
    }

    fn digits(&mut self) -> Result<(), CodecError> {
        let start = self.at;
        while matches!(self.peek(), Some(b'0'..=b'9')) {
            self.at += 1;
        }
        if self.at == start { Err(self.wrong("invalid character in number")) } else { Ok(()) }
    }

    fn number(&mut self) -> Result<&'a str, CodecError> {
        let start = self.at;
        self.take(b'-');
        if !self.take(b'0') {
            self.digits()?;
        }
        if self.take(b'.') {
            self.digits()?;
        }
        if self.take(b'e') || self.take(b'E') {
            if !self.take(b'+') {
                self.take(b'-');
            }
            self.digits()?;
        }
        Ok(&self.text[start..self.at])
    }

    fn string(&mut self) -> Result<Cow<'a, str>, CodecError> {
        self.at += 1;
        let start = self.at;
        let end = self.plain_run();
        if self.take(b'"') {
            return Ok(Cow::Borrowed(&self.text[start..end]));
        }
        let mut out = String::from(&self.text[start..end]);
        loop {
            if self.take(b'"') {
                return Ok(Cow::Owned(out));
            }
            if !self.take(b'\\') {
                return Err(self.wrong("invalid character in string"));
            }
            out.push(self.escape()?);
            let start = self.at;
            let end = self.plain_run();
            out.push_str(&self.text[start..end]);
        }
    }

    /// Skips characters that need no decoding.
    fn plain_run(&mut self) -> usize {
        while let Some(byte) = self.peek() {
            if byte == b'"' || byte == b'\\' || byte < 0x20 {
                break;
            }
            self.at += 1;
        }
        self.at
    }

    fn escape(&mut self) -> Result<char, CodecError> {
        let c = match self.peek() {
            Some(b'"') => '"',
            Some(b'\\') => '\\',
            Some(b'/') => '/',
            Some(b'b') => '\u{8}',
            Some(b'f') => '\u{c}',
            Some(b'n') => '\n',
            Some(b'r') => '\r',
            Some(b't') => '\t',
            Some(b'u') => {
                self.at += 1;
                return self.unicode_escape();
            }
            _ => return Err(self.wrong("invalid character in string escape")),
        };
        self.at += 1;
        Ok(c)
    }

    /// Decodes a Unicode escape. A lone surrogate becomes U+FFFD, as in Go.
    fn unicode_escape(&mut self) -> Result<char, CodecError> {
        let first = self.four_digits()?;
        let is_high = (0xd800..0xdc00).contains(&first);
        if is_high && self.text[self.at..].starts_with("\\u") {
            let before = self.at;
            self.at += 2;
            let second = self.four_digits()?;
            if (0xdc00..0xe000).contains(&second) {
                let code = 0x10000 + ((first - 0xd800) << 10) + (second - 0xdc00);
                return Ok(char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER));
            }
            self.at = before;
        }
        Ok(char::from_u32(first).unwrap_or(char::REPLACEMENT_CHARACTER))
    }

    fn four_digits(&mut self) -> Result<u32, CodecError> {
        let digits = self.text.get(self.at..self.at + 4);
        let digits = digits.filter(|digits| digits.bytes().all(|byte| byte.is_ascii_hexdigit()));
        let code = digits.and_then(|digits| u32::from_str_radix(digits, 16).ok());
        let code = code.ok_or_else(|| self.wrong("invalid character in \\u escape"))?;
        self.at += 4;
        Ok(code)
    }
}
