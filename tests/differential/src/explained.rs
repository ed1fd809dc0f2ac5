//! Differences that are known, each by a narrow rule: those that `docs/stricter.md` asks for, and those that wait to be mended.
//!
//! A rule looks at the class of a difference or at the summaries of Mayfly's diagnostics, never at a whole aspect.

use crate::{compare::Difference, observation::Observation};

/// Why a difference is no finding.
#[derive(Clone, Copy, Debug)]
struct Rule {
    /// The name that figures list.
    name: &'static str,
    applies: fn(&Seen<'_>) -> bool,
}

/// What a rule may look at.
struct Seen<'a> {
    difference: &'a Difference,
    reference: &'a Observation,
    mayfly: &'a Observation,
    /// What `validate` says of the configuration, in the same order.
    validations: [&'a Observation; 2],
}

impl Seen<'_> {
    fn is(&self, class: &str) -> bool {
        self.difference.class.ends_with(class)
    }

    /// Whether all that differs are diagnostics with these summaries, of the reference and of Mayfly.
    fn only(&self, reference: &[&str], mayfly: &[&str]) -> bool {
        let is_listed = |line: &str| {
            let summary = line.splitn(3, ": ").nth(2).unwrap_or_default();
            match line.strip_prefix("only reference") {
                Some(_) => reference.contains(&summary),
                None => mayfly.contains(&summary),
            }
        };
        self.difference.class.contains("diagnostics: ")
            && self.difference.detail.lines().all(is_listed)
    }
}

const RULES: &[Rule] = &[
    Rule {
        name: "not supported yet",
        applies: |seen| {
            seen.mayfly.strings("diagnostics").iter().any(|it| it.ends_with("Not supported yet"))
        },
    },
    // docs/stricter.md, "Found earlier, refused in both".
    Rule {
        name: "validate finds an error of plan or apply",
        applies: |seen| {
            let [reference, mayfly] = seen.validations;
            mayfly.exit == 1
                && reference.exit == 0
                && seen.reference.exit == 1
                && seen.mayfly.exit == 1
        },
    },
    Rule {
        name: "wording of a misused ephemeral value",
        applies: |seen| {
            seen.only(
                &["Ephemeral value used in non-ephemeral context"],
                &["Invalid use of an ephemeral value"],
            )
        },
    },
    // The reference evaluates on after an error and then misses what the error left out.
    Rule {
        name: "unknown variable after another error",
        applies: |seen| {
            seen.only(
                &["Unknown variable", "Missing resource instance key"],
                &["Missing resource instance key"],
            )
        },
    },
    // Known, and to be mended.
    Rule {
        name: "known: dependencies",
        applies: |seen| seen.is("dependencies length") || seen.is("dependencies only reference"),
    },
    Rule {
        name: "known: a plan with errors is not saved",
        applies: |seen| seen.only(&["Cannot apply incomplete plan"], &["Failed to load plan file"]),
    },
    Rule {
        name: "known: a plan file that is not there",
        applies: |seen| {
            seen.only(
                &["Failed to load \"saved.tfplan\" as a plan file"],
                &["Failed to load plan file"],
            )
        },
    },
    Rule {
        name: "known: state list without a state",
        applies: |seen| seen.only(&["No state file was found!"], &["No state file was found!"]),
    },
];

/// Warnings that Mayfly adds; they are no part of the comparison.
pub(crate) const ADVICE: &[&str] = &["warning: Secret written in the configuration"];

/// The name of the rule that explains the difference.
pub(crate) fn rule(
    difference: &Difference,
    reference: &Observation,
    mayfly: &Observation,
    validations: [&Observation; 2],
) -> Option<&'static str> {
    let seen = Seen { difference, reference, mayfly, validations };
    RULES.iter().find(|it| (it.applies)(&seen)).map(|it| it.name)
}
