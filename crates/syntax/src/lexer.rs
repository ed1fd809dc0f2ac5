//! Splits text into tokens. Main mode uses logos; templates are scanned by hand, because their end depends on a
//! stack.
//!
//! Every byte belongs to a token. The lexer reports no errors: [`crate::lexical`] finds invalid tokens, so that
//! the lexer can run alone when a file is split into chunks.
//!
//! Two rules prevent one mistake from absorbing the rest of a file. A quoted string ends at the newline that it
//! must not contain, together with every string around it. And a line that can only be the header of a top-level
//! block ends any template sequence, and any heredoc without an end. Neither rule applies to a correct file.

mod heredoc;
mod main;

use std::ops::Range;

use logos::Logos as _;
use smallvec::SmallVec;

use self::heredoc::HeredocEnds;
use self::main::MainToken;
use crate::syntax_kind::SyntaxKind::{self, *};

/// The context in which lexing starts.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Mode {
    /// A file or a part of one.
    File,
    /// An expression outside a file: no byte order mark is accepted, and block headers end nothing.
    Expression,
    /// A template without quotes.
    Template,
}

/// The tokens of a text as two parallel lists.
#[derive(Default, Debug)]
pub(crate) struct Lexed {
    pub(crate) kinds: Vec<SyntaxKind>,
    /// The start of each token, followed by the length of the text.
    pub(crate) starts: Vec<u32>,
}

impl Lexed {
    /// Returns all tokens as one run.
    pub(crate) fn as_tokens<'a>(&'a self, text: &'a str) -> Tokens<'a> {
        Tokens { text, kinds: &self.kinds, starts: &self.starts, base: 0 }
    }
}

/// A run of tokens with its text.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Tokens<'a> {
    /// The text of the run only.
    pub(crate) text: &'a str,
    pub(crate) kinds: &'a [SyntaxKind],
    /// The start of each token, and the end of the last one.
    pub(crate) starts: &'a [u32],
    /// The start of the run in the coordinates of `starts`.
    pub(crate) base: u32,
}

impl<'a> Tokens<'a> {
    #[inline]
    pub(crate) fn start(&self, token: usize) -> usize {
        (self.starts[token] - self.base) as usize
    }

    #[inline]
    pub(crate) fn text_of(&self, token: usize) -> &'a str {
        &self.text[self.start(token)..self.start(token + 1)]
    }

    /// Returns the text as bytes, without the check of character boundaries.
    #[inline]
    pub(crate) fn bytes_of(&self, token: usize) -> &'a [u8] {
        &self.text.as_bytes()[self.start(token)..self.start(token + 1)]
    }

    #[inline]
    pub(crate) fn len_of(&self, token: usize) -> usize {
        (self.starts[token + 1] - self.starts[token]) as usize
    }

    /// Returns a part of the run.
    pub(crate) fn run(&self, range: Range<usize>) -> Self {
        Tokens {
            text: &self.text[self.start(range.start)..self.start(range.end)],
            kinds: &self.kinds[range.clone()],
            starts: &self.starts[range.start..=range.end],
            base: self.starts[range.start],
        }
    }

    pub(crate) fn len(&self) -> usize {
        self.kinds.len()
    }
}

/// Splits `text` into tokens.
///
/// The offsets fit into 32 bits, because [`crate::decode`] refuses longer texts.
pub(crate) fn lex(text: &str, mode: Mode) -> Lexed {
    lex_into(text, mode, Lexed::default())
}

/// Splits `text` into tokens and reuses the memory of `out`.
pub(crate) fn lex_into(text: &str, mode: Mode, mut out: Lexed) -> Lexed {
    out.kinds.clear();
    out.starts.clear();
    out.kinds.reserve(text.len() / 3);
    out.starts.reserve(text.len() / 3 + 1);
    let mut lexer = Lexer {
        text,
        pos: 0,
        rescue: mode == Mode::File,
        frames: SmallVec::new(),
        ends: None,
        no_comment_end: false,
        out,
    };
    if mode == Mode::File && text.starts_with('\u{feff}') {
        lexer.emit(BOM, '\u{feff}'.len_utf8());
    }
    if mode == Mode::Template {
        lexer.frames.push(Frame::Bare);
    }
    lexer.run();
    lexer.out.starts.push(offset(text.len()));
    lexer.out
}

#[inline]
fn offset(at: usize) -> u32 {
    u32::try_from(at).unwrap_or(u32::MAX)
}

/// The constructs that enclose the position. Main mode is active if the stack is empty or a sequence is on top.
enum Frame<'t> {
    /// Inside `${ }` or `%{ }`, with `braces` open braces.
    Sequence { braces: u32 },
    /// Between quotes.
    Quoted,
    /// Inside a heredoc.
    Heredoc { marker: &'t str, terminated: bool },
    /// In a template without quotes; always at the bottom of the stack.
    Bare,
}

struct Lexer<'t> {
    text: &'t str,
    pos: usize,
    rescue: bool,
    frames: SmallVec<[Frame<'t>; 4]>,
    ends: Option<HeredocEnds<'t>>,
    /// True after a search for `*/` has failed, because any later search would fail too.
    no_comment_end: bool,
    out: Lexed,
}

impl<'t> Lexer<'t> {
    fn run(&mut self) {
        while self.pos < self.text.len() {
            match self.frames.last() {
                None | Some(Frame::Sequence { .. }) => self.main_mode(),
                Some(Frame::Quoted) => self.quoted_mode(),
                Some(Frame::Heredoc { marker, terminated }) => {
                    let (marker, terminated) = (*marker, *terminated);
                    self.heredoc_mode(marker, terminated);
                }
                Some(Frame::Bare) => self.bare_mode(),
            }
        }
    }

    #[inline]
    fn emit(&mut self, kind: SyntaxKind, len: usize) {
        self.out.kinds.push(kind);
        self.out.starts.push(offset(self.pos));
        self.pos += len;
    }

    fn emit_to(&mut self, kind: SyntaxKind, end: usize) {
        if end > self.pos {
            self.emit(kind, end - self.pos);
        }
    }

    /// Lexes in main mode until another mode takes over.
    fn main_mode(&mut self) {
        let mut lex = MainToken::lexer(self.text);
        lex.bump(self.pos);
        while let Some(token) = lex.next() {
            let len = lex.span().len();
            let Ok(token) = token else {
                self.invalid(len);
                continue;
            };
            match token {
                MainToken::Newline => {
                    self.emit(NEWLINE, len);
                    self.rescue_from_sequence();
                }
                MainToken::LineComment => {
                    let cut = self.line_comment(len);
                    if cut > 0 {
                        lex.bump(1);
                        self.emit(NEWLINE, 2);
                        self.rescue_from_sequence();
                    }
                }
                MainToken::BlockComment => {
                    let len = self.block_comment();
                    lex.bump(len - 2);
                }
                MainToken::LBrace => {
                    if let Some(Frame::Sequence { braces }) = self.frames.last_mut() {
                        *braces += 1;
                    }
                    self.emit(L_BRACE, len);
                }
                MainToken::RBrace | MainToken::StripEnd => {
                    if self.close_brace(token, len) {
                        return;
                    }
                }
                MainToken::Quote => {
                    self.emit(OPEN_QUOTE, len);
                    self.frames.push(Frame::Quoted);
                    return;
                }
                MainToken::Heredoc => {
                    self.open_heredoc(len);
                    return;
                }
                plain => self.emit(plain.kind(), len),
            }
        }
    }

    /// Emits one `INVALID` token for each character that begins no token.
    fn invalid(&mut self, len: usize) {
        let text = &self.text[self.pos..self.pos + len];
        for c in text.chars() {
            self.emit(INVALID, c.len_utf8());
        }
    }

    /// Emits a comment without its line ending. Returns 1 if the comment's pattern matched the `\r` of the ending,
    /// else 0.
    fn line_comment(&mut self, len: usize) -> usize {
        let bytes = self.text.as_bytes();
        let end = self.pos + len;
        let cut = usize::from(bytes[end - 1] == b'\r' && bytes.get(end) == Some(&b'\n'));
        self.emit(COMMENT, len - cut);
        cut
    }

    /// Emits a block comment. A comment that is never closed ends with its line, so that the rest of the file is
    /// still parsed.
    fn block_comment(&mut self) -> usize {
        let rest = &self.text[self.pos..];
        let end = if self.no_comment_end { None } else { rest[2..].find("*/") };
        let len = match end {
            Some(end) => end + 4,
            None => {
                self.no_comment_end = true;
                let line = rest.find('\n').unwrap_or(rest.len());
                if rest[..line].ends_with('\r') && line < rest.len() { line - 1 } else { line }
            }
        };
        self.emit(COMMENT, len);
        len
    }

    /// Emits `}` or `~}`. Returns true if it ended a template sequence.
    fn close_brace(&mut self, token: MainToken, len: usize) -> bool {
        match self.frames.last_mut() {
            // `~}` ends a sequence even if a brace is open in it, which is an error.
            Some(Frame::Sequence { braces }) if *braces == 0 || token == MainToken::StripEnd => {
                self.frames.pop();
                self.emit(SEQ_END, len);
                true
            }
            frame => {
                if let Some(Frame::Sequence { braces }) = frame {
                    *braces -= 1;
                }
                self.emit(if token == MainToken::RBrace { R_BRACE } else { SEQ_END }, len);
                false
            }
        }
    }

    /// Leaves all sequences after a newline if the next line looks like a block header, which cannot continue an
    /// expression.
    fn rescue_from_sequence(&mut self) {
        if self.rescue && !self.frames.is_empty() && is_block_header(&self.text[self.pos..]) {
            self.frames.clear();
        }
    }

    fn quoted_mode(&mut self) {
        let bytes = self.text.as_bytes();
        let mut at = self.pos;
        loop {
            match bytes.get(at) {
                None => return self.emit_to(QUOTED_LIT, at),
                Some(b'"') => {
                    self.emit_to(QUOTED_LIT, at);
                    self.emit(CLOSE_QUOTE, 1);
                    self.frames.pop();
                    return;
                }
                Some(b'\\') => {
                    at +=
                        if matches!(bytes.get(at + 1), None | Some(b'\n' | b'\r')) { 1 } else { 2 }
                }
                Some(b'$' | b'%') => match self.sequence_at(at) {
                    Sequence::Opens => {
                        self.emit_to(QUOTED_LIT, at);
                        return self.open_sequence();
                    }
                    Sequence::Literal(len) => at += len,
                },
                Some(b'\n') => return self.cut_quoted(at),
                Some(b'\r') if bytes.get(at + 1) == Some(&b'\n') => return self.cut_quoted(at),
                Some(_) => at += 1,
            }
        }
    }

    /// Handles a newline inside a string: this string and all strings around it end here.
    fn cut_quoted(&mut self, at: usize) {
        self.emit_to(QUOTED_LIT, at);
        self.frames.pop();
        while let [.., Frame::Quoted, Frame::Sequence { .. }] = self.frames[..] {
            self.frames.truncate(self.frames.len() - 2);
        }
    }

    /// Classifies a `$` or `%`.
    fn sequence_at(&self, at: usize) -> Sequence {
        let bytes = self.text.as_bytes();
        let sign = bytes[at];
        if bytes.get(at + 1) == Some(&b'{') {
            Sequence::Opens
        } else if bytes.get(at + 1) == Some(&sign) && bytes.get(at + 2) == Some(&b'{') {
            Sequence::Literal(3)
        } else {
            Sequence::Literal(1)
        }
    }

    /// Emits `${`, `%{`, `${~` or `%{~`.
    fn open_sequence(&mut self) {
        let bytes = self.text.as_bytes();
        let kind = if bytes[self.pos] == b'$' { INTERP_OPEN } else { DIRECTIVE_OPEN };
        let len = if bytes.get(self.pos + 2) == Some(&b'~') { 3 } else { 2 };
        self.emit(kind, len);
        self.frames.push(Frame::Sequence { braces: 0 });
    }

    /// Emits one literal up to the end of the line, or up to a sequence, which it opens. Each line is a separate
    /// token, because strip markers and the removal of indentation work by token.
    fn template_line(&mut self) {
        let bytes = self.text.as_bytes();
        let mut at = self.pos;
        loop {
            match bytes.get(at) {
                None => return self.emit_to(STRING_LIT, at),
                Some(b'\n') => return self.emit_to(STRING_LIT, at + 1),
                Some(b'$' | b'%') => match self.sequence_at(at) {
                    Sequence::Opens => {
                        self.emit_to(STRING_LIT, at);
                        return self.open_sequence();
                    }
                    Sequence::Literal(len) => at += len,
                },
                Some(_) => at += 1,
            }
        }
    }

    fn bare_mode(&mut self) {
        let depth = self.frames.len();
        while self.frames.len() == depth && self.pos < self.text.len() {
            self.template_line();
        }
    }
}

enum Sequence {
    Opens,
    Literal(usize),
}

/// Returns true if the text begins with an unindented block header: a name, further names or strings, `{`.
///
/// `for`, `in` and `if` make it an expression: `[⏎for x in {…} : x]`.
pub(crate) fn is_block_header(text: &str) -> bool {
    let mut lex = MainToken::lexer(text);
    if !matches!(lex.next(), Some(Ok(MainToken::Ident))) || is_for_word(lex.slice()) {
        return false;
    }
    loop {
        match lex.next() {
            Some(Ok(MainToken::Whitespace)) => {}
            Some(Ok(MainToken::Ident)) if !is_for_word(lex.slice()) => {}
            Some(Ok(MainToken::Quote)) => match simple_string(lex.remainder()) {
                Some(len) => lex.bump(len),
                None => return false,
            },
            Some(Ok(MainToken::LBrace)) => return true,
            _ => return false,
        }
    }
}

/// Returns true if a comment begins with `/*` and is never closed.
pub(crate) fn is_open_comment(text: &str) -> bool {
    text.starts_with("/*") && (text.len() < 4 || !text.ends_with("*/"))
}

fn is_for_word(text: &str) -> bool {
    matches!(text, "for" | "in" | "if")
}

/// Returns the length of the rest of a string, including its closing quote. `None` if the string does not end on
/// this line or contains a sequence.
fn simple_string(text: &str) -> Option<usize> {
    let bytes = text.as_bytes();
    let mut at = 0;
    loop {
        match bytes.get(at)? {
            b'"' => return Some(at + 1),
            b'\n' => return None,
            b'$' | b'%' if bytes.get(at + 1) == Some(&b'{') => return None,
            b'\\' => at += 2,
            _ => at += 1,
        }
    }
}

#[cfg(test)]
mod tests;
