//! Causes as JSON. `docs/explain.md` documents the format.

use causes::{Fact, Finding, Place};
use serde_json::{Value as Json, json};

use crate::json::{compact, object};

/// The version of the format.
const FORMAT_VERSION: &str = "1.0";

/// The answers to the question about an address, or all changes of a plan if there is none.
pub fn causes_json(address: Option<&str>, findings: &[Finding]) -> String {
    compact(&object([
        ("format_version", Some(FORMAT_VERSION.into())),
        ("address", address.map(Into::into)),
        ("findings", Some(findings.iter().map(finding_json).collect())),
    ]))
}

/// A finding with its causes.
pub fn finding_json(finding: &Finding) -> Json {
    let [before, after, value] = values(&finding.fact);
    object([
        ("subject", Some(finding.subject.as_str().into())),
        ("fact", Some(finding.fact.word().into())),
        ("text", Some(finding.text().into())),
        ("action", action(&finding.fact)),
        ("before", before.map(Into::into)),
        ("after", after.map(Into::into)),
        ("value", value.map(Into::into)),
        ("by", by(&finding.fact).map(Into::into)),
        ("place", finding.place.as_ref().map(place)),
        ("because", Some(finding.because.iter().map(finding_json).collect())),
        ("more", Some(finding.more.into())),
    ])
}

/// The cause of a change in one line, as `watch -json` shows it.
pub(crate) fn short_cause_json(finding: &Finding) -> Json {
    object([
        ("address", Some(finding.subject.as_str().into())),
        ("deposed", finding.deposed().map(Into::into)),
        ("text", Some(finding.short().into())),
        ("place", finding.root_place().map(place)),
    ])
}

fn place(place: &Place) -> Json {
    match place.line {
        0 => json!({ "file": *place.path }),
        _ => json!({ "file": *place.path, "line": place.line, "column": place.column }),
    }
}

fn action(fact: &Fact) -> Option<Json> {
    match fact {
        Fact::Planned { action, .. } => Some(action.json_words().into()),
        _ => None,
    }
}

/// The value before, the value after, and the value of a fact.
fn values(fact: &Fact) -> [Option<&str>; 3] {
    match fact {
        Fact::Changes { before, after }
        | Fact::ForcesReplacement { before, after }
        | Fact::ChangedOutside { before, after } => [Some(before), Some(after), None],
        Fact::Is { value }
        | Fact::Written { value }
        | Fact::Given { value, .. }
        | Fact::Instances { value, .. } => [None, None, Some(value)],
        _ => [None, None, None],
    }
}

fn by(fact: &Fact) -> Option<&str> {
    match fact {
        Fact::Given { by, .. } => Some(by.word()),
        Fact::Instances { by, .. } => Some(by.name()),
        _ => None,
    }
}
