//! The functions of expressions. They equal those of Go that their names suggest.

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, percent_decode_str, utf8_percent_encode};

/// A function that changes the text of a property.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Function {
    /// Escapes a segment of a path.
    Escape,
    /// Reverses [`Function::Escape`].
    Unescape,
    /// Escapes a key or value of a query.
    QueryEscape,
    /// Reverses [`Function::QueryEscape`].
    QueryUnescape,
    /// The last element of a path.
    Base,
    /// The path of a URL, without escapes.
    UrlPath,
    /// The path relative to the resource's `path`.
    TrimPath,
}

/// All functions with their names.
const FUNCTIONS: [(&str, Function); 7] = [
    ("escape", Function::Escape),
    ("unescape", Function::Unescape),
    ("query_escape", Function::QueryEscape),
    ("query_unescape", Function::QueryUnescape),
    ("base", Function::Base),
    ("url_path", Function::UrlPath),
    ("trim_path", Function::TrimPath),
];

/// The characters that a key or value of a query may not contain.
const QUERY: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'_').remove(b'.').remove(b'~');
/// The characters that a segment of a path may not contain.
const SEGMENT: &AsciiSet =
    &QUERY.remove(b'$').remove(b'&').remove(b'+').remove(b':').remove(b'=').remove(b'@');

/// The reason why a function fails. It does not quote the text, which may be secret.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
pub enum FunctionError {
    /// A `%` without two hexadecimal digits.
    #[error("invalid percent-encoding")]
    PercentEncoding,
    /// Escapes of bytes that are no text.
    #[error("the unescaped text is not UTF-8")]
    NotText,
    /// A text that is not a URL.
    #[error("the text is not a URL")]
    NotUrl,
    /// A path that cannot be made relative.
    #[error("the text cannot be made relative to the resource's path")]
    NotRelative,
    /// [`Function::TrimPath`] without the path of a resource.
    #[error("it is only available in paths of a resource")]
    NoPath,
}

impl Function {
    /// Returns the function of a name. `None` if there is none.
    #[must_use]
    pub fn named(name: &str) -> Option<Function> {
        FUNCTIONS.iter().find(|(it, _)| *it == name).map(|(_, function)| *function)
    }

    /// Returns the name.
    #[must_use]
    pub fn name(self) -> &'static str {
        FUNCTIONS.iter().find(|(_, it)| *it == self).map_or("", |(name, _)| name)
    }

    /// Returns the changed text. `path` is the path of the resource, if the expression is a path.
    ///
    /// # Errors
    /// Returns an error if the function cannot use the text.
    pub fn apply(self, text: &str, path: Option<&str>) -> Result<String, FunctionError> {
        match self {
            Function::Escape => Ok(utf8_percent_encode(text, SEGMENT).to_string()),
            Function::Unescape => unescape(text),
            Function::QueryEscape => Ok(query_escape(text)),
            Function::QueryUnescape => unescape(&text.replace('+', " ")),
            Function::Base => Ok(base(text).to_owned()),
            Function::UrlPath => url_path(text),
            Function::TrimPath => relative(path.ok_or(FunctionError::NoPath)?, text),
        }
    }
}

/// Escapes a name or value of a query or a form. A space becomes `+`.
pub(in crate::restful) fn query_escape(text: &str) -> String {
    utf8_percent_encode(text, QUERY).to_string().replace("%20", "+")
}

fn unescape(text: &str) -> Result<String, FunctionError> {
    let is_digit = |byte: Option<&u8>| byte.is_some_and(u8::is_ascii_hexdigit);
    let bytes = text.as_bytes();
    let is_escape = |at: usize| is_digit(bytes.get(at + 1)) && is_digit(bytes.get(at + 2));
    if !text.match_indices('%').all(|(at, _)| is_escape(at)) {
        return Err(FunctionError::PercentEncoding);
    }
    let unescaped = percent_decode_str(text).decode_utf8();
    unescaped.map(|it| it.into_owned()).map_err(|_| FunctionError::NotText)
}

/// Returns the last element of a path: `.` for the empty path, `/` for a path of slashes only.
fn base(path: &str) -> &str {
    match path.trim_end_matches('/').rsplit('/').next() {
        _ if path.is_empty() => ".",
        Some(last) if !last.is_empty() => last,
        _ => "/",
    }
}

/// Returns the path of a URL without its escapes. A URL without a path, such as `mailto:x`, has an empty one.
fn url_path(url: &str) -> Result<String, FunctionError> {
    if url.bytes().any(|it| it < b' ' || it == 0x7f) {
        return Err(FunctionError::NotUrl);
    }
    let url = url.split('#').next().unwrap_or_default();
    let (scheme, rest) = split_scheme(url)?;
    let rest = rest.split('?').next().unwrap_or_default();
    let path = match rest.strip_prefix("//") {
        Some(authority) => authority.find('/').map_or("", |at| &authority[at..]),
        None if scheme && !rest.starts_with('/') => "",
        None => rest,
    };
    unescape(path)
}

/// Splits a URL behind its scheme. Returns false and the whole URL if it has none.
fn split_scheme(url: &str) -> Result<(bool, &str), FunctionError> {
    let is_scheme = |c: char| c.is_ascii_alphanumeric() || matches!(c, '+' | '-' | '.');
    let end = url.find(|c| !is_scheme(c)).unwrap_or(url.len());
    match url[end..].strip_prefix(':') {
        Some(rest) if url.starts_with(|c: char| c.is_ascii_alphabetic()) => Ok((true, rest)),
        // A colon in the first segment of a path without a scheme is ambiguous.
        _ if url.split(['/', '?']).next().is_some_and(|it| it.contains(':')) => {
            Err(FunctionError::NotUrl)
        }
        _ => Ok((false, url)),
    }
}

/// Returns `target` relative to `from`, with `..` for each directory that it leaves. Both must be absolute, or both
/// relative.
fn relative(from: &str, target: &str) -> Result<String, FunctionError> {
    let (from, target) = (Cleaned::of(from), Cleaned::of(target));
    if from.is_absolute != target.is_absolute {
        return Err(FunctionError::NotRelative);
    }
    let pairs = from.elements.iter().zip(&target.elements);
    let common = pairs.take_while(|(left, right)| left == right).count();
    // The name of a directory above the start of a relative path is unknown.
    if from.elements[common..].contains(&"..") {
        return Err(FunctionError::NotRelative);
    }
    let up = from.elements[common..].iter().map(|_| "..");
    let elements: Vec<&str> = up.chain(target.elements[common..].iter().copied()).collect();
    if elements.is_empty() { Ok(".".to_owned()) } else { Ok(elements.join("/")) }
}

/// A path without empty elements, `.`, and `..` that can be resolved.
struct Cleaned<'p> {
    is_absolute: bool,
    elements: Vec<&'p str>,
}

impl Cleaned<'_> {
    fn of(path: &str) -> Cleaned<'_> {
        let is_absolute = path.starts_with('/');
        let mut elements = Vec::new();
        for element in path.split('/') {
            match element {
                "" | "." => {}
                ".." if elements.last().is_some_and(|it| *it != "..") => {
                    elements.pop();
                }
                ".." if is_absolute => {}
                element => elements.push(element),
            }
        }
        Cleaned { is_absolute, elements }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn functions_change_texts_like_those_of_go() {
        use Function::{Base, Escape, QueryEscape, QueryUnescape, Unescape, UrlPath};
        for (function, text, expected) in [
            (Escape, "a/b;c,d?e f%g", "a%2Fb%3Bc%2Cd%3Fe%20f%25g"),
            (Escape, "-_.~$&+:=@aZ9", "-_.~$&+:=@aZ9"),
            (Escape, "é#[]!'()*\"<>", "%C3%A9%23%5B%5D%21%27%28%29%2A%22%3C%3E"),
            (Unescape, "a+b%2Fc%c3%a9", "a+b/cé"),
            (QueryEscape, "a b&é~ ", "a+b%26%C3%A9~+"),
            (QueryUnescape, "a+b%26%2b", "a b&+"),
            (Base, "", "."),
            (Base, "/", "/"),
            (Base, "///", "/"),
            (Base, "a/b//", "b"),
            (Base, "a", "a"),
            (UrlPath, "https://u:p@h:1/a%2Fb/c?q=/x#/y", "/a/b/c"),
            (UrlPath, "https://host", ""),
            (UrlPath, "https://host?x", ""),
            (UrlPath, "//host/a", "/a"),
            (UrlPath, "/a/b", "/a/b"),
            (UrlPath, "a/b:c", "a/b:c"),
            (UrlPath, "mailto:x@y", ""),
            (UrlPath, "", ""),
        ] {
            assert_eq!(function.apply(text, None).as_deref(), Ok(expected), "{function:?} {text}");
        }
    }

    #[test]
    fn paths_are_made_relative() {
        for (from, target, expected) in [
            ("/a/b", "/a/b/c", Ok("c")),
            ("/a/b/", "/a/b/c", Ok("c")),
            ("/a/b", "/a/b", Ok(".")),
            ("/a/b", "/a/c/d", Ok("../c/d")),
            ("/", "/a", Ok("a")),
            ("/..", "/a", Ok("a")),
            ("a", "a/b/../c/./d//", Ok("c/d")),
            (".", "a", Ok("a")),
            ("", "a", Ok("a")),
            ("a/b", "..", Ok("../../..")),
            ("..", "a", Err(FunctionError::NotRelative)),
            ("/a", "a", Err(FunctionError::NotRelative)),
            ("a", "/a", Err(FunctionError::NotRelative)),
        ] {
            let result = Function::TrimPath.apply(target, Some(from));
            assert_eq!(result.as_deref(), expected.as_ref().copied(), "{from} {target}");
        }
    }

    #[test]
    fn texts_that_a_function_cannot_use_are_errors() {
        for (function, text, error) in [
            (Function::Unescape, "%", FunctionError::PercentEncoding),
            (Function::Unescape, "%4", FunctionError::PercentEncoding),
            (Function::Unescape, "%é0", FunctionError::PercentEncoding),
            (Function::Unescape, "%ff", FunctionError::NotText),
            (Function::QueryUnescape, "%zz", FunctionError::PercentEncoding),
            (Function::UrlPath, ":x", FunctionError::NotUrl),
            (Function::UrlPath, "1a:b", FunctionError::NotUrl),
            (Function::UrlPath, "a\nb", FunctionError::NotUrl),
            (Function::UrlPath, "/%", FunctionError::PercentEncoding),
            (Function::TrimPath, "a", FunctionError::NoPath),
        ] {
            assert_eq!(function.apply(text, None), Err(error), "{function:?} {text}");
        }
        for (name, function) in FUNCTIONS {
            assert_eq!(Function::named(name), Some(function));
            assert_eq!(function.name(), name);
        }
        assert_eq!(Function::named("Escape"), None);
    }
}
