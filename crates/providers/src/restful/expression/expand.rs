//! Expansion of `$(path)`, `$(body)` and `$(body.x)`, with a chain of functions as in `$base.escape(body.x)`.
//!
//! An expression is `$`, a chain of function names between dots (perhaps none), and in parentheses letters, digits,
//! `_` and dots. All other text stays as it is.

use crate::restful::{
    document::select::{Document, SelectError},
    expression::functions::{Function, FunctionError},
};

/// The reason why an expression cannot be expanded. It quotes nothing of the document.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum ExpandError {
    /// Something other than `path` or a path below `body` in the parentheses.
    #[error("invalid match: {0}")]
    Invalid(String),
    /// A part that the document does not have.
    #[error("no property found at path \"{0}\" in the body")]
    Missing(String),
    /// A document that cannot be searched.
    #[error("the body cannot be used in an expression: {0}")]
    Document(#[from] SelectError),
    /// A function that does not exist.
    #[error("unknown function: {0}")]
    UnknownFunction(String),
    /// A chain of functions on something other than a property.
    #[error("functions can only be applied to a property of the body, such as \"body.x\": {0}")]
    Functions(String),
    /// A function that cannot use the property's text.
    #[error("function {function} of {expression}: {error}")]
    Function {
        /// The name of the function.
        function: &'static str,
        /// The whole expression.
        expression: String,
        /// The reason.
        error: FunctionError,
    },
}

/// Expands `$(body)` and `$(body.x)` in a header, a query, a body, a selector, a locator or a template. Without a
/// document, the text is returned unchanged.
///
/// # Errors
/// Returns an error if the document is not JSON or lacks a property, or if a function fails.
pub fn expand_body(text: &str, document: &[u8]) -> Result<String, ExpandError> {
    if document.is_empty() {
        return Ok(text.to_owned());
    }
    Expander { document, parsed: None, path: None }.expand(text)
}

/// Expands `$(path)`, `$(body)` and `$(body.x)` in a path. Properties are escaped as segments of a path unless a
/// chain of functions is given; the resource's `path` is used as it is.
///
/// # Errors
/// Returns an error if the document is not JSON or lacks a property, or if a function fails.
pub fn expand_path(text: &str, path: &str, document: &[u8]) -> Result<String, ExpandError> {
    Expander { document, parsed: None, path: Some(path) }.expand(text)
}

/// Checks the expressions of a path: the functions must exist, and only properties of the body can have functions.
///
/// # Errors
/// Returns the first expression that is invalid.
pub fn validate_path(text: &str) -> Result<(), ExpandError> {
    for part in Parts::of(text) {
        let Part::Expression(expression) = part else { continue };
        expression.functions()?;
        match expression.target {
            "path" | "body" if !expression.chain.is_empty() => {
                return Err(ExpandError::Functions(expression.source.to_owned()));
            }
            "path" | "body" => {}
            _ => {
                expression.property()?;
            }
        }
    }
    Ok(())
}

struct Expander<'a> {
    document: &'a [u8],
    /// The document, once an expression has needed it.
    parsed: Option<Document<'a>>,
    /// The resource's `path`, in expressions of paths.
    path: Option<&'a str>,
}

impl Expander<'_> {
    fn expand(mut self, text: &str) -> Result<String, ExpandError> {
        let mut out = String::with_capacity(text.len());
        for part in Parts::of(text) {
            match part {
                Part::Text(text) => out.push_str(text),
                Part::Expression(expression) => out.push_str(&self.value(&expression)?),
            }
        }
        Ok(out)
    }

    fn value(&mut self, expression: &Expression<'_>) -> Result<String, ExpandError> {
        let mut functions = expression.functions()?;
        if let (Some(path), "path") = (self.path, expression.target) {
            return match functions.is_empty() {
                true => Ok(path.to_owned()),
                false => Err(ExpandError::Functions(expression.source.to_owned())),
            };
        }
        let mut value = self.property(expression)?;
        if functions.is_empty() && self.path.is_some() {
            functions.push(Function::Escape);
        }
        for function in functions {
            value = function.apply(&value, self.path).map_err(|error| ExpandError::Function {
                function: function.name(),
                expression: expression.source.to_owned(),
                error,
            })?;
        }
        Ok(value)
    }

    fn property(&mut self, expression: &Expression<'_>) -> Result<String, ExpandError> {
        let path = expression.property()?;
        let missing = || ExpandError::Missing(path.to_owned());
        if self.document.is_empty() {
            return Err(missing());
        }
        let document = match &mut self.parsed {
            Some(document) => document,
            none => none.insert(Document::parse(self.document)?),
        };
        Ok(document.select(path)?.ok_or_else(missing)?.text().into_owned())
    }
}

/// A part of a text.
enum Part<'t> {
    /// Text that stays.
    Text(&'t str),
    Expression(Expression<'t>),
}

#[derive(Clone, Copy)]
struct Expression<'t> {
    /// The whole expression, for errors.
    source: &'t str,
    /// The names of the functions, between dots.
    chain: &'t str,
    /// The text in the parentheses.
    target: &'t str,
}

impl<'t> Expression<'t> {
    /// Parses the expression that begins with the `$` at the start of a text. `None` if there is none.
    fn parse(text: &'t str) -> Option<Expression<'t>> {
        let (chain, behind) = words(text.strip_prefix('$')?);
        let (target, behind) = words(behind.strip_prefix('(')?);
        let behind = behind.strip_prefix(')').filter(|_| !target.is_empty())?;
        Some(Expression { source: &text[..text.len() - behind.len()], chain, target })
    }

    /// Returns the functions in the order of their application.
    fn functions(&self) -> Result<Vec<Function>, ExpandError> {
        if self.chain.is_empty() {
            return Ok(Vec::new());
        }
        let function = |name| {
            Function::named(name).ok_or_else(|| ExpandError::UnknownFunction(format!("{name:?}")))
        };
        self.chain.split('.').map(function).collect()
    }

    /// Returns the path of the property in the body.
    fn property(&self) -> Result<&'t str, ExpandError> {
        match self.target.strip_prefix("body.") {
            Some(path) => Ok(path),
            None if self.target == "body" => Ok("@this"),
            None => Err(ExpandError::Invalid(self.source.to_owned())),
        }
    }
}

/// Splits a text behind its first letters, digits, `_` and dots.
fn words(text: &str) -> (&str, &str) {
    let is_word = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '.');
    text.split_at(text.find(|c| !is_word(c)).unwrap_or(text.len()))
}

/// The parts of a text in order.
struct Parts<'t> {
    rest: &'t str,
}

impl<'t> Parts<'t> {
    fn of(text: &'t str) -> Parts<'t> {
        Parts { rest: text }
    }
}

impl<'t> Iterator for Parts<'t> {
    type Item = Part<'t>;

    /// Each `$` is tried once, up to the next character that no expression has, so the time is linear.
    fn next(&mut self) -> Option<Part<'t>> {
        if self.rest.is_empty() {
            return None;
        }
        if let Some(expression) = Expression::parse(self.rest) {
            self.rest = &self.rest[expression.source.len()..];
            return Some(Part::Expression(expression));
        }
        let first = self.rest.chars().next().map_or(0, char::len_utf8);
        let end = self.rest[first..].find('$').map_or(self.rest.len(), |at| first + at);
        let (text, rest) = self.rest.split_at(end);
        self.rest = rest;
        Some(Part::Text(text))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn body(text: &str, document: &str) -> Result<String, String> {
        expand_body(text, document.as_bytes()).map_err(|it| it.to_string())
    }

    fn path(text: &str, path: &str, document: &str) -> Result<String, String> {
        expand_path(text, path, document.as_bytes()).map_err(|it| it.to_string())
    }

    #[test]
    fn paths_are_expanded_with_escaped_properties() {
        for (text, resource, document, expected) in [
            ("$(path)/abc", "collections", "", "collections/abc"),
            ("$(path)", "a b/c", "{}", "a b/c"),
            ("$(body.name)", "", r#"{"name":"a+b/c"}"#, "a+b%2Fc"),
            ("$unescape(body.path)", "", r#"{"path":"a+b%2Fc"}"#, "a+b/c"),
            ("$query_escape(body.name)", "", r#"{"name":"a+b/c"}"#, "a%2Bb%2Fc"),
            ("$query_unescape(body.name)", "", r#"{"name":"a%2Bb%2Fc"}"#, "a+b/c"),
            ("$trim_path(body.path)", "/a/b", r#"{"path":"/a/b/c"}"#, "c"),
            ("$trim_path(body.path)", "/a/b/", r#"{"path":"/a/b/c"}"#, "c"),
            ("$base(body.path)", "", r#"{"path":"/a/b/c"}"#, "c"),
            (
                "$url_path(body.id)",
                "",
                r#"{"id":"https://base/collections/abc"}"#,
                "/collections/abc",
            ),
            (
                "$url_path.trim_path(body.id)",
                "/foo",
                r#"{"id":"https://base/foo/bar/abc"}"#,
                "bar/abc",
            ),
            ("$(body)", "", "\"abc\"", "abc"),
            ("$(body)", "", "123", "123"),
            ("$(body.a.1)/$(body.a.0)", "", r#"{"a":["x",7]}"#, "7/x"),
            ("$(body.n)", "", r#"{"n":null}"#, ""),
            ("no expression", "", "not JSON", "no expression"),
        ] {
            assert_eq!(path(text, resource, document).as_deref(), Ok(expected), "{text}");
        }
    }

    #[test]
    fn bodies_are_expanded_without_escapes() {
        for (text, document, expected) in [
            ("$(body)", "{\"foo\": 123}", "{\"foo\": 123}"),
            ("{\"p\": $(body)}", "[1, 2]", "{\"p\": [1, 2]}"),
            ("#(id == $(body.id))", r#"{"id":3}"#, "#(id == 3)"),
            ("$(body.name)$(body.name)", r#"{"name":"a/b"}"#, "a/ba/b"),
            ("$escape(body)", "\"a/b\"", "a%2Fb"),
            ("$(body.x)", r#"{"x":"$(body.y)","y":"injected"}"#, "$(body.y)"),
            ("$(body.x)$(body.y)", r#"{"x":"$(body.y)","y":"z"}"#, "$(body.y)z"),
            ("$(body.a)", "", "$(body.a)"),
            ("$$(body.a)$", r#"{"a":1}"#, "$1$"),
            ("$", "{}", "$"),
            ("$()", "{}", "$()"),
            ("$(", "{}", "$("),
            ("$(body", "{}", "$(body"),
            ("$(body.a b)", "{}", "$(body.a b)"),
            ("$(body.é)", "{}", "$(body.é)"),
            ("é$é", "{}", "é$é"),
            ("$x $(body.a)", r#"{"a":true}"#, "$x true"),
            ("", "{}", ""),
        ] {
            assert_eq!(body(text, document).as_deref(), Ok(expected), "{text}");
        }
    }

    #[test]
    fn expressions_without_a_value_are_errors() {
        for (text, document, error) in [
            ("$(path)", "{}", "invalid match: $(path)"),
            ("$(bodies)", "{}", "invalid match: $(bodies)"),
            ("$(body_update)", "{}", "invalid match: $(body_update)"),
            ("$(body.a)", r#"{"b":"secret"}"#, "no property found at path \"a\" in the body"),
            ("$(body.)", "{}", "no property found at path \"\" in the body"),
            ("$(body.a)", "\"secret\"", "no property found at path \"a\" in the body"),
            ("$nope(body.a)", r#"{"a":1}"#, "unknown function: \"nope\""),
            ("$base.(body.a)", r#"{"a":1}"#, "unknown function: \"\""),
            (
                "$trim_path(body.a)",
                r#"{"a":"secret"}"#,
                "function trim_path of $trim_path(body.a): it is only available in paths of a resource",
            ),
            (
                "$unescape(body.a)",
                r#"{"a":"%secret"}"#,
                "function unescape of $unescape(body.a): invalid percent-encoding",
            ),
        ] {
            assert_eq!(body(text, document), Err(error.to_owned()), "{text}");
        }
        assert!(body("$(body.a)", "secret").is_err_and(|it| !it.contains("secret")));
        assert!(body("$(body...a)", "{}").is_err());
        let missing = "no property found at path \"@this\" in the body";
        assert_eq!(path("$(body)", "", ""), Err(missing.to_owned()));
        assert!(path("$base(path)", "a/b", "{}").is_err());
    }

    #[test]
    fn path_expressions_are_validated() {
        for text in [
            "$(path)/$(body.id)",
            "$(body)",
            "$escape(body.a)",
            "$url_path.trim_path(body.a.b)",
            "plain",
            "$x",
            "",
        ] {
            assert_eq!(validate_path(text), Ok(()), "{text}");
        }
        for (text, error) in [
            (
                "$escape(body)",
                "functions can only be applied to a property of the body, such as \"body.x\": $escape(body)",
            ),
            (
                "$escape(path)",
                "functions can only be applied to a property of the body, such as \"body.x\": $escape(path)",
            ),
            ("$nope(body.a)", "unknown function: \"nope\""),
            ("$escape.nope(body.a)", "unknown function: \"nope\""),
            ("$(foo)", "invalid match: $(foo)"),
        ] {
            assert_eq!(validate_path(text).map_err(|it| it.to_string()), Err(error.to_owned()));
        }
    }

    #[test]
    fn hostile_texts_are_expanded_in_linear_time() {
        let text = "$a".repeat(500_000);
        assert_eq!(body(&text, "{}"), Ok(text.clone()));
        let text = "$(a".repeat(300_000);
        assert_eq!(body(&text, "{}"), Ok(text.clone()));
        let steps = format!("$(body.{})", "a.".repeat(100_000));
        assert!(body(&steps, "{\"a\":{}}").is_err());
        assert!(body("$(body.a)", &"[".repeat(1_000_000)).is_err());
    }
}
