//! Enums as texts from a list.

use super::{attribute_value::mismatch, part::Part};
use crate::{
    diagnostics::Diagnostic,
    schema::{Attribute, string},
    validate::OneOf,
};

/// An enum whose variants are the permitted texts of an attribute. Derive it; a text that is not in the list is an
/// error of the validation.
pub trait Choice: Sized + Copy + 'static {
    /// The texts in order.
    const TEXTS: &'static [&'static str];

    /// The variant for a text. `None` if it is not in the list.
    #[must_use]
    fn from_text(text: &str) -> Option<Self>;

    /// The text of this variant.
    #[must_use]
    fn text(self) -> &'static str;
}

/// A string attribute whose value is the text of a variant of an enum.
#[must_use]
pub fn choice<C: Choice>() -> Attribute {
    string().validator(OneOf(C::TEXTS))
}

impl Part<'_> {
    /// Reads the text of a variant of an enum.
    ///
    /// # Errors
    /// If the text is not in the list.
    pub fn choice<C: Choice>(&self) -> Result<C, Diagnostic> {
        let text = self.require_known()?.as_str().ok_or_else(|| mismatch(self))?;
        C::from_text(text).ok_or_else(|| {
            let what = format!("must be one of: {}", C::TEXTS.join(", "));
            self.error("Invalid Attribute Value Match", &what)
        })
    }
}
