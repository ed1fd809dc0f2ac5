//! Decodes Base64 as Go's decoder does: it skips line ends, and ignores unused bits in the last symbol.

use base64::{
    Engine,
    engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig},
};

const LOOSE: GeneralPurpose = GeneralPurpose::new(
    &base64::alphabet::STANDARD,
    GeneralPurposeConfig::new()
        .with_decode_allow_trailing_bits(true)
        .with_decode_padding_mode(DecodePaddingMode::RequireCanonical),
);

/// Returns the decoded bytes, or the offset at which the text is not Base64.
pub(super) fn decode(text: &str) -> Result<Vec<u8>, usize> {
    let is_end = |byte: &u8| matches!(byte, b'\r' | b'\n');
    let found = match text.bytes().any(|byte| is_end(&byte)) {
        true => LOOSE.decode(text.bytes().filter(|byte| !is_end(byte)).collect::<Vec<u8>>()),
        false => LOOSE.decode(text),
    };
    found.map_err(|_| fault(text.as_bytes()))
}

/// Returns the error offset that Go reports.
fn fault(text: &[u8]) -> usize {
    let is_symbol = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/');
    let skip = |mut at: usize| {
        while text.get(at).is_some_and(|byte| matches!(byte, b'\r' | b'\n')) {
            at += 1;
        }
        at
    };
    let (mut at, mut in_group) = (0, 0);
    loop {
        at = skip(at);
        match text.get(at) {
            None => return at - in_group.min(at),
            Some(byte) if is_symbol(*byte) => in_group = (in_group + 1) % 4,
            Some(b'=') if in_group == 2 => {
                let next = skip(at + 1);
                return match text.get(next) {
                    None => text.len(),
                    Some(b'=') => skip(next + 1),
                    Some(_) => next - 1,
                };
            }
            Some(b'=') if in_group == 3 => return skip(at + 1),
            Some(_) => return at,
        }
        at += 1;
    }
}
