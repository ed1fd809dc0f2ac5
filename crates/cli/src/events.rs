//! What happens during an operation, shown as it happens.

use std::sync::{Arc, Mutex, PoisonError};

use db::{Sources, System};
use engine::{EphemeralAction, Event, EventSink, LogLevel, Operation, Redactor};

use crate::{
    session::{CliSystem, Session},
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
    log_level: Option<LogLevel>,
    sources: Sources,
    /// The counts of the last operation; shown after its diagnostics.
    summary: Mutex<Option<Event>>,
    redactor: Redactor,
    held: Mutex<HeldLogs>,
}

/// Log lines that came while an ephemeral resource was being opened: they may quote the secret that is not known yet. They
/// are shown when it is, without it.
#[derive(Default)]
struct HeldLogs {
    opening: usize,
    lines: Vec<String>,
    bytes: usize,
    dropped: usize,
}

/// More than this is not held back; what comes then is left out, and said to be.
const MAX_HELD: usize = 8 << 20;

impl Show {
    pub(crate) fn new(session: &Session, format: Format, sources: Sources) -> Show {
        let variable = |name: &str| session.system.variable(name).filter(|it| !it.is_empty());
        let log_level = variable("TF_LOG_PROVIDER")
            .or_else(|| variable("TF_LOG"))
            .and_then(|text| level(&text));
        Show {
            ui: session.ui.clone(),
            system: session.system.clone(),
            format,
            log_level,
            sources,
            summary: Mutex::default(),
            redactor: session.redactor.clone(),
            held: Mutex::default(),
        }
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

    fn log(&self, provider: &addr::ProviderSource, level: LogLevel, message: &str) {
        if self.log_level.is_none_or(|least| level < least) {
            return;
        }
        let name = format!("{level:?}").to_uppercase();
        let line =
            format!("{} [{name}] provider.{}: {message}\n", self.now(), provider.for_display());
        let mut held = self.held.lock().unwrap_or_else(PoisonError::into_inner);
        if held.opening == 0 {
            self.ui.print_error(&line);
        } else if held.bytes + line.len() <= MAX_HELD {
            held.bytes += line.len();
            held.lines.push(line);
        } else {
            held.dropped += 1;
        }
    }

    /// Follows which opens are under way; the last one's end lets go of what was held back.
    fn follow_opens(&self, event: &Event) {
        let mut held = self.held.lock().unwrap_or_else(PoisonError::into_inner);
        match event {
            Event::EphemeralStart { action: EphemeralAction::Open, .. } => held.opening += 1,
            Event::EphemeralComplete { action: EphemeralAction::Open, .. }
            | Event::EphemeralErrored { action: EphemeralAction::Open, .. } => {
                held.opening = held.opening.saturating_sub(1);
                if held.opening == 0 {
                    let HeldLogs { lines, dropped, .. } = std::mem::take(&mut *held);
                    for line in lines {
                        self.ui.print_error(&self.redactor.redact(&line));
                    }
                    if dropped > 0 {
                        self.ui.print_error(&format!("({dropped} log lines were left out while an ephemeral resource was opened)\n"));
                    }
                }
            }
            _ => {}
        }
    }

    /// The time of day in RFC 3339.
    pub(crate) fn now(&self) -> String {
        jiff::Timestamp::try_from(self.system.now())
            .map_or_else(|_| String::new(), |now| now.to_string())
    }
}

fn level(text: &str) -> Option<LogLevel> {
    match text.to_ascii_uppercase().as_str() {
        "TRACE" | "JSON" => Some(LogLevel::Trace),
        "DEBUG" => Some(LogLevel::Debug),
        "INFO" => Some(LogLevel::Info),
        "WARN" => Some(LogLevel::Warn),
        "ERROR" => Some(LogLevel::Error),
        _ => None,
    }
}

impl EventSink for Show {
    fn event(&self, event: Event) {
        if let Event::ProviderLog { provider, level, message } = &event {
            return self.log(provider, *level, message);
        }
        self.follow_opens(&event);
        match &event {
            Event::Summary { operation: Operation::Plan, .. } => {}
            Event::Summary { .. } => {
                *self.summary.lock().unwrap_or_else(PoisonError::into_inner) = Some(event)
            }
            // People see diagnostics together, when the operation has ended.
            Event::Diagnostic(_) if self.format == Format::Human => {}
            event => self.show(event),
        }
    }
}
