//! The inputs of the incremental database, the environment behind a trait, and the diagnostic with its rules.
//!
//! Start reading at [`input`] and [`spare`], then [`System`], then [`Diagnostic`], then [`rules`].
//!
//! **Invariant:** the database performs no I/O; a driver reads through [`System`] and sets inputs.
//! **Invariant:** no runtime value is ever an input: only texts, schemas and settings are.
//! **Absent on purpose:** modules, providers, and the meaning of a directory.

pub mod diagnostic;
pub mod fixture;
pub mod input;
pub mod rules;
pub mod spare;
pub mod system;

pub use diagnostic::{
    ByteRange, CheckedObject, Diagnostic, Difference, Fix, Location, Related, Severity, SourceText,
    Sources,
};
pub use input::{
    Block, BlockEdits, Directory, EditedText, File, Override, block_offset, file_text, is_json,
    is_override, is_test_file, parse,
};
pub use rules::{Rule, Summary};
pub use spare::SpareInputs;
pub use system::{DirectoryEntry, MemorySystem, OsSystem, System};

/// The database trait for the queries of all layers. Higher layers add no state: their queries take inputs as
/// arguments.
#[salsa::db]
pub trait Db: salsa::Database {
    /// Returns the durability of an input that a driver derives from a text. `edited` is the durability in a
    /// database whose texts change. Drivers call this; queries do not.
    fn durability(&self, edited: salsa::Durability) -> salsa::Durability {
        edited
    }
}
