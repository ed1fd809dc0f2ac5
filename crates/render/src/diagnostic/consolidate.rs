//! Consolidation of diagnostics: several similar ones are shown as one.

use std::fmt::Write;

use db::{Diagnostic, Rule, Severity, Sources, Summary};
use sorted::{TreeMap, TreeSet};

use crate::{diagnostic::excerpt::Files, style::visible_line};

/// The warnings of `check` blocks, which are never grouped because each has its own message.
const NEVER_GROUPED: [Summary; 2] = [Summary::CHECK_ASSERTION, Summary::CHECK_UNKNOWN];

/// Groups the diagnostics that have the given severity and the same summary: the first one stays and notes the
/// number of the others. Diagnostics without a place, or with another severity, stay as they are.
pub fn consolidated(diagnostics: Vec<Diagnostic>, severity: Severity) -> Vec<Diagnostic> {
    let mut kept: Vec<Diagnostic> = Vec::with_capacity(diagnostics.len());
    let mut groups: TreeMap<String, (usize, usize)> = TreeMap::new();
    for diagnostic in diagnostics {
        if diagnostic.severity() != severity || !is_grouped(&diagnostic) {
            kept.push(diagnostic);
            continue;
        }
        match groups.get_mut(&*diagnostic.summary) {
            Some((_, more)) => *more += 1,
            None => {
                groups.insert(diagnostic.summary.to_string(), (kept.len(), 0));
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

/// Keeps only the first warning about each deprecated variable or output, because the others have the same text.
pub fn without_repeated_deprecations(mut diagnostics: Vec<Diagnostic>) -> Vec<Diagnostic> {
    let mut seen: TreeSet<(Rule, String)> = TreeSet::new();
    diagnostics.retain(|it| !it.is_deprecation() || seen.insert((it.id(), it.detail.clone())));
    diagnostics
}

fn is_grouped(diagnostic: &Diagnostic) -> bool {
    // Each of these diagnostics has its own condition, or its own message by the author of the module.
    let is_one_of_a_kind =
        diagnostic.id() == Rule::PossiblyEphemeral || diagnostic.is_deprecation();
    diagnostic.location.is_some()
        && !NEVER_GROUPED.contains(&diagnostic.summary)
        && !is_one_of_a_kind
}

/// The warnings as a list of summaries with their places (`-compact-warnings`). Empty if there are none.
pub fn compact_warnings(diagnostics: &[Diagnostic], sources: &Sources) -> String {
    let warnings = diagnostics.iter().filter(|it| it.severity() == Severity::Warning);
    let mut groups: Vec<(&Diagnostic, usize)> = Vec::new();
    let mut index: TreeMap<&str, usize> = TreeMap::new();
    for warning in warnings {
        match index.get(&*warning.summary) {
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
