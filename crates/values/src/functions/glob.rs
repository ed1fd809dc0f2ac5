//! Matches paths against patterns, with the rules of OpenTofu's library: `*`, `?`, `[a-z]`, `{a,b}`, `\` and, as a
//! whole path component, `**`.

use std::collections::BTreeSet;

use super::call::FunctionEnv;

/// The maximum number of alternatives.
const MAX_PATTERNS: usize = 1_000;

/// The maximum number of directories to read, because links may form cycles.
const MAX_DIRECTORIES: usize = 100_000;

/// Returns the files that match a pattern. A directory that cannot be read contributes none.
pub(super) fn files(pattern: &str, env: &dyn FunctionEnv) -> Result<BTreeSet<String>, String> {
    if !is_valid(pattern) {
        return Err("syntax error in pattern".to_owned());
    }
    let mut patterns = Vec::new();
    expand(pattern, &mut patterns)?;
    let mut walk = Walk { env, found: BTreeSet::new(), directories: 0 };
    for pattern in patterns {
        let (start, rest) = match pattern.strip_prefix('/') {
            Some(rest) => ("/", rest),
            None => ("", &*pattern),
        };
        let parts: Vec<&str> = rest.split('/').filter(|part| !part.is_empty()).collect();
        walk.below(start, &parts)?;
    }
    Ok(walk.found)
}

/// Returns the offset after the closing bracket of the class that `text` begins with. `None` if the class is empty
/// or unclosed.
fn class_end(text: &str) -> Option<usize> {
    let mut chars = text.char_indices().skip(1).peekable();
    chars.next_if(|(_, c)| matches!(c, '!' | '^'));
    let mut is_empty = true;
    while let Some((at, c)) = chars.next() {
        match c {
            ']' if is_empty => return None,
            ']' => return Some(at + 1),
            '\\' => {
                chars.next()?;
            }
            _ => {}
        }
        is_empty = false;
    }
    None
}

fn is_valid(pattern: &str) -> bool {
    let (mut depth, mut at) = (0_usize, 0);
    while let Some(c) = pattern[at..].chars().next() {
        at += match c {
            '\\' => match pattern[at + 1..].chars().next() {
                Some(next) => 1 + next.len_utf8(),
                None => return false,
            },
            '[' => match class_end(&pattern[at..]) {
                Some(end) => end,
                None => return false,
            },
            '{' => {
                depth += 1;
                1
            }
            '}' if depth == 0 => return false,
            '}' => {
                depth -= 1;
                1
            }
            c => c.len_utf8(),
        };
    }
    depth == 0
}

/// Returns the length in bytes of the first element of a pattern.
fn element(text: &str) -> usize {
    let first = text.chars().next().map_or(0, char::len_utf8);
    match text.as_bytes().first() {
        Some(b'\\') => 1 + text[1..].chars().next().map_or(0, char::len_utf8),
        Some(b'[') => class_end(text).unwrap_or(first),
        _ => first,
    }
}

/// Expands alternatives to one pattern each, so that no pattern contains braces.
fn expand(pattern: &str, into: &mut Vec<String>) -> Result<(), String> {
    let mut start = 0;
    while start < pattern.len() && !pattern[start..].starts_with('{') {
        start += element(&pattern[start..]);
    }
    if start == pattern.len() {
        if into.len() >= MAX_PATTERNS {
            return Err("too many alternatives".to_owned());
        }
        into.push(pattern.to_owned());
        return Ok(());
    }
    let (mut depth, mut at, mut first) = (0_usize, start, start + 1);
    let mut alternatives = Vec::new();
    loop {
        match pattern.as_bytes().get(at) {
            Some(b'{') => depth += 1,
            Some(b'}') => depth -= 1,
            Some(b',') if depth == 1 => {
                alternatives.push(&pattern[first..at]);
                first = at + 1;
            }
            None => return Err("syntax error in pattern".to_owned()),
            Some(_) => {}
        }
        if depth == 0 {
            alternatives.push(&pattern[first..at]);
            break;
        }
        at += element(&pattern[at..]).max(1);
    }
    for alternative in alternatives {
        let whole = format!("{}{alternative}{}", &pattern[..start], &pattern[at + 1..]);
        expand(&whole, into)?;
    }
    Ok(())
}

struct Walk<'e> {
    env: &'e dyn FunctionEnv,
    found: BTreeSet<String>,
    directories: usize,
}

impl Walk<'_> {
    fn below(&mut self, directory: &str, parts: &[&str]) -> Result<(), String> {
        let Some((part, rest)) = parts.split_first() else {
            self.add(directory);
            return Ok(());
        };
        if *part == "**" {
            self.below(directory, rest)?;
            for (name, is_directory) in self.entries(directory)? {
                let path = joined(directory, &name);
                match (is_directory, rest) {
                    (true, _) => self.below(&path, parts)?,
                    (false, []) => self.add(&path),
                    (false, _) => {}
                }
            }
            return Ok(());
        }
        if !part.contains(['*', '?', '[']) {
            return self.below(&joined(directory, &unescaped(part)), rest);
        }
        for (name, is_directory) in self.entries(directory)? {
            if (is_directory || rest.is_empty()) && matches(part, &name) {
                self.below(&joined(directory, &name), rest)?;
            }
        }
        Ok(())
    }

    fn entries(&mut self, directory: &str) -> Result<Vec<(String, bool)>, String> {
        self.directories += 1;
        if self.directories > MAX_DIRECTORIES {
            return Err("too many directories".to_owned());
        }
        let directory = if directory.is_empty() { "." } else { directory };
        Ok(self.env.list_directory(directory).unwrap_or_default())
    }

    fn add(&mut self, path: &str) {
        if !path.is_empty() && self.env.file_exists(path) == Ok(true) {
            self.found.insert(path.to_owned());
        }
    }
}

fn joined(directory: &str, name: &str) -> String {
    match directory {
        "" => name.to_owned(),
        "/" => format!("/{name}"),
        directory => format!("{directory}/{name}"),
    }
}

fn unescaped(part: &str) -> String {
    let mut out = String::with_capacity(part.len());
    let mut chars = part.chars();
    while let Some(c) = chars.next() {
        out.extend(if c == '\\' { chars.next() } else { Some(c) });
    }
    out
}

/// Returns true if a pattern component matches a name. After a mismatch, the last `*` matches one more character.
fn matches(pattern: &str, name: &str) -> bool {
    let (mut pattern, mut name) = (pattern, name);
    let mut retry: Option<(&str, &str)> = None;
    loop {
        if let Some(rest) = pattern.strip_prefix('*') {
            retry = Some((rest, name));
            pattern = rest;
            continue;
        }
        let next = name.chars().next();
        if pattern.is_empty() && next.is_none() {
            return true;
        }
        let length = element(pattern);
        match next {
            Some(c) if length > 0 && takes(&pattern[..length], c) => {
                pattern = &pattern[length..];
                name = &name[c.len_utf8()..];
            }
            _ => match &mut retry {
                Some((after, from)) if !from.is_empty() => {
                    *from = &from[from.chars().next().map_or(0, char::len_utf8)..];
                    (pattern, name) = (after, from);
                }
                _ => return false,
            },
        }
    }
}

/// Returns true if an element of a pattern matches a character.
fn takes(element: &str, c: char) -> bool {
    let mut chars = element.chars();
    match chars.next() {
        Some('?') => true,
        Some('\\') => chars.next() == Some(c),
        // Splitting a path into components cuts a class that contains a slash in two; neither half matches
        // anything.
        Some('[') => element.len() > 1 && in_class(&element[1..element.len() - 1], c),
        first => first == Some(c),
    }
}

fn in_class(class: &str, c: char) -> bool {
    let (is_negated, class) = match class.strip_prefix(['!', '^']) {
        Some(class) => (true, class),
        None => (false, class),
    };
    let mut chars = class.chars().peekable();
    let mut is_in = false;
    while let Some(first) = chars.next() {
        let low = if first == '\\' { chars.next().unwrap_or(first) } else { first };
        let mut high = low;
        let mut ahead = chars.clone();
        if ahead.next() == Some('-')
            && let Some(end) = ahead.next()
        {
            high = if end == '\\' { ahead.next().unwrap_or(end) } else { end };
            chars = ahead;
        }
        is_in |= (low..=high).contains(&c);
    }
    is_in != is_negated
}
