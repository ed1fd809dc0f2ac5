//! Shows the events of an operation while it runs.

use std::{
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Instant,
};

use db::{Diagnostic, Sources};
use engine::{ChangeCounts, EphemeralAction, Event, EventSink, LogLevel, Operation, Redactor};
use operations::{
    apply::is_of_check,
    view::{Notice, Question, Run, RunView, Unanswered, View},
};
use packages::Download;

use crate::{
    log::PluginLog,
    notices,
    progress::{DownloadLine, Progress},
    terminal,
    ui::{self, Ui},
};

/// The view of the operations of a command: prints to the standard streams.
pub(crate) struct CommandView {
    ui: Arc<Ui>,
    downloads: Mutex<DownloadLine>,
}

impl CommandView {
    pub(crate) fn new(ui: Arc<Ui>) -> CommandView {
        CommandView { ui, downloads: Mutex::default() }
    }

    fn show_downloads(&self, running: &[Download]) {
        // A stopped terminal must not stop the downloads.
        if !self.ui.shows_progress() || !terminal::accepts_output() {
            return;
        }
        // The lock is held while the line is drawn, so that an older line does not replace a newer one.
        let mut line = self.downloads.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(text) = line.observe(running, Instant::now()) {
            self.ui.show_progress(text);
        }
    }
}

impl View for CommandView {
    fn diagnostics(&self, diagnostics: &[Diagnostic], sources: &Sources) {
        self.ui.diagnostics(diagnostics, sources);
    }

    fn diagnostics_aside(&self, diagnostics: &[Diagnostic]) {
        self.ui.diagnostics_aside(diagnostics);
    }

    fn notice(&self, notice: &Notice<'_>) {
        match notice {
            Notice::Downloads(running) => self.show_downloads(running),
            notice => notices::show(&self.ui, notice),
        }
    }

    fn is_interactive(&self) -> bool {
        terminal::is_interactive()
    }

    fn ask(&self, question: &Question<'_>) -> Result<String, Unanswered> {
        let is_secret = match question {
            Question::Variable(variable) => variable.sensitive || variable.ephemeral,
            Question::Login(question) => question.is_secret(),
        };
        self.ui.ask(&notices::prompt(question), is_secret)
    }

    fn log(&self, level: LogLevel, module: &str, text: &str) {
        self.ui.log(level, module, text);
    }

    fn run(&self, run: Run, sources: &Sources, redactor: &Redactor) -> Arc<dyn RunView> {
        Arc::new(Show::new(&self.ui, run, sources.clone(), redactor.clone()))
    }
}

/// The event sink that prints.
struct Show {
    ui: Arc<Ui>,
    run: Run,
    sources: Sources,
    /// The change counts of the last operation. They are printed after its diagnostics.
    summary: Mutex<Option<ChangeCounts>>,
    log: PluginLog,
    /// Counts for the last line of a terminal.
    progress: Mutex<Progress>,
}

impl Show {
    /// Creates a sink for the events of a run.
    fn new(ui: &Arc<Ui>, run: Run, sources: Sources, redactor: Redactor) -> Show {
        Show {
            ui: Arc::clone(ui),
            run,
            sources,
            summary: Mutex::default(),
            log: PluginLog::new(Arc::clone(ui), redactor),
            progress: Mutex::default(),
        }
    }

    fn progress(&self) -> MutexGuard<'_, Progress> {
        self.progress.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Shows an event as text.
    fn show_text(&self, event: &Event) {
        if self.run != Run::Quiet
            && self.ui.prints_text()
            && let Some(text) = render::event(event, &self.ui.out)
        {
            self.ui.print(&text);
        }
    }

    /// Writes the JSON lines of an event. A plan before an apply leaves out the warnings of checks, because the apply
    /// evaluates the checks again.
    fn show_json(&self, event: &Event) {
        let is_preliminary = self.run == Run::PlanBeforeApply
            && matches!(event, Event::Diagnostic(it) if is_of_check(it));
        if self.run == Run::Quiet || is_preliminary || !self.ui.has_json_lines() {
            return;
        }
        for line in render::event_json(event, &ui::now(), &self.sources) {
            self.ui.json_line(&line);
        }
    }
}

impl RunView for Show {
    fn expects(&self, steps: Option<usize>) {
        if self.run != Run::Quiet && self.ui.shows_progress() {
            self.progress().begin(steps);
        }
    }

    fn end_log(&self) {
        self.ui.show_progress(String::new());
        self.log.end();
    }

    fn finish(&self, operation: Operation) {
        let counts = self.summary.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(counts) = counts {
            // `destroy` and `apply -destroy` do the same but print different words.
            let summary = Event::Summary { operation, counts };
            self.show_text(&summary);
            self.show_json(&summary);
        }
    }
}

impl EventSink for Show {
    fn event(&self, event: Event) {
        self.ui.log_event(&event);
        let progress = self.progress().observe(self.run, &event);
        self.show(event);
        if let Some(line) = progress {
            self.ui.show_progress(line);
        }
    }
}

impl Show {
    /// Shows or logs an event.
    fn show(&self, event: Event) {
        match &event {
            Event::PluginLog { plugin, level, message } => {
                return self.log.line(plugin, *level, message);
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
            // As text, all diagnostics are printed together at the end of the operation.
            Event::Diagnostic(_) => self.show_json(&event),
            event => {
                if !self.ui.is_concise {
                    self.show_text(event);
                }
                self.show_json(event);
            }
        }
    }
}
