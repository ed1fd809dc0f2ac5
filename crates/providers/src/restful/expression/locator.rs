//! Locators: the place of a status, a URL or an expiry in an answer.

use super::expand::{ExpandError, expand_body};
use crate::restful::document::select::Document;

/// A place in an answer.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Locator {
    /// `code`: the status code.
    Code,
    /// `exact.text`: a text that is in no answer.
    Exact(String),
    /// `header.Name`: the first value of a header.
    Header(String),
    /// `body.path`: a part of the body, in the language of [`crate::restful::document::select`].
    Body(String),
}

/// The reason why a text is no locator.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum LocatorError {
    /// No dot, and not `code`.
    #[error("locator doesn't contain \".\": {0}")]
    NoDot(String),
    /// Nothing behind the dot.
    #[error("empty right hand value: {0}")]
    Empty(String),
    /// Something else before the dot.
    #[error("unknown locator key: {0}")]
    UnknownKey(String),
    /// `code` where an expiry is located.
    #[error("the locator \"code\" cannot locate an expiry")]
    CodeOfExpiry,
}

/// An answer to search. It has no `Debug`, because it may be secret.
pub struct Answer<'a> {
    /// The status code.
    pub status: u16,
    /// Returns the first value of the header with a name, in whatever case. `None` if there is none.
    pub header: &'a dyn Fn(&str) -> Option<String>,
    /// The body.
    pub body: &'a [u8],
}

impl Locator {
    /// Parses a locator of a status or URL. This is also the validation of an attribute.
    ///
    /// # Errors
    /// Returns an error if the text is no locator.
    pub fn parse(text: &str) -> Result<Locator, LocatorError> {
        if text == "code" {
            return Ok(Locator::Code);
        }
        let (key, rest) =
            text.split_once('.').ok_or_else(|| LocatorError::NoDot(text.to_owned()))?;
        let locator = match key {
            "exact" => Locator::Exact,
            "header" => Locator::Header,
            "body" => Locator::Body,
            _ => return Err(LocatorError::UnknownKey(key.to_owned())),
        };
        match rest.is_empty() {
            true => Err(LocatorError::Empty(text.to_owned())),
            false => Ok(locator(rest.to_owned())),
        }
    }

    /// Parses a locator of an expiry, which is never the status code.
    ///
    /// # Errors
    /// Returns an error if the text is no such locator.
    pub fn parse_expiry(text: &str) -> Result<Locator, LocatorError> {
        match Locator::parse(text)? {
            Locator::Code => Err(LocatorError::CodeOfExpiry),
            locator => Ok(locator),
        }
    }

    /// Expands `$(body.x)` in the name of a header or the path of a part. Without a document, they stay.
    ///
    /// # Errors
    /// Returns an error if the expansion fails.
    pub fn expanded(&self, document: &[u8]) -> Result<Locator, ExpandError> {
        Ok(match self {
            Locator::Header(name) => Locator::Header(expand_body(name, document)?),
            Locator::Body(path) => Locator::Body(expand_body(path, document)?),
            Locator::Code | Locator::Exact(_) => self.clone(),
        })
    }

    /// Returns the text at the place. `None` if the answer has no such header or part, if the header is empty, or if
    /// the body cannot be searched.
    #[must_use]
    pub fn locate(&self, answer: &Answer<'_>) -> Option<String> {
        match self {
            Locator::Code => Some(answer.status.to_string()),
            Locator::Exact(text) => Some(text.clone()),
            Locator::Header(name) => (answer.header)(name).filter(|it| !it.is_empty()),
            Locator::Body(path) => {
                let document = Document::parse(answer.body).ok()?;
                let part = document.select(path).ok()??;
                Some(part.text().into_owned())
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn locators_are_parsed_and_validated() {
        let text = |it: &str| it.to_owned();
        for (source, expected) in [
            ("code", Ok(Locator::Code)),
            ("exact.a.b", Ok(Locator::Exact(text("a.b")))),
            ("header.Azure-AsyncOperation", Ok(Locator::Header(text("Azure-AsyncOperation")))),
            ("body.#(id == $(body.id)).foo", Ok(Locator::Body(text("#(id == $(body.id)).foo")))),
            ("body..", Ok(Locator::Body(text(".")))),
            ("", Err(LocatorError::NoDot(text("")))),
            ("body", Err(LocatorError::NoDot(text("body")))),
            ("Code", Err(LocatorError::NoDot(text("Code")))),
            ("body.", Err(LocatorError::Empty(text("body.")))),
            ("code.x", Err(LocatorError::UnknownKey(text("code")))),
            (".x", Err(LocatorError::UnknownKey(text("")))),
        ] {
            assert_eq!(Locator::parse(source), expected, "{source}");
        }
        assert_eq!(Locator::parse_expiry("code"), Err(LocatorError::CodeOfExpiry));
        assert_eq!(Locator::parse_expiry("exact.1"), Ok(Locator::Exact(text("1"))));
    }

    #[test]
    fn locators_find_texts_in_answers() {
        let header = |name: &str| match name.to_ascii_lowercase().as_str() {
            "location" => Some("/x".to_owned()),
            "empty" => Some(String::new()),
            _ => None,
        };
        let body = br#"{"status":"OK","n":1.50,"nil":null,"list":[{"id":3,"foo":"bar"}]}"#;
        for (locator, expected) in [
            ("code", Some("202")),
            ("exact.code", Some("code")),
            ("header.Location", Some("/x")),
            ("header.Empty", None),
            ("header.None", None),
            ("body.status", Some("OK")),
            ("body.n", Some("1.5")),
            ("body.nil", Some("")),
            ("body.none", None),
            ("body.list.#(id == $(body.id)).foo", Some("bar")),
            ("body.list.#(", None),
        ] {
            let locator = Locator::parse(locator).expect("a locator");
            let locator = locator.expanded(b"{\"id\":3}").expect("an expansion");
            let found = locator.locate(&Answer { status: 202, header: &header, body });
            assert_eq!(found.as_deref(), expected, "{locator:?}");
            let nothing = Answer { status: 202, header: &header, body: b"no JSON" };
            if matches!(locator, Locator::Body(_)) {
                assert_eq!(locator.locate(&nothing), None);
            }
        }
    }

    #[test]
    fn locator_stays_without_a_document() {
        let locator = Locator::Body("a.$(body.id)".to_owned());
        assert_eq!(locator.expanded(b""), Ok(locator.clone()));
        assert!(locator.expanded(b"{}").is_err());
        let exact = Locator::Exact("$(body.id)".to_owned());
        assert_eq!(exact.expanded(b"{}"), Ok(exact.clone()));
    }
}
