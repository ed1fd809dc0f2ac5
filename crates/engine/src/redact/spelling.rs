//! What is looked for of a secret: the forms that no [`super::Reading`] takes back, and the parts that programs quote.

use base64::{
    Engine,
    engine::general_purpose::{STANDARD, STANDARD_NO_PAD, URL_SAFE, URL_SAFE_NO_PAD},
};

use super::{MIN_SECRET, Reading};

/// The forms of a secret that are looked for in every reading of a text.
pub(super) fn spellings(secret: &str) -> Vec<String> {
    let mut found = vec![secret.to_owned()];
    found.extend(exponent_forms(secret));
    found.retain(|it| it.len() >= MIN_SECRET);
    found
}

/// Who logs in with what at the URLs in a text: password, and user and password together, as written and decoded.
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

/// The bytes of a text that is base64, in either alphabet.
pub(super) fn from_base64(text: &str) -> Option<Vec<u8>> {
    [&STANDARD, &STANDARD_NO_PAD, &URL_SAFE, &URL_SAFE_NO_PAD]
        .into_iter()
        .find_map(|engine| engine.decode(text).ok())
}

/// A number as programs write large and small ones: `1.23456e+11`. Nothing where the text is no number.
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
