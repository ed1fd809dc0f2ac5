//! What an editor asks about a configuration: answers as plain data, over the queries that `validate` and `plan` use.
//!
//! Start reading at [`Document`], which every question begins with, then [`Cursor`], which tells what stands at an offset. One
//! module answers one kind of question.
//!
//! **Invariant:** answers are pure functions of the database; nothing here reads a file, starts a process or keeps state.
//! **Invariant:** places are byte offsets of the file's text; what a client counts in is known above only.
//! **Invariant:** no answer shows a value of anything sensitive or ephemeral, nor its default.
//! **Absent on purpose:** LSP types, open buffers, cancellation (a query that is cancelled unwinds through here).

mod completion;
mod cursor;
#[cfg(test)]
mod fixture;
mod hover;
mod inlay_hints;
mod language;
mod place;
mod scheme;
#[cfg(test)]
mod secrets_test;
mod semantic_tokens;
mod shown;
mod signature;

use db::{ByteRange, Directory, File};
use hir::{Db, Workspace};

pub use completion::{Completion, CompletionKind, Completions, completions};
pub use cursor::{Cursor, ItemAt};
pub use hover::{Hover, hover};
pub use inlay_hints::{InlayHint, InlayKind, inlay_hints};
pub use place::Module;
pub use semantic_tokens::{
    Modifiers, SemanticKind, SemanticToken, semantic_tokens, semantic_tokens_in,
};
pub use signature::{ParameterHelp, SignatureHelp, signature_help};

/// A file of a module, seen as part of a configuration: what every question is about.
#[derive(Clone, Copy)]
pub struct Document<'db> {
    /// The database.
    pub db: &'db dyn Db,
    /// The configuration whose schemas and installed modules count.
    pub workspace: Workspace,
    /// The module.
    pub directory: Directory,
    /// The file.
    pub file: File,
}

/// A range of a file that may be another one than the question is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct FileRange {
    /// The file.
    pub file: File,
    /// The bytes.
    pub range: ByteRange,
}
