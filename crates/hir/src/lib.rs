//! The semantic model of a configuration: its declarations, the definition behind each reference, and the type and
//! marks of each expression.
//!
//! Start reading at [`item`] and [`expr`] (the content of a block), then [`lower`] (from syntax to items),
//! [`names`] and [`symbols`] (the declarations of a module), [`statics`] (which modules are called), [`analysis`]
//! (types, marks, diagnostics) and [`program`] (the engine's input). [`eval`] evaluates expressions.
//!
//! **Invariant:** no query here performs I/O; files, schemas and manifests are inputs of [`db`].
//! **Invariant:** runtime values never enter a query. A query reads types, marks and constants of the source. The
//! only exception is static evaluation ([`statics`]), which runs before planning: it reads values of variables
//! that are not secret, and files that functions read.
//! **Absent on purpose:** LSP positions, terminal text, provider processes, state.

pub mod analysis;
pub mod backends;
pub(crate) mod build;
pub mod destroy_time;
pub mod diagnostics;
pub mod encryption;
pub mod eval;
pub mod expr;
pub(crate) mod fix;
pub mod item;
pub mod lower;
pub mod names;
pub mod native_text;
pub mod program;
pub mod projections;
pub mod provider_function;
pub mod provisioner;
pub mod repetition;
pub mod scope;
pub mod secret_message;
pub(crate) mod source_map;
pub mod statics;
pub mod suggest;
pub mod symbols;
pub mod unsupported;
pub mod variables_file;
pub mod workspace;

pub use build::{
    Locals, ProgramButLocals, program, program_with, provider_requirements, reachable,
};
pub use expr::{At, Expr, ExprId, Exprs, NodeId, Ref, SymbolId};
pub use fix::Fix;
pub use item::{Item, ItemKind};
pub use lower::SourceMap;
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
