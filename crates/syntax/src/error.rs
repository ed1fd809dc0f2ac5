//! What is wrong with a text.

use std::borrow::Cow;

use rowan::TextRange;

/// One thing that is wrong with a text.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct SyntaxError {
    /// What kind of thing is wrong; the reference's words, which scripts may match.
    pub summary: Cow<'static, str>,
    /// What to do about it. Read it with [`SyntaxError::detail`].
    detail: Cow<'static, str>,
    /// Where. Relative to the text that was parsed.
    pub range: TextRange,
    /// Another place that the detail speaks of, such as the first of two equal arguments.
    pub related: Option<TextRange>,
}

/// Stands in a detail for the related place, which only the caller can name.
const PLACE: &str = "\u{0}";

impl SyntaxError {
    /// An error whose words are fixed.
    pub(crate) fn new(
        summary: impl Into<Cow<'static, str>>,
        detail: impl Into<Cow<'static, str>>,
        range: TextRange,
    ) -> Self {
        Self { summary: summary.into(), detail: detail.into(), range, related: None }
    }

    /// An error whose detail names a second place between `before` and `after`.
    pub(crate) fn with_place(
        summary: impl Into<Cow<'static, str>>,
        (before, after): (&str, &str),
        range: TextRange,
        place: TextRange,
    ) -> Self {
        let detail = format!("{before}{PLACE}{after}");
        Self { summary: summary.into(), detail: detail.into(), range, related: Some(place) }
    }

    /// The error of an attribute that has been set before in the same body.
    pub fn attribute_redefined(name: &str, second: TextRange, first: TextRange) -> Self {
        let before = format!("The argument \"{name}\" was already set at ");
        Self::with_place(
            "Attribute redefined",
            (&before, ". Each argument may be set only once."),
            second,
            first,
        )
    }

    /// The detail; `locate` names the related place as diagnostics do: `main.tf:2,2-3`.
    pub fn detail(&self, locate: impl FnOnce(TextRange) -> String) -> Cow<'_, str> {
        match self.related {
            Some(range) => Cow::Owned(self.detail.replacen(PLACE, &locate(range), 1)),
            None => Cow::Borrowed(&self.detail),
        }
    }

    /// The same error in a text that begins `offset` bytes earlier.
    pub fn shifted(&self, offset: rowan::TextSize) -> Self {
        Self {
            range: self.range + offset,
            related: self.related.map(|it| it + offset),
            ..self.clone()
        }
    }
}
