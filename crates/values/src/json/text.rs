//! JSON text in Go's layout: its escapes, its compact form, and two-space indentation.

use std::fmt::Write;

/// The nesting limit of JSON text, twice the limit of the codec for values.
const MAX_NESTING: usize = 512;

/// A JSON writer. The caller keeps objects and arrays balanced.
pub struct JsonText {
    out: String,
    depth: usize,
    /// True if the text is a single line without insignificant whitespace.
    is_compact: bool,
    /// True if the innermost open object or array is still empty.
    is_empty: bool,
}

impl JsonText {
    /// Creates a writer of indented text.
    pub fn with_capacity(bytes: usize) -> Self {
        Self { out: String::with_capacity(bytes), depth: 0, is_compact: false, is_empty: true }
    }

    /// Creates a writer of compact text.
    pub fn compact() -> Self {
        Self { is_compact: true, ..Self::with_capacity(256) }
    }

    /// Returns the text without a final newline.
    pub fn into_text(self) -> String {
        self.out
    }

    fn newline(&mut self) {
        if !self.is_compact {
            newline(&mut self.out, self.depth);
        }
    }

    /// Returns the text with a final newline.
    pub fn finish(mut self) -> Vec<u8> {
        self.out.push('\n');
        self.out.into_bytes()
    }

    /// Begins an object or array with its opening bracket.
    pub fn open(&mut self, bracket: char) {
        self.out.push(bracket);
        self.depth += 1;
        self.is_empty = true;
    }

    /// Ends an object or array with its closing bracket.
    pub fn close(&mut self, bracket: char) {
        self.depth -= 1;
        if !self.is_empty {
            self.newline();
        }
        self.out.push(bracket);
        self.is_empty = false;
    }

    /// Begins the next element of an array.
    pub fn item(&mut self) {
        if !self.is_empty {
            self.out.push(',');
        }
        self.newline();
        self.is_empty = false;
    }

    /// Begins the next member of an object.
    pub fn key(&mut self, name: &str) {
        self.item();
        write_string(name, &mut self.out);
        self.out.push_str(if self.is_compact { ":" } else { ": " });
    }

    /// Writes a string.
    pub fn string(&mut self, text: &str) {
        write_string(text, &mut self.out);
    }

    /// Writes a number, `true`, `false` or `null`.
    pub fn token(&mut self, token: impl std::fmt::Display) {
        // Writing to a string cannot fail.
        let _ = write!(self.out, "{token}");
    }

    /// Writes JSON text, laid out for this place. The text must be valid JSON.
    pub fn json(&mut self, text: &str) {
        match self.is_compact {
            true => push_compact(&mut self.out, text),
            false => indent(&mut self.out, text, self.depth),
        }
    }

    /// Writes a member with a string.
    pub fn member(&mut self, name: &str, text: &str) {
        self.key(name);
        self.string(text);
    }

    /// Writes a member, or nothing if its text is empty.
    pub fn optional(&mut self, name: &str, text: &str) {
        if !text.is_empty() {
            self.member(name, text);
        }
    }

    /// Writes a member with the value `true`, or nothing if it is false.
    pub fn flag(&mut self, name: &str, is_set: bool) {
        if is_set {
            self.key(name);
            self.token(true);
        }
    }
}

/// Returns JSON without insignificant whitespace, and with the same characters escaped as in Go.
///
/// The text must be valid JSON. It is not parsed, so numbers and the order of keys stay the same.
pub fn compact(json: &str) -> String {
    let mut out = String::with_capacity(json.len());
    push_compact(&mut out, json);
    out
}

fn push_compact(out: &mut String, json: &str) {
    for_each_part(json, |part| match part {
        Part::String(text) => escape_html(text, out),
        Part::Other(text) => out.push_str(text),
    });
}

/// Returns true if JSON nests deeper than any value. Indentation makes every line longer with each level, so a few
/// megabytes of brackets would become terabytes.
pub fn is_too_deep(json: &str) -> bool {
    let (mut depth, mut deepest) = (0_usize, 0);
    for_each_part(json, |part| match part {
        Part::Other("{" | "[") => {
            depth += 1;
            deepest = deepest.max(depth);
        }
        Part::Other("}" | "]") => depth = depth.saturating_sub(1),
        Part::Other(_) | Part::String(_) => {}
    });
    deepest > MAX_NESTING
}

fn indent(out: &mut String, json: &str, base: usize) {
    let mut depth = base;
    let mut is_after_open = false;
    for_each_part(json, |part| {
        let (Part::String(text) | Part::Other(text)) = part;
        if std::mem::take(&mut is_after_open) && !matches!(text, "}" | "]") {
            newline(out, depth);
        }
        match (part, text) {
            (Part::String(text), _) => escape_html(text, out),
            (_, "{" | "[") => {
                out.push_str(text);
                depth += 1;
                is_after_open = true;
            }
            (_, "}" | "]") => {
                depth = depth.saturating_sub(1);
                if !out.ends_with(['{', '[']) {
                    newline(out, depth);
                }
                out.push_str(text);
            }
            (_, ",") => {
                out.push(',');
                newline(out, depth);
            }
            (_, ":") => out.push_str(": "),
            _ => out.push_str(text),
        }
    });
}

#[derive(Clone, Copy)]
enum Part<'a> {
    /// A string with its quotes.
    String(&'a str),
    /// One punctuation mark, or a whole number or word.
    Other(&'a str),
}

/// Splits JSON into strings, punctuation and words, without whitespace. Never fails: for text that is not JSON,
/// the parts are meaningless.
fn for_each_part<'a>(json: &'a str, mut f: impl FnMut(Part<'a>)) {
    let bytes = json.as_bytes();
    let mut at = 0;
    // Each part begins and ends beside ASCII or at the end of the text, so the slices are whole characters.
    while let Some(&byte) = bytes.get(at) {
        let start = at;
        match byte {
            b' ' | b'\t' | b'\n' | b'\r' => {
                at += 1;
                continue;
            }
            b'"' => {
                at = string_end(bytes, at);
                f(Part::String(&json[start..at]));
            }
            b'{' | b'}' | b'[' | b']' | b',' | b':' => {
                at += 1;
                f(Part::Other(&json[start..at]));
            }
            _ => {
                let is_word = |it: &u8| !b" \t\n\r\"{}[],:".contains(it);
                at += bytes[at..].iter().take_while(|it| is_word(it)).count();
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

fn newline(out: &mut String, depth: usize) {
    out.push('\n');
    out.extend(std::iter::repeat_n("  ", depth));
}

/// Escapes the characters that Go escapes for HTML. They occur only in strings, so the context does not matter.
fn escape_html(text: &str, out: &mut String) {
    let mut rest = text;
    // U+2028 and U+2029 begin with the byte 0xe2.
    while let Some(at) = rest.bytes().position(|it| matches!(it, b'<' | b'>' | b'&' | 0xe2)) {
        out.push_str(&rest[..at]);
        let mut following = rest[at..].chars();
        match following.next() {
            Some('<') => out.push_str("\\u003c"),
            Some('>') => out.push_str("\\u003e"),
            Some('&') => out.push_str("\\u0026"),
            Some('\u{2028}') => out.push_str("\\u2028"),
            Some('\u{2029}') => out.push_str("\\u2029"),
            other => out.extend(other),
        }
        rest = following.as_str();
    }
    out.push_str(rest);
}

/// Appends `text` as a JSON string with Go's escapes, which keep it safe inside HTML.
pub fn write_string(text: &str, out: &mut String) {
    out.push('"');
    let mut plain = 0;
    for (at, byte) in text.bytes().enumerate() {
        if byte >= 0x20 && byte != b'"' && byte != b'\\' {
            continue;
        }
        escape_html(&text[plain..at], out);
        plain = at + 1;
        match byte {
            b'"' => out.push_str("\\\""),
            b'\\' => out.push_str("\\\\"),
            0x08 => out.push_str("\\b"),
            0x0c => out.push_str("\\f"),
            b'\n' => out.push_str("\\n"),
            b'\r' => out.push_str("\\r"),
            b'\t' => out.push_str("\\t"),
            _ => {
                // Writing to a string cannot fail.
                let _ = write!(out, "\\u{byte:04x}");
            }
        }
    }
    escape_html(&text[plain..], out);
    out.push('"');
}

#[cfg(test)]
mod tests {
    use expect_test::expect;
    use proptest::{collection::vec, prelude::*, sample::select};

    use super::*;

    #[test]
    fn text_is_escaped_as_go_does() {
        let mut text = String::new();
        write_string("a\"\\\u{8}\u{c}\n\r\t\u{1}\u{7f}<>&\u{2028}\u{2029}é\u{2030}", &mut text);
        expect![[r#""a\"\\\b\f\n\r\t\u0001\u{7f}\u003c\u003e\u0026\u2028\u2029é‰""#]]
            .assert_eq(&text.replace('\u{7f}', r"\u{7f}"));
    }

    /// The rule for one character at a time.
    fn escaped(c: char) -> String {
        match c {
            '"' | '\\' => format!("\\{c}"),
            '\u{8}' => "\\b".to_owned(),
            '\u{c}' => "\\f".to_owned(),
            '\n' => "\\n".to_owned(),
            '\r' => "\\r".to_owned(),
            '\t' => "\\t".to_owned(),
            '\0'..='\u{1f}' | '<' | '>' | '&' | '\u{2028}' | '\u{2029}' => {
                format!("\\u{:04x}", u32::from(c))
            }
            c => c.to_string(),
        }
    }

    proptest! {
        #[test]
        fn text_is_escaped_character_by_character(
            text in vec(prop_oneof![any::<char>(), select(SPECIAL.chars().collect::<Vec<_>>())], 0..20)
        ) {
            let mut written = String::new();
            write_string(&text.iter().collect::<String>(), &mut written);
            let expected: String = text.into_iter().map(escaped).collect();
            prop_assert_eq!(&written, &format!("\"{expected}\""));
            prop_assert_eq!(&compact(&written), &written);
        }

        #[test]
        fn json_layout_never_panics(
            text in vec(prop_oneof![any::<char>(), select("\"\\{}[]:, é<".chars().collect::<Vec<_>>())], 0..20)
        ) {
            let text: String = text.into_iter().collect();
            let mut out = String::new();
            indent(&mut out, &text, 0);
            let _ = (compact(&text), is_too_deep(&text));
        }
    }

    /// Characters with an escape, and some beside them.
    const SPECIAL: &str = "\"\\\u{8}\u{c}\n\r\t\0\u{1f} \u{7f}<>&\u{2027}\u{2028}\u{2029}\u{202a}é";

    #[test]
    fn compacting_keeps_numbers_order_and_strings() {
        let text = " { \"b\" : [ 1.50 , 1e3,{ } , [ ] , null ] ,\n\"a\\\"}\": \"x < y , z\" }";
        assert_eq!(compact(text), "{\"b\":[1.50,1e3,{},[],null],\"a\\\"}\":\"x \\u003c y , z\"}");
    }

    #[test]
    fn indented_json_compacts_to_the_original() {
        let text = "{\"a\":[1,{},[],{\"b\":[[null]]}],\"c\":\"}\"}";
        let mut json = JsonText::with_capacity(0);
        json.open('{');
        json.key("x");
        json.json(text);
        json.close('}');
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
    fn json_layout_of_invalid_json_never_panics() {
        for text in ["", "\"", "\"\\", "}}}", "]{", "\"a\u{e9}\\", "\u{e9}", "{{{[["] {
            let mut out = String::new();
            indent(&mut out, text, 0);
            let _ = compact(text);
        }
    }
}
