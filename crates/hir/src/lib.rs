//! The meaning of a configuration: which things it declares, what every name refers to, and which type and marks
//! every expression has.
//!
//! Start reading at [`item`] and [`expr`] (what a block says), then [`lower`] (from text to items), [`names`] and [`symbols`]
//! (what a module declares), [`statics`] (which modules are called), [`analysis`] (types, marks, problems) and [`program`] (what the engine runs). [`eval`] evaluates.
//!
//! **Invariant:** no query here performs I/O; files, schemas and manifests are inputs of [`db`].
//! **Invariant:** runtime values never enter a query, only types, marks and constants written in the source; and, for what is
//! needed before anything is planned, values of variables that are no secrets and files that functions read ([`statics`]).
//! **Absent on purpose:** LSP positions, terminal text, provider processes, state.

pub mod analysis;
pub mod backends;
mod build;
pub mod destroy_time;
pub mod diagnostics;
pub mod encryption;
pub mod eval;
pub mod expr;
mod fix;
pub mod item;
pub mod lower;
pub mod names;
pub mod native_text;
pub mod program;
pub mod provider_function;
pub mod provisioner;
pub mod repetition;
pub mod scope;
pub mod secret_message;
mod source_map;
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
pub use scope::{EvalDiagnostic, Interrupt, Scope, SecretParts};
pub use symbols::Symbols;
pub use workspace::{ProviderInput, SchemasHandle, Workspace};

/// What the queries of this layer see: the inputs of [`db`], and the symbol table.
#[salsa::db]
pub trait Db: db::Db {
    /// The names of all modules.
    fn symbols(&self) -> &Symbols;

    /// The same, to be changed.
    fn symbols_mut(&mut self) -> &mut Symbols;
}
