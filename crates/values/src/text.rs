//! The text of values: normalization form C, and the part of an incomplete text that is final.

use unicode_normalization::{UnicodeNormalization, is_nfc_quick};
use unicode_segmentation::UnicodeSegmentation;

use crate::{Str, Text};

/// Normalizes a name to form C. The name may be secret, as that of a decoded object.
pub(crate) fn normalized(name: &str) -> Str {
    normalized_name(Str::on_heap(name))
}

/// Normalizes a name to form C, and returns the same one if it is normalized already.
#[inline]
pub(crate) fn normalized_name(name: Str) -> Str {
    if is_normal(&name) { name } else { Str::from(composed(&name)) }
}

/// Normalizes a text to form C, and returns the same allocation if it is normalized already.
#[inline]
pub(crate) fn normalized_text(text: Text) -> Text {
    if is_normal(&text) { text } else { composed(&text) }
}

fn composed(text: &str) -> Text {
    Text::from(text.nfc().collect::<String>())
}

fn is_normal(text: &str) -> bool {
    text.is_ascii() || is_nfc_quick(text.chars()) == unicode_normalization::IsNormalized::Yes
}

/// Returns the part of `prefix` that stays the same whatever text follows. It lacks the last character, which a
/// combining mark or a longer grapheme cluster could change, unless nothing combines with that character.
pub(crate) fn safe_prefix(prefix: &str) -> &str {
    const FINAL: &str = "-_:;/\\,.()[]{}|?!~ \t!@#$%^&*+\"'";
    match prefix.chars().next_back() {
        Some(last) if FINAL.contains(last) => prefix,
        Some(_) => {
            prefix.grapheme_indices(true).next_back().map_or("", |(start, _)| &prefix[..start])
        }
        None => "",
    }
}
