use std::iter::Peekable;
use std::ops::Range;
use std::str::CharIndices;

use smol_str::SmolStr;
use unicode_normalization::UnicodeNormalization as _;

use crate::key::InstanceKey;

/// The error for a text that is not an address of the requested kind.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{summary}: {detail}")]
pub struct AddrError {
    /// The summary line of the diagnostic.
    pub summary: &'static str,
    /// The description of the error, in full sentences.
    pub detail: String,
    /// The byte range of the text that is wrong.
    pub span: Range<usize>,
}

impl AddrError {
    pub(crate) fn new(
        summary: &'static str,
        detail: impl Into<String>,
        span: Range<usize>,
    ) -> AddrError {
        AddrError { summary, detail: detail.into(), span }
    }
}

/// One step of a traversal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Step {
    /// The first name, or `.name`.
    Name(SmolStr),
    /// An index: `[0]` or `["a"]`.
    Index(InstanceKey),
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct LocatedStep {
    pub(crate) step: Step,
    pub(crate) span: Range<usize>,
}

/// Scans a name followed by any number of `.name`, `[0]` and `["key"]`, with HCL's rules for names, escapes and
/// blanks.
pub(crate) fn scan(text: &str) -> Result<Vec<LocatedStep>, AddrError> {
    let mut scanner = Scanner { text, rest: text.char_indices().peekable() };
    let mut steps = vec![scanner.first()?];
    while let Some(step) = scanner.next_step()? {
        steps.push(step);
    }
    Ok(steps)
}

/// Returns true if the text is a valid identifier: a Unicode identifier that may also contain dashes after the
/// first character.
pub fn is_identifier(text: &str) -> bool {
    let mut chars = text.chars();
    chars.next().is_some_and(starts_name) && chars.all(continues_name)
}

fn starts_name(it: char) -> bool {
    it == '_' || unicode_ident::is_xid_start(it) || is_decomposed_letter(it)
}

#[inline]
fn continues_name(it: char) -> bool {
    it == '-' || unicode_ident::is_xid_continue(it) || is_decomposed_letter(it)
}

/// Returns true for letters that Unicode excludes from its `XID` tables because their compatibility decompositions
/// are no identifiers. HCL does not decompose names, so it accepts these letters.
fn is_decomposed_letter(it: char) -> bool {
    matches!(
        it,
        '\u{37a}'
            | '\u{e33}'
            | '\u{eb3}'
            | '\u{309b}'..='\u{309c}'
            | '\u{fc5e}'..='\u{fc63}'
            | '\u{fdfa}'..='\u{fdfb}'
            | '\u{fe70}'
            | '\u{fe72}'
            | '\u{fe74}'
            | '\u{fe76}'
            | '\u{fe78}'
            | '\u{fe7a}'
            | '\u{fe7c}'
            | '\u{fe7e}'
            | '\u{ff9e}'..='\u{ff9f}'
    )
}

struct Scanner<'a> {
    text: &'a str,
    rest: Peekable<CharIndices<'a>>,
}

impl Scanner<'_> {
    fn offset(&mut self) -> usize {
        self.rest.peek().map_or(self.text.len(), |(offset, _)| *offset)
    }

    fn skip_blanks(&mut self) {
        while self.rest.next_if(|(_, it)| matches!(it, ' ' | '\t')).is_some() {}
    }

    fn fail<T>(
        &mut self,
        summary: &'static str,
        detail: &str,
        start: usize,
    ) -> Result<T, AddrError> {
        let end = self.offset().max(start);
        Err(AddrError::new(summary, detail, start..end))
    }

    fn first(&mut self) -> Result<LocatedStep, AddrError> {
        self.skip_blanks();
        let start = self.offset();
        match self.name() {
            Some(name) => Ok(LocatedStep { step: Step::Name(name), span: start..self.offset() }),
            None => self.fail("Variable name required", "Must begin with a variable name.", start),
        }
    }

    fn next_step(&mut self) -> Result<Option<LocatedStep>, AddrError> {
        self.skip_blanks();
        let start = self.offset();
        let step = match self.rest.next() {
            None => return Ok(None),
            Some((_, '.')) => {
                self.skip_blanks();
                let Some(name) = self.name() else {
                    return self.fail(
                        "Attribute name required",
                        "Dot must be followed by attribute name.",
                        start,
                    );
                };
                Step::Name(name)
            }
            Some((_, '[')) => Step::Index(self.index(start)?),
            Some(_) => {
                let detail = "Expected an attribute access or an index operator.";
                return self.fail("Invalid character", detail, start);
            }
        };
        Ok(Some(LocatedStep { step, span: start..self.offset() }))
    }

    fn name(&mut self) -> Option<SmolStr> {
        let start = self.offset();
        self.rest.next_if(|(_, it)| starts_name(*it))?;
        while self.rest.next_if(|(_, it)| continues_name(*it)).is_some() {}
        let end = self.offset();
        Some(SmolStr::new(&self.text[start..end]))
    }

    fn index(&mut self, start: usize) -> Result<InstanceKey, AddrError> {
        self.skip_blanks();
        let key = match self.rest.peek() {
            Some((_, '"')) => InstanceKey::String(self.quoted()?),
            Some((_, it)) if it.is_ascii_digit() => InstanceKey::Int(self.number()?),
            _ => {
                let detail =
                    "Index brackets must contain either a literal number or a literal string.";
                return self.fail("Index value required", detail, start);
            }
        };
        self.skip_blanks();
        if self.rest.next_if(|(_, it)| *it == ']').is_none() {
            let detail = "Index operator must end with a closing bracket (\"]\").";
            return self.fail("Unclosed index brackets", detail, start);
        }
        Ok(key)
    }

    fn number(&mut self) -> Result<i64, AddrError> {
        let start = self.offset();
        while self.rest.next_if(|(_, it)| it.is_ascii_alphanumeric() || *it == '.').is_some() {}
        let digits = &self.text[start..self.offset()];
        match digits.parse() {
            Ok(number) => Ok(number),
            Err(_) => {
                self.fail("Invalid index", "An instance index must be a whole number.", start)
            }
        }
    }

    fn quoted(&mut self) -> Result<SmolStr, AddrError> {
        let start = self.offset();
        self.rest.next();
        let mut out = String::new();
        loop {
            match self.rest.next() {
                None | Some((_, '\n' | '\r')) => {
                    let detail = "The quoted key has no closing quote on its line.";
                    return self.fail("Unterminated template string", detail, start);
                }
                Some((_, '"')) => return Ok(out.nfc().collect()),
                Some((offset, '\\')) => out.push(self.escape(offset)?),
                Some((offset, it @ ('$' | '%'))) => self.template_sign(offset, it, &mut out)?,
                Some((_, it)) => out.push(it),
            }
        }
    }

    /// Scans a `$` or `%`. `${` and `%{` start a template, which a literal key must not contain; `$${` and `%%{`
    /// are the escapes of these sequences.
    fn template_sign(
        &mut self,
        offset: usize,
        sign: char,
        out: &mut String,
    ) -> Result<(), AddrError> {
        let after = &self.text[offset + 1..];
        out.push(sign);
        if after.starts_with('{') {
            let detail = "A literal key cannot contain a template sequence.";
            return self.fail("Template not allowed", detail, offset);
        }
        if after.strip_prefix(sign).is_some_and(|it| it.starts_with('{')) {
            self.rest.next();
            self.rest.next();
            out.push('{');
        }
        Ok(())
    }

    fn escape(&mut self, start: usize) -> Result<char, AddrError> {
        let detail = "The backslash must be followed by n, r, t, a quote, a backslash, or by u or U and a code point.";
        match self.rest.next() {
            Some((_, 'n')) => Ok('\n'),
            Some((_, 'r')) => Ok('\r'),
            Some((_, 't')) => Ok('\t'),
            Some((_, it @ ('"' | '\\'))) => Ok(it),
            Some((_, 'u')) => self.code_point(start, 4),
            Some((_, 'U')) => self.code_point(start, 8),
            _ => self.fail("Invalid escape sequence", detail, start),
        }
    }

    fn code_point(&mut self, start: usize, digits: usize) -> Result<char, AddrError> {
        let mut code = 0u32;
        for _ in 0..digits {
            let digit = self
                .rest
                .next_if(|(_, it)| it.is_ascii_hexdigit())
                .and_then(|(_, it)| it.to_digit(16));
            let next = digit.and_then(|digit| code.checked_mul(16)?.checked_add(digit));
            let Some(next) = next else {
                let detail = "A code point needs exactly four digits after \\u, eight after \\U.";
                return self.fail("Invalid escape sequence", detail, start);
            };
            code = next;
        }
        match char::from_u32(code) {
            Some(it) => Ok(it),
            None => self.fail("Invalid escape sequence", "There is no such code point.", start),
        }
    }
}
