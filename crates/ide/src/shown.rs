//! Display of types, marks and constants.
//!
//! **Invariant:** no text contains a value that is or may be sensitive or ephemeral, or has such a part.

use std::path::Path;

use hir::analysis::{Abstract, Tri, TriMarks, When, value::Inside};
use values::{Kind, Type, Value};

/// The maximal number of lines of a type; longer types are cut.
const MAX_LINES: usize = 40;

/// The maximal length of a type on one line.
const LINE: usize = 60;

/// The maximal number of characters of a constant; longer constants are cut.
const MAX_CHARS: usize = 80;

/// The path relative to a directory. A path that has nothing in common with the directory stays unchanged.
pub fn path_from(directory: &str, path: &str) -> String {
    // All absolute paths share the root component, so one common component is not enough.
    match relative_path(directory, path) {
        (in_common, relative) if in_common >= 2 => relative,
        _ => path.to_owned(),
    }
}

/// The path relative to a directory, and the number of common components.
pub(crate) fn relative_path(directory: &str, path: &str) -> (usize, String) {
    let (directory, path) = (Path::new(directory), Path::new(path));
    let (mut up, mut down) = (directory.components().peekable(), path.components().peekable());
    let mut in_common = 0;
    while let (Some(one), Some(other)) = (up.peek(), down.peek())
        && one == other
    {
        up.next();
        down.next();
        in_common += 1;
    }
    let up = up.map(|_| "..".to_owned());
    let down = down.map(|it| it.as_os_str().to_string_lossy().into_owned());
    (in_common, up.chain(down).collect::<Vec<_>>().join("/"))
}

/// The type of a value as a constraint, over several lines if it is long, with the marks of its parts.
pub(crate) fn type_of(value: &Abstract) -> String {
    let mut text = TypeText { out: String::new(), lines: 0 };
    text.ty(&value.ty, Some(value), 0);
    text.out
}

/// A type without marks.
pub(crate) fn type_text(ty: &Type) -> String {
    let mut text = TypeText { out: String::new(), lines: 0 };
    text.ty(ty, None, 0);
    text.out
}

struct TypeText {
    out: String,
    lines: usize,
}

impl TypeText {
    fn ty(&mut self, ty: &Type, value: Option<&Abstract>, depth: usize) {
        let is_marked = value.is_some_and(|it| has_secrets(&it.inner_marks()));
        let short = ty.to_string();
        if short.chars().count() <= LINE && !is_marked {
            self.out.push_str(&short);
            return;
        }
        match ty {
            Type::Object(object) => {
                self.out.push_str("object({");
                for (name, ty) in object.iter() {
                    if !self.line(depth + 1) {
                        break;
                    }
                    let part = value.and_then(|it| it.attr(name));
                    self.out.push_str(&format!("{name} = "));
                    let is_optional = object.is_optional(name);
                    self.out.push_str(if is_optional { "optional(" } else { "" });
                    self.ty(ty, part.as_ref(), depth + 1);
                    self.out.push_str(if is_optional { ")" } else { "" });
                    self.marks(part.as_ref());
                }
                self.close(depth, "})");
            }
            Type::List(element) => self.collection("list", element, value, depth),
            Type::Set(element) => self.collection("set", element, value, depth),
            Type::Map(element) => self.collection("map", element, value, depth),
            Type::Tuple(elements) => {
                self.out.push_str("tuple([");
                for (index, ty) in elements.iter().enumerate() {
                    if !self.line(depth + 1) {
                        break;
                    }
                    let part = value.and_then(|it| it.item(index));
                    self.ty(ty, part.as_ref(), depth + 1);
                    self.out.push(',');
                    self.marks(part.as_ref());
                }
                self.close(depth, "])");
            }
            _ => self.out.push_str(&short),
        }
    }

    fn collection(&mut self, name: &str, element: &Type, value: Option<&Abstract>, depth: usize) {
        self.out.push_str(name);
        self.out.push('(');
        let each = value.and_then(|it| match &it.inside {
            Inside::Each(element) => Some(element),
            _ => None,
        });
        self.ty(element, each.map(|it| &**it), depth);
        self.out.push(')');
    }

    /// Begins a line. Returns false if the maximal number of lines is reached.
    fn line(&mut self, depth: usize) -> bool {
        self.lines += 1;
        if self.lines == MAX_LINES {
            self.out.push_str(&format!("\n{}# …", "  ".repeat(depth)));
        }
        if self.lines < MAX_LINES {
            self.out.push_str(&format!("\n{}", "  ".repeat(depth)));
        }
        self.lines < MAX_LINES
    }

    fn close(&mut self, depth: usize, bracket: &str) {
        self.out.push_str(&format!("\n{}{bracket}", "  ".repeat(depth)));
    }

    fn marks(&mut self, part: Option<&Abstract>) {
        let words = part.map(|it| marks(&it.marks)).unwrap_or_default();
        if !words.is_empty() {
            self.out.push_str(&format!(" # {}", words.join(", ")));
        }
    }
}

fn has_secrets(marks: &TriMarks) -> bool {
    marks.ephemeral > Tri::No || marks.sensitive > Tri::No
}

/// Returns true if a value, or a part of it, is or may be a secret.
pub(crate) fn may_be_secret(value: &Abstract) -> bool {
    has_secrets(&value.deep_marks())
}

/// Marks in words: `sensitive`, `may be ephemeral`.
pub(crate) fn marks(marks: &TriMarks) -> Vec<&'static str> {
    let ephemeral = match marks.ephemeral {
        Tri::No => None,
        Tri::Maybe => Some("may be ephemeral"),
        Tri::Yes => Some("ephemeral"),
    };
    let sensitive = match marks.sensitive {
        Tri::No => None,
        Tri::Maybe => Some("may be sensitive"),
        Tri::Yes => Some("sensitive"),
    };
    ephemeral.into_iter().chain(sensitive).collect()
}

/// The marks of a value and of its parts, in words.
pub(crate) fn all_marks(value: &Abstract) -> Vec<&'static str> {
    let (top, inner) = by_known_values(value);
    let ephemeral = match inner.ephemeral {
        Tri::Yes if top.ephemeral == Tri::No => Some("has ephemeral parts"),
        Tri::Maybe if top.ephemeral == Tri::No => Some("may have ephemeral parts"),
        _ => None,
    };
    let sensitive = match inner.sensitive {
        Tri::Yes if top.sensitive == Tri::No => Some("has sensitive parts"),
        Tri::Maybe if top.sensitive == Tri::No => Some("may have sensitive parts"),
        _ => None,
    };
    marks(&top).into_iter().chain(ephemeral).chain(sensitive).collect()
}

/// The marks of a value and the marks inside of it, with the ephemerality that holds once all values are known.
/// While parts are unknown, analysis may mark the whole value as ephemeral although only a part is.
fn by_known_values(value: &Abstract) -> (TriMarks, TriMarks) {
    let (mut top, mut inner) = (value.marks, value.inner_marks());
    let (here, inside) = (value.ephemeral.here(), value.ephemeral.inside());
    if *here == When::Always {
        top.ephemeral = Tri::Yes;
    } else if here.is_never() && !inside.is_never() {
        top.ephemeral = Tri::No;
    }
    if *inside == When::Always {
        inner.ephemeral = Tri::Yes;
    } else if !inside.is_never() {
        inner.ephemeral = inner.ephemeral.max(Tri::Maybe);
    }
    (top, inner)
}

/// The constant of a value on one short line. `None` if the value is not constant or a part may be a secret.
pub(crate) fn constant(value: &Abstract) -> Option<String> {
    if may_be_secret(value) {
        return None;
    }
    constant_text(&value.constant.as_ref()?.0)
}

/// A constant on one short line, in the syntax of the configuration. `None` if a part of it is marked.
pub(crate) fn constant_text(value: &Value) -> Option<String> {
    if !value.deep_marks().is_empty() {
        return None;
    }
    let mut out = String::new();
    write_value(value, &mut out);
    Some(match out.char_indices().nth(MAX_CHARS) {
        Some((end, _)) => format!("{}…", &out[..end]),
        None => out,
    })
}

/// Writes a value. Stops once the text is longer than the shown part.
fn write_value(value: &Value, out: &mut String) {
    // A character has at most four bytes.
    if out.len() > MAX_CHARS * 4 {
        return;
    }
    match value.kind() {
        Kind::Null => out.push_str("null"),
        Kind::Unknown(_) => out.push_str("(unknown)"),
        Kind::Bool(it) => out.push_str(if it { "true" } else { "false" }),
        Kind::Number(it) => out.push_str(&it.to_string()),
        Kind::String(it) => quoted(it, out),
        Kind::List(items) | Kind::Tuple(items) | Kind::Set(items) => {
            out.push('[');
            separated(items.iter(), out, write_value);
            out.push(']');
        }
        Kind::Map(entries) | Kind::Object(entries) if entries.is_empty() => out.push_str("{}"),
        Kind::Map(entries) | Kind::Object(entries) => {
            out.push_str("{ ");
            separated(entries.iter(), out, |(name, value), out| {
                match addr::is_identifier(name) {
                    true => out.push_str(name),
                    false => quoted(name, out),
                }
                out.push_str(" = ");
                write_value(value, out);
            });
            out.push_str(" }");
        }
    }
}

fn separated<T>(parts: impl Iterator<Item = T>, out: &mut String, write: impl Fn(T, &mut String)) {
    for (index, part) in parts.enumerate() {
        if out.len() > MAX_CHARS * 4 {
            return;
        }
        out.push_str(if index == 0 { "" } else { ", " });
        write(part, out);
    }
}

fn quoted(text: &str, out: &mut String) {
    let short: String = text.chars().take(MAX_CHARS + 1).collect();
    out.push_str(&format!("{short:?}"));
}

/// A fenced code block.
pub(crate) fn fenced(code: &str) -> String {
    // The fence is longer than any run of backquotes inside, so that none of them closes the block.
    let longest = code.split(|it| it != '`').map(str::len).max().unwrap_or(0);
    let fence = "`".repeat(longest.max(2) + 1);
    format!("{fence}hcl\n{code}\n{fence}")
}

/// A short text as inline code.
pub(crate) fn code(text: &str) -> String {
    match text.contains('`') {
        true => format!("`` {text} ``"),
        false => format!("`{text}`"),
    }
}

#[cfg(test)]
mod tests {
    use super::path_from;

    #[test]
    fn paths_are_shown_relative_to_a_directory() {
        assert_eq!(path_from("/w/store", "/w/store/main.tf"), "main.tf");
        assert_eq!(path_from("/w/store", "/w/store/net/main.tf"), "net/main.tf");
        assert_eq!(path_from("/w/store", "/w/mod/main.tf"), "../mod/main.tf");
        assert_eq!(path_from("/w/store", "/etc/main.tf"), "/etc/main.tf");
        assert_eq!(path_from(".", "net/main.tf"), "net/main.tf");
        assert_eq!(path_from(".", "../mod/main.tf"), "../mod/main.tf");
    }
}
