//! Whether a text repeats a secret, for those who must not keep it: unlike for a replacement, a word that happens to be
//! there too does harm when it is taken for the secret.

use std::ops::Range;

use super::{Layers, Leaf, MAX_INSIDE, Patterns, leaves, spelling};

/// The shortest secret that is looked for inside of larger texts, in bytes.
const LEAST_PART: usize = 16;

/// The longest secret that is looked for in all its spellings, which takes a hundred times its length of memory.
const LONGEST_SPELLED: usize = 1 << 20;

/// Looks for a few secrets as wholes: a line or a member that a secret shares with another text is no trace of it.
#[derive(Default)]
pub(crate) struct Finder {
    pub(super) patterns: Patterns,
    /// Those that mean nothing else wherever they stand.
    unmistakable: Patterns,
    /// Those that are too long for that, and looked for as they are.
    long: Vec<Box<str>>,
}

/// How much of a text is a secret.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) enum Trace {
    None,
    /// The secret stands in it, between borders.
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

    /// Whether one of the secrets is anywhere in the text, in any of its spellings.
    pub(crate) fn finds(&self, text: &str) -> bool {
        self.finds_long(text) || !self.patterns.find(text).is_empty()
    }

    /// How much of the text is one of the secrets, in any of its spellings.
    pub(crate) fn trace(&self, text: &str) -> Trace {
        if self.is_empty() {
            return Trace::None;
        }
        if self.finds_long(text)
            || self.patterns.find(text).into_iter().any(|it| is_alone(text, it))
        {
            return Trace::Whole;
        }
        if self.stands_apart(text) { Trace::Part } else { Trace::None }
    }

    /// Whether the bytes repeat one of the secrets; of JSON, which may hold base64 of more JSON, every text counts for
    /// itself. Bytes that are no text hold the spellings, which are text, all the same.
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

    /// Whether a secret that means nothing else stands between borders, in the text or in a reading of it.
    fn stands_apart(&self, text: &str) -> bool {
        let known = &self.unmistakable;
        !known.spellings.is_empty()
            && Layers::visit(text.as_bytes(), &mut |layers| {
                known.places(layers).into_iter().any(|it| is_bordered(layers.text, &it))
            })
    }
}

/// Whether a secret consists of characters of one sort only, as words and numbers do.
fn is_word(secret: &str) -> bool {
    let sorts: [fn(char) -> bool; 4] = [
        char::is_lowercase,
        char::is_uppercase,
        |it| it.is_ascii_digit(),
        |it| !it.is_lowercase() && !it.is_uppercase() && !it.is_ascii_digit(),
    ];
    sorts.iter().filter(|sort| secret.contains(**sort)).count() < 2
}

/// Whether nothing but quotes, brackets, spaces and the padding of base64 is around a part.
fn is_alone(text: &str, part: Range<usize>) -> bool {
    let is_around = |it: char| it.is_whitespace() || "\"'`()[]{}<>=\\".contains(it);
    text[..part.start].chars().chain(text[part.end..].chars()).all(is_around)
}

/// Whether neither neighbour of a part is a letter or a digit.
fn is_bordered(text: &[u8], part: &Range<usize>) -> bool {
    let before = part.start.checked_sub(1).and_then(|it| text.get(it));
    let after = text.get(part.end);
    before.into_iter().chain(after).all(|it| !it.is_ascii_alphanumeric())
}
