//! What a run has somebody take down, so that it can be told afterwards what it did, however it ended.
//!
//! ```text
//!   intent ─► durable ─► the provider is asked ─► answer ─► changed ─► durable ─► the instance is done
//! ```
//!
//! **Invariant:** a provider with a world outside is asked to change it only when the intent is durable.
//! **Invariant:** what it answered is durable before anything that depends on it begins.

use addr::{ProviderConfigRef, ProviderSource, ResourceInstance, ResourceMode};
use db::Diagnostic;
use hir::Entry;
use provider::BoxFuture;
use state::{State, journal::IntentAction};
use values::Value;

use crate::{
    builtin,
    resource::{Subject, object_id},
    walk::{Failed, Walk},
};

/// Tells what was taken down apart.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Number(pub u64);

/// Takes down what a run is about to do to the world, and what came of it.
///
/// Calls only take down; [`Journal::durable`] waits. Who writes may gather what several wait for. What a journal does not
/// implement it does not take down: that of a plan has what is open, and no changes.
pub trait Journal: Send + Sync {
    /// A provider is about to be asked to change an object. `named` is how people may find it outside.
    fn intent(
        &self,
        _address: &ResourceInstance,
        _action: IntentAction,
        _provider: &ProviderConfigRef,
        _named: Option<String>,
    ) -> Number {
        Number(0)
    }

    /// An instance is another now; `state` has it, and is otherwise as it was the last time. `answers` is the intent whose
    /// answer that is.
    ///
    /// # Errors
    /// A diagnostic, where it cannot be kept; the run then starts nothing new, and the final state is in its outcome.
    fn changed(
        &self,
        _state: &State,
        _changed: &ResourceInstance,
        _answers: Option<Number>,
    ) -> Result<(), Box<Diagnostic>> {
        Ok(())
    }

    /// The provider has answered, and nothing is another than it was.
    fn unchanged(&self, _answers: Number) {}

    /// An ephemeral resource is about to be opened. Its data are never taken down.
    fn opening(&self, _address: &ResourceInstance, _provider: &ProviderSource) -> Number {
        Number(0)
    }

    /// It is closed, or was not opened.
    fn closed(&self, _opening: Number) {}

    /// Ends when everything that was taken down so far outlives this process.
    fn durable(&self) -> BoxFuture<'_, Result<(), Box<Diagnostic>>> {
        Box::pin(std::future::ready(Ok(())))
    }
}

/// Takes nothing down: for runs that change nothing.
pub struct NoJournal;

impl Journal for NoJournal {}

impl Walk<'_> {
    /// Takes down that the provider is about to change an object; none where there is no world outside that could come to
    /// differ from the state.
    ///
    /// # Errors
    /// If that cannot be made durable, which is reported; the provider must not be asked then.
    pub(crate) async fn intend(
        &self,
        subject: &Subject,
        action: IntentAction,
        planned: &Value,
    ) -> Result<Option<Number>, Failed> {
        if is_within(subject) {
            return Ok(None);
        }
        let named = object_id(planned).map(|id| format!("{}={}", id.key, id.value));
        let journal = &self.environment.journal;
        let number = journal.intent(&subject.address, action, &subject.provider, named);
        self.durable().await?;
        Ok(Some(number))
    }

    /// Takes down what an instance is from here on, and waits until it is durable.
    ///
    /// # Errors
    /// If it cannot be kept, which is reported; the run then ends as soon as it can.
    pub(crate) async fn take_down(
        &self,
        subject: &Subject,
        answers: Option<Number>,
    ) -> Result<(), Failed> {
        let journal = &self.environment.journal;
        let taken = self.state.read(|state| journal.changed(state, &subject.address, answers));
        taken.map_err(|diagnostic| self.end_early(*diagnostic))?;
        // What can be had again by running again need not be waited for.
        let is_data = subject.address.resource.mode == ResourceMode::Data;
        if is_data || (is_within(subject) && !subject.has_create_provisioners()) {
            return Ok(());
        }
        self.durable().await
    }

    /// Takes down that an intent changed nothing.
    pub(crate) fn nothing_came_of(&self, intent: Option<Number>) {
        if let Some(number) = intent {
            self.environment.journal.unchanged(number);
        }
    }

    /// Waits until everything that was taken down is durable.
    pub(crate) async fn durable(&self) -> Result<(), Failed> {
        let durable = self.environment.journal.durable().await;
        durable.map_err(|diagnostic| self.end_early(*diagnostic))
    }

    /// Nothing is created where an object may be that the state does not know.
    pub(crate) fn refuse_uncertain(&self, subject: &Subject, entry: &Entry) -> Result<(), Failed> {
        let Some(intent) = self.settings.uncertain.get(&subject.address) else { return Ok(()) };
        let named = intent.named.as_ref().map(|it| format!(" ({it})")).unwrap_or_default();
        let detail = format!(
            "{}{named} was about to be created at {} by a run that ended before the provider {} had answered, so nobody knows whether the object \
             exists. To create it again could make a second one. Look for it, then choose:\n\n{}",
            subject.text,
            intent.time,
            intent.provider.source.for_display(),
            ways_out(&subject.address)
        );
        let diagnostic = Diagnostic::error("uncertain-create", "Object may exist already", detail);
        self.report_at(entry, entry.item.header.into(), Some(&subject.text), diagnostic);
        Err(Failed)
    }

    /// Reports why nothing can be taken down any more, once, and ends the run as soon as that can be.
    fn end_early(&self, diagnostic: Diagnostic) -> Failed {
        if !self.report.end_run() {
            self.report(diagnostic);
        }
        Failed
    }
}

/// What people can do about a creation of which nobody knows whether it happened.
pub fn ways_out(address: &ResourceInstance) -> String {
    let quoted = quoted(&address.to_string());
    format!(
        "  mayfly state adopt {quoted} ID    if it exists; the provider's documentation says which ID it is imported by\n  \
         mayfly state adopt -gone {quoted}    if it does not exist\n  \
         -retry-uncertain, as an option of plan, apply or destroy: to create it all the same"
    )
}

/// A text as a shell takes it for one word.
fn quoted(text: &str) -> String {
    let is_plain = |it: char| it.is_alphanumeric() || "._-".contains(it);
    match text.chars().all(is_plain) {
        true => text.to_owned(),
        false => format!("'{}'", text.replace('\'', "'\\''")),
    }
}

/// Whether an object exists in the state only.
fn is_within(subject: &Subject) -> bool {
    subject.provider.source == builtin::source()
}
