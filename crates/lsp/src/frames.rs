//! The frames of the base protocol: a header, an empty line, and a content of the length that the header gives.
//!
//! **Invariant:** the frames do not depend on how the bytes are split on arrival.
//! **Invariant:** memory grows with the bytes that have arrived, never with a number that the client wrote.

/// The maximal length of a content. One content holds the text of an open file, and the loader refuses longer
/// files too.
const LONGEST_CONTENT: usize = 256 << 20;

/// The maximal length of a header. The two fields of the protocol take about twenty bytes each.
const LONGEST_HEADER: usize = 16 << 10;

/// The result of a step of reading.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Frame {
    Content(Vec<u8>),
    /// A frame whose content has another encoding than UTF-8. The next frame can be read.
    Unreadable,
    /// The header does not determine where the next frame begins, so nothing after it can be read. The reason is a
    /// sentence fragment.
    Lost(&'static str),
}

/// Splits a stream of bytes into frames.
#[derive(Default)]
pub(crate) struct FrameReader {
    bytes: Vec<u8>,
    /// The start of the unread bytes.
    start: usize,
    /// The end of the unread bytes that are known to contain no end of a header.
    searched: usize,
    header: Option<Header>,
}

/// The relevant fields of a header.
#[derive(Clone, Copy)]
struct Header {
    length: usize,
    is_utf8: bool,
}

impl FrameReader {
    /// Appends bytes that have arrived.
    pub(crate) fn push(&mut self, arrived: &[u8]) {
        // Moves the rest once per arrival, so that the cost is linear even if many frames arrive together.
        self.bytes.drain(..self.start);
        self.searched = self.searched.saturating_sub(self.start);
        self.start = 0;
        self.bytes.extend_from_slice(arrived);
    }

    /// The next frame. `None` if more bytes are needed.
    pub(crate) fn next(&mut self) -> Option<Frame> {
        let header = match self.header {
            Some(header) => header,
            None => match self.read_header()? {
                Ok(header) => *self.header.insert(header),
                Err(reason) => return Some(Frame::Lost(reason)),
            },
        };
        let end = self.start + header.length;
        let content = self.bytes.get(self.start..end)?;
        let frame = match header.is_utf8 {
            true => Frame::Content(content.to_vec()),
            false => Frame::Unreadable,
        };
        (self.start, self.searched, self.header) = (end, end, None);
        Some(frame)
    }

    fn read_header(&mut self) -> Option<Result<Header, &'static str>> {
        self.skip_empty_lines();
        let Some(end) = self.end_of_header() else {
            let is_too_long = self.bytes.len() - self.start > LONGEST_HEADER;
            return is_too_long.then_some(Err("a header does not end"));
        };
        let header = parse_header(&self.bytes[self.start..end]);
        (self.start, self.searched) = (end, end);
        Some(header)
    }

    /// Skips line ends that some clients write after a content.
    fn skip_empty_lines(&mut self) {
        let is_break = |byte: &&u8| matches!(byte, b'\r' | b'\n');
        self.start += self.bytes[self.start..].iter().take_while(is_break).count();
        self.searched = self.searched.max(self.start);
    }

    /// The start of the content: after the first empty line. `None` if the header is incomplete.
    fn end_of_header(&mut self) -> Option<usize> {
        for at in memchr::memchr_iter(b'\n', &self.bytes[self.searched..]) {
            let at = self.searched + at;
            let line = self.bytes[self.start..at].strip_suffix(b"\r");
            let line = line.unwrap_or(&self.bytes[self.start..at]);
            if line.ends_with(b"\n") {
                return Some(at + 1);
            }
        }
        self.searched = self.bytes.len();
        None
    }
}

/// Reads the fields of a header. Ignores fields that the protocol does not define.
fn parse_header(bytes: &[u8]) -> Result<Header, &'static str> {
    let text = std::str::from_utf8(bytes).map_err(|_| "a header is not text")?;
    let (mut length, mut is_utf8) = (None, true);
    for line in text.lines().filter(|line| !line.is_empty()) {
        let (name, value) = line.split_once(':').ok_or("a line of a header is not a field")?;
        let value = value.trim();
        match name.trim().to_ascii_lowercase().as_str() {
            "content-length" => {
                let found = length_of(value)?;
                if length.replace(found).is_some_and(|before| before != found) {
                    return Err("a header has two different values of Content-Length");
                }
            }
            "content-type" => is_utf8 = names_utf8(value),
            _ => {}
        }
    }
    let length = length.ok_or("a header has no Content-Length")?;
    Ok(Header { length, is_utf8 })
}

fn length_of(value: &str) -> Result<usize, &'static str> {
    // `parse` would also accept a sign.
    if value.is_empty() || !value.bytes().all(|byte| byte.is_ascii_digit()) {
        return Err("the value of Content-Length is not a number of bytes");
    }
    let length = value.parse().ok().filter(|length| *length <= LONGEST_CONTENT);
    length.ok_or("the value of Content-Length is larger than any message may be")
}

/// Returns true if a media type names no charset or UTF-8. Old clients write it as `utf8`.
fn names_utf8(media_type: &str) -> bool {
    let charset = media_type.split(';').skip(1).find_map(|parameter| {
        let (name, value) = parameter.split_once('=')?;
        name.trim().eq_ignore_ascii_case("charset").then(|| value.trim().trim_matches('"'))
    });
    charset.is_none_or(|it| it.eq_ignore_ascii_case("utf-8") || it.eq_ignore_ascii_case("utf8"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn frames_of(pieces: &[&[u8]]) -> Vec<Frame> {
        let mut frames = FrameReader::default();
        let mut found = Vec::new();
        for piece in pieces {
            frames.push(piece);
            while let Some(frame) = frames.next() {
                let is_last = matches!(frame, Frame::Lost(_));
                found.push(frame);
                if is_last {
                    return found;
                }
            }
        }
        found
    }

    fn content(text: &str) -> Frame {
        Frame::Content(text.as_bytes().to_vec())
    }

    #[test]
    fn every_legal_frame_header_is_accepted() {
        for header in [
            "Content-Length: 2\r\n",
            "content-length: 2\r\n",
            "CONTENT-LENGTH:2\r\n",
            "Content-Length : \t 2  \r\n",
            "Content-Length: 002\r\n",
            "Content-Length: 2\r\nContent-Length: 2\r\n",
            "Content-Length: 2\r\nContent-Type: application/vscode-jsonrpc; charset=utf-8\r\n",
            "Content-Type: application/vscode-jsonrpc; charset=utf8\r\nContent-Length: 2\r\n",
            "content-type:application/vscode-jsonrpc;CHARSET=\"UTF-8\"\r\nContent-Length: 2\r\n",
            "Content-Type: application/vscode-jsonrpc\r\nContent-Length: 2\r\n",
            "X-One: a: b\r\nX-Two:\r\nContent-Length: 2\r\nX-Three: c\r\nX-Four: d\r\n",
            "\r\nContent-Length: 2\r\n",
        ] {
            let text = format!("{header}\r\n{{}}Content-Length: 1\r\n\r\n7");
            assert_eq!(frames_of(&[text.as_bytes()]), [content("{}"), content("7")], "{header:?}");
        }
    }

    #[test]
    fn frame_headers_may_end_with_a_line_feed_only() {
        let text = b"Content-Length: 2\nX: y\n\n{}Content-Length: 0\n\n";
        assert_eq!(frames_of(&[text]), [content("{}"), content("")]);
    }

    #[test]
    fn frame_in_another_charset_is_skipped() {
        let text = "Content-Type: a/b; charset=latin1\r\nContent-Length: 2\r\n\r\n{}Content-Length: 1\r\n\r\n7";
        assert_eq!(frames_of(&[text.as_bytes()]), [Frame::Unreadable, content("7")]);
    }

    #[test]
    fn frame_header_without_a_valid_length_ends_reading() {
        for header in [
            "Content-Type: a/b\r\n",
            "Content-Length: -1\r\n",
            "Content-Length: +1\r\n",
            "Content-Length: 0x10\r\n",
            "Content-Length:\r\n",
            "Content-Length: 1.5\r\n",
            "Content-Length: 268435457\r\n",
            "Content-Length: 99999999999999999999999999\r\n",
            "Content-Length: 1\r\nContent-Length: 2\r\n",
            "no field\r\n",
            "Content-Length: \u{0661}\r\n",
        ] {
            let text = format!("{header}\r\n{{}}");
            let found = frames_of(&[text.as_bytes()]);
            assert!(matches!(found.as_slice(), [Frame::Lost(_)]), "{header:?}: {found:?}");
        }
        assert_eq!(frames_of(&[b"a: \xff\r\n\r\n"]), [Frame::Lost("a header is not text")]);
        assert_eq!(frames_of(&[&[b'x'; 20_000]]), [Frame::Lost("a header does not end")]);
        assert_eq!(frames_of(&[&[b'x'; 10_000]]), []);
    }

    #[test]
    fn announced_frame_length_allocates_nothing() {
        let mut frames = FrameReader::default();
        frames.push(b"Content-Length: 268435456\r\n\r\n{}");
        assert_eq!(frames.next(), None);
        assert!(frames.bytes.capacity() < 1 << 10);
    }

    #[test]
    fn split_of_bytes_does_not_change_frames() {
        let text = "Content-Length: 9\r\n\r\n\"\u{e9}\u{20ac}\u{1f600}\"\
                    Content-Type: a/b; charset=utf-8\r\ncontent-length: 2\r\n\r\n{}\
                    Content-Length: 0\n\nContent-Length: 4\r\n\r\nnull";
        let text = text.replace("Content-Length: 9", "Content-Length: 11");
        let bytes = text.as_bytes();
        let whole = frames_of(&[bytes]);
        assert_eq!(whole.len(), 4);
        assert_eq!(whole[0], content("\"\u{e9}\u{20ac}\u{1f600}\""));
        for first in 0..=bytes.len() {
            for second in first..=bytes.len() {
                let pieces = [&bytes[..first], &bytes[first..second], &bytes[second..]];
                assert_eq!(frames_of(&pieces), whole, "{first}, {second}");
            }
        }
        let single: Vec<&[u8]> = bytes.chunks(1).collect();
        assert_eq!(frames_of(&single), whole);
    }
}
