//! Parses tokens to values.

use rowan::TextRange;

use super::scan::{STARTS, Scanner, Token, no_value};
use super::{JsonKind, JsonProperty, JsonString, JsonValue};
use crate::{MAX_DEPTH, SyntaxError};

/// A parsed text.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Json {
    /// The value, as far as it was parsed. `None` if the text does not begin with one.
    pub root: Option<JsonValue>,
    /// The first error of the text.
    pub error: Option<SyntaxError>,
}

/// Parses a text of HCL's JSON syntax. The length of the text must fit into 32 bits.
pub fn parse_json(text: &str) -> Json {
    let mut parser =
        Parser { scanner: Scanner::new(text), token: Token::End, range: TextRange::default() };
    let mut root = None;
    let result = parser.advance().and_then(|()| parser.value(0, &mut root));
    let result = result.and_then(|()| match parser.token {
        Token::End => Ok(()),
        _ => Err(extraneous(parser.range)),
    });
    Json { root, error: result.err() }
}

struct Parser<'t> {
    scanner: Scanner<'t>,
    /// The next token.
    token: Token,
    range: TextRange,
}

impl Parser<'_> {
    fn advance(&mut self) -> Result<(), SyntaxError> {
        (self.token, self.range) = self.scanner.next()?;
        Ok(())
    }

    /// Parses a value into `place`. A value with an error inside is stored as far as it was parsed.
    fn value(&mut self, depth: usize, place: &mut Option<JsonValue>) -> Result<(), SyntaxError> {
        let range = self.range;
        let kind = match &mut self.token {
            Token::OpenBrace | Token::OpenBracket if depth >= MAX_DEPTH => {
                let detail = "Values cannot be nested this deeply.";
                return Err(SyntaxError::new("Value nested too deeply", detail, range));
            }
            Token::OpenBrace => return self.object(depth, place),
            Token::OpenBracket => return self.array(depth, place),
            Token::Null => JsonKind::Null,
            Token::Bool(value) => JsonKind::Bool(*value),
            Token::Number(text) => JsonKind::Number(std::mem::take(text)),
            Token::String(string) => JsonKind::String(std::mem::take(string)),
            _ => return Err(self.missing_value()),
        };
        *place = Some(JsonValue { range, kind });
        self.leave(depth)
    }

    /// Advances past a value. Any text after the outermost value is an error, even text that is not a token.
    fn leave(&mut self, depth: usize) -> Result<(), SyntaxError> {
        match self.advance() {
            Err(error) if depth == 0 => Err(extraneous(error.range)),
            result => result,
        }
    }

    fn missing_value(&self) -> SyntaxError {
        match self.token {
            Token::End => {
                SyntaxError::new("Missing value", "The JSON data ends prematurely.", self.range)
            }
            Token::CloseBracket => {
                SyntaxError::new("Missing array element value", STARTS, self.range)
            }
            Token::CloseBrace => SyntaxError::new("Missing JSON value", STARTS, self.range),
            _ => no_value(self.range),
        }
    }

    fn object(&mut self, depth: usize, place: &mut Option<JsonValue>) -> Result<(), SyntaxError> {
        let open = self.range;
        self.advance()?;
        let mut properties = Vec::new();
        let result = self.properties(depth, open, &mut properties);
        let range = open.cover(self.range);
        *place = Some(JsonValue { range, kind: JsonKind::Object(properties) });
        result?;
        self.leave(depth)
    }

    /// Parses properties up to the closing brace, which becomes the next token.
    fn properties(
        &mut self,
        depth: usize,
        open: TextRange,
        properties: &mut Vec<JsonProperty>,
    ) -> Result<(), SyntaxError> {
        if self.token == Token::CloseBrace {
            return Ok(());
        }
        loop {
            let name = self.name()?;
            self.colon()?;
            let mut value = None;
            let result = self.value(depth + 1, &mut value);
            properties.extend(value.map(|value| JsonProperty { name, value }));
            result?;
            let comma = self.range;
            match self.token {
                Token::CloseBrace => return Ok(()),
                Token::Comma => self.advance()?,
                Token::End => return Err(unclosed("brace", "object", open)),
                Token::CloseBracket => {
                    let detail = "A JSON object must be closed with a brace, not a bracket.";
                    return Err(SyntaxError::new("Mismatched braces", detail, comma));
                }
                _ => return Err(missing_comma("property definition in an object", comma)),
            }
            if self.token == Token::CloseBrace {
                let detail =
                    "JSON does not permit a trailing comma after the final property in an object.";
                return Err(SyntaxError::new("Trailing comma in object", detail, comma));
            }
        }
    }

    fn name(&mut self) -> Result<JsonString, SyntaxError> {
        match &mut self.token {
            Token::String(name) => {
                let name = std::mem::take(name);
                self.advance()?;
                Ok(name)
            }
            Token::End | Token::Comma | Token::Colon | Token::Equals => Err(self.missing_value()),
            _ => {
                let detail = "A JSON object property name must be a string, in double quotes.";
                Err(SyntaxError::new("Invalid object property name", detail, self.range))
            }
        }
    }

    fn colon(&mut self) -> Result<(), SyntaxError> {
        let detail = match self.token {
            Token::Colon => return self.advance(),
            Token::Equals => "JSON uses a colon as its name/value delimiter, not an equals sign.",
            _ => "A colon must appear between an object property's name and its value.",
        };
        Err(SyntaxError::new("Missing property value colon", detail, self.range))
    }

    fn array(&mut self, depth: usize, place: &mut Option<JsonValue>) -> Result<(), SyntaxError> {
        let open = self.range;
        self.advance()?;
        let mut elements = Vec::new();
        let result = self.elements(depth, open, &mut elements);
        let range = open.cover(self.range);
        *place = Some(JsonValue { range, kind: JsonKind::Array(elements) });
        result?;
        self.leave(depth)
    }

    /// Parses elements up to the closing bracket, which becomes the next token.
    fn elements(
        &mut self,
        depth: usize,
        open: TextRange,
        elements: &mut Vec<JsonValue>,
    ) -> Result<(), SyntaxError> {
        if self.token == Token::CloseBracket {
            return Ok(());
        }
        loop {
            let mut value = None;
            let result = self.value(depth + 1, &mut value);
            elements.extend(value);
            result?;
            let comma = self.range;
            match self.token {
                Token::CloseBracket => return Ok(()),
                Token::Comma => self.advance()?,
                Token::End => return Err(unclosed("bracket", "array", open)),
                Token::CloseBrace => {
                    let detail = "A JSON array must be closed with a bracket, not a brace.";
                    return Err(SyntaxError::new("Mismatched brackets", detail, comma));
                }
                _ => return Err(missing_comma("value in an array", comma)),
            }
            if self.token == Token::CloseBracket {
                let detail =
                    "JSON does not permit a trailing comma after the final value in an array.";
                return Err(SyntaxError::new("Trailing comma in array", detail, comma));
            }
        }
    }
}

fn extraneous(range: TextRange) -> SyntaxError {
    let detail = "Extra characters appear after the JSON value.";
    SyntaxError::new("Extraneous data after value", detail, range)
}

/// Creates the error for an unclosed object or array. The summary says "object" for both, as HCL's does.
fn unclosed(closer: &str, what: &str, open: TextRange) -> SyntaxError {
    let detail = format!("No closing {closer} was found for this JSON {what}.");
    SyntaxError::new("Unclosed object", detail, open)
}

/// Creates the error for a missing comma. The misspelled summary is HCL's.
fn missing_comma(between: &str, range: TextRange) -> SyntaxError {
    let detail = format!("A comma must appear between each {between}.");
    SyntaxError::new("Missing attribute seperator comma", detail, range)
}
