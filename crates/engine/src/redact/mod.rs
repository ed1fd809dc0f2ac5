//! Redaction: removes secrets from the texts of providers and commands.
//!
//! The redactor finds a secret under every composition of two encodings that programs use for quoting: backslash
//! escapes at any level, percent-encoding, form encoding, HTML entities, lists of bytes, base64 at each alignment,
//! and hexadecimal. It also finds numbers in scientific notation. Programs quote parts of secrets too. The lines
//! of a secret, the values in a secret that is JSON, and the password in a URL are therefore secrets of their own.
//! So are the keys of secret maps and of secret JSON, except keys of JSON that consist only of letters, `_` and
//! `-`: these are field names, which occur in many messages.
//!
//! ```text
//!   text ─┬─────────────────────────────────────────────────────┬─► where secrets are
//!         ├─► Reading without one encoding ─────────────────────┤
//!         └─► Reading without one ─► Reading without another ───┘
//! ```
//!
//! The encodings are removed from the text instead of applied to the secret. The data for a secret thus does not
//! grow with the number of compositions, and a text is searched in a fixed number of passes, however many secrets
//! there are.
//!
//! The search takes many times the size of the secrets in memory. If there are more than [`MAX_SECRETS`] bytes of
//! secrets, the redactor does not search and replaces every text with [`WITHHELD`].
//!
//! **Invariant:** secrets shorter than [`MIN_SECRET`] bytes are not searched: they would match everywhere.

mod finder;
mod matcher;
mod reading;
mod spelling;
#[cfg(test)]
mod tests;

use std::{
    borrow::Cow,
    ops::Range,
    sync::{Arc, PoisonError, RwLock, RwLockWriteGuard},
};

use sorted::TreeSet;
use values::{
    Kind, MarkKind, Value,
    json::{self, Json},
};

use crate::redact::{
    matcher::Matcher,
    reading::{Layers, Reading},
};

pub(crate) use self::finder::{Finder, Trace};

/// The minimum length of a secret that is redacted, in bytes.
pub const MIN_SECRET: usize = 6;

/// The minimum length of a key of a sensitive map or of secret JSON that is redacted, in bytes.
const MIN_KEY: usize = 8;

/// The maximum total size of ephemeral secrets, and that of sensitive secrets, in bytes.
const MAX_SECRETS: usize = 256 * 1024;

/// The text that replaces a secret.
const REPLACEMENT: &str = "(redacted)";

/// The text that replaces a text in which secrets cannot be searched.
const WITHHELD: &str = "(withheld: the run has more secrets than can be looked for in this text)";

/// The secrets of a run, and their redaction. Clones share the secrets.
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
    secrets: TreeSet<Box<str>>,
    /// The total length of the secrets.
    length: usize,
    /// True if the secrets exceed [`MAX_SECRETS`]. None of them is stored then.
    is_full: bool,
    /// The texts to search for in a text and in all its readings.
    spellings: Matcher,
    /// Secrets that contain backslashes, in the form that they have after backslash escapes are removed.
    unescaped: Matcher,
}

/// The maximum depth of JSON within strings of JSON.
const MAX_INSIDE: usize = 3;

/// Returns true if `value` contains a secret text or number that is too short to be searched, so that redaction
/// cannot be complete.
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
    /// Creates a redactor without secrets.
    pub fn new() -> Redactor {
        Redactor::default()
    }

    /// Learns every ephemeral or sensitive text and number in `value`.
    pub fn learn(&self, value: &Value) {
        if !value.has_deep_secret() {
            return;
        }
        collect(value, false, false, &mut self.known());
    }

    /// Learns every text and number in `value` as ephemeral, whatever its marks are.
    pub fn learn_whole(&self, value: &Value) {
        collect(value, true, false, &mut self.known());
    }

    /// Learns a text that the user entered for an ephemeral value: verbatim, and in its normalized form as a
    /// value.
    pub fn learn_text(&self, text: &str) {
        self.known().ephemeral.add(text);
        self.learn_whole(&Value::string(text));
    }

    /// Learns the private data of an ephemeral resource: the bytes, and the texts in them if they are JSON, in
    /// which many providers store base64 of more JSON.
    pub fn learn_private(&self, bytes: &[u8]) {
        let known = &mut self.known().ephemeral;
        // Data that exceed the limit are not parsed for their parts either.
        if bytes.len() > MAX_SECRETS {
            return known.fill();
        }
        if let Ok(text) = std::str::from_utf8(bytes) {
            known.add(text);
        }
        known.add_inside(bytes, MAX_INSIDE);
    }

    /// Returns true if the secrets exceed the limit.
    pub(crate) fn is_full(&self) -> bool {
        let known = self.shared.read().unwrap_or_else(PoisonError::into_inner);
        known.ephemeral.is_full || known.sensitive.is_full
    }

    /// Forgets all secrets, at the end of a run.
    pub fn forget(&self) {
        *self.known() = Known::default();
    }

    /// Returns `text` without any ephemeral value.
    pub fn redact(&self, text: &str) -> String {
        let known = self.shared.read().unwrap_or_else(PoisonError::into_inner);
        if known.ephemeral.is_full && !text.is_empty() {
            return WITHHELD.to_owned();
        }
        replaced(text, known.ephemeral.find(text))
    }

    /// Returns true if the bytes contain an ephemeral value, or if the ephemeral values exceed the limit for a
    /// search.
    pub fn finds_ephemeral(&self, bytes: &[u8]) -> bool {
        let known = self.shared.read().unwrap_or_else(PoisonError::into_inner);
        if known.ephemeral.is_full {
            return !bytes.is_empty();
        }
        !known.ephemeral.secrets.is_empty()
            && !known.ephemeral.find(&String::from_utf8_lossy(bytes)).is_empty()
    }

    /// Returns `text` without any ephemeral or sensitive value.
    pub fn redact_all(&self, text: &str) -> String {
        let known = self.shared.read().unwrap_or_else(PoisonError::into_inner);
        if (known.ephemeral.is_full || known.sensitive.is_full) && !text.is_empty() {
            return WITHHELD.to_owned();
        }
        // Search for both kinds in the original text: replacing one kind first could split secrets of the other
        // kind.
        let mut found = known.ephemeral.find(text);
        found.extend(known.sensitive.find(text));
        replaced(text, merged(found))
    }

    fn known(&self) -> RwLockWriteGuard<'_, Known> {
        self.shared.write().unwrap_or_else(PoisonError::into_inner)
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
        // The keys of a map that is secret as a whole are secret too. The keys of an object are attribute names.
        if let (Kind::Map(_), Some(key)) = (value.kind(), key.as_str()) {
            if ephemeral {
                known.ephemeral.learn(key);
            } else if sensitive && key.len() >= MIN_KEY {
                known.sensitive.learn(key);
            }
        }
        collect(part, ephemeral, sensitive, known);
    }
}

impl Patterns {
    /// Adds a secret and its parts.
    fn learn(&mut self, secret: &str) {
        self.learn_within(secret, MAX_INSIDE);
    }

    /// Adds a secret and its parts, with JSON nested at most `depth` levels deeper.
    fn learn_within(&mut self, secret: &str, depth: usize) {
        if !self.add(secret) {
            return;
        }
        // Output that arrives line by line never contains a text of several lines as a whole.
        let lines = secret.lines().map(str::trim);
        let lines = lines.filter(|line| line.len() >= MIN_SECRET && *line != secret);
        self.spellings.add(lines.map(str::to_owned).collect());
        let Some(depth) = depth.checked_sub(1) else { return };
        for part in spelling::userinfo(secret) {
            self.learn_within(&part, depth);
        }
        if secret.trim_start().starts_with(['{', '[']) {
            self.add_inside(secret.as_bytes(), depth);
        }
    }

    /// Adds a secret as a whole, within the limit. Returns true if it is new and is searched.
    fn add(&mut self, secret: &str) -> bool {
        // Check the length before learning the secret, which takes a hundred times its length in memory.
        if secret.len() > MAX_SECRETS {
            self.fill();
        }
        let is_new = !self.is_full && self.insert(secret);
        if self.length > MAX_SECRETS {
            self.fill();
        }
        is_new && !self.is_full
    }

    /// Gives up the search because the secrets exceed the limit.
    fn fill(&mut self) {
        *self = Patterns { is_full: true, ..Patterns::default() };
    }

    /// Adds a secret as a whole, regardless of the limit. Returns true if it is new and long enough.
    fn insert(&mut self, secret: &str) -> bool {
        if secret.len() < MIN_SECRET || !self.secrets.insert(secret.into()) {
            return false;
        }
        self.length += secret.len();
        self.spellings.add(spelling::spellings(secret));
        if secret.contains('\\') {
            // A backslash at the end may form an escape with the next character of the text, and is then removed.
            let unescaped = Reading::unescaped(secret.trim_end_matches('\\').as_bytes()).text;
            if unescaped.len() >= MIN_SECRET {
                self.unescaped.add(vec![unescaped]);
            }
        }
        true
    }

    /// Learns the strings, numbers and keys of JSON, and those of JSON within its strings.
    fn add_inside(&mut self, bytes: &[u8], depth: usize) {
        for leaf in leaves(bytes) {
            match leaf {
                Leaf::Key(key) if key.len() < MIN_KEY || is_name(&key) => {}
                Leaf::Key(text) | Leaf::Text(text) => self.add_text_inside(&text, depth),
                Leaf::Number(number) => {
                    self.add(number);
                }
            }
        }
    }

    fn add_text_inside(&mut self, text: &str, depth: usize) {
        self.learn_within(text, depth);
        let Some(depth) = depth.checked_sub(1) else { return };
        if let Some(decoded) = spelling::from_base64(text) {
            self.add_inside(&decoded, depth);
            if let Ok(text) = String::from_utf8(decoded) {
                self.learn_within(&text, depth);
            }
        }
    }

    /// Returns the ranges of secrets in the text, sorted and without overlaps.
    fn find(&self, text: &str) -> Vec<Range<usize>> {
        if self.spellings.is_empty() {
            return Vec::new();
        }
        let mut found = Vec::new();
        Layers::visit(text.as_bytes(), &mut |layers| {
            let places = self.places(layers).into_iter();
            found.extend(places.map(|it| layers.written(it)));
            false
        });
        for range in &mut found {
            // A secret that contains an escape may end within a character.
            while !text.is_char_boundary(range.start) {
                range.start -= 1;
            }
            while !text.is_char_boundary(range.end) {
                range.end += 1;
            }
        }
        merged(found)
    }

    /// Returns the ranges of secrets in a reading.
    fn places(&self, layers: &Layers<'_>) -> Vec<Range<usize>> {
        let mut places = self.spellings.find(layers.text);
        if layers.is_unescaped {
            places.extend(self.unescaped.find(layers.text));
        }
        places
    }
}

/// A leaf of a JSON document.
enum Leaf<'a> {
    Key(Cow<'a, str>),
    Text(Cow<'a, str>),
    Number(&'a str),
}

/// Returns the leaves of a JSON document; empty if the bytes are not JSON.
fn leaves(bytes: &[u8]) -> Vec<Leaf<'_>> {
    let (mut open, mut leaves) = (Vec::new(), Vec::new());
    open.extend(json::parse(bytes));
    while let Some(json) = open.pop() {
        match json {
            Json::Array(items) => open.extend(items),
            Json::Object(fields) => {
                for (key, field) in fields {
                    leaves.push(Leaf::Key(key));
                    open.push(field);
                }
            }
            Json::Number(number) => leaves.push(Leaf::Number(number)),
            Json::String(text) => leaves.push(Leaf::Text(text)),
            Json::Null | Json::Bool(_) => {}
        }
    }
    leaves
}

/// Returns true if a key of JSON can only be a field name.
fn is_name(key: &str) -> bool {
    key.bytes().all(|it| it.is_ascii_alphabetic() || matches!(it, b'_' | b'-'))
}

/// Sorts the ranges and merges overlapping ones, so that no secret is split.
fn merged(mut found: Vec<Range<usize>>) -> Vec<Range<usize>> {
    sorted::sort_by_key(&mut found, |it| it.start);
    found.dedup_by(|next, last| {
        let overlaps = next.start < last.end;
        if overlaps {
            last.end = last.end.max(next.end);
        }
        overlaps
    });
    found
}

/// Returns the text with each of the sorted ranges replaced.
fn replaced(text: &str, places: Vec<Range<usize>>) -> String {
    let mut shown = String::with_capacity(text.len());
    let mut end = 0;
    for place in places {
        shown.push_str(&text[end..place.start]);
        shown.push_str(REPLACEMENT);
        end = place.end;
    }
    shown.push_str(&text[end..]);
    shown
}
