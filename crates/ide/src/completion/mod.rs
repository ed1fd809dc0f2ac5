//! What can be typed at a place.
//!
//! Start reading at [`completions`]. `context` finds out what kind of place it is, from tokens rather than from whole
//! nodes, because what is being typed is seldom whole; `body`, `label`, `path` and `expression` each fill one kind. `source` and
//! `variables_file` stand beside them: what they propose, or what they are asked about, is not in the database.

mod body;
mod context;
mod expression;
mod label;
mod path;
mod source;
#[cfg(test)]
mod tests;
mod variables_file;

use db::ByteRange;
use syntax::TextRange;

use self::context::Place;
pub use self::source::source_completions;
pub(crate) use self::variables_file::in_variables_file;
use crate::{Cursor, Document, hover::Card};

/// A list with more entries than this holds only what begins like the text that is typed.
const MANY: usize = 5_000;

/// No list has more entries than this.
const MOST: usize = 10_000;

/// What can be typed at a place.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Completions {
    /// The proposals.
    pub items: Vec<Completion>,
    /// Whether there are more, so that the list must be asked for again when more is typed.
    pub is_incomplete: bool,
}

/// A proposal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Completion {
    /// What is shown and what is typed is compared with.
    pub label: String,
    /// What it is.
    pub kind: CompletionKind,
    /// A few words beside the label: its type.
    pub detail: Option<String>,
    /// Markdown.
    pub documentation: Option<String>,
    /// What it replaces.
    pub range: ByteRange,
    /// What is put there: a snippet if `is_snippet`, else plain text.
    pub insert: String,
    /// Whether `insert` has the placeholders `$1`, `${2:name}` and the final `$0`.
    pub is_snippet: bool,
    /// Proposals are shown in the order of their keys.
    pub sort_key: String,
    /// Whether it should not be used any more.
    pub is_deprecated: bool,
}

/// What a proposal is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum CompletionKind {
    /// A type of block.
    Block,
    /// The name of an argument.
    Argument,
    /// A type of resource, of provisioner, of backend.
    Type,
    /// A provider or one of its configurations.
    Provider,
    /// A variable, or what begins a reference.
    Variable,
    /// A local value, or a name that `for` binds.
    Local,
    /// A resource.
    Resource,
    /// A module call.
    Module,
    /// An attribute of a value.
    Attribute,
    /// A function.
    Function,
    /// A word of the language.
    Keyword,
}

/// Proposes what can be typed at an offset.
pub fn completions(document: Document<'_>, offset: u32) -> Completions {
    let Some(cursor) = document.cursor(offset) else {
        return body::of_empty_file();
    };
    let place = Place::of(&cursor);
    let mut acc = Acc::new(&cursor, &place);
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

/// The proposals so far, with the place that they are for.
struct Acc<'a, 'db> {
    cursor: &'a Cursor<'db>,
    place: &'a Place,
    items: Vec<Completion>,
    is_incomplete: bool,
}

/// A proposal before the place is known.
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

    /// Lower ranks come first.
    pub(super) fn rank(self, rank: u8) -> Proposal {
        Proposal { rank, ..self }
    }

    pub(super) fn deprecated(self, is_deprecated: bool) -> Proposal {
        Proposal { is_deprecated: self.is_deprecated || is_deprecated, ..self }
    }

    /// The proposal for a range of a file.
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

impl<'a, 'db> Acc<'a, 'db> {
    fn new(cursor: &'a Cursor<'db>, place: &'a Place) -> Acc<'a, 'db> {
        Acc { cursor, place, items: Vec::new(), is_incomplete: false }
    }

    pub(super) fn add(&mut self, proposal: Proposal) {
        if self.items.len() >= MOST {
            self.is_incomplete = true;
            return;
        }
        self.items.push(proposal.at(self.cursor.in_file(self.place.replaced)));
    }

    /// Adds one proposal for each name. Of very many only those that begin with what is typed.
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
        self.items.sort_by(|a, b| a.sort_key.cmp(&b.sort_key));
        self.items.dedup_by(|a, b| a.label == b.label && a.kind == b.kind);
        Completions { items: self.items, is_incomplete: self.is_incomplete }
    }
}

/// A text as part of a snippet, where some characters mean something.
pub(super) fn escaped(text: &str) -> String {
    text.replace('\\', "\\\\").replace('$', "\\$").replace('}', "\\}")
}

/// An empty range at the cursor.
pub(super) fn nothing_replaced(cursor: &Cursor<'_>) -> TextRange {
    TextRange::empty(cursor.offset)
}
