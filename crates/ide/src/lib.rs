//! Language features of an editor: plain data, computed from the queries that `validate` and `plan` also use.
//!
//! Start reading at [`Document`], the argument of every request, then [`Cursor`], the syntax at an offset. Each
//! module implements one kind of request.
//!
//! **Invariant:** answers are pure functions of the database; nothing here reads a file, starts a process or keeps
//! state.
//! **Invariant:** places are byte offsets in the text of a file; only the layers above know the units of the
//! client.
//! **Invariant:** no answer shows the value or the default of anything sensitive or ephemeral.
//! **Absent on purpose:** LSP types, open buffers and cancellation (a cancelled query unwinds through this crate).

mod actions;
mod block_syntax;
mod calls;
mod completion;
mod cursor;
mod definition;
mod edit;
#[cfg(test)]
mod fixture;
mod folding;
mod formatting;
mod hover;
mod inlay_hints;
mod known;
mod language;
mod lenses;
mod links;
mod naming;
mod place;
mod references;
mod rename;
mod scheme;
#[cfg(test)]
mod secrets_test;
mod selection;
mod semantic_tokens;
mod shown;
mod signature;
mod symbols;
mod test_file;
mod trees;
mod variables_file;

use db::{ByteRange, Directory, File};
use hir::{Db, Workspace};

pub use actions::{Action, ActionKind, code_actions};
pub use calls::{CalledModule, ModuleCalls, called_modules, calling_modules, module_at};
pub use completion::{Completion, CompletionKind, Completions, completions, source_completions};
pub use cursor::{Cursor, ItemAt};
pub use definition::{Definition, definition};
pub use edit::Edit;
pub use folding::{Fold, FoldKind, folding_ranges};
pub use formatting::{LayoutChange, formatting, formatting_in};
pub use hover::{Hover, PlannedSubject, hover, planned_subject};
pub use inlay_hints::{InlayHint, InlayKind, inlay_hints};
pub use lenses::{Lens, code_lenses};
pub use links::{Link, LinkTarget, document_links};
pub use naming::{Declaration, Role};
pub use place::Module;
pub use references::{Reference, document_highlights, references, references_with_tests};
pub use rename::{Refusal, Renamable, Rename, prepare_rename, rename};
pub use selection::selection_ranges;
pub use semantic_tokens::{
    Modifiers, SemanticKind, SemanticToken, semantic_tokens, semantic_tokens_in,
};
pub use shown::path_from;
pub use signature::{ParameterHelp, SignatureHelp, signature_help};
pub use symbols::{FoundSymbol, Symbol, SymbolKind, document_symbols, workspace_symbols};
pub use test_file::module_under_test;
pub use variables_file::VariablesFile;

/// A file of a module in the context of a configuration; the subject of every request.
#[derive(Clone, Copy)]
pub struct Document<'db> {
    /// The database.
    pub db: &'db dyn Db,
    /// The configuration that provides the schemas and the installed modules.
    pub workspace: Workspace,
    /// The directory of the module.
    pub directory: Directory,
    /// The file.
    pub file: File,
}

/// A range of any file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct FileRange {
    /// The file.
    pub file: File,
    /// The range, in bytes.
    pub range: ByteRange,
}
