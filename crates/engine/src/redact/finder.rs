//! Checks whether a text contains a secret, for code that must not store it. In contrast to redaction, a false
//! positive does harm here: a common word must not be taken for a secret.

use std::ops::Range;

use crate::redact::{Leaf, MAX_INSIDE, Patterns, leaves, reading::Layers, spelling};

/// The minimum length of a secret that is searched within larger texts, in bytes.
const LEAST_PART: usize = 16;

/// The maximum length of a secret that is searched in all its spellings, in bytes. The spellings take a hundred
/// times that memory.
const LONGEST_SPELLED: usize = 1 << 20;

/// Finds secrets as a whole. A text that shares only a line or a member with a secret does not match.
#[derive(Default)]
pub(crate) struct Finder {
    pub(super) patterns: Patterns,
    /// The secrets that are unlikely to occur by chance.
    unmistakable: Patterns,
    /// The secrets that are too long for spellings. They are searched verbatim.
    long: Vec<Box<str>>,
}

/// The extent to which a text consists of a secret.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) enum Trace {
    None,
    /// The text contains the secret, delimited by other characters than letters and digits.
    Part,
    /// The text is the secret, in one of its spellings.
    Whole,
}

impl Finder {
    pub(crate) fn add(&mut self, secret: &str) {
        if secret.len() > LONGEST_SPELLED {
            return self.long.push(secret.into());
        }
        self.patterns.insert(secret);
        if secret.len() >= LEAST_PART && !is_word(secret) {
            self.unmistakable.insert(secret);
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.patterns.secrets.is_empty() && self.long.is_empty()
    }

    fn finds_long(&self, text: &str) -> bool {
        self.long.iter().any(|it| text.len() >= it.len() && text.contains(&**it))
    }

    /// Returns true if the text contains one of the secrets, in any of its spellings.
    pub(crate) fn finds(&self, text: &str) -> bool {
        self.finds_long(text) || !self.patterns.find(text).is_empty()
    }

    /// Returns the extent to which the text consists of one of the secrets, in any of its spellings.
    pub(crate) fn trace(&self, text: &str) -> Trace {
        if self.is_empty() {
            return Trace::None;
        }
        if self.finds_long(text)
            || self.patterns.find(text).into_iter().any(|it| is_alone(text, it))
        {
            return Trace::Whole;
        }
        if self.is_delimited(text) { Trace::Part } else { Trace::None }
    }

    /// Returns true if the bytes contain one of the secrets. In JSON, which may contain base64 of more JSON, every
    /// string is checked separately. Bytes that are not UTF-8 can still contain the spellings, which are.
    pub(crate) fn is_in_bytes(&self, bytes: &[u8]) -> bool {
        !self.is_empty()
            && (self.trace(&String::from_utf8_lossy(bytes)) > Trace::None
                || self.is_in_json(bytes, MAX_INSIDE))
    }

    fn is_in_json(&self, bytes: &[u8], depth: usize) -> bool {
        leaves(bytes).into_iter().any(|leaf| match leaf {
            Leaf::Key(text) | Leaf::Text(text) => self.is_in_text(&text, depth),
            Leaf::Number(_) => false,
        })
    }

    fn is_in_text(&self, text: &str, depth: usize) -> bool {
        if self.trace(text) > Trace::None {
            return true;
        }
        let Some(depth) = depth.checked_sub(1) else { return false };
        self.is_in_json(text.as_bytes(), depth)
            || spelling::from_base64(text).is_some_and(|it| self.is_in_json(&it, depth))
    }

    /// Returns true if the text, or a reading of it, contains one of the unmistakable secrets between delimiters.
    fn is_delimited(&self, text: &str) -> bool {
        let known = &self.unmistakable;
        !known.spellings.is_empty()
            && Layers::visit(text.as_bytes(), &mut |layers| {
                known.places(layers).into_iter().any(|it| is_bordered(layers.text, &it))
            })
    }
}

/// Returns true if a secret consists of one class of characters only, as words and numbers do.
fn is_word(secret: &str) -> bool {
    let sorts: [fn(char) -> bool; 4] = [
        char::is_lowercase,
        char::is_uppercase,
        |it| it.is_ascii_digit(),
        |it| !it.is_lowercase() && !it.is_uppercase() && !it.is_ascii_digit(),
    ];
    sorts.iter().filter(|sort| secret.contains(**sort)).count() < 2
}

/// Returns true if only quotes, brackets, spaces and base64 padding surround a part.
fn is_alone(text: &str, part: Range<usize>) -> bool {
    let is_around = |it: char| it.is_whitespace() || "\"'`()[]{}<>=\\".contains(it);
    text[..part.start].chars().chain(text[part.end..].chars()).all(is_around)
}

/// Returns true if neither neighbor of a part is a letter or a digit.
fn is_bordered(text: &[u8], part: &Range<usize>) -> bool {
    let before = part.start.checked_sub(1).and_then(|it| text.get(it));
    let after = text.get(part.end);
    before.into_iter().chain(after).all(|it| !it.is_ascii_alphanumeric())
}
