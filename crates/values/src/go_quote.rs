//! Go's `strconv.Quote`, which the order of sets and `%q` depend on.

use std::fmt::Write;

/// Appends `text` in double quotes with Go's escapes.
pub(crate) fn write(text: &str, out: &mut String) {
    out.push('"');
    for c in text.chars() {
        write_char(c, out);
    }
    out.push('"');
}

fn write_char(c: char, out: &mut String) {
    match c {
        '"' => out.push_str("\\\""),
        '\\' => out.push_str("\\\\"),
        '\u{7}' => out.push_str("\\a"),
        '\u{8}' => out.push_str("\\b"),
        '\u{c}' => out.push_str("\\f"),
        '\n' => out.push_str("\\n"),
        '\r' => out.push_str("\\r"),
        '\t' => out.push_str("\\t"),
        '\u{b}' => out.push_str("\\v"),
        c if is_printable(c) => out.push(c),
        c => {
            let code = u32::from(c);
            let _ = match code {
                0..0x20 | 0x7f => write!(out, "\\x{code:02x}"),
                0..=0xffff => write!(out, "\\u{code:04x}"),
                _ => write!(out, "\\U{code:08x}"),
            };
        }
    }
}

/// Whether Go prints the character as it is: letters, marks, numbers, punctuation, symbols and the ASCII space. Rust's
/// `{:?}` escapes by the same Unicode classes, and combining marks at the start of a text, which Go does not.
fn is_printable(c: char) -> bool {
    if c.is_ascii() {
        return (' '..='~').contains(&c);
    }
    // A letter before it keeps a combining mark from being escaped as the first of its text.
    let shown = format!("{:?}", format!("a{c}"));
    !shown.contains('\\')
}
