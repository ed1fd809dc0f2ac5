//! Causes as an indented list, with the places in a column at the right.
//!
//! ```text
//! terraform_data.web must be replaced because:
//!   - triggers_replace changes from "v1" to "v2", which forces replacement  main.tf:12
//!     - var.release is "v2", set in a variables file                        terraform.tfvars:1
//! ```

use std::fmt::Write as _;

use causes::{Fact, Finding};
use state::Action;

use crate::{
    diff,
    style::{Paint, Style, visible_line},
};

/// Longer lines do not move the column of the places.
const MAX_ALIGNED: usize = 100;

/// A line of the list before its place is aligned.
struct Line {
    text: String,
    place: Option<String>,
    is_heading: bool,
}

/// The answers to a question, each with its causes.
pub fn causes(findings: &[Finding], style: &Style) -> String {
    let mut text = String::new();
    for (index, finding) in findings.iter().enumerate() {
        if index > 0 {
            text.push('\n');
        }
        write_answer(finding, style, &mut text);
    }
    text
}

fn write_answer(finding: &Finding, style: &Style, text: &mut String) {
    let colon = if finding.because.is_empty() { "." } else { " because:" };
    let heading = format!("{}{colon}", visible_line(&finding.text()));
    let place = finding.place.as_ref().filter(|_| finding.because.is_empty());
    let place = place.map(ToString::to_string);
    let mut lines = vec![Line { text: heading, place, is_heading: true }];
    add_causes(finding, 1, &mut lines);
    let placed = lines.iter().filter(|it| it.place.is_some());
    let widths = placed.map(|it| it.text.chars().count()).filter(|it| *it <= MAX_ALIGNED);
    let width = widths.max().unwrap_or_default();
    for line in lines {
        write_line(&line, width, style, text);
    }
}

fn add_causes(finding: &Finding, depth: usize, lines: &mut Vec<Line>) {
    let indent = "  ".repeat(depth);
    for cause in &finding.because {
        let text = format!("{indent}- {}", visible_line(&cause.text_below(&finding.subject)));
        let place = cause.place.as_ref().map(|it| visible_line(&it.to_string()));
        lines.push(Line { text, place, is_heading: false });
        add_causes(cause, depth + 1, lines);
    }
    if finding.more > 0 {
        let text = format!("{indent}- and {} more", finding.more);
        lines.push(Line { text, place: None, is_heading: false });
    }
}

fn write_line(line: &Line, width: usize, style: &Style, text: &mut String) {
    let gap = width.saturating_sub(line.text.chars().count()) + 2;
    let shown = match line.is_heading {
        true => style.paint(Paint::Bold, &line.text),
        false => line.text.clone(),
    };
    let _ = match &line.place {
        Some(place) => {
            writeln!(text, "{shown}{:gap$}{}", "", style.paint(Paint::Dim, place))
        }
        None => writeln!(text, "{shown}"),
    };
}

/// One line for each change, with its cause and its place.
pub fn causes_overview(findings: &[Finding], style: &Style) -> String {
    let addresses = findings.iter().map(|it| object(it).chars().count());
    let width = addresses.filter(|it| *it <= MAX_ALIGNED / 2).max().unwrap_or_default();
    let mut text = String::new();
    for finding in findings {
        let symbol = match finding.fact {
            Fact::Planned { action, .. } => diff::symbol(action, style),
            Fact::IsNew | Fact::Is { .. } => diff::symbol(Action::Create, style),
            Fact::NoBlock => diff::symbol(Action::Delete, style),
            _ => diff::symbol(Action::Update, style),
        };
        let subject = visible_line(&object(finding));
        let _ = writeln!(text, "{symbol} {subject:<width$}  {}", short_cause(finding, style));
    }
    text
}

/// The address of an object, with the key if it is deposed.
fn object(finding: &Finding) -> String {
    match finding.deposed() {
        Some(key) => format!("{} (deposed object {key})", finding.subject),
        None => finding.subject.clone(),
    }
}

/// The cause of a change in one line, with its place.
pub(crate) fn short_cause(finding: &Finding, style: &Style) -> String {
    let place = finding.root_place().map(|it| visible_line(&it.to_string()));
    let place = place.map(|it| format!("  {}", style.paint(Paint::Dim, &it)));
    visible_line(&finding.short()) + place.as_deref().unwrap_or_default()
}
