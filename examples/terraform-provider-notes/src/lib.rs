//! A provider for notes: files in a directory, with a title, a body and perhaps a PIN.
//!
//! Start reading at [`NotesProvider`]. Each type is a module; [`store`] is the remote system.

mod function;
mod note;
mod note_data;
mod pin;
pub mod store;

use std::path::PathBuf;

use mayfly_sdk::{ConfigureCall, Definition, Diagnostic, Model, OrDiagnostic as _, Types};
use store::Store;

/// The provider.
pub struct NotesProvider;

/// Notes in a directory.
#[derive(Model)]
pub struct Config {
    /// The directory of the notes. It is created if it does not exist.
    directory: String,
}

impl Definition for NotesProvider {
    type Config = Config;
    type Client = Store;

    fn source(&self) -> &'static str {
        "registry.opentofu.org/example/notes"
    }

    async fn configure(&self, config: Config, _: &mut ConfigureCall) -> Result<Store, Diagnostic> {
        let store = Store::open(PathBuf::from(config.directory));
        store.or_diagnostic("The directory of the notes cannot be used")
    }

    fn types(&self, types: &mut Types<Store>) {
        types
            .resource(note::NoteType)
            .data_source(note_data::NoteData)
            .ephemeral_resource(pin::PinType)
            .function(function::slug());
    }
}
