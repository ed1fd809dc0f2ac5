//! Fewer warnings or errors: many of one kind are shown as one.

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt::Write,
};

use db::{Diagnostic, Severity, Sources, diagnostic::POSSIBLY_EPHEMERAL};

use super::excerpt::Files;
use crate::style::visible_line;

/// Warnings of `check` blocks, whose every occurrence says something of its own.
const NEVER_GROUPED: &[&str] =
    &["Check block assertion failed", "Check block assertion known after apply"];

/// Groups those of one severity and one summary: the first stays and says how many more there are. Others, and those
/// without a place, stay as they are.
pub fn consolidated(diagnostics: Vec<Diagnostic>, severity: Severity) -> Vec<Diagnostic> {
    let mut kept: Vec<Diagnostic> = Vec::with_capacity(diagnostics.len());
    let mut groups: BTreeMap<String, (usize, usize)> = BTreeMap::new();
    for diagnostic in diagnostics {
        if diagnostic.severity != severity || !is_grouped(&diagnostic) {
            kept.push(diagnostic);
            continue;
        }
        match groups.get_mut(&diagnostic.summary) {
            Some((_, more)) => *more += 1,
            None => {
                groups.insert(diagnostic.summary.clone(), (kept.len(), 0));
                kept.push(diagnostic);
            }
        }
    }
    let word = if severity == Severity::Error { "error" } else { "warning" };
    for (index, more) in groups.into_values() {
        let note = match more {
            0 => continue,
            1 => format!("(and one more similar {word} elsewhere)"),
            more => format!("(and {more} more similar {word}s elsewhere)"),
        };
        let detail = &mut kept[index].detail;
        detail.push_str(if detail.is_empty() { "" } else { "\n\n" });
        detail.push_str(&note);
    }
    kept
}

/// Keeps the first warning about each deprecated variable and output: all others about it say the same.
pub fn without_repeated_deprecations(mut diagnostics: Vec<Diagnostic>) -> Vec<Diagnostic> {
    let mut seen: BTreeSet<(&str, String)> = BTreeSet::new();
    diagnostics.retain(|it| !it.is_deprecation() || seen.insert((it.id, it.detail.clone())));
    diagnostics
}

fn is_grouped(diagnostic: &Diagnostic) -> bool {
    // Each condition, and each message of a module's author, is one of a kind.
    let is_one_of_a_kind = diagnostic.id == POSSIBLY_EPHEMERAL || diagnostic.is_deprecation();
    diagnostic.location.is_some()
        && !NEVER_GROUPED.contains(&&*diagnostic.summary)
        && !is_one_of_a_kind
}

/// Warnings as a list of summaries with their places (`-compact-warnings`). Empty where there is none.
pub fn compact_warnings(diagnostics: &[Diagnostic], sources: &Sources) -> String {
    let warnings = diagnostics.iter().filter(|it| it.severity == Severity::Warning);
    let mut groups: Vec<(&Diagnostic, usize)> = Vec::new();
    let mut index: BTreeMap<&str, usize> = BTreeMap::new();
    for warning in warnings {
        match index.get(warning.summary.as_str()) {
            Some(&at) if is_grouped(warning) => groups[at].1 += 1,
            _ => {
                index.insert(&warning.summary, groups.len());
                groups.push((warning, 0));
            }
        }
    }
    if groups.is_empty() {
        return String::new();
    }
    let files = Files::new(sources);
    let mut text = "\nWarnings:\n\n".to_owned();
    for (warning, more) in groups {
        let _ = writeln!(text, "- {}", visible_line(&warning.summary));
        if let Some(location) = &warning.location {
            let more = if more > 0 { format!(" (and {more} more)") } else { String::new() };
            let path = visible_line(&location.path);
            let _ = writeln!(text, "  on {path} line {}{more}", files.line(location));
        }
    }
    text + "\nTo see the full warning notes, run Mayfly without -compact-warnings.\n"
}
