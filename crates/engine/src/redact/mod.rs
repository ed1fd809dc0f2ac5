//! Takes secrets out of what providers and commands say.
//!
//! A secret is looked for under every composition of two of the encodings in which programs quote things: escaped with
//! backslashes any number of times, percent-encoded, as a form, with the entities of HTML, as a list of bytes, in base64
//! at its three alignments, and in hexadecimal; a number also with an exponent. Programs also quote parts: the lines of a
//! secret, what is inside of one that is JSON, and the password in a URL are secrets of their own. So are keys of secret
//! maps and of secret JSON, but for names: in JSON, keys of letters, `_` and `-` only name fields, and are words of many
//! messages.
//!
//! ```text
//!   text ─┬─────────────────────────────────────────────────────┬─► where secrets are
//!         ├─► Reading without one encoding ─────────────────────┤
//!         └─► Reading without one ─► Reading without another ───┘
//! ```
//!
//! The encodings are taken off the text and not put on the secret: what is known of a secret does not grow with the number
//! of compositions, and looking through a text takes a fixed number of passes, however many secrets there are.
//!
//! Looking for a secret takes many times its length of memory. Where there are more than [`MAX_SECRETS`] bytes of them,
//! none is looked for, and nothing is said instead of every text: [`WITHHELD`].
//!
//! **Invariant:** secrets shorter than [`MIN_SECRET`] bytes are not looked for: they would be found everywhere.

mod finder;
mod matcher;
mod reading;
mod spelling;

use std::{
    collections::BTreeSet,
    ops::Range,
    sync::{Arc, PoisonError, RwLock, RwLockWriteGuard},
};

use serde_json::Value as Json;
use values::{Kind, MarkKind, Value};

pub(crate) use self::finder::{Finder, Trace};
use self::{
    matcher::Matcher,
    reading::{Layers, Reading},
};

/// The shortest secret that is replaced, in bytes.
pub const MIN_SECRET: usize = 6;

/// The shortest key of a sensitive map or of secret JSON that is replaced, in bytes.
const MIN_KEY: usize = 8;

/// How many bytes of secrets are looked for, of ephemeral and of sensitive ones each.
const MAX_SECRETS: usize = 256 * 1024;

/// What stands in the place of a secret.
const REPLACEMENT: &str = "(redacted)";

/// What stands in the place of a text in which secrets cannot be looked for.
const WITHHELD: &str = "(withheld: the run has more secrets than can be looked for in this text)";

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
    /// The length of all secrets.
    length: usize,
    /// Whether there are more secrets than are looked for; then none is here.
    is_full: bool,
    /// What is looked for in the text and in every reading of it.
    spellings: Matcher,
    /// What is left of secrets with backslashes where backslashes were taken off.
    unescaped: Matcher,
}

/// How often JSON is looked for in texts of JSON.
const MAX_INSIDE: usize = 3;

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
        collect(value, false, false, &mut self.known());
    }

    /// Learns every text and number inside of `value` as ephemeral, whatever its marks.
    pub fn learn_whole(&self, value: &Value) {
        collect(value, true, false, &mut self.known());
    }

    /// Learns a text that somebody typed for something ephemeral: as it is, and as a value of it would be.
    pub fn learn_text(&self, text: &str) {
        self.known().ephemeral.add(text);
        self.learn_whole(&Value::string(text));
    }

    /// Learns what a provider keeps about something ephemeral: the bytes, and the texts in them if they are JSON, in which
    /// many providers keep base64 of more JSON.
    pub fn learn_private(&self, bytes: &[u8]) {
        let known = &mut self.known().ephemeral;
        // What is too long to be looked for is not searched for parts either.
        if bytes.len() > MAX_SECRETS {
            return known.fill();
        }
        if let Ok(text) = std::str::from_utf8(bytes) {
            known.add(text);
        }
        known.add_inside(bytes, MAX_INSIDE);
    }

    /// Whether there are more secrets than can be looked for.
    pub(crate) fn is_full(&self) -> bool {
        let known = self.shared.read().unwrap_or_else(PoisonError::into_inner);
        known.ephemeral.is_full || known.sensitive.is_full
    }

    /// Forgets everything, at the end of a run.
    pub fn forget(&self) {
        *self.known() = Known::default();
    }

    /// `text` without any ephemeral value.
    pub fn redact(&self, text: &str) -> String {
        let known = self.shared.read().unwrap_or_else(PoisonError::into_inner);
        if known.ephemeral.is_full && !text.is_empty() {
            return WITHHELD.to_owned();
        }
        replaced(text, known.ephemeral.find(text))
    }

    /// Whether an ephemeral value is somewhere in these bytes, or may be because there are too many to look for.
    pub fn finds_ephemeral(&self, bytes: &[u8]) -> bool {
        let known = self.shared.read().unwrap_or_else(PoisonError::into_inner);
        if known.ephemeral.is_full {
            return !bytes.is_empty();
        }
        !known.ephemeral.secrets.is_empty()
            && !known.ephemeral.find(&String::from_utf8_lossy(bytes)).is_empty()
    }

    /// `text` without any ephemeral or sensitive value.
    pub fn redact_all(&self, text: &str) -> String {
        let known = self.shared.read().unwrap_or_else(PoisonError::into_inner);
        if (known.ephemeral.is_full || known.sensitive.is_full) && !text.is_empty() {
            return WITHHELD.to_owned();
        }
        // Both are found in the same text: replaced one after the other, one would tear those of the other.
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
        // Keys of a map that is secret as a whole are as secret as its values; those of an object are names.
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

    /// The same for a text that lies in others already, and in `depth` more at most.
    fn learn_within(&mut self, secret: &str, depth: usize) {
        if !self.add(secret) {
            return;
        }
        // What arrives line by line never holds a text of several lines as a whole.
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

    /// Adds a secret as a whole, if there is room for it; gives whether it is looked for only from here on.
    fn add(&mut self, secret: &str) -> bool {
        // Looked at before it is learned: that alone takes a hundred times its length.
        if secret.len() > MAX_SECRETS {
            self.fill();
        }
        let is_new = !self.is_full && self.insert(secret);
        if self.length > MAX_SECRETS {
            self.fill();
        }
        is_new && !self.is_full
    }

    /// Gives up looking for secrets, because there are too many.
    fn fill(&mut self) {
        *self = Patterns { is_full: true, ..Patterns::default() };
    }

    /// The same, whether there is room or not.
    fn insert(&mut self, secret: &str) -> bool {
        if secret.len() < MIN_SECRET || !self.secrets.insert(secret.into()) {
            return false;
        }
        self.length += secret.len();
        self.spellings.add(spelling::spellings(secret));
        if secret.contains('\\') {
            // A backslash at the end may escape what follows in the text, and is gone there.
            let unescaped = Reading::unescaped(secret.trim_end_matches('\\').as_bytes()).text;
            if unescaped.len() >= MIN_SECRET {
                self.unescaped.add(vec![unescaped]);
            }
        }
        true
    }

    /// Learns the texts, numbers and keys of JSON, and those of JSON inside of its texts.
    fn add_inside(&mut self, bytes: &[u8], depth: usize) {
        for leaf in leaves(bytes) {
            match leaf {
                Leaf::Key(key) if key.len() < MIN_KEY || is_name(&key) => {}
                Leaf::Key(text) | Leaf::Text(text) => self.add_text_inside(&text, depth),
                Leaf::Number(number) => {
                    self.add(&number);
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

    /// Where secrets are, in order and without overlaps.
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
            // A secret that holds an escape of its own may end inside of a character.
            while !text.is_char_boundary(range.start) {
                range.start -= 1;
            }
            while !text.is_char_boundary(range.end) {
                range.end += 1;
            }
        }
        merged(found)
    }

    /// Where secrets are in a reading.
    fn places(&self, layers: &Layers<'_>) -> Vec<Range<usize>> {
        let mut places = self.spellings.find(layers.text);
        if layers.is_unescaped {
            places.extend(self.unescaped.find(layers.text));
        }
        places
    }
}

/// What JSON says at its ends.
enum Leaf {
    Key(String),
    Text(String),
    Number(String),
}

/// The ends of what the bytes are as JSON; none if they are none.
fn leaves(bytes: &[u8]) -> Vec<Leaf> {
    let (mut open, mut leaves) = (Vec::new(), Vec::new());
    open.extend(serde_json::from_slice(bytes));
    while let Some(json) = open.pop() {
        match json {
            Json::Array(items) => open.extend(items),
            Json::Object(fields) => {
                for (key, field) in fields {
                    leaves.push(Leaf::Key(key));
                    open.push(field);
                }
            }
            Json::Number(number) => leaves.push(Leaf::Number(number.to_string())),
            Json::String(text) => leaves.push(Leaf::Text(text)),
            Json::Null | Json::Bool(_) => {}
        }
    }
    leaves
}

/// Whether a key of JSON is but the name of a field.
fn is_name(key: &str) -> bool {
    key.bytes().all(|it| it.is_ascii_alphabetic() || matches!(it, b'_' | b'-'))
}

/// The places in order; those that overlap become one, so that no secret is torn.
fn merged(mut found: Vec<Range<usize>>) -> Vec<Range<usize>> {
    found.sort_by_key(|it| it.start);
    found.dedup_by(|next, last| {
        let overlaps = next.start < last.end;
        if overlaps {
            last.end = last.end.max(next.end);
        }
        overlaps
    });
    found
}

/// The text with each of the places replaced, which are in order.
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

#[cfg(test)]
mod tests;
