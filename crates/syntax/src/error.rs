//! Syntax errors.

use std::borrow::Cow;

use rowan::TextRange;

/// An error in a text.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct SyntaxError {
    /// The kind of error, in OpenTofu's words, since scripts may match them.
    pub summary: Cow<'static, str>,
    /// The explanation and advice. Read it with [`SyntaxError::detail`].
    detail: Cow<'static, str>,
    /// The position of the error, relative to the text that was parsed.
    pub range: TextRange,
    /// A second position that the detail mentions, such as the first of two attributes with the same name.
    pub related: Option<TextRange>,
}

/// The placeholder in a detail for the related position, which only the caller can name.
const PLACE: &str = "\u{0}";

impl SyntaxError {
    /// Creates an error with a fixed text.
    pub(crate) fn new(
        summary: impl Into<Cow<'static, str>>,
        detail: impl Into<Cow<'static, str>>,
        range: TextRange,
    ) -> Self {
        Self { summary: summary.into(), detail: detail.into(), range, related: None }
    }

    /// Creates an error whose detail names a second position between `before` and `after`.
    pub(crate) fn with_place(
        summary: impl Into<Cow<'static, str>>,
        before: &str,
        after: &str,
        range: TextRange,
        place: TextRange,
    ) -> Self {
        let detail = format!("{before}{PLACE}{after}");
        Self { summary: summary.into(), detail: detail.into(), range, related: Some(place) }
    }

    /// Creates the error for an attribute that is already set in the same body.
    pub fn attribute_redefined(name: &str, second: TextRange, first: TextRange) -> Self {
        let before = format!("The argument \"{name}\" was already set at ");
        Self::with_place(
            "Attribute redefined",
            &before,
            ". Each argument may be set only once.",
            second,
            first,
        )
    }

    /// Returns the detail. `locate` returns the related position in the form that diagnostics use:
    /// `main.tf:2,2-3`.
    pub fn detail(&self, locate: impl FnOnce(TextRange) -> String) -> Cow<'_, str> {
        match self.related {
            Some(range) => Cow::Owned(self.detail.replacen(PLACE, &locate(range), 1)),
            None => Cow::Borrowed(&self.detail),
        }
    }

    /// Returns this error for a text that begins `offset` bytes earlier.
    pub fn shifted(&self, offset: rowan::TextSize) -> Self {
        Self {
            range: self.range + offset,
            related: self.related.map(|it| it + offset),
            ..self.clone()
        }
    }
}
