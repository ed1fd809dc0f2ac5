//! Splits plain text into chunks and reads each byte once. Most files are plain.
//!
//! A *plain* text has paired brackets and quotes, no heredoc, no interpolation over several lines, and nothing
//! else that only the lexer can classify. For any other text the result is `None`.
//!
//! **Invariant:** for a plain text, the result equals the chunks that the tokens give. The property tests and the
//! fuzz targets compare the two.

use memchr::memchr;
use rowan::{TextRange, TextSize};

/// Returns the chunks of a plain text, in which nothing is unclosed. `None` if the text is not plain.
pub(super) fn cut(text: &str) -> Option<Vec<TextRange>> {
    let mut scan = Scan {
        bytes: text.as_bytes(),
        at: 0,
        open: Vec::new(),
        sequences: 0,
        starts: if text.is_empty() { Vec::new() } else { vec![0] },
        item: Item::None,
    };
    if text.starts_with('\u{feff}') || u32::try_from(text.len()).is_err() {
        return None;
    }
    scan.run()?;
    Some(scan.ranges())
}

/// The brackets and quotes that can be open.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Open {
    Paren,
    Square,
    Brace,
    /// `${` or `%{`
    Sequence,
    Quote,
}

/// True for bytes that neither begin nor end anything, outside quotes and within an item.
static IS_PLAIN_CODE: [bool; 256] = bytes_but(b"\n\r#/~<{}[]()\"", 0x80);

/// True for bytes that neither end a quoted text nor begin a sequence or an escape in it.
static IS_PLAIN_QUOTED: [bool; 256] = bytes_but(b"\"\\$%\n", 0x100);

/// All bytes below `end` but these.
const fn bytes_but(others: &[u8], end: usize) -> [bool; 256] {
    let mut all = [false; 256];
    let mut byte = 0;
    while byte < end {
        all[byte] = true;
        byte += 1;
    }
    let mut index = 0;
    while index < others.len() {
        all[others[index] as usize] = false;
        index += 1;
    }
    all
}

/// The progress within the current chunk.
#[derive(Clone, Copy)]
enum Item {
    /// The chunk has only trivia so far.
    None,
    /// The position is within the chunk's item.
    Within,
    /// The position is after the item's newline, at this offset; another item may begin.
    EndsAt(usize),
}

struct Scan<'t> {
    bytes: &'t [u8],
    at: usize,
    open: Vec<Open>,
    /// The number of sequences in `open`.
    sequences: usize,
    starts: Vec<usize>,
    item: Item,
}

impl Scan<'_> {
    fn run(&mut self) -> Option<()> {
        while self.at < self.bytes.len() {
            match self.open.last() {
                Some(Open::Quote) => self.quoted()?,
                _ => self.code()?,
            }
        }
        if let Item::EndsAt(end) = self.item
            && end < self.bytes.len()
        {
            self.starts.push(end);
        }
        self.open.is_empty().then_some(())
    }

    fn ranges(&self) -> Vec<TextRange> {
        // The cast is lossless: `cut` has checked that the length fits.
        let size = |at: usize| TextSize::new(at as u32);
        let ends = self.starts.iter().skip(1).copied().chain([self.bytes.len()]);
        let pairs = self.starts.iter().zip(ends);
        pairs.map(|(start, end)| TextRange::new(size(*start), size(end))).collect()
    }

    #[inline]
    fn skip(&mut self, is_plain: &[bool; 256]) {
        let rest = &self.bytes[self.at..];
        let length = rest.iter().position(|it| !is_plain[usize::from(*it)]);
        self.at += length.unwrap_or(rest.len());
    }

    fn peek(&self) -> Option<u8> {
        self.bytes.get(self.at + 1).copied()
    }

    /// Processes text outside quotes up to the next byte that is not plain, and that byte. `None` if the text is not
    /// plain.
    fn code(&mut self) -> Option<()> {
        if let Item::Within = self.item {
            self.skip(&IS_PLAIN_CODE);
        }
        let Some(&byte) = self.bytes.get(self.at) else { return Some(()) };
        match byte {
            b' ' | b'\t' => self.at += 1,
            b'\r' if self.peek() == Some(b'\n') => self.at += 1,
            b'\n' => self.newline()?,
            b'#' => self.line_comment(),
            b'/' if self.peek() == Some(b'/') => self.line_comment(),
            b'/' if self.peek() == Some(b'*') => {
                let rest = &self.bytes[self.at + 2..];
                self.at += memchr::memmem::find(rest, b"*/")? + 4;
            }
            _ => {
                self.significant(byte)?;
                self.token(byte)?;
            }
        }
        Some(())
    }

    fn line_comment(&mut self) {
        let rest = &self.bytes[self.at..];
        self.at += memchr(b'\n', rest).unwrap_or(rest.len());
    }

    /// Processes a newline. `None` inside a sequence, and inside brackets if the next line begins with a name and
    /// has no indentation, because it may be a header that ends all open brackets.
    fn newline(&mut self) -> Option<()> {
        self.at += 1;
        if self.open.is_empty() {
            if let Item::Within = self.item {
                self.item = Item::EndsAt(self.at);
            }
            return Some(());
        }
        let is_left = self.bytes.get(self.at).is_some_and(|it| may_begin_name(*it));
        (self.sequences == 0 && !is_left).then_some(())
    }

    /// Handles the first byte that is not trivia, which begins an item if none is open. `None` if that byte cannot
    /// begin a name.
    fn significant(&mut self, byte: u8) -> Option<()> {
        match self.item {
            Item::Within => return Some(()),
            Item::None => {}
            Item::EndsAt(end) => self.starts.push(end),
        }
        self.item = Item::Within;
        (byte.is_ascii_alphabetic() || byte == b'_').then_some(())
    }

    fn token(&mut self, byte: u8) -> Option<()> {
        match byte {
            b'{' => self.open.push(Open::Brace),
            b'[' => self.open.push(Open::Square),
            b'(' => self.open.push(Open::Paren),
            b'"' => self.open.push(Open::Quote),
            b'}' => self.close_brace()?,
            b']' => self.close(Open::Square)?,
            b')' => self.close(Open::Paren)?,
            b'~' => (self.peek() == Some(b'}') && self.open.last() == Some(&Open::Sequence))
                .then_some(())?,
            b'<' if self.peek() == Some(b'<') => return None,
            // Either an invalid character, or a name that only the lexer can judge.
            0x80.. | b'\r' => return None,
            _ => {}
        }
        self.at += 1;
        Some(())
    }

    fn close(&mut self, bracket: Open) -> Option<()> {
        (self.open.pop()? == bracket).then_some(())
    }

    fn close_brace(&mut self) -> Option<()> {
        match self.open.pop()? {
            Open::Brace => Some(()),
            Open::Sequence => {
                self.sequences -= 1;
                Some(())
            }
            _ => None,
        }
    }

    /// Processes text up to the closing quote, or up to the opening of a sequence.
    fn quoted(&mut self) -> Option<()> {
        loop {
            self.skip(&IS_PLAIN_QUOTED);
            match *self.bytes.get(self.at)? {
                b'"' => {
                    self.open.pop();
                    self.at += 1;
                    return Some(());
                }
                b'\\' => match self.peek()? {
                    b'\n' | b'\r' => return None,
                    _ => self.at += 2,
                },
                sign @ (b'$' | b'%') => match self.peek()? {
                    b'{' => {
                        self.open.push(Open::Sequence);
                        self.sequences += 1;
                        self.at += 2;
                        self.at += usize::from(self.bytes.get(self.at) == Some(&b'~'));
                        return Some(());
                    }
                    next if next == sign && self.bytes.get(self.at + 2) == Some(&b'{') => {
                        self.at += 3
                    }
                    _ => self.at += 1,
                },
                // A newline, the only other byte of these.
                _ => return None,
            }
        }
    }
}

fn may_begin_name(byte: u8) -> bool {
    byte.is_ascii_alphabetic() || byte == b'_' || byte >= 0x80
}
