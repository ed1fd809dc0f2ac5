//! Rules about sensitive and ephemeral values.

use crate::{
    compare::Difference,
    explained::{Around, Rule},
    observation::Observation,
};

pub(super) const RULES: &[Rule] = &[
    Rule {
        name: "a secret that is not known yet",
        applies: |seen| {
            let misuses = [
                "Invalid use of an ephemeral value",
                "Output not marked as ephemeral",
                "Invalid usage of ephemeral value",
                "Output refers to sensitive values",
            ];
            // The reference refuses a sensitive value once it is known.
            let said = |it: &Observation| {
                let said = it.strings("diagnostics");
                said.iter().any(|it| misuses.iter().any(|misuse| it.ends_with(misuse)))
            };
            let is_applying =
                seen.around.command[0] == "apply" && !said(&seen.around.checks[0].run);
            let is_later = seen.around.reference.exit != 1
                || seen.run_fails()
                || is_applying
                || said(seen.around.reference);
            let follows = said(seen.around.mayfly);
            // Mayfly refuses the plan, so it does not meet what the reference meets while it applies.
            let ours = seen.around.mayfly.strings("diagnostics");
            let mut errors = ours.iter().filter(|it| it.starts_with("error: "));
            let is_met_in_apply = seen.around.command[0] == "apply"
                && seen.difference.detail.starts_with("only reference")
                && errors.all(|it| misuses.iter().any(|misuse| it.ends_with(misuse)));
            let is_warning = seen.is_of("diagnostics")
                && seen.difference.detail.starts_with("only reference")
                && seen.difference.detail.contains("): warning: ");
            seen.invalid() == [false, false]
                && is_later
                && follows
                && (seen.only(&[], &misuses)
                    || is_met_in_apply
                    || is_warning
                    || !seen.is_of("diagnostics"))
        },
    },
    Rule {
        name: "an output that is sensitive and ephemeral",
        applies: |seen| {
            seen.only(&["Output refers to sensitive values"], &[])
                && seen
                    .around
                    .mayfly
                    .strings("diagnostics")
                    .contains(&"error: Output not marked as ephemeral")
        },
    },
    Rule {
        name: "when an ephemeral resource is opened",
        applies: |seen| {
            let is_opening = |it: &str| {
                it.contains("\"type\":\"ephemeral_action_") && !it.contains("\"Msg\":\"Clos")
            };
            let is_event = seen.is_of("events") && seen.difference.detail.lines().all(is_opening);
            let is_closed_later = seen.is_of("events")
                && seen.difference.detail.lines().all(|it| {
                    it.starts_with("only reference") && it.contains("\"type\":\"ephemeral_action_")
                });
            // The reference fails while it opens an unneeded ephemeral resource or evaluates its arguments.
            let [theirs, ours] =
                [seen.around.reference, seen.around.mayfly].map(|it| it.strings("diagnostics"));
            let fails = theirs.iter().any(|it| it.starts_with("error: ") && !ours.contains(it));
            let begins = |it: &Observation| {
                it.strings("events").iter().any(|it| it.contains("ephemeral_action_started"))
            };
            let fails = fails || begins(seen.around.reference) && !begins(seen.around.mayfly);
            // So it does while it evaluates an unneeded value of an ephemeral variable.
            let opens = seen.is_written("ephemeral \"")
                || seen.is_written("ephemeral = true") && seen.around.mayfly.exit != 1;
            is_event || is_closed_later || opens && fails && seen.around.reference.exit == 1
        },
    },
    Rule {
        name: "an ephemeral resource is closed after an error",
        applies: |seen| {
            let is_closing = |it: &str| {
                it.starts_with("only mayfly")
                    && it.contains("\"type\":\"ephemeral_action_")
                    && it.contains("Clos")
            };
            seen.both_fail()
                && seen.is_of("events")
                && seen.difference.detail.lines().all(is_closing)
        },
    },
    Rule {
        name: "sensitive attributes of planned values",
        applies: |seen| {
            let Difference { class, detail, .. } = seen.difference;
            class.contains("planned_values")
                && class.contains("sensitive_values")
                && (class.ends_with("only mayfly")
                    || detail.trim_end().ends_with("mayfly:    true"))
        },
    },
    Rule {
        name: "a comparison with null",
        applies: |seen| {
            let is_command = |it: &str| it.contains("\"type\":\"provision_progress\"");
            let refuses = |it: &Observation| {
                it.strings("diagnostics").contains(&"error: Output refers to sensitive values")
            };
            // After the error, no outputs are shown and nothing is applied.
            let follows = !seen.is_of("diagnostics")
                && refuses(seen.around.reference)
                && !refuses(seen.around.mayfly);
            let is_sensitive = follows
                || seen.only(&["Output refers to sensitive values"], &[])
                || seen.difference.class.contains("sensitive")
                || seen.is_of("events") && seen.difference.detail.lines().all(is_command);
            is_sensitive && (seen.is_written("== null") || seen.is_written("null =="))
        },
    },
    Rule {
        name: "an output whose condition is ephemeral",
        applies: |seen| {
            let failed = "error: Module output value precondition failed";
            let Around { command, reference, mayfly, .. } = seen.around;
            command[0] == "apply"
                && seen.is_written("ephemeral = true")
                && mayfly.exit == 1
                && mayfly.strings("diagnostics").contains(&failed)
                && !reference.strings("diagnostics").contains(&failed)
        },
    },
    Rule {
        name: "the default of an ephemeral variable",
        applies: |seen| {
            let in_configuration = seen.is("variables.*.default only reference")
                && seen.difference.detail.contains("\"ephemeral\":true");
            let of_plan =
                ["plan: plan: variables.* only reference", "plan: plan: variables only reference"];
            in_configuration || of_plan.iter().any(|it| seen.is(it))
        },
    },
];
