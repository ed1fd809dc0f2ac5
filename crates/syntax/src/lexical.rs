//! Finds the errors of single tokens, which do not depend on their context.

use std::borrow::Cow;

use rowan::{TextRange, TextSize};

use crate::error::SyntaxError;
use crate::lexer::{Tokens, is_open_comment};
use crate::literal::{self, WrongEscape};
use crate::syntax_kind::SyntaxKind::{self, COMMENT, INVALID, QUOTED_LIT, STRING_LIT};

/// Returns the errors of the tokens of a run, in order.
pub(crate) fn errors(tokens: Tokens<'_>) -> Vec<SyntaxError> {
    let mut acc = Vec::new();
    let may_be_wrong = |kind: &SyntaxKind| matches!(kind, INVALID | COMMENT | STRING_LIT);
    let has_escapes = memchr::memchr2(b'\\', b'\r', tokens.text.as_bytes()).is_some();
    if !has_escapes && !tokens.kinds.iter().any(may_be_wrong) {
        return acc;
    }
    let mut invalid = Invalid::default();
    let mut run = InvalidRun::default();
    for (at, &kind) in tokens.kinds.iter().enumerate() {
        match kind {
            INVALID => {
                let error = invalid.error(tokens.text_of(at), range(tokens, at));
                acc.extend(error.filter(|it| !run.goes_on_with(it)));
            }
            COMMENT => open_comment(&mut acc, tokens, at),
            QUOTED_LIT => quoted_literal(&mut acc, tokens, at),
            STRING_LIT => stray_returns(&mut acc, tokens, at, INVALID_CHARACTER, UNUSED_CHARACTER),
            _ => {}
        }
    }
    acc
}

/// A run of adjacent invalid characters. Only the first one is reported.
#[derive(Default)]
struct InvalidRun {
    end: Option<TextSize>,
}

impl InvalidRun {
    /// Returns true if the error is about an unused character right after the previous one.
    fn goes_on_with(&mut self, error: &SyntaxError) -> bool {
        let is_strange = error.detail(|_| String::new()) == UNUSED_CHARACTER;
        let goes_on = is_strange && self.end == Some(error.range.start());
        self.end = is_strange.then(|| error.range.end());
        goes_on
    }
}

fn range(tokens: Tokens<'_>, at: usize) -> TextRange {
    part(tokens, at, 0, tokens.text_of(at).len())
}

/// Returns the range of a part of a token.
fn part(tokens: Tokens<'_>, at: usize, offset: usize, len: usize) -> TextRange {
    let size = |at: usize| TextSize::new(u32::try_from(at).unwrap_or(u32::MAX));
    TextRange::at(size(tokens.start(at) + offset), size(len))
}

const INVALID_CHARACTER: &str = "Invalid character";
const UNUSED_CHARACTER: &str = "This character is not used within the language.";

/// The advice that was already given. The second of a pair of quotes, or a second semicolon, gets no error.
#[derive(Default)]
struct Invalid {
    single_quotes: u32,
    backticks: u32,
    semicolon: bool,
    bitwise: u32,
}

impl Invalid {
    fn error(&mut self, text: &str, range: TextRange) -> Option<SyntaxError> {
        let detail = match text {
            "&" => return self.bitwise(" Did you mean boolean AND (\"&&\")?", range),
            "|" => return self.bitwise(" Did you mean boolean OR (\"||\")?", range),
            "~" => return self.bitwise(" Did you mean boolean NOT (\"!\")?", range),
            "^" => return self.bitwise("", range),
            "'" => {
                self.single_quotes += 1;
                if self.single_quotes.is_multiple_of(2) {
                    return None;
                }
                "Single quotes are not valid. Use double quotes (\") to enclose strings."
            }
            "`" => {
                self.backticks += 1;
                if self.backticks.is_multiple_of(2) {
                    return None;
                }
                "The \"`\" character is not valid. To create a multi-line string, use the \
                 \"heredoc\" syntax, like \"<<EOT\"."
            }
            ";" => {
                if std::mem::replace(&mut self.semicolon, true) {
                    return None;
                }
                "The \";\" character is not valid. Use newlines to separate arguments and blocks, \
                 and commas to separate items in collection values."
            }
            "\u{201c}" | "\u{201d}" => {
                "\"Curly quotes\" are not valid here. These can sometimes be inadvertently \
                 introduced when sharing code via documents or discussion forums. It might help to \
                 replace the character with a \"straight quote\"."
            }
            _ => UNUSED_CHARACTER,
        };
        Some(SyntaxError::new(INVALID_CHARACTER, detail, range))
    }

    fn bitwise(&mut self, hint: &str, range: TextRange) -> Option<SyntaxError> {
        const MOST: u32 = 4;
        self.bitwise += 1;
        let detail = Cow::Owned(format!("Bitwise operators are not supported.{hint}"));
        (self.bitwise <= MOST).then(|| SyntaxError::new("Unsupported operator", detail, range))
    }
}

fn open_comment(acc: &mut Vec<SyntaxError>, tokens: Tokens<'_>, at: usize) {
    if is_open_comment(tokens.text_of(at)) {
        let detail = "This comment begins with /* but has no */ before the end of the file.";
        acc.push(SyntaxError::new("Unterminated comment", detail, part(tokens, at, 0, 2)));
    }
}

fn quoted_literal(acc: &mut Vec<SyntaxError>, tokens: Tokens<'_>, at: usize) {
    if !tokens.bytes_of(at).iter().any(|byte| matches!(byte, b'\\' | b'\r')) {
        return;
    }
    let text = tokens.text_of(at);
    if text.contains('\\') {
        for literal::LocatedEscape { offset, len, wrong } in literal::wrong_escapes(text) {
            acc.push(SyntaxError::new(
                "Invalid escape sequence",
                wrong.to_string(),
                part(tokens, at, offset, len),
            ));
        }
    }
    stray_returns(
        acc,
        tokens,
        at,
        "Invalid multi-line string",
        "Quoted strings may not be split over multiple lines. To produce a multi-line string, \
         either use the \\n escape to represent a newline character or use the \"heredoc\" multi-line template syntax.",
    );
}

/// Reports each `\r` without a following `\n`.
fn stray_returns(
    acc: &mut Vec<SyntaxError>,
    tokens: Tokens<'_>,
    at: usize,
    summary: &'static str,
    detail: &'static str,
) {
    let bytes = tokens.bytes_of(at);
    for (offset, byte) in bytes.iter().enumerate() {
        if *byte == b'\r' && bytes.get(offset + 1) != Some(&b'\n') {
            acc.push(SyntaxError::new(summary, detail, part(tokens, at, offset, 1)));
        }
    }
}

impl std::fmt::Display for WrongEscape {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Selector(c) => {
                write!(f, "The symbol {:?} is not a valid escape sequence selector.", c.to_string())
            }
            Self::Short => {
                f.write_str("The \\u escape sequence must be followed by four hexadecimal digits.")
            }
            Self::Long => {
                f.write_str("The \\U escape sequence must be followed by eight hexadecimal digits.")
            }
            Self::NotACharacter { digits, len } => {
                let digits = String::from_utf8_lossy(&digits[..*len]);
                write!(
                    f,
                    "Cannot encode character U+{} in UTF-8.",
                    digits.to_lowercase().trim_start_matches('0')
                )
            }
        }
    }
}
