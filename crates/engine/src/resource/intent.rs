//! The entries that work on objects makes in the journal.

use addr::{ResourceInstance, ResourceMode};
use db::{Diagnostic, Summary};
use hir::Entry;
use state::journal::IntentAction;
use values::Value;

use crate::{
    builtin,
    journal::{Number, ways_out},
    resource::subject::{Subject, object_id},
    runs::planning::Planning,
    schedule::Failed,
    walk::context::Walk,
};

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
        let number = journal.intent(&subject.object, action, &subject.provider, named);
        self.durable().await?;
        Ok(Some(number))
    }

    /// Records the new state of an instance and waits until it is durable.
    ///
    /// # Errors
    /// Fails, after a report, if the state cannot be recorded. The run then ends as soon as possible.
    pub(crate) async fn record_result(
        &self,
        subject: &Subject,
        answers: Option<Number>,
    ) -> Result<(), Failed> {
        self.record(subject.address(), answers)?;
        // Another run can reproduce these objects, so there is no need to wait.
        let is_data = subject.address().resource.mode == ResourceMode::Data;
        if is_data || (is_within(subject) && !subject.has_create_provisioners()) {
            return Ok(());
        }
        self.durable().await
    }

    /// Records the new state of an instance, and does not wait until it is durable. `answers` is the intent that made
    /// it, also one of an earlier run.
    ///
    /// # Errors
    /// Fails, after a report, if the state cannot be recorded. The run then ends as soon as possible.
    pub(crate) fn record(
        &self,
        address: &ResourceInstance,
        answers: Option<Number>,
    ) -> Result<(), Failed> {
        let journal = &self.environment.journal;
        let taken = self.state.read(|state| journal.changed(state, address, answers));
        taken.map_err(|diagnostic| self.end_early(*diagnostic))
    }

    /// Records that an intent changed nothing.
    pub(crate) fn record_unchanged(&self, intent: Option<Number>) {
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
        let Some(intent) = self.options.uncertain.get(&subject.object) else { return Ok(()) };
        let named = intent.named.as_ref().map(|it| format!(" ({it})")).unwrap_or_default();
        let detail = format!(
            "{}{named} was about to be created at {} by a run that ended before the provider {} \
             had responded, so it is unknown whether the object exists. Creating it again could \
             create a duplicate. Check whether it exists, then choose:\n\n{}",
            subject.text,
            intent.time,
            intent.provider.source.for_display(),
            ways_out(subject.address(), None)
        );
        let diagnostic = Diagnostic::new(Summary::UNCERTAIN_CREATE, detail);
        self.report_at(entry, entry.item.header.into(), Some(&subject.text), diagnostic);
        Err(Failed)
    }
}

/// Returns true if the object exists only in the state.
fn is_within(subject: &Subject) -> bool {
    subject.provider.source == builtin::source()
}
