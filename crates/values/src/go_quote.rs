//! Go's `strconv.Quote`, on which the order of sets and the verb `%q` depend.

use std::fmt::Write;

/// Appends `text` in double quotes with Go's escapes.
pub(crate) fn write(text: &str, out: &mut String) {
    out.push('"');
    // Most texts are names.
    match text.bytes().all(|it| matches!(it, b' '..=b'~') && !matches!(it, b'"' | b'\\')) {
        true => out.push_str(text),
        false => text.chars().for_each(|c| write_char(c, out)),
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

/// Returns true if Go prints the character unescaped: letters, marks, numbers, punctuation, symbols and the ASCII
/// space. Rust's `escape_debug` uses the same Unicode classes with two exceptions. It escapes a combining mark at
/// the start of a text, which Go does not, and elsewhere it does not escape joiners and tags, which Go does.
fn is_printable(c: char) -> bool {
    if c.is_ascii() {
        return (' '..='~').contains(&c);
    }
    let is_format = matches!(c, '\u{200c}' | '\u{200d}' | '\u{e0020}'..='\u{e007f}');
    !is_format && !format!("a{c}").escape_debug().any(|it| it == '\\')
}

#[cfg(test)]
mod tests {
    use super::write;

    #[test]
    fn invisible_characters_are_escaped_and_combining_marks_are_not() {
        let mut quoted = String::new();
        write("\u{2640}\u{fe0f}q\u{301}\u{200d}\u{200c}\u{a0}\u{e0041}\u{ff9e}", &mut quoted);
        assert_eq!(quoted, "\"\u{2640}\u{fe0f}q\u{301}\\u200d\\u200c\\u00a0\\U000e0041\u{ff9e}\"");
    }
}
