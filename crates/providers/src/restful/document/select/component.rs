//! The components of a path. A component has another meaning for objects than for arrays.

use super::{SelectError, pattern::Pattern, query::Query};

/// gjson's modifiers, of which only `this` is supported.
const MODIFIERS: [&str; 13] = [
    "dig", "flatten", "fromstr", "group", "join", "keys", "pretty", "reverse", "this", "tostr",
    "ugly", "valid", "values",
];

/// The path behind a component.
pub(super) enum Rest<'p> {
    /// The component is the last one.
    End,
    /// A path into the part that the component selects.
    More(&'p str),
    /// A path that begins anew on the part.
    Pipe(&'p str),
}

/// The first component of a path into an object.
pub(super) struct Member<'p> {
    /// The keys.
    pub(super) pattern: Pattern,
    pub(super) rest: Rest<'p>,
}

/// The first component of a path into an array.
pub(super) enum Element<'p> {
    /// A key, which no array has.
    None,
    /// One element.
    Index { index: usize, rest: Rest<'p> },
    /// `#`, the length.
    Count { pipe: Option<&'p str> },
    /// `#.path` for all elements.
    Each { path: &'p str, pipe: Option<&'p str> },
    /// `#(query)`, or with `is_all` `#(query)#`, then a path into each match.
    Matching { query: Query<'p>, is_all: bool, path: Option<&'p str>, pipe: Option<&'p str> },
}

/// Returns the path behind `@this` (`Some(None)` if there is none). `None` if the path does not begin with a
/// modifier.
///
/// # Errors
/// Returns an error for a modifier, multipath or literal that is not supported.
pub(super) fn this(path: &str) -> Result<Option<Option<&str>>, SelectError> {
    if path.len() > 1 && path.starts_with(['!', '[', '{']) || path.starts_with("..") {
        return Err(SelectError::Unsupported(path.to_owned()));
    }
    match modifier(path) {
        None => Ok(None),
        Some("this") => match path["@this".len()..].chars().next() {
            None => Ok(Some(None)),
            Some(':') => Err(SelectError::Unsupported(path.to_owned())),
            Some(_) => Ok(Some(Some(&path["@this.".len()..]))),
        },
        Some(_) => Err(SelectError::Unsupported(path.to_owned())),
    }
}

/// Returns the name of the modifier at the beginning of a path. Any other name behind `@` is a key.
fn modifier(path: &str) -> Option<&str> {
    let path = path.strip_prefix('@')?;
    let name = path.split(['.', '|', ':']).next()?;
    MODIFIERS.contains(&name).then_some(name)
}

/// Returns the path behind a dot. A modifier or multipath behind it applies to the whole part.
fn behind_dot(path: &str) -> Rest<'_> {
    match path.starts_with(['[', '{']) || modifier(path).is_some() {
        true => Rest::Pipe(path),
        false => Rest::More(path),
    }
}

impl Member<'_> {
    pub(super) fn parse(path: &str) -> Member<'_> {
        let prefix = Pattern::parse(path, &['.', '|']);
        let rest = match prefix.end {
            Some('.') => behind_dot(prefix.rest),
            Some(_) => Rest::Pipe(prefix.rest),
            None => Rest::End,
        };
        Member { pattern: prefix.pattern, rest }
    }
}

impl<'p> Element<'p> {
    /// # Errors
    /// Returns an error for a query without its closing bracket.
    pub(super) fn parse(path: &'p str) -> Result<Element<'p>, SelectError> {
        if path.starts_with("#(") || path.starts_with("#[") {
            return Element::matching(path);
        }
        if let Some(path) = path.strip_prefix("#.") {
            let (path, pipe) = split_pipe(path);
            return Ok(Element::Each { path, pipe });
        }
        let end = path.find(['.', '|']).unwrap_or(path.len());
        let (part, behind) = path.split_at(end);
        let rest = match behind.split_at_checked(1) {
            None => Rest::End,
            Some((".", path)) => behind_dot(path),
            Some((_, path)) => Rest::Pipe(path),
        };
        let pipe = match rest {
            Rest::Pipe(path) => Some(path),
            Rest::End | Rest::More(_) => None,
        };
        let is_index = !part.is_empty() && part.bytes().all(|it| it.is_ascii_digit());
        Ok(match part.parse() {
            _ if part == "#" => Element::Count { pipe },
            Ok(index) if is_index => Element::Index { index, rest },
            _ => Element::None,
        })
    }

    fn matching(path: &'p str) -> Result<Element<'p>, SelectError> {
        let (query, behind) =
            Query::parse(path).ok_or_else(|| SelectError::Query(path.to_owned()))?;
        let is_all = behind.starts_with('#');
        let end = behind.find(['.', '|']).unwrap_or(behind.len());
        let (path, pipe) = match behind[end..].split_at_checked(1) {
            None => (None, None),
            Some((".", path)) => {
                let (path, pipe) = split_pipe(path);
                (Some(path), pipe)
            }
            Some((_, pipe)) => (None, Some(pipe)),
        };
        Ok(Element::Matching { query, is_all, path, pipe })
    }
}

/// Splits a path at its first pipe outside of queries.
fn split_pipe(path: &str) -> (&str, Option<&str>) {
    let mut at = 0;
    let mut is_start = true;
    while let Some(&byte) = path.as_bytes().get(at) {
        let is_query = is_start && (path[at..].starts_with("#(") || path[at..].starts_with("#["));
        is_start = byte == b'.';
        match byte {
            b'|' => return (&path[..at], Some(&path[at + 1..])),
            b'\\' => at += 2,
            _ if is_query => match Query::parse(&path[at..]) {
                Some((_, behind)) => at = path.len() - behind.len(),
                None => return (path, None),
            },
            _ => at += 1,
        }
    }
    (path, None)
}
