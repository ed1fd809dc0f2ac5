//! Takes secrets out of what providers and commands say.
//!
//! A secret is looked for in every spelling in which programs quote things: as it is, escaped with backslashes any
//! number of times, percent-encoded, in base64 at its three alignments, and in hexadecimal. Programs also quote parts:
//! the lines of a secret, the members of one that is JSON, and the password in a URL are secrets of their own.
//!
//! **Invariant:** secrets shorter than [`MIN_SECRET`] bytes are not looked for: they would be found everywhere.

use std::{
    collections::BTreeSet,
    fmt::Write,
    ops::Range,
    sync::{Arc, PoisonError, RwLock},
};

use base64::Engine;
use regex::Regex;
use values::{Kind, MarkKind, Value};

/// The shortest secret that is replaced, in bytes.
pub const MIN_SECRET: usize = 6;

/// What stands in the place of a secret.
const REPLACEMENT: &str = "(redacted)";

/// Knows the secrets of a run. Clones share what they know.
#[derive(Clone, Default)]
pub struct Redactor {
    shared: Arc<RwLock<Known>>,
}

#[derive(Default)]
struct Known {
    ephemeral: Patterns,
    sensitive: Patterns,
}

/// The spellings of a set of secrets.
#[derive(Default)]
struct Patterns {
    secrets: BTreeSet<Box<str>>,
    /// What is looked for in the text itself.
    spellings: Matcher,
    /// What is looked for in the text without its escapes.
    unescaped: Matcher,
}

/// Looks for texts.
///
/// New ones are looked for one by one; once there are many, they become one expression, so that neither learning nor
/// redacting grows with the product of both.
#[derive(Default)]
struct Matcher {
    recent: Vec<Box<str>>,
    frozen: Vec<Regex>,
}

/// How many spellings are looked for one by one.
const MANY: usize = 512;

/// Whether a text or number inside of `value` is secret and too short to be looked for, so that a text without it
/// cannot be promised.
pub(crate) fn has_short_secret(value: &Value) -> bool {
    short_secret(value, false)
}

fn short_secret(value: &Value, is_secret: bool) -> bool {
    let is_secret = is_secret
        || value.marks().has(MarkKind::Ephemeral)
        || value.marks().has(MarkKind::Sensitive);
    if !is_secret && !value.has_deep_secret() {
        return false;
    }
    let length = match value.kind() {
        Kind::String(text) => text.len(),
        Kind::Number(number) => number.to_string().len(),
        _ => 0,
    };
    (is_secret && length > 0 && length < MIN_SECRET)
        || value.elements().any(|(_, part)| short_secret(part, is_secret))
}

impl Redactor {
    /// Knows nothing.
    pub fn new() -> Redactor {
        Redactor::default()
    }

    /// Learns every text and number inside of `value` that is ephemeral or sensitive.
    pub fn learn(&self, value: &Value) {
        if !value.has_deep_secret() {
            return;
        }
        let mut known = self.shared.write().unwrap_or_else(PoisonError::into_inner);
        collect(value, false, false, &mut known);
    }

    /// Learns every text and number inside of `value` as ephemeral, whatever its marks.
    pub fn learn_whole(&self, value: &Value) {
        let mut known = self.shared.write().unwrap_or_else(PoisonError::into_inner);
        collect(value, true, false, &mut known);
    }

    /// Forgets everything, at the end of a run.
    pub fn forget(&self) {
        *self.shared.write().unwrap_or_else(PoisonError::into_inner) = Known::default();
    }

    /// `text` without any ephemeral value.
    pub fn redact(&self, text: &str) -> String {
        self.shared.read().unwrap_or_else(PoisonError::into_inner).ephemeral.replace(text)
    }

    /// `text` without any ephemeral or sensitive value.
    pub fn redact_all(&self, text: &str) -> String {
        let known = self.shared.read().unwrap_or_else(PoisonError::into_inner);
        known.sensitive.replace(&known.ephemeral.replace(text))
    }
}

/// Looks for a few secrets as wholes: a line or a member that a secret shares with another text is no trace of it.
#[derive(Default)]
pub(crate) struct Finder {
    patterns: Patterns,
}

impl Finder {
    pub(crate) fn add(&mut self, secret: &str) {
        self.patterns.add(secret);
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.patterns.secrets.is_empty()
    }

    /// Whether one of the secrets is in the text, in any of its spellings.
    pub(crate) fn finds(&self, text: &str) -> bool {
        !self.is_empty() && !self.patterns.find(text).is_empty()
    }

    /// Whether one of the secrets is in the bytes. Those that are no text hold the spellings, which are text, all the same.
    pub(crate) fn finds_in_bytes(&self, bytes: &[u8]) -> bool {
        !self.is_empty() && self.finds(&String::from_utf8_lossy(bytes))
    }
}

fn collect(value: &Value, ephemeral: bool, sensitive: bool, known: &mut Known) {
    let ephemeral = ephemeral || value.marks().has(MarkKind::Ephemeral);
    let sensitive = sensitive || value.marks().has(MarkKind::Sensitive);
    if !ephemeral && !sensitive && !value.has_deep_secret() {
        return;
    }
    let text = match value.kind() {
        Kind::String(text) => Some(text.to_string()),
        Kind::Number(number) => Some(number.to_string()),
        _ => None,
    };
    if let Some(text) = text {
        if ephemeral {
            known.ephemeral.learn(&text);
        } else if sensitive {
            known.sensitive.learn(&text);
        }
    }
    for (key, part) in value.elements() {
        if ephemeral && let Some(key) = key.as_str() {
            // Keys of a map that is ephemeral as a whole are as secret as its values; those of an object are names.
            if matches!(value.kind(), Kind::Map(_)) {
                known.ephemeral.learn(key);
            }
        }
        collect(part, ephemeral, sensitive, known);
    }
}

impl Patterns {
    /// Adds a secret and its parts.
    fn learn(&mut self, secret: &str) {
        if !self.add(secret) {
            return;
        }
        // What arrives line by line never holds a text of several lines as a whole.
        let lines = secret.lines().map(str::trim).filter(|line| line.len() >= MIN_SECRET);
        self.spellings.add(lines.map(str::to_owned).collect());
        // Members are shorter than the text around them, so this ends.
        members(secret).iter().for_each(|member| self.learn(member));
    }

    /// Adds a secret as a whole; gives whether it is looked for only from here on.
    fn add(&mut self, secret: &str) -> bool {
        if secret.len() < MIN_SECRET || !self.secrets.insert(secret.into()) {
            return false;
        }
        self.spellings.add(spellings(secret));
        // A backslash at the end may escape what follows in the text, and is gone there.
        let unescaped = Reading::unescaped(secret.trim_end_matches('\\')).text;
        if unescaped.len() >= MIN_SECRET {
            self.unescaped.add(vec![unescaped]);
        }
        true
    }

    /// Where secrets are, in order and without overlaps.
    fn find(&self, text: &str) -> Vec<Range<usize>> {
        let mut found = self.find_unescaped(text);
        if text.contains('%') && !self.spellings.is_empty() {
            let decoded = Reading::percent_decoded(text);
            let places = self.find_unescaped(&decoded.text);
            found.extend(places.into_iter().map(|it| decoded.written(it)));
        }
        found.sort_by_key(|it| it.start);
        found.dedup_by(|next, last| {
            // A secret that overlaps another is replaced together with it, so that none is torn.
            let overlaps = next.start < last.end;
            if overlaps {
                last.end = last.end.max(next.end);
            }
            overlaps
        });
        found
    }

    /// Where secrets are, as they are or behind backslashes.
    fn find_unescaped(&self, text: &str) -> Vec<Range<usize>> {
        let mut found = self.spellings.find(text);
        if text.contains('\\') && !self.unescaped.is_empty() {
            let unescaped = Reading::unescaped(text);
            let places = self.unescaped.find(&unescaped.text);
            found.extend(places.into_iter().map(|it| unescaped.written(it)));
        }
        found
    }

    fn replace(&self, text: &str) -> String {
        let mut shown = String::with_capacity(text.len());
        let mut end = 0;
        for range in self.find(text) {
            shown.push_str(&text[end..range.start]);
            shown.push_str(REPLACEMENT);
            end = range.end;
        }
        shown.push_str(&text[end..]);
        shown
    }
}

impl Matcher {
    fn add(&mut self, texts: Vec<String>) {
        self.recent.extend(texts.into_iter().map(String::into_boxed_str));
        if self.recent.len() >= MANY {
            self.freeze();
        }
    }

    fn is_empty(&self) -> bool {
        self.recent.is_empty() && self.frozen.is_empty()
    }

    fn freeze(&mut self) {
        // At one place in the text the first alternative counts, which is to be the longest.
        self.recent.sort_by(|a, b| b.len().cmp(&a.len()).then_with(|| a.cmp(b)));
        self.recent.dedup();
        let alternatives: Vec<String> = self.recent.iter().map(|it| regex::escape(it)).collect();
        let matcher =
            regex::RegexBuilder::new(&alternatives.join("|")).size_limit(usize::MAX).build();
        // A set of literals always compiles; should it not, they are looked for one by one.
        if let Ok(matcher) = matcher {
            self.frozen.push(matcher);
            self.recent.clear();
        }
    }

    /// Where the texts are, in no order.
    fn find(&self, text: &str) -> Vec<Range<usize>> {
        let mut found: Vec<Range<usize>> = Vec::new();
        for wanted in &self.recent {
            found.extend(text.match_indices(&**wanted).map(|(at, it)| at..at + it.len()));
        }
        for matcher in &self.frozen {
            found.extend(matcher.find_iter(text).map(|it| it.range()));
        }
        found
    }
}

/// A text read without its escapes, so that a secret and its escaped form come out the same: encoders differ in what they
/// escape, and a text may have passed several.
struct Reading {
    text: String,
    /// Where each byte of `text` was written, and the end.
    starts: Vec<usize>,
}

impl Reading {
    /// Without percent-encoding, whichever bytes were encoded.
    fn percent_decoded(text: &str) -> Reading {
        let mut it = Reading { text: String::with_capacity(text.len()), starts: Vec::new() };
        let mut at = 0;
        while at < text.len() {
            let mut run = Vec::new();
            while let Some(byte) = percent_byte(text, at + run.len() * 3) {
                run.push(byte);
            }
            let mut start = at;
            for chunk in run.utf8_chunks() {
                for _ in chunk.valid().bytes() {
                    it.starts.push(start);
                    start += 3;
                }
                it.text.push_str(chunk.valid());
                if !chunk.invalid().is_empty() {
                    it.text.push(char::REPLACEMENT_CHARACTER);
                    it.starts.resize(it.text.len(), start);
                    start += 3 * chunk.invalid().len();
                }
            }
            at += run.len() * 3;
            if let Some(character) = text[at..].chars().next() {
                it.text.push(character);
                it.starts.resize(it.text.len(), at);
                at += character.len_utf8();
            }
        }
        it.starts.push(text.len());
        it
    }

    /// Without the escapes of JSON and its kin, however often it was quoted. Encoders differ in what they escape (`<` in
    /// Go, `é` in Python, `/` in PHP), and a body of JSON that holds JSON mixes their choices.
    fn unescaped(text: &str) -> Reading {
        let mut it = Reading { text: String::with_capacity(text.len()), starts: Vec::new() };
        let mut rest = text;
        while let Some(first) = rest.chars().next() {
            let (character, used) =
                if first == '\\' { escape(rest) } else { (first, first.len_utf8()) };
            let start = text.len() - rest.len();
            it.text.push(character);
            it.starts.resize(it.text.len(), start);
            rest = &rest[used..];
        }
        it.starts.push(text.len());
        it
    }

    /// Where the part was written.
    fn written(&self, part: Range<usize>) -> Range<usize> {
        self.starts[part.start]..self.starts[part.end]
    }
}

/// The byte of a `%XX` at `at`.
fn percent_byte(text: &str, at: usize) -> Option<u8> {
    let digits = text.get(at..at + 3)?.strip_prefix('%')?;
    let is_hex = digits.bytes().all(|byte| byte.is_ascii_hexdigit());
    if is_hex { u8::from_str_radix(digits, 16).ok() } else { None }
}

/// The character that backslashes at the start of `text` stand for together with what follows, and the length of both.
fn escape(text: &str) -> (char, usize) {
    let rest = text.trim_start_matches('\\');
    let slashes = text.len() - rest.len();
    let Some(next) = rest.chars().next() else { return ('\\', slashes) };
    let plain = match next {
        'n' => '\n',
        'r' => '\r',
        't' => '\t',
        'b' => '\u{8}',
        'f' => '\u{c}',
        'u' => match code_unit(rest) {
            Some(unit) => return wide(unit, &rest[5..], slashes + 5),
            None => next,
        },
        other => other,
    };
    (plain, slashes + next.len_utf8())
}

/// The UTF-16 unit of `uXXXX`.
fn code_unit(text: &str) -> Option<u32> {
    let digits = text.get(1..5).filter(|it| it.bytes().all(|byte| byte.is_ascii_hexdigit()))?;
    u32::from_str_radix(digits, 16).ok()
}

/// The character of an escaped unit of UTF-16, together with a second one that may follow it.
fn wide(unit: u32, rest: &str, used: usize) -> (char, usize) {
    if (0xd800..0xdc00).contains(&unit) {
        let after = rest.trim_start_matches('\\');
        let low =
            code_unit(after).filter(|it| (0xdc00..0xe000).contains(it) && after.starts_with('u'));
        if let Some(low) = low {
            let both = 0x10000 + ((unit - 0xd800) << 10) + (low - 0xdc00);
            let length = rest.len() - after.len() + 5;
            return (char::from_u32(both).unwrap_or(char::REPLACEMENT_CHARACTER), used + length);
        }
    }
    (char::from_u32(unit).unwrap_or(char::REPLACEMENT_CHARACTER), used)
}

/// Every form in which a secret may be quoted, but for those that backslashes make.
fn spellings(secret: &str) -> Vec<String> {
    let mut found = vec![secret.to_owned()];
    // Forms write a space as a plus, which only they read as one; percent signs are read by [`Reading`].
    if secret.contains(' ') {
        found.push(secret.replace(' ', "+"));
    }
    found.extend(base64_forms(secret.as_bytes()));
    let hex = secret.bytes().fold(String::new(), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    });
    found.push(hex.to_uppercase());
    found.push(hex);
    found.retain(|it| it.len() >= MIN_SECRET);
    found
}

/// The texts inside of a secret that programs take out of it and quote on their own: what a JSON text holds, and who logs
/// in with what at a URL.
fn members(secret: &str) -> Vec<String> {
    let mut found = Vec::new();
    if secret.trim_start().starts_with(['{', '['])
        && let Ok(json) = serde_json::from_str(secret)
    {
        json_members(&json, &mut found);
    }
    for (_, rest) in secret.match_indices("://").map(|(at, it)| secret.split_at(at + it.len())) {
        let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
        let Some((user, _)) = authority.rsplit_once('@') else { continue };
        let password = user.split_once(':').map(|(_, password)| password);
        for part in password.into_iter().chain([user]) {
            found.push(Reading::percent_decoded(part).text);
            found.push(part.to_owned());
        }
    }
    found
}

fn json_members(json: &serde_json::Value, found: &mut Vec<String>) {
    match json {
        serde_json::Value::String(text) => found.push(text.clone()),
        serde_json::Value::Number(number) => found.push(number.to_string()),
        serde_json::Value::Array(items) => items.iter().for_each(|it| json_members(it, found)),
        serde_json::Value::Object(entries) => {
            entries.values().for_each(|it| json_members(it, found))
        }
        serde_json::Value::Null | serde_json::Value::Bool(_) => {}
    }
}

/// The characters of base64 that depend on nothing but the secret, wherever in a longer text it begins.
fn base64_forms(secret: &[u8]) -> Vec<String> {
    let mut forms = Vec::new();
    for alignment in 0..3 {
        let mut bytes = vec![0; alignment];
        bytes.extend_from_slice(secret);
        for engine in [
            &base64::engine::general_purpose::STANDARD_NO_PAD,
            &base64::engine::general_purpose::URL_SAFE_NO_PAD,
        ] {
            let text = engine.encode(&bytes);
            let first = [0, 2, 3][alignment];
            let last = text.len() - usize::from(bytes.len() % 3 != 0);
            if let Some(form) = text.get(first..last)
                && form.len() >= MIN_SECRET
            {
                forms.push(form.to_owned());
            }
        }
    }
    forms
}

#[cfg(test)]
mod tests {
    use base64::prelude::{BASE64_STANDARD, Engine as _};
    use values::Mark;

    use super::*;

    fn knowing(secret: &str) -> Redactor {
        let redactor = Redactor::new();
        redactor.learn(&Value::string(secret).with_mark(Mark::Ephemeral));
        redactor
    }

    #[track_caller]
    fn check(secret: &str, text: &str, expected: &str) {
        assert_eq!(knowing(secret).redact(text), expected);
    }

    #[test]
    fn every_spelling_is_replaced() {
        let secret = "p\"ss<w&rd\\é 1";
        check(secret, &format!("a {secret} b"), "a (redacted) b");
        check(secret, r#"{"k":"p\"ss<w&rd\\é 1"}"#, r#"{"k":"(redacted)"}"#);
        check(secret, r#"{"k":"p\"ss\u003cw\u0026rd\\é 1"}"#, r#"{"k":"(redacted)"}"#);
        check(secret, r#""{\"k\":\"p\\\"ss<w&rd\\\\é 1\"}""#, r#""{\"k\":\"(redacted)\"}""#);
        check(secret, r#"{"k":"p\"ss\u003Cw&rd\\\u00e9 1"}"#, r#"{"k":"(redacted)"}"#);
        check(
            secret,
            r#"\\\"p\\\\\\\"ss\\\\u003cw&rd\\\\\\\\\u00E9 1\\\""#,
            r#"\\\"(redacted)\\\""#,
        );
        check(secret, "?q=p%22ss%3Cw%26rd%5C%C3%A9+1&x", "?q=(redacted)&x");
        check(secret, "/p%22ss%3cw%26rd%5c%c3%a9%201/", "/(redacted)/");
        check("hunter2", "68756e74657232", "(redacted)");
        check("hunter2", "68756E74657232", "(redacted)");
    }

    #[test]
    fn escapes_stand_for_what_they_escape() {
        check("a/b c/\n\td", r#"["a\/b c\/\n\td"]"#, r#"["(redacted)"]"#);
        check("smile 😀!", r#""smile \ud83d\ude00!""#, r#""(redacted)""#);
        check("ends in \\", r#"{"path":"ends in \\"}"#, r#"{"path":"(redacted)\"}"#);
        check(r"C:\newest", r#""C:\\newest""#, r#""(redacted)""#);
        check("newest", r"C:\newest", r"C:\(redacted)");
        check("secret", r"\\", r"\\");
        check("secret", r"\u12 \ud800 \u00", r"\u12 \ud800 \u00");
    }

    #[test]
    fn base64_is_found_at_every_alignment() {
        for prefix in ["", "a", "ab", "abc"] {
            for suffix in ["", "x", "xy"] {
                let text = BASE64_STANDARD.encode(format!("{prefix}correct horse{suffix}"));
                let shown = knowing("correct horse").redact(&text);
                assert!(shown.contains(REPLACEMENT), "{prefix}|{suffix}: {shown}");
            }
        }
    }

    #[test]
    fn many_secrets_are_found_and_none_is_torn() {
        let redactor = Redactor::new();
        for index in 0..200 {
            redactor
                .learn(&Value::string(format!("secret-number-{index}")).with_mark(Mark::Ephemeral));
        }
        redactor.learn(&Value::string("a secret-number-1 b").with_mark(Mark::Ephemeral));
        for index in 0..200 {
            assert_eq!(
                redactor.redact(&format!("<secret-number-{index}>")),
                "<(redacted)>",
                "{index}"
            );
        }
        assert_eq!(redactor.redact("<a secret-number-1 b>"), "<(redacted)>");
    }

    #[test]
    fn parts_that_programs_take_out_of_a_secret_are_replaced_too() {
        let json = r#"{"user": "admin-user", "nested": [{"pin": 12345678, "inner": "{\"k\": \"deep-secret\"}"}]}"#;
        check(
            json,
            "admin-user 12345678 deep-secret nested",
            "(redacted) (redacted) (redacted) nested",
        );
        let url = "postgres://admin:p%40ss-word@host:5432/db?x=a@b";
        check(url, "p%40ss-word, p@ss-word, 5432", "(redacted), (redacted), 5432");
        check(url, "host:5432/db", "host:5432/db");
        check("https://host/path@x", "host/path@", "host/path@");
    }

    #[test]
    fn a_finder_finds_whole_secrets_only() {
        let mut finder = Finder::default();
        assert!(!finder.finds("anything"));
        finder.add("-----BEGIN KEY-----\nsecret line\n-----END KEY-----");
        finder.add(r#"{"engine": "postgresql"}"#);
        assert!(!finder.finds("-----BEGIN KEY-----\nanother line\n-----END KEY-----"));
        assert!(!finder.finds("postgresql"));
        assert!(finder.finds(r#"{"k": "-----BEGIN KEY-----\nsecret line\n-----END KEY-----"}"#));
        assert!(finder.finds_in_bytes(b"\xff {\"engine\": \"postgresql\"} \xff"));
    }

    #[test]
    fn lines_of_a_longer_secret_are_replaced_one_by_one() {
        check("first line\nsecond line", "said: second line", "said: (redacted)");
    }

    #[test]
    fn short_secrets_are_not_looked_for_but_told() {
        assert_eq!(knowing("abc").redact("abcdef"), "abcdef");
        assert!(has_short_secret(&Value::string("abc").with_mark(Mark::Ephemeral)));
        assert!(has_short_secret(&Value::tuple(vec![Value::int(1234)]).with_mark(Mark::Sensitive)));
        assert!(!has_short_secret(&Value::string("abcdef").with_mark(Mark::Ephemeral)));
        assert!(!has_short_secret(&Value::string("abc")));
    }

    #[test]
    fn sensitive_values_are_replaced_only_where_that_is_asked_for() {
        let redactor = Redactor::new();
        redactor.learn(&Value::string("eu-west-1").with_mark(Mark::Sensitive));
        assert_eq!(redactor.redact("in eu-west-1"), "in eu-west-1");
        assert_eq!(redactor.redact_all("in eu-west-1"), "in (redacted)");
    }
}
