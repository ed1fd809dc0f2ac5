//! A parser for HCL without expressions: blocks, arguments, and literal values.
//!
//! Two kinds of files need it. The dependency lock file is HCL without expressions. The CLI configuration is in
//! version **1** of HCL, where argument names may be quoted (`dev_overrides { "a/b" = "/c" }`) and `name = { … }`
//! is the same as a block; that version may also be written as JSON. The parser for configurations accepts only
//! version 2, so this crate has its own.
//! has its own.

mod scan;

use scan::{Scanner, Token};
use serde_json::Value;

/// A position in the text, counted from 1.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Place {
    pub(crate) line: usize,
    pub(crate) column: usize,
}

impl std::fmt::Display for Place {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}:{}", self.line, self.column)
    }
}

/// An error for a text that is not HCL, or that contains an expression.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("At {place}: {cause}")]
pub(crate) struct SyntaxError {
    pub(crate) place: Place,
    pub(crate) cause: String,
}

/// The content of braces or of a file.
pub(crate) type Body = Vec<Item>;

/// An argument or a block.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Item {
    pub(crate) name: String,
    /// The labels of a block. Empty for an argument.
    pub(crate) labels: Vec<String>,
    pub(crate) value: Literal,
    pub(crate) place: Place,
}

/// The value of an argument. A block has an object as its value.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Literal {
    String(String),
    /// A number as it is written.
    Number(String),
    Bool(bool),
    /// The null of JSON, which equals a missing argument.
    Null,
    List(Vec<Literal>),
    Object(Body),
}

impl Literal {
    pub(crate) fn as_str(&self) -> Option<&str> {
        match self {
            Self::String(text) => Some(text),
            _ => None,
        }
    }

    /// The items of a block or an object.
    pub(crate) fn as_body(&self) -> Option<&Body> {
        match self {
            Self::Object(body) => Some(body),
            _ => None,
        }
    }

    /// Converts the value to JSON. The labels of a block become nested objects.
    pub(crate) fn to_json(&self) -> Value {
        match self {
            Self::String(text) => Value::String(text.clone()),
            Self::Number(text) => {
                serde_json::from_str(text).unwrap_or_else(|_| Value::String(text.clone()))
            }
            Self::Bool(it) => Value::Bool(*it),
            Self::Null => Value::Null,
            Self::List(items) => items.iter().map(Self::to_json).collect(),
            Self::Object(body) => body
                .iter()
                .map(|item| {
                    let nest = |value, label: &String| Value::from_iter([(label.clone(), value)]);
                    let value = item.labels.iter().rev().fold(item.value.to_json(), nest);
                    (item.name.clone(), value)
                })
                .collect(),
        }
    }

    /// The elements of a list of strings. `None` for any other value.
    pub(crate) fn as_strings(&self) -> Option<Vec<&str>> {
        match self {
            Self::List(items) => items.iter().map(Self::as_str).collect(),
            _ => None,
        }
    }
}

/// The nesting limit of blocks and lists. Neither kind of file needs more than three levels.
const MAX_DEPTH: usize = 32;

/// Parses a whole file.
pub(crate) fn parse(text: &str) -> Result<Body, SyntaxError> {
    parse_with(Scanner::new(text))
}

/// Parses a whole file. A file that starts with a brace is JSON, whatever its name is.
pub(crate) fn parse_with_json(text: &str) -> Result<Body, SyntaxError> {
    let begin = text.trim_start_matches(|it: char| it.is_whitespace() || it == '\u{feff}');
    match begin.starts_with('{') {
        true => parse_with(Scanner::of_json(text)),
        false => parse(text),
    }
}

fn parse_with(scanner: Scanner<'_>) -> Result<Body, SyntaxError> {
    let mut parser = Parser { scanner, depth: 0 };
    let body = match parser.scanner.is_json() {
        true => {
            let (_, open) = parser.scanner.next()?;
            parser.braces(open)?
        }
        false => parser.body()?,
    };
    match parser.scanner.next()? {
        (Token::End, _) => Ok(body),
        (token, place) => Err(unexpected(&token, place, "an argument or a block")),
    }
}

struct Parser<'a> {
    scanner: Scanner<'a>,
    depth: usize,
}

impl Parser<'_> {
    /// Parses items up to a closing brace or the end, which is not consumed.
    fn body(&mut self) -> Result<Body, SyntaxError> {
        let is_json = self.scanner.is_json();
        let mut items = Vec::new();
        loop {
            match self.scanner.peek()?.0 {
                Token::Close | Token::End => return Ok(items),
                Token::Comma => drop(self.scanner.next()?),
                _ if is_json => items.extend(expanded(self.item()?)),
                _ => items.push(self.item()?),
            }
        }
    }

    fn item(&mut self) -> Result<Item, SyntaxError> {
        let (token, place) = self.scanner.next()?;
        let (Token::Word(name) | Token::Text(name)) = token else {
            return Err(unexpected(&token, place, "an argument or a block"));
        };
        let mut labels = Vec::new();
        loop {
            match self.scanner.next()? {
                (Token::Equals, _) if labels.is_empty() => {
                    return Ok(Item { name, labels, value: self.value()?, place });
                }
                (Token::Open, open) => {
                    let value = Literal::Object(self.braces(open)?);
                    return Ok(Item { name, labels, value, place });
                }
                (Token::Text(label) | Token::Word(label), _) if !self.scanner.is_json() => {
                    labels.push(label);
                }
                (token, place) => return Err(unexpected(&token, place, "\"=\" or \"{\"")),
            }
        }
    }

    /// Parses the rest of a block or an object after its opening brace.
    fn braces(&mut self, open: Place) -> Result<Body, SyntaxError> {
        self.deeper(open)?;
        let body = self.body()?;
        self.depth -= 1;
        match self.scanner.next()? {
            (Token::Close, _) => Ok(body),
            (token, place) => Err(unexpected(&token, place, "\"}\"")),
        }
    }

    fn value(&mut self) -> Result<Literal, SyntaxError> {
        let (token, place) = self.scanner.next()?;
        match token {
            Token::Text(text) => Ok(Literal::String(text)),
            Token::Number(text) => Ok(Literal::Number(text)),
            Token::Word(word) if word == "true" => Ok(Literal::Bool(true)),
            Token::Word(word) if word == "false" => Ok(Literal::Bool(false)),
            Token::Word(word) if word == "null" && self.scanner.is_json() => Ok(Literal::Null),
            Token::Open => Ok(Literal::Object(self.braces(place)?)),
            Token::OpenList => self.list(place),
            token => Err(unexpected(&token, place, "a literal value")),
        }
    }

    fn list(&mut self, open: Place) -> Result<Literal, SyntaxError> {
        self.deeper(open)?;
        let mut items = Vec::new();
        loop {
            match self.scanner.peek()?.0 {
                Token::CloseList => break,
                Token::Comma => drop(self.scanner.next()?),
                _ => items.push(self.value()?),
            }
        }
        self.scanner.next()?;
        self.depth -= 1;
        Ok(Literal::List(items))
    }

    fn deeper(&mut self, place: Place) -> Result<(), SyntaxError> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return Err(SyntaxError { place, cause: "this is nested too deeply".to_owned() });
        }
        Ok(())
    }
}

/// Expands a list of objects in JSON, which stands for one block per object.
fn expanded(item: Item) -> Vec<Item> {
    match item.value {
        Literal::List(values)
            if !values.is_empty() && values.iter().all(|it| it.as_body().is_some()) =>
        {
            let of = |value| Item {
                name: item.name.clone(),
                labels: Vec::new(),
                value,
                place: item.place,
            };
            values.into_iter().map(of).collect()
        }
        value => vec![Item { value, ..item }],
    }
}

fn unexpected(token: &Token, place: Place, wanted: &str) -> SyntaxError {
    SyntaxError { place, cause: format!("expected {wanted}, found {token}") }
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};

    use super::*;

    #[track_caller]
    fn check(text: &str, expected: Expect) {
        let shown = match parse(text) {
            Ok(body) => body.iter().map(show).collect::<Vec<_>>().join(" "),
            Err(error) => error.to_string(),
        };
        expected.assert_eq(&shown);
    }

    fn show(item: &Item) -> String {
        let labels: String = item.labels.iter().map(|it| format!(" {it:?}")).collect();
        format!("{}{labels} = {}", item.name, show_value(&item.value))
    }

    fn show_value(value: &Literal) -> String {
        match value {
            Literal::String(text) => format!("{text:?}"),
            Literal::Number(text) => text.clone(),
            Literal::Bool(it) => it.to_string(),
            Literal::Null => "null".to_owned(),
            Literal::List(items) => {
                format!("[{}]", items.iter().map(show_value).collect::<Vec<_>>().join(", "))
            }
            Literal::Object(body) => {
                format!("{{{}}}", body.iter().map(show).collect::<Vec<_>>().join(", "))
            }
        }
    }

    #[test]
    fn literal_reader_nests_blocks_and_arguments() {
        check(
            "a = \"x\" # one\nb \"l\" m { /* two\n*/ c = [1, -2.5e3, true,] // three\n d {}\n \
             \"e/f\" = \"g\"\n}\nh = { i = 1, j = 2 }",
            expect![[
                r#"a = "x" b "l" "m" = {c = [1, -2.5e3, true], d = {}, e/f = "g"} h = {i = 1, j = 2}"#
            ]],
        );
    }

    #[test]
    fn strings_have_the_escapes_of_hcl() {
        check(r#"a = "\"\\\n\tA${x}$${y}é""#, expect![[r#"a = "\"\\\n\tA${x}$${y}é""#]]);
        check("a = \"\\u00e9\"", expect![[r#"a = "é""#]]);
    }

    #[test]
    fn literal_reader_errors_have_positions() {
        check("a = \"x", expect!["At 1:5: the string has no end"]);
        check("a = \"\\q\"", expect!["At 1:7: \\q is no escape sequence"]);
        check("a = \"\\ud800\"", expect!["At 1:7: \\ud800 is no character"]);
        check(
            "a {\n b = [1\n",
            expect!["At 3:1: expected a literal value, found the end of the file"],
        );
        check("a {\n", expect![[r#"At 2:1: expected "}", found the end of the file"#]]);
        check("}", expect![[r#"At 1:1: expected an argument or a block, found "}""#]]);
        check(
            "a = b",
            expect![[r#"At 1:5: expected a literal value, found a word without quotes"#]],
        );
        check("a \"b\" = 1", expect![[r#"At 1:7: expected "=" or "{", found "=""#]]);
        check("a = <<X\nX\n", expect![[r#"At 1:5: "<" has no meaning here"#]]);
        check(
            &format!("a = {}", "[".repeat(100_000)),
            expect!["At 1:37: this is nested too deeply"],
        );
        check("/* x", expect!["At 1:1: the comment has no end"]);
    }

    #[test]
    fn literal_reader_never_panics() {
        let text = "a \"l\" { b = [1, \"\\u00e9é\"] /* c */ }\n# d\nd = { \"e/f\" = true }\n";
        let inserted = ["\"", "{", "}", "[", "\\", "\\u", "é", "=", "/*", "\n"];
        for (at, _) in text.char_indices() {
            let _ = parse(&text[..at]);
            for more in inserted {
                let _ = parse(&format!("{}{more}{}", &text[..at], &text[at..]));
            }
        }
    }
}
