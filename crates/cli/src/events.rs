//! Shows the events of an operation while it runs.

use std::sync::{Arc, Mutex, PoisonError};

use db::Sources;
use engine::{ChangeCounts, EphemeralAction, Event, EventSink, Operation};

use crate::{
    log::ProviderLog,
    operation::is_of_check,
    session::{self, CliSystem, Session},
    ui::Ui,
};

/// The format in which events are shown.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Format {
    /// Lines of text.
    Human,
    /// One JSON object per line.
    Json,
    /// JSON for a plan that is applied without approval. It leaves out the warnings of checks, because the apply
    /// evaluates the checks again.
    JsonBeforeApply,
    /// Log lines only.
    Quiet,
}

/// The event sink that prints.
pub(crate) struct Show {
    ui: Arc<Ui>,
    system: Arc<CliSystem>,
    format: Format,
    sources: Sources,
    /// The change counts of the last operation. They are printed after its diagnostics.
    summary: Mutex<Option<ChangeCounts>>,
    log: ProviderLog,
}

impl Show {
    /// Creates a sink that prints in the given format.
    pub(crate) fn new(session: &Session, format: Format, sources: Sources) -> Show {
        Show {
            ui: session.ui.clone(),
            system: session.system.clone(),
            format,
            sources,
            summary: Mutex::default(),
            log: ProviderLog::new(session),
        }
    }

    /// Stops logging of provider lines. Must be called before the redactor forgets the secrets.
    pub(crate) fn end_log(&self) {
        self.log.end();
    }

    /// Prints the change counts. `destroy` and `apply -destroy` do the same but print different words.
    pub(crate) fn finish(&self, operation: Operation) {
        let counts = self.summary.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(counts) = counts {
            self.show(&Event::Summary { operation, counts });
        }
    }

    fn show(&self, event: &Event) {
        match self.format {
            Format::Human => {
                if let Some(text) = render::event(event, &self.ui.out) {
                    self.ui.print(&text);
                }
            }
            Format::Json | Format::JsonBeforeApply => {
                for line in render::event_json(event, &self.now(), &self.sources) {
                    self.ui.line(&line);
                }
            }
            Format::Quiet => {}
        }
    }

    fn now(&self) -> String {
        session::time_of_day(&*self.system)
    }
}

impl EventSink for Show {
    fn event(&self, event: Event) {
        self.ui.log_event(&event);
        match &event {
            Event::ProviderLog { provider, level, message } => {
                return self.log.line(provider, *level, message);
            }
            Event::EphemeralStart { action: EphemeralAction::Open, .. } => self.log.open_begins(),
            Event::EphemeralComplete { action: EphemeralAction::Open, .. } => self.log.open_ends(),
            Event::EphemeralErrored { action: EphemeralAction::Open, .. } => self.log.open_fails(),
            _ => {}
        }
        match &event {
            Event::Summary { operation: Operation::Plan, .. } => {}
            Event::Summary { counts, .. } => {
                *self.summary.lock().unwrap_or_else(PoisonError::into_inner) = Some(*counts);
            }
            // In text format, all diagnostics are printed together at the end of the operation.
            Event::Diagnostic(_) if self.format == Format::Human => {}
            Event::Diagnostic(diagnostic)
                if self.format == Format::JsonBeforeApply && is_of_check(diagnostic) => {}
            _ if self.format == Format::Human && self.ui.is_concise => {}
            event => self.show(event),
        }
    }
}
