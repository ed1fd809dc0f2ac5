//! Text of values: normalization form C, and where an unfinished text may be cut.

use unicode_normalization::{UnicodeNormalization, is_nfc_quick};
use unicode_segmentation::UnicodeSegmentation;

use crate::Str;

/// The text as values hold it.
pub(crate) fn normalized(text: &str) -> Str {
    if is_normal(text) { Str::from(text) } else { text.nfc().collect::<String>().into() }
}

/// Like [`normalized`], for text that is shared already.
pub(crate) fn normalized_shared(text: Str) -> Str {
    if is_normal(&text) { text } else { normalized(&text) }
}

fn is_normal(text: &str) -> bool {
    text.is_ascii() || is_nfc_quick(text.chars()) == unicode_normalization::IsNormalized::Yes
}

/// The part of `prefix` that stays as it is whatever text follows: without the last character, which a combining mark
/// or a longer grapheme cluster could change, unless it is one that nothing combines with.
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
