//! Decodes the bytes of a file.

use rowan::{TextRange, TextSize};

use crate::error::SyntaxError;

/// The size from which files are refused, so that 32-bit offsets suffice even if every byte becomes a replacement
/// character.
const TOO_LARGE: usize = 1 << 30;

/// Returns the text of a file. Bytes that are not UTF-8 are replaced, and the first such position is an error. A
/// file of 1 GiB or more is an error and yields no text.
pub fn decode(bytes: &[u8]) -> (String, Option<SyntaxError>) {
    if bytes.len() >= TOO_LARGE {
        let detail = "A configuration file must be smaller than 1 GiB.";
        return (
            String::new(),
            Some(SyntaxError::new("File too large", detail, TextRange::default())),
        );
    }
    match str::from_utf8(bytes) {
        Ok(text) => (text.to_owned(), None),
        Err(error) => {
            let start = TextSize::new(u32::try_from(error.valid_up_to()).unwrap_or(0));
            // The range of the replacement character.
            let range = TextRange::at(start, TextSize::of('\u{fffd}'));
            let detail = "All input files must be UTF-8 encoded. Ensure that UTF-8 encoding is \
                          selected in your editor.";
            let text = String::from_utf8_lossy(bytes).into_owned();
            (text, Some(SyntaxError::new("Invalid character encoding", detail, range)))
        }
    }
}
