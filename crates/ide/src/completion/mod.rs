//! Code completion.
//!
//! Start reading at [`completions`]. `context` classifies the place of the cursor. It works on tokens rather than
//! on whole nodes, because code is usually incomplete while it is typed. `body`, `label`, `path` and `expression`
//! fill one kind of place each. `source` and `variables_file` have their own entry points: the proposals of one
//! and the file of the other are not in the database.

mod body;
mod context;
mod expression;
mod label;
mod path;
mod source;
mod test_file;
#[cfg(test)]
mod tests;
mod variables_file;

use db::ByteRange;
use syntax::TextRange;

use self::context::Place;
pub use self::source::source_completions;
pub(crate) use self::variables_file::in_variables_file;
use crate::{Cursor, Document, hover::Card};

/// Above this number of names, a list contains only names that begin with the typed text.
const MANY: usize = 5_000;

/// The maximal number of entries of a list.
const MOST: usize = 10_000;

/// The completion list for a place.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Completions {
    /// The proposals.
    pub items: Vec<Completion>,
    /// True if the list is not complete, so that the client must request it again after more input.
    pub is_incomplete: bool,
}

/// A proposal of the completion list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Completion {
    /// The label: the text that the client shows and matches against the input.
    pub label: String,
    /// The kind of the proposal.
    pub kind: CompletionKind,
    /// A short text next to the label, such as the type.
    pub detail: Option<String>,
    /// The documentation, in Markdown.
    pub documentation: Option<String>,
    /// The range that the proposal replaces.
    pub range: ByteRange,
    /// The inserted text: a snippet if `is_snippet` is set, else plain text.
    pub insert: String,
    /// True if `insert` contains the placeholders `$1`, `${2:name}` and the final `$0`.
    pub is_snippet: bool,
    /// The key by which the client sorts the proposals.
    pub sort_key: String,
    /// True if the proposal is deprecated.
    pub is_deprecated: bool,
}

/// The kind of a proposal.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum CompletionKind {
    /// A block type.
    Block,
    /// The name of an argument.
    Argument,
    /// A type of a resource, provisioner or backend, or a type constraint.
    Type,
    /// A provider or a provider configuration.
    Provider,
    /// A variable.
    Variable,
    /// A local value, or a name that an enclosing expression binds.
    Local,
    /// A resource.
    Resource,
    /// A module call.
    Module,
    /// An attribute of a value.
    Attribute,
    /// A function.
    Function,
    /// A keyword, or the first name of a reference.
    Keyword,
}

/// Returns the proposals for an offset.
pub fn completions(document: Document<'_>, offset: u32) -> Completions {
    let Some(cursor) = document.cursor(offset) else {
        return body::of_empty_file(document);
    };
    let place = Place::of(&cursor);
    let mut acc = Proposals::new(&cursor, &place);
    match place.kind {
        context::Kind::Nothing => {}
        context::Kind::Label { .. } => label::complete(&mut acc),
        context::Kind::Name { .. } => body::names(&mut acc),
        context::Kind::Key { .. } => body::keys(&mut acc),
        context::Kind::Step { .. } => path::complete(&mut acc),
        context::Kind::Expression { .. } => expression::complete(&mut acc),
    }
    acc.finish()
}

/// The collected proposals for a place.
struct Proposals<'a, 'db> {
    cursor: &'a Cursor<'db>,
    place: &'a Place,
    items: Vec<Completion>,
    is_incomplete: bool,
}

/// A proposal that does not know its range yet.
struct Proposal {
    label: String,
    kind: CompletionKind,
    detail: Option<String>,
    documentation: Option<String>,
    insert: Option<String>,
    is_snippet: bool,
    rank: u8,
    is_deprecated: bool,
}

impl Proposal {
    pub(super) fn new(label: impl Into<String>, kind: CompletionKind) -> Proposal {
        Proposal {
            label: label.into(),
            kind,
            detail: None,
            documentation: None,
            insert: None,
            is_snippet: false,
            rank: 5,
            is_deprecated: false,
        }
    }

    pub(super) fn detail(self, detail: impl Into<String>) -> Proposal {
        let detail = detail.into();
        Proposal { detail: (!detail.is_empty()).then_some(detail), ..self }
    }

    pub(super) fn doc(self, text: &str) -> Proposal {
        let documentation = (!text.trim().is_empty()).then(|| text.trim().to_owned());
        Proposal { documentation, ..self }
    }

    pub(super) fn card(self, card: &Card) -> Proposal {
        self.doc(&card.text())
    }

    pub(super) fn text(self, insert: String) -> Proposal {
        Proposal { insert: Some(insert), ..self }
    }

    pub(super) fn snippet(self, insert: String) -> Proposal {
        Proposal { insert: Some(insert), is_snippet: true, ..self }
    }

    /// Sets the rank; proposals with lower ranks come first.
    pub(super) fn rank(self, rank: u8) -> Proposal {
        Proposal { rank, ..self }
    }

    pub(super) fn deprecated(self, is_deprecated: bool) -> Proposal {
        Proposal { is_deprecated: self.is_deprecated || is_deprecated, ..self }
    }

    /// Completes the proposal with the range that it replaces.
    fn at(self, range: ByteRange) -> Completion {
        let last = if self.is_deprecated { 9 } else { self.rank };
        Completion {
            sort_key: format!("{last}{}", self.label),
            kind: self.kind,
            detail: self.detail,
            documentation: self.documentation,
            range,
            insert: self.insert.unwrap_or_else(|| self.label.clone()),
            is_snippet: self.is_snippet,
            is_deprecated: self.is_deprecated,
            label: self.label,
        }
    }
}

impl<'a, 'db> Proposals<'a, 'db> {
    fn new(cursor: &'a Cursor<'db>, place: &'a Place) -> Proposals<'a, 'db> {
        Proposals { cursor, place, items: Vec::new(), is_incomplete: false }
    }

    pub(super) fn add(&mut self, proposal: Proposal) {
        if self.items.len() >= MOST {
            self.is_incomplete = true;
            return;
        }
        self.items.push(proposal.at(self.cursor.in_file(self.place.replaced)));
    }

    /// Adds one proposal for each name. Of more than `MANY` names, adds only those that begin with the typed text.
    pub(super) fn add_names<T: AsRef<str>>(
        &mut self,
        names: Vec<T>,
        propose: impl Fn(T) -> Proposal,
    ) {
        let is_many = names.len() > MANY;
        self.is_incomplete |= is_many;
        for name in names {
            if !is_many || name.as_ref().starts_with(&*self.place.typed) {
                if self.items.len() >= MOST {
                    self.is_incomplete = true;
                    return;
                }
                self.add(propose(name));
            }
        }
    }

    fn finish(mut self) -> Completions {
        sorted::sort_by(&mut self.items, |a, b| a.sort_key.cmp(&b.sort_key));
        self.items.dedup_by(|a, b| a.label == b.label && a.kind == b.kind);
        Completions { items: self.items, is_incomplete: self.is_incomplete }
    }
}

/// Escapes the characters of a text that have a meaning in snippets.
pub(super) fn escaped(text: &str) -> String {
    text.replace('\\', "\\\\").replace('$', "\\$").replace('}', "\\}")
}

/// The empty range at the cursor.
pub(super) fn nothing_replaced(cursor: &Cursor<'_>) -> TextRange {
    TextRange::empty(cursor.offset)
}
