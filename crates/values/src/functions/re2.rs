//! Translates RE2 patterns to the syntax of the crate `regex`, which differs only in some classes and in quotes.

use std::{iter::Peekable, str::Chars};

const DIGIT: &str = "0-9";
const WORD: &str = "0-9A-Za-z_";
const SPACE: &str = "\\t\\n\\f\\r ";

/// Returns the equivalent pattern. `\d`, `\w`, `\s` and `\b` match only ASCII in RE2, and `\Q…\E` quotes.
pub(super) fn translated(pattern: &str) -> String {
    let mut out = String::with_capacity(pattern.len() + 16);
    let mut chars = pattern.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '\\' => escape(&mut chars, &mut out),
            '[' => class(&mut chars, &mut out),
            // A brace that begins no repetition is a literal brace.
            '{' if !is_repetition(chars.clone()) => out.push_str("\\{"),
            c => out.push(c),
        }
    }
    out
}

fn escape(chars: &mut Peekable<Chars<'_>>, out: &mut String) {
    match chars.next() {
        Some('d') => out.push_str(&format!("[{DIGIT}]")),
        Some('D') => out.push_str(&format!("[^{DIGIT}]")),
        Some('w') => out.push_str(&format!("[{WORD}]")),
        Some('W') => out.push_str(&format!("[^{WORD}]")),
        Some('s') => out.push_str(&format!("[{SPACE}]")),
        Some('S') => out.push_str(&format!("[^{SPACE}]")),
        Some('b') => out.push_str("(?-u:\\b)"),
        Some('Q') => quote(chars, out),
        Some(c @ ('<' | '>')) => out.push(c),
        Some(c) => out.extend(['\\', c]),
        None => out.push('\\'),
    }
}

/// Escapes all characters up to `\E` or to the end.
fn quote(chars: &mut Peekable<Chars<'_>>, out: &mut String) {
    while let Some(c) = chars.next() {
        if c == '\\' && chars.next_if_eq(&'E').is_some() {
            return;
        }
        out.push_str(&regex::escape(c.encode_utf8(&mut [0; 4])));
    }
}

/// Translates a class after its opening bracket. The operators that `regex` allows in classes are plain characters
/// in RE2.
fn class(chars: &mut Peekable<Chars<'_>>, out: &mut String) {
    out.push('[');
    if chars.next_if_eq(&'^').is_some() {
        out.push('^');
    }
    if chars.next_if_eq(&']').is_some() {
        out.push_str("\\]");
    }
    while let Some(c) = chars.next() {
        match c {
            ']' => return out.push(']'),
            '[' if chars.peek() == Some(&':') => named_class(chars, out),
            '[' | '&' | '~' => out.extend(['\\', c]),
            '\\' => match chars.next() {
                Some('d') => out.push_str(DIGIT),
                Some('w') => out.push_str(WORD),
                Some('s') => out.push_str(SPACE),
                Some('D') => out.push_str(&format!("[^{DIGIT}]")),
                Some('W') => out.push_str(&format!("[^{WORD}]")),
                Some('S') => out.push_str(&format!("[^{SPACE}]")),
                Some(c @ ('<' | '>')) => out.push(c),
                Some(c) => out.extend(['\\', c]),
                None => out.push('\\'),
            },
            c => out.push(c),
        }
    }
}

/// Translates `[:alpha:]` after its opening bracket, or escapes the bracket if the name has no such end.
fn named_class(chars: &mut Peekable<Chars<'_>>, out: &mut String) {
    let ahead: String = chars.clone().take_while(|c| *c != ']').collect();
    if ahead.len() > 2 && ahead.ends_with(':') {
        out.push('[');
        out.extend(chars.by_ref().take(ahead.chars().count() + 1));
    } else {
        out.push_str("\\[");
    }
}

/// Returns true if the rest of `{2}`, `{2,}` or `{2,3}` follows.
fn is_repetition(chars: Peekable<Chars<'_>>) -> bool {
    let inside: String = chars.take_while(|c| *c != '}').take(12).collect();
    let (least, most) = inside.split_once(',').unwrap_or((&inside, "0"));
    let is_number = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    !least.is_empty() && is_number(least) && is_number(most)
}
