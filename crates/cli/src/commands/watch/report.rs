//! Shows the results of `watch` on the screen, as lines, or as JSON.

use std::{
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::{Duration, Instant},
};

use causes::Finding;
use db::{Diagnostic, Rule, Severity, Sources};
use engine::{EphemeralAction, Event, EventSink};
use render::{NewPlan, PlanFinished, PlanNews, Problems, Style, WatchView, WatchedPlan};
use state::Plan;

use super::{
    input::{Key, Reason, Scroll},
    screen::Screen,
};
use crate::{
    log::PluginLog,
    session::CommandSession,
    ui::{self, Ui},
};

/// The output of `watch`.
pub(super) enum Report {
    /// A full-screen view on a terminal.
    Screen(Arc<Mutex<Screen>>),
    /// Lines of text.
    Lines,
    /// One JSON object per line.
    Json,
}

/// A plan without errors.
pub(super) struct ValidPlan<'a> {
    pub(super) number: u64,
    pub(super) plan: &'a Plan,
    /// The previous plan without errors.
    pub(super) before: Option<&'a Plan>,
    /// The changes that are reported as news, with their causes.
    pub(super) causes: &'a [Finding],
    pub(super) warnings: &'a [Diagnostic],
    pub(super) sources: &'a Sources,
    pub(super) took: Duration,
    /// True if all objects were refreshed for this plan.
    pub(super) is_read: bool,
}

/// Locks the terminal, even after a panic of another thread.
pub(super) fn lock(terminal: &Mutex<Screen>) -> MutexGuard<'_, Screen> {
    terminal.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Report {
    /// Selects the output: JSON if requested, else the screen on a terminal, else lines.
    pub(super) fn new(session: &CommandSession, json: bool, is_terminal: bool) -> Report {
        match (json, is_terminal) {
            (true, _) => Report::Json,
            (false, true) => {
                let terminal = Screen::new(place(session), session.ui.out);
                Report::Screen(Arc::new(Mutex::new(terminal)))
            }
            (false, false) => Report::Lines,
        }
    }

    /// Reports that watching begins.
    pub(super) fn watching(&self, session: &CommandSession) {
        match self {
            Report::Json => {
                session.ui.line(&render::watching_json(&place(session), &session.now()));
            }
            Report::Lines => session.ui.line(&format!("Watching {}.", place(session))),
            Report::Screen(_) => {}
        }
    }

    /// Switches the terminal to the screen, the first time that this is called.
    pub(super) fn enter(&self) {
        if let Report::Screen(terminal) = self {
            lock(terminal).enter_once();
        }
    }

    /// Reports the start of a plan. Clears the notice on the screen.
    pub(super) fn plan_started(&self, session: &CommandSession, number: u64, reason: Reason) {
        match self {
            Report::Json => {
                let line = render::plan_started_json(number, reason.word(), &session.now());
                session.ui.line(&line);
            }
            Report::Screen(terminal) => lock(terminal).screen.notice = None,
            Report::Lines => {}
        }
    }

    /// Shows a plan without errors. `news` are its differences to the previous one.
    pub(super) fn good(
        &self,
        session: &CommandSession,
        good: &ValidPlan<'_>,
        news: Option<PlanNews>,
    ) {
        match self {
            Report::Json => json_plan(session, good, news.as_ref()),
            Report::Lines => {
                session.ui.diagnostics(good.warnings, good.sources);
                session.ui.line(&plan_line(session, good, news.as_ref()));
            }
            Report::Screen(terminal) => {
                let mut terminal = lock(terminal);
                if good.is_read {
                    terminal.refreshed = Some(Instant::now());
                }
                let news = news.map(|it| it.explained(good.causes));
                let screen = &mut terminal.screen;
                screen.plan = Some(WatchedPlan {
                    at: time(session),
                    took: good.took,
                    summary: render::plan_summary(good.plan),
                    news,
                    changes: render::change_list(good.plan),
                    details: None,
                });
                screen.problems = problems(session, good.warnings, good.sources);
                screen.activity = None;
                leave_details(screen);
                terminal.draw();
            }
        }
    }

    /// Shows the errors of the configuration or of planning. The previous plan stays on the screen.
    pub(super) fn broken(
        &self,
        session: &CommandSession,
        number: u64,
        found: &[Diagnostic],
        sources: &Sources,
        took: Duration,
    ) {
        match self {
            Report::Json => {
                session.ui.diagnostics(found, sources);
                let errors = found.iter().filter(|it| it.is_error()).count();
                let finished = PlanFinished { plan: number, duration: took, errors, good: None };
                session.ui.line(&render::plan_finished_json(&finished, &session.now()));
            }
            Report::Lines => {
                session.ui.diagnostics(found, sources);
                let line = format!("{}  No plan: correct the errors above.", time(session));
                session.ui.line(&line);
            }
            Report::Screen(terminal) => {
                let mut terminal = lock(terminal);
                let since = terminal.screen.problems.take().filter(Problems::is_broken);
                let mut problems = problems(session, found, sources);
                if let (Some(problems), Some(since)) = (&mut problems, since) {
                    problems.at = since.at;
                }
                terminal.screen.problems = problems;
                terminal.screen.activity = None;
                leave_details(&mut terminal.screen);
                terminal.draw();
            }
        }
    }

    /// Shows problems with open ephemeral resources that occurred between plans.
    pub(super) fn problems_between(
        &self,
        session: &CommandSession,
        found: &[Diagnostic],
        sources: &Sources,
    ) {
        match self {
            Report::Screen(terminal) => {
                let mut terminal = lock(terminal);
                terminal.screen.notice =
                    problems(session, found, sources).map(|it| it.text.trim().to_owned());
                terminal.draw();
            }
            _ => session.ui.diagnostics(found, sources),
        }
    }

    /// Shows a notice on the screen. Other outputs have no notices.
    pub(super) fn notice(&self, text: &str) {
        if let Report::Screen(terminal) = self {
            let mut terminal = lock(terminal);
            terminal.screen.notice = Some(text.to_owned());
            terminal.screen.scroll = 0;
            terminal.draw();
        }
    }

    /// Sets the full text of the plan on the screen.
    pub(super) fn details(&self, text: String) {
        if let Report::Screen(terminal) = self {
            let mut terminal = lock(terminal);
            if let Some(plan) = &mut terminal.screen.plan {
                plan.details = Some(text);
            }
            terminal.draw();
        }
    }

    /// Redraws the screen, so that displayed ages are up to date.
    pub(super) fn tick(&self) {
        if let Report::Screen(terminal) = self {
            lock(terminal).draw();
        }
    }

    /// Restores the terminal, and shows the problems of the shutdown.
    pub(super) fn end(&self, session: &CommandSession, found: &[Diagnostic], sources: &Sources) {
        if let Report::Screen(terminal) = self {
            lock(terminal).leave();
        }
        session.ui.diagnostics(found, sources);
        if let Report::Json = self {
            session.ui.line(&render::closed_json(&session.now()));
        }
    }
}

/// Leaves the details view, which belongs to the previous plan.
fn leave_details(screen: &mut render::WatchScreen) {
    if screen.view != WatchView::Help {
        screen.view = WatchView::Summary;
    }
    screen.scroll = 0;
}

fn json_plan(session: &CommandSession, good: &ValidPlan<'_>, news: Option<&PlanNews>) {
    let now = session.now();
    session.ui.diagnostics(good.warnings, good.sources);
    let mut lines = render::resource_drift_json(good.plan, &now);
    let changes = render::changed_objects(news, good.plan);
    lines.extend(changes.into_iter().map(|it| render::planned_change_json(it, &now)));
    lines.push(render::change_summary_json(good.plan, &now));
    if good.before.is_none_or(|before| before.output_changes != good.plan.output_changes) {
        lines.extend(render::output_changes_json(good.plan, None, &now));
    }
    if good.is_read {
        lines.push(render::refreshed_json(good.number, &now));
    }
    let none = PlanNews::default();
    let finished = PlanFinished {
        plan: good.number,
        duration: good.took,
        errors: 0,
        good: Some(NewPlan { plan: good.plan, news: news.unwrap_or(&none), causes: good.causes }),
    };
    lines.push(render::plan_finished_json(&finished, &now));
    lines.push(String::new());
    session.ui.print(&lines.join("\n"));
}

fn plan_line(session: &CommandSession, good: &ValidPlan<'_>, news: Option<&PlanNews>) -> String {
    let since = match news.map(PlanNews::len) {
        None => String::new(),
        Some(0) => ", nothing changed".to_owned(),
        Some(1) => ", 1 change since the last plan".to_owned(),
        Some(n) => format!(", {n} changes since the last plan"),
    };
    let summary = render::plan_summary(good.plan);
    format!("{}  {summary} ({} ms{since})", time(session), good.took.as_millis())
}

fn problems(session: &CommandSession, found: &[Diagnostic], sources: &Sources) -> Option<Problems> {
    let is_shown = |it: &&Diagnostic| {
        // Drop warnings about possibly ephemeral values: a plan decides by actual values.
        it.severity() != Severity::Hint && it.id() != Rule::PossiblyEphemeral
    };
    let shown: Vec<Diagnostic> = found.iter().filter(is_shown).cloned().collect();
    if shown.is_empty() {
        return None;
    }
    let (errors, warnings): (Vec<_>, Vec<_>) = shown.into_iter().partition(Diagnostic::is_error);
    let style = Style { box_drawing: true, ..session.ui.out };
    let count = errors.len();
    let warnings = session.ui.deprecations.select(warnings);
    let all = [errors, render::consolidated(warnings, Severity::Warning)].concat();
    Some(Problems {
        errors: count,
        at: time(session),
        text: render::diagnostics(&all, sources, &style),
    })
}

/// The working directory, and the workspace unless it is the default one.
fn place(session: &CommandSession) -> String {
    let directory = std::env::current_dir().unwrap_or_else(|_| session.system.current_directory());
    let workspace = session.workspace();
    match &*workspace {
        backend::DEFAULT_WORKSPACE => directory.display().to_string(),
        name => format!("{} (workspace {name})", directory.display()),
    }
}

/// The time of day in the local time zone.
fn time(session: &CommandSession) -> String {
    let now = jiff::Timestamp::try_from(session.system.now()).unwrap_or_default();
    now.to_zoned(jiff::tz::TimeZone::system()).strftime("%H:%M:%S").to_string()
}

/// The command that a key press stands for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum KeyCommand {
    Nothing,
    Quit,
    Refresh,
    Details,
    /// Ask for approval to apply.
    Question,
    Apply,
}

/// Handles a key press: updates the screen, and returns the command for the watch loop.
pub(super) fn key(terminal: &mut Screen, key: Key) -> KeyCommand {
    let command = match (&mut terminal.screen.view, key) {
        (_, Key::Quit) => KeyCommand::Quit,
        (WatchView::Confirm(typed), key) => {
            let (command, is_over) = answer(typed, key);
            if is_over {
                terminal.screen.view = WatchView::Summary;
            }
            command
        }
        (_, Key::Scroll(scroll)) => {
            terminal.scroll(scroll);
            KeyCommand::Nothing
        }
        (view, Key::Char(char)) => match char {
            'q' => KeyCommand::Quit,
            'r' => KeyCommand::Refresh,
            'a' => KeyCommand::Question,
            'd' => turn(terminal, WatchView::Details),
            '?' => turn(terminal, WatchView::Help),
            _ => {
                let _ = view;
                scrolled(terminal, char)
            }
        },
        (view, Key::Escape) => {
            *view = WatchView::Summary;
            KeyCommand::Nothing
        }
        _ => KeyCommand::Nothing,
    };
    terminal.draw();
    command
}

/// Toggles between a view and the summary.
fn turn(terminal: &mut Screen, view: WatchView) -> KeyCommand {
    terminal.screen.scroll = 0;
    let is_back = terminal.screen.view == view;
    terminal.screen.view = if is_back { WatchView::Summary } else { view };
    match terminal.screen.view {
        WatchView::Details => KeyCommand::Details,
        _ => KeyCommand::Nothing,
    }
}

fn scrolled(terminal: &mut Screen, char: char) -> KeyCommand {
    let scroll = match char {
        'k' => Scroll::Up,
        'j' => Scroll::Down,
        ' ' => Scroll::PageDown,
        'b' => Scroll::PageUp,
        'g' => Scroll::Begin,
        'G' => Scroll::End,
        _ => return KeyCommand::Nothing,
    };
    terminal.scroll(scroll);
    KeyCommand::Nothing
}

/// Handles a key press in an approval question. Returns the command, and true if the question ends.
fn answer(typed: &mut String, key: Key) -> (KeyCommand, bool) {
    match key {
        Key::Char(char) if typed.len() < 16 => {
            typed.push(char);
            (KeyCommand::Nothing, false)
        }
        Key::Backspace => {
            typed.pop();
            (KeyCommand::Nothing, false)
        }
        Key::Enter if typed == "yes" => (KeyCommand::Apply, true),
        Key::Enter | Key::Escape => (KeyCommand::Nothing, true),
        _ => (KeyCommand::Nothing, false),
    }
}

/// The event sink: shows progress during a plan and between plans.
pub(super) struct Sink {
    output: Output,
    ui: Arc<Ui>,
    log: PluginLog,
}

enum Output {
    Screen(Arc<Mutex<Screen>>),
    Lines,
    Json,
}

impl Sink {
    /// Creates the sink for a report. Mutes log lines that would disturb the screen.
    pub(super) fn new(session: &CommandSession, report: &Report) -> Sink {
        let output = match report {
            Report::Screen(terminal) => Output::Screen(terminal.clone()),
            Report::Lines => Output::Lines,
            Report::Json => Output::Json,
        };
        if matches!(output, Output::Screen(_)) {
            // Log lines would garble the screen.
            session.ui.log.mute();
        }
        Sink {
            output,
            ui: session.ui.clone(),
            log: PluginLog::new(session.ui.clone(), session.redactor.clone()),
        }
    }

    /// Clears the last activity and draws the screen. [`Screen::progress`] may have skipped the last draw.
    pub(super) fn show(&self) {
        if let Output::Screen(terminal) = &self.output {
            let mut terminal = lock(terminal);
            terminal.screen.activity = None;
            terminal.draw();
        }
    }

    fn note(&self, event: &Event) {
        self.ui.log_event(event);
        let log = &self.log;
        match event {
            Event::PluginLog { plugin, level, message } => log.line(plugin, *level, message),
            Event::EphemeralStart { action: EphemeralAction::Open, .. } => log.open_begins(),
            Event::EphemeralComplete { action: EphemeralAction::Open, .. } => log.open_ends(),
            Event::EphemeralErrored { action: EphemeralAction::Open, .. } => log.open_fails(),
            _ => {}
        }
    }
}

impl EventSink for Sink {
    fn event(&self, event: Event) {
        self.note(&event);
        match (&self.output, &event) {
            // These are shown with the plan, or not at all.
            (_, Event::Diagnostic(_) | Event::Summary { .. } | Event::Planned { .. }) => {}
            (Output::Lines, event) => {
                if let Some(text) = render::event(event, &self.ui.out) {
                    self.ui.print(&text);
                }
            }
            (Output::Json, event) => {
                let now = ui::now();
                for line in render::event_json(event, &now, &Sources::default()) {
                    self.ui.line(&line);
                }
            }
            (Output::Screen(terminal), event) => {
                let mut terminal = lock(terminal);
                match event {
                    Event::EphemeralComplete { action: EphemeralAction::Open, .. } => {
                        terminal.screen.open += 1;
                    }
                    Event::EphemeralComplete { action: EphemeralAction::Close, .. }
                    | Event::EphemeralErrored { action: EphemeralAction::Close, .. } => {
                        terminal.screen.open = terminal.screen.open.saturating_sub(1);
                    }
                    _ => {}
                }
                if let Some(text) = render::event(event, &Style::PLAIN) {
                    terminal.progress(text.trim().to_owned());
                }
            }
        }
    }
}
