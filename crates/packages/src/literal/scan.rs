//! The tokens of HCL without expressions.

use std::fmt;

use super::{Place, SyntaxError};

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Token {
    Word(String),
    Text(String),
    Number(String),
    Equals,
    Comma,
    Open,
    Close,
    OpenList,
    CloseList,
    End,
}

impl fmt::Display for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            // The text of a token may be a secret, for example a string without quotes, so only its kind is shown.
            Self::Word(_) => f.write_str("a word without quotes"),
            Self::Number(_) => f.write_str("a number"),
            Self::Text(_) => f.write_str("a string"),
            Self::Equals => f.write_str("\"=\""),
            Self::Comma => f.write_str("\",\""),
            Self::Open => f.write_str("\"{\""),
            Self::Close => f.write_str("\"}\""),
            Self::OpenList => f.write_str("\"[\""),
            Self::CloseList => f.write_str("\"]\""),
            Self::End => f.write_str("the end of the file"),
        }
    }
}

pub(super) struct Scanner<'a> {
    rest: &'a str,
    place: Place,
    peeked: Option<(Token, Place)>,
    is_json: bool,
}

impl<'a> Scanner<'a> {
    pub(super) fn new(text: &'a str) -> Self {
        let rest = text.strip_prefix('\u{feff}').unwrap_or(text);
        Self { rest, place: Place { line: 1, column: 1 }, peeked: None, is_json: false }
    }

    /// Creates a scanner for JSON, where a colon replaces the equals sign.
    pub(super) fn of_json(text: &'a str) -> Self {
        Self { is_json: true, ..Self::new(text) }
    }

    pub(super) fn is_json(&self) -> bool {
        self.is_json
    }

    pub(super) fn peek(&mut self) -> Result<&(Token, Place), SyntaxError> {
        if self.peeked.is_none() {
            self.peeked = Some(self.scan()?);
        }
        Ok(self.peeked.as_ref().expect("it has been filled"))
    }

    pub(super) fn next(&mut self) -> Result<(Token, Place), SyntaxError> {
        match self.peeked.take() {
            Some(token) => Ok(token),
            None => self.scan(),
        }
    }

    fn scan(&mut self) -> Result<(Token, Place), SyntaxError> {
        self.skip_blank()?;
        let place = self.place;
        let Some(first) = self.rest.chars().next() else { return Ok((Token::End, place)) };
        let token = match first {
            '"' => Token::Text(self.string()?),
            ':' if self.is_json => self.single(Token::Equals),
            '=' if !self.is_json => self.single(Token::Equals),
            ',' => self.single(Token::Comma),
            '{' => self.single(Token::Open),
            '}' => self.single(Token::Close),
            '[' => self.single(Token::OpenList),
            ']' => self.single(Token::CloseList),
            '0'..='9' | '-' | '+' => Token::Number(
                self.while_(|it| it.is_ascii_alphanumeric() || matches!(it, '.' | '-' | '+')),
            ),
            it if it.is_alphabetic() || it == '_' => {
                Token::Word(self.while_(|it| it.is_alphanumeric() || matches!(it, '_' | '-' | '.')))
            }
            other => return Err(self.fault(format!("{:?} has no meaning here", other.to_string()))),
        };
        Ok((token, place))
    }

    fn skip_blank(&mut self) -> Result<(), SyntaxError> {
        loop {
            self.while_(char::is_whitespace);
            if self.is_json {
                return Ok(());
            } else if self.rest.starts_with('#') || self.rest.starts_with("//") {
                self.while_(|it| it != '\n');
            } else if let Some(comment) = self.rest.strip_prefix("/*") {
                let length = comment.find("*/").map(|it| it + "/**/".len());
                let length = length.ok_or_else(|| self.fault("the comment has no end"))?;
                self.advance(length);
            } else {
                return Ok(());
            }
        }
    }

    fn string(&mut self) -> Result<String, SyntaxError> {
        let start = self.place;
        self.advance(1);
        let mut text = String::new();
        loop {
            let Some(next) = self.rest.chars().next().filter(|it| *it != '\n') else {
                return Err(SyntaxError {
                    place: start,
                    cause: "the string has no end".to_owned(),
                });
            };
            self.advance(next.len_utf8());
            match next {
                '"' => return Ok(text),
                '\\' => text.push(self.escape()?),
                _ => text.push(next),
            }
        }
    }

    fn escape(&mut self) -> Result<char, SyntaxError> {
        let Some(kind) = self.rest.chars().next() else {
            return Err(self.fault("the string has no end"));
        };
        let digits = match kind {
            'u' => 4,
            'U' => 8,
            _ => 0,
        };
        let escaped = match kind {
            '"' | '\\' => Some(kind),
            'n' => Some('\n'),
            'r' => Some('\r'),
            't' => Some('\t'),
            '/' if self.is_json => Some('/'),
            'b' if self.is_json => Some('\u{8}'),
            'f' if self.is_json => Some('\u{c}'),
            'u' if self.is_json => return self.json_character(),
            _ if digits > 0 => {
                let hex = self.rest.get(1..=digits).unwrap_or_default();
                let code = u32::from_str_radix(hex, 16).ok().and_then(char::from_u32);
                Some(code.ok_or_else(|| self.fault(format!("\\{kind}{hex} is no character")))?)
            }
            _ => None,
        };
        let escaped =
            escaped.ok_or_else(|| self.fault(format!("\\{kind} is no escape sequence")))?;
        self.advance(kind.len_utf8() + digits);
        Ok(escaped)
    }

    /// Reads a character after `\\u` in JSON. Characters beyond 16 bits are written as two units.
    fn json_character(&mut self) -> Result<char, SyntaxError> {
        let mut units = Vec::new();
        loop {
            let hex = self.rest.strip_prefix('u').and_then(|it| it.get(..4)).unwrap_or_default();
            let unit = u16::from_str_radix(hex, 16);
            let unit = unit.map_err(|_| self.fault(format!("\\u{hex} is no character")))?;
            self.advance("u".len() + hex.len());
            units.push(unit);
            let is_half = units.len() == 1 && (0xd800..0xdc00).contains(&unit);
            if !(is_half && self.rest.starts_with("\\u")) {
                break;
            }
            self.advance(1);
        }
        match char::decode_utf16(units).next() {
            Some(Ok(character)) => Ok(character),
            _ => Err(self.fault("half of a character stands alone")),
        }
    }

    fn single(&mut self, token: Token) -> Token {
        self.advance(1);
        token
    }

    fn while_(&mut self, is_in: impl Fn(char) -> bool) -> String {
        let length = self.rest.find(|it| !is_in(it)).unwrap_or(self.rest.len());
        let taken = self.rest[..length].to_owned();
        self.advance(length);
        taken
    }

    fn advance(&mut self, bytes: usize) {
        let (taken, rest) = self.rest.split_at(bytes);
        for character in taken.chars() {
            if character == '\n' {
                self.place.line += 1;
                self.place.column = 1;
            } else {
                self.place.column += 1;
            }
        }
        self.rest = rest;
    }

    fn fault(&self, cause: impl Into<String>) -> SyntaxError {
        SyntaxError { place: self.place, cause: cause.into() }
    }
}
