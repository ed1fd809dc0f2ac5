//! Facts: the inputs of the incremental database, the environment behind a trait, and the model of a diagnostic.
//!
//! Start reading at [`input`], then [`System`], then [`Diagnostic`].
//!
//! **Invariant:** the database performs no I/O; a driver reads through [`System`] and sets inputs.
//! **Invariant:** no runtime value is ever an input: text, schemas and settings only.
//! **Absent on purpose:** modules, providers, what a directory means.

pub mod diagnostic;
pub mod fixture;
pub mod input;
pub mod one_shot;
pub mod system;

pub use diagnostic::{
    ByteRange, Diagnostic, Fix, Location, Related, Severity, SourceText, Sources,
};
pub use input::{
    Block, BlockEdits, Directory, EditedText, File, Override, block_offset, file_text, is_json,
    is_override, parse,
};
pub use one_shot::OneShot;
pub use system::{DirectoryEntry, MemorySystem, OsSystem, System};

/// What the queries of every layer see. Layers above add nothing: their queries take inputs as arguments.
#[salsa::db]
pub trait Db: salsa::Database {
    /// Set where no text changes any more once it was read.
    fn one_shot(&self) -> Option<&OneShot> {
        None
    }
}
