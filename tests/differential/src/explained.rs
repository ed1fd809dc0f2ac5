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

    fn both_fail(&self) -> bool {
        self.reference.exit == 1 && self.mayfly.exit == 1
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
            let reference = [
                "Ephemeral value used in non-ephemeral context",
                "Output does not allow ephemeral value",
                "Variable does not allow ephemeral value",
            ];
            let mayfly = [
                "Invalid use of an ephemeral value",
                "Output not marked as ephemeral",
                "Invalid usage of ephemeral value",
            ];
            seen.only(&reference, &mayfly)
        },
    },
    // The reference looks at the names of variables before it looks at the configuration.
    Rule {
        name: "an undeclared variable beside an error of the configuration",
        applies: |seen| {
            seen.both_fail()
                && seen.validations[1].exit == 1
                && seen.reference.strings("diagnostics") == ["error: Value for undeclared variable"]
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
    // The reference reports the argument beside the error in its expression.
    Rule {
        name: "an argument whose expression fails",
        applies: |seen| {
            seen.both_fail()
                && seen.only(
                    &[
                        "Invalid for_each argument",
                        "Invalid enabled argument",
                        "Invalid count argument",
                    ],
                    &[],
                )
        },
    },
    // docs/plan-file.md: values of ephemeral variables are in no plan.
    Rule {
        name: "a default of an ephemeral variable",
        applies: |seen| seen.is("plan: plan: variables.* only reference"),
    },
    // docs/limits.md: `validate` evaluates no conditions. The reference validates before it plans, and then says each once.
    Rule {
        name: "limit: a condition that validate could evaluate",
        applies: |seen| {
            let [reference, mayfly] = seen.validations;
            let errors = reference.strings("diagnostics");
            let is_condition = |it: &&str| {
                [
                    "error: Module output value precondition failed",
                    "error: Invalid value for variable",
                ]
                .contains(it)
            };
            let mut errors = errors.iter().filter(|it| it.starts_with("error"));
            reference.exit == 1 && mayfly.exit == 0 && errors.all(is_condition)
        },
    },
    // Known, and to be mended.
    Rule {
        name: "known: more errors at once",
        applies: |seen| {
            let is_mayflys = |it: &str| it.starts_with("only mayfly");
            seen.both_fail()
                && seen.difference.class.contains("diagnostics: ")
                && seen.difference.detail.lines().all(is_mayflys)
        },
    },
    Rule {
        name: "known: what is planned beside an error",
        applies: |seen| {
            let kinds = [
                "planned_change",
                "change_summary",
                "outputs",
                "refresh_start",
                "refresh_complete",
            ];
            let is_planning =
                |it: &str| kinds.iter().any(|kind| it.contains(&format!("\"type\":\"{kind}\"")));
            seen.both_fail()
                && seen.difference.class.contains("events: ")
                && seen.difference.detail.lines().all(is_planning)
        },
    },
    Rule {
        name: "known: words of an apply that destroys",
        applies: |seen| {
            let detail = &seen.difference.detail;
            let is_summary = |it: &str| {
                it.contains("\"type\":\"change_summary\"") || it.contains("\"outputs\":{}")
            };
            detail.contains("\"operation\":\"destroy\"") && detail.lines().all(is_summary)
        },
    },
    Rule {
        name: "known: values of variables are converted",
        applies: |seen| seen.is("plan: plan: variables.*.value"),
    },
    Rule {
        name: "known: a precondition of an output that nothing uses",
        applies: |seen| {
            seen.is("check_results.[].status")
                && seen.difference.detail.contains("reference: \"unknown\"")
                && seen.difference.detail.contains("mayfly:    \"pass\"")
        },
    },
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
pub(crate) const ADVICE: &[&str] = &[
    "warning: Secret written in the configuration",
    // A provisioner that failed and may: the reference says nothing.
    "warning: local-exec provisioner error",
];

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
