//! The journal of a run: a durable record of its changes, from which they can be reconstructed however the run
//! ended.
//!
//! ```text
//!   intent ─► durable ─► the provider is asked ─► answer ─► changed ─► durable ─► the instance is done
//! ```
//!
//! **Invariant:** a provider with remote objects is called to change one only after the intent is durable.
//! **Invariant:** the response of a provider is durable before anything that depends on it starts.

use addr::{ProviderConfigRef, ProviderSource, ResourceInstance, ResourceMode};
use db::Diagnostic;
use hir::Entry;
use provider::BoxFuture;
use state::{State, journal::IntentAction};
use values::Value;

use crate::{
    builtin,
    resource::{Subject, object_id},
    runs::Planning,
    walk::{Failed, Walk},
};

/// The number of a journal entry.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Number(pub u64);

/// Records the changes that a run is about to make, and their results.
///
/// The methods only record; [`Journal::durable`] waits for persistence, so that an implementation can combine the
/// writes of several callers. The default methods record nothing: the journal of a plan, for example, records open
/// ephemeral resources but no changes.
pub trait Journal: Send + Sync {
    /// Records that a provider is about to change an object. `named` is an identifier with which a user can find
    /// the object outside.
    fn intent(
        &self,
        _address: &ResourceInstance,
        _action: IntentAction,
        _provider: &ProviderConfigRef,
        _named: Option<String>,
    ) -> Number {
        Number(0)
    }

    /// Records that an instance has changed. `state` contains the new object and is otherwise equal to the last
    /// recorded state. `answers` is the intent to which this is the response.
    ///
    /// # Errors
    /// Fails if the state cannot be recorded. The run then starts nothing new, and its outcome contains the final
    /// state.
    fn changed(
        &self,
        _state: &State,
        _changed: &ResourceInstance,
        _answers: Option<Number>,
    ) -> Result<(), Box<Diagnostic>> {
        Ok(())
    }

    /// Records that the provider has responded to an intent and that nothing changed.
    fn unchanged(&self, _answers: Number) {}

    /// Records that an ephemeral resource is about to be opened. Its data are never recorded.
    fn opening(&self, _address: &ResourceInstance, _provider: &ProviderSource) -> Number {
        Number(0)
    }

    /// Records that an ephemeral resource has been closed, or that opening it failed.
    fn closed(&self, _opening: Number) {}

    /// Completes when all entries so far are durable, that is, outlive this process.
    fn durable(&self) -> BoxFuture<'_, Result<(), Box<Diagnostic>>> {
        Box::pin(std::future::ready(Ok(())))
    }
}

/// A journal that records nothing, for runs that change nothing.
pub struct NoJournal;

impl Journal for NoJournal {}

impl Walk<'_> {
    /// Records that the provider is about to change an object. Returns `None` for the built-in provider, which has
    /// no remote objects that could differ from the state.
    ///
    /// # Errors
    /// Fails, after a report, if the intent cannot be made durable. The provider must not be called then.
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

    /// Records the new state of an instance and waits until it is durable.
    ///
    /// # Errors
    /// Fails, after a report, if the state cannot be recorded. The run then ends as soon as possible.
    pub(crate) async fn take_down(
        &self,
        subject: &Subject,
        answers: Option<Number>,
    ) -> Result<(), Failed> {
        let journal = &self.environment.journal;
        let taken = self.state.read(|state| journal.changed(state, &subject.address, answers));
        taken.map_err(|diagnostic| self.end_early(*diagnostic))?;
        // Another run can reproduce these objects, so there is no need to wait.
        let is_data = subject.address.resource.mode == ResourceMode::Data;
        if is_data || (is_within(subject) && !subject.has_create_provisioners()) {
            return Ok(());
        }
        self.durable().await
    }

    /// Records that an intent changed nothing.
    pub(crate) fn nothing_came_of(&self, intent: Option<Number>) {
        if let Some(number) = intent {
            self.environment.journal.unchanged(number);
        }
    }

    /// Waits until all entries are durable.
    pub(crate) async fn durable(&self) -> Result<(), Failed> {
        let durable = self.environment.journal.durable().await;
        durable.map_err(|diagnostic| self.end_early(*diagnostic))
    }

    /// Reports, once, that the journal cannot record any more, and ends the run as soon as possible.
    fn end_early(&self, diagnostic: Diagnostic) -> Failed {
        if !self.report.end_run() {
            self.report(diagnostic);
        }
        Failed
    }
}

impl Planning<'_> {
    /// Refuses to create an object where an interrupted run may have created one that is not in the state.
    pub(crate) fn refuse_uncertain(&self, subject: &Subject, entry: &Entry) -> Result<(), Failed> {
        let Some(intent) = self.options.uncertain.get(&subject.address) else { return Ok(()) };
        let named = intent.named.as_ref().map(|it| format!(" ({it})")).unwrap_or_default();
        let detail = format!(
            "{}{named} was about to be created at {} by a run that ended before the provider {} \
             had responded, so it is unknown whether the object exists. Creating it again could \
             create a duplicate. Check whether it exists, then choose:\n\n{}",
            subject.text,
            intent.time,
            intent.provider.source.for_display(),
            ways_out(&subject.address)
        );
        let diagnostic = Diagnostic::error("uncertain-create", "Object may exist already", detail);
        self.report_at(entry, entry.item.header.into(), Some(&subject.text), diagnostic);
        Err(Failed)
    }
}

/// Returns the options that a user has after a creation with an unknown result.
pub fn ways_out(address: &ResourceInstance) -> String {
    let quoted = quoted(&address.to_string());
    format!(
        "  mayfly state adopt {quoted} ID    if it exists; the provider's documentation describes \
         the import ID\n  mayfly state adopt -gone {quoted}    if it does not exist\n  \
         -retry-uncertain, as an option of plan, apply or destroy: to create it anyway"
    )
}

/// Quotes a text as a single shell word.
fn quoted(text: &str) -> String {
    let is_plain = |it: char| it.is_alphanumeric() || "._-".contains(it);
    match text.chars().all(is_plain) {
        true => text.to_owned(),
        false => format!("'{}'", text.replace('\'', "'\\''")),
    }
}

/// Returns true if the object exists only in the state.
fn is_within(subject: &Subject) -> bool {
    subject.provider.source == builtin::source()
}
