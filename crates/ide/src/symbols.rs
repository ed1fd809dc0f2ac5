//! Symbols: the outline of a file, and the search for declarations by name.

mod document;
mod workspace;

pub use self::{
    document::{Symbol, SymbolKind, document_symbols},
    workspace::{FoundSymbol, workspace_symbols},
};
