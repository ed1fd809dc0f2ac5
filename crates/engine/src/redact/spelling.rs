//! The spellings of a secret: the forms that no [`super::Reading`] decodes, and the parts that programs quote.

use base64::{
    Engine,
    engine::general_purpose::{STANDARD, STANDARD_NO_PAD, URL_SAFE, URL_SAFE_NO_PAD},
};

use crate::redact::{MIN_SECRET, reading::Reading};

/// Returns the forms of a secret to search for in every reading of a text.
pub(super) fn spellings(secret: &str) -> Vec<String> {
    let mut found = vec![secret.to_owned()];
    found.extend(exponent_forms(secret));
    found.retain(|it| it.len() >= MIN_SECRET);
    found
}

/// Returns the credentials of the URLs in a text: the password, and user and password together, both verbatim and
/// decoded.
pub(super) fn userinfo(text: &str) -> Vec<String> {
    let mut found = Vec::new();
    for (at, mark) in text.match_indices("://") {
        let authority = text[at + mark.len()..].split(['/', '?', '#']).next().unwrap_or_default();
        let Some((user, _)) = authority.rsplit_once('@') else { continue };
        let password = user.split_once(':').map(|(_, password)| password);
        for part in password.into_iter().chain([user]) {
            let decoded = Reading::percent_decoded(part.as_bytes()).text;
            found.extend(String::from_utf8(decoded).ok());
            found.push(part.to_owned());
        }
    }
    found
}

/// Decodes a base64 text in either alphabet; `None` if it is none.
pub(super) fn from_base64(text: &str) -> Option<Vec<u8>> {
    [&STANDARD, &STANDARD_NO_PAD, &URL_SAFE, &URL_SAFE_NO_PAD]
        .into_iter()
        .find_map(|engine| engine.decode(text).ok())
}

/// Returns the forms of a number in scientific notation, such as `1.23456e+11`. Empty if the text is not a number.
fn exponent_forms(secret: &str) -> Vec<String> {
    let unsigned = secret.strip_prefix('-').unwrap_or(secret);
    let (whole, fraction) = unsigned.split_once('.').unwrap_or((unsigned, ""));
    let all = format!("{whole}{fraction}");
    if whole.is_empty() || !all.bytes().all(|byte| byte.is_ascii_digit()) {
        return Vec::new();
    }
    let Some(first) = all.find(|digit| digit != '0') else { return Vec::new() };
    let digits = all[first..].trim_end_matches('0');
    let exponent = whole.len().abs_diff(first + 1);
    let (is_small, sign) =
        (whole.len() < first + 1, if whole.len() < first + 1 { "-" } else { "+" });
    let (head, tail) = digits.split_at(1);
    let mantissa = if tail.is_empty() { head.to_owned() } else { format!("{head}.{tail}") };
    let mut forms = Vec::new();
    for letter in ["e", "E"] {
        forms.push(format!("{mantissa}{letter}{sign}{exponent:02}"));
        forms.push(format!("{mantissa}{letter}{sign}{exponent}"));
        if !is_small {
            forms.push(format!("{mantissa}{letter}{exponent}"));
        }
    }
    forms
}
