//! JSON text in Go's layout: its escapes, its compact form, and two-space indentation.

/// The nesting limit of JSON text, twice the limit of the codec for values.
const MAX_NESTING: usize = 512;

/// A JSON writer. The caller keeps objects and arrays balanced.
pub(crate) struct JsonText {
    out: Vec<u8>,
    depth: usize,
    /// True if the text is a single line without insignificant whitespace.
    is_compact: bool,
    /// True if the innermost open object or array is still empty.
    is_empty: bool,
}

impl JsonText {
    /// Creates a writer of indented text.
    pub(crate) fn with_capacity(bytes: usize) -> Self {
        Self { out: Vec::with_capacity(bytes), depth: 0, is_compact: false, is_empty: true }
    }

    /// Creates a writer of compact text.
    pub(crate) fn compact() -> Self {
        Self { is_compact: true, ..Self::with_capacity(256) }
    }

    /// Returns the text without a final newline.
    pub(crate) fn into_text(self) -> String {
        String::from_utf8(self.out).expect("only whole strings and ASCII are added")
    }

    fn newline(&mut self) {
        if !self.is_compact {
            newline(&mut self.out, self.depth);
        }
    }

    /// Returns the text with a final newline.
    pub(crate) fn finish(mut self) -> Vec<u8> {
        self.out.push(b'\n');
        self.out
    }

    pub(crate) fn open(&mut self, bracket: u8) {
        self.out.push(bracket);
        self.depth += 1;
        self.is_empty = true;
    }

    pub(crate) fn close(&mut self, bracket: u8) {
        self.depth -= 1;
        if !self.is_empty {
            self.newline();
        }
        self.out.push(bracket);
        self.is_empty = false;
    }

    /// Begins the next element of an array.
    pub(crate) fn item(&mut self) {
        if !self.is_empty {
            self.out.push(b',');
        }
        self.newline();
        self.is_empty = false;
    }

    /// Begins the next member of an object.
    pub(crate) fn key(&mut self, name: &str) {
        self.item();
        write_string(&mut self.out, name);
        self.out.extend_from_slice(if self.is_compact { b":" } else { b": " });
    }

    pub(crate) fn string(&mut self, text: &str) {
        write_string(&mut self.out, text);
    }

    /// Writes a number, `true`, `false` or `null`.
    pub(crate) fn token(&mut self, token: impl std::fmt::Display) {
        self.out.extend_from_slice(token.to_string().as_bytes());
    }

    /// Writes JSON text, laid out for this place. The text must be valid JSON.
    pub(crate) fn json(&mut self, text: &str) {
        match self.is_compact {
            true => self.out.extend_from_slice(compact(text).as_bytes()),
            false => indent(&mut self.out, text.as_bytes(), self.depth),
        }
    }

    pub(crate) fn member(&mut self, name: &str, text: &str) {
        self.key(name);
        self.string(text);
    }

    /// Writes a member, or nothing if its text is empty.
    pub(crate) fn optional(&mut self, name: &str, text: &str) {
        if !text.is_empty() {
            self.member(name, text);
        }
    }

    /// Writes a member with the value `true`, or nothing if it is false.
    pub(crate) fn flag(&mut self, name: &str, is_set: bool) {
        if is_set {
            self.key(name);
            self.token(true);
        }
    }
}

/// Returns JSON without insignificant whitespace, and with the same characters escaped as in Go.
///
/// The text must be valid JSON. It is not parsed, so numbers and the order of keys stay the same.
pub(crate) fn compact(json: &str) -> String {
    let mut out = Vec::with_capacity(json.len());
    for_each_part(json.as_bytes(), |part| match part {
        Part::String(text) => escape_html(&mut out, text),
        Part::Other(bytes) => out.extend_from_slice(bytes),
    });
    String::from_utf8(out).expect("leaving out ASCII and adding ASCII keeps UTF-8 intact")
}

/// Returns true if JSON nests deeper than any value. Indentation makes every line longer with each level, so a few
/// megabytes of brackets would become terabytes.
pub(crate) fn is_too_deep(json: &str) -> bool {
    let (mut depth, mut deepest) = (0_usize, 0);
    for_each_part(json.as_bytes(), |part| match part {
        Part::Other(b"{" | b"[") => {
            depth += 1;
            deepest = deepest.max(depth);
        }
        Part::Other(b"}" | b"]") => depth = depth.saturating_sub(1),
        Part::Other(_) | Part::String(_) => {}
    });
    deepest > MAX_NESTING
}

fn indent(out: &mut Vec<u8>, json: &[u8], base: usize) {
    let mut depth = base;
    let mut is_after_open = false;
    for_each_part(json, |part| {
        let bytes = match part {
            Part::String(bytes) | Part::Other(bytes) => bytes,
        };
        if std::mem::take(&mut is_after_open) && !matches!(bytes, b"}" | b"]") {
            newline(out, depth);
        }
        match (part, bytes) {
            (Part::String(text), _) => escape_html(out, text),
            (_, b"{" | b"[") => {
                out.extend_from_slice(bytes);
                depth += 1;
                is_after_open = true;
            }
            (_, b"}" | b"]") => {
                depth = depth.saturating_sub(1);
                if !matches!(out.last(), Some(b'{' | b'[')) {
                    newline(out, depth);
                }
                out.extend_from_slice(bytes);
            }
            (_, b",") => {
                out.push(b',');
                newline(out, depth);
            }
            (_, b":") => out.extend_from_slice(b": "),
            _ => out.extend_from_slice(bytes),
        }
    });
}

#[derive(Clone, Copy)]
enum Part<'a> {
    /// A string with its quotes.
    String(&'a [u8]),
    /// One punctuation mark, or a whole number or word.
    Other(&'a [u8]),
}

/// Splits JSON into strings, punctuation and words, without whitespace. Never fails: for text that is not JSON,
/// the parts are meaningless.
fn for_each_part<'a>(json: &'a [u8], mut f: impl FnMut(Part<'a>)) {
    let mut at = 0;
    while let Some(&byte) = json.get(at) {
        let start = at;
        match byte {
            b' ' | b'\t' | b'\n' | b'\r' => {
                at += 1;
                continue;
            }
            b'"' => {
                at = string_end(json, at);
                f(Part::String(&json[start..at]));
            }
            b'{' | b'}' | b'[' | b']' | b',' | b':' => {
                at += 1;
                f(Part::Other(&json[start..at]));
            }
            _ => {
                let is_word = |it: &u8| !b" \t\n\r\"{}[],:".contains(it);
                at += json[at..].iter().take_while(|it| is_word(it)).count();
                f(Part::Other(&json[start..at]));
            }
        }
    }
}

fn string_end(json: &[u8], start: usize) -> usize {
    let mut at = start + 1;
    while let Some(&byte) = json.get(at) {
        match byte {
            b'"' => return at + 1,
            b'\\' => at += 2,
            _ => at += 1,
        }
    }
    json.len()
}

fn newline(out: &mut Vec<u8>, depth: usize) {
    out.push(b'\n');
    out.resize(out.len() + 2 * depth, b' ');
}

/// Escapes the characters that Go escapes for HTML. They occur only in strings, so the context does not matter.
fn escape_html(out: &mut Vec<u8>, text: &[u8]) {
    let mut rest = text;
    while let Some(at) = rest.iter().position(|it| matches!(it, b'<' | b'>' | b'&' | 0xe2)) {
        out.extend_from_slice(&rest[..at]);
        let (escaped, length): (&[u8], usize) = match &rest[at..] {
            [b'<', ..] => (b"\\u003c", 1),
            [b'>', ..] => (b"\\u003e", 1),
            [b'&', ..] => (b"\\u0026", 1),
            [0xe2, 0x80, 0xa8, ..] => (b"\\u2028", 3),
            [0xe2, 0x80, 0xa9, ..] => (b"\\u2029", 3),
            _ => (&rest[at..=at], 1),
        };
        out.extend_from_slice(escaped);
        rest = &rest[at + length..];
    }
    out.extend_from_slice(rest);
}

fn write_string(out: &mut Vec<u8>, text: &str) {
    out.push(b'"');
    let mut plain = 0;
    for (at, byte) in text.bytes().enumerate() {
        if byte >= 0x20 && byte != b'"' && byte != b'\\' {
            continue;
        }
        escape_html(out, &text.as_bytes()[plain..at]);
        plain = at + 1;
        match byte {
            b'"' | b'\\' => out.extend_from_slice(&[b'\\', byte]),
            0x08 => out.extend_from_slice(b"\\b"),
            0x0c => out.extend_from_slice(b"\\f"),
            b'\n' => out.extend_from_slice(b"\\n"),
            b'\r' => out.extend_from_slice(b"\\r"),
            b'\t' => out.extend_from_slice(b"\\t"),
            _ => out.extend_from_slice(format!("\\u{byte:04x}").as_bytes()),
        }
    }
    escape_html(out, &text.as_bytes()[plain..]);
    out.push(b'"');
}

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use super::*;

    #[test]
    fn text_is_escaped_as_go_does() {
        let mut out = Vec::new();
        write_string(&mut out, "a\"\\\u{8}\u{c}\n\r\t\u{1}\u{7f}<>&\u{2028}\u{2029}é\u{2030}");
        let text = String::from_utf8(out).expect("UTF-8");
        expect![[r#""a\"\\\b\f\n\r\t\u0001\u{7f}\u003c\u003e\u0026\u2028\u2029é‰""#]]
            .assert_eq(&text.replace('\u{7f}', r"\u{7f}"));
    }

    #[test]
    fn compacting_keeps_numbers_order_and_strings() {
        let text = " { \"b\" : [ 1.50 , 1e3,{ } , [ ] , null ] ,\n\"a\\\"}\": \"x < y , z\" }";
        assert_eq!(compact(text), "{\"b\":[1.50,1e3,{},[],null],\"a\\\"}\":\"x \\u003c y , z\"}");
    }

    #[test]
    fn indenting_is_the_inverse_of_compacting() {
        let text = "{\"a\":[1,{},[],{\"b\":[[null]]}],\"c\":\"}\"}";
        let mut json = JsonText::with_capacity(0);
        json.open(b'{');
        json.key("x");
        json.json(text);
        json.close(b'}');
        let indented = String::from_utf8(json.finish()).expect("UTF-8");
        expect![[r#"
            {
              "x": {
                "a": [
                  1,
                  {},
                  [],
                  {
                    "b": [
                      [
                        null
                      ]
                    ]
                  }
                ],
                "c": "}"
              }
            }
        "#]]
        .assert_eq(&indented);
        assert_eq!(compact(&indented), format!("{{\"x\":{text}}}"));
    }

    #[test]
    fn text_that_is_not_json_passes_through_without_a_panic() {
        for text in ["", "\"", "\"\\", "}}}", "]{", "\"a\u{e9}\\", "\u{e9}", "{{{[["] {
            let mut out = Vec::new();
            indent(&mut out, text.as_bytes(), 0);
            let _ = compact(text);
        }
    }
}
