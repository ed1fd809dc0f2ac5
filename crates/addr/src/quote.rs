use std::fmt::{self, Write as _};

/// Returns `text` as a quoted HCL template that evaluates to exactly that text.
///
/// This is the form of an instance key in brackets: `"a\"b"`, `"$${x}"`, `"\u0007"`.
pub fn quote(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 2);
    write_quoted(&mut out, text).expect("writing to a String cannot fail");
    out
}

/// Writes `text` in the form of [`quote`].
pub(crate) fn write_quoted(out: &mut impl fmt::Write, text: &str) -> fmt::Result {
    out.write_str("\"")?;
    match text.bytes().all(is_plain) {
        true => out.write_str(text)?,
        false => out.write_str(&escaped(text))?,
    }
    out.write_str("\"")
}

fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text.chars().peekable();
    while let Some(it) = rest.next() {
        match it {
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '$' | '%' => {
                out.push(it);
                if rest.peek() == Some(&'{') {
                    out.push(it);
                }
            }
            _ if is_printable(it) => out.push(it),
            _ => push_escape(&mut out, it),
        }
    }
    out
}

/// Returns true for characters that are never escaped, which are all that most texts have.
fn is_plain(byte: u8) -> bool {
    matches!(byte, b' '..=b'~') && !matches!(byte, b'"' | b'\\' | b'$' | b'%')
}

fn push_escape(out: &mut String, it: char) {
    let code = u32::from(it);
    let written =
        if code < 0x1_0000 { write!(out, "\\u{code:04x}") } else { write!(out, "\\U{code:08x}") };
    written.expect("writing to a String cannot fail");
}

/// Returns true if a character is a letter, mark, number, punctuation, symbol or the plain space.
///
/// The standard library exposes this property only through `escape_debug`, which also escapes a combining mark at
/// the start of a text; hence the letter before it.
fn is_printable(it: char) -> bool {
    if it.is_ascii() {
        return !it.is_ascii_control();
    }
    let mut text = String::from("a");
    text.push(it);
    text.escape_debug().count() == 2
}

#[cfg(test)]
mod tests {
    use super::quote;

    #[track_caller]
    fn check(text: &str, expected: &str) {
        assert_eq!(quote(text), expected);
    }

    #[test]
    fn keys_are_quoted_as_hcl_templates() {
        check("", r#""""#);
        check("a", r#""a""#);
        check("a\"b\\c", r#""a\"b\\c""#);
        check("\n\r\t", r#""\n\r\t""#);
        check("${x} %{y} $x %", r#""$${x} %%{y} $x %""#);
        check("$${", r#""$$${""#);
        check("\u{7}é\u{301}日\u{a0}\u{200b}", "\"\\u0007é\u{301}日\\u00a0\\u200b\"");
        check("\u{e0001}", r#""\U000e0001""#);
    }
}
