//! File permissions as octal texts.

use values::{Path, Value};

use mayfly_sdk::{Diagnostic, Diagnostics, shown, validate::Validator};

/// The permissions of a file.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Mode(pub(crate) u32);

impl Mode {
    /// Parses three octal digits, or four if the first is 0. Anything else, such as `0o644` or bits beyond the
    /// permissions, is more likely a mistake and gives `None`.
    pub(crate) fn parse(text: &str) -> Option<Mode> {
        let digits = if text.len() == 4 { text.strip_prefix('0')? } else { text };
        let is_octal = digits.len() == 3 && digits.bytes().all(|it| (b'0'..=b'7').contains(&it));
        is_octal.then(|| u32::from_str_radix(digits, 8).ok().map(Mode)).flatten()
    }

    /// Parses the value of an attribute.
    ///
    /// # Errors
    /// See [`Mode::parse`].
    pub(crate) fn of(path: impl Into<Path>, text: &str) -> Result<Mode, Diagnostic> {
        let path = path.into();
        Mode::parse(text).ok_or_else(|| {
            let detail =
                format!("{} must be permissions in octal digits, such as \"0644\".", shown(&path));
            Diagnostic::error("Invalid File Mode", detail).at(path)
        })
    }
}

/// A validator for texts that must be a [`Mode`].
pub(crate) struct IsMode;

impl Validator for IsMode {
    fn validate(&self, path: &Path, value: &Value, diagnostics: &mut Diagnostics) {
        if let Some(Err(invalid)) = value.as_str().map(|it| Mode::of(path.clone(), it)) {
            diagnostics.push(invalid);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: Option<u32>) {
        assert_eq!(Mode::parse(text), expected.map(Mode), "{text:?}");
        let mut diagnostics = Diagnostics::default();
        IsMode.validate(&Path::root().attr("m"), &Value::string(text), &mut diagnostics);
        assert_eq!(diagnostics.has_errors(), expected.is_none(), "{text:?}");
    }

    #[test]
    fn mode_is_three_octal_digits() {
        for (text, mode) in [("0644", 0o644), ("755", 0o755), ("0000", 0), ("0777", 0o777)] {
            check(text, Some(mode));
        }
        for text in ["", "0", "64", "0648", "1777", "00644", "0o644", "+644", "rw-", "６44", " 644"]
        {
            check(text, None);
        }
    }
}
