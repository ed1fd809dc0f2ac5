//! The screen of `watch`: a pure function of what is known, so that tests read it as a user does.
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
//! **Invariant:** as many lines as the terminal has, none wider than it.

use std::time::Duration;

use engine::{ChangeCounts, Operation};
use state::{Action, Plan, ResourceChange};
use unicode_segmentation::UnicodeSegmentation;

use super::{NewsEntry, PlanNews};
use crate::{
    diff,
    event::summary,
    plan::is_shown,
    style::{Paint, Style, visible_line},
};

/// How large a terminal is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TerminalSize {
    /// Lines.
    pub rows: usize,
    /// Characters of a line.
    pub columns: usize,
}

/// What is looked at.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum WatchView {
    /// What changed, and a line for each object.
    #[default]
    Summary,
    /// The plan as `plan` shows it.
    Details,
    /// What the keys do.
    Help,
    /// The question whether to apply, with what was typed so far.
    Confirm(String),
}

/// Everything that the screen shows.
#[derive(Clone, Debug, Default)]
pub struct WatchScreen {
    /// What is watched.
    pub directory: String,
    /// How old what is known of the objects is; none where they were not read.
    pub refreshed: Option<Duration>,
    /// Ephemeral resources that are open now.
    pub open: usize,
    /// The last good plan.
    pub plan: Option<WatchedPlan>,
    /// What is wrong with the text as it is now. With errors, the plan is an old one.
    pub problems: Option<Problems>,
    /// What happens at the moment; none while nothing does.
    pub activity: Option<String>,
    /// Something that was done or refused.
    pub notice: Option<String>,
    /// What is looked at.
    pub view: WatchView,
    /// The first line of the body that is seen.
    pub scroll: usize,
}

/// A good plan, as the screen shows it.
#[derive(Clone, Debug, Default)]
pub struct WatchedPlan {
    /// The time of day.
    pub at: String,
    /// How long it took.
    pub took: Duration,
    /// `Plan: 1 to add, …`
    pub summary: String,
    /// What is different from the plan before; none for the first.
    pub news: Option<PlanNews>,
    /// A line for each object and output.
    pub changes: Vec<ListedChange>,
    /// The whole plan as text, once somebody asked for it.
    pub details: Option<String>,
}

/// An object or output in the list of changes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ListedChange {
    /// What is done.
    pub action: Action,
    /// The address.
    pub address: String,
    /// What is done, in words.
    pub words: &'static str,
}

/// What is wrong.
#[derive(Clone, Debug, Default)]
pub struct Problems {
    /// Errors; none if there are warnings only.
    pub errors: usize,
    /// The time of day.
    pub at: String,
    /// Diagnostics, as they are shown elsewhere.
    pub text: String,
}

impl Problems {
    /// Whether the text is broken.
    pub fn is_broken(&self) -> bool {
        self.errors > 0
    }
}

/// What the keys do, for the help.
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

/// The words for what a plan comes to: `Plan: 1 to add, 0 to change, 0 to destroy.`
pub fn plan_summary(plan: &Plan) -> String {
    let has_objects = plan.resource_changes.iter().any(is_shown);
    let has_outputs = plan.output_changes.values().any(|it| it.action != Action::NoOp);
    match (has_objects, has_outputs) {
        (true, _) => summary(Operation::Plan, &ChangeCounts::of_plan(plan)),
        (false, true) => "Plan: only outputs change.".to_owned(),
        (false, false) => "No changes. Your infrastructure matches the configuration.".to_owned(),
    }
}

/// The list of what a plan does.
pub fn change_list(plan: &Plan) -> Vec<ListedChange> {
    let objects = plan.resource_changes.iter().filter(|it| is_shown(it)).map(listed);
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

/// How many lines the body has that scrolls.
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

fn push_news(news: &PlanNews, style: &Style, lines: &mut Vec<String>) {
    lines.push("Since the last plan:".to_owned());
    if news.is_empty() {
        lines.push("    nothing changed".to_owned());
    }
    let mut push = |entries: &[NewsEntry], what: &dyn Fn(&NewsEntry) -> String| {
        for it in entries {
            let symbol = diff::symbol(it.action, style);
            lines.push(format!("{symbol} {} {}", visible_line(&it.address), what(it)));
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

/// Which lines of the body are seen.
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

/// `left` and, as far as there is room, `right` at the end of the line.
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

/// The columns that a text takes, without ANSI sequences.
fn width(text: &str) -> usize {
    pieces(text).filter(|it| !it.starts_with('\u{1b}')).count()
}

/// A line that is not wider than `columns`, and ends whatever colour it began.
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

/// Characters as people see them, and ANSI sequences as a whole.
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
