//! HTML text. Everything that is not markup of this program passes one function that escapes it.

use std::fmt::Write;

use crate::style::{Paint, Painted, visible};

/// An HTML text that is being written.
///
/// **Invariant:** markup is text of this program: its type is `&'static str`. Every other text passes [`escape`].
#[derive(Default)]
pub(super) struct Html {
    text: String,
}

impl Html {
    /// Appends markup.
    pub(super) fn markup(&mut self, markup: &'static str) {
        self.text.push_str(markup);
    }

    /// Appends text.
    pub(super) fn text(&mut self, text: &str) {
        escape(text, &mut self.text);
    }

    /// Appends a number.
    pub(super) fn number(&mut self, number: usize) {
        let _ = write!(self.text, "{number}");
    }

    /// Appends an attribute to a tag that is still open, after a space.
    pub(super) fn attribute(&mut self, name: &'static str, value: &str) {
        self.text.push(' ');
        self.text.push_str(name);
        self.text.push_str("=\"");
        escape(value, &mut self.text);
        self.text.push('"');
    }

    /// Appends an element without attributes that has only text.
    pub(super) fn element(&mut self, open: &'static str, text: &str, close: &'static str) {
        self.markup(open);
        self.text(text);
        self.markup(close);
    }

    /// Appends parts of a coloured text. The attributes become elements, so that they have a style in each theme.
    pub(super) fn painted(&mut self, parts: &[Painted<'_>]) {
        for part in parts {
            match part.paint {
                None => self.text(part.text),
                Some(paint) => {
                    self.markup("<span");
                    self.attribute("class", class(*part, paint));
                    self.markup(">");
                    self.text(part.text);
                    self.markup("</span>");
                }
            }
        }
    }

    /// Appends finished HTML.
    pub(super) fn append(&mut self, other: &Html) {
        self.text.push_str(&other.text);
    }

    /// The finished HTML.
    pub(super) fn into_text(self) -> String {
        self.text
    }
}

/// The class of a painted part.
fn class(part: Painted<'_>, paint: Paint) -> &'static str {
    match paint {
        Paint::Red if part.text.contains("forces replacement") => "forces",
        Paint::Bold => "b",
        Paint::BoldRed => "b red",
        Paint::BoldGreen => "b green",
        Paint::BoldYellow => "b yellow",
        Paint::Red => "red",
        Paint::Green => "green",
        Paint::Yellow => "yellow",
        Paint::Cyan => "cyan",
        Paint::Dim => "dim",
        Paint::Underline => "u",
    }
}

/// Appends text with everything escaped that is markup in an element or in an attribute with double quotes. Control
/// characters, and characters that change the direction of writing, are shown by their number.
fn escape(text: &str, escaped: &mut String) {
    for it in visible(text).chars() {
        match it {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\'' => escaped.push_str("&#39;"),
            _ => escaped.push(it),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_from_outside_is_never_markup() {
        let mut html = Html::default();
        html.markup("<p");
        html.attribute("title", "\"><script>'");
        html.markup(">");
        html.text("</p><script>alert(\"1\")</script>&amp;\u{0}\u{1b}[31m\u{202e}\u{61c}\r");
        assert_eq!(
            html.into_text(),
            "<p title=\"&quot;&gt;&lt;script&gt;&#39;\">&lt;/p&gt;&lt;script&gt;alert(&quot;1&quot;)\
             &lt;/script&gt;&amp;amp;\\u0000\\u001b[31m\\u202e\\u061c\\r"
        );
    }
}
