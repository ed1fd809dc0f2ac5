//! The resource `notes_note`.

use mayfly_sdk::{
    Call, Diagnostic, Import, Model, OrDiagnostic as _, PlanChange, Resource, Secret, Upgrade,
};

use crate::store::{Store, Stored, slug};

/// A note.
#[derive(Model)]
#[model(version = 1, requires(pin_wo_version, pin_wo))]
pub(crate) struct Note {
    /// The title. Another title makes another note.
    #[attribute(requires_replace, identity, length(1, 80), check = has_letters)]
    title: String,
    /// The text.
    #[attribute(default = "")]
    body: String,
    /// A secret that protects the note. It is sent to the store, and kept nowhere else.
    #[attribute(write_only, length(4, 80))]
    pin_wo: Option<Secret>,
    /// Change this number to send another `pin_wo`.
    pin_wo_version: Option<i64>,
    /// The number of times that the note was written.
    #[attribute(computed)]
    revision: Option<u64>,
}

/// A note as version 0 of the schema had it.
#[derive(Model)]
struct NoteV0 {
    name: String,
    text: Option<String>,
}

/// The resource type.
pub(crate) struct NoteType;

const UNREADABLE: &str = "The note cannot be read";
const UNWRITABLE: &str = "The note cannot be written";

impl Resource<Store> for NoteType {
    type Model = Note;

    fn type_name(&self) -> &'static str {
        "notes_note"
    }

    /// Every update writes the note, so only a plan without changes keeps the revision.
    async fn plan(&self, store: &Store, change: &mut PlanChange) -> Result<(), Diagnostic> {
        let Some(title) = change.planned.string(Note::TITLE) else { return Ok(()) };
        let is_taken =
            change.is_creation() && store.find(&title).or_diagnostic(UNREADABLE)?.is_some();
        if is_taken {
            let detail = format!(
                "There is a note with the title {title:?}. Import it, or choose another title."
            );
            change.diagnostics.error_at(Note::TITLE.path(), "The title is taken", detail);
        }
        Ok(())
    }

    async fn create(&self, store: &Store, planned: Note, _: &mut Call) -> Result<Note, Diagnostic> {
        let pin = planned.pin_wo.as_ref().map(|it| it.reveal().to_owned());
        let note = stored(&planned, pin, 1);
        store.create(&note).or_diagnostic(UNWRITABLE)?;
        Ok(Note { revision: Some(1), ..planned })
    }

    async fn read(
        &self,
        store: &Store,
        state: Note,
        _: &mut Call,
    ) -> Result<Option<Note>, Diagnostic> {
        let found = store.find(&state.title).or_diagnostic(UNREADABLE)?;
        let update = |it: Stored| Note { body: it.body, revision: Some(it.revision), ..state };
        Ok(found.map(update))
    }

    async fn update(
        &self,
        store: &Store,
        prior: Note,
        planned: Note,
        _: &mut Call,
    ) -> Result<Note, Diagnostic> {
        let found = store.find(&planned.title).or_diagnostic(UNREADABLE)?;
        let (known, revision) = found.map_or((None, 0), |it| (it.pin, it.revision));
        // A write-only value cannot be compared, so its version says whether it is a new one.
        let pin = match planned.pin_wo_version == prior.pin_wo_version {
            true => known,
            false => planned.pin_wo.as_ref().map(|it| it.reveal().to_owned()),
        };
        let note = stored(&planned, pin, revision + 1);
        store.replace(&note).or_diagnostic(UNWRITABLE)?;
        Ok(Note { revision: Some(revision + 1), ..planned })
    }

    async fn delete(&self, store: &Store, state: Note, _: &mut Call) -> Result<(), Diagnostic> {
        store.remove(&state.title).or_diagnostic("The note cannot be removed")
    }

    async fn import(
        &self,
        store: &Store,
        target: Import,
        _: &mut Call,
    ) -> Result<Option<Note>, Diagnostic> {
        let title = target.id_or(Note::TITLE)?;
        let found = store.find(&title).or_diagnostic(UNREADABLE)?;
        Ok(found.map(|it| Note {
            title: it.title,
            body: it.body,
            pin_wo: None,
            pin_wo_version: None,
            revision: Some(it.revision),
        }))
    }

    fn upgrades(&self) -> Vec<Upgrade> {
        let renamed = |old: NoteV0| {
            Ok(Note {
                title: old.name,
                body: old.text.unwrap_or_default(),
                pin_wo: None,
                pin_wo_version: None,
                revision: None,
            })
        };
        vec![Upgrade::from_model(0, renamed)]
    }
}

fn stored(note: &Note, pin: Option<String>, revision: u64) -> Stored {
    Stored { title: note.title.clone(), body: note.body.clone(), pin, revision }
}

fn has_letters(title: &str) -> Result<(), &'static str> {
    if slug(title).is_empty() { Err("it has no letters and digits") } else { Ok(()) }
}
