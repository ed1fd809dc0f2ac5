//! Shows the events of an operation while it runs.

use std::sync::{Arc, Mutex, PoisonError};

use db::{Diagnostic, Sources};
use engine::{ChangeCounts, EphemeralAction, Event, EventSink, LogLevel, Operation, Redactor};
use operations::{
    apply::is_of_check,
    view::{Notice, Question, Run, RunView, Unanswered, View},
};

use crate::{
    log::ProviderLog,
    notices, terminal,
    ui::{self, Stdout, Ui},
};

/// The view of the operations of a command: prints to the standard streams.
pub(crate) struct CommandView(pub(crate) Arc<Ui>);

impl View for CommandView {
    fn diagnostics(&self, diagnostics: &[Diagnostic], sources: &Sources) {
        self.0.diagnostics(diagnostics, sources);
    }

    fn diagnostics_aside(&self, diagnostics: &[Diagnostic]) {
        self.0.diagnostics_aside(diagnostics);
    }

    fn notice(&self, notice: &Notice<'_>) {
        notices::show(&self.0, notice);
    }

    fn is_interactive(&self) -> bool {
        terminal::is_interactive()
    }

    fn ask(&self, question: &Question<'_>) -> Result<String, Unanswered> {
        let Question::Variable(variable) = question;
        let is_secret = variable.sensitive || variable.ephemeral;
        self.0.ask(&notices::prompt(variable), is_secret)
    }

    fn log(&self, level: LogLevel, module: &str, text: &str) {
        self.0.log(level, module, text);
    }

    fn run(&self, run: Run, sources: &Sources, redactor: &Redactor) -> Arc<dyn RunView> {
        let format = match run {
            Run::Quiet => Format::Quiet,
            _ if self.0.stdout != Stdout::JsonLines => Format::Human,
            Run::PlanBeforeApply => Format::JsonBeforeApply,
            Run::Plan | Run::Apply => Format::Json,
        };
        Arc::new(Show::new(&self.0, format, sources.clone(), redactor.clone()))
    }
}

/// The format in which events are shown.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Format {
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
struct Show {
    ui: Arc<Ui>,
    format: Format,
    sources: Sources,
    /// The change counts of the last operation. They are printed after its diagnostics.
    summary: Mutex<Option<ChangeCounts>>,
    log: ProviderLog,
}

impl Show {
    /// Creates a sink that prints in the given format.
    fn new(ui: &Arc<Ui>, format: Format, sources: Sources, redactor: Redactor) -> Show {
        Show {
            ui: Arc::clone(ui),
            format,
            sources,
            summary: Mutex::default(),
            log: ProviderLog::new(Arc::clone(ui), redactor),
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
                for line in render::event_json(event, &ui::now(), &self.sources) {
                    self.ui.line(&line);
                }
            }
            Format::Quiet => {}
        }
    }
}

impl RunView for Show {
    fn end_log(&self) {
        self.log.end();
    }

    fn finish(&self, operation: Operation) {
        let counts = self.summary.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(counts) = counts {
            // `destroy` and `apply -destroy` do the same but print different words.
            self.show(&Event::Summary { operation, counts });
        }
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
