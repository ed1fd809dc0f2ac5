//! The layout of hover texts: code, marks, paragraphs and footers.

use crate::shown;

/// A hover text before it is rendered as Markdown.
#[derive(Clone, Debug, Default)]
pub(crate) struct Card {
    code: String,
    marks: Vec<String>,
    paragraphs: Vec<String>,
    footers: Vec<String>,
}

impl Card {
    /// Creates a card with a line of code.
    pub(crate) fn of(code: String) -> Card {
        Card { code, ..Card::default() }
    }

    /// Adds words that are shown in bold, such as marks.
    pub(crate) fn marks<T: Into<String>>(mut self, marks: impl IntoIterator<Item = T>) -> Card {
        self.marks.extend(marks.into_iter().map(Into::into));
        self
    }

    /// Adds a paragraph unless it is blank.
    pub(crate) fn paragraph(mut self, text: &str) -> Card {
        if !text.trim().is_empty() {
            self.paragraphs.push(text.trim().to_owned());
        }
        self
    }

    /// Adds a paragraph if there is one.
    pub(crate) fn paragraph_opt(self, text: Option<&str>) -> Card {
        match text {
            Some(text) => self.paragraph(text),
            None => self,
        }
    }

    /// Adds a paragraph after all other paragraphs.
    pub(crate) fn footer(mut self, text: Option<String>) -> Card {
        self.footers.extend(text);
        self
    }

    /// Adds the mark `deprecated` and the advice on the replacement.
    pub(crate) fn deprecation(self, is_deprecated: bool, advice: &str) -> Card {
        match (is_deprecated, advice.trim()) {
            (false, _) => self,
            (true, "") => self.marks(["deprecated"]),
            (true, advice) => {
                self.marks(["deprecated"]).paragraph(&format!("Deprecated: {advice}"))
            }
        }
    }

    /// Adds the contents of another card except its code.
    pub(crate) fn with(mut self, other: Card) -> Card {
        for mark in other.marks {
            if !self.marks.contains(&mark) {
                self.marks.push(mark);
            }
        }
        self.paragraphs.extend(other.paragraphs);
        self.footers.extend(other.footers);
        self
    }

    /// The Markdown below the code.
    pub(crate) fn text(&self) -> String {
        let marks: Vec<String> = self.marks.iter().map(|mark| format!("**{mark}**")).collect();
        let marks = (!marks.is_empty()).then(|| marks.join(", "));
        let paragraphs = self.paragraphs.iter().chain(&self.footers).cloned();
        marks.into_iter().chain(paragraphs).collect::<Vec<String>>().join("\n\n")
    }

    /// The whole card as Markdown.
    pub(crate) fn markdown(&self) -> String {
        let code = shown::fenced(&self.code);
        match self.text() {
            text if text.is_empty() => code,
            text => format!("{code}\n\n{text}"),
        }
    }
}
