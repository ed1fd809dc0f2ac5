//! The screen of `watch`, as a pure function of a model, so that tests see what a user sees.
//!
//! ```text
//!   mayfly watch  DIRECTORY                refreshed 12s ago     what is watched
//!   Plan: 1 to add, 0 to change, 0 to destroy.        41 ms     what would be done, or what is wrong
//!   ──────────────────────────────────────────────────────
//!   …                                                           the body, which scrolls
//!   ──────────────────────────────────────────────────────
//!   a apply  r refresh  d details  ? help  q quit       1-9/40   what can be done now
//! ```
//!
//! **Invariant:** the screen has exactly as many lines as the terminal, and none is wider than it.

use std::time::Duration;

use engine::{ChangeCounts, Operation};
use state::{Action, Plan, ResourceChange};
use unicode_segmentation::UnicodeSegmentation;

use crate::{
    causes::short_cause,
    diff,
    event::human::summary,
    plan::comment::is_shown,
    style::{Paint, Style, visible_line},
    watch::news::{NewsEntry, PlanNews},
};

/// The size of a terminal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TerminalSize {
    /// The number of lines.
    pub rows: usize,
    /// The number of columns.
    pub columns: usize,
}

/// The content of the body.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum WatchView {
    /// The differences to the last plan, and a line for each object.
    #[default]
    Summary,
    /// The plan as `plan` shows it.
    Details,
    /// The help on the keys.
    Help,
    /// The question before an apply, with the text that was typed so far.
    Confirm(String),
}

/// The model of the screen.
#[derive(Clone, Debug, Default)]
pub struct WatchScreen {
    /// The watched directory.
    pub directory: String,
    /// The time since the last refresh. `None` if the objects were not read.
    pub refreshed: Option<Duration>,
    /// The number of open ephemeral resources.
    pub open: usize,
    /// The last good plan.
    pub plan: Option<WatchedPlan>,
    /// The problems of the current configuration. If there are errors, the plan is outdated.
    pub problems: Option<Problems>,
    /// The current activity. `None` if there is none.
    pub activity: Option<String>,
    /// A message about the last action.
    pub notice: Option<String>,
    /// The content of the body.
    pub view: WatchView,
    /// The index of the first visible line of the body.
    pub scroll: usize,
}

/// A good plan, prepared for the screen.
#[derive(Clone, Debug, Default)]
pub struct WatchedPlan {
    /// The time of day at which it was made.
    pub at: String,
    /// The duration of the plan.
    pub took: Duration,
    /// The summary, such as `Plan: 1 to add, …`.
    pub summary: String,
    /// The differences to the previous plan. `None` for the first plan.
    pub news: Option<PlanNews>,
    /// A line for each object and output.
    pub changes: Vec<ListedChange>,
    /// The whole plan as text. `None` until the user asks for it.
    pub details: Option<String>,
}

/// An object or output in the list of changes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ListedChange {
    /// The action.
    pub action: Action,
    /// The address.
    pub address: String,
    /// The action in words.
    pub words: &'static str,
}

/// The diagnostics of the current configuration.
#[derive(Clone, Debug, Default)]
pub struct Problems {
    /// The number of errors; 0 if there are only warnings.
    pub errors: usize,
    /// The time of day of the check.
    pub at: String,
    /// The rendered diagnostics.
    pub text: String,
}

impl Problems {
    /// Returns true if there are errors.
    pub fn is_broken(&self) -> bool {
        self.errors > 0
    }
}

/// The keys and their meanings, for the help.
pub const KEYS: &[(&str, &str)] = &[
    ("a", "apply the plan that is shown, after a question"),
    ("r", "refresh: read all objects again, and plan"),
    ("d", "details: the whole plan, or back"),
    ("up, down, k, j", "scroll by a line"),
    ("page up, page down, space, b", "scroll by a page"),
    ("g, G", "to the beginning, to the end"),
    ("?", "this help, or back"),
    ("q, Ctrl-C", "quit"),
];

/// The summary of a plan: `Plan: 1 to add, 0 to change, 0 to destroy.`
pub fn plan_summary(plan: &Plan) -> String {
    let has_objects = plan.changes().any(is_shown);
    let has_outputs = plan.output_changes.values().any(|it| it.action != Action::NoOp);
    match (has_objects, has_outputs) {
        (true, _) => summary(Operation::Plan, &ChangeCounts::of_plan(plan)),
        (false, true) => "Plan: only outputs change.".to_owned(),
        (false, false) => "No changes. Your infrastructure matches the configuration.".to_owned(),
    }
}

/// The list of a plan's changes.
pub fn change_list(plan: &Plan) -> Vec<ListedChange> {
    let objects = plan.changes().filter(|it| is_shown(it)).map(listed);
    let outputs = plan.output_changes.iter().filter(|(_, it)| it.action != Action::NoOp);
    let outputs = outputs.map(|(name, it)| ListedChange {
        action: it.action,
        address: format!("output.{name}"),
        words: "",
    });
    objects.chain(outputs).collect()
}

fn listed(change: &ResourceChange) -> ListedChange {
    ListedChange {
        action: change.change.action,
        address: change.addr.to_string(),
        words: words(change.change.action),
    }
}

fn words(action: Action) -> &'static str {
    match action {
        Action::NoOp => "",
        Action::Create => "create",
        Action::Read => "read during apply",
        Action::Update => "update in-place",
        Action::Delete => "destroy",
        Action::DeleteThenCreate | Action::CreateThenDelete | Action::ForgetThenCreate => "replace",
        Action::Forget => "forget",
    }
}

/// The lines of the screen, from the top.
pub fn watch_screen(screen: &WatchScreen, size: TerminalSize, style: &Style) -> Vec<String> {
    let style = &Style { width: Some(size.columns), ..*style };
    let rule = style.paint(Paint::Dim, &"─".repeat(size.columns));
    let mut lines = header(screen, size, style);
    lines.push(rule.clone());
    let room = size.rows.saturating_sub(lines.len() + 2);
    let body = body(screen, style);
    let first = screen.scroll.min(body.len().saturating_sub(room));
    let shown = body.iter().skip(first).take(room).cloned();
    lines.extend(shown);
    lines.resize(size.rows.saturating_sub(2), String::new());
    lines.push(rule);
    lines.push(footer(screen, style, size, Window { first, room, all: body.len() }));
    lines.truncate(size.rows);
    lines.iter().map(|line| clipped(line, size.columns)).collect()
}

/// The number of lines of the scrollable body.
pub fn watch_body_length(screen: &WatchScreen, style: &Style) -> usize {
    body(screen, style).len()
}

fn header(screen: &WatchScreen, size: TerminalSize, style: &Style) -> Vec<String> {
    let open = match screen.open {
        0 => String::new(),
        1 => "1 ephemeral resource open, ".to_owned(),
        n => format!("{n} ephemeral resources open, "),
    };
    let age = match screen.refreshed {
        Some(age) if age < Duration::from_secs(1) => "refreshed just now".to_owned(),
        Some(age) => format!("refreshed {} ago", duration(age)),
        None => "not refreshed".to_owned(),
    };
    let title = format!(
        "{}  {}",
        style.paint(Paint::Bold, "mayfly watch"),
        visible_line(&screen.directory)
    );
    let mut lines =
        vec![spread(&title, &style.paint(Paint::Dim, &format!("{open}{age}")), size.columns)];
    let broken = screen.problems.as_ref().filter(|it| it.is_broken());
    if let Some(problems) = broken {
        let count = match problems.errors {
            1 => "1 error".to_owned(),
            n => format!("{n} errors"),
        };
        let what = format!("{count} since {}", problems.at);
        lines.push(style.paint(Paint::BoldRed, &what));
    }
    match &screen.plan {
        Some(plan) if broken.is_some() => {
            let old = format!("as of {}: {}", plan.at, plan.summary);
            lines.push(style.paint(Paint::Dim, &old));
        }
        Some(plan) => {
            let when = format!("{}, {}", plan.at, duration(plan.took));
            let when = style.paint(Paint::Dim, &when);
            lines.push(spread(&style.paint(Paint::Bold, &plan.summary), &when, size.columns));
        }
        None if broken.is_some() => lines.push(style.paint(Paint::Dim, "no plan so far")),
        None => lines.push("Planning...".to_owned()),
    }
    lines
}

fn body(screen: &WatchScreen, style: &Style) -> Vec<String> {
    let mut lines = Vec::new();
    match &screen.view {
        WatchView::Help => {
            lines.extend(KEYS.iter().map(|(key, what)| format!("  {key:<27} {what}")));
        }
        WatchView::Details => match screen.plan.as_ref().and_then(|it| it.details.as_ref()) {
            Some(text) => lines.extend(text.trim_matches('\n').lines().map(str::to_owned)),
            None => lines.push("There is no plan so far.".to_owned()),
        },
        WatchView::Summary | WatchView::Confirm(_) => summary_body(screen, style, &mut lines),
    }
    lines
}

fn summary_body(screen: &WatchScreen, style: &Style, lines: &mut Vec<String>) {
    if let Some(notice) = &screen.notice {
        lines.extend(style.wrap(notice, 1).lines().map(str::to_owned));
        lines.push(String::new());
    }
    let is_old = screen.problems.as_ref().is_some_and(Problems::is_broken);
    if let Some(problems) = &screen.problems {
        lines.extend(problems.text.trim_matches('\n').lines().map(str::to_owned));
        lines.push(String::new());
    }
    let Some(plan) = &screen.plan else { return };
    let mut part = Vec::new();
    if let Some(news) = &plan.news {
        push_news(news, style, &mut part);
    }
    if !plan.changes.is_empty() {
        part.push("The plan:".to_owned());
        for it in &plan.changes {
            let words = style.paint(Paint::Dim, it.words);
            let symbol = diff::symbol(it.action, style);
            part.push(
                format!("{symbol} {} {words}", visible_line(&it.address)).trim_end().to_owned(),
            );
        }
    }
    match is_old {
        true => lines.extend(part.iter().map(|line| style.paint(Paint::Dim, &without_ansi(line)))),
        false => lines.extend(part),
    }
}

/// The space before the cause of an entry, which is deeper than the addresses.
const CAUSE_INDENT: &str = "      ";

fn push_news(news: &PlanNews, style: &Style, lines: &mut Vec<String>) {
    lines.push("Since the last plan:".to_owned());
    if news.is_empty() {
        lines.push("    nothing changed".to_owned());
    }
    let mut push = |entries: &[NewsEntry], what: &dyn Fn(&NewsEntry) -> String| {
        for it in entries {
            let symbol = diff::symbol(it.action, style);
            let deposed = it.deposed.as_ref().map(|key| format!(" (deposed object {key})"));
            let address = it.address.clone() + deposed.as_deref().unwrap_or_default();
            lines.push(format!("{symbol} {} {}", visible_line(&address), what(it)));
            // Colours would count as columns.
            let plain = Style { color: false, ..*style };
            let cause = it.cause.as_ref().map(|it| short_cause(it, &plain));
            let cause = cause.map(|it| plain.wrap(&it, CAUSE_INDENT.len()));
            lines.extend(
                cause.iter().flat_map(|it| it.lines()).map(|it| format!("{CAUSE_INDENT}{it}")),
            );
        }
    };
    let verb = |action: Action| if words(action).is_empty() { "nothing" } else { words(action) };
    push(&news.appeared, &|_| style.paint(Paint::Green, "new"));
    push(&news.changed, &|it| {
        let text = match it.before {
            Some(before) => format!("changed: {} instead of {}", verb(it.action), verb(before)),
            None => "changed".to_owned(),
        };
        style.paint(Paint::Yellow, &text)
    });
    push(&news.gone, &|_| style.paint(Paint::Dim, "no longer in the plan"));
    lines.push(String::new());
}

/// The visible part of the body.
struct Window {
    first: usize,
    room: usize,
    all: usize,
}

fn footer(screen: &WatchScreen, style: &Style, size: TerminalSize, window: Window) -> String {
    if let WatchView::Confirm(typed) = &screen.view {
        let question = "Apply this plan? Only 'yes' will be accepted (Esc: no):";
        return format!("{} {typed}_", style.paint(Paint::Bold, question));
    }
    if let Some(activity) = &screen.activity {
        return visible_line(activity);
    }
    let key = |key: &str, what: &str| format!("{} {what}", style.paint(Paint::Bold, key));
    let details = if screen.view == WatchView::Details { "summary" } else { "details" };
    let keys = [
        key("a", "apply"),
        key("r", "refresh"),
        key("d", details),
        key("?", "help"),
        key("q", "quit"),
    ];
    let range = match window.all > window.room {
        true => {
            let last = (window.first + window.room).min(window.all);
            format!("{}-{last} of {}", window.first + 1, window.all)
        }
        false => String::new(),
    };
    spread(&keys.join("  "), &style.paint(Paint::Dim, &range), size.columns)
}

/// `left`, and at the end of the line `right` if there is room for it.
fn spread(left: &str, right: &str, columns: usize) -> String {
    let used = width(left) + width(right);
    match columns.checked_sub(used) {
        Some(gap @ 1..) => format!("{left}{}{right}", " ".repeat(gap)),
        _ => left.to_owned(),
    }
}

fn duration(duration: Duration) -> String {
    let seconds = duration.as_secs();
    match seconds {
        0 => format!("{} ms", duration.as_millis()),
        1..60 => format!("{seconds}s"),
        60..3600 => format!("{}m", seconds / 60),
        _ => format!("{}h{:02}m", seconds / 3600, seconds / 60 % 60),
    }
}

/// The number of columns of a text, without ANSI sequences.
fn width(text: &str) -> usize {
    pieces(text).filter(|it| !it.starts_with('\u{1b}')).count()
}

/// Cuts a line to `columns` and resets an open colour.
fn clipped(line: &str, columns: usize) -> String {
    if width(line) <= columns {
        return line.to_owned();
    }
    let mut clipped = String::new();
    let mut used = 0;
    let mut is_painted = false;
    for piece in pieces(line) {
        if piece.starts_with('\u{1b}') {
            is_painted = piece != "\u{1b}[0m";
            clipped.push_str(piece);
            continue;
        }
        used += 1;
        if used == columns {
            clipped.push('…');
            break;
        }
        clipped.push_str(piece);
    }
    if is_painted {
        clipped.push_str("\u{1b}[0m");
    }
    clipped
}

fn without_ansi(line: &str) -> String {
    pieces(line).filter(|it| !it.starts_with('\u{1b}')).collect()
}

/// The grapheme clusters of a text; an ANSI sequence is one piece.
fn pieces(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = text;
    std::iter::from_fn(move || {
        let end = match rest.strip_prefix('\u{1b}') {
            Some(after) => 1 + after.find('m').map_or(after.len(), |at| at + 1),
            None => rest.graphemes(true).next()?.len(),
        };
        let (piece, after) = rest.split_at_checked(end)?;
        rest = after;
        (!piece.is_empty()).then_some(piece)
    })
}
