//! Intended differences, each with a narrow rule. `docs/differences.md` gives the reason under the name of the
//! rule.
//!
//! A rule depends on the class of a difference or on the summaries of diagnostics, never on a whole aspect.

mod objects;
mod secrets;

use std::collections::BTreeSet;

use serde_json::Value as Json;

use crate::{
    compare::Difference,
    model::Files,
    observation::{Observation, PLAN},
};

/// A rule that explains a difference.
#[derive(Clone, Copy, Debug)]
struct Rule {
    /// The name in the figures.
    name: &'static str,
    applies: fn(&Seen<'_>) -> bool,
}

/// The answers of a program about the configuration of a step.
pub(crate) struct Checked {
    /// The answer of `validate`.
    pub(crate) validation: Observation,
    /// The answer of `plan` with a value for each variable. If only Mayfly failed and the reference can plan, the
    /// answer of `apply`.
    pub(crate) run: Observation,
}

/// A step with differences: the observations of both programs, and their answers about its configuration.
pub(crate) struct Around<'a> {
    pub(crate) command: &'a [String],
    /// The command that made the plan: `command` itself, or the one that saved the plan that `command` applies.
    pub(crate) planned_by: &'a [String],
    pub(crate) files: &'a Files,
    pub(crate) reference: &'a Observation,
    pub(crate) mayfly: &'a Observation,
    /// The answers of the reference and of Mayfly.
    pub(crate) checks: [Checked; 2],
}

/// The input of a rule.
struct Seen<'a> {
    difference: &'a Difference,
    around: &'a Around<'a>,
}

impl Seen<'_> {
    fn is(&self, class: &str) -> bool {
        self.difference.class.ends_with(class)
    }

    fn is_of(&self, aspect: &str) -> bool {
        self.difference.class.contains(&format!(": {aspect}: "))
    }

    fn both_fail(&self) -> bool {
        self.around.reference.exit == 1 && self.around.mayfly.exit == 1
    }

    /// Returns true if the reference fails in a later phase.
    fn run_fails(&self) -> bool {
        self.around.checks[0].run.exit == 1
    }

    /// Returns true if the reference planned nothing for a called module, because it has no instances.
    fn leaves_a_module_out(&self) -> bool {
        let Some(plan) = self.around.checks[0].run.aspects.get(PLAN) else { return false };
        let calls = plan["configuration"]["root_module"]["module_calls"].as_object();
        let planned = plan["planned_values"]["root_module"]["child_modules"].as_array();
        let addresses = planned.into_iter().flatten().filter_map(|it| it["address"].as_str());
        let planned: BTreeSet<&str> =
            addresses.filter_map(|it| it["module.".len()..].split('[').next()).collect();
        calls.into_iter().flatten().any(|(name, _)| !planned.contains(&**name))
    }

    /// Returns true if the reference planned nothing for a resource of the root module, because it has no instances.
    fn leaves_a_resource_out(&self) -> bool {
        let Some(plan) = self.around.checks[0].run.aspects.get(PLAN) else { return false };
        let addresses = |root: &Json| -> BTreeSet<String> {
            let listed = root["resources"].as_array().into_iter().flatten();
            let listed = listed.filter_map(|it| it["address"].as_str()?.split('[').next());
            listed.map(str::to_owned).collect()
        };
        let planned = addresses(&plan["planned_values"]["root_module"]);
        let mut declared = addresses(&plan["configuration"]["root_module"]).into_iter();
        declared.any(|it| !planned.contains(&it))
    }

    /// Returns true if the configuration contains a text.
    fn is_written(&self, text: &str) -> bool {
        self.around.files.values().any(|it| it.contains(text))
    }

    fn destroys(&self) -> bool {
        let mut words = self.around.command.iter().chain(self.around.planned_by);
        words.any(|it| it == "destroy" || it == "-destroy")
    }

    /// Returns true if targets limit the plan.
    fn has_targets(&self) -> bool {
        let limits = ["-target=", "-exclude="];
        let mut words = self.around.planned_by.iter();
        words.any(|it| limits.iter().any(|flag| it.starts_with(flag)))
    }

    /// Returns true if the configuration has the block of a resource with this address. The resources of called
    /// modules count for each of them.
    fn is_declared(&self, address: &str) -> bool {
        let mut names = address.rsplit('.').map(|it| it.split('[').next().unwrap_or(it));
        let (name, kind) = (names.next().unwrap_or_default(), names.next().unwrap_or_default());
        let block = format!("\"{kind}\" \"{name}\"");
        let call = address.strip_prefix("module.").and_then(|it| it.split(['.', '[']).next());
        let mut files = self.around.files.iter();
        match call {
            Some(call) => self.is_written(&format!("module \"{call}\"")) && self.is_written(&block),
            None => files.any(|(path, text)| !path.contains('/') && text.contains(&block)),
        }
    }

    /// Returns true if Mayfly reports all errors and warnings of the reference.
    fn reports_all(&self) -> bool {
        let Around { reference, mayfly, .. } = self.around;
        let [theirs, ours] = [reference, mayfly].map(|it| it.strings("diagnostics"));
        theirs.iter().all(|it| ours.contains(it))
    }

    /// Returns true for each program whose `validate` fails: the reference, then Mayfly.
    fn invalid(&self) -> [bool; 2] {
        [0, 1].map(|side| self.around.checks[side].validation.exit == 1)
    }

    /// Returns true if the only differences are diagnostics with these summaries, of the reference and of Mayfly.
    fn only(&self, reference: &[&str], mayfly: &[&str]) -> bool {
        let is_listed = |line: &str| {
            let summary = line.splitn(3, ": ").nth(2).unwrap_or_default();
            match line.strip_prefix("only reference") {
                Some(_) => reference.contains(&summary),
                None => mayfly.contains(&summary),
            }
        };
        self.is_of("diagnostics") && self.difference.detail.lines().all(is_listed)
    }
}

/// The exit code of OpenTofu after a crash.
const CRASH: i32 = 11;

const RULES: &[Rule] = &[
    Rule {
        name: "found earlier",
        applies: |seen| {
            let fails_later = seen.around.reference.exit == 1 || seen.run_fails();
            // The reference does not evaluate blocks without instances.
            let validation = seen.around.checks[1].validation.strings("diagnostics");
            let errors: Vec<_> = validation.iter().filter(|it| it.starts_with("error: ")).collect();
            let is_misuse = |it: &&&str| {
                [
                    "error: Invalid use of an ephemeral value",
                    "error: Output not marked as ephemeral",
                ]
                .contains(*it)
            };
            let is_wrong = |it: &&&str| {
                [
                    "error: Invalid for_each argument",
                    "error: Inconsistent conditional result types",
                    "error: Invalid condition result",
                    "error: Invalid operand",
                    "error: Incorrect condition type",
                    "error: Reference to \"each\" in context without for_each",
                ]
                .contains(*it)
            };
            let misuses = !errors.is_empty()
                && (errors.iter().all(is_misuse)
                    || (seen.leaves_a_module_out() || seen.leaves_a_resource_out())
                        && errors.iter().all(is_wrong));
            seen.invalid() == [false, true]
                && (fails_later || misuses)
                && seen.around.mayfly.exit == 1
        },
    },
    Rule {
        name: "a condition that is no bool",
        applies: |seen| {
            let says = |it: &Observation| {
                it.strings("diagnostics").contains(&"error: Invalid condition result")
            };
            let Around { reference, mayfly, checks, .. } = seen.around;
            // If both report it, only what the reference has done before may differ.
            says(mayfly) && (says(&checks[0].run) || says(reference) && !seen.is_of("diagnostics"))
        },
    },
    Rule {
        name: "an arm that may fail",
        applies: |seen| {
            let inconsistent = "error: Inconsistent conditional result types";
            let found = seen.around.checks[0].validation.strings("diagnostics");
            let mut errors = found.iter().filter(|it| it.starts_with("error: ")).peekable();
            let is_all = errors.peek().is_some() && errors.all(|it| *it == inconsistent);
            // Beside other errors, only this one needs the rule.
            let is_it = found.contains(&inconsistent)
                && seen.only(&["Inconsistent conditional result types"], &[]);
            (is_all || is_it) && seen.around.reference.exit == 1
        },
    },
    Rule {
        name: "more errors at once",
        applies: |seen| {
            let is_mayflys = |it: &str| it.starts_with("only mayfly");
            seen.both_fail()
                && seen.is_of("diagnostics")
                && seen.difference.detail.lines().all(is_mayflys)
        },
    },
    Rule {
        name: "an error in a module that is called twice",
        applies: |seen| {
            let is_in_both = |it: &str| !it.contains("(0 and ") && !it.contains(" and 0 times)");
            seen.both_fail()
                && seen.is_of("diagnostics")
                && seen.difference.detail.lines().all(is_in_both)
        },
    },
    Rule {
        name: "an error of a block without instances",
        applies: |seen| {
            let validation = seen.around.checks[1].validation.strings("diagnostics");
            let is_said_by_validate = |line: &str| {
                let found = line.strip_prefix("only reference").and_then(|it| it.split_once("): "));
                found.is_some_and(|(_, it)| validation.contains(&it))
            };
            seen.both_fail()
                && seen.is_of("diagnostics")
                && seen.difference.detail.lines().all(is_said_by_validate)
        },
    },
    Rule {
        name: "`show` without a configuration",
        applies: |seen| {
            seen.around.command[0] == "show"
                && seen.around.reference.exit == 1
                && seen.around.mayfly.exit == 0
        },
    },
    Rule {
        name: "what is planned beside an error",
        applies: |seen| {
            let kinds = [
                "planned_change",
                "change_summary",
                "outputs",
                "refresh_start",
                "refresh_complete",
                "resource_drift",
            ];
            // Data sources are read during the plan.
            let is_reading =
                |it: &str| it.contains("\"action\":\"read\"") && it.contains("\"type\":\"apply_");
            let is_planning = |it: &str| {
                kinds.iter().any(|kind| it.contains(&format!("\"type\":\"{kind}\"")))
                    || is_reading(it)
            };
            let is_planned = seen.is_of("text")
                || seen.is_of("events") && seen.difference.detail.lines().all(is_planning);
            seen.both_fail() && is_planned
        },
    },
    Rule {
        name: "errors beside those of given variables",
        applies: |seen| {
            let of_variables =
                ["error: Value for undeclared variable", "error: No value for required variable"];
            let said = seen.around.reference.strings("diagnostics");
            seen.both_fail() && said.iter().all(|it| of_variables.contains(it))
        },
    },
    Rule {
        name: "errors that follow from an error",
        applies: |seen| {
            let follow = [
                "Error in function call",
                "Unknown variable",
                "Missing resource instance key",
                "Invalid for_each argument",
                "Invalid enabled argument",
                "Invalid count argument",
                "Configuration for import target does not exist",
                "Invalid operand",
                "Incorrect condition type",
            ];
            seen.both_fail() && seen.only(&follow, &["Missing resource instance key"])
        },
    },
    Rule {
        name: "a destruction evaluates what it needs",
        applies: |seen| {
            let is_output = |it: &str| {
                it.contains("\"type\":\"outputs\"") || it.contains("\"action\":\"read\"")
            };
            let is_of_outputs = seen.difference.class.contains("output_changes.*.before")
                || seen.difference.class.contains("output_changes.* only")
                || seen.is("output_changes only reference")
                || seen.difference.class.contains("state: outputs")
                || seen.difference.class.contains("state: check_results")
                || seen.difference.class.contains("prior_state.values.outputs")
                || seen.is_of("events") && seen.difference.detail.lines().all(is_output);
            // The values on the command line may be the reason for the failure.
            let gives_values = seen.around.command.iter().any(|it| it.starts_with("-var="));
            let run_fails = seen.run_fails() || gives_values;
            // If both fail, an error of the reference that Mayfly lacks prevented the destruction.
            let [theirs, ours] =
                [seen.around.reference, seen.around.mayfly].map(|it| it.strings("diagnostics"));
            let prevents = theirs.iter().any(|it| it.starts_with("error: ") && !ours.contains(it));
            let is_error = seen.around.reference.exit == 1
                && (seen.around.mayfly.exit != 1 || prevents)
                && run_fails;
            let class = &seen.difference.class;
            let is_of_dependencies = class.contains("prior_state") && class.contains("depends_on")
                || class.contains("state: resources") && class.contains(".dependencies ");
            let detail = &seen.difference.detail;
            let is_of_refresh = seen.is_of("diagnostics")
                && (detail.contains(": warning: ")
                    || detail.starts_with("only reference") && run_fails);
            // Data sources are read only if something needs them.
            let is_of_data = seen.difference.class.contains("plan: prior_state.values.")
                && (seen.difference.class.contains(".resources.[].values.")
                    || seen.is("resources length"))
                && seen.is_written("data \"");
            // Dependencies in the state are valid until an apply, so the dependencies of a failed object are kept.
            let is_kept = |it: &str| {
                it.starts_with("only reference")
                    && (it.contains("\"action\":\"delete\"")
                        || it.contains("\"type\":\"provision_"))
            };
            let is_of_order = seen.both_fail()
                && (seen.is_of("effects")
                    && detail.lines().all(|it| it.starts_with("only reference"))
                    || seen.is_of("events") && detail.lines().all(is_kept)
                    || seen.is("state: resources length"));
            // The heading "Changes to Outputs:" precedes these lines.
            // Only the state says that the object is forgotten.
            let is_forgotten =
                seen.only(&[], &["Destroy was successful but left behind forgotten instances"]);
            let is_heading = seen.is_of("text") && {
                let texts =
                    [seen.around.reference, seen.around.mayfly].map(|it| it.strings("text"));
                let [theirs, ours] =
                    texts.map(|it| it.into_iter().filter(|it| !it.ends_with("Outputs:")));
                theirs.eq(ours)
            };
            seen.destroys()
                && (is_of_outputs
                    || is_error
                    || is_of_refresh
                    || is_of_dependencies
                    || is_of_data
                    || is_of_order
                    || is_forgotten
                    || is_heading)
        },
    },
    Rule {
        name: "`refresh`",
        applies: |seen| {
            let is_of_outputs = seen.difference.class.contains("outputs");
            // The reference leaves the results of checks out if the state has no objects.
            let is_of_checks = seen.is("state: check_results")
                && seen.difference.detail.contains("reference: null");
            // The normal plan of the reference has values that a refresh-only plan lacks.
            let is_index = seen.around.reference.exit == 0
                && seen.around.mayfly.exit == 1
                && (!seen.is_of("diagnostics")
                    || seen
                        .only(&[], &["Invalid index", "Attempt to get attribute from null value"]));
            // The normal plan of the reference also reads what `import` blocks name.
            let is_read = seen.is_of("events")
                && seen.difference.detail.lines().all(|it| it.starts_with("only reference"));
            let is_kept = seen.is("state: resources length");
            let is_import = seen.is_written("import {") && (is_read || is_kept);
            // It also plans the objects that `removed` blocks name.
            let failed = "Module output value precondition failed";
            let is_removed = seen.only(
                &["Resource will be removed from the state", failed],
                &["Resource precondition failed", "Resource postcondition failed", failed],
            );
            let said = seen.around.reference.strings("diagnostics");
            let is_output = seen.around.mayfly.exit != 1
                && said.iter().any(|it| it.strip_prefix("error: ") == Some(failed));
            seen.around.command[0] == "refresh"
                && (is_removed
                    || is_output
                    || is_import
                    || is_of_outputs
                    || is_of_checks
                    || is_index
                    || seen.run_fails())
        },
    },
    Rule {
        name: "a replacement that forgets the old object",
        applies: |seen| {
            let detail = &seen.difference.detail;
            let is_action = seen.is_of("events")
                && (detail.starts_with("only reference")
                    && ["noop", "import", "move"]
                        .iter()
                        .any(|it| detail.contains(&format!("\"action\":\"{it}\"")))
                    || detail.starts_with("only mayfly")
                        && detail.contains("\"action\":\"replace\""));
            // The reference counts the forgotten object in the plan, but not after the apply.
            let is_count = seen.is_of("text") && detail.contains(" forgotten.")
                || seen.is_of("events")
                    && detail.contains("\"type\":\"change_summary\"")
                    && detail.contains("\"operation\":\"apply\"");
            // If it is not created, the old object stays in the state of Mayfly.
            let class = &seen.difference.class;
            let is_kept = seen.both_fail()
                && ["resources length", "instances length"]
                    .iter()
                    .any(|it| class.contains(": state: ") && class.ends_with(it));
            seen.is_written("destroy = false") && (is_action || is_count || is_kept)
        },
    },
    Rule {
        name: "`replace_triggered_by` and a resource without instances",
        applies: |seen| {
            let is_refusal = |it: &&str| it.starts_with("error: no change found for ");
            seen.is_written("replace_triggered_by")
                && seen.around.reference.exit == 1
                && seen.around.reference.strings("diagnostics").iter().any(is_refusal)
        },
    },
    Rule {
        name: "the order of replacements that loses a reference",
        applies: |seen| {
            let is_cycle = |it: &&str| it.starts_with("error: Cycle: ");
            seen.is_written("create_before_destroy")
                && seen.around.reference.exit == 1
                && seen.around.mayfly.exit != 1
                && seen.around.reference.strings("diagnostics").iter().any(is_cycle)
        },
    },
    Rule {
        name: "a check of objects that stay as they are",
        applies: |seen| {
            // The reference skips a check that depends on an unchanged object whose dependency failed.
            seen.both_fail()
                && seen.around.command[0] == "apply"
                && seen.is("state: check_results.[].status")
                && seen.difference.detail.contains("reference: \"unknown\"")
        },
    },
    Rule {
        name: "conditions of data that the plan has read",
        applies: |seen| {
            // The reference's apply does not come to data that the plan has read.
            let detail = &seen.difference.detail;
            seen.around.command[0] == "apply"
                && seen.is("state: check_results.[].status")
                && detail.contains("reference: \"unknown\"")
                && detail.contains("mayfly:    \"pass\"")
                && seen.is_written("data \"")
        },
    },
    Rule {
        name: "a plan file with errors that `validate` finds",
        applies: |seen| {
            seen.around.command[0] == "apply"
                && seen.only(
                    &["Failed to load \"saved.tfplan\" as a plan file"],
                    &["Cannot apply incomplete plan"],
                )
        },
    },
    Rule { name: "a crash of OpenTofu", applies: |seen| seen.around.reference.exit == CRASH },
    Rule {
        name: "`create_before_destroy` in the state",
        applies: |seen| {
            // Before a destruction and an import, the reference plans the whole configuration.
            let plans = seen.destroys() || seen.around.command[0] == "import";
            let is_planned = plans && seen.is(".create_before_destroy only reference");
            (seen.is(".create_before_destroy only mayfly") || is_planned)
                && seen.is_written("create_before_destroy = true")
        },
    },
    Rule {
        name: "a cycle beside other errors",
        applies: |seen| {
            let is_cycle = seen.difference.detail.starts_with("only reference")
                && seen.difference.detail.contains(": error: Cycle: ");
            seen.both_fail() && seen.is_of("diagnostics") && is_cycle
        },
    },
    Rule {
        name: "a cycle through an import ID",
        applies: |seen| {
            let Around { reference, mayfly, .. } = seen.around;
            let is_cycle = |it: &&str| it.starts_with("error: Cycle: ");
            seen.is_written("import {")
                && reference.exit == 1
                && mayfly.exit == 0
                && reference.strings("diagnostics").iter().any(is_cycle)
        },
    },
    Rule {
        name: "a deprecated attribute of a resource without instances",
        applies: |seen| seen.only(&[], &["Value derived from a deprecated source"]),
    },
];

/// Summaries of the reference, each with its counterpart in Mayfly.
pub(crate) const WORDS: &[(&str, &str)] = &[
    (
        "error: Ephemeral value used in non-ephemeral context",
        "error: Invalid use of an ephemeral value",
    ),
    ("error: Output does not allow ephemeral value", "error: Output not marked as ephemeral"),
    ("error: Variable does not allow ephemeral value", "error: Invalid usage of ephemeral value"),
    (
        "error: Undeclared resource in replace_triggered_by",
        "error: Reference to undeclared resource",
    ),
    (
        "error: each.value cannot be used in this context",
        "error: Reference to \"each\" in context without for_each",
    ),
];

/// Warnings that only Mayfly reports; they are excluded from the comparison.
pub(crate) const ADVICE: &[&str] = &[
    "warning: Secret written in the configuration",
    "warning: Possibly ephemeral value",
    // The reference does not report the failure of a provisioner with `on_failure = continue`.
    "warning: local-exec provisioner error",
];

impl Around<'_> {
    /// The names of the rules that explain a difference. Every line needs a rule. `None` if a line has none.
    pub(crate) fn rules(&self, difference: &Difference) -> Option<Vec<&'static str>> {
        let has_lines = [": diagnostics: ", ": events: "];
        let parts = match has_lines.iter().any(|it| difference.class.contains(it)) {
            true => difference.detail.lines().collect(),
            false => vec![&*difference.detail],
        };
        let explained = parts.into_iter().map(|detail| {
            let difference = &Difference { detail: detail.to_owned(), ..difference.clone() };
            let seen = Seen { difference, around: self };
            RULES
                .iter()
                .chain(objects::RULES)
                .chain(secrets::RULES)
                .find(|it| (it.applies)(&seen))
                .map(|it| it.name)
        });
        explained.collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn differences_page_lists_every_rule() {
        let page = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/differences.md");
        let page = std::fs::read_to_string(page).expect("the page is there");
        for rule in RULES.iter().chain(objects::RULES).chain(secrets::RULES) {
            assert!(page.contains(&format!("| {} |", rule.name)), "{} is missing", rule.name);
        }
        for words in WORDS {
            let [theirs, ours] = [words.0, words.1].map(|it| it.trim_start_matches("error: "));
            assert!(page.contains(&format!("| {theirs} | {ours} |")), "{theirs} is missing");
        }
    }
}
