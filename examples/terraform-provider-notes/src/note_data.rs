//! The data source `notes_note`.

use mayfly_sdk::{DataCall, DataSource, Diagnostic, Model, OrDiagnostic as _};

use crate::store::Store;

/// A note that the configuration does not manage.
#[derive(Model)]
pub(crate) struct FoundNote {
    /// The title.
    title: String,
    /// The text.
    #[attribute(computed)]
    body: Option<String>,
    /// The number of times that the note was written.
    #[attribute(computed)]
    revision: Option<u64>,
}

/// The data source.
pub(crate) struct NoteData;

impl DataSource<Store> for NoteData {
    type Model = FoundNote;

    fn type_name(&self) -> &'static str {
        "notes_note"
    }

    async fn read(
        &self,
        store: &Store,
        config: FoundNote,
        _: &mut DataCall,
    ) -> Result<FoundNote, Diagnostic> {
        let missing = || {
            let detail = format!("There is no note with the title {:?}.", config.title);
            Diagnostic::error("Note not found", detail).at(FoundNote::TITLE.path())
        };
        let found = store.find(&config.title).or_diagnostic("The note cannot be read")?;
        let note = found.ok_or_else(missing)?;
        Ok(FoundNote { body: Some(note.body), revision: Some(note.revision), ..config })
    }
}
