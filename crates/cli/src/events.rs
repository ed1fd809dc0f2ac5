//! What happens during an operation, shown as it happens.

use std::sync::{Arc, Mutex, PoisonError};

use db::Sources;
use engine::{EphemeralAction, Event, EventSink, Operation};

use crate::{
    log::Log,
    session::{self, CliSystem, Session},
    ui::Ui,
};

/// How events are shown.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Format {
    /// Lines for people.
    Human,
    /// A JSON object a line.
    Json,
    /// Nothing but logs.
    Quiet,
}

/// Shows events.
pub(crate) struct Show {
    ui: Arc<Ui>,
    system: Arc<CliSystem>,
    format: Format,
    sources: Sources,
    /// The counts of the last operation; shown after its diagnostics.
    summary: Mutex<Option<Event>>,
    log: Log,
}

impl Show {
    pub(crate) fn new(session: &Session, format: Format, sources: Sources) -> Show {
        Show {
            ui: session.ui.clone(),
            system: session.system.clone(),
            format,
            sources,
            summary: Mutex::default(),
            log: Log::new(session),
        }
    }

    /// Logs nothing from here on; what comes before the redactor forgets.
    pub(crate) fn end_log(&self) {
        self.log.end();
    }

    /// Shows the counts of what was done.
    pub(crate) fn finish(&self) {
        let summary = self.summary.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(summary) = summary {
            self.show(&summary);
        }
    }

    fn show(&self, event: &Event) {
        match self.format {
            Format::Human => {
                if let Some(text) = render::event(event, &self.ui.out) {
                    self.ui.print(&text);
                }
            }
            Format::Json => {
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
        match &event {
            Event::ProviderLog { provider, level, message } => {
                return self.log.line(&self.now(), provider, *level, message);
            }
            Event::EphemeralStart { action: EphemeralAction::Open, .. } => self.log.open_begins(),
            Event::EphemeralComplete { action: EphemeralAction::Open, .. } => self.log.open_ends(),
            Event::EphemeralErrored { action: EphemeralAction::Open, .. } => self.log.open_fails(),
            _ => {}
        }
        match &event {
            Event::Summary { operation: Operation::Plan, .. } => {}
            Event::Summary { .. } => {
                *self.summary.lock().unwrap_or_else(PoisonError::into_inner) = Some(event)
            }
            // People see diagnostics together, when the operation has ended.
            Event::Diagnostic(_) if self.format == Format::Human => {}
            _ if self.format == Format::Human && self.ui.is_concise => {}
            event => self.show(event),
        }
    }
}
