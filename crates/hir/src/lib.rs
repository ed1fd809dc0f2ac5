//! The semantic model of a configuration: its declarations, the definition behind each reference, and the type and
//! marks of each expression.
//!
//! Start reading at [`item`] and [`expr`]. The modules form layers, and each builds on the ones above it:
//!
//! | layer | knows |
//! |---|---|
//! | [`item`], [`test_item`], [`expr`], [`item_name`] | the declarations of a block, without ranges |
//! | [`lower`] | how syntax becomes items |
//! | [`content`] | the items, names and source maps of one block, as queries |
//! | [`symbols`], [`names`] | the declarations of a module by name |
//! | [`statics`], [`module_calls`] | values that are needed before planning; the modules that a call leads to |
//! | [`analysis`] | types and marks of expressions, and their problems |
//! | [`diagnostics`], [`program`] | the results: diagnostics with locations, and the engine's input |
//!
//! [`eval`] evaluates expressions. It needs no database. [`statics`] uses two types of [`analysis`] that need no
//! query: the problem of an item ([`analysis::problem`]) and the condition of a mark ([`analysis::value::when`]).
//!
//! **Invariant:** no query here performs I/O; files, schemas and manifests are inputs of [`db`].
//! **Invariant:** runtime values never enter a query. A query reads types, marks and constants of the source. The
//! only exception is static evaluation ([`statics`]), which runs before planning: it reads values of variables
//! that are not secret, and files that functions read.
//! **Absent on purpose:** LSP positions, terminal text, provider processes, state.

pub mod analysis;
pub mod backends;
pub(crate) mod build;
pub mod components;
pub mod content;
pub mod destroy_time;
pub mod diagnostics;
pub mod encryption;
pub mod eval;
pub mod expr;
pub(crate) mod expr_equality;
pub(crate) mod fix;
pub mod generated_config;
pub mod item;
pub mod item_name;
pub(crate) mod locate;
pub mod lower;
pub mod module_calls;
pub mod names;
pub mod native_text;
pub mod place;
pub mod program;
pub mod projections;
pub mod provider_function;
pub mod provisioner;
pub mod repetition;
pub mod scope;
pub mod secret_message;
pub mod statics;
pub mod suggest;
pub mod symbols;
pub mod test_file;
pub mod test_item;
pub mod unsupported;
pub mod variables_file;
pub mod workspace;

pub use build::{
    NamedValues, ProgramButValues, module_requirements, program, program_with,
    provider_requirements, provisioner_kinds, reachable,
};
pub use expr::{At, Expr, ExprId, Exprs, NodeId, Ref, SymbolId};
pub use fix::Fix;
pub use item::{Item, ItemKind};
pub use lower::source_map::SourceMap;
pub use program::{Entry, Explanations, Module, ModuleId, ModulePath, Origin, Program};
pub use projections::Projections;
pub use scope::{EvalDiagnostic, Interrupt, Scope, SecretParts};
pub use symbols::Symbols;
pub use workspace::{ProviderInput, SchemasHandle, Workspace};

/// The database that the queries of this crate run on: the inputs of [`db`] and the symbol table.
#[salsa::db]
pub trait Db: db::Db {
    /// The symbol table: the names of all modules.
    fn symbols(&self) -> &Symbols;

    /// The symbol table, for changes.
    fn symbols_mut(&mut self) -> &mut Symbols;

    /// The functions by which queries read parts of larger results.
    fn projections(&self) -> &'static Projections;

    /// Returns true if the driver has found that no item of the current revision depends on itself. Then queries
    /// need not check each item.
    fn is_acyclic(&self) -> bool {
        false
    }
}
