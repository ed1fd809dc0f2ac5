//! The ephemeral resource `notes_pin`.

use mayfly_sdk::{Diagnostic, EphemeralCall, EphemeralResource, Model, OrDiagnostic as _, Secret};

use crate::store::Store;

/// The PIN of a note. It exists only while it is used: no state and no plan contains it.
#[derive(Model)]
pub(crate) struct Pin {
    /// The title of the note.
    title: String,
    /// The secret.
    #[attribute(computed)]
    pin: Option<Secret>,
}

/// The ephemeral resource type.
pub(crate) struct PinType;

impl EphemeralResource<Store> for PinType {
    type Model = Pin;

    fn type_name(&self) -> &'static str {
        "notes_pin"
    }

    async fn open(
        &self,
        store: &Store,
        config: Pin,
        _: &mut EphemeralCall,
    ) -> Result<Pin, Diagnostic> {
        let missing = || {
            let detail =
                format!("There is no note with the title {:?}, or it has no PIN.", config.title);
            Diagnostic::error("PIN not found", detail).at(Pin::TITLE.path())
        };
        let found = store.find(&config.title).or_diagnostic("The note cannot be read")?;
        let pin = found.and_then(|it| it.pin).ok_or_else(missing)?;
        Ok(Pin { pin: Some(Secret::new(pin)), ..config })
    }
}
