//! Diagnostics as blocks of text.
//!
//! ```text
//! ╷
//! │ Error: SUMMARY [ID]
//! │
//! │   with ADDRESS,
//! │   on FILE line N, in CONTEXT:
//! │   N:   code
//! │     ├────────────────
//! │     │ var.x is 5
//! │
//! │ DETAIL
//! │
//! │ The value is ephemeral because:
//! │   - local.x is ephemeral                       main.tf:3
//! │   - variable "x" is declared ephemeral         main.tf:1
//! ╵
//! ```

use std::fmt::Write;

use db::{Diagnostic, Related, Severity, Sources};

use crate::{
    diagnostic::excerpt::{Excerpt, Files, Lines},
    diff,
    style::{Paint, Style, visible, visible_line},
};

/// The width of the rule at the left, in columns.
const RULE: usize = 2;

/// The maximal length of a message whose place is aligned with the others.
const MAX_ALIGNED: usize = 60;

/// Renders diagnostics in order. Empty if there are none. Omits hints, which are for editors only.
pub fn diagnostics(diagnostics: &[Diagnostic], sources: &Sources, style: &Style) -> String {
    let files = Files::new(sources);
    let shown = diagnostics.iter().filter(|it| it.severity() != Severity::Hint);
    shown.map(|it| framed(it, &files, style)).collect()
}

/// The message of `validate` that there is no error.
pub fn valid(without_warnings: bool, style: &Style) -> String {
    let rest = match without_warnings {
        true => "",
        false => ", but there were some validation warnings as shown above",
    };
    let text = style.wrap(&format!("Success! The configuration is valid{rest}."), 1);
    format!("{}\n", success(&text, style))
}

/// Returns the text with its first "Success!" in color.
pub fn success(text: &str, style: &Style) -> String {
    text.replacen("Success!", &style.paint(Paint::BoldGreen, "Success!"), 1)
}

fn framed(diagnostic: &Diagnostic, files: &Files<'_>, style: &Style) -> String {
    let body = body(diagnostic, files, style);
    if !style.box_drawing {
        return format!("\n{body}");
    }
    let paint = rule_paint(diagnostic.severity());
    let rule = style.paint(paint, "│");
    let mut text = format!("{}\n", style.paint(paint, "╷"));
    for line in body.lines() {
        let _ = match line {
            "" => writeln!(text, "{rule}"),
            line => writeln!(text, "{rule} {line}"),
        };
    }
    text + &style.paint(paint, "╵") + "\n"
}

fn rule_paint(severity: Severity) -> Paint {
    match severity {
        Severity::Error => Paint::Red,
        Severity::Warning | Severity::Hint => Paint::Yellow,
    }
}

/// The lines without the rule, each with a newline.
fn body(diagnostic: &Diagnostic, files: &Files<'_>, style: &Style) -> String {
    let (paint, word) = match diagnostic.severity() {
        Severity::Error => (Paint::BoldRed, "Error: "),
        Severity::Warning | Severity::Hint => (Paint::BoldYellow, "Warning: "),
    };
    let summary = style.paint(Paint::Bold, &visible_line(&diagnostic.summary));
    let mut text = format!("{}{summary}{}\n", style.paint(paint, word), id(diagnostic, style));
    let place = place(diagnostic, files, style);
    if !place.is_empty() {
        let _ = write!(text, "\n{place}");
    }
    let margin = if style.box_drawing { RULE + 1 } else { 1 };
    if !diagnostic.detail.is_empty() {
        let detail = style.wrap(&visible(&diagnostic.detail), margin);
        let _ = writeln!(text, "\n{}", detail.trim_end_matches('\n'));
    }
    let related = related(diagnostic, files, style);
    if !related.is_empty() {
        let _ = write!(text, "\n{related}");
    }
    text
}

fn id(diagnostic: &Diagnostic, style: &Style) -> String {
    match style.names_rules {
        true => style.paint(Paint::Dim, &format!(" [{}]", diagnostic.id())),
        false => String::new(),
    }
}

fn place(diagnostic: &Diagnostic, files: &Files<'_>, style: &Style) -> String {
    let mut text = String::new();
    if let Some(address) = &diagnostic.address {
        let _ = writeln!(text, "  with {},", visible_line(address));
    }
    let Some(location) = &diagnostic.location else { return text };
    let path = visible_line(&location.path);
    let Some(excerpt) = files.excerpt(diagnostic, Lines::ForPeople) else {
        let _ = writeln!(text, "  on {path}:\n  (source code not available)");
        return text;
    };
    let context = diagnostic
        .context
        .as_ref()
        .map(|it| format!(", in {}", visible_line(it)))
        .unwrap_or_default();
    let _ = writeln!(text, "  on {path} line {}{context}:", excerpt.start_line);
    push_code(&excerpt.cut(), style, &mut text);
    push_values(&diagnostic.values, style, &mut text);
    if let Some(lines) = diagnostic.difference.as_ref().and_then(|it| diff::comparison(it, style)) {
        push_difference(&lines, style, &mut text);
    }
    text
}

/// Writes the lines of the excerpt, with the range underlined in each.
fn push_code(excerpt: &Excerpt, style: &Style, text: &mut String) {
    let mut offset = 0;
    for (i, line) in excerpt.code.split('\n').enumerate() {
        // The indentation of a further line is not underlined.
        let blank = if i == 0 { 0 } else { line.len() - line.trim_start().len() };
        let start = excerpt.start.saturating_sub(offset).max(blank).min(line.len());
        let end = excerpt.end.saturating_sub(offset).min(line.len());
        let (before, rest) = line.split_at(start);
        let (marked, after) = rest.split_at(end.max(start) - start);
        let marked = style.paint(Paint::Underline, &visible(marked));
        let _ = writeln!(
            text,
            "{:>4}: {}{marked}{}",
            excerpt.start_line + i,
            visible(before),
            visible(after.trim_end_matches('\r'))
        );
        offset += line.len() + 1;
    }
}

fn push_values(values: &[String], style: &Style, text: &mut String) {
    if values.is_empty() {
        return;
    }
    let _ = writeln!(text, "    {}", style.paint(Paint::Dim, "├────────────────"));
    let rule = style.paint(Paint::Dim, "│");
    for value in values {
        let value = visible_line(value);
        let verb = [" is ", " has ", " will be "]
            .iter()
            .filter_map(|it| value.find(it))
            .min()
            .unwrap_or(0);
        let (name, statement) = value.split_at(verb);
        let _ = writeln!(text, "    {rule} {}{statement}", style.paint(Paint::Bold, name));
    }
}

/// Writes the lines of a comparison, in the layout of the reference.
fn push_difference(lines: &str, style: &Style, text: &mut String) {
    let rule = style.paint(Paint::Dim, "│");
    let _ = writeln!(text, "    {}", style.paint(Paint::Dim, "├────────────────"));
    let _ = writeln!(text, "    {rule} {}", style.paint(Paint::Bold, "Diff:"));
    for line in lines.lines() {
        let _ = writeln!(text, "    {rule} {line}");
    }
}

/// The related places, each with its line, under a heading.
fn related(diagnostic: &Diagnostic, files: &Files<'_>, style: &Style) -> String {
    if diagnostic.related.is_empty() {
        return String::new();
    }
    // Whole phrases, because an address may contain the word "ephemeral".
    const EXPLANATIONS: [&str; 3] =
        [" is ephemeral", " is declared ephemeral", " is an ephemeral "];
    let explains = |it: &Related| EXPLANATIONS.iter().any(|words| it.message.contains(words));
    let is_chain = diagnostic.related.iter().all(explains);
    let mut text =
        if is_chain { "The value is ephemeral because:\n" } else { "Related places:\n" }.to_owned();
    let widest = diagnostic
        .related
        .iter()
        .map(|it| it.message.chars().count())
        .filter(|it| *it <= MAX_ALIGNED)
        .max();
    for related in &diagnostic.related {
        let _ = writeln!(text, "{}", related_line(related, widest.unwrap_or(0), files, style));
    }
    text
}

fn related_line(related: &Related, width: usize, files: &Files<'_>, style: &Style) -> String {
    let line = files.line(&related.location);
    let place = format!("{}:{line}", visible_line(&related.location.path));
    let message = visible_line(&related.message);
    format!("  - {message:<width$}  {}", style.paint(Paint::Dim, &place))
}
